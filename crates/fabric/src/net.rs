//! Network transport: messages between hosts, over libfabric. Protocols: `README.md` in this
//! folder.

mod burst;
mod control_channel;
mod dlopen;
mod failure_detector;
mod ffi;
mod fi_endpoint;
mod flush_signal;
mod link;
mod network;
mod provider;
mod remote_bounce;
#[cfg(test)]
mod scale;
mod transfer;
mod wire_ids;
mod world_tag;
mod zero_copy;

pub use dlopen::{LIBRARY, Library};
pub use failure_detector::{PEER_TIMEOUT, peer_timeout};
pub use flush_signal::FlushSignal;
pub use network::{Network, NetworkScope, REMOTE_WRITES, remote_writes};
pub use provider::{Choice, Offer, PROVIDER, choose, named_provider};
pub(crate) use remote_bounce::REMOTE_BOUNCE_BYTES;
pub(crate) use zero_copy::{How, TransferEvent, TransferIds};
