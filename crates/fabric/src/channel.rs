//! Channels: pre-matched rings for the messages of persistent operations.
//!
//! A channel is a small ring of its own between two ranks for one message of one operation. The
//! receiver cuts it from its arena when the operation is linked and tells the sender where it is
//! with one control message; nobody waits. From then on a start is a copy and a stamp: no tag, no
//! matching, no request. The ring has several cells, so that a fast rank may be rounds ahead.
//!
//! The channels of one operation among many ranks share a limited amount of memory,
//! [`OPERATION_RINGS_MAX_BYTES`], however many there are: [`cells`] says how long a ring each
//! message gets. Messages that find nothing left go through the standing lanes, whose memory all
//! operations share.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::layout::{LINE, PAGE};
use crate::memory::copy;
use crate::spsc::{Ring, RingReader, RingWriter, STAMP_BYTES};
use crate::{Region, RegionMut, SharedSegment};

/// The longest message that goes through a channel; longer ones are worth a single copy.
pub const CHANNEL_MAX_BYTES: usize = 8192;

/// The same of a message to a rank that sends none in turn. So few longer ones may be ahead of
/// their receiver in a ring that they do better in the lane of all messages.
const ONE_WAY_MAX_BYTES: usize = 1024;
/// The same of a swap where each rank has a core. Longer ones do better in a bounce buffer, which
/// the answer takes back while it is in the caches of who answers; of several only one is taken
/// back.
const SWAP_MAX_BYTES: usize = 512;

/// What the addresses of messages in channels are a multiple of.
pub const PAYLOAD_ALIGNMENT_BYTES: usize = STAMP_BYTES;

/// Messages of more than one line are copied before somebody reads them, up to this length.
const COPY_FIRST_MAX_BYTES: usize = 512;

/// Whether a message of so many bytes is read faster where it lies than it is copied. A sum of 128
/// to 512 bytes takes 1.0 to 1.7 times as long there, one of 1 KiB 0.85 to 0.95 of the time.
pub fn is_read_where_it_lies(bytes: usize) -> bool {
    STAMP_BYTES + bytes <= LINE || bytes > COPY_FIRST_MAX_BYTES
}

/// Messages up to this length always go through a channel, whatever their receiver sends.
pub const ALWAYS_MAX_BYTES: usize = SWAP_MAX_BYTES;

/// What a message of an operation is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePattern {
    /// Its receiver sends its sender nothing.
    OneWay,
    /// Its receiver sends its sender something, too.
    Exchange,
    /// There are but two ranks, and each sends the other one message.
    Swap,
}

/// Bytes of the longest message that goes through a channel, where ranks share cores or not. Both
/// ends know what it is part of, so they need not tell each other.
pub fn longest(traffic: MessagePattern, is_oversubscribed: bool) -> usize {
    match (traffic, is_oversubscribed) {
        (MessagePattern::OneWay, _) | (MessagePattern::Exchange, false) => ONE_WAY_MAX_BYTES,
        (MessagePattern::Swap, false) => SWAP_MAX_BYTES,
        (MessagePattern::Exchange | MessagePattern::Swap, true) => CHANNEL_MAX_BYTES,
    }
}

/// Bytes that the rings of one operation take at most, if more than 16 ranks take part: ten full
/// rings for short messages, or two for the longest but one length. With it an exchange with 26
/// neighbours takes less than 64 KiB in all.
pub const OPERATION_RINGS_MAX_BYTES: usize = 43 << 10;

/// Among so few ranks every message has a full ring: there are not many, and operations of all with
/// all have messages of 2 KiB and more in half the time.
const FULL_RINGS_MAX_RANKS: u32 = 16;

/// Who shares a core with its receiver does well to be more rounds ahead, since each of them runs
/// for some time: the rings of messages whose cells are no longer than this are so much longer.
const OVERSUBSCRIBED_CELL_MAX_BYTES: usize = 1024 + 2 * LINE;
const OVERSUBSCRIBED_FACTOR: usize = 4;

/// The fewest cells of a ring. With two, ranks that wait for each other in each round never find a
/// ring full; with one they would in each.
const RING_MIN_CELLS: usize = 2;

