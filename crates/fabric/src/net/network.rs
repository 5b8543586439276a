//! The network of one rank: endpoints, links and transfers to all ranks on other hosts.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod bursts;
mod endpoints;
mod large;
mod remote_bounce;

use std::sync::Arc;

use super::control_channel::ControlChannel;
use super::failure_detector::{self, FailureDetector};
use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration, RmaRegion};
use super::link::PeerLink;
use super::remote_bounce::BounceCredits;
use super::wire_ids::{self, ANY, BUFFER, ContextId, ImmData};
use super::zero_copy::ZeroCopyTransfers;
use crate::kvs::{KeyValueSpace, all_gather};
use crate::{Failure, How, Peer, RegionMut, Result, SharedSegment};
use bursts::PendingSends;
pub(super) use endpoints::BUFFERS;
use endpoints::{FiEndpoints, PeerAddress, refusal};
pub use endpoints::{NetworkScope, REMOTE_WRITES, remote_writes};

/// The key under which ranks publish their addresses.
const ADDRESS: &str = "address";

/// The state of one rank for communication with ranks on other hosts.
pub struct Network {
    ep: FiEndpoint,
    me: Peer,
    detector: FailureDetector,
    /// The shared segment of this host.
    home: Arc<SharedSegment>,
    /// The segment with the rings to and from ranks on other hosts, the states of those ranks, and
    /// the buffers.
    segment: Arc<SharedSegment>,
    /// The host of each rank.
    hosts: Vec<usize>,
    /// The seat of each rank that is on this host.
    seats: Vec<Option<u32>>,
    addresses: Vec<Vec<u8>>,
    /// The regions into which ranks permit remote writes; `None` for a rank that permits none, and
    /// for all ranks if this one permits none.
    windows: Vec<Option<RmaRegion>>,
    /// The memory into which other ranks write, and how many cells they have written.
    window: Registration,
    written: u64,
    /// Cells that have arrived in frames with others.
    coalesced: u64,
    /// Cells that are held back, to be coalesced with those that follow.
    pending_sends: PendingSends,
    links: Vec<Option<Box<PeerLink>>>,
    /// The ranks that have a link.
    active: Vec<Peer>,
    /// One context for each buffer.
    contexts: Box<[Context]>,
    registration: Registration,
    /// Zero-copy transfers of large messages.
    transfers: ZeroCopyTransfers,
    bounce_credits: BounceCredits,
    /// Whether this rank is leaving.
    leaves: bool,
    is_closed: bool,
    /// Buffers that could not be posted for lack of room.
    unposted: Vec<usize>,
    events: Vec<Event>,
    /// The position of the first cell of each ring.
    first: u64,
    /// The provider in words.
    text: String,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Network of rank {} ({})", self.me, self.text)
    }
}

impl Network {
    /// Connects this rank to ranks on other hosts. All ranks call this. `home` is the shared
    /// segment of the host of this rank.
    ///
    /// # Errors
    /// [`Network`](crate::Error::Network) if there is no provider, or not the same one for all
    /// ranks; the errors of the key-value space.
    pub fn open(
        kvs: &mut dyn KeyValueSpace,
        home: &Arc<SharedSegment>,
        reach: NetworkScope<'_>,
    ) -> Result<Network> {
        let (me, hosts) = (Peer(kvs.rank() as u32), reach.hosts);
        let opened = FiEndpoints::open(reach);
        // A rank that has failed publishes the failure, or all other ranks would wait for its
        // address.
        let card = match &opened {
            Ok(endpoints) => endpoints.card(),
            Err(error) => format!("!{error}").into_bytes(),
        };
        let cards = all_gather(kvs, ADDRESS, &card)?;
        let mut endpoints = opened.map_err(|error| refusal(me.index(), &error))?;
        let each = cards.iter().enumerate();
        let cards = each.map(|(rank, card)| PeerAddress::read(&endpoints.text, rank, card));
        let cards = match cards.collect::<Result<Vec<_>>>() {
            Ok(cards) => cards,
            Err(error) => {
                endpoints.give_up();
                return Err(error);
            }
        };
        let here = hosts[me.index()];
        let elsewhere = (0..hosts.len()).filter(|&rank| hosts[rank] != here);
        let elsewhere = elsewhere.map(|rank| Peer(rank as u32)).collect();
        endpoints.join_world(&cards);
        let FiEndpoints { main, control, segment, window, text, .. } = endpoints;
        let control_addresses = cards.iter().map(|card| card.addresses[1].clone()).collect();
        let channel = ControlChannel::new(control, me, control_addresses)?;
        let timeout = failure_detector::peer_timeout()?;
        let detector = FailureDetector::begin(channel, me, home.clone(), elsewhere, timeout)?;
        Network::over((main, detector), (segment, window), text, me, home.clone(), (cards, hosts))
    }

