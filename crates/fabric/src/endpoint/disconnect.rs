//! Disconnect: a rank leaves the world. Peers of its host see this in the segment; the rank sends a
//! packet to peers of other hosts. Protocol: `net/README.md`, "Leaving".

use std::time::{Duration, Instant};

use super::Endpoint;
use super::packet::Packet;
use crate::segment::State;
use crate::{Failure, Peer, TransferError};

/// For so long the first word to a lower rank elsewhere is held back when this rank leaves. The
/// last one that leaves holds none back: it has heard from all lower ones.
const FIRST_NOTICE_DELAY: Duration = Duration::from_millis(200);

/// How far this rank has left.
#[derive(Default)]
pub(super) struct Disconnect {
    pub(super) has_left: bool,
    /// Whether those elsewhere that had not left themselves were told so, or will be.
    was_told: bool,
    /// Those that will be, and since when.
    untold: Vec<Peer>,
    since: Option<Instant>,
}

impl Disconnect {
    /// Whether others may know that this rank has left.
    pub(super) fn was_told(&self) -> bool {
        self.was_told
    }
}

impl Endpoint {
    /// This rank will begin nothing more; it only finishes what others may wait for.
    pub fn begin_leaving(&mut self) {
        self.segment.begin_leaving(self.me);
        self.notify_remote(Packet::Leaving);
    }

    /// Whether no rank will begin anything more.
    pub fn all_leaving(&self) -> bool {
        let mut ranks = (0..self.segment.ranks() as u32).map(Peer);
        ranks.all(|rank| self.memory_of(rank).is_leaving(rank))
    }

    /// This rank leaves the world in good order. Whoever might wait for it is told. It is gone when
    /// [`Endpoint::is_gone`] says so, and makes progress until then.
    pub fn leave(&mut self) {
        self.segment.leave(self.me);
        self.departure.has_left = true;
        if let Some(wire) = &mut self.network {
            wire.leave();
        }
        self.departure.was_told = self.notify_remote(Packet::Left);
    }

    /// Whether every rank knows that this one has left, and so has all that was sent to it.
    pub fn is_gone(&self) -> bool {
        let Some(wire) = &self.network else { return true };
        wire.is_drained()
            && self.departure.untold.is_empty()
            && wire.peers().all(|peer| self.has_seen[peer.index()] || self.is_known_left(peer))
    }

    /// Whether a rank has left the world in good order and all it sent has been read.
    ///
    /// After a death nobody has: some leave because of it, and it is what those are to hear of who
    /// wait for them. Looked at last, since who leaves for that reason has known of it before.
    pub fn has_left(&self, peer: Peer) -> bool {
        matches!(self.why_silent(peer), Some(TransferError::Left(_)))
    }

    /// Why nothing more comes from a rank, if it has left the world in good order and all it sent
    /// has been read: that it has left or, after a death, that death.
    pub fn why_silent(&self, peer: Peer) -> Option<TransferError> {
        let is_silent = self.is_known_left(peer) && !self.readers[peer.index()].has_news();
        is_silent.then(|| self.why_left(peer))
    }

    /// Why a rank has left, as others are told.
    pub(super) fn why_left(&self, peer: Peer) -> TransferError {
        self.failure().map_or(TransferError::Left(peer), TransferError::Failed)
    }

    /// The deaths that are known, the first one first: those of ranks of this host, and others as
    /// far as they have been told.
    pub fn deaths(&self) -> impl Iterator<Item = Failure> + '_ {
        let first = self.failure();
        let ranks = (0..self.segment.ranks() as u32).map(Peer);
        let deaths = ranks.filter_map(|rank| self.segment.death(rank));
        first.into_iter().chain(deaths.filter(move |death| Some(*death) != first))
    }

    /// Whether each death is known, and not only the first one: that is so on one host.
    pub fn knows_all_deaths(&self) -> bool {
        self.network.is_none()
    }

    pub(super) fn is_known_left(&self, peer: Peer) -> bool {
        self.memory_of(peer).state(peer) == State::Left
    }

    /// Tells all that are not known to have left. Where a rank has died nobody is told: from
    /// others, too, that death is to be heard of, and this rank is no reason for them to give up.
    /// Says whether they were told, or will be.
    fn notify_remote(&mut self, packet: Packet) -> bool {
        let Some(wire) = &self.network else { return false };
        self.departure.untold.clear();
        if self.segment.failure().is_some() {
            return false;
        }
        let there = wire.peers().filter(|&peer| !self.is_known_left(peer));
        let (now, later): (Vec<_>, Vec<_>) =
            there.partition(|&peer| peer > self.me || wire.has_met(peer));
        self.departure.untold = later;
        self.departure.since = Some(Instant::now());
        now.into_iter().for_each(|peer| self.send_control(peer, packet));
        true
    }

    /// Tells those that were held back: who has spoken to this rank meanwhile, and all when they
    /// have been held back for long enough.
    #[inline]
    pub(super) fn notify_remaining(&mut self) {
        if !self.departure.untold.is_empty() {
            self.notify_deferred();
        }
    }

    #[cold]
    fn notify_deferred(&mut self) {
        let Some(wire) = &self.network else { return };
        let is_late =
            self.departure.since.is_none_or(|since| since.elapsed() >= FIRST_NOTICE_DELAY);
        let has_left = self.departure.has_left;
        let untold = std::mem::take(&mut self.departure.untold);
        if self.segment.failure().is_some() {
            return; // as in `notify_remote`
        }
        let (now, later): (Vec<_>, Vec<_>) =
            untold.into_iter().partition(|&peer| is_late || wire.has_met(peer));
        self.departure.untold = later;
        for peer in now {
            if has_left {
                // Also who has left meanwhile, and waits for this.
                self.send_control(peer, Packet::Left);
            } else if !self.is_known_left(peer) {
                self.send_control(peer, Packet::Leaving);
            }
        }
    }

    /// Those whose last large messages have come have left now.
    pub(super) fn settle_disconnects(&mut self) {
        for peer in std::mem::take(&mut self.departing) {
            self.note_disconnect(peer, Packet::Left);
        }
    }

    /// A rank elsewhere has told that it leaves.
    pub(super) fn note_disconnect(&mut self, peer: Peer, packet: Packet) {
        let Some(wire) = &self.network else { return };
        match packet {
            Packet::Leaving => wire.segment().note_leaving(peer),
            Packet::Left if wire.comes_from(peer) => self.departing.push(peer),
            Packet::Left => {
                let wire = self.network.as_mut().expect("it is there");
                wire.note_left(peer);
                // Who has said that it leaves has said enough: a rank that has left closes its
                // port when it reads that, and would not take this as well.
                if !self.departure.was_told {
                    self.send_control(peer, Packet::Seen);
                }
            }
            Packet::Seen => self.has_seen[peer.index()] = true,
            _ => {}
        }
    }
}
