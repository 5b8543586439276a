//! Worlds whose two ranks run different programs: the elements that pass between them are compared
//! by what they are, whichever program and language they are from.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

use crate::Outcome;
use crate::build::Workshop;
use crate::library::tool;

/// What passes between two programs in Rust.
const IN_RUST: [&str; 4] = ["other_names", "other_field", "flag_of_structure", "flag_of_bytes"];
/// What passes between one in Rust and one in C.
const WITH_C: [&str; 4] = ["integers_with_c", "bytes_of_c", "truth_of_c", "truth_for_c"];

/// Starts the first program as rank 0, the second as rank 1, both with the same argument.
const BY_RANK: &str = "if [ $MOTET_RANK = 0 ]; then exec \"$0\" \"$2\"; fi; exec \"$1\" \"$2\"";

pub(crate) fn of_two_rust_programs(workshop: &Workshop) -> Outcome {
    let programs = [compile_rust(workshop, "first")?, compile_rust(workshop, "second")?];
    IN_RUST.iter().try_for_each(|case| run(workshop, &programs, case))
}

pub(crate) fn of_rust_and_c(workshop: &Workshop) -> Outcome {
    workshop.compile_file(&folder().join("in_c.c"), "in_c")?;
    let programs = [compile_rust(workshop, "first")?, workshop.path("in_c")];
    WITH_C.iter().try_for_each(|case| run(workshop, &programs, case))
}

fn run(workshop: &Workshop, programs: &[PathBuf; 2], case: &str) -> Outcome {
    let mut world = workshop.command(Path::new("timeout"), 2);
    world.args(["-s", "KILL", "60", "sh", "-c", BY_RANK]).args(programs).arg(case);
    tool(&mut world).map(drop).map_err(|problem| format!("{case}: {problem}").into())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs")
}

/// Compiles a program against the library in Rust that the one in C is made of.
fn compile_rust(workshop: &Workshop, name: &str) -> Outcome<PathBuf> {
    let test = env::current_exe()?;
    let deps = test.parent().ok_or("this program lies nowhere")?;
    let program = workshop.path(name);
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "-D", "warnings", "--extern"]);
    rustc.arg(format!("motet={}", library(deps)?.display()));
    rustc.arg("-L").arg(format!("dependency={}", deps.display()));
    rustc.arg(folder().join(name).with_extension("rs")).arg("-o").arg(&program);
    tool(&mut rustc)?;
    Ok(program)
}

/// The library in Rust; if there are some of other features, the one that was made last.
fn library(deps: &Path) -> Outcome<PathBuf> {
    let mut libraries: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(deps)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("libmotet-") && name.ends_with(".rlib") {
            libraries.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    let last = libraries.into_iter().max();
    last.map(|(_, library)| library).ok_or_else(|| "the library in Rust is not there".into())
}
