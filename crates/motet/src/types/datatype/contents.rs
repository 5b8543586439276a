//! How a datatype was made (MPI 4.1, 5.1.13).

use super::Datatype;

/// The constructor that made a datatype. Its number is that of the standard's binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Combiner {
    /// None: it is predefined.
    Named = 101,
    /// [`Datatype::dup`]
    Dup = 102,
    /// [`Datatype::contiguous`]
    Contiguous = 103,
    /// [`Datatype::vector`]
    Vector = 104,
    /// [`Datatype::hvector`]
    Hvector = 105,
    /// [`Datatype::indexed`]
    Indexed = 106,
    /// [`Datatype::hindexed`]
    Hindexed = 107,
    /// [`Datatype::indexed_block`]
    IndexedBlock = 108,
    /// [`Datatype::hindexed_block`]
    HindexedBlock = 109,
    /// [`Datatype::structured`]
    Struct = 110,
    /// [`Datatype::subarray`]
    Subarray = 111,
    /// [`Datatype::darray`]
    Darray = 112,
    /// [`Datatype::f90_real`]
    F90Real = 113,
    /// [`Datatype::f90_complex`]
    F90Complex = 114,
    /// [`Datatype::f90_integer`]
    F90Integer = 115,
    /// [`Datatype::resized`]
    Resized = 116,
    /// [`Datatype::value_index`]
    ValueIndex = 117,
}

/// The arguments of a constructor, in the order in which `MPI_Type_get_contents` gives them.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Counts, and arguments in items.
    pub integers: Vec<i64>,
    /// Arguments in bytes.
    pub addresses: Vec<i64>,
    /// Datatypes.
    pub datatypes: Vec<Datatype>,
}

/// How many arguments of each sort a constructor had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The constructor.
    pub combiner: Combiner,
    /// Length of [`Contents::integers`].
    pub integers: usize,
    /// Length of [`Contents::addresses`].
    pub addresses: usize,
    /// Length of [`Contents::datatypes`].
    pub datatypes: usize,
}
