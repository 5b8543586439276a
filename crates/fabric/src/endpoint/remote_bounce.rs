//! Remote bounce buffers: sends and receives messages of up to 128 KiB between hosts without
//! waiting for an answer to their announcement. Protocol: `net/README.md`, "Remote bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::disconnect::Disconnect;
use super::message::Message;
use super::rndv::Rendezvous;
use super::transfer::{Completion, PostedRecv, RndvSend};
use super::transport::Transport;
use crate::memory::copy_many;
use crate::net::REMOTE_BOUNCE_BYTES;
use crate::packet::Packet;
use crate::{Label, Peer, Region, Token, TransferError, TypeCode};

impl Rendezvous {
    /// Sends a message into a remote bounce buffer that its receiver has granted. `false` if there
    /// is none, or no room for the packet.
    pub(super) fn send_remote_bounce(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        (label, element, data, token): (Label, TypeCode, Region, Token),
    ) -> bool {
        let bytes = data.bytes();
        let Some(network) = transport.network.as_mut().filter(|network| network.reaches(to)) else {
            return false;
        };
        if bytes > REMOTE_BOUNCE_BYTES || !transport.peer_tx[to.index()].has_room() {
            return false;
        }
        let transfer = None;
        let send = self.sends.insert(RndvSend { to, label, data, lease: None, token, transfer });
        // SAFETY: memory of a posted send. Whoever takes the send back waits until the transfer
        // has ended (`await_withdrawn`).
        let Some((name, slot)) = (unsafe { network.send_remote_bounce(to, send, data) }) else {
            self.sends.remove(send);
            return false;
        };
        let words = [slot, network.advertise_credits(to), 0];
        if let Some(large) = self.sends.get_mut(send) {
            large.transfer = Some(name);
        }
        let packet = Packet::RemoteBounced { label, element, bytes };
        let pushed = transport.peer_tx[to.index()].push_words(packet, &words);
        assert!(pushed, "there was room for it");
        true
    }
}

impl Transport {
    /// Notes that a message has been announced that a remote bounce buffer could have received, if
    /// one had been granted.
    pub(super) fn request_remote_bounce(&mut self, to: Peer, bytes: usize) {
        let is_remote_bounced = bytes > self.inline_max_bytes() && bytes <= REMOTE_BOUNCE_BYTES;
        if let Some(network) =
            self.network.as_mut().filter(|network| is_remote_bounced && network.reaches(to))
        {
            network.request_remote_bounce(to);
        }
    }

    /// Handles the report of a receiver how many remote bounce buffers it has granted to this rank.
    pub(super) fn note_credits(&mut self, by: Peer) {
        let [granted, ..] = self.words(by);
        if let Some(network) = &mut self.network {
            network.note_granted(by, granted);
        }
    }

    /// Delivers a message in a remote bounce buffer to its receive.
    pub(super) fn receive_remote_bounced(
        &mut self,
        message: Message,
        slot: u64,
        receive: PostedRecv,
        done: &mut Vec<Completion>,
    ) {
        let Some(network) = &mut self.network else { return };
        let data = network.remote_bounced(message.source, slot, message.bytes);
        let mut outcome = message.fits(&receive, &self.introductions);
        match data {
            Some(data) if outcome.is_ok() => {
                let into = receive.into.start();
                // SAFETY: a posted receive: writable, by the promise of its poster, and long
                // enough, as just checked. The buffer is ours until it is emptied.
                unsafe { copy_many(data.start(), into, data.bytes()) };
            }
            Some(_) => {}
            None => outcome = Err(TransferError::Revoked(message.source)),
        }
        network.release_remote_bounce(message.source, slot);
        done.push(message.completion(receive.token(), outcome));
    }

    /// Frees a remote bounce buffer whose message no receive needs.
    pub(super) fn release_remote_bounce(&mut self, from: Peer, slot: u64) {
        if let Some(network) = &mut self.network {
            network.release_remote_bounce(from, slot);
        }
    }

    /// Reports to senders how many remote bounce buffers are granted to them. A sender that leaves
    /// needs no report, and a sender that knows that this rank leaves may have ended.
    pub(super) fn advertise_credits(&mut self, disconnect: &Disconnect) {
        let Some(network) = &self.network else { return };
        for to in network.unadvertised_peers() {
            let Some(network) = &mut self.network else { return };
            let words = [network.advertise_credits(to), 0, 0];
            if !disconnect.was_told() && !self.is_known_left(to) {
                self.send_control_words(to, Packet::BounceCredits, words);
            }
        }
    }
}
