//! What a launcher is started with, and what becomes of it: signals that are ignored or blocked,
//! standard streams that are closed, full or nobody's, hardly any environment, no terminal.

#[path = "launcher/mod.rs"]
mod launcher;

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::{Motet, PROMISE, assert_gone, is_alive, plain, shell, with_signals};

/// Signals that a program can be started with as ignored or blocked.
const SIGNALS: [(&str, u32); 14] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("CHLD", 17),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("XFSZ", 25),
];

/// The mask in a row of `/proc/self/status`: that of a program which `env` has started with this
/// option about signals, and those of two ranks of a launcher which it has started.
#[track_caller]
fn masks(option: &str, row: &str) -> (u64, Vec<u64>) {
    // Not `grep`, which has its own mind about some signals.
    let show = ["sed", "-n", &format!("/{row}/p"), "/proc/self/status"];
    let mut plain = Command::new("env");
    let plain = Motet::of(plain.args(["--default-signal", option]).args(show)).end();
    let ranks = [&["run", "-n", "2"], &show[..]].concat();
    let ranks = Motet::of(&mut with_signals(option, &ranks)).end();
    assert_eq!((ranks.code, ranks.err.as_str()), (Some(0), ""), "{option}");
    let mask = |line: &str| u64::from_str_radix(line.split_whitespace().last()?, 16).ok();
    let masks = |text: String| text.lines().filter_map(mask).collect::<Vec<_>>();
    (masks(plain.text())[0], masks(ranks.text()))
}

#[test]
fn ranks_ignore_what_the_launcher_was_told_to_ignore() {
    // The launcher, or the language it is written in, has its own use of these two.
    let not_handed_down = 1 << (13 - 1) | 1 << (17 - 1);
    for (name, number) in SIGNALS {
        let (plain, ranks) = masks(&format!("--ignore-signal={name}"), "SigIgn");
        assert_eq!(plain >> (number - 1) & 1, 1, "{name}");
        assert_eq!(ranks, [plain & !not_handed_down; 2], "{name}");
    }
}

#[test]
fn ranks_begin_with_no_signal_blocked() {
    for (name, number) in SIGNALS {
        let (plain, ranks) = masks(&format!("--block-signal={name}"), "SigBlk");
        assert_eq!((plain >> (number - 1) & 1, ranks), (1, vec![0; 2]), "{name}");
    }
    assert_eq!(masks("--block-signal", "SigBlk").1, [0; 2], "all of them");
}

/// Two ranks that tell their processes and wait.
fn sleepers(option: &str) -> (Motet, Vec<u32>) {
    let text = "echo $$; exec sleep 1000";
    let mut motet = Motet::of(&mut with_signals(option, &["run", "-n", "2", "sh", "-c", text]));
    let pids = motet.pids(2);
    (motet, pids)
}

/// What the launcher was told to ignore does nothing to the job, and all else still ends it.
#[test]
fn an_ignored_signal_stays_ignored() {
    let endings = [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)];
    for (ignored, _) in endings {
        for (sent, code) in endings.into_iter().filter(|&(sent, _)| sent != ignored) {
            let (motet, pids) = sleepers(&format!("--ignore-signal={ignored}"));
            motet.signal(ignored);
            motet.signal(ignored);
            sleep(Duration::from_millis(20));
            assert!(!motet.has_ended(), "{ignored} ended a job that was to ignore it");
            assert!(pids.iter().all(|&process| is_alive(process)), "{ignored}");
            motet.signal(sent);
            let ended = motet.end();
            assert_eq!(ended.code, Some(code), "{ignored} was ignored, {sent} was sent");
            assert_gone(&pids);
        }
    }
}

/// The way of `nohup motet run … &` in a script.
#[test]
fn a_job_in_the_background_outlives_its_terminal_and_can_be_ended() {
    let (motet, pids) = sleepers("--ignore-signal=HUP,INT,QUIT");
    for name in ["HUP", "INT", "QUIT", "INT"] {
        motet.signal(name);
    }
    sleep(Duration::from_millis(20));
    assert!(!motet.has_ended() && pids.iter().all(|&process| is_alive(process)));
    motet.signal("TERM");
    let ended = motet.end();
    assert_eq!(ended.code, Some(143));
    assert_eq!(ended.err, "motet: ended by signal 15 (SIGTERM)\n");
    assert_gone(&pids);
}

/// Ranks that ignore the request to end are killed, also if they have inherited that.
#[test]
fn a_death_ends_ranks_that_ignore_the_request_to_end() {
    let text = "if [ $MOTET_RANK = 0 ]; then read x; exit 3; fi; echo $$; exec sleep 1000";
    let words = ["run", "-n", "2", "sh", "-c", text];
    let mut motet = Motet::of(&mut with_signals("--ignore-signal=TERM", &words));
    let pids = motet.pids(1);
    let death = Instant::now();
    let ended = motet.end();
    assert!(death.elapsed() < PROMISE, "took {:?}", death.elapsed());
    assert_eq!(ended.code, Some(3));
    assert_gone(&pids);
}

/// Who starts programs from threads with signals blocked hands that down without wanting it.
#[test]
fn a_blocked_signal_reaches_the_ranks_all_the_same() {
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let (motet, pids) = sleepers("--block-signal");
        motet.signal(name);
        let ended = motet.end();
        assert_eq!(ended.code, Some(code), "{name}");
        assert_gone(&pids);
    }
}

