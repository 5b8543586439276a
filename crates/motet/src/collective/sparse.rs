//! Sparse collectives in all forms: each rank names the ranks that it sends to and receives from.
//! (Exchange, Neighbor_reduce and Neighbor_bcast of the 2008 proposal)
//!
//! All ranks of the communicator call, and each one exchanges messages with its own neighbours
//! only: a list of ranks, or a group, in separate orders for sending and for receiving. Both ends
//! must name an edge: rank `a` names `b` as a destination as often as `b` names `a` as a source.
//! The ranks do not compare their lists, so a program that violates this waits forever; check mode
//! returns an error that names both ranks.
//!
//! | call | what a rank sends | what it gets |
//! |---|---|---|
//! | `exchange(v, w)` | a block to each destination | a block from each source |
//! | `neighbor_bcast(v)` | one block to all destinations | a block from each source |
//! | `neighbor_reduce(v)` | a block to each destination | the reduction of one from each source |
//! | `neighbor_allreduce` | one block to all destinations | the same reduction |
//!
//! [`neighbours`] defines the lists, [`shape`] the data that moves, and [`table`] has a row for
//! each call, from which [`forms`] makes the methods. The methods of `exchangew`, whose blocks have
//! their own datatypes, are in [`parts`].

mod forms;
mod neighbours;
mod parts;
mod shape;
mod table;

pub(crate) use forms::pending_sparse;
pub use neighbours::Neighbours;
pub(crate) use neighbours::members;
pub(crate) use table::sparse_collectives;
