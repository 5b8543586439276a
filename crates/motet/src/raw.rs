//! The untyped layer: what a C library calls.
//!
//! A [`Collective`] is a collective with its arguments as addresses, counts and datatypes; it is
//! called in one of its three forms, or in two phases ([`Collective::begin`] and [`end`](end())),
//! on a communicator, among the neighbours of a topology, or between the two groups of an
//! intercommunicator.
//!
//! A message is [`Outgoing`], [`Incoming`], or both at once ([`SendRecv`], [`SendRecvReplace`]), in
//! the same three forms; one that a matched probe has found is received by
//! [`Message::mrecv_data`](crate::Message::mrecv_data). Probes are those of the safe layer.
//!
//! A message in parts ([`Outgoing::init_in_parts`], [`Incoming::init_in_parts`]) is a persistent
//! one that goes when all of its [`Partitions`] are ready.
//!
//! A [`Request`] is any operation at all, or none: a nonblocking one, a persistent one that is
//! inactive or active, a generalized one, or the null request. The requests of the safe layer are
//! turned into it by `From`; what they return by types is told here by a [`Status`] and by what
//! [`Request::is_null`] and [`Request::is_active`] say afterwards.
//!
//! The functions on sets take a slice of requests of any mixture. Null and inactive ones are passed
//! over. All requests of one set belong to one rank: a set of several is a mistake of the program
//! that ends it (ranks that are processes cannot even make it). Each call looks at each request at
//! most once, and again only when operations have ended meanwhile.
//!
//! Errors of a call on a communicator or of its operation go to the error handler of that
//! communicator. Null requests belong to none, so what a call says of them (that they cannot be
//! started, cancelled or freed) is only returned: a C library takes that to the handler of its
//! own choice, which by the standard is that of `MPI_COMM_SELF`.

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
pub use message::{Incoming, Outgoing, SendMode};
pub use partitioned::Partitions;
#[allow(deprecated)] // exports old names on purpose
pub use renamed::{Blocks, Data, Mixed, On, Parts, Repeat, Replace, Swap};
pub use replay::CallKey;
pub(crate) use request::State;
pub use request::{Past, Request};
pub use sendrecv::{SendRecv, SendRecvReplace};
pub use sets::{
    get_status_all, get_status_any, get_status_some, start_all, test_all, test_any, test_some,
    wait_all, wait_any, wait_some,
};
pub use status::Status;

pub use crate::base::collective_kind::CollectiveKind;
pub use crate::collective::untyped::{
    Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer, check_operator,
    is_strict,
};
pub use crate::engine::check::Caller;
pub use crate::world::{end_calls, init_for};
/// Whether this thread runs an operator of the user, which must not call the library.
pub use motet_fabric::biased_lock::is_excluded as is_in_operator;
pub use motet_fabric::bootstrap::{
    abort as tell_launcher_to_abort, begins_abort as begins_abort_without_world,
};
#[doc(hidden)]
pub use motet_fabric::poison;
pub use motet_fabric::shared_heap::SharedHeapBlock as CommonMemory;

use crate::Communicator;

/// Whether this process is the first one to end the job of this communicator: then it is to say
/// why, to [tell the launcher](tell_launcher_to_abort), and to exit with this code, which is that
/// of the job. Else another process has done so, and this one waits to be ended; it goes on only
/// if nobody does it, and is to exit without a word. Other ranks hear nothing of it.
pub fn begins_abort(comm: &Communicator, code: u8) -> bool {
    comm.core().begins_abort(code)
}

/// Whether a rank of this world has died, and `motet run` ends the job for it and says so. A
/// process that ends because of it is to exit without a word.
pub fn launcher_tells_of_death(comm: &Communicator) -> bool {
    comm.core().launcher_tells_of_death()
}
