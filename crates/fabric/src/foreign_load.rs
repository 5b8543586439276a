//! Foreign load: threads of other programs that compute on the cores of this world.
//!
//! A rank that has nothing to do gives its core away, by a yield or by a sleep. The cost depends on
//! the thread that gets the core:
//!
//! * A yield to another rank that waits or does a little work costs a context switch.
//! * A yield to a thread that computes costs a whole time slice of that thread, for example 3 ms:
//!   the scheduler ends time slices at its ticks.
//! * The scheduler runs a sleeping rank that is woken before a thread that computes. But a wake-up
//!   costs some microseconds, and tens of microseconds on a virtual machine whose core has become
//!   idle.
//!
//! So a rank yields, unless there is evidence that a foreign thread runs on its core. The evidence
//! is a yield that took 1 ms or longer while the system had more runnable threads than this world
//! has awake ranks. A yield of 0.1 ms or longer is evidence, too, if the known foreign threads do
//! not explain the number of runnable threads. One such yield is a suspicion only: threads of the
//! kernel and of daemons run for a moment now and then. They are evidence together with another one
//! some milliseconds later, or soon after former evidence. The rank writes the evidence into the
//! segment, so it informs all ranks on that core. A long time slice of another rank is no evidence:
//! a rank that yields to it loses nothing, and a rank that sleeps instead pays for wake-ups, and
//! the scheduler puts it on a core that is not its home core.
//!
//! A rank with evidence against its core migrates to a core without evidence if it computes little
//! between its waits: ranks that share a core and yield to each other are then twice as fast as
//! ranks that are woken from sleep. If there is no such core, or if the rank computes for longer,
//! it sleeps: then wake-ups cost it less than sharing a core with more ranks.
//!
//! Ranks that have a core each want all their cores at the same time. If one lacks its core, those
//! that wait for it lose as much. So beside foreign load they sleep after a short poll, and stay on
//! their cores: a rank that sleeps in its waits keeps below its share of a core, and runs as soon
//! as it is woken.
//!
//! Evidence holds for a limited time, since the foreign thread may end or migrate. After that time
//! one rank yields again; if this yield takes long, the evidence holds twice as long as before. So
//! ranks on a core that is always shared lose a time slice only now and then. All evidence ends
//! early if fewer threads are runnable than ranks are awake. The oldest evidence ends early if
//! there is evidence against more cores than there are foreign threads.
//!
//! All of this is a heuristic that shortens waits; no wait needs it to end. If a program overwrites
//! the words of the evidence, ranks lose only time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::read;
use rustix::thread::sched_getcpu;
use rustix::time::{ClockId, clock_gettime};

use crate::layout::{LINE, PAGE};
use crate::{Peer, SharedSegment};

/// A yield of this length may have given the core to a foreign thread, or to a rank that computes:
/// the number of runnable threads decides.
const LONG_TURN_NS: u64 = 100_000;
/// A yield of this length has given the core to a thread that computes: to a foreign thread, if
/// there is one.
const WHOLE_TURN_NS: u64 = 1_000_000;
/// A yield of this length has let another thread run.
const OTHERS_TURN_NS: u64 = 1_000;
/// How long evidence holds at first, and at most, in nanoseconds. Once per this time a rank loses a
/// time slice of 3 ms to find out whether a foreign thread is still there.
const SHORTEST_HOLD_NS: u64 = 20_000_000;
const LONGEST_HOLD_NS: u64 = 640_000_000;
/// A suspicion is evidence if it is this old when it is confirmed, and is forgotten if it is older
/// than that, in nanoseconds. On a machine where nothing else computes one look in seventy sees
/// another runnable thread, and half of these see it again a millisecond later. A rank that waits
/// seldom looks seldom.
const SUSPICION_MIN_NS: u64 = 2_000_000;
const SUSPICION_MAX_NS: u64 = 500_000_000;
/// How often evidence is compared with the number of runnable threads while it holds.
const CHECKS: u64 = 4;
/// The shortest time between two queries of that number for one core: a query takes 4 µs.
const CHECK_PERIOD_NS: u64 = 1_000_000;
/// Length of a sleep that replaces a yield where the yield would give the core to a foreign thread.
const SHORT_SLEEP: Duration = Duration::from_micros(20);