/// How many cells the rings get for messages of these lengths in an operation of so many ranks;
/// those with 0 go as messages. `is_oversubscribed` says whether the ranks share cores.
///
/// If full rings would take too much, the shorter messages come first, since a channel saves the
/// same time for each: each gets the longest ring within an equal share of what is left, or else
/// the shortest ring while there is one left.
pub fn cells(messages: &[usize], ranks: u32, is_oversubscribed: bool) -> Vec<usize> {
    let full = |&bytes: &usize| match cell_bytes(bytes) {
        _ if bytes > CHANNEL_MAX_BYTES => 0,
        short if is_oversubscribed && short <= OVERSUBSCRIBED_CELL_MAX_BYTES => {
            OVERSUBSCRIBED_FACTOR * rounds(short)
        }
        cell_bytes => rounds(cell_bytes),
    };
    let mut cells: Vec<usize> = messages.iter().map(full).collect();
    let taken = |cells: usize, bytes| match cells {
        0 => 0,
        cells => Ring::of_cells(0, cells, cell_bytes(bytes)).bytes(),
    };
    let all = cells.iter().zip(messages).map(|(&cells, &bytes)| taken(cells, bytes));
    if ranks <= FULL_RINGS_MAX_RANKS || all.sum::<usize>() <= OPERATION_RINGS_MAX_BYTES {
        return cells;
    }
    let mut order: Vec<(usize, usize)> =
        messages.iter().copied().zip(0..).filter(|&(_, at)| cells[at] > 0).collect();
    order.sort_unstable();
    let (mut left, mut others) = (OPERATION_RINGS_MAX_BYTES, order.len());
    for (bytes, at) in order {
        let share = left / others;
        while cells[at] > RING_MIN_CELLS && taken(cells[at], bytes) > share {
            cells[at] /= 2;
        }
        if taken(cells[at], bytes) > left {
            cells[at] = 0;
        }
        left -= taken(cells[at], bytes);
        others -= 1;
    }
    cells
}

/// The cells of a channel for messages of this length: two lines for the shortest, which take one
/// but are sent faster [so far apart](crate::spsc), else the next power of two and two lines, of
/// which one is for the stamp. So rings of few sizes can be used again, and of no pair of lines,
/// which a processor likes to fetch together, does one belong to another message.
fn cell_bytes(bytes: usize) -> usize {
    let apart = 2 * LINE;
    if STAMP_BYTES + bytes <= LINE { apart } else { bytes.next_power_of_two() + apart }
}

/// Where in its cell a message of this length begins: as far behind the stamp as a power of two
/// can be without another line being touched. What begins at a line's border, as messages of whole
/// lines do, is copied and read in less time, and the line of the stamp is written last.
#[inline]
fn lead(bytes: usize) -> usize {
    match LINE - bytes % LINE {
        0..STAMP_BYTES => LINE,
        room => 1 << room.ilog2(),
    }
}

/// The number of cells: rounds that a sender may be ahead of its receiver. The shorter the
/// messages, the more there are, and the less they cost.
fn rounds(cell_bytes: usize) -> usize {
    match cell_bytes {
        0..=384 => 32,
        385..=1152 => 16,
        1153..=2176 => 8,
        _ => 4,
    }
}

/// Bytes of new rings that are seen to together, at first and at most: a ring of short messages is
/// a page, and to get pages one by one takes longer than all else that an init does.
const PREFAULT_BYTES: [usize; 2] = [4 * PAGE, 32 * PAGE];

/// The most cells of a new ring once half of the arena has been cut off, so that there is room for
/// thousands of operations more: a sender that is a few rounds ahead loses less than one that has
/// no channel at all.
const SCARCE_CELLS: usize = 8;

/// Cuts rings from the arena of one rank. Freed rings are kept by size.
#[derive(Debug)]
pub(crate) struct Arena {
    start: usize,
    next: usize,
    end: usize,
    /// Rings before this have their pages.
    seen_to: usize,
    /// Offsets by the number of cells and their bytes.
    free: HashMap<(usize, usize), Vec<usize>>,
}

