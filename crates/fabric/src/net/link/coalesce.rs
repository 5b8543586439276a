//! Coalesced frames: several cells of a ring in one message: `../README.md`, "Coalesced frames".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ptr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::PeerLink;
use crate::Region;
use crate::net::burst::{Limit, SendClass};
use crate::net::fi_endpoint::{Begun, FiEndpoint};
use crate::net::wire_ids::word;
use crate::spsc::Ring;

/// Bytes of the longest cell that is coalesced: longer cells arrived hardly sooner in a frame.
const COALESCED_CELL_MAX_BYTES: usize = 2048;
/// A coalesced frame takes at most one part in this number of a ring, so that its receiver can read
/// one frame while the sender fills the next.
const FRAME_RING_SHARE: usize = 4;
/// The cells that are held back take at most one part in this number of a cell.
const PENDING_CELL_SHARE: usize = 2;

/// Cells that have been copied into the first one of them.
#[derive(Clone, Copy, Debug)]
struct CoalescedFrame {
    cells: u64,
    bytes: usize,
    has_farewell: bool,
}

impl PeerLink {
    /// Whether cells are held back.
    pub(in crate::net) fn holds(&self) -> bool {
        self.burst.held() > 0
    }

    /// Counts a poll of the rank.
    pub(in crate::net) fn count_poll(&mut self) {
        self.burst.count_poll();
    }

    /// Takes note of a cell that may have been put into the ring. Returns its position in a burst,
    /// if there is one.
    pub(in crate::net) fn take_given(&mut self) -> Option<SendClass> {
        self.is_filled(self.sent + self.burst.held()).then(|| self.burst.give())
    }

    /// Whether to hold back the cell that was put into the ring, if the rank was outside the
    /// library for `away` before.
    pub(in crate::net) fn hold(&mut self, away: Duration) -> bool {
        let given = self.sent + self.burst.held();
        let (_, bytes) = self.content(given);
        let Ring { cells, cell_bytes, .. } = self.out.ring;
        let limit = Limit {
            cells: (cells / FRAME_RING_SHARE) as u64 - 1,
            bytes: cell_bytes / PENDING_CELL_SHARE,
        };
        // A message of several cells is long.
        bytes <= COALESCED_CELL_MAX_BYTES
            && !self.is_filled(given + 1)
            && self.burst.hold(bytes, away, limit)
    }

    /// Sends the cells that wait, if several of them fit one frame.
    pub(super) fn push_frame(&mut self, ep: &mut FiEndpoint, read: u64) -> Option<Begun> {
        let frame = self.load_frame(read)?;
        let (first, cell) = (self.sent, self.out.cell(self.sent));
        self.out.stamp(first).store(word(first + 1, read), Ordering::Relaxed);
        let begun = self.send_cell(ep, None, Region::new(cell.as_ptr(), frame.bytes));
        if begun == Begun::Yes {
            self.has_farewell |= frame.has_farewell;
            self.note_pushed(frame.cells, read);
        } else {
            self.out.stamp(first).store(first + 1, Ordering::Relaxed);
        }
        Some(begun)
    }

    /// Copies the cells behind the next cell into that one, as a frame. `None` if there are none,
    /// or if they do not fit.
    fn load_frame(&self, read: u64) -> Option<CoalescedFrame> {
        let (most, room) =
            ((self.out.ring.cells / FRAME_RING_SHARE) as u64, self.out.ring.cell_bytes);
        let is_filled = |position: &u64| self.is_filled(*position);
        let ready = (self.sent..self.sent + most).take_while(is_filled);
        ready.clone().nth(1)?;
        let mut frame = CoalescedFrame { cells: 0, bytes: 0, has_farewell: false };
        for position in ready {
            let (header, bytes) = self.content(position);
            if header.is_remote_bounced()
                || bytes > COALESCED_CELL_MAX_BYTES
                || frame.bytes + bytes > room
            {
                break;
            }
            if frame.cells > 0 {
                self.load(position, bytes, frame.bytes, word(position + 1, read));
            }
            frame.cells += 1;
            frame.bytes += bytes;
            frame.has_farewell |= header.is_farewell();
        }
        (frame.cells > 1).then_some(frame)
    }

    /// Copies a cell to the place `at` in the next cell that is sent, with `word` before it.
    fn load(&self, position: u64, bytes: usize, at: usize, word: u64) {
        let cell = self.out.cell(position);
        // SAFETY: the caller has seen that so much fits behind it in the cell.
        let into = unsafe { self.out.cell(self.sent).add(at) };
        // SAFETY: both cells are published and not yet read, so their sender leaves them alone;
        // they are different ones, and what lies at `at` is not used by the first.
        unsafe { ptr::copy_nonoverlapping(cell.as_ptr(), into.as_ptr(), bytes) };
        // SAFETY: the word takes the place of the stamp.
        unsafe { into.cast::<u64>().write_unaligned(word) };
    }
}
