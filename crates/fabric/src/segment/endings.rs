//! Records of dead ranks, and of the rank that aborts the job, in the segment.
//!
//! Each record is a word that is written once. Every rank maps the whole segment, and a faulty
//! program may write anywhere in it. Ranks and the launcher ignore a word that is not a valid
//! record, and the next valid record overwrites it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{DEATH_AT, SharedSegment};
use crate::layout::LINE;
use crate::{Failure, How, Peer, cma};

/// Offsets in the header page.
const FAILURE_AT: usize = LINE;
const ABORT_AT: usize = LINE + 8;

/// The request of a rank to end the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The rank that ends the job.
    pub rank: Peer,
    /// The exit code of the job.
    pub code: u8,
}

impl SharedSegment {
    /// Records that a rank ends the job. Returns whether it is the first: only the first request
    /// counts. It wakes no rank. The launcher is going to end the other ranks, and a process that
    /// is about to be ended sees neither this request nor the [deaths](SharedSegment::fail) that
    /// follow from it.
    pub fn abort(&self, abort: Abort) -> bool {
        let packed = tagged(abort.rank, abort.code, ABORT);
        keep_first(self.word64(ABORT_AT), packed, |word| self.abort_in(word).is_some())
    }

    /// The request of a rank to end the job, if there is one.
    pub fn aborted(&self) -> Option<Abort> {
        self.abort_in(self.word64(ABORT_AT).load(Ordering::Acquire))
    }

    fn abort_in(&self, word: u64) -> Option<Abort> {
        let (rank, code) = untagged(word).filter(|_| word as u8 == ABORT)?;
        (rank.index() < self.ranks()).then_some(Abort { rank, code })
    }

    /// Records that a rank has died, and wakes all ranks. The segment keeps the first death of each
    /// rank, and the first of the world. Where ranks are processes, it keeps no death after an
    /// [abort](SharedSegment::abort).
    pub fn fail(&self, failure: Failure) {
        let is_foreign = failure.rank.index() >= self.ranks();
        if is_foreign || self.is_shared() && self.aborted().is_some() {
            return;
        }
        let own = self.layout.rank_block(failure.rank.index()) + DEATH_AT;
        // The record of the rank is written before that of the world: a rank that reads a death can
        // read whose.
        for at in [own, FAILURE_AT] {
            // Losing the race means that all ranks already know of an earlier death.
            let place = self.word64(at);
            keep_first(place, pack(failure), |word| self.failure_in(word).is_some());
        }
        for rank in 0..self.ranks() {
            // Not `ring`: the dead rank may have left a doorbell half rung.
            self.doorbell(Peer(rank as u32)).alarm();
        }
    }

    /// Whether a rank that shares the segment as a process has died, or has been ended after the
    /// death of another one. Before the first death is recorded the answer is `false` for every
    /// rank.
    pub(crate) fn has_died(&self, peer: Peer) -> bool {
        let died = self.is_shared().then(|| self.failure()).flatten();
        died.is_some_and(|died| died.rank == peer || cma::is_gone(self.process(peer)))
    }

    /// The death of a rank, if it is recorded.
    pub fn death(&self, rank: Peer) -> Option<Failure> {
        let block = self.layout.rank_block(rank.index());
        self.failure_in(self.word64(block + DEATH_AT).load(Ordering::Acquire))
    }

    /// The first death in this world, if there was one.
    pub fn failure(&self) -> Option<Failure> {
        self.failure_in(self.word64(FAILURE_AT).load(Ordering::Acquire))
    }

    fn failure_in(&self, word: u64) -> Option<Failure> {
        unpack(word).filter(|failure| failure.rank.index() < self.ranks())
    }
}

/// The upper bits of each record of a death or an abort. They tell a record from what a faulty
/// program has written there.
const TAG: u64 = 0x6d74 << 48;
/// The lowest byte of the record of an abort.
const ABORT: u8 = 1;

/// Packs a rank, a number and a kind into one word; never zero.
fn tagged(rank: Peer, number: u8, kind: u8) -> u64 {
    TAG | u64::from(rank.0) << 16 | u64::from(number) << 8 | u64::from(kind)
}

/// The rank and the number in such a word.
fn untagged(word: u64) -> Option<(Peer, u8)> {
    (word >> 48 == TAG >> 48).then_some((Peer((word >> 16) as u32), (word >> 8) as u8))
}

/// Writes a word unless the place holds a valid record already. Returns whether it has written.
fn keep_first(place: &AtomicU64, word: u64, is_one: impl Fn(u64) -> bool) -> bool {
    let unless_kept = |found| (!is_one(found)).then_some(word);
    place.fetch_update(Ordering::AcqRel, Ordering::Acquire, unless_kept).is_ok()
}

