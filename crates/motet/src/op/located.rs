//! Values that say where they are.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_fabric::TypeCode;

use super::{Maxloc, Minloc, Operator};
use crate::Element;
use crate::datatype::{Datatype, Typed};
use crate::element::code_of_fields;

/// A value and its index: the element of [`Minloc`] and [`Maxloc`].
///
/// It has no padding, so that it can travel as it is: its bytes are those of a packed pair, for
/// example of `MPI_DOUBLE_INT`.
///
/// ```
/// use motet::{Located, Maxloc};
///
/// motet::threads(3, |world| {
///     let mine = Located::new([1.5, 4.0, 4.0][world.rank()], world.rank() as i32);
///     let largest = world.allreduce_one(mine, Maxloc)?;
///     assert_eq!((largest.value(), largest.index()), (4.0, 1));
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, packed)]
pub struct Located<V, I = i32>
where
    V: LocatedValue,
    I: LocatedIndex,
{
    value: V,
    index: I,
}

impl<V: LocatedValue, I: LocatedIndex> Located<V, I> {
    /// A value with its index.
    pub const fn new(value: V, index: I) -> Located<V, I> {
        Located { value, index }
    }

    /// The value.
    pub const fn value(self) -> V {
        self.value
    }

    /// The index.
    pub const fn index(self) -> I {
        self.index
    }
}

/// A number that [`Located`] can hold as its value: integers up to 64 bits, and floats.
pub trait LocatedValue: Element + Typed + PartialOrd {}

/// A number that [`Located`] can hold as its index: `i32`, `i64`, `u32`, `u64` and `usize`.
pub trait LocatedIndex: Element + Typed + Ord {}

macro_rules! parts {
    ($trait:ident: $($type:ty)*) => {$(impl $trait for $type {})*};
}

parts! { LocatedValue: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
parts! { LocatedIndex: i32 i64 u32 u64 usize }

// SAFETY: two elements without padding between or behind them, of which the code tells.
unsafe impl<V: LocatedValue, I: LocatedIndex> Element for Located<V, I> {
    const CODE: TypeCode = code_of_fields(
        size_of::<Self>(),
        &[(0, V::CODE, size_of::<V>()), (size_of::<V>(), I::CODE, size_of::<I>())],
    );
}

// SAFETY: the datatype is that of two numbers one behind the other, which is how they lie here.
unsafe impl<V: LocatedValue, I: LocatedIndex> Typed for Located<V, I> {
    fn datatype() -> Datatype {
        let (offset, bytes) = (size_of::<V>() as i64, size_of::<Self>() as i64);
        Datatype::structured(&[1, 1], &[0, offset], &[V::datatype(), I::datatype()])
            .and_then(|pair| Datatype::resized(0, bytes, &pair))
            .expect("a pair of numbers is small")
    }
}

/// Whether the right one of two values with an index is taken: if it `wins`, if it has the lower
/// index and none of them wins, or if only the left one is not a number.
#[inline]
fn takes_right<V: LocatedValue, I: LocatedIndex>(
    left: Located<V, I>,
    right: Located<V, I>,
    wins: impl Fn(&V, &V) -> bool,
) -> bool {
    let (one, other) = (left.value(), right.value());
    let is_number = |value: &V| value.partial_cmp(value).is_some();
    match (is_number(&one), is_number(&other)) {
        (true, true) if one != other => wins(&other, &one),
        (left_is, right_is) if left_is != right_is => right_is,
        _ => right.index() < left.index(),
    }
}

impl<V: LocatedValue, I: LocatedIndex> Operator<Located<V, I>> for Minloc {
    #[inline]
    fn combine(&self, left: Located<V, I>, right: Located<V, I>) -> Located<V, I> {
        if takes_right(left, right, |one, other| one < other) { right } else { left }
    }
}

impl<V: LocatedValue, I: LocatedIndex> Operator<Located<V, I>> for Maxloc {
    #[inline]
    fn combine(&self, left: Located<V, I>, right: Located<V, I>) -> Located<V, I> {
        if takes_right(left, right, |one, other| one > other) { right } else { left }
    }
}
