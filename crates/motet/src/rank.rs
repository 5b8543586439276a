//! A rank context holds one rank as a whole: its engine behind a lock, how it waits, how it leaves.
//!
//! **Waiting.** A waiting thread advances the engine: it spins for a bounded time, then yields the
//! core for a while, then parks at the doorbell of its rank, which each peer rings after it has
//! sent something. With more ranks than cores the thread spins briefly, and where a foreign thread
//! computes on the core it parks at once: see [`wait`] and `motet_fabric::foreign_load`.
//!
//! **Several threads of one rank** share the engine. One of them may complete an operation for
//! which another is parked; the engine then rings its own doorbell. It knows that a thread is
//! parked: `sleepers` changes under its lock, and a thread polls once more, under the lock, after
//! it has raised the count.
//!
//! **Futures.** The first pending future starts the progress thread, which wakes the wakers.

pub(crate) mod environment;
mod finalize;
mod flush_thread;
mod granularity;
mod kept_out;
pub mod machine;
mod nodes;
mod polling;
mod process;
mod process_heap;
mod progress;
mod replay;
pub(crate) mod settings;
mod wait;
pub(crate) mod wisdom;

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use motet_fabric::affinity::CoreAffinity;
use motet_fabric::biased_lock::{BiasedGuard, BiasedLock, Settle, is_excluded};
use motet_fabric::bootstrap::{ForeignLauncher, JoinedRank};
use motet_fabric::shared_heap::{SharedHeap, SharedHeapBlock};
use motet_fabric::slab::Id;
use motet_fabric::{Failure, How, Peer, SharedSegment, TransferError, forking};
use motet_plan::Tuning;

use crate::engine::check::{CheckConfig, CheckState};
use crate::engine::{
    Advance, End, Engine, Execution, InlineRun, Outcome, PackedBuffers, PlanCache, Postponed, Slot,
};
use crate::rank::settings::Settings;
use crate::rank::wisdom::WisdomLog;
use flush_thread::FlushThread;
use kept_out::called_from_operator;
pub(crate) use nodes::Nodes;
pub(crate) use progress::ProgressConfig;
use progress::ProgressThread;
pub use wait::Waiting;
use wait::{Behaviour, WaitPolicy};

/// One rank.
pub(crate) struct RankContext {
    shared: Arc<Shared>,
    /// The number of ids that this rank has given to communicators.
    ids: AtomicU64,
    /// The progress thread, or why it could not be started.
    progress_thread: OnceLock<io::Result<JoinHandle<()>>>,
    /// The flush thread, if there are ranks on other hosts.
    flush_thread: Option<FlushThread>,
    /// The slot to which the program may attach a buffer for buffered sends.
    slot: Slot,
    watch: CheckConfig,
    wisdom_log: Mutex<WisdomLog>,
    nodes: Nodes,
    /// Whether this process is exactly one rank.
    is_process: bool,
    /// The launcher of another library, if that has started this rank.
    launched: Option<Arc<ForeignLauncher>>,
    /// The fork generation of the process that has made this; a forked child has another.
    generation: u32,
    /// Whether the rank has left its world, although handles to it remain.
    has_left: AtomicBool,
}

/// The state that the threads of the rank and its progress thread share.
struct Shared {
    engine: BiasedLock<Guarded>,
    segment: Arc<SharedSegment>,
    /// The shared memory from which the program of this rank may allocate.
    heap: Arc<SharedHeap>,
    me: Peer,
    affinity: CoreAffinity,
    /// Whether there are ranks on other hosts, for whose messages no doorbell rings.
    has_remote: bool,
    policy: WaitPolicy,
    behaviour: Behaviour,
    progress: Arc<ProgressThread>,
}

/// Exclusive access to the engine.
///
/// Wakers run foreign code, which may call the engine: they are woken after the lock has been
/// released, and what operators hold is dropped then. Operators are foreign code, too, but run
/// under the lock. If one panics, the rank dies here, before unwinding frees buffers that its
/// operations use. If one calls the library, its thread does not get the lock: calls with a result
/// return an error ([`RankContext::free_engine`]), and none waits.
pub(crate) type EngineGuard<'a> = BiasedGuard<'a, Guarded>;

