//! The sparse dynamic exchange: patterns that only senders know, on threads and on processes.

mod worlds;

use std::future::Future;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{env, fs, thread};

use motet::{
    ANY_SOURCE, ANY_TAG, ErrorKind, PROC_NULL, Pending, Result, Settings, Sum, Tag, World, wait_all,
};
use proptest::prelude::*;
use worlds::{Random, Watchdog, on_ranks, on_ranks_with};

const TAG: Tag = Tag(3);

/// A message of a pattern: its sender, its receiver and its length.
type Message = (usize, usize, usize);

/// What a message holds: nothing that another one of the pattern holds, unless it is empty.
fn content((from, to, len): Message, number: usize) -> Vec<u64> {
    (0..len).map(|at| ((number * 64 + from) * 64 + to) as u64 * 100_000 + at as u64).collect()
}

/// What a rank sends in a pattern, and what it must receive.
fn parts(pattern: &[Message], rank: usize) -> [Vec<(usize, Vec<u64>)>; 2] {
    let all = pattern.iter().enumerate();
    let all: Vec<_> = all.map(|(at, &message)| (message, content(message, at))).collect();
    let sent = all.iter().filter(|((from, ..), _)| *from == rank);
    let sent = sent.map(|((_, to, _), data)| (*to, data.clone())).collect();
    let received = all.iter().filter(|((_, to, _), _)| *to == rank);
    let mut received: Vec<_> = received.map(|((from, ..), data)| (*from, data.clone())).collect();
    received.sort_by_key(|&(from, _)| from);
    [sent, received]
}

fn borrowed(sent: &[(usize, Vec<u64>)]) -> impl Iterator<Item = (usize, &[u64])> {
    sent.iter().map(|(to, data)| (*to, &data[..]))
}

/// Several patterns one after the other, without anything between them: a rank that is fast is in
/// the next one, or in one after that, while others are still in the first.
fn exchange_all(world: &World, patterns: &[Vec<Message>]) -> Result<()> {
    let rank = world.rank();
    for pattern in patterns {
        let [sent, received] = parts(pattern, rank);
        assert_eq!(world.sparse_exchange(borrowed(&sent))?, received);
    }
    let started =
        patterns.iter().map(|pattern| world.isparse_exchange(parts(pattern, rank)[0].clone()));
    let started: Vec<_> = started.collect::<Result<_>>()?;
    for (request, pattern) in started.into_iter().zip(patterns).rev() {
        assert_eq!(request.wait()?, parts(pattern, rank)[1]);
    }
    Ok(())
}

fn pattern(ranks: usize) -> impl Strategy<Value = Vec<Message>> {
    // Dense ones, sparse ones and none at all; a few messages are large.
    let len = prop_oneof![4 => 0..3_usize, 4 => 3..80_usize, 1 => 2_000..6_000_usize];
    prop::collection::vec((0..ranks, 0..ranks, len), 0..3 * ranks)
}

fn patterns() -> impl Strategy<Value = (usize, Vec<Vec<Message>>)> {
    (1..=16_usize).prop_flat_map(|ranks| {
        prop::collection::vec(pattern(ranks), 1..4).prop_map(move |patterns| (ranks, patterns))
    })
}

/// A failure is told with its arguments; nothing is written to files.
fn configuration() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..configuration() })]

    #[test]
    fn random_patterns_arrive_whole((ranks, patterns) in patterns()) {
        on_ranks(ranks, |world| exchange_all(world, &patterns));
    }
}

/// A pattern of every rank with those that the number chooses.
fn drawn(ranks: usize, seed: u64) -> Vec<Message> {
    let mut random = Random(seed);
    let lengths = [0, 1, 7, 500, 40_000];
    let message =
        |_| (random.below(ranks), random.below(ranks), lengths[random.below(lengths.len())]);
    (0..2 * ranks).map(message).collect()
}

/// Large messages, also where the system lets nobody copy them from their senders.
#[test]
fn large_messages_go_in_pieces_or_whole() {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        let patterns = [drawn(5, 1), drawn(5, 2), drawn(5, 3)];
        on_ranks_with(5, &settings, |world| exchange_all(world, &patterns));
    }
}

/// One rank has much for another, which it names again and again: order is kept, and more than a
/// lane holds is on the way at once.
#[test]
fn many_messages_to_one_rank_come_in_order() {
    on_ranks(3, |world| {
        let pattern: Vec<Message> = (0..2_000).map(|at| (at % 2, 2, at % 5)).collect();
        exchange_all(world, &[pattern])
    });
}

