//! The `motet` command, run to its end by a test.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// How long a command may take before it counts as hanging.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(2);

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command without what steers Motet. What stands between two `'` is one word, as a path in a
/// folder for temporary files, which may have any name.
pub(crate) fn motet(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_motet"));
    for (at, part) in words.split('\'').enumerate() {
        match at % 2 {
            0 => command.args(part.split_whitespace()),
            _ => command.arg(part),
        };
    }
    let steers = |name: &String| name.starts_with("MOTET_");
    for name in std::env::vars().map(|(name, _)| name).filter(steers) {
        command.env_remove(name);
    }
    // Nor do prices that the user has kept.
    command.env("XDG_CONFIG_HOME", "/nowhere");
    command
}

/// Runs a command to its end; one that does not end in time is killed, and fails the test.
#[track_caller]
pub(crate) fn end(mut command: Command) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be started");
    let out = hear(child.stdout.take().expect("it was asked for"));
    let err = hear(child.stderr.take().expect("it was asked for"));
    let code = watch(&mut child);
    let text = |heard: JoinHandle<String>| heard.join().expect("a pipe can be read");
    let ended = Ended { code: code.unwrap_or_default(), out: text(out), err: text(err) };
    assert!(code.is_some(), "{command:?} was killed after {TIME_LIMIT:?}: {ended:?}");
    ended
}

/// What a command says that ends well.
#[track_caller]
pub(crate) fn printed(words: &str) -> String {
    let ended = end(motet(words));
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{words}: {}", ended.out);
    ended.out
}

/// What a command complains of, in one line: it says nothing else and has this exit code.
#[track_caller]
pub(crate) fn complaint(words: &str, code: i32) -> String {
    let ended = end(motet(words));
    assert_eq!(ended.code, Some(code), "{words}: {ended:?}");
    assert_eq!(ended.out, "", "{words}");
    let line = ended.err.strip_prefix("motet: ").and_then(|text| text.strip_suffix('\n'));
    let line = line.filter(|line| !line.contains('\n'));
    line.unwrap_or_else(|| panic!("{words}: not one line: {:?}", ended.err)).to_owned()
}

fn hear(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).expect("a pipe can be read");
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// The exit code of a child that ends in time.
fn watch(child: &mut Child) -> Option<Option<i32>> {
    let begun = Instant::now();
    while begun.elapsed() < TIME_LIMIT {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return Some(status.code());
        }
        sleep(POLL);
    }
    child.kill().and_then(|()| child.wait()).expect("a child can be killed");
    None
}
