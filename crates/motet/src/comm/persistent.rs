//! Persistent operations: planned and linked once, then started any number of times.
//!
//! **Access to the buffers.** A [`Running`] gives access only to an input, and only for reading. A
//! [`Persistent`] asks its operation handle whether a run that [`Persistent::begin`] started is
//! still in flight, and lends its buffers only if none is. The operation itself keeps this state,
//! not a guard that borrows it: a program could forget a guard and leave the buffers in use.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod together;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use motet_fabric::slab::Id;

use crate::base::error::{ErrorKind, Result};
use crate::base::status::Status;
use crate::comm::op_handle::{CallOrigin, OpHandle};
use crate::comm::sets::{InFlight, Pending};
use crate::data::buffer::{
    Buffers, HeldBuffers, OwnInput, RecvBuffer, SendBuffer, StableBuffer, elements, elements_mut,
};
pub use together::{Start, start_all};

/// A persistent operation, which owns its buffers. Between runs the program can read and write
/// them. (MPI 5.0 §3.9, §6.13)
///
/// [`start`](Persistent::start) converts it into a [`Running`], which has no access to the buffers
/// in use: code that touches them does not compile.
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
///
/// An operation can also run where it is, in a field of a structure: [`begin`](Persistent::begin)
/// starts it, and [`finish`](Persistent::finish) waits for it. Access to a buffer in use between
/// the two calls panics.
///
/// ```
/// use motet::{Info, Persistent, Sum};
///
/// struct Solver { dot: Persistent<Vec<f64>>, steps: u32 }
///
/// impl Solver {
///     fn step(&mut self) -> motet::Result<f64> {
///         self.dot.input_mut()[0] = 0.5;
///         self.dot.begin()?;
///         self.count(); // something useful meanwhile
///         self.dot.finish()?;
///         Ok(self.dot.output()[0])
///     }
///
///     fn count(&mut self) {
///         self.steps += 1;
///     }
/// }
///
/// motet::threads(2, |world| {
///     let dot = world.allreduce_init(vec![0.0], Sum, &Info::new())?;
///     let mut solver = Solver { dot, steps: 0 };
///     for _ in 0..3 {
///         assert_eq!(solver.step()?, 1.0);
///     }
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
pub struct Persistent<B: StableBuffer + 'static> {
    pub(crate) handle: OpHandle,
    /// `None` only where [`Drop`] must not find the buffers.
    pub(crate) parts: Option<B::Parts>,
}

