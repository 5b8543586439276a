//! Zero-copy transfers: a large message goes from memory to memory in segments: `README.md`, "Large
//! messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;

use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration, Target};
use crate::slab::Id;
use crate::{Peer, Region, RegionMut, Result};

/// Bytes of a segment; the last one of a message may be shorter.
pub(super) const SEGMENT: usize = 512 << 10;
/// Segments of a message that may be on the way at the same time.
const WINDOW: u32 = 16;
/// The tag of a segment is the sum of this and its number.
pub(super) const TAG: u64 = 2 << 32;
/// The context id of a segment: this, the transfer, and in the lowest bits its place in the window.
pub(super) const NAME: u64 = 2 << 56;
const PLACE_BITS: u32 = 8;

/// The ids of a large message at both ends, and the number of its first segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferIds {
    /// The id of the message at the endpoint of its sender.
    pub(crate) send: u64,
    /// The id of the transfer at the receiver.
    pub(crate) recv: u64,
    /// The number of the first segment.
    pub(crate) first: u32,
}

/// An event of a large message that the endpoint handles or reports to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferEvent {
    /// The receiver is ready for segments up to `upto`: the endpoint reports it to the sender.
    Ready { to: Peer, ids: TransferIds, upto: u32 },
    /// A message has ended here: all of it has arrived, or its sender has stopped, or the endpoint
    /// has withdrawn it and must report that to the sender.
    Ended { from: Peer, recv: Id, ids: TransferIds, how: How },
    /// All of a message that this rank sends has been sent.
    Sent { send: Id },
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    /// The sender has stopped, or the network has lost a part of the message.
    Stopped,
    /// The endpoint has withdrawn it.
    Withdrawn,
}

/// The direction of a transfer.
enum TransferDirection {
    /// Into the memory of the receive `recv` of the endpoint. The sender knows that it may send
    /// `granted` segments.
    In { recv: Id, granted: u32 },
    /// Out of the memory of a send, to that endpoint.
    Out(Target),
    /// Out of the memory of a send, into a remote bounce buffer with that tag, behind the cell that
    /// announces it.
    RemoteBounce { target: Target, tag: u64 },
}

/// A large message under way.
struct ZeroCopyTransfer {
    direction: TransferDirection,
    how: How,
    peer: Peer,
    ids: TransferIds,
    start: *mut u8,
    bytes: usize,
    registration: Registration,
    /// The number of segments of the message.
    segments: u32,
    /// Segments below `allowed` may be posted; those below `posted` have been.
    allowed: u32,
    posted: u32,
    /// A bit for each place of the window that libfabric uses.
    busy: u32,
    contexts: Box<[Context]>,
}

impl ZeroCopyTransfer {
    fn new(
        direction: TransferDirection,
        (peer, ids): (Peer, TransferIds),
        memory: RegionMut,
        registration: Registration,
    ) -> ZeroCopyTransfer {
        let (start, bytes) = (memory.start(), memory.bytes());
        ZeroCopyTransfer {
            direction,
            how: How::Whole,
            peer,
            ids,
            start,
            bytes,
            registration,
            segments: bytes.div_ceil(SEGMENT) as u32,
            allowed: 0,
            posted: 0,
            busy: 0,
            contexts: Box::default(),
        }
    }

    fn is_over(&self) -> bool {
        self.busy == 0 && self.posted >= self.segments
    }

    fn place(segment: u32) -> u32 {
        segment % WINDOW
    }

    /// Posts the segments that may be posted. Returns whether libfabric had room for all of them.
    fn post(&mut self, ep: &mut FiEndpoint) -> std::result::Result<bool, i32> {
        while self.posted < self.allowed.min(self.segments) {
            let place = ZeroCopyTransfer::place(self.posted);
            if self.busy >> place & 1 != 0 {
                return Ok(true);
            }
            match self.post_one(ep, place as usize) {
                Begun::Yes => {}
                Begun::NotNow => return Ok(false),
                Begun::Never(error) => return Err(error),
            }
            self.busy |= 1 << place;
            self.posted += 1;
        }
        Ok(true)
    }

