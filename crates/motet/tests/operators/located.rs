//! Values with an index, and operators that take an operand as it is, on elements.

use motet::datatype::Typed;
use motet::{ErrorClass, Located, Maxloc, Minloc, NoOp, Op, Replace, Sum, reduce_local};

use crate::worlds::on_ranks;

/// spec: 81
#[test]
fn of_equal_values_the_lowest_index_is_taken() {
    for ranks in 1..=6 {
        on_ranks(ranks, |world| {
            let rank = world.rank();
            // Equal values, whose indices fall with the rank.
            let own: Vec<_> = (0..50).map(|i| Located::new(i % 3, 100 - rank as i64)).collect();
            let expected = own.iter().map(|it| Located::new(it.value(), 101 - ranks as i64));
            let expected: Vec<Located<i32, i64>> = expected.collect();
            let mut found = own.clone();
            world.allreduce_in_place(&mut found, Minloc)?;
            assert_eq!(found, expected);
            let mut found = own.clone();
            world.allreduce_in_place(&mut found, Maxloc)?;
            assert_eq!(found, expected);

            let peak = Located::<f64>::new(if rank == ranks / 2 { 1.0 } else { -1.0 }, rank as i32);
            let top = world.allreduce_one(peak, Maxloc)?;
            assert_eq!((top.value(), top.index()), (1.0, (ranks / 2) as i32));
            let bottom = world.allreduce_one(peak, Minloc)?;
            let lowest = if ranks == 1 { (1.0, 0) } else { (-1.0, i32::from(ranks / 2 == 0)) };
            assert_eq!((bottom.value(), bottom.index()), lowest);
            Ok(())
        });
    }
}

/// spec: 80
#[test]
fn the_first_and_the_last_rank() {
    for ranks in 1..=6 {
        on_ranks(ranks, |world| {
            assert_eq!(world.allreduce_one(world.rank(), Replace)?, ranks - 1);
            assert_eq!(world.allreduce_one(world.rank(), NoOp)?, 0);
            Ok(())
        });
    }
}

#[test]
fn what_is_no_number_loses() {
    let of = |value: f64, index: i32| Located::new(value, index);
    let operands = [(of(f64::NAN, 0), of(1.0, 5)), (of(2.0, 3), of(f64::NAN, 1))];
    for (left, right) in operands {
        let number = if left.value().is_nan() { right } else { left };
        let mut found = [right, right];
        reduce_local(&[left], &mut found[..1], Minloc).unwrap();
        reduce_local(&[left], &mut found[1..], Maxloc).unwrap();
        assert_eq!(found, [number, number]);
    }
    let mut found = [of(f64::NAN, 1)];
    reduce_local(&[of(f64::NAN, 2)], &mut found, Maxloc).unwrap();
    assert_eq!(found[0].index(), 1);
}

/// A typed pair has the signature of the standard's, and the operators of datatypes know it.
///
/// spec: 85
#[test]
fn a_typed_pair_is_a_pair() {
    assert_eq!(size_of::<Located<f64, i32>>(), 12);
    let pair = Located::<f64, i32>::datatype();
    assert_eq!((pair.size(), pair.extent()), (12, 12));
    assert!(pair.matches(1, &motet::Datatype::DOUBLE_INT, 1));
    Op::MAXLOC.applies_to(&pair).unwrap();
    Located::<i16, u64>::datatype();
}

#[test]
fn local_reductions_of_elements() {
    let mut sum = [1.5, 2.5];
    reduce_local(&[1.0, 2.0], &mut sum, Sum).unwrap();
    assert_eq!(sum, [2.5, 4.5]);
    let error = reduce_local(&[1.0], &mut sum, Sum).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Count);
    assert_eq!(error.to_string(), "the inout has 2 elements, but the input has 1");
    let mut nothing: [u8; 0] = [];
    reduce_local(&[], &mut nothing, motet::op::ordered(|_, _| panic!("called"))).unwrap();
}