/// Cores with words of their own for evidence. Of more cores, some share words.
const CORES: usize = 48;
/// Offsets of the words in the header: one word for all cores, then a line for each core, then one
/// line for unknown cores.
const ANYWHERE_AT: usize = 4 * LINE;
const CORES_AT: usize = 5 * LINE;
const EVIDENCE_BYTES: usize = LINE;
const _: () = assert!(CORES_AT + (CORES + 1) * EVIDENCE_BYTES <= PAGE);

/// What the ranks know of foreign load on one core. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Evidence<'a> {
    /// When the evidence ends; 0 if there has been none.
    until: &'a AtomicU64,
    /// For how long the evidence held the last time.
    hold: &'a AtomicU64,
    /// When a rank last compared the evidence with the number of runnable threads.
    checked: &'a AtomicU64,
    /// When a rank last had this core again after another thread.
    seen: &'a AtomicU64,
    /// When a rank first suspected a foreign thread, if each look since then has confirmed it; else
    /// 0.
    suspected: &'a AtomicU64,
}

impl Evidence<'_> {
    /// Records that a foreign thread has had the core from `begun` to `now`. Returns when the
    /// evidence ends; it holds for the shortest time if it is not certain.
    fn renew(self, begun: u64, now: u64, is_certain: bool) -> u64 {
        let (until, hold) = (self.until.load(Ordering::Relaxed), self.hold.load(Ordering::Relaxed));
        if begun < until && until <= now.saturating_add(LONGEST_HOLD_NS) {
            return until; // known already: others on this core have seen the same turn
        }
        let is_soon = begun.saturating_sub(until) <= hold.min(LONGEST_HOLD_NS);
        let hold = if is_soon && is_certain { hold.saturating_mul(2) } else { SHORTEST_HOLD_NS };
        let hold = hold.clamp(SHORTEST_HOLD_NS, LONGEST_HOLD_NS);
        let until = now.saturating_add(hold);
        self.hold.store(hold, Ordering::Relaxed);
        self.until.store(until, Ordering::Relaxed);
        self.suspected.store(0, Ordering::Relaxed);
        until
    }

    /// Records that a foreign thread may have had the core from `begun` to `now`. Returns whether
    /// it is evidence.
    fn suspect(self, begun: u64, now: u64) -> bool {
        let (until, hold) = (self.until.load(Ordering::Relaxed), self.hold.load(Ordering::Relaxed));
        let since = self.suspected.load(Ordering::Relaxed);
        let age = now.checked_sub(since).filter(|&age| since != 0 && age <= SUSPICION_MAX_NS);
        if age.is_none() {
            self.suspected.store(now, Ordering::Relaxed);
        }
        let is_soon = until != 0 && begun.saturating_sub(until) <= hold.min(LONGEST_HOLD_NS);
        is_soon || age.is_some_and(|age| age >= SUSPICION_MIN_NS)
    }

    /// Records a look that has seen no foreign thread but known ones.
    fn suspect_nobody(self) {
        self.suspected.store(0, Ordering::Relaxed);
    }

    /// When the evidence was found.
    fn begun(self) -> u64 {
        let (until, hold) = (self.until.load(Ordering::Relaxed), self.hold.load(Ordering::Relaxed));
        until.saturating_sub(hold)
    }

    /// Whether the evidence holds.
    fn holds(self, now: u64) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        now < until && until <= now.saturating_add(LONGEST_HOLD_NS)
    }

    /// Whether it is time to compare the evidence with the number of runnable threads. If so, the
    /// caller compares it.
    fn is_to_be_checked(self, now: u64) -> bool {
        // There may have been no evidence against this core yet, but against others.
        let hold = self.hold.load(Ordering::Relaxed).clamp(SHORTEST_HOLD_NS, LONGEST_HOLD_NS);
        self.is_unchecked_for(now, hold / CHECKS)
    }

    fn is_unchecked_for(self, now: u64, period: u64) -> bool {
        let is_due = now.saturating_sub(self.checked.load(Ordering::Relaxed)) >= period;
        if is_due {
            self.checked.store(now, Ordering::Relaxed);
        }
        is_due
    }
}

/// What a yield has shown. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The core that the thread gave away.
    pub core: usize,
    /// When the yield ended.
    pub ended: u64,
    /// For how long other threads had the core.
    pub taken: u64,
}

impl Turn {
    /// Whether another thread has run during the yield.
    #[inline]
    pub fn is_of_another(self) -> bool {
        self.taken >= OTHERS_TURN_NS
    }
}

