//! Burst detection: decides when cells are held back to be sent in one coalesced frame. Protocol:
//! `README.md`, "Coalesced frames".

use std::time::Duration;

/// A burst begins when so many cells have been given without a look at what has come: who asks for
/// nothing for so long may have more to say.
const BURST_MIN_CELLS: u32 = 16;
/// It is over when fewer were given between two looks.
const BURST_END_CELLS: u32 = 4;
/// Who was away from the library for longer between two cells may stay away for longer still.
const BURST_MAX_PAUSE: Duration = Duration::from_micros(10);

/// Cells that are given to one rank, one right after the other, without a look at what has come.
#[derive(Debug, Default)]
pub(super) struct Burst {
    is_under_way: bool,
    /// Cells that have been given since this rank looked.
    cells: u32,
    /// How many of them are held back, and their bytes.
    held: u64,
    bytes: usize,
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendClass {
    Alone,
    /// It begins a burst.
    First,
    InVolley,
}

/// How much may be held back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) cells: u64,
    pub(super) bytes: usize,
}

impl Burst {
    /// Cells that are held back.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// A cell is given.
    pub(super) fn give(&mut self) -> SendClass {
        self.cells = self.cells.saturating_add(1);
        if self.is_under_way {
            return SendClass::InVolley;
        }
        self.is_under_way = self.cells >= BURST_MIN_CELLS;
        if self.is_under_way { SendClass::First } else { SendClass::Alone }
    }

    /// The rank looks at what has come. It may do so many times for what lets it go on.
    pub(super) fn look(&mut self) {
        self.is_under_way &= !(1..BURST_END_CELLS).contains(&self.cells);
        self.cells = 0;
    }

    /// Whether to hold back a cell with so many bytes, if the rank was away for so long.
    pub(super) fn hold(&mut self, bytes: usize, away: Duration, limit: Limit) -> bool {
        if away > BURST_MAX_PAUSE {
            (self.is_under_way, self.cells) = (false, 0);
            return false;
        }
        let fits = self.held < limit.cells && self.bytes + bytes <= limit.bytes;
        if fits {
            self.held += 1;
            self.bytes += bytes;
        }
        fits
    }

    /// Nothing is held back any more.
    pub(super) fn let_go(&mut self) {
        (self.held, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { cells: 15, bytes: 1000 };

    /// Gives some cells of 50 bytes, and says of each whether it was held back.
    fn given(volley: &mut Burst, cells: usize, away: Duration) -> Vec<bool> {
        let give = |_| {
            let holds = volley.give() == SendClass::InVolley && volley.hold(50, away, LIMIT);
            if !holds {
                volley.let_go();
            }
            holds
        };
        (0..cells).map(give).collect()
    }

    #[test]
    fn the_first_ones_go_at_once_and_then_all_but_one_of_sixteen_wait() {
        let mut volley = Burst::default();
        let held = given(&mut volley, 16 + 2 * 16, Duration::ZERO);
        assert!(held[..16].iter().all(|&held| !held));
        for convoy in held[16..].chunks_exact(16) {
            assert!(convoy[..15].iter().all(|&held| held));
            assert!(!convoy[15]);
        }
    }

    #[test]
    fn nothing_is_held_back_by_who_looks_now_and_then() {
        let mut volley = Burst::default();
        for _ in 0..100 {
            assert!(given(&mut volley, 15, Duration::ZERO).iter().all(|&held| !held));
            volley.look();
        }
    }

    #[test]
    fn who_waits_for_room_goes_on_and_who_waits_for_an_answer_does_not() {
        let mut volley = Burst::default();
        given(&mut volley, 20, Duration::ZERO);
        for _ in 0..100 {
            (0..10).for_each(|_| volley.look());
            volley.let_go();
            assert!(given(&mut volley, 4, Duration::ZERO).iter().all(|&held| held));
        }
        volley.look();
        given(&mut volley, 1, Duration::ZERO);
        volley.look();
        assert!(given(&mut volley, 16, Duration::ZERO).iter().all(|&held| !held));
    }

    #[test]
    fn nothing_is_held_back_by_who_comes_seldom() {
        let mut volley = Burst::default();
        assert!(given(&mut volley, 1000, BURST_MAX_PAUSE * 2).iter().all(|&held| !held));
    }

    #[test]
    fn no_more_bytes_are_held_back_than_may_be() {
        let mut volley = Burst::default();
        given(&mut volley, 16, Duration::ZERO);
        assert!(volley.hold(900, Duration::ZERO, LIMIT));
        assert!(!volley.hold(101, Duration::ZERO, LIMIT));
        assert!(volley.hold(100, Duration::ZERO, LIMIT));
        assert_eq!(volley.held(), 2);
        volley.let_go();
        assert!(volley.hold(1000, Duration::ZERO, LIMIT));
    }
}