/// Receives of anything from anybody that are posted before get nothing of an exchange, and an
/// exchange nothing of messages that wait to be received.
#[test]
fn messages_of_the_user_are_left_alone() {
    on_ranks(4, |world| {
        let (me, ranks) = (world.rank(), world.size());
        let next = (me + 1) % ranks;
        let any = world.irecv(vec![0_u64; 1], ANY_SOURCE, ANY_TAG)?;
        for number in 0..3 {
            let late = world.isend(vec![7_u64], next, Tag(number))?;
            let came = world.sparse_exchange([(next, &[me as u64][..])])?;
            let before = (me + ranks - 1) % ranks;
            assert_eq!(came, [(before, vec![before as u64])]);
            late.wait()?;
        }
        assert_eq!(any.wait()?, [7]);
        for _ in 0..2 {
            world.recv(&mut [0_u64], ANY_SOURCE, ANY_TAG)?;
        }
        // And between persistent and other collectives.
        let mut sum = world.allreduce_init(vec![1], Sum, &motet::Info::new())?;
        for _ in 0..3 {
            let running = sum.start()?;
            let pending = world.isparse_exchange(vec![(0, vec![me as u32])])?;
            assert_eq!(world.iallreduce(vec![1], Sum)?.wait()?, [ranks as i32]);
            let came = pending.wait()?.len();
            assert_eq!(came, if me == 0 { ranks } else { 0 });
            sum = running.wait()?;
        }
        Ok(())
    });
}

/// Every form in which one waits, and a request that nobody waits for.
#[test]
fn all_forms_of_waiting() {
    on_ranks(3, |world| {
        let me = world.rank();
        let sent = || vec![(2 - me, vec![me as u16; 3]), (PROC_NULL, vec![9])];
        let expected = [(2 - me, vec![(2 - me) as u16; 3])];
        let mut tested = world.isparse_exchange(sent())?;
        while !tested.test()? {
            thread::yield_now();
        }
        assert_eq!(tested.wait()?, expected);
        let mut in_set = world.isparse_exchange(sent())?;
        let mut other = world.iallreduce(vec![1], Sum)?;
        wait_all(&mut [&mut in_set as &mut dyn Pending, &mut other])?;
        assert_eq!((in_set.wait()?, other.wait()?), (expected.to_vec(), vec![3]));
        drop(world.isparse_exchange(sent())?);
        let mut future = pin!(world.isparse_exchange(sent())?);
        let mut context = Context::from_waker(Waker::noop());
        let came = loop {
            if let Poll::Ready(came) = future.as_mut().poll(&mut context) {
                break came?;
            }
            thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(came, expected);
        Ok(())
    });
}

/// An exchange moves while its rank waits for something else in the library.
#[test]
fn it_moves_while_its_rank_waits_for_something_else() {
    on_ranks(2, |world| {
        let pending = world.isparse_exchange(vec![(1 - world.rank(), vec![1_u8; 300])])?;
        if world.rank() == 0 {
            assert_eq!(pending.wait()?, [(1, vec![1; 300])]);
            world.send(&[1_u8], 1, TAG)
        } else {
            world.recv(&mut [0_u8], 0, TAG)?;
            pending.wait().map(drop)
        }
    });
}

/// Errors are told to those that they concern, and nobody is left waiting.
#[test]
fn errors_end_it_everywhere() {
    on_ranks(4, |world| {
        let me = world.rank();
        let refused = world.sparse_exchange([(4, &[1_u8][..])]);
        assert!(matches!(refused.unwrap_err().kind(), ErrorKind::Rank { rank: 4, .. }));
        // Rank 1 does not expect what rank 0 sends: that is its error, of which others may hear.
        let ended = match me {
            1 => world.sparse_exchange::<f32>([]).map(|came| came.len()),
            0 => world.sparse_exchange([(1, &[1_u32][..])]).map(|came| came.len()),
            _ => world.sparse_exchange::<u32>([]).map(|came| came.len()),
        };
        match ended.as_ref().map_err(motet::Error::kind) {
            Err(ErrorKind::TypeMismatch { .. }) => assert_eq!(me, 1),
            ended => assert!(me != 1 && matches!(ended, Ok(0) | Err(ErrorKind::Spoiled { .. }))),
        }
        // Three numbers make no pair of pairs.
        let ended = match me {
            3 => world.sparse_exchange::<[u64; 2]>([]).map(|came| came.len()),
            _ => world.sparse_exchange([(3, &[1_u64, 2, 3][..])]).map(|came| came.len()),
        };
        match ended.as_ref().map_err(motet::Error::kind) {
            Err(ErrorKind::Truncated { sent: 24, room: 16 }) => assert_eq!(me, 3),
            ended => assert!(me != 3 && matches!(ended, Ok(0) | Err(ErrorKind::Spoiled { .. }))),
        }
        // The communicator is as good as before.
        assert_eq!(world.sparse_exchange([(me, &[5_u8][..])])?, [(me, vec![5])]);
        Ok(())
    });
}

/// A rank that leaves the world without taking part ends the exchange of all others, whether they
/// have something for it or for each other; also of those that go on living after that.
#[test]
fn a_rank_that_leaves_ends_it() {
    for (ranks, leaver) in [(2, 1), (3, 0), (5, 3), (8, 2)] {
        for patterned in [false, true] {
            // In check mode they would be told earlier, and otherwise.
            on_ranks_with(ranks, &Settings::new(), |world| {
                let me = world.rank();
                if me == leaver {
                    return Ok(());
                }
                if me == (leaver + 1) % ranks {
                    thread::sleep(Duration::from_millis(20));
                }
                let all = (0..ranks).filter(|_| patterned).map(|to| (to, &[1_u8; 200][..]));
                let error = world.sparse_exchange(all).unwrap_err();
                let told =
                    matches!(error.kind(), ErrorKind::PeerLeft { .. } | ErrorKind::Spoiled { .. });
                assert!(told, "{error}");
                // Everybody gets so far, in its own time.
                let left = world.barrier().unwrap_err();
                assert!(!left.to_string().is_empty());
                Ok(())
            });
        }
    }
}

/// A rank whose message nobody takes any more, since the others know already that one is missing,
/// is told as well; it does not wait for somebody who waits for it.
#[test]
fn a_rank_that_is_late_is_told_too() {
    on_ranks_with(5, &Settings::new(), |world| {
        // Rank 0 hears in the barrier from 4, 3 and 1, and of rank 2 by rank 3 alone.
        let (me, wait) = (world.rank(), Duration::from_millis(50));
        match me {
            0 => {
                world.sparse_exchange::<u8>([]).unwrap_err();
                world.recv(&mut [0_u8], 2, TAG).map(drop)
            }
            2 => {
                thread::sleep(wait);
                world.sparse_exchange([(0, &[1_u8; 9][..])]).unwrap_err();
                world.send(&[1_u8], 0, TAG)
            }
            3 => Ok(()),
            _ => {
                world.sparse_exchange::<u8>([]).unwrap_err();
                Ok(())
            }
        }
    });
}

/// spec: 11
#[test]
fn check_mode_knows_it() {
    let settings = Settings::new().check();
    let texts = on_ranks_with(3, &settings, |world| {
        world.sparse_exchange([(0, &[1_u8][..])])?;
        let ended = match world.rank() {
            0 => world.barrier(),
            _ => world.sparse_exchange([(1, &[1_u8][..])]).and(world.barrier()),
        };
        Ok(ended.unwrap_err().to_string())
    });
    for text in texts {
        assert!(text.contains("called barrier() at"), "{text}");
        assert!(text.contains("called sparse_exchange() at"), "{text}");
        assert!(text.contains("collective number 2"), "{text}");
    }
}

/// Tells the program which case it is to be, as processes.
const CASE: &str = "MOTET_TEST_EXCHANGE";

/// A case on processes, and what must be on their standard error if they must fail.
type Case = (&'static str, fn() -> Result<()>, Option<&'static str>);

const CASES: [Case; 4] = [
    ("patterns", patterns_on_processes, None),
    ("idle", idle, None),
    ("late", late, None),
    ("death", death, Some("was killed by signal 6")),
];

fn patterns_on_processes() -> Result<()> {
    let world = motet::launch(4)?;
    exchange_all(&world, &[drawn(4, 11), vec![], drawn(4, 12), vec![(2, 2, 9)]])
}

/// Whoever waits in an exchange for a rank that is late takes no processor time.
fn idle() -> Result<()> {
    let world = motet::launch(3)?;
    world.barrier()?;
    if world.rank() == 1 {
        thread::sleep(Duration::from_millis(1500));
    }
    let used = || {
        let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
        let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanoseconds.expect("the first number is the time on a processor"))
    };
    let before = used();
    world.sparse_exchange([(1, &[1_u8][..])])?;
    let took = used() - before;
    assert!(took < Duration::from_millis(150), "{took:?} of processor time in 1.5 s");
    Ok(())
}

