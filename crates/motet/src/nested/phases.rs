//! Two-phase collectives of 1997: `X_begin` and `X_end` for every collective.
//!
//! # History
//!
//! In 1997 nonblocking collectives were discussed as pairs of calls instead of requests. This
//! module implements this version: both calls are collective; any number of pairs may be open on a
//! communicator; the pairs are strictly nested (the ends come in the reverse order of the begins);
//! and all ranks make them in the same order, so there are no tags and no requests. A begin may
//! block. Therefore even an implementation with only blocking collectives could offer them, and
//! resources can be allocated when the first pair begins instead of when a communicator is made.
//!
//! # Semantics here
//!
//! A begin is nevertheless local: it starts an operation like that of the nonblocking form, and the
//! end waits for this operation only. Programs must not rely on either. Nesting concerns one
//! communicator: pairs on different communicators may interleave in any way, and other collectives
//! may be called between a begin and its end, in the same order on all ranks. All these calls share
//! one sequence of numbers and have their own names (`bcast_begin`), so in check mode a begin never
//! matches a blocking, nonblocking or persistent call. Ends take no number: if the begins are in
//! order, so are the ends, unless ranks open and close at different depths, which causes no error
//! here.
//!
//! # Typed interface
//!
//! [`Communicator::phases`] returns the root of the nesting, [`Phases`]. A collective that begins
//! on the root is a [`Phase`], which borrows the root mutably; a collective that begins inside that
//! phase borrows the phase. So while an inner phase is open, the outer phase cannot end and no
//! other phase can begin on it: such programs do not compile. Two roots of one communicator would
//! not be nested in each other, so only one can exist at a time. A program can skip a destructor
//! (`mem::forget`), so the operation owns the buffers, as for requests; buffers in a
//! [`Communicator::scope`] may be borrowed, because the scope waits.
//!
//! # Untyped interface
//!
//! A C library ends phases by communicator:
//! [`raw::Collective::begin`](crate::raw::Collective::begin) pushes a phase on the stack of the
//! communicator, and [`raw::end`](crate::raw::end) pops it. The stack is allocated on first use;
//! until then a communicator has one empty pair of words for it. A typed root and an untyped stack
//! of one communicator cannot be used at the same time, except that a root may live inside open
//! untyped phases.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use motet_fabric::slab::Id;
use motet_plan::Block;

use crate::base::error::Result;
use crate::collective::{
    CollectiveArgs, Peers, PreparedCall, ScanKind, TypedBlock, TypedBlocks, collective,
    pending_collectives, pending_sparse, sparse_collectives,
};
use crate::comm::communicator::Communicator;
use crate::comm::request::Request;
use crate::data::buffer::{Buffers, RecvBuffer, SendBuffer, StableBuffer};
use crate::data::kernel::kernel;
use crate::data::op::Operator;
use crate::nested::scope::{Scope, remember};
use crate::types::element::AnyBytes;

/// The place where phases begin whose buffers live at least for `'buffers`.
#[derive(Clone, Copy)]
struct NestingRoot<'on, 'buffers> {
    communicator: &'on Communicator,
    /// The operations for which a scope waits. `None` outside scopes: `'buffers` is `'static` then.
    begun: Option<&'on RefCell<Vec<Id>>>,
    /// Makes `'buffers` invariant: a root for owned buffers must not be accepted as one for
    /// borrowed ones.
    buffers: PhantomData<fn(&'buffers ()) -> &'buffers ()>,
}

impl<'on> NestingRoot<'on, 'static> {
    fn of(communicator: &'on Communicator) -> NestingRoot<'on, 'static> {
        NestingRoot { communicator, begun: None, buffers: PhantomData }
    }
}

impl<'on, 'buffers> NestingRoot<'on, 'buffers> {
    fn of_scope(scope: &'on Scope<'_, 'buffers>) -> NestingRoot<'on, 'buffers> {
        let (communicator, begun) = scope.books();
        NestingRoot { communicator, begun: Some(begun), buffers: PhantomData }
    }

    /// Takes the root of the nesting. Fails if another root is alive.
    fn root(self) -> Result<Phases<'on, 'buffers>> {
        let rooted = self.communicator.nesting().take_root();
        rooted.map_err(|kind| self.communicator.error("phases", kind))?;
        Ok(Phases { place: self })
    }

    #[track_caller]
    fn begin<B: Buffers + 'buffers>(
        self,
        call: &'static str,
        buffers: B,
        prepare: impl FnOnce(&Communicator, &'static str, &B::Parts) -> Result<PreparedCall>,
    ) -> Result<Phase<'on, 'buffers, B>> {
        let comm = self.communicator;
        // SAFETY: nothing is borrowed, or a scope remembers the operation and waits for it, and
        // `'buffers` outlives that scope.
        let request = unsafe { comm.nonblocking(buffers, |parts| prepare(comm, call, parts)) }?;
        if let Some(begun) = self.begun {
            remember(comm, begun, &request);
        }
        Ok(Phase { request, place: self })
    }
}

