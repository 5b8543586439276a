//! A waiting rank spins, then yields its core between polls, then parks at its doorbell.

use std::time::{Duration, Instant};

use motet_fabric::Failure;
use motet_fabric::foreign_load::now;
use motet_fabric::slab::Id;

use super::granularity::{FINE_NS, Granularity};
use super::polling::Polls;
use super::{RankContext, Shared};
use crate::engine::Engine;

/// A rank that has spun this long yields between polls: the rank that it waits for may be on the
/// same core, even if there are enough cores.
const SPIN_BEFORE_YIELD: Duration = Duration::from_micros(3);
/// Where each rank has a core, a waiting rank polls this long before it parks. A thread that wants
/// the core gets it meanwhile, because the rank yields between polls. Parking costs all ranks
/// something: its fence interrupts each of them, and a peer must ring the doorbell. And on virtual
/// machines an idle core may be away for milliseconds, because the host gives it to another guest.
/// A rank woken so late keeps others waiting: if they polled for less than that, they would park,
/// too, and be late in turn, all of them for as long as the program runs.
const SPIN_MAX: Duration = Duration::from_millis(10);
/// A wait that has taken this many nanoseconds without a message may be for a rank that a foreign
/// thread keeps from its core.
const LONG_WAIT_NS: u64 = 500_000;
/// While foreign threads run on cores of this world, a rank with a core of its own polls this long
/// before it parks, and does not yield: a yield would give its core to a foreign thread for a whole
/// time slice, and while it polls it uses up its own share of the core.
const CONTENDED_SPIN: Duration = Duration::from_micros(2);
/// While foreign threads run on cores of other ranks, a rank that shares its core stays awake this
/// long at most. Its core is idle then, so that the scheduler can run here the rank that it waits
/// for.
const CONTENDED_AWAKE_MAX: Duration = Duration::from_micros(100);
/// Where ranks share cores, a waiting rank yields this long before it parks: longer than a time
/// slice of another thread, so that it does not park only because the awaited rank has not run yet.
/// Yielding takes little from the ranks on the same core, and a wake-up takes long: the core may
/// sleep, too, or run another rank for a whole time slice.
const OVERSUBSCRIBED_AWAKE_MIN: Duration = Duration::from_millis(10);
/// Where foreign threads run, ranks of several scheduling groups that crowd on cores with more than
/// so many ranks each are slower than if they park.
const RANKS_PER_FREE_CORE_MAX: usize = 4;
/// A parked rank wakes up at least this often; if all goes well, it finds nothing.
pub(super) const PARK_MAX: Duration = Duration::from_secs(1);
/// A parked rank with peers on other hosts wakes up after such times, the sooner the less it has
/// waited: the network rings no doorbell.
const REMOTE_PARK_MIN: Duration = Duration::from_micros(50);
const REMOTE_PARK_MAX: Duration = Duration::from_millis(1);
/// Like [`OVERSUBSCRIBED_AWAKE_MIN`] for a rank that waits for ranks on other hosts, which polls
/// all the time and yields between polls. If one of them parks, the others wait for it, too, and
/// park in turn.
const REMOTE_OVERSUBSCRIBED_SPIN: Duration = OVERSUBSCRIBED_AWAKE_MIN;
/// How often a rank that does not park checks for operations that can never complete.
const THOROUGH_PERIOD: Duration = Duration::from_millis(1);

/// How ranks wait for each other: see [`Settings::waiting`](crate::Settings::waiting).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// A rank spins for a moment, yields its core a few times, then parks until it is woken. The
    /// library chooses how long by the number of ranks and cores, and by what it measures.
    #[default]
    Auto,
    /// A rank spins all the time, and yields its core only if there are more ranks than cores. Best
    /// where each rank has a core that no other thread wants.
    Spin,
    /// A rank yields its core between polls and never parks.
    Yield,
    /// A rank parks at once if it finds nothing.
    Sleep,
}

