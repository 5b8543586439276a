//! `motet run` as its users meet it: with scripts for ranks, which write, read, die and linger.
//!
//! Every launcher started here has a watchdog: what does not end in time is killed, and the test
//! fails with what had been heard of it.

#[path = "launcher/mod.rs"]
mod launcher;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::{
    Motet, PROMISE, TIME_LIMIT, assert_gone, in_shell, is_alive, plain, run, script, shell, signal,
    stat, until,
};

#[test]
fn all_well_is_zero_and_silence() {
    let ended = script(3, "exit 0");
    assert_eq!((ended.code, ended.text().as_str(), ended.err.as_str()), (Some(0), "", ""));
}

#[test]
fn ranks_know_who_they_are() {
    let ended = script(3, "echo $MOTET_RANK of $MOTET_RANKS");
    assert_eq!(ended.sorted(), ["0 of 3", "1 of 3", "2 of 3"]);
}

#[test]
fn arguments_after_the_program_are_its_own() {
    let ended = run(&["run", "-n", "1", "printf", "%s.", "-n", "--label", "--", "a b", ""]);
    assert_eq!(ended.text(), "-n.--label.--.a b..");
    let ended = run(&["run", "-np", "2", "echo", "-np", "3"]);
    assert_eq!(ended.sorted(), ["-np 3", "-np 3"]);
}

#[test]
fn labels_name_the_rank() {
    let text = "echo a; echo b; printf c; echo d >&2";
    let ended = run(&["run", "--label", "-n", "2", "sh", "-c", text]);
    assert_eq!(ended.sorted(), ["[0] a", "[0] b", "[0] c", "[1] a", "[1] b", "[1] c"]);
    assert!(ended.err == "[0] d\n[1] d\n" || ended.err == "[1] d\n[0] d\n", "{}", ended.err);
}

#[test]
fn a_program_that_is_not_there_is_127() {
    let ended = run(&["run", "-n", "4", "no-such-program", "x"]);
    assert_eq!(ended.code, Some(127));
    assert!(ended.err.starts_with("motet: cannot start no-such-program: "), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1);
}

/// The line says what to do, by what is wrong.
#[test]
fn a_program_that_cannot_be_started_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let write = |name, text: &str, mode| {
        std::fs::write(place(name), text).expect("written");
        let mode = Permissions::from_mode(mode);
        std::fs::set_permissions(place(name), mode).expect("allowed");
    };
    write("lost", "#!/no/such/interpreter\n", 0o755);
    write("closed", "#!/bin/sh\n", 0o644);
    let cases = [
        (
            "no-such-program".into(),
            "; no folder of PATH has it: for a program in this folder, give ./no-",
        ),
        (place("missing"), "; give the path of an existing program"),
        (place("lost"), "; the file exists, but its interpreter does not"),
        (place("closed"), "; allow to execute it (`chmod +x`)"),
        (place("."), "; this is a folder: give a program in it"),
    ];
    for (program, remedy) in cases {
        let ended = run(&["mpiexec", "-n", "2", &program]);
        let is_right = ended.err.starts_with(&format!("motet: cannot start {program}: "))
            && ended.err.contains(remedy)
            && ended.err.lines().count() == 1;
        assert!(is_right, "{program}: {}", ended.err);
    }
}

/// What a user has named stays within the line that tells of it.
#[test]
fn names_with_line_breaks_are_escaped() {
    let forged = "no\u{1b}[31m\nmotet: rank 7 was killed";
    let shown = r"no\u{1b}[31m\nmotet: rank 7 was killed";
    let ended = run(&["run", "-n", "1", forged]);
    assert!(ended.err.starts_with(&format!("motet: cannot start {shown}: ")), "{}", ended.err);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(127), 1));
    let ended = run(&["run", "-n", forged, "true"]);
    assert!(ended.err.starts_with("motet: ") && ended.err.lines().count() == 1, "{}", ended.err);
    let ended = run(&["plan", "bcast", "--algorithm", forged]);
    assert!(ended.err.starts_with("motet: ") && ended.err.lines().count() == 1, "{}", ended.err);
    let ended = run(&["run", "--hosts", forged, "-n", "2", forged]);
    let forgeries = ended.err.lines().filter(|line| line.starts_with("motet: rank 7"));
    assert_eq!((forgeries.count(), ended.err.matches(shown).count()), (0, 8), "{}", ended.err);
    assert!(!ended.err.contains('\u{1b}'), "{}", ended.err);
}

