//! Elements to try the collectives with: what each rank contributes, and two exact operators.

use std::fmt::Debug;

use motet::Element;
use num_complex::Complex;

/// A type of elements, with values for which both operators are exact.
pub(crate) trait Sample: Element + PartialEq + Debug {
    /// What an output holds before; no sample is equal to it, except among the two of `bool`.
    const CANARY: Self;

    /// A value that follows from a number.
    fn of(number: u64) -> Self;

    /// Commutes, and is associative.
    fn add(left: Self, right: Self) -> Self;

    /// Does not commute, and is associative.
    fn compose(left: Self, right: Self) -> Self;

    /// What a rank contributes at a place in a round.
    fn sample(rank: usize, round: usize, at: usize) -> Self {
        let number = (rank as u64 * 7919 + round as u64 * 104_729 + at as u64 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self::of(number >> 20)
    }
}

/// An integer whose halves are the two numbers of the map `x -> a x + b`; such maps compose.
macro_rules! affine {
    ($($type:ty, $bits:literal;)*) => {$(
        impl Sample for $type {
            const CANARY: Self = 0x55;

            fn of(number: u64) -> Self {
                let value = (u128::from(number) * 0x1_0001_0001) as $type;
                if value == Self::CANARY { 1 } else { value }
            }

            fn add(left: Self, right: Self) -> Self {
                left.wrapping_add(right)
            }

            fn compose(left: Self, right: Self) -> Self {
                let low = |value: Self| value & ((1 << $bits) - 1);
                let high = |value: Self| low(value >> $bits);
                let slope = low(high(left).wrapping_mul(high(right)));
                let offset = low(high(left).wrapping_mul(low(right)).wrapping_add(low(left)));
                slope << $bits | offset
            }
        }
    )*};
}

affine! { u8, 4; i32, 16; i128, 64; }

impl Sample for f64 {
    const CANARY: Self = -0.5;

    fn of(number: u64) -> Self {
        (number % 3) as f64
    }

    fn add(left: Self, right: Self) -> Self {
        left + right
    }

    /// The first that is not zero.
    fn compose(left: Self, right: Self) -> Self {
        if left == 0.0 { right } else { left }
    }
}

impl Sample for bool {
    const CANARY: Self = true;

    fn of(number: u64) -> Self {
        number % 2 == 1
    }

    fn add(left: Self, right: Self) -> Self {
        left ^ right
    }

    /// The last.
    fn compose(_left: Self, right: Self) -> Self {
        right
    }
}

impl Sample for Complex<f64> {
    const CANARY: Self = Complex::new(-0.5, -0.25);

    fn of(number: u64) -> Self {
        Complex::new((number % 97) as f64, (number % 89) as f64)
    }

    fn add(left: Self, right: Self) -> Self {
        left + right
    }

    /// Maps `x -> a x + b` in the integers below 97.
    fn compose(left: Self, right: Self) -> Self {
        Complex::new((left.re * right.re) % 97.0, (left.re * right.im + left.im) % 97.0)
    }
}
