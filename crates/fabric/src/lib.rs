//! Memory, messages, channels, waiting and launching: the crate that does all contact of Motet with
//! the operating system, and the only one with raw memory.
//!
//! Ranks talk through one [`SharedSegment`]: a zero-filled area that all of them map. Ranks that
//! are threads of one process share a private mapping; ranks that are processes share a memfd that
//! the launcher hands down by inherited descriptor. Everything above the mapping is the same code
//! for both.
//!
//! Reading order: [`layout`] (where things lie), [`segment`] (the mapping), [`spsc`] (one ring
//! between two ranks), [`doorbell`] (sleeping and waking), [`matching`] (which message meets
//! which receive), [`endpoint`] (the protocol of one rank), [`channel`] (fixed landing places
//! for persistent operations), [`launcher`] and [`bootstrap`] (how ranks come to be).
//! `README.md` beside this file holds the protocols in prose, with their proofs.

pub mod affinity;
pub mod biased_lock;
pub mod bootstrap;
pub mod channel;
mod chunked;
pub mod cma;
mod cooperative_copy;
pub mod copy_bandwidth;
pub mod doorbell;
pub mod endpoint;
mod error;
pub mod exit_code;
pub mod file;
pub mod foreign_load;
pub mod forking;
mod free_list;
pub mod host;
mod kvs;
pub mod launcher;
pub mod layout;
mod limits;
pub mod matching;
pub mod membarrier;
mod memcheck;
pub mod memory;
pub mod message;
pub mod net;
mod packet;
#[doc(hidden)]
pub mod poison;
pub mod process_heap;
pub mod read_lease;
pub mod segment;
pub mod setting;
pub mod shared_heap;
pub mod slab;
pub mod spsc;
mod stderr;
pub mod structures;
mod trusted;
#[cfg(test)]
#[path = "../tests/support/watchdog.rs"]
mod watchdog;

pub use channel::{InChannel, OutChannel};
pub use endpoint::{
    Attached, Completion, Endpoint, Fill, InlineRecv, Options, Posted, SizeRange, Thresholds,
    Transit,
};
pub use error::{Allowed, Error, Failure, How, Length, Sender, TransferError, signal_name};
pub use memory::{Region, RegionMut};
pub use message::{Label, Peer, Received, Selector, Token, TrafficHint, TypeCode};
pub use segment::SharedSegment;
pub use stderr::{log_line, printable};
pub use trusted::trusted;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
