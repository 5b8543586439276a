//! Admission control refuses an operation that would not find the memory it needs, before it
//! starts.
//!
//! A program may start operations without end, and each takes memory until it is complete. If the
//! system reports a shortage of memory at all (a limit of the address space, or no overcommitment),
//! the library should report it as an error, and not end the rank in the middle of an operation.
//! Asking the system for each operation would cost too much. So whenever a rank has twice as many
//! operations as when it last asked, it allocates the memory for as many again and frees it at
//! once, only to see whether it is there. This is an estimate: it does not cover buffers, scratch
//! memory of large reductions, and unexpected messages. If an allocation fails after all, the rank
//! ends with a message of the allocator, and the other ranks see a death.

use super::Engine;
use crate::base::error::ErrorKind;

/// The number of operations that a rank may have without asking the system.
pub(super) const UNASKED: usize = 1024;
/// Bytes that an operation takes in the engine, the fabric and the tables of both: about twice what
/// a small collective of a few ranks needs.
const EACH: usize = 2048;

impl Engine {
    /// Limits the number of operations, pending and persistent ones together.
    pub(crate) fn limit_operations(&mut self, most: usize) {
        self.most = most;
        self.room = self.room.min(most);
    }

    /// Checks that another operation may start.
    #[inline]
    pub(crate) fn make_room(&mut self) -> Result<(), ErrorKind> {
        if self.operations.len() < self.room {
            return Ok(());
        }
        self.ask_for_room()
    }

    #[cold]
    fn ask_for_room(&mut self) -> Result<(), ErrorKind> {
        if self.has_left {
            return Err(ErrorKind::from(self.has_left_itself()));
        }
        let pending = self.operations.len();
        if pending >= self.most {
            return Err(ErrorKind::TooManyOperations { limit: self.most });
        }
        let more = pending.min(self.most - pending);
        let bytes = more * EACH;
        let refused = |_| ErrorKind::NoMemory { what: "as many operations again", bytes };
        let mut asked = Vec::<u8>::new();
        asked.try_reserve_exact(bytes).map_err(refused)?;
        // Without this the compiler might remove the allocation.
        std::hint::black_box(&mut asked);
        if !self.has_mourned {
            self.room = pending + more;
        }
        Ok(())
    }
}
