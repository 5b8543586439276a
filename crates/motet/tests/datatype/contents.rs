//! What a datatype says of how it was made (MPI 4.1, 5.1.13).

use motet::ErrorClass;
use motet::datatype::{Combiner, Datatype, Dimension, Distribution, Order, TypeClass};

fn decoded(datatype: &Datatype) -> (Combiner, Vec<i64>, Vec<i64>, usize) {
    let (envelope, contents) = (datatype.envelope(), datatype.contents().unwrap());
    assert_eq!(envelope.integers, contents.integers.len());
    assert_eq!(envelope.addresses, contents.addresses.len());
    assert_eq!(envelope.datatypes, contents.datatypes.len());
    let (integers, addresses) = (contents.integers.clone(), contents.addresses.clone());
    (envelope.combiner, integers, addresses, contents.datatypes.len())
}

#[test]
fn arguments_come_back_as_given() {
    let int = Datatype::INT;
    let of = |made: Result<Datatype, _>| decoded(&made.unwrap());
    let none = Vec::new;
    assert_eq!(of(int.dup()), (Combiner::Dup, none(), none(), 1));
    assert_eq!(of(Datatype::contiguous(5, &int)), (Combiner::Contiguous, vec![5], none(), 1));
    let vector = of(Datatype::vector(2, 3, -4, &int));
    assert_eq!(vector, (Combiner::Vector, vec![2, 3, -4], none(), 1));
    let hvector = of(Datatype::hvector(2, 3, -4, &int));
    assert_eq!(hvector, (Combiner::Hvector, vec![2, 3], vec![-4], 1));
    let indexed = of(Datatype::indexed(&[1, 2], &[3, 4], &int));
    assert_eq!(indexed, (Combiner::Indexed, vec![2, 1, 2, 3, 4], none(), 1));
    let hindexed = of(Datatype::hindexed(&[1, 2], &[3, 4], &int));
    assert_eq!(hindexed, (Combiner::Hindexed, vec![2, 1, 2], vec![3, 4], 1));
    let block = of(Datatype::indexed_block(7, &[3, 4], &int));
    assert_eq!(block, (Combiner::IndexedBlock, vec![2, 7, 3, 4], none(), 1));
    let block = of(Datatype::hindexed_block(7, &[3, 4], &int));
    assert_eq!(block, (Combiner::HindexedBlock, vec![2, 7], vec![3, 4], 1));
    let types = [int.clone(), Datatype::CHAR];
    let structured = of(Datatype::structured(&[1, 2], &[0, 8], &types));
    assert_eq!(structured, (Combiner::Struct, vec![2, 1, 2], vec![0, 8], 2));
    let resized = of(Datatype::resized(-3, 9, &int));
    assert_eq!(resized, (Combiner::Resized, none(), vec![-3, 9], 1));
}

#[test]
fn arrays_come_back_as_given() {
    let subarray = Datatype::subarray(&[4, 5], &[1, 2], &[3, 0], Order::Fortran, &Datatype::INT);
    let integers = vec![2, 4, 5, 1, 2, 3, 0, 15];
    assert_eq!(decoded(&subarray.unwrap()), (Combiner::Subarray, integers, vec![], 1));
    let dimension = |size, distribution, processes| Dimension { size, distribution, processes };
    let dimensions = [
        dimension(10, Distribution::Cyclic(Some(2)), 2),
        dimension(20, Distribution::Block(None), 3),
        dimension(30, Distribution::None, 1),
    ];
    let darray = Datatype::darray(6, 4, &dimensions, Order::C, &Datatype::INT).unwrap();
    let integers = vec![6, 4, 3, 10, 20, 30, 18, 17, 16, 2, 19, 19, 2, 3, 1, 12];
    assert_eq!(decoded(&darray), (Combiner::Darray, integers, vec![], 1));
}

