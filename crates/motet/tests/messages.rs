//! Messages from rank to rank: the ways to send, and sending and receiving at once.

mod worlds;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use motet::{ANY_SOURCE, ANY_TAG, Settings, Tag};
use worlds::{on_ranks, on_ranks_with};

/// Shorter and longer than a cell, and nothing at all.
const LENGTHS: [usize; 5] = [0, 1, 1000, 8192, 300_000];

/// A synchronous send is complete only when its message has been taken, however short it is.
#[test]
fn a_synchronous_send_waits_for_its_receive() {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        for length in LENGTHS {
            let taking = AtomicBool::new(false);
            on_ranks_with(2, &settings, |world| {
                if world.rank() == 0 {
                    world.ssend(&vec![7u8; length], 1, Tag(1))?;
                    assert!(taking.load(Ordering::SeqCst), "nobody had asked for {length} bytes");
                    let pending = world.issend(vec![8u8; length], 1, Tag(2))?;
                    assert_eq!(pending.wait()?.len(), length);
                } else {
                    thread::sleep(Duration::from_millis(20));
                    taking.store(true, Ordering::SeqCst);
                    for tag in [1, 2] {
                        let mut data = vec![0u8; length];
                        assert_eq!(world.recv(&mut data, 0, Tag(tag))?.bytes, length);
                        assert!(data.iter().all(|&byte| byte == 6 + tag as u8));
                    }
                }
                Ok(())
            });
        }
    }
}

/// All ranks of a ring send and receive at once, which none could do after the other.
#[test]
fn a_ring_sends_and_receives_at_once() {
    for ranks in [1, 2, 3, 5] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
            for length in LENGTHS {
                let (sent, mut got) = (vec![me as u64; length], vec![0u64; length]);
                let receive = (&mut got[..], before, Tag(3));
                let status = world.sendrecv((&sent[..], next, Tag(3)), receive)?;
                assert_eq!((status.source, status.count::<u64>()), (before, Some(length)));
                assert!(got.iter().all(|&value| value == before as u64));
                world.sendrecv_replace(&mut got, (next, Tag(4)), (ANY_SOURCE, ANY_TAG))?;
                let second = (before + ranks - 1) % ranks;
                assert!(got.iter().all(|&value| value == second as u64));
            }
            Ok(())
        });
    }
}

/// spec: 63: a message that is too long is an error of the receiver, and the buffer is as it was.
#[test]
fn sendrecv_tells_of_a_message_that_is_too_long() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let (sent, mut got) = ([1u8; 10], [9u8; 4]);
        let ended = world.sendrecv((&sent[..], other, Tag(0)), (&mut got[..], other, Tag(0)));
        assert!(ended.is_err_and(|error| error.class() == motet::ErrorClass::Truncate));
        assert_eq!(got, [9; 4]);
        world.barrier()
    });
}
