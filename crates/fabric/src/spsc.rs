//! SPSC eager ring: a ring of cells from one rank (the writer) to another (the reader). Protocol
//! and proof: `README.md`, "Eager rings".
//!
//! ```text
//!   head:  | consumed (receiver writes) ... line | starving (sender writes) ... line |
//!   cells: | stamp, header, payload ... | stamp, header, payload ... | ...
//!   annexes: | payload of a message that does not fit its cell ... | ... | ...
//! ```
//!
//! The stamp lies in the same cache line as the header and the first bytes of the payload, so a
//! small message costs one line transfer. Stamps count up and are never cleared: cell `n` of the
//! endless sequence carries stamp `n + 1`.
//!
//! A sender may be as many short messages ahead of its receiver as there are cells, which saves
//! changes of context where both share a core. They are close together, so many of them lie in few
//! pages. Longer payloads have places of their own, of which there are fewer.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod prefault;

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::layout::{LANE_HEAD, LINE};
pub use crate::layout::{Ring, STAMP_BYTES};
use crate::memory::{copy, copy_many};
use crate::{Region, RegionMut, SharedSegment};
use prefault::Prefault;

/// Who fills a cell asks for as many lines of the one that is filled so many messages later, or an
/// eighth of the ring if that is less: what the receiver has read lies in its cache, and takes as
/// long as a message to come back.
const PREFETCH_MESSAGES: u64 = 6;
/// Not in rings with shorter cells: where each line is a cell the receiver's processor fetches the
/// next ones by itself, before they are filled.
const PREFETCH_MIN_SLOT_BYTES: usize = 2 * LINE;
/// So many lines of a cell are asked for at most.
const PREFETCH_MAX_LINES: usize = 20;
/// Who reads a cell of a sender that is ahead asks for the first line of the one so many messages
/// later: to come from the other core it takes longer than all else that a short message costs.
const READ_PREFETCH_MESSAGES: u64 = 2;
/// After so many messages it is looked whether the sender is ahead. To ask for lines before they
/// are filled would take them from a sender that is not.
const LEAD_CHECK_MESSAGES: u64 = 32;

impl Ring {
    /// Makes a ring fresh: no stamp in it is one that will be waited for.
    ///
    /// Only for rings that nobody uses: before the other side hears of it.
    pub fn clear(&self, segment: &SharedSegment) {
        assert!(self.is_sound());
        segment.word64(self.offset).store(0, Ordering::Relaxed);
        segment.word32(self.offset + LINE).store(0, Ordering::Relaxed);
        for cell in 0..self.cells {
            let stamp = self.offset + LANE_HEAD + cell * self.cell_bytes;
            segment.word64(stamp).store(0, Ordering::Relaxed);
        }
    }
}

/// What both ends know of a ring: its place in this process. Keeps the mapping alive.
pub(crate) struct MappedRing {
    segment: Arc<SharedSegment>,
    pub(crate) ring: Ring,
    cells: NonNull<u8>,
    annexes: NonNull<u8>,
    mask: u64,
}

impl MappedRing {
    pub(crate) fn new(segment: Arc<SharedSegment>, ring: Ring) -> MappedRing {
        assert!(ring.is_sound() && ring.offset + ring.bytes() <= segment.layout().total());
        let cells = segment.at(ring.offset + LANE_HEAD);
        let annexes =
            if ring.annexes == 0 { cells } else { segment.at(ring.offset + ring.annexes_at()) };
        MappedRing { segment, ring, cells, annexes, mask: ring.cells as u64 - 1 }
    }

    pub(crate) fn consumed(&self) -> &AtomicU64 {
        self.segment.word64(self.ring.offset)
    }

    fn writer_waiting(&self) -> &AtomicU32 {
        self.segment.word32(self.ring.offset + LINE)
    }

    /// The cell for a position of the endless sequence.
    pub(crate) fn cell(&self, position: u64) -> NonNull<u8> {
        let index = (position & self.mask) as usize;
        // SAFETY: `new` checked that all cells lie inside the segment; the index is below their
        // number.
        unsafe { self.cells.add(index * self.ring.cell_bytes) }
    }

