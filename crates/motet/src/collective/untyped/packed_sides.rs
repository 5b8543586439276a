//! Converts untyped buffers to the form that a plan uses: contiguous elements, and blocks of them.
//!
//! A plan counts in *units*: the basic element of which all data of the call consists, or else
//! bytes. Contiguous data is used in place. Other data gets a stream, which the operation packs
//! when it starts and unpacks when it has completed.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::TypeCode;
use motet_plan::Block;
use motet_plan::order::sort_by_number;

use super::data::{TypedBuffer, VectorBuffer, WBuffer};
use crate::base::error::ErrorKind;
use crate::data::buffer::RawSlice;
use crate::engine::{PackDirection, PackedBlock, PackedBuffers};
use crate::types::datatype::{Datatype, DatatypeError, Layout};
use crate::types::element::code_of;

/// The unit that a plan treats as one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) bytes: usize,
    /// A power of two.
    pub(crate) alignment: usize,
    pub(crate) code: TypeCode,
}

impl Unit {
    pub(crate) const BYTE: Unit = Unit { bytes: 1, alignment: 1, code: TypeCode::BYTES };

    /// Returns the code of the elements of a datatype; that of bytes if the elements differ.
    #[inline]
    pub(crate) fn code_of(datatype: &Datatype) -> TypeCode {
        datatype.element().map_or(TypeCode::BYTES, |basic| code_of(basic.kind, basic.size.into()))
    }

    /// Returns the unit of data that is moved.
    pub(crate) fn of<'a>(datatypes: impl IntoIterator<Item = &'a Datatype>) -> Unit {
        let mut unit = None;
        for datatype in datatypes.into_iter().filter(|datatype| datatype.size() > 0) {
            let Some(basic) = datatype.element() else { return Unit::BYTE };
            let bytes = usize::from(basic.size);
            let this = Unit { bytes, alignment: 1, code: code_of(basic.kind, bytes) };
            if *unit.get_or_insert(this) != this {
                return Unit::BYTE;
            }
        }
        unit.unwrap_or(Unit::BYTE)
    }
}

/// Consecutive items at an address.
pub(crate) struct Items<'a> {
    /// The address that the caller passed for this side.
    base: *mut u8,
    pub(crate) address: *mut u8,
    pub(crate) layout: &'a Layout,
    pub(crate) count: u64,
}

/// One side of a call in the form of a plan: the whole span in units, and the blocks in it.
#[derive(Debug)]
pub(crate) struct SideBuffers {
    pub(crate) span: RawSlice,
    pub(crate) blocks: Vec<Block>,
}

/// Converts the sides of one call.
pub(crate) struct Stage {
    unit: Unit,
    staging: Option<Box<PackedBuffers>>,
}

impl Stage {
    pub(crate) fn new(unit: Unit) -> Stage {
        Stage { unit, staging: None }
    }

    pub(crate) fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns what the operation packs at its start and unpacks at its end.
    pub(crate) fn finish(self) -> Option<Box<PackedBuffers>> {
        self.staging
    }

    /// Converts the items of `copies` blocks, one after the other.
    ///
    /// # Safety
    /// The operation holds the memory of the data.
    pub(crate) unsafe fn data(
        &mut self,
        which: &'static str,
        data: TypedBuffer<'_>,
        copies: usize,
        direction: PackDirection,
    ) -> Result<RawSlice, ErrorKind> {
        if let Some(span) = self.as_it_is(data, copies) {
            return Ok(span);
        }
        let count = data.count.checked_mul(copies).ok_or(DatatypeError::Overflow("size"))?;
        let items = items(which, (data.address, 0), count, data.datatype)?;
        match self.in_a_row(&items) {
            Some(span) => Ok(span),
            // SAFETY: passed on.
            None => Ok(unsafe { self.as_stream(vec![items], direction) }.span),
        }
    }