impl SharedSegment {
    /// Yields the core once, and notes evidence if a foreign thread has had it.
    pub fn yield_core(&self) -> Turn {
        // The system may move this thread to another core during the yield.
        let (core, begun) = (sched_getcpu(), now());
        thread::yield_now();
        let ended = now();
        let turn = Turn { core, ended, taken: ended - begun };
        if turn.is_of_another() {
            self.note_turn(turn);
        }
        turn
    }

    /// Notes that other threads have had the core: foreign threads, if no rank was seen there.
    fn note_turn(&self, Turn { core, ended, taken }: Turn) {
        let evidence = self.evidence_on(core);
        let seen = evidence.seen.load(Ordering::Relaxed).max(ended - taken);
        evidence.seen.store(ended, Ordering::Relaxed);
        let since_rank = ended.saturating_sub(seen);
        if since_rank >= LONG_TURN_NS {
            self.note(evidence, ended, since_rank, since_rank >= WHOLE_TURN_NS);
        }
    }

    /// Gives the core away for a moment: by a yield, or by a short sleep if a foreign thread would
    /// take it for a whole time slice. For waits that no doorbell ends.
    pub(crate) fn pause(&self) {
        if self.is_contended_here() {
            thread::sleep(SHORT_SLEEP);
        } else {
            self.yield_core();
        }
    }

    /// Notes that a wait has taken `taken` nanoseconds although no foreign thread had this core:
    /// the ranks that it waits for may share their cores.
    pub fn note_long_wait(&self, taken: u64) {
        self.note(self.evidence_elsewhere(), now(), taken, false);
    }

    /// Notes evidence that a foreign thread has had a core for `taken` nanoseconds, if the system
    /// reports a foreign thread. Unless `is_certain` says that the time slice is that of a thread
    /// that computes, the system is asked seldom.
    #[cold]
    fn note(&self, evidence: Evidence<'_>, now: u64, taken: u64, is_certain: bool) {
        if is_certain || evidence.is_unchecked_for(now, CHECK_PERIOD_NS) {
            let foreign = self.foreign_threads().unwrap_or(CORES);
            self.note_among(foreign, evidence, now, taken, is_certain);
        }
    }

    /// As `note`, where the number of foreign threads is known.
    fn note_among(
        &self,
        foreign: usize,
        evidence: Evidence<'_>,
        now: u64,
        taken: u64,
        is_certain: bool,
    ) {
        let begun = now.saturating_sub(taken);
        // A short time slice proves nothing if all foreign threads are known to be on other cores.
        // Nor does a long one if there is no foreign thread: a rank has computed.
        let known = if is_certain { 0 } else { self.contended_cores(now).count() };
        if foreign <= known {
            evidence.suspect_nobody();
        } else if evidence.suspect(begun, now) {
            // Ranks of several scheduling groups sleep: each rank that is woken ends the time slice
            // of a foreign thread early, so no time slice is ever long enough to be certain.
            let is_certain = is_certain || self.spans_scheduling_groups();
            let until = evidence.renew(begun, now, is_certain);
            self.anywhere().fetch_max(until, Ordering::Relaxed);
            self.forget_all_but(foreign, now);
        }
    }

    /// Ends the oldest evidence if there is evidence against more cores than there are foreign
    /// threads: one thread has migrated.
    fn forget_all_but(&self, foreign: usize, now: u64) {
        for _ in foreign..self.contended_cores(now).count() {
            if let Some(oldest) = self.contended_cores(now).min_by_key(|one| one.begun()) {
                oldest.until.store(now, Ordering::Relaxed);
            }
        }
    }

    /// From now on the ranks have evidence against a core.
    #[cfg(test)]
    pub(crate) fn let_hold(&self, core: usize) {
        self.evidence_on(core).until.store(now() + LONGEST_HOLD_NS, Ordering::Relaxed);
    }

