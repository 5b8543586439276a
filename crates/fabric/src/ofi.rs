//! Messages between hosts, over libfabric. How it works: `README.md` in this folder.

mod binding;
mod library;
#[allow(dead_code, reason = "what carries messages comes next")]
mod port;
mod provider;

pub use library::{LIBRARY, Library};
pub use provider::{Choice, Offer, PROVIDER, choose};
