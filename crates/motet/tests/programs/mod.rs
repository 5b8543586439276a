//! The example programs as a user meets them: run, watched, and read.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// More than any run takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// A matrix of the real world, which is a graph as well.
pub(crate) const MATRIX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/1138_bus.mtx");

/// What a run left: its exit code and what it wrote.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The value behind a name in the report.
    pub(crate) fn value(&self, name: &str) -> &str {
        let line = self.stdout.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name:?} in {self}")).trim()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(formatter, "exit code {code:?}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}

/// A program, which `cargo test` builds with the tests: `target/PROFILE/examples/NAME`.
fn path_of(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let profile = test.ancestors().nth(2).context("tests lie in target/PROFILE/deps")?;
    let program = profile.join("examples").join(name);
    ensure!(program.exists(), "no {}: run `cargo build --examples`", program.display());
    Ok(program)
}

/// A path as an argument.
pub(crate) fn argument(path: &Path) -> Result<&str> {
    path.to_str().context("a path in UTF-8")
}

/// Runs a program. Its output goes to files, so that nobody who outlives it can hold us.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<Ended> {
    let folder = TempDir::new()?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let child = Command::new(path_of(name)?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0)
        .spawn()?;
    let code = wait_or_kill(child, arguments)?;
    let (stdout, stderr) = (fs::read_to_string(stdout)?, fs::read_to_string(stderr)?);
    Ok(Ended { code, stdout, stderr })
}

/// The watchdog: a run that takes too long is ended with all its processes.
fn wait_or_kill(mut child: Child, arguments: &[&str]) -> Result<Option<i32>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if begin.elapsed() > DEADLINE {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-KILL", "--", &group]).status()?;
            child.wait()?;
            bail!("`{}` did not end within {DEADLINE:?}", arguments.join(" "));
        }
        sleep(Duration::from_millis(5));
    }
}

/// Sees that a run ends with one line that says this, and nothing else: ranks that have left in
/// good order have said what there is to say, so the launcher adds nothing.
#[track_caller]
pub(crate) fn assert_one_line(name: &str, arguments: &[&str], message: &str) -> Result<()> {
    let ended = run(name, arguments)?;
    assert_eq!(ended.code, Some(1), "{ended}");
    assert_eq!(ended.stdout, "", "{ended}");
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{ended}");
    let told = lines[0].strip_prefix(name).and_then(|line| line.strip_prefix(": "));
    assert!(told.is_some_and(|line| line.contains(message)), "no {message:?}: {ended}");
    Ok(())
}

/// Sees that nothing runs for a command line like this one.
#[track_caller]
pub(crate) fn assert_starts_nothing(name: &str, arguments: &[&str]) -> Result<()> {
    let ended = run(name, arguments)?;
    assert_eq!(ended.code, Some(2), "{ended}");
    assert_eq!(ended.stdout, "", "{ended}");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{ended}");
    Ok(())
}