/// What the lock of a rank protects.
pub(crate) struct Guarded {
    engine: Engine,
    /// Whether a progress thread runs, so that each thread that unlocks the engine checks whether
    /// it must call it.
    has_progress_thread: bool,
    progress: Arc<ProgressThread>,
}

impl Deref for Guarded {
    type Target = Engine;

    #[inline]
    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Guarded {
    #[inline]
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Settle for Guarded {
    /// The postponed work, and the progress thread if it must be called.
    type Rest = (Vec<Postponed>, Option<Arc<ProgressThread>>);

    #[inline]
    fn is_settled(&self) -> bool {
        !self.engine.has_postponed() && !self.has_progress_thread
    }

    fn settle(&mut self, panics: bool) -> Self::Rest {
        if panics {
            self.engine.die();
        }
        let is_wanted = self.has_progress_thread && self.progress.is_wanted(&self.engine);
        (self.engine.take_postponed(), is_wanted.then(|| self.progress.clone()))
    }

    fn finish((postponed, progress): Self::Rest) {
        postponed.into_iter().for_each(Postponed::happen);
        if let Some(progress) = progress {
            progress.call();
        }
    }
}

/// Abandons an operation on a panic (of a foreign waker, say), because it uses borrowed buffers.
struct AbandonOnUnwind<'a> {
    core: &'a RankContext,
    id: Id,
}

impl Drop for AbandonOnUnwind<'_> {
    fn drop(&mut self) {
        if let Some(mut engine) = self.core.free_engine() {
            engine.abandon(self.id);
        }
    }
}

impl RankContext {
    /// Joins the world on this seat, with its own tuning.
    pub(crate) fn new(
        seat: JoinedRank,
        settings: &Settings,
        tuning: Tuning,
    ) -> crate::Result<RankContext> {
        let JoinedRank { segment, rank: me, place, is_process, network, launched } = seat;
        let &Settings { watch, progress_config, .. } = settings;
        let nodes = match (&settings.nodes, &network) {
            (Nodes::One, Some(network)) => Nodes::Each(network.hosts().into()),
            (nodes, _) => nodes.clone(),
        };
        let (ranks, cores) = (segment.local_ranks(), segment.cores());
        let policy = WaitPolicy::with(progress_config.waiting, ranks, cores);
        let policy = policy.in_groups(segment.spans_scheduling_groups());
        let has_remote = network.is_some();
        let held_back = network.as_ref().map(|network| Arc::clone(network.flush_signal()));
        let policy = if has_remote { policy.with_remote() } else { policy };
        let affinity = CoreAffinity::new(Arc::clone(&segment), me, place);
        affinity.begin();
        let endpoint = process_heap::endpoint(settings, &segment, network, me);
        let cache = PlanCache::new(tuning, endpoint.inline_max_bytes());
        let heap = Arc::clone(endpoint.heap());
        let mut engine = Engine::new(endpoint, cache);
        if let Some(most) = watch.most {
            engine.limit_operations(most);
        }
        if watch.keeps_records() {
            engine.keep_books(CheckState::new(watch));
        } else if progress_config.progress_thread_has_core(ranks, cores) {
            engine.leave_starts_to_progress_thread();
        }
        let behaviour = Behaviour::default();
        let progress = Arc::new(ProgressThread::new(progress_config, ranks, cores));
        let guarded = Guarded {
            engine,
            has_progress_thread: progress.is_constant,
            progress: progress.clone(),
        };
        let engine = BiasedLock::new(guarded);
        let shared =
            Shared { engine, segment, heap, me, affinity, has_remote, policy, behaviour, progress };
        let (shared, ids) = (Arc::new(shared), AtomicU64::new(0));
        let flush_thread = held_back.map(|held_back| FlushThread::start(&shared, held_back));
        let core = RankContext {
            shared,
            ids,
            progress_thread: OnceLock::new(),
            flush_thread,
            slot: Slot::default(),
            watch,
            wisdom_log: Mutex::default(),
            nodes,
            is_process,
            launched,
            generation: forking::generation(),
            has_left: AtomicBool::new(false),
        };
        if progress_config.has_progress_thread {
            core.start_progress_thread()?;
        }
        Ok(core)
    }

