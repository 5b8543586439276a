//! How the programs say that they are to be run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// More than a program takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A file of `tests/c`.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) runs: Vec<ScriptRun>,
}

/// How it is run, and what must come of it.
#[derive(Clone)]
pub(crate) struct ScriptRun {
    /// Its argument.
    pub(crate) case: Option<String>,
    pub(crate) ranks: Vec<usize>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) limit: Duration,
    pub(crate) end: End,
    pub(crate) errors: Vec<String>,
    pub(crate) output: Vec<String>,
    /// What is to be said nowhere.
    pub(crate) never: Vec<String>,
    /// What the standard error is to have in exactly one place.
    pub(crate) once: Vec<String>,
}

/// How a program ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All ranks succeed.
    Success,
    /// The job fails, but by no signal.
    Failure,
    /// The job fails with this code.
    Code(i32),
}

/// Where the programs are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c")
}

/// All of them, by name.
pub(crate) fn all() -> Vec<Program> {
    let entries = fs::read_dir(folder()).expect("the folder of the programs can be read");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("its entries can be read").path()).collect();
    let is_program = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "c" || extension == "cpp")
    };
    paths.retain(is_program);
    paths.sort();
    paths.into_iter().map(program).collect()
}

fn program(path: PathBuf) -> Program {
    let text = fs::read_to_string(&path).expect("a program is a text");
    let name = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let comment = text.strip_prefix("/*").and_then(|text| text.split_once("*/"));
    let runs = comment.map_or(Vec::new(), |(comment, _)| runs(&name, comment));
    assert!(
        runs.iter().all(|run| !run.ranks.is_empty()) && !runs.is_empty(),
        "{name}: its first comment must say with how many ranks it is run: `ranks: 1 2 3`"
    );
    Program { name, path, runs }
}

/// The runs that a comment asks for.
fn runs(program: &str, comment: &str) -> Vec<ScriptRun> {
    let mut common = ScriptRun {
        case: None,
        ranks: Vec::new(),
        environment: Vec::new(),
        limit: LIMIT,
        end: End::Success,
        errors: Vec::new(),
        output: Vec::new(),
        never: Vec::new(),
        once: Vec::new(),
    };
    let mut cases: Vec<ScriptRun> = Vec::new();
    for line in comment.lines() {
        let line = line.trim().trim_start_matches('*').trim_start();
        let Some((key, value)) = line.split_once(": ") else { continue };
        let value = value.trim();
        if key == "case" {
            cases.push(ScriptRun { case: Some(value.to_owned()), ..common.clone() });
            continue;
        }
        let run = cases.last_mut().unwrap_or(&mut common);
        let number = |word: &str| {
            word.parse::<usize>().unwrap_or_else(|_| panic!("{program}: {key}: {value}"))
        };
        match key {
            "ranks" => run.ranks = value.split_whitespace().map(number).collect(),
            "seconds" => run.limit = Duration::from_secs(number(value) as u64),
            "set" => {
                let (name, value) = value.split_once('=').unwrap_or((value, ""));
                run.environment.push((name.to_owned(), value.to_owned()));
            }
            "status" if value == "failure" => run.end = End::Failure,
            "status" if value == "success" => run.end = End::Success,
            "status" => {
                run.end = End::Code(value.parse().expect("a status is `failure` or a code"))
            }
            "stderr" => run.errors.push(value.to_owned()),
            "stdout" => run.output.push(value.to_owned()),
            "never" => run.never.push(value.to_owned()),
            "once" => run.once.push(value.to_owned()),
            _ => {}
        }
    }
    if cases.is_empty() { vec![common] } else { cases }
}
