//! A ring of cells from one rank to another: one writer, one reader. Protocol and proof:
//! `README.md`, "Lanes".
//!
//! ```text
//!   head:  | consumed (receiver writes) ... line | starving (sender writes) ... line |
//!   cells: | stamp, header, payload ... | stamp, header, payload ... | ...
//! ```
//!
//! The stamp lies in the same cache line as the header and the first bytes of the payload, so a
//! small message costs one line transfer. Stamps count up and are never cleared: cell `n` of the
//! endless sequence carries stamp `n + 1`.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::layout::{LANE_HEAD, LINE};
use crate::{Region, RegionMut, Segment};

/// Bytes of a cell's stamp.
pub const STAMP: usize = 8;

/// Who fills a cell asks for as many lines of the one that is filled so many messages later, or an
/// eighth of the ring if that is less: what the receiver has read lies in its cache, and takes as
/// long as a message to come back.
const AHEAD: u64 = 6;
/// Not in rings with shorter cells: where each line is a cell the receiver's processor fetches the
/// next ones by itself, before they are filled.
const SPARSE: usize = 2 * LINE;
/// So many lines of a cell are asked for at most.
const MOST_LINES: usize = 20;

/// Where a ring lies in a segment and how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Offset of its head in the segment; a multiple of the line.
    pub offset: usize,
    /// Number of cells; a power of two.
    pub cells: usize,
    /// Bytes of a cell; a multiple of the line.
    pub cell_bytes: usize,
}

impl Ring {
    /// Bytes that a ring takes, its head included.
    pub fn bytes(&self) -> usize {
        LANE_HEAD + self.cells * self.cell_bytes
    }

    /// Bytes of payload that fit a cell behind a header of `header` bytes.
    pub fn payload(&self, header: usize) -> usize {
        self.cell_bytes - STAMP - header
    }

    /// Makes a ring fresh: no stamp in it is one that will be waited for.
    ///
    /// Only for rings that nobody uses: before the other side hears of it.
    pub fn clear(&self, segment: &Segment) {
        assert!(self.cells.is_power_of_two() && self.cell_bytes.is_multiple_of(LINE));
        segment.word64(self.offset).store(0, Ordering::Relaxed);
        segment.word32(self.offset + LINE).store(0, Ordering::Relaxed);
        for cell in 0..self.cells {
            let stamp = self.offset + LANE_HEAD + cell * self.cell_bytes;
            segment.word64(stamp).store(0, Ordering::Relaxed);
        }
    }
}

/// What both ends know of a ring: its place in this process. Keeps the mapping alive.
pub(crate) struct Place {
    segment: Arc<Segment>,
    pub(crate) ring: Ring,
    cells: NonNull<u8>,
    mask: u64,
}

impl Place {
    pub(crate) fn new(segment: Arc<Segment>, ring: Ring) -> Place {
        assert!(ring.cells.is_power_of_two() && ring.cell_bytes.is_multiple_of(LINE));
        let end = ring.offset + ring.bytes();
        assert!(ring.offset.is_multiple_of(LINE) && end <= segment.layout().total());
        let cells = segment.at(ring.offset + LANE_HEAD);
        Place { segment, ring, cells, mask: ring.cells as u64 - 1 }
    }

    pub(crate) fn consumed(&self) -> &AtomicU64 {
        self.segment.word64(self.ring.offset)
    }

    fn starving(&self) -> &AtomicU32 {
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
        unsafe { self.cell(position).add(STAMP) }
    }
}

/// The sending end. There must be one per ring in the whole world.
pub struct Outlet {
    place: Place,
    /// Position of the next cell to fill.
    next: u64,
    /// How many cells before it is filled a cell is asked for; 0 if none is.
    ahead: u64,
    /// Positions below this one are known to be free to fill.
    free_below: u64,
    /// The first position of all: below it nothing was ever sent.
    first: u64,
}

// SAFETY: the end is one owner's state plus a mapping that may be used from any thread.
unsafe impl Send for Outlet {}

impl Outlet {
    /// The sending end of a fresh ring.
    pub fn new(segment: Arc<Segment>, ring: Ring) -> Outlet {
        Outlet::starting_at(segment, ring, 0)
    }