/// Takes what a wait is for, and returns whether it was there. Not generic, so that all kinds of
/// wait share their code.
type Ready<'a> = dyn FnMut(&mut Engine) -> bool + 'a;

/// How long to spin and to yield before parking.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitPolicy {
    /// Polls of the one message that a short operation waits for, before any poll of the engine.
    pub(super) max_polls: u32,
    /// Polls of the engine between two readings of the clock.
    burst: u32,
    spin: Duration,
    /// How long to spin without yielding.
    spin_before_yield: Duration,
    /// The least number of yields before parking, if any.
    yields: u32,
    /// The least time of yielding before parking, if any.
    awake: Duration,
    /// Yields after which the rank polls only the awaited operation. A rank that shares a core
    /// often polls too early, and messages for later that it takes in meanwhile are copied once
    /// more.
    pub(super) turns: u32,
    parks: bool,
    /// Whether there are more ranks than cores.
    pub(super) shares_cores: bool,
    /// Whether it parks rather than yield its core to foreign threads.
    pub(super) parks_when_contended: bool,
    /// Whether ranks share cores that the scheduler shares out between groups of them: then a yield
    /// does not lead from rank to rank.
    spans_groups: bool,
}

/// What the library has measured of a rank between its waits and in its polls.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    pub(super) granularity: Granularity,
    pub(super) polls: Polls,
}

impl WaitPolicy {
    /// With a core for each rank, spin for longer than a message takes; else yield the core to a
    /// thread that has work.
    pub(super) fn with(waiting: Waiting, ranks: usize, cores: usize) -> WaitPolicy {
        let spinning = WaitPolicy {
            max_polls: 200,
            burst: 32,
            spin: SPIN_MAX,
            spin_before_yield: SPIN_BEFORE_YIELD,
            yields: 4,
            awake: Duration::ZERO,
            turns: 0,
            parks: true,
            shares_cores: ranks > cores,
            parks_when_contended: false,
            spans_groups: false,
        };
        let sharing = WaitPolicy {
            max_polls: 2,
            burst: 1,
            spin: Duration::ZERO,
            yields: 32,
            awake: OVERSUBSCRIBED_AWAKE_MIN,
            turns: 16,
            parks_when_contended: true,
            ..spinning
        };
        match waiting {
            Waiting::Auto if ranks <= cores => {
                WaitPolicy { parks_when_contended: true, ..spinning }
            }
            Waiting::Auto => sharing,
            Waiting::Spin => {
                let spin_before_yield =
                    if ranks <= cores { THOROUGH_PERIOD } else { SPIN_BEFORE_YIELD };
                WaitPolicy {
                    spin: THOROUGH_PERIOD,
                    spin_before_yield,
                    yields: 0,
                    parks: false,
                    ..spinning
                }
            }
            Waiting::Yield => {
                let policy = WaitPolicy { yields: 100, awake: Duration::ZERO, ..sharing };
                WaitPolicy { parks: false, parks_when_contended: false, ..policy }
            }
            Waiting::Sleep => WaitPolicy { yields: 0, turns: 0, ..sharing },
        }
    }

    /// The policy for ranks of one scheduling group, or of several.
    pub(super) fn in_groups(self, spans_groups: bool) -> WaitPolicy {
        WaitPolicy { spans_groups: spans_groups && self.shares_cores, ..self }
    }

    /// The policy for a rank that may wait for ranks on other hosts: each poll costs a system call,
    /// and parking is a matter of time only.
    pub(super) fn with_remote(self) -> WaitPolicy {
        if self.spin.is_zero() && self.yields == 0 {
            return self; // it is to park at once
        }
        let (max_polls, burst, awake) = (self.max_polls.min(32), self.burst.min(4), Duration::ZERO);
        let (spin_before_yield, spin) = if self.spin.is_zero() {
            (Duration::ZERO, REMOTE_OVERSUBSCRIBED_SPIN)
        } else {
            (self.spin_before_yield, self.spin)
        };
        // With a core for each rank it polls beside foreign threads as without them.
        let parks_when_contended = self.parks_when_contended && self.shares_cores;
        let turns = 0;
        WaitPolicy {
            max_polls,
            burst,
            spin_before_yield,
            turns,
            spin,
            awake,
            parks_when_contended,
            ..self
        }
    }
}