#[test]
fn a_program_that_cannot_be_run_is_126() {
    let ended = run(&["run", "-n", "2", "/dev/null"]);
    assert_eq!(ended.code, Some(126));
    assert!(ended.err.starts_with("motet: cannot start /dev/null: "), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1);
}

#[test]
fn impossible_numbers_of_ranks_are_2() {
    for ranks in ["0", "100000", "1025", "x", "-1", "99999999999999999999999"] {
        let ended = run(&["run", "-n", ranks, "true"]);
        assert_eq!(ended.code, Some(2), "{ranks}");
        assert!(ended.err.starts_with("motet: "), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
    assert!(run(&["run", "-n", "1025", "true"]).err.contains("(1 to 1024 allowed)"));
    let expected = "expected a number of ranks (1 or more); one machine runs at most 1024\n";
    for ranks in ["0", "2x"] {
        let ended = run(&["run", "-n", ranks, "true"]);
        let text = format!("motet: invalid value '{ranks}' for '--ranks <N>': {expected}");
        assert_eq!(ended.err, text);
    }
}

/// A wrong value of each variable that a launcher checks, and what the error expects instead.
const WRONG: [(&str, &str, &str); 17] = [
    ("MOTET_WAIT", "slep", "`auto`, `spin`, `yield` or `sleep`"),
    ("MOTET_PROGRESS", "x", "`calls` or `thread`"),
    ("MOTET_CHECK", "yes", "`0` or `1`"),
    ("MOTET_HANG_SECONDS", "-1", "a number of seconds from 0 to 100000000"),
    ("MOTET_MAX_PENDING", "many", "a number of operations (0 or more)"),
    ("MOTET_RANKS_PER_NODE", "2x", "a number of ranks (0 or more)"),
    ("MOTET_RANKS_PER_SEGMENT", "two", "a number of ranks (0 or more)"),
    ("MOTET_SINGLE_COPY", "no", "`on` or `off`"),
    ("MOTET_CHANNELS", "1", "`on` or `off`"),
    ("MOTET_SHARED_HEAP", "yes", "`1`, `0`, `on` or `off`"),
    ("MOTET_SESSION", "mine", "`own` or `shared`"),
    ("MOTET_BOOTSTRAP", "pmi3", "`alone`, `pmi1`, `pmi2` or `pmix`"),
    ("MOTET_LAUNCH_SECONDS", "0", "a number of seconds from 1 to 86400"),
    ("MOTET_PEER_TIMEOUT", "0.01", "a number of seconds from 0.1 to 86400"),
    ("MOTET_REMOTE_WRITES", "never", "`on` or `off`"),
    ("MOTET_ERROR_CODES", "class", "`texts` or `classes`"),
    (
        "MOTET_INITIAL_ERRHANDLER",
        "none",
        "`mpi_errors_are_fatal`, `mpi_errors_abort` or `mpi_errors_return`",
    ),
];
/// Variables whose errors have a form of their own, and how those begin.
const WRONG_OTHERWISE: [(&str, &str, &str); 2] = [
    ("MOTET_ALGORITHM", "allreduce=rong", "motet: MOTET_ALGORITHM: "),
    ("MOTET_MACHINE", "latency=x", "motet: MOTET_MACHINE: "),
];
/// Variables that must be text. The error shows the value like this.
const NO_TEXT: [(&str, &[u8], &str); 2] = [
    ("MOTET_ALGORITHM", b"allreduce=ri\xffng", "allreduce=ri\u{fffd}ng"),
    ("MOTET_PROVIDER", b"tc\xffp", "tc\u{fffd}p"),
];
/// Variables that no launcher checks, and why.
const UNCHECKED: [(&str, &str); 8] = [
    ("MOTET_WISDOM", "lines that cannot be read are a warning"),
    ("MOTET_SAVE_WISDOM", "the file need not exist"),
    ("MOTET_PMIX", "the library is opened when it is needed"),
    ("MOTET_LIBFABRIC", "the library is opened when it is needed"),
    ("MOTET_RANK", "the launcher sets it"),
    ("MOTET_RANKS", "the launcher sets it"),
    ("MOTET_SEGMENT", "the launcher sets it"),
    ("MOTET_LAUNCHER", "the launcher sets it"),
];

/// Starts two ranks with this variable, which must end the launcher before it starts them. Returns
/// its one line.
fn refusal(name: &str, value: &OsStr) -> String {
    let mut command = plain(&["run", "-n", "2", "echo", "started"]);
    let ended = Motet::of(command.env(name, value)).end();
    assert_eq!((ended.code, ended.text().as_str()), (Some(2), ""), "{name}: {ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    ended.err
}

/// Not each rank reports a wrong variable, but the launcher, before it starts one.
#[test]
fn a_wrong_variable_is_2_and_one_line() {
    for (name, value, expected) in WRONG {
        let text = format!("motet: {name} is `{value}`; expected {expected}\n");
        assert_eq!(refusal(name, value.as_ref()), text);
    }
    for (name, value, told) in WRONG_OTHERWISE {
        let text = refusal(name, value.as_ref());
        assert!(text.starts_with(told), "{text}");
    }
}

/// A value that is no text is not taken for a variable that is not set.
#[test]
fn a_variable_that_is_no_text_is_2_and_one_line() {
    for (name, value, shown) in NO_TEXT {
        let text = format!("motet: {name} is `{shown}`; expected text in UTF-8\n");
        assert_eq!(refusal(name, OsStr::from_bytes(value)), text);
    }
}

/// The tests above have a wrong value of each variable that `motet info` knows, which are all of
/// `docs/settings.md`, or else a reason why no launcher checks it.
#[test]
fn every_variable_is_checked_or_has_a_reason() {
    let page = run(&["info"]).text();
    let rows = page.lines().filter_map(|line| line.strip_prefix("  MOTET_"));
    let names = rows.filter_map(|row| Some(format!("MOTET_{}", row.split(' ').next()?)));
    let known: BTreeSet<String> = names.collect();
    let wrong = WRONG.iter().chain(&WRONG_OTHERWISE).map(|(name, ..)| *name);
    let wrong = wrong.chain(NO_TEXT.iter().map(|(name, ..)| *name));
    let named = wrong.chain(UNCHECKED.iter().map(|(name, _)| *name));
    assert_eq!(named.map(str::to_owned).collect::<BTreeSet<_>>(), known);
}

#[test]
fn a_wrong_command_line_is_2_and_one_line() {
    let wrong: [&[&str]; 5] =
        [&[], &["run"], &["run", "-n", "2"], &["run", "--no", "-n", "1", "true"], &["walk"]];
    for words in wrong {
        let ended = run(words);
        assert_eq!((ended.code, ended.err.lines().count()), (Some(2), 1), "{words:?} {ended:?}");
        assert!(ended.err.starts_with("motet: "), "{}", ended.err);
    }
}

#[test]
fn hosts_are_refused_with_the_line_that_does_it() {
    let job = ["./program", "-x"];
    let forms: [&[&str]; 3] = [
        &["run", "-n", "4", "--hosts", "a,b"],
        &["run", "-H", "a,b", "-n", "4"],
        &["run", "--host=a,b", "-n4"],
    ];
    for form in forms {
        let ended = run(&[form, &job].concat());
        assert_eq!(ended.code, Some(2), "{form:?} {ended:?}");
        for line in [
            "srun --mpi=pmi2 -N 2 -n 4 -w a,b ./program -x\n",
            "mpiexec -n 4 -hosts a,b ./program -x ",
            "prterun -n 4 --host a:2,b:2 ./program -x\n",
        ] {
            assert!(ended.err.contains(line), "{}", ended.err);
        }
        assert!(ended.err.contains("talk by libfabric"), "{}", ended.err);
        assert!(ended.err.contains("`motet info --fabric` says"), "{}", ended.err);
    }
    assert!(run(&["run", "--hosts", "a,b,c", "true"]).err.contains("srun --mpi=pmi2 -N 3 -n 3"));
}

#[test]
fn the_first_bad_exit_ends_the_others_and_its_code_stays() {
    for first in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let text = format!(
            "if [ $MOTET_RANK = {first} ]; then
                until [ -e '{}' ]; do sleep 0.02; done; echo dying; exit 7
             fi
             echo $$; sleep 1000 & echo $!; wait",
            go.display()
        );
        let mut motet = Motet::script(4, &text);
        let pids = motet.pids(6);
        std::fs::write(go, "").unwrap();
        assert_eq!(motet.line(), "dying");
        let death = Instant::now();
        let ended = motet.end();
        assert!(death.elapsed() < PROMISE, "took {:?}", death.elapsed());
        assert_gone(&pids);
        assert_eq!(ended.code, Some(7));
        let begin = format!("motet: rank {first} (process ");
        assert!(ended.err.starts_with(&begin), "{}", ended.err);
        let end = ") exited with code 7; the other 3 ranks were ended\n";
        assert!(ended.err.ends_with(end), "{}", ended.err);
    }
}

#[test]
fn a_killed_rank_is_told_by_signal_and_process() {
    let mut motet = Motet::script(3, "echo $MOTET_RANK $$; exec sleep 1000");
    let lines = motet.lines(3);
    let victim: u32 =
        lines.iter().find_map(|line| line.strip_prefix("1 ")).unwrap().parse().unwrap();
    signal(victim, "KILL");
    let death = Instant::now();
    let ended = motet.end();
    assert!(death.elapsed() < PROMISE, "took {:?}", death.elapsed());
    assert_eq!(ended.code, Some(137));
    let told = format!(
        "motet: rank 1 (process {victim}) was killed by signal 9 (SIGKILL); \
         the other 2 ranks were ended\n"
    );
    assert_eq!(ended.err, told);
}

#[test]
fn ranks_that_will_not_end_are_killed() {
    let mut motet = Motet::script(
        3,
        "if [ $MOTET_RANK = 0 ]; then read x; echo dying; exit 3; fi
         trap '' TERM INT HUP; echo $$; while :; do sleep 1000 & echo $!; wait; done",
    );
    let pids = motet.pids(4);
    drop(motet.stdin.take());
    assert_eq!(motet.line(), "dying");
    let death = Instant::now();
    let ended = motet.end();
    assert!(death.elapsed() < PROMISE, "took {:?}", death.elapsed());
    assert_gone(&pids);
    assert_eq!(ended.code, Some(3));
}

#[test]
fn last_words_are_heard_and_the_cause_comes_last() {
    let ended = script(
        2,
        "if [ $MOTET_RANK = 1 ]; then printf 'oh no' >&2; kill -SEGV $$; fi
                           trap 'echo bye; exit 1' TERM; sleep 1000 & wait",
    );
    assert_eq!(ended.code, Some(139));
    assert_eq!(ended.text(), "bye\n");
    let mut lines = ended.err.lines();
    assert_eq!(lines.next(), Some("oh no"));
    assert!(lines.next().is_some_and(|line| line.contains("signal 11 (SIGSEGV)")));
    assert_eq!(lines.next(), None);
}

#[test]
fn signals_reach_every_rank() {
    for name in ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2"] {
        let text = "trap 'echo got; exit 0' NAME; echo ready
                    while :; do sleep 0.05; done";
        let mut motet = Motet::script(3, &text.replace("NAME", name));
        assert_eq!(motet.lines(3), ["ready"; 3]);
        motet.signal(name);
        let ended = motet.end();
        assert_eq!(ended.sorted(), ["got"; 3], "{name}");
        // The shells may tell that their sleeps were hit as well, but we have nothing to say.
        assert_eq!((ended.code, ended.err.contains("motet")), (Some(0), false), "{name}");
    }
}

#[test]
fn ranks_outside_the_group_hear_signals_too() {
    let text = "trap 'echo got; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let mut motet = Motet::start(&["run", "-n", "2", "setsid", "sh", "-c", text]);
    assert_eq!(motet.lines(2), ["ready"; 2]);
    motet.signal("TERM");
    let ended = motet.end();
    assert_eq!((ended.code, ended.sorted()), (Some(0), vec!["got".to_owned(); 2]));
}

#[test]
fn a_signal_that_ends_the_ranks_is_the_cause() {
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let mut motet = Motet::script(2, "echo $$; exec sleep 1000");
        let pids = motet.pids(2);
        motet.signal(name);
        let ended = motet.end();
        assert_eq!(ended.code, Some(code));
        assert_eq!(ended.err, format!("motet: ended by signal {} (SIG{name})\n", code - 128));
        assert_gone(&pids);
    }
}

