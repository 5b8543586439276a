//! Messages of middle length to and from ranks elsewhere, which come without an answer to their
//! announcement. Protocol: `ofi/README.md`, "Berths".

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use super::incoming::Message;
use super::packet::Packet;
use super::{Body, Completion, Endpoint, Landing, LargeSend, Receive};
use crate::ofi::{BERTH, BerthNews};
use crate::slab::Id;
use crate::{Label, Peer, Received, Region, Token, TransferError, TypeCode};

impl Endpoint {
    /// Sends a message into a berth that its receiver has granted. `false` if there is none, or no
    /// room for that now.
    pub(super) fn send_to_berth(
        &mut self,
        to: Peer,
        (label, element, data, token): (Label, TypeCode, Region, Token),
    ) -> bool {
        let bytes = data.bytes();
        let Some(wire) = self.wire.as_mut().filter(|wire| wire.reaches(to)) else { return false };
        if bytes > BERTH || !self.standing[to.index()].has_room() {
            return false;
        }
        let straight = None;
        let send = self.large.insert(LargeSend { to, label, data, claim: None, token, straight });
        // SAFETY: memory of a posted send. Whoever takes the send back waits until the transfer
        // has ended (`await_withdrawn`).
        let Some((name, berth)) = (unsafe { wire.send_to_berth(to, send, data) }) else {
            self.large.remove(send);
            return false;
        };
        let words = [berth, wire.tell_granted(to), 0];
        if let Some(large) = self.large.get_mut(send) {
            large.straight = Some(name);
        }
        let packet = Packet::Berthed { label, element, bytes };
        let pushed = self.standing[to.index()].push_words(packet, &words);
        assert!(pushed, "there was room for it");
        true
    }

    /// A message has been announced that would have come into a berth, if there were one.
    pub(super) fn offer_berths(&mut self, to: Peer, bytes: usize) {
        let is_berthed = bytes > self.short() && bytes <= BERTH;
        if let Some(wire) = self.wire.as_mut().filter(|wire| is_berthed && wire.reaches(to)) {
            wire.offer_berths(to);
        }
    }

    /// A message comes into a berth.
    pub(super) fn note_berthed(&mut self, message: Message, done: &mut Vec<Completion>) {
        let [berth, granted, _] = self.words(message.source);
        let Some(wire) = &mut self.wire else { return };
        wire.note_granted(message.source, granted);
        if !wire.note_berthed(message.source, berth) {
            return;
        }
        match self.matching.take_posted(message.source, message.label) {
            Some(receive) => self.receive_berthed(message, berth, receive, done),
            None => self.keep(message, Body::Berthed(berth)),
        }
    }

    /// A sender may use so many berths here.
    pub(super) fn note_granted(&mut self, by: Peer) {
        let [granted, ..] = self.words(by);
        if let Some(wire) = &mut self.wire {
            wire.note_granted(by, granted);
        }
    }

    /// A message that comes into a berth meets its receive.
    pub(super) fn receive_berthed(
        &mut self,
        message: Message,
        berth: u64,
        receive: Receive,
        done: &mut Vec<Completion>,
    ) {
        let Message { source, bytes, .. } = message;
        if let Err(error) = message.fits(&receive) {
            self.refuse_berthed(source, berth);
            return done.push(message.completion(receive.token(), Err(error)));
        }
        let (tag, straight) = (message.label.tag, None);
        let landing = Landing { receive, source, tag, bytes, missing: bytes, straight };
        let id = self.landings.insert(landing);
        if let Some(wire) = &mut self.wire {
            wire.meet_berthed(source, berth, id);
        }
        self.handle_berth_news(done);
    }

    /// Nobody wants the message in a berth.
    pub(super) fn refuse_berthed(&mut self, from: Peer, berth: u64) {
        if let Some(wire) = &mut self.wire {
            wire.refuse_berthed(from, berth);
        }
    }

    pub(super) fn handle_berth_news(&mut self, done: &mut Vec<Completion>) {
        let Some(wire) = &mut self.wire else { return };
        for news in wire.take_berth_news() {
            match news {
                BerthNews::Come { from, berth, landing: Some(landing) } => {
                    self.copy_berthed(from, berth, landing, done);
                }
                BerthNews::Come { landing: None, .. } => {}
                // Who leaves has no use for it, and who is told that we leave may be gone.
                BerthNews::Granted { to, granted } => {
                    if !self.departure.was_told() && !self.is_known_left(to) {
                        self.tell_words(to, Packet::Berths, [granted, 0, 0]);
                    }
                }
            }
        }
    }

    /// Copies what has come into a berth to its receive, unless that was taken back.
    fn copy_berthed(&mut self, from: Peer, berth: u64, id: Id, done: &mut Vec<Completion>) {
        let Some(wire) = &mut self.wire else { return };
        let data = wire.berthed(from, berth);
        if let Some(Landing { receive, source, tag, bytes, .. }) = self.landings.remove(id) {
            let whole = data.filter(|data| data.bytes() == bytes);
            let outcome = match whole {
                Some(data) => {
                    // SAFETY: a posted receive: writable, by the promise of its poster, and long
                    // enough, as was checked when they met. The berth is ours until it is emptied.
                    unsafe { receive.into.start().copy_from_nonoverlapping(data.start(), bytes) };
                    Ok(Received { source, tag, bytes })
                }
                // Less or more has come than was announced.
                None => Err(TransferError::Revoked(from)),
            };
            done.push(Completion { token: receive.token(), outcome });
        }
        wire.empty_berth(from, berth);
    }
}
