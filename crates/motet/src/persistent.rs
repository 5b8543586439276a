//! Persistent operations: planned and linked once, started as often as wanted.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use motet_fabric::slab::Id;

use crate::buffer::{
    Buffers, Held, Kept, OwnInput, RecvBuffer, SendBuffer, elements, elements_mut,
};
use crate::error::Result;
use crate::flight::{Flight, Origin};
use crate::raw;
use crate::sets::{InFlight, Pending};
use crate::status::Status;

/// A persistent operation that is not running. It owns its buffers; between runs they can be
/// read and written. (MPI 4.1 §3.9, §7.13)
///
/// ```
/// use motet::{Info, Sum};
///
/// motet::threads(2, |world| {
///     let mut dot = world.allreduce_init((vec![0.0], vec![0.0]), Sum, &Info::new())?;
///     for round in 0..3 {
///         dot.input_mut()[0] = f64::from(round);
///         let running = dot.start()?;
///         // ... something useful meanwhile ...
///         dot = running.wait()?;
///         assert_eq!(dot.output(), [2.0 * f64::from(round)]);
///     }
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
pub struct Persistent<B: Held + 'static> {
    flight: Flight,
    /// Gone only when [`Drop`] must not find them.
    parts: Option<B::Parts>,
}

impl<B: Held + 'static> Persistent<B> {
    pub(crate) fn new(origin: Origin, id: Id, parts: B::Parts) -> Persistent<B> {
        Persistent { flight: Flight::new(origin, id, true), parts: Some(parts) }
    }

    /// Starts the operation. The first messages leave before this returns; nothing is waited for.
    ///
    /// # Errors
    /// That a rank had died while the operation ran before.
    pub fn start(mut self) -> Result<Running<B>> {
        self.flight.start()?;
        Ok(Running { operation: self })
    }

    /// Starts the operation and waits until it is complete.
    ///
    /// # Errors
    /// What went wrong with this run; the operation can be run again unless the world has failed.
    pub fn run(&mut self) -> Result<()> {
        self.flight.start()?;
        self.flight.wait().map(drop)
    }

    /// Without its type, in a state that the caller knows.
    fn erase(mut self, state: raw::State) -> raw::Request {
        let flight = self.flight.take_over();
        let parts = self.parts.take().expect("buffers are there until taken");
        // SAFETY: a raw request gives a keeper to the engine, which drops it when the operation is
        // complete or cancelled; nothing is borrowed.
        let keeper = unsafe { Kept::<B>::keeper(parts) };
        raw::Request::message_or_collective(flight, keeper, state)
    }

    /// The name of the algorithm that was chosen.
    pub fn algorithm(&self) -> &'static str {
        let planned = self.flight.origin.core.engine().planned(self.flight.id);
        planned.map_or("none", |planned| planned.plan.algorithm())
    }

    /// What runs and why, in a few lines: the algorithm and the reason for it; its rounds; messages
    /// and bytes that this rank sends and receives, and how they travel; memory of the operation
    /// itself; the time that the cost model predicts.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let sum = world.allreduce_init(vec![1u64], motet::Sum, &motet::Info::new())?;
    /// assert!(sum.explain().starts_with("allreduce_init: "));
    /// assert!(sum.explain().contains("1 message of 8 bytes"));
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn explain(&self) -> String {
        self.flight.explain()
    }

    /// Ends the operation and gives the buffers back.
    pub fn into_buffers(mut self) -> B {
        self.flight.origin.core.engine().abandon(self.flight.id);
        let parts = self.parts.take().expect("buffers are there until taken");
        // SAFETY: our parts, taken once; the operation is gone, so nobody uses the memory.
        unsafe { B::put_together(parts) }
    }

    fn parts(&self) -> &B::Parts {
        self.parts.as_ref().expect("buffers are there until taken")
    }
}

