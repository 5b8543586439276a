//! The types of messages: elements, and datatypes that describe where their data lies.

pub mod datatype;
pub(crate) mod element;
