//! Untyped buffers: addresses with counts and datatypes.

use crate::types::datatype::Datatype;

/// Consecutive items of one datatype: address, count, datatype.
#[derive(Clone, Copy, Debug)]
pub struct TypedBuffer<'a> {
    /// Address of the first item.
    pub address: *mut u8,
    /// Number of items; where a collective moves a block for each rank, the number of items of one
    /// block.
    pub count: usize,
    /// Datatype of an item.
    pub datatype: &'a Datatype,
}

/// A block for each rank or neighbour: the arguments of the `v` forms.
#[derive(Clone, Copy, Debug)]
pub struct VectorBuffer<'a> {
    /// Address to which displacements are added.
    pub address: *mut u8,
    /// Number of items of each block.
    pub counts: &'a [usize],
    /// Start of each block, in extents of the datatype.
    pub displacements: &'a [isize],
    /// Datatype of an item.
    pub datatype: &'a Datatype,
}

impl<'a> VectorBuffer<'a> {
    /// Returns counts and displacements.
    pub(crate) fn lists(&self) -> (&'a [usize], &'a [isize]) {
        (self.counts, self.displacements)
    }
}

/// A block for each rank or neighbour, each with its own datatype: the arguments of the `w` forms.
#[derive(Clone, Copy, Debug)]
pub struct WBuffer<'a> {
    /// Address to which displacements are added.
    pub address: *mut u8,
    /// Number of items of each block.
    pub counts: &'a [usize],
    /// Start of each block, in bytes.
    pub displacements: &'a [isize],
    /// Datatype of the items of each block.
    pub datatypes: &'a [Datatype],
}
