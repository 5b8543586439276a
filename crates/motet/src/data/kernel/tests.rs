//! Kernels against plain loops, in all three places of the result.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod arithmetic;
mod speed;
mod user;

use super::*;
use crate::data::op::{Sum, ordered};

/// Where the result of a reduction goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OutputAlias {
    Left,
    Right,
    Apart,
}

const PLACES: [OutputAlias; 3] = [OutputAlias::Left, OutputAlias::Right, OutputAlias::Apart];

/// Bytes behind each operand, which nobody may write.
const CANARY: [u8; 64] = [0xa5; 64];

/// The operands and the room for a result, all aligned to 64 bytes.
struct Operands {
    memory: [Temporary; 3],
    len: usize,
}

impl Operands {
    fn new(left: &[u8], right: &[u8]) -> Operands {
        assert_eq!(left.len(), right.len());
        let len = left.len();
        let room = || Temporary::new(0, (len + CANARY.len()) as i128, 0);
        let mut operands = Operands { memory: [room(), room(), room()], len };
        for (at, bytes) in [left, right, &vec![0x5a; len]].into_iter().enumerate() {
            let all = [bytes, &CANARY].concat();
            // SAFETY: a temporary with room for that.
            unsafe { operands.memory[at].start().copy_from(all.as_ptr(), all.len()) };
        }
        operands
    }

    fn address(&mut self, place: OutputAlias) -> *mut u8 {
        self.memory[place as usize].start()
    }

    fn bytes(&mut self, place: OutputAlias) -> Vec<u8> {
        let (len, start) = (self.len, self.address(place));
        // SAFETY: as many bytes were written before.
        let all = unsafe { slice::from_raw_parts(start, len + CANARY.len()) };
        assert_eq!(all[len..], CANARY, "bytes behind the {place:?} one were written");
        all[..len].to_vec()
    }

    /// Combines them as elements of so many bytes, but for so many of the first ones.
    fn reduce(&mut self, kernel: &dyn Kernel, unit: usize, place: OutputAlias, skipped: usize) {
        assert_eq!(self.len % unit, 0, "whole elements");
        let mut from = |place| self.address(place).wrapping_add(skipped * unit);
        let (left, right, into) = (from(OutputAlias::Left), from(OutputAlias::Right), from(place));
        // SAFETY: operands of so many elements, aligned as these are in a multiple of 64 bytes, and
        // valid as any bytes are.
        unsafe { kernel.reduce(left, right, into, self.len / unit - skipped) };
    }
}

/// `left ∘ right` by a kernel; the operands that are not the place of the result stay.
fn combined(
    kernel: &dyn Kernel,
    unit: usize,
    left: &[u8],
    right: &[u8],
    place: OutputAlias,
) -> Vec<u8> {
    let mut operands = Operands::new(left, right);
    operands.reduce(kernel, unit, place, 0);
    for (other, before) in [(OutputAlias::Left, left), (OutputAlias::Right, right)] {
        let after = operands.bytes(other);
        assert!(other == place || after == before, "the {other:?} one was written");
    }
    operands.bytes(place)
}

