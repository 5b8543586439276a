//! Zero-copy transfers: a large message goes from memory to memory in segments: `README.md`, "Large
//! messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;

use super::fi_endpoint::{Access, Begun, Context, Event, FiEndpoint, Registration, Target};
use crate::slab::Id;
use crate::{Peer, Region, RegionMut, Result};

/// Bytes of a segment; the last one of a message may be shorter.
pub(super) const SEGMENT: usize = 512 << 10;
/// Segments of a message that may be on the way at once.
const WINDOW: u32 = 16;
/// The tag of a segment is its number, and this.
pub(super) const TAG: u64 = 2 << 32;
/// The name of a segment on its way: this, its place in the window, and above that the transfer.
pub(super) const NAME: u64 = 2 << 56;
const PLACE_BITS: u32 = 8;

/// What the two ends of a large message call it, and where its segments begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferIds {
    /// The endpoint's name of the message at its sender.
    pub(crate) send: u64,
    /// Its name at the receiver: that of the transfer here.
    pub(crate) landing: u64,
    /// The number of the first segment.
    pub(crate) first: u32,
}

/// What an endpoint is to be told of, or to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// So many segments of a message may be sent: tell its sender.
    Ready { to: Peer, course: TransferIds, upto: u32 },
    /// A message is over here: all of it is there, or its sender has stopped, or the endpoint has
    /// taken it back, and its sender must be told.
    Landed { from: Peer, landing: Id, course: TransferIds, how: How },
    /// All of a message that is to be sent has been.
    Sent { send: Id },
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    /// Its sender has stopped, or the network has lost some of it.
    Stopped,
    /// The endpoint has taken it back.
    Withdrawn,
}

/// Which way.
enum TransferDirection {
    /// Into memory of a receive, which the endpoint calls so. The sender has been told that it may
    /// send so many segments.
    In { landing: Id, told: u32 },
    /// Out of memory of a send, to that endpoint.
    Out(Target),
    /// The same, into a remote bounce buffer with that tag, behind the cell that tells of it.
    Berth { target: Target, tag: u64 },
}

/// A large message on its way.
struct ZeroCopyTransfer {
    way: TransferDirection,
    how: How,
    peer: Peer,
    course: TransferIds,
    start: *mut u8,
    bytes: usize,
    registration: Registration,
    /// How many segments there are to be.
    segments: u32,
    /// Segments below this one may be posted; they have been below that one.
    allowed: u32,
    posted: u32,
    /// A bit for each place of the window that the network uses.
    busy: u32,
    contexts: Box<[Context]>,
}

