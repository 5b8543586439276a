//! The headers for C: `include/mpi.h` and `include/mpix.h`.

use super::descriptions::{self, CONVENTIONS, Description, Descriptions};
use super::prototype::{prototype, wrapped};
use super::table::{Callback, Constant, Function};

/// No line of a header is longer.
const WIDTH: usize = 100;

/// What `mpi.h` begins with.
const ABOVE: &str = "\
/* The C interface of MPI 5.0, with the standard binary interface.
 *
 * Made from the tables of Motet, in crates/abi/tables, by crates/abi/generate/header.rs; the test
 * `generated` of that crate compares, and makes it again. What is compiled with this header runs
 * with each library that has the standard binary interface (libmpi_abi.so.1), and what was compiled
 * with the header of another of them runs with Motet.
 */

#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

/* Numbers that can hold an address, a place in a file, and how many there are of something. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef MPI_Offset MPI_Count;

/* What is known of an operation that is over. */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
";

/// What a header ends with, before its guard.
const BELOW: &str = "
#ifdef __cplusplus
}
#endif
";

/// What `mpix.h` begins with.
const ABOVE_EXTENSIONS: &str = "\
/* What Motet has in C and the standard has not.
 *
 * Made from crates/abi/tables/extension*.tsv like mpi.h. A program that uses it runs with Motet
 * only.
 */

#ifndef MOTET_MPIX_H
#define MOTET_MPIX_H

#include \"mpi.h\"

#ifdef __cplusplus
extern \"C\" {
#endif
";

/// Kinds of objects of which C has the handle only.
pub(crate) const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

/// The same of the tools interface.
pub(crate) const TOOL_HANDLES: [&str; 6] =
    ["enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance"];

/// Types whose values have names: the type, and how the names of its values begin.
pub(crate) const ENUMS: [(&str, &str); 2] =
    [("MPI_T_cb_safety", "MPI_T_CB_REQUIRE_"), ("MPI_T_source_order", "MPI_T_SOURCE_")];

/// Under which constant of the table something new begins, and what.
const SECTIONS: [(&str, &str); 24] = [
    ("MPI_VERSION", "Versions of the standard, and of the binary interface"),
    ("MPI_OP_NULL", "Operators"),
    ("MPI_COMM_NULL", "Predefined objects of other kinds"),
    ("MPI_DATATYPE_NULL", "Datatypes"),
    ("MPI_BOTTOM", "Addresses that mean something else"),
    ("MPI_MAX_DATAREP_STRING", "Room for strings, with the zero at the end"),
    ("MPI_BSEND_OVERHEAD", "What a buffered message needs beyond its data"),
    ("MPI_DISPLACEMENT_CURRENT", "Places in files"),
    ("MPI_NULL_COPY_FN", "Functions that a library knows and never calls"),
    ("MPI_T_ENUM_NULL", "Objects of the tools interface"),
    ("MPI_F_STATUS_SIZE", "Statuses in Fortran: how many integers, and which of them is what"),
    ("MPI_SUCCESS", "Error classes"),
    ("MPI_MODE_APPEND", "Modes of files, and assertions about windows"),
    ("MPI_ANY_SOURCE", "Ranks and tags that mean something else"),
    ("MPI_THREAD_SINGLE", "How threads use the library"),
    ("MPI_ORDER_C", "Distributed arrays"),
    ("MPI_COMBINER_NAMED", "How datatypes were made"),
    ("MPIX_TYPECLASS_LOGICAL", "Classes of datatypes"),
    ("MPI_IDENT", "What comparisons tell"),
    ("MPI_CART", "Topologies, and kinds of splitting"),
    ("MPI_LOCK_EXCLUSIVE", "Windows and files"),
    ("MPI_KEYVAL_INVALID", "Keys of predefined attributes"),
    ("MPI_T_VERBOSITY_USER_BASIC", "The tools interface: for whom a variable is"),
    ("MPI_T_BIND_NO_OBJECT", "The tools interface: what a variable belongs to, and its kind"),
];

