//! The C library: `libmpi_abi.so.1`, with the standard binary interface of MPI 5.0.
//!
//! This crate only translates: handles to objects, C arguments to those of [`motet::raw`] and of
//! the safe layer, results to error codes. The crates below implement MPI.
//!
//! ```text
//!  MPI_Bcast, PMPI_Bcast, MPI_Bcast_c, MPI_Ibcast, …          exports.rs (tables/functions.tsv)
//!      |   ends the job at a panic, asks whether the library is initialised,
//!      |   brings what went wrong before the error handler      boundary.rs, boundary/*
//!      v
//!  calls::collectives::bcast(…, Form)                           calls/*: one function per call
//!      |   handles -> objects                                   handle.rs, arena.rs, objects/*
//!      v
//!  motet::raw, motet
//! ```
//!
//! **A call** is a row of `tables/functions.tsv`, which names the module of `calls` that implements
//! it (or what is missing), and a function there. The header, the list of missing functions, and
//! the exported functions are generated from the table.
//!
//! **Handles** are numbers. Those below 4096 are constants of the standard. All others hold the
//! kind of the object, its slot in the arena of that kind, and the generation of the slot. An
//! invalid handle is an error and never a crash.
//!
//! **Threads.** Several threads may call the library at once. Objects are reference-counted and
//! live as long as a call uses them; looking one up takes no lock (README.md of this folder).

#![allow(non_camel_case_types, non_snake_case)] // names of the standard

mod allocations;
mod arena;
mod boundary;
mod call_site;
mod callbacks;
mod calls;
mod constants;
mod count;
mod error;
mod error_codes;
mod exports;
mod forked;
#[cfg(test)]
mod fuzz;
mod handle;
mod job;
mod objects;
mod out_params;
mod process;
mod stage;
mod text;
mod thread_level;
