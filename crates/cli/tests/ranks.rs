//! Processes that join the world which `motet run` has prepared, and what becomes of it when one
//! of them does not play by the rules.
//!
//! This file is its own program for the ranks: each test starts it again with a part to play.

use std::process::{Command, Output, exit};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use motet_fabric::bootstrap::{self, JoinedRank};
use motet_fabric::segment::State;
use motet_fabric::{Failure, How, Peer, launcher};

/// The variable that says which part to play.
const PART: &str = "MOTET_TEST_PART";
/// How long a rank waits for anything before it gives up.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// This program, with a part to play.
fn myself() -> Vec<String> {
    let program = std::env::current_exe().expect("this program has a file");
    let program = program.into_os_string().into_string().expect("its path is text");
    let rest = ["--exact", "part_of_a_rank", "--ignored", "--nocapture", "--test-threads=1"];
    let words = [program].into_iter();
    words.chain(rest.map(str::to_owned)).collect()
}

/// Runs a command to its end, if that comes in time.
fn watched(command: &mut Command) -> Output {
    let pipe = std::process::Stdio::piped;
    let child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn();
    let mut child = child.expect("it can be started");
    drop(child.stdin.take());
    let number = child.id().to_string();
    let waiter = spawn(move || child.wait_with_output());
    let begun = Instant::now();
    while !waiter.is_finished() {
        if begun.elapsed() > TIME_LIMIT {
            let _ = Command::new("sh").args(["-c", &format!("kill -KILL {number}")]).status();
            panic!("{command:?} hangs: {:?}", waiter.join());
        }
        sleep(Duration::from_millis(5));
    }
    let output = waiter.join().expect("waiting does not panic");
    output.expect("pipes can be read")
}

/// Starts ranks that play this part.
fn ranks(ranks: usize, part: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_motet"));
    command.args(["run", "-n", &ranks.to_string()]).args(myself()).env(PART, part);
    watched(&mut command)
}

#[track_caller]
fn assert_well(output: &Output) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), told.as_ref()), (Some(0), ""), "{output:?}");
}

/// What is said of a rank that ends well without leaving, when two others wait for it.
const DESERTED: &str = "exited with code 0 before leaving the world; the other 2 ranks were ended; \
                        call MPI_Finalize before the process ends (in Rust, drop the World or \
                        call World::leave)";

#[track_caller]
fn assert_told(output: &Output, code: i32, begin: &str, end: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(last.starts_with(begin) && last.ends_with(end), "{last}");
}

#[test]
fn ranks_meet_and_leave() {
    assert_well(&ranks(4, "meet"));
}

#[test]
fn a_place_is_taken_once_and_not_inherited() {
    assert_well(&ranks(2, "once"));
}

#[test]
fn leaving_without_a_word_is_a_death() {
    let output = ranks(3, "desert");
    assert_told(&output, 1, "motet: rank 1 (process ", DESERTED);
    let heard = String::from_utf8_lossy(&output.stdout);
    assert_eq!(heard.matches("heard: rank 1 exited with code 0").count(), 2, "{heard}");
}

#[test]
fn the_rank_that_fails_first_is_the_cause_even_if_it_ends_last() {
    let output = ranks(3, "panic");
    assert_told(
        &output,
        101,
        "motet: rank 2 (process ",
        ") panicked; the other 2 ranks were ended",
    );
}

#[test]
fn whoever_never_comes_is_not_waited_for() {
    assert_well(&ranks(2, "absent"));
}

/// Runs a shell script as each rank, in which `play PART` is this program with that part to play.
fn scripts(ranks: usize, script: &str) -> Output {
    let text = format!("play() {{ part=$1; shift; {PART}=$part \"$@\"; }}; {script}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_motet"));
    command.args(["run", "-n", &ranks.to_string(), "sh", "-c", &text, "sh"]).args(myself());
    watched(&mut command)
}

/// Each program of a rank has a world of its own, with the programs of the other ranks that are as
/// many after their first.
#[test]
fn programs_of_a_rank_run_one_after_the_other() {
    assert_well(&scripts(3, "for turn in 1 2 3; do play meet \"$@\" || exit; done"));
    // Some take longer than others, and more worlds come than there can be at once.
    let slow = "for turn in $(seq 40); do
                    if [ $((turn % 3)) = $MOTET_RANK ]; then sleep 0.02; fi
                    play meet \"$@\" || exit
                done";
    assert_well(&scripts(2, slow));
}

#[test]
fn a_rank_that_has_fewer_programs_is_not_waited_for() {
    let text = "play meet \"$@\" || exit; [ $MOTET_RANK = 1 ] || play absent \"$@\"";
    assert_well(&scripts(2, text));
    // One that is far ahead goes on as soon as the slow ones are known to come no more.
    let text = "if [ $MOTET_RANK = 1 ]; then sleep 0.3; exit 0; fi
                for turn in $(seq 30); do play pass \"$@\" || exit; done";
    assert_well(&scripts(2, text));
}

#[test]
fn a_death_in_a_later_program_is_told() {
    let output = scripts(3, "play meet \"$@\" || exit; play desert \"$@\"");
    assert_told(&output, 1, "motet: rank 1 (process ", DESERTED);
    let heard = String::from_utf8_lossy(&output.stdout);
    assert_eq!(heard.matches("heard: rank 1 exited with code 0").count(), 2, "{heard}");
}

