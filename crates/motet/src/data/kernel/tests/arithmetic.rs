//! Arithmetic in software against the processor's, for the formats that this has.

use std::cmp::Ordering;

use super::Random;
use crate::data::kernel::predefined::Real;
use crate::data::kernel::software::{Extended, Format, Half, Quad, Software, software};

software! {
    /// What `f32` is.
    Single(u32) = 24, 8, false;
    /// What `f64` is.
    Double(u64) = 53, 11, false;
}

/// Bits of a format, with many of the exponents near both ends and near each other.
fn some(format: Format, random: &mut Random) -> u128 {
    let stored = format.digits - 1;
    let mut fraction = u128::from(random.next()) << 64 | u128::from(random.next());
    match random.next() % 4 {
        0 => fraction = 0,
        1 => fraction = u128::MAX << (random.next() % u64::from(stored)),
        _ => {}
    }
    let all = (1u64 << format.exponent) - 1;
    let exponent = match random.next() % 5 {
        0 => random.next() % 4,
        1 => all - random.next() % 3,
        2 => all / 2 + random.next() % 8,
        3 => all / 2 - u64::from(stored) + random.next() % 8,
        _ => random.next() & all,
    };
    let fraction = fraction & ((1 << stored) - 1);
    let leading = u128::from(format.leading && exponent != 0) << stored;
    let sign = u128::from(random.next() % 2);
    let low = stored + u32::from(format.leading);
    ((sign << format.exponent) | u128::from(exponent)) << low | leading | fraction
}

/// Whether two results are the same: to the last bit, or both no number.
fn same<S: Software + Real>(found: S, expected: S) -> bool {
    let is_nan = |number: S| number.order(number).is_none();
    found.bits() == expected.bits() || (is_nan(found) && is_nan(expected))
}

macro_rules! against_the_processor {
    ($name:ident, $soft:ident, $hard:ident) => {
        #[test]
        fn $name() {
            let mut random = Random(7);
            for _ in 0..200_000 {
                let left = $soft::from_bits(some($soft::FORMAT, &mut random));
                let right = $soft::from_bits(some($soft::FORMAT, &mut random));
                let (a, b) = ($hard::from_bits(left.0), $hard::from_bits(right.0));
                assert!(same(left.sum(right), $soft((a + b).to_bits())), "{a:e} + {b:e}");
                assert!(same(left.product(right), $soft((a * b).to_bits())), "{a:e} * {b:e}");
                assert_eq!(left.order(right), a.partial_cmp(&b), "{a:e} ? {b:e}");
                assert_eq!(left.negated().0, (-a).to_bits());
            }
        }
    };
}

against_the_processor!(single_precision, Single, f32);
against_the_processor!(double_precision, Double, f64);

