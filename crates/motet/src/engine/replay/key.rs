//! The keys of the replay cache: what tells a call from all others.

use std::iter::zip;

use motet_plan::Block;

use super::SLOTS;
use crate::base::collective_kind::CollectiveKind;
use crate::engine::Selection;

/// A multiplier for hashing: products with words that differ in few bits differ in the highest
/// bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The number of lowest and of highest bits of [`CallSignature::what`] that mean the same for all
/// front ends.
const SHARED_BITS: [u32; 2] = [16, 2];

/// The front end whose arguments a signature holds.
///
/// Each counts in its own way (a C call in items of one block, a typed call in elements of a whole
/// buffer) and asks the ranks for its own kind of type, so a call is never replayed by another
/// front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontEnd {
    /// Addresses, counts and datatypes.
    Untyped,
    /// Slices of elements, and operators that are types.
    Typed,
    /// The handles and numbers of a C call.
    Handles,
    /// Addresses, counts and datatypes, of which at least one is derived.
    Derived,
}

/// The arguments of a call in few words, without addresses and lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSignature {
    /// The collective, the selection of its plan, its operator, and the datatypes of both sides
    /// ([`CallSignature::what`]). It differs most often, so it is compared first.
    pub(crate) what: u64,
    pub(crate) context: u64,
    pub(crate) root: u64,
    /// The number of items (or blocks) sent, and the number received.
    pub(crate) sent: usize,
    pub(crate) received: usize,
}

impl CallSignature {
    /// Puts together which collective a front end calls. Its operator and its types are in `own`,
    /// in 46 bits.
    #[inline(always)]
    pub(crate) fn what(by: FrontEnd, kind: CollectiveKind, selection: Selection, own: u64) -> u64 {
        const { assert!(CollectiveKind::ALL.len() <= 1 << 8) };
        let [low, high] = SHARED_BITS;
        debug_assert!(own >> (u64::BITS - low - high) == 0, "{own:#x} has too many bits");
        (by as u64) << (u64::BITS - high) | own << low | (selection as u64) << 8 | kind as u64
    }

    /// The slot of the cache for this signature.
    #[inline]
    pub(super) fn slot(&self) -> usize {
        let counts = (self.received as u64).rotate_left(32) ^ (self.sent as u64).rotate_left(48);
        let words = self.what ^ self.context.rotate_left(16) ^ counts ^ self.root << 8;
        (words.wrapping_mul(SPREAD) >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

/// The counts and displacements of the blocks of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockList<'a> {
    Split(&'a [usize], &'a [isize]),
    Paired(&'a [Block]),
}

/// The blocks of one side, if each block has its own count and displacement.
pub(crate) type Lists<'a> = Option<BlockList<'a>>;

impl BlockList<'_> {
    fn len(&self) -> usize {
        match self {
            BlockList::Split(counts, _) => counts.len(),
            BlockList::Paired(blocks) => blocks.len(),
        }
    }

    /// Whether the blocks have these counts and displacements.
    fn are(&self, counts: &[usize], displacements: &[isize]) -> bool {
        match *self {
            BlockList::Split(wanted, places) => wanted == counts && places == displacements,
            BlockList::Paired(blocks) => {
                let mut kept = zip(counts, displacements);
                blocks.len() == counts.len()
                    && zip(blocks, &mut kept).all(|(block, (count, place))| {
                        block.count == *count && block.start as isize == *place
                    })
            }
        }
    }

    fn copy_to(&self, counts: &mut Vec<usize>, displacements: &mut Vec<isize>) {
        match *self {
            BlockList::Split(wanted, places) => {
                counts.extend_from_slice(wanted);
                displacements.extend_from_slice(places);
            }
            BlockList::Paired(blocks) => {
                counts.extend(blocks.iter().map(|block| block.count));
                displacements.extend(blocks.iter().map(|block| block.start as isize));
            }
        }
    }
}

/// What the key of a call says beside its signature.
pub(crate) trait KeyDetails {
    /// The counts and displacements of the sent and of the received blocks, if each block has its
    /// own.
    fn lists(&self) -> [Lists<'_>; 2];

    /// The identities of the datatypes sent and received, if one of them is derived; zeros if not.
    fn datatypes(&self) -> [u64; 2] {
        [0; 2]
    }

    /// The distance in bytes from the address of each side to its first byte, where the data of
    /// that side is contiguous.
    fn starts(&self) -> [isize; 2] {
        [0; 2]
    }
}

/// The key of a call that may be replayed: its signature, and its buffer addresses in this call.
#[derive(Clone, Copy)]
pub(crate) struct ReplayKey<'a> {
    pub(crate) signature: CallSignature,
    /// Null if nothing is sent.
    pub(crate) sent: *mut u8,
    /// Null if nothing is received.
    pub(crate) received: *mut u8,
    /// The source of the details; `None` if there are none.
    pub(crate) call: Option<&'a dyn KeyDetails>,
}

impl ReplayKey<'_> {
    /// Whether a datatype of the call is derived.
    #[inline]
    pub(crate) fn is_derived(&self) -> bool {
        self.signature.what >> (u64::BITS - SHARED_BITS[1]) == FrontEnd::Derived as u64
    }
}

/// A copy of the details of a call. Lists are those of the sent blocks, then those of the received
/// ones.
pub(super) struct CachedDetails {
    datatypes: [u64; 2],
    counts: Box<[usize]>,
    displacements: Box<[isize]>,
    /// The number of blocks sent.
    sent: usize,
}

impl CachedDetails {
    pub(super) fn of(call: &dyn KeyDetails) -> Option<CachedDetails> {
        let (datatypes, [sent, received]) = (call.datatypes(), call.lists());
        let (mut counts, mut displacements) = (Vec::new(), Vec::new());
        if datatypes == [0; 2] {
            sent.or(received)?;
        }
        for list in [sent, received].into_iter().flatten() {
            list.copy_to(&mut counts, &mut displacements);
        }
        let sent = sent.map_or(0, |list| list.len());
        let (counts, displacements) = (counts.into(), displacements.into());
        Some(CachedDetails { datatypes, counts, displacements, sent })
    }

    /// Whether the details of this call are equal. A side without a list equals an empty list: the
    /// signature tells them apart.
    pub(super) fn are(&self, call: &dyn KeyDetails) -> bool {
        let CachedDetails { datatypes, counts, displacements, sent } = self;
        // The signature tells whether there are any.
        if *datatypes != [0; 2] && call.datatypes() != *datatypes {
            return false;
        }
        let (Some(counts), Some(displacements)) =
            (counts.split_at_checked(*sent), displacements.split_at_checked(*sent))
        else {
            return false; // Lists that this rank ignores need not be valid.
        };
        let kept = [(counts.0, displacements.0), (counts.1, displacements.1)];
        zip(call.lists(), kept).all(|(list, (counts, displacements))| match list {
            Some(list) => list.are(counts, displacements),
            None => counts.is_empty(),
        })
    }
}
