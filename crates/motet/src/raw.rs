//! The untyped layer: the operations that a C library calls.
//!
//! A [`Collective`] describes a collective by addresses, counts and datatypes. It can be called in
//! its three forms, or in two phases ([`Collective::begin`] and [`end`](end())): on a communicator,
//! among the neighbours of a topology, or between the two groups of an intercommunicator.
//!
//! A message is [`Outgoing`], [`Incoming`], or both at once ([`SendRecv`], [`SendRecvReplace`]), in
//! the same three forms. [`Message::mrecv_data`](crate::Message::mrecv_data) receives a message
//! that a matched probe has found. Probes are those of the safe layer.
//!
//! A partitioned message ([`Outgoing::init_in_parts`], [`Incoming::init_in_parts`]) is a persistent
//! one that is sent when all of its [`Partitions`] are ready.
//!
//! A [`Request`] is any operation, or none: a nonblocking operation, an inactive or active
//! persistent operation, a generalized one, or the null request. `From` converts requests of the
//! safe layer. Where the safe layer returns a typed result, this layer returns a [`Status`], and
//! [`Request::is_null`] and [`Request::is_active`] give the state of the request afterwards.
//!
//! The functions on sets take a slice of requests of any kinds, and skip null and inactive
//! requests. All requests of one set must belong to one rank: a set of several ranks is an error of
//! the program that ends it (only ranks that are threads can make such a set). Each call looks at
//! each request at most once, and again only if operations have completed meanwhile.
//!
//! Errors of a call on a communicator, or of its operation, go to the error handler of that
//! communicator. Null requests belong to no communicator, so errors about them (they cannot be
//! started, cancelled or freed) are only returned: a C library passes them to the handler of its
//! choice, which by the standard is that of `MPI_COMM_SELF`.

mod end;
mod forms;
mod generalized;
mod inline;
mod message;
mod misuse;
mod partitioned;
mod renamed;
mod replay;
mod request;
mod sendrecv;
mod sets;
mod signature;
mod state;
mod status;
mod typed;

pub use end::end;
pub use generalized::{Callbacks, Stage, grequest_start};
pub use inline::PostedReceive;
pub use message::{Incoming, Outgoing, SendMode};
pub use partitioned::Partitions;
#[allow(deprecated)] // exports old names on purpose
pub use renamed::{Blocks, Data, Mixed, On, Parts, Repeat, Replace, Swap};
pub use replay::CallKey;
pub(crate) use request::State;
pub use request::{Past, Request};
pub use sendrecv::{SendRecv, SendRecvReplace};
pub use sets::{
    RequestList, get_status_all, get_status_any, get_status_some, start_all, test_all, test_any,
    test_some, wait_all, wait_any, wait_some,
};
pub use status::Status;

pub use crate::base::collective_kind::CollectiveKind;
pub use crate::collective::untyped::{
    Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer, check_operator,
    is_strict,
};
pub use crate::engine::check::Caller;
pub use crate::world::{end_calls, init_for};
/// Returns whether this thread runs an operator of the user, which must not call the library.
pub use motet_fabric::biased_lock::is_excluded as is_in_operator;
pub use motet_fabric::bootstrap::{
    abort as tell_launcher_to_abort, begins_abort as begins_abort_without_world,
};
#[doc(hidden)]
pub use motet_fabric::poison;
pub use motet_fabric::shared_heap::SharedHeapBlock as CommonMemory;

use crate::Communicator;

/// Returns whether this process is the first one to end the job of this communicator. If so, it
/// reports the reason, [informs the launcher](tell_launcher_to_abort), and exits with `code`, which
/// is the exit code of the job. Otherwise another process has started to end the job, and this call
/// waits until the launcher ends the calling process; it returns only if that does not happen, and
/// the process then exits without a message. Other ranks are not informed.
pub fn begins_abort(comm: &Communicator, code: u8) -> bool {
    comm.core().begins_abort(code)
}

/// Returns whether a rank of this world has died, and `motet run` ends the job and reports the
/// death. A process that ends for this reason exits without a message.
pub fn launcher_tells_of_death(comm: &Communicator) -> bool {
    comm.core().launcher_tells_of_death()
}
