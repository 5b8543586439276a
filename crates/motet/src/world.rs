//! How a program comes to its communicator of all ranks.

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
use crate::rank::machine;
use crate::rank::settings::Settings;
use crate::rank::wisdom;

/// The communicator of all ranks of a program.
///
/// It is a [`Communicator`]. When it and all that was made of it (communicators, requests,
/// persistent operations) is dropped, the rank leaves the world; it first finishes what other
/// ranks may be waiting for. A process that ends while its world is still there (in a `static`, or
/// by [`std::process::exit`]) has deserted the other ranks: it calls [`World::leave`] first.
#[derive(Debug)]
pub struct World(Communicator);

impl World {
    /// Leaves the world in good order, as dropping it and all that was made of it does: finishes
    /// what other ranks may be waiting for, and tells them and the launcher. For a world that is
    /// not dropped: one in a `static`, or of a program that ends by [`std::process::exit`]. Local,
    /// but in check mode, where it waits a moment for the others' last calls.
    ///
    /// All that was made of the world may still be there. What of it is under way and nobody else
    /// waits for ends with [`ErrorKind::PeerLeft`], which names this rank, and so does whatever
    /// is called later. Leaving again does nothing.
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
    /// In check mode, that calls of the ranks do not fit together, if no call of this rank has
    /// said so: the rank has left nevertheless. That an operator calls it: it has not left then.
    pub fn leave(&self) -> Result<()> {
        let core = self.core();
        drop(self.home().engine("leave")?);
        if core.has_left() || core.is_of_parent() {
            return Ok(());
        }
        let told = end_calls(self);
        core.leave();
        told
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

/// Calls nothing more in the world, which is left soon, and waits in check mode until that is so of
/// the other ranks, or nothing moves any more. Collective, but nobody is kept for long.
///
/// # Errors
/// That calls of the ranks do not fit together, if no call of this rank has said so.
pub fn end_calls(world: &World) -> Result<()> {
    let Some(membership) = world.membership() else { return Ok(()) };
    membership.end();
    world.core().compare_last_calls();
    let untold = world.core().untold_mismatch();
    untold.map_or(Ok(()), |reason| Err(world.error("leave", ErrorKind::Mismatch(reason))))
}

/// Joins the world of this process: that of its launcher or, without one, a world of one rank.
/// (`MPI_Init`)
///
/// # Errors
/// Surroundings that do not fit together, or a second call in one process under a launcher.
pub fn init() -> Result<World> {
    init_with(Settings::from_environment)
}

/// As [`init`], for a library that programs in other languages call: check mode and reports of
/// hangs name what `caller` says instead of a place in that library. It is asked within the call,
/// by the thread that makes it.
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

/// Joins the world of this process, which has at least `ranks` ranks: under a launcher as
/// [`init`], else this process starts `ranks` processes of itself with the same arguments, waits
/// for them and exits with their exit code.
///
/// # Errors
/// As [`init`]; that the processes cannot be started, or that the prices of the machine
/// ([`MACHINE`](crate::MACHINE)) cannot be read.
pub fn launch(ranks: usize) -> Result<World> {
    if let Some(seat) = bootstrap::from_environment().map_err(ErrorKind::from)? {
        return take_seat(seat, &Settings::from_environment()?);
    }
    let prices = machine::for_ranks()?;
    let outcome = launcher::relaunch(ranks, vec![prices]).map_err(ErrorKind::from)?;
    std::process::exit(i32::from(outcome.code))
}

/// Runs `body` on each rank of a new world whose ranks are threads of this process. Returns what
/// each rank returned, in rank order.
///
/// A rank leaves the world when its `body` returns, even if something that was made of the world
/// is still there, in what it returned, say: see [`World::leave`]. Of returned requests, a
/// collective that all ranks have begun and a send that is received are complete then, as is what
/// was complete before. All else that is under way ends with [`ErrorKind::PeerLeft`], and so do
/// receives, persistent operations that nobody has waited for, and later calls.
///
/// ```
/// let ranks = motet::threads(3, |world| world.rank() * 10)?;
/// assert_eq!(ranks, [0, 10, 20]);
/// # Ok::<(), motet::Error>(())
/// ```
///
/// # Errors
/// A rank that panicked, or an impossible number of ranks.
pub fn threads<T: Send>(ranks: usize, body: impl Fn(World) -> T + Sync) -> Result<Vec<T>> {
    threads_with(ranks, &Settings::from_environment()?, body)
}

/// As [`threads`], with settings that do not come from the environment.
///
/// # Errors
/// As [`threads`]; algorithms that do not apply are errors of the calls they are chosen for.
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
    tuning.machine = tuning.machine.shared(seat.segment.local_ranks(), seat.segment.cores());
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
    core.lessons().file = save.clone();
    let world = World(Communicator::world(Arc::new(core)));
    if is_told {
        world.take_wisdom_of_first(&source.text)?;
    }
    Ok(world)
}
