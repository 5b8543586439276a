//! The predefined datatypes.

use motet::datatype::{Datatype, Kind, Named};

/// spec: 85
#[test]
fn pairs_are_laid_out_as_in_c() {
    let layout = |datatype: Datatype| {
        (datatype.size(), datatype.true_extent(), datatype.extent(), datatype.elements())
    };
    assert_eq!(layout(Datatype::FLOAT_INT), (8, 8, 8, 2));
    assert_eq!(layout(Datatype::DOUBLE_INT), (12, 12, 16, 2));
    assert_eq!(layout(Datatype::LONG_INT), (12, 12, 16, 2));
    assert_eq!(layout(Datatype::INT_2), (8, 8, 8, 2));
    assert_eq!(layout(Datatype::SHORT_INT), (6, 8, 8, 2));
    assert_eq!(layout(Datatype::LONG_DOUBLE_INT), (20, 20, 32, 2));
}

#[test]
fn handles_are_found_again_and_differ() {
    for named in Named::ALL {
        assert_eq!(Named::from_code(named.code()), Some(*named));
    }
    assert_eq!(Named::from_code(0x214), Some(Named::Double));
    assert_eq!(Named::from_code(0x200), None, "MPI_DATATYPE_NULL");
    assert_eq!(Named::ALL.len(), 70 + 1, "those of the standard, and one of ours");
}

/// The handles of the binary interface tell the sizes of fixed-size types, as `2^n`.
#[test]
fn sizes_are_those_in_the_handles() {
    for named in Named::ALL {
        let code = named.code();
        if (0x240..0x280).contains(&code) || (0x2c0..0x300).contains(&code) {
            let size = 1 << ((code >> 3) & 7);
            assert_eq!(Datatype::named(*named).size(), size, "{named:?}");
        }
    }
}

#[test]
fn extents_are_those_of_c() {
    for named in Named::ALL {
        let datatype = Datatype::named(*named);
        assert_eq!(datatype.lower_bound(), 0);
        assert_eq!(datatype.extent() as u64 % datatype.alignment(), 0, "{named:?}");
        assert!(datatype.commit().gaps() <= 2, "{named:?}");
    }
    assert_eq!(Datatype::LONG_DOUBLE.element().unwrap().kind, Kind::LongDouble);
    assert_eq!(
        (Datatype::C_DOUBLE_COMPLEX.size(), Datatype::C_DOUBLE_COMPLEX.alignment()),
        (16, 8)
    );
    assert_eq!(Datatype::WCHAR.size(), 4);
    assert_eq!(Named::LongDoubleInt.name(), "LONG_DOUBLE_INT");
    assert_eq!(format!("{:?}", Datatype::INT_2), "2INT");
}