impl<B: Buffers + 'static> Persistent<B> {
    /// The input, or the one buffer of an operation in place.
    pub fn input(&self) -> &[B::Element] {
        let span = B::input_memory(self.parts()).unwrap_or(B::output_memory(self.parts()));
        // SAFETY: a span of our parts; a `Persistent` is not running.
        unsafe { elements(self.parts(), span) }
    }

    /// The input, or the one buffer of an operation in place, to be filled for the next run.
    ///
    /// An input that others share cannot be changed:
    ///
    /// ```compile_fail,E0277
    /// # motet::threads(1, |world| {
    /// let shared = std::sync::Arc::<[u8]>::from([1, 2]);
    /// let buffers = (shared.clone(), vec![0, 0]);
    /// let mut sum = world.allreduce_init(buffers, motet::Sum, &motet::Info::new())?;
    /// sum.input_mut()[0] = 7; // `shared` would see it
    /// # Ok::<(), motet::Error>(())
    /// # });
    /// ```
    pub fn input_mut(&mut self) -> &mut [B::Element]
    where
        B: OwnInput,
    {
        let span = B::input_memory(self.parts()).unwrap_or(B::output_memory(self.parts()));
        // SAFETY: a span of our own parts, not shared; a `Persistent` is not running.
        unsafe { elements_mut(&mut self.parts, span) }
    }

    /// The output.
    pub fn output(&self) -> &[B::Element] {
        // SAFETY: a span of our parts; a `Persistent` is not running.
        unsafe { elements(self.parts(), B::output_memory(self.parts())) }
    }

    /// The output, to be changed.
    pub fn output_mut(&mut self) -> &mut [B::Element] {
        let span = B::output_memory(self.parts());
        // SAFETY: a span of our own parts; a `Persistent` is not running.
        unsafe { elements_mut(&mut self.parts, span) }
    }
}

impl<B: Held + 'static> Drop for Persistent<B> {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        // SAFETY: the engine drops a keeper when its operation is complete or cancelled (at once,
        // if it is not running); nothing is borrowed.
        let keeper = unsafe { Kept::<B>::keeper(parts) };
        self.flight.origin.core.detach(self.flight.id, keeper);
    }
}

impl<B: Held + 'static> From<Persistent<B>> for raw::Request {
    fn from(operation: Persistent<B>) -> raw::Request {
        operation.erase(raw::State::Inactive)
    }
}

impl<B: Held + 'static> From<Running<B>> for raw::Request {
    fn from(running: Running<B>) -> raw::Request {
        running.operation.erase(raw::State::Active)
    }
}

impl<B: Held + 'static> fmt::Debug for Persistent<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Persistent({})", self.flight.origin.call)
    }
}

/// A persistent operation that is running.
///
/// Dropping it does not stop it: the run ends by itself, then the operation is freed.
#[must_use = "a run that is dropped goes on unseen, and its buffers are lost"]
pub struct Running<B: Held + 'static> {
    operation: Persistent<B>,
}

// Nothing in a running operation is ever borrowed from itself.
impl<B: Held + 'static> Unpin for Running<B> {}

impl<B: Held + 'static> Running<B> {
    /// Waits until this run is complete; gives the operation back, ready to be started again.
    ///
    /// # Errors
    /// What went wrong with this run; the operation is freed then.
    ///
    /// # Panics
    /// When the run was awaited before, which has given the operation back.
    pub fn wait(mut self) -> Result<Persistent<B>> {
        self.assert_is_there();
        self.operation.flight.wait()?;
        Ok(self.operation)
    }

    /// Waits until this run is complete; gives the operation back, and of a receive what was
    /// received. For other operations the status means nothing.
    ///
    /// # Errors
    /// As [`Running::wait`].
    pub fn wait_with_status(mut self) -> Result<(Persistent<B>, Status)> {
        self.assert_is_there();
        let received = self.operation.flight.wait()?;
        let status = self.operation.flight.status(received);
        Ok((self.operation, status))
    }

    /// A future may have given the operation back already: a second handle could start it while the
    /// first one lends out its buffers. Asked before the wait, this does not move the operation.
    fn assert_is_there(&self) {
        assert!(self.operation.parts.is_some(), "a run was awaited, which gave its operation back");
    }

    /// What runs and why; see [`Persistent::explain`].
    pub fn explain(&self) -> String {
        self.operation.explain()
    }

    /// Cancels this run; see [`Request::cancel`](crate::Request::cancel).
    ///
    /// # Errors
    /// A collective cannot be cancelled.
    pub fn cancel(&mut self) -> Result<()> {
        self.operation.flight.cancel()
    }

    /// Whether this run is complete. Moves it on if it can; never waits.
    ///
    /// # Errors
    /// What went wrong with this run; it counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.operation.flight.test()
    }
}

