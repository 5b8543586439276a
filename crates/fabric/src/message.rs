//! Types of the messages: peers, labels, selectors, type codes, tokens and traffic hints.

use std::fmt;

/// A rank of the world. Communicators translate their ranks into these ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u32);

impl Peer {
    /// The rank as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The label by which messages match receives. Messages with the same label between the same two
/// ranks match in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The context: the communicator and the kind of communication (point-to-point, collective,
    /// persistent). Messages of different contexts never match.
    pub context: u64,
    /// The user's tag, or the number of the operation on its communicator.
    pub tag: u64,
    /// The number of the message within the operation, between these two ranks.
    pub ordinal: u32,
}

/// The messages that a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The context; there is no wildcard for it.
    pub context: u64,
    /// The sender, or `None` for any.
    pub source: Option<Peer>,
    /// The tag, or `None` for any.
    pub tag: Option<u64>,
    /// The ordinal.
    pub ordinal: u32,
}

impl Selector {
    /// Accepts only messages with this label from this rank.
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

/// The type of the elements of a message. Sender and receiver compare it.
///
/// * 0 is [`BYTES`](TypeCode::BYTES).
/// * Up to `0x3fff` are basic types, which have the same codes in all processes. Any bytes are a
///   value of such a type.
/// * `0x4000` to `0x7fff` are *strict* basic types, like `bool`: not all bytes are a value of such
///   a type. Without `0x4000` the code is that of the same data in raw memory.
/// * From `0x8000` on are structures that the process [has numbered](crate::structures); another
///   process may number them differently. Codes with `0x4000` are strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypeCode(pub u16);

impl TypeCode {
    /// Bytes without a type.
    pub const BYTES: TypeCode = TypeCode(0);

    /// No elements at all: the sender met an error and has nothing to send. The receiver gets
    /// [`TransferError::Spoiled`](crate::TransferError::Spoiled).
    pub const SPOILED: TypeCode = TypeCode(u16::MAX);

    /// A structure for which the process has no number left, or which the sender has not described.
    /// It may be received as bytes only.
    pub const NAMELESS: TypeCode = TypeCode(u16::MAX - 1);

    /// As [`SPOILED`](TypeCode::SPOILED), where the operator of a reduction has failed: the
    /// receiver gets [`TransferError::OperatorFailed`](crate::TransferError::OperatorFailed).
    pub const OPERATOR_FAILED: TypeCode = TypeCode(u16::MAX - 2);

    /// Whether the code is a reason why there are no elements.
    pub fn is_reason(self) -> bool {
        self == TypeCode::SPOILED || self == TypeCode::OPERATOR_FAILED
    }

    const STRUCTURE: u16 = 0x8000;
    const STRICT: u16 = 0x4000;

    /// The code of the structure with this number.
    pub(crate) fn of_structure(number: u16, is_strict: bool) -> TypeCode {
        let code = TypeCode(TypeCode::STRUCTURE | number);
        if is_strict { code.strict() } else { code }
    }

    /// The number of a structure.
    pub(crate) fn number(self) -> usize {
        usize::from(self.0 & !(TypeCode::STRUCTURE | TypeCode::STRICT))
    }

    /// The same basic type as a strict one: not all bytes are a value of it.
    #[must_use]
    pub const fn strict(self) -> TypeCode {
        TypeCode(self.0 | TypeCode::STRICT)
    }

    /// The same data as raw memory, if it is a basic type.
    #[must_use]
    pub const fn raw(self) -> TypeCode {
        if self.is_structure() { self } else { TypeCode(self.0 & !TypeCode::STRICT) }
    }

    /// Whether some bytes are no value of the type.
    pub const fn is_strict(self) -> bool {
        self.0 & TypeCode::STRICT != 0
    }

    /// Whether the type is a structure, or none of the types that all processes know.
    #[inline]
    pub const fn is_structure(self) -> bool {
        self.0 & TypeCode::STRUCTURE != 0
    }