#[test]
fn a_second_interrupt_kills() {
    let mut motet = Motet::script(2, "trap 'echo no' INT; echo $$; while :; do sleep 0.05; done");
    let pids = motet.pids(2);
    motet.signal("INT");
    assert_eq!(motet.lines(2), ["no", "no"]);
    assert!(pids.iter().all(|&process| is_alive(process)));
    motet.signal("INT");
    let ended = motet.end();
    assert_eq!(ended.code, Some(130));
    assert_gone(&pids);
}

/// Who has interrupted a job that goes on is told how to end it, once.
#[test]
fn ranks_that_outlast_an_interrupt_are_told_of() {
    for (ranks, still) in [(1, "1 rank still runs"), (2, "2 ranks still run")] {
        let text = "trap '' INT; echo $$; while :; do sleep 0.05; done";
        // Both streams are one here, so that lines can be waited for.
        let both = format!("exec $motet run -n {ranks} sh -c \"{text}\" 2>&1");
        let mut motet = Motet::of(&mut in_shell(&both.replace("$$", "\\$\\$")));
        let pids = motet.pids(ranks);
        motet.signal("INT");
        let told = "although interrupted; a second interrupt (Ctrl-C) kills all at once";
        assert_eq!(motet.line(), format!("motet: {still} {told}"));
        assert!(pids.iter().all(|&process| is_alive(process)));
        motet.signal("INT");
        let ended = motet.end();
        assert_eq!(
            (ended.code, ended.text().as_str()),
            (Some(130), "motet: ended by signal 2 (SIGINT)\n")
        );
        assert_gone(&pids);
    }
}

