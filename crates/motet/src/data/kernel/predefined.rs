//! Kernels of the predefined operators on basic elements (MPI 4.1, 6.9.2).

use std::cmp::Ordering;

use super::software::{Half, Quad};
use super::{Kernel, kernel as typed, looped};
use crate::data::op::{self, Predefined};
use crate::types::datatype::{Basic, Kind};

/// `long double` of C.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(super) type LongDouble = super::software::Extended;
/// `long double` of C, of the size that the datatypes give it.
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
pub(super) type LongDouble = Quad;

/// A real number, as far as reductions need it.
pub(super) trait Real: Copy + Send + Sync + 'static {
    fn sum(self, other: Self) -> Self;

    fn product(self, other: Self) -> Self;

    fn negated(self) -> Self;

    /// Which one is smaller; `None` if one is a NaN.
    fn order(self, other: Self) -> Option<Ordering>;
}

macro_rules! real {
    ($($type:ty)*) => {$(
        impl Real for $type {
            #[inline]
            fn sum(self, other: Self) -> Self {
                self + other
            }

            #[inline]
            fn product(self, other: Self) -> Self {
                self * other
            }

            #[inline]
            fn negated(self) -> Self {
                -self
            }

            #[inline]
            fn order(self, other: Self) -> Option<Ordering> {
                self.partial_cmp(&other)
            }
        }
    )*};
}

real! { f32 f64 }

/// The kernel of one of these operators, which are written for the type.
macro_rules! by_name {
    ($op:ident, $type:ty: $($name:ident)*) => {
        match $op {
            $(Predefined::$name => Some(typed::<$type, _>(op::$name)),)*
            _ => None,
        }
    };
}

macro_rules! integer {
    ($op:ident, $type:ty) => {
        by_name!($op, $type: Sum Prod Min Max Land Lor Lxor Band Bor Bxor)
    };
}

/// The kernel of an operator for elements of this kind; `None` if it is not defined for them.
fn find(op: Predefined, basic: Basic) -> Option<Box<dyn Kernel>> {
    match (basic.kind, basic.size) {
        (Kind::Signed, 1) => integer!(op, i8),
        (Kind::Signed, 2) => integer!(op, i16),
        (Kind::Signed, 4) => integer!(op, i32),
        (Kind::Signed, 8) => integer!(op, i64),
        (Kind::Signed, 16) => integer!(op, i128),
        (Kind::Unsigned, 1) => integer!(op, u8),
        (Kind::Unsigned, 2) => integer!(op, u16),
        (Kind::Unsigned, 4) => integer!(op, u32),
        (Kind::Unsigned, 8) => integer!(op, u64),
        (Kind::Unsigned, 16) => integer!(op, u128),
        (Kind::Character, 1) => integer!(op, std::ffi::c_char),
        (Kind::Raw, 1) => by_name!(op, u8: Band Bor Bxor),
        // Any value other than 0 is true; the result is 0 or 1.
        (Kind::Logical, 1) => by_name!(op, u8: Land Lor Lxor),
        (Kind::Logical, 2) => by_name!(op, u16: Land Lor Lxor),
        (Kind::Logical, 4) => by_name!(op, u32: Land Lor Lxor),
        (Kind::Logical, 8) => by_name!(op, u64: Land Lor Lxor),
        (Kind::Logical, 16) => by_name!(op, u128: Land Lor Lxor),
        (Kind::Float, 2) => real::<Half>(op),
        (Kind::Float, 4) => by_name!(op, f32: Sum Prod Min Max),
        (Kind::Float, 8) => by_name!(op, f64: Sum Prod Min Max),
        (Kind::Float, 16) => real::<Quad>(op),
        (Kind::LongDouble, 16) => real::<LongDouble>(op),
        (Kind::Complex, 4) => complex::<Half>(op),
        (Kind::Complex, 8) => complex::<f32>(op),
        (Kind::Complex, 16) => complex::<f64>(op),
        (Kind::Complex, 32) => complex::<Quad>(op),
        (Kind::LongComplex, 32) => complex::<LongDouble>(op),
        _ => None,
    }
}

/// The kernel of an operator for elements that it is defined for.
pub(super) fn kernel(op: Predefined, basic: Basic) -> Box<dyn Kernel> {
    find(op, basic).expect("an operator has a kernel for all that it is defined for")
}

/// A NaN loses against a number.
fn chosen<R: Real>(left: R, right: R, wins: Ordering) -> R {
    match right.order(left) {
        Some(order) if order == wins => right,
        None if left.order(left).is_none() => right,
        _ => left,
    }
}

fn real<R: Real>(op: Predefined) -> Option<Box<dyn Kernel>> {
    match op {
        Predefined::Sum => Some(looped(R::sum)),
        Predefined::Prod => Some(looped(R::product)),
        Predefined::Min => Some(looped(|left: R, right: R| chosen(left, right, Ordering::Less))),
        Predefined::Max => Some(looped(|left: R, right: R| chosen(left, right, Ordering::Greater))),
        _ => None,
    }
}

/// Two numbers: the real part and the imaginary one.
fn complex<R: Real>(op: Predefined) -> Option<Box<dyn Kernel>> {
    match op {
        Predefined::Sum => Some(looped(|[a, b]: [R; 2], [c, d]: [R; 2]| [a.sum(c), b.sum(d)])),
        Predefined::Prod => Some(looped(|[a, b]: [R; 2], [c, d]: [R; 2]| {
            [a.product(c).sum(b.product(d).negated()), a.product(d).sum(b.product(c))]
        })),
        _ => None,
    }
}
