//! What a wire does for berths: `../README.md`, "Berths".

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use super::Wire;
use crate::ofi::berth::{self, BerthNews};
use crate::ofi::port::Event;
use crate::slab::Id;
use crate::{Peer, Region};

impl Wire {
    /// Something has come into a berth, or its receive has ended.
    pub(super) fn note_berth(&mut self, event: &Event) {
        let from = self.berths.note(event);
        if event.error != 0 {
            return self.lose(from, event.error);
        }
        if let Some(conduit) = &mut self.conduits[from.index()] {
            conduit.note_landed();
            self.pulse.shared.note_arrived(from, conduit.arrived());
        }
    }

    /// Grants the berths for which the network had no room before.
    pub(super) fn grant_berths(&mut self) {
        for peer in self.berths.take_waiting() {
            let granted = self.berths.grant(&mut self.port, peer);
            self.mind(peer, granted);
        }
    }

    fn mind(&mut self, peer: Peer, outcome: Result<(), i32>) {
        if let Err(error) = outcome {
            self.lose(peer, error);
        }
    }

    /// A rank has announced a message that could have come into a berth.
    pub(crate) fn offer_berths(&mut self, to: Peer) {
        if !self.is_closed {
            let offered = self.berths.offer(&mut self.port, to);
            self.mind(to, offered);
        }
    }

    /// How many berths have been granted to a rank, which is told of that now.
    pub(crate) fn tell_granted(&mut self, to: Peer) -> u64 {
        self.berths.tell(to)
    }

    /// A rank tells how many berths it has granted.
    pub(crate) fn note_granted(&mut self, by: Peer, granted: u64) {
        self.berths.note_granted(by, granted);
    }

    /// Sends a message into a berth, if one is granted and the network has room now. The names of
    /// the transfer and of the berth.
    ///
    /// # Safety
    /// Until there is news of its end, or the wire is closed, nobody writes the memory.
    pub(crate) unsafe fn send_to_berth(
        &mut self,
        to: Peer,
        send: Id,
        data: Region,
    ) -> Option<(u64, u64)> {
        let berth = self.berths.next(to)?;
        let target = self.conduits[to.index()].as_ref().filter(|_| !self.is_closed)?.target();
        let how = (target, berth::tag(self.me, berth));
        // SAFETY: passed on.
        match unsafe { self.straights.send_to_berth(&mut self.port, to, how, send, data) } {
            Ok(name) => {
                let name = name?;
                self.berths.note_used(to);
                self.note_sent(to, 1);
                Some((name, berth))
            }
            Err(error) => {
                self.lose(to, error);
                None
            }
        }
    }

    /// The message in a berth has been announced. Says whether that can be; if not the rank is
    /// lost.
    pub(crate) fn note_berthed(&mut self, from: Peer, berth: u64) -> bool {
        let is_right = self.berths.note_announced(from, berth);
        if !is_right {
            self.lose(from, libc::EBADMSG);
        }
        is_right
    }

    /// The message in a berth has met its receive. There will be news when it is there.
    pub(crate) fn meet_berthed(&mut self, from: Peer, berth: u64, landing: Id) {
        self.berths.meet(from, berth, landing);
    }

    /// Nobody wants the message in a berth.
    pub(crate) fn refuse_berthed(&mut self, from: Peer, berth: u64) {
        self.berths.refuse(from, berth);
    }

    /// What has come into a berth. It stays until [`Wire::empty_berth`].
    pub(crate) fn berthed(&self, from: Peer, berth: u64) -> Option<Region> {
        self.berths.contents(from, berth).map(|memory| memory.as_region())
    }

    /// What lies in a berth is not needed any more.
    pub(crate) fn empty_berth(&mut self, from: Peer, berth: u64) {
        if !self.is_closed {
            let emptied = self.berths.empty(&mut self.port, from, berth);
            self.mind(from, emptied);
        }
    }

    /// What there is to be told of berths.
    pub(crate) fn take_berth_news(&mut self) -> Vec<BerthNews> {
        std::mem::take(&mut self.berths.news)
    }
}
