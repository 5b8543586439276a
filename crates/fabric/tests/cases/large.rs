//! Messages that do not fit a cell.

use motet_fabric::layout::CLAIMS;

use super::{LARGE, from, label, pattern, step};
use crate::support::{Kind, ranks};

/// More large messages under way than claims: those beyond must not hold up what comes behind
/// them, since their receiver may want that first.
pub(crate) fn more_than_claims_hold_up_nobody(kind: Kind) {
    const MESSAGES: usize = CLAIMS + 300;
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
