//! What needs real processes: deaths, and what is left behind.
//!
//! The test binary plays all parts. A test runs it again as a launcher, in a process of its own
//! since a launcher owns the signals and children of its process; that runs it again as each rank.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use motet_fabric::bootstrap::from_environment;
use motet_fabric::launcher::{self, Job};
use motet_fabric::segment::State;
use motet_fabric::{Failure, How, Options, Peer, TransferError};
use rustix::process::{Signal, getpid, kill_process};

use super::{EAGER, LARGE, Random, SOME_CELLS_BYTES, from, label, pattern};
use crate::support::{Rank, Watchdog};

/// Says what the ranks are to do.
const CASE: &str = "FABRIC_TEST_CASE";
/// Marks all processes of one job.
const JOB: &str = "FABRIC_TEST_JOB";
/// How many ranks the job has.
const RANKS: &str = "FABRIC_TEST_RANKS";

/// What came of a job.
struct Finished {
    code: Option<i32>,
    output: String,
}

/// Runs a case, and makes sure that nothing of it is left.
fn run(case: &str, ranks: usize) -> Finished {
    let _watchdog = Watchdog::start();
    let job = format!("{case}-{}", std::process::id());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "cases::processes::as_a_launcher", "--nocapture"])
        .env(CASE, case)
        .env(JOB, &job)
        .env(RANKS, ranks.to_string())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    println!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(processes_with(&format!("{JOB}={job}")), Vec::<String>::new(), "left running");
    assert_eq!(shared_files(), Vec::<String>::new(), "left in shared memory");
    Finished { code: output.status.code(), output: text(&output.stdout) }
}

/// Processes whose environment holds this.
fn processes_with(variable: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let holds = |path: &std::path::Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let found = entries.map(|entry| entry.path()).filter(|path| holds(path));
    found.map(|path| path.display().to_string()).collect()
}

/// Named shared memory of ours: there must never be any.
fn shared_files() -> Vec<String> {
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("motet")).collect()
}

/// The part of the launcher; nothing unless a test has given it.
#[test]
fn as_a_launcher() {
    let Some(ranks) = std::env::var(RANKS).ok() else { return };
    let _watchdog = Watchdog::start();
    let arguments = ["--exact", "cases::processes::as_a_rank", "--nocapture"];
    let arguments = arguments.map(Into::into).into();
    let program = std::env::current_exe().unwrap();
    let outcome = launcher::run(&Job::new(program, arguments, ranks.parse().unwrap())).unwrap();
    std::process::exit(outcome.code.into());
}

/// The part of a rank; nothing unless a launcher has given it.
#[test]
fn as_a_rank() {
    let Some(seat) = from_environment().unwrap() else { return };
    let _watchdog = Watchdog::start();
    let mut rank = Rank::new(Arc::clone(&seat.segment), seat.rank, Options::default());
    match std::env::var(CASE).unwrap().as_str() {
        "everyone" => talk_to_everyone(&mut rank),
        "early leaver" => leave_early(&mut rank),
        "death" => die_while_others_sleep(&mut rank),
        case => {
            let (case, seed) = case.split_once(' ').expect("a case that we know");
            let die = if case == "copies" { die_in_a_copy } else { die_in_traffic };
            die(&mut rank, seed.parse().unwrap());
        }
    }
    rank.leave();
}

/// Processes exchange messages of every kind, and end well.
#[test]
fn everyone_talks_to_everyone() {
    let finished = run("everyone", 4);
    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.output.matches("all is well").count(), 4);
}

fn talk_to_everyone(rank: &mut Rank) {
    let sizes = [0, 1, EAGER, EAGER + 1, SOME_CELLS_BYTES, LARGE, 5 << 20];
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for peer in 0..rank.world() {
        for (tag, bytes) in (0..).zip(sizes) {
            let data = pattern(u64::from(rank.me()) << 8 | tag, bytes);
            sent.push(rank.send(peer, label(tag), data));
            received.push((peer, tag, bytes, rank.recv(from(peer, tag), bytes)));
        }
    }
    for (peer, tag, bytes, ticket) in received {
        let ended = rank.wait(ticket);
        assert!(ended.data() == pattern(u64::from(peer) << 8 | tag, bytes), "{bytes} bytes");
    }
    rank.wait_all(sent);
    println!("all is well");
}

/// What a process has sent outlives it.
#[test]
fn messages_outlive_their_process() {
    let finished = run("early leaver", 2);
    assert_eq!(finished.code, Some(0));
    assert!(finished.output.contains("all arrived"));
}

fn leave_early(rank: &mut Rank) {
    if rank.me() == 0 {
        for tag in 0..20 {
            rank.send(1, label(tag), pattern(tag, EAGER));
        }
        return;
    }
    let leaver = Peer(0);
    let process = rank.endpoint().segment().process(leaver);
    while rank.endpoint().segment().state(leaver) != State::Left
        || std::path::Path::new(&format!("/proc/{process}")).exists()
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    for tag in 0..20 {
        let ticket = rank.recv(from(0, tag), EAGER);
        assert!(rank.wait(ticket).data() == pattern(tag, EAGER));
    }
    let never = rank.recv(from(0, 99), 8);
    assert_eq!(rank.wait(never).outcome, Err(TransferError::Left(leaver)));
    println!("all arrived");
}

