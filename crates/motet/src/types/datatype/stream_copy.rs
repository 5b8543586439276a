//! Copies bytes between memory and the stream of a layout.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ptr;

use motet_fabric::memory::copy_many;

use super::layout::{Row, Sink};
use super::{Datatype, DatatypeError, Layout, external};

impl Layout {
    /// Copies the stream of `count` items from byte `position` on to `out`, until that is full or
    /// the stream ends; returns the bytes copied. Items may overlap.
    ///
    /// For displacements that are absolute addresses (`MPI_BOTTOM`), `base` is
    /// [`std::ptr::with_exposed_provenance`] of 0.
    ///
    /// # Safety
    /// All data of `count` items at `base` can be read, and nobody writes it meanwhile.
    pub unsafe fn pack(&self, base: *const u8, count: u64, position: u64, out: &mut [u8]) -> usize {
        // SAFETY: passed on; a slice can be written.
        unsafe { self.pack_raw(base, count, position, out.as_mut_ptr(), out.len()) }
    }

    /// [`Layout::pack`] to memory that other threads may read, as that of a segment.
    ///
    /// # Safety
    /// As [`Layout::pack`]; and `len` bytes at `out` can be written, and are none of the data.
    pub unsafe fn pack_raw(
        &self,
        base: *const u8,
        count: u64,
        position: u64,
        out: *mut u8,
        len: usize,
    ) -> usize {
        let mut gather = Gather { memory: base, stream: out, room: len as u64 };
        self.walk(count, position, &mut gather);
        len - gather.room as usize
    }

    /// Copies `input` to the places of the stream of `count` items from byte `position` on, until
    /// the input or the stream ends; returns the bytes copied. No other byte is written. Data must
    /// not overlap: it is undefined which of two elements in one place stays.
    ///
    /// # Safety
    /// All data of `count` items at `base` can be written, and nobody else uses it meanwhile.
    pub unsafe fn unpack(&self, base: *mut u8, count: u64, position: u64, input: &[u8]) -> usize {
        // SAFETY: passed on; a slice can be read.
        unsafe { self.unpack_raw(base, count, position, input.as_ptr(), input.len()) }
    }

    /// [`Layout::unpack`] from memory that other threads may read, as that of a segment.
    ///
    /// # Safety
    /// As [`Layout::unpack`]; and `len` bytes at `input` can be read, and are none of the data.
    pub unsafe fn unpack_raw(
        &self,
        base: *mut u8,
        count: u64,
        position: u64,
        input: *const u8,
        len: usize,
    ) -> usize {
        let mut scatter = Scatter { memory: base, stream: input, room: len as u64 };
        self.walk(count, position, &mut scatter);
        len - scatter.room as usize
    }

    /// [`Layout::pack`] from bytes, the first item being at `origin` in them.
    pub fn gather(
        &self,
        memory: &[u8],
        origin: usize,
        count: u64,
        position: u64,
        out: &mut [u8],
    ) -> Result<usize, DatatypeError> {
        self.check_within(memory.len(), origin, count)?;
        let base = memory.as_ptr().wrapping_add(origin);
        // SAFETY: all data lies within the memory, which is borrowed.
        Ok(unsafe { self.pack(base, count, position, out) })
    }

    /// [`Layout::unpack`] to bytes, the first item being at `origin` in them.
    pub fn scatter(
        &self,
        memory: &mut [u8],
        origin: usize,
        count: u64,
        position: u64,
        input: &[u8],
    ) -> Result<usize, DatatypeError> {
        self.check_within(memory.len(), origin, count)?;
        let base = memory.as_mut_ptr().wrapping_add(origin);
        // SAFETY: all data lies within the memory, which is borrowed alone.
        Ok(unsafe { self.unpack(base, count, position, input) })
    }

