//! The exported functions in Rust: each passes its arguments on to the module that has it.
//!
//! Forms that differ only in the width of counts have one function behind them, which takes counts
//! as 64 bits, lists of counts as `Counts`, and places for counts as `CountPlace`. The three forms
//! of a collective have one function behind them, which takes a `Form` where the others have the
//! request (and the hints). What makes a datatype is told the `Width` as well, since the datatype
//! remembers how it was made.
//!
//! Where a function gives the caller a handle, `making` stands around the work, so that the caller
//! has the null handle if it fails.

use std::collections::HashMap;

use super::table::{Constant, Function, Home, Parameter};

/// All functions, as calls of the macro `export`.
pub(crate) fn exports(functions: &[Function], constants: &[Constant]) -> String {
    let by_name: HashMap<&str, &Function> =
        functions.iter().map(|function| (&*function.name, function)).collect();
    let export = |function| {
        let outputs = outputs(function, constants);
        export(function, twin(function, &by_name), &outputs)
    };
    functions.iter().map(export).collect()
}

/// A place where the caller gets a handle: its name, and the null handle that is there if the
/// function fails.
struct Output {
    place: String,
    null: String,
}

/// What a function gives the caller: handles, and the keys of attributes that it makes.
fn outputs(function: &Function, constants: &[Constant]) -> Vec<Output> {
    if takes_its_handles(&function.name) {
        return Vec::new();
    }
    let null_of = |each: &Parameter| {
        let kind = each.kind.strip_suffix(" *")?;
        if kind == "int" && each.name.ends_with("keyval") && function.name.contains("create") {
            return Some("MPI_KEYVAL_INVALID".to_owned());
        }
        let null = format!("{}_NULL", kind.to_uppercase());
        constants.iter().any(|each| each.name == null && each.kind == kind).then_some(null)
    };
    // A message that was probed for is taken by the call that receives it.
    let is_taken = |each: &Parameter| {
        each.kind == "MPI_Message *" && bare(&function.name).starts_with("Imrecv")
    };
    let is_output = |each: &&Parameter| each.suffix.is_empty() && !is_taken(each);
    let of = |each: &Parameter| Some(Output { place: word(&each.name), null: null_of(each)? });
    function.parameters.iter().filter(is_output).filter_map(of).collect()
}

/// Whether a function takes what a handle of the caller stands for, and does not give one.
fn takes_its_handles(name: &str) -> bool {
    const ENDS: [&str; 5] = ["_free", "_disconnect", "_close", "_commit", "_finalize"];
    let name = name.strip_suffix("_c").unwrap_or(name);
    ENDS.iter().any(|end| name.ends_with(end))
        || matches!(bare(name), "Cancel" | "Start" | "Test" | "Wait" | "Mrecv")
}

/// The names of all functions, as a list of pairs: the text, and what it names.
pub(crate) fn names(functions: &[Function]) -> String {
    let pair = |function: &Function| format!("    ({0:?}, {0}),\n", function.name);
    format!("[\n{}]\n", functions.iter().map(pair).collect::<String>())
}

/// The function of the same name with counts of the other width, if it is one that differs in
/// nothing else.
fn twin<'a>(function: &Function, all: &HashMap<&str, &'a Function>) -> Option<&'a Function> {
    let other = match function.name.strip_suffix("_c") {
        Some(short) => short.to_owned(),
        None => format!("{}_c", function.name),
    };
    let other = *all.get(&*other)?;
    let pairs = || function.parameters.iter().zip(&other.parameters);
    let alike = function.parameters.len() == other.parameters.len()
        && pairs().all(|(one, other)| one == other || (is_count(one) && is_count(other)));
    alike.then_some(other)
}

/// Whether a parameter can be a count, counts, or a place for them.
fn is_count(parameter: &Parameter) -> bool {
    let kind = parameter.kind.trim_start_matches("const ").trim_end_matches([' ', '*']);
    matches!(kind, "int" | "MPI_Count" | "MPI_Aint") && parameter.suffix != "[][3]"
}