/// A rank is killed while all others sleep: each learns of it, soon, and who it was.
#[test]
fn a_death_reaches_sleepers_within_a_second() {
    let finished = run("death", 4);
    assert_eq!(finished.code, Some(128 + 9));
    let times: Vec<u64> = finished
        .output
        .lines()
        .filter_map(|line| line.split_once("heard after ms: ")?.1.parse().ok())
        .collect();
    assert_eq!(times.len(), 3, "each of the others");
    assert!(times.iter().all(|&time| time < 1000), "{times:?}");
}

fn die_while_others_sleep(rank: &mut Rank) {
    let millis = || {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap().as_millis() as u64
    };
    if rank.me() == 2 {
        for peer in [0, 1, 3] {
            rank.send(peer, label(1), Vec::new());
        }
        std::thread::sleep(Duration::from_millis(200));
        for peer in [0, 1, 3] {
            rank.send(peer, label(2), millis().to_le_bytes().into());
        }
        kill_process(getpid(), Signal::KILL).unwrap();
    }
    let (awake, time) = (rank.recv(from(2, 1), 0), rank.recv(from(2, 2), 8));
    rank.wait(awake);
    // A large message to the dead, too, must not keep anybody.
    let large = rank.send(2, label(3), pattern(3, 40 * LARGE));
    let failure = rank.until_or_failure(|rank| rank.take(large)).unwrap_err();
    assert_eq!(failure, Failure { rank: Peer(2), how: How::Signal(9) });
    let died = rank.take(time).expect("was sent before");
    let died = u64::from_le_bytes(died.data().try_into().unwrap());
    println!("heard after ms: {}", millis() - died);
    rank.cancel(large);
    std::process::exit(0);
}

/// Ranks are killed at any point of any protocol: the others hear of it, and whatever they have
/// received until then is whole.
#[test]
fn deaths_in_the_middle_of_everything() {
    for seed in 1..=6 {
        println!("seed {seed}");
        let finished = run(&format!("traffic {seed}"), 3);
        assert_eq!(finished.code, Some(128 + 9));
        assert_eq!(finished.output.matches("heard").count(), 2, "each of the others");
    }
}

fn die_in_traffic(rank: &mut Rank, seed: u64) {
    let mut random = Random(seed ^ u64::from(rank.me()) << 32);
    let life = Duration::from_micros(5_000 + Random(seed).below(20_000));
    if rank.me() == 1 {
        std::thread::spawn(move || {
            std::thread::sleep(life);
            kill_process(getpid(), Signal::KILL)
        });
    }
    let begun = Instant::now();
    let world = rank.world();
    let mut sent = Vec::new();
    let mut received: Vec<_> =
        (0..world).map(|peer| (peer, rank.recv(from(peer, 1), LARGE * 50))).collect();
    while begun.elapsed() < Duration::from_secs(30) {
        let peer = random.below(world.into()) as u32;
        let bytes = [8, EAGER, SOME_CELLS_BYTES, LARGE, 50 * LARGE][random.below(5) as usize];
        if sent.len() < 50 {
            sent.push(rank.send(peer, label(1), vec![bytes as u8; bytes]));
        }
        rank.progress();
        sent.retain(|&ticket| rank.take(ticket).is_none());
        for (peer, ticket) in &mut received {
            let Some(ended) = rank.take(*ticket) else { continue };
            if ended.outcome == Err(TransferError::Revoked(Peer(*peer))) {
                // That one has heard already, and has taken its message back.
                assert!(rank.endpoint().failure().is_some());
                continue;
            }
            let data = ended.data();
            assert!(data.iter().all(|&byte| byte == data.len() as u8), "torn");
            *ticket = rank.recv(from(*peer, 1), LARGE * 50);
        }
        if let Some(failure) = rank.endpoint().failure() {
            assert_eq!(failure.rank, Peer(1));
            // The memory of all that is under way comes back, although its reader may be dead.
            rank.endpoint().cancel(|_| true);
            println!("heard");
            std::process::exit(0);
        }
    }
    panic!("nobody died");
}

/// One of the two ends of large messages is killed, most of the time in the middle of a copy: the
/// other one hears of it, and what it has received is whole.
#[test]
fn deaths_in_the_middle_of_copies() {
    for seed in 1..=10 {
        println!("seed {seed}");
        let finished = run(&format!("copies {seed}"), 2);
        assert_eq!(finished.code, Some(128 + 9));
        assert_eq!(finished.output.matches("heard").count(), 1, "the other one");
    }
}

fn die_in_a_copy(rank: &mut Rank, seed: u64) {
    let bytes = 100 * LARGE;
    let (victim, other) = ((seed % 2) as u32, 1 - rank.me());
    let life = Duration::from_micros(5_000 + Random(seed).below(20_000));
    if rank.me() == victim {
        std::thread::spawn(move || {
            std::thread::sleep(life);
            kill_process(getpid(), Signal::KILL)
        });
    }
    for round in 0..u64::MAX {
        let ticket = match rank.me() {
            0 => rank.send(1, label(round), vec![round as u8; bytes]),
            _ => rank.recv(from(0, round), bytes),
        };
        match rank.until_or_failure(|rank| rank.take(ticket)) {
            Ok(ended) => match ended.outcome {
                Ok(_) => {
                    let is_whole = ended.memory.iter().all(|&byte| byte == round as u8);
                    assert!(rank.me() == 0 || is_whole, "torn");
                }
                Err(error) => {
                    assert_eq!(error, TransferError::Revoked(Peer(other)));
                    break;
                }
            },
            Err(failure) => {
                assert_eq!(failure.rank, Peer(victim));
                rank.endpoint().cancel(|_| true);
                break;
            }
        }
    }
    println!("heard");
    std::process::exit(0);
}
