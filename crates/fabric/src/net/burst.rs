//! Burst detection: decides when cells are held back to be sent in one coalesced frame. Protocol:
//! `README.md`, "Coalesced frames".

use std::time::Duration;

/// A burst begins when a rank has sent this number of cells without polling in between: a rank that
/// polls so seldom may have more to send.
const BURST_MIN_CELLS: u32 = 16;
/// The burst ends when the rank sends fewer cells than this between two polls.
const BURST_END_CELLS: u32 = 4;
/// A rank that was outside the library for longer than this between two cells may stay outside for
/// longer still.
const BURST_MAX_PAUSE: Duration = Duration::from_micros(10);

/// Cells that this rank sends to one rank in sequence, without polling in between.
#[derive(Debug, Default)]
pub(super) struct Burst {
    is_active: bool,
    /// Cells sent since this rank polled.
    cells: u32,
    /// How many of them are held back, and their bytes.
    held: u64,
    bytes: usize,
}

/// The position of a cell in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendClass {
    Alone,
    /// The cell begins a burst.
    First,
    InBurst,
}

/// How much may be held back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) cells: u64,
    pub(super) bytes: usize,
}

impl Burst {
    /// The number of cells that are held back.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Counts a cell that is sent.
    pub(super) fn give(&mut self) -> SendClass {
        self.cells = self.cells.saturating_add(1);
        if self.is_active {
            return SendClass::InBurst;
        }
        self.is_active = self.cells >= BURST_MIN_CELLS;
        if self.is_active { SendClass::First } else { SendClass::Alone }
    }

    /// Counts a poll of the rank. Further polls without a cell in between do not end a burst: the
    /// rank may wait for an arrival that lets it continue.
    pub(super) fn count_poll(&mut self) {
        self.is_active &= !(1..BURST_END_CELLS).contains(&self.cells);
        self.cells = 0;
    }

    /// Whether to hold back a cell of `bytes` bytes, if the rank was outside the library for
    /// `away`.
    pub(super) fn hold(&mut self, bytes: usize, away: Duration, limit: Limit) -> bool {
        if away > BURST_MAX_PAUSE {
            (self.is_active, self.cells) = (false, 0);
            return false;
        }
        let fits = self.held < limit.cells && self.bytes + bytes <= limit.bytes;
        if fits {
            self.held += 1;
            self.bytes += bytes;
        }
        fits
    }

    /// Resets the counts: nothing is held back any more.
    pub(super) fn let_go(&mut self) {
        (self.held, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { cells: 15, bytes: 1000 };

    /// Sends some cells of 50 bytes, and returns for each whether it was held back.
    fn given(burst: &mut Burst, cells: usize, away: Duration) -> Vec<bool> {
        let give = |_| {
            let holds = burst.give() == SendClass::InBurst && burst.hold(50, away, LIMIT);
            if !holds {
                burst.let_go();
            }
            holds
        };
        (0..cells).map(give).collect()
    }

    #[test]
    fn the_first_ones_go_at_once_and_then_all_but_one_of_sixteen_wait() {
        let mut burst = Burst::default();
        let held = given(&mut burst, 16 + 2 * 16, Duration::ZERO);
        assert!(held[..16].iter().all(|&held| !held));
        for frame in held[16..].chunks_exact(16) {
            assert!(frame[..15].iter().all(|&held| held));
            assert!(!frame[15]);
        }
    }

    #[test]
    fn nothing_is_held_back_of_a_rank_that_polls_now_and_then() {
        let mut burst = Burst::default();
        for _ in 0..100 {
            assert!(given(&mut burst, 15, Duration::ZERO).iter().all(|&held| !held));
            burst.count_poll();
        }
    }

    #[test]
    fn who_waits_for_room_goes_on_and_who_waits_for_an_answer_does_not() {
        let mut burst = Burst::default();
        given(&mut burst, 20, Duration::ZERO);
        for _ in 0..100 {
            (0..10).for_each(|_| burst.count_poll());
            burst.let_go();
            assert!(given(&mut burst, 4, Duration::ZERO).iter().all(|&held| held));
        }
        burst.count_poll();
        given(&mut burst, 1, Duration::ZERO);
        burst.count_poll();
        assert!(given(&mut burst, 16, Duration::ZERO).iter().all(|&held| !held));
    }

    #[test]
    fn nothing_is_held_back_of_a_rank_that_sends_seldom() {
        let mut burst = Burst::default();
        assert!(given(&mut burst, 1000, BURST_MAX_PAUSE * 2).iter().all(|&held| !held));
    }

    #[test]
    fn no_more_bytes_are_held_back_than_may_be() {
        let mut burst = Burst::default();
        given(&mut burst, 16, Duration::ZERO);
        assert!(burst.hold(900, Duration::ZERO, LIMIT));
        assert!(!burst.hold(101, Duration::ZERO, LIMIT));
        assert!(burst.hold(100, Duration::ZERO, LIMIT));
        assert_eq!(burst.held(), 2);
        burst.let_go();
        assert!(burst.hold(1000, Duration::ZERO, LIMIT));
    }
}
