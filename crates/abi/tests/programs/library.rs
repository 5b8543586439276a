//! What it costs to have the library: what else is loaded with it, how large it is, how long a
//! program takes to come and go.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::build::Workshop;

/// All there are.
pub(crate) const TESTS: [(&str, fn(&Workshop) -> Outcome); 2] = [
    ("the_library_needs_only_that_of_c", needs_only_the_library_of_c),
    ("the_library_is_small", is_small),
];

/// What every program has anyway.
const NEEDED: [&str; 4] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"];
const MAX_BYTES: u64 = 6_000_000;

fn needs_only_the_library_of_c(workshop: &Workshop) -> Outcome {
    let facts = tool(Command::new("readelf").arg("-dW").arg(workshop.library()))?;
    let in_brackets = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
    let of = |key: &str| -> Vec<String> {
        facts.lines().filter(|line| line.contains(key)).filter_map(in_brackets).collect()
    };
    if of("(SONAME)") != ["libmpi_abi.so.1"] {
        return Err(format!("its name is {:?}", of("(SONAME)")).into());
    }
    let needed = of("(NEEDED)");
    if needed.is_empty() {
        return Err(format!("nothing that it needs was found in:\n{facts}").into());
    }
    match needed.iter().find(|name| !NEEDED.contains(&name.as_str())) {
        Some(name) => Err(format!("it needs {name}").into()),
        None => Ok(()),
    }
}

fn is_small(workshop: &Workshop) -> Outcome {
    if cfg!(debug_assertions) {
        println!("(the size counts in release: cargo test --release --test programs small)");
        return Ok(());
    }
    let stripped = workshop.path("stripped");
    tool(Command::new("strip").arg("-o").arg(&stripped).arg(workshop.library()))?;
    let len = fs::metadata(&stripped)?.len();
    println!("({len} bytes, stripped)");
    if len < MAX_BYTES { Ok(()) } else { Err(format!("{len} bytes").into()) }
}

/// What a tool says on its standard output.
fn tool(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
