//! Messages between hosts, over libfabric. How it works: `README.md` in this folder.

mod berth;
mod binding;
mod conduit;
mod held_back;
mod library;
mod names;
mod port;
mod post;
mod provider;
mod pulse;
#[cfg(test)]
mod scale;
mod transfer;
mod volley;
mod wire;
mod zero_copy;

pub(crate) use berth::REMOTE_BOUNCE_BYTES;
pub use held_back::FlushSignal;
pub use library::{LIBRARY, Library};
pub use provider::{Choice, Offer, PROVIDER, choose};
pub use pulse::{PEER_TIMEOUT, peer_timeout};
pub use wire::{Network, NetworkScope, REMOTE_WRITES, remote_writes};
pub(crate) use zero_copy::{How, News, TransferIds};
