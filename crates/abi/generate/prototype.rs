//! Prototypes of functions in C, for the headers and for the manual pages.

use super::table::{Function, Parameter};

/// A prototype under the name of the function with a prefix, in lines that are at most so wide,
/// with a line break at its end.
pub(crate) fn prototype(prefix: &str, function: &Function, width: usize) -> String {
    let Function { name, returns, .. } = function;
    let mut parameters: Vec<String> = function.parameters.iter().map(parameter).collect();
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let end = if function.is_deprecated { "); /* deprecated */" } else { ");" };
    wrapped(&format!("{returns} {prefix}{name}("), &parameters, end, width) + "\n"
}

/// A parameter as it is declared.
pub(crate) fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, kind, suffix } = parameter;
    let space = if kind.ends_with('*') || name.is_empty() { "" } else { " " };
    format!("{kind}{space}{name}{suffix}")
}

/// A list between its begin and its end, in lines that are at most so wide.
pub(crate) fn wrapped(begin: &str, list: &[String], end: &str, width: usize) -> String {
    let mut text = String::new();
    let mut line = begin.to_owned();
    for (place, each) in list.iter().enumerate() {
        let is_last = place + 1 == list.len();
        let each = if is_last { format!("{each}{end}") } else { format!("{each},") };
        let is_first = line.ends_with('(');
        if line.len() + each.len() + usize::from(!is_first) > width {
            text += &line;
            text += "\n";
            line = format!("    {each}");
        } else {
            line += if is_first { "" } else { " " };
            line += &each;
        }
    }
    text + &line
}
