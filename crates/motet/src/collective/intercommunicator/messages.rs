//! Point-to-point messages between the two groups of an intercommunicator. (MPI 4.1 §3, §7.6)
//!
//! Destinations and sources are ranks of the remote group, and so is the source in a status.

use super::Intercommunicator;
use crate::Element;
use crate::base::error::Result;
use crate::base::status::{Source, Status, Tag, TagFilter};
use crate::comm::persistent::Persistent;
use crate::comm::request::Request;
use crate::data::buffer::{RecvBuffer, SendBuffer};
use crate::engine::BufferRoom;
use crate::point_to_point::Message;

impl Intercommunicator {
    /// Sends a message; see [`Communicator::send`](crate::Communicator::send). (`MPI_Send`)
    ///
    /// # Errors
    /// The destination is not in the remote group, or has died or left; or the tag is above
    /// [`TAG_UB`](crate::TAG_UB).
    pub fn send<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.send(data, to, tag)
    }

    /// Sends a message in synchronous mode: waits until a receive has matched it. (`MPI_Ssend`)
    ///
    /// # Errors
    /// As [`send`](Intercommunicator::send).
    pub fn ssend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.ssend(data, to, tag)
    }

    /// Copies a message into the attached buffer, from which the library sends it. (`MPI_Bsend`)
    ///
    /// # Errors
    /// As [`send`](Intercommunicator::send); or the attached buffer has no room, or there is none.
    pub fn bsend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.bsend(data, to, tag)
    }

    /// Sends a message whose receive is already posted. (`MPI_Rsend`)
    ///
    /// # Errors
    /// As [`send`](Intercommunicator::send).
    pub fn rsend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.far.rsend(data, to, tag)
    }

    /// Receives a message into a buffer that is long enough. (`MPI_Recv`)
    ///
    /// # Errors
    /// The source is not in the remote group, or has died or left; or the message is longer than
    /// the buffer or has another type.
    pub fn recv<T: Element>(
        &self,
        buffer: &mut [T],
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Status> {
        self.far.recv(buffer, from, tag)
    }

    /// Sends one message and receives another, in any order of completion. (`MPI_Sendrecv`)
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

    /// Sends the contents of a buffer, and receives into the same buffer. (`MPI_Sendrecv_replace`)
    ///
    /// # Errors
    /// As [`sendrecv`](Intercommunicator::sendrecv).
    pub fn sendrecv_replace<T: Element>(
        &self,
        buffer: &mut [T],
        outgoing: (usize, Tag),
        incoming: (impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        self.far.sendrecv_replace(buffer, outgoing, incoming)
    }

    /// Nonblocking [`send`](Intercommunicator::send). (`MPI_Isend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn isend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.isend(buffer, to, tag)
    }

    /// Nonblocking [`ssend`](Intercommunicator::ssend). (`MPI_Issend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn issend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.issend(buffer, to, tag)
    }

    /// Nonblocking [`bsend`](Intercommunicator::bsend). (`MPI_Ibsend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn ibsend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.ibsend(buffer, to, tag)
    }

    /// Nonblocking [`rsend`](Intercommunicator::rsend). (`MPI_Irsend`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irsend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.irsend(buffer, to, tag)
    }

    /// Nonblocking [`recv`](Intercommunicator::recv). (`MPI_Irecv`)
    ///
    /// # Errors
    /// The source is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
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

    /// Nonblocking [`sendrecv`](Intercommunicator::sendrecv). (`MPI_Isendrecv`)
    ///
    /// # Errors
    /// As [`isend`](Intercommunicator::isend) and [`irecv`](Intercommunicator::irecv).
    pub fn isendrecv<S, R>(
        &self,
        outgoing: (S, usize, Tag),
        incoming: (R, impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<(S, R)>>
    where
        S: SendBuffer + 'static,
        R: RecvBuffer + 'static,
    {
        self.far.isendrecv(outgoing, incoming)
    }

    /// Nonblocking [`sendrecv_replace`](Intercommunicator::sendrecv_replace).
    /// (`MPI_Isendrecv_replace`)
    ///
    /// # Errors
    /// As [`isendrecv`](Intercommunicator::isendrecv).
    pub fn isendrecv_replace<B>(
        &self,
        buffer: B,
        outgoing: (usize, Tag),
        incoming: (impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<B>>
    where
        B: RecvBuffer + 'static,
    {
        self.far.isendrecv_replace(buffer, outgoing, incoming)
    }

    /// Persistent [`send`](Intercommunicator::send). (`MPI_Send_init`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn send_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.send_init(buffer, to, tag)
    }

    /// Persistent [`ssend`](Intercommunicator::ssend). (`MPI_Ssend_init`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn ssend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.ssend_init(buffer, to, tag)
    }

    /// Persistent [`bsend`](Intercommunicator::bsend). (`MPI_Bsend_init`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn bsend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.bsend_init(buffer, to, tag)
    }

    /// Persistent [`rsend`](Intercommunicator::rsend). (`MPI_Rsend_init`)
    ///
    /// # Errors
    /// The destination is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn rsend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static,
    {
        self.far.rsend_init(buffer, to, tag)
    }

    /// Persistent [`recv`](Intercommunicator::recv). (`MPI_Recv_init`)
    ///
    /// # Errors
    /// The source is not in the remote group; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn recv_init<B>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Persistent<B>>
    where
        B: RecvBuffer + 'static,
    {
        self.far.recv_init(buffer, from, tag)
    }

    /// Waits until a matching message has arrived, without receiving it. (`MPI_Probe`)
    ///
    /// # Errors
    /// The source is not in the remote group, or has died or left; or the tag is above
    /// [`TAG_UB`](crate::TAG_UB).
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Status> {
        self.far.probe(from, tag)
    }

    /// Returns the status of a matching message if one has arrived. Never waits. (`MPI_Iprobe`)
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

    /// Waits until a matching message has arrived, and removes it from the queue. (`MPI_Mprobe`)
    ///
    /// # Errors
    /// As [`probe`](Intercommunicator::probe).
    pub fn mprobe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Message> {
        self.far.mprobe(from, tag)
    }

    /// Removes a matching message from the queue if one has arrived. Never waits. (`MPI_Improbe`)
    ///
    /// # Errors
    /// As [`probe`](Intercommunicator::probe).
    pub fn improbe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Message>> {
        self.far.improbe(from, tag)
    }

    /// Attaches a buffer for the buffered sends of this intercommunicator. Local.
    /// (`MPI_Comm_attach_buffer`)
    ///
    /// # Errors
    /// A buffer is already attached.
    pub fn attach_buffer(&self, room: BufferRoom) -> Result<()> {
        self.far.attach_buffer(room)
    }

    /// Waits until all messages buffered here have been sent, and detaches and returns the buffer.
    /// (`MPI_Comm_detach_buffer`)
    ///
    /// # Errors
    /// No buffer is attached; or a rank has died.
    pub fn detach_buffer(&self) -> Result<BufferRoom> {
        self.far.detach_buffer()
    }

    /// Waits until all messages buffered here have been sent. (`MPI_Comm_flush_buffer`)
    ///
    /// # Errors
    /// A rank has died.
    pub fn flush_buffer(&self) -> Result<()> {
        self.far.flush_buffer()
    }

    /// Nonblocking [`flush_buffer`](Intercommunicator::flush_buffer). (`MPI_Comm_iflush_buffer`)
    ///
    /// # Errors
    /// As [`Communicator::iflush_buffer`](crate::Communicator::iflush_buffer).
    pub fn iflush_buffer(&self) -> Result<Request<()>> {
        self.far.iflush_buffer()
    }
}