/// Ranks that end by an interrupt within the time for it give no reason to speak of a second one.
#[test]
fn an_interrupt_that_is_heeded_is_not_spoken_of() {
    let mut motet =
        Motet::script(2, "trap 'sleep 0.1; exit 0' INT; echo $$; while :; do sleep 0.05; done");
    motet.pids(2);
    motet.signal("INT");
    let ended = motet.end();
    assert_eq!((ended.code, ended.err.contains("motet")), (Some(0), false), "{}", ended.err);
}

#[test]
fn a_killed_launcher_leaves_nothing() {
    let text = "trap '' TERM INT HUP; sleep 1000 & echo $$; echo $!; while :; do wait; done";
    let mut motet = Motet::script(4, text);
    let pids = motet.pids(8);
    let guard = guard_of(pids[0]);
    motet.signal("KILL");
    assert_gone(&pids);
    assert_gone(&[guard]);
    assert_eq!(motet.end().code, None);
}

/// The leader of the group that a rank is in.
fn guard_of(rank: u32) -> u32 {
    let fields = stat(rank).expect("the rank is alive");
    let group: u32 = fields[2].parse().expect("groups have numbers");
    assert_ne!(group, rank);
    group
}

#[test]
fn the_guard_ends_with_the_job() {
    let mut motet = Motet::script(1, "echo $$; read x; exit 0");
    let guard = guard_of(motet.pids(1)[0]);
    assert!(is_alive(guard));
    assert_eq!(motet.end().code, Some(0));
    assert_gone(&[guard]);
}

