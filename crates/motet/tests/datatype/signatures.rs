//! Signatures: what must agree between sender and receiver.

use motet::datatype::{Datatype, Named};

/// spec: 20
#[test]
fn portions_do_not_matter() {
    let int = Datatype::INT;
    let four = Datatype::contiguous(4, &int).unwrap();
    assert!(four.matches(1, &int, 4));
    assert_eq!(four.signature(3), int.signature(12));
    let spread = Datatype::vector(2, 3, 5, &int).unwrap();
    assert_eq!(spread.signature(2), four.signature(3));
    assert!(!four.matches(1, &int, 5));
}

/// spec: 20
#[test]
fn order_and_kind_matter() {
    let structured = |types: [Datatype; 2]| Datatype::structured(&[1, 1], &[0, 8], &types).unwrap();
    let one = structured([Datatype::INT, Datatype::FLOAT]);
    let other = structured([Datatype::FLOAT, Datatype::INT]);
    assert!(!one.matches(1, &other, 1));
    assert!(!one.matches(2, &other, 2));
    assert!(!Datatype::INT.matches(1, &Datatype::UNSIGNED, 1));
    assert!(!Datatype::INT.matches(1, &Datatype::FLOAT, 1));
    assert!(!Datatype::INT.matches(2, &Datatype::LONG_LONG, 1));
    assert!(Datatype::FLOAT_INT.matches(1, &other, 1), "a pair is two elements");
}

/// Names of one representation match; bytes match what has as many of them.
#[test]
fn names_of_the_same_thing_match() {
    assert!(Datatype::INT.matches(1, &Datatype::INT32_T, 1));
    assert!(Datatype::INTEGER.matches(3, &Datatype::INT, 3));
    assert!(Datatype::PACKED.matches(8, &Datatype::INT, 2));
    assert!(Datatype::DOUBLE.matches(1, &Datatype::BYTE, 8));
    assert!(!Datatype::DOUBLE.matches(1, &Datatype::BYTE, 7));
    assert!(!Datatype::LONG_DOUBLE.matches(1, &Datatype::REAL16, 1));
}

#[test]
fn hashes_of_small_sequences_differ() {
    let all: Vec<Datatype> =
        [Named::Int, Named::Float, Named::Char, Named::Double].map(Datatype::named).to_vec();
    let mut hashes = std::collections::HashSet::new();
    for len in 0..6u32 {
        for number in 0..4usize.pow(len) {
            let types: Vec<Datatype> =
                (0..len).map(|i| all[number / 4usize.pow(i) % 4].clone()).collect();
            let zeros = vec![0; len as usize];
            let ones = vec![1; len as usize];
            let datatype = Datatype::structured(&ones, &zeros, &types).unwrap();
            assert!(hashes.insert(datatype.signature(1).hash), "{types:?}");
        }
    }
}

/// What a short message must look like for its receiver.
#[test]
fn prefixes_have_signatures() {
    let pair = Datatype::SHORT_INT;
    assert_eq!(pair.signature_of_bytes(12), Some(pair.signature(2)));
    let and_a_short = Datatype::structured(&[1, 1], &[0, 8], &[pair.clone(), Datatype::SHORT]);
    assert_eq!(pair.signature_of_bytes(8), Some(and_a_short.unwrap().signature(1)));
    assert_eq!(pair.signature_of_bytes(9), None);
    assert_eq!((pair.get_count(12), pair.get_count(8)), (Some(2), None));
    assert_eq!((pair.get_elements(8), pair.get_elements(9)), (Some(3), None));
}

#[test]
fn runs_have_a_limit() {
    let vector = Datatype::contiguous(1000, &Datatype::SHORT_INT).unwrap();
    assert_eq!(vector.runs(1999), None);
    assert_eq!(vector.runs(2000).unwrap().len(), 2000);
    let ints = Datatype::vector(1 << 40, 1, 2, &Datatype::INT).unwrap();
    assert_eq!(ints.runs(1).unwrap()[0].1, 1 << 40);
}