impl ZeroCopyTransfer {
    fn new(
        way: TransferDirection,
        (peer, course): (Peer, TransferIds),
        memory: RegionMut,
        registration: Registration,
    ) -> ZeroCopyTransfer {
        let (start, bytes) = (memory.start(), memory.bytes());
        ZeroCopyTransfer {
            way,
            how: How::Whole,
            peer,
            course,
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

    /// Posts what may be posted. Says whether the network had room for all of that.
    fn post(&mut self, port: &mut FiEndpoint) -> std::result::Result<bool, i32> {
        while self.posted < self.allowed.min(self.segments) {
            let place = ZeroCopyTransfer::place(self.posted);
            if self.busy >> place & 1 != 0 {
                return Ok(true);
            }
            match self.post_one(port, place as usize) {
                Begun::Yes => {}
                Begun::NotNow => return Ok(false),
                Begun::Never(error) => return Err(error),
            }
            self.busy |= 1 << place;
            self.posted += 1;
        }
        Ok(true)
    }

    fn post_one(&mut self, port: &mut FiEndpoint, place: usize) -> Begun {
        let from = self.posted as usize * SEGMENT;
        let memory = RegionMut::new(self.start, self.bytes).part(from, self.length(self.posted));
        let tag = TAG | u64::from(self.course.first.wrapping_add(self.posted));
        let context: *mut Context = &mut self.contexts[place];
        match self.way {
            // SAFETY: memory of a posted receive, and of nobody else, until this transfer is over
            // or the port closed (README, "Large messages"); so long the contexts stay, too.
            TransferDirection::In { .. } => unsafe {
                port.receive(tag, 0, memory, &self.registration, context)
            },
            TransferDirection::Out(target) => {
                let memory = memory.as_region();
                // SAFETY: memory of a posted send that nobody writes; the rest as above.
                unsafe { port.send(target, tag, memory, &self.registration, context) }
            }
            TransferDirection::Berth { .. } => unreachable!("a conduit sends it, with its cell"),
        }
    }

    fn length(&self, segment: u32) -> usize {
        SEGMENT.min(self.bytes - segment as usize * SEGMENT)
    }

    /// What the sender is to be told, if that is worth a message now.
    fn ready(&mut self) -> Option<News> {
        let TransferDirection::In { told, .. } = &mut self.way else { return None };
        let more = self.posted - *told;
        let is_all = self.posted == self.segments;
        if self.how != How::Whole || more == 0 || *told > 0 && !is_all && more < WINDOW / 2 {
            return None;
        }
        *told = self.posted;
        Some(News::Ready { to: self.peer, course: self.course, upto: self.posted })
    }

    /// There will be no more segments than these: receives that wait for others are cancelled.
    fn shorten(&mut self, port: &mut FiEndpoint, segments: u32) {
        self.segments = self.segments.min(segments);
        let TransferDirection::In { .. } = self.way else { return };
        for segment in self.segments..self.posted {
            let place = ZeroCopyTransfer::place(segment);
            if self.busy >> place & 1 != 0 {
                // SAFETY: the context of a receive that is posted.
                unsafe { port.cancel(&mut self.contexts[place as usize]) };
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

/// All large messages that are on their way to and from ranks elsewhere.
#[derive(Default)]
pub(super) struct ZeroCopyTransfers {
    all: HashMap<u64, ZeroCopyTransfer>,
    /// The name that was given last, and the number of the next segment that comes.
    last: u64,
    next: u32,
    /// Those for which the network had no room.
    waiting: Vec<u64>,
    withdrawn: usize,
    pub(super) news: Vec<News>,
}

impl ZeroCopyTransfers {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether some have been taken back whose memory is still in use.
    pub(super) fn has_withdrawn(&self) -> bool {
        self.withdrawn > 0
    }

    /// Those with whom there are messages that have been taken back.
    pub(super) fn withdrawn_from(&self) -> impl Iterator<Item = Peer> + '_ {
        let withdrawn = self.all.values().filter(|straight| straight.how == How::Withdrawn);
        withdrawn.map(|straight| straight.peer)
    }

    /// Whether something is on its way from a rank.
    pub(super) fn comes_from(&self, peer: Peer) -> bool {
        let is_in = |way: &TransferDirection| matches!(way, TransferDirection::In { .. });
        self.all.values().any(|straight| straight.peer == peer && is_in(&straight.way))
    }

    /// Takes a message in. Its name.
    fn insert(&mut self, mut straight: ZeroCopyTransfer) -> u64 {
        let name = self.last;
        let places = straight.segments.min(WINDOW);
        let named = |place| Context::new(NAME | name << PLACE_BITS | u64::from(place));
        straight.contexts = (0..places).map(named).collect();
        self.all.insert(name, straight);
        name
    }

    /// Makes ready for a message that a rank has announced. The name of the transfer.
    ///
    /// # Safety
    /// Until there is news of its end, or the endpoint is closed, nobody else uses the memory.
    pub(super) unsafe fn land(
        &mut self,
        port: &mut FiEndpoint,
        (peer, send, landing): (Peer, u64, Id),
        into: RegionMut,
    ) -> Result<u64> {
        // SAFETY: the registration ends with the transfer.
        let registration = unsafe { port.register(into.as_region(), Access::Receive)? };
        let segments = into.bytes().div_ceil(SEGMENT) as u32;
        self.last += 1;
        let course = TransferIds { send, landing: self.last, first: self.next };
        self.next = self.next.wrapping_add(segments);
        let way = TransferDirection::In { landing, told: 0 };
        let straight = ZeroCopyTransfer::new(way, (peer, course), into, registration);
        Ok(self.insert(ZeroCopyTransfer { allowed: segments, ..straight }))
    }

    /// Begins to send a message whose receiver is ready. The name of the transfer.
    ///
    /// # Safety
    /// As [`ZeroCopyTransfers::land`]; nobody writes the memory.
    pub(super) unsafe fn send(
        &mut self,
        port: &mut FiEndpoint,
        (peer, target): (Peer, Target),
        course: TransferIds,
        data: Region,
    ) -> Result<u64> {
        // SAFETY: as in `land`.
        let registration = unsafe { port.register(data, Access::Send)? };
        let memory = RegionMut::new(data.start().cast_mut(), data.bytes());
        self.last += 1;
        Ok(self.insert(ZeroCopyTransfer::new(
            TransferDirection::Out(target),
            (peer, course),
            memory,
            registration,
        )))
    }

    /// Makes ready to send a message into a remote bounce buffer, by that tag. The name of the
    /// transfer.
    ///
    /// # Safety
    /// As [`ZeroCopyTransfers::send`].
    pub(super) unsafe fn send_remote_bounce(
        &mut self,
        port: &mut FiEndpoint,
        (peer, target, tag): (Peer, Target, u64),
        send: Id,
        data: Region,
    ) -> Result<u64> {
        // SAFETY: as in `land`.
        let registration = unsafe { port.register(data, Access::Send)? };
        let memory = RegionMut::new(data.start().cast_mut(), data.bytes());
        let course = TransferIds { send: send.0, landing: 0, first: 0 };
        self.last += 1;
        let way = TransferDirection::Berth { target, tag };
        Ok(self.insert(ZeroCopyTransfer::new(way, (peer, course), memory, registration)))
    }

    /// Sends a message into its remote bounce buffer, behind its cell, which stays where it is
    /// until the message has been sent.
    ///
    /// # Safety
    /// So does the memory of the cell, which is written and has this registration.
    pub(super) unsafe fn send_remote_bounced(
        &mut self,
        port: &mut FiEndpoint,
        name: u64,
        cell: (Region, &Registration),
    ) -> Begun {
        let Some(straight) = self.all.get_mut(&name) else { return Begun::Never(libc::EINVAL) };
        let TransferDirection::Berth { target, tag } = straight.way else {
            return Begun::Never(libc::EINVAL);
        };
        let data = Region::new(straight.start, straight.bytes);
        let context: *mut Context = &mut straight.contexts[0];
        let parts = [cell, (data, &straight.registration)];
        // SAFETY: memory of a posted send that nobody writes until this transfer is over, or the
        // port closed; so long the contexts stay, too. The cell is promised.
        let begun = unsafe { port.send_joined(target, tag, parts, context) };
        if begun == Begun::Yes {
            (straight.busy, straight.posted) = (1, 1);
        }
        begun
    }

    /// So many segments of a message may be sent.
    pub(super) fn allow(&mut self, name: u64, upto: u32) {
        if let Some(straight) = self.all.get_mut(&name) {
            straight.allowed = upto.max(straight.allowed);
        }
    }

    /// Posts what can be posted of a message, and ends it if it is over. How many segments of it
    /// have been sent by that; the error is that of the network, with the rank.
    pub(super) fn go_on(
        &mut self,
        port: &mut FiEndpoint,
        name: u64,
    ) -> std::result::Result<Option<(Peer, u32)>, (Peer, i32)> {
        let Some(straight) = self.all.get_mut(&name) else { return Ok(None) };
        let (peer, before) = (straight.peer, straight.posted);
        match straight.post(port) {
            Ok(true) => {}
            Ok(false) => self.waiting.push(name),
            Err(error) => {
                self.fail(port, name);
                return Err((peer, error));
            }
        }
        self.news.extend(straight.ready());
        let posted = straight.posted - before;
        let sent = matches!(straight.way, TransferDirection::Out(_)).then_some((peer, posted));
        self.end_if_over(port, name);
        Ok(sent)
    }

    fn end_if_over(&mut self, port: &mut FiEndpoint, name: u64) {
        if !self.all.get(&name).is_some_and(ZeroCopyTransfer::is_over) {
            return;
        }
        let Some(straight) = self.all.remove(&name) else { return };
        let ZeroCopyTransfer { way, how, peer: from, course, registration, .. } = straight;
        port.forget(registration);
        self.withdrawn -= usize::from(how == How::Withdrawn);
        match (way, how) {
            (TransferDirection::In { landing, .. }, how) => {
                self.news.push(News::Landed { from, landing, course, how });
            }
            (TransferDirection::Out(_) | TransferDirection::Berth { .. }, How::Whole) => {
                self.news.push(News::Sent { send: Id(course.send) });
            }
            (TransferDirection::Out(_) | TransferDirection::Berth { .. }, _) => {}
        }
    }

    /// Those for which there was no room before.
    pub(super) fn take_waiting(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.waiting)
    }

    /// A segment is over: the name of its message, with whom, and whether it has come from there.
    pub(super) fn note(&mut self, event: &Event) -> Option<(u64, Peer, bool)> {
        let name = (event.name & !NAME) >> PLACE_BITS;
        let place = event.name & ((1 << PLACE_BITS) - 1);
        let straight = self.all.get_mut(&name)?;
        straight.busy &= !(1 << place);
        let is_in = matches!(straight.way, TransferDirection::In { .. });
        Some((name, straight.peer, is_in && event.error == 0))
    }

    /// The network has lost some of a message.
    pub(super) fn fail(&mut self, port: &mut FiEndpoint, name: u64) {
        if let Some(straight) = self.all.get_mut(&name) {
            straight.shorten(port, straight.posted);
            straight.stop();
        }
        self.end_if_over(port, name);
    }

    /// The sender of a message stops after so many segments.
    pub(super) fn stop(&mut self, port: &mut FiEndpoint, name: u64, sent: u32) {
        if let Some(straight) = self.all.get_mut(&name) {
            straight.shorten(port, sent);
            straight.stop();
        }
        self.end_if_over(port, name);
    }

    /// The receiver of a message wants no more of it than it has said it was ready for, and has
    /// got that.
    pub(super) fn cut_short(&mut self, port: &mut FiEndpoint, name: u64) {
        if let Some(straight) = self.all.get_mut(&name) {
            straight.segments = straight.posted;
        }
        self.end_if_over(port, name);
    }

    /// A message is taken back: no more of it is posted, and what the other side does not know of
    /// does not come. If it is one that is sent: how much of it has been.
    pub(super) fn withdraw(
        &mut self,
        port: &mut FiEndpoint,
        name: u64,
    ) -> Option<(TransferIds, u32)> {
        let straight = self.all.get_mut(&name)?;
        let (end, sent) = match straight.way {
            TransferDirection::In { told, .. } => (told, None),
            TransferDirection::Out(_) => {
                (straight.posted, Some((straight.course, straight.posted)))
            }
            // It comes all the same: its cell is in the lane.
            TransferDirection::Berth { .. } => (straight.segments, None),
        };
        straight.shorten(port, end);
        straight.how = How::Withdrawn;
        self.withdrawn += 1;
        self.end_if_over(port, name);
        sent
    }

    /// Forgets all, before the endpoint is closed.
    pub(super) fn clear(&mut self, port: &mut FiEndpoint) {
        for (_, straight) in self.all.drain() {
            port.forget(straight.registration);
        }
        self.waiting.clear();
        self.news.clear();
        self.withdrawn = 0;
    }
}