#[test]
fn a_lost_guard_changes_nothing() {
    let text = "echo $$; if [ $MOTET_RANK = 0 ]; then read x; exit 5; fi; sleep 1000 & wait";
    let mut motet = Motet::script(2, text);
    let pids = motet.pids(2);
    let guard = guard_of(pids[0]);
    signal(guard, "KILL");
    assert!(until(TIME_LIMIT, || stat(guard).is_none()));
    assert!(pids.iter().all(|&process| is_alive(process)));
    assert_eq!(motet.end().code, Some(5));
    assert_gone(&pids);
}

#[test]
fn without_a_guard_the_kernel_still_ends_the_ranks() {
    let mut motet = Motet::script(2, "echo $$; exec sleep 1000");
    let pids = motet.pids(2);
    let guard = guard_of(pids[0]);
    signal(guard, "KILL");
    assert!(until(TIME_LIMIT, || stat(guard).is_none()));
    motet.signal("KILL");
    assert_gone(&pids);
    motet.end();
}

#[test]
fn lines_stay_whole_and_none_is_lost() {
    const LINES: usize = 400_000;
    let ended = script(4, &format!("seq 1 {LINES} | sed \"s/^/$MOTET_RANK /\""));
    assert_eq!(ended.code, Some(0));
    let mut last = BTreeMap::new();
    for line in ended.text().lines() {
        let (rank, number) = line.split_once(' ').unwrap();
        let rank: usize = rank.parse().unwrap();
        let number: usize = number.parse().unwrap();
        assert_eq!(number, last.insert(rank, number).unwrap_or(0) + 1, "after a line of {rank}");
    }
    assert_eq!(last, BTreeMap::from([0, 1, 2, 3].map(|rank| (rank, LINES))));
}

