//! Cancels sends: takes a message back, or completes the send from a copy.
//!
//! A message that has not been announced to its receiver is withdrawn. An announced message may
//! meet its receive at any time, and only the receiver knows whether it has. An answer of the
//! receiver may take any time, so such a message continues, but from a copy: the sender revokes the
//! lease on the memory of the poster, and a receiver that finds the lease revoked asks for pieces,
//! which the sender takes from the copy. A synchronous message in a cell is with its receiver
//! already.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::peer_tx::Outgoing;
use super::rndv::Rendezvous;
use super::transfer::RndvSend;
use super::transport::Transport;
use crate::slab::Id;
use crate::{Peer, Received, Region, Token};

/// The copy of a message that is being sent.
#[derive(Debug)]
#[must_use = "the message is sent from this memory"]
pub struct Copied {
    /// The bytes of the message.
    pub data: Box<[u8]>,
    /// The result of the send.
    pub sent: Received,
}

impl Rendezvous {
    /// Sends the rest of an announced message from a copy, so that its memory is not used any more.
    /// Its completion has the token of the stand-in. `None` if there is no such message, if the
    /// network uses its memory already, or if this rank is the receiver: then the send waits for no
    /// other rank, and a synchronous send must not end before this rank has received it.
    ///
    /// # Safety
    /// The copy stays until the completion of the stand-in, or until that is cancelled.
    pub(super) unsafe fn copy_send(
        &mut self,
        transport: &mut Transport,
        token: Token,
        stand_in: Token,
    ) -> Option<Copied> {
        let is_it = |(id, large): (Id, &RndvSend)| (large.token == token).then_some(id);
        let send = self.sends.iter().find_map(is_it)?;
        let large = self.sends.get_mut(send)?;
        if large.transfer.is_some() || large.to == transport.me {
            return None;
        }
        if let Some(lease) = large.lease.take() {
            // A reader reads all of it before this returns.
            self.leases.revoke(lease);
        }
        let (bytes, to) = (large.data.bytes(), large.to);
        // SAFETY: memory of a posted send: readable, by the promise of its poster.
        let data: Box<[u8]> = unsafe { bytes_of(large.data) }.into();
        let from_copy = Region::of(&data);
        (large.token, large.data) = (stand_in, from_copy);
        let sent = Received { source: transport.me, tag: large.label.tag, bytes };
        send_pieces_from(transport, to, send, from_copy);
        Some(Copied { data, sent })
    }
}

/// The waiting pieces of a large message are in this memory from now on.
fn send_pieces_from(transport: &mut Transport, to: Peer, send: Id, from: Region) {
    transport.peer_tx[to.index()].each_waiting(|outgoing| {
        if let Outgoing::Fragments(pieces) = outgoing
            && pieces.send == send
        {
            pieces.data = from;
        }
    });
}

/// The bytes of a region.
///
/// # Safety
/// They can be read, and are not written while they are borrowed.
unsafe fn bytes_of<'a>(data: Region) -> &'a [u8] {
    if data.bytes() == 0 {
        return &[];
    }
    // SAFETY: passed on.
    unsafe { std::slice::from_raw_parts(data.start(), data.bytes()) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Completion, Endpoint, Options, Posted};
    use crate::watchdog::Watchdog;
    use crate::{Label, RegionMut, Selector, SharedSegment, TypeCode};

    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };
    /// More than a ring takes at once.
    const BYTES: usize = 1 << 20;

    fn token(operation: u64) -> Token {
        Token { operation, step: 0 }
    }

    fn pair(options: Options) -> [Endpoint; 2] {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), options))
    }

    fn receive(receiver: &mut Endpoint, into: &mut [u8], done: &mut Vec<Completion>) {
        let (selector, into) = (Selector::exactly(Peer(0), LABEL), RegionMut::of(into));
        // SAFETY: the test keeps the memory until all has ended.
        unsafe { receiver.recv(selector, TypeCode::BYTES, into, token(9), done) };
    }

    /// Whether it is met before or after, by whichever protocol, a copy is what arrives.
    #[test]
    fn an_announced_message_goes_on_from_a_copy() {
        let _watchdog = Watchdog::start();
        for single_copy in [None, Some(false)] {
            for when in 0..4 {
                let [mut sender, mut receiver] =
                    pair(Options { single_copy, ..Options::default() });
                let (mut data, mut into) = (vec![7; BYTES], vec![0; BYTES]);
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                if when == 0 {
                    receive(&mut receiver, &mut into, &mut received);
                }
                let region = Region::of(&data);
                // SAFETY: the data stays until the send goes on from a copy.
                let posted = unsafe {
                    sender.send_synchronously(Peer(1), LABEL, TypeCode::BYTES, region, token(5))
                };
                assert_eq!(posted, Posted::Pending);
                if when > 1 {
                    receiver.progress(&mut received);
                }
                if when == 3 && single_copy.is_some() {
                    // The receiver has asked for pieces, of which a part has gone.
                    receive(&mut receiver, &mut into, &mut received);
                    sender.progress(&mut sent);
                }
                // SAFETY: the copy is kept until the end.
                let copied = unsafe { sender.copy_send(token(5), token(6)) }.unwrap();
                assert_eq!((copied.sent.bytes, copied.data.len()), (BYTES, BYTES));
                // SAFETY: nothing is copied.
                assert!(unsafe { sender.copy_send(token(5), token(7)) }.is_none());
                data.fill(0);
                if when > 0 && !(when == 3 && single_copy.is_some()) {
                    receive(&mut receiver, &mut into, &mut received);
                }
                while sent.is_empty() || received.is_empty() {
                    receiver.progress(&mut received);
                    sender.progress(&mut sent);
                }
                assert!(received[0].outcome.is_ok(), "{:?}", received[0].outcome);
                assert!(into.iter().all(|&byte| byte == 7), "single copy {single_copy:?}, {when}");
                assert_eq!((sent.len(), sent[0].token), (1, token(6)));
                assert!(sender.all_sent());
            }
        }
    }

    #[test]
    fn a_message_of_which_nobody_knows_is_taken_back() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = pair(Options::default());
        let (data, mut operation) = ([3; 64], 0);
        // SAFETY: the data outlives the test.
        while unsafe {
            sender.send(Peer(1), LABEL, TypeCode::BYTES, Region::of(&data), token(operation))
        } == Posted::Done
        {
            operation += 1;
        }
        let next = operation + 1;
        // SAFETY: as above.
        let posted = unsafe {
            sender.send_synchronously(
                Peer(1),
                LABEL,
                TypeCode::BYTES,
                Region::of(&data),
                token(next),
            )
        };
        assert_eq!(posted, Posted::Pending);
        assert!(!sender.take_back_send(token(next + 1)));
        assert!(sender.take_back_send(token(operation)) && sender.take_back_send(token(next)));
        assert!(!sender.take_back_send(token(next)) && sender.all_sent());
        let mut came = 0;
        while receiver.progress(&mut Vec::new())
            || receiver
                .mprobe(Selector::exactly(Peer(0), LABEL))
                .map(|taken| receiver.discard(taken))
                .is_some()
        {
            came = receiver.recv_queues.matching.unexpected_len().max(came);
            sender.progress(&mut Vec::new());
        }
        assert!(came > 0 && sender.all_sent());
    }
}
