//! Motet: message passing between ranks, with nonblocking, persistent and sparse collectives.
//!
//! Ranks are processes (started by `motet run`, or by [`launch`]) or threads ([`threads`]). Each
//! rank has a [`World`], the [`Communicator`] of all ranks.
//!
//! ```
//! use motet::Sum;
//!
//! motet::threads(4, |world| {
//!     let mut sum = [0];
//!     world.allreduce(&[world.rank()], &mut sum, Sum)?;
//!     assert_eq!(sum, [6]);
//!
//!     // The same, nonblocking: the request owns the buffer and gives it back.
//!     let pending = world.iallreduce(vec![world.rank()], Sum)?;
//!     assert_eq!(pending.wait()?, [6]);
//!     Ok::<(), motet::Error>(())
//! })?.into_iter().collect::<Result<Vec<_>, _>>()?;
//! # Ok::<(), motet::Error>(())
//! ```
//!
//! Every collective has three forms, which one engine runs: blocking (`allreduce`), nonblocking
//! (`iallreduce`, which returns a [`Request`]) and persistent (`allreduce_init`, which returns a
//! [`Persistent`] that can be started any number of times). Requests and running persistent
//! operations are futures; [`wait_all`], [`wait_any`] and [`wait_some`] wait for sets of them, of
//! any kinds. A persistent collective may include only some of the ranks
//! ([`Communicator::members`]).
//!
//! The two-phase collectives of 1997 are a fourth form. They need no requests and enforce an order:
//! an operation that begins inside another one ends before it, and other orders do not compile.
//!
//! ```
//! # motet::threads(2, |world| {
//! let mut phases = world.phases()?;
//! let mut sum = phases.allreduce_begin(vec![world.rank()], motet::Sum)?;
//! let root = sum.bcast_begin(vec![7 * world.rank()], 1)?; // inside the sum
//! // ... something useful meanwhile ...
//! assert_eq!(root.end()?, [7]);
//! assert_eq!(sum.end()?, [1]);
//! # Ok::<(), motet::Error>(())
//! # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
//! # Ok::<(), motet::Error>(())
//! ```
//!
//! [`Persistent::begin`] and [`Persistent::finish`] run a persistent operation that stays in a
//! field of a structure. A rank leaves its world when it drops the [`World`] and all objects made
//! from it. A program that ends by [`std::process::exit`] calls [`World::leave`] before. If a
//! program hangs or computes wrong results, check mode ([`Settings::check`], or the environment
//! variable [`env::CHECK`]) names the ranks whose calls do not match.
//!
//! Point-to-point messages have the same three forms (`send`, `isend`, `send_init`), in every send
//! mode of the standard. [`Communicator::generalized`] makes a request for an operation outside the
//! library, which can be waited for together with operations of the library. A program that does
//! not know the types of its operations at compile time, such as a C library, uses
//! [`raw::Request`].
//!
//! A program cannot touch, free or move a buffer in flight: the request owns the buffer, or borrows
//! it for a [`Communicator::scope`], which waits for the operation. These programs do not compile:
//!
//! ```compile_fail,E0382
//! # motet::threads(1, |world| {
//! let data = vec![1, 2, 3];
//! let pending = world.iallreduce(data, motet::Sum)?;
//! println!("{data:?}"); // moved into the request
//! # pending.wait()?; Ok::<(), motet::Error>(())
//! # });
//! ```
//!
//! ```compile_fail,E0597
//! # motet::threads(1, |world| {
//! let pending = {
//!     let mut local = [1, 2, 3];
//!     world.iallreduce(&mut local[..], motet::Sum)? // would outlive its buffer
//! };
//! # pending.wait()?; Ok::<(), motet::Error>(())
//! # });
//! ```
//!
//! ```compile_fail,E0502
//! # motet::threads(1, |world| {
//! let mut data = [1, 2, 3];
//! world.scope(|scope| {
//!     let pending = scope.iallreduce(&mut data[..], motet::Sum)?;
//!     println!("{}", data[0]); // in flight
//!     pending.wait()?;
//!     Ok(())
//! })?;
//! # Ok::<(), motet::Error>(())
//! # });
//! ```
//!
//! ```compile_fail,E0382
//! # motet::threads(1, |world| {
//! let mut sum = world.allreduce_init(vec![1], motet::Sum, &motet::Info::new())?;
//! let running = sum.start()?;
//! sum.input_mut()[0] = 2; // running
//! # running.wait()?; Ok::<(), motet::Error>(())
//! # });
//! ```

// What tests share is written for the crate as others see it.
#[cfg(test)]
extern crate self as motet;

mod base;
mod collective;
mod comm;
mod data;
mod engine;
mod nested;
mod point_to_point;
mod rank;
pub mod raw;
#[cfg(test)]
mod scale;
mod types;
mod world;
#[cfg(test)]
#[path = "../tests/worlds/mod.rs"]
mod worlds;

