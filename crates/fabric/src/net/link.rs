//! The link to one rank on another host: carries the cells of the eager rings in both directions.
//! Protocol: `README.md`, "A ring that spans two hosts", "Remote writes" and "Flow control".

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod coalesce;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::burst::Burst;
use super::fi_endpoint::{
    Access, Begun, Context, FiEndpoint, Registration, RemoteAddr, RmaRegion, Target,
};
use super::wire_ids::{self, CELL, ImmData, ROOM, whole, word};
use super::zero_copy::ZeroCopyTransfers;
use crate::layout::LANE_HEAD;
use crate::packet::Header;
use crate::spsc::{MappedRing, Ring, STAMP_BYTES};
use crate::{Peer, Region, Result, SharedSegment};

/// Polls after which a message of its own reports to the sender how far this rank has read.
const POLLS_BEFORE_CREDIT_MESSAGE: u32 = 8;

/// The other side has sent a message that no valid peer sends.
#[derive(Debug)]
pub(super) struct Damaged;

/// Both rings between this rank and a rank on another host.
pub(super) struct PeerLink {
    target: Target,
    me: Peer,
    /// The ring that this rank fills, and the registration of its memory.
    out: MappedRing,
    registration: Registration,
    /// The ring that this rank reads.
    into: MappedRing,
    /// The address of the copy of `out` on the other side, if cells are written there.
    copy: Option<RemoteAddr>,
    /// One for each cell of `out`.
    contexts: Box<[Context]>,
    /// Positions below this one have been given to libfabric.
    sent: u64,
    /// libfabric does not use positions below this one any more.
    released: u64,
    /// A bit for each cell that libfabric uses.
    in_flight: u64,
    /// The receiver has read positions below this one.
    consumed: u64,
    /// How far this rank has reported to the sender that it has read `into`, and polls since a
    /// further report became due.
    reported: u64,
    polls: u32,
    /// Whether the other side has left, and needs no credit.
    has_left: bool,
    /// Whether the other side knows that this rank has left.
    has_farewell: bool,
    /// Cells and segments that have arrived.
    arrived: u64,
    /// Segments that have been sent.
    segments: u64,
    /// Messages for remote bounce buffers whose cells are in `out`, in this order, and those that
    /// libfabric is sending, with their cells.
    queued_bounces: VecDeque<u64>,
    sending_bounces: Vec<(u64, usize)>,
    /// Cells sent without polling in between.
    burst: Burst,
    /// Whether cells wait in `out`, as the flush thread knows.
    waits: bool,
}

// SAFETY: the state of one owner, and mappings that may be used from any thread.
unsafe impl Send for PeerLink {}

impl PeerLink {
    /// Creates the link to a rank, over rings that start at this position.
    pub(super) fn new(
        ep: &mut FiEndpoint,
        (target, window): (Target, Option<RmaRegion>),
        (me, peer): (Peer, Peer),
        segment: &Arc<SharedSegment>,
        first: u64,
    ) -> Result<PeerLink> {
        let layout = segment.layout();
        let ring = |offset| MappedRing::new(segment.clone(), layout.lane_at(offset, false));
        let out = ring(layout.lane_to(peer.index()));
        let into = ring(layout.lane_from(peer.index()));
        let Ring { cells, cell_bytes, annexes, .. } = out.ring;
        assert!(cells <= u64::BITS as usize, "a bit for each cell");
        assert!(annexes == 0, "a cell is sent as it lies");
        let memory = Region::new(out.cell(0).as_ptr(), cells * cell_bytes);
        // SAFETY: the mapping stays as long as `out`, and the endpoint is closed before that is
        // gone.
        let registration = unsafe { ep.register(memory, Access::Send)? };
        let context = |cell| Context::new(wire_ids::cell(peer, cell));
        let contexts = (0..cells).map(context).collect();
        // The layouts of all ranks are the same.
        let offset = layout.lane_from(me.index()) + LANE_HEAD - layout.lanes().start;
        let copy = window.map(|window| RemoteAddr { target, window, offset });
        let (sent, released, consumed, reported) = (first, first, first, first);
        let (in_flight, arrived, segments, polls) = (0, 0, 0, 0);
        Ok(PeerLink {
            target,
            me,
            out,
            registration,
            into,
            copy,
            contexts,
            sent,
            released,
            in_flight,
            consumed,
            reported,
            polls,
            has_left: false,
            has_farewell: false,
            arrived,
            segments,
            queued_bounces: VecDeque::new(),
            sending_bounces: Vec::new(),
            burst: Burst::default(),
            waits: false,
        })
    }

    /// Ends the registration of the ring.
    pub(super) fn forget(&mut self, ep: &mut FiEndpoint) {
        ep.forget(std::mem::replace(&mut self.registration, Registration::NONE));
    }

