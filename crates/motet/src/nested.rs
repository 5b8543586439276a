//! Scoped operations: borrowed buffers (`scope`) and strictly nested two-phase collectives
//! (`phases`).

pub(crate) mod phases;
pub(crate) mod scope;
