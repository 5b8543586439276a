//! Arguments that are refused, and their error classes.

use motet::ErrorClass;
use motet::datatype::{Datatype, DatatypeError, Dimension, Distribution, Order};

const INT: Datatype = Datatype::INT;

fn class(made: Result<Datatype, DatatypeError>) -> ErrorClass {
    made.unwrap_err().class()
}

#[test]
fn negative_counts() {
    assert_eq!(class(Datatype::contiguous(-1, &INT)), ErrorClass::Count);
    assert_eq!(class(Datatype::vector(-1, 1, 1, &INT)), ErrorClass::Count);
    assert_eq!(class(Datatype::vector(1, -1, 1, &INT)), ErrorClass::Count);
    assert_eq!(class(Datatype::hindexed(&[1, -1], &[0, 8], &INT)), ErrorClass::Count);
    assert_eq!(class(Datatype::indexed_block(-1, &[0], &INT)), ErrorClass::Count);
    let message = Datatype::contiguous(-1, &INT).unwrap_err().to_string();
    assert_eq!(message, "count out of range (-1 given, at least 0 allowed)");
}

#[test]
fn arrays_of_different_lengths() {
    assert_eq!(class(Datatype::indexed(&[1], &[0, 1], &INT)), ErrorClass::Arg);
    assert_eq!(class(Datatype::structured(&[1, 1], &[0, 8], &[INT])), ErrorClass::Arg);
    assert_eq!(class(Datatype::subarray(&[4], &[1, 1], &[0], Order::C, &INT)), ErrorClass::Arg);
}

#[test]
fn parts_that_stick_out() {
    let sub = |size, len, first| Datatype::subarray(&[size], &[len], &[first], Order::C, &INT);
    assert!(sub(4, 2, 2).is_ok());
    for (size, len, first) in [(4, 2, 3), (4, 5, 0), (4, 0, 0), (0, 0, 0), (4, 1, -1)] {
        assert_eq!(class(sub(size, len, first)), ErrorClass::Arg, "{size} {len} {first}");
    }
    assert_eq!(class(Datatype::subarray(&[], &[], &[], Order::C, &INT)), ErrorClass::Arg);
}

#[test]
fn grids_that_do_not_fit() {
    let darray = |ranks, rank, distribution, processes| {
        let dimensions = [Dimension { size: 10, distribution, processes }];
        Datatype::darray(ranks, rank, &dimensions, Order::C, &INT)
    };
    assert!(darray(4, 3, Distribution::Block(Some(3)), 4).is_ok());
    assert_eq!(class(darray(4, 4, Distribution::Block(None), 4)), ErrorClass::Arg);
    assert_eq!(class(darray(4, 0, Distribution::Block(None), 3)), ErrorClass::Arg);
    assert_eq!(class(darray(4, 0, Distribution::Block(Some(2)), 4)), ErrorClass::Arg);
    assert_eq!(class(darray(4, 0, Distribution::Cyclic(Some(0)), 4)), ErrorClass::Arg);
    assert_eq!(class(darray(4, 0, Distribution::None, 4)), ErrorClass::Arg);
    assert_eq!(class(darray(0, 0, Distribution::None, 0)), ErrorClass::Arg);
}

#[test]
fn data_outside_of_the_memory() {
    let layout = Datatype::vector(2, 1, -2, &INT).unwrap().commit();
    let outside = layout.gather(&[0; 12], 4, 1, 0, &mut [0; 8]).unwrap_err();
    assert_eq!(outside, DatatypeError::Outside { low: -4, high: 8, len: 12 });
    assert!(layout.scatter(&mut [0; 12], 8, 1, 0, &[1; 8]).is_ok());
    assert!(layout.scatter(&mut [0; 12], 8, u64::MAX, 0, &[1; 8]).is_err());
}