impl<B: StableBuffer + 'static> Persistent<B> {
    pub(crate) fn new(origin: CallOrigin, id: Id, parts: B::Parts) -> Persistent<B> {
        Persistent { handle: OpHandle::inactive(origin, id), parts: Some(parts) }
    }

    /// Starts a run. The first messages leave before this returns; the call does not wait.
    /// (`MPI_Start`)
    ///
    /// # Errors
    /// As [`Persistent::begin`]; the operation is freed then.
    // The compiler shows the next line to a program that uses the operation after this, or starts
    // it in a field.
    #[rustfmt::skip]
    pub fn start(mut self) -> Result<Running<B>> { // in a field: `begin` and `finish`
        self.begin()?;
        Ok(Running { operation: self })
    }

    /// Starts a run of the operation where it is, for example in a field. Its buffers are in use
    /// until [`finish`](Persistent::finish) returns or [`test`](Persistent::test) reports that the
    /// run is complete. (`MPI_Start`)
    ///
    /// # Errors
    /// A rank died during an earlier run; or a run is already in flight, which continues
    /// undisturbed.
    #[inline]
    pub fn begin(&mut self) -> Result<()> {
        if self.is_active() {
            return Err(self.handle.origin.error(ErrorKind::of_request(
                "is active already: call `finish` before it is started again",
            )));
        }
        self.handle.start()
    }

    /// Waits until the current run is complete, and returns its result. Without a new run, it
    /// returns the last result again; for an operation that was never started, it returns `Ok`.
    ///
    /// # Errors
    /// The error of this run. The operation can be started again unless the world has failed.
    pub fn finish(&mut self) -> Result<()> {
        self.handle.wait().map(drop)
    }

    /// Does the same as [`finish`](Persistent::finish), and returns the status of a receive. For
    /// other operations the status has no meaning.
    ///
    /// # Errors
    /// As [`finish`](Persistent::finish).
    pub fn finish_with_status(&mut self) -> Result<Status> {
        let received = self.handle.wait()?;
        Ok(self.handle.status(received))
    }

    /// Tests whether the current run is complete. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// The error of the run, which is complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.handle.test()
    }

    /// Cancels the current run; see [`Request::cancel`](crate::Request::cancel).
    ///
    /// # Errors
    /// The operation is a collective, which cannot be cancelled.
    pub fn cancel(&mut self) -> Result<()> {
        self.handle.cancel()
    }

    /// Returns whether a run has begun whose completion has not been observed. The buffers are in
    /// use then.
    #[inline]
    pub fn is_active(&self) -> bool {
        !self.handle.is_over()
    }

    /// Starts a run and waits until it is complete.
    ///
    /// # Errors
    /// As [`begin`](Persistent::begin) and [`finish`](Persistent::finish).
    pub fn run(&mut self) -> Result<()> {
        self.begin()?;
        self.finish()
    }

    /// Panics if the buffers are in use.
    #[track_caller]
    fn assert_is_idle(&self, what: &str) {
        assert!(
            !self.is_active(),
            "the {what} of {} is in use: call `finish` before",
            self.handle.origin.call
        );
    }

    /// Returns the name of the algorithm.
    pub fn algorithm(&self) -> &'static str {
        let planned = self.handle.origin.core.engine().planned(self.handle.id);
        planned.map_or("none", |planned| planned.plan.algorithm())
    }

    /// Describes the operation in a few lines: the algorithm and the reason for it; its rounds; the
    /// messages and bytes that this rank sends and receives, and their transports; the memory of
    /// the operation itself; and the time that the cost model predicts.
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
        self.handle.explain()
    }

    /// Frees the operation and returns the buffers.
    ///
    /// # Panics
    /// A run is in flight.
    #[track_caller]
    pub fn into_buffers(mut self) -> B {
        self.assert_is_idle("memory");
        self.handle.origin.core.engine().abandon(self.handle.id);
        let parts = self.parts.take().expect("buffers are there until taken");
        // SAFETY: our parts, taken once; the operation is gone, so nobody uses the memory.
        unsafe { B::from_raw(parts) }
    }

    fn parts(&self) -> &B::Parts {
        self.parts.as_ref().expect("buffers are there until taken")
    }
}

impl<B: Buffers + 'static> Persistent<B> {
    /// Returns the input, or the single buffer of an in-place operation. An input separate from the
    /// output can also be read while it is being sent.
    ///
    /// # Panics
    /// A run of an in-place operation is in flight.
    #[track_caller]
    pub fn input(&self) -> &[B::Element] {
        let span = B::input_memory(self.parts()).unwrap_or_else(|| {
            self.assert_is_idle("buffer");
            B::output_memory(self.parts())
        });
        // SAFETY: a span of our parts. It is not in use, as just asserted, or is an input apart
        // from the output, which a run only reads.
        unsafe { elements(self.parts(), span) }
    }

    /// Returns the input, or the single buffer of an in-place operation, to fill for the next run.
    ///
    /// An input that other owners share cannot be changed:
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
    ///
    /// # Panics
    /// A run is in flight.
    #[track_caller]
    pub fn input_mut(&mut self) -> &mut [B::Element]
    where
        B: OwnInput,
    {
        self.assert_is_idle("input");
        let span = B::input_memory(self.parts()).unwrap_or(B::output_memory(self.parts()));
        // SAFETY: a span of our own parts, not shared; no run is under way.
        unsafe { elements_mut(&mut self.parts, span) }
    }

    /// Returns the output.
    ///
    /// # Panics
    /// A run is in flight.
    #[track_caller]
    pub fn output(&self) -> &[B::Element] {
        self.assert_is_idle("output");
        // SAFETY: a span of our parts; no run is under way.
        unsafe { elements(self.parts(), B::output_memory(self.parts())) }
    }

    /// Returns the output for writing.
    ///
    /// # Panics
    /// A run is in flight.
    #[track_caller]
    pub fn output_mut(&mut self) -> &mut [B::Element] {
        self.assert_is_idle("output");
        let span = B::output_memory(self.parts());
        // SAFETY: a span of our own parts; no run is under way.
        unsafe { elements_mut(&mut self.parts, span) }
    }
}

impl<B: StableBuffer + 'static> Drop for Persistent<B> {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        // SAFETY: the engine drops a keeper when its operation is complete or cancelled (at once,
        // if no run is under way); nothing is borrowed.
        let keeper = unsafe { HeldBuffers::<B>::keeper(parts) };
        self.handle.origin.core.give_up(self.handle.id, keeper);
    }
}

