//! Room for operations: one that would not find the memory it needs is refused before it begins.
//!
//! A program may begin operations without end, and each takes memory until it is complete. Where
//! the system says at all that memory is short (a limit of the address space, or no overcommitment)
//! it should say so in an error, not by ending the rank in the middle of an operation. To ask for
//! each operation would cost too much. So whenever the operations of a rank are twice as many as
//! when it last asked, it asks for what as many again will take, and gives that back at once: it is
//! only to be there. This is an estimate: buffers, scratch memory of large reductions, and messages
//! that come before their receives are not in it. Where an allocation fails after all, the rank
//! ends with a message of the allocator, and the others hear that it has died.

use super::Engine;
use crate::base::error::ErrorKind;

/// Operations that a rank may have without asking.
pub(super) const UNASKED: usize = 1024;
/// Bytes that an operation takes in the engine, the fabric and the tables of both: about twice what
/// a small collective of a few ranks does.
const EACH: usize = 2048;

impl Engine {
    /// No more operations than this may be under way at once, or kept for being started.
    pub(crate) fn limit_operations(&mut self, most: usize) {
        self.most = most;
        self.room = self.room.min(most);
    }

    /// Makes sure that another operation may begin.
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
        // Seen by nobody otherwise, the question might be left out.
        std::hint::black_box(&mut asked);
        if !self.has_mourned {
            self.room = pending + more;
        }
        Ok(())
    }
}
