//! Collectives in three forms: blocking, nonblocking and persistent.
//!
//! Each form converts its arguments to the same [`CollectiveArgs`] and gets an execution of the
//! same plan. The forms differ only in who owns the buffers (the caller or the request) and in when
//! the execution starts.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod args;
mod blocking;
mod create;
mod describe;
mod duplicate;
mod enforce;
mod init;
mod intercomm;
pub(crate) mod intercommunicator;
mod measure;
mod members;
mod neighbourhood;
mod node_aware;
mod nonblocking;
mod persistent;
mod prepared;
mod sparse;
mod sparse_exchange;
mod topology;
mod typed_call;
pub(crate) mod untyped;
mod w;
mod wisdom;

use std::panic::Location;

use motet_fabric::TypeCode;
use motet_fabric::slab::Id;
use motet_plan::{Call, Rank};

use crate::base::collective_kind::{CollectiveKind, Form};
use crate::base::error::{ErrorKind, Result};
use crate::base::group::Group;
use crate::base::hints::{Hints, Keep, Overlap};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::comm::persistent::Persistent;
use crate::comm::request::Request;
use crate::data::buffer::{Buffers, GiveBack, RawSlice};
use crate::data::kernel::Kernel;
use crate::engine::{
    Binding, CacheHit, Closing, Engine, Execution, OpKey, PackedBuffers, Replay, ReplayKey, Rule,
    Selection,
};
pub(crate) use args::{CollectiveArgs, RankOf, ScanKind};
pub(crate) use blocking::{input, output};
pub use create::SplitType;
#[doc(hidden)]
pub use duplicate::IsCopiedByDup;
use init::Initialized;
pub(crate) use intercomm::{InterBuffers, InterCall, RootRole};
pub use members::{Member, Members};
pub(crate) use nonblocking::{collective, pending_collectives};
pub(crate) use prepared::{Participants, PreparedCall};
pub use sparse::Neighbours;
pub(crate) use sparse::{members, pending_sparse, sparse_collectives};
pub use sparse_exchange::SparseRequest;
pub use w::TypedBlock;
pub(crate) use w::{Peers, TypedBlocks};

/// An execution with its buffers, and packed copies of those buffers that need packing.
type BoundRun = (Box<Execution>, Option<Box<PackedBuffers>>);

/// The buffers, types and group of an execution, without its sequence number.
struct BindingArgs {
    input: RawSlice,
    output: RawSlice,
    element: TypeCode,
    kernel: Option<Box<dyn Kernel>>,
    group: Group,
    staging: Option<Box<PackedBuffers>>,
}

impl BindingArgs {
    /// Returns how the ranks complete the call.
    fn closing(&self, call: &Call) -> Closing {
        Closing::of(&call.operation, self.kernel.as_deref())
    }

    /// Binds an execution to its buffers; returns the packed copies.
    fn bind(self, run: &mut Execution, number: OpKey) -> Option<Box<PackedBuffers>> {
        let BindingArgs { input, output, element, kernel, group, staging } = self;
        run.bind(Binding { input, output, element, kernel, group, number });
        staging
    }
}

/// Result of starting a nonblocking call.
pub(crate) enum StartedCall {
    /// The call has completed without error, and no operation was created.
    Over,
    Pending(OpHandle),
}

impl Communicator {
    /// Returns an execution for a call, bound to its buffers. Takes a sequence number only after
    /// all checks of the call have passed; in check mode the other ranks are informed in either
    /// case.
    #[track_caller]
    fn run_for(&self, prepared: PreparedCall, number: impl FnOnce() -> OpKey) -> Result<BoundRun> {
        self.run_chosen(prepared, None, number)
    }

    /// Does the same as [`Communicator::run_for`], with the algorithm chosen by `selection` if
    /// given.
    #[track_caller]
    #[inline]
    fn run_chosen(
        &self,
        prepared: PreparedCall,
        selection: Option<Selection>,
        number: impl FnOnce() -> OpKey,
    ) -> Result<BoundRun> {
        let selection = selection.unwrap_or_else(|| self.selection_of(&prepared));
        let (name, at) = (prepared.call, Location::caller());
        let error = |kind| self.error(name, kind);
        let account = self.account(&prepared, selection, at);
        let (call, binding) = self.call_of(prepared);
        let rule = self.rule_for(&call, selection);
        let closing = binding.closing(&call);
        let mut engine = self.home().engine(name)?;
        let run = self.run_of(&mut engine, (&call, closing), rule, Keep::AsLong);
        drop(engine); // an error handler may want it
        let (mut run, _) = run.map_err(|kind| self.refused(error(kind), at))?;
        let number = number();
        if let Some(account) = account {
            self.note(account, number).map_err(error)?;
        }
        let staging = binding.bind(&mut run, number);
        Ok((run, staging))
    }

