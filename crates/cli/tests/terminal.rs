//! `motet run` on a terminal, which `script` (of util-linux) makes: what is typed there before the
//! ranks run, or while they do, reaches rank 0.

#[path = "launcher/mod.rs"]
mod launcher;

use std::io::Write;
use std::process::Command;

use launcher::{Motet, in_shell};

/// Whether there is a `script` that makes terminals.
fn makes_terminals() -> bool {
    let found = Command::new("script").arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: there is no `script` here that makes terminals");
    }
    found
}

/// Runs this text in a shell on a terminal, where the lines have been typed before it begins and,
/// `late`, when the first line of output has come; and gives what the terminal shows.
fn shown(text: &str, early: &str, late: &str) -> String {
    let mut command = in_shell("exec script --quiet --return --command \"$text\" /dev/null");
    let mut motet = Motet::of(command.env("text", text));
    let mut terminal = motet.stdin.take().expect("nobody has taken it");
    terminal.write_all(early.as_bytes()).expect("it is open");
    let mut page = String::new();
    if !late.is_empty() {
        while !page.contains("ready") {
            let line = motet.line();
            assert!(!line.is_empty(), "the job has ended: {page}");
            page += &(line + "\n");
        }
        terminal.write_all(late.as_bytes()).expect("it is open");
    }
    // The end of what is typed is typed by `script`, when it has seen this.
    drop(terminal);
    let ended = motet.end();
    assert_eq!(ended.code, Some(0), "{page}{}{}", ended.text(), ended.err);
    page + &ended.text()
}

/// How often a line is shown: once as it is typed, and once by the rank that has read it.
fn count(page: &str, line: &str) -> usize {
    page.lines().filter(|shown| shown.trim_end() == line).count()
}

#[test]
fn lines_typed_ahead_reach_rank_0() {
    if !makes_terminals() {
        return;
    }
    let lines: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
    let early = lines.join("\n") + "\n";
    for (text, late) in [
        ("exec $motet run -n 3 cat", ""),
        // Typed for a job that somebody else's program keeps waiting.
        ("sleep 0.2; exec $motet run -n 3 cat", ""),
        // Rank 0 takes its time, and some lines come later.
        ("exec $motet run -n 3 sh -c 'echo ready; sleep 0.2; exec cat'", "later\nlast\n"),
        // The job is in another session than the terminal.
        ("exec $motet run --session=own -n 3 cat", ""),
        (
            "exec $motet run --session=own -n 3 sh -c 'echo ready; sleep 0.2; exec cat'",
            "later\nlast\n",
        ),
        ("exec bash -i -c '$motet run --session=own -n 3 cat' 2>/dev/null", ""),
        // A shell whose jobs have the terminal in turn.
        ("exec bash -i -c '$motet run -n 3 cat' 2>/dev/null", ""),
    ] {
        let page = shown(text, &early, late);
        for line in lines.iter().map(String::as_str).chain(late.lines()) {
            assert_eq!(count(&page, line), 2, "{line:?} of {text:?}: {page}");
        }
    }
}

/// A line that a program has read itself, before it starts ranks, is its own.
#[test]
fn lines_before_the_job_are_not_those_of_rank_0() {
    if !makes_terminals() {
        return;
    }
    let page = shown("read x; echo mine: $x; exec $motet run -n 2 cat", "one\ntwo\n", "");
    assert_eq!((count(&page, "mine: one"), count(&page, "two")), (1, 2), "{page}");
}

/// What comes when rank 0 reads no more is left to the next program. Rank 0 tells of it, late: a
/// line that comes earlier is its own.
#[test]
fn lines_that_rank_0_does_not_read_are_those_of_others() {
    if !makes_terminals() {
        return;
    }
    for session in ["shared", "own"] {
        let rank = "test $MOTET_RANK = 0 || exec sleep 1; sleep 0.2; exec <&-; echo ready; sleep 1";
        let job = format!("$motet run --session={session} -n 2 sh -c '{rank}'");
        let page = shown(&format!("{job}; read x; echo mine: $x"), "", "one\n");
        assert_eq!(count(&page, "mine: one"), 1, "{session}: {page}");
    }
}
