//! Messages in parts: partitioned communication. (MPI 4.1 §4.2)
//!
//! The two sides meet by the order of their inits: the first that sends in parts to a rank with a
//! tag meets the first that receives in parts from the other with that tag, and so on, in whatever
//! order they are started. So both count, and the number is a part of what a message is matched by.
//!
//! The message goes as a whole when its last part is ready, and all parts arrive with it. Who says
//! that a part is ready takes no lock, but for the last one.

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
    /// A persistent message that is sent when all of its equal parts are said to be ready.
    /// [`Request::parts`] is what says so. (`MPI_Psend_init`)
    ///
    /// # Safety
    /// As [`Outgoing::init`].
    ///
    /// # Errors
    /// Arguments that the standard does not allow.
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
    /// A persistent receive of a message that is sent in parts, as many as its sender likes.
    /// (`MPI_Precv_init`)
    ///
    /// # Safety
    /// As [`Incoming::init`].
    ///
    /// # Errors
    /// Arguments that the standard does not allow: any source and any tag are among them.
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
    /// The memory stays valid as long as the operation is there.
    unsafe fn store_in_parts(
        &self,
        call: &'static str,
        ready: Ready,
        posting: Posting,
        parts: usize,
    ) -> Result<Request> {
        // SAFETY: passed on.
        let flight = unsafe { self.store_message(call, ready, posting) }?;
        let parts = Partitions(Arc::new(Shared {
            origin: flight.origin.again(),
            id: flight.id,
            posting,
            run: AtomicU32::new(0),
            missing: AtomicUsize::new(0),
            ready: (0..parts).map(|_| AtomicU32::new(0)).collect(),
        }));
        Ok(Request::in_parts(flight, parts))
    }
}

/// The parts of a message, for all threads of a rank: which of them are ready to be sent, or have
/// arrived.
#[derive(Clone)]
pub struct Partitions(Arc<Shared>);

struct Shared {
    origin: CallOrigin,
    id: Id,
    posting: Posting,
    /// Counts the starts.
    run: AtomicU32,
    /// Parts that are not ready in this run.
    missing: AtomicUsize,
    /// The last run in which each part was ready.
    ready: Box<[AtomicU32]>,
}

impl std::fmt::Debug for Partitions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Parts({})", self.0.ready.len())
    }
}

impl Partitions {
    /// The message has been started once more: no part is ready. Without any part it is ready as a
    /// whole.
    pub(super) fn begin(&self) {
        let Shared { posting, run, missing, ready, .. } = &*self.0;
        run.fetch_add(1, Ordering::Relaxed);
        missing.store(ready.len(), Ordering::Release);
        if ready.is_empty() && *posting == Posting::WhenReady {
            self.post();
        }
    }

    /// A part is ready to be sent. Several threads may say so of several parts at once.
    /// (`MPI_Pready`)
    ///
    /// # Errors
    /// No such part; one that is ready already; a message that has not been started, or one that is
    /// received.
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

    /// Whether a part has arrived, as it has when no receive is under way. Moves what it can; never
    /// waits. (`MPI_Parrived`)
    ///
    /// # Errors
    /// No such part; a message that is sent.
    pub fn has_arrived(&self, part: usize) -> Result<bool> {
        let Shared { origin, id, posting, .. } = &*self.0;
        if *posting == Posting::WhenReady {
            let problem = "is not of a message received in parts";
            return Err(origin.error(ErrorKind::of_request(problem)));
        }
        self.place(part)?;
        let mut engine = origin.engine(origin.call)?;
        engine.progress_now_and_then_thoroughly();
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
