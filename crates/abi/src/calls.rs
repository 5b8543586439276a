//! The calls: one function for each row of the table, in the module that the row names.
//!
//! Each function gets the arguments that the program passed. Its safety rests on the standard's
//! rules for the call: addresses point to enough memory of the right type, which no other thread
//! changes. The functions do not repeat this. Handles may have any value.

#![allow(clippy::too_many_arguments)] // the standard has so many

mod arguments;
mod collective_call;
mod signature;

pub(crate) use collective_call::Form;

pub(crate) mod abi;
pub(crate) mod attributes;
pub(crate) mod buffered;
pub(crate) mod collectives;
pub(crate) mod communicators;
pub(crate) mod cvars;
pub(crate) mod environment;
pub(crate) mod errhandlers;
pub(crate) mod errors;
pub(crate) mod extensions;
pub(crate) mod fortran_handles;
pub(crate) mod generalized;
pub(crate) mod graphs;
pub(crate) mod groups;
pub(crate) mod info;
pub(crate) mod intercommunicators;
pub(crate) mod messages;
pub(crate) mod mpi_t;
pub(crate) mod neighbours;
pub(crate) mod ops;
pub(crate) mod packing;
pub(crate) mod partitioned;
pub(crate) mod phases;
pub(crate) mod predefined;
pub(crate) mod probes;
pub(crate) mod requests;
pub(crate) mod sessions;
pub(crate) mod sparse;
pub(crate) mod statuses;
pub(crate) mod topologies;
pub(crate) mod type_construction;
pub(crate) mod type_query;
