//! What becomes of calls that an operator makes. It runs under the lock of the engine, which its
//! thread is kept out of.

use std::mem;

use motet_fabric::slab::Id;

use super::RankContext;
use crate::base::error::ErrorKind;
use crate::engine::BufferGuard;

/// What a call ends with that an operator has made, and that has no result to say so.
#[cold]
pub(super) fn called_from_operator() -> ! {
    panic!("{}", ErrorKind::WithinOperator)
}

impl RankContext {
    /// An operation that somebody gives up who lets go of its buffers. In an operator, where the
    /// engine cannot be told, they are there for ever, since the operation may still use them.
    pub(crate) fn detach(&self, id: Id, keeper: BufferGuard) {
        match self.free_engine() {
            Some(mut engine) => engine.detach(id, keeper),
            None => mem::forget(keeper),
        }
    }

    /// The same, of somebody who wants nothing of the operation any more. So a receive takes no
    /// message from now on; where a scope waits for it, it does.
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
