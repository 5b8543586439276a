//! Nobody sleeps through news.

use std::thread;
use std::time::Duration;

use super::{LARGE, from, label, pattern};
use crate::support::{Kind, run};

/// Long enough for the other ranks to have gone to sleep.
const NAP: Duration = Duration::from_millis(30);

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
            thread::sleep(NAP);
            rank.progress();
        }
    });
}
