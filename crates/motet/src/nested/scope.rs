//! Scopes: nonblocking operations on borrowed buffers.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod messages;

use std::cell::RefCell;
use std::marker::PhantomData;

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
use crate::types::element::AnyBytes;
pub use messages::MessageScope;

/// Starts nonblocking operations on borrowed buffers; see [`Communicator::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    communicator: &'scope Communicator,
    begun: RefCell<Vec<Id>>,
    /// Makes both lifetimes invariant: a scope must not be accepted as one of longer borrows.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Communicator {
    /// Runs `body`, in which nonblocking operations may borrow their buffers, and waits for all of
    /// these operations before it returns, even if their requests were dropped or forgotten.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let (own, mut sum) = ([1u32, 2], [0u32; 2]);
    /// world.scope(|scope| {
    ///     let pending = scope.iallreduce((&own[..], &mut sum[..]), motet::Sum)?;
    ///     // ... something useful meanwhile ...
    ///     pending.wait()?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum, [2, 4]);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// On a communicator with a topology, neighbourhood collectives can borrow their buffers, too:
    ///
    /// ```
    /// # motet::threads(3, |world| {
    /// let ring = world.cartesian(&[3], &[true], motet::Reorder::Never)?.expect("a place for all");
    /// let (own, mut beside) = ([ring.rank()], [0; 2]);
    /// ring.scope(|scope| {
    ///     let pending = scope.ineighbor_allgather((&own[..], &mut beside[..]))?;
    ///     // ... something useful meanwhile ...
    ///     pending.wait().map(drop)
    /// })?;
    /// assert_eq!(beside, [(own[0] + 2) % 3, (own[0] + 1) % 3]);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// If `body` returns an error, the scope cancels receives that have not matched a message, and
    /// does not wait for their messages.
    ///
    /// # Errors
    /// The error of `body`; otherwise the error of an operation that the program has not waited
    /// for.
    pub fn scope<'env, T>(
        &self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<T>,
    ) -> Result<T> {
        let begun = RefCell::new(Vec::new());
        let scope = Scope { communicator: self, begun, scope: PhantomData, env: PhantomData };
        let rest = Rest(self, &scope.begun);
        rest.end(body(&scope))
    }
}

/// The operations for which a scope still has to wait.
struct Rest<'a>(&'a Communicator, &'a RefCell<Vec<Id>>);

impl Rest<'_> {
    /// Waits for the remaining operations after the body has returned `result`.
    fn end<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.cancel_receives();
        }
        let waited = self.wait();
        result.and_then(|value| waited.map(|()| value))
    }

    /// Cancels the receives: the body may have failed before it sent the messages that they wait
    /// for.
    #[cold]
    fn cancel_receives(&self) {
        let Rest(communicator, begun) = self;
        if let Some(mut engine) = communicator.core().free_engine() {
            begun.borrow().iter().for_each(|&id| engine.cancel_receive(id));
        }
    }

    fn wait(&self) -> Result<()> {
        let Rest(communicator, begun) = self;
        let mut first = Ok(());
        for at in 0.. {
            // Should a wait panic, they are all still there to be abandoned.
            let Some(id) = begun.borrow().get(at).copied() else { break };
            let core = communicator.core();
            let ended = core.wait_for(&[id], |engine| engine.take_for_scope(id));
            let ended = ended.map_err(|error| communicator.error("scope", error.into()));
            first = first.and(ended);
        }
        begun.borrow_mut().clear();
        first
    }
}

impl Drop for Rest<'_> {
    /// Operations remain only after a panic in the body of the scope or in an operator. Other ranks
    /// may wait for this dying rank just as it would wait for them here, so it does not wait.
    fn drop(&mut self) {
        let Rest(communicator, begun) = self;
        begun.take().into_iter().for_each(|id| communicator.core().engine().abandon(id));
    }
}

impl<'env> Scope<'_, 'env> {
    /// Returns the communicator, and the operations for which the scope waits.
    pub(crate) fn books(&self) -> (&Communicator, &RefCell<Vec<Id>>) {
        (self.communicator, &self.begun)
    }

    #[track_caller]
    fn pend<B: Buffers + 'env>(
        &self,
        call: &'static str,
        buffers: B,
        prepare: impl FnOnce(&Communicator, &'static str, &B::Parts) -> Result<PreparedCall>,
    ) -> Result<Request<B>> {
        let comm = self.communicator;
        // SAFETY: the scope waits for all that it remembers, and `'env` outlives it.
        self.remember(unsafe { comm.nonblocking(buffers, |parts| prepare(comm, call, parts)) }?)
    }

    fn remember<B: StableBuffer>(&self, request: Request<B>) -> Result<Request<B>> {
        remember(self.communicator, &self.begun, &request);
        Ok(request)
    }

    pending_collectives!(request 'env);
}

/// Makes a scope wait for an operation, even if its request is dropped or forgotten.
pub(crate) fn remember<B: StableBuffer>(
    communicator: &Communicator,
    begun: &RefCell<Vec<Id>>,
    request: &Request<B>,
) {
    communicator.core().engine().hold(request.id());
    begun.borrow_mut().push(request.id());
}
