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
use crate::bootstrap::{KeyValueSpace, all_gather};
use crate::{Failure, How, Peer, RegionMut, Result, SharedSegment};
use bursts::PendingSends;
use endpoints::{FiEndpoints, PeerAddress, refusal};
pub use endpoints::{NetworkScope, REMOTE_WRITES, remote_writes};

/// The name under which ranks put their addresses.
const ADDRESS: &str = "address";
/// Messages that can come before a rank looks.
pub(super) const BUFFERS: usize = 128;

/// What a rank has for ranks on other hosts.
pub struct Network {
    port: FiEndpoint,
    me: Peer,
    pulse: FailureDetector,
    /// The segment of this host.
    home: Arc<SharedSegment>,
    /// The rings to and from ranks elsewhere, what is known of those ranks, and the buffers.
    segment: Arc<SharedSegment>,
    /// The host of each rank.
    hosts: Vec<usize>,
    /// The seat of each rank that is on this host.
    seats: Vec<Option<u32>>,
    addresses: Vec<Vec<u8>>,
    /// Where ranks let others write; none of those that do not, or if this one does not.
    windows: Vec<Option<RmaRegion>>,
    /// The memory into which others write, and how many cells they have.
    window: Registration,
    written: u64,
    /// Cells that have come together with others.
    conveyed: u64,
    /// What is held back, to go with what comes behind it.
    holding: PendingSends,
    conduits: Vec<Option<Box<PeerLink>>>,
    /// Those that have a link.
    active: Vec<Peer>,
    /// One for each buffer.
    contexts: Box<[Context]>,
    registration: Registration,
    /// Messages that go straight from memory to memory.
    straights: ZeroCopyTransfers,
    berths: BounceCredits,
    /// Whether this rank leaves.
    leaves: bool,
    is_closed: bool,
    /// Buffers for which there was no room.
    unposted: Vec<usize>,
    events: Vec<Event>,
    /// The position of the first cell of each ring.
    first: u64,
    /// What carries the messages, in words.
    text: String,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Wire of rank {} ({})", self.me, self.text)
    }
}

impl Network {
    /// Opens the way to ranks on other hosts. All ranks call this. `home` is the segment of this
    /// one's host.
    ///
    /// # Errors
    /// [`Network`](crate::Error::Network) if there is no way, or not the same one for all; those of
    /// the board.
    pub fn open(
        board: &mut dyn KeyValueSpace,
        home: &Arc<SharedSegment>,
        reach: NetworkScope<'_>,
    ) -> Result<Network> {
        let (me, hosts) = (Peer(board.rank() as u32), reach.hosts);
        let opened = FiEndpoints::open(reach);
        // Who has failed says so, or all others would wait for it.
        let card = match &opened {
            Ok(ports) => ports.card(),
            Err(error) => format!("!{error}").into_bytes(),
        };
        let cards = all_gather(board, ADDRESS, &card)?;
        let ports = opened.map_err(|error| refusal(me.index(), &error))?;
        let each = cards.iter().enumerate();
        let cards = each.map(|(rank, card)| PeerAddress::read(&ports.text, rank, card));
        let cards = match cards.collect::<Result<Vec<_>>>() {
            Ok(cards) => cards,
            Err(error) => {
                ports.give_up();
                return Err(error);
            }
        };
        let here = hosts[me.index()];
        let elsewhere = (0..hosts.len()).filter(|&rank| hosts[rank] != here);
        let elsewhere = elsewhere.map(|rank| Peer(rank as u32)).collect();
        let FiEndpoints { main, pulse, segment, window, text, .. } = ports;
        let of_pulses = cards.iter().map(|card| card.addresses[1].clone()).collect();
        let post = ControlChannel::new(pulse, me, of_pulses)?;
        let timeout = failure_detector::peer_timeout()?;
        let pulse = FailureDetector::begin(post, me, home.clone(), elsewhere, timeout)?;
        Network::over((main, pulse), (segment, window), text, me, home.clone(), (cards, hosts))
    }

