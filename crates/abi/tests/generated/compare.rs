//! What a header says otherwise than the tables, one finding for each difference.
//!
//! Of each function and each type of functions the header is asked whether it has exactly the type
//! of the table, of each constant its type and its value, of other types what they are made of.

use std::collections::BTreeSet;
use std::path::Path;

use crate::compiler;
use crate::header;
use crate::prototype;
use crate::table::{self, Constant};

/// Types, and as what the standard interface has them.
const TYPES: [(&str, &str); 6] = [
    ("MPI_Aint", "intptr_t"),
    ("MPI_Offset", "int64_t"),
    ("MPI_Count", "int64_t"),
    ("((MPI_Status *)0)->MPI_SOURCE", "int"),
    ("((MPI_Status *)0)->MPI_TAG", "int"),
    ("((MPI_Status *)0)->MPI_ERROR", "int"),
];

/// A question to a header, as an expression of `int` or `long long` in C, and the right answer.
struct Question {
    about: String,
    expression: String,
    right: i64,
}

impl Question {
    fn new(about: &str, expression: String, right: i64) -> Question {
        Question { about: about.to_owned(), expression, right }
    }

    /// Whether an expression or a type is of exactly this type.
    fn of_type(about: &str, what: &str, kind: &str) -> Question {
        let same = format!("__builtin_types_compatible_p(__typeof__({what}), {kind})");
        Question::new(&format!("type of {about}"), same, 1)
    }
}

/// The type and the value of a constant, whatever it is written as.
fn meaning(constant: &Constant, all: &[Constant]) -> (String, i64) {
    if constant.kind == "alias" {
        let of = all.iter().find(|other| other.name == constant.value);
        return meaning(of.expect("an alias is one of something"), all);
    }
    (constant.kind.clone(), constant.value.parse().expect("a value is a number"))
}

/// Types by size: handles are addresses, a status is eight integers.
fn sizes() -> Vec<(String, usize)> {
    let mut sizes = vec![("MPI_Status".to_owned(), 32)];
    let named = header::HANDLES.iter().map(|name| format!("MPI_{name}"));
    let tools = header::TOOL_HANDLES.iter().map(|name| format!("MPI_T_{name}"));
    sizes.extend(named.chain(tools).map(|name| (name, size_of::<*const u8>())));
    sizes.extend(header::ENUMS.iter().map(|(name, _)| (name.to_string(), size_of::<i32>())));
    sizes
}

/// All that is asked of a header that has these names.
fn questions(names: &Names) -> Vec<Question> {
    let mut questions = Vec::new();
    for (kind, should) in TYPES {
        questions.push(Question::of_type(kind, kind, should));
    }
    for (kind, size) in sizes() {
        let text = format!("sizeof({kind})");
        questions.push(Question::new(&format!("size of {kind}"), text, size as i64));
    }
    for (field, at) in [("MPI_SOURCE", 0), ("MPI_TAG", 4), ("MPI_ERROR", 8)] {
        let text = format!("offsetof(MPI_Status, {field})");
        questions.push(Question::new(&format!("place of {field}"), text, at));
    }
    questions.extend(of_constants(names));
    questions.extend(of_functions(names));
    questions
}

fn of_constants(names: &Names) -> Vec<Question> {
    let constants = table::constants();
    let mut questions = Vec::new();
    for constant in constants.iter().filter(|each| names.constants.contains(&each.name)) {
        let (name, (kind, value)) = (&constant.name, meaning(constant, &constants));
        questions.push(Question::of_type(name, name, &kind));
        let text = format!("(long long)(intptr_t)({name})");
        questions.push(Question::new(&format!("value of {name}"), text, value));
    }
    questions
}

