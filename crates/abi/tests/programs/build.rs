//! The library, the launcher and the programs: builds them and runs them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, thread};

use tempfile::TempDir;

use crate::Outcome;
use crate::script::{self, End, Program, ScriptRun};

/// What a launcher adds to the number of the signal that killed a rank.
const SIGNALLED: i32 = 128;
/// Of a command that does not exist, or cannot be run.
const NO_COMMAND: [i32; 2] = [126, 127];

/// Where programs are compiled and run.
pub(crate) struct Workshop {
    scratch: TempDir,
    /// Where cargo puts what it builds in the profile of this test.
    built: PathBuf,
    /// What came of compiling: nothing, or what the compiler said.
    compiled: BTreeMap<String, Result<(), String>>,
}

impl Workshop {
    /// Builds the library and the launcher, with the profile that this test is built with.
    pub(crate) fn new() -> Outcome<Workshop> {
        // This program is `TARGET/PROFILE/deps/programs-…`.
        let program = env::current_exe()?;
        let built = program.ancestors().nth(2).ok_or("this program lies nowhere")?.to_owned();
        let target = built.parent().ok_or("there is no target directory")?;
        let profile = match built.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(profile) => profile,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "motet-abi", "-p", "motet-heap"]);
        cargo.args(["-p", "motet-cli", "--profile"]);
        cargo.arg(profile).env("CARGO_TARGET_DIR", target).current_dir(env!("CARGO_MANIFEST_DIR"));
        if !cargo.status()?.success() {
            return Err("the library cannot be built".into());
        }
        let scratch = TempDir::new()?;
        fs::create_dir(scratch.path().join("lib"))?;
        let workshop = Workshop { scratch, built, compiled: BTreeMap::new() };
        symlink(workshop.shared_library(), workshop.libraries().join("libmpi_abi.so.1"))?;
        Ok(workshop)
    }

    /// The library.
    pub(crate) fn shared_library(&self) -> PathBuf {
        self.built.join("libmpi_abi.so")
    }

    /// Where the loader finds it.
    fn libraries(&self) -> PathBuf {
        self.scratch.path().join("lib")
    }

    /// Where a file of this name may be put.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Compiles programs, as many at once as there are cores.
    pub(crate) fn compile<'a>(&mut self, programs: impl Iterator<Item = &'a Program>) {
        let programs: BTreeMap<&str, &Program> =
            programs.map(|program| (program.name.as_str(), program)).collect();
        let queue = Mutex::new(programs.into_values());
        let compiled = Mutex::new(BTreeMap::new());
        let work = || {
            loop {
                let next = queue.lock().expect("no compilation panics").next();
                let Some(program) = next else { return };
                let outcome = self.compile_one(program).map_err(|problem| problem.to_string());
                let mut compiled = compiled.lock().expect("no compilation panics");
                compiled.insert(program.name.clone(), outcome);
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
        self.compiled = compiled.into_inner().expect("no compilation panics");
    }

    /// Compiles a program.
    pub(crate) fn compile_one(&self, program: &Program) -> Outcome {
        self.compile_file(&program.path, &program.name)
    }

    /// Compiles a file into a program of this name.
    pub(crate) fn compile_file(&self, source: &Path, name: &str) -> Outcome {
        let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
        let (compiler, standard) = if is_cpp { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread"]);
        command.arg("-D_DEFAULT_SOURCE");
        command.arg("-I").arg(headers()).arg("-I").arg(script::folder());
        command.arg(source).arg("-o").arg(self.path(name));
        command.arg("-L").arg(self.libraries()).args(["-l:libmpi_abi.so.1", "-lm"]);
        let output =
            command.output().map_err(|error| format!("{compiler} cannot be run: {error}"))?;
        let words = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(words.into_owned().into()) }
    }

    /// Runs a program that has been compiled.
    pub(crate) fn run(&self, program: &Program, run: &ScriptRun, ranks: usize) -> Outcome {
        match self.compiled.get(&program.name) {
            Some(Ok(())) => {}
            Some(Err(words)) => return Err(words.clone().into()),
            None => return Err("it has not been compiled".into()),
        }
        let (errors, output) = (self.path("stderr"), self.path("stdout"));
        let mut job = self
            .command(&self.path(&program.name), ranks)
            .args(&run.case)
            .envs(run.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&errors)?)
            .spawn()?;
        let end = end_of(&mut job, run.limit)?;
        let (errors, output) = (fs::read(&errors)?, fs::read(&output)?);
        let errors = String::from_utf8_lossy(&errors);
        let output = String::from_utf8_lossy(&output);
        let told = format!("standard error:\n{errors}standard output:\n{output}");
        let Some(status) = end else {
            return Err(format!("not over after {:?}\n{told}", run.limit).into());
        };
        if !is_right(status, run.end) {
            return Err(format!("it ended with {status}\n{told}").into());
        }
        let expected = run.errors.iter().map(|text| (text, &errors));
        for (text, found) in expected.chain(run.output.iter().map(|text| (text, &output))) {
            if !found.contains(text.as_str()) {
                return Err(format!("\"{text}\" was to be said, but not:\n{told}").into());
            }
        }
        if let Some(text) = run.never.iter().find(|text| told.contains(text.as_str())) {
            return Err(format!("\"{text}\" was not to be said:\n{told}").into());
        }
        for text in &run.once {
            let count = errors.matches(text.as_str()).count();
            if count != 1 {
                return Err(format!("\"{text}\" was said {count} times:\n{told}").into());
            }
        }
        Ok(())
    }

    /// A program on so many ranks; on zero, without a launcher.
    pub(crate) fn command(&self, program: &Path, ranks: usize) -> Command {
        let mut command = if ranks == 0 {
            Command::new(program)
        } else {
            let mut command = Command::new(self.built.join("motet"));
            command.args(["run", "-n", &ranks.to_string()]).arg(program);
            command
        };
        command.env("LD_LIBRARY_PATH", self.libraries());
        command
    }

    /// A program without a launcher, which is killed if it does not end by itself.
    pub(crate) fn limited(&self, program: &Path) -> Command {
        let mut command = self.command(Path::new("timeout"), 0);
        command.args(["-s", "KILL", "60"]).arg(program);
        command
    }
}

/// Where `mpi.h` is.
pub(crate) fn headers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Whether a job ended as it was to end.
fn is_right(status: ExitStatus, end: End) -> bool {
    let by_signal = status.signal().is_some();
    match (end, status.code()) {
        (End::Success, code) => code == Some(0),
        (End::Failure, Some(code)) => {
            !by_signal && code != 0 && code < SIGNALLED && !NO_COMMAND.contains(&code)
        }
        (End::Code(wanted), Some(code)) => code == wanted,
        (End::Failure | End::Code(_), None) => false,
    }
}

/// Waits for a program; kills it at the limit.
fn end_of(job: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = job.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(1));
    }
    job.kill()?;
    job.wait()?;
    Ok(None)
}