impl Arena {
    pub(crate) fn new(start: usize, bytes: usize) -> Arena {
        Arena { start, next: start, end: start + bytes, seen_to: start, free: HashMap::new() }
    }

    /// A ring of so many cells for messages of this length, or `None` if it does not fit any more.
    /// Once half of the arena has been cut off, a new ring has [`SCARCE_CELLS`] at most.
    pub(crate) fn cut(&mut self, bytes: usize, cells: usize) -> Option<Ring> {
        let cell_bytes = cell_bytes(bytes);
        if let Some(ring) = self.reuse(cells, cell_bytes) {
            return Some(ring);
        }
        let is_scarce = 2 * self.taken() > self.end - self.start;
        if is_scarce && cells > SCARCE_CELLS {
            return self.cut(bytes, SCARCE_CELLS);
        }
        let ring = Ring::of_cells(self.next, cells, cell_bytes);
        let next = ring.offset + ring.bytes();
        if next > self.end {
            return None;
        }
        self.next = next;
        Some(ring)
    }

    /// A ring that has come back.
    fn reuse(&mut self, cells: usize, cell_bytes: usize) -> Option<Ring> {
        let offset = self.free.get_mut(&(cells, cell_bytes))?.pop()?;
        Some(Ring::of_cells(offset, cells, cell_bytes))
    }

    /// What is to get its pages before a ring is used that was cut last; nothing if it has them.
    /// Each time as much as has been cut off already.
    pub(crate) fn see_to(&mut self, ring: &Ring) -> Option<Range<usize>> {
        let ends = ring.offset + ring.bytes();
        if ends <= self.seen_to {
            return None;
        }
        let [first, most] = PREFAULT_BYTES;
        let more = self.taken().clamp(first, most);
        let start = ring.offset.max(self.seen_to);
        self.seen_to = ends.max(start + more).min(self.end);
        Some(start..self.seen_to)
    }

    /// So many bytes that never come back, from a line's border on, or `None` if they do not fit.
    pub(crate) fn cut_for_good(&mut self, bytes: usize) -> Option<usize> {
        let start = self.next.next_multiple_of(LINE);
        let next = start + bytes;
        (next <= self.end).then(|| {
            self.next = next;
            start
        })
    }

    /// Bytes that have ever been cut off.
    pub(crate) fn taken(&self) -> usize {
        self.next - self.start
    }

    /// Takes a ring back.
    pub(crate) fn give_back(&mut self, ring: Ring) {
        self.free.entry((ring.cells, ring.cell_bytes)).or_default().push(ring.offset);
    }
}

/// The receiving end of a channel.
pub struct InChannel {
    reader: RingReader,
    bytes: usize,
}

impl InChannel {
    pub(crate) fn new(
        segment: Arc<SharedSegment>,
        ring: Ring,
        bytes: usize,
        first: u64,
    ) -> InChannel {
        InChannel { reader: RingReader::starting_at(segment, ring, first), bytes }
    }

    /// Where it lies, and how it is cut.
    pub(crate) fn ring(&self) -> Ring {
        self.reader.ring()
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.reader.has_message()
    }

    /// Takes the next message if one waits. The second value says that the sender must be rung.
    ///
    /// # Safety
    /// `into` is writable, used by nobody else, and as long as the channel was opened for.
    #[allow(unsafe_code)]
    pub unsafe fn try_recv(&mut self, into: RegionMut) -> Option<bool> {
        debug_assert_eq!(into.bytes(), self.bytes);
        if !self.reader.has_message() {
            return None;
        }
        let payload = self.reader.payload_at(lead(self.bytes), self.bytes);
        // SAFETY: the cell is published and so ours to read until we advance; `into` is writable
        // by the caller's promise, as long, and does not overlap cells.
        unsafe { copy(payload.start(), into.start(), self.bytes) };
        Some(self.reader.advance())
    }

