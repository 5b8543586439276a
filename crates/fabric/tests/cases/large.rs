//! Messages that do not fit a cell.

use motet_fabric::layout::LEASES_PER_RANK;

use super::{LARGE, SOME_CELLS_BYTES, from, label, pattern, step};
use crate::support::{Kind, ranks, run};

/// More large messages under way than leases: those beyond must not hold up what comes behind
/// them, since their receiver may want that first.
pub(crate) fn more_than_claims_hold_up_nobody(kind: Kind) {
    const MESSAGES: usize = LEASES_PER_RANK + 300;
    let mut world = ranks(kind, 3);
    let sent: Vec<_> = (0..MESSAGES)
        .map(|message| world[0].send(1, label(0), pattern(message as u64, LARGE)))
        .collect();
    let small = world[0].send(1, label(1), pattern(1, 8));
    let other = world[0].send(2, label(2), pattern(2, LARGE));
    let first = world[1].recv(from(0, 1), 8);
    let second = world[2].recv(from(0, 2), LARGE);
    step(&mut world);
    assert_eq!(world[1].take(first).expect("nothing is before it").data(), pattern(1, 8));
    assert_eq!(world[2].take(second).expect("another lane").data(), pattern(2, LARGE));
    assert!(world[0].has_ended(small) && world[0].has_ended(other));

    let received: Vec<_> = (0..MESSAGES).map(|_| world[1].recv(from(0, 0), LARGE)).collect();
    step(&mut world);
    for (message, ticket) in received.into_iter().enumerate() {
        let ended = world[1].take(ticket).expect("all arrive");
        assert_eq!(ended.data(), pattern(message as u64, LARGE), "message {message}");
    }
    assert!(sent.into_iter().all(|ticket| world[0].has_ended(ticket)));
    assert!(world[0].endpoint().all_sent());
}

/// Both sides send before either receives: nobody waits for the other to receive first.
pub(crate) fn both_directions_at_once(kind: Kind) {
    const MESSAGES: u64 = 20;
    run(kind, 2, |rank| {
        let other = 1 - rank.me();
        let bytes = 30 * LARGE;
        let sent: Vec<_> = (0..MESSAGES)
            .map(|message| rank.send(other, label(message), pattern(message, bytes)))
            .collect();
        let received: Vec<_> =
            (0..MESSAGES).map(|message| rank.recv(from(other, message), bytes)).collect();
        for (message, ended) in (0..).zip(rank.wait_all(received)) {
            assert!(ended.data() == pattern(message, bytes), "message {message}");
        }
        rank.wait_all(sent);
    });
}

/// Small messages behind large ones of the same label stay behind them.
pub(crate) fn small_ones_do_not_overtake(kind: Kind) {
    run(kind, 2, |rank| {
        for round in 0..50 {
            let sizes = [LARGE, 8, 20 * LARGE, SOME_CELLS_BYTES, 0, LARGE, SOME_CELLS_BYTES];
            if rank.me() == 0 {
                let send = |bytes| rank.send(1, label(1), pattern(round, bytes));
                let sent = sizes.map(send);
                rank.wait_all(sent);
            } else {
                let received = sizes.map(|_| rank.recv(from(0, 1), 20 * LARGE));
                for (bytes, ended) in sizes.into_iter().zip(rank.wait_all(received)) {
                    assert!(ended.data() == pattern(round, bytes), "{bytes} bytes");
                }
            }
        }
    });
}

/// Where each rank has a core, both copy: whatever the length, each byte comes once and in its
/// place, before the receive is complete.
pub(crate) fn both_ends_copy(kind: Kind) {
    run(kind, 2, |rank| {
        for round in 0..100 {
            let bytes = (20 + round as usize) * LARGE;
            if rank.me() == 0 {
                let sent = rank.send(1, label(round), pattern(round, bytes));
                rank.wait(sent);
            } else {
                let receive = rank.recv(from(0, round), bytes);
                assert!(rank.wait(receive).data() == pattern(round, bytes), "round {round}");
            }
        }
    });
}

/// Messages of a few cells each, more than fit the lane, to one who receives late and to one who
/// waits already.
pub(crate) fn a_few_cells_each(kind: Kind) {
    const MESSAGES: u64 = 300;
    run(kind, 2, |rank| {
        let other = 1 - rank.me();
        let send = |rank: &mut crate::support::Rank| {
            let sent = (0..MESSAGES).map(|message| {
                let bytes = SOME_CELLS_BYTES - message as usize;
                rank.send(other, label(message % 3), pattern(message, bytes))
            });
            sent.collect::<Vec<_>>()
        };
        let receive = |rank: &mut crate::support::Rank| {
            let receives: Vec<_> = (0..MESSAGES)
                .map(|message| rank.recv(from(other, message % 3), SOME_CELLS_BYTES))
                .collect();
            for (message, ended) in (0..).zip(rank.wait_all(receives)) {
                assert!(ended.data() == pattern(message, SOME_CELLS_BYTES - message as usize));
            }
        };
        let sent = send(rank);
        receive(rank);
        rank.wait_all(sent);
    });
}
