//! What travels: elements, and datatypes that say where they lie.

pub mod datatype;
pub(crate) mod element;