    pub(crate) fn stamp(&self, position: u64) -> &AtomicU64 {
        // SAFETY: a cell starts with its stamp, aligned to a line, alive with the segment, and
        // only ever used as an atomic.
        unsafe { self.cell(position).cast::<AtomicU64>().as_ref() }
    }

    fn body(&self, position: u64) -> NonNull<u8> {
        // SAFETY: a cell is at least a line long, so its byte 8 lies inside.
        unsafe { self.cell(position).add(STAMP_BYTES) }
    }

    /// The annex for a position of the endless sequence, in a ring that has some.
    fn overflow_slot(&self, position: u64) -> NonNull<u8> {
        let index = position as usize & (self.ring.annexes - 1);
        // SAFETY: `new` checked that all annexes lie inside the segment; the index is below their
        // number.
        unsafe { self.annexes.add(index * self.ring.annex_bytes) }
    }

    /// Where a payload of so many bytes behind a header of `header` bytes lies, if not in the cell.
    #[inline]
    fn overflow_of(&self, position: u64, header: usize, bytes: usize) -> Option<NonNull<u8>> {
        (bytes > self.ring.cell_payload(header)).then(|| self.overflow_slot(position))
    }
}

/// The sending end. There must be one per ring in the whole world.
pub struct RingWriter {
    place: MappedRing,
    /// Position of the next cell to fill.
    next: u64,
    /// How many cells before it is filled a cell is asked for; 0 if none is.
    ahead: u64,
    /// Positions below this one are known to be free to fill, and have their pages.
    free_below: u64,
    pages: Prefault,
    /// The first position of all: below it nothing was ever sent.
    first: u64,
}

// SAFETY: the end is one owner's state plus a mapping that may be used from any thread.
unsafe impl Send for RingWriter {}

impl RingWriter {
    /// The sending end of a fresh ring.
    pub fn new(segment: Arc<SharedSegment>, ring: Ring) -> RingWriter {
        RingWriter::starting_at(segment, ring, 0)
    }

    /// As [`RingWriter::new`], with the position of the first message; the other end has the same.
    pub fn starting_at(segment: Arc<SharedSegment>, ring: Ring, first: u64) -> RingWriter {
        let place = MappedRing::new(segment, ring);
        let ahead = if ring.cell_bytes < PREFETCH_MIN_SLOT_BYTES {
            0
        } else {
            (ring.long_cells() as u64 / 8).min(PREFETCH_MESSAGES)
        };
        let pages = Prefault::of(&ring);
        let free_below = first + pages.cells();
        RingWriter { place, next: first, ahead, free_below, pages, first }
    }

    /// Positions below this one are free to fill. Until the receiver first says how far it has
    /// read, the word holds 0.
    fn room(&self) -> u64 {
        let consumed = self.place.consumed().load(Ordering::Acquire);
        consumed.max(self.first) + self.place.ring.cells as u64
    }

    /// Cells that have been filled since the beginning.
    pub fn filled(&self) -> u64 {
        self.next - self.first
    }

    /// Bytes of the longest payload of one message behind a header of type `H`.
    pub fn payload<H>(&self) -> usize {
        self.place.ring.payload(size_of::<H>())
    }

    /// Fills the next cell and publishes it, or does nothing and says `false` if none is free.
    /// The caller rings the receiver's doorbell.
    ///
    /// # Safety
    /// `payload` is readable now.
    ///
    /// # Panics
    /// If header and payload do not fit a cell.
    pub unsafe fn push<H: Copy>(&mut self, header: H, payload: Region) -> bool {
        assert!(payload.bytes() <= self.payload::<H>() && align_of::<H>() <= STAMP_BYTES);
        if payload.bytes() > self.place.ring.cell_payload(size_of::<H>()) {
            // SAFETY: passed on.
            return unsafe { self.push_long(header, payload) };
        }
        if self.next == self.free_below && !self.find_room(self.next + 1) {
            return false;
        }
        let body = self.place.body(self.next);
        // SAFETY: header and payload fit the cell, as just seen.
        let behind = unsafe { body.add(size_of::<H>()) };
        let first = payload.bytes().min(const { Self::first_bytes(size_of::<H>()) });
        if first < payload.bytes() {
            let rest = payload.part(first, payload.bytes() - first);
            // SAFETY: the payload fits the cell.
            let at = unsafe { behind.add(first) };
            // SAFETY: the cell is ours until stamped (README, "Eager rings"); the payload is
            // readable by the caller's promise, and user memory never overlaps cells.
            unsafe { copy_many(rest.start(), at.as_ptr(), rest.bytes()) };
        }
        // SAFETY: as above; the body is 8-aligned, as is the header, as asserted.
        unsafe { body.cast::<H>().write(header) };
        // SAFETY: as for the rest.
        unsafe { copy(payload.start(), behind.as_ptr(), first) };
        self.stamp_cell(STAMP_BYTES + size_of::<H>() + payload.bytes());
        true
    }

