//! Messages of middle length, which come into remote bounce buffers over a network; in shared
//! memory they are copied or go in pieces, with the same result.

use std::time::{Duration, Instant};

use motet_fabric::{Peer, Sender, TransferError};

use super::{Random, from, label, pattern};
use crate::support::{Kind, Rank, ranks, run};

/// Bytes of a remote bounce buffer, and a message that is longer than a cell of any lane.
const REMOTE_BOUNCE: usize = 128 << 10;
const MIDDLE: usize = 40 << 10;
/// More than there are remote bounce buffers.
const MANY: u64 = 23;

/// Both ranks send to each other, more than there are remote bounce buffers for, with other
/// messages between.
pub(crate) fn to_and_fro(kind: Kind) {
    run(kind, 2, |rank| {
        let (me, other) = (rank.me(), 1 - rank.me());
        for round in 0..4 {
            let bytes = |tag: u64| match tag % 6 {
                0 => REMOTE_BOUNCE,
                1 => REMOTE_BOUNCE + 1,
                2 => 11,
                3 => REMOTE_BOUNCE - 1,
                _ => MIDDLE + tag as usize,
            };
            let seed = |sender: u32, tag: u64| 1000 * round + 100 * u64::from(sender) + tag;
            let receives: Vec<_> =
                (0..MANY).map(|tag| rank.recv(from(other, tag), bytes(tag))).collect();
            let sends: Vec<_> = (0..MANY)
                .map(|tag| rank.send(other, label(tag), pattern(seed(me, tag), bytes(tag))))
                .collect();
            for (tag, ended) in (0..).zip(rank.wait_all(receives)) {
                assert!(ended.data() == pattern(seed(other, tag), bytes(tag)), "{round} {tag}");
            }
            for ended in rank.wait_all(sends) {
                assert_eq!(ended.outcome.map(drop), Ok(()));
            }
        }
    });
}

/// Receives come long after their messages, and in any order: no remote bounce buffer is lost or
/// used twice.
pub(crate) fn received_in_any_order(kind: Kind) {
    run(kind, 2, |rank| {
        for round in 0..6 {
            let (ready, go) = (1000, 1001);
            if rank.me() == 0 {
                let sends: Vec<_> = (0..MANY)
                    .map(|tag| rank.send(1, label(tag), pattern(round + tag, MIDDLE)))
                    .collect();
                rank.send(1, label(ready), Vec::new());
                rank.wait_all(sends);
                let going = rank.recv(from(1, go), 0);
                rank.wait(going);
                continue;
            }
            let readied = rank.recv(from(0, ready), 0);
            rank.wait(readied);
            let (mut order, mut random) = ((0..MANY).collect::<Vec<_>>(), Random(round));
            while !order.is_empty() {
                let tag = order.swap_remove(random.below(order.len() as u64) as usize);
                let receive = rank.recv(from(0, tag), MIDDLE);
                assert!(rank.wait(receive).data() == pattern(round + tag, MIDDLE), "{tag}");
            }
            rank.send(0, label(go), Vec::new());
        }
    });
}

/// A message that does not fit its receive leaves its remote bounce buffer, and so does one whose
/// receive is taken back: those behind it come as ever.
pub(crate) fn not_wanted(kind: Kind) {
    run(kind, 2, |rank| {
        for round in 0..40 {
            if rank.me() == 0 {
                for tag in [3 * round, 3 * round + 1, 3 * round + 2] {
                    let sent = rank.send(1, label(tag), pattern(tag, MIDDLE));
                    // Whoever takes its receive back may leave the message at its sender.
                    if tag % 3 == 2 {
                        assert_eq!(rank.wait(sent).outcome.map(drop), Ok(()));
                    }
                }
                let end = rank.recv(from(1, round), 0);
                rank.wait(end);
                continue;
            }
            let short = rank.recv(from(0, 3 * round), MIDDLE - 1);
            let truncated =
                TransferError::truncated(Sender::new(Peer(0), 3 * round), MIDDLE, MIDDLE - 1);
            assert_eq!(rank.wait(short).outcome, Err(truncated));
            let receive = rank.recv(from(0, 3 * round + 1), MIDDLE);
            for _ in 0..round {
                rank.progress();
            }
            let memory = rank.cancel(receive).map(|mut memory| {
                memory.fill(7);
                memory
            });
            let receive = rank.recv(from(0, 3 * round + 2), MIDDLE);
            assert!(rank.wait(receive).data() == pattern(3 * round + 2, MIDDLE), "{round}");
            // What came before the receive was taken back is gone, or had not met it yet.
            let left = from(0, 3 * round + 1);
            if rank.endpoint().probe(left).is_some() {
                let receive = rank.recv(left, MIDDLE);
                assert!(rank.wait(receive).data() == pattern(3 * round + 1, MIDDLE), "{round}");
            }
            assert!(memory.is_none_or(|memory| memory.iter().all(|&byte| byte == 7)), "{round}");
            rank.send(0, label(round), Vec::new());
        }
    });
}

/// What has been sent into remote bounce buffers comes even if its sender leaves at once and its
/// receives are posted late.
pub(crate) fn outlive_their_sender(kind: Kind) {
    run(kind, 3, |rank| {
        let last = 2;
        if rank.me() < last {
            // The first one is announced, and remote bounce buffers are granted for those that
            // follow.
            let first = rank.send(last, label(0), pattern(0, MIDDLE));
            rank.wait(first);
            let go = rank.recv(from(last, 0), 0);
            rank.wait(go);
            for tag in 1..8 {
                rank.send(last, label(tag), pattern(tag, MIDDLE));
            }
            return;
        }
        for source in 0..last {
            let first = rank.recv(from(source, 0), MIDDLE);
            assert!(rank.wait(first).data() == pattern(0, MIDDLE));
            rank.send(source, label(0), Vec::new());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        for source in 0..last {
            for tag in (1..8).rev() {
                let receive = rank.recv(from(source, tag), MIDDLE);
                assert!(rank.wait(receive).data() == pattern(tag, MIDDLE), "{source} {tag}");
            }
        }
    });
}

/// When remote bounce buffers have been granted a message is sent without its receiver doing
/// anything.
pub(crate) fn need_no_answer(kind: Kind) {
    if !kind.is_apart() {
        return; // where it is copied, its receiver does that
    }
    // The first and the third one are not on one host.
    let mut world = ranks(kind, 3);
    let receive = world[2].recv(from(0, 0), MIDDLE);
    let first = world[0].send(2, label(0), pattern(0, MIDDLE));
    until(&mut world, |world| world[0].has_ended(first) && world[2].has_ended(receive));
    // What tells of the remote bounce buffers comes behind that.
    let receive = world[0].recv(from(2, 0), 0);
    world[2].send(0, label(0), Vec::new());
    until(&mut world, |world| world[0].has_ended(receive));
    let sends = [1, 2, 3].map(|tag| world[0].send(2, label(tag), pattern(tag, MIDDLE)));
    until(&mut world[..1], |world| sends.iter().all(|&send| world[0].has_ended(send)));
    for tag in [3, 1, 2] {
        let receive = world[2].recv(from(0, tag), MIDDLE);
        until(&mut world, |world| world[2].has_ended(receive));
        assert!(world[2].take(receive).unwrap().data() == pattern(tag, MIDDLE));
    }
}

/// Moves ranks by hand until something is so.
fn until(ranks: &mut [Rank], is_so: impl Fn(&[Rank]) -> bool) {
    let begun = Instant::now();
    while !is_so(ranks) {
        for rank in ranks.iter_mut() {
            rank.progress();
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "it waits for another rank");
    }
}
