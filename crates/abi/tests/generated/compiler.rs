//! Small C programs: compiled, and run.

use std::process::{Command, Output};

/// Where the headers of this crate lie.
pub(crate) const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

fn run(mut command: Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Whether a compiler can be called. That for C can, since Rust links with it.
pub(crate) fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Compiles a text with the compiler `program` and these options; what it complains of is the
/// error.
pub(crate) fn compile(program: &str, options: &[&str], text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let source = folder.path().join("source");
    std::fs::write(&source, text).expect("there is room for a file");
    let language = if program == "c++" { "c++" } else { "c" };
    let mut command = Command::new("timeout");
    command.args(["60", program, "-x", language]).args(options).arg(&source);
    let output = run(command);
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// What a program writes that was compiled from a text.
#[track_caller]
pub(crate) fn answers(text: &str) -> String {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let program = folder.path().join("program");
    let place = program.to_str().expect("a path in ASCII");
    compile("cc", &["-std=gnu11", "-o", place], text).unwrap_or_else(|error| panic!("{error}"));
    let mut command = Command::new("timeout");
    let output = run({
        command.arg("10").arg(&program);
        command
    });
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("ASCII")
}
