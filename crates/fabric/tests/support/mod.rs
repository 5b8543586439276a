//! A rank that safe code can drive: it owns the memory of its transfers, so no test has to promise
//! anything. And whole worlds of such ranks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod channels;
mod watchdog;
mod worlds;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use motet_fabric::bootstrap::JoinedRank;
use motet_fabric::{
    Completion, Endpoint, Failure, How, Label, Options, Peer, Posted, Received, Region, RegionMut,
    Selector, SharedSegment, Token, TransferError, TypeCode,
};

pub(crate) use channels::{Attachment, Inbound, Outbound};
pub(crate) use watchdog::Watchdog;
pub(crate) use worlds::{Kind, ranks, run};

/// Longer than any watchdog waits: a wake-up that is lost ends the test, nothing papers over it.
const SLEEP: Duration = Duration::from_secs(600);

/// The network rings no doorbell.
const REMOTE_SLEEP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// Looks before sleeping: few, so that ranks really sleep in almost every wait.
const POLLS_BEFORE_SLEEP: usize = 3;

/// Names a transfer of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// What became of a transfer, and its memory.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Result<Received, TransferError>,
    pub(crate) memory: Vec<u8>,
}

impl Ended {
    /// What was received: as many bytes of the memory as arrived.
    pub(crate) fn data(&self) -> &[u8] {
        let received = self.outcome.as_ref().expect("the transfer went well");
        &self.memory[..received.bytes]
    }
}

/// One rank of a world under test.
pub(crate) struct Rank {
    endpoint: Endpoint,
    /// Memory of transfers under way. It is only looked at again when they have ended.
    pending: HashMap<u64, Vec<u8>>,
    ended: HashMap<u64, Ended>,
    done: Vec<Completion>,
    tickets: u64,
}

impl Rank {
    pub(crate) fn new(segment: Arc<SharedSegment>, me: Peer, options: Options) -> Rank {
        Rank::of(Endpoint::new(segment, me, options))
    }

    pub(crate) fn reaching(seat: JoinedRank, options: Options) -> Rank {
        Rank::of(Endpoint::reaching(seat.segment, seat.network, seat.rank, options))
    }

    fn of(endpoint: Endpoint) -> Rank {
        let (pending, ended) = (HashMap::new(), HashMap::new());
        Rank { endpoint, pending, ended, done: Vec::new(), tickets: 0 }
    }

    pub(crate) fn me(&self) -> u32 {
        self.endpoint.me().0
    }

    pub(crate) fn world(&self) -> u32 {
        self.endpoint.segment().ranks() as u32
    }

    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    fn ticket(&mut self, memory: Vec<u8>) -> Ticket {
        self.tickets += 1;
        self.pending.insert(self.tickets, memory);
        Ticket(self.tickets)
    }

    pub(crate) fn send(&mut self, to: u32, label: Label, data: Vec<u8>) -> Ticket {
        self.send_as(TypeCode::BYTES, to, label, data)
    }

    pub(crate) fn send_as(
        &mut self,
        element: TypeCode,
        to: u32,
        label: Label,
        data: Vec<u8>,
    ) -> Ticket {
        // A region of nothing may have any address; the null one is the hardest.
        let region = if data.is_empty() { Region::EMPTY } else { Region::of(&data) };
        let ticket = self.ticket(data);
        let token = Token { operation: ticket.0, step: 0 };
        // SAFETY: `pending` keeps the memory, untouched, until the completion or until `cancel`
        // has returned; `Drop` cancels what is left.
        let posted = unsafe { self.endpoint.send(Peer(to), label, element, region, token) };
        if posted == Posted::Done {
            let source = self.endpoint.me();
            let outcome = Ok(Received { source, tag: label.tag, bytes: region.bytes() });
            self.done.push(Completion { token, outcome });
            self.settle();
        }
        ticket
    }

    pub(crate) fn recv(&mut self, selector: Selector, room: usize) -> Ticket {
        self.recv_as(TypeCode::BYTES, selector, room)
    }

