//! The prices of a machine: measured, kept, and the same for all ranks.

#[allow(dead_code, reason = "these tests look at more than what a command says")]
mod command;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The file in the default place is one that nobody has asked for: whatever is the matter with that
/// place, ranks start with the default prices.
#[test]
fn a_default_place_that_is_none_is_passed_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name);
    symlink(place("round"), place("round")).expect("made");
    fs::create_dir_all(place("folder/motet/machine")).expect("made");
    fs::create_dir(place("pipe")).expect("made");
    fs::create_dir(place("pipe/motet")).expect("made");
    let made = Command::new("mkfifo").arg(place("pipe/motet/machine")).status();
    assert!(made.is_ok_and(|status| status.success()));
    fs::create_dir_all(place("bytes/motet")).expect("made");
    fs::write(place("bytes/motet/machine"), [0xff, 0]).expect("written");
    fs::create_dir_all(place("zero/motet")).expect("made");
    symlink("/dev/zero", place("zero/motet/machine")).expect("made");
    let text = |path: PathBuf| path.to_str().expect("plain").to_owned();
    let absurd = [
        String::new(),
        "/dev/null".into(),
        "/dev/full".into(),
        "relative".into(),
        "/x".repeat(5000),
        "/nowhere\n/at all".into(),
        text(place("round")),
        text(place("folder")),
        text(place("pipe")),
        text(place("bytes")),
        text(place("zero")),
    ];
    for variable in ["HOME", "XDG_CONFIG_HOME"] {
        for place in &absurd {
            let mut command = motet(ASK);
            command.env_remove("XDG_CONFIG_HOME").env(variable, place);
            let ended = end(command);
            assert_eq!(ended.out, "off\noff\noff\n", "{variable}={place:.40}: {ended:?}");
            assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{variable}={place:.40}");
        }
    }
    let mut command = motet(ASK);
    command.env_remove("XDG_CONFIG_HOME").env_remove("HOME");
    assert_eq!(end(command).out, "off\noff\noff\n");
}

/// A user who may not look into the home of another one, whose variables it has kept.
#[test]
fn a_home_that_may_not_be_entered_is_passed_over() {
    if !Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n") {
        eprintln!("not tested: only root can become another user");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let home = directory.path().join("home");
    fs::create_dir_all(home.join(".config/motet")).expect("made");
    fs::write(home.join(".config/motet/machine"), "latency = 77.5\n").expect("written");
    let allow = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    allow(&home, 0o700).expect("allowed");
    allow(directory.path(), 0o755).expect("allowed");
    // A copy where everybody may start it.
    let program = directory.path().join("program");
    fs::copy(env!("CARGO_BIN_EXE_motet"), &program).expect("copied");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(ASK.split(' ')).env("HOME", &home).current_dir("/");
    command.env_remove("XDG_CONFIG_HOME").env_remove("MOTET_MACHINE");
    let ended = end(command);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "off\noff\noff\n"), "{ended:?}");
}

/// A program with other rights than its user's reads no file that the user names.
#[test]
fn a_program_with_more_rights_reads_no_file_of_its_user() {
    let directory = tempfile::tempdir().expect("a directory");
    let (program, file) = (directory.path().join("program"), directory.path().join("machine"));
    fs::write(&file, "latency = 77.5\n").expect("written");
    fs::copy(env!("CARGO_BIN_EXE_motet"), &program).expect("copied");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("allowed");
    let ask = || {
        let mut command = Command::new(&program);
        command.args(ASK.split(' ')).current_dir("/").env("MOTET_MACHINE", &file);
        end(command).out
    };
    assert!(ask().starts_with("latency=77.5;"));
    if chown(&program, Some(65534), None).is_err() {
        eprintln!("not tested: only root can give a program to another user");
        return;
    }
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).expect("allowed");
    assert_eq!(ask(), "off\noff\noff\n");
}

/// What was named is read or refused, and what is no file stays what it is.
#[test]
fn devices_and_links_are_not_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let (link, file) = (directory.path().join("link"), directory.path().join("file"));
    fs::write(&file, "latency = 77.5\n").expect("written");
    symlink(&file, &link).expect("made");
    let mut command = motet("info --measure --save");
    command.env("MOTET_MACHINE", &link);
    let ended = end(command);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("it is a symbolic link, and only a file is replaced"), "{ended:?}");
    assert_eq!(fs::read_to_string(&link).expect("it is there"), "latency = 77.5\n");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    for (named, problem) in [("/dev/zero", "longer than 16 MiB"), ("/dev", "a directory")] {
        let mut command = motet(ASK);
        command.env("MOTET_MACHINE", named);
        let ended = end(command);
        assert!(ended.code == Some(2) && ended.err.contains(problem), "{named}: {ended:?}");
    }
    let mut command = motet(ASK);
    command.env("MOTET_MACHINE", "/dev/null");
    assert_eq!(end(command).out, "off\noff\noff\n", "an empty file");
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
    let file = directory.path().join(OsStr::from_bytes(b"a name that is no text \xff"));
    let mut command = motet("info --measure --save");
    command.env("MOTET_MACHINE", &file);
    let ended = end(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("latency") && ended.out.contains("saved in "), "{ended:?}");
    let text = fs::read_to_string(&file).expect("it was kept");
    assert!(text.starts_with("# prices in nanoseconds") && text.contains("\nmessage 4096 = "));
    let mut command = motet("list allreduce -n 4");
    command.env("MOTET_MACHINE", &file);
    assert_eq!(end(command).code, Some(0));
}