    /// The endpoint of the other side.
    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// Records that the other side has left. It may have closed its endpoint; a provider that does
    /// not report this would be asked in vain, again and again.
    pub(super) fn note_left(&mut self) {
        self.has_left = true;
    }

    /// The next packet of a message in a remote bounce buffer belongs to this transfer.
    pub(super) fn begin_remote_bounce(&mut self, name: u64) {
        self.queued_bounces.push_back(name);
    }

    /// A transfer has ended. If it was into a remote bounce buffer, its cell is free.
    pub(super) fn note_remote_bounced(&mut self, name: u64) {
        if let Some(at) = self.sending_bounces.iter().position(|sending| sending.0 == name) {
            let (_, cell) = self.sending_bounces.swap_remove(at);
            self.landed(cell);
        }
    }

    /// Counts segments of large messages that have been sent.
    pub(super) fn note_sent(&mut self, segments: u32) {
        self.segments += u64::from(segments);
    }

    /// Counts a segment of a large message that has arrived.
    pub(super) fn note_landed(&mut self) {
        self.arrived += 1;
    }

    /// Cells and segments that have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Cells that wait or have been sent, in a ring whose first cell had position `first`, and
    /// segments that have been sent.
    pub(super) fn offered(&self, first: u64) -> u64 {
        let cells = self.out.ring.cells as u64;
        let all = self.sent..self.sent + cells;
        self.sent + all.take_while(|&at| self.is_filled(at)).count() as u64 - first + self.segments
    }

    /// Whether all cells of the ring have left this rank.
    pub(super) fn is_drained(&self) -> bool {
        self.is_over() || !self.is_filled(self.sent) && self.released == self.sent
    }

    /// Whether the other side has left and waits for nothing more: its process may have ended.
    fn is_over(&self) -> bool {
        self.has_left && self.has_farewell
    }

    /// Notes whether cells wait in the ring. Returns whether they do, and whether they did before.
    pub(super) fn note_waits(&mut self) -> (bool, bool) {
        let waits = !self.is_over() && self.is_filled(self.sent);
        (waits, std::mem::replace(&mut self.waits, waits))
    }

    fn is_filled(&self, position: u64) -> bool {
        self.out.stamp(position).load(Ordering::Acquire) == position + 1
    }

    /// Gives the cells of the ring to libfabric, and reports how far this rank has read. A rank
    /// that `leaves` reports it only to a sender without room. The error is that of libfabric.
    pub(super) fn push(
        &mut self,
        ep: &mut FiEndpoint,
        transfers: &mut ZeroCopyTransfers,
        leaves: bool,
    ) -> std::result::Result<(), i32> {
        if self.is_over() {
            // The other side needs no more messages: those that wait for it fail.
            self.queued_bounces.drain(..).for_each(|name| transfers.fail(ep, name));
            self.burst.let_go();
            return Ok(());
        }
        while self.is_filled(self.sent) && !self.is_over() {
            match self.push_next(ep, transfers) {
                Begun::Yes => {}
                Begun::NotNow => return self.give_room(ep, leaves),
                Begun::Never(error) => return Err(error),
            }
        }
        self.burst.let_go();
        self.give_room(ep, leaves)
    }

    /// Sends the next cell, or several cells.
    fn push_next(&mut self, ep: &mut FiEndpoint, transfers: &mut ZeroCopyTransfers) -> Begun {
        let read = self.into.consumed().load(Ordering::Acquire).max(self.reported);
        let begun = self.push_frame(ep, read);
        begun.unwrap_or_else(|| self.push_cell(ep, transfers, read))
    }

    /// The header of a filled cell, and the number of its bytes in use.
    fn content(&self, position: u64) -> (Header, usize) {
        // SAFETY: the header lies behind the stamp, inside the cell.
        let header = unsafe { self.out.cell(position).add(STAMP_BYTES) };
        // SAFETY: the cell is published, so its sender has written a header and leaves it alone
        // until we say that it has been read (README, "Flow control").
        let header: Header = unsafe { header.cast().read() };
        let room = self.out.ring.payload(size_of::<Header>());
        (header, STAMP_BYTES + size_of::<Header>() + header.bytes_behind(room))
    }

    fn push_cell(
        &mut self,
        ep: &mut FiEndpoint,
        transfers: &mut ZeroCopyTransfers,
        read: u64,
    ) -> Begun {
        let position = self.sent;
        let (header, bytes) = self.content(position);
        let data = Region::new(self.out.cell(position).as_ptr(), bytes);
        let begun = match self.copy {
            Some(copy) if !header.is_remote_bounced() => self.write_cell(ep, copy, data, read),
            _ => {
                // On its way the cell also carries `read` in its stamp; no thread of this process
                // reads it.
                let stamp = self.out.stamp(position);
                stamp.store(word(position + 1, read), Ordering::Relaxed);
                let bounce_transfers = header.is_remote_bounced().then_some(transfers);
                let begun = self.send_cell(ep, bounce_transfers, data);
                if begun != Begun::Yes {
                    self.out.stamp(position).store(position + 1, Ordering::Relaxed);
                }
                begun
            }
        };
        if begun == Begun::Yes {
            self.has_farewell |= header.is_farewell();
            self.note_pushed(1, read);
        }
        begun
    }

