//! Remote bounce buffers with credits: receive messages of up to 128 KiB for which the sender does
//! not wait for an answer to the announcement: `README.md`, "Remote bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;

use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration};
use crate::layout::LINE;
use crate::{Peer, RegionMut, Result};

/// Bytes of the longest message that fits a remote bounce buffer.
pub(crate) const REMOTE_BOUNCE_BYTES: usize = 128 << 10;
/// Bytes of the cell before the message, which announces it.
const CELL: usize = LINE;
/// Remote bounce buffers per sender.
const SLOTS_PER_SENDER: u64 = 4;
/// Senders that may have remote bounce buffers.
const SENDERS: usize = 32;
/// When this many granted remote bounce buffers are unknown to their sender, a packet of its own
/// reports them.
const UNADVERTISED_MAX: u64 = SLOTS_PER_SENDER / 2;
/// The tag of a message for a remote bounce buffer: this, then its sender, then its place.
const TAG: u64 = 3 << 32;
/// The id of a receive in a remote bounce buffer is composed in the same way.
pub(super) const NAME: u64 = 4 << 56;
const PLACE_BITS: u32 = 2;

/// The tag of a message that a rank sends into a remote bounce buffer.
pub(super) fn tag(sender: Peer, slot: u64) -> u64 {
    TAG | u64::from(sender.0) << PLACE_BITS | (slot % SLOTS_PER_SENDER)
}

/// The sender and the place of the receive with this id.
fn place_of(name: u64) -> (Peer, usize) {
    (Peer(((name & !NAME) >> PLACE_BITS) as u32), (name % SLOTS_PER_SENDER) as usize)
}

/// All buffers for the messages of one sender.
struct SenderSlots {
    memory: RegionMut,
    registration: Registration,
    contexts: Box<[Context]>,
    /// Bytes of the message in each buffer, if there is one.
    lengths: [Option<usize>; SLOTS_PER_SENDER as usize],
    /// Remote bounce buffers below `granted` have been granted, those below `emptied` have been
    /// emptied without a gap, and of those below the last number the sender knows.
    granted: u64,
    emptied: u64,
    advertised: u64,
    /// A bit for each buffer that is empty again although an earlier one is not.
    ahead: u8,
}

// SAFETY: an address of memory that is its own, which may be used from any thread.
unsafe impl Send for SenderSlots {}

impl SenderSlots {
    fn new(ep: &mut FiEndpoint, sender: Peer) -> Result<SenderSlots> {
        let memory =
            vec![0_u8; SLOTS_PER_SENDER as usize * (CELL + REMOTE_BOUNCE_BYTES)].into_boxed_slice();
        let memory = RegionMut::of(Box::leak(memory));
        let name = |place| NAME | u64::from(sender.0) << PLACE_BITS | place;
        let mut slots = SenderSlots {
            memory,
            registration: Registration::NONE,
            contexts: (0..SLOTS_PER_SENDER).map(|place| Context::new(name(place))).collect(),
            lengths: [None; SLOTS_PER_SENDER as usize],
            granted: 0,
            emptied: 0,
            advertised: 0,
            ahead: 0,
        };
        // SAFETY: the memory stays until the endpoint is closed (`Drop`).
        slots.registration = unsafe { ep.register(memory.as_region(), Access::Receive)? };
        Ok(slots)
    }

    /// The memory of a buffer: for a cell, then the message.
    fn memory(&self, place: usize) -> RegionMut {
        self.memory.part(place * (CELL + REMOTE_BOUNCE_BYTES), CELL + REMOTE_BOUNCE_BYTES)
    }