    /// Returns an execution that is not bound yet, and the cache where its plan was found. Fails if
    /// a rank of the communicator is known to have died.
    fn run_of(
        &self,
        engine: &mut Engine,
        (call, closing): (&Call, Closing),
        rule: Rule,
        keep: Keep,
    ) -> Result<(Box<Execution>, CacheHit), ErrorKind> {
        engine.check_alive(self.group())?;
        engine.run_for(call, rule, keep, closing)
    }

    /// Returns the rule that chooses the algorithm of a call.
    fn selection_of(&self, prepared: &PreparedCall) -> Selection {
        let hints = &prepared.hints;
        let selection = match prepared.shape.operation.commutative() {
            _ if prepared.is_idle() => Selection::Nothing,
            _ if prepared.of_library => Selection::OfLibrary,
            Some(_) => self.selection(hints.deterministic),
            None => Selection::Tuned,
        };
        match (selection, hints.overlap) {
            (Selection::Tuned, Overlap::Wanted) => Selection::Overlapping,
            (selection, _) => selection,
        }
    }

    /// Adds the learned choice of the communicator to the selection, if there is one for this call.
    fn rule_for(&self, call: &Call, selection: Selection) -> Rule {
        let advice = match selection {
            Selection::Tuned | Selection::Overlapping => self.learned().advice(call),
            _ => None,
        };
        advice.map_or(Rule::By(selection), Rule::Learned)
    }

    /// Splits a prepared call into the call for the planner and the buffers to bind.
    #[inline] // what is prepared is taken apart where it lies
    fn call_of(&self, prepared: PreparedCall) -> (Call, BindingArgs) {
        let PreparedCall { shape, kernel, element, element_bytes, staging, among, .. } = prepared;
        let (rank, group, nodes) = match among {
            None => (self.rank(), self.group().clone(), self.division()),
            Some(among) => {
                let Participants { rank, group, .. } = *among;
                let nodes = self.division_of(&group);
                (rank, group, nodes)
            }
        };
        let call = Call {
            rank: Rank::from_index(rank),
            ranks: group.size() as u32,
            element_bytes,
            in_place: shape.in_place,
            nodes,
            operation: shape.operation,
        };
        let (input, output) = (shape.input, shape.output);
        (call, BindingArgs { input, output, element, kernel, group, staging })
    }

    /// Starts a collective that runs once.
    #[track_caller]
    fn begin(&self, prepared: PreparedCall) -> Result<Id> {
        let (run, staging) = self.run_for(prepared, || self.next_collective())?;
        Ok(self.core().engine().start_run(run, staging))
    }

