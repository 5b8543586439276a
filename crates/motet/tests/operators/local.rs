//! Local reductions of bytes, for which it is checked that they lie within their memory.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;

use motet::datatype::Datatype;
use motet::{Error, Op};

/// Room for items, the first of which lies at `origin`; the first byte has the alignment of a
/// line, moved on by `skew`.
pub(crate) struct Memory {
    bytes: Vec<u8>,
    first: usize,
    origin: usize,
}

impl Memory {
    /// Poisoned room for `count` items.
    pub(crate) fn new(datatype: &Datatype, count: usize, skew: usize, poison: u8) -> Memory {
        let (low, high) = datatype.commit().reach(count as u64);
        let low = usize::try_from(-low.min(0)).unwrap().next_multiple_of(64);
        let len = low + usize::try_from(high.max(0)).unwrap();
        let bytes = vec![poison; len + 64 + skew + 16];
        let first = bytes.as_ptr().align_offset(64) + skew;
        Memory { bytes, first, origin: first + low }
    }

    /// Puts the stream of the items to its places.
    pub(crate) fn fill(&mut self, datatype: &Datatype, count: usize, stream: &[u8]) {
        let layout = datatype.commit();
        layout.scatter(&mut self.bytes, self.origin, count as u64, 0, stream).unwrap();
    }

    /// The stream of the items, and whether all other bytes are poison still.
    pub(crate) fn stream(&self, datatype: &Datatype, count: usize, poison: u8) -> (Vec<u8>, bool) {
        let (layout, mut rest) = (datatype.commit(), self.bytes.clone());
        let mut stream = vec![0; count * layout.size() as usize];
        layout.gather(&self.bytes, self.origin, count as u64, 0, &mut stream).unwrap();
        let blank = vec![poison; stream.len()];
        layout.scatter(&mut rest, self.origin, count as u64, 0, &blank).unwrap();
        (stream, rest.iter().all(|&byte| byte == poison) && self.first <= self.origin)
    }
}

/// `inout = input ∘ inout`.
pub(crate) fn reduce(
    op: &Op,
    datatype: &Datatype,
    count: usize,
    (input, inout): (&Memory, &mut Memory),
) -> Result<(), Error> {
    for memory in [input, &*inout] {
        let (low, high) = datatype.commit().reach(count as u64);
        let origin = memory.origin as i128;
        assert!(origin + low >= 0 && origin + high <= memory.bytes.len() as i128, "outside");
    }
    let from = input.bytes.as_ptr().wrapping_add(input.origin);
    let to = inout.bytes.as_mut_ptr().wrapping_add(inout.origin);
    // SAFETY: all data lies within two vectors, as has just been checked.
    unsafe { op.reduce_local(from, to, count, datatype) }
}

/// `left * 10 + right` for the `i32` at the start of each item.
pub(crate) fn decimal(note: impl Fn(usize, &Datatype) + Send + Sync + 'static) -> Op {
    let function = move |input: *const u8, inout: *mut u8, count: usize, datatype: &Datatype| {
        note(count, datatype);
        for at in (0..count as isize).map(|i| i * datatype.extent() as isize) {
            let (left, right) = (input.wrapping_offset(at), inout.wrapping_offset(at));
            // SAFETY: the number of an item.
            let left = unsafe { left.cast::<i32>().read_unaligned() };
            // SAFETY: as above.
            let old = unsafe { right.cast::<i32>().read_unaligned() };
            // SAFETY: as above.
            unsafe { right.cast::<i32>().write_unaligned(left * 10 + old) };
        }
    };
    // SAFETY: it touches the data of the items only.
    unsafe { Op::ordered(Arc::new(function)) }
}

/// An operator of the user that does nothing.
pub(crate) fn idle() -> Op {
    // SAFETY: it touches nothing.
    unsafe { Op::commutative(Arc::new(|_, _, _, _: &Datatype| {})) }
}

/// spec: 84
#[test]
fn no_items_need_no_memory() {
    for op in [Op::SUM, Op::MAXLOC, Op::REPLACE, idle()] {
        let datatype = if op == Op::MAXLOC { Datatype::DOUBLE_INT } else { Datatype::INT };
        // SAFETY: there are no items, so nothing is read or written.
        unsafe { op.reduce_local(std::ptr::null(), std::ptr::null_mut(), 0, &datatype) }.unwrap();
    }
}