    /// As [`RingWriter::push`], with no header: the payload begins so many bytes after the start of
    /// its cell.
    ///
    /// # Safety
    /// As for [`RingWriter::push`].
    ///
    /// # Panics
    /// If the payload does not fit the cell there, or would lie over the stamp.
    pub(crate) unsafe fn push_at(&mut self, lead: usize, payload: Region) -> bool {
        assert!(lead >= STAMP_BYTES && lead + payload.bytes() <= self.place.ring.cell_bytes);
        if self.next == self.free_below && !self.find_room(self.next + 1) {
            return false;
        }
        // SAFETY: the payload fits the cell there, as just seen.
        let at = unsafe { self.place.cell(self.next).add(lead) };
        // SAFETY: the cell is ours until stamped (README, "Eager rings"); the payload is readable
        // by the caller's promise, and user memory never overlaps cells.
        unsafe { copy(payload.start(), at.as_ptr(), payload.bytes()) };
        self.stamp_cell(lead + payload.bytes());
        true
    }

    /// The same for a payload that does not fit the cell.
    ///
    /// # Safety
    /// As for [`RingWriter::push`].
    unsafe fn push_long<H: Copy>(&mut self, header: H, payload: Region) -> bool {
        if !self.has_room(1) {
            return false;
        }
        self.pages.prefault_overflow(&self.place);
        let annex = self.place.overflow_slot(self.next);
        // SAFETY: the annex is ours until the cell is stamped, since there is room for a message
        // of the longest kind (README, "Eager rings"); the rest is as in `push`.
        unsafe { copy_many(payload.start(), annex.as_ptr(), payload.bytes()) };
        // SAFETY: the body is 8-aligned, as is the header, and it fits the cell, as asserted.
        unsafe { self.place.body(self.next).cast::<H>().write(header) };
        self.stamp();
        if self.ahead > 0 {
            let soon = self.next + self.ahead;
            own_soon(self.place.cell(soon), STAMP_BYTES + size_of::<H>());
            own_soon(self.place.overflow_slot(soon), payload.bytes());
        }
        true
    }

    /// Stamps the next cell, so many bytes of which have been filled, and asks for the one that
    /// comes some messages later.
    #[inline]
    fn stamp_cell(&mut self, bytes: usize) {
        self.stamp();
        if self.ahead > 0 {
            own_soon(self.place.cell(self.next + self.ahead), bytes);
        }
    }

    /// Stamps the next cell, which has been filled.
    #[inline]
    fn stamp(&mut self) {
        self.place.stamp(self.next).store(self.next + 1, Ordering::Release);
        self.next += 1;
    }

    /// How much of a payload goes after the rest of it, behind a header of `header` bytes.
    ///
    /// What does not fit the first line goes before it: a receiver that waits for messages looks
    /// at that line all the time, and whoever writes to it in two goes waits for it twice.
    const fn first_bytes(header: usize) -> usize {
        (LINE - STAMP_BYTES).saturating_sub(header)
    }

    /// Whether so many messages of the longest kind have room: at most half of what may ever have
    /// it, or there may never be so much.
    pub fn has_room(&mut self, messages: usize) -> bool {
        let ring = &self.place.ring;
        debug_assert!(messages <= ring.long_cells().div_ceil(2));
        let end = self.next + (messages + ring.cells - ring.long_cells()) as u64;
        end <= self.free_below || self.find_room(end)
    }

    /// Whether the receiver has made room for the next message, as far as it has said. Leaves no
    /// word that we starve.
    #[inline]
    pub(crate) fn sees_room(&self) -> bool {
        self.next < self.room()
    }

