//! The lists in `docs/abi.md`: the functions that are missing and why, and those that exist.

use std::collections::BTreeSet;

use super::table::{Function, Home};

/// The line after which the page is made, and not written.
pub(crate) const MARK: &str = "<!-- What follows is made from crates/abi/tables; see above. -->\n";

/// What is missing, by the name the table has for it: a title, and why.
const MISSING: [(&str, &str, &str); 3] = [
    (
        "windows",
        "One-sided communication",
        "Plans consist of sends and receives, in which both sides take part, and are verified as \
         such. A window needs memory that other ranks read and change by themselves.",
    ),
    (
        "files",
        "Files",
        "Motet moves messages between processes. A library for parallel files can use it.",
    ),
    (
        "processes",
        "Processes that are started later",
        "The size of a world is fixed at its start: the launcher makes the shared segment for that \
         many ranks, and processes that it did not start cannot reach it.",
    ),
];

/// Modules of `src/calls`, with a title for each.
const PRESENT: [(&str, &str); 27] = [
    ("environment", "Environment"),
    ("sessions", "Sessions"),
    ("messages", "Messages"),
    ("buffered", "Buffered messages"),
    ("probes", "Probes"),
    ("partitioned", "Partitioned messages"),
    ("requests", "Requests"),
    ("statuses", "Statuses"),
    ("generalized", "Generalized requests"),
    ("collectives", "Collectives"),
    ("neighbours", "Collectives of neighbours"),
    ("ops", "Operators"),
    ("type_construction", "Making datatypes"),
    ("type_query", "Asking about datatypes"),
    ("packing", "Packing"),
    ("groups", "Groups"),
    ("communicators", "Communicators"),
    ("intercommunicators", "Intercommunicators"),
    ("topologies", "Topologies"),
    ("graphs", "Graphs"),
    ("attributes", "Attributes"),
    ("info", "Hints"),
    ("errhandlers", "Error handlers"),
    ("errors", "Error codes"),
    ("fortran_handles", "Handles as integers"),
    ("abi", "The binary interface"),
    ("mpi_t", "Tools interface"),
];

/// Modules that have extensions, with a title for what they have of them.
const BEYOND: [(&str, &str); 5] = [
    ("collectives", "Collectives among a group of ranks, and in two phases"),
    ("neighbours", "Collectives of neighbours in two phases"),
    ("phases", "Second phases"),
    ("sparse", "Sparse collectives, to neighbours named at the call"),
    ("extensions", "Groups of neighbours, graphs, explanations"),
];

/// A page whose lists are these.
pub(crate) fn replaced(page: &str, lists: &str) -> String {
    let written = page.split_once(MARK).map_or(page, |(written, _)| written);
    format!("{written}{MARK}{lists}")
}

/// Both lists.
pub(crate) fn lists(functions: &[Function], extensions: &[Function]) -> String {
    let is_here = |f: &&Function| matches!(f.home, Home::Module(_));
    let here = functions.iter().filter(is_here).count();
    let mut text = format!(
        "\n## Functions that are missing\n\n{} of the {} functions of MPI 5.0 are missing. A \
         program can call each of them; the call brings `MPI_ERR_UNSUPPORTED_OPERATION` to the \
         error handler.\n",
        functions.len() - here,
        functions.len(),
    );
    for (family, title, reason) in MISSING {
        let all = named(functions, |home| *home == Home::Missing(family.to_owned()));
        text += &format!("\n**{title}** ({}). {reason}\n\n{}\n", all.len(), list(&all));
    }
    text += &format!(
        "\n## Functions that exist\n\n{here} functions of the standard exist. `_c` behind a name \
         means that the form with large counts exists, too.\n\n| | functions | |\n|---|---|---|\n"
    );
    for (module, title) in PRESENT {
        text += &row(title, &named(functions, |home| *home == Home::Module(module.to_owned())));
    }
    text += "\nBeyond the standard, in `mpix.h`:\n\n| | functions | |\n|---|---|---|\n";
    for (module, title) in BEYOND {
        text += &row(title, &named(extensions, |home| *home == Home::Module(module.to_owned())));
    }
    text
}

fn row(title: &str, names: &[&str]) -> String {
    format!("| {title} | {} | {} |\n", names.len(), list(names))
}

/// The names of functions that are somewhere.
fn named(functions: &[Function], is_there: impl Fn(&Home) -> bool) -> Vec<&str> {
    functions.iter().filter(|f| is_there(&f.home)).map(|f| &*f.name).collect()
}

/// Names as a list, in which those that differ in the width of counts are one.
fn list(names: &[&str]) -> String {
    let all: BTreeSet<&str> = names.iter().copied().collect();
    let is_form = |name: &str| name.strip_suffix("_c").is_some_and(|short| all.contains(short));
    let entry = |name: &&str| {
        let large = if all.contains(&*format!("{name}_c")) { " `_c`" } else { "" };
        format!("`{}`{large}", name.trim_start_matches("MPI_"))
    };
    let entries: Vec<String> = all.iter().filter(|name| !is_form(name)).map(entry).collect();
    entries.join(", ")
}

/// Functions of families and modules that this page does not know.
pub(crate) fn unnamed<'a>(functions: &'a [Function], extensions: &'a [Function]) -> Vec<&'a str> {
    let is_among = |known: &[(&str, &str)], f: &Function| match &f.home {
        Home::Module(module) => known.iter().any(|(name, _)| name == module),
        Home::Missing(family) => MISSING.iter().any(|(name, ..)| name == family),
    };
    let standard = functions.iter().filter(|f| !is_among(&PRESENT, f));
    let beyond = extensions.iter().filter(|f| !is_among(&BEYOND, f));
    standard.chain(beyond).map(|f| &*f.name).collect()
}
