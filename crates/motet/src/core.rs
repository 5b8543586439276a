//! One rank as a whole: its engine behind a lock, waiting, and leaving.
//!
//! **Waiting.** Whoever waits moves the engine itself: for a bounded time in a loop, then it
//! yields the processor a few times, then it sleeps at the doorbell of its rank, which every peer
//! rings after putting something where this rank looks. With more ranks than cores the loop is
//! short, since what is waited for cannot happen while the waiter holds the core. Where something
//! else computes on the cores, who yields is last in the queue each time, and a sleeper that is
//! rung for is not: when a yield has taken long, the next waits sleep at once.
//!
//! **Several threads of one rank** share the engine. One of them may complete what another sleeps
//! for; the engine then rings its own doorbell (it knows that somebody sleeps: `sleepers` is
//! changed under its lock, and a sleeper looks once more, under the lock, after saying so).
//!
//! **Futures.** A pending future needs somebody who moves the engine while its executor does
//! something else. The first one starts a helper thread that sleeps at the doorbell and wakes the
//! wakers of what completes.

use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use motet_fabric::lock::{Guard, Lock};
use motet_fabric::slab::Id;
use motet_fabric::{Endpoint, Failure, How, Options, Peer, Segment, TransferError};
use motet_plan::Tuning;

use crate::check::{Books, Watch};
use crate::engine::{Cache, Engine, Outcome, Run, Staging};
use crate::nodes::Nodes;
use crate::point_to_point::Slot;
use crate::wisdom::Lessons;

/// Who has waited for so long gives way between two looks: whoever is waited for may be on the
/// same core, even if there are cores enough.
const POLITE: Duration = Duration::from_micros(3);
/// A yield that takes so long has given the core to somebody who computes.
const LONG_YIELD: Duration = Duration::from_micros(500);
/// After a long yield so many waits sleep at once; then yielding is tried again.
const CROWDED_WAITS: u32 = 100;
/// A sleeper looks up at least this often: for nothing, if all goes well.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// When all ranks are leaving and nothing has moved for so long, nothing will.
const STILLNESS: Duration = Duration::from_millis(900);

/// How long to look before sleeping.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Looks at the one thing that a short operation waits for, before any at the engine.
    looks: u32,
    /// Looks at the engine between two looks at the clock.
    burst: u32,
    spin: Duration,
    yields: u32,
}

impl Patience {
    /// With a core for each rank, spin for longer than a message takes, and a little more than
    /// waking a sleeper costs; else give the core to somebody who has work.
    fn with(ranks: usize, cores: usize) -> Patience {
        if ranks <= cores {
            Patience { looks: 200, burst: 32, spin: Duration::from_micros(50), yields: 4 }
        } else {
            Patience { looks: 2, burst: 4, spin: Duration::ZERO, yields: 8 }
        }
    }
}

/// One rank.
pub(crate) struct Core {
    shared: Arc<Shared>,
    /// Counts the ids that this rank has given to communicators.
    ids: AtomicU64,
    helper: OnceLock<JoinHandle<()>>,
    /// Where a buffer for buffered sends may be attached.
    slot: Slot,
    watch: Watch,
    lessons: Mutex<Lessons>,
    nodes: Nodes,
}

/// What the rank's threads and its helper share.
struct Shared {
    engine: Lock<Engine>,
    segment: Arc<Segment>,
    me: Peer,
    patience: Patience,
    /// How many waits are not to yield, because others compute on these cores.
    crowded: AtomicU32,
    /// Held by the helper while it finds out that nobody wants it.
    idle: Mutex<()>,
    /// Tells the helper that somebody wants to be woken, or that it is to end.
    wanted: Condvar,
    ending: AtomicBool,
}

/// The engine, for one thread alone.
///
/// Wakers run foreign code, which may come back to the engine: they are woken when the lock has
/// been given up. Operators are foreign too, but run under the lock: if one panics, the rank dies
/// here, before the unwinding frees buffers that its operations use.
pub(crate) struct Locked<'a> {
    engine: Option<Guard<'a, Engine>>,
    /// Whether there was a panic before, of which the engine knows nothing.
    panicking: bool,
}

