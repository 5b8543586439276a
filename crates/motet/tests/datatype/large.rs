//! Datatypes that nobody could write out.

use motet::datatype::{Datatype, DatatypeError, MAX_DEPTH, Piece};

const BILLION: i64 = 1_000_000_000;
const ROWS: i64 = 400_000_000;

/// A vector stays a loop, and its middle is as near as its beginning.
#[test]
fn vectors_of_a_billion_blocks() {
    let vector = Datatype::vector(BILLION, 1, 2, &Datatype::DOUBLE).unwrap();
    assert_eq!((vector.size(), vector.elements()), (8_000_000_000, 1_000_000_000));
    assert_eq!(vector.extent(), 16 * BILLION - 8);
    let plane = Datatype::hvector(ROWS, 1, 1 << 34, &vector).unwrap();
    assert_eq!(plane.signature(1), Datatype::DOUBLE.signature(400_000_000_000_000_000));
    let middle = 8_000_000_000 * 200_000_000 + 8 * 7 + 3;
    let (pieces, end) = plane.commit().pieces(1, middle, 2);
    let row = (ROWS / 2) << 34;
    let at = |at, len| Piece { at: row + at, len };
    assert_eq!(pieces, [at(16 * 7 + 3, 5), at(16 * 8, 8)]);
    assert_eq!(end, middle + 13);
    assert_eq!(plane.get_elements(middle - 3), Some(200_000_000_000_000_007));
    assert_eq!(plane.get_elements(middle), None);
}

/// Doubled again and again, a datatype takes memory for each doubling, not for each element.
#[test]
fn doubled_sixty_times() {
    let gap = Datatype::structured(&[1, 1], &[0, 8], &[Datatype::CHAR, Datatype::INT]).unwrap();
    let mut datatype = gap;
    for _ in 0..55 {
        let step = datatype.extent();
        let twice = [datatype.clone(), datatype];
        datatype = Datatype::structured(&[1, 1], &[0, step], &twice).unwrap();
    }
    assert_eq!(datatype.size(), 5 << 55);
    let (pieces, _) = datatype.commit().pieces(1, (5 << 55) - 4, 9);
    assert_eq!(pieces, [Piece { at: (12 << 55) - 4, len: 4 }]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let overflow = |made: Result<Datatype, DatatypeError>| {
        assert!(matches!(made, Err(DatatypeError::Overflow(_))), "{made:?}");
    };
    overflow(Datatype::contiguous(i64::MAX, &Datatype::INT));
    overflow(Datatype::vector(3, 1, i64::MAX / 2, &Datatype::INT));
    overflow(Datatype::hvector(i64::MAX, i64::MAX, 0, &Datatype::CHAR));
    overflow(Datatype::hindexed(&[1], &[i64::MAX], &Datatype::CHAR));
    overflow(Datatype::hindexed(&[1, 1], &[i64::MAX - 1, i64::MIN], &Datatype::CHAR));
    overflow(Datatype::indexed(&[1], &[i64::MAX / 2], &Datatype::INT));
    overflow(Datatype::resized(i64::MAX, 1, &Datatype::INT));
    overflow(Datatype::structured(&[1], &[i64::MAX - 5], &[Datatype::DOUBLE]));
    let big = Datatype::contiguous(i64::MAX / 8, &Datatype::DOUBLE).unwrap();
    assert!(matches!(big.commit().pack_size(2), Err(DatatypeError::Overflow(_))));
    assert!(Datatype::vector(1, 1, i64::MAX, &Datatype::INT).is_ok(), "the stride is not taken");
}

#[test]
fn depth_has_a_limit() {
    let mut datatype = Datatype::INT;
    for at in 1..=i64::from(MAX_DEPTH) {
        let types = [datatype, Datatype::CHAR];
        datatype = Datatype::structured(&[1, 1], &[0, 3 + 2 * at], &types).unwrap();
    }
    assert!(matches!(datatype.dup(), Err(DatatypeError::TooDeep(_))));
    // Deep as it is, it can be walked.
    let (pieces, end) = datatype.commit().pieces(1, 2, usize::MAX);
    assert_eq!((pieces.len(), end), (1 + MAX_DEPTH as usize, 4 + u64::from(MAX_DEPTH)));
    let (pieces, _) = datatype.commit().pieces(1, 4 + 300, 1);
    assert_eq!(pieces, [Piece { at: 3 + 2 * 301, len: 1 }]);
}
