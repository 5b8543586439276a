//! Random nested datatypes, against the oracle.

use std::collections::HashSet;

use motet::datatype::{Datatype, Named};
use proptest::prelude::*;

use super::oracle::{Recipe, Typemap};

/// Bytes on both sides of the data that nobody may touch.
const MARGIN: usize = 32;

fn named() -> impl Strategy<Value = Recipe> {
    use Named::{Byte, Char, Double, DoubleInt, FloatInt, Int, LongDouble, LongDoubleInt, Short};
    let all = [Byte, Char, Short, Int, Double, LongDouble, FloatInt, DoubleInt, LongDoubleInt];
    prop::sample::select(all.to_vec()).prop_map(Recipe::Named)
}

fn recipe() -> impl Strategy<Value = Recipe> {
    named().prop_recursive(3, 12, 3, |inner| {
        let item = inner.clone().prop_map(Box::new);
        let (len, at) = (0..4i64, -5..6i64);
        let blocks = prop::collection::vec((len.clone(), at.clone()), 0..4);
        let places = prop::collection::vec(at.clone(), 0..5);
        let fields = prop::collection::vec((len.clone(), -20..40i64, inner), 0..4);
        let vector = (len.clone(), len.clone(), at.clone(), item.clone());
        prop_oneof![
            (len.clone(), item.clone()).prop_map(|(n, t)| Recipe::Contiguous(n, t)),
            vector.clone().prop_map(|(n, b, s, t)| Recipe::Vector(n, b, s, t)),
            vector.prop_map(|(n, b, s, t)| Recipe::Hvector(n, b, s * 7, t)),
            (blocks.clone(), item.clone()).prop_map(|(b, t)| Recipe::Indexed(b, t)),
            (blocks, item.clone()).prop_map(|(b, t)| Recipe::Hindexed(b, t)),
            (len.clone(), places.clone(), item.clone())
                .prop_map(|(n, p, t)| Recipe::IndexedBlock(n, p, t)),
            (len, places, item.clone()).prop_map(|(n, p, t)| Recipe::HindexedBlock(n, p, t)),
            fields.prop_map(Recipe::Struct),
            (-9..9i64, -9..60i64, item.clone()).prop_map(|(l, e, t)| Recipe::Resized(l, e, t)),
            item.prop_map(Recipe::Dup),
        ]
    })
}

/// Memory around some items, filled with a pattern, and where the first item is in it.
struct Around {
    memory: Vec<u8>,
    origin: usize,
    places: Vec<usize>,
}

impl Around {
    fn new(all: &Typemap) -> Around {
        let (low, high) = all.true_bounds();
        let origin = MARGIN + usize::try_from(-low.min(0)).unwrap();
        let len = origin + usize::try_from(high.max(0)).unwrap() + MARGIN;
        let memory = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
        let places = all.bytes().iter().map(|at| (origin as i64 + at) as usize).collect();
        Around { memory, origin, places }
    }

    fn packed(&self) -> Vec<u8> {
        self.places.iter().map(|&place| self.memory[place]).collect()
    }
}

fn facts_agree(datatype: &Datatype, map: &Typemap) {
    assert_eq!(datatype.size(), map.bytes().len() as u64, "size");
    assert_eq!(datatype.lower_bound(), map.lower_bound(), "lower bound");
    assert_eq!(datatype.upper_bound(), map.upper_bound(), "upper bound");
    assert_eq!(datatype.extent(), map.extent(), "extent");
    let (low, high) = map.true_bounds();
    assert_eq!((datatype.true_lower_bound(), datatype.true_upper_bound()), (low, high));
    assert_eq!(datatype.elements(), map.entries.len() as u64);
    assert_eq!(datatype.runs(usize::MAX), Some(map.runs()));
}

fn signature_agrees(datatype: &Datatype, count: u64, all: &Typemap) {
    let flat = all.runs().iter().fold(Datatype::contiguous(0, &Datatype::BYTE), |flat, run| {
        let named = Named::ALL.iter().find(|n| Datatype::named(**n).element() == Some(run.0));
        let run = Datatype::contiguous(run.1 as i64, &(*named.unwrap()).into());
        Datatype::structured(&[1, 1], &[0, 0], &[flat?, run?])
    });
    let flat = flat.unwrap();
    assert_eq!(datatype.signature(count), flat.signature(1));
    assert!(datatype.matches(count, &flat, 1));
}

fn elements_agree(datatype: &Datatype, all: &Typemap) {
    let mut ends = vec![0];
    for (basic, _) in &all.entries {
        ends.push(ends.last().unwrap() + u64::from(basic.size));
    }
    for bytes in 0..=*ends.last().unwrap() {
        let elements = ends.iter().position(|end| *end == bytes).map(|n| n as u64);
        assert_eq!(datatype.get_elements(bytes), elements, "{bytes} bytes");
    }
}

