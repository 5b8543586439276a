//! Places at the receiver into which messages of middle length come without an answer to their
//! announcement: `README.md`, "Berths".

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::collections::HashMap;

use super::port::{Access, Begun, Context, Event, Port, Registration};
use crate::slab::Id;
use crate::{Peer, RegionMut, Result};

/// Bytes of a berth: of the longest message that it takes.
pub(crate) const BERTH: usize = 128 << 10;
/// Berths that one sender may have.
const BERTHS: u64 = 4;
/// Senders that may have some.
const SENDERS: usize = 32;
/// Granted berths of which their sender does not know, and is told in a packet of its own.
const UNTOLD: u64 = BERTHS / 2;
/// The tag of what comes into a berth: this, then its sender, then its place.
const TAG: u64 = 3 << 32;
/// The name of a receive in a berth is made the same way.
pub(super) const NAME: u64 = 4 << 56;
const PLACE_BITS: u32 = 2;

/// The tag of what a rank sends into a berth.
pub(super) fn tag(sender: Peer, berth: u64) -> u64 {
    TAG | u64::from(sender.0) << PLACE_BITS | (berth % BERTHS)
}

/// Whose receive, and in which place, has this name.
fn place_of(name: u64) -> (Peer, usize) {
    (Peer(((name & !NAME) >> PLACE_BITS) as u32), (name % BERTHS) as usize)
}

/// What is known of the message in a berth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    /// Not even that there is one.
    Unknown,
    /// It has been announced, and waits for its receive.
    Announced,
    /// It has met that.
    Met(Id),
    /// Nobody wants it.
    Unwanted,
}

/// A place for the messages of one sender.
#[derive(Clone, Copy, Debug)]
struct Place {
    message: Message,
    /// Bytes that have come, once they have.
    come: Option<usize>,
}

const EMPTY: Place = Place { message: Message::Unknown, come: None };

/// All places for the messages of one sender.
struct Pier {
    memory: RegionMut,
    registration: Registration,
    contexts: Box<[Context]>,
    places: [Place; BERTHS as usize],
    /// Berths below this one have been granted, below that one emptied, one after the other, and
    /// below the last the sender knows of them.
    granted: u64,
    emptied: u64,
    told: u64,
    /// A bit for each place that is empty again, though one before it is not.
    ahead: u8,
}

// SAFETY: an address of memory that is its own, which may be used from any thread.
unsafe impl Send for Pier {}

impl Pier {
    fn new(port: &mut Port, sender: Peer) -> Result<Pier> {
        let memory = vec![0_u8; BERTHS as usize * BERTH].into_boxed_slice();
        let memory = RegionMut::of(Box::leak(memory));
        let name = |place| NAME | u64::from(sender.0) << PLACE_BITS | place;
        let mut pier = Pier {
            memory,
            registration: Registration::NONE,
            contexts: (0..BERTHS).map(|place| Context::new(name(place))).collect(),
            places: [EMPTY; BERTHS as usize],
            granted: 0,
            emptied: 0,
            told: 0,
            ahead: 0,
        };
        // SAFETY: the memory stays until the port is closed (`Drop`).
        pier.registration = unsafe { port.register(memory.as_region(), Access::Receive)? };
        Ok(pier)
    }

    /// The memory of a place.
    fn memory(&self, place: usize) -> RegionMut {
        self.memory.part(place * BERTH, BERTH)
    }

    /// Grants what can be granted: posts receives in empty places. The error is the network's.
    fn grant(&mut self, port: &mut Port, sender: Peer) -> std::result::Result<(), i32> {
        while self.granted < self.emptied + BERTHS {
            let place = (self.granted % BERTHS) as usize;
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
        self.places[place] = EMPTY;
        self.ahead |= 1 << place;
        while self.ahead >> (self.emptied % BERTHS) & 1 != 0 {
            self.ahead &= !(1 << (self.emptied % BERTHS));
            self.emptied += 1;
        }
    }
}

impl Drop for Pier {
    fn drop(&mut self) {
        let memory = std::ptr::slice_from_raw_parts_mut(self.memory.start(), self.memory.bytes());
        // SAFETY: it was leaked by `new`, and the port, which was the only other to use it, has
        // been closed: a wire closes its port before it drops anything.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// What this rank may send into berths of another.
#[derive(Clone, Copy, Debug, Default)]
struct Leave {
    granted: u64,
    used: u64,
}

/// Something that an endpoint has to see to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BerthNews {
    /// A message lies in a berth; `landing` if it has met its receive.
    Come { from: Peer, berth: u64, landing: Option<Id> },
    /// A sender does not know that so many berths are granted to it.
    Granted { to: Peer, granted: u64 },
}

/// The berths of a rank, and those that it may use elsewhere.
#[derive(Default)]
pub(super) struct Berths {
    piers: HashMap<Peer, Pier>,
    leaves: HashMap<Peer, Leave>,
    /// Senders to which more is to be granted when the network has room for it.
    waiting: Vec<Peer>,
    pub(super) news: Vec<BerthNews>,
}

impl Berths {
    /// Gives berths to a sender, unless it has some or too many others have.
    pub(super) fn offer(&mut self, port: &mut Port, to: Peer) -> std::result::Result<(), i32> {
        if self.piers.contains_key(&to) || self.piers.len() >= SENDERS {
            return Ok(());
        }
        // Who has no memory to spare goes on without.
        if let Ok(pier) = Pier::new(port, to) {
            self.piers.insert(to, pier);
            return self.grant(port, to);
        }
        Ok(())
    }

