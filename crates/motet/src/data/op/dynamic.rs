//! Operators that are known only at run time, as those of the C interface are.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;
use std::sync::Arc;

use super::defined::Shape;
use crate::types::datatype::{Basic, Datatype};
use crate::{ErrorKind, ExceptionId};

/// A function of the user: `inout[i] = input[i] ∘ inout[i]` for so many items of a datatype, with
/// the arguments of `MPI_User_function` in its order.
///
/// Items lie one extent of the datatype apart, in the user's memory or in the library's. In the
/// library's they are aligned to the largest power of two in the extent, as in an array of
/// structures, up to a page, and bytes that are no data of the datatype are undefined. There are
/// one or more items, and never more than the count of the reduction. The function must not call
/// the library: see [`Operator`](crate::Operator).
pub type UserFunction = dyn Fn(*const u8, *mut u8, usize, &Datatype) + Send + Sync;

/// A [`UserFunction`] that may throw: its caller stops the exception and returns the id by which to
/// find it. The contents of `inout` are undefined then.
pub type ThrowingFunction =
    dyn Fn(*const u8, *mut u8, usize, &Datatype) -> Result<(), ExceptionId> + Send + Sync;

/// A function of the user of either kind.
#[derive(Clone)]
pub(crate) enum Combine {
    Returning(Arc<UserFunction>),
    Throwing(Arc<ThrowingFunction>),
}

impl Combine {
    /// Calls it, with the arguments of [`UserFunction`].
    pub(crate) fn call(
        &self,
        input: *const u8,
        inout: *mut u8,
        count: usize,
        datatype: &Datatype,
    ) -> Result<(), ExceptionId> {
        match self {
            Combine::Returning(function) => {
                function(input, inout, count, datatype);
                Ok(())
            }
            Combine::Throwing(function) => function(input, inout, count, datatype),
        }
    }

    pub(crate) fn may_throw(&self) -> bool {
        matches!(self, Combine::Throwing(_))
    }
}

/// An operator that is known only at run time (`MPI_Op`).
///
/// It combines items of a [`Datatype`]; [`Op::applies_to`] tells of which. Operators of Rust types
/// are [`Operator`](crate::Operator)s. Cheap to clone. Two are equal if they are the same
/// predefined one, or come from the same call, as handles do.
#[derive(Clone)]
pub struct Op(Repr);

#[derive(Clone)]
enum Repr {
    Predefined(Predefined),
    User(Arc<User>),
}

struct User {
    function: Combine,
    commutative: bool,
}