    /// Grants as many buffers as possible: posts receives in empty ones. The error is that of
    /// libfabric.
    fn grant(&mut self, ep: &mut FiEndpoint, sender: Peer) -> std::result::Result<(), i32> {
        while self.granted < self.emptied + SLOTS_PER_SENDER {
            let place = (self.granted % SLOTS_PER_SENDER) as usize;
            let (into, tag) = (self.memory(place), tag(sender, self.granted));
            let context: *mut Context = &mut self.contexts[place];
            // SAFETY: memory and context stay until the endpoint has closed, and nobody looks at
            // them until the event: the place is empty.
            match unsafe { ep.receive(tag, 0, into, &self.registration, context) } {
                Begun::Yes => self.granted += 1,
                Begun::NotNow => return Ok(()),
                Begun::Never(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Marks a buffer as empty.
    fn empty(&mut self, place: usize) {
        self.lengths[place] = None;
        self.ahead |= 1 << place;
        while self.ahead >> (self.emptied % SLOTS_PER_SENDER) & 1 != 0 {
            self.ahead &= !(1 << (self.emptied % SLOTS_PER_SENDER));
            self.emptied += 1;
        }
    }
}

impl Drop for SenderSlots {
    fn drop(&mut self) {
        let memory = std::ptr::slice_from_raw_parts_mut(self.memory.start(), self.memory.bytes());
        // SAFETY: it was leaked by `new`, and the endpoint, which was the only other to use it, has
        // been closed: a network closes its endpoint before it drops anything.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// The credits of this rank for the remote bounce buffers of another rank.
#[derive(Clone, Copy, Debug, Default)]
struct CreditLedger {
    granted: u64,
    used: u64,
}

/// The remote bounce buffers of a rank, and its credits at other ranks.
#[derive(Default)]
pub(super) struct BounceCredits {
    sender_slots: HashMap<Peer, SenderSlots>,
    leaves: HashMap<Peer, CreditLedger>,
    /// Senders whose next grant waits until libfabric has room.
    waiting: Vec<Peer>,
    /// Senders that do not know yet how many buffers are granted to them.
    unadvertised: Vec<Peer>,
}

impl BounceCredits {
    /// Gives remote bounce buffers to a sender, unless it has some or too many others have.
    pub(super) fn offer(&mut self, ep: &mut FiEndpoint, to: Peer) -> std::result::Result<(), i32> {
        if self.sender_slots.contains_key(&to) || self.sender_slots.len() >= SENDERS {
            return Ok(());
        }
        // If memory cannot be registered, this is no failure: the sender continues to announce its
        // messages.
        if let Ok(slots) = SenderSlots::new(ep, to) {
            self.sender_slots.insert(to, slots);
            return self.grant(ep, to);
        }
        Ok(())
    }

    /// Grants buffers to a sender, and reports the grant if that is worth a packet.
    pub(super) fn grant(&mut self, ep: &mut FiEndpoint, to: Peer) -> std::result::Result<(), i32> {
        let Some(slots) = self.sender_slots.get_mut(&to) else { return Ok(()) };
        slots.grant(ep, to)?;
        if slots.granted < slots.emptied + SLOTS_PER_SENDER {
            self.waiting.push(to);
        }
        if slots.granted - slots.advertised >= UNADVERTISED_MAX && !self.unadvertised.contains(&to)
        {
            self.unadvertised.push(to);
        }
        Ok(())
    }

    /// How many remote bounce buffers have been granted to a rank. The caller reports the number to
    /// it.
    pub(super) fn advertise(&mut self, to: Peer) -> u64 {
        self.unadvertised.retain(|unadvertised| *unadvertised != to);
        self.sender_slots.get_mut(&to).map_or(0, |slots| {
            slots.advertised = slots.granted;
            slots.granted
        })
    }

    /// Senders that do not know yet how many buffers are granted to them.
    pub(super) fn unadvertised(&self) -> &[Peer] {
        &self.unadvertised
    }

    /// Whether there is any grant to report.
    #[inline]
    pub(super) fn has_unadvertised(&self) -> bool {
        !self.unadvertised.is_empty()
    }

    /// Handles the report of a rank how many remote bounce buffers it has granted.
    pub(super) fn note_granted(&mut self, by: Peer, granted: u64) {
        if granted > 0 {
            let leave = self.leaves.entry(by).or_default();
            leave.granted = leave.granted.max(granted);
        }
    }

    /// The number of the next remote bounce buffer at a rank, if one is granted.
    pub(super) fn next(&self, at: Peer) -> Option<u64> {
        self.leaves.get(&at).filter(|leave| leave.used < leave.granted).map(|leave| leave.used)
    }

    /// Counts the next remote bounce buffer at a rank as used.
    pub(super) fn note_used(&mut self, at: Peer) {
        if let Some(leave) = self.leaves.get_mut(&at) {
            leave.used += 1;
        }
    }

    /// Handles an event of a remote bounce buffer: a message has arrived, or its receive was
    /// cancelled. Returns the sender and the cell, if there is one.
    pub(super) fn note(&mut self, event: &Event) -> (Peer, Option<RegionMut>) {
        let (from, place) = place_of(event.name);
        let Some(slots) = self.sender_slots.get_mut(&from) else { return (from, None) };
        if event.error != 0 || event.bytes < CELL {
            return (from, None);
        }
        slots.lengths[place] = Some(event.bytes - CELL);
        (from, Some(slots.memory(place).part(0, CELL)))
    }

    /// The message in a remote bounce buffer; `None` if there is none of this length.
    pub(super) fn contents(&self, from: Peer, slot: u64, bytes: usize) -> Option<RegionMut> {
        let (slots, place) = (self.sender_slots.get(&from)?, (slot % SLOTS_PER_SENDER) as usize);
        let is_whole = (slots.emptied..slots.granted).contains(&slot)
            && slots.lengths[place] == Some(bytes)
            && bytes <= REMOTE_BOUNCE_BYTES;
        is_whole.then(|| slots.memory(place).part(CELL, bytes))
    }

    /// Frees a remote bounce buffer whose message is not needed any more.
    pub(super) fn empty(
        &mut self,
        ep: &mut FiEndpoint,
        from: Peer,
        slot: u64,
    ) -> std::result::Result<(), i32> {
        if let Some(slots) = self.sender_slots.get_mut(&from) {
            slots.empty((slot % SLOTS_PER_SENDER) as usize);
        }
        self.grant(ep, from)
    }

    /// Takes the senders whose next grant waits.
    pub(super) fn take_waiting(&mut self) -> Vec<Peer> {
        std::mem::take(&mut self.waiting)
    }

    /// Ends all registrations, before the endpoint is closed.
    pub(super) fn clear(&mut self, ep: &mut FiEndpoint) {
        for slots in self.sender_slots.values_mut() {
            ep.forget(std::mem::replace(&mut slots.registration, Registration::NONE));
        }
        self.unadvertised.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tags_tell_the_place() {
        for (sender, slot) in [(0, 0), (7, 5), (u32::MAX >> PLACE_BITS, 3)] {
            let tag = tag(Peer(sender), slot);
            let name = NAME | (tag & !TAG);
            assert_eq!(place_of(name), (Peer(sender), (slot % SLOTS_PER_SENDER) as usize));
            assert_eq!(tag >> 32, 3);
        }
    }

    #[test]
    fn places_are_granted_in_order_however_they_are_emptied() {
        let mut slots = SenderSlots {
            memory: RegionMut::of(Box::leak(Box::default())),
            registration: Registration::NONE,
            contexts: Box::default(),
            lengths: [None; SLOTS_PER_SENDER as usize],
            granted: SLOTS_PER_SENDER,
            emptied: 0,
            advertised: 0,
            ahead: 0,
        };
        for (place, emptied) in [(1, 0), (2, 0), (0, 3), (3, 4), (0, 5), (2, 5), (1, 7)] {
            slots.empty(place);
            assert_eq!(slots.emptied, emptied, "{place}");
        }
    }
}
