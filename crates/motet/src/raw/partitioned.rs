//! Partitioned communication: a message whose parts become ready one by one. (MPI 4.1 §4.2)
//!
//! The two sides match by the order of their inits: the first partitioned send to a rank with a tag
//! matches the first partitioned receive from the sender with that tag, and so on, in whatever
//! order they are started. Therefore both sides count their inits, and the number is part of the
//! matching.
//!
//! The message is sent as a whole when its last part is ready, and all parts arrive with it.
//! Marking a part as ready takes no lock, except for the last one.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use motet_fabric::slab::Id;

use super::message::{Incoming, Outgoing, Ready};
use super::request::Request;
use crate::base::error::{ErrorKind, Result};
use crate::base::status::{Source, TagFilter};
use crate::collective::untyped::CommRef;
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::CallOrigin;
use crate::comm::partitioned_sequence::PartitionDirection;
use crate::engine::context::ContextKind;
use crate::engine::{Posting, Transfer};

const SEND: &str = "psend_init";
const RECEIVE: &str = "precv_init";

impl Outgoing<'_> {
    /// Makes a persistent send that starts when all of its parts, which are of equal length, are
    /// marked as ready through [`Request::parts`]. (`MPI_Psend_init`)
    ///
    /// # Safety
    /// As [`Outgoing::init`].
    ///
    /// # Errors
    /// The arguments violate the standard.
    pub unsafe fn init_in_parts<'on>(
        &self,
        on: impl Into<CommRef<'on>>,
        parts: usize,
    ) -> Result<Request> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        let (mut transfer, staging) = unsafe { self.transfer(SEND, comm) }?;
        if let Transfer::Send(envelope, ..) = &mut transfer {
            let label = &mut envelope.label;
            label.ordinal = comm.inits().next(PartitionDirection::Out, envelope.to, label.tag);
            label.context = comm.context(ContextKind::Partitioned);
        }
        // SAFETY: passed on.
        unsafe { comm.store_in_parts(SEND, (transfer, staging), Posting::WhenReady, parts) }
    }
}

impl Incoming<'_> {
    /// Makes a persistent receive of a partitioned message; the sender may use another number of
    /// parts. (`MPI_Precv_init`)
    ///
    /// # Safety
    /// As [`Incoming::init`].
    ///
    /// # Errors
    /// The arguments violate the standard; any source and any tag are not allowed, either.
    pub unsafe fn init_in_parts<'on>(
        &self,
        on: impl Into<CommRef<'on>>,
        parts: usize,
    ) -> Result<Request> {
        let comm = on.into().messages();
        let any = match (self.from, self.tag) {
            (Source::Any, _) => Some("source"),
            (_, TagFilter::Any) => Some("tag"),
            _ => None,
        };
        if let Some(which) = any {
            let problem = "is any, which a message in parts cannot be received from or as";
            return Err(comm.error(RECEIVE, ErrorKind::Argument { which, problem: problem.into() }));
        }
        // SAFETY: passed on.
        let (mut transfer, staging) = unsafe { self.transfer(RECEIVE, comm) }?;
        if let Transfer::Receive(selector, ..) = &mut transfer
            && let (Some(source), Some(tag)) = (selector.source, selector.tag)
        {
            selector.ordinal = comm.inits().next(PartitionDirection::In, source, tag);
            selector.context = comm.context(ContextKind::Partitioned);
        }
        // SAFETY: passed on.
        unsafe { comm.store_in_parts(RECEIVE, (transfer, staging), Posting::AtStart, parts) }
    }
}

impl Communicator {
    /// # Safety
    /// The memory stays valid as long as the operation exists.
    unsafe fn store_in_parts(
        &self,
        call: &'static str,
        ready: Ready,
        posting: Posting,
        parts: usize,
    ) -> Result<Request> {
        // SAFETY: passed on.
        let handle = unsafe { self.store_message(call, ready, posting) }?;
        let parts = Partitions(Arc::new(Shared {
            origin: handle.origin.duplicate(),
            id: handle.id,
            posting,
            run: AtomicU32::new(0),
            missing: AtomicUsize::new(0),
            ready: (0..parts).map(|_| AtomicU32::new(0)).collect(),
        }));
        Ok(Request::in_parts(handle, parts))
    }
}

/// The parts of a partitioned message, shared by all threads of a rank: which of them are ready to
/// send, or have arrived.
#[derive(Clone)]
pub struct Partitions(Arc<Shared>);

struct Shared {
    origin: CallOrigin,
    id: Id,
    posting: Posting,
    /// Number of starts.
    run: AtomicU32,
    /// Number of parts that are not ready in this run.
    missing: AtomicUsize,
    /// For each part, the last run in which it was ready.
    ready: Box<[AtomicU32]>,
}

impl std::fmt::Debug for Partitions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Parts({})", self.0.ready.len())
    }
}

impl Partitions {
    /// Begins a run: no part is ready. A message without parts is ready at once.
    pub(super) fn begin(&self) {
        let Shared { posting, run, missing, ready, .. } = &*self.0;
        run.fetch_add(1, Ordering::Relaxed);
        missing.store(ready.len(), Ordering::Release);
        if ready.is_empty() && *posting == Posting::WhenReady {
            self.post();
        }
    }

    /// Marks a part as ready to send. Several threads may mark different parts at the same time.
    /// (`MPI_Pready`)
    ///
    /// # Errors
    /// The part does not exist or is already ready; the message has not been started; or it is a
    /// receive.
    pub fn ready(&self, part: usize) -> Result<()> {
        let Shared { origin, posting, run, missing, ready, .. } = &*self.0;
        if *posting == Posting::AtStart {
            return Err(origin.error(ErrorKind::of_request("is not of a message sent in parts")));
        }
        let place = self.place(part)?;
        if missing.load(Ordering::Acquire) == 0 {
            let problem = "is inactive, or all of its parts are ready already";
            return Err(origin.error(ErrorKind::of_request(problem)));
        }
        let run = run.load(Ordering::Relaxed);
        if ready[place].swap(run, Ordering::AcqRel) == run {
            let problem = format!("is {part}, which is ready already");
            return Err(origin.error(ErrorKind::Argument { which: "partition", problem }));
        }
        if missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.post();
        }
        Ok(())
    }

    /// Tests whether a part has arrived; true if no receive is in flight. Makes progress if
    /// possible, and never waits. (`MPI_Parrived`)
    ///
    /// # Errors
    /// The part does not exist; or the message is a send.
    pub fn has_arrived(&self, part: usize) -> Result<bool> {
        let Shared { origin, id, posting, .. } = &*self.0;
        if *posting == Posting::WhenReady {
            let problem = "is not of a message received in parts";
            return Err(origin.error(ErrorKind::of_request(problem)));
        }
        self.place(part)?;
        let mut engine = origin.engine(origin.call)?;
        engine.progress_now_and_then_thoroughly(1);
        let has_arrived = engine.is_complete(*id) || engine.failure().is_some();
        drop(engine);
        if !has_arrived {
            origin.core.has_polled_in_vain();
        }
        Ok(has_arrived)
    }

    fn place(&self, part: usize) -> Result<usize> {
        let Shared { origin, ready, .. } = &*self.0;
        if part < ready.len() {
            return Ok(part);
        }
        let problem = format!("is {part}, but the message has {}", ready.len());
        Err(origin.error(ErrorKind::Argument { which: "partition", problem }))
    }

    fn post(&self) {
        self.0.origin.core.engine().post_parts(self.0.id);
    }
}
