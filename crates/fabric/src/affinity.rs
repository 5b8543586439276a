//! Core affinity: moves a rank to its home core when ranks crowd on one core while another is free.
//!
//! Ranks start on different cores as far as there are enough, and the system may migrate them. If
//! it puts two ranks on one core while another core is free, it leaves them there: each rank waits
//! for the other by yielding, so neither looks like a thread that waits for a core, and each
//! message takes a context switch, 50 times as long as it should. The same holds for three ranks on
//! one core and one on another: the three need one more context switch for everything that they do
//! together. The ranks notice it, since a yield takes long if another thread ran meanwhile. Then
//! each rank records its core where the others can read it. A rank that finds more ranks on a core
//! than its share, and that is not on its home core, migrates to its home core.
//!
//! Home cores are assigned in turns, by number, among the allowed cores; where the cores of the
//! system are hardware threads, first one of each physical core. So no core is the home of more
//! ranks than its share. A rank on its home core stays there, so migration ends: on a core with
//! more ranks than its share at least one rank is not at home. A record may be old: then a rank
//! migrates to its home core without need, which costs some 20 microseconds, and happens a bounded
//! number of times. Only a rank that waits migrates, so no rank that computes loses a core by this.
//! Ranks of one host that share no segment start on different cores, but see nothing of each other
//! later.
//!
//! While foreign threads run on some of the cores, ranks may do better to crowd on the others
//! ([`crate::foreign_load`]). Until that has passed, no rank migrates to its home core.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::foreign_load::now;
use crate::{Peer, SharedSegment, host};

/// Slow yields between two checks of a rank.
const YIELDS_BETWEEN_CHECKS: u32 = 32;

/// The home core of one rank among the ranks that compete for the same cores.
#[derive(Debug)]
pub struct CoreAffinity {
    segment: Arc<SharedSegment>,
    me: Peer,
    /// The number of the rank among them.
    place: usize,
    /// Slow yields until the next check.
    rest: AtomicU32,
    /// All cores, in the order in which they are assigned to ranks.
    cores: &'static [usize],
}

impl CoreAffinity {
    /// The rank `me` is number `place` of [`SharedSegment::local_ranks`]. Each of its threads that
    /// waits may be moved.
    pub fn new(segment: Arc<SharedSegment>, me: Peer, place: usize) -> CoreAffinity {
        CoreAffinity { segment, me, place, rest: AtomicU32::new(0), cores: in_turns() }
    }

    /// Moves this thread to its home core at the start: otherwise the system may start two ranks on
    /// one core.
    ///
    /// If the system refuses, nothing is lost.
    pub fn begin(&self) {
        self.go_to_own_core(None);
    }

    /// Called after a yield that let another thread run: migrates to the home core if too many
    /// ranks are on this core.
    #[inline]
    pub fn spread(&self) {
        // Threads that count at the same time lose a count, which does no harm.
        match self.rest.load(Ordering::Relaxed) {
            0 => self.spread_from_others(),
            rest => self.rest.store(rest - 1, Ordering::Relaxed),
        }
    }

    #[cold]
    fn spread_from_others(&self) {
        let here = sched_getcpu();
        self.rest.store(YIELDS_BETWEEN_CHECKS, Ordering::Relaxed);
        self.segment.note_core(self.me, here);
        let share = self.segment.local_ranks().div_ceil(self.segment.cores());
        if self.segment.ranks_on(here) > share {
            self.go_to_own_core(Some(here));
        }
    }

    /// Migrates from a core with a foreign thread to one without evidence of any, if there is one.
    /// Returns whether this thread has migrated.
    #[cold]
    pub fn leave_contended_core(&self) -> bool {
        let now = now();
        let is_free = |core| !self.segment.has_foreign_load(core, now);
        if !self.cores.iter().any(|&core| is_free(core)) {
            return false; // that is so for as long as it is contended: no call of the system then
        }
        self.allowed().is_some_and(|allowed| self.go_to_one_of(&allowed, None, &is_free))
    }

    /// Migrates to the home core, unless this thread is `here`, on that core.
    fn go_to_own_core(&self, here: Option<usize>) {
        if let Some(allowed) = self.allowed() {
            self.go_to_one_of(&allowed, here, &|_| true);
        }
    }

