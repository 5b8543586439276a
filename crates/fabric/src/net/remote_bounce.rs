//! Remote bounce buffers with credits: messages of up to 128 KiB arrive there without an answer to
//! their announcement: `README.md`, "Remote bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;

use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration};
use crate::layout::LINE;
use crate::{Peer, RegionMut, Result};

/// Bytes of the longest message that a remote bounce buffer takes.
pub(crate) const REMOTE_BOUNCE_BYTES: usize = 128 << 10;
/// Bytes of the cell before it, which tells of it.
const CELL: usize = LINE;
/// Remote bounce buffers that one sender may have.
const SLOTS_PER_SENDER: u64 = 4;
/// Senders that may have some.
const SENDERS: usize = 32;
/// Granted remote bounce buffers of which their sender does not know, and is told in a packet of
/// its own.
const UNADVERTISED_MAX: u64 = SLOTS_PER_SENDER / 2;
/// The tag of what comes into a remote bounce buffer: this, then its sender, then its place.
const TAG: u64 = 3 << 32;
/// The name of a receive in a remote bounce buffer is made the same way.
pub(super) const NAME: u64 = 4 << 56;
const PLACE_BITS: u32 = 2;

/// The tag of what a rank sends into a remote bounce buffer.
pub(super) fn tag(sender: Peer, berth: u64) -> u64 {
    TAG | u64::from(sender.0) << PLACE_BITS | (berth % SLOTS_PER_SENDER)
}

/// Whose receive, and in which place, has this name.
fn place_of(name: u64) -> (Peer, usize) {
    (Peer(((name & !NAME) >> PLACE_BITS) as u32), (name % SLOTS_PER_SENDER) as usize)
}

/// All places for the messages of one sender.
struct SenderSlots {
    memory: RegionMut,
    registration: Registration,
    contexts: Box<[Context]>,
    /// Bytes of the message in each place, if there is one.
    come: [Option<usize>; SLOTS_PER_SENDER as usize],
    /// Remote bounce buffers below this one have been granted, below that one emptied, one after
    /// the other, and below the last the sender knows of them.
    granted: u64,
    emptied: u64,
    told: u64,
    /// A bit for each place that is empty again, though one before it is not.
    ahead: u8,
}

// SAFETY: an address of memory that is its own, which may be used from any thread.
unsafe impl Send for SenderSlots {}

impl SenderSlots {
    fn new(port: &mut FiEndpoint, sender: Peer) -> Result<SenderSlots> {
        let memory =
            vec![0_u8; SLOTS_PER_SENDER as usize * (CELL + REMOTE_BOUNCE_BYTES)].into_boxed_slice();
        let memory = RegionMut::of(Box::leak(memory));
        let name = |place| NAME | u64::from(sender.0) << PLACE_BITS | place;
        let mut pier = SenderSlots {
            memory,
            registration: Registration::NONE,
            contexts: (0..SLOTS_PER_SENDER).map(|place| Context::new(name(place))).collect(),
            come: [None; SLOTS_PER_SENDER as usize],
            granted: 0,
            emptied: 0,
            told: 0,
            ahead: 0,
        };
        // SAFETY: the memory stays until the port is closed (`Drop`).
        pier.registration = unsafe { port.register(memory.as_region(), Access::Receive)? };
        Ok(pier)
    }

    /// The memory of a place: for a cell, then the message.
    fn memory(&self, place: usize) -> RegionMut {
        self.memory.part(place * (CELL + REMOTE_BOUNCE_BYTES), CELL + REMOTE_BOUNCE_BYTES)
    }

