//! Floating point numbers that Rust has no type for: arithmetic of IEEE 754 in software, rounded
//! to the nearest (to even in a tie).
//!
//! One arithmetic serves all binary formats of up to 128 bits, so that the tests can hold it
//! against the processor's for the formats that this has.

use std::cmp::Ordering;

use super::predefined::Real;

/// A binary format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Digits of a significand, the leading one included.
    pub(super) digits: u32,
    /// Bits of an exponent.
    pub(super) exponent: u32,
    /// Whether the leading digit is stored, as the x87 does.
    pub(super) leading: bool,
}

/// A number in some format.
pub(super) trait Software: Copy + Send + Sync + 'static {
    /// Its format.
    const FORMAT: Format;

    /// Its bits, from the lowest on; others do not matter.
    fn bits(self) -> u128;

    /// The number with these bits.
    fn from_bits(bits: u128) -> Self;
}

/// A number taken apart. A finite one is `significand · 2^quantum`.
#[derive(Clone, Copy)]
enum Number {
    Nan,
    Infinite { negative: bool },
    Finite { negative: bool, significand: u128, quantum: i32 },
}

use Number::{Finite, Infinite, Nan};

/// Digits below the last one that decide about rounding: two of them, and one for whether there
/// is anything at all below these.
const GUARD: u32 = 3;

/// Digits that are cut off at once; what was above them has become 0 long before.
const MOST_CUT: i32 = 120;

impl Format {
    /// Bits below the exponent.
    const fn stored(self) -> u32 {
        self.digits - 1 + self.leading as u32
    }

    const fn greatest_exponent(self) -> u128 {
        (1 << self.exponent) - 1
    }

    /// The leading digit of a significand.
    const fn one(self) -> u128 {
        1 << (self.digits - 1)
    }

    /// The quantum of the smallest numbers.
    const fn least_quantum(self) -> i32 {
        3 - (1 << (self.exponent - 1)) - self.digits as i32
    }

    fn decode(self, bits: u128) -> Number {
        let exponent = (bits >> self.stored()) & self.greatest_exponent();
        let negative = bits >> (self.stored() + self.exponent) & 1 == 1;
        let stored = bits & ((1 << self.stored()) - 1);
        let fraction = stored & (self.one() - 1);
        if self.leading && exponent != 0 && stored == fraction {
            return Nan; // not a valid number of the x87
        }
        if exponent == self.greatest_exponent() {
            return if fraction == 0 { Infinite { negative } } else { Nan };
        }
        if exponent == 0 {
            return Finite { negative, significand: stored, quantum: self.least_quantum() };
        }
        let quantum = self.least_quantum() + exponent as i32 - 1;
        Finite { negative, significand: fraction | self.one(), quantum }
    }

    /// The bits of a number, whose significand has no more digits than the format.
    fn encode(self, number: Number) -> u128 {
        let pack = |negative: bool, exponent: u128, significand: u128| {
            let stored = significand & ((1 << self.stored()) - 1);
            u128::from(negative) << (self.stored() + self.exponent)
                | exponent << self.stored()
                | stored
        };
        match number {
            Nan => pack(false, self.greatest_exponent(), self.one() | self.one() >> 1),
            Infinite { negative } => pack(negative, self.greatest_exponent(), self.one()),
            Finite { negative, significand, .. } if significand < self.one() => {
                pack(negative, 0, significand)
            }
            Finite { negative, significand, quantum } => {
                match u128::try_from(quantum - self.least_quantum() + 1) {
                    Ok(exponent) if exponent < self.greatest_exponent() => {
                        pack(negative, exponent, significand)
                    }
                    _ => pack(negative, self.greatest_exponent(), self.one()),
                }
            }
        }
    }

    /// The nearest number of the format. Where the last digit only says that there was more
    /// below it, there are at least [`GUARD`] digits too many.
    fn round(self, negative: bool, significand: u128, quantum: i32) -> Number {
        let length = (u128::BITS - significand.leading_zeros()) as i32;
        let wanted = (quantum + length - self.digits as i32).max(self.least_quantum());
        if wanted <= quantum {
            let significand = significand << (quantum - wanted).min(127);
            return Finite { negative, significand, quantum: wanted };
        }
        // All that counts below half of the last digit is whether there is anything.
        let cut = (wanted - quantum).min(MOST_CUT);
        let significand = shifted_down(significand, (wanted - quantum - cut).unsigned_abs());
        let (kept, lost) = (significand >> cut, significand & ((1 << cut) - 1));
        let half = 1 << (cut - 1);
        let up = lost > half || (lost == half && kept & 1 == 1);
        let (kept, carried) = (kept + u128::from(up), self.one() << 1);
        if kept == carried {
            return Finite { negative, significand: kept >> 1, quantum: wanted + 1 };
        }
        Finite { negative, significand: kept, quantum: wanted }
    }

