//! `motet run --session=own`: a job in a session of its own, whose command passes on signals, stops
//! and goes on with it, and ends as it does. `ci/sessions` does the same on terminals.

#[path = "launcher/mod.rs"]
mod launcher;

use std::os::unix::process::CommandExt;
use std::time::Duration;

use launcher::{Motet, TIME_LIMIT, assert_gone, in_shell, plain, run, shell, signal, stat, until};

/// Ranks that write their numbers and wait for their end.
const WAITING: &str = "echo $$; exec sleep 1000";

fn own(ranks: usize, script: &str) -> Motet {
    Motet::start(&["run", "--session=own", "-n", &ranks.to_string(), "sh", "-c", script])
}

fn field(process: u32, at: usize) -> u32 {
    let fields = stat(process).expect("it runs");
    fields[at].parse().expect("a number")
}

fn parent(process: u32) -> u32 {
    field(process, 1)
}

fn session(process: u32) -> u32 {
    field(process, 3)
}

fn is_stopped(process: u32) -> bool {
    stat(process).is_some_and(|fields| fields[0] == "T")
}

/// Each with its state, as the system names it; nothing if it is gone.
fn states(processes: &[u32]) -> Vec<(u32, Option<String>)> {
    let state = |process| stat(process).map(|fields| fields[0].clone());
    processes.iter().map(|&process| (process, state(process))).collect()
}

#[test]
fn ranks_share_a_session_or_have_their_own() {
    let mut motet = own(3, WAITING);
    let ranks = motet.pids(3);
    let launcher = parent(ranks[0]);
    assert_eq!(parent(launcher), motet.id);
    assert!(ranks.iter().all(|&rank| session(rank) == launcher));
    assert_ne!(session(motet.id), launcher);
    motet.signal("TERM");
    let ended = motet.end();
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(143), "motet: ended by signal 15 (SIGTERM)\n")
    );
    assert_gone(&[ranks, vec![launcher]].concat());
    let mut motet = Motet::script(1, WAITING);
    let rank = motet.pids(1)[0];
    assert_eq!((parent(rank), session(rank)), (motet.id, session(motet.id)));
    motet.signal("TERM");
    motet.end();
}

#[test]
fn the_option_counts_more_than_the_variable() {
    let text = "[ $(cut -d' ' -f6 /proc/self/stat) = $PPID ] && echo own || echo shared";
    for (setting, option, expected) in [
        ("", None, "shared\n"),
        ("own", None, "own\n"),
        ("shared", None, "shared\n"),
        ("own", Some("--session=shared"), "shared\n"),
        ("shared", Some("--session=own"), "own\n"),
    ] {
        let words = [&["run", "-n", "1"], option.as_slice(), &["sh", "-c", text]].concat();
        let ended = Motet::of(plain(&words).env("MOTET_SESSION", setting)).end();
        assert_eq!(
            (ended.text().as_str(), ended.code),
            (expected, Some(0)),
            "{setting} {option:?}"
        );
        let words = [&["mpiexec"], option.as_slice(), &["sh", "-c", text]].concat();
        let ended = Motet::of(plain(&words).env("MOTET_SESSION", setting)).end();
        assert_eq!(
            (ended.text().as_str(), ended.code),
            (expected, Some(0)),
            "{setting} {option:?}"
        );
    }
    let ended = Motet::of(plain(&["run", "-n", "1", "true"]).env("MOTET_SESSION", "x")).end();
    let told = "motet: MOTET_SESSION is `x`; expected `own` or `shared`\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(2), told));
    let ended = run(&["run", "-n", "1", "--session=x", "true"]);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(2), 1), "{}", ended.err);
}

#[test]
fn codes_and_errors_are_those_of_the_job() {
    let ended = own(3, "echo out; echo err >&2; exit 7").end();
    assert_eq!(ended.code, Some(7));
    assert!(ended.err.contains(" exited with code 7"), "{}", ended.err);
    let ended = own(2, "kill -KILL $$").end();
    assert_eq!(ended.code, Some(137));
    let ended = run(&["run", "--session=own", "-n", "2", "no-such-program"]);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(127), 1), "{}", ended.err);
    let ended = run(&["run", "--session=own", "-n", "0", "true"]);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(2), 1), "{}", ended.err);
    let ended = shell("$motet run --session=own -n 2 yes | head -n 1; exit 0");
    assert_eq!((ended.text().as_str(), ended.err.as_str()), ("y\n", ""));
}