    /// As [`Outlet::new`], with the position of the first message; the other end has the same.
    pub fn starting_at(segment: Arc<Segment>, ring: Ring, first: u64) -> Outlet {
        let place = Place::new(segment, ring);
        let ahead = if ring.cell_bytes < SPARSE { 0 } else { (ring.cells as u64 / 8).min(AHEAD) };
        let free_below = first + ring.cells as u64;
        Outlet { place, next: first, ahead, free_below, first }
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

    /// Bytes of payload that fit one cell behind a header of type `H`.
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
        assert!(payload.bytes() <= self.payload::<H>() && align_of::<H>() <= STAMP);
        if self.next == self.free_below && !self.find_room(1) {
            return false;
        }
        let body = self.place.body(self.next);
        // SAFETY: header and payload fit the cell, as asserted.
        let behind = unsafe { body.add(size_of::<H>()) };
        let first = payload.bytes().min(const { Self::first_bytes(size_of::<H>()) });
        if first < payload.bytes() {
            let rest = payload.part(first, payload.bytes() - first);
            // SAFETY: the payload fits the cell.
            let at = unsafe { behind.add(first) };
            // SAFETY: the cell is ours until stamped (README, "Lanes"); the payload is readable by
            // the caller's promise, and user memory never overlaps cells.
            unsafe { at.as_ptr().copy_from_nonoverlapping(rest.start(), rest.bytes()) };
        }
        // SAFETY: as above; the body is 8-aligned, as is the header, as asserted.
        unsafe { body.cast::<H>().write(header) };
        // SAFETY: as for the rest.
        unsafe { behind.as_ptr().copy_from_nonoverlapping(payload.start(), first) };
        self.place.stamp(self.next).store(self.next + 1, Ordering::Release);
        self.next += 1;
        let bytes = STAMP + size_of::<H>() + payload.bytes();
        if self.ahead > 0 {
            own_soon(self.place.cell(self.next + self.ahead), bytes);
        }
        true
    }

    /// How much of a payload goes after the rest of it, behind a header of `header` bytes.
    ///
    /// What does not fit the first line goes before it: a receiver that waits for messages looks
    /// at that line all the time, and whoever writes to it in two goes waits for it twice. A
    /// channel, where there is no header, is looked at less often, and two copies cost more.
    const fn first_bytes(header: usize) -> usize {
        if header == 0 { usize::MAX } else { (LINE - STAMP).saturating_sub(header) }
    }

    /// Whether the next so many cells are free: at most half of all, or there may never be so many.
    pub fn has_room(&mut self, cells: usize) -> bool {
        debug_assert!(cells <= self.place.ring.cells.div_ceil(2));
        self.next + cells as u64 <= self.free_below || self.find_room(cells as u64)
    }

    /// Looks how far the receiver has read. If there is no room, leaves word that we starve.
    #[cold]
    fn find_room(&mut self, cells: u64) -> bool {
        self.free_below = self.room();
        if self.next + cells <= self.free_below {
            return true;
        }
        self.place.starving().store(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.free_below = self.room();
        self.next + cells <= self.free_below
    }
}

/// The receiving end. There must be one per ring in the whole world.
pub struct Inlet {
    place: Place,
    /// Position of the next cell to read.
    next: u64,
    /// What the sender was last told about `next`.
    published: u64,
}

// SAFETY: as for `Outlet`.
unsafe impl Send for Inlet {}

impl Inlet {
    /// The receiving end of a fresh ring.
    pub fn new(segment: Arc<Segment>, ring: Ring) -> Inlet {
        Inlet::starting_at(segment, ring, 0)
    }

    /// As [`Inlet::new`], with the position of the first message; the other end has the same.
    pub fn starting_at(segment: Arc<Segment>, ring: Ring, first: u64) -> Inlet {
        Inlet { place: Place::new(segment, ring), next: first, published: first }
    }

    /// The ring.
    pub(crate) fn ring(&self) -> Ring {
        self.place.ring
    }

    /// Bytes of payload that fit one cell behind a header of type `H`.
    pub fn payload<H>(&self) -> usize {
        self.place.ring.payload(size_of::<H>())
    }

    /// Whether a cell waits to be read.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.place.stamp(self.next).load(Ordering::Acquire) == self.next + 1
    }

    /// The header of the next cell, if one waits.
    ///
    /// # Safety
    /// The sender pushes headers of type `H`, and every bit pattern is a value of it.
    #[inline]
    pub unsafe fn peek<H: Copy>(&self) -> Option<H> {
        if !self.has_news() {
            return None;
        }
        // SAFETY: the stamp says that the sender has published this cell (README, "Lanes") with
        // a header of this type, by the caller's promise.
        Some(unsafe { self.place.body(self.next).cast::<H>().read() })
    }

    /// Copies the payload behind a header of type `H` out of the next cell, which must wait.
    ///
    /// # Safety
    /// `into` is writable, and nobody else uses it now.
    ///
    /// # Panics
    /// If no cell waits or `into` is longer than a payload can be.
    pub unsafe fn copy_payload<H>(&self, into: RegionMut) {
        assert!(self.has_news() && into.bytes() <= self.place.ring.payload(size_of::<H>()));
        // SAFETY: header and payload lie inside the cell.
        let payload = unsafe { self.place.body(self.next).add(size_of::<H>()) };
        // SAFETY: the cell is published and so ours to read until we advance; `into` is writable
        // by the caller's promise and does not overlap cells.
        unsafe { into.start().copy_from_nonoverlapping(payload.as_ptr(), into.bytes()) };
    }

