//! Whether a header says what the tables say, and declares what our header declares.

use std::collections::BTreeSet;
use std::path::Path;

use crate::compiler;
use crate::header;
use crate::table::{self, Constant};

/// Types, and as what the standard interface has them.
const TYPES: [(&str, &str); 7] = [
    ("MPI_Aint", "intptr_t"),
    ("MPI_Offset", "int64_t"),
    ("MPI_Count", "int64_t"),
    ("((MPI_Status *)0)->MPI_SOURCE", "int"),
    ("((MPI_Status *)0)->MPI_TAG", "int"),
    ("((MPI_Status *)0)->MPI_ERROR", "int"),
    ("MPI_User_function *", "void (*)(void *, void *, int *, MPI_Datatype *)"),
];

/// Types by size: handles are addresses, a status is eight integers.
fn sizes() -> Vec<(String, usize)> {
    let mut sizes = vec![("MPI_Status".to_owned(), 32)];
    let named = header::HANDLES.iter().map(|name| format!("MPI_{name}"));
    let tools = header::TOOL_HANDLES.iter().map(|name| format!("MPI_T_{name}"));
    sizes.extend(named.chain(tools).map(|name| (name, size_of::<*const u8>())));
    sizes.extend(header::ENUMS.iter().map(|(name, _)| (name.to_string(), size_of::<i32>())));
    sizes
}

/// The type and the value of a constant, whatever it is written as.
fn meaning(constant: &Constant, all: &[Constant]) -> (String, i64) {
    if constant.kind == "alias" {
        let of = all.iter().find(|other| other.name == constant.value);
        return meaning(of.expect("an alias is one of something"), all);
    }
    (constant.kind.clone(), constant.value.parse().expect("a value is a number"))
}

/// A program that tells all that a header says, line by line.
fn questions(header: &Path, constants: &[Constant]) -> String {
    let mut text = format!(
        "#include \"{}\"\n#include <stdio.h>\n#include <stddef.h>\n#include <stdint.h>\n\
         int main(void) {{\n",
        header.display()
    );
    for constant in constants {
        let (name, (kind, _)) = (&constant.name, meaning(constant, constants));
        text += &format!(
            "printf(\"{name} %lld %d\\n\", (long long)(intptr_t)({name}), \
             __builtin_types_compatible_p(__typeof__({name}), {kind}));\n"
        );
    }
    for (name, kind) in TYPES {
        text += &format!(
            "printf(\"{name} %d\\n\", __builtin_types_compatible_p(__typeof__({name}), {kind}));\n"
        );
    }
    for (name, _) in sizes() {
        text += &format!("printf(\"{name} %zu\\n\", sizeof({name}));\n");
    }
    for field in ["MPI_SOURCE", "MPI_TAG", "MPI_ERROR"] {
        text += &format!("printf(\"{field} %zu\\n\", offsetof(MPI_Status, {field}));\n");
    }
    text + "return 0;\n}\n"
}

/// What such a program writes if the header says what the tables say.
fn answers(constants: &[Constant]) -> String {
    let mut text = String::new();
    for constant in constants {
        text += &format!("{} {} 1\n", constant.name, meaning(constant, constants).1);
    }
    for (name, _) in TYPES {
        text += &format!("{name} 1\n");
    }
    for (name, size) in sizes() {
        text += &format!("{name} {size}\n");
    }
    text + "MPI_SOURCE 0\nMPI_TAG 4\nMPI_ERROR 8\n"
}

/// What declares functions and types of functions in a header, as a text that can follow another.
fn declarations(header: &str) -> String {
    let bare = without_comments(header);
    let lines = bare.lines().filter(|line| !line.starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n");
    let parts = text.split_inclusive(';').filter(|part| !part.contains(['{', '}']));
    parts.filter(|part| part.contains('(') || part.contains("typedef")).collect()
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare += part.split_once("*/").map_or("", |(_, after)| after);
    }
    bare
}

/// Names of the standard in a header: those of functions, and those of constants.
fn names(header: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let bare = without_comments(header);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut functions, mut constants) = (BTreeSet::new(), BTreeSet::new());
    let mut rest = &*bare;
    while let Some(start) = rest.find(is_name) {
        let end = rest[start..].find(|c| !is_name(c)).map_or(rest.len(), |length| start + length);
        let (name, after) = (&rest[start..end], &rest[end..]);
        let is_large = name.chars().all(|c| !c.is_ascii_lowercase());
        let is_ours = name.starts_with("MPI_");
        if (is_ours || name.starts_with("PMPI_")) && !is_large && after.starts_with('(') {
            functions.insert(name.to_owned());
        } else if is_ours && is_large && !name.starts_with("MPI_H_") {
            constants.insert(name.to_owned());
        }
        rest = after;
    }
    // Those that are macros have no place in the library, and types of functions are no functions.
    let is_other = |name: &str| {
        let ends = ["_c2f", "_f2c", "_function", "_function_c"];
        ends.iter().any(|end| name.ends_with(end))
    };
    functions.retain(|name| !is_other(name));
    (functions, constants)
}

/// Functions that were made otherwise before an erratum to MPI 4.0, which MPI 5.0 contains: with
/// counts as `MPI_Count` and without a form for those. There are headers of MPICH 5 that have not
/// followed; calls by them give the same as long as counts fit into `int`.
const BEFORE_ERRATUM: [&str; 2] = ["MPI_Precv_init", "MPI_Psend_init"];

fn is_before_erratum(name: &str) -> bool {
    let name = name.strip_prefix('P').unwrap_or(name);
    let name = name.strip_suffix("_c").unwrap_or(name);
    BEFORE_ERRATUM.contains(&name)
}

/// All that a header says otherwise than ours and the tables; nothing if they agree.
pub(crate) fn findings(path: &Path) -> Vec<String> {
    let constants = table::constants();
    let ours = header::mpi(&table::functions(), &constants, &table::callbacks());
    let theirs = std::fs::read_to_string(path).expect("the header can be read");
    let mut findings = Vec::new();
    let said = compiler::said(&questions(path, &constants));
    for (is, should) in said.lines().zip(answers(&constants).lines()) {
        if is != should {
            findings.push(format!("{is}, not {should}"));
        }
    }
    let ((mut functions, values), (mut other_functions, other_values)) =
        (names(&ours), names(&theirs));
    let mut declared = declarations(&ours);
    if !other_functions.contains("MPI_Psend_init_c") {
        functions.retain(|name| !is_before_erratum(name));
        other_functions.retain(|name| !is_before_erratum(name));
        let is_alike = |part: &&str| BEFORE_ERRATUM.iter().all(|name| !part.contains(name));
        declared = declared.split_inclusive(';').filter(is_alike).collect();
    }
    let both = format!("#include \"{}\"\n{declared}", path.display());
    if let Err(error) = compiler::compile("cc", &["-std=gnu11", "-fsyntax-only"], &both) {
        findings.push(error);
    }
    let missing = functions.symmetric_difference(&other_functions);
    findings.extend(missing.map(|name| format!("function {name} is in one of them only")));
    let missing = values.symmetric_difference(&other_values);
    findings.extend(missing.map(|name| format!("constant {name} is in one of them only")));
    findings
}