    fn over(
        (mut port, pulse): (FiEndpoint, FailureDetector),
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
        // SAFETY: the mapping stays as long as the wire, whose port is closed before.
        let registration = unsafe { port.register(buffers.as_region(), Access::Receive)? };
        let context = |buffer| Context::new(BUFFER | buffer as u64);
        let of_each = |card: PeerAddress| {
            let [address, _] = card.addresses;
            (address, card.window.filter(|_| port.writes()))
        };
        let (addresses, windows): (Vec<_>, Vec<_>) = cards.into_iter().map(of_each).unzip();
        let mut wire = Network {
            port,
            me,
            pulse,
            home,
            segment: Arc::new(segment),
            hosts: hosts.to_vec(),
            seats: seats.collect(),
            conduits: addresses.iter().map(|_| None).collect(),
            addresses,
            windows,
            window,
            written: 0,
            conveyed: 0,
            holding: PendingSends::new(),
            active: Vec::new(),
            contexts: (0..BUFFERS).map(context).collect(),
            registration,
            straights: ZeroCopyTransfers::default(),
            berths: BounceCredits::default(),
            leaves: false,
            is_closed: false,
            unposted: (0..BUFFERS).collect(),
            events: Vec::new(),
            first: 0,
            text,
        };
        wire.post_buffers();
        Ok(wire)
    }

    /// What carries the messages, in words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The host of each rank, as all ranks number them.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// Cells that have come by being written into the memory of this rank.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Cells that have come together with others, several in one message.
    pub fn conveyed(&self) -> u64 {
        self.conveyed
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

    /// Whether anything has come from a rank, or was sent there.
    pub(crate) fn has_met(&self, peer: Peer) -> bool {
        self.conduits[peer.index()].is_some()
    }

    /// This rank leaves: from here on only what others wait for is said to them.
    pub(crate) fn leave(&mut self) {
        self.leaves = true;
    }

    /// A rank elsewhere has left.
    pub(crate) fn note_left(&mut self, peer: Peer) {
        self.segment.note_left(peer);
        if let Some(conduit) = &mut self.conduits[peer.index()] {
            conduit.note_left();
        }
    }

    /// The segment with the rings to and from other hosts.
    pub(crate) fn segment(&self) -> &Arc<SharedSegment> {
        &self.segment
    }

    /// Rings start at this position. Before anything is sent.
    pub(crate) fn start_at(&mut self, first: u64) {
        self.first = first;
    }

    /// Whether all that was put into rings has left this rank.
    pub(crate) fn is_drained(&self) -> bool {
        self.straights.is_empty()
            && self.active.iter().all(|peer| {
                self.conduits[peer.index()].as_ref().is_none_or(|conduit| conduit.is_drained())
            })
    }

    /// Whether it is time to say whom this rank waits for: see [`Network::await_peer`]. Says so
    /// once.
    pub(crate) fn is_time_to_say(&mut self) -> bool {
        self.pulse.is_time_to_say()
    }

    /// How many cells this rank has put into its rings to other hosts.
    pub(crate) fn offered(&self) -> u64 {
        let conduits = self.active.iter().filter_map(|peer| self.conduits[peer.index()].as_ref());
        conduits.map(|conduit| conduit.offered(self.first)).sum()
    }

    /// This rank waits for that one.
    pub(crate) fn await_peer(&self, peer: Peer) {
        if self.reaches(peer) {
            self.pulse.shared.await_peer(peer);
        }
    }

    /// This rank does not wait for that one, which has left.
    pub(crate) fn await_no_more(&self, peer: Peer) {
        self.pulse.shared.await_no_more(peer);
    }

    /// This rank waits for those that have not taken yet what was sent to them.
    pub(crate) fn await_takers(&self) {
        for &peer in &self.active {
            if self.conduits[peer.index()].as_ref().is_some_and(|conduit| !conduit.is_drained()) {
                self.pulse.shared.await_peer(peer);
            }
        }
        self.straights.withdrawn_from().for_each(|peer| self.pulse.shared.await_peer(peer));
    }

    /// Takes what has come, and sends what waits in rings. Says whether the network has told of
    /// anything.
    pub(crate) fn progress(&mut self) -> bool {
        if self.is_closed {
            return false;
        }
        self.flush_pending();
        let mut events = std::mem::take(&mut self.events);
        self.port.poll(&mut events);
        self.pulse.shared.note_look();
        let was_told = !events.is_empty();
        for event in events.drain(..) {
            self.handle(event);
        }
        self.events = events;
        if !self.unposted.is_empty() {
            self.post_buffers();
        }
        for name in self.straights.take_waiting() {
            self.go_on(name);
        }
        self.grant_credits();
        for at in 0..self.active.len() {
            self.push(self.active[at]);
        }
        self.end_bursts();
        was_told
    }

    /// Sends what waits in the ring to a rank.
    pub(crate) fn push(&mut self, peer: Peer) {
        if self.is_closed {
            return;
        }
        if self.conduits[peer.index()].is_none() && !self.connect(peer) {
            return;
        }
        let Some(conduit) = &mut self.conduits[peer.index()] else { return };
        let pushed = conduit.push(&mut self.port, &mut self.straights, self.leaves);
        self.holding.note(conduit.note_waits());
        self.pulse.shared.note_offered(peer, conduit.offered(self.first));
        if let Err(error) = pushed {
            self.lose(peer, error);
        }
    }

    /// Makes the link to a rank.
    fn connect(&mut self, peer: Peer) -> bool {
        let address = std::mem::take(&mut self.addresses[peer.index()]);
        let made = self.port.insert_address(&address).and_then(|target| {
            let (to, between) = ((target, self.windows[peer.index()]), (self.me, peer));
            PeerLink::new(&mut self.port, to, between, &self.segment, self.first)
        });
        match made {
            Ok(conduit) => {
                self.conduits[peer.index()] = Some(Box::new(conduit));
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
                if let Some(conduit) = &mut self.conduits[peer.index()] {
                    conduit.landed(cell);
                }
            }
            ContextId::Buffer(buffer) => {
                if event.error == 0 {
                    self.accept(buffer, event);
                }
                self.unposted.push(buffer);
            }
            ContextId::Segment => self.note_segment(&event),
            ContextId::Berth => self.note_credit_event(&event),
            ContextId::Written => self.accept_written(ImmData::of(event.tag as u32)),
        }
    }

    /// Nobody uses the memory of transfers any more, and nothing more goes or comes.
    pub(crate) fn close(&mut self) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        if self.home.failure().is_some() && !self.straights.is_empty() {
            // Others would take it for a cut if they heard of this before they hear the reason.
            self.pulse.await_last_words();
        }
        self.holding.close();
        self.straights.clear(&mut self.port);
        self.berths.clear(&mut self.port);
        for conduit in self.conduits.iter_mut().flatten() {
            conduit.forget(&mut self.port);
        }
        for registration in [&mut self.registration, &mut self.window] {
            self.port.forget(std::mem::replace(registration, Registration::NONE));
        }
        self.port.close();
    }

