//! How a rank waits: it looks, gives way, and sleeps.

use std::time::{Duration, Instant};

use motet_fabric::Failure;
use motet_fabric::contention::now;
use motet_fabric::slab::Id;

use super::granularity::{FINE_NS, Granularity};
use super::polling::Polls;
use super::{RankContext, Shared};
use crate::engine::Engine;

/// Who has waited for so long gives way between two looks: whoever is waited for may be on the
/// same core, even if there are cores enough.
const SPIN_BEFORE_YIELD: Duration = Duration::from_micros(3);
/// Where each rank has a core, it looks for so long before it sleeps. Whoever wants that core has
/// it meanwhile, since it is given away between looks. To sleep costs all ranks something, each of
/// which is interrupted for its fence, and whoever rings. And a core that sleeps may be away for
/// milliseconds where machines are virtual, since their host gives it to somebody else. Who is
/// woken so late keeps others waiting: did they look for less than that, they would sleep, too, and
/// be late in turn, all of them for as long as the program runs.
const SPIN_MAX: Duration = Duration::from_millis(10);
/// A wait that has taken so long without news may be for a rank that a foreign thread keeps from
/// its core.
const LONG_WAIT_NS: u64 = 500_000;
/// While foreign threads run on cores of other ranks, a rank stays awake for so long at most. Its
/// core is idle then, so that the system lets the rank that it waits for run here.
const CONTENDED_AWAKE_MAX: Duration = Duration::from_micros(100);
/// Where ranks share cores, who waits gives way for so long before it sleeps: for longer than a
/// turn of another thread, or it would sleep because whoever it waits for has not had a turn. To
/// give way takes little from those on the same core, and to be woken takes long: the core may
/// sleep, too, or be another rank's for a whole turn.
const OVERSUBSCRIBED_AWAKE_MIN: Duration = Duration::from_millis(10);
/// Where foreign threads run, ranks of several scheduling groups are slower if they crowd on cores
/// with more than so many ranks each than if they sleep.
const RANKS_PER_FREE_CORE_MAX: usize = 4;
/// A sleeper looks up at least this often: for nothing, if all goes well.
pub(super) const SLEEP_MAX: Duration = Duration::from_secs(1);
/// A sleeper with peers on other hosts looks up after such times, the sooner the less it has
/// waited: the network rings no doorbell.
const REMOTE_SLEEP_MIN: Duration = Duration::from_micros(50);
const REMOTE_SLEEP_MAX: Duration = Duration::from_millis(1);
/// The same for who waits for ranks on other hosts, who looks all the time and gives way between
/// two looks. Once one of them sleeps the others wait for that, too, and sleep in turn.
const REMOTE_OVERSUBSCRIBED_SPIN: Duration = OVERSUBSCRIBED_AWAKE_MIN;
/// Who does not sleep looks thoroughly so often.
const THOROUGH_PERIOD: Duration = Duration::from_millis(1);

/// How ranks wait for each other: see [`Settings::waiting`](crate::Settings::waiting).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// A rank looks for a moment, gives its core away a few times, then sleeps until it is woken.
    /// How long, the library chooses by the number of ranks and cores, and by what it meets.
    #[default]
    Auto,
    /// It looks all the time, and gives its core away only if there are more ranks than cores. Best
    /// where each rank has a core that nobody else wants.
    Spin,
    /// It gives its core away between looks, and never sleeps.
    Yield,
    /// It sleeps at once if there is nothing.
    Sleep,
}

/// What is waited for, if it is there.
type Ready<'a, T> = dyn FnMut(&mut Engine) -> Option<T> + 'a;

/// How long to look before sleeping.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitPolicy {
    /// Looks at the one thing that a short operation waits for, before any at the engine.
    pub(super) looks: u32,
    /// Looks at the engine between two looks at the clock.
    burst: u32,
    spin: Duration,
    /// How long to look without giving way.
    impolite: Duration,
    /// So often to give way at least before sleeping, if at all.
    yields: u32,
    /// For so long to give way at least, if at all.
    awake: Duration,
    /// Times to give way with looks at the one operation only that is waited for. Who shares a core
    /// is often too early, and what it takes in meanwhile of what others send for later is copied
    /// once more.
    pub(super) turns: u32,
    sleeps: bool,
    /// Whether there are more ranks than cores.
    pub(super) shares_cores: bool,
    /// Whether it sleeps rather than to give its core to foreign threads. Not where each rank has a
    /// core: who runs there besides gets its fair share in any case, and while it has that no
    /// wake-up brings the rank back sooner.
    minds_others: bool,
    /// Whether the scheduler shares out the cores between groups of the ranks: then a yield does
    /// not lead it from rank to rank.
    spans_groups: bool,
}

