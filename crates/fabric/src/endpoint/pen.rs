//! How a rank writes into blocks: through its caches, or past them, as is found to be faster.
//! Why: `../README.md`, "Blocks".

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use crate::layout::LINE;
use crate::{Region, Segment};

/// Shorter copies are not timed: the clock would take too much of them.
const SHORTEST: usize = 4 << 10;
/// Copies that are not judged at first: they are the first ones into their pages.
const UNJUDGED: u32 = 256;
/// One of so many copies through the caches is timed.
const EVERY: u32 = 8;
/// A copy through the caches is slow if each KiB of it takes longer than this. Where the lines come
/// from a cache that both cores have it takes about 30 ns, and about 400 where they do not.
const SLOW: Duration = Duration::from_nanos(125);
/// So many copies go past the caches before one goes through them again, and twice as many each
/// time that this one was slow, up to the most.
const PATIENCE: u32 = 32;
const MOST: u32 = 2048;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As all memory is written.
    Through,
    /// As [`Way::Through`], but the last copy was slow.
    Doubtful,
    /// To memory, without fetching the lines first.
    Past,
}

/// What a rank has found out about its copies.
#[derive(Debug)]
pub(super) struct Pen {
    way: Way,
    /// Copies before the next one that decides; nothing if none does.
    left: Option<u32>,
    patience: u32,
}

impl Pen {
    /// That of a rank of this segment. Where ranks share cores it stays with the caches: they are
    /// often those of the reader.
    pub(super) fn of(segment: &Segment) -> Pen {
        let left = (!segment.is_crowded()).then_some(UNJUDGED);
        Pen { way: Way::Through, left, patience: PATIENCE }
    }

    /// Copies data to a place that begins with a line. It is there for all who see a later release
    /// of this thread.
    ///
    /// # Safety
    /// `data` is readable, and so many bytes from `into` on are writable. Nobody else uses those.
    pub(super) unsafe fn write(&mut self, into: NonNull<u8>, data: Region) {
        if self.left != Some(0) || data.bytes() < SHORTEST {
            self.left = self.left.map(|left| left.saturating_sub(1));
            // SAFETY: passed on, here and below.
            return unsafe { copy(self.way, into, data) };
        }
        if self.way == Way::Past {
            self.way = Way::Doubtful;
        }
        let begun = Instant::now();
        // SAFETY: as above.
        unsafe { copy(self.way, into, data) };
        self.judge(begun.elapsed(), data.bytes());
    }

    /// Decides how the next copies go after one through the caches has taken so long.
    fn judge(&mut self, taken: Duration, bytes: usize) {
        let is_slow = taken.as_nanos() * (1 << 10) > SLOW.as_nanos() * bytes as u128;
        let (way, left) = match (self.way, is_slow) {
            (_, false) => (Way::Through, EVERY - 1),
            (Way::Through, true) => (Way::Doubtful, 0),
            (_, true) => (Way::Past, self.patience),
        };
        (self.way, self.left) = (way, Some(left));
        match self.way {
            Way::Through => self.patience = PATIENCE,
            Way::Past => self.patience = MOST.min(2 * self.patience),
            Way::Doubtful => {}
        }
    }
}

/// Copies data one way or the other.
///
/// # Safety
/// As [`Pen::write`].
unsafe fn copy(way: Way, into: NonNull<u8>, data: Region) {
    match way {
        // SAFETY: passed on.
        Way::Past => unsafe { copy_past_caches(into, data) },
        // SAFETY: passed on; memory of the user and of the segment lie apart.
        _ => unsafe { into.as_ptr().copy_from_nonoverlapping(data.start(), data.bytes()) },
    }
}

