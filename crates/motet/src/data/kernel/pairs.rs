//! Kernels of `MINLOC` and `MAXLOC`: values with an index (MPI 4.1, 6.9.4).
//!
//! In the stream a pair has no padding, so neither value nor index is aligned. Of two equal values
//! the one with the lower index is taken; a NaN loses against a number.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::predefined::{LongDouble, Real};
use super::software::{Half, Quad};
use super::{Kernel, Unit};
use crate::data::op::Extreme;
use crate::types::datatype::{Basic, Kind};
use std::cmp::Ordering;
use std::marker::PhantomData;

/// A number of any type that can be compared.
trait Comparable: Copy + Send + Sync + 'static {
    /// `None` if one of the two is a NaN.
    fn order(self, other: Self) -> Option<Ordering>;
}

macro_rules! comparable {
    ($($type:ty)*) => {$(
        impl Comparable for $type {
            #[inline]
            fn order(self, other: Self) -> Option<Ordering> {
                self.partial_cmp(&other)
            }
        }
    )*};
}

comparable! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 }

/// A number that is compared in software.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Soft<R>(R);

impl<R: Real> Comparable for Soft<R> {
    fn order(self, other: Self) -> Option<Ordering> {
        self.0.order(other.0)
    }
}

/// Compares the numbers at two addresses. Both must be readable.
type Compare = unsafe fn(*const u8, *const u8) -> Option<Ordering>;

/// The kernel for values of type `V`. It compares indices only where values are equal, so the cost
/// of a call for each does not matter.
struct Pairs<V> {
    extreme: Extreme,
    compare_indices: Compare,
    /// Bytes of a pair.
    bytes: usize,
    value: PhantomData<fn() -> V>,
}

/// The kernel for values and indices of these types, and one pair as its unit.
pub(super) fn kernel(extreme: Extreme, value: Basic, index: Basic) -> (Box<dyn Kernel>, Unit) {
    let bytes = usize::from(value.size) + usize::from(index.size);
    let make = Maker { extreme, compare_indices: by_type(index, Comparer), bytes };
    (by_type(value, make), Unit { bytes, alignment: 1 })
}

/// Makes something for a type of numbers.
trait ForType {
    type Made;

    fn make<V: Comparable>(self) -> Self::Made;
}

struct Comparer;

impl ForType for Comparer {
    type Made = Compare;

    fn make<V: Comparable>(self) -> Compare {
        compare::<V>
    }
}

struct Maker {
    extreme: Extreme,
    compare_indices: Compare,
    bytes: usize,
}

impl ForType for Maker {
    type Made = Box<dyn Kernel>;

    fn make<V: Comparable>(self) -> Box<dyn Kernel> {
        let Maker { extreme, compare_indices, bytes } = self;
        Box::new(Pairs::<V> { extreme, compare_indices, bytes, value: PhantomData })
    }
}

fn by_type<M: ForType>(basic: Basic, what: M) -> M::Made {
    match (basic.kind, basic.size) {
        (Kind::Signed, 1) => what.make::<i8>(),
        (Kind::Signed, 2) => what.make::<i16>(),
        (Kind::Signed, 4) => what.make::<i32>(),
        (Kind::Signed, 8) => what.make::<i64>(),
        (Kind::Signed, 16) => what.make::<i128>(),
        (Kind::Unsigned, 1) => what.make::<u8>(),
        (Kind::Unsigned, 2) => what.make::<u16>(),
        (Kind::Unsigned, 4) => what.make::<u32>(),
        (Kind::Unsigned, 8) => what.make::<u64>(),
        (Kind::Unsigned, 16) => what.make::<u128>(),
        (Kind::Float, 2) => what.make::<Soft<Half>>(),
        (Kind::Float, 4) => what.make::<f32>(),
        (Kind::Float, 8) => what.make::<f64>(),
        (Kind::Float, 16) => what.make::<Soft<Quad>>(),
        (Kind::LongDouble, 16) => what.make::<Soft<LongDouble>>(),
        _ => unreachable!("pairs are of numbers: {basic:?}"),
    }
}

/// # Safety
/// There is a number of this type at both addresses; it need not be aligned.
unsafe fn compare<V: Comparable>(left: *const u8, right: *const u8) -> Option<Ordering> {
    // SAFETY: passed on.
    let left = unsafe { left.cast::<V>().read_unaligned() };
    // SAFETY: passed on.
    let right = unsafe { right.cast::<V>().read_unaligned() };
    left.order(right)
}

impl<V: Comparable> Pairs<V> {
    /// Whether the right one of two pairs is taken.
    ///
    /// # Safety
    /// There is a pair at both addresses.
    #[inline]
    unsafe fn takes_right(&self, left: *const u8, right: *const u8) -> bool {
        let (index, other) =
            (left.wrapping_add(size_of::<V>()), right.wrapping_add(size_of::<V>()));
        // SAFETY: the values come first.
        let order = unsafe { compare::<V>(left, right) };
        match (order, self.extreme) {
            (Some(Ordering::Less), Extreme::Least)
            | (Some(Ordering::Greater), Extreme::Greatest) => false,
            (Some(Ordering::Less | Ordering::Greater), _) => true,
            (Some(Ordering::Equal), _) => {
                // SAFETY: the indices lie behind the values.
                unsafe { (self.compare_indices)(other, index) == Some(Ordering::Less) }
            }
            (None, _) => {
                // SAFETY: the values again.
                let left_is_number = unsafe { compare::<V>(left, left) }.is_some();
                // SAFETY: the values again.
                let right_is_number = unsafe { compare::<V>(right, right) }.is_some();
                if left_is_number || right_is_number {
                    return right_is_number;
                }
                // SAFETY: the indices lie behind the values.
                unsafe { (self.compare_indices)(other, index) == Some(Ordering::Less) }
            }
        }
    }
}

impl<V: Comparable> Kernel for Pairs<V> {
    fn alignment(&self) -> Option<usize> {
        Some(1) // they are read byte by byte, as the unit of pairs says
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        for at in (0..count).map(|i| i * self.bytes) {
            let (left, right) = (left.wrapping_add(at), right.wrapping_add(at));
            let into = into.wrapping_add(at);
            // SAFETY: pairs by the caller's promise.
            let winner = if unsafe { self.takes_right(left, right) } { right } else { left };
            if !std::ptr::eq(winner, into) {
                // SAFETY: `into` is the other operand, or overlaps none.
                unsafe { into.copy_from_nonoverlapping(winner, self.bytes) };
            }
        }
    }
}