    /// Counts `cells` cells given to libfabric, which report that this rank has read up to `read`.
    fn note_pushed(&mut self, cells: u64, read: u64) {
        self.sent += cells;
        self.reported = read;
        self.release();
    }

    /// The index of the next cell.
    fn index(&self) -> usize {
        (self.sent % self.out.ring.cells as u64) as usize
    }

    /// Sends the next cell as a message, perhaps with a message for a remote bounce buffer.
    fn send_cell(
        &mut self,
        ep: &mut FiEndpoint,
        bounce_transfers: Option<&mut ZeroCopyTransfers>,
        data: Region,
    ) -> Begun {
        let (index, tag) = (self.index(), CELL | u64::from(self.me.0));
        if let Some(transfers) = bounce_transfers {
            return self.push_remote_bounced(ep, transfers, data, index);
        }
        if data.bytes() <= ep.longest_inject() {
            // SAFETY: that part of the cell has been written, and nobody writes it now.
            let data = unsafe { std::slice::from_raw_parts(data.start(), data.bytes()) };
            return ep.inject(self.target, tag, data);
        }
        let context: *mut Context = &mut self.contexts[index];
        // SAFETY: the cell stays as it is until `released` has passed it; contexts stay where
        // they are; the endpoint is closed before either is gone.
        let begun = unsafe { ep.send(self.target, tag, data, &self.registration, context) };
        self.in_flight |= u64::from(begun == Begun::Yes) << index;
        begun
    }

    /// Writes the next cell, without its stamp, into the memory of the other side.
    fn write_cell(
        &mut self,
        ep: &mut FiEndpoint,
        copy: RemoteAddr,
        cell: Region,
        read: u64,
    ) -> Begun {
        let (index, data) = (self.index(), cell.part(STAMP_BYTES, cell.bytes() - STAMP_BYTES));
        let note = ImmData { from: self.me, cell: index, read: read as u16 };
        let offset = copy.offset + index * self.out.ring.cell_bytes + STAMP_BYTES;
        let spot = RemoteAddr { offset, ..copy };
        if data.bytes() <= ep.longest_inject() {
            // SAFETY: as in `send_cell`.
            let data = unsafe { std::slice::from_raw_parts(data.start(), data.bytes()) };
            return ep.inject_write(spot, note.word(), data);
        }
        let context: *mut Context = &mut self.contexts[index];
        // SAFETY: as in `send_cell`.
        let begun = unsafe { ep.write(spot, note.word(), data, &self.registration, context) };
        self.in_flight |= u64::from(begun == Begun::Yes) << index;
        begun
    }

    /// Sends a cell together with the message that it announces.
    fn push_remote_bounced(
        &mut self,
        ep: &mut FiEndpoint,
        transfers: &mut ZeroCopyTransfers,
        cell: Region,
        index: usize,
    ) -> Begun {
        let Some(&name) = self.queued_bounces.front() else { return Begun::Never(libc::EINVAL) };
        // SAFETY: as for other cells: it stays as it is until `released` has passed it, and that
        // waits until the transfer is over (`note_remote_bounced`).
        let begun = unsafe { transfers.send_remote_bounced(ep, name, (cell, &self.registration)) };
        if begun == Begun::Yes {
            self.queued_bounces.pop_front();
            self.sending_bounces.push((name, index));
            self.in_flight |= 1 << index;
        }
        begun
    }

    /// libfabric does not use this cell any more.
    pub(super) fn landed(&mut self, cell: usize) {
        self.in_flight &= !(1 << cell);
        self.release();
    }

    /// Reports to the writer of the ring how far cells are free: those that the receiver has read
    /// and that libfabric does not use any more.
    fn release(&mut self) {
        let cells = self.out.ring.cells as u64;
        while self.released < self.sent && self.in_flight >> (self.released % cells) & 1 == 0 {
            self.released += 1;
        }
        self.out.consumed().store(self.released.min(self.consumed), Ordering::Release);
    }

    /// Reports to the sender how far this rank has read, if the sender does not know it, and no
    /// cell that would carry it has gone there for some polls.
    fn give_room(&mut self, ep: &mut FiEndpoint, leaves: bool) -> std::result::Result<(), i32> {
        let read = self.into.consumed().load(Ordering::Acquire);
        if read <= self.reported || self.has_left {
            self.polls = 0;
            return Ok(());
        }
        self.polls += 1;
        let is_starving = read - self.reported >= self.out.ring.cells as u64;
        if (leaves || self.polls < POLLS_BEFORE_CREDIT_MESSAGE) && !is_starving {
            return Ok(());
        }
        match ep.inject(self.target, ROOM | u64::from(self.me.0), &read.to_le_bytes()) {
            Begun::Yes => self.reported = read,
            Begun::NotNow => {}
            Begun::Never(error) => return Err(error),
        }
        Ok(())
    }