/// Each function under both its names, and each type of functions.
fn of_functions(names: &Names) -> Vec<Question> {
    let kind = |returns: &str, parameters: &[String]| {
        let none = if parameters.is_empty() { "void" } else { "" };
        format!("{returns} (*)({none}{})", parameters.join(", "))
    };
    let mut questions = Vec::new();
    for function in table::functions() {
        let parameters: Vec<String> =
            function.parameters.iter().map(prototype::parameter).collect();
        for name in [function.name.clone(), format!("P{}", function.name)] {
            if names.functions.contains(&name) {
                let kind = kind(&function.returns, &parameters);
                questions.push(Question::of_type(&name, &format!("&{name}"), &kind));
            }
        }
    }
    for callback in table::callbacks() {
        let name = &callback.name;
        if names.callbacks.contains(name) {
            let kind = kind(&callback.returns, &[callback.parameters]);
            questions.push(Question::of_type(name, &format!("{name} *"), &kind));
        }
    }
    questions
}

/// A program that answers, line by line.
fn program(header: &Path, questions: &[Question]) -> String {
    let mut text = format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include \"{}\"\n#include <stdio.h>\n\
         int main(void) {{\n",
        header.display()
    );
    for Question { expression, .. } in questions {
        text += &format!("printf(\"%lld\\n\", (long long)({expression}));\n");
    }
    text + "return 0;\n}\n"
}

/// Names of the standard in a header.
#[derive(Default)]
struct Names {
    functions: BTreeSet<String>,
    callbacks: BTreeSet<String>,
    constants: BTreeSet<String>,
}

impl Names {
    fn of(header: &str) -> Names {
        let bare = without_comments(header);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut names = Names::default();
        let (mut rest, mut before) = (&*bare, "");
        while let Some(start) = rest.find(is_name) {
            let end = rest[start..].find(|c| !is_name(c)).map_or(rest.len(), |len| start + len);
            let (name, after) = (&rest[start..end], &rest[end..]);
            // One that is a macro here is no function of the library.
            names.add(name, after.starts_with('(') && before != "define");
            (rest, before) = (after, name);
        }
        names
    }

    fn add(&mut self, name: &str, is_called: bool) {
        let is_large = name.chars().all(|c| !c.is_ascii_lowercase());
        let is_standard = name.starts_with("MPI_");
        let is_type = name.ends_with("_function") || name.ends_with("_function_c");
        let set = match (is_standard, is_large) {
            (true, true) if !name.starts_with("MPI_H_") => &mut self.constants,
            (true, false) if is_type => &mut self.callbacks,
            (_, false) if is_called && (is_standard || name.starts_with("PMPI_")) => {
                &mut self.functions
            }
            _ => return,
        };
        set.insert(name.to_owned());
    }
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare += part.split_once("*/").map_or("", |(_, after)| after);
    }
    bare
}

/// All that a header says otherwise than the tables; nothing if they agree.
pub(crate) fn findings(path: &Path) -> Vec<String> {
    let theirs = std::fs::read_to_string(path).expect("the header can be read");
    let (ours, theirs) = (Names::of(&crate::ours()), Names::of(&theirs));
    let questions = questions(&theirs);
    let answers = compiler::answers(&program(path, &questions));
    assert_eq!(answers.lines().count(), questions.len(), "each question has an answer");
    let mut findings = Vec::new();
    for (answer, Question { about, right, .. }) in answers.lines().zip(&questions) {
        match answer.parse::<i64>() {
            Ok(is) if is == *right => {}
            _ if about.starts_with("type of ") => findings.push(format!("{about} differs")),
            _ => findings.push(format!("{about} is {answer}, not {right}")),
        }
    }
    for (what, ours, theirs) in [
        ("function", &ours.functions, &theirs.functions),
        ("type of functions", &ours.callbacks, &theirs.callbacks),
        ("constant", &ours.constants, &theirs.constants),
    ] {
        findings.extend(ours.difference(theirs).map(|name| format!("{what} {name} is missing")));
        findings.extend(theirs.difference(ours).map(|name| format!("{what} {name} is added")));
    }
    findings
}