/// What a rank has been seen to do between its waits and in its polls.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    pub(super) granularity: Granularity,
    pub(super) polls: Polls,
}

impl WaitPolicy {
    /// With a core for each rank, spin for longer than a message takes; else give the core to
    /// somebody who has work.
    pub(super) fn with(waiting: Waiting, ranks: usize, cores: usize) -> WaitPolicy {
        let spinning = WaitPolicy {
            looks: 200,
            burst: 32,
            spin: SPIN_MAX,
            impolite: SPIN_BEFORE_YIELD,
            yields: 4,
            awake: Duration::ZERO,
            turns: 0,
            sleeps: true,
            shares_cores: ranks > cores,
            minds_others: false,
            spans_groups: false,
        };
        let sharing = WaitPolicy {
            looks: 2,
            burst: 1,
            spin: Duration::ZERO,
            yields: 32,
            awake: OVERSUBSCRIBED_AWAKE_MIN,
            turns: 16,
            minds_others: true,
            ..spinning
        };
        match waiting {
            Waiting::Auto if ranks <= cores => spinning,
            Waiting::Auto => sharing,
            Waiting::Spin => {
                let impolite = if ranks <= cores { THOROUGH_PERIOD } else { SPIN_BEFORE_YIELD };
                WaitPolicy { spin: THOROUGH_PERIOD, impolite, yields: 0, sleeps: false, ..spinning }
            }
            Waiting::Yield => {
                let patience = WaitPolicy { yields: 100, awake: Duration::ZERO, ..sharing };
                WaitPolicy { sleeps: false, minds_others: false, ..patience }
            }
            Waiting::Sleep => WaitPolicy { yields: 0, turns: 0, ..sharing },
        }
    }

    /// The same for ranks of one scheduling group, or of several.
    pub(super) fn in_groups(self, spans_groups: bool) -> WaitPolicy {
        WaitPolicy { spans_groups, ..self }
    }

    /// The same for who may wait for ranks on other hosts: each look costs a call of the system,
    /// and sleeping is a matter of time only.
    pub(super) fn wired(self) -> WaitPolicy {
        if self.spin.is_zero() && self.yields == 0 {
            return self; // it is to sleep at once
        }
        let (looks, burst, awake) = (self.looks.min(32), self.burst.min(4), Duration::ZERO);
        let (impolite, spin) = if self.spin.is_zero() {
            (Duration::ZERO, REMOTE_OVERSUBSCRIBED_SPIN)
        } else {
            (self.impolite, self.spin)
        };
        WaitPolicy { looks, burst, impolite, turns: 0, spin, awake, ..self }
    }
}

impl RankContext {
    /// Moves the engine until `ready` finds what it looks for.
    ///
    /// # Errors
    /// That the world has failed. What was waited for is still under way then; abandon it.
    pub(crate) fn wait_until<T>(
        &self,
        mut ready: impl FnMut(&mut Engine) -> Option<T>,
    ) -> Result<T, Failure> {
        // Success goes before failure.
        self.wait_with(&[], |engine| ready(engine).map(Ok).or_else(|| engine.failure().map(Err)))
    }

    /// Moves the engine until `ready` finds what it looks for among operations. A death ends those
    /// that it concerns; then `ready` is to find that. They are named, to be reported if that takes
    /// too long.
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
        let ended = self.shared.poll_for(self.shared.patience.burst, &mut ready);
        ended.unwrap_or_else(|| self.wait_on(ids, &mut ready))
    }

    /// Goes on waiting after the first look: not copied for each kind of wait.
    #[inline(never)]
    fn wait_on<T>(&self, ids: &[Id], ready: &mut Ready<'_, T>) -> T {
        let shared = &self.shared;
        let (begun, mut reported) = (Instant::now(), Duration::ZERO);
        let hang = self.watch.hang;
        let limit = hang.map_or(SLEEP_MAX, |hang| hang.min(SLEEP_MAX));
        let mut is_news = true;
        let ended = loop {
            let patience = shared.patience_now();
            if is_news && let Some(ended) = shared.spin_and_yield(patience, ready) {
                break ended;
            }
            let moves = self.engine().moves();
            let limit = if shared.is_wired { limit.min(nap_time(begun.elapsed())) } else { limit };
            if let Some(ended) = shared.park_or_poll(patience, limit, ready) {
                break ended;
            }
            // Who has slept for nothing sleeps on. The network wakes nobody.
            let sleeps = patience.sleeps && !shared.is_wired;
            is_news = !sleeps || self.engine().moves() != moves;
            let waited = begun.elapsed();
            if hang.is_some_and(|hang| waited >= reported + hang) {
                reported = waited;
                self.engine().report_wait(ids, waited);
            }
        };
        shared.note_end_of_wait();
        ended
    }
}

