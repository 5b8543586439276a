//! Chooses between temporal and non-temporal stores for bounce buffers by timing a sample of
//! copies. Measurements: `../README.md`, "Bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::bounce_pool::{BounceBuffer, BouncePool};
use crate::layout::LINE;
use crate::memory::copy_many;
use crate::{Region, SharedSegment, memcheck};

/// Shorter copies are not timed: the clock would take too much of them.
const TIMED_MIN_BYTES: usize = 4 << 10;
/// Of copies through the caches one of so many is timed, or of some more, lest they be all for the
/// same one of several receivers.
const SAMPLE_PERIOD_COPIES: u32 = 8;
/// So many of those that were timed are judged together, by what a KiB of all took: where ranks
/// share cores, some bounce buffers were read on this core and others on another one, and long
/// messages do not go to the same ranks as short ones.
const SAMPLES_PER_DECISION: u32 = 8;
/// Copies through the caches are slow if each KiB takes so much longer than past them, on average:
/// so much longer takes the receiver that reads from memory. Where the lines come from a cache that
/// both cores have, a KiB takes 30 to 60 ns through the caches, else 130 to 500; past them it takes
/// 25 to 60 in either case.
const SLOWER_PER_KIB: Duration = Duration::from_nanos(30);
/// Taken for a KiB past the caches until some were timed.
const NT_PER_KIB: Duration = Duration::from_nanos(40);
/// No copy counts as more than this, since it may have been disturbed: one of those does not make a
/// mean slow.
const SAMPLE_MAX_PER_KIB: Duration = Duration::from_nanos(200);
/// After this many rounds of non-temporal copies some go through the caches again: a round that is
/// not judged, and then some that are. If those are slow, the number grows by this factor, up to
/// the maximum, where a round through the caches costs little of all, however slow they are. The
/// first of them may be fast and the later ones slow, since other ranks have not read for some time
/// what was written past the caches; so the number goes back to the minimum only after
/// `FAST_SAMPLES_TO_RESET` fast samples in a row.
const NT_ROUNDS_MIN: usize = 4;
const NT_ROUNDS_FACTOR: usize = 4;
const NT_ROUNDS_MAX: usize = 256;
/// The least bytes of a round in these numbers.
const ROUND_BYTES_MIN: usize = 128 << 10;
const FAST_SAMPLES_TO_RESET: u32 = 2 * SAMPLES_PER_DECISION;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreKind {
    /// Through the caches, as by all other code.
    Temporal,
    /// To memory, without fetching the lines first.
    NonTemporal,
}

/// What a rank has found out about its copies.
#[derive(Debug)]
pub(super) struct CopyStrategy {
    store_kind: StoreKind,
    /// Bytes of a round of the pool. So many go through the caches before any is timed: the first
    /// ones into their pages, or over what was written past the caches, are slow in any case.
    round_bytes: usize,
    /// Those of them that are still to be copied.
    warm_up_bytes: usize,
    /// Copies before the next one that is timed.
    copies_before_sample: u32,
    /// Bytes that are still to go past the caches before others go through them.
    non_temporal_bytes: usize,
    /// How many rounds go past them the next time.
    non_temporal_rounds: usize,
    /// Those since copies last went past the caches.
    temporal: Samples,
    /// Those past the caches.
    non_temporal: Samples,
}

/// The last copies that were timed and went one way.
#[derive(Debug)]
struct Samples {
    /// How many bytes, and how long.
    last: [(usize, Duration); SAMPLES_PER_DECISION as usize],
    /// How many have been timed since this way was chosen.
    timed: u32,
}

impl Samples {
    /// As if all had taken so long for each KiB.
    fn of(per_kib: Duration) -> Samples {
        Samples { last: [(1 << 10, per_kib); SAMPLES_PER_DECISION as usize], timed: 0 }
    }

    fn note(&mut self, bytes: usize, taken: Duration) {
        let longest = SAMPLE_MAX_PER_KIB * bytes as u32 / (1 << 10);
        self.last[(self.timed % SAMPLES_PER_DECISION) as usize] = (bytes, taken.min(longest));
        self.timed = self.timed.wrapping_add(1);
    }

    /// How long a KiB of all of them took.
    fn per_kib(&self) -> Duration {
        let bytes: usize = self.last.iter().map(|(bytes, _)| bytes).sum();
        self.last.iter().map(|(_, taken)| taken).sum::<Duration>() * (1 << 10) / bytes as u32
    }
}

