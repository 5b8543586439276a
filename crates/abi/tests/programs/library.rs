//! What it costs to have the library: what else is loaded with it, how large it is, how long a
//! program takes to come and go.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::build::{Workshop, headers};
use crate::missing;
use crate::outputs;
use crate::pairs;
use crate::script::{self, End, Program, ScriptRun};

/// A fact about the library: what it is called, and what asks for it.
type Fact = (&'static str, fn(&Workshop) -> Outcome);

/// All there are.
pub(crate) const TESTS: [Fact; 10] = [
    ("the_library_needs_only_that_of_c", needs_only_the_library_of_c),
    ("the_library_is_small", is_small),
    ("joining_and_leaving_is_fast", joins_and_leaves_fast),
    ("the_benchmark_runs", benchmark_runs),
    ("programs_run_under_valgrind", runs_under_valgrind),
    ("the_library_exports_what_the_headers_declare", exports_what_the_headers_declare),
    ("what_there_is_not_says_so", missing::says_so),
    ("handles_of_failed_calls_are_null", outputs::are_null),
    ("types_are_compared_between_two_rust_programs", pairs::of_two_rust_programs),
    ("types_are_compared_between_rust_and_c", pairs::of_rust_and_c),
];

/// What every program has anyway.
const NEEDED: [&str; 4] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"];
const MAX_BYTES: u64 = 6_000_000;
/// Of `MPI_Init` and `MPI_Finalize` together, on each of two ranks.
const MAX_MICROSECONDS: u64 = 50_000;
/// Programs that use most of the library, for a tool that watches every access to memory.
const WATCHED: [&str; 6] =
    ["messages", "collectives_forms", "requests", "datatypes_sent", "neighbours", "padding"];
/// Programs that are not watched, even by `cargo test --release --package motet-abi --test programs
/// under_valgrind`, which watches all others: they bring an allocator of their own, take long, or
/// measure time; or they end children in which the progress thread of their parent is lost.
const UNWATCHED: [&str; 6] = [
    "collectives_quiet",
    "collectives_threads",
    "communicators_threads",
    "forked",
    "init_time",
    "threads",
];
/// The fastest of so many runs counts, since others use the machine too.
const RUNS: usize = 20;

fn needs_only_the_library_of_c(workshop: &Workshop) -> Outcome {
    let facts = tool(Command::new("readelf").arg("-dW").arg(workshop.shared_library()))?;
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
    tool(Command::new("strip").arg("-o").arg(&stripped).arg(workshop.shared_library()))?;
    let len = fs::metadata(&stripped)?.len();
    println!("({len} bytes, stripped)");
    if len < MAX_BYTES { Ok(()) } else { Err(format!("{len} bytes").into()) }
}

/// Each function under both its names, and no other name that a program could take for one.
///
/// spec: 144
fn exports_what_the_headers_declare(workshop: &Workshop) -> Outcome {
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"]).arg(workshop.shared_library());
    let is_of_mpi = |name: &str| {
        let name = name.to_ascii_uppercase();
        name.starts_with("MPI") || name.starts_with("PMPI")
    };
    let names = tool(&mut nm)?;
    let exported: BTreeSet<&str> = names
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| is_of_mpi(name))
        .collect();
    let mut declared = BTreeSet::new();
    let texts = ["mpi.h", "mpix.h"].map(|name| fs::read_to_string(headers().join(name)));
    let [standard, ours] = texts;
    for line in [standard?, ours?].iter().flat_map(|text| text.lines()) {
        // Lines such as `int MPI_Send(const void *buf, …`: what goes on begins with spaces.
        let head = line.split('(').next().unwrap_or_default();
        let name = head.rsplit(' ').next().unwrap_or_default();
        if line.len() > head.len() && is_of_mpi(name) && !line.starts_with(['#', ' ', 't']) {
            declared.insert(name.to_owned());
        }
    }
    let twins = declared
        .iter()
        .all(|name| declared.contains(&format!("P{name}")) || declared.contains(&name[1..]));
    let declared: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    let difference: Vec<_> = declared.symmetric_difference(&exported).collect();
    if declared.len() < 1000 || !twins || !difference.is_empty() {
        let count = declared.len();
        return Err(format!("of {count}, only declared or only exported: {difference:?}").into());
    }
    Ok(())
}