/// The root of the nesting of phases on a communicator; see [`Communicator::phases`].
///
/// It is not `Send`: the order of the calls of one thread defines the nesting.
pub struct Phases<'on, 'buffers> {
    place: NestingRoot<'on, 'buffers>,
}

impl Communicator {
    /// Returns the root of the nesting of two-phase collectives. A phase that begins on the root
    /// must end before another one begins on it; any number of phases may begin inside one another.
    /// Local. (The two-phase collectives of 1997)
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let mut phases = world.phases()?;
    /// let mut outer = phases.allreduce_begin(vec![world.rank()], motet::Sum)?;
    /// let inner = outer.bcast_begin(vec![7 * world.rank()], 1)?;
    /// // ... something useful meanwhile ...
    /// assert_eq!(inner.end()?, [7]);
    /// assert_eq!(outer.end()?, [1]);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// Wrong nesting does not compile:
    ///
    /// ```compile_fail,E0505
    /// # motet::threads(1, |world| {
    /// # let mut phases = world.phases()?;
    /// let mut outer = phases.allreduce_begin(vec![world.rank()], motet::Sum)?;
    /// let inner = outer.barrier_begin()?;
    /// outer.end()?; // the inner one is open
    /// inner.end()?;
    /// # Ok::<(), motet::Error>(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// Another root of this communicator is alive.
    pub fn phases(&self) -> Result<Phases<'_, 'static>> {
        NestingRoot::of(self).root()
    }
}

impl<'env> Scope<'_, 'env> {
    /// Does the same as [`Communicator::phases`], for buffers that are borrowed for longer than the
    /// scope.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let mut sum = [world.rank()];
    /// world.scope(|scope| {
    ///     let mut phases = scope.phases()?;
    ///     let phase = phases.allreduce_begin(&mut sum[..], motet::Sum)?;
    ///     // ... something useful meanwhile ...
    ///     phase.end().map(drop)
    /// })?;
    /// assert_eq!(sum, [1]);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Communicator::phases`].
    pub fn phases(&self) -> Result<Phases<'_, 'env>> {
        NestingRoot::of_scope(self).root()
    }
}

/// The collectives that begin at the root.
impl<'buffers> Phases<'_, 'buffers> {
    #[track_caller]
    fn pend<B: Buffers + 'buffers>(
        &mut self,
        call: &'static str,
        buffers: B,
        prepare: impl FnOnce(&Communicator, &'static str, &B::Parts) -> Result<PreparedCall>,
    ) -> Result<Phase<'_, 'buffers, B>> {
        self.place.begin(call, buffers, prepare)
    }

    pending_collectives!(phase 'buffers);
}

impl Drop for Phases<'_, '_> {
    fn drop(&mut self) {
        self.place.communicator.nesting().give_root_back();
    }
}

impl fmt::Debug for Phases<'_, '_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Phases({:?})", self.place.communicator)
    }
}

/// A collective that has begun and must be ended: by [`end`](Phase::end), or as a future by
/// `.await`. Both return the buffers. Phases that have begun inside it must end before.
///
/// Dropping a phase does not cancel the collective: like that of a dropped [`Request`], it goes on,
/// and the library frees its buffers on completion.
#[must_use = "a phase that is dropped goes on unseen, and its buffers are lost"]
pub struct Phase<'outer, 'buffers, B: StableBuffer> {
    request: Request<B>,
    place: NestingRoot<'outer, 'buffers>,
}

impl<B: StableBuffer> Phase<'_, '_, B> {
    /// Ends the phase: waits until the collective is complete, and returns the buffers. All ranks
    /// end their phases in the same order.
    ///
    /// # Errors
    /// The error of the collective; the buffers are dropped then.
    pub fn end(self) -> Result<B> {
        self.request.wait()
    }

    /// Tests whether the collective is complete, so that [`end`](Phase::end) will not wait. Makes
    /// progress if possible, and never waits.
    ///
    /// # Errors
    /// The error of the collective, which counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.request.test()
    }
}

/// The collectives that begin inside the phase.
impl<'buffers, Outer: StableBuffer> Phase<'_, 'buffers, Outer> {
    #[track_caller]
    fn pend<B: Buffers + 'buffers>(
        &mut self,
        call: &'static str,
        buffers: B,
        prepare: impl FnOnce(&Communicator, &'static str, &B::Parts) -> Result<PreparedCall>,
    ) -> Result<Phase<'_, 'buffers, B>> {
        self.place.begin(call, buffers, prepare)
    }

    pending_collectives!(phase 'buffers);
}

impl<B: StableBuffer> Future for Phase<'_, '_, B> {
    type Output = Result<B>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<B>> {
        Pin::new(&mut self.request).poll(context)
    }
}

impl<B: StableBuffer> fmt::Debug for Phase<'_, '_, B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Phase({:?})", self.request)
    }
}