/// The launcher sees the script, which goes on; the next program of the rank finds out.
#[test]
fn a_program_that_ends_without_leaving_is_told_of_by_the_next() {
    let output = scripts(3, "play desert \"$@\" || exit; play meet \"$@\" 2>&1");
    let heard = String::from_utf8_lossy(&output.stdout);
    assert!(heard.contains("ended without leaving the world: see what it said"), "{heard}");
    assert_eq!(heard.matches("heard: rank 1 ").count(), 2, "{heard}");
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told.lines().last().unwrap_or_default();
    assert!(line.starts_with("motet: rank 1 (process "), "{told}");
    assert!(line.contains(") ended before leaving the world"), "{told}");
}

/// Many wrappers close the descriptors that they do not know: the segment is found all the same.
#[test]
fn closed_descriptors_are_found_in_the_launcher() {
    let close = "3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
    let text = format!(
        "[ $MOTET_SEGMENT -le 9 ] || exit 9
         play meet \"$@\" {close} || exit; play meet \"$@\" || exit; play meet \"$@\" {close}"
    );
    assert_well(&scripts(3, &text));
}

#[test]
fn a_program_can_launch_itself() {
    let words = myself();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(PART, "launch").env_remove(bootstrap::RANK);
    let output = watched(&mut command);
    let end = ") exited with code 6 before leaving the world; the other rank was ended";
    assert_told(&output, 6, "motet: rank 1 (process ", end);
}

#[test]
fn ranks_of_other_launchers_are_refused() {
    let words = myself();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(PART, "foreign");
    command.env("SLURM_PROCID", "1").env("SLURM_NTASKS", "3");
    assert_well(&watched(&mut command));
}

#[test]
#[ignore = "the part of a rank, which the other tests start"]
fn part_of_a_rank() {
    match std::env::var(PART).as_deref() {
        Ok("meet") => meet(),
        Ok("once") => once(),
        Ok("desert") => desert(),
        Ok("panic") => panic_late(),
        Ok("absent") => absent(),
        Ok("pass") => pass(),
        Ok("launch") => launch(),
        Ok("foreign") => foreign(),
        Ok("grandchild") => grandchild(),
        // Somebody has asked for all tests, the ignored ones included.
        _ => {}
    }
}

fn join() -> JoinedRank {
    bootstrap::from_environment().expect("the launcher is right").expect("there is a launcher")
}

/// Why no place is found here.
fn refusal() -> String {
    bootstrap::from_environment().expect_err("there is no place").to_string()
}

fn my_rank() -> String {
    std::env::var(bootstrap::RANK).expect("the launcher says it")
}

/// Waits for others, and gives up rather than hang.
fn wait_for(mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < TIME_LIMIT, "waited in vain");
        sleep(Duration::from_millis(1));
    }
}

fn wait_for_all(seat: &JoinedRank) {
    let all = 0..seat.segment.ranks() as u32;
    wait_for(|| all.clone().all(|rank| seat.segment.state(Peer(rank)) != State::Absent));
}

fn wait_for_failure(seat: &JoinedRank) -> Failure {
    wait_for(|| seat.segment.failure().is_some());
    seat.segment.failure().expect("it was there, and it stays")
}

fn meet() {
    let seat = join();
    assert_eq!(seat.segment.process(seat.rank), std::process::id());
    assert_eq!(my_rank(), seat.rank.to_string());
    assert!(seat.segment.is_shared());
    wait_for_all(&seat);
    seat.segment.leave(seat.rank);
}

fn once() {
    let seat = join();
    assert!(refusal().contains("already joined"), "{}", refusal());
    let words = myself();
    let child = Command::new(&words[0]).args(&words[1..]).env(PART, "grandchild").status();
    assert!(child.is_ok_and(|status| status.success()));
    seat.segment.leave(seat.rank);
}

fn grandchild() {
    assert!(refusal().contains("not this process"), "{}", refusal());
    assert!(refusal().contains("Unset MOTET_RANK"), "{}", refusal());
}

fn desert() {
    let seat = join();
    wait_for_all(&seat);
    if seat.rank == Peer(1) {
        exit(0);
    }
    println!("heard: {}", wait_for_failure(&seat));
    // Whoever hears of a death ends with a code of its own, which is not the cause.
    exit(40);
}

fn panic_late() {
    let seat = join();
    wait_for_all(&seat);
    if seat.rank == Peer(2) {
        seat.segment.fail(Failure { rank: seat.rank, how: How::Panic });
        sleep(Duration::from_millis(100));
        exit(101);
    }
    wait_for_failure(&seat);
    exit(1);
}

fn absent() {
    if my_rank() == "1" {
        return;
    }
    let seat = join();
    wait_for(|| seat.segment.state(Peer(1)) == State::Left);
    seat.segment.leave(seat.rank);
}

fn pass() {
    let seat = join();
    seat.segment.leave(seat.rank);
}

fn launch() {
    if std::env::var_os(bootstrap::RANK).is_none() {
        let outcome = launcher::relaunch(2, Vec::new()).expect("this program can be started again");
        exit(outcome.code.into());
    }
    let seat = join();
    wait_for_all(&seat);
    if seat.rank == Peer(1) {
        exit(6);
    }
    wait_for_failure(&seat);
    exit(40);
}

fn foreign() {
    assert!(refusal().contains("srun (SLURM_NTASKS=3)"), "{}", refusal());
    assert!(refusal().contains("`motet run -n 3`"), "{}", refusal());
}
