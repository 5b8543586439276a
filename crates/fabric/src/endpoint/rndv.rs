//! Rendezvous: the large messages that are announced, and of which their receivers have not all;
//! and the short ones that are to be acknowledged.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::bounce_pool::BounceBuffer;
use super::message::Message;
use super::peer_tx::{Attempt, Fragments, Outgoing};
use super::pipeline::{FRAGMENT_BYTES, Pipelines};
use super::protocol::Thresholds;
use super::transfer::{Completion, Posted, PostedRecv, RndvOffer, RndvRecv, RndvSend};
use super::transport::Transport;
use crate::memory::copy_many;
use crate::packet::{Header, Packet};
use crate::read_lease::LeaseTable;
use crate::slab::{Id, Slab};
use crate::{Label, Peer, Received, Token, TransferError};

/// The large messages of a rank that are announced and not complete.
pub(super) struct Rendezvous {
    pub(super) leases: LeaseTable,
    pub(super) sends: Slab<RndvSend>,
    pub(super) recvs: Slab<RndvRecv>,
    /// If long messages go in pieces although they could be copied at once.
    pub(super) pipelines: Option<Pipelines>,
}

impl Rendezvous {
    /// None yet, of a rank with these thresholds.
    pub(super) fn of(transport: &Transport, thresholds: &Thresholds) -> Rendezvous {
        Rendezvous {
            leases: LeaseTable::new(transport.segment.clone(), transport.me),
            sends: Slab::default(),
            recvs: Slab::default(),
            pipelines: Pipelines::of(thresholds),
        }
    }

    /// Sends as many pieces of a large message as there is room for.
    pub(super) fn push_fragments(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        pieces: Fragments,
        done: &mut Vec<Completion>,
    ) -> Attempt {
        let Fragments { send, recv, data, sent: before } = pieces;
        if self.sends.get_mut(send).is_none() {
            return Attempt::Gone(Posted::Done); // Its receiver has got the rest by itself.
        }
        if let Some(pipelines) = &mut self.pipelines
            && let Some(attempt) = pipelines.send_fragment(transport, to, pieces)
        {
            if let Attempt::Gone(_) = attempt {
                self.finish_send(transport, send, done);
            }
            return attempt;
        }
        let standing = &mut transport.peer_tx[to.index()];
        let mut sent = before;
        while sent < data.bytes() {
            let bytes = standing.payload().min(data.bytes() - sent);
            let packet = Packet::Piece { recv, offset: sent, bytes };
            if !standing.push(packet, data.part(sent, bytes)) {
                let rest = Outgoing::Fragments(Fragments { sent, ..pieces });
                return if sent > before { Attempt::Partly(rest) } else { Attempt::NoRoom };
            }
            sent += bytes;
        }
        self.finish_send(transport, send, done);
        Attempt::Gone(Posted::Done)
    }

    /// The receiver of a large message has it.
    pub(super) fn finish_send(
        &mut self,
        transport: &mut Transport,
        send: Id,
        done: &mut Vec<Completion>,
    ) {
        // A message that was cancelled meanwhile is no longer ours to finish.
        if let Some(large) = self.remove_send(transport, send) {
            done.push(transport.sent(large.token, large.label.tag, large.data.bytes()));
        }
    }

    /// Forgets a large message: no rank reads it on return or, for a zero-copy transfer, once
    /// `await_withdrawn` has returned.
    pub(super) fn remove_send(&mut self, transport: &mut Transport, send: Id) -> Option<RndvSend> {
        let large = self.sends.remove(send)?;
        if let Some(lease) = large.lease {
            self.leases.revoke(lease);
        }
        if let Some(name) = large.transfer {
            transport.stop_zero_copy(large.to, name);
        }
        Some(large)
    }

    /// Takes back the sends that the predicate names, in whatever state they are. A receiver that
    /// awaits pieces of one gets a packet `Revoked` in their place.
    pub(super) fn drop_sends(
        &mut self,
        transport: &mut Transport,
        mut gone: impl FnMut(Peer, Token) -> bool,
    ) {
        let large = self.sends.iter();
        let ended: Vec<Id> =
            large.filter_map(|(id, send)| gone(send.to, send.token).then_some(id)).collect();
        for id in ended {
            self.remove_send(transport, id);
        }
        for (peer, standing) in transport.peer_tx.iter_mut().enumerate() {
            let before = standing.waiting.len();
            standing.waiting.retain_mut(|outgoing| {
                match *outgoing {
                    Outgoing::Eager { token, .. } | Outgoing::Large { token, .. } => {
                        return !gone(Peer(peer as u32), token);
                    }
                    Outgoing::Fragments(Fragments { send, recv, .. })
                        if self.sends.get_mut(send).is_none() =>
                    {
                        let packet = Packet::Revoked { recv };
                        *outgoing = Outgoing::Words { packet, words: [0; 3] };
                    }
                    Outgoing::Fragments(_) | Outgoing::Words { .. } | Outgoing::Introduction(_) => {
                    }
                }
                true
            });
            transport.waiting -= before - standing.waiting.len();
        }
    }