    fn sum(self, left: Number, right: Number) -> Number {
        let (big, small) = match (left, right) {
            (Nan, _) | (_, Nan) => return Nan,
            (Infinite { negative: one }, Infinite { negative: other }) if one != other => {
                return Nan;
            }
            (Infinite { .. }, _) => return left,
            (_, Infinite { .. }) => return right,
            (Finite { quantum: one, .. }, Finite { quantum: other, .. }) if one < other => {
                (right, left)
            }
            _ => (left, right),
        };
        let (
            Finite { negative, significand: big, quantum },
            Finite { negative: against, significand: small, quantum: lower },
        ) = (big, small)
        else {
            return Nan;
        };
        let big = big << GUARD;
        let small = shifted_down(small << GUARD, (quantum - lower).unsigned_abs());
        let quantum = quantum - GUARD as i32;
        if negative == against {
            return self.round(negative, big + small, quantum);
        }
        // A sum that is zero is negative only if both operands are.
        let negative = if small > big { against } else { negative && big != small };
        self.round(negative, big.abs_diff(small), quantum)
    }

    fn product(self, left: Number, right: Number) -> Number {
        match (left, right) {
            (Nan, _) | (_, Nan) => Nan,
            (
                Finite { negative: one, significand: left, quantum },
                Finite { negative: other, significand: right, quantum: more },
            ) => {
                let (left, raised) = raised(left);
                let (right, raised_more) = self::raised(right);
                let (product, lowered) = upper_half(left, right);
                let quantum = quantum + more - raised - raised_more + lowered;
                self.round(one != other, product, quantum)
            }
            (Infinite { .. }, Finite { significand: 0, .. })
            | (Finite { significand: 0, .. }, Infinite { .. }) => Nan,
            (one, other) => Infinite { negative: is_negative(one) != is_negative(other) },
        }
    }
}

fn is_negative(number: Number) -> bool {
    matches!(number, Infinite { negative: true } | Finite { negative: true, .. })
}

/// Divided by a power of two; the last digit is 1 if anything is lost.
fn shifted_down(significand: u128, by: u32) -> u128 {
    if by >= u128::BITS {
        return u128::from(significand != 0);
    }
    let kept = significand >> by;
    kept | u128::from(kept << by != significand)
}

/// Multiplied by a power of two, so that the highest bit is set (if any is); and that power.
fn raised(significand: u128) -> (u128, i32) {
    let by = significand.leading_zeros().min(u128::BITS - 1);
    (significand << by, by as i32)
}

/// The upper 128 of 256 bits of a product, the last of them 1 if anything is lost below; and how
/// many bits are below.
fn upper_half(left: u128, right: u128) -> (u128, i32) {
    const HALF: u32 = 64;
    let parts = |number: u128| (number >> HALF, number & u128::from(u64::MAX));
    let ((a, b), (c, d)) = (parts(left), parts(right));
    let (low, one, other) = (b * d, a * d, b * c);
    let (middle, carried) = one.overflowing_add(other);
    let (low, more) = low.overflowing_add(middle << HALF);
    let high = a * c + (middle >> HALF) + (u128::from(carried) << HALF) + u128::from(more);
    (high | u128::from(low != 0), u128::BITS as i32)
}

impl<S: Software> Real for S {
    fn sum(self, other: S) -> S {
        let format = S::FORMAT;
        let sum = format.sum(format.decode(self.bits()), format.decode(other.bits()));
        S::from_bits(format.encode(sum))
    }

    fn product(self, other: S) -> S {
        let format = S::FORMAT;
        let product = format.product(format.decode(self.bits()), format.decode(other.bits()));
        S::from_bits(format.encode(product))
    }

    fn negated(self) -> S {
        S::from_bits(self.bits() ^ 1 << (S::FORMAT.stored() + S::FORMAT.exponent))
    }

    fn order(self, other: S) -> Option<Ordering> {
        let format = S::FORMAT;
        let place = |number: S| {
            if matches!(format.decode(number.bits()), Nan) {
                return None;
            }
            let sign = format.stored() + format.exponent;
            let magnitude = (number.bits() & ((1 << sign) - 1)) as i128;
            Some(if number.bits() >> sign & 1 == 1 { -magnitude } else { magnitude })
        };
        Some(place(self)?.cmp(&place(other)?))
    }
}

macro_rules! software {
    ($(
        $(#[$doc:meta])*
        $name:ident($bits:ty) = $digits:literal, $exponent:literal, $leading:literal;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(transparent)]
        pub(super) struct $name(pub(super) $bits);

        impl Software for $name {
            const FORMAT: Format =
                Format { digits: $digits, exponent: $exponent, leading: $leading };

            fn bits(self) -> u128 {
                self.0.into()
            }

            fn from_bits(bits: u128) -> Self {
                $name(bits as $bits)
            }
        }
    )*};
}
#[cfg(test)]
pub(super) use software;

software! {
    /// IEEE's format of 16 bits.
    Half(u16) = 11, 5, false;
    /// IEEE's format of 128 bits.
    Quad(u128) = 113, 15, false;
    /// The x87's format of 80 bits, in 128.
    Extended(u128) = 64, 15, true;
}