/// The text of `mpi.h`.
pub(crate) fn mpi(
    functions: &[Function],
    constants: &[Constant],
    callbacks: &[Callback],
) -> String {
    let mut text = ABOVE.to_owned();
    text += &handles();
    text += &enums(constants);
    text += &defines(constants);
    text += &function_types(callbacks);
    text += &prototypes(functions);
    text += &integers();
    text + BELOW + "\n#endif /* MPI_H_ABI */\n"
}

/// The text of `mpix.h`: each function below a comment that describes it.
///
/// # Panics
/// If the tables do not describe a function.
pub(crate) fn mpix(extensions: &[Function]) -> String {
    let descriptions = Descriptions::read();
    let mut text = ABOVE_EXTENSIONS.to_owned() + "\n";
    text += &comment(&CONVENTIONS.map(|each| folded(each, "", "")));
    let mut chapter = String::new();
    for function in extensions {
        let plain = descriptions::plain(&function.name);
        let plain = extensions.iter().find(|each| each.name == plain && each.name != function.name);
        text += "\n";
        if let Some(plain) = plain {
            text += &comment(&[folded(&as_plain(plain, function), "", "")]);
        } else {
            let described = descriptions.of(function).unwrap_or_else(|gap| panic!("{gap}"));
            if described.chapter != chapter {
                chapter.clone_from(&described.chapter);
                text += &format!("/* ===== {chapter} ===== */\n\n");
            }
            text += &comment(&paragraphs(&described));
        }
        text += &prototype("", function, WIDTH);
    }
    text += "\n/* The same for tools that have the names above. */\n";
    text.extend(extensions.iter().map(|function| prototype("P", function, WIDTH)));
    text + BELOW + "\n#endif /* MOTET_MPIX_H */\n"
}

/// What a form with large counts is beside the one with small counts.
fn as_plain(plain: &Function, wide: &Function) -> String {
    let kinds = descriptions::widened(plain, wide);
    let kinds = kinds.iter().map(|(kind, names)| format!("{} as {kind}", names.join(" and ")));
    format!("As {}, with {}.", plain.name, kinds.collect::<Vec<_>>().join(", "))
}

/// The paragraphs of the comment of a function, in lines.
fn paragraphs(described: &Description) -> [Vec<String>; 4] {
    let widest = |column: usize| {
        described.arguments.iter().map(|argument| argument[column].len()).max().unwrap_or(0)
    };
    let (name_width, direction_width) = (widest(0), widest(1));
    let below = " ".repeat(2 + name_width + 2 + direction_width + 2);
    let argument = |[name, direction, text]: &[String; 3]| {
        folded(text, &format!("  {name:<name_width$}  {direction:<direction_width$}  "), &below)
    };
    let errors = described.errors.iter();
    let errors = errors.map(|(class, causes)| format!("{class} ({})", causes.join(", ")));
    let errors: Vec<String> = errors.collect();
    let mut end = match errors.is_empty() {
        true => Vec::new(),
        false => folded(&format!("{}.", errors.join("; ")), "Errors: ", "  "),
    };
    end.extend(folded(&described.source, "Source: ", "  "));
    [
        folded(&described.purpose, "", ""),
        folded(&described.scope, "", ""),
        described.arguments.iter().flat_map(argument).collect(),
        end,
    ]
}

/// A text in lines that fit into a comment: what the first one begins with, and what the others do.
fn folded(text: &str, first: &str, others: &str) -> Vec<String> {
    let room = WIDTH - " * ".len();
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_begin = true;
    for word in text.split(' ') {
        if !is_begin && line.len() + 1 + word.len() > room {
            lines.push(line);
            line = others.to_owned();
            is_begin = true;
        }
        line += if is_begin { "" } else { " " };
        line += word;
        is_begin = false;
    }
    lines.push(line);
    lines
}

