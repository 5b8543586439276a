//! Finds the next world of a rank that runs several programs one after the other.
//!
//! A rank may be a script that runs several programs, one after the other. Each program that joins
//! a world has its own: the first program joins the world whose descriptor ranks inherit; for a
//! later program the launcher makes another world when the first rank asks for it. The first world
//! records how ranks ask, and which world is the present one of each rank. Descriptors are numbers
//! in the launcher: ranks open them through `/proc`.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{REQUESTS_AT, SharedSegment};
use crate::Peer;
use crate::layout::LINE;

/// Offset in a rank's block: one more than the descriptor of its present world.
const CURRENT_AT: usize = LINE + 24;

impl SharedSegment {
    /// Sets the descriptor of the launcher by which ranks ask for their next world. Called before
    /// any rank enters.
    pub(crate) fn set_request_line(&self, line: RawFd) {
        note(self.word32(REQUESTS_AT), line); // one more: 0 is unknown
    }

    /// The descriptor of [`set_request_line`](Self::set_request_line), if ranks may ask.
    pub(crate) fn request_line(&self) -> Option<RawFd> {
        noted(self.word32(REQUESTS_AT))
    }

    /// Sets the descriptor of the launcher that is the present world of a rank.
    pub(crate) fn set_current(&self, rank: Peer, world: RawFd) {
        note(self.word32(self.layout().rank_block(rank.index()) + CURRENT_AT), world);
    }

    /// The descriptor of [`set_current`](Self::set_current); `None` while this segment is the
    /// present world of the rank.
    pub(crate) fn current(&self, rank: Peer) -> Option<RawFd> {
        noted(self.word32(self.layout().rank_block(rank.index()) + CURRENT_AT))
    }
}

fn note(word: &AtomicU32, descriptor: RawFd) {
    word.store((descriptor + 1) as u32, Ordering::Release);
}

fn noted(word: &AtomicU32) -> Option<RawFd> {
    (word.load(Ordering::Acquire) as RawFd).checked_sub(1).filter(|&descriptor| descriptor >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_found_and_nothing_else() {
        let (segment, _file) = SharedSegment::shared(2).unwrap();
        assert_eq!((segment.request_line(), segment.current(Peer(1))), (None, None));
        segment.set_request_line(0);
        segment.set_current(Peer(1), 7);
        assert_eq!((segment.request_line(), segment.current(Peer(1))), (Some(0), Some(7)));
        assert_eq!(segment.current(Peer(0)), None);
        // A program may have written anything there.
        segment.word32(REQUESTS_AT).store(u32::MAX, Ordering::Relaxed);
        assert_eq!(segment.request_line(), None);
    }
}