impl RankContext {
    /// Advances the engine until `ready` returns a result.
    ///
    /// # Errors
    /// The failure of the world. The awaited operation is still pending then; abandon it.
    pub(crate) fn wait_until<T>(
        &self,
        mut ready: impl FnMut(&mut Engine) -> Option<T>,
    ) -> Result<T, Failure> {
        // Success goes before failure.
        self.wait_with(&[], |engine| ready(engine).map(Ok).or_else(|| engine.failure().map(Err)))
    }

    /// Advances the engine until `ready` returns the result of some of these operations. A death
    /// ends those that it concerns; then `ready` must find them ended. If the wait takes too long,
    /// a report names the operations.
    pub(crate) fn wait_for<T>(
        &self,
        ids: &[Id],
        mut ready: impl FnMut(&mut Engine) -> Option<T>,
    ) -> T {
        self.wait_with(ids, |engine| {
            ready(engine).or_else(|| engine.failure().and_then(|_| ready(engine)))
        })
    }

    fn wait_with<T>(&self, ids: &[Id], mut ready: impl FnMut(&mut Engine) -> Option<T>) -> T {
        let _here = self.shared.stay();
        let mut result = None;
        let mut is_ready = |engine: &mut Engine| {
            result = ready(engine);
            result.is_some()
        };
        if !self.shared.poll_for(self.shared.policy.burst, &mut is_ready) {
            self.wait_on(ids, &mut is_ready);
        }
        result.expect("waited for")
    }

    /// Continues a wait after the first polls.
    #[inline(never)]
    fn wait_on(&self, ids: &[Id], ready: &mut Ready<'_>) {
        let shared = &self.shared;
        let (begun, mut reported) = (Instant::now(), Duration::ZERO);
        let hang = self.watch.hang;
        let limit = hang.map_or(PARK_MAX, |hang| hang.min(PARK_MAX));
        let mut has_moved = true;
        loop {
            let policy = shared.policy_now();
            if has_moved && shared.spin_and_yield(policy, ready) {
                break;
            }
            let moves = self.engine().moves();
            let limit = if shared.has_remote {
                limit.min(remote_park_time(begun.elapsed()))
            } else {
                limit
            };
            if shared.park_or_poll(policy, limit, ready) {
                break;
            }
            // After a spurious wake-up, park again without spinning. Worlds with remote peers poll
            // instead: the network rings no doorbell.
            let parks = policy.parks && !shared.has_remote;
            has_moved = !parks || self.engine().moves() != moves;
            let waited = begun.elapsed();
            if hang.is_some_and(|hang| waited >= reported + hang) {
                reported = waited;
                self.engine().report_wait(ids, waited);
            }
        }
        shared.note_end_of_wait();
    }
}

impl Shared {
    /// The wait policy at the present contention.
    #[inline(never)]
    fn policy_now(&self) -> WaitPolicy {
        let policy = self.policy;
        if !self.may_have_to_park() {
            return policy;
        }
        match (self.is_to_park(), self.has_remote) {
            (true, false) => {
                let spin = if policy.shares_cores { Duration::ZERO } else { CONTENDED_SPIN };
                let spin = spin.min(policy.spin);
                WaitPolicy { spin, spin_before_yield: Duration::MAX, yields: 0, ..policy }
            }
            (false, false) if self.segment.is_contended() => {
                WaitPolicy { awake: policy.awake.min(CONTENDED_AWAKE_MAX), ..policy }
            }
            // No doorbell would ring for a remote message: yield after each poll.
            (true, true) => WaitPolicy { burst: 1, spin_before_yield: Duration::ZERO, ..policy },
            (false, _) => policy,
        }
    }