impl CopyStrategy {
    /// Of a sender whose pool has rounds of so many bytes.
    pub(super) fn of_round(round_bytes: usize) -> CopyStrategy {
        CopyStrategy {
            store_kind: StoreKind::Temporal,
            round_bytes,
            warm_up_bytes: round_bytes,
            copies_before_sample: 0,
            non_temporal_bytes: 0,
            non_temporal_rounds: NT_ROUNDS_MIN,
            temporal: Samples::of(Duration::ZERO),
            non_temporal: Samples::of(NT_PER_KIB),
        }
    }

    /// Begins anew for this pool if it has become longer: the samples of a shorter one say nothing
    /// of it.
    pub(super) fn adapt_to(&mut self, pool: &mut BouncePool) {
        if pool.has_grown() {
            *self = CopyStrategy::of_round(pool.round_bytes());
        }
    }

    /// Copies a part of a message to its place in a free bounce buffer that is long enough for all
    /// of it.
    ///
    /// # Safety
    /// `data` is readable now.
    pub(super) unsafe fn fill(
        &mut self,
        segment: &SharedSegment,
        buffer: BounceBuffer,
        data: Region,
        at: usize,
    ) {
        let into = segment.at(buffer.data + at);
        if memcheck::is_here() {
            // SAFETY: as below.
            return unsafe { self.fill_watched(into, data) };
        }
        // SAFETY: long enough and read by nobody (README, "Bounce buffers"); the data is readable,
        // by the caller's promise.
        unsafe { self.write(into, data) };
    }

    /// The same under memcheck: the next message in these bytes may be another rank's.
    ///
    /// # Safety
    /// As for [`CopyStrategy::write`].
    #[cold]
    unsafe fn fill_watched(&mut self, into: NonNull<u8>, data: Region) {
        // SAFETY: passed on.
        unsafe { self.write(into, data) };
        memcheck::mark_written(Region::new(into.as_ptr(), data.bytes()));
    }

    /// Copies data to a place that begins with a line. Each thread that acquires a later release of
    /// this thread sees the copy.
    ///
    /// # Safety
    /// `data` is readable, and so many bytes from `into` on are writable. Nobody else uses those.
    unsafe fn write(&mut self, into: NonNull<u8>, data: Region) {
        let (store_kind, is_timed) = self.choose(data.bytes());
        let begun = is_timed.then(Instant::now);
        // SAFETY: passed on.
        unsafe { copy(store_kind, into, data) };
        if let Some(begun) = begun {
            self.note(store_kind, data.bytes(), begun.elapsed());
        }
    }

    /// How the next copy, of so many bytes, goes, and whether it is timed.
    fn choose(&mut self, bytes: usize) -> (StoreKind, bool) {
        if self.non_temporal_bytes > 0 {
            self.non_temporal_bytes = self.non_temporal_bytes.saturating_sub(bytes);
            let are_few = self.non_temporal.timed < SAMPLES_PER_DECISION;
            (StoreKind::NonTemporal, are_few && bytes >= TIMED_MIN_BYTES)
        } else if self.copies_before_sample > 0 || bytes < TIMED_MIN_BYTES {
            self.copies_before_sample = self.copies_before_sample.saturating_sub(1);
            (self.store_kind, false)
        } else if self.warm_up_bytes > 0 {
            self.warm_up_bytes = self.warm_up_bytes.saturating_sub(bytes);
            (StoreKind::Temporal, false)
        } else {
            (StoreKind::Temporal, true)
        }
    }

    /// Whether it has timed nothing yet.
    #[cfg(test)]
    pub(super) fn is_new(&self) -> bool {
        self.store_kind == StoreKind::Temporal && self.warm_up_bytes > 0
    }

    /// A copy of so many bytes has taken so long.
    fn note(&mut self, store_kind: StoreKind, bytes: usize, taken: Duration) {
        if store_kind == StoreKind::NonTemporal {
            return self.non_temporal.note(bytes, taken);
        }
        self.temporal.note(bytes, taken);
        if self.temporal.timed < SAMPLES_PER_DECISION {
            return; // the next copy is timed, too
        }
        if self.temporal.per_kib() > self.non_temporal.per_kib() + SLOWER_PER_KIB {
            self.use_non_temporal();
        } else {
            self.use_temporal();
        }
    }

    fn use_non_temporal(&mut self) {
        (self.store_kind, self.copies_before_sample) = (StoreKind::NonTemporal, 0);
        (self.temporal.timed, self.non_temporal.timed) = (0, 0);
        self.warm_up_bytes = self.round_bytes;
        let rounds = self.non_temporal_rounds;
        self.non_temporal_bytes = rounds * self.round_bytes.max(ROUND_BYTES_MIN);
        self.non_temporal_rounds = NT_ROUNDS_MAX.min(NT_ROUNDS_FACTOR * rounds);
    }

