//! The rules of lower and upper bounds, by the standard's own examples (MPI 4.1, 5.1.2 to 5.1.8).

use motet::datatype::Datatype;

fn bounds(datatype: &Datatype) -> (i64, i64) {
    (datatype.lower_bound(), datatype.upper_bound())
}

/// `{(double, 0), (char, 8)}`, which ends the standard's examples with an extent of 16.
fn example() -> Datatype {
    Datatype::structured(&[1, 1], &[0, 8], &[Datatype::DOUBLE, Datatype::CHAR]).unwrap()
}

/// A structure is filled up to its alignment, as in C.
#[test]
fn structure_is_padded() {
    let item = example();
    assert_eq!((item.size(), item.extent(), item.true_extent()), (9, 16, 9));
    let row = Datatype::contiguous(3, &item).unwrap();
    assert_eq!((row.size(), row.extent(), row.true_extent()), (27, 48, 41));
}

#[test]
fn padding_follows_the_strictest_alignment_inside() {
    let inner = Datatype::structured(&[1], &[0], &[Datatype::LONG_DOUBLE]).unwrap();
    let outer = Datatype::structured(&[1, 1], &[0, 16], &[inner, Datatype::CHAR]).unwrap();
    assert_eq!(bounds(&outer), (0, 32));
    // From a lower bound that is no multiple itself.
    let shifted = Datatype::structured(&[1, 1], &[4, 12], &[Datatype::DOUBLE, Datatype::CHAR]);
    assert_eq!(bounds(&shifted.unwrap()), (4, 20));
}

/// What an item was filled up with belongs to it: an array of structures ends with a whole one.
#[test]
fn padding_stays_in_items() {
    let item = Datatype::structured(&[1, 1], &[0, 4], &[Datatype::INT, Datatype::CHAR]).unwrap();
    let outer = Datatype::structured(&[1, 1], &[0, 1], &[Datatype::CHAR, item]).unwrap();
    assert_eq!((bounds(&outer), outer.true_extent()), ((0, 12), 6));
    let inner = Datatype::hvector(3, 4, 49, &Datatype::DOUBLE).unwrap();
    assert_eq!((inner.extent(), inner.true_extent()), (136, 130));
    let outer = Datatype::hvector(2, 3, 4 * 136 + 1, &inner).unwrap();
    assert_eq!((outer.extent(), outer.true_extent()), (960, 947));
}

#[test]
fn vector_may_run_backwards() {
    let backwards = Datatype::vector(3, 1, -2, &Datatype::INT).unwrap();
    assert_eq!((bounds(&backwards), backwards.size()), ((-16, 4), 12));
    let memory: Vec<u8> = (0..20).collect();
    let mut out = [0; 12];
    backwards.commit().gather(&memory, 16, 1, 0, &mut out).unwrap();
    assert_eq!(out, [16, 17, 18, 19, 8, 9, 10, 11, 0, 1, 2, 3]);
}

/// The example of `MPI_Type_create_resized`: `{(lb, -3), (int, 0), (ub, 6)}`, twice.
#[test]
fn resized_twice_in_a_row() {
    let item = Datatype::resized(-3, 9, &Datatype::INT).unwrap();
    assert_eq!((bounds(&item), item.true_lower_bound(), item.true_extent()), ((-3, 6), 0, 4));
    let row = Datatype::contiguous(2, &item).unwrap();
    assert_eq!((bounds(&row), row.true_upper_bound()), ((-3, 15), 13));
}

/// Where there is a marker, only markers count, wherever the data ends.
#[test]
fn markers_hold_in_structures() {
    let marked = Datatype::resized(-3, 9, &Datatype::INT).unwrap();
    let both = Datatype::structured(&[1, 1], &[0, 16], &[marked.clone(), Datatype::DOUBLE]);
    assert_eq!(bounds(&both.unwrap()), (-3, 6));
    let at_8 = Datatype::structured(&[1, 1], &[8, -16], &[marked.clone(), Datatype::DOUBLE]);
    assert_eq!(bounds(&at_8.unwrap()), (5, 14));
    let absent = Datatype::structured(&[0, 1], &[0, 16], &[marked, Datatype::DOUBLE]);
    assert_eq!(bounds(&absent.unwrap()), (16, 24), "without an item there is no marker");
}

