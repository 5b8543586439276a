//! The prices of a machine: measured, kept, and the same for all ranks.

#[allow(dead_code, reason = "these tests look at more than what a command says")]
mod command;

use std::fs;

use command::{end, motet};

/// What three ranks find in their environment.
const ASK: &str = "run -n 3 printenv MOTET_MACHINE";

/// All ranks are handed the same prices by who starts them, wherever these come from; so a file
/// that changes meanwhile cannot part them.
#[test]
fn all_ranks_are_handed_the_same_prices() {
    let none = end(motet(ASK));
    assert_eq!((none.code, none.out.as_str()), (Some(0), "off\noff\noff\n"), "{none:?}");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("machine");
    fs::write(&file, "latency = 77.5 # ns\n").expect("written");
    let mut command = motet(ASK);
    command.env("MOTET_MACHINE", &file);
    let named = end(command);
    let lines: Vec<_> = named.out.lines().collect();
    assert_eq!(lines.len(), 3, "{named:?}");
    assert!(lines.iter().all(|line| line.starts_with("latency=77.5;send=") && *line == lines[0]));
    // The default place.
    let kept = directory.path().join("motet");
    fs::create_dir(&kept).expect("made");
    fs::rename(&file, kept.join("machine")).expect("moved");
    let mut command = motet(ASK);
    command.env("XDG_CONFIG_HOME", directory.path());
    assert_eq!(end(command).out, named.out);
}

/// Prices that cannot be read are an error before any rank is started, which names the line.
#[test]
fn a_wrong_file_is_named_with_its_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("machine");
    fs::write(&file, "latency = 5\nsend = fast\n").expect("written");
    let mut command = motet(ASK);
    command.env("MOTET_MACHINE", &file);
    let ended = end(command);
    assert_ne!(ended.code, Some(0));
    assert_eq!(ended.out, "");
    assert!(ended.err.contains("MOTET_MACHINE") && ended.err.contains("machine: line 2: `send"));
}

/// What is measured is shown, kept where it was asked for, and read from there.
#[test]
fn what_was_measured_is_kept_and_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("machine");
    let mut command = motet("info --measure --save");
    command.env("MOTET_MACHINE", &file);
    let ended = end(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("latency") && ended.out.contains("kept in "), "{ended:?}");
    let text = fs::read_to_string(&file).expect("it was kept");
    assert!(text.starts_with("# prices in nanoseconds") && text.contains("\nmessage 4096 = "));
    let mut command = motet("list allreduce -n 4");
    command.env("MOTET_MACHINE", &file);
    assert_eq!(end(command).code, Some(0));
}