    /// Whether a message of this type may be received as another one. Both codes are those of this
    /// process.
    ///
    /// * Anything may be received as bytes.
    /// * A type may be received as itself.
    /// * Bytes may be received as any type of which all bytes are a value: so never as a `bool`, or
    ///   as a structure with a `bool` in it.
    /// * A strict basic type may be received as the same data in raw memory (a `bool` as `C_BOOL`),
    ///   but not the reverse.
    pub fn fits(self, received: TypeCode) -> bool {
        let is_known = self != TypeCode::NAMELESS;
        received == TypeCode::BYTES
            || (self == received && is_known)
            || (self == TypeCode::BYTES && !received.is_strict())
            || self.raw() == received && is_known
    }
}

/// Identifies a posted transfer; its completion carries it. The poster defines its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The operation that the transfer belongs to.
    pub operation: u64,
    /// The step of the operation.
    pub step: u32,
}

/// What a completed receive got.
///
/// Packed so that a `Result<Received, TransferError>` takes no more room than the value alone:
/// every operation under way keeps one or two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Received {
    /// The sender of the message.
    pub source: Peer,
    /// The tag of the message.
    pub tag: u64,
    /// The length of the message in bytes.
    pub bytes: usize,
}

/// Whether the receiver of a message replies with one, as far as the sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficHint {
    /// It replies: the two ranks exchange messages.
    Expected,
    /// It replies, and more than two ranks exchange messages that they reduce.
    Operands {
        /// Whether a rank sends so little at a time that it stays in the caches until it is read.
        stay_cached: bool,
    },
    /// It does not reply: messages go one way.
    OneWay,
    /// It does not reply, and does not change or reduce the message, and the sender does not
    /// forward data of other ranks. So both only copy the data.
    Untouched {
        /// Whether the sender has more messages for other receivers, which copy theirs at the same
        /// time.
        among_several: bool,
    },
    /// It does not reply, and reduces the message, so it needs to read it only once, wherever it
    /// lies.
    Reduced,
    /// The sender does not know. The endpoint assumes a reply if a message has come from the
    /// receiver since the last message of this kind.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of kinds of codes, sent and received.
    #[test]
    fn what_is_sent_as_one_type_is_received_as_another_by_rule() {
        const BYTE: TypeCode = TypeCode(0x0501);
        const LOGICAL: TypeCode = TypeCode(0x0601);
        const BOOL: TypeCode = LOGICAL.strict();
        let structure = |number, is_strict| TypeCode::of_structure(number, is_strict);
        let codes = [
            ("bytes", TypeCode::BYTES),
            ("u8", BYTE),
            ("C_BOOL", LOGICAL),
            ("bool", BOOL),
            ("numbers", structure(0, false)),
            ("other numbers", structure(1, false)),
            ("flags", structure(2, true)),
            ("other flags", structure(3, true)),
            ("nameless", TypeCode::NAMELESS),
        ];
        // A row for what is sent, a column for what is received.
        let rule = [
            "yyy.yy...",
            "yy.......",
            "y.y......",
            "y.yy.....",
            "y...y....",
            "y....y...",
            "y.....y..",
            "y......y.",
            "y........",
        ];
        for ((sent_as, sent), row) in codes.iter().zip(rule) {
            for ((received_as, received), may) in codes.iter().zip(row.chars()) {
                assert_eq!(sent.fits(*received), may == 'y', "{sent_as} as {received_as}");
            }
        }
        let strict = codes.map(|(_, code)| code.is_strict());
        assert_eq!(strict, [false, false, false, true, false, false, true, true, true]);
    }

    #[test]
    fn codes_of_structures_are_none_of_the_others() {
        for number in [0, 1, crate::structures::STRUCTURES_MAX - 1] {
            for is_strict in [false, true] {
                let code = TypeCode::of_structure(number as u16, is_strict);
                assert_eq!((code.number(), code.is_strict()), (number, is_strict));
                assert!(code.is_structure());
                assert!(code != TypeCode::SPOILED && code != TypeCode::NAMELESS);
            }
        }
    }
}