    fn over(
        (mut ep, detector): (FiEndpoint, FailureDetector),
        (segment, window): (SharedSegment, Registration),
        text: String,
        me: Peer,
        home: Arc<SharedSegment>,
        (cards, hosts): (Vec<PeerAddress>, &[usize]),
    ) -> Result<Network> {
        let mut seat = 0..;
        let here = hosts[me.index()];
        let seats = hosts.iter().map(|&host| if host == here { seat.next() } else { None });
        let layout = segment.layout();
        let buffers =
            RegionMut::new(segment.at(layout.arena(0)).as_ptr(), BUFFERS * layout.cell_bytes());
        // SAFETY: the mapping stays as long as the network, whose endpoint is closed before.
        let registration = unsafe { ep.register(buffers.as_region(), Access::Receive)? };
        let context = |buffer| Context::new(BUFFER | buffer as u64);
        let of_each = |card: PeerAddress| {
            let [address, _] = card.addresses;
            (address, card.window.filter(|_| ep.writes()))
        };
        let (addresses, windows): (Vec<_>, Vec<_>) = cards.into_iter().map(of_each).unzip();
        let mut network = Network {
            ep,
            me,
            detector,
            home,
            segment: Arc::new(segment),
            hosts: hosts.to_vec(),
            seats: seats.collect(),
            links: addresses.iter().map(|_| None).collect(),
            addresses,
            windows,
            window,
            written: 0,
            coalesced: 0,
            pending_sends: PendingSends::new(),
            active: Vec::new(),
            contexts: (0..BUFFERS).map(context).collect(),
            registration,
            transfers: ZeroCopyTransfers::default(),
            bounce_credits: BounceCredits::default(),
            leaves: false,
            is_closed: false,
            unposted: (0..BUFFERS).collect(),
            events: Vec::new(),
            first: 0,
            text,
        };
        network.post_buffers();
        Ok(network)
    }

    /// The provider in words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The host of each rank, with the same numbers on all ranks.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// Cells that have arrived by remote writes.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Cells that have arrived in coalesced frames.
    pub fn coalesced(&self) -> u64 {
        self.coalesced
    }

    /// The seat of a rank, if it is on this host.
    pub(crate) fn local_index(&self, peer: Peer) -> Option<usize> {
        self.seats[peer.index()].map(|seat| seat as usize)
    }

    /// Whether a rank is on another host.
    #[inline]
    pub(crate) fn reaches(&self, peer: Peer) -> bool {
        self.seats[peer.index()].is_none()
    }