impl Shared {
    /// How long to look before sleeping, as things are.
    #[inline(never)]
    fn patience_now(&self) -> WaitPolicy {
        let patience = self.patience;
        if !self.may_have_to_sleep() {
            return patience;
        }
        match (self.is_to_sleep(), self.is_wired) {
            (true, false) => WaitPolicy { spin: Duration::ZERO, yields: 0, ..patience },
            (false, false) if self.segment.is_contended() => {
                WaitPolicy { awake: patience.awake.min(CONTENDED_AWAKE_MAX), ..patience }
            }
            // Nothing would wake a sleeper when its message comes: it gives way at each look.
            (true, true) => WaitPolicy { burst: 1, impolite: Duration::ZERO, ..patience },
            (false, _) => patience,
        }
    }

    /// Whether this rank waits among foreign threads or ranks of other scheduling groups, so that a
    /// yield may give its core to a thread that computes.
    fn may_have_to_sleep(&self) -> bool {
        let WaitPolicy { minds_others, spans_groups, .. } = self.patience;
        minds_others && (spans_groups || self.segment.is_contended())
    }

    /// Whether sleeping is faster than yielding. It is for a rank that computes for long between
    /// its waits, and on a core on which a foreign thread would run for a whole turn after a
    /// yield. A rank that computes little goes to a core without foreign load, if there is one.
    #[inline(never)] // each kind of wait has a copy of what calls it
    pub(super) fn is_to_sleep(&self) -> bool {
        if !self.may_have_to_sleep() {
            return false;
        }
        self.behaviour.granularity.wait_begins(now());
        !self.behaviour.granularity.is_below(self.fine_ns())
            || (self.segment.is_contended_here() && !self.placement.leave_contended_core())
    }

    /// A rank that computes for less than this between two waits, in nanoseconds, is faster if it
    /// yields. The scheduler does not follow a yield from one of its groups to the other: there a
    /// rank may have to wait until all others of its core have computed.
    fn fine_ns(&self) -> u64 {
        if !self.patience.spans_groups {
            return FINE_NS;
        }
        let ranks = self.segment.ranks_per_free_core();
        let is_crowd = ranks > RANKS_PER_FREE_CORE_MAX && self.segment.is_contended();
        if is_crowd { 0 } else { FINE_NS / ranks as u64 }
    }

    /// To be called when a wait has ended that took longer than a look.
    #[inline(never)]
    fn note_end_of_wait(&self) {
        if self.may_have_to_sleep() {
            self.behaviour.granularity.wait_ends(now());
        }
    }

    /// Lets others have the core. Says when it had it back, by the monotonic clock.
    pub(super) fn yield_core(&self) -> u64 {
        let turn = self.segment.give_way();
        if turn.is_of_another() && !self.segment.is_contended() {
            self.placement.spread();
        }
        turn.ended
    }

    /// Gives way some times, and looks in between for the end of one operation, and for little
    /// else. The operation is among so many that are under way: it may be none yet.
    pub(super) fn yield_and_poll<T>(
        &self,
        own: usize,
        mut ended: impl FnMut(&mut Engine, u32) -> Option<T>,
    ) -> Option<T> {
        for turn in 1..=self.patience.turns {
            if self.is_to_sleep() {
                return None;
            }
            self.yield_core();
            let mut engine = self.engine();
            let ended = ended(&mut engine, self.patience.looks);
            if ended.is_some() {
                self.note_end_of_wait();
                return ended;
            }
            engine.progress_others_every(turn, own);
        }
        None
    }

    /// Looks as long as that is better than sleeping.
    fn spin_and_yield<T>(&self, patience: WaitPolicy, ready: &mut Ready<'_, T>) -> Option<T> {
        if !patience.spin.is_zero()
            && let Some(ended) = self.spin(patience, ready)
        {
            return Some(ended);
        }
        if patience.yields > 0 { self.look_between_yields(patience, ready) } else { None }
    }