    fn contended_cores(&self, now: u64) -> impl Iterator<Item = Evidence<'_>> {
        (0..CORES).map(|core| self.evidence_at(core)).filter(move |one| one.holds(now))
    }

    /// Notes that a rank has this core again, after a sleep.
    pub fn note_rank_here(&self) {
        self.evidence_on(sched_getcpu()).seen.store(now(), Ordering::Relaxed);
    }

    /// Whether there is evidence of a foreign thread on the core of this thread.
    #[inline]
    pub fn is_contended_here(&self) -> bool {
        self.anywhere().load(Ordering::Relaxed) != 0 && self.is_contended_on(sched_getcpu(), now())
    }

    /// How many ranks there are for each core without foreign load: at least one, whatever a
    /// program may have written into the segment.
    pub fn ranks_per_free_core(&self) -> usize {
        // The core may be unknown: then it counts as one.
        let contended =
            if self.is_contended() { self.contended_cores(now()).count().max(1) } else { 0 };
        self.local_ranks().max(1).div_ceil(self.cores().saturating_sub(contended).max(1))
    }

    /// Whether there is evidence of a foreign thread on a core.
    pub(crate) fn has_foreign_load(&self, core: usize, now: u64) -> bool {
        self.evidence_on(core).holds(now)
    }

    #[cold]
    fn is_contended_on(&self, core: usize, now: u64) -> bool {
        let evidence = self.evidence_on(core);
        evidence.holds(now) && !self.is_refuted(evidence, now)
    }

    /// Whether there is evidence of foreign threads on any core of this world.
    #[inline]
    pub fn is_contended(&self) -> bool {
        self.anywhere().load(Ordering::Relaxed) != 0 && self.is_contended_anywhere(now())
    }

    #[cold]
    fn is_contended_anywhere(&self, now: u64) -> bool {
        let until = self.anywhere().load(Ordering::Relaxed);
        let is_over = until <= now || until > now.saturating_add(LONGEST_HOLD_NS);
        if is_over {
            // Evidence that another rank notes at the same time is lost: the next long time slice
            // brings it again.
            self.anywhere().store(0, Ordering::Relaxed);
        }
        !is_over && !self.is_refuted(self.evidence_elsewhere(), now)
    }

    /// Now and then: whether there are no foreign threads any more. Then all evidence ends.
    fn is_refuted(&self, evidence: Evidence<'_>, now: u64) -> bool {
        let is_refuted = evidence.is_to_be_checked(now) && !self.has_foreign_threads();
        if is_refuted {
            let all = (0..=CORES).map(|core| self.evidence_at(core));
            all.filter(|one| one.holds(now))
                .for_each(|one| one.until.store(now, Ordering::Relaxed));
            self.anywhere().store(0, Ordering::Relaxed);
        }
        is_refuted
    }

    fn has_foreign_threads(&self) -> bool {
        self.foreign_threads().is_none_or(|threads| threads > 0)
    }

    /// Runnable threads that are no ranks of this world, if the system reports the number.
    fn foreign_threads(&self) -> Option<usize> {
        let awake = self.segment_ranks() - self.sleeping_ranks();
        Some(runnable_threads()?.saturating_sub(awake))
    }

    fn sleeping_ranks(&self) -> usize {
        let ranks = (0..self.ranks() as u32).map(Peer);
        let sleeping = ranks.filter(|&rank| self.doorbell(rank).has_sleeper()).count();
        sleeping.min(self.segment_ranks())
    }

    fn evidence_on(&self, core: usize) -> Evidence<'_> {
        self.evidence_at(core % CORES)
    }

    fn evidence_elsewhere(&self) -> Evidence<'_> {
        self.evidence_at(CORES)
    }

    fn evidence_at(&self, place: usize) -> Evidence<'_> {
        let at = CORES_AT + place * EVIDENCE_BYTES;
        let words = [0, 8, 16, 24, 32].map(|offset| self.word64(at + offset));
        let [until, hold, checked, seen, suspected] = words;
        Evidence { until, hold, checked, seen, suspected }
    }

    /// When the evidence against any core ends; 0 if there is none.
    #[inline]
    fn anywhere(&self) -> &AtomicU64 {
        self.word64(ANYWHERE_AT)
    }
}

/// Runnable threads of this machine, with the caller.
fn runnable_threads() -> Option<usize> {
    // Allocates nothing: it is called while persistent operations run.
    let file = open(c"/proc/loadavg", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; 128];
    let bytes = read(&file, &mut text).ok()?;
    runnable_in(&text[..bytes])
}

/// The number before the slash of the fourth field (`proc_loadavg(5)`).
fn runnable_in(loadavg: &[u8]) -> Option<usize> {
    let digits = loadavg.split(|&byte| byte == b' ').nth(3)?.split(|&byte| byte == b'/').next()?;
    digits.iter().try_fold(0, |number: usize, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(digit as usize)
    })
}