/// A wait for a rank that is late is reported.
fn late() -> Result<()> {
    let world = motet::launch(3)?;
    if world.rank() == 1 {
        thread::sleep(Duration::from_millis(900));
    }
    world.sparse_exchange([(1, &[1_u8][..])]).map(drop)
}

fn death() -> Result<()> {
    let world = motet::launch(3)?;
    if world.rank() == 1 {
        thread::sleep(Duration::from_millis(50));
        std::process::abort();
    }
    let error = world.sparse_exchange([(0, &[1_u8][..])]).expect_err("rank 1 dies");
    assert!(matches!(error.kind(), ErrorKind::PeerFailed(_)), "{error}");
    Err(error)
}

/// The program runs itself once for each case; that becomes several processes.
#[test]
fn on_processes() -> Result<(), Box<dyn std::error::Error>> {
    let _watchdog = Watchdog::start();
    if let Ok(name) = env::var(CASE) {
        let (_, body, _) = CASES.iter().find(|(case, ..)| *case == name).expect("a case");
        return Ok(body()?);
    }
    for (name, _, failing) in CASES {
        let mut program = Command::new(env::current_exe()?);
        program.args(["--exact", "on_processes", "--nocapture"]).env(CASE, name);
        if name == "late" {
            program.env(motet::env::HANG_SECONDS, "0.3");
        }
        let ended = program.stdin(Stdio::null()).output()?;
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.success(), failing.is_none(), "{name}: {words}");
        assert!(words.contains(failing.unwrap_or_default()), "{name}: {words}");
        if name == "late" {
            let reported = "s for sparse_exchange() at crates/motet/tests/sparse_exchange.rs";
            assert!(words.contains(reported) && words.contains("missing: rank 1"), "{words}");
        }
    }
    Ok(())
}
