//! Core affinity: moves a rank to its home core when ranks crowd on one core while another is free.
//!
//! Ranks begin as far apart as there are cores, and the system may move them. Should it put two on
//! one core while another is free, it leaves them there: each waits for the other by yielding, so
//! that neither looks like work that has to wait for a core, and each message takes a change of
//! context, 50 times as long as it should. So it is with three on one core and one on the other:
//! those three need a change of context more for whatever they do together. The ranks see it,
//! since a yield takes long if another thread ran meanwhile. Then each notes its core where the
//! others can read it, and who finds more ranks on a core than its share, which is not its own
//! core, goes to its own.
//!
//! Own are the cores in turns, by number, among those that are allowed; where the system's cores
//! are threads of fewer real ones, first one of each. So no core is the own one of more ranks than
//! its share. Who is on its own core stays, so this ends: on a core with more than its share there
//! is somebody who is to go. What is noted may be old: then a rank goes to its own core for
//! nothing, which costs some 20 microseconds, and how often is bounded. Only who waits goes
//! anywhere, so no rank that computes loses a core by this. Ranks of one host that share no
//! segment begin apart, but see nothing of each other later.
//!
//! While foreign threads run on some of the cores, ranks may do better to crowd on the others
//! ([`contention`](crate::contention)). Then nobody goes to its own core until that has passed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::contention::now;
use crate::{Peer, SharedSegment, host};

/// After a look around a rank looks away for so many yields that took long.
const YIELDS_BETWEEN_CHECKS: u32 = 32;

/// The place of one rank among those that want the same cores.
#[derive(Debug)]
pub struct CoreAffinity {
    segment: Arc<SharedSegment>,
    me: Peer,
    /// Which of them it is.
    place: usize,
    /// Yields to look away for.
    rest: AtomicU32,
    /// All cores, in the order in which ranks take them.
    cores: &'static [usize],
}

impl CoreAffinity {
    /// The rank `me` is number `place` of [`SharedSegment::local_ranks`]. Each of its threads that
    /// waits may be moved.
    pub fn new(segment: Arc<SharedSegment>, me: Peer, place: usize) -> CoreAffinity {
        CoreAffinity { segment, me, place, rest: AtomicU32::new(0), cores: in_turns() }
    }

    /// Puts this thread on the own core to begin with: left to itself the system may start two
    /// ranks on one.
    ///
    /// A system that refuses is no harm.
    pub fn begin(&self) {
        self.go_to_own_core(None);
    }

    /// To be called after a yield that let another thread run: goes to the own core if there are
    /// too many ranks on this one.
    #[inline]
    pub fn spread(&self) {
        // Threads that count at once lose a count, which does not matter.
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

    /// Goes from a core that a foreign thread shares to one where none is known, if there is one.
    /// Says whether this thread has gone.
    #[cold]
    pub fn leave_contended_core(&self) -> bool {
        let now = now();
        let is_free = |core| !self.segment.has_foreign_load(core, now);
        if !self.cores.iter().any(|&core| is_free(core)) {
            return false; // that is so for as long as it is contended: no call of the system then
        }
        self.allowed().is_some_and(|allowed| self.go_to_one_of(&allowed, None, &is_free))
    }

    /// Goes to the own core, unless it is here.
    fn go_to_own_core(&self, here: Option<usize>) {
        if let Some(allowed) = self.allowed() {
            self.go_to_one_of(&allowed, here, &|_| true);
        }
    }

    /// Goes to the core whose turn it is among those that are allowed and wanted, unless it is
    /// here. Says whether this thread has gone.
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

    /// The cores on which this thread may run. Nothing if they are not as many as there are for the
    /// ranks: then somebody has chosen its core already.
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
            // That it was allowed before, it is again.
            let _ = sched_setaffinity(None, allowed);
        }
        is_there
    }
}

/// All cores on which this process may run, in the order in which ranks take them: those of when
/// this was first asked, since to find it out takes long.
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