    fn post_one(&mut self, ep: &mut FiEndpoint, place: usize) -> Begun {
        let from = self.posted as usize * SEGMENT;
        let memory = RegionMut::new(self.start, self.bytes).part(from, self.length(self.posted));
        let tag = TAG | u64::from(self.ids.first.wrapping_add(self.posted));
        let context: *mut Context = &mut self.contexts[place];
        match self.direction {
            // SAFETY: memory of a posted receive, and of nobody else, until this transfer is over
            // or the endpoint closed (README, "Large messages"); so long the contexts stay, too.
            TransferDirection::In { .. } => unsafe {
                ep.receive(tag, 0, memory, &self.registration, context)
            },
            TransferDirection::Out(target) => {
                let memory = memory.as_region();
                // SAFETY: memory of a posted send that nobody writes; the rest as above.
                unsafe { ep.send(target, tag, memory, &self.registration, context) }
            }
            TransferDirection::RemoteBounce { .. } => {
                unreachable!("a link sends it, with its cell")
            }
        }
    }

    fn length(&self, segment: u32) -> usize {
        SEGMENT.min(self.bytes - segment as usize * SEGMENT)
    }

    /// The report to the sender, if it is worth a message now.
    fn ready(&mut self) -> Option<TransferEvent> {
        let TransferDirection::In { granted, .. } = &mut self.direction else { return None };
        let more = self.posted - *granted;
        let is_all = self.posted == self.segments;
        if self.how != How::Whole || more == 0 || *granted > 0 && !is_all && more < WINDOW / 2 {
            return None;
        }
        *granted = self.posted;
        Some(TransferEvent::Ready { to: self.peer, ids: self.ids, upto: self.posted })
    }

    /// Reduces the number of segments: receives that wait for further ones are cancelled.
    fn shorten(&mut self, ep: &mut FiEndpoint, segments: u32) {
        self.segments = self.segments.min(segments);
        let TransferDirection::In { .. } = self.direction else { return };
        for segment in self.segments..self.posted {
            let place = ZeroCopyTransfer::place(segment);
            if self.busy >> place & 1 != 0 {
                // SAFETY: the context of a receive that is posted.
                unsafe { ep.cancel(&mut self.contexts[place as usize]) };
            }
        }
    }

    fn stop(&mut self) {
        if self.how == How::Whole {
            self.how = How::Stopped;
        }
    }
}

// SAFETY: addresses of memory that may be used from any thread, by the promise of its poster.
unsafe impl Send for ZeroCopyTransfer {}

/// All large messages under way to and from ranks on other hosts.
#[derive(Default)]
pub(super) struct ZeroCopyTransfers {
    all: HashMap<u64, ZeroCopyTransfer>,
    /// The id of the newest transfer, and the number of the next segment to be received.
    last: u64,
    next: u32,
    /// Transfers for which libfabric had no room.
    waiting: Vec<u64>,
    withdrawn: usize,
    pub(super) events: Vec<TransferEvent>,
}

impl ZeroCopyTransfers {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether there are withdrawn messages whose memory is still in use.
    pub(super) fn has_withdrawn(&self) -> bool {
        self.withdrawn > 0
    }

