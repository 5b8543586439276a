//! The completion queue of an endpoint: completed transfers and remote writes.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{mem, ptr};

use super::{Context, Event, FiEndpoint, WRITTEN};
use crate::net::ffi::{Cq, CqEntry, CqError, ERROR_AVAILABLE, REMOTE_WORD};
use crate::net::world_tag;

/// Completions per read of the queue.
const COMPLETIONS_PER_READ: usize = 32;
/// The longest sleep where a thread cannot wait for a completion.
const WAIT_MAX: Duration = Duration::from_millis(50);

const NO_ENTRY: CqEntry = CqEntry {
    op_context: ptr::null_mut(),
    flags: 0,
    len: 0,
    buf: ptr::null_mut(),
    data: 0,
    tag: 0,
};

/// Wakes the thread that waits at an endpoint, from another thread. After the endpoint is closed it
/// wakes none.
#[derive(Clone, Default)]
pub(in crate::net) struct WaitFd(Arc<Mutex<Waiting>>);

/// The queue at which a thread may wait; null if there is none.
struct Waiting(*mut Cq);

// SAFETY: of a queue that is named here all that others do is `signal` it, which is made for that.
unsafe impl Send for Waiting {}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting(ptr::null_mut())
    }
}

impl WaitFd {
    /// Sets the queue, which stays open until it is replaced.
    pub(super) fn set(&self, queue: *mut Cq) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = queue;
    }

    /// Wakes the waiting thread; if none waits, the next one that waits returns at once, with all
    /// providers that were tested.
    pub(in crate::net) fn ring(&self) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: null or open, since the lock is held and its endpoint takes the name back first.
        let Some(queue) = (unsafe { waiting.0.as_ref() }) else { return };
        if let Some(signal) = queue.ops.signal {
            // SAFETY: as above. That nobody could be woken is no harm: waits have an end.
            let _ = unsafe { signal(waiting.0) };
        }
    }
}

impl FiEndpoint {
    /// Wakes the thread that waits at this endpoint.
    pub(in crate::net) fn wait_fd(&self) -> WaitFd {
        if self.can_wait {
            self.wait_fd.set(self.queue);
        }
        self.wait_fd.clone()
    }

    /// Lets the provider make progress, and adds the completed transfers to `events`.
    pub(in crate::net) fn poll(&mut self, events: &mut Vec<Event>) {
        while self.poll_once(events) {}
    }

    fn poll_once(&mut self, events: &mut Vec<Event>) -> bool {
        let mut entries = [NO_ENTRY; COMPLETIONS_PER_READ];
        let (read, room) = (self.of_queue().read, entries.as_mut_ptr().cast());
        let read = read.expect("queues can be read");
        // SAFETY: the queue is open; there is room for so many entries of the format asked for.
        let count = unsafe { read(self.queue, room, COMPLETIONS_PER_READ) };
        self.note(count, &entries, events)
    }

    /// As [`FiEndpoint::poll`], but sleeps until an event arrives, or for `limit`.
    pub(in crate::net) fn wait(&mut self, limit: Duration, events: &mut Vec<Event>) {
        self.poll(events);
        if !events.is_empty() {
            return;
        }
        let Some(read) = self.of_queue().sread.filter(|_| self.can_wait) else {
            std::thread::sleep(limit.min(WAIT_MAX));
            return self.poll(events);
        };
        let mut entries = [NO_ENTRY; COMPLETIONS_PER_READ];
        let room = entries.as_mut_ptr().cast();
        let limit = limit.as_millis().clamp(1, 60_000) as c_int;
        // SAFETY: as in `poll_once`; the queue was opened for waiting.
        let count = unsafe { read(self.queue, room, COMPLETIONS_PER_READ, ptr::null(), limit) };
        if self.note(count, &entries, events) {
            self.poll(events);
        }
    }

    /// Adds the result of a read of the queue to `events`. Returns whether there may be more.
    fn note(&mut self, count: isize, entries: &[CqEntry], events: &mut Vec<Event>) -> bool {
        if count == -(ERROR_AVAILABLE as isize) {
            return self.read_error(events);
        }
        let Ok(count) = usize::try_from(count) else { return false };
        for entry in &entries[..count] {
            if entry.flags & REMOTE_WORD != 0 {
                // It has no context: a remote endpoint has written, and no transfer was posted
                // here.
                let (bytes, tag) = (entry.len, entry.data);
                events.push(Event { name: WRITTEN, bytes, tag, error: 0 });
            } else if !entry.op_context.is_null() {
                let name = name_of(entry.op_context);
                let (bytes, tag) = (entry.len, world_tag::without(entry.tag));
                events.push(Event { name, bytes, tag, error: 0 });
            }
        }
        count == entries.len()
    }

    fn read_error(&mut self, events: &mut Vec<Event>) -> bool {
        // SAFETY: numbers and null pointers; the library fills it.
        let mut found: CqError = unsafe { mem::zeroed() };
        let read = self.of_queue().readerr.expect("errors can be read");
        // SAFETY: the queue is open.
        let count = unsafe { read(self.queue, &mut found, 0) };
        if count <= 0 {
            return false;
        }
        if !found.op_context.is_null() {
            let name = name_of(found.op_context);
            let error = if found.err == 0 { libc::EIO } else { found.err };
            let (bytes, tag) = (found.len, world_tag::without(found.tag));
            events.push(Event { name, bytes, tag, error });
        }
        true
    }
}

/// The id of a completed transfer.
fn name_of(context: *mut c_void) -> u64 {
    // SAFETY: nothing is posted without a context of this type, which stays until it is over.
    unsafe { &*context.cast::<Context>() }.name
}