/// The datatypes inside are the very ones, not copies.
#[test]
fn handles_come_back() {
    let inner = Datatype::vector(2, 1, 2, &Datatype::INT).unwrap();
    let outer = Datatype::contiguous(3, &inner).unwrap();
    assert_eq!(outer.contents().unwrap().datatypes[0], inner);
    assert_ne!(inner.dup().unwrap(), inner);
    assert_eq!(inner.contents().unwrap().datatypes[0], Datatype::INT);
    assert_eq!(Datatype::INT.envelope().combiner, Combiner::Named);
    assert!(Datatype::INT.contents().is_none());
}

#[test]
fn pairs_of_value_and_index() {
    let made = |value, index| Datatype::value_index(&value, &index).unwrap();
    assert_eq!(made(Datatype::DOUBLE, Datatype::INT), Datatype::DOUBLE_INT);
    assert_eq!(made(Datatype::REAL, Datatype::REAL), Datatype::REAL_2);
    assert_eq!(made(Datatype::INTEGER, Datatype::INTEGER), Datatype::INTEGER_2);
    let double = Datatype::DOUBLE_PRECISION;
    assert_eq!(made(double.clone(), double), Datatype::DOUBLE_PRECISION_2);
    let wide = made(Datatype::FLOAT, Datatype::INT64_T);
    assert_eq!((wide.size(), wide.extent(), wide.elements()), (12, 16, 2));
    assert_eq!(decoded(&wide), (Combiner::ValueIndex, vec![], vec![], 2));
}

#[test]
fn digits_come_back_as_asked_for() {
    let of = |made: Result<Datatype, _>| decoded(&made.unwrap());
    assert_eq!(of(Datatype::f90_integer(9)), (Combiner::F90Integer, vec![9], vec![], 0));
    let real = of(Datatype::f90_real(Some(15), None));
    assert_eq!(real, (Combiner::F90Real, vec![15, -32766], vec![], 0));
    let complex = of(Datatype::f90_complex(None, Some(30)));
    assert_eq!(complex, (Combiner::F90Complex, vec![-32766, 30], vec![], 0));
}

/// The smallest number that has the digits; it is of the kind that operators and messages know.
#[test]
fn digits_say_what_holds_them() {
    for (digits, named) in [
        (2, Datatype::INTEGER1),
        (3, Datatype::INTEGER2),
        (9, Datatype::INTEGER4),
        (10, Datatype::INTEGER8),
        (38, Datatype::INTEGER16),
    ] {
        let integer = Datatype::f90_integer(digits).unwrap();
        assert_eq!((integer.element(), integer.matches(3, &named, 3)), (named.element(), true));
    }
    for (precision, range, real, complex) in [
        (6, 37, Datatype::REAL4, Datatype::COMPLEX8),
        (6, 38, Datatype::REAL8, Datatype::COMPLEX16),
        (15, 307, Datatype::REAL8, Datatype::COMPLEX16),
        (18, 307, Datatype::LONG_DOUBLE, Datatype::C_LONG_DOUBLE_COMPLEX),
        (33, 4931, Datatype::REAL16, Datatype::COMPLEX32),
    ] {
        let made = Datatype::f90_real(Some(precision), Some(range)).unwrap();
        assert_eq!(made.element(), real.element(), "{precision} {range}");
        let made = Datatype::f90_complex(Some(precision), Some(range)).unwrap();
        assert_eq!(made.element(), complex.element(), "{precision} {range}");
    }
    for refused in [
        Datatype::f90_integer(39),
        Datatype::f90_real(Some(34), None),
        Datatype::f90_real(None, None),
        Datatype::f90_complex(None, Some(5000)),
    ] {
        assert_eq!(refused.expect_err("too much").class(), ErrorClass::Arg);
    }
}

#[test]
fn a_size_says_which_datatype() {
    let find = Datatype::of_size;
    assert_eq!(find(TypeClass::Integer, 8), Ok(Datatype::INTEGER8));
    assert_eq!(find(TypeClass::Real, 2), Ok(Datatype::REAL2));
    assert_eq!(find(TypeClass::Complex, 8), Ok(Datatype::COMPLEX8));
    assert_eq!(find(TypeClass::Logical, 1), Ok(Datatype::LOGICAL1));
    assert_eq!(find(TypeClass::Real, 3).expect_err("none").class(), ErrorClass::Arg);
}
