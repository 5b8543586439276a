//! Read leases: the permission to read a large message in the memory of its sender, which the
//! sender can revoke. Protocol and proof: `README.md`, "Read leases".
//!
//! A large message is not sent: its sender exposes it, and the receiver copies it directly out of
//! the sender's memory. The word of a lease decides between a receiver that starts to copy and a
//! sender that takes its memory back because something failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{LEASES_PER_RANK, LINE};
use crate::segment::LEASES_AT;
use crate::{Peer, SharedSegment};

/// No rank may read.
const WITHDRAWN: u64 = 0;
/// The receiver may read.
const EXPOSED: u64 = 1;
/// The receiver is reading.
const TAKEN: u64 = 2;
/// The number of the use is above the two bits of the state.
const USE: u64 = 4;

/// One offer of one message: the lease of its sender, and the use of the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLease {
    index: u32,
    /// The value of the word while exposed; different in each use of the same lease.
    exposed: u64,
}

impl ReadLease {
    /// The lease in one word, which travels in a message; 0 if there is none. 2^46 uses of one
    /// lease have different words.
    pub fn to_word(lease: Option<ReadLease>) -> u64 {
        lease.map_or(0, |lease| (lease.exposed << 16) | u64::from(lease.index))
    }

    /// The value of the word while the receiver reads.
    fn taken(self) -> u64 {
        self.exposed - EXPOSED + TAKEN
    }

    /// The lease in a word that has travelled.
    pub fn from_word(word: u64) -> Option<ReadLease> {
        let lease = ReadLease { index: (word & 0xffff) as u32, exposed: word >> 16 };
        (word != 0).then_some(lease)
    }
}

/// The leases of this rank, on the side of their owner.
#[derive(Debug)]
pub struct LeaseTable {
    segment: Arc<SharedSegment>,
    owner: Peer,
    free: Vec<u32>,
    uses: u64,
}

fn word(segment: &SharedSegment, owner: Peer, index: u32) -> &AtomicU64 {
    segment.word64(line(segment, owner, index))
}

/// Offset of the line of a lease.
fn line(segment: &SharedSegment, owner: Peer, index: u32) -> usize {
    assert!((index as usize) < LEASES_PER_RANK, "lease {index} of {LEASES_PER_RANK}");
    let block = segment.layout().rank_block(owner.index());
    block + LEASES_AT + index as usize * LINE
}

/// The two words behind the word of a lease, by which sender and receiver divide the copy between
/// them.
pub fn shared_words(segment: &SharedSegment, owner: Peer, lease: ReadLease) -> [&AtomicU64; 2] {
    let line = line(segment, owner, lease.index);
    [8, 16].map(|offset| segment.word64(line + offset))
}

impl LeaseTable {
    /// The table with all leases of a rank, none in use.
    pub fn new(segment: Arc<SharedSegment>, owner: Peer) -> LeaseTable {
        LeaseTable { segment, owner, free: (0..LEASES_PER_RANK as u32).rev().collect(), uses: 0 }
    }

    /// Permits the receiver of a message to read. `None` while all leases are in use.
    pub fn grant(&mut self) -> Option<ReadLease> {
        let index = self.free.pop()?;
        self.uses += 1;
        let lease = ReadLease { index, exposed: ((self.uses * USE) | EXPOSED) & (u64::MAX >> 16) };
        word(&self.segment, self.owner, index).store(lease.exposed, Ordering::Release);
        Some(lease)
    }

    /// Ends an offer: after it returns no rank reads the message any more. It waits for a copy or a
    /// reduction that has begun, which ends without any action of this rank.
    ///
    /// Once a process has died, which may be the reader, it does not wait. A reader that still
    /// lives is one for which the kernel copies, or one that reads an operand in a heap; it finds
    /// its lease revoked, and discards what it has made of it.
    pub fn revoke(&mut self, lease: ReadLease) {
        let word = word(&self.segment, self.owner, lease.index);
        let mut from = lease.exposed;
        while let Err(now) =
            word.compare_exchange(from, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
        {
            if now != lease.taken() {
                break;
            }
            if self.reader_may_be_gone() {
                from = now;
            } else {
                self.segment.pause();
            }
        }
        self.free.push(lease.index);
    }

    /// Whether the process of a copy under way can have died. Threads cannot die in a copy.
    fn reader_may_be_gone(&self) -> bool {
        self.segment.is_shared() && self.segment.failure().is_some()
    }
}

/// The receiver starts to read. `false` if the sender has taken its message back.
pub fn take(segment: &SharedSegment, owner: Peer, lease: ReadLease) -> bool {
    let word = word(segment, owner, lease.index);
    word.compare_exchange(lease.exposed, lease.taken(), Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The receiver has finished reading. `false` if the sender has taken its message back meanwhile,
/// because a process died: then the data that was read may be anything.
#[must_use]
pub fn release(segment: &SharedSegment, owner: Peer, lease: ReadLease) -> bool {
    let word = word(segment, owner, lease.index);
    word.compare_exchange(lease.taken(), WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, How};

    #[test]
    fn a_revoked_lease_cannot_be_taken_even_when_used_again() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut leases = LeaseTable::new(segment.clone(), Peer(0));
        let first = leases.grant().unwrap();
        leases.revoke(first);
        let second = leases.grant().unwrap();
        assert_eq!(first.index, second.index, "the same lease in another use");
        let travelled = |lease| ReadLease::from_word(ReadLease::to_word(Some(lease))).unwrap();
        assert_eq!(ReadLease::from_word(ReadLease::to_word(None)), None);
        assert!(!take(&segment, Peer(0), travelled(first)));
        assert!(take(&segment, Peer(0), travelled(second)));
        assert!(!take(&segment, Peer(0), second), "taken only once");
        assert!(release(&segment, Peer(0), second));
        leases.revoke(second);
    }

    #[test]
    fn a_withdrawal_waits_for_a_copy_in_progress() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut leases = LeaseTable::new(segment.clone(), Peer(0));
        let lease = leases.grant().unwrap();
        assert!(take(&segment, Peer(0), lease));
        let owner = std::thread::spawn(move || leases.revoke(lease));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!owner.is_finished(), "somebody reads");
        assert!(release(&segment, Peer(0), lease));
        owner.join().unwrap();
    }

    #[test]
    fn leases_run_out_and_come_back() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut leases = LeaseTable::new(segment, Peer(0));
        let all: Vec<_> = std::iter::from_fn(|| leases.grant()).collect();
        assert_eq!(all.len(), LEASES_PER_RANK);
        leases.revoke(all[7]);
        assert!(leases.grant().is_some() && leases.grant().is_none());
    }

    #[test]
    fn a_reader_that_comes_back_after_a_death_changes_nothing() {
        let (segment, _file) = SharedSegment::shared(2).unwrap();
        let segment = Arc::new(segment);
        let mut leases = LeaseTable::new(segment.clone(), Peer(0));
        let first = leases.grant().unwrap();
        assert!(take(&segment, Peer(0), first));
        // Another rank has died, but the owner does not know that it was not the reader.
        segment.fail(Failure { rank: Peer(1), how: How::Signal(9) });
        leases.revoke(first);
        let second = leases.grant().unwrap();
        assert_eq!(first.index, second.index, "the same lease in another use");
        assert!(!release(&segment, Peer(0), first), "what was read may be anything");
        assert!(take(&segment, Peer(0), second), "another use is not touched");
        assert!(release(&segment, Peer(0), second));
    }
}
