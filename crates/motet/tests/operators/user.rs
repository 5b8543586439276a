//! Functions of the user on memory of the user.

use std::sync::{Arc, Mutex};

use motet::Op;
use motet::datatype::Datatype;

use crate::local::{Memory, decimal, reduce};

const POISON: u8 = 0xa5;

/// One call, with what the caller has passed, in the caller's order, and none for no items.
///
/// spec: 82, 84
#[test]
fn a_local_reduction_is_one_call() {
    let datatype = Datatype::resized(0, 12, &Datatype::INT).unwrap();
    for count in [0, 1, 5000] {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let notes = calls.clone();
        let op = decimal(move |items, of| notes.lock().unwrap().push((items, of.clone())));
        let stream = |first: i32| (0..count as i32).flat_map(move |i| (first + i).to_le_bytes());
        let (left, right): (Vec<u8>, Vec<u8>) = (stream(1).collect(), stream(2).collect());
        let mut input = Memory::new(&datatype, count, 0, POISON);
        let mut inout = Memory::new(&datatype, count, 0, POISON);
        input.fill(&datatype, count, &left);
        inout.fill(&datatype, count, &right);
        reduce(&op, &datatype, count, (&input, &mut inout)).unwrap();
        let (found, gaps_are_poison) = inout.stream(&datatype, count, POISON);
        let expected: Vec<u8> =
            (0..count as i32).flat_map(|i| ((1 + i) * 10 + 2 + i).to_le_bytes()).collect();
        assert!(found == expected && gaps_are_poison);
        let calls = calls.lock().unwrap();
        let expected: &[_] = if count == 0 { &[] } else { &[(count, datatype.clone())] };
        assert_eq!(*calls, expected);
    }
}

#[test]
fn a_function_may_be_applied_to_anything() {
    let op: Op = crate::local::idle();
    let types = [Datatype::CHAR, Datatype::PACKED];
    let mixed = Datatype::structured(&[1, 2], &[0, 8], &types).unwrap();
    for datatype in [mixed, Datatype::WCHAR, Datatype::contiguous(0, &Datatype::INT).unwrap()] {
        op.applies_to(&datatype).unwrap();
    }
}
