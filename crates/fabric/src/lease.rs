//! Read leases: the permission to read a large message in the memory of its sender, which the
//! sender can revoke. Protocol and proof: `README.md`, "Read leases".
//!
//! A large message is not sent: its sender exposes it, and the receiver copies it directly out of
//! the sender's memory. The word of a lease decides between a receiver that starts to copy and a
//! sender that takes its memory back because something failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{CLAIMS, LINE};
use crate::segment::CLAIMS_AT;
use crate::{Peer, SharedSegment};

/// No rank may read.
const WITHDRAWN: u64 = 0;
/// The receiver may read.
const EXPOSED: u64 = 1;
/// The receiver is reading.
const TAKEN: u64 = 2;
/// The number of the use is above the two bits of the state.
const USE: u64 = 4;

/// One exposure of one message: the lease of its sender, and the use of the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLease {
    index: u32,
    /// The value of the word while exposed; different in each use of the same lease.
    exposed: u64,
}

impl ReadLease {
    /// The lease in one word, which travels in a message; 0 if there is none. 2^46 uses of one
    /// lease have different words.
    pub fn to_word(claim: Option<ReadLease>) -> u64 {
        claim.map_or(0, |claim| (claim.exposed << 16) | u64::from(claim.index))
    }

    /// The value of the word while the receiver reads.
    fn taken(self) -> u64 {
        self.exposed - EXPOSED + TAKEN
    }

    /// The lease in a word that has travelled.
    pub fn from_word(word: u64) -> Option<ReadLease> {
        let claim = ReadLease { index: (word & 0xffff) as u32, exposed: word >> 16 };
        (word != 0).then_some(claim)
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
    assert!((index as usize) < CLAIMS, "claim {index} of {CLAIMS}");
    let block = segment.layout().rank_block(owner.index());
    block + CLAIMS_AT + index as usize * LINE
}

/// The two words behind the word of a lease, by which sender and receiver divide the copy between
/// them.
pub fn shared_words(segment: &SharedSegment, owner: Peer, claim: ReadLease) -> [&AtomicU64; 2] {
    let line = line(segment, owner, claim.index);
    [8, 16].map(|offset| segment.word64(line + offset))
}

impl LeaseTable {
    /// The table with all leases of a rank, none in use.
    pub fn new(segment: Arc<SharedSegment>, owner: Peer) -> LeaseTable {
        LeaseTable { segment, owner, free: (0..CLAIMS as u32).rev().collect(), uses: 0 }
    }

    /// Permits the receiver of a message to read. `None` while all leases are in use.
    pub fn grant(&mut self) -> Option<ReadLease> {
        let index = self.free.pop()?;
        self.uses += 1;
        let claim = ReadLease { index, exposed: ((self.uses * USE) | EXPOSED) & (u64::MAX >> 16) };
        word(&self.segment, self.owner, index).store(claim.exposed, Ordering::Release);
        Some(claim)
    }

    /// Ends an exposure: after it returns no rank reads the message any more. It waits for a copy
    /// under way, which ends without any action of this rank.
    ///
    /// Once a process has died, which may be the reader, it does not wait. A reader that still
    /// lives can only be one for which the kernel copies; it finds its lease revoked, and discards
    /// what it has read.
    pub fn revoke(&mut self, claim: ReadLease) {
        let word = word(&self.segment, self.owner, claim.index);
        let mut from = claim.exposed;
        while let Err(now) =
            word.compare_exchange(from, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
        {
            if now != claim.taken() {
                break;
            }
            if self.reader_may_be_gone() {
                from = now;
            } else {
                self.segment.pause();
            }
        }
        self.free.push(claim.index);
    }

    /// Whether the process of a copy under way can have died. Threads cannot die in a copy.
    fn reader_may_be_gone(&self) -> bool {
        self.segment.is_shared() && self.segment.failure().is_some()
    }
}

/// The receiver starts to read. `false` if the sender has taken its message back.
pub fn take(segment: &SharedSegment, owner: Peer, claim: ReadLease) -> bool {
    let word = word(segment, owner, claim.index);
    word.compare_exchange(claim.exposed, claim.taken(), Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The receiver has finished reading. `false` if the sender has taken its message back meanwhile,
/// because a process died: then the data that was read may be anything.
#[must_use]
pub fn release(segment: &SharedSegment, owner: Peer, claim: ReadLease) -> bool {
    let word = word(segment, owner, claim.index);
    word.compare_exchange(claim.taken(), WITHDRAWN, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, How};

    #[test]
    fn a_withdrawn_claim_cannot_be_taken_even_when_used_again() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut claims = LeaseTable::new(segment.clone(), Peer(0));
        let first = claims.grant().unwrap();
        claims.revoke(first);
        let second = claims.grant().unwrap();
        assert_eq!(first.index, second.index, "the same claim in another use");
        let travelled = |claim| ReadLease::from_word(ReadLease::to_word(Some(claim))).unwrap();
        assert_eq!(ReadLease::from_word(ReadLease::to_word(None)), None);
        assert!(!take(&segment, Peer(0), travelled(first)));
        assert!(take(&segment, Peer(0), travelled(second)));
        assert!(!take(&segment, Peer(0), second), "taken only once");
        assert!(release(&segment, Peer(0), second));
        claims.revoke(second);
    }

    #[test]
    fn a_withdrawal_waits_for_a_copy_under_way() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut claims = LeaseTable::new(segment.clone(), Peer(0));
        let claim = claims.grant().unwrap();
        assert!(take(&segment, Peer(0), claim));
        let owner = std::thread::spawn(move || claims.revoke(claim));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!owner.is_finished(), "somebody reads");
        assert!(release(&segment, Peer(0), claim));
        owner.join().unwrap();
    }

    #[test]
    fn claims_run_out_and_come_back() {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let mut claims = LeaseTable::new(segment, Peer(0));
        let all: Vec<_> = std::iter::from_fn(|| claims.grant()).collect();
        assert_eq!(all.len(), CLAIMS);
        claims.revoke(all[7]);
        assert!(claims.grant().is_some() && claims.grant().is_none());
    }

    #[test]
    fn a_reader_that_comes_back_after_a_death_changes_nothing() {
        let (segment, _file) = SharedSegment::shared(2).unwrap();
        let segment = Arc::new(segment);
        let mut claims = LeaseTable::new(segment.clone(), Peer(0));
        let first = claims.grant().unwrap();
        assert!(take(&segment, Peer(0), first));
        // Another rank has died, but the owner does not know that it was not the reader.
        segment.fail(Failure { rank: Peer(1), how: How::Signal(9) });
        claims.revoke(first);
        let second = claims.grant().unwrap();
        assert_eq!(first.index, second.index, "the same claim in another use");
        assert!(!release(&segment, Peer(0), first), "what was read may be anything");
        assert!(take(&segment, Peer(0), second), "another use is not touched");
        assert!(release(&segment, Peer(0), second));
    }
}
