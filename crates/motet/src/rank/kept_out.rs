//! Handles library calls inside an operator, which runs under the lock of the engine: its thread
//! does not get the lock again.

use std::mem;

use motet_fabric::slab::Id;

use super::RankContext;
use crate::base::error::ErrorKind;
use crate::engine::BufferGuard;

/// Panics in a call inside an operator that cannot return an error.
#[cold]
pub(super) fn called_from_operator() -> ! {
    panic!("{}", ErrorKind::WithinOperator)
}

impl RankContext {
    /// Detaches an operation from its request and gives it the buffers. Inside an operator the
    /// engine cannot be told, so the buffers are leaked, because the operation may still use them.
    pub(crate) fn detach(&self, id: Id, keeper: BufferGuard) {
        match self.free_engine() {
            Some(mut engine) => engine.detach(id, keeper),
            None => mem::forget(keeper),
        }
    }

    /// Like [`RankContext::detach`], for a caller that does not need the operation any more: a
    /// receive that has not matched is cancelled, unless a scope waits for it.
    pub(crate) fn give_up(&self, id: Id, keeper: BufferGuard) {
        match self.free_engine() {
            Some(mut engine) => {
                engine.detach(id, keeper);
                engine.cancel_receive_unless_held(id);
            }
            None => mem::forget(keeper),
        }
    }
}
