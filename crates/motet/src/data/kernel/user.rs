//! Kernels of functions of the user, on items laid out as in the user's memory.
//!
//! The engine has the stream of a datatype, the function needs items with their bounds and gaps. If
//! the two are the same, the function works on the engine's memory; else the kernel lays out a few
//! items at a time in temporaries, so that the function gets the true layout, and the gaps of the
//! user's own memory are never touched.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::{Mutex, PoisonError};

use motet_fabric::biased_lock::exclude;

use super::{Kernel, Temporary, Unit};
use crate::ExceptionId;
use crate::data::op::Combine;
use crate::types::datatype::{Datatype, Layout};

/// Bytes of one temporary, unless a single item is larger: few enough to stay in the first-level
/// cache.
const CHUNK: i128 = 8 << 10;

struct User {
    function: Combine,
    datatype: Datatype,
    layout: Layout,
    /// Bytes of data in an item.
    size: usize,
    /// Items that fit into a temporary.
    chunk: usize,
    /// Whether the stream has the layout that the function needs.
    direct: bool,
    /// For the operands. A kernel belongs to one run, which calls it from one thread at a time.
    temporaries: Mutex<[OperandRoom; 2]>,
}

/// A temporary for an operand, and how many items it has room for: it is made when it is needed,
/// since most calls of one item need none.
#[derive(Default)]
struct OperandRoom {
    temporary: Option<Temporary>,
    items: usize,
}

impl OperandRoom {
    /// The address of the first item of room for so many.
    fn room(&mut self, layout: &Layout, items: usize) -> *mut u8 {
        if self.items < items {
            let (low, high) = layout.reach(items as u64);
            self.temporary = Some(Temporary::new(low, high, layout.extent()));
            self.items = items;
        }
        self.temporary.as_mut().expect("there are items").start()
    }
}

/// The kernel of a function for items of `size` bytes of data, and one item as its unit.
pub(super) fn kernel(
    function: Combine,
    datatype: &Datatype,
    size: usize,
) -> (Box<dyn Kernel>, Unit) {
    let layout = datatype.commit();
    let direct = layout.contiguous(2).is_some_and(|piece| piece.at == 0);
    let chunk = items_at_once(&layout);
    // An aligned item that follows another one is aligned only if the size is a multiple, too.
    let of_type = usize::try_from(datatype.alignment()).expect("alignments are small").max(1);
    let alignment = if direct { of_type.min(1 << size.trailing_zeros()) } else { 1 };
    let kernel = User {
        function,
        datatype: datatype.clone(),
        layout,
        size,
        chunk: usize::try_from(chunk).expect("a chunk is small"),
        direct,
        temporaries: Mutex::default(),
    };
    (Box::new(kernel), Unit { bytes: size, alignment })
}

/// The number of items that are laid out together: as many as fit, but only one if items overlap.
fn items_at_once(layout: &Layout) -> u64 {
    let extent = i128::from(layout.extent().unsigned_abs());
    let (low, high) = layout.reach(1);
    let room = CHUNK - (high - low);
    if room <= 0 || extent == 0 {
        return 1;
    }
    let fits = u64::try_from(1 + room / extent).expect("a chunk is small");
    if layout.overlaps(fits) == Some(false) { fits } else { 1 }
}

impl Kernel for User {
    fn is_dropped_by_user(&self) -> bool {
        true
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        // SAFETY: passed on.
        let reduced = unsafe { self.try_reduce(left, right, into, count) };
        debug_assert!(reduced.is_ok(), "nobody asked whether it fails");
    }

    fn may_throw(&self) -> bool {
        self.function.may_throw()
    }

    unsafe fn try_reduce(
        &self,
        left: *const u8,
        right: *const u8,
        into: *mut u8,
        count: usize,
    ) -> Result<(), ExceptionId> {
        if count == 0 {
            return Ok(());
        }
        // It runs under the lock of the engine.
        let _kept_out = exclude();
        if !self.direct {
            // SAFETY: passed on.
            return unsafe { self.laid_out(left, right, into, count) };
        }
        if std::ptr::eq(left, into) {
            // SAFETY: passed on.
            return unsafe { self.over_the_left(right, into, count) };
        }
        if !std::ptr::eq(right, into) {
            // SAFETY: whole items; `into` overlaps neither operand.
            unsafe { into.copy_from_nonoverlapping(right, count * self.size) };
        }
        self.function.call(left, into, count, &self.datatype)
    }
}

impl User {
    /// The items of each chunk: where it begins in the stream, and how many they are.
    fn chunks(&self, count: usize) -> impl Iterator<Item = (usize, usize)> {
        let (size, chunk) = (self.size, self.chunk);
        (0..count).step_by(chunk).map(move |first| (first * size, chunk.min(count - first)))
    }

    /// `left = left ∘ right`. The function only writes over its right operand, and the order of
    /// the operands counts to the last bit even where the user calls it commutative.
    ///
    /// # Safety
    /// As [`Kernel::reduce`], the layout being direct.
    unsafe fn over_the_left(
        &self,
        right: *const u8,
        left: *mut u8,
        count: usize,
    ) -> Result<(), ExceptionId> {
        let mut temporaries = self.temporaries.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = temporaries[0].room(&self.layout, count.min(self.chunk));
        for (start, items) in self.chunks(count) {
            let left = left.wrapping_add(start);
            let bytes = items * self.size;
            // SAFETY: items of the right operand; a temporary has room for a chunk.
            unsafe { copy.copy_from_nonoverlapping(right.wrapping_add(start), bytes) };
            self.function.call(left, copy, items, &self.datatype)?;
            // SAFETY: as above, the other way.
            unsafe { left.copy_from_nonoverlapping(copy, bytes) };
        }
        Ok(())
    }

    /// Lays out both operands, calls the function, and takes the result back into the stream.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    unsafe fn laid_out(
        &self,
        left: *const u8,
        right: *const u8,
        into: *mut u8,
        count: usize,
    ) -> Result<(), ExceptionId> {
        let mut temporaries = self.temporaries.lock().unwrap_or_else(PoisonError::into_inner);
        let [first, second] = &mut *temporaries;
        let items = count.min(self.chunk);
        let (first, second) = (first.room(&self.layout, items), second.room(&self.layout, items));
        for (start, items) in self.chunks(count) {
            let (bytes, n) = (items * self.size, items as u64);
            let (left, right) = (left.wrapping_add(start), right.wrapping_add(start));
            // SAFETY: a temporary has room for the items of a chunk; the stream has their data.
            unsafe { self.layout.unpack_raw(first, n, 0, left, bytes) };
            // SAFETY: as above.
            unsafe { self.layout.unpack_raw(second, n, 0, right, bytes) };
            self.function.call(first, second, items, &self.datatype)?;
            // SAFETY: as above, the other way.
            unsafe { self.layout.pack_raw(second, n, 0, into.wrapping_add(start), bytes) };
        }
        Ok(())
    }
}