fn export(function: &Function, twin: Option<&Function>, outputs: &[Output]) -> String {
    let named: Vec<&Parameter> =
        function.parameters.iter().filter(|each| each.kind != "...").collect();
    let is_missing = matches!(function.home, Home::Missing(_));
    let is_used = |each: &Parameter| {
        // What there is not looks at nothing but whose error handler it is to call.
        !is_missing || site(function) == each.name || outputs.iter().any(|o| o.place == each.name)
    };
    let taken = |each: &&Parameter| {
        let unused = if is_used(each) { "" } else { "_" };
        format!("{unused}{}: {}", word(&each.name), rust(each))
    };
    let takes: Vec<String> = named.iter().map(taken).collect();
    let returns = if function.returns == "int" { "c_int" } else { &function.returns };
    let returns = if returns == "double" { "f64" } else { returns };
    let name = &function.name;
    let body = match &function.home {
        Home::Module(module) => call(function, module, twin, &named, outputs),
        Home::Missing(what) => {
            let work = format!("missing({:?}, {})", described(what), site(function));
            bounded(&function.name, "boundary", (&work, Believes::Nothing), outputs)
        }
    };
    format!("export! {{ {name}({}) -> {returns} {{ {body} }} }}\n", takes.join(", "))
}

/// Whether an address of the caller is passed.
fn is_address(parameter: &Parameter) -> bool {
    let kind = rust(parameter);
    kind.contains('*') || kind == "Callback"
}

/// Whose error handler is called by what there is not: the communicator that it is passed, if it is
/// none of files.
fn site(function: &Function) -> &str {
    if function.home == Home::Missing("files".to_owned()) {
        return "MPI_FILE_NULL";
    }
    let comm = function.parameters.iter().find(|each| each.kind == "MPI_Comm");
    comm.map_or("MPI_COMM_NULL", |each| &each.name)
}

/// What is missing, for people.
fn described(what: &str) -> &str {
    match what {
        "windows" => "windows (one-sided communication)",
        "files" => "files that ranks share",
        "processes" => "processes that are started later",
        other => other,
    }
}

/// Whether what does the work believes what the caller promises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Believes {
    Nothing,
    Addresses,
}

/// Work with what is done for every call around it, and for those that give the caller handles.
fn bounded(
    name: &str,
    boundary: &str,
    (work, believes): (&str, Believes),
    outputs: &[Output],
) -> String {
    if outputs.is_empty() {
        let work = match believes {
            Believes::Addresses => format!("unsafe {{ {work} }}"),
            Believes::Nothing => work.to_owned(),
        };
        let work = work.strip_suffix("()").map_or(format!("|| {work}"), str::to_owned);
        return format!("{boundary}({name:?}, {work})");
    }
    // Whether the library runs is asked where the handle is null if it does not.
    let (boundary, asks) =
        if boundary == "boundary" { ("anytime", "running()?; ") } else { (boundary, "") };
    let mut work = format!("{{ {asks}{work} }}");
    for Output { place, null } in outputs {
        work = format!("making({place}, {null}, || {work})");
    }
    format!("{boundary}({name:?}, || unsafe {{ {work} }})")
}

/// The call of the function that does it.
fn call(
    f: &Function,
    module: &str,
    twin: Option<&Function>,
    named: &[&Parameter],
    outputs: &[Output],
) -> String {
    let form = if is_in_forms(module) { Form::of(f) } else { None };
    let own = form.map_or(&[][..], Form::own);
    let wide = f.name.ends_with("_c");
    let mut passed: Vec<String> = named
        .iter()
        .enumerate()
        .filter(|(_, each)| !own.contains(&&*each.name))
        .map(|(place, each)| match twin.map(|twin| &twin.parameters[place]) {
            Some(other) if other != *each => count(each),
            _ => word(&each.name),
        })
        .collect();
    passed.extend(form.map(|form| form.value().to_owned()));
    if module == "type_construction" && twin.is_some() {
        passed.push(if wide { "Width::Count" } else { "Width::Int" }.to_owned());
    }
    let mut inner = bare(&f.name).to_owned();
    if wide && twin.is_some() {
        inner.truncate(inner.len() - 2);
    }
    let inner = form.map_or(inner.clone(), |form| form.base(&inner)).to_lowercase();
    let (path, passed) = (format!("calls::{module}::{inner}"), passed.join(", "));
    let work = format!("{path}({passed})");
    // Who is passed no address has nothing to believe.
    let believes = match form.is_some() || named.iter().any(|each| is_address(each)) {
        true => Believes::Addresses,
        false => Believes::Nothing,
    };
    let boundary = match (&*f.returns, module) {
        // What these return is no code of an error.
        (_, "fortran_handles") => None,
        ("int", "mpi_t") => Some("tool"),
        ("int", _) if f.is_anytime => Some("anytime"),
        ("int", _) => Some("boundary"),
        _ => None,
    };
    match (boundary, believes) {
        (Some(boundary), _) => bounded(&f.name, boundary, (&work, believes), outputs),
        (None, Believes::Addresses) => format!("unsafe {{ {work} }}"),
        (None, Believes::Nothing) => work,
    }
}

