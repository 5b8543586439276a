//! Messages from a rank of one group to a rank of the other. (MPI 4.1 §3, §7.6)
//!
//! Destinations and sources are ranks of the remote group, and so are those that a status tells.

use super::Intercommunicator;
use crate::Element;
use crate::buffer::{RecvBuffer, SendBuffer};
use crate::error::Result;
use crate::request::Request;
use crate::status::{Source, Status, Tag, TagFilter};

impl Intercommunicator {
    /// Sends a message; see [`Communicator::send`](crate::Communicator::send). (`MPI_Send`)
    ///
    /// # Errors
    /// A destination that is not in the remote group, has died or left.
    pub fn send<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.send(data, to, tag)
    }

    /// Sends a message, and waits until a receive has taken it. (`MPI_Ssend`)
    ///
    /// # Errors
    /// As [`send`](Intercommunicator::send).
    pub fn ssend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.ssend(data, to, tag)
    }

    /// Receives a message into a buffer that is long enough. (`MPI_Recv`)
    ///
    /// # Errors
    /// A source that is not in the remote group, has died or left; a message that is too long or
    /// of another type.
    pub fn recv<T: Element>(
        &self,
        buffer: &mut [T],
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Status> {
        self.far.recv(buffer, from, tag)
    }

    /// Sends one message and receives another, whichever comes first. (`MPI_Sendrecv`)
    ///
    /// # Errors
    /// As [`send`](Intercommunicator::send) and [`recv`](Intercommunicator::recv).
    pub fn sendrecv<S: Element, R: Element>(
        &self,
        outgoing: (&[S], usize, Tag),
        incoming: (&mut [R], impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        self.far.sendrecv(outgoing, incoming)
    }

    /// Nonblocking [`send`](Intercommunicator::send). (`MPI_Isend`)
    ///
    /// # Errors
    /// A destination that is not in the remote group.
    pub fn isend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.isend(buffer, to, tag)
    }

    /// Nonblocking [`ssend`](Intercommunicator::ssend). (`MPI_Issend`)
    ///
    /// # Errors
    /// A destination that is not in the remote group.
    pub fn issend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.issend(buffer, to, tag)
    }

    /// Nonblocking [`recv`](Intercommunicator::recv). (`MPI_Irecv`)
    ///
    /// # Errors
    /// A source that is not in the remote group.
    pub fn irecv<B>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Request<B>>
    where
        B: RecvBuffer + 'static,
    {
        self.far.irecv(buffer, from, tag)
    }

    /// Waits until a message is there; does not receive it. (`MPI_Probe`)
    ///
    /// # Errors
    /// A source that is not in the remote group, has died or left.
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Status> {
        self.far.probe(from, tag)
    }

    /// Whether a message is there; does not receive it. (`MPI_Iprobe`)
    ///
    /// # Errors
    /// As [`probe`](Intercommunicator::probe).
    pub fn iprobe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Status>> {
        self.far.iprobe(from, tag)
    }
}