impl<S, R> Running<(S, R)>
where
    S: SendBuffer<Element = R::Element> + 'static,
    R: RecvBuffer + 'static,
{
    /// The input, to be read while it is sent: so work that needs it may be done meanwhile.
    /// (MPI 4.1 §3.7.2)
    ///
    /// ```
    /// motet::threads(2, |world| {
    ///     let buffers = (vec![1.5; 4], vec![0.0; 4]);
    ///     let running = world.allreduce_init(buffers, motet::Sum, &motet::Info::new())?.start()?;
    ///     let own: f64 = running.input().iter().sum();
    ///     let all: f64 = running.wait()?.output().iter().sum();
    ///     assert_eq!((own, all), (6.0, 12.0));
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// One buffer in place is written while the operation runs, and cannot be read:
    ///
    /// ```compile_fail,E0599
    /// # motet::threads(1, |world| {
    /// let sum = world.allreduce_init(vec![1], motet::Sum, &motet::Info::new())?;
    /// let running = sum.start()?;
    /// running.input();
    /// # Ok::<(), motet::Error>(())
    /// # });
    /// ```
    pub fn input(&self) -> &[S::Element] {
        let parts = self.operation.parts();
        // SAFETY: a span of our parts; an input apart from the output is only read by a run, by
        // this rank and by others.
        unsafe { elements(parts, S::memory(&parts.0)) }
    }
}

/// The operation, ready to be started again. A run that has been awaited must not be polled again.
impl<B: Held + 'static> Future for Running<B> {
    type Output = Result<Persistent<B>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = self.operation.flight.poll(context);
        ended.map(|received| {
            received?;
            let Persistent { flight, parts } = &mut self.operation;
            let parts = parts.take().expect("not polled again after it was ready");
            Ok(Persistent::new(flight.origin.again(), flight.id, parts))
        })
    }
}

impl<B: Held + 'static> fmt::Debug for Running<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Running({})", self.operation.flight.origin.call)
    }
}

impl<B: Held + 'static> Pending for Running<B> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.operation.flight)
    }
}

/// Persistent operations that can be started together: one, a `Vec` of one kind, or a tuple of
/// several kinds. The order in which they are started has no meaning, and may differ between ranks.
pub trait Start {
    /// The same, running.
    type Running;

    /// Starts them all.
    ///
    /// # Errors
    /// As [`Persistent::start`].
    fn start_all(self) -> Result<Self::Running>;
}

/// Starts several persistent operations. (MPI 4.1 §3.9, `MPI_Startall`)
///
/// # Errors
/// As [`Persistent::start`].
pub fn start_all<S: Start>(operations: S) -> Result<S::Running> {
    operations.start_all()
}

impl<B: Held + 'static> Start for Persistent<B> {
    type Running = Running<B>;

    fn start_all(self) -> Result<Running<B>> {
        self.start()
    }
}

impl<S: Start> Start for Vec<S> {
    type Running = Vec<S::Running>;

    fn start_all(self) -> Result<Self::Running> {
        self.into_iter().map(S::start_all).collect()
    }
}

macro_rules! start_tuples {
    ($(($($name:ident $place:tt),+))*) => {$(
        impl<$($name: Start),+> Start for ($($name,)+) {
            type Running = ($($name::Running,)+);

            fn start_all(self) -> Result<Self::Running> {
                Ok(($(self.$place.start_all()?,)+))
            }
        }
    )*};
}

start_tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }
