//! Errors of datatype constructors and of data conversion.

use super::named::Basic;

/// Why a datatype cannot be made, or data cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatatypeError {
    /// A count, block length or size is below what is allowed.
    #[error("{what} out of range ({value} given, at least {least} allowed)")]
    TooSmall {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: i64,
        /// The least value that is allowed.
        least: i64,
    },
    /// An argument is above what is allowed.
    #[error("{what} out of range ({value} given, at most {most} allowed)")]
    TooLarge {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: i64,
        /// The greatest value that is allowed.
        most: i64,
    },
    /// Arrays that belong together are of different lengths.
    #[error("wrong number of {what} ({len} given, {expected} expected)")]
    Length {
        /// What the array holds.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The length that the other arguments ask for.
        expected: usize,
    },
    /// The process grid does not have as many places as there are processes.
    #[error(
        "wrong size of the process grid ({places} places given, {processes} expected); \
         pass sizes whose product is the number of processes"
    )]
    Grid {
        /// The product of the sizes of the grid.
        places: i64,
        /// The number of processes.
        processes: i64,
    },
    /// A size, a bound or a displacement does not fit into 64 bits.
    #[error("the {0} of the datatype needs more than 64 bits; pass smaller numbers")]
    Overflow(&'static str),
    /// The datatype is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error(
        "the datatype has too many levels ({0} given, at most {most} allowed); \
         build it from fewer levels",
        most = super::MAX_DEPTH
    )]
    TooDeep(u32),
    /// The type does not exist on this platform in the way that the call needs.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The stream is too short for the data.
    #[error("buffer too small ({needed} bytes needed, room for {room}); pass a larger buffer")]
    Truncated {
        /// Bytes that the data takes.
        needed: u64,
        /// Bytes that there are.
        room: u64,
    },
    /// The memory does not contain the whole layout.
    #[error(
        "the data lies outside the buffer (bytes {low} to {high} used, {len} in the buffer); \
         pass a larger buffer, or other counts and displacements"
    )]
    Outside {
        /// First byte of the data.
        low: i128,
        /// One behind the last byte of the data.
        high: i128,
        /// Bytes of the memory.
        len: usize,
    },
    /// A value cannot be represented in the other data representation.
    #[error("cannot convert a value of {0:?}: the other data representation has no such value")]
    Conversion(Basic),
}