/// A parent that ignores the ends of its children has the kernel throw their statuses away.
#[test]
fn ends_are_told_where_the_parent_wants_to_hear_of_none() {
    for option in ["--ignore-signal=CHLD", "--block-signal=CHLD"] {
        let words = ["run", "-n", "2", "sh", "-c", "exit $((5 * MOTET_RANK))"];
        let ended = Motet::of(&mut with_signals(option, &words)).end();
        assert_eq!(ended.code, Some(5), "{option}: {ended:?}");
        let words = ["run", "-n", "1", "sh", "-c", "true; (exit 4); echo $?"];
        let ended = Motet::of(&mut with_signals(option, &words)).end();
        assert_eq!((ended.code, ended.text().as_str()), (Some(0), "4\n"), "{option}");
    }
}

/// What a job does whatever its standard streams are: rank 0 says `out` and `err`, and reads.
const TALK: &str = "$motet run -n 2 sh -c 'cat; echo out; echo err >&2'";

#[test]
fn closed_streams_are_like_empty_ones() {
    let cases = [
        ("<&-", "out\nout\n", "err\nerr\n"),
        (">&-", "", "err\nerr\n"),
        ("2>&-", "out\nout\n", ""),
        ("<&- >&-", "", "err\nerr\n"),
        ("<&- 2>&-", "out\nout\n", ""),
        ("<&- >&- 2>&-", "", ""),
    ];
    for (streams, out, err) in cases {
        let ended = shell(&format!("exec {TALK} {streams}"));
        let told = (ended.code, ended.text(), ended.err);
        assert_eq!(told, (Some(0), out.to_owned(), err.to_owned()), "{streams}");
    }
    // A rank finds its place also with as few descriptors as these.
    let failed = shell("exec $motet run -n 2 sh -c 'exit 3' <&- >&- 2>&-");
    assert_eq!(failed.code, Some(3));
}

#[test]
fn a_closed_pipe_ends_the_job_quietly() {
    let ended = shell(&format!("{TALK} </dev/null 2>/dev/null | head -n 1; echo over"));
    assert_eq!((ended.text().as_str(), ended.err.as_str()), ("out\nover\n", ""));
    // The code is that of a program that the pipe has killed.
    let ended = shell("{ $motet run -n 2 yes; echo $? >&2; } | head -n 1");
    assert_eq!((ended.text().as_str(), ended.err.as_str()), ("y\n", "141\n"));
    // Nobody hears a word on the standard error, and that is no reason to end.
    let ended = shell(&format!("{{ {{ {TALK} >/dev/null; echo $? >&3; }} 2>&1 | :; }} 3>&1"));
    assert_eq!(ended.text(), "0\n");
}

#[test]
fn a_full_disk_is_told() {
    let ended = shell("exec $motet run -n 2 echo lost >/dev/full");
    assert_eq!(ended.code, Some(1));
    let told = "motet: cannot write to standard output: No space left on device (os error 28)\n";
    assert_eq!(ended.err, told);
    let ended = shell("exec $motet run -n 1 sh -c 'exit 3' 2>/dev/full");
    assert_eq!(ended.code, Some(3));
}

#[test]
fn hardly_any_environment_is_enough() {
    let ended = shell("exec env -i PATH=\"$PATH\" $motet run -n 2 sh -c 'echo $MOTET_RANK'");
    assert_eq!((ended.code, ended.sorted()), (Some(0), vec!["0".to_owned(), "1".to_owned()]));
    // Without any, the program needs a path.
    let ended = shell("exec env -i $motet run -n 2 /bin/echo x");
    assert_eq!((ended.code, ended.text().as_str()), (Some(0), "x\nx\n"));
}

#[test]
fn a_job_needs_no_terminal_and_no_folder() {
    let ended = shell("exec setsid --wait $motet run -n 2 echo x </dev/null");
    assert_eq!((ended.code, ended.text().as_str()), (Some(0), "x\nx\n"));
    let folder = tempfile::tempdir().expect("there is room");
    let gone = folder.path().join("gone");
    std::fs::create_dir(&gone).expect("there is room");
    let text = format!("cd '{0}' && rmdir '{0}' && exec $motet run -n 2 echo x", gone.display());
    let ended = shell(&text);
    assert_eq!((ended.code, ended.text().as_str()), (Some(0), "x\nx\n"));
}

#[test]
fn manners_of_the_user_are_those_of_the_ranks() {
    let mut command = plain(&["run", "-n", "2", "sh", "-c", "echo $LC_ALL $TMPDIR $(umask)"]);
    command.env("LC_ALL", "tr_TR.UTF-8").env("LANG", "nonsense").env("TMPDIR", "/nowhere");
    let ended = Motet::of(&mut command).end();
    assert_eq!((ended.code, ended.text().lines().count()), (Some(0), 2), "{ended:?}");
    assert!(ended.text().lines().all(|line| line.starts_with("tr_TR.UTF-8 /nowhere 0")));
    let ended = shell("umask 077; exec $motet run -n 2 sh -c umask");
    assert_eq!((ended.code, ended.text().as_str()), (Some(0), "0077\n0077\n"));
}