    pub(crate) fn recv_as(&mut self, element: TypeCode, selector: Selector, room: usize) -> Ticket {
        let mut memory = vec![0xee; room];
        let into = if room == 0 { RegionMut::EMPTY } else { RegionMut::of(&mut memory) };
        let ticket = self.ticket(memory);
        let token = Token { operation: ticket.0, step: 0 };
        // SAFETY: as for the send.
        unsafe { self.endpoint.recv(selector, element, into, token, &mut self.done) };
        self.settle();
        ticket
    }

    /// Moves what can move.
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.endpoint.progress(&mut self.done);
        self.settle();
        moved
    }

    /// As before sleeping: also gives up on ranks that have left.
    pub(crate) fn progress_thoroughly(&mut self) -> bool {
        let moved = self.progress();
        self.endpoint.complete_without_senders(&mut self.done);
        self.endpoint.fail_ops_of_left_peers(&mut self.done);
        self.settle() || moved
    }

    fn settle(&mut self) -> bool {
        let any = !self.done.is_empty();
        for Completion { token, outcome } in self.done.drain(..) {
            let memory = self.pending.remove(&token.operation);
            let memory = memory.expect("only what is under way completes, and only once");
            self.ended.insert(token.operation, Ended { outcome, memory });
        }
        any
    }

    pub(crate) fn has_ended(&self, ticket: Ticket) -> bool {
        self.ended.contains_key(&ticket.0)
    }

    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Ended> {
        self.ended.remove(&ticket.0)
    }

    /// Takes a transfer back; the memory, unless it had ended before.
    pub(crate) fn cancel(&mut self, ticket: Ticket) -> Option<Vec<u8>> {
        self.endpoint.cancel(|token| token.operation == ticket.0);
        self.pending.remove(&ticket.0)
    }

    /// Waits until a transfer has ended, asleep unless that happens at once.
    pub(crate) fn wait(&mut self, ticket: Ticket) -> Ended {
        self.until(|rank| rank.take(ticket))
    }

    pub(crate) fn wait_all(&mut self, tickets: impl IntoIterator<Item = Ticket>) -> Vec<Ended> {
        tickets.into_iter().map(|ticket| self.wait(ticket)).collect()
    }

    /// Moves and sleeps until `ready` finds what it looks for.
    ///
    /// # Panics
    /// If the world fails meanwhile.
    pub(crate) fn until<T>(&mut self, ready: impl FnMut(&mut Rank) -> Option<T>) -> T {
        self.until_or_failure(ready).unwrap_or_else(|failure| panic!("while waiting: {failure}"))
    }

    pub(crate) fn until_or_failure<T>(
        &mut self,
        mut ready: impl FnMut(&mut Rank) -> Option<T>,
    ) -> Result<T, Failure> {
        let segment = Arc::clone(self.endpoint.segment());
        let doorbell = segment.doorbell(self.endpoint.me());
        let (is_wired, begun) = (self.endpoint.network().is_some(), Instant::now());
        for polls in 0.. {
            let mut found = None;
            let mut poll = || {
                let moved = self.progress_thoroughly();
                found = ready(self).map(Ok).or_else(|| self.endpoint.failure().map(Err));
                moved || found.is_some()
            };
            if polls < POLLS_BEFORE_SLEEP {
                poll();
            } else {
                let limit = if is_wired {
                    (begun.elapsed() / 8).clamp(REMOTE_SLEEP, LONGEST_NAP)
                } else {
                    SLEEP
                };
                doorbell.park(limit, poll);
            }
            if let Some(found) = found {
                return found;
            }
        }
        unreachable!("the loop has no end")
    }

    /// Leaves the world in good order, as soon as all that was sent is with its receivers.
    pub(crate) fn leave(&mut self) {
        self.until(|rank| rank.endpoint.all_sent().then_some(()));
        self.endpoint.leave();
        self.until(|rank| rank.endpoint.is_gone().then_some(()));
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let failure = Failure { rank: self.endpoint.me(), how: How::Panic };
            self.endpoint.segment().fail(failure);
        }
        self.endpoint.cancel(|_| true);
    }
}
