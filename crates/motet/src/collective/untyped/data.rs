//! Data at an address, as a datatype describes it.

use crate::types::datatype::Datatype;

/// Items of one datatype, one after the other: address, count, datatype.
#[derive(Clone, Copy, Debug)]
pub struct TypedBuffer<'a> {
    /// Address of the first item.
    pub address: *mut u8,
    /// Number of items; of those that travel between two ranks, where a collective moves a block
    /// for each rank.
    pub count: usize,
    /// What an item is.
    pub datatype: &'a Datatype,
}

/// A block for each rank (or for each neighbour): the arguments of the `v` forms.
#[derive(Clone, Copy, Debug)]
pub struct VectorBuffer<'a> {
    /// The address that displacements start from.
    pub address: *mut u8,
    /// Items in each block.
    pub counts: &'a [usize],
    /// Where each block begins, in extents of the datatype.
    pub displacements: &'a [isize],
    /// What an item is.
    pub datatype: &'a Datatype,
}

impl<'a> VectorBuffer<'a> {
    /// Counts and displacements.
    pub(crate) fn lists(&self) -> (&'a [usize], &'a [isize]) {
        (self.counts, self.displacements)
    }
}

/// A block for each rank (or for each neighbour), each with a datatype of its own: the arguments
/// of the `w` forms.
#[derive(Clone, Copy, Debug)]
pub struct WBuffer<'a> {
    /// The address that displacements start from.
    pub address: *mut u8,
    /// Items in each block.
    pub counts: &'a [usize],
    /// Where each block begins, in bytes.
    pub displacements: &'a [isize],
    /// What an item of each block is.
    pub datatypes: &'a [Datatype],
}