/// Copies whole lines past the caches, and what is left through them.
///
/// # Safety
/// As [`Pen::write`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_past_caches(into: NonNull<u8>, data: Region) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    const PARTS: usize = LINE / size_of::<__m128i>();
    assert_eq!(into.as_ptr().addr() % LINE, 0, "it begins with a line");
    let lines = data.bytes() / LINE;
    let (from, to) = (data.start().cast::<__m128i>(), into.as_ptr().cast::<__m128i>());
    for line in 0..lines {
        for part in line * PARTS..(line + 1) * PARTS {
            // SAFETY: within the lines of the data, which is readable by the caller's promise.
            let from = unsafe { from.add(part) };
            // SAFETY: as above; it need not be aligned.
            let bytes = unsafe { _mm_loadu_si128(from) };
            // SAFETY: within as many bytes that are writable, by the caller's promise.
            let to = unsafe { to.add(part) };
            // SAFETY: as above; it is aligned, as the place begins with a line.
            unsafe { _mm_stream_si128(to, bytes) };
        }
    }
    // Other cores see such stores in any order, also after a later release, but for this fence.
    // SAFETY: each processor of this kind has it.
    unsafe { _mm_sfence() };
    let rest = data.part(lines * LINE, data.bytes() % LINE);
    // SAFETY: the end of what is writable, by the caller's promise.
    let to = unsafe { into.as_ptr().add(lines * LINE) };
    // SAFETY: as long as the end of the data; they lie apart.
    unsafe { to.copy_from_nonoverlapping(rest.start(), rest.bytes()) };
}

/// Elsewhere there is one way.
///
/// # Safety
/// As [`Pen::write`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_past_caches(into: NonNull<u8>, data: Region) {
    // SAFETY: passed on.
    unsafe { copy(Way::Through, into, data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 16 << 10;
    const FAST: Duration = Duration::from_micros(1);
    const LONG: Duration = Duration::from_micros(6);

    fn pen() -> Pen {
        Pen { way: Way::Through, left: Some(0), patience: PATIENCE }
    }

    #[test]
    fn two_slow_copies_go_past_the_caches_from_then_on() {
        let mut pen = pen();
        pen.judge(FAST, BYTES);
        assert_eq!((pen.way, pen.left), (Way::Through, Some(EVERY - 1)));
        pen.judge(LONG, BYTES);
        assert_eq!((pen.way, pen.left), (Way::Doubtful, Some(0)), "it may have been disturbed");
        pen.judge(FAST, BYTES);
        assert_eq!((pen.way, pen.left), (Way::Through, Some(EVERY - 1)));
        for way in [Way::Doubtful, Way::Past] {
            pen.judge(LONG, BYTES);
            assert_eq!(pen.way, way);
        }
        assert_eq!(pen.left, Some(PATIENCE));
    }

    #[test]
    fn now_and_then_one_goes_through_them_again_and_ever_more_seldom_if_that_is_slow() {
        let mut pen = Pen { way: Way::Doubtful, ..pen() };
        let mut lefts = Vec::new();
        for _ in 0..10 {
            pen.judge(LONG, BYTES);
            lefts.extend(pen.left);
            pen.way = Way::Doubtful;
        }
        assert_eq!(lefts[..3], [PATIENCE, 2 * PATIENCE, 4 * PATIENCE]);
        assert_eq!(lefts[9], MOST);
        pen.judge(FAST, BYTES);
        assert_eq!((pen.way, pen.patience), (Way::Through, PATIENCE));
    }

    #[test]
    fn what_is_written_is_there_either_way() {
        let data: Vec<u8> = (0..BYTES + 77).map(|at| (at % 251) as u8).collect();
        for way in [Way::Through, Way::Doubtful, Way::Past] {
            for bytes in [0, 1, LINE - 1, LINE, LINE + 1, SHORTEST, BYTES, BYTES + 63] {
                for left in [None, Some(0), Some(2)] {
                    let mut memory = vec![0_u8; bytes + 3 * LINE];
                    let start = memory.as_ptr().align_offset(LINE);
                    let into = NonNull::new(memory[start..].as_mut_ptr()).unwrap();
                    let mut pen = Pen { way, left, patience: PATIENCE };
                    // SAFETY: there is so much room, which nobody else uses.
                    unsafe { pen.write(into, Region::of(&data[13..13 + bytes])) };
                    assert!(
                        memory[start..start + bytes] == data[13..13 + bytes],
                        "{way:?} {bytes}"
                    );
                    assert!(memory[start + bytes..].iter().all(|&byte| byte == 0));
                    assert!(memory[..start].iter().all(|&byte| byte == 0));
                }
            }
        }
    }
}
