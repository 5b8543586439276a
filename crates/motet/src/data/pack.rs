//! Packs data with gaps into a contiguous stream, and unpacks it.
//!
//! A plan works on contiguous elements. If a datatype has gaps, or its items lie in another order,
//! the plan works on the *stream* of the data (its bytes in the order of the typemap) in memory of
//! the operation itself: the engine packs the stream from the user's memory when the operation
//! starts, and unpacks it into the user's memory when the operation has succeeded. So user memory
//! is read between start and completion, as the standard requires, and no byte outside the layout
//! is ever written.
//!
//! Contiguous elements whose type has padding are copied, too, if they are sent: the padding holds
//! leftovers of other values, which must not reach other ranks. In memory that the operation may
//! write, the padding is zeroed in place.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::memory::copy_many;

use crate::Element;
use crate::data::buffer::RawSlice;
use crate::data::scratch::Scratch;
use crate::types::datatype::Layout;

/// The direction of a block's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackDirection {
    /// Packed from user memory when the operation starts.
    In,
    /// Unpacked into user memory when it has ended.
    Out,
    /// Both: data that the operation changes in part, or on some ranks only.
    Both,
}

/// Items of a datatype in user memory, and their place in the stream.
#[derive(Debug)]
pub(crate) struct PackedBlock {
    /// The address that the caller passed for all blocks of this side of the call.
    pub(crate) base: *mut u8,
    /// The address of the first item.
    pub(crate) address: *mut u8,
    pub(crate) layout: Layout,
    pub(crate) count: u64,
    pub(crate) direction: PackDirection,
    /// The address of the stream of the items.
    pub(crate) stream: *mut u8,
}

impl PackedBlock {
    fn bytes(&self) -> usize {
        (self.layout.size() * self.count) as usize
    }
}

/// Elements with padding that are sent.
struct Padded {
    from: *const u8,
    /// The address from which they are sent: the same, or another.
    place: *mut u8,
    count: usize,
    element_bytes: usize,
    clear: unsafe fn(*mut u8),
}

/// The streams of one operation.
pub(crate) struct PackedBuffers {
    memory: Vec<Scratch>,
    blocks: Vec<PackedBlock>,
    padded: Vec<Padded>,
}

// SAFETY: addresses of user memory that the operation holds, and memory of its own.
unsafe impl Send for PackedBuffers {}

impl Padded {
    /// Copies the elements to the address from which they are sent, if that is another, and zeroes
    /// their padding there.
    ///
    /// # Safety
    /// The elements are there, and so is their place.
    unsafe fn pack(&self) {
        let Padded { from, place, count, element_bytes, clear } = *self;
        if !std::ptr::eq(from, place) {
            // SAFETY: as many elements here and there, in different memory.
            unsafe { copy_many(from, place, count * element_bytes) };
        }
        for at in 0..count {
            // SAFETY: one of the elements.
            unsafe { clear(place.wrapping_add(at * element_bytes)) };
        }
    }
}

impl PackedBuffers {
    /// Creates it without memory and blocks.
    pub(crate) fn new() -> PackedBuffers {
        PackedBuffers { memory: Vec::new(), blocks: Vec::new(), padded: Vec::new() }
    }

    /// Allocates memory for a stream of so many elements, aligned for them.
    pub(crate) fn room(&mut self, elements: usize, element_bytes: usize) -> *mut u8 {
        let mut memory = Scratch::new(elements, element_bytes);
        memory.want();
        let address = memory.address();
        self.memory.push(memory);
        address
    }

    /// Adds a block.
    ///
    /// # Safety
    /// The operation that the staging is given to holds the memory of the block and its stream
    /// (which may be memory of the staging): from its start to its end that stays valid, and nobody
    /// writes it, or uses it at all if the data goes out.
    pub(crate) unsafe fn add(&mut self, block: PackedBlock) {
        self.blocks.push(block);
    }

    /// Adds elements with padding that are only read. Returns the copy that is sent.
    ///
    /// # Safety
    /// As [`PackedBuffers::add`].
    pub(crate) unsafe fn cover<T: Element>(&mut self, data: RawSlice) -> RawSlice {
        let place = self.room(data.len, size_of::<T>());
        self.add_padded::<T>(data, place);
        RawSlice { start: place, ..data }
    }

    /// Adds elements with padding that are sent from where they are, or are overwritten.
    ///
    /// # Safety
    /// As [`PackedBuffers::add`], and the elements may be written.
    pub(crate) unsafe fn cover_in_place<T: Element>(&mut self, data: RawSlice) {
        self.add_padded::<T>(data, data.start);
    }

    fn add_padded<T: Element>(&mut self, data: RawSlice, place: *mut u8) {
        let (count, element_bytes) = (data.len, size_of::<T>());
        let from = data.start.cast_const();
        self.padded.push(Padded { from, place, count, element_bytes, clear: T::clear_padding });
    }

    /// The blocks, in the order in which they were added.
    pub(crate) fn blocks(&self) -> &[PackedBlock] {
        &self.blocks
    }

    /// Whether a stream begins at this address.
    pub(crate) fn has_stream_at(&self, address: *mut u8) -> bool {
        self.memory.iter().any(|memory| std::ptr::eq(memory.address(), address))
    }

    /// Bytes of all streams, layouts and lists together.
    pub(crate) fn held_bytes(&self) -> usize {
        let streams: usize = self.memory.iter().map(|memory| memory.bytes).sum();
        let layouts: usize = self.blocks.iter().map(|block| block.layout.heap_bytes()).sum();
        streams + layouts + size_of_val(&*self.blocks) + size_of_val(&*self.padded)
    }

    /// Gives the blocks new addresses of first items, in the order of [`PackedBuffers::blocks`].
    ///
    /// # Safety
    /// As [`PackedBuffers::add`], of each block at its new address.
    pub(crate) unsafe fn relocate(&mut self, addresses: impl Iterator<Item = *mut u8>) {
        for (block, address) in self.blocks.iter_mut().zip(addresses) {
            block.address = address;
        }
    }

    /// Boxes it for an operation; `None` if there is nothing to move.
    pub(crate) fn boxed(self) -> Option<Box<PackedBuffers>> {
        let is_needed = !self.blocks.is_empty() || !self.padded.is_empty();
        is_needed.then(|| Box::new(self))
    }

    /// Packs the user's data. Only while the operation is active.
    pub(crate) fn collect(&mut self) {
        for padded in &self.padded {
            // SAFETY: elements by the promise of `cover`, and their place, which is ours or theirs.
            unsafe { padded.pack() };
        }
        for block in self.blocks.iter().filter(|block| block.direction != PackDirection::Out) {
            let PackedBlock { address, count, stream, .. } = *block;
            // SAFETY: the block and its stream by the promise of `add`.
            unsafe { block.layout.pack_raw(address, count, 0, stream, block.bytes()) };
        }
    }

    /// Unpacks at most `most` bytes of each stream into user memory. Only while the operation is
    /// active.
    pub(crate) fn unpack(&mut self, most: usize) {
        for block in self.blocks.iter().filter(|block| block.direction != PackDirection::In) {
            let PackedBlock { address, count, stream, .. } = *block;
            // SAFETY: as in `collect`.
            unsafe { block.layout.unpack_raw(address, count, 0, stream, block.bytes().min(most)) };
        }
    }
}
