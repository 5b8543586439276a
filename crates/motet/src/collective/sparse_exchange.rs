//! The sparse dynamic exchange: each rank knows its destinations, and no rank knows its sources.
//! ([`crate::engine`] describes the protocol and why it is correct.)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use motet_fabric::slab::Id;
use motet_fabric::{Peer, Region, RegionMut, TypeCode};
use motet_plan::order::sort_by_number;

use super::{CollectiveArgs, PreparedCall};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::{CommContext, OpHandle};
use crate::comm::sets::{InFlight, Pending};
use crate::engine::context::ContextKind;
use crate::engine::{Arrivals, Dynamic, OpKey, Selection};
use crate::types::element::{Element, assert_valid, clear_padding, code_for};

const BLOCKING: &str = "sparse_exchange";
const NONBLOCKING: &str = "isparse_exchange";

/// A sparse dynamic exchange in flight; see [`Communicator::isparse_exchange`].
///
/// Like a [`Request`](crate::Request), it can be waited for, tested, awaited, and put into sets
/// with other operations. If it is dropped, the exchange goes on, and the received messages are
/// lost.
#[must_use = "an exchange that is dropped goes on unseen, and what it receives is lost"]
pub struct SparseRequest<T: Element> {
    handle: OpHandle,
    /// The messages to send, held until the exchange is complete.
    sent: Vec<(usize, Vec<T>)>,
    lengths: Lengths,
    arrived: Arc<Arrived<T>>,
}

// Nothing in a request is ever borrowed from itself.
impl<T: Element> Unpin for SparseRequest<T> {}

/// For zero-sized elements: the number of elements of each message, which is sent instead of them.
type Lengths = Box<[u64]>;

/// A received message, or the buffer for one.
struct Arrival<T> {
    from: Peer,
    /// Number of elements, unless they are zero-sized.
    count: usize,
    elements: Vec<T>,
    /// For zero-sized elements: receives their number.
    length: Vec<u64>,
}

/// The received messages of an exchange, in the order of arrival.
struct Arrived<T>(Mutex<Vec<Arrival<T>>>);

impl<T: Element> Arrivals for Arrived<T> {
    fn make_room(&self, from: Peer, bytes: usize) -> RegionMut {
        let count = bytes.checked_div(size_of::<T>()).unwrap_or(0);
        let (mut elements, mut length) = (Vec::<T>::with_capacity(count), Vec::<u64>::new());
        let into = if size_of::<T>() == 0 {
            length.reserve_exact(1);
            RegionMut::new(length.as_mut_ptr().cast(), size_of::<u64>())
        } else {
            RegionMut::new(elements.as_mut_ptr().cast(), count * size_of::<T>())
        };
        let arrival = Arrival { from, count, elements, length };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
        into
    }
}

impl<T: Element> Arrived<T> {
    fn nothing() -> Arc<Arrived<T>> {
        Arc::new(Arrived(Mutex::default()))
    }

    /// Returns the messages sorted by sender; messages of one sender keep the order of sending.
    ///
    /// # Safety
    /// The exchange has completed without error.
    unsafe fn messages(&self, home: &CommContext) -> Vec<(usize, Vec<T>)> {
        let all = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let whole = |Arrival { from, mut count, mut elements, mut length }: Arrival<T>| {
            if length.capacity() > 0 {
                // SAFETY: room was made for one, and in an exchange that has ended well each
                // message has filled its room.
                unsafe { length.set_len(1) };
                count = length[0] as usize;
            }
            // SAFETY: as above; of elements without bytes there is room for any number.
            unsafe { elements.set_len(count) };
            // SAFETY: its elements.
            unsafe { assert_valid::<T>(elements.as_ptr().cast(), count) };
            let rank = home.group.rank_of_peer(from);
            (rank.expect("only ranks of the communicator know its context"), elements)
        };
        let mut messages: Vec<_> = all.into_iter().map(whole).collect();
        sort_by_number(&mut messages, |&(rank, _)| rank as u64);
        messages
    }
}

/// A message to send: its destination and its memory.
type Outgoing = (usize, Region);

