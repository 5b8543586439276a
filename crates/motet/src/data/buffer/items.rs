//! Buffers in which a datatype describes where the data lies.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;

use super::{RawSlice, RecvBuffer, SendBuffer, StableBuffer};
use crate::Element;
use crate::base::error::Result;
use crate::data::pack::{PackDirection, PackedBlock, PackedBuffers};
use crate::types::datatype::{Basic, Datatype, DatatypeError, Layout};
use crate::types::element::{ElementType, code_of};

/// Items of a datatype in a buffer: a column of a matrix, a face of a grid, every other element.
///
/// It is a buffer of every nonblocking and persistent operation. An operation sees the elements of
/// the items in the order of the datatype, one after the other: its counts and blocks count these
/// elements. If the items are not one run of elements, they are packed when the operation starts,
/// and unpacked when it has ended; memory between them is not touched.
///
/// ```
/// use motet::buffer::Items;
/// use motet::datatype::Datatype;
///
/// motet::threads(2, |world| {
///     // The second column of a matrix of 3 rows and 4 columns.
///     let column = Datatype::vector(3, 1, 4, &Datatype::DOUBLE)?;
///     let matrix = vec![world.rank() as f64; 12];
///     let second = Items::at(matrix, 1, &column, 1)?;
///     let matrix = world.ibcast(second, 0)?.wait()?.into_buffer();
///     assert_eq!((matrix[1], matrix[5], matrix[9]), (0.0, 0.0, 0.0));
///     assert_eq!(matrix[2], world.rank() as f64);
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
pub struct Items<B> {
    buffer: B,
    /// First element of the first item.
    origin: usize,
    count: u64,
    layout: Layout,
}

/// The raw parts of items.
pub struct ItemsParts<B: StableBuffer> {
    buffer: B::Parts,
    origin: usize,
    count: u64,
    layout: Layout,
    /// The contiguous elements, if they are not contiguous in the buffer. Held as raw parts, as a
    /// buffer is.
    stream: Option<Stream>,
}

/// Memory for a stream, aligned for every element.
struct Stream {
    _memory: PackedBuffers,
    address: *mut u8,
}

// SAFETY: the memory that the staging owns may move between threads, and so may its address.
unsafe impl Send for Stream {}

/// The data of items, and the address of their stream.
#[doc(hidden)]
pub struct StreamOf {
    address: *mut u8,
    layout: Layout,
    count: u64,
    stream: *mut u8,
}

impl StreamOf {
    /// These items as a block that an operation packs or unpacks.
    pub(crate) fn staged(self, direction: PackDirection) -> PackedBlock {
        let StreamOf { address, layout, count, stream } = self;
        PackedBlock { base: address, address, layout, count, direction, stream }
    }
}

impl<B: SendBuffer> Items<B> {
    /// `count` items from the start of the buffer on.
    ///
    /// # Errors
    /// As [`Items::at`].
    pub fn new(buffer: B, datatype: &Datatype, count: usize) -> Result<Items<B>> {
        Items::at(buffer, 0, datatype, count)
    }

    /// `count` items, the first of which begins at element `origin` of the buffer.
    ///
    /// # Errors
    /// Items that do not lie in the buffer; items of other elements than the buffer has (but a
    /// buffer of bytes may have items of any datatype).
    pub fn at(buffer: B, origin: usize, datatype: &Datatype, count: usize) -> Result<Items<B>> {
        let layout = datatype.commit();
        check::<B::Element>(datatype, &layout)?;
        let parts = buffer.into_raw();
        let len = B::span(&parts).len;
        // SAFETY: taken apart just above; no operation has begun.
        let buffer = unsafe { B::from_raw(parts) };
        let size = size_of::<B::Element>();
        // Items without an extent take no room in the buffer, but their stream does.
        layout.pack_size(count as u64)?;
        let (low, high) = layout.reach(count as u64);
        let first = (origin as i128) * size as i128;
        let bytes = len * size;
        let is_outside = low + first < 0 || high + first > bytes as i128;
        if low != high && is_outside || origin > len {
            let outside =
                DatatypeError::Outside { low: low + first, high: high + first, len: bytes };
            return Err(outside.into());
        }
        Ok(Items { buffer, origin, count: count as u64, layout })
    }