    /// A message lies in a buffer.
    fn accept(&mut self, buffer: usize, event: Event) {
        let peer = wire_ids::source(event.tag);
        if !self.hears_from(peer) {
            return;
        }
        let bytes = event.bytes.min(self.segment.layout().cell_bytes());
        let start = self.buffer(buffer).start();
        // SAFETY: so many bytes have come into the buffer, which is not posted now.
        let message = unsafe { std::slice::from_raw_parts(start, bytes) };
        let Some(conduit) = &mut self.conduits[peer.index()] else { return };
        let accepted = conduit.accept(event.tag, message);
        self.pulse.shared.note_arrived(peer, conduit.arrived());
        match accepted {
            Ok(0 | 1) => {}
            Ok(cells) => self.conveyed += cells as u64,
            Err(_) => self.lose(peer, libc::EBADMSG),
        }
    }

    /// A cell has been written into its place.
    fn accept_written(&mut self, note: ImmData) {
        let peer = note.from;
        if !self.hears_from(peer) {
            return;
        }
        let Some(conduit) = &mut self.conduits[peer.index()] else { return };
        self.written += 1;
        let accepted = conduit.accept_written(note);
        self.pulse.shared.note_arrived(peer, conduit.arrived());
        if accepted.is_err() {
            self.lose(peer, libc::EBADMSG);
        }
    }

    /// Makes the link to a rank of which something has come, if there is none. `false` if it is
    /// no rank elsewhere, or cannot be reached.
    fn hears_from(&mut self, peer: Peer) -> bool {
        let known = self.seats.get(peer.index()).is_some_and(Option::is_none);
        known && (self.conduits[peer.index()].is_some() || self.connect(peer))
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
            // SAFETY: buffers and contexts stay where they are until the port is closed, and
            // nobody looks at them until the event.
            let begun = unsafe { self.port.receive(0, ANY, into, &self.registration, context) };
            if begun != Begun::Yes {
                return self.unposted.push(buffer);
            }
        }
    }

    /// A rank cannot be reached any more. If that is so because this one has no more descriptors or
    /// memory, it is not the other one that is lost.
    #[cold]
    fn lose(&mut self, peer: Peer, error: i32) {
        // A transfer that was given up is no news, and a rank that has left closes its port.
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

/// What this process lacks, if that may be why something has gone wrong. Libraries pass on that
/// there is no descriptor left as any error, so it is tried.
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
        // Before the memory that it may be using.
        self.close();
    }
}