    /// Whether there are ranks that share no memory with this one. Takes no lock.
    pub(crate) fn reaches_other_hosts(&self) -> bool {
        self.shared.has_remote
    }

    /// The measured choices of this rank.
    pub(crate) fn wisdom_log(&self) -> MutexGuard<'_, WisdomLog> {
        self.wisdom_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the ranks of the world are spread over nodes.
    pub(crate) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The slot to which the program may attach a buffer for buffered sends.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// The configuration of check mode and hang reports.
    pub(crate) fn watch(&self) -> CheckConfig {
        self.watch
    }

    /// This rank in the world.
    pub(crate) fn me(&self) -> Peer {
        self.shared.me
    }

    /// The memory that the ranks of this host share.
    pub(crate) fn segment(&self) -> &SharedSegment {
        &self.shared.segment
    }

    /// The number of ranks in the world.
    pub(crate) fn ranks(&self) -> usize {
        self.shared.segment.ranks()
    }

    /// Allocates memory that all ranks of the host map, if there is room.
    pub(crate) fn common_memory(&self, bytes: usize, alignment: usize) -> Option<SharedHeapBlock> {
        self.shared.heap.allocate(bytes, alignment)
    }

    /// Lets the rank die, and wakes all its waiting threads so that they find out.
    pub(crate) fn die(&self) {
        self.shared.die();
    }

    /// A communicator id that no rank of the world has given before: the high bits name this rank,
    /// the low 44 bits count.
    pub(crate) fn fresh_id(&self) -> u64 {
        let count = self.ids.fetch_add(1, Ordering::Relaxed);
        u64::from(self.me().0 + 1) << 44 | count
    }

