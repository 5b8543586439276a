//! The examples `stencil` and `graph` as a user meets them: same answer on any number of ranks, as
//! processes and as threads, one line for any mistake, and never a hang.

#[path = "examples/graph.rs"]
mod graph;
mod programs;
#[path = "examples/stencil.rs"]
mod stencil;

/// Numbers of ranks that are tried.
const RANKS: [usize; 6] = [1, 2, 3, 4, 5, 8];

/// What ranks can be.
const KINDS: [&str; 2] = ["--ranks", "--threads"];
