//! Geometry of a ring: offsets of cells and annexes, without access to memory.

use super::{LANE_HEAD, LINE, STAMP_BYTES};

/// Where a ring lies in a segment and how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Offset of its head in the segment; a multiple of the line.
    pub offset: usize,
    /// Number of cells; a power of two.
    pub cells: usize,
    /// Bytes of a cell; a multiple of the line.
    pub cell_bytes: usize,
    /// Number of annexes: a power of two, no more than there are cells, or 0.
    pub annexes: usize,
    /// Bytes of an annex; a multiple of the line, and more than those of a cell.
    pub annex_bytes: usize,
}

impl Ring {
    /// A ring without annexes.
    pub fn of_cells(offset: usize, cells: usize, cell_bytes: usize) -> Ring {
        Ring { offset, cells, cell_bytes, annexes: 0, annex_bytes: 0 }
    }

    /// A ring of so many cells of so many bytes, with so many annexes for messages that would fit
    /// cells of so many bytes.
    pub fn with_annexes(
        offset: usize,
        (cells, cell_bytes): (usize, usize),
        (annexes, annex_bytes): (usize, usize),
    ) -> Ring {
        Ring { offset, cells, cell_bytes, annexes, annex_bytes }
    }

    /// Bytes that a ring takes, its head included.
    pub fn bytes(&self) -> usize {
        self.annexes_at() + self.annexes * self.annex_bytes
    }

    /// Bytes of the longest payload of one message, behind a header of `header` bytes.
    pub fn payload(&self, header: usize) -> usize {
        self.cell_bytes.max(self.annex_bytes) - STAMP_BYTES - header
    }

    /// Bytes of payload that fit a cell behind a header of `header` bytes.
    pub(crate) fn cell_payload(&self, header: usize) -> usize {
        self.cell_bytes - STAMP_BYTES - header
    }

    /// How many messages of the longest kind a sender may be ahead of its receiver.
    pub fn long_cells(&self) -> usize {
        if self.annexes == 0 { self.cells } else { self.annexes }
    }

    /// Bytes from the beginning of the ring to its annexes.
    pub(crate) fn annexes_at(&self) -> usize {
        LANE_HEAD + self.cells * self.cell_bytes
    }

    /// Whether the ring is one that the ends can use.
    pub(crate) fn is_sound(&self) -> bool {
        let whole_lines = [self.offset, self.cell_bytes, self.annex_bytes];
        let annexes = self.annexes == 0 || self.annexes.is_power_of_two();
        self.cells.is_power_of_two()
            && annexes
            && self.annexes <= self.cells
            && (self.annexes == 0 || self.annex_bytes > self.cell_bytes)
            && whole_lines.iter().all(|bytes| bytes.is_multiple_of(LINE))
    }
}