/// A comment of paragraphs, which are in lines.
fn comment(paragraphs: &[Vec<String>]) -> String {
    if let [only] = paragraphs
        && let [line] = &only[..]
        && line.len() <= WIDTH - "/*  */".len()
    {
        return format!("/* {line} */\n");
    }
    let lines = paragraphs.join(&String::new());
    let lines = lines.iter().map(|line| format!(" * {line}").trim_end().to_owned() + "\n");
    let text: String = lines.collect();
    format!("/{} */\n", &text[1..])
}

fn handles() -> String {
    let mut text = "\n/* Handles: what they point to is the library's business. */\n".to_owned();
    for name in HANDLES {
        text += &format!("typedef struct MPI_ABI_{name} *MPI_{name};\n");
    }
    text += "\n/* Handles of the tools interface. */\n";
    for name in TOOL_HANDLES {
        text += &format!("typedef struct MPI_T_{name}_t *MPI_T_{name};\n");
    }
    text
}

/// The type whose value a constant is, if it has a type of its own.
fn enum_of(constant: &Constant) -> Option<&'static str> {
    ENUMS.iter().find(|(_, begin)| constant.name.starts_with(begin)).map(|(name, _)| *name)
}

fn enums(constants: &[Constant]) -> String {
    let mut text = "\n/* What a callback may do, and in which order events come. */\n".to_owned();
    for (name, _) in ENUMS {
        let values = constants.iter().filter(|constant| enum_of(constant) == Some(name));
        let values: Vec<String> =
            values.map(|each| format!("    {} = {}", each.name, each.written)).collect();
        text += &format!("typedef enum {name} {{\n{}\n}} {name};\n", values.join(",\n"));
    }
    text
}

/// Constants are macros, so that a program can ask with `#ifdef` whether there is one.
fn defines(constants: &[Constant]) -> String {
    let mut text = String::new();
    for constant in constants.iter().filter(|constant| enum_of(constant).is_none()) {
        if let Some((_, title)) = SECTIONS.iter().find(|(first, _)| *first == constant.name) {
            text += &format!("\n/* {title}. */\n");
        }
        text += &format!("#define {:<32} {}\n", constant.name, expression(constant));
    }
    text
}

/// A constant as an expression that can stand anywhere.
fn expression(constant: &Constant) -> String {
    match (&*constant.kind, &*constant.written) {
        ("int", value) if value.starts_with('-') => format!("({value})"),
        ("int" | "alias", value) => value.to_owned(),
        (kind, value) => format!("(({kind}){value})"),
    }
}

fn function_types(callbacks: &[Callback]) -> String {
    let mut text = "\n/* Functions of the program. */\n".to_owned();
    for Callback { name, returns, parameters } in callbacks {
        let parameters: Vec<String> = parameters.split(", ").map(str::to_owned).collect();
        text += &wrapped(&format!("typedef {returns} {name}("), &parameters, ");", WIDTH);
        text += "\n";
    }
    text += "\n/* Names that these had before. */\n";
    for name in ["Comm", "File", "Win", "Session"] {
        text += &format!("typedef MPI_{name}_errhandler_function MPI_{name}_errhandler_fn;\n");
    }
    text
}

/// Each function under the two names it has.
fn prototypes(functions: &[Function]) -> String {
    let mut text = String::new();
    for (prefix, title) in
        [("", "Functions"), ("P", "The same for tools that have the names above")]
    {
        text += &format!("\n/* {title}. */\n");
        for function in functions {
            text += &prototype(prefix, function, WIDTH);
        }
    }
    text
}

/// The names by which handles became integers before there was one binary interface.
fn integers() -> String {
    let mut text = "
/* Handles as the integers of Fortran, by the names they had before. */
#ifndef MPI_Fint
typedef int MPI_Fint;
#endif
"
    .to_owned();
    for name in HANDLES.map(|name| if name == "Datatype" { "Type" } else { name }) {
        for (macro_name, function) in [("c2f", "toint"), ("f2c", "fromint")] {
            text += &format!(
                "#ifndef MPI_{name}_{macro_name}\n\
                 #define MPI_{name}_{macro_name}(handle) MPI_{name}_{function}(handle)\n\
                 #endif\n"
            );
        }
    }
    text
}
