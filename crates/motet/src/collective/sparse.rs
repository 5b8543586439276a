//! The collectives in which each rank names whom it sends to and whom it receives from, in all
//! forms. (Exchange, Neighbor_reduce and Neighbor_bcast of the 2008 proposal)
//!
//! All ranks of the communicator call, and each has messages with its own neighbours only: a list
//! of ranks, or a group, in an order of its own for sending and for receiving. Both ends must see
//! an edge: rank `a` names `b` as a destination as often as `b` names `a` as a source. Nothing is
//! told to anybody about that, so who breaks it waits for ever; in check mode it is an error that
//! names both ranks.
//!
//! | call | what a rank sends | what it gets |
//! |---|---|---|
//! | `exchange(v, w)` | a block to each destination | a block from each source |
//! | `neighbor_bcast(v)` | one block to all destinations | a block from each source |
//! | `neighbor_reduce(v)` | a block to each destination | the reduction of one from each source |
//! | `neighbor_allreduce` | one block to all destinations | the same reduction |
//!
//! The [`neighbours`] say who they are, the [`shape`] what moves, and the [`table`] has a row for
//! each call, of which the [`forms`] are made. Those of `exchangew`,
//! whose blocks have datatypes of their own, are with their [`parts`].

mod forms;
mod neighbours;
mod parts;
mod shape;
mod table;

pub(crate) use forms::pending_sparse;
pub use neighbours::Neighbours;
pub(crate) use neighbours::members;
pub(crate) use table::sparse_collectives;
