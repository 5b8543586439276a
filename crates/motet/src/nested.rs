//! Operations that end inside what they began in.

pub(crate) mod phases;
pub(crate) mod scope;
