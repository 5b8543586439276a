//! Rust types as datatypes.

use std::mem::offset_of;

use motet::datatype::{Datatype, Typed};

#[derive(Clone, Copy)]
#[repr(C)]
struct Particle {
    kind: u8,
    position: [f64; 3],
    charge: i16,
    id: u64,
}

motet::struct_datatype!(Particle { kind: u8, position: [f64; 3], charge: i16, id: u64 });

#[derive(Clone, Copy)]
struct Pair {
    first: Particle,
    flags: [[bool; 2]; 2],
}

motet::struct_datatype!(Pair { first: Particle, flags: [[bool; 2]; 2] });

#[test]
fn structures_are_as_in_c() {
    let ours = Particle::datatype();
    let types = [Datatype::UINT8_T, Datatype::DOUBLE, Datatype::INT16_T, Datatype::UINT64_T];
    let c = Datatype::structured(&[1, 3, 1, 1], &[0, 8, 32, 40], &types).unwrap();
    assert_eq!((ours.size(), ours.extent()), (c.size(), c.extent()));
    assert_eq!(ours.signature(1), c.signature(1));
    let layout = |datatype: &Datatype| datatype.commit().pieces(2, 0, 99).0;
    assert_eq!(layout(&ours), layout(&c));
}

/// Fields may lie in any order in memory; they are sent in the order in which they are listed.
#[test]
fn structures_nest() {
    let datatype = Pair::datatype();
    assert_eq!(datatype.extent() as usize, size_of::<Pair>());
    assert_eq!(datatype.size(), 8 * 4 + 3 + 4);
    let (pieces, _) = datatype.commit().pieces(1, 0, 1);
    assert_eq!(pieces[0].at as usize, offset_of!(Pair, first));
    assert_eq!(<[u32; 5]>::datatype().signature(1), Datatype::UINT32_T.signature(5));
    assert_eq!(<[u32; 0]>::datatype().size(), 0);
}
