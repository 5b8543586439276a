//! `motet run`, started, talked to and watched by a test.
//!
//! A launcher here begins with what a test says and not with what the test was started with: a
//! shell's `&` and `nohup` have programs ignore signals, and those that ignore some pass it on.
//! Whatever does not end in time is killed, so that a test that waits for it fails and ends.

#![allow(dead_code)] // each test program needs a part of it

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// How long anything may take before it counts as hanging.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(30);
/// The promise: how long after a death everything is over.
pub(crate) const PROMISE: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// A launcher that runs. Dropping it kills it, and the kernel its ranks.
pub(crate) struct Motet {
    child: Arc<Mutex<Child>>,
    pub(crate) id: u32,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<BufReader<ChildStdout>>,
    stderr: Option<JoinHandle<String>>,
    /// Tells the watchdog, when it is dropped, that nobody waits any more.
    _watched: Sender<()>,
}

/// A launcher that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// The command with these words: it ignores no signal, and nothing steers it that the test did not
/// say. `env` becomes the command, so that is the child.
pub(crate) fn plain(words: &[&str]) -> Command {
    with_signals("--default-signal", words)
}

/// As [`plain`], but with this option of `env` about signals.
pub(crate) fn with_signals(option: &str, words: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", option, env!("CARGO_BIN_EXE_motet")]).args(words);
    without_settings(&mut command);
    command
}

/// A shell that runs this text, in which `$motet` is the command.
pub(crate) fn in_shell(text: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal", "sh", "-c", text]);
    without_settings(&mut command);
    command.env("motet", env!("CARGO_BIN_EXE_motet"));
    command
}

fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MOTET_")) {
        command.env_remove(name);
    }
}

impl Motet {
    pub(crate) fn start(words: &[&str]) -> Motet {
        Motet::of(&mut plain(words))
    }

    /// Starts a command, with pipes for whatever it is to read and to write.
    pub(crate) fn of(command: &mut Command) -> Motet {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("motet can be started");
        let mut stderr = child.stderr.take().expect("it was asked for");
        let hear = move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).expect("a pipe can be read");
            String::from_utf8_lossy(&text).into_owned()
        };
        let (id, stdin) = (child.id(), child.stdin.take());
        let stdout = child.stdout.take().map(BufReader::new);
        let child = Arc::new(Mutex::new(child));
        let watched = watch(Arc::clone(&child));
        Motet { child, id, stdin, stdout, stderr: Some(spawn(hear)), _watched: watched }
    }

    /// Ranks that are shell scripts.
    pub(crate) fn script(ranks: usize, script: &str) -> Motet {
        Motet::start(&["run", "-n", &ranks.to_string(), "sh", "-c", script])
    }

    /// The next line, whoever wrote it.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.stdout.as_mut().expect("nobody has taken it");
        stdout.read_line(&mut line).expect("a pipe of text can be read");
        line.trim_end().to_owned()
    }

    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.line()).collect()
    }

    #[track_caller]
    pub(crate) fn pids(&mut self, count: usize) -> Vec<u32> {
        let lines = self.lines(count);
        lines.iter().map(|line| line.parse().expect("ranks write numbers")).collect()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.id, name);
    }

    pub(crate) fn has_ended(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(child.try_wait(), Ok(Some(_)))
    }

    /// Reads to the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        drop(self.stdin.take());
        let stdout = self.stdout.take();
        let hear = spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.map(|mut pipe| pipe.read_to_end(&mut bytes));
            assert!(!matches!(read, Some(Err(_))), "{read:?}");
            bytes
        });
        let ended = until(TIME_LIMIT, || self.has_ended());
        let code = end_of(&self.child);
        let out = hear.join().expect("output can be read");
        let err = self.stderr.take().map(|hear| hear.join().expect("errors can be read"));
        let result = Ended { code, out, err: err.unwrap_or_default() };
        assert!(ended, "motet did not end: {} {}", result.text(), result.err);
        result
    }
}

impl Drop for Motet {
    fn drop(&mut self) {
        end_of(&self.child);
    }
}

impl Ended {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.text().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

/// Kills a process that runs when it has had its time, unless nobody wants that any more.
fn watch(child: Arc<Mutex<Child>>) -> Sender<()> {
    let (watched, over) = channel();
    spawn(move || {
        if over.recv_timeout(2 * TIME_LIMIT) == Err(RecvTimeoutError::Timeout) {
            end_of(&child);
        }
    });
    watched
}

/// Kills a process, if it has not ended, and gives its exit code.
fn end_of(child: &Mutex<Child>) -> Option<i32> {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // Nothing more can be done if that fails.
    let _ = child.kill();
    child.wait().ok().and_then(|status| status.code())
}

#[track_caller]
pub(crate) fn run(words: &[&str]) -> Ended {
    Motet::start(words).end()
}

#[track_caller]
pub(crate) fn script(ranks: usize, script: &str) -> Ended {
    Motet::script(ranks, script).end()
}

/// What a shell that runs this text writes and ends with.
#[track_caller]
pub(crate) fn shell(text: &str) -> Ended {
    Motet::of(&mut in_shell(text)).end()
}

/// Waits for a condition, and says whether it came.
pub(crate) fn until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !condition() {
        if begun.elapsed() > limit {
            return false;
        }
        sleep(POLL);
    }
    true
}

#[track_caller]
pub(crate) fn signal(process: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
    assert!(status.is_ok_and(|status| status.success()), "kill -{name} {process}");
}

/// Fields of `/proc/N/stat` behind the name: the state is the first.
pub(crate) fn stat(process: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// A zombie is not alive: it is up to its parent, which may not be ours to blame.
pub(crate) fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|fields| fields[0] != "Z" && fields[0] != "X")
}

#[track_caller]
pub(crate) fn assert_gone(processes: &[u32]) {
    let gone = until(PROMISE, || !processes.iter().any(|&process| is_alive(process)));
    let left: Vec<_> = processes.iter().filter(|&&process| is_alive(process)).collect();
    assert!(gone, "still there: {left:?}");
}
