//! Introductions: a rank sends the signature of a structure to a peer before its first message of
//! that type.
//!
//! A rank numbers structures as its [process](crate::structures) does, and its messages contain
//! these numbers. Before the first message of a structure to a peer, or the first channel that it
//! opens for one, it sends the number and the signature; the ring keeps the order. The peer looks
//! up the signature among those of its own process, once, and from then on knows its own number for
//! that number.

use crate::{Peer, TypeCode, structures};

/// The structures that a rank and its peers have introduced to each other. Takes no memory until
/// there are any.
#[derive(Debug, Default)]
pub(super) struct Introductions {
    with: Vec<Pair>,
}

/// The structures introduced between this rank and one peer.
#[derive(Clone, Debug, Default)]
struct Pair {
    /// By the number of a structure here: whether it has been introduced to the peer.
    introduced: Vec<bool>,
    /// By the number of a structure at the peer: its code here.
    theirs: Vec<TypeCode>,
    /// The signature of which only a part has arrived.
    coming: Vec<u8>,
}

impl Introductions {
    fn with(&mut self, peer: Peer) -> &mut Pair {
        if self.with.len() <= peer.index() {
            self.with.resize(peer.index() + 1, Pair::default());
        }
        &mut self.with[peer.index()]
    }

    /// The code here of a type that a peer has introduced.
    #[inline]
    pub(super) fn own(&self, peer: Peer, code: TypeCode) -> TypeCode {
        if code.is_structure() { self.own_structure(peer, code) } else { code }
    }

    fn own_structure(&self, peer: Peer, code: TypeCode) -> TypeCode {
        let pair = self.with.get(peer.index());
        let own = pair.and_then(|pair| pair.theirs.get(code.number()));
        own.copied().unwrap_or(TypeCode::NAMELESS)
    }

    /// Notes that a structure is introduced to this peer. Returns whether it was not before.
    pub(super) fn note_introduced(&mut self, peer: Peer, code: TypeCode) -> bool {
        let (introduced, number) = (&mut self.with(peer).introduced, code.number());
        if introduced.len() <= number {
            introduced.resize(number + 1, false);
        }
        !std::mem::replace(&mut introduced[number], true)
    }

    /// Handles a part of a signature, which has `total` bytes.
    pub(super) fn note_part(&mut self, peer: Peer, code: TypeCode, part: &[u8], total: usize) {
        let pair = self.with(peer);
        pair.coming.extend_from_slice(part);
        if pair.coming.len() < total {
            return;
        }
        let signature = String::from_utf8_lossy(&pair.coming);
        let own = structures::code_of(&signature, code.is_strict());
        let number = code.number();
        if pair.theirs.len() <= number {
            pair.theirs.resize(number + 1, TypeCode::NAMELESS);
        }
        pair.theirs[number] = own;
        pair.coming = Vec::new();
    }
}

#[cfg(test)]
#[allow(unsafe_code)] // listed in docs/unsafe.md
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Endpoint, Options};
    use crate::{
        Label, Received, Region, RegionMut, Selector, Sender, SharedSegment, Token, TransferError,
    };

    const TOKEN: Token = Token { operation: 1, step: 0 };

    fn label(tag: u64) -> Label {
        Label { context: 1, tag, ordinal: 0 }
    }

    /// Another process may have given the same number to another structure.
    #[test]
    fn a_number_means_what_the_peer_has_said() {
        let mut introductions = Introductions::default();
        let own = ["{0: u8; 1 bytes}", "{0: i8; 1 bytes}"].map(|of| structures::code_of(of, false));
        let theirs = [own[1], own[0]];
        let all = [(theirs[0], "{0: u8; 1 bytes}"), (theirs[1], "{0: i8; 1 bytes}")];
        for (code, signature) in all {
            let [first, second] = [&signature.as_bytes()[..5], &signature.as_bytes()[5..]];
            introductions.note_part(Peer(3), code, first, signature.len());
            assert_eq!(introductions.own(Peer(3), code), TypeCode::NAMELESS);
            introductions.note_part(Peer(3), code, second, signature.len());
        }
        assert_eq!(theirs.map(|code| introductions.own(Peer(3), code)), own);
        assert_eq!(theirs.map(|code| introductions.own(Peer(4), code)), [TypeCode::NAMELESS; 2]);
        let basic = TypeCode(0x501).strict();
        assert_eq!(introductions.own(Peer(4), basic), basic);
    }

    /// The ring is full before the introduction, amid it, and behind it.
    #[test]
    fn an_introduction_comes_before_its_message_whatever_room_there_is() {
        const LONG: usize = 300_000;
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let mut world =
            [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), Options::default()));
        let mut total = 0;
        for before in [0, 1, 100, 5000] {
            let signature = "y".repeat(LONG + before);
            let code = structures::code_of(&signature, true);
            let (mut done, mut got) = (Vec::new(), [0; 3]);
            for _ in 0..before {
                let (data, none) = (Region::EMPTY, TypeCode::BYTES);
                // SAFETY: no memory at all.
                let _ = unsafe { world[0].send(Peer(1), label(1), none, data, TOKEN) };
                total += 1;
            }
            let data = Region::of(&[1, 2, 3]);
            // SAFETY: the data is a constant.
            let _ = unsafe { world[0].send(Peer(1), label(2), code, data, TOKEN) };
            let selector = Selector::exactly(Peer(0), label(2));
            let into = RegionMut::of(&mut got);
            // SAFETY: the memory outlives the receive, which ends below.
            unsafe { world[1].recv(selector, code, into, TOKEN, &mut done) };
            while done.is_empty() {
                world[1].progress(&mut done);
                world[0].progress(&mut Vec::new());
            }
            let outcome = Ok(Received { source: Peer(0), tag: 2, bytes: 3 });
            assert_eq!((done[0].outcome, got), (outcome, [1, 2, 3]));
        }
        for _ in 0..total {
            let selector = Selector::exactly(Peer(0), label(1));
            let taken = world[1].mprobe(selector).expect("it came before the others");
            world[1].discard(taken);
        }
        let other = structures::code_of("another one", false);
        let code = structures::code_of(&"y".repeat(LONG), true);
        // SAFETY: no memory at all.
        let _ = unsafe { world[0].send(Peer(1), label(3), code, Region::EMPTY, TOKEN) };
        let (selector, mut done) = (Selector::exactly(Peer(0), label(3)), Vec::new());
        // SAFETY: no memory at all.
        unsafe { world[1].recv(selector, other, RegionMut::EMPTY, TOKEN, &mut done) };
        while done.is_empty() {
            world[1].progress(&mut done);
        }
        let (sent, expected, from) = (code, other, Sender::new(Peer(0), 3));
        let mismatch = TransferError::TypeMismatch { sent, expected, from };
        assert_eq!(done[0].outcome, Err(mismatch));
    }
}