    /// Migrates to the core that is next in turn among those that are allowed and wanted, unless
    /// that is `here`. Returns whether this thread has migrated.
    #[cold]
    #[inline(never)]
    fn go_to_one_of(
        &self,
        allowed: &CpuSet,
        here: Option<usize>,
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> bool {
        let wanted = |&core: &usize| allowed.is_set(core) && is_wanted(core);
        let cores = || self.cores.iter().copied().filter(wanted);
        let core = cores().nth(self.place % cores().count().max(1));
        core.is_some_and(|core| Some(core) != here && self.go(core, allowed))
    }

    /// The cores on which this thread may run. `None` if they are fewer than the ranks need: then
    /// the user or another program has chosen the cores of this thread already.
    fn allowed(&self) -> Option<CpuSet> {
        let allowed = sched_getaffinity(None).ok()?;
        let (many, cores) = (self.segment.local_ranks(), allowed.count() as usize);
        (many >= 2 && cores >= many.min(self.segment.cores())).then_some(allowed)
    }

    fn go(&self, core: usize, allowed: &CpuSet) -> bool {
        let mut only = CpuSet::new();
        only.set(core);
        let is_there = sched_setaffinity(None, &only).is_ok();
        if is_there {
            self.segment.note_core(self.me, core);
            // It was allowed before, so it is allowed again.
            let _ = sched_setaffinity(None, allowed);
        }
        is_there
    }
}

/// All cores on which this process may run, in the order in which they are assigned to ranks.
/// Determined at the first call only, since that takes long.
fn in_turns() -> &'static [usize] {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    CORES.get_or_init(|| {
        let allowed = sched_getaffinity(None).unwrap_or_default();
        host::in_turns(&cores_of(&allowed).collect::<Vec<_>>())
    })
}

fn cores_of(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(segment: &Arc<SharedSegment>, me: usize) -> CoreAffinity {
        CoreAffinity::new(Arc::clone(segment), Peer(me as u32), me)
    }

    #[test]
    fn each_begins_on_a_core_of_its_own() {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let allowed = sched_getaffinity(None).unwrap();
        if allowed.count() < 2 {
            eprintln!("not tested: there is one core only");
            return;
        }
        let places: Vec<_> = [0, 1].map(|me| on(&segment, me)).into();
        let cores = places.iter().map(|place| {
            place.begin();
            sched_getcpu()
        });
        let cores: Vec<_> = cores.collect();
        assert_ne!(cores[0], cores[1]);
        assert_eq!(sched_getaffinity(None).unwrap(), allowed, "and may run on all as before");
    }

    #[test]
    fn who_is_on_the_core_of_another_goes_to_its_own_once() {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let allowed = sched_getaffinity(None).unwrap();
        if allowed.count() < 2 {
            eprintln!("not tested: there is one core only");
            return;
        }
        let (first, second) = (on(&segment, 0), on(&segment, 1));
        first.begin();
        let shared = sched_getcpu();
        first.spread();
        assert_eq!(sched_getcpu(), shared, "nobody else is known to be here, and it is its own");
        segment.note_core(Peer(0), shared);
        second.spread();
        let own = sched_getcpu();
        assert_ne!(own, shared);
        assert_eq!(sched_getaffinity(None).unwrap(), allowed, "and may run on all as before");
        first.begin();
        second.spread();
        assert_eq!(sched_getcpu(), shared, "it has just gone");
        second.rest.store(0, Ordering::Relaxed);
        second.spread();
        assert_eq!(sched_getcpu(), own);
    }

    #[test]
    fn more_ranks_than_cores_share_them_evenly() {
        let allowed = sched_getaffinity(None).unwrap();
        let cores = allowed.count() as usize;
        let segment = Arc::new(SharedSegment::private(2 * cores).unwrap());
        let ranks: Vec<_> = (0..2 * cores).map(|rank| on(&segment, rank)).collect();
        ranks[0].begin();
        let shared = sched_getcpu();
        for rank in 0..2 * cores {
            segment.note_core(Peer(rank as u32), shared);
        }
        for rank in &ranks {
            ranks[0].begin(); // all are this one thread, which the last one may have moved
            rank.spread();
        }
        for core in (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)) {
            assert_eq!(segment.ranks_on(core), 2, "core {core}");
        }
        assert_eq!(sched_getaffinity(None).unwrap(), allowed, "and may run on all as before");
    }

    #[test]
    fn who_leaves_a_contended_core_goes_to_one_without_foreign_load() {
        let allowed = sched_getaffinity(None).unwrap();
        let cores = allowed.count() as usize;
        let segment = Arc::new(SharedSegment::private(2 * cores).unwrap());
        for me in 0..2 * cores {
            let rank = on(&segment, me);
            let here = rank.cores[0];
            segment.let_hold(here);
            assert_eq!(rank.leave_contended_core(), cores > 1, "rank {me}");
            if cores > 1 {
                assert_eq!(segment.ranks_on(here), 0, "rank {me}");
                assert_eq!(
                    sched_getaffinity(None).unwrap(),
                    allowed,
                    "and may run on all as before"
                );
            }
        }
        cores_of(&allowed).for_each(|core| segment.let_hold(core));
        assert!(!on(&segment, 0).leave_contended_core(), "there is none");
    }

    #[test]
    fn whose_core_was_chosen_stays() {
        let allowed = sched_getaffinity(None).unwrap();
        let ranks = 2 * allowed.count() as usize;
        let segment = Arc::new(SharedSegment::private(ranks).unwrap());
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        sched_setaffinity(None, &one).unwrap();
        for rank in 0..ranks {
            segment.note_core(Peer(rank as u32), sched_getcpu());
            on(&segment, rank).spread();
        }
        assert_eq!(sched_getaffinity(None).unwrap(), one);
    }
}
