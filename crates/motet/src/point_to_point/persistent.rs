//! Persistent sends and receives: set up once, and posted at each start. (MPI 4.1 §3.9)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Mode, outgoing, staging_of};
use crate::base::error::Result;
use crate::base::status::{Source, Tag, TagFilter};
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{GiveBack, RecvBuffer, SendBuffer, StableBuffer};
use crate::engine::{Engine, PackedBuffers, Posting, Transfer};
use crate::types::element::code_for;

impl Communicator {
    /// Persistent [`send`](Communicator::send): each start sends the contents that the buffer has
    /// then. (`MPI_Send_init`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn send_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static, // it owns its buffer: pass a `Vec`
    {
        self.send_init_with("send_init", buffer, (to, tag), Mode::Standard)
    }

    /// Persistent [`ssend`](Communicator::ssend). (`MPI_Ssend_init`)
    ///
    /// # Errors
    /// As [`send_init`](Communicator::send_init).
    pub fn ssend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static, // it owns its buffer: pass a `Vec`
    {
        self.send_init_with("ssend_init", buffer, (to, tag), Mode::Synchronous)
    }

    /// Persistent [`bsend`](Communicator::bsend). Each start uses the buffer that is attached then;
    /// if it has no room, the wait returns the error. (`MPI_Bsend_init`)
    ///
    /// # Errors
    /// As [`send_init`](Communicator::send_init).
    pub fn bsend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static, // it owns its buffer: pass a `Vec`
    {
        self.send_init_with("bsend_init", buffer, (to, tag), Mode::Buffered(self.rooms()))
    }

    /// Persistent [`rsend`](Communicator::rsend). (`MPI_Rsend_init`)
    ///
    /// # Errors
    /// As [`send_init`](Communicator::send_init).
    pub fn rsend_init<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Persistent<B>>
    where
        B: SendBuffer + 'static, // it owns its buffer: pass a `Vec`
    {
        self.send_init_with("rsend_init", buffer, (to, tag), Mode::Standard)
    }

    /// Persistent [`recv`](Communicator::recv): each start receives one message.
    /// (`MPI_Recv_init`)
    ///
    /// # Errors
    /// The source is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn recv_init<B>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Persistent<B>>
    where
        B: RecvBuffer + 'static, // it owns its buffer: pass a `Vec`
    {
        let selector = self.selector("recv_init", from.into(), tag.into())?;
        let parts = GiveBack::<B>::new(buffer);
        let transfer = Transfer::receive::<B::Element>(selector, B::span(parts.get()));
        // SAFETY: the persistent operation holds the parts as long as it is there.
        let staging = unsafe { staging_of([None, <B as SendBuffer>::items(parts.get())]) };
        self.store("recv_init", (transfer, staging), parts)
    }

    fn send_init_with<B: SendBuffer + 'static>(
        &self,
        call: &'static str,
        buffer: B,
        (to, tag): (usize, Tag),
        mode: Mode,
    ) -> Result<Persistent<B>> {
        let envelope = self.envelope(call, to, tag, code_for::<B::Element>())?;
        let parts = GiveBack::<B>::new(buffer);
        // SAFETY: the persistent operation holds the parts as long as it is there.
        let staging = unsafe { staging_of([B::items(parts.get()), None]) };
        // SAFETY: as above.
        let (span, staging) = unsafe { outgoing::<B::Element>(B::span(parts.get()), staging) };
        let transfer = Transfer::send::<B::Element>(envelope, span, mode);
        self.store(call, (transfer, staging), parts)
    }

    /// Stores a transfer of the buffer's parts as a persistent operation.
    fn store<B: StableBuffer + 'static>(
        &self,
        call: &'static str,
        (transfer, staging): (Transfer, Option<Box<PackedBuffers>>),
        parts: GiveBack<B>,
    ) -> Result<Persistent<B>> {
        // SAFETY: the persistent operation holds the parts as long as it is there.
        let store = |engine: &mut Engine| unsafe {
            engine.add_transfer(transfer, staging, Posting::AtStart)
        };
        let id = self.with_room(call, store)?;
        Ok(Persistent::new(self.origin(call), id, parts.keep()))
    }
}
