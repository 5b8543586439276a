//! The words in which messages are spoken of.

use std::fmt;

/// A rank of the world, as the fabric counts them (communicators translate into these).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u32);

impl Peer {
    /// For indexing.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// What a message is about. Two messages with the same label between the same two ranks meet
/// their receives in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Which communicator and which of its separate worlds (point-to-point, collective,
    /// persistent): messages of different contexts never meet.
    pub context: u64,
    /// The user's tag, or the number of the operation on its communicator.
    pub tag: u64,
    /// Which message of the operation between these two ranks.
    pub ordinal: u32,
}

/// Which messages a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The context; there is no wildcard for it.
    pub context: u64,
    /// The sender, or anyone.
    pub source: Option<Peer>,
    /// The tag, or any.
    pub tag: Option<u64>,
    /// The ordinal.
    pub ordinal: u32,
}

impl Selector {
    /// Accepts just the messages of one label from one rank.
    pub fn exactly(source: Peer, label: Label) -> Selector {
        Selector {
            context: label.context,
            source: Some(source),
            tag: Some(label.tag),
            ordinal: label.ordinal,
        }
    }

    /// Whether this receive accepts that message.
    pub fn accepts(&self, source: Peer, label: Label) -> bool {
        self.context == label.context
            && self.ordinal == label.ordinal
            && self.source.is_none_or(|wanted| wanted == source)
            && self.tag.is_none_or(|wanted| wanted == label.tag)
    }
}

/// The type of the elements of a message, as far as the two sides compare it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeCode(pub u16);

impl TypeCode {
    /// Bytes without a type: agrees with every other code.
    pub const BYTES: TypeCode = TypeCode(0);

    /// No elements at all: the sender met an error and has nothing to send. Whoever receives it
    /// gets [`TransferError::Spoiled`](crate::TransferError::Spoiled).
    pub const SPOILED: TypeCode = TypeCode(u16::MAX);

    /// Whether a message of type `self` may be received as `other`.
    pub fn agrees(self, other: TypeCode) -> bool {
        self == other || self == TypeCode::BYTES || other == TypeCode::BYTES
    }
}

/// Names a posted transfer; comes back in its completion. The poster gives it its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The operation that the transfer belongs to.
    pub operation: u64,
    /// Which step of it.
    pub step: u32,
}

/// What a completed receive got.
///
/// Packed so that with an error in its place (`Result<Received, TransferError>`) it takes no more
/// room than alone: every operation under way keeps one or two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Received {
    /// Who sent it.
    pub source: Peer,
    /// Its tag.
    pub tag: u64,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Whether the receiver of a message sends one in turn, as far as its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It does: they exchange messages.
    Expected,
    /// It does, and there are more than two who exchange messages that they reduce; so few at a
    /// time that these stay in the caches until they are read.
    Operands,
    /// It does not: messages go one way.
    Never,
    /// It does not, and leaves the message as it is: it does not reduce it, and what its sender
    /// sends has not come from others. So all that either does with it is to copy it.
    Untouched {
        /// Whether its sender has others for other receivers, who copy theirs at the same time.
        among_several: bool,
    },
    /// It does not, and reduces the message, which it needs to read but once, wherever it lies.
    Reduced,
    /// Nobody said. Then it does if one has come from there since the last message like this.
    Unsaid,
}