    /// Whether this rank waits among foreign threads or ranks of other scheduling groups, so that a
    /// yield may give its core to a thread that computes.
    fn may_have_to_park(&self) -> bool {
        let WaitPolicy { parks_when_contended, spans_groups, .. } = self.policy;
        parks_when_contended && (spans_groups || self.segment.is_contended())
    }

    /// Whether parking is faster than yielding. It is for a rank that computes for long between its
    /// waits, and on a core where a foreign thread would run for a whole time slice after a yield.
    /// A rank that shares its core and computes little moves to a core without foreign load, if
    /// there is one. A rank with a core of its own stays there: on the other cores are ranks that
    /// want to run at the same time.
    #[inline(never)] // each kind of wait has a copy of what calls it
    pub(super) fn is_to_park(&self) -> bool {
        if !self.may_have_to_park() {
            return false;
        }
        if !self.policy.shares_cores {
            return true;
        }
        self.behaviour.granularity.wait_begins(now());
        !self.behaviour.granularity.is_below(self.fine_ns())
            || (self.segment.is_contended_here() && !self.affinity.leave_contended_core())
    }

    /// A rank that computes for less than this many nanoseconds between two waits is faster if it
    /// yields. The scheduler does not follow a yield from one of its groups to another: there a
    /// rank may have to wait until all others of its core have computed.
    fn fine_ns(&self) -> u64 {
        if !self.policy.spans_groups {
            return FINE_NS;
        }
        let ranks = self.segment.ranks_per_free_core();
        let is_crowd = ranks > RANKS_PER_FREE_CORE_MAX && self.segment.is_contended();
        if is_crowd { 0 } else { FINE_NS / ranks as u64 }
    }

    /// Called at the end of a wait that took longer than the first polls.
    #[inline(never)]
    fn note_end_of_wait(&self) {
        if self.may_have_to_park() {
            self.behaviour.granularity.wait_ends(now());
        }
    }

    /// Yields the core. Returns when this thread got it back, by the monotonic clock.
    pub(super) fn yield_core(&self) -> u64 {
        let turn = self.segment.yield_core();
        if turn.is_of_another() && !self.segment.is_contended() {
            self.affinity.spread();
        }
        turn.ended
    }

    /// Yields some times, and polls in between for the end of one operation, and for little else.
    /// `own` is 1 if this operation is among the active ones, 0 if it is none yet.
    pub(super) fn yield_and_poll<T>(
        &self,
        own: usize,
        mut ended: impl FnMut(&mut Engine, u32) -> Option<T>,
    ) -> Option<T> {
        for turn in 1..=self.policy.turns {
            if self.is_to_park() {
                return None;
            }
            self.yield_core();
            let mut engine = self.engine();
            let ended = ended(&mut engine, self.policy.max_polls);
            if ended.is_some() {
                self.note_end_of_wait();
                return ended;
            }
            engine.progress_others_every(turn, own);
        }
        None
    }

    /// Polls as long as that is better than parking.
    fn spin_and_yield(&self, policy: WaitPolicy, ready: &mut Ready<'_>) -> bool {
        (!policy.spin.is_zero() && self.spin(policy, ready))
            || (policy.yields > 0 && self.poll_between_yields(policy, ready))
    }

    /// Yields as often and as long as the policy says, and polls in between.
    fn poll_between_yields(&self, policy: WaitPolicy, ready: &mut Ready<'_>) -> bool {
        let (begun, awake) = (now(), policy.awake.as_nanos() as u64);
        let (mut yields, mut waited, mut ended) = (0, 0, false);
        while !ended && (yields < policy.yields || waited < awake) {
            (yields, waited) = (yields + 1, self.yield_core().saturating_sub(begun));
            ended = self.poll_for(1, ready);
            if policy.parks_when_contended && self.is_to_park_now(waited) {
                break;
            }
        }
        ended
    }

