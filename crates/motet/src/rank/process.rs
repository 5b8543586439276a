//! Whether a rank is a process, and the copy of it that a child has which was made by `fork`.

use std::mem;

use motet_fabric::forking;

use super::RankContext;

impl RankContext {
    /// Whether this process is the rank, and no other one.
    pub(crate) fn is_process(&self) -> bool {
        self.is_process
    }

    /// Whether `motet run`, or this program as its own launcher, has started this process.
    pub(crate) fn is_under_own_launcher(&self) -> bool {
        self.launched.is_none() && self.segment().is_shared()
    }

    /// Whether this is the copy of a rank that a child process has, made by `fork`.
    pub(crate) fn is_of_parent(&self) -> bool {
        self.generation != forking::generation()
    }

    /// Leaves alone what belongs to the parent: its threads are not here, its seat is its own, and
    /// what other ranks see is what the parent does.
    pub(super) fn forget_all(&mut self) {
        mem::forget(self.shared.clone());
        mem::forget(self.courier.take());
        mem::forget(self.launched.take());
        mem::forget(self.helper.take());
    }
}
