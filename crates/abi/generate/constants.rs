//! Constants in Rust: numbers, and handles of what is predefined.

use super::table::Constant;

/// One constant of the crate for each constant of the interface.
pub(crate) fn constants(table: &[Constant]) -> String {
    let mut text = String::new();
    for constant in table {
        let (kind, value) = declared(constant);
        let Constant { name, .. } = constant;
        text += &format!("/// `{name}`\npub(crate) const {name}: {kind} = {value};\n");
    }
    text
}

/// The type in Rust and how a value of it is written.
fn declared(constant: &Constant) -> (String, String) {
    let value = &constant.value;
    match &*constant.kind {
        "int" => ("c_int".to_owned(), value.clone()),
        "alias" => ("MPI_Datatype".to_owned(), value.clone()),
        "MPI_Offset" => ("i64".to_owned(), value.clone()),
        // Addresses that mean something else, and functions that are never called.
        kind if kind.ends_with('*') || kind.starts_with("MPI_T_") => {
            ("usize".to_owned(), value.clone())
        }
        kind => (kind.to_owned(), format!("{kind}::constant({value})")),
    }
}