    /// The ranks on other hosts.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Peer> + use<> {
        let elsewhere = self.seats.iter().enumerate().filter(|(_, seat)| seat.is_none());
        let peers: Vec<_> = elsewhere.map(|(rank, _)| Peer(rank as u32)).collect();
        peers.into_iter()
    }

    /// This rank leaves: from here on it sends only what other ranks wait for.
    pub(crate) fn leave(&mut self) {
        self.leaves = true;
    }

    /// Records that a rank on another host has left.
    pub(crate) fn note_left(&mut self, peer: Peer) {
        self.segment.note_left(peer);
        if let Some(link) = &mut self.links[peer.index()] {
            link.note_left();
        }
    }

    /// The segment with the rings to and from other hosts.
    pub(crate) fn segment(&self) -> &Arc<SharedSegment> {
        &self.segment
    }

    /// Sets the position of the first cell of all rings. Called before any message is sent.
    pub(crate) fn start_at(&mut self, first: u64) {
        self.first = first;
    }

    /// Whether all cells of the rings have left this rank.
    pub(crate) fn is_drained(&self) -> bool {
        self.transfers.is_empty()
            && self
                .active
                .iter()
                .all(|peer| self.links[peer.index()].as_ref().is_none_or(|link| link.is_drained()))
    }

    /// Whether it is time to record for which ranks this rank waits: see [`Network::await_peer`].
    /// `true` once per period.
    pub(crate) fn is_time_to_say(&mut self) -> bool {
        self.detector.is_time_to_say()
    }

    /// How many cells this rank has put into its rings to other hosts.
    pub(crate) fn offered(&self) -> u64 {
        let links = self.active.iter().filter_map(|peer| self.links[peer.index()].as_ref());
        links.map(|link| link.offered(self.first)).sum()
    }

    /// Records that this rank waits for `peer`.
    pub(crate) fn await_peer(&self, peer: Peer) {
        if self.reaches(peer) {
            self.detector.shared.await_peer(peer);
        }
    }

    /// Records that this rank does not wait for `peer`, which has left.
    pub(crate) fn await_no_more(&self, peer: Peer) {
        self.detector.shared.await_no_more(peer);
    }

    /// Records that this rank waits for the ranks that have not received all cells that were sent
    /// to them.
    pub(crate) fn await_takers(&self) {
        for &peer in &self.active {
            if self.links[peer.index()].as_ref().is_some_and(|link| !link.is_drained()) {
                self.detector.shared.await_peer(peer);
            }
        }
        self.transfers.withdrawn_from().for_each(|peer| self.detector.shared.await_peer(peer));
    }

    /// Handles what has arrived, and sends the cells that wait in rings. Returns whether libfabric
    /// has reported any event.
    pub(crate) fn progress(&mut self) -> bool {
        if self.is_closed {
            return false;
        }
        self.flush_pending();
        let mut events = std::mem::take(&mut self.events);
        self.ep.poll(&mut events);
        self.detector.shared.note_poll();
        let was_told = !events.is_empty();
        for event in events.drain(..) {
            self.handle(event);
        }
        self.events = events;
        if !self.unposted.is_empty() {
            self.post_buffers();
        }
        for name in self.transfers.take_waiting() {
            self.go_on(name);
        }
        self.grant_credits();
        for at in 0..self.active.len() {
            self.push(self.active[at]);
        }
        self.end_bursts();
        was_told
    }

    /// Sends the cells that wait in the ring to a rank.
    pub(crate) fn push(&mut self, peer: Peer) {
        if self.is_closed {
            return;
        }
        if self.links[peer.index()].is_none() && !self.connect(peer) {
            return;
        }
        let Some(link) = &mut self.links[peer.index()] else { return };
        let pushed = link.push(&mut self.ep, &mut self.transfers, self.leaves);
        self.pending_sends.note(link.note_waits());
        self.detector.shared.note_offered(peer, link.offered(self.first));
        if let Err(error) = pushed {
            self.lose(peer, error);
        }
    }

    /// Creates the link to a rank.
    fn connect(&mut self, peer: Peer) -> bool {
        let address = std::mem::take(&mut self.addresses[peer.index()]);
        let made = self.ep.insert_address(&address).and_then(|target| {
            let (to, between) = ((target, self.windows[peer.index()]), (self.me, peer));
            PeerLink::new(&mut self.ep, to, between, &self.segment, self.first)
        });
        match made {
            Ok(link) => {
                self.links[peer.index()] = Some(Box::new(link));
                self.active.push(peer);
                true
            }
            Err(_) => {
                self.addresses[peer.index()] = address;
                self.lose(peer, libc::EHOSTUNREACH);
                false
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match wire_ids::read(event.name) {
            ContextId::Cell(peer, cell) => {
                if event.error != 0 {
                    self.lose(peer, event.error);
                }
                if let Some(link) = &mut self.links[peer.index()] {
                    link.landed(cell);
                }
            }
            ContextId::Buffer(buffer) => {
                if event.error == 0 {
                    self.accept(buffer, event);
                }
                self.unposted.push(buffer);
            }
            ContextId::Segment => self.note_segment(&event),
            ContextId::RemoteBounce => self.note_credit_event(&event),
            ContextId::Written => self.accept_written(ImmData::of(event.tag as u32)),
        }
    }

    /// Closes the endpoint: libfabric does not use the memory of transfers any more, and no message
    /// goes or arrives.
    pub(crate) fn close(&mut self) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        if self.home.failure().is_some() && !self.transfers.is_empty() {
            // Other ranks would take it for a lost connection if they noticed this before they know
            // the reason.
            self.detector.await_last_words();
        }
        self.pending_sends.close();
        self.transfers.clear(&mut self.ep);
        self.bounce_credits.clear(&mut self.ep);
        for link in self.links.iter_mut().flatten() {
            link.forget(&mut self.ep);
        }
        for registration in [&mut self.registration, &mut self.window] {
            self.ep.forget(std::mem::replace(registration, Registration::NONE));
        }
        self.ep.close();
    }

    /// Accepts a message in a buffer.
    fn accept(&mut self, buffer: usize, event: Event) {
        let peer = wire_ids::source(event.tag);
        if !self.hears_from(peer) {
            return;
        }
        let bytes = event.bytes.min(self.segment.layout().cell_bytes());
        let start = self.buffer(buffer).start();
        // SAFETY: so many bytes have come into the buffer, which is not posted now.
        let message = unsafe { std::slice::from_raw_parts(start, bytes) };
        let Some(link) = &mut self.links[peer.index()] else { return };
        let accepted = link.accept(event.tag, message);
        self.detector.shared.note_arrived(peer, link.arrived());
        match accepted {
            Ok(0 | 1) => {}
            Ok(cells) => self.coalesced += cells as u64,
            Err(_) => self.lose(peer, libc::EBADMSG),
        }
    }

    /// Accepts a cell that has been written into its place.
    fn accept_written(&mut self, note: ImmData) {
        let peer = note.from;
        if !self.hears_from(peer) {
            return;
        }
        let Some(link) = &mut self.links[peer.index()] else { return };
        self.written += 1;
        let accepted = link.accept_written(note);
        self.detector.shared.note_arrived(peer, link.arrived());
        if accepted.is_err() {
            self.lose(peer, libc::EBADMSG);
        }
    }

    /// Creates the link to a rank of which a message has arrived, if there is none. `false` if it
    /// is no rank on another host, or cannot be reached.
    fn hears_from(&mut self, peer: Peer) -> bool {
        let known = self.seats.get(peer.index()).is_some_and(Option::is_none);
        known && (self.links[peer.index()].is_some() || self.connect(peer))
    }

    fn buffer(&self, buffer: usize) -> RegionMut {
        let layout = self.segment.layout();
        let bytes = layout.cell_bytes();
        RegionMut::new(self.segment.at(layout.arena(0) + buffer * bytes).as_ptr(), bytes)
    }

    fn post_buffers(&mut self) {
        while let Some(buffer) = self.unposted.pop() {
            let into = self.buffer(buffer);
            let context: *mut Context = &mut self.contexts[buffer];
            // SAFETY: buffers and contexts stay where they are until the endpoint is closed, and
            // nobody looks at them until the event.
            let begun = unsafe { self.ep.receive(0, ANY, into, &self.registration, context) };
            if begun != Begun::Yes {
                return self.unposted.push(buffer);
            }
        }
    }

    /// Declares a rank lost that cannot be reached any more. If the reason is that this process has
    /// no more descriptors or memory, the other rank is not lost.
    #[cold]
    fn lose(&mut self, peer: Peer, error: i32) {
        // A cancelled transfer is no failure, and a rank that has left closes its endpoint.
        let has_left = self.segment.state(peer) == crate::segment::State::Left;
        if error == libc::ECANCELED || has_left || self.home.failure().is_some() {
            return;
        }
        self.home.fail(match own_lack(error) {
            Some(errno) => Failure { rank: self.me, how: How::Starved(errno) },
            None => Failure { rank: peer, how: How::Cut },
        });
    }
}

/// The resource that this process lacks, if that may be the reason of an error. Libraries report a
/// lack of descriptors as any error, so the function tries to get one.
fn own_lack(error: i32) -> Option<u8> {
    const LACKS: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS];
    let tried = std::fs::File::open("/dev/null").err().and_then(|error| error.raw_os_error());
    [Some(error), tried]
        .into_iter()
        .flatten()
        .find(|error| LACKS.contains(error))
        .map(|it| it as u8)
}

impl Drop for Network {
    fn drop(&mut self) {
        // The endpoint is closed before its memory is freed, which it may be using.
        self.close();
    }
}