    fn use_temporal(&mut self) {
        let timed = self.temporal.timed;
        (self.store_kind, self.copies_before_sample) =
            (StoreKind::Temporal, SAMPLE_PERIOD_COPIES - 1 + timed % SAMPLES_PER_DECISION);
        if timed >= FAST_SAMPLES_TO_RESET {
            self.non_temporal_rounds = NT_ROUNDS_MIN;
        }
    }
}

/// Copies data one way or the other.
///
/// # Safety
/// As [`CopyStrategy::write`].
unsafe fn copy(store_kind: StoreKind, into: NonNull<u8>, data: Region) {
    match store_kind {
        // SAFETY: passed on.
        StoreKind::NonTemporal => unsafe { copy_non_temporal(into, data) },
        // SAFETY: passed on; memory of the user and of the segment lie apart.
        _ => unsafe { copy_many(data.start(), into.as_ptr(), data.bytes()) },
    }
}

/// Copies whole lines past the caches, and what is left through them.
///
/// # Safety
/// As [`CopyStrategy::write`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_non_temporal(into: NonNull<u8>, data: Region) {
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
/// As [`CopyStrategy::write`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_non_temporal(into: NonNull<u8>, data: Region) {
    // SAFETY: passed on.
    unsafe { copy(StoreKind::Temporal, into, data) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchdog::Watchdog;

    const BYTES: usize = 16 << 10;
    const FAST: Duration = Duration::from_nanos(35);
    const FAR: Duration = Duration::from_nanos(150);
    const DISTURBED: Duration = Duration::from_millis(3);
    const ENOUGH: usize = SAMPLES_PER_DECISION as usize;

    fn strategy() -> CopyStrategy {
        CopyStrategy::of_round(0)
    }

    /// Notes a KiB through the caches.
    fn note(strategy: &mut CopyStrategy, taken: Duration) {
        strategy.note(StoreKind::Temporal, 1 << 10, taken);
    }

    #[test]
    fn slow_copies_go_past_the_caches_from_then_on() {
        let mut strategy = strategy();
        for _ in 1..ENOUGH {
            note(&mut strategy, FAR);
            assert_eq!(
                (strategy.store_kind, strategy.copies_before_sample),
                (StoreKind::Temporal, 0),
                "too few to judge"
            );
        }
        note(&mut strategy, FAR);
        assert_eq!(
            (strategy.store_kind, strategy.non_temporal_bytes),
            (StoreKind::NonTemporal, NT_ROUNDS_MIN * ROUND_BYTES_MIN)
        );
    }

    #[test]
    fn some_that_come_from_far_or_are_disturbed_among_fast_ones_change_nothing() {
        for slow in [[FAR, FAR], [DISTURBED, FAST]] {
            let mut strategy = strategy();
            let some = [FAST, slow[0], FAST, FAST, FAST, slow[1], FAST, FAST];
            for (nth, taken) in some.into_iter().cycle().take(100).enumerate() {
                note(&mut strategy, taken);
                assert_eq!(strategy.store_kind, StoreKind::Temporal, "{nth}");
                assert_eq!(
                    strategy.copies_before_sample >= SAMPLE_PERIOD_COPIES - 1,
                    nth + 1 >= ENOUGH,
                    "the first are all timed: {nth}"
                );
            }
            let lefts: Vec<u32> = (0..ENOUGH)
                .map(|_| (note(&mut strategy, FAST), strategy.copies_before_sample).1)
                .collect();
            assert!(lefts.is_sorted_by(|a, b| a != b), "not always the same of eight: {lefts:?}");
        }
    }

    #[test]
    fn a_few_long_copies_that_are_slow_count_more_than_many_short_ones_that_are_fast() {
        for (long, expected) in [(FAR, StoreKind::NonTemporal), (FAST, StoreKind::Temporal)] {
            let mut strategy = strategy();
            for nth in 0..ENOUGH {
                let (kib, per_kib) = if nth % 4 == 0 { (256, long) } else { (32, FAST) };
                strategy.note(StoreKind::Temporal, kib << 10, per_kib * kib as u32);
            }
            assert_eq!(strategy.store_kind, expected);
        }
    }

    #[test]
    fn copies_through_the_caches_are_slow_only_beside_those_past_them() {
        for (past, expected) in [(FAST, StoreKind::NonTemporal), (FAR, StoreKind::Temporal)] {
            let mut strategy = strategy();
            (0..ENOUGH).for_each(|_| strategy.note(StoreKind::NonTemporal, 4 << 10, past * 4));
            (0..ENOUGH).for_each(|_| note(&mut strategy, FAR));
            assert_eq!(strategy.store_kind, expected, "{past:?}");
        }
    }

    #[test]
    fn the_first_copies_past_the_caches_are_timed() {
        let mut strategy = strategy();
        (0..ENOUGH).for_each(|_| note(&mut strategy, FAR));
        for _ in 0..ENOUGH {
            assert_eq!(strategy.choose(TIMED_MIN_BYTES - 1), (StoreKind::NonTemporal, false));
            assert_eq!(strategy.choose(TIMED_MIN_BYTES), (StoreKind::NonTemporal, true));
            strategy.note(StoreKind::NonTemporal, TIMED_MIN_BYTES, FAST * 4);
        }
        assert_eq!(strategy.choose(TIMED_MIN_BYTES), (StoreKind::NonTemporal, false));
        assert_eq!(strategy.non_temporal.per_kib(), FAST);
    }

    #[test]
    fn now_and_then_some_go_through_them_again_and_ever_more_seldom_if_they_are_slow() {
        let _watchdog = Watchdog::start();
        let mut strategy = strategy();
        let mut lefts = Vec::new();
        for _ in 0..10 {
            (0..ENOUGH).for_each(|_| note(&mut strategy, FAR));
            assert_eq!((strategy.store_kind, strategy.temporal.timed), (StoreKind::NonTemporal, 0));
            lefts.push(strategy.non_temporal_bytes / ROUND_BYTES_MIN);
        }
        assert_eq!(lefts[..2], [NT_ROUNDS_MIN, NT_ROUNDS_FACTOR * NT_ROUNDS_MIN]);
        assert_eq!(lefts[9], NT_ROUNDS_MAX);
        for taken in [FAST, DISTURBED, FAST, FAST, FAST, FAST, FAST] {
            note(&mut strategy, taken);
            assert_eq!(strategy.store_kind, StoreKind::NonTemporal, "too few to judge");
        }
        note(&mut strategy, FAST);
        assert_eq!(
            (strategy.store_kind, strategy.non_temporal_rounds),
            (StoreKind::Temporal, NT_ROUNDS_MAX),
            "not yet sure"
        );
        while strategy.store_kind == StoreKind::Temporal {
            note(&mut strategy, FAR);
        }
        assert_eq!(
            (strategy.non_temporal_bytes / ROUND_BYTES_MIN, strategy.non_temporal_rounds),
            (NT_ROUNDS_MAX, NT_ROUNDS_MAX)
        );
        (0..FAST_SAMPLES_TO_RESET).for_each(|_| note(&mut strategy, FAST));
        assert_eq!(
            (strategy.store_kind, strategy.non_temporal_rounds),
            (StoreKind::Temporal, NT_ROUNDS_MIN)
        );
    }

    #[test]
    fn a_round_of_the_pool_warms_up_first_and_whenever_copies_have_gone_past_the_caches() {
        const ROUND: usize = 1 << 20;
        for (bytes, expected) in [(TIMED_MIN_BYTES, 256), (ROUND, 1), (ROUND / 2, 2)] {
            let mut strategy = CopyStrategy::of_round(ROUND);
            let mut copies_before_sample = || {
                let chosen = std::iter::repeat_with(|| strategy.choose(bytes));
                let before = chosen.take_while(|it| *it != (StoreKind::Temporal, true)).count();
                (0..ENOUGH).for_each(|_| note(&mut strategy, FAR));
                before
            };
            assert_eq!(copies_before_sample(), expected, "{bytes}");
            let past = NT_ROUNDS_MIN * expected;
            assert_eq!(copies_before_sample(), past + expected, "{bytes}");
        }
    }

    #[test]
    fn what_is_written_is_there_for_both_stores() {
        let data: Vec<u8> = (0..BYTES + 77).map(|at| (at % 251) as u8).collect();
        for store_kind in [StoreKind::Temporal, StoreKind::NonTemporal] {
            for bytes in [0, 1, LINE - 1, LINE, LINE + 1, TIMED_MIN_BYTES, BYTES, BYTES + 63] {
                for copies_before_sample in [0, 2] {
                    let mut memory = vec![0_u8; bytes + 3 * LINE];
                    let start = memory.as_ptr().align_offset(LINE);
                    let into = NonNull::new(memory[start..].as_mut_ptr()).unwrap();
                    let mut strategy =
                        CopyStrategy { store_kind, copies_before_sample, ..strategy() };
                    if store_kind == StoreKind::NonTemporal {
                        strategy.non_temporal_bytes = bytes;
                    }
                    // SAFETY: there is so much room, which nobody else uses.
                    unsafe { strategy.write(into, Region::of(&data[13..13 + bytes])) };
                    assert!(
                        memory[start..start + bytes] == data[13..13 + bytes],
                        "{store_kind:?} {bytes}"
                    );
                    assert!(memory[start + bytes..].iter().all(|&byte| byte == 0));
                    assert!(memory[..start].iter().all(|&byte| byte == 0));
                }
            }
        }
    }
}
