//! The C library: `libmpi_abi.so.1`, with the standard binary interface of MPI 5.0.
//!
//! This crate only translates: handles to objects, arguments in C to those of [`motet::raw`] and
//! of the safe layer, results to error codes. What there is of MPI here is in the crates below.
//!
//! ```text
//!  MPI_Bcast, PMPI_Bcast, MPI_Bcast_c, MPI_Ibcast, …          exports.rs (tables/functions.tsv)
//!      |   ends the job at a panic, asks whether the library is initialised,
//!      |   brings what went wrong before the error handler      boundary.rs, error.rs
//!      v
//!  calls::collectives::bcast(…, Form)                           calls/*: one function per call
//!      |   handles -> objects                                   handle.rs, slot.rs, objects/*
//!      v
//!  motet::raw, motet
//! ```
//!
//! **A call** is a row of `tables/functions.tsv`, which names the module of `calls` that has it
//! (or says what is missing), and a function there. The header, the list of what there is not, and
//! the exported functions are made from the table.
//!
//! **Handles** are numbers: those below 4096 are constants of the standard, all others say which
//! kind of object, which place in the arena of that kind, and which of the objects that have been
//! in that place. A handle that is none of these is an error and never a crash.
//!
//! **Threads.** All of it may be called by several threads at once. Objects are shared, and stay as
//! long as somebody uses them; nothing is locked to find one (README.md of this folder).

#![allow(non_camel_case_types, non_snake_case)] // names of the standard

mod allocations;
mod arena;
mod boundary;
mod call_site;
mod calls;
mod count;
mod error;
mod error_codes;
mod exception;
mod exports;
mod forked;
#[cfg(test)]
mod fuzz;
mod handle;
mod objects;
mod out_params;
mod process;
mod slot;
mod text;
mod thread_level;