impl Communicator {
    /// Sends messages of any lengths to any ranks, and receives all messages that other ranks send
    /// to the caller, without knowing their number, lengths or senders. The result pairs each
    /// message with its sender and is sorted by sender; messages of one sender keep the order in
    /// which it listed them. Empty messages, messages to the caller itself and messages of
    /// zero-sized elements are delivered, too; a message to [`PROC_NULL`](crate::PROC_NULL) is
    /// discarded. Collective: ranks without messages to send must also call.
    ///
    /// Each rank sends its messages and `⌈log2 p⌉` empty ones; its memory depends only on the ranks
    /// that it sends to or receives from. No call returns before all ranks have called.
    ///
    /// ```
    /// motet::threads(4, |world| {
    ///     // All but rank 0 report to the rank before, which does not expect it.
    ///     let me = world.rank();
    ///     let report = [10 * me];
    ///     let came = world.sparse_exchange((me > 0).then(|| (me - 1, &report[..])))?;
    ///     let expected = (me < 3).then(|| (me + 1, vec![10 * (me + 1)]));
    ///     assert_eq!(came, Vec::from_iter(expected));
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A destination is not in the communicator; a message has another element type than `T` (error
    /// at the receiver, and at other ranks if they can still be informed); or a rank has died or
    /// left. The received messages are dropped then.
    #[track_caller]
    pub fn sparse_exchange<'a, T: Element>(
        &self,
        send: impl IntoIterator<Item = (usize, &'a [T])>,
    ) -> Result<Vec<(usize, Vec<T>)>> {
        self.sparse_exchange_as(BLOCKING, send)
    }

    /// Does the same as [`sparse_exchange`](Communicator::sparse_exchange), as part of another
    /// call.
    #[track_caller]
    pub(crate) fn sparse_exchange_as<'a, T: Element>(
        &self,
        call: &'static str,
        send: impl IntoIterator<Item = (usize, &'a [T])>,
    ) -> Result<Vec<(usize, Vec<T>)>> {
        let sends: Vec<(usize, &[T])> = send.into_iter().collect();
        let (lengths, copies) = (lengths(&sends), without_padding(&sends));
        let sends = match &copies {
            Some(copies) => outgoing(copies, &lengths),
            None => outgoing(&sends, &lengths),
        };
        let arrived = Arrived::nothing();
        // SAFETY: what is sent is borrowed for longer than this waits.
        let id = unsafe { self.begin_exchange::<T>(call, &sends, arrived.clone()) }?;
        let outcome = self.core().wait(id, false);
        outcome.map_err(|error| self.error(call, ErrorKind::from(error)))?;
        // SAFETY: it has just ended well.
        Ok(unsafe { arrived.messages(self.home()) })
    }

    /// Nonblocking [`sparse_exchange`](Communicator::sparse_exchange). Like any other operation, it
    /// makes progress whenever this rank calls the library.
    ///
    /// # Errors
    /// A destination is not in the communicator.
    #[track_caller]
    pub fn isparse_exchange<T: Element>(
        &self,
        mut send: Vec<(usize, Vec<T>)>,
    ) -> Result<SparseRequest<T>> {
        send.iter_mut().for_each(|(_, data)| clear_padding(data));
        let lengths = lengths(&send);
        let sends = outgoing(&send, &lengths);
        let arrived = Arrived::nothing();
        // SAFETY: the request keeps what is sent until the exchange is over, or gives it to the
        // engine, which does the same.
        let id = unsafe { self.begin_exchange::<T>(NONBLOCKING, &sends, arrived.clone()) }?;
        let handle = OpHandle::new(self.origin(NONBLOCKING), id, false);
        Ok(SparseRequest { handle, sent: send, lengths, arrived })
    }

    /// # Safety
    /// The memory of the messages stays valid until the operation is complete or abandoned.
    #[track_caller]
    unsafe fn begin_exchange<T: Element>(
        &self,
        call: &'static str,
        sends: &[Outgoing],
        arrived: Arc<Arrived<T>>,
    ) -> Result<Id> {
        let at = Location::caller();
        let mut outgoing = Vec::with_capacity(sends.len());
        for &(to, data) in sends {
            let peer = self.peer_of(call, "destination", to);
            let peer = peer.map_err(|error| self.refused(error, at))?;
            outgoing.extend(peer.map(|peer| (peer, data)));
        }
        // Two ranks that have nothing for each other need not even speak of the same type.
        let barrier = PreparedCall::new::<T>(call, CollectiveArgs::barrier(), None);
        let barrier = PreparedCall { element: TypeCode::BYTES, ..barrier };
        let (run, _) = self.run_chosen(barrier, Some(Selection::Few), || self.next_collective())?;
        let number = OpKey { context: self.context(ContextKind::Dynamic), ..run.number() };
        let dynamic = Dynamic::new(number, code_for::<T>(), arrived);
        // SAFETY: passed on.
        Ok(unsafe { self.core().engine().start_dynamic(run, dynamic, &outgoing) })
    }
}

/// Copies the messages without the padding of their elements. `None` if they have no padding.
fn without_padding<T: Element>(sends: &[(usize, &[T])]) -> Option<Vec<(usize, Vec<T>)>> {
    let copy = |(to, data): &(usize, &[T])| {
        let mut copy = data.to_vec();
        clear_padding(&mut copy);
        (*to, copy)
    };
    T::HAS_PADDING.then(|| sends.iter().map(copy).collect())
}

/// Returns the number of elements of each message if they are zero-sized; otherwise nothing.
fn lengths<T: Element, D: AsRef<[T]>>(sends: &[(usize, D)]) -> Lengths {
    let sends = if size_of::<T>() == 0 { sends } else { &[] };
    sends.iter().map(|(_, data)| data.as_ref().len() as u64).collect()
}

/// Returns the memory to send for each message: its elements, or its entry in `lengths` if any.
fn outgoing<T: Element, D: AsRef<[T]>>(sends: &[(usize, D)], lengths: &[u64]) -> Vec<Outgoing> {
    let mut lengths = lengths.iter();
    let region = |(to, data): &(usize, D)| {
        let data = match lengths.next() {
            Some(length) => Region::new(ptr::from_ref(length).cast(), size_of::<u64>()),
            None => Region::new(data.as_ref().as_ptr().cast(), size_of_val(data.as_ref())),
        };
        (*to, data)
    };
    sends.iter().map(region).collect()
}

impl<T: Element> SparseRequest<T> {
    /// Waits until the exchange is complete, and returns the received messages sorted by sender.
    ///
    /// # Errors
    /// As [`Communicator::sparse_exchange`].
    pub fn wait(mut self) -> Result<Vec<(usize, Vec<T>)>> {
        self.handle.wait()?;
        Ok(self.messages())
    }

    /// Tests whether the exchange is complete. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// As [`Communicator::sparse_exchange`]; the exchange counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.handle.test()
    }

    /// Returns the received messages of an exchange that completed without error.
    fn messages(&self) -> Vec<(usize, Vec<T>)> {
        assert!(self.handle.is_over());
        // SAFETY: whoever calls this has seen that it has ended well.
        unsafe { self.arrived.messages(&self.handle.origin.home) }
    }
}

impl<T: Element> Future for SparseRequest<T> {
    type Output = Result<Vec<(usize, Vec<T>)>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.handle.poll(context).map(|ended| ended.map(|_| self.messages()))
    }
}

impl<T: Element> Drop for SparseRequest<T> {
    fn drop(&mut self) {
        if !self.handle.is_over() {
            let sent = (mem::take(&mut self.sent), mem::take(&mut self.lengths));
            self.handle.origin.core.detach(self.handle.id, Box::new(sent));
        }
    }
}

impl<T: Element> fmt::Debug for SparseRequest<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.handle.is_over() { "complete" } else { "under way" };
        write!(out, "SparseRequest({}, {state})", self.handle.origin.call)
    }
}

impl<T: Element> Pending for SparseRequest<T> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.handle)
    }
}