pub use base::error::{
    Error, ErrorClass, ErrorCode, ErrorCodes, ErrorKind, ExceptionId, Result, TopologyError,
};
pub use base::group::{Comparison, Group, GroupError, RankRange};
pub use base::info::{Info, InfoError, MAX_INFO_KEY, MAX_INFO_VALUE};
pub use base::status::{
    ANY_SOURCE, ANY_TAG, BSEND_OVERHEAD, PROC_NULL, Source, Status, TAG_UB, Tag, TagFilter,
};
#[doc(hidden)]
pub use collective::IsCopiedByDup;
pub use collective::intercommunicator::{Intercommunicator, MergeOrder};
pub use collective::untyped::Root;
pub use collective::{Member, Members, Neighbours, SparseRequest, SplitType, TypedBlock};
pub use comm::attributes::{Attributes, Keyval, WeakKeyval};
pub use comm::communicator::Communicator;
pub use comm::communicator_request::CommunicatorRequest;
pub use comm::error_handler::{ErrorHandler, ErrorSite, UserErrorHandler};
pub use comm::generalized::Completer;
pub use comm::memory::Memory;
pub use comm::persistent::{Persistent, Running, Start, start_all};
pub use comm::request::Request;
#[doc(hidden)]
pub use comm::sets::InFlight;
pub use comm::sets::{Pending, test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use comm::topology::{
    Adjacent, Cartesian, CartesianCommunicator, Edge, Graph, GraphCommunicator, IndexedGraph,
    IndexedGraphCommunicator, Load, Mapping, MappingReason, Neighbour, Neighbourhood, Reach,
    Reorder, Topological, Topology, dims_create,
};
pub use data::buffer;
pub use data::op;
pub use data::op::{
    Band, Bor, Bxor, Land, Located, Lor, Lxor, Max, Maxloc, Min, Minloc, NoOp, Op, Operator, Prod,
    Replace, Sum,
};
pub use data::reduce_local::reduce_local;
pub use engine::{BufferRoom, CacheCounters};
pub use motet_fabric::process_heap::SharedAllocator;
pub use motet_fabric::{Failure, How};
#[doc(hidden)]
pub use motet_fabric::{log_line, printable};
pub use motet_plan::Block;
pub use motet_plan::mapping::{Cut, Objective};
pub use nested::phases::{Phase, Phases};
pub use nested::scope::{MessageScope, Scope};
pub use point_to_point::Message;
pub use rank::Waiting;
#[doc(hidden)]
pub use rank::machine;
pub use rank::settings::Settings;
pub use types::datatype;
pub use types::datatype::Datatype;
pub use types::element::{AnyBytes, Element};
#[doc(hidden)]
pub use types::element::{ElementType, Field, Structure, clear_between};
pub use world::{World, init, launch, threads, threads_with};

/// The keys of hints in an [`Info`].
pub mod hint {
    pub use crate::base::info::{BLOCKING, DETERMINISTIC, ENFORCE, NONBLOCKING, PREVIOUS, REUSE};
    pub use crate::comm::topology::{BANDWIDTH, LATENCY, MAXCUT, TOTALCUT};
}

/// The environment variables: their names, and the functions that check them.
pub mod env {
    pub use crate::rank::environment::{
        ERROR_CODES, INITIAL_ERRHANDLER, InitialErrhandler, check, initial_errhandler,
        returns_classes, shared_heap,
    };
    pub use crate::rank::settings::{
        ALGORITHM, CHANNELS, CHECK, HANG_SECONDS, MACHINE, MAX_PENDING, PROGRESS, RANKS_PER_NODE,
        RANKS_PER_SEGMENT, SAVE_WISDOM, SHARED_HEAP, SINGLE_COPY, WAIT, WISDOM,
    };
}

/// Constants under their old names, in the crate root.
macro_rules! old_names {
    ($module:ident: $($name:ident),*) => {$(
        #[doc = concat!("The same as in [`mod@", stringify!($module), "`].")]
        #[deprecated(since = "0.1.0", note = "moved to `motet::hint` or `motet::env`")]
        pub const $name: &str = $module::$name;
    )*};
}

old_names!(hint: BLOCKING, DETERMINISTIC, ENFORCE, NONBLOCKING, PREVIOUS, REUSE);
old_names!(hint: BANDWIDTH, LATENCY, MAXCUT, TOTALCUT);
old_names!(env: ALGORITHM, CHANNELS, CHECK, HANG_SECONDS, MACHINE, MAX_PENDING, PROGRESS);
old_names!(env: RANKS_PER_NODE, RANKS_PER_SEGMENT, SAVE_WISDOM, SINGLE_COPY, WAIT, WISDOM);

/// Compiles and runs the program of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../tests/does_not_compile.md")]
mod does_not_compile {}

/// [`TypedBlock`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `TypedBlock`")]
pub type Part = TypedBlock;

#[cfg(test)]
mod old_names {
    /// All constants that the crate root had before they had modules.
    #[test]
    #[allow(deprecated)] // they are what is tested
    fn old_names_of_constants_mean_the_same() {
        macro_rules! same {
            ($module:ident: $($name:ident),*) => {$(
                assert_eq!(crate::$name, crate::$module::$name);
            )*};
        }
        same!(hint: BLOCKING, DETERMINISTIC, ENFORCE, NONBLOCKING, PREVIOUS, REUSE);
        same!(hint: BANDWIDTH, LATENCY, MAXCUT, TOTALCUT);
        same!(env: ALGORITHM, CHANNELS, CHECK, HANG_SECONDS, MACHINE, MAX_PENDING, PROGRESS);
        same!(env: RANKS_PER_NODE, RANKS_PER_SEGMENT, SAVE_WISDOM, SINGLE_COPY, WAIT, WISDOM);
    }
}