    /// Starts a nonblocking collective.
    ///
    /// # Safety
    /// As [`Request::new`].
    #[track_caller]
    pub(crate) unsafe fn nonblocking<B: Buffers>(
        &self,
        buffers: B,
        prepare: impl FnOnce(&B::Parts) -> Result<PreparedCall>,
    ) -> Result<Request<B>> {
        let (parts, at) = (GiveBack::<B>::new(buffers), Location::caller());
        let prepared = prepare(parts.get());
        let mut prepared = prepared.map_err(|error| self.refused(error, at))?;
        // SAFETY: the buffers are held by the operation that is about to begin.
        unsafe { prepared.stage(B::items(parts.get())) };
        let origin = self.origin(prepared.call);
        let id = self.begin(prepared)?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(OpHandle::new(origin, id, false), parts.keep()) })
    }

    /// Runs a blocking collective. The caller borrows the buffers for longer than the call.
    #[track_caller]
    pub(crate) fn blocking(&self, prepared: PreparedCall) -> Result<()> {
        self.blocking_known(prepared, None)
    }

    /// Runs a blocking collective and stores its execution in the replay cache under the key
    /// `known`.
    #[track_caller]
    pub(crate) fn blocking_known(
        &self,
        prepared: PreparedCall,
        known: Option<&ReplayKey<'_>>,
    ) -> Result<()> {
        let call = prepared.call;
        #[cfg(debug_assertions)]
        let (assert_valid, output) = (prepared.assert_valid, prepared.shape.output);
        let (run, staging) = self.run_of_known(prepared, known)?;
        let ended = self.core().run(run, staging);
        #[cfg(debug_assertions)]
        if let Some(assert_valid) = assert_valid {
            // SAFETY: the output of a call that is over, which its caller has borrowed.
            unsafe { assert_valid(output.start, output.len) };
        }
        ended.map_err(|error| self.error(call, ErrorKind::from(error)))
    }

    /// Replays a blocking call from the replay cache. `None` if the cache has no identical call.
    pub(crate) fn replay_blocking(
        &self,
        kind: CollectiveKind,
        known: &ReplayKey<'_>,
    ) -> Option<Result<()>> {
        let ended = self.core().replay(known, || self.next_collective())?;
        let call = || kind.call(Form::Blocking);
        Some(ended.map_err(|error| self.error(call(), ErrorKind::from(error))))
    }

    /// Like [`Communicator::replay_blocking`], for a call with derived datatypes.
    pub(crate) fn replay_derived(
        &self,
        kind: CollectiveKind,
        known: &ReplayKey<'_>,
    ) -> Option<Result<()>> {
        let ended = self.core().replay_derived(known, || self.next_collective())?;
        let call = || kind.call(Form::Blocking);
        Some(ended.map_err(|error| self.error(call(), ErrorKind::from(error))))
    }

    /// Does the same as [`Communicator::run_for`], and stores the execution in the replay cache.
    #[track_caller]
    fn run_of_known(&self, call: PreparedCall, key: Option<&ReplayKey<'_>>) -> Result<BoundRun> {
        let Some(key) = key else {
            return self.run_for(call, || self.next_collective());
        };
        let spans = [call.shape.input, call.shape.output];
        let element_bytes = call.element_bytes;
        let (mut run, staging) = self.run_for(call, || self.next_collective())?;
        if key.is_derived() {
            let (spans, packed) = ((spans, element_bytes), staging.as_deref());
            self.core().engine().store_derived(&mut run, key, spans, packed);
        } else if staging.is_none() {
            let buffers = spans.map(|span| span.start);
            let bytes = spans.map(|span| span.len * element_bytes);
            self.core().engine().store(&mut run, key, (buffers, bytes));
        }
        Ok((run, staging))
    }

    /// Replays a nonblocking call without buffers from the replay cache. `None` if the cache has no
    /// identical call.
    pub(crate) fn replay_nonblocking(
        &self,
        kind: CollectiveKind,
        known: &ReplayKey<'_>,
    ) -> Option<Request<()>> {
        // First: the reference count of an origin waits for messages to leave the core.
        let origin = self.origin(kind.call(Form::Nonblocking));
        let mut engine = self.core().free_engine()?;
        let number = || self.next_collective();
        let (run, staging) = if known.is_derived() {
            engine.take_derived(known, number)?
        } else {
            (engine.take_cached(known, number)?, None)
        };
        let id = engine.start_run(run, staging);
        drop(engine);
        Some(Request::without_buffers(OpHandle::new(origin, id, false)))
    }

    /// Replays a nonblocking call without buffers from the replay cache. `None` if the cache has no
    /// identical call. If this rank expects no answer to its messages, the call may complete here,
    /// and an operation is created only if it does not.
    #[inline]
    pub(crate) fn replay_one_way(
        &self,
        kind: CollectiveKind,
        known: &ReplayKey<'_>,
    ) -> Option<StartedCall> {
        let mut engine = self.core().free_engine()?;
        // Made only when needed: it counts a reference to the communicator, and that waits for
        // sent messages to leave the core.
        let origin = || self.origin(kind.call(Form::Nonblocking));
        let (origin, id) = match engine.replay_one_way(known, || self.next_collective())? {
            Replay::Over => return Some(StartedCall::Over),
            Replay::Short(inline, ..) => (origin(), engine.promote(inline)),
            Replay::Long(run) => (origin(), engine.start_run(run, None)),
        };
        drop(engine);
        Some(StartedCall::Pending(OpHandle::new(origin, id, false)))
    }

    /// Starts a nonblocking call without buffers and stores its execution in the replay cache.
    #[track_caller]
    pub(crate) fn start_known(
        &self,
        prepared: PreparedCall,
        known: Option<&ReplayKey<'_>>,
    ) -> Result<Request<()>> {
        let origin = self.origin(prepared.call);
        let (run, staging) = self.run_of_known(prepared, known)?;
        let id = self.core().engine().start_run(run, staging);
        Ok(Request::without_buffers(OpHandle::new(origin, id, false)))
    }
}

impl Communicator {
    /// Makes a persistent collective.
    #[track_caller]
    pub(crate) fn persistent_with<B: Buffers + 'static>(
        &self,
        buffers: B,
        info: &Info,
        prepare: impl FnOnce(&B::Parts) -> Result<PreparedCall>,
    ) -> Result<Persistent<B>> {
        let (parts, at) = (GiveBack::<B>::new(buffers), Location::caller());
        let hints = Hints::of(info);
        let prepared = prepare(parts.get());
        let mut prepared = prepared.map_err(|error| self.init_refused(error, &hints, at))?;
        prepared.hints = hints;
        // SAFETY: the buffers are held by the operation that is about to begin.
        unsafe { prepared.stage(B::items(parts.get())) };
        let call = prepared.call;
        let Initialized { run, staging, linking, reason } = self.initialize(prepared, at)?;
        let mut engine = self.core().engine();
        let id = engine.add_persistent(run, staging, linking);
        if let Some(reason) = reason {
            engine.tell_reason(id, reason);
        }
        drop(engine);
        Ok(Persistent::new(self.origin(call), id, parts.keep()))
    }
}
