//! Operators for reductions.
//!
//! The library takes operators to be associative. With any algorithm, one allreduce gives the same
//! bits on all ranks; the operands of an operator that does not commute are combined in rank order.
//!
//! An [`Operator`] is chosen when the program is compiled, for elements of a Rust type; an [`Op`]
//! when it runs, for items of a [`Datatype`](crate::Datatype). The two agree: the predefined
//! operators do the same to the last bit.
//!
//! The predefined [`Op`]s are defined for the datatypes in the table of the standard (see
//! [`Op::applies_to`]), for every predefined datatype of this library. A logical value is true
//! unless it is 0, and results are 0 or 1, as in C and GNU Fortran. Floats without a Rust type
//! (`REAL2`, `REAL16`, `LONG_DOUBLE`, and complex numbers of them) are computed in software,
//! exactly as IEEE 754 says: much slower than others.

mod defined;
mod dynamic;
mod located;

use crate::Element;

pub(crate) use dynamic::Combine;
pub(crate) use dynamic::{Domain, Extreme, Take};
pub use dynamic::{Op, Predefined, ThrowingFunction, UserFunction};
pub use located::Located;

/// The prefix of the names of the types in this module.
pub(crate) const PATH: &str = concat!(module_path!(), "::");

/// Combines two elements into one.
///
/// The built-in operators are [`Sum`], [`Prod`], [`Min`], [`Max`], the logical [`Land`], [`Lor`],
/// [`Lxor`] and the bitwise [`Band`], [`Bor`], [`Bxor`]; closures become operators by
/// [`commutative`] and [`ordered`].
///
/// An operator runs inside the library and must not call the library. A call that it makes
/// nevertheless changes nothing and returns [`ErrorKind::WithinOperator`](crate::ErrorKind), and
/// panics where no error can be returned; a request that it drops goes on, and keeps its buffers
/// for ever.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator that combines elements of type `{T}`",
    label = "does not combine `{T}`",
    note = "to combine by a closure, wrap it: `motet::op::commutative(|left, right| ..)`, or \
            `motet::op::ordered` if the order of the operands matters",
    note = "`bool` has `Land`, `Lor`, `Lxor`; to count those that are true, convert to a number; \
            floats have `Sum`, `Prod`, `Min`, `Max`; a structure has what a closure does with it",
    note = "in a generic function, add a bound, as `where motet::Sum: motet::Operator<T>`"
)]
pub trait Operator<T: Element>: Send + Sync + 'static {
    /// Which operator of this library it is, if it is one; such an operator calls no foreign code,
    /// and does the same in every call.
    #[doc(hidden)]
    const BUILT_IN: Option<Predefined> = None;

    /// `left ∘ right`.
    fn combine(&self, left: T, right: T) -> T;

    /// Whether `a ∘ b` is `b ∘ a`, to the last bit. Must be the same on all ranks.
    fn is_commutative(&self) -> bool {
        true
    }
}

/// An operator made from a closure.
#[derive(Clone, Copy, Debug)]
pub struct User<F> {
    combine: F,
    commutative: bool,
}

/// An operator of the user that commutes.
pub fn commutative<T: Element, F: Fn(T, T) -> T>(combine: F) -> User<F> {
    User { combine, commutative: true }
}

/// An operator of the user for which the order of the operands matters: the result is
/// `a0 ∘ a1 ∘ … ∘ a(n-1)` in rank order.
pub fn ordered<T: Element, F: Fn(T, T) -> T>(combine: F) -> User<F> {
    User { combine, commutative: false }
}

impl<T: Element, F: Fn(T, T) -> T + Send + Sync + 'static> Operator<T> for User<F> {
    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn is_commutative(&self) -> bool {
        self.commutative
    }
}

macro_rules! built_in {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;
    )*};
}

built_in! {
    /// The sum. Integers wrap around.
    Sum
    /// The product. Integers wrap around.
    Prod
    /// The smaller. A float that is not a number loses against one that is.
    Min
    /// The larger. A float that is not a number loses against one that is.
    Max
    /// Logical and: for numbers, 1 if both differ from 0, else 0.
    Land
    /// Logical or: for numbers, 1 if either differs from 0, else 0.
    Lor
    /// Logical exclusive or: for numbers, 1 if just one differs from 0, else 0.
    Lxor
    /// Bitwise and.
    Band
    /// Bitwise or.
    Bor
    /// Bitwise exclusive or.
    Bxor
    /// The smaller value, with its index; of equal ones the one with the lower index. A float that
    /// is not a number loses against one that is.
    Minloc
    /// The larger value, with its index; of equal ones the one with the lower index. A float that
    /// is not a number loses against one that is.
    Maxloc
    /// The right operand: in a reduction, what the last rank has.
    Replace
    /// The left operand: in a reduction, what the first rank has.
    NoOp
}

impl<T: Element> Operator<T> for Replace {
    const BUILT_IN: Option<Predefined> = Some(Predefined::Replace);

    #[inline]
    fn combine(&self, _left: T, right: T) -> T {
        right
    }

    fn is_commutative(&self) -> bool {
        false
    }
}

impl<T: Element> Operator<T> for NoOp {
    const BUILT_IN: Option<Predefined> = Some(Predefined::NoOp);

    #[inline]
    fn combine(&self, left: T, _right: T) -> T {
        left
    }

    fn is_commutative(&self) -> bool {
        false
    }
}

macro_rules! operators {
    ($type:ty: $($op:ident = |$left:ident, $right:ident| $result:expr;)*) => {$(
        impl Operator<$type> for $op {
            const BUILT_IN: Option<Predefined> = Some(Predefined::$op);

            #[inline]
            fn combine(&self, $left: $type, $right: $type) -> $type {
                $result
            }
        }
    )*};
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        operators! { $type:
            Sum = |left, right| left.wrapping_add(right);
            Prod = |left, right| left.wrapping_mul(right);
            Min = |left, right| left.min(right);
            Max = |left, right| left.max(right);
            Land = |left, right| (left != 0 && right != 0) as $type;
            Lor = |left, right| (left != 0 || right != 0) as $type;
            Lxor = |left, right| ((left != 0) != (right != 0)) as $type;
            Band = |left, right| left & right;
            Bor = |left, right| left | right;
            Bxor = |left, right| left ^ right;
        }
    )*};
}

macro_rules! floats {
    ($($type:ty)*) => {$(
        operators! { $type:
            Sum = |left, right| left + right;
            Prod = |left, right| left * right;
            Min = |left, right| left.min(right);
            Max = |left, right| left.max(right);
        }
    )*};
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
floats! { f32 f64 }

operators! { bool:
    Land = |left, right| left & right;
    Lor = |left, right| left | right;
    Lxor = |left, right| left ^ right;
    Band = |left, right| left & right;
    Bor = |left, right| left | right;
    Bxor = |left, right| left ^ right;
}

#[cfg(feature = "complex")]
mod complex {
    use super::{Operator, Predefined, Prod, Sum};
    use num_complex::Complex;

    macro_rules! complex {
        ($($type:ty)*) => {$(
            operators! { $type:
                Sum = |left, right| left + right;
                // Written out: the same bits whichever way round the operands come.
                Prod = |left, right| Complex::new(
                    left.re * right.re - left.im * right.im,
                    left.re * right.im + left.im * right.re,
                );
            }
        )*};
    }

    complex! { Complex<f32> Complex<f64> }
}