impl Deref for Locked<'_> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        self.engine.as_deref().expect("locked until dropped")
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Engine {
        self.engine.as_deref_mut().expect("locked until dropped")
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        let Some(mut engine) = self.engine.take() else { return };
        if thread::panicking() && !self.panicking {
            engine.die();
        }
        if engine.has_woken() {
            let woken = engine.take_woken();
            drop(engine);
            woken.into_iter().for_each(Waker::wake);
        }
    }
}

/// A panic (of a foreign waker, say) must not leave an operation behind that uses borrowed buffers.
struct AbandonOnUnwind<'a> {
    core: &'a Core,
    id: Id,
}

impl Drop for AbandonOnUnwind<'_> {
    fn drop(&mut self) {
        self.core.engine().abandon(self.id);
    }
}

impl Core {
    /// Joins the world as this rank.
    pub(crate) fn new(
        segment: Arc<Segment>,
        me: Peer,
        options: Options,
        tuning: Tuning,
        watch: Watch,
        nodes: Nodes,
    ) -> Core {
        let patience = Patience::with(segment.ranks(), segment.cores());
        let endpoint = Endpoint::new(segment.clone(), me, options);
        let cache = Cache::new(tuning, endpoint.short());
        let mut engine = Engine::new(endpoint, cache);
        if let Some(most) = watch.most {
            engine.limit_operations(most);
        }
        if watch.keeps_records() {
            engine.keep_books(Books::new(watch));
        }
        let engine = Lock::new(engine);
        let (idle, wanted, ending) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
        let crowded = AtomicU32::new(0);
        let shared = Shared { engine, segment, me, patience, crowded, idle, wanted, ending };
        Core {
            shared: Arc::new(shared),
            ids: AtomicU64::new(0),
            helper: OnceLock::new(),
            slot: Slot::default(),
            watch,
            lessons: Mutex::default(),
            nodes,
        }
    }

    /// What this rank has learned.
    pub(crate) fn lessons(&self) -> MutexGuard<'_, Lessons> {
        self.lessons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the ranks of the world are spread over nodes.
    pub(crate) fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// Where the rank's buffer for buffered sends may be attached.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// How closely the ranks are watched.
    pub(crate) fn watch(&self) -> Watch {
        self.watch
    }

    /// This rank in the world.
    pub(crate) fn me(&self) -> Peer {
        self.shared.me
    }

    /// Ranks in the world.
    pub(crate) fn ranks(&self) -> usize {
        self.shared.segment.ranks()
    }

    /// Whether the ranks are processes.
    pub(crate) fn is_process(&self) -> bool {
        self.shared.segment.is_shared()
    }

    /// The rank dies, and all who wait in it are woken to find out.
    pub(crate) fn die(&self) {
        self.shared.die();
    }

    /// An id for a communicator that no rank of the world has given before: the high bits name
    /// this rank, the low 44 bits count.
    pub(crate) fn fresh_id(&self) -> u64 {
        let count = self.ids.fetch_add(1, Ordering::Relaxed);
        u64::from(self.me().0 + 1) << 44 | count
    }

