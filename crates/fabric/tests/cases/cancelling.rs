//! Transfers that are taken back.

use motet_fabric::{Peer, TransferError};

use super::{EAGER, LARGE, SOME_CELLS_BYTES, from, label, pattern, step};
use crate::support::{Kind, ranks, run};

/// A sender takes its message back before, while, or after its receiver asks for it: the receive
/// ends with that error, and the next message is as good as ever.
pub(crate) fn a_large_send_in_every_state(kind: Kind) {
    let mut world = ranks(kind, 2);
    for packets in 0..6 {
        let lost = world[0].send(1, label(1), pattern(1, 100 * EAGER));
        if packets == 0 {
            // Announced, then taken back, then asked for.
            assert!(world[0].cancel(lost).is_some());
        }
        let receive = world[1].recv(from(0, 1), 100 * EAGER);
        for rank in [1, 0, 1, 0, 1].into_iter().take(packets) {
            world[rank].progress();
        }
        let was_pending = packets == 0 || world[0].cancel(lost).is_some();
        step(&mut world);
        let ended = world[1].take(receive).expect("a receive ends");
        match ended.outcome {
            Ok(_) => assert_eq!(ended.memory, pattern(1, 100 * EAGER)),
            Err(error) => {
                assert!(was_pending);
                assert_eq!(error, TransferError::Revoked(Peer(0)));
            }
        }
        assert!(world[0].endpoint().all_sent());

        let next = world[1].recv(from(0, 1), LARGE);
        world[0].send(1, label(1), pattern(2, LARGE));
        step(&mut world);
        assert_eq!(world[1].take(next).expect("as good as ever").data(), pattern(2, LARGE));
    }
}

/// A receive that is taken back never writes and never completes, wherever it was; the message
/// that it would have got goes to the next receive, or its sender is done with it.
pub(crate) fn receives_in_every_state(kind: Kind) {
    for bytes in [8, SOME_CELLS_BYTES, 100 * EAGER] {
        for steps in 0..4 {
            let mut world = ranks(kind, 2);
            let receive = world[1].recv(from(0, 1), bytes);
            let send = world[0].send(1, label(1), pattern(1, bytes));
            for rank in [1, 0, 1].into_iter().take(steps) {
                world[rank].progress();
            }
            let was_pending = world[1].cancel(receive).is_some();
            let has_met = steps > 0;
            let next = world[1].recv(from(0, 1), bytes);
            step(&mut world);
            assert_eq!(world[0].take(send).expect("a sender is told").outcome.map(drop), Ok(()));
            if !has_met {
                assert_eq!(world[1].take(next).expect("gets it instead").data(), pattern(1, bytes));
                continue;
            }
            assert_eq!(was_pending, kind.is_in_pieces() && bytes > SOME_CELLS_BYTES);
            assert!(world[1].take(next).is_none());
            world[0].send(1, label(1), pattern(2, bytes));
            step(&mut world);
            assert_eq!(world[1].take(next).expect("the next one").data(), pattern(2, bytes));
        }
    }
}

/// Sends that still wait for room are as if they had never been; those around them stay in order.
pub(crate) fn sends_that_wait_for_room(kind: Kind) {
    let mut world = ranks(kind, 2);
    let bytes = |message: u64| if message.is_multiple_of(5) { LARGE } else { 8 };
    let sent: Vec<_> = (0..300)
        .map(|message| world[0].send(1, label(1), pattern(message, bytes(message))))
        .collect();
    let gone: Vec<u64> = (100..300).filter(|message| message % 3 != 0).collect();
    for &message in &gone {
        assert!(world[0].cancel(sent[message as usize]).is_some(), "lanes are shorter than that");
    }
    for message in (0..300).filter(|message| !gone.contains(message)) {
        let receive = world[1].recv(from(0, 1), LARGE);
        step(&mut world);
        let ended = world[1].take(receive).expect("is on its way");
        assert_eq!(ended.data(), pattern(message, bytes(message)), "message {message}");
    }
    assert!(world[0].endpoint().all_sent());
    assert_eq!(world[1].endpoint().probe(from(0, 1)), None);
}

/// Cancelling races with a receiver that copies: each message arrives whole or not at all, and
/// both sides can tell.
pub(crate) fn sends_while_the_receiver_copies(kind: Kind) {
    const ROUNDS: u64 = 200;
    run(kind, 2, |rank| {
        let bytes = 64 * LARGE;
        for round in 0..ROUNDS {
            if rank.me() == 1 {
                let receive = rank.recv(from(0, round), bytes);
                let ended = rank.wait(receive);
                let expected = match ended.outcome {
                    Ok(_) => round as u8,
                    Err(error) => {
                        assert_eq!(error, TransferError::Revoked(Peer(0)));
                        0xee
                    }
                };
                // Of one in pieces that was taken back, some may have come.
                let is_partial = expected == 0xee && kind.is_in_pieces();
                assert!(is_partial || ended.memory.iter().all(|&byte| byte == expected));
                rank.send(0, label(round), Vec::new());
                continue;
            }
            let send = rank.send(1, label(round), vec![round as u8; bytes]);
            // Pieces of the last message may still fill the lane, if its receiver got the rest of
            // it by itself. What is cancelled while it waits for room is never heard of.
            if rank.endpoint().has_waiting() {
                rank.until(|rank| (!rank.endpoint().has_waiting()).then_some(()));
            }
            for _ in 0..round * 20 {
                rank.progress();
            }
            if let Some(mut memory) = rank.cancel(send) {
                // From here on the memory is ours again.
                memory.fill(0xff);
            }
            let answer = rank.recv(from(1, round), 0);
            rank.wait(answer);
        }
    });
}