fn bytes_of<const N: usize>(values: &[impl Copy + Into<u64>]) -> Vec<u8> {
    values.iter().flat_map(|&value| value.into().to_le_bytes()[..N].to_vec()).collect()
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[test]
fn all_three_places_of_the_result() {
    let kernel = kernel::<u64, _>(ordered(|left: u64, right: u64| left * 10 + right));
    let (left, right) = (bytes_of::<8>(&[1u64, 2, 3]), bytes_of::<8>(&[4u64, 5, 6]));
    for place in PLACES {
        let found = combined(&*kernel, 8, &left, &right, place);
        assert_eq!(found, bytes_of::<8>(&[14u64, 25, 36]), "{place:?}");
    }
}

/// Also in one that is so long that it is reduced from the beginning of a line on.
#[test]
fn results_begin_anywhere_in_a_line() {
    let kernel = kernel::<u64, _>(ordered(|left: u64, right: u64| left * 10 + right));
    let count = SHORTEST_IN_LINES / 8 + 3;
    let left: Vec<_> = (0..count as u64).collect();
    let right: Vec<_> = left.iter().map(|value| value % 7).collect();
    let bytes = [&left, &right].map(|values| bytes_of::<8>(values));
    for skipped in 0..=LINE / 8 {
        for place in PLACES {
            let mut operands = Operands::new(&bytes[0], &bytes[1]);
            let mut expected = operands.bytes(place);
            for at in skipped..count {
                let value = left[at] * 10 + right[at];
                expected[8 * at..][..8].copy_from_slice(&value.to_le_bytes());
            }
            operands.reduce(&*kernel, 8, place, skipped);
            assert!(operands.bytes(place) == expected, "{place:?} from {skipped} on");
        }
    }
}

#[test]
fn what_precedes_the_first_line_of_a_long_result() {
    let line = std::ptr::without_provenance_mut::<u8>(LINE);
    let long = SHORTEST_IN_LINES / 8;
    for (at, count, first) in [(0, long, 0), (16, long, 6), (56, long, 1), (16, long - 1, 0)] {
        assert_eq!(before_line::<u64>(line.wrapping_add(at), count), first);
    }
    assert_eq!(before_line::<u64>(line.wrapping_add(4), long), 0, "none begins a line");
}

#[test]
fn built_in_kernels_take_no_memory() {
    assert_eq!(size_of_val(&*kernel::<f64, _>(Sum)), 0);
    let (kernel, _) = kernel_for(&Op::SUM, &Datatype::DOUBLE).unwrap();
    assert_eq!(size_of_val(&*kernel), 0);
}

/// The unit is the basic element, however the items are made of them; the pair without its
/// padding; and the item for a function of the user.
#[test]
fn units() {
    let unit = |op: &Op, datatype: &Datatype| {
        let (_, Unit { bytes, alignment }) = kernel_for(op, datatype).unwrap();
        (bytes, alignment)
    };
    let rows = Datatype::vector(3, 2, 4, &Datatype::DOUBLE).unwrap();
    assert_eq!(unit(&Op::SUM, &rows), (8, 8));
    assert_eq!(unit(&Op::SUM, &Datatype::C_FLOAT_COMPLEX), (8, 4));
    assert_eq!(unit(&Op::MINLOC, &Datatype::DOUBLE_INT), (12, 1));
    assert_eq!(unit(&Op::MAXLOC, &Datatype::SHORT_INT), (6, 1));
    assert_eq!(unit(&Op::MAXLOC, &Datatype::LONG_DOUBLE_INT), (20, 1));
    let pairs = Datatype::vector(2, 1, 2, &Datatype::INT_2).unwrap();
    assert_eq!(unit(&Op::MAXLOC, &pairs), (8, 1));
    let wide = Datatype::value_index(&Datatype::INT8_T, &Datatype::INT64_T).unwrap();
    assert_eq!(unit(&Op::MINLOC, &wide), (9, 1));
    assert_eq!(unit(&Op::REPLACE, &rows), (1, 1));
    let nothing = Datatype::contiguous(0, &Datatype::INT).unwrap();
    assert_eq!(unit(&Op::SUM, &nothing), (1, 1));
    let op = user::appending(|_| {});
    assert_eq!(unit(&op, &rows), (48, 1));
    assert_eq!(unit(&op, &Datatype::contiguous(3, &Datatype::INT).unwrap()), (12, 4));
    assert_eq!(unit(&op, &Datatype::DOUBLE_INT), (12, 1));
    assert_eq!(unit(&op, &nothing), (1, 1));
}

/// The stream of pairs has no padding: the values are anywhere.
///
/// spec: 81, 85
#[test]
fn pairs_without_padding() {
    let pair = |value: f64, index: i32| [&value.to_le_bytes()[..], &index.to_le_bytes()].concat();
    let left = [pair(1.0, 7), pair(2.0, 3), pair(5.0, 4), pair(f64::NAN, 1), pair(0.0, 9)];
    let right = [pair(2.0, 1), pair(2.0, 2), pair(5.0, 6), pair(-8.0, 9), pair(-0.0, 2)];
    let least = [&left[0], &right[1], &left[2], &right[3], &right[4]].map(Vec::as_slice).concat();
    let most = [&right[0], &right[1], &left[2], &right[3], &right[4]].map(Vec::as_slice).concat();
    for place in PLACES {
        for (op, expected) in [(Op::MINLOC, &least), (Op::MAXLOC, &most)] {
            let (kernel, unit) = kernel_for(&op, &Datatype::DOUBLE_INT).unwrap();
            let found = combined(&*kernel, unit.bytes, &left.concat(), &right.concat(), place);
            assert_eq!(found, *expected, "{op:?} {place:?}");
        }
    }
}

#[test]
fn taking_one_operand_as_it_is() {
    let (left, right) = ([1, 2, 3], [4, 5, 6]);
    for place in PLACES {
        for (op, expected) in [(Op::REPLACE, right), (Op::NO_OP, left)] {
            let (kernel, unit) = kernel_for(&op, &Datatype::CHAR).unwrap();
            assert_eq!(combined(&*kernel, unit.bytes, &left, &right, place), expected, "{op:?}");
        }
    }
}
