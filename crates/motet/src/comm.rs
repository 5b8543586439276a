//! Communicators, and the requests and persistent operations that run on them.

pub(crate) mod attributes;
pub(crate) mod checked_comm;
pub(crate) mod communicator;
pub(crate) mod communicator_request;
pub(crate) mod error_handler;
pub(crate) mod explain;
pub(crate) mod generalized;
pub(crate) mod learned;
pub(crate) mod memory;
pub(crate) mod nesting;
pub(crate) mod nodes;
pub(crate) mod op_handle;
pub(crate) mod partitioned_sequence;
pub(crate) mod persistent;
pub(crate) mod request;
pub(crate) mod sets;
pub(crate) mod topology;
