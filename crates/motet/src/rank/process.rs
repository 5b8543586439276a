//! Tells a rank that is a process from its copy in a child process made by `fork`.

use std::mem;

use motet_fabric::forking;

use super::RankContext;

impl RankContext {
    /// Whether this process is exactly one rank.
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

    /// Forgets everything that belongs to the parent: its threads do not run in the child, and the
    /// seat and the state that other ranks see are the parent's.
    pub(super) fn forget_all(&mut self) {
        mem::forget(self.shared.clone());
        mem::forget(self.flush_thread.take());
        mem::forget(self.launched.take());
        mem::forget(self.progress_thread.take());
    }
}