    /// Fast path for contiguous data, which most calls have. `None` if the general path must
    /// convert or refuse it.
    #[inline]
    pub(crate) fn as_it_is(&self, data: TypedBuffer<'_>, copies: usize) -> Option<RawSlice> {
        let count = data.count.checked_mul(copies)?;
        let (RawSlice { start, len }, item) = bytes_in_a_row(TypedBuffer { count, ..data })?;
        if start.addr() & (self.unit.alignment - 1) != 0 {
            return None;
        }
        let unit = self.unit.bytes;
        Some(RawSlice { start, len: if item == unit { count } else { len / unit } })
    }

    /// # Safety
    /// As [`Stage::data`].
    pub(crate) unsafe fn blocks(
        &mut self,
        which: &'static str,
        blocks: VectorBuffer<'_>,
        direction: PackDirection,
    ) -> Result<SideBuffers, ErrorKind> {
        let VectorBuffer { address, counts, displacements, datatype } = blocks;
        one_each("displacements", displacements.len(), counts.len())?;
        let place = |(&count, &displacement): (&usize, &isize)| {
            let bytes = (displacement as i64).checked_mul(datatype.extent());
            let bytes = bytes.ok_or(DatatypeError::Overflow("displacement"))?;
            items(which, (address, bytes as isize), count, datatype)
        };
        let items = counts.iter().zip(displacements).map(place).collect::<Result<_, _>>()?;
        // SAFETY: passed on.
        Ok(unsafe { self.place(items, direction) })
    }

    /// # Safety
    /// As [`Stage::data`].
    pub(crate) unsafe fn mixed(
        &mut self,
        which: &'static str,
        blocks: WBuffer<'_>,
        direction: PackDirection,
    ) -> Result<SideBuffers, ErrorKind> {
        let WBuffer { address, counts, displacements, datatypes } = blocks;
        one_each("displacements", displacements.len(), counts.len())?;
        one_each("datatypes", datatypes.len(), counts.len())?;
        let mut items = Vec::with_capacity(counts.len());
        for ((&count, &displacement), datatype) in counts.iter().zip(displacements).zip(datatypes) {
            items.push(self::items(which, (address, displacement), count, datatype)?);
        }
        // SAFETY: passed on.
        Ok(unsafe { self.place(items, direction) })
    }

    /// # Safety
    /// The operation holds the memory of the items.
    unsafe fn place(&mut self, items: Vec<Items<'_>>, direction: PackDirection) -> SideBuffers {
        // Blocks that are received one over the other get streams: the last of them stays.
        let lie_well =
            |side: &SideBuffers| direction == PackDirection::In || lie_apart(&side.blocks);
        match self.where_it_lies(&items).filter(lie_well) {
            Some(side) => side,
            // SAFETY: passed on.
            None => unsafe { self.as_stream(items, direction) },
        }
    }

    /// Returns the span of the items, if they are contiguous.
    fn in_a_row(&self, items: &Items<'_>) -> Option<RawSlice> {
        let piece = items.layout.contiguous(items.count)?;
        let (address, len) = (items.address, piece.len as usize / self.unit.bytes);
        if len == 0 {
            return Some(RawSlice { start: address.with_addr(0), len });
        }
        let start = address.addr().wrapping_add_signed(piece.at as isize);
        let is_aligned = start.is_multiple_of(self.unit.alignment);
        // The address comes from that of the user's, so that it may be used as that may.
        is_aligned.then(|| RawSlice { start: address.with_addr(start), len })
    }

    /// Returns the items in place, if each block is a contiguous run of whole units.
    fn where_it_lies(&self, items: &[Items<'_>]) -> Option<SideBuffers> {
        let run = |items: &Items<'_>| {
            let piece = items.layout.contiguous(items.count)?;
            Some((items.address.addr().wrapping_add_signed(piece.at as isize), piece.len as usize))
        };
        let runs: Vec<(usize, usize)> = items.iter().map(run).collect::<Option<_>>()?;
        let full = || runs.iter().filter(|(_, len)| *len > 0);
        let base = full().map(|(address, _)| *address).min().unwrap_or(0);
        let whole =
            |(address, _): &(usize, usize)| (address - base).is_multiple_of(self.unit.bytes);
        if !base.is_multiple_of(self.unit.alignment) || !full().all(whole) {
            return None;
        }
        let block = |&(address, len): &(usize, usize)| match len / self.unit.bytes {
            0 => Block { start: 0, count: 0 },
            count => Block { start: (address - base) / self.unit.bytes, count },
        };
        let blocks: Vec<Block> = runs.iter().map(block).collect();
        let len = blocks.iter().map(|block| block.start + block.count).max().unwrap_or(0);
        // The address comes from that of the user's, so that it may be used as that may.
        let start =
            items.first().map_or(std::ptr::null_mut(), |items| items.address.with_addr(base));
        Some(SideBuffers { span: RawSlice { start, len }, blocks })
    }

