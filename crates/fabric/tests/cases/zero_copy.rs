//! Messages so large that they go in many segments, over a network; in shared memory they are
//! copied or go in pieces, with the same result.

use motet_fabric::{Failure, How, Peer, Sender, TransferError};

use super::{LARGE, from, label, pattern};
use crate::support::{Kind, run};

/// Bytes of a segment, and a message of more segments than may be on the way at once.
const SEGMENT: usize = 256 << 10;
const MANY: usize = 37 * SEGMENT + 5;

/// Around the limits of segments and of what may be on the way, whoever comes first.
pub(crate) fn whoever_comes_first(kind: Kind) {
    run(kind, 2, |rank| {
        let sizes = [LARGE, SEGMENT - 1, SEGMENT, SEGMENT + 1, 16 * SEGMENT, MANY];
        for (round, bytes) in (0..).zip(sizes) {
            for is_early in [true, false] {
                let (tag, ready) = (2 * round + u64::from(is_early), 1000 + round);
                if rank.me() == 0 {
                    let go = rank.recv(from(1, ready), 0);
                    let sent = is_early.then(|| rank.send(1, label(tag), pattern(tag, bytes)));
                    if is_early {
                        rank.send(1, label(ready), Vec::new());
                    }
                    rank.wait(go);
                    let sent =
                        sent.unwrap_or_else(|| rank.send(1, label(tag), pattern(tag, bytes)));
                    assert_eq!(rank.wait(sent).outcome.map(drop), Ok(()));
                } else {
                    let announced = rank.recv(from(0, ready), 0);
                    if is_early {
                        rank.wait(announced); // and so the message is known, with no receive
                    }
                    let receive = rank.recv(from(0, tag), bytes);
                    rank.send(0, label(ready), Vec::new());
                    let ended = rank.wait(receive);
                    assert!(ended.data() == pattern(tag, bytes), "{bytes} bytes");
                    if !is_early {
                        rank.cancel(announced);
                    }
                }
            }
        }
    });
}

/// A message that is longer than its receive ends both, and nothing is written.
pub(crate) fn too_long_for_their_receives(kind: Kind) {
    run(kind, 2, |rank| {
        if rank.me() == 0 {
            let sent = [MANY, SEGMENT].map(|bytes| rank.send(1, label(1), pattern(1, bytes)));
            for ended in rank.wait_all(sent) {
                assert_eq!(ended.outcome.map(drop), Ok(()));
            }
            return;
        }
        let (short, next) = (rank.recv(from(0, 1), MANY - 1), rank.recv(from(0, 1), SEGMENT));
        let ended = rank.wait(short);
        let truncated = TransferError::truncated(Sender::new(Peer(0), 1), MANY, MANY - 1);
        assert_eq!(ended.outcome, Err(truncated));
        assert!(ended.memory.iter().all(|&byte| byte == 0xee));
        assert!(rank.wait(next).data() == pattern(1, SEGMENT));
    });
}

/// A receive that is taken back in the middle of its message: from then on nobody writes its
/// memory, its sender is done, and the next message is as good as ever.
pub(crate) fn receives_that_are_taken_back(kind: Kind) {
    run(kind, 2, |rank| {
        for round in 0..60 {
            if rank.me() == 0 {
                let sent = rank.send(1, label(round), pattern(round, MANY));
                assert_eq!(rank.wait(sent).outcome.map(drop), Ok(()));
                let next = rank.send(1, label(1000 + round), pattern(round, 3 * SEGMENT));
                rank.wait(next);
                continue;
            }
            let receive = rank.recv(from(0, round), MANY);
            for _ in 0..round * 3 {
                rank.progress();
            }
            let mut memory = rank.cancel(receive);
            memory.iter_mut().for_each(|memory| memory.fill(round as u8));
            // If the message had not come at all, it is for this one.
            let again = memory.is_some().then(|| rank.recv(from(0, round), MANY));
            let next = rank.recv(from(0, 1000 + round), 3 * SEGMENT);
            assert!(rank.wait(next).data() == pattern(round, 3 * SEGMENT));
            again.map(|again| rank.cancel(again));
            let is_ours = |memory: &Vec<u8>| memory.iter().all(|&byte| byte == round as u8);
            assert!(memory.as_ref().is_none_or(is_ours), "round {round}");
        }
    });
}

/// A rank dies in the middle of a large message: its receiver's wait ends, and so does the use of
/// the memory.
pub(crate) fn a_death_in_the_middle(kind: Kind) {
    for polls in [0, 3, 10, 30, 100, 300] {
        let mut world = crate::support::ranks(kind, 2);
        let (mut receiver, mut sender) = (world.pop().unwrap(), world.pop().unwrap());
        let failure = Failure { rank: Peer(0), how: How::Signal(9) };
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let receive = receiver.recv(from(0, 1), 10 * MANY);
                let found = receiver.until_or_failure(|rank| rank.take(receive));
                match found {
                    Ok(ended) => match ended.outcome {
                        Ok(_) => assert!(ended.memory == pattern(1, 10 * MANY)),
                        // The last word of the dying.
                        Err(error) => assert_eq!(error, TransferError::Revoked(Peer(0))),
                    },
                    Err(found) => {
                        // Between hosts the broken connection may be found first, where the
                        // thread that notifies others gets no core for half a second.
                        let is_late = found == Failure { rank: Peer(0), how: How::Cut };
                        assert!(found == failure || is_late, "{found:?}");
                        let mut memory = receiver.cancel(receive).unwrap();
                        memory.fill(7);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        assert!(memory.iter().all(|&byte| byte == 7));
                    }
                }
            });
            scope.spawn(move || {
                let sent = sender.send(1, label(1), pattern(1, 10 * MANY));
                for _ in 0..polls {
                    sender.progress();
                    std::thread::yield_now();
                }
                sender.endpoint().segment().fail(failure);
                if let Some(mut memory) = sender.cancel(sent) {
                    memory.fill(9);
                }
            });
        });
    }
}
