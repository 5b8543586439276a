//! The transfers of an endpoint: what is posted, what has come before its receive, and what is
//! under way.

use super::bounce_pool::BounceBuffer;
use super::fill::Fill;
use crate::read_lease::ReadLease;
use crate::{Label, Peer, Received, Region, RegionMut, Token, TransferError, TypeCode};

/// The state of a send after it was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Posted {
    /// Complete: the caller may reuse the memory. There will be no completion.
    Done,
    /// In progress: a completion with the token follows.
    Pending,
}

/// The completion of a posted transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The token it was posted with.
    pub token: Token,
    /// The received message (for a send: the sent message, with this rank as its source).
    pub outcome: Result<Received, TransferError>,
}

/// A posted receive. It holds the two parts of its token, which takes less memory than a `Token`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostedRecv {
    pub(super) into: RegionMut,
    pub(super) operation: u64,
    pub(super) step: u32,
    pub(super) element: TypeCode,
    /// The alignment in bytes with which the message may stay in shared memory (in-place receive);
    /// 0 if it must not.
    pub(super) in_place_alignment: u8,
    pub(super) fill: Fill,
}

impl PostedRecv {
    pub(super) fn new(
        into: RegionMut,
        element: TypeCode,
        Token { operation, step }: Token,
    ) -> PostedRecv {
        PostedRecv { into, operation, step, element, in_place_alignment: 0, fill: Fill::Part }
    }

    /// Whether the message may stay in shared memory, if it is aligned there.
    pub(super) fn may_stay_in_place(&self) -> bool {
        self.in_place_alignment > 0
    }

    /// The same receive with this permitted length.
    pub(super) fn filled(self, fill: Fill) -> PostedRecv {
        PostedRecv { fill, ..self }
    }

    pub(super) fn token(&self) -> Token {
        Token { operation: self.operation, step: self.step }
    }
}

impl Default for PostedRecv {
    fn default() -> Self {
        PostedRecv::new(RegionMut::EMPTY, TypeCode::BYTES, Token { operation: 0, step: 0 })
    }
}

/// An unexpected message: it arrived before its receive was posted.
#[derive(Debug, Default)]
pub(super) struct UnexpectedMsg {
    pub(super) element: TypeCode,
    pub(super) bytes: usize,
    pub(super) body: UnexpectedBody,
}

#[derive(Debug)]
pub(super) enum UnexpectedBody {
    /// The message itself.
    Whole(Box<[u8]>),
    /// The message itself, and the send that waits to hear that it was received.
    Unacknowledged(Box<[u8]>, u64),
    /// The address to copy it from.
    Offered(RndvOffer),
    /// It lies in this remote bounce buffer.
    RemoteBounced(u64),
    /// It lies in this bounce buffer.
    Shared(BounceBuffer),
}

impl Default for UnexpectedBody {
    fn default() -> Self {
        UnexpectedBody::Whole(Box::default())
    }
}

/// The rendezvous offer of a large message, as its receiver knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RndvOffer {
    pub(super) address: u64,
    /// The read lease; without one the message goes in pieces.
    pub(super) lease: Option<ReadLease>,
    pub(super) send: u64,
}

/// A rendezvous send of this rank that its receiver has not completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RndvSend {
    pub(super) to: Peer,
    pub(super) label: Label,
    pub(super) data: Region,
    pub(super) lease: Option<ReadLease>,
    pub(super) token: Token,
    /// The transfer by which it goes straight, once its receiver is ready.
    pub(super) transfer: Option<u64>,
}

/// A rendezvous receive in pieces or by a zero-copy transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct RndvRecv {
    pub(super) receive: PostedRecv,
    pub(super) source: Peer,
    pub(super) tag: u64,
    pub(super) bytes: usize,
    pub(super) missing: usize,
    /// The transfer by which it comes, if that goes straight.
    pub(super) transfer: Option<u64>,
    /// Where the rest of it can be copied from, if nothing more comes.
    pub(super) offer: Option<RndvOffer>,
}
