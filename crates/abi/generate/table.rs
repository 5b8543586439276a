//! The tables of the standard interface, as values.

#![allow(dead_code)] // each of those who read the tables needs a part of it

/// A function of the interface.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its name, with `MPI_` (or `MPIX_`, if it is not of the standard).
    pub(crate) name: String,
    /// What it returns, in C.
    pub(crate) returns: String,
    /// What it takes.
    pub(crate) parameters: Vec<Parameter>,
    /// Where it is written, or why it is not.
    pub(crate) home: Home,
    /// Whether the standard advises against it.
    pub(crate) is_deprecated: bool,
    /// Whether it may be called before the library is initialised and after it is finalised.
    pub(crate) is_anytime: bool,
}

/// Where a function is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// The module of `calls` that has it.
    Module(String),
    /// Nowhere: it is one of the things that there are not.
    Missing(String),
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: String,
    /// Its type, in C, without what stands behind the name.
    pub(crate) kind: String,
    /// What stands behind the name: nothing, `[]` or `[][3]`.
    pub(crate) suffix: String,
}

/// A constant of the interface.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    /// Its name.
    pub(crate) name: String,
    /// Its type in C, or `alias`.
    pub(crate) kind: String,
    /// Its value, or whose alias it is.
    pub(crate) value: String,
    /// Its value as the standard writes it.
    pub(crate) written: String,
}

/// A type of functions of the user.
#[derive(Clone, Debug)]
pub(crate) struct Callback {
    /// Its name.
    pub(crate) name: String,
    /// What it returns, in C.
    pub(crate) returns: String,
    /// What it takes, in C.
    pub(crate) parameters: String,
}

/// The rows of a table below its head, in columns.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.split('\t').collect())
}

/// The functions, in the order of the table.
pub(crate) fn functions() -> Vec<Function> {
    rows(include_str!("../tables/functions.tsv")).map(|row| function(&row)).collect()
}

/// The functions that Motet has beyond those of the standard, in the order of the table.
pub(crate) fn extensions() -> Vec<Function> {
    rows(include_str!("../tables/extensions.tsv")).map(|row| function(&row)).collect()
}

/// The constants, in the order of the table.
pub(crate) fn constants() -> Vec<Constant> {
    let constant = |row: Vec<&str>| Constant {
        name: row[0].to_owned(),
        kind: row[1].to_owned(),
        value: row[2].to_owned(),
        written: row[3].to_owned(),
    };
    rows(include_str!("../tables/constants.tsv")).map(constant).collect()
}

/// The types of functions of the user, in the order of the table.
pub(crate) fn callbacks() -> Vec<Callback> {
    let callback = |row: Vec<&str>| Callback {
        name: row[0].to_owned(),
        returns: row[1].to_owned(),
        parameters: row[2].to_owned(),
    };
    rows(include_str!("../tables/callbacks.tsv")).map(callback).collect()
}

fn function(row: &[&str]) -> Function {
    let parameters = match row[2] {
        "" | "void" => Vec::new(),
        list => list.split(", ").map(parameter).collect(),
    };
    let home = match row[3].strip_prefix('!') {
        Some(missing) => Home::Missing(missing.to_owned()),
        None => Home::Module(row[3].to_owned()),
    };
    let notes: Vec<&str> = row.get(4).map_or(Vec::new(), |notes| notes.split(',').collect());
    Function {
        name: row[0].to_owned(),
        returns: row[1].to_owned(),
        parameters,
        home,
        is_deprecated: notes.contains(&"deprecated"),
        is_anytime: notes.contains(&"anytime"),
    }
}

fn parameter(text: &str) -> Parameter {
    if text == "..." {
        return Parameter { name: String::new(), kind: text.to_owned(), suffix: String::new() };
    }
    let bare = text.find('[').map_or(text, |bracket| &text[..bracket]);
    let name = bare.rsplit([' ', '*']).next().expect("a last word");
    Parameter {
        name: name.to_owned(),
        kind: bare[..bare.len() - name.len()].trim_end().to_owned(),
        suffix: text[bare.len()..].to_owned(),
    }
}