    /// Grants what can be granted: posts receives in empty places. The error is the network's.
    fn grant(&mut self, port: &mut FiEndpoint, sender: Peer) -> std::result::Result<(), i32> {
        while self.granted < self.emptied + SLOTS_PER_SENDER {
            let place = (self.granted % SLOTS_PER_SENDER) as usize;
            let (into, tag) = (self.memory(place), tag(sender, self.granted));
            let context: *mut Context = &mut self.contexts[place];
            // SAFETY: memory and context stay until the port has closed, and nobody looks at them
            // until the event: the place is empty.
            match unsafe { port.receive(tag, 0, into, &self.registration, context) } {
                Begun::Yes => self.granted += 1,
                Begun::NotNow => return Ok(()),
                Begun::Never(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A place is empty again.
    fn empty(&mut self, place: usize) {
        self.come[place] = None;
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
        // SAFETY: it was leaked by `new`, and the port, which was the only other to use it, has
        // been closed: a wire closes its port before it drops anything.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// What this rank may send into remote bounce buffers of another.
#[derive(Clone, Copy, Debug, Default)]
struct CreditLedger {
    granted: u64,
    used: u64,
}

/// The remote bounce buffers of a rank, and those that it may use elsewhere.
#[derive(Default)]
pub(super) struct BounceCredits {
    piers: HashMap<Peer, SenderSlots>,
    leaves: HashMap<Peer, CreditLedger>,
    /// Senders to which more is to be granted when the network has room for it.
    waiting: Vec<Peer>,
    /// Senders that are to be told how many are granted to them.
    untold: Vec<Peer>,
}

impl BounceCredits {
    /// Gives remote bounce buffers to a sender, unless it has some or too many others have.
    pub(super) fn offer(
        &mut self,
        port: &mut FiEndpoint,
        to: Peer,
    ) -> std::result::Result<(), i32> {
        if self.piers.contains_key(&to) || self.piers.len() >= SENDERS {
            return Ok(());
        }
        // Memory that cannot be registered is no reason to fail: the sender goes on announcing.
        if let Ok(pier) = SenderSlots::new(port, to) {
            self.piers.insert(to, pier);
            return self.grant(port, to);
        }
        Ok(())
    }

    /// Grants what can be granted to a sender, and has it told if that is worth a packet.
    pub(super) fn grant(
        &mut self,
        port: &mut FiEndpoint,
        to: Peer,
    ) -> std::result::Result<(), i32> {
        let Some(pier) = self.piers.get_mut(&to) else { return Ok(()) };
        pier.grant(port, to)?;
        if pier.granted < pier.emptied + SLOTS_PER_SENDER {
            self.waiting.push(to);
        }
        if pier.granted - pier.told >= UNADVERTISED_MAX && !self.untold.contains(&to) {
            self.untold.push(to);
        }
        Ok(())
    }

    /// How many remote bounce buffers have been granted to a rank, which is told of that now.
    pub(super) fn advertise(&mut self, to: Peer) -> u64 {
        self.untold.retain(|untold| *untold != to);
        self.piers.get_mut(&to).map_or(0, |pier| {
            pier.told = pier.granted;
            pier.granted
        })
    }

    /// Senders that are to be told how many are granted to them.
    pub(super) fn unadvertised(&self) -> &[Peer] {
        &self.untold
    }

    /// Whether anybody is to be told of anything.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        !self.untold.is_empty()
    }

    /// A rank tells how many remote bounce buffers it has granted.
    pub(super) fn note_granted(&mut self, by: Peer, granted: u64) {
        if granted > 0 {
            let leave = self.leaves.entry(by).or_default();
            leave.granted = leave.granted.max(granted);
        }
    }

    /// The next remote bounce buffer at a rank, if one is granted.
    pub(super) fn next(&self, at: Peer) -> Option<u64> {
        self.leaves.get(&at).filter(|leave| leave.used < leave.granted).map(|leave| leave.used)
    }

    /// The next remote bounce buffer at a rank is used.
    pub(super) fn note_used(&mut self, at: Peer) {
        if let Some(leave) = self.leaves.get_mut(&at) {
            leave.used += 1;
        }
    }

    /// Something has come into a remote bounce buffer, or its receive was given up. From whom; and
    /// the cell, if it is one.
    pub(super) fn note(&mut self, event: &Event) -> (Peer, Option<RegionMut>) {
        let (from, place) = place_of(event.name);
        let Some(pier) = self.piers.get_mut(&from) else { return (from, None) };
        if event.error != 0 || event.bytes < CELL {
            return (from, None);
        }
        pier.come[place] = Some(event.bytes - CELL);
        (from, Some(pier.memory(place).part(0, CELL)))
    }

    /// The message in a remote bounce buffer; none if there is not one of this length.
    pub(super) fn contents(&self, from: Peer, berth: u64, bytes: usize) -> Option<RegionMut> {
        let (pier, place) = (self.piers.get(&from)?, (berth % SLOTS_PER_SENDER) as usize);
        let is_whole = (pier.emptied..pier.granted).contains(&berth)
            && pier.come[place] == Some(bytes)
            && bytes <= REMOTE_BOUNCE_BYTES;
        is_whole.then(|| pier.memory(place).part(CELL, bytes))
    }

    /// What lies in a remote bounce buffer is not needed any more.
    pub(super) fn empty(
        &mut self,
        port: &mut FiEndpoint,
        from: Peer,
        berth: u64,
    ) -> std::result::Result<(), i32> {
        if let Some(pier) = self.piers.get_mut(&from) {
            pier.empty((berth % SLOTS_PER_SENDER) as usize);
        }
        self.grant(port, from)
    }

    /// Senders to which more is to be granted.
    pub(super) fn take_waiting(&mut self) -> Vec<Peer> {
        std::mem::take(&mut self.waiting)
    }

    /// Forgets what the endpoint knows, before it is closed.
    pub(super) fn clear(&mut self, port: &mut FiEndpoint) {
        for pier in self.piers.values_mut() {
            port.forget(std::mem::replace(&mut pier.registration, Registration::NONE));
        }
        self.untold.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tags_tell_the_place() {
        for (sender, berth) in [(0, 0), (7, 5), (u32::MAX >> PLACE_BITS, 3)] {
            let tag = tag(Peer(sender), berth);
            let name = NAME | (tag & !TAG);
            assert_eq!(place_of(name), (Peer(sender), (berth % SLOTS_PER_SENDER) as usize));
            assert_eq!(tag >> 32, 3);
        }
    }

    #[test]
    fn places_are_granted_in_order_however_they_are_emptied() {
        let mut pier = SenderSlots {
            memory: RegionMut::of(Box::leak(Box::default())),
            registration: Registration::NONE,
            contexts: Box::default(),
            come: [None; SLOTS_PER_SENDER as usize],
            granted: SLOTS_PER_SENDER,
            emptied: 0,
            told: 0,
            ahead: 0,
        };
        for (place, emptied) in [(1, 0), (2, 0), (0, 3), (3, 4), (0, 5), (2, 5), (1, 7)] {
            pier.empty(place);
            assert_eq!(pier.emptied, emptied, "{place}");
        }
    }
}