    /// The receiver of a large message asks for its pieces.
    pub(super) fn queue_fragments(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        send: Id,
        recv: u64,
    ) {
        match self.sends.get_mut(send) {
            Some(&mut RndvSend { data, .. }) => {
                let pieces = Fragments { send, recv, data, sent: 0 };
                transport.enqueue(to, Outgoing::Fragments(pieces));
            }
            None => transport.send_control(to, Packet::Revoked { recv }),
        }
    }

    /// The sender of a large message has taken it back.
    pub(super) fn handle_revoked(&mut self, source: Peer, recv: Id, done: &mut Vec<Completion>) {
        // Unless the receive, too, was cancelled meanwhile.
        if let Some(recv) = self.recvs.remove(recv) {
            let outcome = Err(TransferError::Revoked(source));
            done.push(Completion { token: recv.receive.token(), outcome });
        }
    }

    /// Asks the sender of a message for its pieces.
    pub(super) fn request_fragments(
        &mut self,
        transport: &mut Transport,
        message: Message,
        offer: RndvOffer,
        receive: PostedRecv,
    ) {
        let Message { source, label: Label { tag, .. }, bytes, .. } = message;
        let (send, missing, transfer, offer) = (offer.send, bytes, None, Some(offer));
        let recv = RndvRecv { receive, source, tag, bytes, missing, transfer, offer };
        let recv = self.recvs.insert(recv);
        if let Some(pipelines) = &mut self.pipelines {
            pipelines.note(&mut self.recvs, recv, bytes);
        }
        transport.send_control(source, Packet::Pieces { send, recv: recv.0 });
    }

    /// A piece of a large message is in the cell that is next in the ring.
    pub(super) fn handle_fragment(
        &mut self,
        transport: &Transport,
        source: Peer,
        (id, offset, bytes): (Id, usize, usize),
        done: &mut Vec<Completion>,
    ) {
        // Pieces of a receive that was cancelled meanwhile are dropped.
        let Some(recv) = self.recvs.get_mut(id) else { return };
        let into = recv.receive.into.part(offset, bytes);
        // SAFETY: the memory belongs to a posted receive that is not complete.
        unsafe { transport.readers[source.index()].copy_payload::<Header>(into) };
        self.note_fragment(id, bytes, done);
    }

    /// So many bytes of a receive are in place.
    pub(super) fn note_fragment(&mut self, id: Id, bytes: usize, done: &mut Vec<Completion>) {
        let Some(recv) = self.recvs.get_mut(id) else { return };
        if let Some(pipelines) = &mut self.pipelines {
            pipelines.note_piece(id);
        }
        recv.missing -= bytes;
        if recv.missing == 0 {
            let RndvRecv { receive, source, tag, bytes, .. } = *recv;
            self.recvs.remove(id);
            let outcome = Ok(Received { source, tag, bytes });
            done.push(Completion { token: receive.token(), outcome });
        }
    }

    /// A piece of a large message has come in a bounce buffer.
    pub(super) fn handle_pipelined_fragment(
        &mut self,
        transport: &Transport,
        source: Peer,
        (id, offset, bytes): (Id, usize, usize),
        buffer: BounceBuffer,
        done: &mut Vec<Completion>,
    ) {
        // Pieces of a receive that is over are dropped.
        if let Some(recv) = self.recvs.get_mut(id) {
            assert!(bytes <= *FRAGMENT_BYTES.end(), "the shared segment is damaged");
            let into = recv.receive.into.part(offset, bytes);
            let from = transport.segment.at(buffer.data);
            let _last = transport.segment.at(buffer.data + bytes - 1);
            // SAFETY: the memory belongs to a posted receive that is not complete: writable, and
            // long enough, as `part` checks. The bytes lie in the segment, and nobody writes them
            // until we let the bounce buffer go (README, "Bounce buffers").
            unsafe { copy_many(from.as_ptr(), into.start(), bytes) };
            self.note_fragment(id, bytes, done);
        }
        buffer.release(&transport.segment);
        transport.wake(source); // The sender may wait for the bounce buffer to send more.
    }

    /// Counts a poll. Returns a message in pieces whose sender seems to be busy with other work.
    #[inline]
    pub(super) fn take_overdue(&mut self) -> Option<Id> {
        self.pipelines.as_mut()?.take_overdue()
    }

    /// Takes back the receives that await pieces and that the predicate names.
    pub(super) fn drop_recvs(
        &mut self,
        transport: &mut Transport,
        mut gone: impl FnMut(&RndvRecv) -> bool,
    ) {
        let recvs = self.recvs.iter();
        let ids: Vec<_> = recvs.filter_map(|(id, recv)| gone(recv).then_some(id)).collect();
        for id in ids {
            let transfer = self.recvs.remove(id).and_then(|recv| recv.transfer);
            transport.withdraw_zero_copy(transfer);
        }
    }
}