    /// Checks that all data of `count` items lies within `len` bytes.
    fn check_within(&self, len: usize, origin: usize, count: u64) -> Result<(), DatatypeError> {
        let (low, high) = self.reach(count);
        let (low, high) = (low + origin as i128, high + origin as i128);
        // Without data it does not matter where the item would be.
        if low == high || (low >= 0 && high <= len as i128) {
            return Ok(());
        }
        Err(DatatypeError::Outside { low, high, len })
    }
}

impl Datatype {
    /// Copies `count` items to `out` in the representation `external32`
    /// (`MPI_Pack_external`); returns the bytes written.
    ///
    /// # Safety
    /// As [`Layout::pack`].
    pub unsafe fn pack_external(
        &self,
        base: *const u8,
        count: u64,
        out: &mut [u8],
    ) -> Result<usize, DatatypeError> {
        let needed = self.external_room(count, out.len())?;
        let mut done = 0;
        external::each_element(self, count, &mut |basic, at| {
            let mut native = [0; external::EXTERNAL_MAX_BYTES];
            let native = &mut native[..basic.size.into()];
            let from = base.wrapping_offset(offset(at));
            // SAFETY: an element of the data, which can be read by the caller's promise.
            unsafe { ptr::copy_nonoverlapping(from, native.as_mut_ptr(), native.len()) };
            let end = done + usize::from(basic.external);
            external::encode(basic, native, &mut out[done..end])?;
            done = end;
            Ok(())
        })?;
        debug_assert_eq!(done, needed);
        Ok(done)
    }

    /// Copies `count` items from the representation `external32` to their places
    /// (`MPI_Unpack_external`); returns the bytes read.
    ///
    /// # Safety
    /// As [`Layout::unpack`].
    pub unsafe fn unpack_external(
        &self,
        base: *mut u8,
        count: u64,
        input: &[u8],
    ) -> Result<usize, DatatypeError> {
        let needed = self.external_room(count, input.len())?;
        let mut done = 0;
        external::each_element(self, count, &mut |basic, at| {
            let mut native = [0; external::EXTERNAL_MAX_BYTES];
            let native = &mut native[..basic.size.into()];
            let end = done + usize::from(basic.external);
            external::decode(basic, &input[done..end], native)?;
            done = end;
            let to = base.wrapping_offset(offset(at));
            // SAFETY: an element of the data, which can be written by the caller's promise.
            unsafe { ptr::copy_nonoverlapping(native.as_ptr(), to, native.len()) };
            Ok(())
        })?;
        debug_assert_eq!(done, needed);
        Ok(done)
    }

    /// [`Datatype::pack_external`] from bytes, the first item being at `origin` in them.
    pub fn gather_external(
        &self,
        memory: &[u8],
        origin: usize,
        count: u64,
        out: &mut [u8],
    ) -> Result<usize, DatatypeError> {
        self.commit().check_within(memory.len(), origin, count)?;
        // SAFETY: all data lies within the memory, which is borrowed.
        unsafe { self.pack_external(memory.as_ptr().wrapping_add(origin), count, out) }
    }

    /// [`Datatype::unpack_external`] to bytes, the first item being at `origin` in them.
    pub fn scatter_external(
        &self,
        memory: &mut [u8],
        origin: usize,
        count: u64,
        input: &[u8],
    ) -> Result<usize, DatatypeError> {
        self.commit().check_within(memory.len(), origin, count)?;
        // SAFETY: all data lies within the memory, which is borrowed alone.
        unsafe { self.unpack_external(memory.as_mut_ptr().wrapping_add(origin), count, input) }
    }

    /// Bytes that `count` items take in `external32`, if there are as many.
    fn external_room(&self, count: u64, room: usize) -> Result<usize, DatatypeError> {
        let needed = self.pack_external_size(count)?;
        match usize::try_from(needed) {
            Ok(bytes) if bytes <= room => Ok(bytes),
            _ => Err(DatatypeError::Truncated { needed, room: room as u64 }),
        }
    }
}