/// The name without what all of them begin with.
fn bare(name: &str) -> &str {
    name.trim_start_matches("MPI_").trim_start_matches("MPIX_")
}

/// Whether the functions of a module come in several forms.
fn is_in_forms(module: &str) -> bool {
    matches!(module, "collectives" | "neighbours" | "sparse")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
    Persistent,
    /// Persistent, and among the members of a group.
    Among,
    /// The first of two phases.
    Begin,
}

impl Form {
    fn of(function: &Function) -> Option<Form> {
        let name = bare(&function.name);
        let name = name.strip_suffix("_c").unwrap_or(name);
        let takes_group = || function.parameters.iter().any(|each| each.name == "group");
        Some(match name {
            name if name.ends_with("_begin") => Form::Begin,
            name if name.ends_with("_init") && takes_group() => Form::Among,
            name if name.ends_with("_init") => Form::Persistent,
            name if name.starts_with('I') => Form::Nonblocking,
            _ => Form::Blocking,
        })
    }

    /// Parameters that are part of the form.
    fn own(self) -> &'static [&'static str] {
        match self {
            Form::Blocking | Form::Begin => &[],
            Form::Nonblocking => &["request"],
            Form::Persistent => &["info", "request"],
            Form::Among => &["group", "info", "request"],
        }
    }

    fn value(self) -> &'static str {
        match self {
            Form::Blocking => "Form::Blocking",
            Form::Nonblocking => "Form::Nonblocking(request)",
            Form::Persistent => "Form::Persistent(info, request)",
            Form::Among => "Form::Among(group, info, request)",
            Form::Begin => "Form::Begin",
        }
    }

    /// The name without what says which form it is.
    fn base(self, name: &str) -> String {
        match self {
            Form::Blocking => name.to_owned(),
            Form::Nonblocking => name[1..].to_owned(),
            Form::Persistent | Form::Among => name.replace("_init", ""),
            Form::Begin => name.replace("_begin", ""),
        }
    }
}

/// A count, counts or a place for them, whatever the width.
fn count(parameter: &Parameter) -> String {
    let name = word(&parameter.name);
    let is_int = parameter.kind.contains("int") && !parameter.kind.contains("Aint");
    let width = if is_int { "ints" } else { "large" };
    let is_const = parameter.kind.starts_with("const ");
    match (parameter.kind.ends_with('*') || !parameter.suffix.is_empty(), is_const) {
        (false, _) if is_int => format!("i64::from({name})"),
        (false, _) => format!("{name} as i64"),
        (true, true) => format!("Counts::{width}({name}.cast())"),
        (true, false) => format!("CountPlace::{width}({name}.cast())"),
    }
}

/// A name that is no word of Rust.
fn word(name: &str) -> String {
    if matches!(name, "type" | "in" | "ref") { format!("r#{name}") } else { name.to_owned() }
}

/// A type in Rust.
fn rust(parameter: &Parameter) -> String {
    let is_const = parameter.kind.starts_with("const ");
    let kind = parameter.kind.trim_start_matches("const ").trim();
    let base = kind.trim_end_matches([' ', '*']);
    let mut stars = kind.matches('*').count();
    if base.contains("_function") {
        return "Callback".to_owned();
    }
    let mut inner = match base {
        "int" | "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int".to_owned(),
        "void" => "c_void".to_owned(),
        "char" => "c_char".to_owned(),
        base => base.to_owned(),
    };
    match &*parameter.suffix {
        "" => {}
        "[][3]" => {
            inner = format!("[{inner}; 3]");
            stars += 1;
        }
        _ => stars += 1,
    }
    let pointer = if is_const { "*const " } else { "*mut " };
    format!("{}{inner}", pointer.repeat(stars))
}
