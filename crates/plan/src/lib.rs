//! Collective operations as plans: the algorithms, their verification, cost model and selection.
//!
//! A [`Call`] describes a collective call: which collective, how many ranks, which sizes. An
//! [`Algorithm`] turns it into a [`Plan`]: the sends, receives, copies and reductions of one rank,
//! and their dependencies (a DAG). A [`Cursor`] schedules the steps of a plan. Nothing in this
//! crate knows an address, a transport, a thread or a clock, so the same plan serves the engine,
//! the [verifier](verify()) and the [drawings](draw).
//!
//! Read the crate in this order: [`call`] (the arguments), [`plan`] (the steps), [`build`] (how
//! dependencies follow from the data), [`algo`] (the algorithms), [`cursor`] (the scheduler of one
//! plan), [`spec`] and [`verify`](mod@verify) (correctness), [`cost`] and [`select`] (the choice of
//! the algorithm).
//!
//! ```
//! use motet_plan::{Call, NodeMap, Operation, Rank, Tuning};
//!
//! let call = Call {
//!     rank: Rank(2),
//!     ranks: 4,
//!     element_bytes: 8,
//!     in_place: false,
//!     nodes: NodeMap::ONE,
//!     operation: Operation::Allreduce { count: 1, commutative: true },
//! };
//! let (plan, choice) = motet_plan::select::plan(&call, &Tuning::default())?;
//! assert_eq!(choice.algorithm.name(), "linear");
//! assert_eq!(plan.messages(), 3);
//! # Ok::<(), motet_plan::select::SelectError>(())
//! ```

#![forbid(unsafe_code)]

pub mod algo;
pub mod build;
pub mod call;
pub mod cost;
pub mod draw;
mod hazard;
pub mod mapping;
pub mod nodes;
pub mod order;
pub mod pairing;
pub mod plan;
pub mod select;
mod slice;
pub mod spec;
pub mod timeline;
pub mod verify;

pub use algo::{Algorithm, Refusal};
pub use build::{Builder, Data, Phase};
pub use call::{Block, Blocks, Call, CallError, Collective, Groups, Neighbour, NodeMap};
pub use call::{Demands, Edge, EdgeDemand, NodeKnowledge, NodePeer, Operation, Rank};
pub use cost::{AggregateWork, Cost, CostParams, ProtocolLengths, TextError};
pub use plan::cursor::{self, Cursor};
pub use plan::{Action, Plan, StepId};
pub use select::{Choice, SelectError, Tuning};
pub use slice::{Buffer, Slice};
pub use verify::verify;