    /// The ranks with which there are withdrawn messages.
    pub(super) fn withdrawn_from(&self) -> impl Iterator<Item = Peer> + '_ {
        let withdrawn = self.all.values().filter(|transfer| transfer.how == How::Withdrawn);
        withdrawn.map(|transfer| transfer.peer)
    }

    /// Whether a message from a rank is on its way.
    pub(super) fn comes_from(&self, peer: Peer) -> bool {
        let is_in =
            |direction: &TransferDirection| matches!(direction, TransferDirection::In { .. });
        self.all.values().any(|transfer| transfer.peer == peer && is_in(&transfer.direction))
    }

    /// Adds a transfer. Returns its id.
    fn insert(&mut self, mut transfer: ZeroCopyTransfer) -> u64 {
        let name = self.last;
        let places = transfer.segments.min(WINDOW);
        let named = |place| Context::new(NAME | name << PLACE_BITS | u64::from(place));
        transfer.contexts = (0..places).map(named).collect();
        self.all.insert(name, transfer);
        name
    }

    /// Prepares to receive a message that a rank has announced. Returns the id of the transfer.
    ///
    /// # Safety
    /// Until the event of its end, or until the endpoint is closed, nobody else uses the memory.
    pub(super) unsafe fn recv(
        &mut self,
        ep: &mut FiEndpoint,
        (peer, send, recv): (Peer, u64, Id),
        into: RegionMut,
    ) -> Result<u64> {
        // SAFETY: the registration ends with the transfer.
        let registration = unsafe { ep.register(into.as_region(), Access::Receive)? };
        let segments = into.bytes().div_ceil(SEGMENT) as u32;
        self.last += 1;
        let ids = TransferIds { send, recv: self.last, first: self.next };
        self.next = self.next.wrapping_add(segments);
        let direction = TransferDirection::In { recv, granted: 0 };
        let transfer = ZeroCopyTransfer::new(direction, (peer, ids), into, registration);
        Ok(self.insert(ZeroCopyTransfer { allowed: segments, ..transfer }))
    }

    /// Starts to send a message whose receiver is ready. Returns the id of the transfer.
    ///
    /// # Safety
    /// As [`ZeroCopyTransfers::recv`]; nobody writes the memory.
    pub(super) unsafe fn send(
        &mut self,
        ep: &mut FiEndpoint,
        (peer, target): (Peer, Target),
        ids: TransferIds,
        data: Region,
    ) -> Result<u64> {
        // SAFETY: as in `recv`.
        let registration = unsafe { ep.register(data, Access::Send)? };
        let memory = RegionMut::new(data.start().cast_mut(), data.bytes());
        self.last += 1;
        Ok(self.insert(ZeroCopyTransfer::new(
            TransferDirection::Out(target),
            (peer, ids),
            memory,
            registration,
        )))
    }

    /// Prepares to send a message into a remote bounce buffer with that tag. Returns the id of the
    /// transfer.
    ///
    /// # Safety
    /// As [`ZeroCopyTransfers::send`].
    pub(super) unsafe fn send_remote_bounce(
        &mut self,
        ep: &mut FiEndpoint,
        (peer, target, tag): (Peer, Target, u64),
        send: Id,
        data: Region,
    ) -> Result<u64> {
        // SAFETY: as in `recv`.
        let registration = unsafe { ep.register(data, Access::Send)? };
        let memory = RegionMut::new(data.start().cast_mut(), data.bytes());
        let ids = TransferIds { send: send.0, recv: 0, first: 0 };
        self.last += 1;
        let direction = TransferDirection::RemoteBounce { target, tag };
        Ok(self.insert(ZeroCopyTransfer::new(direction, (peer, ids), memory, registration)))
    }

    /// Sends a message into its remote bounce buffer, behind its cell, whose memory stays in place
    /// until the message has been sent.
    ///
    /// # Safety
    /// So does the memory of the cell, which is written and has this registration.
    pub(super) unsafe fn send_remote_bounced(
        &mut self,
        ep: &mut FiEndpoint,
        name: u64,
        cell: (Region, &Registration),
    ) -> Begun {
        let Some(transfer) = self.all.get_mut(&name) else { return Begun::Never(libc::EINVAL) };
        let TransferDirection::RemoteBounce { target, tag } = transfer.direction else {
            return Begun::Never(libc::EINVAL);
        };
        let data = Region::new(transfer.start, transfer.bytes);
        let context: *mut Context = &mut transfer.contexts[0];
        let parts = [cell, (data, &transfer.registration)];
        // SAFETY: memory of a posted send that nobody writes until this transfer is over, or the
        // port closed; so long the contexts stay, too. The cell is promised.
        let begun = unsafe { ep.send_joined(target, tag, parts, context) };
        if begun == Begun::Yes {
            (transfer.busy, transfer.posted) = (1, 1);
        }
        begun
    }

    /// The receiver of a message is ready for segments up to `upto`.
    pub(super) fn allow(&mut self, name: u64, upto: u32) {
        if let Some(transfer) = self.all.get_mut(&name) {
            transfer.allowed = upto.max(transfer.allowed);
        }
    }

    /// Posts the segments of a message that can be posted, and ends the message if it is complete.
    /// Returns how many segments this call has sent; the error is that of libfabric, with the rank.
    pub(super) fn go_on(
        &mut self,
        ep: &mut FiEndpoint,
        name: u64,
    ) -> std::result::Result<Option<(Peer, u32)>, (Peer, i32)> {
        let Some(transfer) = self.all.get_mut(&name) else { return Ok(None) };
        let (peer, before) = (transfer.peer, transfer.posted);
        match transfer.post(ep) {
            Ok(true) => {}
            Ok(false) => self.waiting.push(name),
            Err(error) => {
                self.fail(ep, name);
                return Err((peer, error));
            }
        }
        self.events.extend(transfer.ready());
        let posted = transfer.posted - before;
        let sent =
            matches!(transfer.direction, TransferDirection::Out(_)).then_some((peer, posted));
        self.end_if_over(ep, name);
        Ok(sent)
    }

    fn end_if_over(&mut self, ep: &mut FiEndpoint, name: u64) {
        if !self.all.get(&name).is_some_and(ZeroCopyTransfer::is_over) {
            return;
        }
        let Some(transfer) = self.all.remove(&name) else { return };
        let ZeroCopyTransfer { direction, how, peer: from, ids, registration, .. } = transfer;
        ep.forget(registration);
        self.withdrawn -= usize::from(how == How::Withdrawn);
        match (direction, how) {
            (TransferDirection::In { recv, .. }, how) => {
                self.events.push(TransferEvent::Ended { from, recv, ids, how });
            }
            (TransferDirection::Out(_) | TransferDirection::RemoteBounce { .. }, How::Whole) => {
                self.events.push(TransferEvent::Sent { send: Id(ids.send) });
            }
            (TransferDirection::Out(_) | TransferDirection::RemoteBounce { .. }, _) => {}
        }
    }

    /// Takes the transfers for which there was no room before.
    pub(super) fn take_waiting(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.waiting)
    }

    /// Handles the end of a segment. Returns the id of its transfer, the peer, and whether the
    /// segment has arrived from there.
    pub(super) fn note(&mut self, event: &Event) -> Option<(u64, Peer, bool)> {
        let name = (event.name & !NAME) >> PLACE_BITS;
        let place = event.name & ((1 << PLACE_BITS) - 1);
        let transfer = self.all.get_mut(&name)?;
        transfer.busy &= !(1 << place);
        let is_in = matches!(transfer.direction, TransferDirection::In { .. });
        Some((name, transfer.peer, is_in && event.error == 0))
    }

    /// Marks a message as failed: the network has lost a part of it.
    pub(super) fn fail(&mut self, ep: &mut FiEndpoint, name: u64) {
        if let Some(transfer) = self.all.get_mut(&name) {
            transfer.shorten(ep, transfer.posted);
            transfer.stop();
        }
        self.end_if_over(ep, name);
    }

    /// The sender of a message stops after `sent` segments.
    pub(super) fn stop(&mut self, ep: &mut FiEndpoint, name: u64, sent: u32) {
        if let Some(transfer) = self.all.get_mut(&name) {
            transfer.shorten(ep, sent);
            transfer.stop();
        }
        self.end_if_over(ep, name);
    }

    /// The receiver of a message needs no more than the segments for which it has reported to be
    /// ready, and has received them.
    pub(super) fn cut_short(&mut self, ep: &mut FiEndpoint, name: u64) {
        if let Some(transfer) = self.all.get_mut(&name) {
            transfer.segments = transfer.posted;
        }
        self.end_if_over(ep, name);
    }

    /// Withdraws a message: no more of it is posted, and segments of which the other side does not
    /// know do not arrive. For a message that is sent, returns how much of it has been sent.
    pub(super) fn withdraw(
        &mut self,
        ep: &mut FiEndpoint,
        name: u64,
    ) -> Option<(TransferIds, u32)> {
        let transfer = self.all.get_mut(&name)?;
        let (end, sent) = match transfer.direction {
            TransferDirection::In { granted, .. } => (granted, None),
            TransferDirection::Out(_) => (transfer.posted, Some((transfer.ids, transfer.posted))),
            // The message arrives nevertheless: its cell is in the ring.
            TransferDirection::RemoteBounce { .. } => (transfer.segments, None),
        };
        transfer.shorten(ep, end);
        transfer.how = How::Withdrawn;
        self.withdrawn += 1;
        self.end_if_over(ep, name);
        sent
    }

    /// Ends all transfers, before the endpoint is closed.
    pub(super) fn clear(&mut self, ep: &mut FiEndpoint) {
        for (_, transfer) in self.all.drain() {
            ep.forget(transfer.registration);
        }
        self.waiting.clear();
        self.events.clear();
        self.withdrawn = 0;
    }
}
