//! Programs in C and C++ on the C library: each file of `tests/c` is compiled and run as a world of
//! processes.
//!
//! The first comment of a file says what it is about, and in lines of its own how it is run:
//!
//! ```text
//! ranks: 1 2 3     a run with each of these numbers of ranks; 0 is a run without a launcher
//! set: NAME=value  a variable of the environment
//! seconds: 90      the time after which it is killed
//! status: failure  it must fail (and not by a signal), likewise `status: 7` with this code;
//!                  otherwise all ranks must succeed
//! stderr: text     this text must be on the standard error; likewise `stdout: text`
//! never: text      this text must be on neither; `once: text`: once on the standard error
//! case: name       what follows is for a run of its own, with this word as its argument
//! spec: 57, 58     the items of the checklist that it proves
//! ```
//!
//! To be run by itself as `cargo test -p motet-abi -p motet-cli --test programs [PART OF A NAME]`:
//! then the test and the library that it builds share everything that is below them.
//!
//! What stands before the first `case` holds for all of them. With an argument, only what has it in
//! its name is run.

#[path = "programs/build.rs"]
mod build;
#[path = "programs/library.rs"]
mod library;
#[path = "programs/missing.rs"]
mod missing;
#[path = "programs/outputs.rs"]
mod outputs;
#[path = "programs/pairs.rs"]
mod pairs;
#[path = "programs/script.rs"]
mod script;
#[path = "../generate/table.rs"]
mod table;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use build::Workshop;
use script::{Program, ScriptRun};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A test: what it is called, and what it does.
enum Test<'a> {
    Program(&'a Program, &'a ScriptRun, usize),
    Library(fn(&Workshop) -> Outcome),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let programs = script::all();
    let mut tests = tests(&programs);
    if let Some(wanted) = arguments.iter().find(|argument| !argument.starts_with('-')) {
        tests.retain(|(name, _)| name.contains(wanted));
    }
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    match run(&tests) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn tests(programs: &[Program]) -> Vec<(String, Test<'_>)> {
    let mut tests = Vec::new();
    for (name, test) in library::TESTS {
        tests.push((name.to_owned(), Test::Library(test)));
    }
    for program in programs {
        for run in &program.runs {
            for &ranks in &run.ranks {
                let case = run.case.iter().map(|case| format!("::{case}")).collect::<String>();
                let name = format!("{}{case}::{ranks}", program.name);
                tests.push((name, Test::Program(program, run, ranks)));
            }
        }
    }
    tests
}

/// Runs all of them one after the other; says how many failed.
fn run(tests: &[(String, Test<'_>)]) -> Outcome<usize> {
    let mut workshop = Workshop::new()?;
    workshop.compile(tests.iter().filter_map(|(_, test)| match test {
        Test::Program(program, ..) => Some(*program),
        Test::Library(_) => None,
    }));
    let mut failed = Vec::new();
    for (name, test) in tests {
        let outcome = match test {
            Test::Program(program, run, ranks) => workshop.run(program, run, *ranks),
            Test::Library(test) => test(&workshop),
        };
        match outcome {
            Ok(()) => println!("test {name} ... ok"),
            Err(problem) => {
                println!("test {name} ... FAILED\n{problem}");
                failed.push(name);
            }
        }
    }
    println!("{} passed, {} failed", tests.len() - failed.len(), failed.len());
    failed.iter().for_each(|name| println!("    {name}"));
    Ok(failed.len())
}
