//! Errors of datatype constructors and of data conversion.

use super::named::Basic;

/// Why a datatype cannot be made, or data cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatatypeError {
    /// A count, block length or size is below what is allowed.
    #[error("the {what} is {value}, but must be at least {least}")]
    TooSmall {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: i64,
        /// The least value that is allowed.
        least: i64,
    },
    /// An argument is above what is allowed.
    #[error("the {what} is {value}, but must be at most {most}")]
    TooLarge {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: i64,
        /// The greatest value that is allowed.
        most: i64,
    },
    /// Arrays that belong together are of different lengths.
    #[error("there are {len} {what}, but {expected} are needed")]
    Length {
        /// What the array holds.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The length that the other arguments ask for.
        expected: usize,
    },
    /// The process grid does not have as many places as there are processes.
    #[error("a grid of {places} places for {processes} processes")]
    Grid {
        /// The product of the sizes of the grid.
        places: i64,
        /// The number of processes.
        processes: i64,
    },
    /// A size, a bound or a displacement does not fit into 64 bits.
    #[error("the {0} of the datatype does not fit into 64 bits")]
    Overflow(&'static str),
    /// The datatype is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("the datatype is nested {0} deep, more than {most}", most = super::MAX_DEPTH)]
    TooDeep(u32),
    /// The type does not exist on this platform in the way that the call needs.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The stream is too short for the data.
    #[error("{needed} bytes are needed, but the buffer has {room}")]
    Truncated {
        /// Bytes that the data takes.
        needed: u64,
        /// Bytes that there are.
        room: u64,
    },
    /// The memory does not contain the whole layout.
    #[error("the data reaches from byte {low} to {high}, outside of a memory of {len} bytes")]
    Outside {
        /// First byte of the data.
        low: i128,
        /// One behind the last byte of the data.
        high: i128,
        /// Bytes of the memory.
        len: usize,
    },
    /// A value cannot be represented in the other data representation.
    #[error("a value of {0:?} cannot be represented in the other data representation")]
    Conversion(Basic),
}
