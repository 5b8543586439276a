//! Datatypes selected by precision and range, as kinds of numbers are in Fortran (MPI 4.1, 19.1.5).
//!
//! The standard has no names for them. Each of them remembers the requested precision and range,
//! which `MPI_Type_get_contents` returns, and is otherwise the predefined datatype that can hold
//! it.

use super::construct::same_form;
use super::contents::{Combiner, Contents};
use super::{Datatype, DatatypeError, Named};

/// `MPI_UNDEFINED`, which stands in the contents for an argument that was not given.
const UNDEFINED: i64 = -32766;

/// Decimal digits of the range of an integer, and the smallest datatype for it.
const INTEGERS: [(i32, Named); 5] = [
    (2, Named::SizedInteger1),
    (4, Named::SizedInteger2),
    (9, Named::SizedInteger4),
    (18, Named::SizedInteger8),
    (38, Named::SizedInteger16),
];

/// A floating point number: the decimal digits of its precision and range, and its datatype.
struct Real {
    precision: i32,
    range: i32,
    real: Named,
    complex: Named,
}

const REALS: [Real; 4] = [
    Real { precision: 6, range: 37, real: Named::SizedReal4, complex: Named::SizedComplex8 },
    Real { precision: 15, range: 307, real: Named::SizedReal8, complex: Named::SizedComplex16 },
    Real {
        precision: 18,
        range: 4931,
        real: Named::LongDouble,
        complex: Named::CLongDoubleComplex,
    },
    Real { precision: 33, range: 4931, real: Named::SizedReal16, complex: Named::SizedComplex32 },
];

/// The class of a predefined datatype's numbers, for [`Datatype::of_size`]. The numbers are those
/// of the standard's binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TypeClass {
    /// Truth values.
    Logical = 191,
    /// Integers (`MPI_TYPECLASS_INTEGER`).
    Integer = 192,
    /// Floating point numbers (`MPI_TYPECLASS_REAL`).
    Real = 193,
    /// Complex numbers (`MPI_TYPECLASS_COMPLEX`).
    Complex = 194,
}

impl TypeClass {
    /// The sized types of Fortran of this class, the smallest first.
    fn named(self) -> &'static [Named] {
        match self {
            TypeClass::Logical => &[
                Named::SizedLogical1,
                Named::SizedLogical2,
                Named::SizedLogical4,
                Named::SizedLogical8,
                Named::SizedLogical16,
            ],
            TypeClass::Integer => &[
                Named::SizedInteger1,
                Named::SizedInteger2,
                Named::SizedInteger4,
                Named::SizedInteger8,
                Named::SizedInteger16,
            ],
            TypeClass::Real => {
                &[Named::SizedReal2, Named::SizedReal4, Named::SizedReal8, Named::SizedReal16]
            }
            TypeClass::Complex => &[
                Named::SizedComplex4,
                Named::SizedComplex8,
                Named::SizedComplex16,
                Named::SizedComplex32,
            ],
        }
    }
}

impl Datatype {
    /// The predefined datatype of a class that has so many bytes (`MPI_Type_match_size`).
    ///
    /// # Errors
    /// That there is none.
    pub fn of_size(class: TypeClass, bytes: u64) -> Result<Datatype, DatatypeError> {
        let all = class.named().iter().map(|&named| Datatype::named(named));
        all.into_iter()
            .find(|datatype| datatype.size() == bytes)
            .ok_or(DatatypeError::Unsupported("no predefined datatype of this class has this size"))
    }

    /// An integer of so many decimal digits (`MPI_Type_create_f90_integer`).
    ///
    /// # Errors
    /// More digits than any integer has.
    pub fn f90_integer(digits: i32) -> Result<Datatype, DatatypeError> {
        let found = INTEGERS.iter().find(|(has, _)| digits <= *has);
        let (_, named) =
            found.ok_or(DatatypeError::Unsupported("no integer type has this range"))?;
        asked_for(*named, Combiner::F90Integer, vec![digits.into()])
    }

    /// A floating point number of at least this precision and range, in decimal digits, of which
    /// one may be left open (`MPI_Type_create_f90_real`).
    ///
    /// # Errors
    /// More than any number has; neither a precision nor a range.
    pub fn f90_real(precision: Option<i32>, range: Option<i32>) -> Result<Datatype, DatatypeError> {
        let (real, integers) = real(precision, range)?;
        asked_for(real.real, Combiner::F90Real, integers)
    }

    /// Two numbers as [`f90_real`](Datatype::f90_real) has them
    /// (`MPI_Type_create_f90_complex`).
    ///
    /// # Errors
    /// As there.
    pub fn f90_complex(
        precision: Option<i32>,
        range: Option<i32>,
    ) -> Result<Datatype, DatatypeError> {
        let (real, integers) = real(precision, range)?;
        asked_for(real.complex, Combiner::F90Complex, integers)
    }
}

/// The smallest sufficient number, and the request.
fn real(
    precision: Option<i32>,
    range: Option<i32>,
) -> Result<(&'static Real, Vec<i64>), DatatypeError> {
    if precision.or(range).is_none() {
        return Err(DatatypeError::Unsupported("pass a precision, a range, or both"));
    }
    let has = |asked: Option<i32>, there: i32| asked.is_none_or(|asked| asked <= there);
    let does = |real: &&Real| has(precision, real.precision) && has(range, real.range);
    let unsupported = DatatypeError::Unsupported("no number type has this precision and range");
    let found = REALS.iter().find(does).ok_or(unsupported)?;
    let written = |asked: Option<i32>| asked.map_or(UNDEFINED, i64::from);
    Ok((found, vec![written(precision), written(range)]))
}

fn asked_for(
    named: Named,
    combiner: Combiner,
    integers: Vec<i64>,
) -> Result<Datatype, DatatypeError> {
    let named = Datatype::named(named);
    same_form(&named, named.facts(), (combiner, Contents { integers, ..Contents::default() }))
}