/// A later `resized` erases what an earlier one set.
#[test]
fn resized_replaces_markers() {
    let once = Datatype::resized(-3, 9, &Datatype::INT).unwrap();
    assert_eq!(bounds(&Datatype::resized(1, 2, &once).unwrap()), (1, 3));
    let negative = Datatype::resized(4, -8, &Datatype::INT).unwrap();
    assert_eq!((bounds(&negative), negative.extent()), ((4, -4), -8));
}

#[test]
fn empty_datatypes_have_no_bounds_but_marked_ones() {
    for empty in [
        Datatype::contiguous(0, &Datatype::INT),
        Datatype::vector(3, 0, 2, &Datatype::INT),
        Datatype::hindexed(&[0, 0], &[40, -40], &Datatype::INT),
        Datatype::structured(&[], &[], &[]),
    ] {
        let empty = empty.unwrap();
        assert_eq!((empty.size(), bounds(&empty), empty.true_extent()), (0, (0, 0), 0));
        assert_eq!((empty.get_count(0), empty.get_count(1)), (Some(0), None));
        assert_eq!((empty.get_elements(0), empty.get_elements(1)), (Some(0), None));
        assert_eq!(empty.commit().gather(&[], 0, 7, 0, &mut [0; 4]), Ok(0));
        let marked = Datatype::resized(-1, 5, &empty).unwrap();
        let row = Datatype::contiguous(3, &marked).unwrap();
        assert_eq!((row.size(), bounds(&row)), (0, (-1, 14)));
    }
}

#[test]
fn no_items_touch_nothing() {
    let layout = Datatype::vector(2, 1, 2, &Datatype::INT).unwrap().commit();
    assert_eq!(layout.gather(&[], 0, 0, 0, &mut [0; 4]), Ok(0));
    assert_eq!(layout.pieces(0, 0, 9), (vec![], 0));
    assert_eq!(layout.overlaps(0), Some(false));
}

#[test]
fn contiguous_layouts_are_found() {
    let contiguous = |datatype: Datatype| datatype.commit().is_contiguous();
    assert!(contiguous(Datatype::vector(4, 3, 3, &Datatype::INT).unwrap()));
    assert!(contiguous(Datatype::indexed(&[2, 1], &[0, 2], &Datatype::INT).unwrap()));
    assert!(contiguous(Datatype::FLOAT_INT));
    assert!(!contiguous(Datatype::DOUBLE_INT), "padded at the end");
    assert!(!contiguous(Datatype::indexed(&[1, 1], &[1, 0], &Datatype::INT).unwrap()));
    let column = Datatype::vector(4, 1, 2, &Datatype::DOUBLE).unwrap().commit();
    assert_eq!((column.is_contiguous(), column.gaps()), (false, 24));
}

#[test]
fn overlaps_are_found() {
    let overlaps = |datatype: Datatype, count| datatype.commit().overlaps(count);
    let twice = Datatype::indexed(&[2, 2], &[0, 1], &Datatype::INT).unwrap();
    assert_eq!(overlaps(twice, 1), Some(true));
    // The columns of a matrix interleave, and do not overlap until one comes too many.
    let column = Datatype::vector(3, 1, 4, &Datatype::DOUBLE).unwrap();
    let column = Datatype::resized(0, 8, &column).unwrap();
    assert_eq!(overlaps(column.clone(), 4), Some(false));
    assert_eq!(overlaps(column, 5), Some(true));
    // Too many interleaved runs to look at: nobody knows.
    let column = Datatype::vector(1 << 20, 1, 4, &Datatype::DOUBLE).unwrap();
    let column = Datatype::resized(0, 8, &column).unwrap();
    assert_eq!(overlaps(column.clone(), 2), None);
    assert_eq!(overlaps(column, 1), Some(false));
}