    /// The engine, for this thread alone.
    #[inline]
    pub(crate) fn engine(&self) -> Locked<'_> {
        self.shared.engine()
    }

    /// Runs a collective to its end.
    pub(crate) fn run(&self, run: Box<Run>, staging: Option<Box<Staging>>) -> Outcome {
        let looks = self.shared.patience.looks;
        let ended = self.engine().run_at_once(run, staging, looks);
        ended.unwrap_or_else(|id| self.wait(id, false))
    }

    /// Waits until an operation is complete and takes its outcome. If the world fails meanwhile
    /// the operation is cancelled, and that is the outcome.
    pub(crate) fn wait(&self, id: Id, persistent: bool) -> Outcome {
        let panicked = AbandonOnUnwind { core: self, id };
        if let Some(outcome) = self.look_for(id, persistent) {
            std::mem::forget(panicked);
            return outcome;
        }
        let ended = self.wait_for(&[id], |engine| engine.take(id, persistent));
        std::mem::forget(panicked);
        match ended {
            Ok(outcome) => outcome,
            Err(failure) => {
                self.engine().abandon(id);
                Err(TransferError::Failed(failure))
            }
        }
    }

    /// Looks for the outcome of a short operation as long as a message may take.
    fn look_for(&self, id: Id, persistent: bool) -> Option<Outcome> {
        let mut engine = self.engine();
        engine.hurry(id, self.shared.patience.looks);
        engine.take(id, persistent)
    }

    /// Whether waits that take too long are reported, so that they should name what they wait for.
    pub(crate) fn reports_waits(&self) -> bool {
        self.watch.hang.is_some()
    }

    /// Moves the engine until `ready` finds what it looks for.
    ///
    /// # Errors
    /// That the world has failed. What was waited for is still under way then; abandon it.
    pub(crate) fn wait_until<T>(
        &self,
        ready: impl FnMut(&mut Engine) -> Option<T>,
    ) -> Result<T, Failure> {
        self.wait_for(&[], ready)
    }

    /// As [`Core::wait_until`], and names the operations that are waited for, to be reported if
    /// that takes too long.
    pub(crate) fn wait_for<T>(
        &self,
        ids: &[Id],
        mut ready: impl FnMut(&mut Engine) -> Option<T>,
    ) -> Result<T, Failure> {
        if let Some(ended) = self.shared.look(self.shared.patience.burst, &mut ready) {
            return ended;
        }
        let Patience { burst, spin, yields, .. } = self.shared.patience_now();
        let begun = Instant::now();
        loop {
            let waited = begun.elapsed();
            if waited >= spin {
                break;
            }
            if waited >= POLITE {
                self.shared.give_way();
            }
            if let Some(ended) = self.shared.look(burst, &mut ready) {
                return ended;
            }
        }
        for _ in 0..yields {
            self.shared.give_way();
            if let Some(ended) = self.shared.look(1, &mut ready) {
                return ended;
            }
            if self.shared.crowded.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
        let (hang, mut reported) = (self.watch.hang, Duration::ZERO);
        let limit = hang.map_or(LONGEST_SLEEP, |hang| hang.min(LONGEST_SLEEP));
        loop {
            let mut ended = None;
            self.shared.sleep(limit, |engine| {
                let moved = engine.progress_thoroughly();
                ended = verdict(engine, &mut ready);
                moved || ended.is_some()
            });
            if let Some(ended) = ended.or_else(|| self.shared.look(1, &mut ready)) {
                return ended;
            }
            let waited = begun.elapsed();
            if hang.is_some_and(|hang| waited >= reported + hang) {
                reported = waited;
                self.engine().report_wait(ids, waited);
            }
        }
    }

    /// Makes sure that somebody wakes the wakers while nobody is in the library.
    pub(crate) fn help(&self) {
        self.helper.get_or_init(|| {
            let shared = self.shared.clone();
            let name = format!("motet helper {}", self.me());
            let spawned = thread::Builder::new().name(name).spawn(move || shared.help());
            spawned.expect("a thread can be started")
        });
        self.shared.notify();
    }

    /// Finishes what others may wait for, then leaves.
    ///
    /// Ranks that have all come this far can only wait for each other in vain (one has dropped the
    /// request of a collective that another never began, say): then stillness ends it.
    fn leave(&self) {
        let Shared { segment, me, .. } = &*self.shared;
        self.engine().abandon_receives();
        segment.begin_leaving(*me);
        let (mut moves, mut since) = (0, Instant::now());
        // A failed world is left at once.
        let _ = self.wait_until(|engine| {
            if engine.moves() != moves || !segment.all_leaving() {
                (moves, since) = (engine.moves(), Instant::now());
            }
            (engine.is_quiet() || since.elapsed() >= STILLNESS).then_some(())
        });
        self.engine().abandon_all();
        segment.leave(*me);
    }
}