    /// Converts the items to a stream.
    ///
    /// # Safety
    /// The operation holds the memory of the items.
    unsafe fn as_stream(&mut self, items: Vec<Items<'_>>, direction: PackDirection) -> SideBuffers {
        let bytes = |items: &Items<'_>| (items.layout.size() * items.count) as usize;
        let staging = self.staging.get_or_insert_with(|| Box::new(PackedBuffers::new()));
        let all: usize = items.iter().map(bytes).sum();
        let stream = staging.room(all / self.unit.bytes, self.unit.bytes);
        let (mut blocks, mut start) = (Vec::with_capacity(items.len()), 0);
        for items in items {
            let count = bytes(&items) / self.unit.bytes;
            blocks.push(Block { start, count });
            let Items { base, address, layout, count: items } = items;
            let stream = stream.wrapping_add(start * self.unit.bytes);
            let layout = layout.clone();
            let staged = PackedBlock { base, address, layout, count: items, direction, stream };
            // SAFETY: the memory by the caller's promise; the stream is the staging's own.
            unsafe { staging.add(staged) };
            start += count;
        }
        SideBuffers { span: RawSlice { start: stream, len: start }, blocks }
    }
}

/// Returns the bytes of contiguous data, and the bytes of an item. `None` if there are none, or if
/// the general path must convert or refuse the data.
#[inline]
pub(crate) fn bytes_in_a_row(data: TypedBuffer<'_>) -> Option<(RawSlice, usize)> {
    let TypedBuffer { address, count, datatype } = data;
    let item = datatype.layout().row()?.get();
    let len = count.checked_mul(item)?;
    let is_there = !address.is_null() && len > 0 && isize::try_from(len).is_ok();
    is_there.then_some((RawSlice { start: address, len }, item))
}

/// Returns the items of a buffer. `None` if the general path must refuse them.
pub(crate) fn items_of(data: TypedBuffer<'_>) -> Option<Items<'_>> {
    items("buffer", (data.address, 0), data.count, data.datatype).ok()
}

/// Returns the items of a user, which begin so many bytes behind an address, if they are valid.
fn items<'a>(
    which: &'static str,
    (base, displacement): (*mut u8, isize),
    count: usize,
    datatype: &'a Datatype,
) -> Result<Items<'a>, ErrorKind> {
    let (layout, count) = (datatype.layout(), count as u64);
    layout.pack_size(count)?;
    let (low, high) = layout.reach(count);
    let address = base.wrapping_offset(displacement);
    if low != high && address.addr() as i128 + low == 0 {
        let problem = format!("is a null pointer, but {count} items lie there");
        return Err(ErrorKind::Buffer { which, problem });
    }
    Ok(Items { base, address, layout, count })
}

/// Returns whether no element is in two blocks.
fn lie_apart(blocks: &[Block]) -> bool {
    let full = || blocks.iter().filter(|block| block.count > 0);
    let follows =
        |end: usize, block: &Block| (block.start >= end).then_some(block.start + block.count);
    if full().try_fold(0, follows).is_some() {
        return true; // Most lists are in order.
    }
    let mut sorted: Vec<Block> = full().copied().collect();
    sort_by_number(&mut sorted, |block| block.start as u64);
    sorted.iter().try_fold(0, follows).is_some()
}

fn one_each(what: &'static str, len: usize, counts: usize) -> Result<(), ErrorKind> {
    if len == counts {
        return Ok(());
    }
    let problem = format!("has {len} entries, but there are {counts} counts");
    Err(ErrorKind::Argument { which: what, problem })
}
