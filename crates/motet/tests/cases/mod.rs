//! Programs that are their own test cases: started again, with a variable that says which case to
//! be. They speak as the usual harness does, as far as anybody asks them.

#![allow(dead_code)] // each test program needs a part of it

use std::error::Error;
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, io, thread};

/// Tells the program which case it is to be.
pub(crate) const CASE: &str = "MOTET_TEST_CASE";

/// A case of such a program.
pub(crate) trait TestCase {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What the program does as this case.
    fn run_body(&self) -> motet::Result<()>;

    /// Starts the program as this case and looks at what comes of it; the error is the problem in
    /// words.
    fn run(&self) -> Result<(), String>;
}

/// A plain case: its body has no arguments.
pub(crate) struct Case<E> {
    /// Its name.
    pub(crate) name: &'static str,
    /// What the program does as this case.
    pub(crate) body: fn() -> motet::Result<()>,
    /// What must come of it.
    pub(crate) expected: E,
}

/// What must come of a case.
pub(crate) trait Expectation {
    /// Starts the program as the case of this name, and compares what comes of it.
    fn check(&self, case: &str) -> Result<(), Box<dyn Error>>;
}

/// A function that starts the program as the case of this name, and compares what comes of it.
pub(crate) type Check = fn(&str) -> Result<(), Box<dyn Error>>;

impl Expectation for Check {
    fn check(&self, case: &str) -> Result<(), Box<dyn Error>> {
        self(case)
    }
}

impl<E: Expectation> TestCase for Case<E> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> motet::Result<()> {
        (self.body)()
    }

    fn run(&self) -> Result<(), String> {
        self.expected.check(self.name).map_err(|problem| problem.to_string())
    }
}

/// The program: the case that [`CASE`] names, or all of those that are asked for.
pub(crate) fn main_of(cases: &[impl TestCase]) -> ExitCode {
    if let Ok(name) = env::var(CASE) {
        let case = cases.iter().find(|case| case.name() == name).expect("a case of this name");
        return match case.run_body() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        cases.iter().for_each(|case| println!("{}: test", case.name()));
        return ExitCode::SUCCESS;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let chosen = cases.iter().filter(|case| wanted.is_none_or(|name| case.name().contains(name)));
    let (mut passed, mut failed) = (0, 0);
    for case in chosen {
        match case.run() {
            Ok(()) => {
                passed += 1;
                println!("test {} ... ok", case.name());
            }
            Err(problem) => {
                failed += 1;
                println!("test {} ... FAILED\n{problem}", case.name());
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Waits for a process that a case has started; after the deadline it is killed, and there is no
/// status.
pub(crate) fn end_of(process: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    while Instant::now() < deadline {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(2));
    }
    process.kill()?;
    process.wait()?;
    Ok(None)
}