macro_rules! predefined {
    ($($(#[$doc:meta])* $constant:ident $variant:ident = $code:literal;)*) => {
        /// A predefined operator. Its number is its handle in the standard's binary interface
        /// (MPI 5.0, A.1.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Predefined { $($(#[$doc])* $variant = $code),* }

        impl Predefined {
            /// All of them.
            pub const ALL: &[Predefined] = &[$(Predefined::$variant),*];

            /// The name of the standard, without its `MPI_`.
            pub fn name(self) -> &'static str {
                match self { $(Predefined::$variant => stringify!($constant)),* }
            }
        }

        impl Op {
            $($(#[$doc])* pub const $constant: Op = Op::predefined(Predefined::$variant);)*
        }
    };
}

predefined! {
    /// The sum. Integers wrap around.
    SUM Sum = 0x21;
    /// The smaller. A float that is not a number loses against one that is.
    MIN Min = 0x22;
    /// The larger. A float that is not a number loses against one that is.
    MAX Max = 0x23;
    /// The product. Integers wrap around.
    PROD Prod = 0x24;
    /// Bitwise and.
    BAND Band = 0x28;
    /// Bitwise or.
    BOR Bor = 0x29;
    /// Bitwise exclusive or.
    BXOR Bxor = 0x2a;
    /// Logical and: 1 if neither is 0, else 0.
    LAND Land = 0x30;
    /// Logical or: 1 if one is not 0, else 0.
    LOR Lor = 0x31;
    /// Logical exclusive or: 1 if just one is not 0, else 0.
    LXOR Lxor = 0x32;
    /// The smaller value, with its index; of equal ones the one with the lower index.
    MINLOC Minloc = 0x38;
    /// The larger value, with its index; of equal ones the one with the lower index.
    MAXLOC Maxloc = 0x39;
    /// The right operand. (The standard has it for one-sided communication only.)
    REPLACE Replace = 0x3c;
    /// The left operand. (The standard has it for one-sided communication only.)
    NO_OP NoOp = 0x3d;
}

impl Predefined {
    /// Its handle in the standard's binary interface.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// The predefined operator with this handle.
    pub fn from_code(code: u16) -> Option<Predefined> {
        Predefined::ALL.iter().copied().find(|predefined| predefined.code() == code)
    }
}

/// Which end of the order is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Least,
    Greatest,
}

/// Which operand is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Left,
    Right,
}

/// The elements on which an operator works in the stream of a datatype.
pub(crate) enum Domain {
    /// Items, by a function.
    Items(Combine),
    /// Bytes, whatever they mean.
    Bytes(Take),
    /// Pairs of a value and an index.
    Pairs(Extreme, Basic, Basic),
    /// Basic elements.
    Elements(Predefined, Basic),
}

impl Op {
    /// A predefined operator. Each of them is a constant too: [`Op::SUM`].
    pub const fn predefined(predefined: Predefined) -> Op {
        Op(Repr::Predefined(predefined))
    }

    /// An operator of the user for which the order of the operands does not matter
    /// (`MPI_Op_create` with `commute`, MPI 4.1 §6.9.5).
    ///
    /// # Safety
    /// The function reads and writes no memory of the items that it is called with other than
    /// their data, within the bounds of so many items of the datatype that it is given.
    pub unsafe fn commutative(function: Arc<UserFunction>) -> Op {
        Op::of(Combine::Returning(function), true)
    }

    /// An operator of the user for which the order of the operands matters: the result is
    /// `a0 ∘ a1 ∘ … ∘ a(n-1)` in rank order (`MPI_Op_create`, MPI 4.1 §6.9.5).
    ///
    /// # Safety
    /// As [`Op::commutative`].
    pub unsafe fn ordered(function: Arc<UserFunction>) -> Op {
        Op::of(Combine::Returning(function), false)
    }

    /// Like [`Op::commutative`], for a function that may throw. An operation whose operator throws
    /// ends with an error of the class `MPI_ERR_OP` on every rank; for that its ranks tell each
    /// other at its end that none has failed. Only a neighbourhood reduction fails just on the rank
    /// where the operator has thrown.
    ///
    /// # Safety
    /// As [`Op::commutative`].
    pub unsafe fn throwing_commutative(function: Arc<ThrowingFunction>) -> Op {
        Op::of(Combine::Throwing(function), true)
    }

    /// Like [`Op::throwing_commutative`], where the order of the operands matters: [`Op::ordered`].
    ///
    /// # Safety
    /// As [`Op::commutative`].
    pub unsafe fn throwing_ordered(function: Arc<ThrowingFunction>) -> Op {
        Op::of(Combine::Throwing(function), false)
    }

    fn of(function: Combine, commutative: bool) -> Op {
        Op(Repr::User(Arc::new(User { function, commutative })))
    }

    /// Whether the operands may be exchanged (`MPI_Op_commutative`).
    pub fn is_commutative(&self) -> bool {
        match &self.0 {
            Repr::Predefined(predefined) => {
                !matches!(predefined, Predefined::Replace | Predefined::NoOp)
            }
            Repr::User(user) => user.commutative,
        }
    }

    /// The name in the standard without its `MPI_`, or a description for one of the user.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Repr::Predefined(predefined) => predefined.name(),
            Repr::User(_) => "an operator of the user",
        }
    }

    /// The predefined operator; `None` for operators of the user.
    pub fn as_predefined(&self) -> Option<Predefined> {
        match &self.0 {
            Repr::Predefined(predefined) => Some(*predefined),
            Repr::User(_) => None,
        }
    }

    /// Whether it can combine items of a datatype (MPI 4.1 §6.9.2 and §6.9.4).
    ///
    /// Operators of the user can combine all. For predefined ones the standard has a table of
    /// predefined datatypes; beyond it, they also combine derived datatypes whose elements are all
    /// of one kind, element by element, and `MINLOC` and `MAXLOC` those made of pairs. As in other
    /// libraries, `CHAR` is combined as the number that it is in C, and `AINT`, `COUNT` and
    /// `OFFSET` by logical operators; check mode refuses both.
    ///
    /// # Errors
    /// [`ErrorKind::Op`] if it is not defined for the datatype (`MPI_ERR_OP`).
    pub fn applies_to(&self, datatype: &Datatype) -> Result<(), ErrorKind> {
        self.domain(datatype).map(drop)
    }

    /// Whether the standard defines it for a datatype, and not this library alone.
    ///
    /// # Errors
    /// As [`Op::applies_to`].
    pub(crate) fn check_standard(&self, datatype: &Datatype) -> Result<(), ErrorKind> {
        let Some(predefined) = self.as_predefined() else { return Ok(()) };
        match Shape::of(datatype) {
            Some(Shape::Elements(class, _))
                if class.allows(predefined) && !class.allows_by_standard(predefined) =>
            {
                let problem = format!(
                    "is not defined for {datatype:?} by the standard (MPI 5.0 §6.9.2); outside \
                     check mode this library combines it"
                );
                Err(ErrorKind::Op { operator: self.name().into(), problem })
            }
            _ => Ok(()),
        }
    }

    /// The elements on which it works in items of this datatype.
    pub(crate) fn domain(&self, datatype: &Datatype) -> Result<Domain, ErrorKind> {
        let predefined = match &self.0 {
            Repr::User(user) => return Ok(Domain::Items(user.function.clone())),
            Repr::Predefined(Predefined::Replace) => return Ok(Domain::Bytes(Take::Right)),
            Repr::Predefined(Predefined::NoOp) => return Ok(Domain::Bytes(Take::Left)),
            Repr::Predefined(predefined) => *predefined,
        };
        match (predefined, Shape::of(datatype)) {
            // Any operator applies to items without data.
            (_, Some(Shape::Empty)) => Ok(Domain::Bytes(Take::Left)),
            (Predefined::Minloc, Some(Shape::Pair(value, index))) => {
                Ok(Domain::Pairs(Extreme::Least, value, index))
            }
            (Predefined::Maxloc, Some(Shape::Pair(value, index))) => {
                Ok(Domain::Pairs(Extreme::Greatest, value, index))
            }
            (_, Some(Shape::Elements(class, basic))) if class.allows(predefined) => {
                Ok(Domain::Elements(predefined, basic))
            }
            _ => Err(ErrorKind::Op {
                operator: self.name().into(),
                problem: format!("is not defined for {datatype:?}"),
            }),
        }
    }

    /// The function, if it is one of the user.
    pub(crate) fn function(&self) -> Option<&Combine> {
        match &self.0 {
            Repr::Predefined(_) => None,
            Repr::User(user) => Some(&user.function),
        }
    }
}

impl From<Predefined> for Op {
    fn from(predefined: Predefined) -> Op {
        Op::predefined(predefined)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        match (&self.0, &other.0) {
            (Repr::Predefined(one), Repr::Predefined(other)) => one == other,
            (Repr::User(one), Repr::User(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Op {}

impl fmt::Debug for Op {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
