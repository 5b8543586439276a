//! Cooperative copy: the sender and the receiver of a large message each copy a part of it.
//! Protocol and proof: `README.md`, "Cooperative copies".
//!
//! The receiver copies parts from the front, and the sender, who waits anyway, from the back, until
//! they meet. Two cores copy nearly twice as fast as one, and each half of the message stays in the
//! cache of one of them when messages come again and again from the same memory.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::read_lease::{ReadLease, shared_words};
use crate::{Peer, SharedSegment};

/// Of so many parts is a message, unless they would be shorter or longer than parts may be. The
/// shortest messages are of two.
const PARTS_MAX: usize = 8;
const PARTS_MIN: usize = 2;
const PART_MIN_BYTES: usize = 64 << 10;
const PART_MAX_BYTES: usize = 256 << 10;
/// Parts taken from the front count in the low half of the first word, those from the back in the
/// high half.
const BACK: u64 = 1 << 32;
/// In the second word: the sender could not copy a part that it had taken.
const FAILED: u64 = 1 << 63;
/// Looks at the sender's progress between two times that the core is given away.
const POLLS_PER_YIELD: u32 = 1000;

/// How a message is cut: the same at both ends.
#[derive(Clone, Copy, Debug)]
struct CopyParts {
    bytes: usize,
    each: usize,
}

impl CopyParts {
    fn of(bytes: usize) -> CopyParts {
        let shortest = PART_MIN_BYTES.min(bytes.div_ceil(PARTS_MIN)).max(1);
        let each = bytes.div_ceil(PARTS_MAX).clamp(shortest, PART_MAX_BYTES);
        CopyParts { bytes, each: each.next_multiple_of(crate::layout::PAGE) }
    }

    fn count(self) -> u64 {
        self.bytes.div_ceil(self.each) as u64
    }

    fn range(self, part: u64) -> Range<usize> {
        let from = part as usize * self.each;
        from..(from + self.each).min(self.bytes)
    }
}

/// How the receiver's side of a shared copy ended.
#[derive(Debug)]
pub(crate) enum Copied {
    /// All of it is there.
    All,
    /// The receiver could not copy.
    Refused,
    /// The sender has died in the middle of a part.
    Gone,
}

/// The receiver resets the words of a lease that it has taken, before it tells the sender.
pub(crate) fn open(segment: &SharedSegment, owner: Peer, lease: ReadLease) {
    for word in shared_words(segment, owner, lease) {
        word.store(0, Ordering::Relaxed);
    }
}

/// The receiver copies all parts that the sender does not, and waits for those that it does.
/// `is_gone` says whether the sender has died.
pub(crate) fn copy(
    segment: &SharedSegment,
    owner: Peer,
    lease: ReadLease,
    bytes: usize,
    mut copy: impl FnMut(Range<usize>) -> io::Result<()>,
    is_gone: impl Fn() -> bool,
) -> Copied {
    let parts = CopyParts::of(bytes);
    let [taken, helped] = shared_words(segment, owner, lease);
    let (mut own, mut refused) = (0, false);
    while !refused && take(taken, 1, parts) {
        refused = copy(parts.range(own)).is_err();
        own += 1;
    }
    // From here on nothing is left to take. What was taken from the back beyond our own is one
    // vain attempt.
    let back = taken.fetch_add(parts.count(), Ordering::AcqRel) / BACK;
    let theirs = back.min(parts.count() - own);
    match join(segment, helped, theirs, is_gone) {
        None => return Copied::Gone,
        Some(true) => {}
        Some(false) => {
            for part in parts.count() - theirs..parts.count() {
                refused |= copy(parts.range(part)).is_err();
            }
        }
    }
    if refused { Copied::Refused } else { Copied::All }
}

/// Waits until the sender has copied what it has taken. `false` if it could not, `None` if it died.
fn join(
    segment: &SharedSegment,
    helped: &AtomicU64,
    theirs: u64,
    is_gone: impl Fn() -> bool,
) -> Option<bool> {
    loop {
        for _ in 0..POLLS_PER_YIELD {
            let now = helped.load(Ordering::Acquire);
            if now & FAILED != 0 {
                return Some(false);
            }
            if now == theirs {
                return Some(true);
            }
            std::hint::spin_loop();
        }
        if is_gone() {
            return None;
        }
        segment.pause();
    }
}

