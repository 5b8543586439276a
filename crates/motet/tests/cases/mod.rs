//! Programs that are their own test cases: started again, with a variable that says which case to
//! be. They speak as the usual harness does, as far as anybody asks them.

use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, io, thread};

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

/// The program: the case that `variable` names, or all of those that are asked for.
pub(crate) fn main_of(variable: &str, cases: &[impl TestCase]) -> ExitCode {
    if let Ok(name) = env::var(variable) {
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
