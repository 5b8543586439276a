//! Numbers of all kinds as one type, and what the operators mean for them.

use motet::datatype::{Basic, Kind};
use motet::op::Predefined;

use crate::worlds::Random;

/// The value of a basic element. Floats are such that all results are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

use Value::{Complex, Float, Integer};

/// Digits and exponent bits of the formats of floats, by their size.
fn format(basic: Basic) -> (u32, u32) {
    let numbers = if matches!(basic.kind, Kind::Complex | Kind::LongComplex) { 2 } else { 1 };
    match (basic.kind, basic.size / numbers) {
        (Kind::LongDouble | Kind::LongComplex, _) if cfg!(target_arch = "x86_64") => (64, 15),
        (_, 2) => (11, 5),
        (_, 4) => (24, 8),
        (_, 8) => (53, 11),
        _ => (113, 15),
    }
}

/// The bits of a whole number in a binary format; the 80-bit one has its leading digit.
fn float_bits(value: f64, (digits, exponent): (u32, u32)) -> u128 {
    let sign = u128::from(value.is_sign_negative());
    let magnitude = value.abs() as u128;
    let stored = if digits == 64 { 64 } else { digits - 1 };
    if magnitude == 0 {
        return sign << (stored + exponent);
    }
    let log = magnitude.ilog2();
    let significand = magnitude << (digits - 1 - log) & !(u128::from(digits != 64) << (digits - 1));
    let biased = u128::from(log) + (1 << (exponent - 1)) - 1;
    (sign << exponent | biased) << stored | significand
}

impl Value {
    /// Some value of that kind.
    pub(crate) fn some(basic: Basic, random: &mut Random) -> Value {
        let mut small = || random.below(41) as f64 - 20.0;
        match basic.kind {
            Kind::Float | Kind::LongDouble => Float(small()),
            Kind::Complex | Kind::LongComplex => Complex(small(), small()),
            Kind::Logical => Integer(i128::from(random.next() >> 60).max(2) - 2),
            _ => {
                let wide = i128::from(random.next() as i64) << 63 | i128::from(random.next() >> 1);
                // Small ones are often equal, and large ones overflow.
                let few = if random.below(2) == 0 { wide % 5 } else { wide };
                truncated(if basic.kind == Kind::Unsigned { few & i128::MAX } else { few }, basic)
            }
        }
    }

    /// Its bytes in memory.
    pub(crate) fn bytes(self, basic: Basic) -> Vec<u8> {
        let size = usize::from(basic.size);
        let float = |value: f64, size: usize| {
            float_bits(value, format(basic)).to_le_bytes()[..size].to_vec()
        };
        match self {
            Integer(value) => value.to_le_bytes()[..size].to_vec(),
            Float(value) => float(value, size),
            Complex(re, im) => [float(re, size / 2), float(im, size / 2)].concat(),
        }
    }
}

/// What is left of a number in so many bytes. (No test has unsigned numbers of more than 127 bits.)
fn truncated(value: i128, basic: Basic) -> Value {
    let unused = 128 - 8 * u32::from(basic.size);
    let top = value << unused;
    let is_signed = match basic.kind {
        Kind::Character => std::ffi::c_char::MIN != 0,
        kind => kind == Kind::Signed,
    };
    Integer(if is_signed { top >> unused } else { (top as u128 >> unused) as i128 })
}

/// `left ∘ right`, as the standard says; for values of kinds that the operator is defined for.
pub(crate) fn combined(op: Predefined, left: Value, right: Value, basic: Basic) -> Value {
    use Predefined::*;
    let smaller = match (left, right) {
        (Integer(a), Integer(b)) => a < b,
        (Float(a), Float(b)) => a < b,
        _ => false,
    };
    match (op, left, right) {
        (Replace, _, right) => right,
        (NoOp, left, _) => left,
        (Min, ..) => {
            if smaller {
                left
            } else {
                right
            }
        }
        (Max, ..) => {
            if smaller {
                right
            } else {
                left
            }
        }
        (Sum, Integer(a), Integer(b)) => truncated(a.wrapping_add(b), basic),
        (Prod, Integer(a), Integer(b)) => truncated(a.wrapping_mul(b), basic),
        (Land, Integer(a), Integer(b)) => Integer((a != 0 && b != 0).into()),
        (Lor, Integer(a), Integer(b)) => Integer((a != 0 || b != 0).into()),
        (Lxor, Integer(a), Integer(b)) => Integer(((a == 0) != (b == 0)).into()),
        (Band, Integer(a), Integer(b)) => Integer(a & b),
        (Bor, Integer(a), Integer(b)) => Integer(a | b),
        (Bxor, Integer(a), Integer(b)) => Integer(a ^ b),
        (Sum, Float(a), Float(b)) => Float(a + b),
        (Prod, Float(a), Float(b)) => Float(a * b),
        (Sum, Complex(a, b), Complex(c, d)) => Complex(a + c, b + d),
        (Prod, Complex(a, b), Complex(c, d)) => Complex(a * c - b * d, a * d + b * c),
        _ => panic!("{op:?} of {left:?} and {right:?}"),
    }
}