    /// Gives way so often and so long as it is to, and looks in between.
    fn look_between_yields<T>(&self, patience: WaitPolicy, ready: &mut Ready<'_, T>) -> Option<T> {
        let (begun, awake) = (now(), patience.awake.as_nanos() as u64);
        let (mut yields, mut waited, mut ended) = (0, 0, None);
        while ended.is_none() && (yields < patience.yields || waited < awake) {
            (yields, waited) = (yields + 1, self.yield_core().saturating_sub(begun));
            ended = self.poll_for(1, ready);
            if patience.minds_others && self.is_to_sleep_now(waited) {
                break;
            }
        }
        ended
    }

    /// Whether a rank that has waited for so many nanoseconds does better to sleep than to yield
    /// again.
    #[inline(never)]
    fn is_to_sleep_now(&self, waited: u64) -> bool {
        if waited >= LONG_WAIT_NS {
            self.segment.note_long_wait(waited);
        }
        let is_long = waited >= CONTENDED_AWAKE_MAX.as_nanos() as u64;
        self.is_to_sleep() || (is_long && self.segment.is_contended())
    }

    /// Looks until nothing has moved for so long as it is to look.
    fn spin<T>(&self, patience: WaitPolicy, ready: &mut Ready<'_, T>) -> Option<T> {
        let WaitPolicy { burst, spin, impolite, .. } = patience;
        let (mut flow, mut ended) = (ProgressMeter::new(&self.engine()), None);
        let mut begun = Instant::now();
        while ended.is_none() && begun.elapsed() < spin {
            if begun.elapsed() >= impolite {
                self.yield_core();
            }
            ended = self.poll_for(burst, ready);
            if let Some(moved) = flow.look(&mut self.engine()) {
                begun = moved;
            }
        }
        ended
    }

    /// Sleeps, or does what whoever sleeps does before. Returns when something has moved, or
    /// nothing has for so long.
    fn park_or_poll<T>(
        &self,
        patience: WaitPolicy,
        limit: Duration,
        ready: &mut Ready<'_, T>,
    ) -> Option<T> {
        let mut ended = None;
        let news = |engine: &mut Engine| {
            let moved = engine.progress_thoroughly();
            ended = ready(engine);
            moved || ended.is_some()
        };
        if patience.sleeps {
            self.sleep(limit, news);
        } else {
            let mut news = news;
            news(&mut self.engine());
        }
        ended.or_else(|| self.poll_for(1, ready))
    }

    /// Moves the engine and looks, up to `times` times.
    #[inline]
    fn poll_for<T, R>(&self, times: u32, ready: &mut R) -> Option<T>
    where
        R: FnMut(&mut Engine) -> Option<T> + ?Sized,
    {
        let mut engine = self.engine();
        for _ in 0..times {
            engine.progress();
            if let Some(ended) = ready(&mut engine) {
                return Some(ended);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Sleeps until rung, unless there is news; see the module's documentation.
    pub(super) fn sleep(&self, limit: Duration, news: impl FnOnce(&mut Engine) -> bool) {
        self.engine().sleepers += 1;
        let limit = if self.is_wired { limit.min(REMOTE_SLEEP_MAX) } else { limit };
        let doorbell = self.segment.doorbell(self.me);
        doorbell.sleep(limit, || news(&mut self.engine()));
        self.segment.note_rank_here();
        self.engine().sleepers -= 1;
    }
}

/// What moves while a rank waits. A large message takes long, over a network or in pieces, but goes
/// on before the eyes of who waits for it, who therefore does not sleep.
struct ProgressMeter {
    moves: u64,
    thorough: Instant,
}

impl ProgressMeter {
    fn new(engine: &Engine) -> ProgressMeter {
        ProgressMeter { moves: engine.moves(), thorough: Instant::now() }
    }

    /// When something has moved since the last look: now. What moves may be of others, so those
    /// that are waited for are asked now and then whether they are alive.
    fn look(&mut self, engine: &mut Engine) -> Option<Instant> {
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

/// How long to sleep after waiting for so long, where no doorbell tells of news.
fn nap_time(waited: Duration) -> Duration {
    (waited / 8).clamp(REMOTE_SLEEP_MIN, REMOTE_SLEEP_MAX)
}