    /// Gives the next cell back. Says whether the sender starves and must be rung.
    ///
    /// The sender is told only every half ring: it needs to know no earlier, and the line in
    /// which it is told stays in our cache meanwhile.
    #[inline]
    #[must_use]
    pub fn advance(&mut self) -> bool {
        self.next += 1;
        if (self.next - self.published) * 2 < self.place.ring.cells as u64 {
            return false;
        }
        self.publish()
    }

    fn publish(&mut self) -> bool {
        self.published = self.next;
        self.place.consumed().store(self.next, Ordering::Release);
        fence(Ordering::SeqCst);
        let starving = self.place.starving();
        starving.load(Ordering::Relaxed) == 1 && starving.swap(0, Ordering::SeqCst) == 1
    }
}

/// Asks the processor for the first bytes of a cell, to write there soon. A hint, which changes
/// nothing but times.
#[inline]
fn own_soon(cell: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..bytes.div_ceil(LINE).min(MOST_LINES) {
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

    fn ends(cells: usize, cell_bytes: usize) -> (Outlet, Inlet) {
        let segment = Arc::new(Segment::private(1).unwrap());
        let ring = Ring { offset: segment.layout().arena(0), cells, cell_bytes };
        ring.clear(&segment);
        (Outlet::new(segment.clone(), ring), Inlet::new(segment, ring))
    }

    fn push(outlet: &mut Outlet, header: u64, payload: &[u8]) -> bool {
        // SAFETY: a live slice.
        unsafe { outlet.push(header, Region::of(payload)) }
    }

    fn peek(inlet: &Inlet) -> Option<u64> {
        // SAFETY: the tests push `u64` headers.
        unsafe { inlet.peek::<u64>() }
    }

    #[test]
    fn positions_may_pass_any_power_of_two() {
        for power in [24, 31, 32, 48] {
            let segment = Arc::new(Segment::private(1).unwrap());
            let ring = Ring { offset: segment.layout().arena(0), cells: 4, cell_bytes: 64 };
            ring.clear(&segment);
            let first = (1 << power) - 6;
            let mut outlet = Outlet::starting_at(segment.clone(), ring, first);
            let mut inlet = Inlet::starting_at(segment, ring, first);
            let (mut sent, mut received) = (0, 0);
            // More and more behind, up to a full ring, before anything was ever read and later.
            for pushes in [9, 1, 2, 3, 9, 9] {
                for _ in 0..pushes {
                    let has_room = sent - received < 4;
                    let told = push(&mut outlet, sent, b"x");
                    assert!(has_room || !told, "position {sent} overruns its reader");
                    sent += u64::from(told);
                }
                assert!(sent > received, "no room after all was read");
                while let Some(header) = peek(&inlet) {
                    assert_eq!(header, received);
                    received += 1;
                    let _ = inlet.advance();
                }
                assert_eq!(received, sent);
            }
            assert!(received > 12);
        }
    }

    #[test]
    fn a_full_ring_refuses_and_the_starving_sender_is_rung() {
        let (mut outlet, mut inlet) = ends(4, 64);
        for round in 0..4 {
            assert!(push(&mut outlet, round, b"x"));
        }
        assert!(!push(&mut outlet, 4, b"x"));
        assert_eq!(peek(&inlet), Some(0));
        assert!(!inlet.advance(), "told only every half ring");
        assert!(inlet.advance(), "the sender starves");
        assert!(push(&mut outlet, 4, b"x") && push(&mut outlet, 5, b"x"));
        assert!(!push(&mut outlet, 6, b"x"));
    }

    #[test]
    fn two_threads_pass_everything_in_order() {
        const MESSAGES: u64 = 200_000;
        let (mut outlet, mut inlet) = ends(8, 128);
        let sender = std::thread::spawn(move || {
            for message in 0..MESSAGES {
                let payload = [message as u8; 100];
                while !push(&mut outlet, message, &payload[..(message % 101) as usize]) {
                    std::thread::yield_now();
                }
            }
        });
        for message in 0..MESSAGES {
            while peek(&inlet).is_none() {
                std::thread::yield_now();
            }
            assert_eq!(peek(&inlet), Some(message));
            let mut payload = vec![0u8; (message % 101) as usize];
            // SAFETY: a live buffer.
            unsafe { inlet.copy_payload::<u64>(RegionMut::of(&mut payload)) };
            assert!(payload.iter().all(|&byte| byte == message as u8));
            let _ = inlet.advance();
        }
        sender.join().unwrap();
    }
}