/// Copies from memory to the stream.
///
/// The creator promises that all data of the layout through which it is led can be read at
/// `memory`, and `room` bytes be written at `stream`. So every block that the walk hands over can
/// be copied: it is data of the layout, and fits into the room.
struct Gather {
    memory: *const u8,
    stream: *mut u8,
    room: u64,
}

/// Copies from the stream to memory: like [`Gather`], with reading and writing exchanged.
struct Scatter {
    memory: *mut u8,
    stream: *const u8,
    room: u64,
}

/// A displacement. Memory has no places that are further away than this.
fn offset(bytes: i64) -> isize {
    bytes as isize
}

/// Bytes of memory and stream for which one run is copied before the next run's turn: few enough to
/// stay in the first-level cache.
const TILE: u64 = 8 << 10;

/// Cuts rows into tiles: the first row of each, and how many it has.
fn tiles(count: u64, stride: i64, size: u64) -> impl Iterator<Item = (u64, usize)> {
    let height = (TILE / size.max(stride.unsigned_abs())).max(1);
    let tile = move |first: u64| (first, height.min(count - first) as usize);
    (0..count.div_ceil(height)).map(move |i| tile(i * height))
}

impl Sink for Gather {
    fn room(&self) -> u64 {
        self.room
    }

    fn strided(&mut self, at: i64, count: u64, stride: i64, block: u64) {
        let from = (self.memory.wrapping_offset(offset(at)), offset(stride));
        let to = (self.stream, block as isize);
        // SAFETY: see `Gather`.
        unsafe { copy_blocks(from, to, count as usize, block as usize) };
        self.stream = self.stream.wrapping_add((count * block) as usize);
        self.room -= count * block;
    }

    fn scattered(&mut self, at: i64, places: &[i64], block: u64) {
        let memory = self.memory.wrapping_offset(offset(at));
        let (stream, step) = (self.stream, block as usize);
        let pairs = places.iter().enumerate().map(|(i, &place)| {
            (memory.wrapping_offset(offset(place)), stream.wrapping_add(i * step))
        });
        // SAFETY: see `Gather`.
        unsafe { copy_pairs(pairs, step) };
        self.stream = stream.wrapping_add(places.len() * step);
        self.room -= places.len() as u64 * block;
    }

    fn rows(&mut self, at: i64, count: u64, stride: i64, runs: Row<'_>) {
        let size = runs.size();
        for (first, height) in tiles(count, stride, size) {
            let memory = self.memory.wrapping_offset(offset(at + first as i64 * stride));
            let stream = self.stream.wrapping_add((first * size) as usize);
            for (start, run) in runs.each() {
                let from = (memory.wrapping_offset(offset(run.at)), offset(stride));
                let to = (stream.wrapping_add(start as usize), size as isize);
                // SAFETY: see `Gather`.
                unsafe { copy_blocks(from, to, height, run.len as usize) };
            }
        }
        self.stream = self.stream.wrapping_add((count * size) as usize);
        self.room -= count * size;
    }
}

impl Sink for Scatter {
    fn room(&self) -> u64 {
        self.room
    }

    fn strided(&mut self, at: i64, count: u64, stride: i64, block: u64) {
        let from = (self.stream, block as isize);
        let to = (self.memory.wrapping_offset(offset(at)), offset(stride));
        // SAFETY: see `Scatter`.
        unsafe { copy_blocks(from, to, count as usize, block as usize) };
        self.stream = self.stream.wrapping_add((count * block) as usize);
        self.room -= count * block;
    }

    fn scattered(&mut self, at: i64, places: &[i64], block: u64) {
        let memory = self.memory.wrapping_offset(offset(at));
        let (stream, step) = (self.stream, block as usize);
        let pairs = places.iter().enumerate().map(|(i, &place)| {
            (stream.wrapping_add(i * step), memory.wrapping_offset(offset(place)))
        });
        // SAFETY: see `Scatter`.
        unsafe { copy_pairs(pairs, step) };
        self.stream = stream.wrapping_add(places.len() * step);
        self.room -= places.len() as u64 * block;
    }