#[test]
fn every_byte_passes_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bytes");
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let bytes: Vec<u8> = (0..3_000_000).map(|_| next()).collect();
    std::fs::write(&path, &bytes).unwrap();
    let ended = run(&["run", "-n", "1", "cat", path.to_str().unwrap()]);
    assert!(ended.out == bytes, "{} bytes of {}", ended.out.len(), bytes.len());
}

#[test]
fn a_line_without_end_passes_without_growing_the_launcher() {
    let mut motet = Motet::script(1, "head -c 200000000 /dev/zero; echo; sleep 0.2");
    let mut out = motet.stdout.take().unwrap();
    let mut zeros = 0;
    loop {
        let block = out.fill_buf().unwrap();
        let len = block.len();
        zeros += block.iter().take_while(|&&byte| byte == 0).count();
        let is_end = block.contains(&b'\n');
        out.consume(len);
        if is_end {
            break;
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", motet.id)).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kibibytes: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kibibytes < 50_000, "the launcher took {kibibytes} KiB");
    assert_eq!((zeros, motet.end().code), (200_000_000, Some(0)));
}

#[test]
fn a_last_line_without_end_is_delivered() {
    assert_eq!(script(1, "echo a; printf b").text(), "a\nb");
    assert_eq!(script(2, "printf b").text(), "bb");
}

#[test]
fn input_goes_to_rank_0_only() {
    let mut motet = Motet::script(3, "cat | sed s/^/$MOTET_RANK./; echo $MOTET_RANK done");
    let mut stdin = motet.stdin.take().unwrap();
    stdin.write_all(b"one\ntwo\n").unwrap();
    drop(stdin);
    let ended = motet.end();
    assert_eq!(ended.sorted(), ["0 done", "0.one", "0.two", "1 done", "2 done"]);
}

#[test]
fn a_reader_who_has_seen_enough_ends_the_job_quietly() {
    let mut motet = Motet::script(3, "echo $$; exec yes");
    let pid: u32 = motet.line().parse().unwrap();
    drop(motet.stdout.take());
    let ended = motet.end();
    assert_eq!((ended.code, ended.err.as_str()), (Some(141), ""));
    assert_gone(&[pid]);
}

#[test]
fn a_reader_who_is_slow_does_not_delay_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let text = format!(
        "cd '{place}'; echo $$ > $MOTET_RANK
         if [ $MOTET_RANK = 0 ]; then exec yes; fi
         until [ -e go ]; do sleep 0.02; done; echo x > dying; exit 5"
    );
    let motet = Motet::script(2, &text);
    let written = |name: &str| Path::new(place).join(name).exists();
    assert!(until(TIME_LIMIT, || written("0") && written("1")));
    // Time for the flood to fill everything that nobody empties.
    sleep(Duration::from_millis(300));
    std::fs::write(format!("{place}/go"), "").unwrap();
    assert!(until(TIME_LIMIT, || written("dying")));
    let flood = std::fs::read_to_string(format!("{place}/0")).unwrap();
    assert_gone(&[flood.trim().parse().unwrap()]);
    assert!(!motet.has_ended(), "output was thrown away");
    let ended = motet.end();
    assert_eq!(ended.code, Some(5));
    assert!(ended.text().lines().all(|line| line == "y") && ended.out.len() > 100_000);
}

#[test]
fn what_a_rank_leaves_behind_does_not_hold_the_launcher() {
    let mut motet = Motet::script(2, "sleep 1000 & echo $!");
    let pids = motet.pids(2);
    let begun = Instant::now();
    let ended = motet.end();
    assert!(begun.elapsed() < 2 * PROMISE, "took {:?}", begun.elapsed());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    assert_gone(&pids);
}

#[test]
fn what_a_rank_leaves_behind_may_finish_its_line() {
    let ended = script(2, "(sleep 0.05; echo late) & echo soon");
    assert_eq!(ended.sorted(), ["late", "late", "soon", "soon"]);
}

#[test]
fn what_has_left_the_group_is_ended_too() {
    let text = "timeout 1000 sleep 1000 > /dev/null 2>&1 & echo $!
                setsid sleep 1000 > /dev/null 2>&1 & echo $!
                read x; exit 0";
    let mut motet = Motet::script(1, text);
    let pids = motet.pids(2);
    // Both move away after they have been started.
    assert!(until(TIME_LIMIT, || {
        let group = |process: u32| stat(process).map(|fields| fields[2].clone());
        pids.iter().all(|&process| group(process) == Some(process.to_string()))
    }));
    assert_eq!(motet.end().code, Some(0));
    assert_gone(&pids);
}

#[test]
fn many_ranks_start_and_end() {
    let ended = script(64, "echo $MOTET_RANK");
    assert_eq!(ended.code, Some(0));
    let mut ranks: Vec<usize> = ended.text().lines().map(|line| line.parse().unwrap()).collect();
    ranks.sort_unstable();
    assert!(ranks.into_iter().eq(0..64));
}

#[test]
fn many_ranks_with_few_files_allowed_raise_the_limit() {
    let ended = shell("ulimit -Sn 64; $motet run -n 100 sh -c 'ulimit -Sn' | sort -u");
    assert_eq!(ended.text(), "64\n", "ranks have the limit of before");
    let ended = shell("ulimit -n 64; exec $motet run -n 100 true");
    let told = "motet: cannot start 100 ranks (364 open files needed, 64 allowed); \
                raise `ulimit -Hn`\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), told));
}

#[test]
fn ranks_hold_no_files_of_the_launcher_or_of_each_other() {
    let plain = shell("exec ls /proc/self/fd").text().lines().count();
    let ended = run(&["run", "-n", "3", "ls", "/proc/self/fd"]);
    // The segment is the one they are to have.
    assert_eq!(ended.text().lines().count(), 3 * (plain + 1), "{}", ended.text());
}

#[test]
fn a_job_within_a_job_is_its_own() {
    let motet = env!("CARGO_BIN_EXE_motet");
    let ended = script(2, &format!("{motet} run -n 2 sh -c 'echo $MOTET_RANK of $MOTET_RANKS'"));
    assert_eq!(
        (ended.code, ended.sorted().join(",")),
        (Some(0), "0 of 2,0 of 2,1 of 2,1 of 2".into())
    );
    let text = format!("exec {motet} run -n 2 sh -c 'echo $$; exec sleep 1000'");
    let mut motet = Motet::script(2, &text);
    let pids = motet.pids(4);
    motet.signal("KILL");
    assert_gone(&pids);
    motet.end();
}

#[test]
fn a_launcher_that_waits_uses_no_processor_time() {
    let mut motet = Motet::script(4, "echo $$; sleep 0.1; sleep 0.7");
    motet.pids(4);
    sleep(Duration::from_millis(150));
    // User time, system time, and times it was given a core.
    let used = |process: u32| {
        let fields = stat(process).unwrap();
        let times: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
        (times, line.unwrap().split_whitespace().last().unwrap().to_owned())
    };
    let before = used(motet.id);
    sleep(Duration::from_millis(400));
    assert_eq!(used(motet.id), before);
    assert_eq!(motet.end().code, Some(0));
}

#[test]
fn info_says_what_was_tried() {
    let ended = run(&["info"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    for part in ["process_vm_readv", "huge pages", "usable", "MOTET_RANK", "address space"] {
        assert!(ended.text().contains(part), "{part}");
    }
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let settings = std::fs::read_to_string(settings).expect("it is there");
    for row in settings.lines().filter(|line| line.starts_with("| `MOTET_")) {
        for name in row.split('|').nth(1).unwrap_or_default().split(',') {
            let name = name.trim().trim_matches('`');
            assert!(ended.text().contains(&format!("\n  {name} ")), "{name}");
        }
    }
}

#[test]
fn info_shows_settings_in_one_row_each() {
    let mut command = plain(&["info"]);
    let ended = Motet::of(command.env("MOTET_WAIT", "spin\n  MOTET_CHECK  forged\u{1b}[31m")).end();
    let page = ended.text();
    let shown = r"spin\n  MOTET_CHECK  forged\u{1b}[31m";
    assert_eq!(page.matches(shown).count(), 2, "the setting, and what is wrong with it: {page}");
    assert!(!page.contains('\u{1b}'), "{page}");
}