    /// Grants what can be granted to a sender, and has it told if that is worth a packet.
    pub(super) fn grant(&mut self, port: &mut Port, to: Peer) -> std::result::Result<(), i32> {
        let Some(pier) = self.piers.get_mut(&to) else { return Ok(()) };
        pier.grant(port, to)?;
        if pier.granted < pier.emptied + BERTHS {
            self.waiting.push(to);
        }
        if pier.granted - pier.told >= UNTOLD {
            pier.told = pier.granted;
            self.news.push(BerthNews::Granted { to, granted: pier.granted });
        }
        Ok(())
    }

    /// How many berths have been granted to a rank, which is told of that now.
    pub(super) fn tell(&mut self, to: Peer) -> u64 {
        self.piers.get_mut(&to).map_or(0, |pier| {
            pier.told = pier.granted;
            pier.granted
        })
    }

    /// A rank tells how many berths it has granted.
    pub(super) fn note_granted(&mut self, by: Peer, granted: u64) {
        if granted > 0 {
            let leave = self.leaves.entry(by).or_default();
            leave.granted = leave.granted.max(granted);
        }
    }

    /// The next berth at a rank, if one is granted.
    pub(super) fn next(&self, at: Peer) -> Option<u64> {
        self.leaves.get(&at).filter(|leave| leave.used < leave.granted).map(|leave| leave.used)
    }

    /// The next berth at a rank is used.
    pub(super) fn note_used(&mut self, at: Peer) {
        if let Some(leave) = self.leaves.get_mut(&at) {
            leave.used += 1;
        }
    }

    /// Something has come into a berth, or its receive was given up. From whom.
    pub(super) fn note(&mut self, event: &Event) -> Peer {
        let (from, place) = place_of(event.name);
        if event.error == 0
            && let Some(pier) = self.piers.get_mut(&from)
        {
            pier.places[place].come = Some(event.bytes);
            self.tell_of(from, place as u64);
        }
        from
    }

    /// The message in a berth has been announced. `false` if there is no such berth.
    pub(super) fn note_announced(&mut self, from: Peer, berth: u64) -> bool {
        let Some(pier) = self.piers.get_mut(&from) else { return false };
        let is_theirs = (pier.emptied..pier.granted).contains(&berth);
        let place = &mut pier.places[(berth % BERTHS) as usize];
        if !is_theirs || place.message != Message::Unknown {
            return false;
        }
        place.message = Message::Announced;
        true
    }

    /// The message in a berth has met its receive. There will be news when it is there.
    pub(super) fn meet(&mut self, from: Peer, berth: u64, landing: Id) {
        self.settle(from, berth, Message::Met(landing));
    }

    /// Nobody wants the message in a berth. There will be news when it is there.
    pub(super) fn refuse(&mut self, from: Peer, berth: u64) {
        self.settle(from, berth, Message::Unwanted);
    }

    fn settle(&mut self, from: Peer, berth: u64, message: Message) {
        if let Some(pier) = self.piers.get_mut(&from) {
            pier.places[(berth % BERTHS) as usize].message = message;
            self.tell_of(from, berth);
        }
    }

    /// News of a message, if it is there.
    fn tell_of(&mut self, from: Peer, berth: u64) {
        let Some(pier) = self.piers.get(&from) else { return };
        let place = pier.places[(berth % BERTHS) as usize];
        if place.come.is_none() {
            return;
        }
        let landing = match place.message {
            Message::Unknown | Message::Announced => None,
            Message::Met(landing) => Some(landing),
            // Whoever hears of it empties the place, as it finds no receive.
            Message::Unwanted => Some(Id(0)),
        };
        self.news.push(BerthNews::Come { from, berth, landing });
    }

    /// What lies in a berth.
    pub(super) fn contents(&self, from: Peer, berth: u64) -> Option<RegionMut> {
        let (pier, place) = (self.piers.get(&from)?, (berth % BERTHS) as usize);
        Some(pier.memory(place).part(0, pier.places[place].come?.min(BERTH)))
    }

    /// What lies in a berth is not needed any more.
    pub(super) fn empty(
        &mut self,
        port: &mut Port,
        from: Peer,
        berth: u64,
    ) -> std::result::Result<(), i32> {
        if let Some(pier) = self.piers.get_mut(&from) {
            pier.empty((berth % BERTHS) as usize);
        }
        self.grant(port, from)
    }

    /// Whether something that has been announced is on its way from a rank.
    pub(super) fn comes_from(&self, peer: Peer) -> bool {
        let is_coming = |place: &Place| place.come.is_none() && place.message != Message::Unknown;
        self.piers.get(&peer).is_some_and(|pier| pier.places.iter().any(is_coming))
    }

    /// Senders to which more is to be granted.
    pub(super) fn take_waiting(&mut self) -> Vec<Peer> {
        std::mem::take(&mut self.waiting)
    }

    /// Forgets what the port knows, before it is closed.
    pub(super) fn clear(&mut self, port: &mut Port) {
        for pier in self.piers.values_mut() {
            port.forget(std::mem::replace(&mut pier.registration, Registration::NONE));
        }
        self.news.clear();
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
            assert_eq!(place_of(name), (Peer(sender), (berth % BERTHS) as usize));
            assert_eq!(tag >> 32, 3);
        }
    }

    #[test]
    fn places_are_granted_in_order_however_they_are_emptied() {
        let mut pier = Pier {
            memory: RegionMut::of(Box::leak(Box::default())),
            registration: Registration::NONE,
            contexts: Box::default(),
            places: [EMPTY; BERTHS as usize],
            granted: BERTHS,
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