    /// As [`InChannel::try_recv`], for who reads the message once, where it lies. Its address is a
    /// multiple of [`PAYLOAD_ALIGNMENT_BYTES`].
    #[inline]
    pub fn try_read(&mut self, read: impl FnOnce(Region)) -> Option<bool> {
        if !self.reader.has_message() {
            return None;
        }
        read(self.reader.payload_at(lead(self.bytes), self.bytes));
        Some(self.reader.advance())
    }
}

/// The sending end of a channel, once the receiver has said where it lies.
pub struct OutChannel {
    writer: RingWriter,
}

impl OutChannel {
    pub(crate) fn new(segment: Arc<SharedSegment>, ring: Ring, first: u64) -> OutChannel {
        OutChannel { writer: RingWriter::starting_at(segment, ring, first) }
    }

    /// Sends if the receiver is not too many rounds behind; the caller rings it.
    ///
    /// # Safety
    /// `data` is readable now, and as long as the channel was opened for.
    #[allow(unsafe_code)]
    pub unsafe fn try_send(&mut self, data: Region) -> bool {
        // SAFETY: passed on.
        unsafe { self.writer.push_at(lead(data.bytes()), data) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u32 = FULL_RINGS_MAX_RANKS + 1;

    #[test]
    fn an_arena_reuses_what_came_back_and_ends() {
        let mut arena = Arena::new(4096, 2 * 5000);
        let first = arena.cut(8, 32).unwrap();
        assert_eq!((first.cells, first.cell_bytes), (32, 2 * LINE));
        arena.give_back(first);
        assert_ne!(arena.cut(56, 16), Some(first), "another size");
        assert_eq!(arena.cut(56, 32), Some(first), "a freed ring of the same size");
        assert!(arena.cut(CHANNEL_MAX_BYTES, 4).is_none(), "no room left");
    }

    #[test]
    fn rings_are_short_when_half_of_the_arena_is_taken() {
        let bytes = 1 << 20;
        let mut arena = Arena::new(0, bytes);
        let rings: Vec<Ring> = std::iter::from_fn(|| arena.cut(8, 128)).collect();
        let long = rings.iter().take_while(|ring| ring.cells == 128).count();
        let half = bytes / 2 / Ring::of_cells(0, 128, 2 * LINE).bytes();
        assert!((half..=half + 1).contains(&long), "{long} long rings");
        assert!(rings[long..].iter().all(|ring| ring.cells == SCARCE_CELLS));
        assert!(rings.len() > 10 * long, "{} rings in all", rings.len());
        arena.give_back(rings[0]);
        assert_eq!(arena.cut(8, 128), Some(rings[0]), "a long one that has come back");
        assert_eq!(arena.cut(8, 128), None);
        let mut arena = Arena::new(0, bytes);
        arena.cut_for_good(bytes / 2 + LINE).unwrap();
        assert_eq!(arena.cut(8, 2).map(|ring| ring.cells), Some(2), "shorter ones stay");
    }

    #[test]
    fn rings_get_their_pages_before_they_are_used_and_some_at_once() {
        let bytes = 600 * PAGE;
        let mut arena = Arena::new(PAGE, bytes);
        let (mut seen_to, mut calls, mut rings) = (PAGE, 0, 0);
        while let Some(ring) = arena.cut(8, 32) {
            rings += 1;
            if let Some(part) = arena.see_to(&ring) {
                calls += 1;
                assert!(part.start == ring.offset.max(seen_to) && part.end <= PAGE + bytes);
                assert!(part.len() <= PREFAULT_BYTES[1]);
                seen_to = part.end;
            }
            assert!(ring.offset + ring.bytes() <= seen_to);
            arena.cut_for_good(if rings % 100 == 0 { 9 * PAGE } else { 0 });
        }
        assert!(rings > 500 && calls < rings / 10, "{calls} calls for {rings} rings");
        let mut arena = Arena::new(0, bytes);
        let ring = arena.cut(8, 32).unwrap();
        assert_eq!(arena.see_to(&ring), Some(0..PREFAULT_BYTES[0]), "one operation takes a little");
        arena.give_back(ring);
        let same = arena.cut(8, 32).unwrap();
        assert_eq!(arena.see_to(&same), None, "it was used before");
    }

    #[test]
    fn whatever_a_receiver_sends_short_messages_have_channels() {
        for is_oversubscribed in [false, true] {
            for traffic in [MessagePattern::OneWay, MessagePattern::Exchange, MessagePattern::Swap]
            {
                assert!(
                    (ALWAYS_MAX_BYTES..=CHANNEL_MAX_BYTES)
                        .contains(&longest(traffic, is_oversubscribed))
                );
            }
        }
    }

    #[test]
    fn a_message_takes_no_more_lines_than_right_behind_the_stamp_and_begins_at_a_border_if_it_can()
    {
        let lines = |bytes: usize| bytes.div_ceil(LINE);
        for bytes in 0..=CHANNEL_MAX_BYTES {
            let lead = lead(bytes);
            assert!(
                lead >= STAMP_BYTES && lead.is_multiple_of(PAYLOAD_ALIGNMENT_BYTES),
                "{lead} for {bytes} bytes"
            );
            assert_eq!(lines(lead + bytes), lines(STAMP_BYTES + bytes), "{bytes} bytes");
            assert!(lead + bytes <= cell_bytes(bytes), "{bytes} bytes fit their cell");
        }
        assert_eq!([LINE, 128, 1024, CHANNEL_MAX_BYTES].map(lead), [LINE; 4]);
        assert_eq!([8, 32, 56, 96, 57, 63].map(lead), [32, 32, 8, 32, LINE, LINE]);
    }

    #[test]
    fn few_messages_get_full_rings() {
        assert_eq!(cells(&[8; 10], MANY, false), [32; 10]);
        assert_eq!(cells(&[4096; 2], MANY, false), [4; 2]);
        assert_eq!(cells(&[4096; 15], FULL_RINGS_MAX_RANKS, false), [4; 15]);
        assert_eq!(cells(&[], MANY, false), []);
        assert_eq!(
            cells(&[8, CHANNEL_MAX_BYTES + 1, 0, CHANNEL_MAX_BYTES], MANY, false),
            [32, 0, 32, 4]
        );
    }

    #[test]
    fn who_shares_a_core_may_be_further_ahead_with_short_messages() {
        assert_eq!(cells(&[8, 1024, 1025], FULL_RINGS_MAX_RANKS, true), [128, 64, 8]);
        // As many bytes at most as for others.
        assert_eq!(cells(&[8; 26], MANY, true), cells(&[8; 26], MANY, false));
        assert_eq!(cells(&[8; 2], MANY, true), [128; 2]);
    }

    #[test]
    fn many_messages_share_what_there_is_and_the_short_ones_come_first() {
        assert!(cells(&[8; 26], MANY, false).iter().all(|&cells| cells >= 8));
        // Two cells each for five of them, and the rest without.
        assert_eq!(cells(&[4096; 26], MANY, false).iter().sum::<usize>(), 10);
        assert_eq!(cells(&[4096; 3], MANY, false), [2, 4, 4]);
        // Faces, edges and corners of a cube: no corner or edge goes without for a face.
        let cube: Vec<_> = [(4096, 6), (512, 12), (8, 8)]
            .iter()
            .flat_map(|&(bytes, many)| std::iter::repeat_n(bytes, many))
            .collect();
        let given = cells(&cube, MANY, false);
        assert!(given[6..].iter().all(|&cells| cells >= RING_MIN_CELLS), "{given:?}");
        for messages in
            [vec![8; 40], vec![4096; 26], cube, vec![8; 1000], vec![CHANNEL_MAX_BYTES; 7]]
        {
            let rings = cells(&messages, MANY, false)
                .into_iter()
                .zip(&messages)
                .filter(|&(cells, _)| cells > 0);
            let bytes = rings.map(|(cells, &bytes)| {
                assert!(cells.is_power_of_two() && cells >= RING_MIN_CELLS);
                Ring::of_cells(0, cells, cell_bytes(bytes)).bytes()
            });
            let bytes: usize = bytes.sum();
            assert!(
                bytes <= OPERATION_RINGS_MAX_BYTES && 2 * bytes > OPERATION_RINGS_MAX_BYTES,
                "{bytes} bytes for {messages:?}"
            );
        }
    }
}