/// Packs from every position on, in pieces of several lengths.
fn pack_agrees(datatype: &Datatype, count: u64, around: &Around) {
    let (layout, expected) = (datatype.commit(), around.packed());
    for start in 0..=expected.len() {
        for len in [1, 3, 7, 16, expected.len()] {
            let mut out = vec![0xee; len];
            let done = layout.gather(&around.memory, around.origin, count, start as u64, &mut out);
            let done = done.unwrap();
            assert_eq!(done, len.min(expected.len() - start), "from {start}, {len} bytes");
            assert_eq!(out[..done], expected[start..start + done], "from {start}, {len} bytes");
            assert!(out[done..].iter().all(|&byte| byte == 0xee));
        }
    }
}

/// Unpacks in two parts, cut everywhere; no byte but those of the data changes. Which of several
/// elements in one place stays is open.
fn unpack_agrees(datatype: &Datatype, count: u64, around: &Around) {
    let layout = datatype.commit();
    let input: Vec<u8> = (0..around.places.len()).map(|i| (i * 13 + 5) as u8).collect();
    let mut expected = around.memory.clone();
    for (&place, &byte) in around.places.iter().zip(&input) {
        expected[place] = byte;
    }
    let mut sorted = around.places.clone();
    sorted.sort_unstable();
    let shared: Vec<usize> =
        sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    for cut in 0..=input.len() {
        let mut memory = around.memory.clone();
        let origin = around.origin;
        let (first, second) = input.split_at(cut);
        assert_eq!(layout.scatter(&mut memory, origin, count, 0, first), Ok(cut));
        let done = layout.scatter(&mut memory, origin, count, cut as u64, second);
        assert_eq!(done, Ok(second.len()));
        shared.iter().for_each(|&place| memory[place] = expected[place]);
        assert_eq!(memory, expected, "cut at {cut}");
    }
}

fn pieces_agree(datatype: &Datatype, count: u64, all: &Typemap) {
    let (layout, bytes) = (datatype.commit(), all.bytes());
    let listed = |(pieces, end): (Vec<motet::datatype::Piece>, u64)| {
        let bytes = pieces.iter().flat_map(|p| (0..p.len as i64).map(|i| p.at + i));
        (bytes.collect::<Vec<i64>>(), end)
    };
    assert_eq!(listed(layout.pieces(count, 0, usize::MAX)), (bytes.clone(), bytes.len() as u64));
    let (some, end) = listed(layout.pieces(count, 1, 2));
    assert_eq!(some, bytes[1.min(bytes.len())..(end as usize).min(bytes.len())]);
    if let Some(piece) = layout.contiguous(count) {
        assert_eq!(bytes, (piece.at..piece.at + piece.len as i64).collect::<Vec<_>>());
    }
    let distinct: HashSet<i64> = bytes.iter().copied().collect();
    assert_eq!(layout.overlaps(count), Some(distinct.len() < bytes.len()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// spec: 3, 20, 82, 85
    #[test]
    fn everything_agrees_with_the_typemap(recipe in recipe(), count in 0..4i64) {
        let (datatype, item) = (recipe.datatype(), recipe.typemap());
        let mut all = Typemap::default();
        all.row(&item, 0, count);
        prop_assume!(all.bytes().len() < 300);
        facts_agree(&datatype, &item);
        signature_agrees(&datatype, count as u64, &all);
        elements_agree(&datatype, &all);
        let around = Around::new(&all);
        pack_agrees(&datatype, count as u64, &around);
        unpack_agrees(&datatype, count as u64, &around);
        pieces_agree(&datatype, count as u64, &all);
    }
}

/// What is copied tile by tile: rows of short lists, with positive and negative strides.
///
/// spec: 3
#[test]
fn long_loops_agree_with_the_typemap() {
    let of = |named| Box::new(Recipe::Named(named));
    let fields = |places: [i64; 3]| {
        let named = [Named::Int, Named::Double, Named::Short];
        let fields = places.iter().zip(named);
        Recipe::Struct(fields.map(|(at, named)| (1, *at, Recipe::Named(named))).collect())
    };
    let item = || Box::new(fields([0, 8, 20]));
    for recipe in [
        Recipe::Contiguous(3000, item()),
        Recipe::Hvector(1500, 2, -56, item()),
        Recipe::Hvector(40, 1, 9000, item()),
        Recipe::Hvector(2000, 1, 40, Box::new(Recipe::Vector(3, 1, 2, of(Named::Short)))),
        Recipe::Hvector(
            900,
            1,
            -64,
            Box::new(Recipe::Indexed(vec![(1, 3), (2, 0)], of(Named::Int))),
        ),
        Recipe::Vector(5000, 1, 2, of(Named::Double)),
    ] {
        let (layout, map) = (recipe.datatype().commit(), recipe.typemap());
        let (around, size) = (Around::new(&map), map.bytes().len());
        let expected = around.packed();
        for start in [0, 1, 13, size / 3, size / 2 + 5, size - 7] {
            let mut out = vec![0; size - start];
            let done = layout.gather(&around.memory, around.origin, 1, start as u64, &mut out);
            assert_eq!((done, &out[..]), (Ok(size - start), &expected[start..]), "{recipe:?}");
            let mut memory = around.memory.clone();
            around.places[start..].iter().for_each(|&place| memory[place] ^= 0x5a);
            layout.scatter(&mut memory, around.origin, 1, start as u64, &out).unwrap();
            assert_eq!(memory, around.memory, "{recipe:?} from {start}");
        }
    }
}