/// The sum and the product of two numbers, and how they compare, by the x87.
#[cfg(target_arch = "x86_64")]
fn x87(left: Extended, right: Extended) -> (Extended, Extended) {
    let (mut sum, mut product) = (Extended(0), Extended(0));
    macro_rules! by {
        ($instruction:literal, $result:ident) => {
            // SAFETY: reads and writes 10 bytes of values of 16, and leaves the stack of the
            // coprocessor empty, as it has found it.
            unsafe {
                std::arch::asm!(
                    "fld tbyte ptr [{left}]",
                    "fld tbyte ptr [{right}]",
                    $instruction,
                    "fstp tbyte ptr [{result}]",
                    left = in(reg) &raw const left.0,
                    right = in(reg) &raw const right.0,
                    result = in(reg) &raw mut $result.0,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                )
            }
        };
    }
    by!("faddp st(1), st", sum);
    by!("fmulp st(1), st", product);
    (sum, product)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn extended_precision() {
    let mut random = Random(9);
    for _ in 0..200_000 {
        let left = Extended::from_bits(some(Extended::FORMAT, &mut random));
        let right = Extended::from_bits(some(Extended::FORMAT, &mut random));
        let (sum, product) = x87(left, right);
        assert!(same(left.sum(right), sum), "{left:x?} + {right:x?}");
        assert!(same(left.product(right), product), "{left:x?} * {right:x?}");
    }
}

/// Bytes of a `long double` behind its 80 bits mean nothing, and come out as 0.
#[test]
fn padding_of_extended_numbers_means_nothing() {
    let one = 0x3fff_8000_0000_0000_0000;
    let (dirty, two) = (Extended(one | 0xdead << 96), Extended(0x4000_8000_0000_0000_0000));
    assert_eq!(dirty.sum(dirty), two);
    assert_eq!(dirty.order(Extended(one)), Some(Ordering::Equal));
    assert_eq!(Extended(0x7fff_0000_0000_0000_0001).order(two), None, "no valid number");
    assert_eq!(Extended(0x4000_0000_0000_0000_0001).order(two), None, "no valid number");
}

/// All numbers of 16 bits against the same in single precision: sums and products of theirs are
/// exact there before they are rounded, or lose too little to matter.
#[test]
fn half_precision() {
    let wide = |half: Half| {
        let (sign, magnitude) = (u32::from(half.0 >> 15) << 31, u32::from(half.0 & 0x7fff));
        let value = match magnitude >> 10 {
            31 => f32::from_bits(0x7f80_0000 | (magnitude & 0x3ff) << 13),
            0 => magnitude as f32 / 16_777_216.0,
            _ => f32::from_bits((magnitude << 13) + (112 << 23)),
        };
        f32::from_bits(value.to_bits() | sign)
    };
    // The nearest one, looked for.
    let narrow = |value: f32| -> Half {
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let value = value.abs();
        if value.is_nan() || value >= 65520.0 {
            return Half(if value.is_nan() { 0x7e00 } else { sign | 0x7c00 });
        }
        let below = (0..0x7c00u16).collect::<Vec<_>>();
        let at = below.partition_point(|&bits| wide(Half(bits)) <= value) - 1;
        let (low, high) = (at as u16, at as u16 + 1);
        let to_low = value - wide(Half(low));
        let to_high = if high == 0x7c00 { 65536.0 } else { wide(Half(high)) } - value;
        let up = to_high < to_low || (to_high == to_low && low % 2 == 1);
        Half(sign | if up { high } else { low })
    };
    let mut random = Random(3);
    for _ in 0..1000 {
        let (left, right) = (Half(random.next() as u16), Half(random.next() as u16));
        let (a, b) = (wide(left), wide(right));
        assert!(same(left.sum(right), narrow(a + b)), "{a:e} + {b:e}");
        assert!(same(left.product(right), narrow(a * b)), "{a:e} * {b:e}");
        assert_eq!(left.order(right), a.partial_cmp(&b));
    }
}

/// Double precision within 113 digits: sums and products that fit are exact there.
#[test]
fn quadruple_precision() {
    let wide = |value: f64| {
        let bits = value.to_bits();
        let (sign, rest) = (u128::from(bits >> 63) << 127, u128::from(bits & (u64::MAX >> 1)));
        let bias = u128::from(16383u32 - 1023) << 112;
        Quad(if rest == 0 { sign } else { sign | ((rest << 60) + bias) })
    };
    let mut random = Random(4);
    for _ in 0..100_000 {
        let mut small = || (random.next() as i64 >> (20 + random.next() % 40)) as f64;
        let (a, b) = (small(), small());
        assert!(same(wide(a).sum(wide(b)), wide(a + b)), "{a} + {b}");
        assert_eq!(wide(a).order(wide(b)), a.partial_cmp(&b));
        let product = (a as i128) * (b as i128);
        let (high, low) = (product >> 40 << 40, product & ((1 << 40) - 1));
        let sum = wide(high as f64).sum(wide(low as f64));
        assert!(same(wide(a).product(wide(b)), sum) || product == 0, "{a} * {b}");
    }
    // The last digit of 113: a tie goes to the even one, more than a tie goes up.
    let (one, half_a_digit) = (wide(1.0), wide(2f64.powi(-113)));
    assert_eq!(one.sum(half_a_digit), one);
    assert_eq!(one.sum(half_a_digit).sum(half_a_digit), one);
    assert_eq!(one.sum(half_a_digit.sum(half_a_digit)).0, one.0 + 1);
    assert_eq!(Quad(one.0 + 1).sum(half_a_digit).0, one.0 + 2);
    let least = Quad(1);
    assert_eq!(least.product(wide(0.5)), Quad(0), "half of the smallest: to the even one");
    assert_eq!(least.product(wide(0.75)), least);
}
