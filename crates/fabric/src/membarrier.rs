//! Asymmetric memory fence (`membarrier(2)`): one thread executes a fence on behalf of all others,
//! so that the frequent side of a protocol needs none. Used by doorbells: `README.md`, "Doorbells".

use rustix::thread::{MembarrierCommand, membarrier};

/// Whose threads a barrier concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceScope {
    /// Those of this process.
    Threads,
    /// Those of all processes that have registered for this.
    Processes,
}

impl FenceScope {
    /// Has the barriers of others concern this process, and lets it make some. Says whether the
    /// system does that; once it has, it does as long as the process runs its program.
    #[must_use]
    pub fn register(self) -> bool {
        let command = match self {
            FenceScope::Threads => MembarrierCommand::RegisterPrivateExpedited,
            FenceScope::Processes => MembarrierCommand::RegisterGlobalExpedited,
        };
        membarrier(command).is_ok()
    }

    /// Returns when each of the threads has passed a fence since the call. Says whether it was
    /// so: the system may be out of memory, or have come to forbid it.
    #[must_use]
    pub(crate) fn fence(self) -> bool {
        let command = match self {
            FenceScope::Threads => MembarrierCommand::PrivateExpedited,
            FenceScope::Processes => MembarrierCommand::GlobalExpedited,
        };
        membarrier(command).is_ok()
    }
}