    /// Looks how far the receiver has read. If positions below `end` are not all free, leaves word
    /// that we starve.
    #[cold]
    fn find_room(&mut self, end: u64) -> bool {
        let mut room = self.room();
        if end > room {
            self.place.writer_waiting().store(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            room = self.room();
        }
        self.free_below = match self.pages.prefault_cells(&self.place, self.filled()) {
            Some(cells) => room.min(self.first + cells),
            None => room,
        };
        end <= room
    }
}

/// The receiving end. There must be one per ring in the whole world.
pub struct RingReader {
    place: MappedRing,
    /// Position of the next cell to read.
    next: u64,
    /// What the sender was last told about `next`.
    published: u64,
    /// The sender is told after so many cells.
    told_each: u64,
    /// Whether the sender was ahead when we looked last.
    is_behind: bool,
    /// Whether the last message went on behind the first line of its cell.
    is_longer: Cell<bool>,
}

// SAFETY: as for `Outlet`.
unsafe impl Send for RingReader {}

impl RingReader {
    /// The receiving end of a fresh ring.
    pub fn new(segment: Arc<SharedSegment>, ring: Ring) -> RingReader {
        RingReader::starting_at(segment, ring, 0)
    }

    /// As [`RingReader::new`], with the position of the first message; the other end has the same.
    pub fn starting_at(segment: Arc<SharedSegment>, ring: Ring, first: u64) -> RingReader {
        let told_each = (ring.long_cells() as u64).div_ceil(2);
        let place = MappedRing::new(segment, ring);
        let is_longer = Cell::new(false);
        RingReader { place, next: first, published: first, told_each, is_behind: false, is_longer }
    }

    /// The ring.
    pub(crate) fn ring(&self) -> Ring {
        self.place.ring
    }

    /// Bytes of the longest payload of one message behind a header of type `H`.
    pub fn payload<H>(&self) -> usize {
        self.place.ring.payload(size_of::<H>())
    }

    /// Whether a cell waits to be read.
    #[inline]
    pub fn has_message(&self) -> bool {
        self.place.stamp(self.next).load(Ordering::Acquire) == self.next + 1
    }

    /// The header of the next cell, if one waits.
    ///
    /// # Safety
    /// The sender pushes headers of type `H`, and every bit pattern is a value of it.
    #[inline]
    pub unsafe fn peek<H: Copy>(&self) -> Option<H> {
        if !self.has_message() {
            return None;
        }
        // SAFETY: the stamp says that the sender has published this cell (README, "Eager rings")
        // with a header of this type, by the caller's promise.
        Some(unsafe { self.place.body(self.next).cast::<H>().read() })
    }

    /// Copies the payload behind a header of type `H` of the next message, which must wait.
    ///
    /// # Safety
    /// `into` is writable, and nobody else uses it now. It is as long as the payload.
    pub unsafe fn copy_payload<H>(&self, into: RegionMut) {
        let payload = self.payload_of::<H>(into.bytes());
        // SAFETY: the cell is published and so ours to read until we advance; `into` is writable
        // by the caller's promise and does not overlap cells.
        unsafe { copy(payload.start(), into.start(), into.bytes()) };
    }

    /// Where the payload lies behind a header of type `H` of the next message, which must wait: to
    /// be read before [`RingReader::advance`].
    ///
    /// # Panics
    /// If no cell waits or a payload cannot be so long.
    #[inline]
    pub fn payload_of<H>(&self, bytes: usize) -> Region {
        assert!(self.has_message() && bytes <= self.place.ring.payload(size_of::<H>()));
        let annex = self.place.overflow_of(self.next, size_of::<H>(), bytes);
        self.is_longer.set(STAMP_BYTES + size_of::<H>() + bytes > LINE);
        // SAFETY: the header lies inside the cell, and so does what follows it.
        let behind = unsafe { self.place.body(self.next).add(size_of::<H>()) };
        Region::new(annex.unwrap_or(behind).as_ptr(), bytes)
    }

