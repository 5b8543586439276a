//! Values with an index, for `Minloc` and `Maxloc`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Maxloc, Minloc, Operator};
use crate::Element;
use crate::types::datatype::{Datatype, Typed};
use crate::types::element::{ElementType, Field, Structure};

/// A value and its index: the element of [`Minloc`] and [`Maxloc`]. The value can be compared, and
/// the index is ordered.
///
/// Nothing lies between the two: the bytes are those of a packed pair, for example of
/// `MPI_DOUBLE_INT`.
///
/// ```
/// use motet::{Located, Maxloc};
///
/// motet::threads(3, |world| {
///     let own = Located::new([1.5, 4.0, 4.0][world.rank()], world.rank() as i32);
///     let largest = world.allreduce_one(own, Maxloc)?;
///     assert_eq!((largest.value(), largest.index()), (4.0, 1));
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, packed)]
pub struct Located<V: Element, I: Element = i32> {
    value: V,
    index: I,
}

impl<V: Element, I: Element> Located<V, I> {
    const FIELDS: &'static [Field] = &[
        Field { offset: 0, bytes: size_of::<V>(), element: V::TYPE },
        Field { offset: size_of::<V>(), bytes: size_of::<I>(), element: I::TYPE },
    ];

    const STRUCTURE: &'static Structure =
        &Structure { bytes: size_of::<Self>(), fields: Self::FIELDS };

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

// SAFETY: the two lie one behind the other, and either stays valid if its bytes are replaced by
// those of another value of a type with the same fields.
unsafe impl<V: Element, I: Element> Element for Located<V, I> {
    const TYPE: ElementType = ElementType::Structure(Self::STRUCTURE);
    const HAS_PADDING: bool = V::HAS_PADDING || I::HAS_PADDING;

    unsafe fn clear_padding(element: *mut u8) {
        // SAFETY: the value comes first.
        unsafe { V::clear_padding(element) };
        // SAFETY: the index comes next.
        unsafe { I::clear_padding(element.wrapping_add(size_of::<V>())) };
    }
}

// SAFETY: the datatype is that of the two one behind the other, which is how they lie here.
unsafe impl<V: Element + Typed, I: Element + Typed> Typed for Located<V, I> {
    fn datatype() -> Datatype {
        let (offset, bytes) = (size_of::<V>() as i64, size_of::<Self>() as i64);
        Datatype::structured(&[1, 1], &[0, offset], &[V::datatype(), I::datatype()])
            .and_then(|pair| Datatype::resized(0, bytes, &pair))
            .expect("a pair of numbers is small")
    }
}

/// Whether the right one of two values with an index is taken: if it `wins`, if it has the lower
/// index and neither wins, or if only the left one is a NaN.
#[inline]
fn takes_right<V: Element + PartialOrd, I: Element + Ord>(
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

impl<V: Element + PartialOrd, I: Element + Ord> Operator<Located<V, I>> for Minloc {
    #[inline]
    fn combine(&self, left: Located<V, I>, right: Located<V, I>) -> Located<V, I> {
        if takes_right(left, right, |one, other| one < other) { right } else { left }
    }
}

impl<V: Element + PartialOrd, I: Element + Ord> Operator<Located<V, I>> for Maxloc {
    #[inline]
    fn combine(&self, left: Located<V, I>, right: Located<V, I>) -> Located<V, I> {
        if takes_right(left, right, |one, other| one > other) { right } else { left }
    }
}