#[test]
fn input_that_is_no_terminal_is_that_of_rank_0() {
    let text = "printf 'a\\nb\\n' | while read x; do
                    $motet run --session=own -n 2 true; echo turn $x
                done; printf 'c\\nd\\n' | $motet run --session=own -n 2 cat";
    assert_eq!(shell(text).text(), "turn a\nturn b\nc\nd\n");
}

#[test]
fn a_second_interrupt_kills() {
    let mut motet = own(2, "trap '' INT; echo $$; sleep 1000");
    let ranks = motet.pids(2);
    motet.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    assert!(!motet.has_ended());
    motet.signal("INT");
    assert_eq!(motet.end().code, Some(130));
    assert_gone(&ranks);
}

/// The job stops and goes on as a job of a shell.
#[test]
fn it_stops_and_goes_on() {
    let text = "set -m; $motet run --session=own -n 2 sh -c \"$text\" < /dev/null & echo $!
                cat > /dev/null; wait $!";
    let mut command = in_shell(text);
    // The kernel stops nobody in the group of a process that leads a session, as a test may be in.
    command.env("text", WAITING).process_group(0);
    let mut shell = Motet::of(&mut command);
    let mut processes = shell.pids(3);
    let front = processes.iter().copied().find(|&each| parent(each) == shell.id);
    let front = front.expect("the shell has started it");
    let launchers =
        processes.iter().map(|&each| parent(each)).filter(|&each| parent(each) == front);
    processes.extend(launchers.take(1).collect::<Vec<_>>());
    assert_eq!(processes.len(), 4, "the front, two ranks and the launcher: {processes:?}");
    for _ in 0..2 {
        signal(front, "TSTP");
        let all_stop = until(TIME_LIMIT, || processes.iter().all(|&each| is_stopped(each)));
        assert!(all_stop, "front {front}: {:?}", states(&processes));
        signal(front, "CONT");
        let all_go_on = until(TIME_LIMIT, || !processes.iter().any(|&each| is_stopped(each)));
        assert!(all_go_on, "front {front}: {:?}", states(&processes));
    }
    signal(front, "TERM");
    assert_eq!(shell.end().code, Some(143));
    assert_gone(&processes);
}

/// Also what has left the session of the job, and while the job is stopped.
#[test]
fn a_front_that_is_killed_leaves_nothing() {
    for is_stopped_before in [false, true] {
        let mut motet = own(1, "setsid sleep 1000 > /dev/null 2>&1 & echo $!; echo $$; wait");
        let mut processes = motet.pids(2);
        processes.push(parent(processes[1]));
        assert!(until(TIME_LIMIT, || session(processes[0]) == processes[0]));
        if is_stopped_before {
            signal(processes[2], "STOP");
            assert!(until(TIME_LIMIT, || is_stopped(processes[2])));
        }
        motet.signal("KILL");
        motet.end();
        assert_gone(&processes);
    }
}

#[test]
fn a_launcher_that_is_killed_is_told_of_and_leaves_nothing() {
    let mut motet = own(1, "setsid sleep 1000 > /dev/null 2>&1 & echo $!; echo $$; wait");
    let processes = motet.pids(2);
    let launcher = parent(processes[1]);
    assert!(until(TIME_LIMIT, || session(processes[0]) == processes[0]));
    signal(launcher, "KILL");
    let ended = motet.end();
    let told = format!(
        "motet: the launcher (process {launcher}) was killed by signal 9 (SIGKILL); \
         its ranks were ended\n"
    );
    assert_eq!((ended.code, ended.err), (Some(137), told));
    assert_gone(&processes);
}

/// Between sessions only the nice value of the session counts.
#[test]
fn the_session_is_as_nice_as_the_command() {
    if !std::path::Path::new("/proc/self/autogroup").exists() {
        println!("skipped: this kernel has no automatic groups");
        return;
    }
    let job = "$motet run --session=own -n 1 sed s/.*nice.// /proc/self/autogroup";
    for nice in ["7", "19"] {
        let ended = shell(&format!("nice -n {nice} sh -c 'nice; exec {job}'"));
        let text = ended.text();
        let values: Vec<&str> = text.lines().collect();
        assert!(values.len() == 2 && values[0] == values[1], "{values:?} {}", ended.err);
    }
}

#[test]
fn info_says_whether_sessions_share_the_cores() {
    let page = run(&["info"]).text();
    assert!(page.contains("\nSessions\n  scheduler "), "{page}");
    assert!(page.contains("\n  --session=own "), "{page}");
}
