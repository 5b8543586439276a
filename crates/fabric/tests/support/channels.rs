//! Channels for safe code.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{
    Attached, InChannel, Label, OutChannel, Peer, Region, RegionMut, TransferError, TypeCode,
    channel,
};

use super::Rank;

/// The receiving end of a channel, with what its rank needs to know about it.
pub(crate) struct Inbound {
    channel: InChannel,
    from: u32,
    bytes: usize,
}

/// The sending end of a channel.
pub(crate) struct Outbound {
    channel: OutChannel,
    to: u32,
}

/// What a sender learns.
pub(crate) enum Attachment {
    Unknown,
    Refused,
    Mismatch(TransferError),
    Open(Outbound),
}

impl Rank {
    pub(crate) fn open(&mut self, from: u32, label: Label, bytes: usize) -> Option<Inbound> {
        let [cells] = channel::cells(&[bytes], 2, self.endpoint.segment().is_oversubscribed())[..]
        else {
            unreachable!("one for each")
        };
        let endpoint = self.endpoint();
        let channel = endpoint.open_channel(Peer(from), label, TypeCode::BYTES, bytes, cells)?;
        Some(Inbound { channel, from, bytes })
    }

    pub(crate) fn close(&mut self, inbound: Inbound) {
        self.endpoint().close_channel(inbound.channel);
    }

    pub(crate) fn attach(&mut self, to: u32, label: Label, bytes: usize) -> Attachment {
        match self.endpoint().attach_channel(Peer(to), label, TypeCode::BYTES, bytes) {
            Attached::Unknown => Attachment::Unknown,
            Attached::Refused => Attachment::Refused,
            Attached::Mismatch(error) => Attachment::Mismatch(error),
            Attached::Channel(channel) => Attachment::Open(Outbound { channel, to }),
        }
    }

    /// Waits for the receiver to say where its channel is.
    pub(crate) fn attached(&mut self, to: u32, label: Label, bytes: usize) -> Outbound {
        self.until(|rank| match rank.attach(to, label, bytes) {
            Attachment::Unknown => None,
            Attachment::Open(outbound) => Some(outbound),
            Attachment::Refused | Attachment::Mismatch(_) => panic!("no channel"),
        })
    }

    pub(crate) fn try_take(&mut self, inbound: &mut Inbound) -> Option<Vec<u8>> {
        let mut memory = vec![0xee; inbound.bytes];
        // SAFETY: live memory of the length that the channel was opened for.
        let taken = unsafe { inbound.channel.try_recv(RegionMut::of(&mut memory)) };
        if taken? {
            self.endpoint().wake(Peer(inbound.from));
        }
        Some(memory)
    }

    pub(crate) fn try_put(&mut self, outbound: &mut Outbound, data: &[u8]) -> bool {
        // SAFETY: a live slice.
        let gone = unsafe { outbound.channel.try_send(Region::of(data)) };
        if gone {
            self.endpoint().wake(Peer(outbound.to));
        }
        gone
    }
}