    /// Whether a rank that has waited for so many nanoseconds does better to park than to yield
    /// again.
    #[inline(never)]
    fn is_to_park_now(&self, waited: u64) -> bool {
        if waited >= LONG_WAIT_NS {
            self.segment.note_long_wait(waited);
        }
        let is_long = waited >= CONTENDED_AWAKE_MAX.as_nanos() as u64;
        self.is_to_park() || (is_long && self.segment.is_contended())
    }

    /// Polls until nothing has moved for the spin time of the policy.
    fn spin(&self, policy: WaitPolicy, ready: &mut Ready<'_>) -> bool {
        let WaitPolicy { burst, spin, spin_before_yield, .. } = policy;
        let (mut flow, mut ended) = (ProgressMeter::new(&self.engine()), false);
        let mut begun = Instant::now();
        while !ended && begun.elapsed() < spin {
            if begun.elapsed() >= spin_before_yield {
                self.yield_core();
            }
            ended = self.poll_for(burst, ready);
            if let Some(moved) = flow.poll(&mut self.engine()) {
                begun = moved;
            }
        }
        ended
    }

    /// Parks, or only does the checks that precede parking. Returns when something has moved, or
    /// after `limit`.
    fn park_or_poll(&self, policy: WaitPolicy, limit: Duration, ready: &mut Ready<'_>) -> bool {
        let mut ended = false;
        let poll = |engine: &mut Engine| {
            let moved = engine.progress_before_parking();
            ended = ready(engine);
            moved || ended
        };
        if policy.parks {
            self.park(limit, poll);
        } else {
            let mut poll = poll;
            poll(&mut self.engine());
        }
        ended || self.poll_for(1, ready)
    }

    /// Advances the engine and calls `ready`, up to `times` times.
    #[inline]
    fn poll_for(&self, times: u32, ready: &mut (impl FnMut(&mut Engine) -> bool + ?Sized)) -> bool {
        let mut engine = self.engine();
        for _ in 0..times {
            engine.progress();
            if ready(&mut engine) {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Parks until the doorbell rings or the limit passes, unless `poll` finds something first; see
    /// the documentation of [`crate::rank`].
    pub(super) fn park(&self, limit: Duration, poll: impl FnOnce(&mut Engine) -> bool) {
        self.engine().sleepers += 1;
        let limit = if self.has_remote { limit.min(REMOTE_PARK_MAX) } else { limit };
        let doorbell = self.segment.doorbell(self.me);
        doorbell.park(limit, || poll(&mut self.engine()));
        self.segment.note_rank_here();
        self.engine().sleepers -= 1;
    }
}

/// Watches whether the engine moves something while a rank waits. A large message takes long, over
/// a network or in pieces, but moves step by step, and meanwhile its receiver does not park.
struct ProgressMeter {
    moves: u64,
    thorough: Instant,
}

impl ProgressMeter {
    fn new(engine: &Engine) -> ProgressMeter {
        ProgressMeter { moves: engine.moves(), thorough: Instant::now() }
    }

    /// Returns the present time if something has moved since the last poll. What moves may belong
    /// to other operations, so now and then the awaited peers are checked for life.
    fn poll(&mut self, engine: &mut Engine) -> Option<Instant> {
        let before = std::mem::replace(&mut self.moves, engine.moves());
        if before == self.moves {
            return None;
        }
        let now = Instant::now();
        if now - self.thorough >= THOROUGH_PERIOD {
            self.thorough = now;
            engine.progress_thoroughly();
        }
        Some(now)
    }
}

/// How long to park after waiting for so long, where no doorbell rings.
fn remote_park_time(waited: Duration) -> Duration {
    (waited / 8).clamp(REMOTE_PARK_MIN, REMOTE_PARK_MAX)
}
