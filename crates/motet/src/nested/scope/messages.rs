//! Messages with borrowed buffers, on communicators and intercommunicators.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Rest, Scope};
use crate::base::error::Result;
use crate::base::status::{Source, Tag, TagFilter};
use crate::collective::intercommunicator::Intercommunicator;
use crate::comm::request::Request;
use crate::data::buffer::{RecvBuffer, SendBuffer};
use crate::point_to_point::{Message, Mode};

impl<'env> Scope<'_, 'env> {
    /// Nonblocking [`send`](crate::Communicator::send). (`MPI_Isend`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn isend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        // SAFETY: as for `post`.
        self.remember(unsafe {
            self.communicator.isend_with("isend", buffer, (to, tag), Mode::Standard)
        }?)
    }

    /// Nonblocking [`ssend`](crate::Communicator::ssend). (`MPI_Issend`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn issend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        // SAFETY: as for `post`.
        self.remember(unsafe {
            self.communicator.isend_with("issend", buffer, (to, tag), Mode::Synchronous)
        }?)
    }

    /// Nonblocking [`recv`](crate::Communicator::recv). (`MPI_Irecv`)
    ///
    /// # Errors
    /// The source is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irecv<B: RecvBuffer + 'env>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Request<B>> {
        let (from, tag) = (from.into(), tag.into());
        // SAFETY: as for `post`.
        self.remember(unsafe { self.communicator.irecv_with(buffer, from, tag) }?)
    }

    /// Nonblocking [`bsend`](crate::Communicator::bsend). (`MPI_Ibsend`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn ibsend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        let mode = Mode::Buffered(self.communicator.rooms());
        // SAFETY: as for `post`.
        self.remember(unsafe { self.communicator.isend_with("ibsend", buffer, (to, tag), mode) }?)
    }

    /// Nonblocking [`rsend`](crate::Communicator::rsend). (`MPI_Irsend`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irsend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        let mode = Mode::Standard;
        // SAFETY: as for `post`.
        self.remember(unsafe { self.communicator.isend_with("irsend", buffer, (to, tag), mode) }?)
    }

    /// Nonblocking [`sendrecv`](crate::Communicator::sendrecv). (`MPI_Isendrecv`)
    ///
    /// # Errors
    /// As [`isend`](Scope::isend) and [`irecv`](Scope::irecv).
    pub fn isendrecv<S, R>(
        &self,
        outgoing: (S, usize, Tag),
        (buffer, from, tag): (R, impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<(S, R)>>
    where
        S: SendBuffer + 'env,
        R: RecvBuffer + 'env,
    {
        let incoming = (buffer, from.into(), tag.into());
        // SAFETY: as for `post`.
        self.remember(unsafe { self.communicator.isendrecv_with(outgoing, incoming) }?)
    }

    /// Nonblocking [`Message::mrecv`]. (`MPI_Imrecv`)
    ///
    /// # Errors
    /// As [`Message::imrecv`].
    ///
    /// # Panics
    /// The message came to another rank than that of the scope, which is possible only if both are
    /// threads of one process.
    pub fn imrecv<B: RecvBuffer + 'env>(&self, message: Message, buffer: B) -> Result<Request<B>> {
        let here = Arc::ptr_eq(message.core(), self.communicator.core());
        assert!(here, "a message is received by the rank that it came to");
        // SAFETY: as for `post`; the scope waits at the rank that the operation belongs to.
        self.remember(unsafe { message.imrecv_with(buffer) }?)
    }
}

/// Starts messages between two groups, with borrowed buffers; see [`Intercommunicator::scope`].
pub struct MessageScope<'scope, 'env: 'scope>(Scope<'scope, 'env>);

impl Intercommunicator {
    /// Runs `body`, in which nonblocking messages may borrow their buffers, and waits for all of
    /// these messages before it returns, even if their requests were dropped or forgotten; see
    /// [`Communicator::scope`](crate::Communicator::scope).
    ///
    /// # Errors
    /// The error of `body`; otherwise the error of a message that the program has not waited for.
    pub fn scope<'env, T>(
        &self,
        body: impl for<'scope> FnOnce(&'scope MessageScope<'scope, 'env>) -> Result<T>,
    ) -> Result<T> {
        let communicator = self.far();
        let begun = RefCell::new(Vec::new());
        let scope = Scope { communicator, begun, scope: PhantomData, env: PhantomData };
        let scope = MessageScope(scope);
        let rest = Rest(communicator, &scope.0.begun);
        rest.end(body(&scope))
    }
}

impl<'env> MessageScope<'_, 'env> {
    /// As [`Intercommunicator::isend`]. (`MPI_Isend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn isend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        self.0.isend(buffer, to, tag)
    }

    /// As [`Intercommunicator::issend`]. (`MPI_Issend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn issend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        self.0.issend(buffer, to, tag)
    }

    /// As [`Intercommunicator::ibsend`]. (`MPI_Ibsend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn ibsend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        self.0.ibsend(buffer, to, tag)
    }

    /// As [`Intercommunicator::irsend`]. (`MPI_Irsend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irsend<B: SendBuffer + 'env>(
        &self,
        buffer: B,
        to: usize,
        tag: Tag,
    ) -> Result<Request<B>> {
        self.0.irsend(buffer, to, tag)
    }

    /// As [`Intercommunicator::irecv`]. (`MPI_Irecv`)
    ///
    /// # Errors
    /// The source is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irecv<B: RecvBuffer + 'env>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Request<B>> {
        self.0.irecv(buffer, from, tag)
    }

    /// As [`Intercommunicator::isendrecv`]. (`MPI_Isendrecv`)
    ///
    /// # Errors
    /// The destination or the source is not in the remote group; or the tag is above
    /// [`TAG_UB`](crate::TAG_UB).
    pub fn isendrecv<S, R>(
        &self,
        outgoing: (S, usize, Tag),
        incoming: (R, impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<(S, R)>>
    where
        S: SendBuffer + 'env,
        R: RecvBuffer + 'env,
    {
        self.0.isendrecv(outgoing, incoming)
    }

    /// As [`Scope::imrecv`]. (`MPI_Imrecv`)
    ///
    /// # Errors
    /// As [`Message::imrecv`].
    ///
    /// # Panics
    /// As [`Scope::imrecv`].
    pub fn imrecv<B: RecvBuffer + 'env>(&self, message: Message, buffer: B) -> Result<Request<B>> {
        self.0.imrecv(message, buffer)
    }
}