    /// Where so many bytes lie that were sent [at such a place](RingWriter::push_at), as
    /// [`RingReader::payload_of`].
    ///
    /// # Panics
    /// If no cell waits, or a payload cannot be there.
    #[inline]
    pub(crate) fn payload_at(&self, lead: usize, bytes: usize) -> Region {
        assert!(self.has_message() && lead + bytes <= self.place.ring.cell_bytes);
        self.is_longer.set(lead + bytes > LINE);
        // SAFETY: the payload lies in the cell, as just seen.
        Region::new(unsafe { self.place.cell(self.next).add(lead) }.as_ptr(), bytes)
    }

    /// Gives the next cell back. Says whether the sender starves and must be rung.
    ///
    /// The sender is told only when half of what it may be ahead with long messages has been read:
    /// it needs to know no earlier, and the line in which it is told stays in our cache meanwhile.
    #[inline]
    #[must_use]
    pub fn advance(&mut self) -> bool {
        self.next += 1;
        if self.next.is_multiple_of(LEAD_CHECK_MESSAGES) {
            let last = self.next + READ_PREFETCH_MESSAGES - 1;
            self.is_behind = self.place.stamp(last).load(Ordering::Relaxed) == last + 1;
        }
        if self.is_behind {
            read_soon(self.place.cell(self.next + READ_PREFETCH_MESSAGES), self.is_longer.get());
        }
        if self.next - self.published < self.told_each {
            return false;
        }
        self.publish()
    }

    fn publish(&mut self) -> bool {
        self.published = self.next;
        self.place.consumed().store(self.next, Ordering::Release);
        fence(Ordering::SeqCst);
        let starving = self.place.writer_waiting();
        starving.load(Ordering::Relaxed) == 1 && starving.swap(0, Ordering::SeqCst) == 1
    }
}

/// Asks the processor for the first line of a cell, or the first two, to read them soon. A hint,
/// too. To ask for more makes longer messages slower: the processor sees by itself that they go on.
#[inline]
fn read_soon(cell: NonNull<u8>, is_longer: bool) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..1 + usize::from(is_longer) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let at = cell.as_ptr().wrapping_add(line * LINE);
        // SAFETY: a prefetch touches no memory that a program could tell, and does not fail
        // wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (cell, is_longer);
}

