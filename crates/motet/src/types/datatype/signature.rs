//! Type signatures: the sequence of basic elements, without their places (MPI 4.1, 5.1).
//!
//! Sender and receiver must have the same signature, in whatever portions of count and type. A
//! sequence `a b c` of element codes is remembered as the value of the polynomial
//! `a·B² + b·B + c` modulo a prime. The value of two sequences one after the other follows from
//! their values and lengths, and so does that of `n` repetitions in `log n` steps; nothing is ever
//! expanded.

use super::named::{Basic, Kind};

/// A Mersenne prime: residues take 61 bits, and two of them multiply within a `u128`.
const PRIME: u64 = (1 << 61) - 1;
/// Any number that is no small power of another will do.
const POINT: u64 = 0x0123_4567_89ab_cdef;

fn multiply(left: u64, right: u64) -> u64 {
    (u128::from(left) * u128::from(right) % u128::from(PRIME)) as u64
}

fn add(left: u64, right: u64) -> u64 {
    (left + right) % PRIME
}

/// A sequence of basic elements, in constant space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    value: u64,
    /// `POINT` to the power of the number of elements.
    scale: u64,
    elements: u64,
    bytes: u64,
    raw: bool,
}

impl Sequence {
    pub(super) const EMPTY: Sequence =
        Sequence { value: 0, scale: 1, elements: 0, bytes: 0, raw: true };

    pub(super) fn of(basic: Basic) -> Sequence {
        Sequence {
            value: (basic.kind as u64 + 1) << 8 | u64::from(basic.size),
            scale: POINT,
            elements: 1,
            bytes: u64::from(basic.size),
            raw: basic.kind == Kind::Raw,
        }
    }

    /// The concatenation of this one and the other.
    ///
    /// Counts wrap; the constructors have checked that the size fits.
    pub(super) fn then(self, next: Sequence) -> Sequence {
        Sequence {
            value: add(multiply(self.value, next.scale), next.value),
            scale: multiply(self.scale, next.scale),
            elements: self.elements.wrapping_add(next.elements),
            bytes: self.bytes.wrapping_add(next.bytes),
            raw: self.raw && next.raw,
        }
    }

    /// This one repeated so many times.
    pub(super) fn repeat(self, mut times: u64) -> Sequence {
        let (mut result, mut power) = (Sequence::EMPTY, self);
        while times > 0 {
            if times & 1 == 1 {
                result = result.then(power);
            }
            power = power.then(power);
            times >>= 1;
        }
        result
    }

    pub(super) fn elements(self) -> u64 {
        self.elements
    }

    pub(super) fn signature(self) -> Signature {
        Signature {
            hash: mix(self.value ^ mix(self.elements)),
            elements: self.elements,
            bytes: self.bytes,
            raw: self.raw,
        }
    }
}

/// Spreads differences over all bits, so that any part of a hash serves as a shorter one.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The signature of a number of items of a datatype, which must agree between sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Equal for equal sequences of basic elements; differs for others but with a probability
    /// of their length in 2⁶¹.
    pub hash: u64,
    /// The number of basic elements.
    pub elements: u64,
    /// The bytes that they take.
    pub bytes: u64,
    /// Whether all elements are of type `MPI_BYTE` or `MPI_PACKED`.
    pub raw: bool,
}

impl Signature {
    /// Whether data of the one may be received as the other (MPI 4.1, 3.3.1).
    ///
    /// `MPI_PACKED` matches everything of the same size. So does `MPI_BYTE` here: the standard
    /// requires it on both sides, but many programs have it on one.
    pub fn matches(self, other: Signature) -> bool {
        if self.raw || other.raw { self.bytes == other.bytes } else { self == other }
    }
}