    fn rows(&mut self, at: i64, count: u64, stride: i64, runs: Row<'_>) {
        let size = runs.size();
        for (first, height) in tiles(count, stride, size) {
            let memory = self.memory.wrapping_offset(offset(at + first as i64 * stride));
            let stream = self.stream.wrapping_add((first * size) as usize);
            for (start, run) in runs.each() {
                let from = (stream.wrapping_add(start as usize), size as isize);
                let to = (memory.wrapping_offset(offset(run.at)), offset(stride));
                // SAFETY: see `Scatter`.
                unsafe { copy_blocks(from, to, height, run.len as usize) };
            }
        }
        self.stream = self.stream.wrapping_add((count * size) as usize);
        self.room -= count * size;
    }
}

/// Copies `count` blocks; each side has an address and a stride.
///
/// # Safety
/// The blocks of `from` can be read and those of `to` be written, and no block of the one overlaps
/// a block of the other.
#[inline]
unsafe fn copy_blocks(from: (*const u8, isize), to: (*mut u8, isize), count: usize, block: usize) {
    if count == 1 {
        // SAFETY: passed on.
        return unsafe { copy_run(from.0, to.0, block) };
    }
    macro_rules! by_size {
        ($($size:literal)*) => {
            match block {
                $($size => {
                    // SAFETY: passed on.
                    unsafe { copy_sized::<$size>(from, to, count) }
                })*
                _ => for i in 0..count as isize {
                    let from = from.0.wrapping_offset(i * from.1);
                    let to = to.0.wrapping_offset(i * to.1);
                    // SAFETY: passed on.
                    unsafe { copy_many(from, to, block) };
                },
            }
        };
    }
    by_size!(1 2 4 8 12 16 24 32 48 64)
}

/// [`copy_blocks`] of a size that the compiler knows.
///
/// # Safety
/// As [`copy_blocks`].
#[inline(always)]
unsafe fn copy_sized<const SIZE: usize>(
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
) {
    for i in 0..count as isize {
        let from = from.0.wrapping_offset(i * from.1);
        let to = to.0.wrapping_offset(i * to.1);
        // SAFETY: passed on.
        unsafe { ptr::copy_nonoverlapping(from, to, SIZE) };
    }
}

/// Copies one run. A short one is copied by its two ends, which may share bytes: a call costs more.
///
/// # Safety
/// As [`copy_blocks`].
#[inline(always)]
unsafe fn copy_run(from: *const u8, to: *mut u8, len: usize) {
    macro_rules! ends {
        ($size:literal) => {{
            // SAFETY: the first bytes of the run.
            unsafe { ptr::copy_nonoverlapping(from, to, $size) };
            let (from, to) = (from.wrapping_add(len - $size), to.wrapping_add(len - $size));
            // SAFETY: the last bytes of the run.
            unsafe { ptr::copy_nonoverlapping(from, to, $size) };
        }};
    }
    match len {
        16..=32 => ends!(16),
        8..=15 => ends!(8),
        4..=7 => ends!(4),
        2..=3 => ends!(2),
        // SAFETY: the run.
        _ => unsafe { copy_many(from, to, len) },
    }
}

/// Copies blocks of one size between pairs of addresses.
///
/// # Safety
/// As [`copy_blocks`].
#[inline(always)]
unsafe fn copy_pairs(pairs: impl Iterator<Item = (*const u8, *mut u8)>, block: usize) {
    macro_rules! by_size {
        ($($size:literal)*) => {
            match block {
                $($size => for (from, to) in pairs {
                    // SAFETY: passed on.
                    unsafe { ptr::copy_nonoverlapping(from, to, $size) };
                })*
                _ => for (from, to) in pairs {
                    // SAFETY: passed on.
                    unsafe { ptr::copy_nonoverlapping(from, to, block) };
                },
            }
        };
    }
    by_size!(1 2 4 8 16 32 64)
}
