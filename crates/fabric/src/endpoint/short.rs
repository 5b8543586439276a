//! Short messages on the straight way, for whoever looks at nothing else: sent if there is room,
//! received if they are next in their lane.
//!
//! It is the same protocol as that of all messages; only the questions are asked in another order.
//! A receive is not posted and then met by its message: who waits for one message from one rank
//! looks at the next cell from there, and if that holds it, copies it into place. Anything else
//! that lies there is left for [`Endpoint::progress`].

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use super::incoming::Message;
use super::packet::{Header, Packet};
use super::shelf::Block;
use super::{Body, Endpoint, Receive};
use crate::{Label, Peer, Region, RegionMut, Selector, Token, TransferError, TypeCode};

/// What became of the attempt to receive a short message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Short {
    /// It has been received and is so long, or it was refused.
    Here(Result<usize, TransferError>),
    /// Nothing has come.
    NotYet,
    /// Something else is next: make progress, then look again.
    Behind,
}

impl Endpoint {
    /// Bytes of the longest message that never waits for its receive.
    pub fn short(&self) -> usize {
        self.standing[self.me.index()].payload()
    }

    /// Whether a message from this rank cannot have come yet, nor be for somebody else: none is
    /// kept, and no receive waits for one.
    #[inline]
    pub fn is_next_in_lane(&self, from: Peer) -> bool {
        self.early[from.index()] == 0 && self.matching.posted() == 0
    }

    /// Sends a short message if there is room and nothing waits before it. Says whether it did.
    ///
    /// # Safety
    /// `data` is readable now.
    #[inline]
    pub unsafe fn send_short(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        data: Region,
    ) -> bool {
        let standing = &mut self.standing[to.index()];
        if !standing.is_flushed() {
            return false;
        }
        let sent = standing.push_header(Header::eager(label, element, data.bytes()), data);
        if sent {
            self.announce(to);
        }
        sent
    }

    /// Receives a short message if it is there. The network is not asked for it: see
    /// [`Endpoint::fetch_from`].
    ///
    /// # Safety
    /// `into` is writable now, and nobody else uses it.
    #[inline]
    pub unsafe fn recv_short(
        &mut self,
        from: Peer,
        label: Label,
        element: TypeCode,
        into: RegionMut,
    ) -> Short {
        let receive = Receive::new(into, element, Token { operation: 0, step: 0 });
        if self.early[from.index()] > 0
            && let Some(outcome) = self.recv_kept(from, label, &receive)
        {
            return Short::Here(outcome);
        }
        let inlet = &mut self.inlets[from.index()];
        // SAFETY: peers push nothing but `Header`s into standing lanes, and any bits are one.
        let Some(header) = (unsafe { inlet.peek::<Header>() }) else {
            return Short::NotYet;
        };
        if !header.is_eager(label) {
            return self.recv_next_block(from, label, header, &receive);
        }
        let (element, bytes) = header.contents();
        let fits = Message { source: from, label, element, bytes }.fits(&receive);
        if fits.is_ok() {
            // SAFETY: writable by the caller's promise; as long as the message, as just checked.
            unsafe { inlet.copy_payload::<Header>(receive.into.part(0, bytes)) };
        }
        if inlet.advance() {
            self.announce(from);
        }
        Short::Here(fits.map(|()| bytes))
    }

    /// Receives the message that is next in the lane, if it is this one and lies in a block.
    #[cold]
    fn recv_next_block(
        &mut self,
        from: Peer,
        label: Label,
        header: Header,
        receive: &Receive,
    ) -> Short {
        let message = match Packet::read(header) {
            Packet::Block { label: its, element, bytes } if its == label => {
                Message { source: from, label, element, bytes }
            }
            _ => return Short::Behind,
        };
        let block = Block::from_words(self.words(from));
        let fits = self.take_from_block(&message, block, receive);
        if self.inlets[from.index()].advance() {
            self.announce(from);
        }
        Short::Here(fits.map(|()| message.bytes))
    }

    /// Has the network put what has come into the lanes, if the message that is awaited from this
    /// rank must come that way: for whoever looks for it again and again without
    /// [`Endpoint::progress`].
    #[inline]
    pub fn fetch_from(&mut self, from: Peer) {
        if let Some(wire) = &mut self.wire
            && wire.reaches(from)
        {
            wire.carry();
        }
    }

    /// Receives a message that has been kept, if it is this one.
    #[cold]
    fn recv_kept(
        &mut self,
        from: Peer,
        label: Label,
        receive: &Receive,
    ) -> Option<Result<usize, TransferError>> {
        let taken = self.take(Selector::exactly(from, label))?;
        let early = &taken.early;
        let message = Message { source: from, label, element: early.element, bytes: early.bytes };
        let mut fits = message.fits(receive);
        match (&early.body, fits) {
            (Body::Whole(whole), Ok(())) => {
                let into = receive.into.start();
                // SAFETY: writable by the promise of `recv_short`; long enough, as just checked.
                unsafe { into.copy_from_nonoverlapping(whole.as_ptr(), whole.len()) };
            }
            (&Body::Shared(block), Ok(())) => fits = self.copy_block(&message, block, receive),
            (Body::Exposed(_) | Body::Berthed(_), Ok(())) => {
                // Nobody exposes what is short: the other side runs another operation.
                fits = Err(TransferError::Truncated { sent: early.bytes, room: self.short() });
            }
            (_, Err(_)) => {}
        }
        let bytes = message.bytes;
        self.discard(taken);
        Some(fits.map(|()| bytes))
    }
}