/// Asks the processor for the first bytes of a cell, to write there soon. A hint, which changes
/// nothing but times.
#[inline]
fn own_soon(cell: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..bytes.div_ceil(LINE).min(PREFETCH_MAX_LINES) {
        let at = cell.as_ptr().wrapping_add(line * LINE);
        // SAFETY: a prefetch touches no memory that a program could tell, and does not fail
        // wherever it points; processors that do not know this one pass over it.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (cell, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchdog::Watchdog;

    fn ends(cells: usize, cell_bytes: usize) -> (RingWriter, RingReader) {
        with_annexes((cells, cell_bytes), (0, 0))
    }

    fn with_annexes(cells: (usize, usize), annexes: (usize, usize)) -> (RingWriter, RingReader) {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let ring = Ring::with_annexes(segment.layout().arena(0), cells, annexes);
        ring.clear(&segment);
        (RingWriter::new(segment.clone(), ring), RingReader::new(segment, ring))
    }

    fn push(writer: &mut RingWriter, header: u64, payload: &[u8]) -> bool {
        // SAFETY: a live slice.
        unsafe { writer.push(header, Region::of(payload)) }
    }

    fn peek(reader: &RingReader) -> Option<u64> {
        // SAFETY: the tests push `u64` headers.
        unsafe { reader.peek::<u64>() }
    }

    #[test]
    fn positions_may_pass_any_power_of_two() {
        for power in [24, 31, 32, 48] {
            let segment = Arc::new(SharedSegment::private(1).unwrap());
            let ring = Ring::of_cells(segment.layout().arena(0), 4, 64);
            ring.clear(&segment);
            let first = (1 << power) - 6;
            let mut writer = RingWriter::starting_at(segment.clone(), ring, first);
            let mut reader = RingReader::starting_at(segment, ring, first);
            let (mut sent, mut received) = (0, 0);
            // More and more behind, up to a full ring, before anything was ever read and later.
            for pushes in [9, 1, 2, 3, 9, 9] {
                for _ in 0..pushes {
                    let has_room = sent - received < 4;
                    let told = push(&mut writer, sent, b"x");
                    assert!(has_room || !told, "position {sent} overruns its reader");
                    sent += u64::from(told);
                }
                assert!(sent > received, "no room after all was read");
                while let Some(header) = peek(&reader) {
                    assert_eq!(header, received);
                    received += 1;
                    let _ = reader.advance();
                }
                assert_eq!(received, sent);
            }
            assert!(received > 12);
        }
    }

    #[test]
    fn a_full_ring_refuses_and_the_starving_sender_is_rung() {
        let (mut writer, mut reader) = ends(4, 64);
        for round in 0..4 {
            assert!(push(&mut writer, round, b"x"));
        }
        assert!(!push(&mut writer, 4, b"x"));
        assert_eq!(peek(&reader), Some(0));
        assert!(!reader.advance(), "told only when half of the ring has been read");
        assert!(reader.advance(), "the sender starves");
        assert!(push(&mut writer, 4, b"x") && push(&mut writer, 5, b"x"));
        assert!(!push(&mut writer, 6, b"x"));
    }

    #[test]
    fn a_reader_knows_whether_its_sender_is_ahead() {
        let (mut writer, mut reader) = ends(8, 64);
        for ahead in [1, 3, 2, 4] {
            let mut sent = writer.filled();
            for received in reader.next..reader.next + 2 * LEAD_CHECK_MESSAGES {
                while sent < received + ahead {
                    assert!(push(&mut writer, sent, b"x"));
                    sent += 1;
                }
                assert_eq!(peek(&reader), Some(received));
                let _ = reader.advance();
            }
            // One that waits for us to answer has filled no more than the next cell.
            assert_eq!(reader.is_behind, ahead > READ_PREFETCH_MESSAGES, "{ahead} cells ahead");
            while reader.has_message() {
                let _ = reader.advance();
            }
        }
    }

    #[test]
    fn short_messages_may_be_further_ahead_than_long_ones() {
        let (mut writer, mut reader) = with_annexes((8, 64), (2, 128));
        let (short, long) = ([1; 48], [2; 112]);
        assert_eq!(writer.payload::<u64>(), long.len());
        assert!(push(&mut writer, 0, &long) && writer.has_room(1));
        assert!(push(&mut writer, 1, &long) && !writer.has_room(1));
        assert!(!push(&mut writer, 2, &long[..49]), "no annex is left");
        for round in 2..8 {
            assert!(push(&mut writer, round, &short));
        }
        assert!(!push(&mut writer, 8, &short), "no cell is left");
        for round in 0..8 {
            assert_eq!(peek(&reader), Some(round));
            let mut payload = vec![0; if round < 2 { long.len() } else { short.len() }];
            // SAFETY: a live buffer, as long as the payload.
            unsafe { reader.copy_payload::<u64>(RegionMut::of(&mut payload)) };
            assert!(payload.iter().all(|&byte| byte == if round < 2 { 2 } else { 1 }));
            let is_rung = reader.advance();
            assert_eq!(is_rung, round == 0, "told as often as long messages need it");
            let has_annex = writer.next + 1 - reader.next <= 2;
            assert_eq!(writer.has_room(1), has_annex, "after {round}");
            writer.place.writer_waiting().store(0, Ordering::Relaxed);
        }
    }

    #[test]
    fn two_threads_pass_everything_in_order() {
        pass_everything(ends(8, 128));
        pass_everything(with_annexes((16, 64), (4, 128)));
        pass_everything(with_annexes((4, 64), (1, 128)));
    }

    fn pass_everything((mut writer, mut reader): (RingWriter, RingReader)) {
        let _watchdog = Watchdog::start();
        const MESSAGES: u64 = 100_000;
        let sender = std::thread::spawn(move || {
            for message in 0..MESSAGES {
                let payload = [message as u8; 100];
                while !push(&mut writer, message, &payload[..(message % 101) as usize]) {
                    std::thread::yield_now();
                }
            }
        });
        for message in 0..MESSAGES {
            while peek(&reader).is_none() {
                std::thread::yield_now();
            }
            assert_eq!(peek(&reader), Some(message));
            let mut payload = vec![0u8; (message % 101) as usize];
            // SAFETY: a live buffer.
            unsafe { reader.copy_payload::<u64>(RegionMut::of(&mut payload)) };
            assert!(payload.iter().all(|&byte| byte == message as u8));
            let _ = reader.advance();
        }
        sender.join().unwrap();
    }
}