/// The sender copies parts from the back as long as there are any.
pub(crate) fn help(
    segment: &SharedSegment,
    owner: Peer,
    lease: ReadLease,
    bytes: usize,
    mut copy: impl FnMut(Range<usize>) -> io::Result<()>,
) {
    let parts = CopyParts::of(bytes);
    let [taken, helped] = shared_words(segment, owner, lease);
    let mut own = 0;
    while take(taken, BACK, parts) {
        if copy(parts.range(parts.count() - 1 - own)).is_err() {
            return helped.store(FAILED, Ordering::Release);
        }
        own += 1;
        helped.store(own, Ordering::Release);
    }
}

/// Takes the next part from one end. `false` if all are taken.
fn take(taken: &AtomicU64, end: u64, parts: CopyParts) -> bool {
    let before = taken.fetch_add(end, Ordering::AcqRel);
    before % BACK + before / BACK < parts.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::protocol::COOPERATIVE_MIN_BYTES;
    use crate::read_lease::LeaseTable;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU8;

    fn world() -> (Arc<SharedSegment>, ReadLease) {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let lease = LeaseTable::new(segment.clone(), Peer(0)).grant().unwrap();
        open(&segment, Peer(0), lease);
        (segment, lease)
    }

    /// Counts how often each byte of a message is copied.
    struct Count(Vec<AtomicU8>);

    impl Count {
        fn of(bytes: usize) -> Count {
            Count((0..bytes).map(|_| AtomicU8::new(0)).collect())
        }

        fn copy(&self, range: Range<usize>) -> io::Result<()> {
            for byte in &self.0[range] {
                byte.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }

        fn is_once(&self) -> bool {
            self.0.iter().all(|byte| byte.load(Ordering::Relaxed) == 1)
        }
    }

    #[test]
    fn parts_cover_a_message_of_any_length() {
        for bytes in
            [0, 1, COOPERATIVE_MIN_BYTES, COOPERATIVE_MIN_BYTES + 1, 1 << 20, (16 << 20) + 3]
        {
            let parts = CopyParts::of(bytes);
            let mut end = 0;
            for part in 0..parts.count() {
                assert_eq!(parts.range(part).start, end);
                end = parts.range(part).end;
                assert!(!parts.range(part).is_empty());
            }
            assert_eq!(end, bytes);
        }
        // So that both ends have something to do, and no call more than that.
        assert_eq!(
            [COOPERATIVE_MIN_BYTES, 96 << 10, 128 << 10].map(|bytes| CopyParts::of(bytes).count()),
            [2; 3]
        );
    }

    #[test]
    fn both_ends_copy_each_byte_once_and_the_receiver_ends_last() {
        // Empty ones travel in cells; but whoever copies nothing must end as well.
        for bytes in [0, COOPERATIVE_MIN_BYTES, 300_000, 1 << 20] {
            let (segment, lease) = world();
            let count = Count::of(bytes);
            std::thread::scope(|scope| {
                scope.spawn(|| help(&segment, Peer(0), lease, bytes, |part| count.copy(part)));
                let own = |part| count.copy(part);
                let copied = copy(&segment, Peer(0), lease, bytes, own, || false);
                assert!(matches!(copied, Copied::All) && count.is_once());
            });
        }
    }

    #[test]
    fn a_sender_that_comes_late_finds_nothing_to_do() {
        let (segment, lease) = world();
        let count = Count::of(COOPERATIVE_MIN_BYTES);
        copy(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, |part| count.copy(part), || false);
        help(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, |_| panic!("all is copied"));
        assert!(count.is_once());
    }

    #[test]
    fn what_the_sender_cannot_copy_the_receiver_does() {
        let (segment, lease) = world();
        let count = Count::of(COOPERATIVE_MIN_BYTES);
        let refuse = |_| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        help(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, refuse);
        let copied = copy(
            &segment,
            Peer(0),
            lease,
            COOPERATIVE_MIN_BYTES,
            |part| count.copy(part),
            || false,
        );
        assert!(matches!(copied, Copied::All) && count.is_once());
    }

    #[test]
    fn a_receiver_that_is_refused_leaves_nothing_to_the_sender() {
        let (segment, lease) = world();
        let refuse = |_| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        let copied = copy(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, refuse, || false);
        assert!(matches!(copied, Copied::Refused));
        help(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, |_| panic!("the copy is over"));
    }

    #[test]
    fn a_sender_that_dies_in_a_part_is_not_waited_for() {
        let (segment, lease) = world();
        let [taken, _] = shared_words(&segment, Peer(0), lease);
        taken.fetch_add(BACK, Ordering::AcqRel);
        let copied = copy(&segment, Peer(0), lease, COOPERATIVE_MIN_BYTES, |_| Ok(()), || true);
        assert!(matches!(copied, Copied::Gone));
    }
}