    /// Accepts a message from the other side. Returns how many cells were in it.
    pub(super) fn accept(
        &mut self,
        tag: u64,
        message: &[u8],
    ) -> std::result::Result<usize, Damaged> {
        match tag & !u64::from(u32::MAX) {
            CELL => self.accept_cells(message),
            ROOM => {
                let (word, _) = split(message)?;
                let read = Some(word).filter(|&word| word <= self.sent).ok_or(Damaged)?;
                self.hear(read);
                Ok(0)
            }
            _ => Err(Damaged),
        }
    }

    /// Puts all cells of a message into their places. Returns their number.
    fn accept_cells(&mut self, mut message: &[u8]) -> std::result::Result<usize, Damaged> {
        let mut cells = 0;
        while cells == 0 || !message.is_empty() {
            let (word, behind) = split(message)?;
            let used = self.used(behind).ok_or(Damaged)?;
            let (body, rest) = behind.split_at_checked(used).ok_or(Damaged)?;
            self.place(word, body)?;
            message = rest;
            cells += 1;
        }
        Ok(cells)
    }

    /// Accepts a cell that announces the message behind it.
    pub(super) fn accept_remote_bounced(
        &mut self,
        cell: &[u8],
    ) -> std::result::Result<(), Damaged> {
        self.accept_cells(cell).map(drop)
    }

    /// Accepts a cell that has been written into its place, without its stamp.
    pub(super) fn accept_written(&mut self, note: ImmData) -> std::result::Result<(), Damaged> {
        let read = self.into.consumed().load(Ordering::Acquire).max(self.reported);
        let cells = self.into.ring.cells as u64;
        // It is the next cell with this index: the sender writes the one after it only when it
        // knows that this one has been read.
        let ahead = (note.cell as u64).wrapping_sub(read) % cells;
        let position = read + ahead;
        let is_there = self.into.stamp(position).load(Ordering::Relaxed) == position + 1;
        if note.cell as u64 >= cells || is_there {
            return Err(Damaged);
        }
        self.note_consumed(note.whole(self.consumed));
        self.into.stamp(position).store(position + 1, Ordering::Release);
        self.arrived += 1;
        Ok(())
    }

    /// Handles the report of a cell how far the receiver has read. Ignores an old report: cells may
    /// overtake each other.
    fn note_consumed(&mut self, read: u64) {
        if read <= self.sent && read - self.consumed <= self.out.ring.cells as u64 {
            self.hear(read);
        }
    }

    /// The receiver has read up to `read`.
    fn hear(&mut self, read: u64) {
        self.consumed = self.consumed.max(read);
        self.release();
    }

    /// Bytes behind the stamp of a cell that begins with `body`.
    fn used(&self, body: &[u8]) -> Option<usize> {
        let start = body.get(..size_of::<Header>())?.as_ptr().cast::<Header>();
        // SAFETY: so many bytes are there, and any bits are a header.
        let header = unsafe { start.read_unaligned() };
        let room = self.into.ring.payload(size_of::<Header>());
        Some(size_of::<Header>() + header.bytes_behind(room))
    }

    /// Puts a cell into its place.
    fn place(&mut self, word: u64, body: &[u8]) -> std::result::Result<(), Damaged> {
        let read = self.into.consumed().load(Ordering::Acquire).max(self.reported);
        let stamp = whole(word as u32, read);
        let position = stamp.wrapping_sub(1);
        let is_ours = position >= read && position < read + self.into.ring.cells as u64;
        if !is_ours {
            return Err(Damaged);
        }
        self.note_consumed(whole((word >> 32) as u32, self.consumed));
        // SAFETY: behind the stamp, inside the cell.
        let into = unsafe { self.into.cell(position).add(STAMP_BYTES) };
        // SAFETY: the cell has been read for good, and is not stamped anew: it is ours to write.
        // The message lies in a buffer, not in the ring.
        unsafe { into.as_ptr().copy_from_nonoverlapping(body.as_ptr(), body.len()) };
        self.into.stamp(position).store(stamp, Ordering::Release);
        self.arrived += 1;
        Ok(())
    }
}

/// The word before a cell, and the bytes behind the word.
fn split(message: &[u8]) -> std::result::Result<(u64, &[u8]), Damaged> {
    let (word, behind) = message.split_first_chunk().ok_or(Damaged)?;
    Ok((u64::from_le_bytes(*word), behind))
}