/// Nanoseconds of the monotonic clock, which is the same for all processes.
#[inline]
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use crate::watchdog::Watchdog;

    /// Evidence over words of its own.
    fn with_evidence(test: impl FnOnce(Evidence<'_>)) {
        let [until, hold, checked, seen, suspected] = &[0; 5].map(AtomicU64::new);
        test(Evidence { until, hold, checked, seen, suspected });
    }

    const TURN: u64 = 3_000_000;

    #[test]
    fn evidence_holds_longer_each_time_that_it_is_renewed_soon() {
        with_evidence(|evidence| {
            let mut now = 1_000_000_000;
            let mut expected = SHORTEST_HOLD_NS;
            for _ in 0..8 {
                let until = evidence.renew(now - TURN, now, true);
                assert_eq!(until - now, expected);
                assert!(evidence.holds(until - 1) && !evidence.holds(until));
                (now, expected) = (until + TURN + 1, (2 * expected).min(LONGEST_HOLD_NS));
            }
            now += 2 * LONGEST_HOLD_NS;
            assert_eq!(
                evidence.renew(now - TURN, now, true) - now,
                SHORTEST_HOLD_NS,
                "it was quiet"
            );
        });
    }

    #[test]
    fn a_turn_that_began_while_evidence_held_tells_nothing_new() {
        with_evidence(|evidence| {
            let until = evidence.renew(TURN, 2 * TURN, true);
            assert_eq!(evidence.renew(2 * TURN + 1, 3 * TURN, true), until);
        });
    }

    #[test]
    fn a_suspicion_is_evidence_when_it_is_confirmed_in_time() {
        with_evidence(|evidence| {
            let now = 1_000_000_000;
            let suspect = |after: u64| evidence.suspect(now + after - TURN, now + after);
            assert!(!suspect(0) && !suspect(SUSPICION_MIN_NS - 1));
            assert!(suspect(SUSPICION_MIN_NS) && suspect(SUSPICION_MAX_NS));
            assert!(!suspect(SUSPICION_MAX_NS + 1), "it is a new one");
            evidence.suspect_nobody();
            assert!(!suspect(SUSPICION_MAX_NS + 1 + SUSPICION_MIN_NS), "the first was dispelled");
            let until = evidence.renew(now, now + TURN, true);
            assert!(evidence.suspect(until, until + TURN), "soon after evidence");
            let later = until + 2 * SHORTEST_HOLD_NS + SUSPICION_MAX_NS;
            assert!(!evidence.suspect(later, later + TURN));
            // What a program has written there is no evidence.
            evidence.suspected.store(u64::MAX, Ordering::Relaxed);
            assert!(!evidence.suspect(2 * later, 2 * later + TURN));
        });
    }

    #[test]
    fn evidence_is_checked_a_few_times_while_it_holds() {
        with_evidence(|evidence| {
            let until = evidence.renew(TURN, 2 * TURN, true);
            let times = (2 * TURN..until).step_by(10_000);
            let checks = times.filter(|&now| evidence.is_to_be_checked(now)).count() as u64;
            assert!((CHECKS - 1..=CHECKS + 1).contains(&checks), "{checks}");
        });
    }

    #[test]
    fn evidence_of_another_core_is_checked_no_more_often() {
        let segment = SharedSegment::private(2).unwrap();
        let begun = now();
        for at in [begun - SUSPICION_MIN_NS, begun] {
            segment.note_among(1, segment.evidence_on(3), at, TURN, true);
        }
        assert!(segment.evidence_on(3).holds(begun));
        // Of cores unknown there has been no evidence.
        let unknown = segment.evidence_elsewhere();
        let times = (begun..begun + SHORTEST_HOLD_NS).step_by(10_000);
        let checks = times.filter(|&now| unknown.is_to_be_checked(now)).count() as u64;
        assert!(checks <= CHECKS + 1, "{checks}");
    }

    #[test]
    fn what_is_not_certain_holds_for_the_shortest_time() {
        with_evidence(|evidence| {
            let mut now = 1_000_000_000;
            for is_certain in [true, true, false, false, true] {
                let before = evidence.until.load(Ordering::Relaxed);
                let until = evidence.renew(now - TURN, now, is_certain);
                assert!(until > before);
                assert!(is_certain || until - now == SHORTEST_HOLD_NS);
                now = until + TURN + 1;
            }
            assert_eq!(evidence.hold.load(Ordering::Relaxed), 2 * SHORTEST_HOLD_NS);
        });
    }

    #[test]
    fn of_more_cores_than_there_are_foreign_threads_the_oldest_evidence_is_forgotten() {
        let segment = SharedSegment::private(2).unwrap();
        let now = now();
        let found = |core: usize, begun: u64| {
            segment.evidence_on(core).renew(begun - TURN, begun, true);
        };
        found(3, now - 2 * TURN);
        found(1, now - TURN);
        found(2, now);
        let contended = || (0..CORES).filter(|&core| segment.has_foreign_load(core, now + 1));
        segment.forget_all_but(3, now);
        assert_eq!(contended().collect::<Vec<_>>(), [1, 2, 3]);
        segment.forget_all_but(1, now);
        assert_eq!(contended().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn cores_with_foreign_load_are_not_counted_as_free() {
        let segment = SharedSegment::private(2 * host::cores().usable).unwrap();
        let cores = segment.cores();
        assert_eq!(segment.ranks_per_free_core(), 2);
        let later = now() + LONGEST_HOLD_NS;
        segment.anywhere().store(later, Ordering::Relaxed);
        segment.evidence_elsewhere().checked.store(later, Ordering::Relaxed);
        let expected = (2 * cores).div_ceil((cores - 1).max(1));
        assert_eq!(segment.ranks_per_free_core(), expected, "one core, unknown which");
        (0..cores).for_each(|core| segment.let_hold(core));
        assert_eq!(segment.ranks_per_free_core(), 2 * cores, "none is free: not divided by it");
        segment.set_local_ranks(0);
        assert_eq!(segment.ranks_per_free_core(), 1, "a program has overwritten it");
    }

    #[test]
    fn words_that_a_program_has_overwritten_are_no_evidence() {
        with_evidence(|evidence| {
            for word in [evidence.until, evidence.hold, evidence.checked, evidence.seen] {
                word.store(u64::MAX, Ordering::Relaxed);
            }
            assert!(!evidence.holds(TURN));
            let until = evidence.renew(TURN, 2 * TURN, true);
            assert!(until - 2 * TURN <= LONGEST_HOLD_NS && evidence.holds(2 * TURN));
            assert!(!evidence.is_to_be_checked(2 * TURN));
        });
    }

    #[test]
    fn a_long_turn_tells_all_ranks_on_the_core_and_none_elsewhere() {
        let segment = SharedSegment::private(2).unwrap();
        let (ended, core) = (now(), 3);
        assert!(!segment.is_contended());
        segment.note_among(0, segment.evidence_on(core), ended, TURN, true);
        assert!(!segment.evidence_on(core).holds(ended + 1), "it was a rank");
        let ended = ended + SUSPICION_MAX_NS;
        for at in [ended - SUSPICION_MIN_NS, ended] {
            assert!(!segment.evidence_on(core).holds(at), "one look may see a daemon");
            segment.note_among(1, segment.evidence_on(core), at, TURN, true);
        }
        segment.evidence_on(core).checked.store(ended, Ordering::Relaxed);
        segment.evidence_elsewhere().checked.store(ended, Ordering::Relaxed);
        assert!(segment.is_contended_on(core, ended + 1));
        assert!(!segment.is_contended_on(core + 1, ended + 1));
        assert!(segment.is_contended_anywhere(ended + 1));
        assert!(!segment.is_contended_anywhere(ended + LONGEST_HOLD_NS));
        assert!(!segment.is_contended(), "it was over once, so nobody looks at the clock");
    }

    #[test]
    fn ranks_that_run_on_a_core_are_no_foreign_load() {
        let segment = SharedSegment::private(4).unwrap();
        let (core, ended) = (3, now());
        let evidence = segment.evidence_on(core);
        evidence.seen.store(ended - LONG_TURN_NS / 2, Ordering::Relaxed);
        segment.note_turn(Turn { core, ended, taken: 10 * TURN });
        assert!(!evidence.holds(ended + 1));
    }

    #[test]
    fn sleepers_and_runnable_threads_are_counted() {
        let _watchdog = Watchdog::start();
        assert_eq!(runnable_in(b"0.20 0.18 0.12 13/80 11206\n"), Some(13));
        assert_eq!(runnable_in(b"0.20 0.18 0.12"), None);
        assert_eq!(runnable_in(b""), None);
        assert!(runnable_threads().is_none_or(|threads| threads > 0));
        let segment = SharedSegment::private(2).unwrap();
        assert_eq!(segment.sleeping_ranks(), 0);
        std::thread::scope(|scope| {
            let doorbell = segment.doorbell(Peer(1));
            scope.spawn(move || doorbell.park(Duration::from_secs(20), || false));
            while segment.sleeping_ranks() == 0 {
                thread::yield_now();
            }
            while segment.sleeping_ranks() != 0 {
                doorbell.ring();
                thread::yield_now();
            }
        });
    }
}
