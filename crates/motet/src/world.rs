//! The world: initialization, finalization and the communicator of all ranks.

mod predefined;

use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use motet_fabric::bootstrap::{self, JoinedRank};
use motet_fabric::{Failure, How, launcher};
use motet_plan::select::Wisdom;

use crate::base::error::{ErrorKind, Result};
use crate::collective::untyped::CommRef;
use crate::comm::communicator::Communicator;
use crate::engine::check::Caller;
use crate::rank::RankContext;
use crate::rank::environment;
use crate::rank::machine;
use crate::rank::settings::Settings;
use crate::rank::wisdom;

/// The communicator of all ranks of a program; it dereferences to a [`Communicator`].
///
/// The rank leaves the world when the `World` and all objects made from it (communicators,
/// requests, persistent operations) are dropped; before it leaves, it completes the operations that
/// other ranks may wait for. A process whose world is never dropped (because it is in a `static`,
/// or the program ends by [`std::process::exit`]) must call [`World::leave`] before it ends;
/// otherwise the other ranks treat it as failed.
#[derive(Debug)]
pub struct World(Communicator);

impl World {
    /// Leaves the world in good order: completes the operations that other ranks may wait for, and
    /// informs them and the launcher. Dropping the world and all objects made from it does the
    /// same; this call is for a world that is not dropped, because it is in a `static` or the
    /// program ends by [`std::process::exit`]. Local, except in check mode, where it waits briefly
    /// for the last calls of the other ranks. (`MPI_Finalize`)
    ///
    /// Objects made from the world may still exist. Their operations that are in flight and that no
    /// other rank waits for end with [`ErrorKind::PeerLeft`], which names this rank, and so do all
    /// later calls. A second call does nothing.
    ///
    /// ```
    /// use std::sync::OnceLock;
    ///
    /// static WORLD: OnceLock<motet::World> = OnceLock::new();
    ///
    /// fn main() -> motet::Result<()> {
    ///     let world = WORLD.get_or_init(|| motet::init().expect("a world"));
    ///     world.barrier()?;
    ///     // A static is never dropped.
    ///     world.leave()
    /// }
    /// ```
    ///
    /// # Errors
    /// In check mode: calls of the ranks do not match, and no call of this rank has reported it;
    /// the rank has left nevertheless. A reduction operator calls this; the rank has not left then.
    pub fn leave(&self) -> Result<()> {
        let core = self.core();
        drop(self.home().engine("leave")?);
        if core.has_left() || core.is_of_parent() {
            return Ok(());
        }
        let outcome = end_calls(self);
        core.leave();
        outcome
    }
}

impl Deref for World {
    type Target = Communicator;

    fn deref(&self) -> &Communicator {
        &self.0
    }
}

impl<'a> From<&'a World> for CommRef<'a> {
    fn from(world: &'a World) -> CommRef<'a> {
        CommRef::Communicator(world)
    }
}

/// Announces that this rank makes no more calls in the world and will leave it soon. In check mode
/// it waits until all other ranks have announced the same, or no rank makes progress any more.
/// Collective, but waits only for a limited time.
///
/// # Errors
/// Calls of the ranks do not match, and no call of this rank has reported it.
pub fn end_calls(world: &World) -> Result<()> {
    let Some(membership) = world.membership() else { return Ok(()) };
    membership.end();
    world.core().compare_last_calls();
    let unreported = world.core().unreported_mismatch();
    unreported.map_or(Ok(()), |reason| Err(world.error("leave", ErrorKind::Mismatch(reason))))
}

/// Joins the world of this process: that of its launcher or, without a launcher, a world of one
/// rank. (`MPI_Init`)
///
/// # Errors
/// The environment variables contradict each other, or this is the second call in a process under a
/// launcher.
pub fn init() -> Result<World> {
    init_with(Settings::from_environment)
}

/// Joins the world as [`init`] does, for a library that serves programs in other languages. Check
/// mode and reports of hangs then name the place that `caller` returns, instead of a place in that
/// library. The calling thread calls `caller` during each call.
///
/// # Errors
/// As [`init`].
pub fn init_for(caller: Caller) -> Result<World> {
    init_with(|| Ok(Settings::from_environment()?.called_from(caller)))
}

fn init_with(settings: impl FnOnce() -> Result<Settings>) -> Result<World> {
    let seat = match bootstrap::from_environment().map_err(ErrorKind::from)? {
        Some(seat) => seat,
        None => bootstrap::alone().map_err(ErrorKind::from)?,
    };
    take_seat(seat, &settings()?)
}

