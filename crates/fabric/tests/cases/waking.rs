//! A message wakes its receiver, however it comes.

use std::thread;
use std::time::Duration;

use motet_fabric::{Failure, How, Peer};
use rustix::time::{ClockId, clock_gettime};

use super::{LARGE, from, label, pattern};
use crate::support::{Kind, ranks, run};

/// Long enough for the other ranks to have gone to sleep.
const TIME_TO_SLEEP: Duration = Duration::from_millis(30);

/// A lane fills up with pieces while their receiver sleeps: it must hear of those, not only of
/// the last one.
pub(crate) fn pieces_wake_a_receiver_that_sleeps(kind: Kind) {
    const BYTES: usize = 100 * LARGE;
    run(kind, 2, |rank| {
        if rank.me() == 1 {
            let ticket = rank.recv(from(0, 1), BYTES);
            assert_eq!(rank.wait(ticket).data(), pattern(1, BYTES));
            return;
        }
        let ticket = rank.send(1, label(1), pattern(1, BYTES));
        while !rank.has_ended(ticket) {
            thread::sleep(TIME_TO_SLEEP);
            rank.progress();
        }
    });
}

/// Ranks that always go to sleep before their turn comes: each wake-up is needed.
pub(crate) fn a_token_goes_round_sleepers(kind: Kind) {
    const ROUNDS: u64 = 3000;
    run(kind, 4, |rank| {
        let (me, world) = (rank.me(), rank.world());
        for round in 0..ROUNDS {
            let receive = rank.recv(from((me + world - 1) % world, round), 8);
            if me == 0 {
                rank.send(1, label(round), round.to_le_bytes().into());
            }
            assert_eq!(rank.wait(receive).data(), round.to_le_bytes());
            if me != 0 {
                rank.send((me + 1) % world, label(round), round.to_le_bytes().into());
            }
        }
    });
}

/// A sleeper wakes for a small message, a large one, room in a lane, and a rank that leaves.
pub(crate) fn each_message_wakes(kind: Kind) {
    run(kind, 2, |rank| {
        if rank.me() == 0 {
            for bytes in [8, LARGE] {
                thread::sleep(TIME_TO_SLEEP);
                let ticket = rank.send(1, label(1), pattern(1, bytes));
                rank.wait(ticket);
            }
            // More than the lane takes, to one that is slow to look: asleep until there is room.
            let sent: Vec<_> = (0..200).map(|_| rank.send(1, label(2), vec![2; 8])).collect();
            rank.wait_all(sent);
            let never = rank.recv(from(1, 3), 8);
            assert!(rank.wait(never).outcome.is_err());
        } else {
            for bytes in [8, LARGE] {
                let ticket = rank.recv(from(0, 1), bytes);
                assert_eq!(rank.wait(ticket).data(), pattern(1, bytes));
            }
            thread::sleep(TIME_TO_SLEEP);
            for _ in 0..200 {
                let ticket = rank.recv(from(0, 2), 8);
                rank.wait(ticket);
            }
            thread::sleep(TIME_TO_SLEEP);
        }
    });
}

/// A death ends every wait, however long ago the sleeper went to sleep.
pub(crate) fn a_death_wakes_all(kind: Kind) {
    let mut world = ranks(kind, 4);
    let dead = world.pop().expect("four ranks");
    let failure = Failure { rank: Peer(3), how: How::Signal(9) };
    thread::scope(|scope| {
        for mut rank in world {
            scope.spawn(move || {
                let never = rank.recv(from(3, 1), 8);
                let found = rank.until_or_failure(|rank| rank.take(never));
                assert_eq!(found.unwrap_err(), failure);
            });
        }
        thread::sleep(TIME_TO_SLEEP);
        let mut dead = dead;
        dead.endpoint().segment().fail(failure);
    });
}

/// Sleeping costs next to nothing; over a network, where who sleeps looks up every now and then,
/// an eighth of a core at most.
pub(crate) fn sleepers_need_no_core(kind: Kind) {
    let most = Duration::from_millis(if kind.is_apart() { 50 } else { 20 });
    run(kind, 2, |rank| {
        let ticket = rank.recv(from(1 - rank.me(), 1), 8);
        if rank.me() == 0 {
            let before = used();
            rank.wait(ticket);
            let used = used() - before;
            assert!(used <= most, "{used:?} in 400 ms of sleep");
            rank.send(1, label(1), vec![1; 8]);
        } else {
            thread::sleep(Duration::from_millis(400));
            rank.send(0, label(1), vec![1; 8]);
            rank.wait(ticket);
        }
    });
}

/// What this thread has used of a core so far. (The ticks of the kernel are too coarse: where cores
/// are wanted by others a short look may be taken for one.)
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