fn joins_and_leaves_fast(workshop: &Workshop) -> Outcome {
    let program = script::all().into_iter().find(|program| program.name == "init_time");
    let program = program.ok_or("init_time.c is not there")?;
    workshop.compile_one(&program)?;
    let mut fastest = u64::MAX;
    for _ in 0..RUNS {
        let printed = tool(&mut workshop.command(&workshop.path(&program.name), 2))?;
        let times: Vec<u64> =
            printed.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if times.len() != 2 {
            return Err(format!("two ranks said: {printed}").into());
        }
        fastest = fastest.min(times.into_iter().max().unwrap_or(u64::MAX));
    }
    println!("({fastest} microseconds)");
    if fastest < MAX_MICROSECONDS { Ok(()) } else { Err(format!("{fastest} microseconds").into()) }
}

/// Each row of the benchmark has a figure for each form; it checks the data itself.
fn benchmark_runs(workshop: &Workshop) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/c/motet_bench.c");
    let program = Program { name: "motet_bench".to_owned(), path, runs: Vec::new() };
    workshop.compile_one(&program)?;
    let command = || workshop.command(&workshop.path(&program.name), 2);
    let operations = tool(command().arg("-l"))?;
    let operations: BTreeSet<&str> = operations.lines().collect();
    let printed =
        tool(command().args(["-t", "-s", "0.0002", "-r", "3", "-b", "8", "-b", "70000"]))?;
    let mut figures = 0;
    let mut measured = BTreeSet::new();
    for line in printed.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let figure = fields.get(4).and_then(|figure| figure.parse::<f64>().ok());
        if fields.len() != 5 || figure.is_none_or(|figure| figure <= 0.0) {
            return Err(format!("no figure in: {line}").into());
        }
        measured.insert(fields[0]);
        figures += 1;
    }
    // In three forms with two lengths, but for what has only one.
    let expected = 3 * (2 * operations.len() - ["barrier", "pending"].len());
    if measured == operations && figures == expected {
        return Ok(());
    }
    Err(format!("{figures} figures, {expected} were expected:\n{printed}").into())
}

/// Users look for their faults with it, and must not find ours: no access to memory that is not
/// there, no memory that is lost, and in the optimised library nothing that depends on what nobody
/// has written. (In the other one the compiler lets a branch look at such a thing where the answer
/// is the same.) Of that one, some programs are enough.
fn runs_under_valgrind(workshop: &Workshop) -> Outcome {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("(not tested: there is no valgrind)");
        return Ok(());
    }
    let all = script::all();
    if let Some(name) = WATCHED.iter().find(|name| all.iter().all(|it| it.name != **name)) {
        return Err(format!("{name}.c is not there").into());
    }
    let is_watched = |program: &&Program| {
        let name = program.name.as_str();
        let is_optimised = !cfg!(debug_assertions);
        WATCHED.contains(&name) || is_optimised && !UNWATCHED.contains(&name)
    };
    for program in all.iter().filter(is_watched) {
        workshop.compile_one(program)?;
        for run in program.runs.iter().filter(|run| run.end == End::Success) {
            watch(workshop, program, run)?;
        }
    }
    Ok(())
}

/// Runs a program under valgrind, on two ranks if it may have so many.
fn watch(workshop: &Workshop, program: &Program, run: &ScriptRun) -> Outcome {
    let Some(ranks) = run.ranks.iter().copied().filter(|&ranks| ranks <= 2).max() else {
        return Ok(());
    };
    let mut watched = workshop.command(Path::new("timeout"), ranks.max(1));
    watched.args(["300", "valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"]);
    watched.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    if cfg!(debug_assertions) {
        watched.arg("--undef-value-errors=no");
    }
    watched.arg(workshop.path(&program.name)).args(&run.case);
    watched.envs(run.environment.iter().map(|(name, value)| (name, value)));
    tool(&mut watched).map(drop)
}

/// What a tool says on its standard output.
pub(crate) fn tool(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