impl<B: StableBuffer + 'static> fmt::Debug for Persistent<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Persistent({})", self.handle.origin.call)
    }
}

/// A persistent operation with a run in flight.
///
/// A dropped `Running` does not stop its run: the run goes on, and the library frees the operation
/// on completion. A receive that has not matched a message is cancelled, as that of a dropped
/// [`Request`](crate::Request).
#[must_use = "a run that is dropped goes on unseen, and its buffers are lost"]
pub struct Running<B: StableBuffer + 'static> {
    pub(crate) operation: Persistent<B>,
}

// Nothing in a running operation is ever borrowed from itself.
impl<B: StableBuffer + 'static> Unpin for Running<B> {}

impl<B: StableBuffer + 'static> Running<B> {
    /// Waits until this run is complete, and returns the operation, which can be started again.
    ///
    /// # Errors
    /// The error of this run; the operation is freed then. To keep it in any case, use
    /// [`into_operation`](Running::into_operation) and [`Persistent::finish`].
    ///
    /// # Panics
    /// The run was awaited before, and that returned the operation.
    pub fn wait(mut self) -> Result<Persistent<B>> {
        self.assert_is_there();
        self.operation.handle.wait()?;
        Ok(self.operation)
    }

    /// Waits until this run is complete, and returns the operation and the status of a receive. For
    /// other operations the status has no meaning.
    ///
    /// # Errors
    /// As [`Running::wait`].
    pub fn wait_with_status(mut self) -> Result<(Persistent<B>, Status)> {
        self.assert_is_there();
        let received = self.operation.handle.wait()?;
        let status = self.operation.handle.status(received);
        Ok((self.operation, status))
    }

    /// Returns the operation while its run goes on, as if [`Persistent::begin`] had started it.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let sum = world.allreduce_init(vec![1], motet::Sum, &motet::Info::new())?;
    /// let mut sum = sum.start()?.into_operation();
    /// let ended = sum.finish(); // Whatever came of it, `sum` is still there.
    /// assert!(ended.is_ok() && sum.output() == [2]);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Panics
    /// The run was awaited before, and that returned the operation.
    pub fn into_operation(self) -> Persistent<B> {
        self.assert_is_there();
        self.operation
    }

    /// Panics if a future has already returned the operation: a second handle could start it while
    /// the first one lends out its buffers. Called before a wait, it leaves the operation in place.
    fn assert_is_there(&self) {
        assert!(self.operation.parts.is_some(), "a run was awaited, which gave its operation back");
    }

    /// Describes the algorithm in use and the reason for it; see [`Persistent::explain`].
    pub fn explain(&self) -> String {
        self.operation.explain()
    }

    /// Cancels this run; see [`Request::cancel`](crate::Request::cancel).
    ///
    /// # Errors
    /// The operation is a collective, which cannot be cancelled.
    pub fn cancel(&mut self) -> Result<()> {
        self.operation.handle.cancel()
    }

    /// Tests whether this run is complete. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// The error of this run, which counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.operation.handle.test()
    }
}

impl<S, R> Running<(S, R)>
where
    S: SendBuffer<Element = R::Element> + 'static,
    R: RecvBuffer + 'static,
{
    /// Returns the input for reading while it is being sent, so that the program can work with it
    /// meanwhile. (MPI 4.1 §3.7.2)
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
    /// The single buffer of an in-place operation is written during the run and cannot be read:
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

/// Returns the operation, which can be started again. Must not be polled after it was ready.
impl<B: StableBuffer + 'static> Future for Running<B> {
    type Output = Result<Persistent<B>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = self.operation.handle.poll(context);
        ended.map(|received| {
            received?;
            let Persistent { handle, parts } = &mut self.operation;
            let parts = parts.take().expect("not polled again after it was ready");
            Ok(Persistent::new(handle.origin.duplicate(), handle.id, parts))
        })
    }
}

impl<B: StableBuffer + 'static> fmt::Debug for Running<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Running({})", self.operation.handle.origin.call)
    }
}

impl<B: StableBuffer + 'static> Pending for Running<B> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.operation.handle)
    }
}

/// Functions that wait for one of several operations skip an operation that has not been started.
impl<B: StableBuffer + 'static> Pending for Persistent<B> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.handle)
    }
}