/// Joins the world of this process, or starts one with at least `ranks` ranks. Under a launcher it
/// does the same as [`init`]. Otherwise this process starts `ranks` processes of its own program
/// with the same arguments, waits for them and exits with their exit code.
///
/// # Errors
/// As [`init`]; the processes cannot be started; or an environment variable has a value that it
/// cannot have ([`check`](crate::env::check)).
pub fn launch(ranks: usize) -> Result<World> {
    if let Some(seat) = bootstrap::from_environment().map_err(ErrorKind::from)? {
        return take_seat(seat, &Settings::from_environment()?);
    }
    environment::check()?;
    let prices = machine::for_ranks()?;
    let outcome = launcher::relaunch(ranks, vec![prices]).map_err(ErrorKind::from)?;
    std::process::exit(i32::from(outcome.code))
}

/// Runs `body` on each rank of a new world whose ranks are threads of this process. Returns the
/// results of the ranks, in rank order.
///
/// A rank leaves the world when its `body` returns, even if objects made from the world still
/// exist, for example in the result: see [`World::leave`]. Of the requests in a result, these are
/// complete: collectives that all ranks have begun, sends that are received, and all that were
/// complete before. All other operations in flight end with [`ErrorKind::PeerLeft`], and so do
/// receives, persistent operations that no rank has waited for, and later calls.
///
/// ```
/// let ranks = motet::threads(3, |world| world.rank() * 10)?;
/// assert_eq!(ranks, [0, 10, 20]);
/// # Ok::<(), motet::Error>(())
/// ```
///
/// # Errors
/// A rank panicked, or the number of ranks is impossible.
pub fn threads<T: Send>(ranks: usize, body: impl Fn(World) -> T + Sync) -> Result<Vec<T>> {
    threads_with(ranks, &Settings::from_environment()?, body)
}

/// Does the same as [`threads`], with settings that do not come from the environment.
///
/// # Errors
/// As [`threads`]. An algorithm that does not apply to a call is an error of that call.
pub fn threads_with<T: Send>(
    ranks: usize,
    settings: &Settings,
    body: impl Fn(World) -> T + Sync,
) -> Result<Vec<T>> {
    let seats = match settings.ranks_per_segment {
        Some(share) if share.get() < ranks => bootstrap::threads_apart(ranks, share.get(), None),
        _ => bootstrap::threads(ranks),
    };
    let seats = seats.map_err(ErrorKind::from)?;
    let segments: Vec<_> = seats.iter().map(|seat| seat.segment.clone()).collect();
    let body = &body;
    // A rank's world is made and dropped inside the unwinding, so that a panic fails the world; and
    // once more outside, since something that was forgotten may keep the rank alive.
    let play = |world: World| {
        let core = Arc::downgrade(world.core());
        let result = body(world);
        // The result may hold a request, say. One thread that waits for those of several ranks
        // moves only one of them on, so they end here, where each rank has a thread.
        if let Some(core) = core.upgrade().filter(|core| !core.is_of_parent()) {
            core.leave();
        }
        result
    };
    let run = move |seat: JoinedRank| {
        let (segment, rank) = (seat.segment.clone(), seat.rank);
        panic::catch_unwind(AssertUnwindSafe(|| take_seat(seat, settings).map(play)))
            .inspect_err(|_| segment.fail(Failure { rank, how: How::Panic }))
    };
    let ended: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> =
            seats.into_iter().map(|seat| scope.spawn(move || run(seat))).collect();
        started.into_iter().map(|rank| rank.join()).collect()
    });
    let mut results = Vec::with_capacity(ranks);
    for rank in ended {
        match rank {
            Ok(Ok(result)) => results.push(result?),
            _ => {
                let failure = segments.iter().find_map(|segment| segment.failure());
                let failure = failure.expect("a rank that panicked has failed the world");
                return Err(ErrorKind::PeerFailed(failure).into());
            }
        }
    }
    Ok(results)
}

fn take_seat(seat: JoinedRank, settings: &Settings) -> Result<World> {
    let Settings { tuning, source, save, .. } = settings;
    let mut tuning = tuning.clone();
    let ranks = seat.segment.ranks();
    let rank = seat.rank;
    tuning.machine = machine::of_segment(tuning.machine, &seat.segment);
    if seat.segment.local_ranks() == ranks {
        // All ranks see that, and the same cores.
        tuning.machine = tuning.machine.on_one_machine();
    }
    if let (Some(remark), 0) = (&source.remark, rank.index()) {
        wisdom::warn(remark);
    }
    // Processes that have read a file may have read different things.
    let is_told = source.is_file && seat.segment.is_shared() && ranks > 1;
    if is_told {
        tuning.wisdom = Wisdom::default();
    }
    let core = RankContext::new(seat, settings, tuning)?;
    core.wisdom_log().file = save.clone();
    let world = World(Communicator::world(Arc::new(core)));
    if is_told {
        world.take_wisdom_of_first(&source.text)?;
    }
    Ok(world)
}
