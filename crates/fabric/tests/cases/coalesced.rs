//! Short messages that go to another host together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use motet_fabric::net::FlushSignal;

use super::{from, label, pattern};
use crate::support::{Kind, Rank, run};

/// More than a lane has room for, of lengths that go with others and of some that do not.
const MANY: u64 = 300;
/// Not so many that they would have to wait for room.
const CELLS_SENT: u64 = 40;
/// Says that all of them have been sent.
const AGAIN: u64 = 1;
/// A rank on another host, if there is one: the first one of the last pair.
const FAR: u32 = 2;

fn bytes(message: u64) -> usize {
    match message % 8 {
        7 if message % 24 == 7 => 9000,
        other => 40 * other as usize,
    }
}

/// They come in order and whole, with others between, and most of them together.
pub(crate) fn in_order_and_whole(kind: Kind) {
    run(kind, 4, |rank| {
        let world = rank.world();
        assert!(FAR < world);
        if rank.me() == 0 {
            rank.endpoint().network().unwrap().flush_signal().serve();
            for round in 0..5 {
                let sent: Vec<_> = (0..MANY)
                    .map(|message| {
                        rank.send(FAR, label(0), pattern(round + message, bytes(message)))
                    })
                    .collect();
                rank.wait_all(sent);
                // The rank would wait for this one if the last ones were not sent.
                let heard = rank.recv(from(FAR, round), 0);
                rank.wait(heard);
            }
        } else if rank.me() == FAR {
            for round in 0..5 {
                for message in 0..MANY {
                    let receive = rank.recv(from(0, 0), 9000);
                    let data = pattern(round + message, bytes(message));
                    assert!(rank.wait(receive).data() == data, "{round} {message}");
                }
                rank.send(0, label(round), Vec::new());
            }
            let coalesced = rank.endpoint().network().unwrap().coalesced();
            assert!(coalesced > 100, "only {coalesced} messages have come together");
        }
    });
}

/// What is held back goes when somebody moves the network, who need not be the one that has sent
/// it.
pub(crate) fn somebody_else_sends_them(kind: Kind) {
    let (held, done) = (AtomicU64::new(0), AtomicBool::new(false));
    run(kind, 4, |rank| {
        if rank.me() == 0 {
            let held_back = rank.endpoint().network().unwrap().flush_signal().clone();
            held_back.serve();
            let count = fill_until_held(rank, &held_back);
            while held_back.newest().is_some() {
                rank.endpoint().progress_network();
            }
            held.store(count, Ordering::Release);
            // Nothing moves the network now.
            thread::sleep(Duration::from_secs(1));
            done.store(true, Ordering::Release);
        } else if rank.me() == FAR {
            let count = loop {
                let again = rank.recv(from(0, AGAIN), 0);
                rank.until(|rank| {
                    (rank.has_ended(again) || held.load(Ordering::Acquire) > 0).then_some(())
                });
                if rank.take(again).is_none() {
                    rank.cancel(again);
                    break held.load(Ordering::Acquire);
                }
                take(rank, CELLS_SENT);
                rank.send(0, label(AGAIN), Vec::new());
            };
            take(rank, count);
            assert!(!done.load(Ordering::Acquire), "the last one came when its sender looked");
        }
    });
}

/// Sends messages until one is held back, and says how many. Who is kept from its core between two
/// of them says too little at once; then it begins again.
fn fill_until_held(rank: &mut Rank, held_back: &FlushSignal) -> u64 {
    for _ in 0..1000 {
        // The first time, a connection is made.
        rank.send(FAR, label(AGAIN), Vec::new());
        for message in 0..CELLS_SENT {
            rank.send(FAR, label(0), pattern(message, 24));
        }
        let heard = rank.recv(from(FAR, AGAIN), 0);
        rank.wait(heard);
        for message in 0..CELLS_SENT {
            rank.send(FAR, label(0), pattern(message, 24));
            if held_back.newest().is_some() {
                return message + 1;
            }
        }
        rank.send(FAR, label(AGAIN), Vec::new());
        let heard = rank.recv(from(FAR, AGAIN), 0);
        rank.wait(heard);
    }
    panic!("nothing was held back");
}

/// Receives so many of them.
fn take(rank: &mut Rank, count: u64) {
    for message in 0..count {
        let receive = rank.recv(from(0, 0), 24);
        assert_eq!(rank.wait(receive).data(), pattern(message, 24));
    }
}

/// Nothing is held back where nobody would send it if the rank does not come again.
pub(crate) fn nothing_is_held_back_without_a_flush_thread(kind: Kind) {
    run(kind, 4, |rank| {
        if rank.me() == 0 {
            rank.send(FAR, label(1), Vec::new());
            let heard = rank.recv(from(FAR, 1), 0);
            rank.wait(heard);
            for message in 0..CELLS_SENT {
                rank.send(FAR, label(0), pattern(message, 8));
                assert!(rank.endpoint().network().unwrap().flush_signal().newest().is_none());
            }
        } else if rank.me() == FAR {
            let first = rank.recv(from(0, 1), 0);
            rank.wait(first);
            rank.send(0, label(1), Vec::new());
            for message in 0..CELLS_SENT {
                let receive = rank.recv(from(0, 0), 8);
                assert_eq!(rank.wait(receive).data(), pattern(message, 8));
            }
        }
    });
}
