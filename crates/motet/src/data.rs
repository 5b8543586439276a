//! The data of operations: buffers, operators, and the loops that apply operators.

pub mod buffer;
pub(crate) mod kernel;
pub mod op;
pub(crate) mod pack;
pub(crate) mod reduce_local;
pub(crate) mod scratch;