/// Packs a failure into one word, which is never zero.
pub(crate) fn pack(failure: Failure) -> u64 {
    let (how, number) = match failure.how {
        How::Signal(number) => (1, number),
        How::Exit(code) => (2, code),
        How::Panic => (3, 0),
        How::Vanished => (4, 0),
        How::Silent(seconds) => (5, seconds),
        How::Cut => (6, 0),
        How::Starved(errno) => (7, errno),
        How::ExitAfterLeaving(code) => (8, code),
    };
    tagged(failure.rank, number, how)
}

/// The failure in a word, if it holds one.
pub(crate) fn unpack(word: u64) -> Option<Failure> {
    let (rank, number) = untagged(word)?;
    let how = match word as u8 {
        1 => How::Signal(number),
        2 => How::Exit(number),
        3 => How::Panic,
        4 => How::Vanished,
        5 => How::Silent(number),
        6 => How::Cut,
        7 => How::Starved(number),
        8 => How::ExitAfterLeaving(number),
        _ => return None,
    };
    Some(Failure { rank, how })
}

#[cfg(test)]
mod tests {
    use super::super::{CORES_AT, DOORBELL_AT};
    use super::*;
    use crate::doorbell::SLEEPING;
    use crate::watchdog::Watchdog;
    use std::time::{Duration, Instant};

    #[test]
    fn failures_survive_packing_and_the_first_is_kept() {
        let segment = SharedSegment::private(3).unwrap();
        assert_eq!(segment.failure(), None);
        let first = Failure { rank: Peer(2), how: How::Signal(9) };
        segment.fail(first);
        let second = Failure { rank: Peer(0), how: How::Exit(1) };
        segment.fail(second);
        segment.fail(Failure { rank: Peer(2), how: How::Vanished });
        assert_eq!(segment.failure(), Some(first));
        let each = [0, 1, 2].map(|rank| segment.death(Peer(rank)));
        assert_eq!(each, [Some(second), None, Some(first)]);
    }

    /// A faulty program may write anything anywhere. Its words are no death and no abort, and do
    /// not prevent the record of one.
    #[test]
    fn what_is_no_failure_is_none_and_keeps_none_out() {
        let abort = Abort { rank: Peer(1), code: 7 };
        let failure = Failure { rank: Peer(2), how: How::Signal(9) };
        let of_nobody = pack(Failure { rank: Peer(3), how: How::Panic });
        let of_no_kind = pack(failure) | 0x77;
        for stray in [1, 0x41, 7 << 16 | 1, u64::MAX, 1.5_f64.to_bits(), of_nobody, of_no_kind] {
            let segment = SharedSegment::private(3).unwrap();
            let own = segment.layout().rank_block(2) + DEATH_AT;
            for at in [FAILURE_AT, ABORT_AT, own, CORES_AT] {
                segment.word64(at).store(stray, Ordering::Relaxed);
            }
            assert_eq!((segment.failure(), segment.death(Peer(2))), (None, None), "{stray:#x}");
            assert_eq!(segment.aborted(), None, "{stray:#x}");
            segment.fail(failure);
            assert_eq!(segment.failure(), Some(failure), "{stray:#x}");
            assert_eq!(segment.death(Peer(2)), Some(failure), "{stray:#x}");
            assert!(segment.abort(abort) && !segment.abort(abort), "{stray:#x}");
            assert_eq!(segment.aborted(), Some(abort), "{stray:#x}");
        }
        let segment = SharedSegment::private(3).unwrap();
        segment.fail(Failure { rank: Peer(3), how: How::Panic });
        assert_eq!(segment.failure(), None, "there is no such rank");
    }

    #[test]
    fn the_first_abort_counts_and_processes_hear_of_no_death_after_it() {
        let abort = |rank, code| Abort { rank: Peer(rank), code };
        let failure = Failure { rank: Peer(0), how: How::Exit(7) };
        for (segment, told) in [
            (SharedSegment::shared(3).unwrap().0, None),
            (SharedSegment::private(3).unwrap(), Some(failure)),
        ] {
            assert_eq!(segment.aborted(), None);
            assert!(segment.abort(abort(0, 7)));
            assert!(!segment.abort(abort(2, 255)));
            assert_eq!(segment.aborted(), Some(abort(0, 7)));
            segment.fail(failure);
            assert_eq!(segment.failure(), told);
        }
    }

    #[test]
    fn a_death_wakes_even_if_its_last_act_was_half_a_ring() {
        let _watchdog = Watchdog::start();
        let segment = SharedSegment::private(2).unwrap();
        let word = segment.word32(segment.layout().rank_block(1) + DOORBELL_AT);
        let failure = Failure { rank: Peer(0), how: How::Signal(9) };
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let begun = Instant::now();
                let is_ready = || segment.failure().is_some();
                segment.doorbell(Peer(1)).park(Duration::from_secs(5), is_ready);
                begun.elapsed()
            });
            while word.load(Ordering::Acquire) & SLEEPING == 0 {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(50));
            // What a ringer does to the word; then it dies before it gets to the kernel.
            word.fetch_add(SLEEPING, Ordering::SeqCst);
            segment.fail(failure);
            assert!(sleeper.join().unwrap() < Duration::from_secs(4));
        });
    }
}