    /// Locks the engine.
    ///
    /// # Panics
    /// In an operator, whose thread holds the lock already: a function that may be called there
    /// uses [`free_engine`](RankContext::free_engine).
    #[inline]
    pub(crate) fn engine(&self) -> EngineGuard<'_> {
        self.shared.engine()
    }

    /// Locks the engine; `None` in an operator.
    #[inline]
    pub(crate) fn free_engine(&self) -> Option<EngineGuard<'_>> {
        self.shared.free_engine()
    }

    /// Runs a collective to its end.
    pub(crate) fn run(
        &self,
        run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<(), TransferError> {
        let _here = self.shared.stay();
        let mut engine = self.engine();
        let begun = engine.start_inline(run, staging);
        self.finish_short(engine, begun)
    }

    /// Waits for the end of a collective that has started.
    #[inline]
    fn finish_short<'a>(
        &'a self,
        mut engine: EngineGuard<'a>,
        begun: Result<InlineRun, Id>,
    ) -> Result<(), TransferError> {
        match begun {
            Ok(mut inline) => {
                let advance = engine.poll_inline(&mut inline, self.shared.policy.max_polls);
                self.finish_inline(engine, inline, advance)
            }
            Err(id) => {
                drop(engine);
                self.wait(id, false).map(drop)
            }
        }
    }

    /// Continues an inline run that has come so far, and promotes it to an operation if it takes
    /// too long.
    #[inline]
    fn finish_inline<'a>(
        &'a self,
        mut engine: EngineGuard<'a>,
        mut inline: InlineRun,
        mut advance: Advance,
    ) -> Result<(), TransferError> {
        if advance.is_pending() && self.shared.policy.turns > 0 {
            drop(engine);
            let ended = self.shared.yield_and_poll(0, |engine, max_polls| {
                let advance = engine.poll_inline(&mut inline, max_polls);
                (!advance.is_pending()).then_some(advance)
            });
            advance = ended.unwrap_or(advance);
            engine = self.engine();
        }
        if advance == Advance::Complete {
            engine.finish_inline(inline);
            return Ok(());
        }
        let id = engine.promote(inline);
        drop(engine);
        self.wait(id, false).map(drop)
    }

    /// The number of polls for a message that may arrive at once.
    pub(crate) fn max_polls(&self) -> u32 {
        self.shared.policy.max_polls
    }

    /// Takes the outcome of an operation if it has ended. For a receive before which no other one
    /// is posted, polls for as long as a message may take.
    #[inline]
    pub(crate) fn end_in_order(&self, id: Id, persistent: bool) -> Option<Outcome> {
        let mut engine = self.free_engine()?;
        let ended = engine.take(id, persistent);
        ended.or_else(|| engine.end_first(id, persistent, self.max_polls()))
    }

    /// Polls an operation for as long as a message may take, and takes its outcome if it has ended.
    #[inline]
    pub(crate) fn ends(&self, id: Id, persistent: bool) -> End {
        let _here = self.shared.stay();
        let panicked = AbandonOnUnwind { core: self, id };
        let max_polls = self.shared.policy.max_polls;
        let end =
            self.free_engine().map(|mut engine| engine.poll_until_done(id, persistent, max_polls));
        std::mem::forget(panicked);
        end.unwrap_or(End::Unknown)
    }

    /// Waits until an operation is complete and takes its outcome. If a death ends it meanwhile,
    /// the outcome is that error.
    pub(crate) fn wait(&self, id: Id, persistent: bool) -> Outcome {
        let _here = self.shared.stay();
        let panicked = AbandonOnUnwind { core: self, id };
        let mut engine = self.engine();
        engine.progress_except(id);
        let ended = engine.take(id, persistent);
        drop(engine);
        if let Some(outcome) = ended {
            std::mem::forget(panicked);
            return outcome;
        }
        let ended = self.shared.yield_and_poll(1, |engine, max_polls| {
            engine.poll(id, max_polls);
            engine.take(id, persistent)
        });
        let wait = || self.wait_for(&[id], |engine| engine.poll_and_take(id, persistent));
        let outcome = ended.unwrap_or_else(wait);
        std::mem::forget(panicked);
        outcome
    }

    /// Whether long waits are reported, so that callers should name the operations they wait for.
    pub(crate) fn reports_waits(&self) -> bool {
        self.watch.hang.is_some()
    }
}

impl Shared {
    #[inline]
    fn engine(&self) -> EngineGuard<'_> {
        self.free_engine().unwrap_or_else(|| called_from_operator())
    }

    /// Locks the engine, unless this thread runs an operator.
    #[inline]
    fn free_engine(&self) -> Option<EngineGuard<'_>> {
        // After a panic under the lock the rank is dead for others; this thread may still read the
        // engine.
        self.engine.lock()
    }

    fn die(&self) {
        match self.free_engine() {
            Some(mut engine) => {
                engine.die();
                engine.wake_all();
            }
            // The engine dies when the operator has unwound.
            None => self.segment.fail(Failure { rank: self.me, how: How::Panic }),
        }
    }
}

impl Drop for RankContext {
    fn drop(&mut self) {
        if self.is_of_parent() {
            return self.forget_all();
        }
        if thread::panicking() || is_excluded() {
            self.shared.segment.fail(Failure { rank: self.me(), how: How::Panic });
            if let Some(mut engine) = self.free_engine() {
                engine.die();
            }
        } else {
            self.leave();
        }
        if let Some(flush_thread) = &mut self.flush_thread {
            flush_thread.end();
        }
        self.shared.progress.end();
        self.shared.segment.doorbell(self.me()).ring();
        if let Some(Ok(thread)) = self.progress_thread.take()
            // A waker may drop the last handle of a rank on the progress thread itself.
            && thread.thread().id() != thread::current().id()
        {
            // The thread does not panic; if a waker did, that is not worth a second panic.
            let _ = thread.join();
        }
    }
}
