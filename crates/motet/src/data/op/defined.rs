//! The elements for which the predefined operators are defined (MPI 4.1, 6.9.2 and 6.9.4).

use super::Predefined;
use crate::types::datatype::{Basic, Combiner, Datatype, Kind, Named};

/// The groups into which the standard sorts its predefined datatypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    CInteger,
    FortranInteger,
    Float,
    Logical,
    Complex,
    Byte,
    /// `AINT`, `COUNT` and `OFFSET`.
    MultiLanguage,
    /// `CHAR`, which the standard reserves for text.
    Character,
    /// All other characters, and packed data.
    Other,
}

impl Class {
    /// Whether its elements can be ordered and added.
    fn is_number(self) -> bool {
        use Class::{CInteger, Float, FortranInteger, MultiLanguage};
        matches!(self, CInteger | FortranInteger | Float | MultiLanguage)
    }

    /// Whether an operator combines its elements here: where the standard says so, and, as in other
    /// libraries, `CHAR` as the number that it is in C, and addresses and counts by logical
    /// operators.
    pub(super) fn allows(self, op: Predefined) -> bool {
        use Predefined::{Land, Lor, Lxor};
        match self {
            Class::Character => Class::CInteger.allows_by_standard(op),
            Class::MultiLanguage if matches!(op, Land | Lor | Lxor) => true,
            _ => self.allows_by_standard(op),
        }
    }

    /// Whether the standard defines an operator for its elements.
    pub(super) fn allows_by_standard(self, op: Predefined) -> bool {
        use Predefined::{Band, Bor, Bxor, Land, Lor, Lxor, Max, Min, Prod, Sum};
        match op {
            Min | Max => self.is_number(),
            Sum | Prod => self.is_number() || self == Class::Complex,
            Land | Lor | Lxor => matches!(self, Class::CInteger | Class::Logical),
            Band | Bor | Bxor => self == Class::Byte || (self.is_number() && self != Class::Float),
            _ => false,
        }
    }

    /// The class of a predefined datatype of one element.
    ///
    /// Characters, packed data and Fortran's integers are recognized by their names; all others by
    /// their elements.
    fn of_named(named: Named, basic: Basic) -> Class {
        match named {
            Named::Packed => Class::Other,
            Named::Char => Class::Character,
            Named::Aint | Named::Count | Named::Offset => Class::MultiLanguage,
            Named::Integer
            | Named::SizedInteger1
            | Named::SizedInteger2
            | Named::SizedInteger4
            | Named::SizedInteger8
            | Named::SizedInteger16 => Class::FortranInteger,
            _ => Class::of(basic),
        }
    }

    /// The class of an element whose name is not known.
    fn of(basic: Basic) -> Class {
        match basic.kind {
            Kind::Signed | Kind::Unsigned => Class::CInteger,
            Kind::Float | Kind::LongDouble => Class::Float,
            Kind::Logical => Class::Logical,
            Kind::Complex | Kind::LongComplex => Class::Complex,
            Kind::Raw => Class::Byte,
            Kind::Character | Kind::Wide => Class::Other,
        }
    }
}

impl Predefined {
    /// Whether it is defined for the element that a predefined datatype consists of.
    #[inline]
    pub(crate) fn is_defined_for(self, named: Named, basic: Basic) -> bool {
        Class::of_named(named, basic).allows(self)
    }
}

/// The items of a datatype, as far as a predefined operator must know them.
pub(super) enum Shape {
    /// Nothing.
    Empty,
    /// Elements of one class and kind.
    Elements(Class, Basic),
    /// Pairs of a value and an index.
    Pair(Basic, Basic),
}

impl Shape {
    /// `None` if its elements differ, or have no order that an operator knows.
    pub(super) fn of(datatype: &Datatype) -> Option<Shape> {
        if datatype.elements() == 0 {
            return Some(Shape::Empty);
        }
        let origin = origin(datatype);
        if let Some((value, index)) = pair(origin) {
            return Some(Shape::Pair(value, index));
        }
        let basic = origin.element()?;
        let class = match origin.as_named() {
            Some(named) => Class::of_named(named, basic),
            None => Class::of(basic),
        };
        Some(Shape::Elements(class, basic))
    }
}

/// The datatype from which another is made, if it is made from one only.
fn origin(datatype: &Datatype) -> &Datatype {
    let mut origin = datatype;
    while let Some(contents) = origin.contents() {
        match contents.datatypes.as_slice() {
            [one] => origin = one,
            _ => break,
        }
    }
    origin
}

/// The value and the index of a datatype that is a pair: a predefined one, or a structure of two
/// numbers.
fn pair(datatype: &Datatype) -> Option<(Basic, Basic)> {
    let number = |datatype: &Datatype| {
        let (named, basic) = (datatype.as_named()?, datatype.element()?);
        let class = Class::of_named(named, basic);
        (datatype.elements() == 1 && class.is_number()).then_some(basic)
    };
    if let Some(contents) = datatype.contents() {
        let [value, index] = contents.datatypes.as_slice() else { return None };
        let lengths = match datatype.envelope().combiner {
            Combiner::ValueIndex => true,
            Combiner::Struct => contents.integers == [2, 1, 1],
            _ => false,
        };
        return if lengths { number(value).zip(number(index)) } else { None };
    }
    if datatype.elements() != 2 {
        return None;
    }
    match datatype.runs(2)?.as_slice() {
        [(both, 2)] => Some((*both, *both)),
        [(value, 1), (index, 1)] => Some((*value, *index)),
        _ => None,
    }
}