    /// The buffer of the items.
    pub fn into_buffer(self) -> B {
        self.buffer
    }

    /// The buffer of the items.
    pub fn buffer(&self) -> &B {
        &self.buffer
    }
}

/// Checks that items of this datatype may stand for elements of type `T`.
fn check<T: Element>(datatype: &Datatype, layout: &Layout) -> Result<(), DatatypeError> {
    let ElementType::Basic(code) = T::TYPE else {
        return of_nothing(layout);
    };
    let bytes = code_of(crate::types::datatype::Kind::Unsigned, 1);
    let is_code = |basic: Basic| code_of(basic.kind, basic.size.into()) == code.raw();
    let alike = datatype.element().is_some_and(is_code);
    let whole = layout.size().is_multiple_of(size_of::<T>().max(1) as u64);
    if whole && (alike || code == bytes) {
        return Ok(());
    }
    of_nothing(layout)
}

/// Items without data may stand for elements of any type.
fn of_nothing(layout: &Layout) -> Result<(), DatatypeError> {
    if layout.size() == 0 {
        return Ok(());
    }
    Err(DatatypeError::Unsupported("items and buffer have different elements; pass equal ones"))
}

// SAFETY: the memory of the buffer, and a stream that nobody else can reach.
unsafe impl<B: SendBuffer> StableBuffer for Items<B> {
    type Parts = ItemsParts<B>;

    fn into_raw(self) -> ItemsParts<B> {
        let Items { buffer, origin, count, layout } = self;
        let buffer = buffer.into_raw();
        let start = B::span(&buffer).start.wrapping_add(origin * size_of::<B::Element>());
        let in_a_row = layout.contiguous(count).filter(|piece| {
            let address = start.wrapping_offset(piece.at as isize);
            address.cast::<B::Element>().is_aligned() || piece.len == 0
        });
        let stream = in_a_row.is_none().then(|| {
            let mut memory = PackedBuffers::new();
            let (bytes, size) = ((layout.size() * count) as usize, size_of::<B::Element>());
            let address = memory.room(bytes / size.max(1), size);
            Stream { _memory: memory, address }
        });
        ItemsParts { buffer, origin, count, layout, stream }
    }

    unsafe fn from_raw(parts: ItemsParts<B>) -> Items<B> {
        let ItemsParts { buffer, origin, count, layout, .. } = parts;
        // SAFETY: passed on.
        Items { buffer: unsafe { B::from_raw(buffer) }, origin, count, layout }
    }
}

impl<B: SendBuffer> ItemsParts<B> {
    /// The address of the first item.
    fn first(&self) -> *mut u8 {
        B::span(&self.buffer).start.wrapping_add(self.origin * size_of::<B::Element>())
    }
}

// SAFETY: the stream has as many valid elements as the items: zeros, which are values of every
// basic type, or what was written there since. (What is contiguous lies in the buffer, as
// `Items::at` has checked.)
unsafe impl<B: SendBuffer> SendBuffer for Items<B> {
    type Element = B::Element;

    fn span(parts: &ItemsParts<B>) -> RawSlice {
        let len = (parts.layout.size() * parts.count) as usize / size_of::<B::Element>().max(1);
        let start = match &parts.stream {
            Some(stream) => stream.address,
            None => {
                let piece = parts.layout.contiguous(parts.count).map_or(0, |piece| piece.at);
                parts.first().wrapping_offset(piece as isize)
            }
        };
        RawSlice { start, len }
    }

    fn memory(parts: &ItemsParts<B>) -> RawSlice {
        B::memory(&parts.buffer)
    }

    fn items(parts: &ItemsParts<B>) -> Option<StreamOf> {
        parts.stream.as_ref().map(|stream| StreamOf {
            address: parts.first(),
            layout: parts.layout.clone(),
            count: parts.count,
            stream: stream.address,
        })
    }
}

// SAFETY: the memory of a buffer that may be written.
unsafe impl<B: RecvBuffer> RecvBuffer for Items<B> {}

impl<B: fmt::Debug> fmt::Debug for Items<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Items({} from element {} of {:?})", self.count, self.origin, self.buffer)
    }
}
