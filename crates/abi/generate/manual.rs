//! The pages of the manual about the functions of `mpix.h`.

use super::descriptions::{self, CONVENTIONS, Description, Descriptions};
use super::prototype::prototype;
use super::table::{Function, extensions};

/// So wide is a prototype at most, for a terminal of 80 columns.
const WIDTH: usize = 72;

/// A page of the manual.
pub(crate) struct ManualPage {
    /// The name of its file, in the third section.
    pub(crate) file: String,
    /// What is in it, for `man`.
    pub(crate) text: String,
    /// Files under which it is found too.
    pub(crate) others: Vec<String>,
}

/// A page for each function; forms that differ in the width of counts share one.
pub(crate) fn pages() -> Vec<ManualPage> {
    let (functions, descriptions) = (extensions(), Descriptions::read());
    let describe = |function: &Function| {
        descriptions.of(function).expect("the tables describe all functions, as a test says")
    };
    let is_plain = |f: &&Function| {
        let plain = descriptions::plain(&f.name);
        plain == f.name || functions.iter().all(|each| each.name != plain)
    };
    let described: Vec<(&Function, Description)> =
        functions.iter().filter(is_plain).map(|function| (function, describe(function))).collect();
    let page = |(function, description): &(&Function, Description)| {
        let wide = format!("{}_c", function.name);
        let wide = functions.iter().find(|each| each.name == wide);
        let family = described.iter().filter(|(_, each)| each.family == description.family);
        let related: Vec<&str> =
            family.map(|(each, _)| &*each.name).filter(|name| *name != function.name).collect();
        ManualPage {
            file: format!("{}.3", function.name),
            text: text(function, wide, description, &related),
            others: wide.iter().map(|wide| format!("{}.3", wide.name)).collect(),
        }
    };
    described.iter().map(page).collect()
}

fn text(
    function: &Function,
    wide: Option<&Function>,
    described: &Description,
    related: &[&str],
) -> String {
    let name = &function.name;
    let both: Vec<&Function> = [Some(function), wide].into_iter().flatten().collect();
    let names: Vec<&str> = both.iter().map(|each| &*each.name).collect();
    let purpose = described.purpose.trim_end_matches('.');
    let mut page = format!(".TH {name} 3 \"\" \"Motet @VERSION@\" \"Motet\"\n");
    page += &format!(".SH NAME\n{} \\- {}\n", names.join(", "), escaped(purpose));
    page += ".SH SYNOPSIS\n.nf\n.B #include <mpix.h>\n.PP\n";
    page.extend(both.iter().map(|each| escaped(&prototype("", each, WIDTH))));
    page += &format!(".fi\n.SH DESCRIPTION\n{}\n", escaped(&described.purpose));
    page += &format!(".PP\n{}\n.SH ARGUMENTS\n", escaped(&described.scope));
    for [argument, direction, text] in &described.arguments {
        page += &format!(".TP\n.IR {argument} \" ({direction})\"\n{}\n", escaped(text));
    }
    page += ".SH ERRORS\n";
    for (class, causes) in &described.errors {
        page += &format!(".TP\n.B {class}\n{}\n", escaped(&causes.join(", ")));
    }
    page += ".SH NOTES\n";
    let notes = CONVENTIONS.map(|each| escaped(each) + "\n");
    page += &notes.join(".PP\n");
    page += &format!(".SH STANDARDS\n{}\n.SH SEE ALSO\n", escaped(&described.source));
    for each in related {
        page += &format!(".BR {each} (3),\n");
    }
    page + ".BR MPI (3)\n"
}

/// A text of which `man` takes nothing for its own.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace("\n.", "\n\\&.")
}