impl Shared {
    /// How long to look before sleeping, as things are.
    fn patience_now(&self) -> Patience {
        let crowded = self.crowded.load(Ordering::Relaxed);
        if crowded == 0 {
            return self.patience;
        }
        // Threads that count at once lose a count: it is an estimate anyway.
        self.crowded.store(crowded - 1, Ordering::Relaxed);
        Patience { spin: Duration::ZERO, yields: 0, ..self.patience }
    }

    /// Lets others have the core, and notes whether they kept it.
    fn give_way(&self) {
        let before = Instant::now();
        thread::yield_now();
        if before.elapsed() >= LONG_YIELD {
            self.crowded.store(CROWDED_WAITS, Ordering::Relaxed);
        }
    }

    #[inline]
    fn engine(&self) -> Locked<'_> {
        // A panic under the lock has ended this rank for the others; it may still look around.
        Locked { engine: Some(self.engine.lock()), panicking: thread::panicking() }
    }

    /// Moves the engine and looks, up to `times` times.
    #[inline]
    fn look<T>(
        &self,
        times: u32,
        ready: &mut impl FnMut(&mut Engine) -> Option<T>,
    ) -> Option<Result<T, Failure>> {
        let mut engine = self.engine();
        for _ in 0..times {
            engine.progress();
            if let Some(ended) = verdict(&mut engine, ready) {
                return Some(ended);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// Sleeps until rung, unless there is news; see the module's documentation.
    fn sleep(&self, limit: Duration, news: impl FnOnce(&mut Engine) -> bool) {
        self.engine().sleepers += 1;
        let doorbell = self.segment.doorbell(self.me);
        doorbell.sleep(limit, || news(&mut self.engine()));
        self.engine().sleepers -= 1;
    }

    /// The helper. Should an operator or a waker panic, the rank dies, and all who wait are woken
    /// to find out.
    fn help(&self) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.serve())).is_err() {
            self.die();
        }
    }

    fn die(&self) {
        let mut engine = self.engine();
        engine.die();
        engine.wake_all();
    }

    /// The helper waits until there are wakers, or until it is to end.
    fn wait_until_wanted(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.ending.load(Ordering::Acquire) && !self.engine().has_wakers() {
            idle = self.wanted.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Tells the helper to look, after there is something for it to see. Not under the lock of
    /// the engine, which the helper takes under that of its own.
    fn notify(&self) {
        // Either the helper has not looked yet, or it waits already.
        drop(self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        self.wanted.notify_one();
    }

    /// Moves the engine as long as there are wakers, and is out of the way otherwise.
    fn serve(&self) {
        loop {
            self.wait_until_wanted();
            if self.ending.load(Ordering::Acquire) {
                return;
            }
            self.sleep(LONGEST_SLEEP, |engine| {
                let moved = engine.progress_thoroughly();
                if engine.failure().is_some() {
                    engine.wake_all();
                }
                moved || self.ending.load(Ordering::Acquire)
            });
        }
    }
}

/// Whether there is an end to the waiting: success goes before failure.
#[inline]
fn verdict<T>(
    engine: &mut Engine,
    ready: &mut impl FnMut(&mut Engine) -> Option<T>,
) -> Option<Result<T, Failure>> {
    if let Some(found) = ready(engine) {
        return Some(Ok(found));
    }
    engine.failure().map(Err)
}

impl Drop for Core {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.segment.fail(Failure { rank: self.me(), how: How::Panic });
            self.engine().abandon_all();
        } else {
            self.lessons().save();
            self.leave();
        }
        self.shared.ending.store(true, Ordering::Release);
        self.shared.notify();
        self.shared.segment.doorbell(self.me()).ring();
        if let Some(helper) = self.helper.take()
            // A waker may drop the last handle of a rank on the helper itself.
            && helper.thread().id() != thread::current().id()
        {
            // The helper does not panic; if a waker did, that is not worth a second panic.
            let _ = helper.join();
        }
    }
}
