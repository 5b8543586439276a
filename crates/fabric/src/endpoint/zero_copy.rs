//! Zero-copy rendezvous with ranks on other hosts: a large message goes from memory to memory.
//! Protocol: `net/README.md`, "Large messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::message::Message;
use super::rndv::Rendezvous;
use super::transfer::{Completion, PostedRecv, RndvOffer, RndvRecv};
use super::transport::Transport;
use crate::net::{How, TransferIds};
use crate::packet::Packet;
use crate::slab::Id;
use crate::{Peer, Received, TransferError};

impl Rendezvous {
    /// Handles the end of a large message that this rank receives.
    pub(super) fn zero_copy_ended(
        &mut self,
        from: Peer,
        id: Id,
        how: How,
        done: &mut Vec<Completion>,
    ) {
        // The receive is gone if it was cancelled.
        let Some(RndvRecv { receive, source, tag, bytes, .. }) = self.recvs.remove(id) else {
            return;
        };
        let outcome = match how {
            How::Whole => Ok(Received { source, tag, bytes }),
            How::Stopped | How::Withdrawn => Err(TransferError::Revoked(from)),
        };
        done.push(Completion { token: receive.token(), outcome });
    }

    /// Receives a large message from a rank on another host by a zero-copy transfer. `false` if it
    /// must come in another way.
    pub(super) fn recv_zero_copy(
        &mut self,
        transport: &mut Transport,
        message: &Message,
        offer: &RndvOffer,
        receive: &PostedRecv,
    ) -> bool {
        let (source, bytes) = (message.source, message.bytes);
        if !transport.reaches(source) || bytes <= transport.inline_max_bytes() {
            return false;
        }
        let (receive, tag) = (*receive, message.label.tag);
        let recv =
            RndvRecv { receive, source, tag, bytes, missing: bytes, transfer: None, offer: None };
        let id = self.recvs.insert(recv);
        let into = receive.into.part(0, bytes);
        let Some(network) = &mut transport.network else { return false };
        // SAFETY: memory of a posted receive. Whoever takes the receive back waits until the
        // transfer has ended (`await_withdrawn`).
        let Some(name) = (unsafe { network.recv((source, offer.send, id), into) }) else {
            self.recvs.remove(id);
            return false;
        };
        if let Some(recv) = self.recvs.get_mut(id) {
            recv.transfer = Some(name);
        }
        true
    }

    /// The receiver of a large message is ready for segments up to `upto`.
    pub(super) fn send_zero_copy(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        ids: TransferIds,
        upto: u32,
    ) {
        let Some(network) = &mut transport.network else { return };
        let Some(large) = self.sends.get_mut(Id(ids.send)) else {
            let packet = Packet::Stopped { recv: ids.recv };
            transport.send_control_words(to, packet, [0; 3]);
            return;
        };
        match large.transfer {
            Some(name) => network.allow(name, upto),
            // SAFETY: memory of a posted send, as in `recv_zero_copy`.
            None => large.transfer = unsafe { network.send(to, (ids, upto), large.data) },
        }
    }

    /// The receiver of a large message has received what it needs: all of it, or it has cancelled
    /// the receive.
    pub(super) fn finish_or_cut_short(
        &mut self,
        transport: &mut Transport,
        send: Id,
        done: &mut Vec<Completion>,
    ) {
        let transfer = self.sends.get_mut(send).and_then(|large| large.transfer);
        match (transfer, &mut transport.network) {
            // The network may still use the memory: an event will report the end.
            (Some(name), Some(network)) => network.cut_short(name),
            _ => self.finish_send(transport, send, done),
        }
    }
}
