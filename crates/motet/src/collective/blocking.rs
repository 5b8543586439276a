//! Blocking collectives.

mod data;
mod scans_and_reduce_scatter;

use std::panic::Location;

use motet_plan::Block;

use super::typed_call::TypedCall;
use super::{CollectiveArgs, PreparedCall};
use crate::Element;
use crate::base::collective_kind::{CollectiveKind, Form};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::buffer::{RawSlice, SendBuffer, StableBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;
use crate::engine::ReplayKey;

/// Returns the address and length of a borrowed input; the caller's borrow outlives the call.
pub(crate) fn input<T: Element>(slice: &[T]) -> Option<RawSlice> {
    Some(<&[T]>::span(&slice.into_raw()))
}

/// Returns the address and length of a borrowed output.
pub(crate) fn output<T: Element>(slice: &mut [T]) -> RawSlice {
    <&mut [T]>::span(&slice.into_raw())
}

impl Communicator {
    #[track_caller]
    pub(super) fn run_blocking<T: Element>(
        &self,
        call: &'static str,
        shape: Result<CollectiveArgs, ErrorKind>,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<()> {
        self.run_first::<T>(call, shape, kernel, None)
    }

    /// Runs a blocking call that is not in the replay cache, and stores it there under a key.
    #[track_caller]
    #[inline(never)] // the replayed call needs none of its memory
    fn run_first<T: Element>(
        &self,
        call: &'static str,
        shape: Result<CollectiveArgs, ErrorKind>,
        kernel: Option<Box<dyn Kernel>>,
        key: Option<&ReplayKey<'_>>,
    ) -> Result<()> {
        let at = Location::caller();
        let shape = shape.map_err(|kind| self.refused(self.error(call, kind), at))?;
        self.blocking_known(PreparedCall::new::<T>(call, shape, kernel), key)
    }

    /// Replays a call, or runs it with the operation that `shape` makes of its arguments.
    #[track_caller]
    #[inline]
    fn run_moving<T: Element>(
        &self,
        call: TypedCall<'_>,
        shape: impl FnOnce() -> Result<CollectiveArgs, ErrorKind>,
    ) -> Result<()> {
        self.replay_or_run::<T>(&call, || (shape(), None))
    }

    /// Does the same with a reduction; `shape` gets whether the operator commutes.
    #[track_caller]
    #[inline]
    fn run_reducing<T: Element>(
        &self,
        call: TypedCall<'_>,
        operator: impl Operator<T>,
        shape: impl FnOnce(bool) -> Result<CollectiveArgs, ErrorKind>,
    ) -> Result<()> {
        self.replay_or_run::<T>(&call, || {
            (shape(operator.is_commutative()), Some(kernel(operator)))
        })
    }

    #[track_caller]
    #[inline(always)]
    fn replay_or_run<T: Element>(
        &self,
        call: &TypedCall<'_>,
        arguments: impl FnOnce() -> (Result<CollectiveArgs, ErrorKind>, Option<Box<dyn Kernel>>),
    ) -> Result<()> {
        let key = call.key(self);
        if let Some(key) = &key
            && let Some(ended) = self.replay_blocking(call.kind, key)
        {
            #[cfg(debug_assertions)]
            call.assert_valid::<T>();
            return ended;
        }
        let (shape, kernel) = arguments();
        self.run_first::<T>(call.kind.call(Form::Blocking), shape, kernel, key.as_ref())
    }

    /// Waits until all ranks have called `barrier`. (`MPI_Barrier`)
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        let call = TypedCall::moving::<u8>(CollectiveKind::Barrier, None, RawSlice::EMPTY);
        self.run_moving::<u8>(call, || Ok(CollectiveArgs::barrier()))
    }

    /// Copies the root's buffer to the buffers of all ranks. (`MPI_Bcast`)
    ///
    /// # Errors
    /// The root is not in the communicator; or a rank has died or left. All ranks must pass buffers
    /// of one length. If they do not, check mode returns [`ErrorKind::Mismatch`] at all of them;
    /// without it, only ranks that detect the difference return an error, such as a rank whose
    /// buffer is too short for the message ([`ErrorKind::Truncated`]).
    ///
    /// [`ErrorKind::Mismatch`]: crate::ErrorKind::Mismatch
    /// [`ErrorKind::Truncated`]: crate::ErrorKind::Truncated
    #[track_caller]
    pub fn bcast<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Bcast, None, received).with_root(root);
        self.run_moving::<T>(call, || CollectiveArgs::bcast(self, received, root))
    }

    /// Combines the inputs of all ranks, element by element, and writes the result to the root's
    /// output. At the other ranks the output is not touched and may be empty. (`MPI_Reduce`)
    ///
    /// # Errors
    /// The root is not in the communicator; the buffers differ in length; or a rank has died or
    /// left.
    #[track_caller]
    pub fn reduce<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
        root: usize,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call =
            TypedCall::reducing(CollectiveKind::Reduce, sent, received, &operator).with_root(root);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::reduce(self, sent, received, root, commutative)
        })
    }

    /// Does the same as [`reduce`](Communicator::reduce) with one buffer: it holds the input at
    /// each rank and, at the root, the result afterwards. (`MPI_Reduce` with `MPI_IN_PLACE`)
    ///
    /// # Errors
    /// As [`reduce`](Communicator::reduce).
    #[track_caller]
    pub fn reduce_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        operator: impl Operator<T>,
        root: usize,
    ) -> Result<()> {
        let received = output(buffer);
        let call =
            TypedCall::reducing(CollectiveKind::Reduce, None, received, &operator).with_root(root);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::reduce(self, None, received, root, commutative)
        })
    }

    /// Combines the inputs of all ranks, element by element; all ranks get the result, equal to the
    /// last bit. (`MPI_Allreduce`)
    ///
    /// # Errors
    /// The buffers differ in length; or a rank has died or left.
    #[track_caller]
    pub fn allreduce<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::reducing(CollectiveKind::Allreduce, sent, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::allreduce(sent, received, commutative)
        })
    }

    /// Does the same as [`allreduce`](Communicator::allreduce), with one buffer for input and
    /// result.
    ///
    /// # Errors
    /// As [`allreduce`](Communicator::allreduce).
    #[track_caller]
    pub fn allreduce_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::reducing(CollectiveKind::Allreduce, None, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::allreduce(None, received, commutative)
        })
    }

    /// Combines one value of each rank; all ranks get the result.
    ///
    /// # Errors
    /// As [`allreduce`](Communicator::allreduce).
    #[track_caller]
    pub fn allreduce_one<T: Element>(&self, value: T, operator: impl Operator<T>) -> Result<T> {
        let mut buffer = [value];
        self.allreduce_in_place(&mut buffer, operator)?;
        Ok(buffer[0])
    }

    /// Concatenates the inputs of all ranks, in rank order, in the output of every rank.
    /// (`MPI_Allgather`)
    ///
    /// # Errors
    /// The output length is not the number of ranks times the input length; or a rank has died or
    /// left.
    #[track_caller]
    pub fn allgather<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Allgather, sent, received);
        self.run_moving::<T>(call, || CollectiveArgs::allgather(self, sent, received))
    }

    /// Does the same as [`allgather`](Communicator::allgather) with one buffer, in which the
    /// caller's block is already in place.
    ///
    /// # Errors
    /// As [`allgather`](Communicator::allgather).
    #[track_caller]
    pub fn allgather_in_place<T: Element>(&self, buffer: &mut [T]) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Allgather, None, received);
        self.run_moving::<T>(call, || CollectiveArgs::allgather(self, None, received))
    }

    /// Gathers inputs of any lengths to all ranks: the input of rank `i` goes to `blocks[i]` of the
    /// output. (`MPI_Allgatherv`)
    ///
    /// # Errors
    /// Blocks overlap, lie outside the output, or are not one for each rank; or a rank has died or
    /// left.
    #[track_caller]
    pub fn allgatherv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call =
            TypedCall::moving::<T>(CollectiveKind::Allgatherv, sent, received).receives(blocks);
        self.run_moving::<T>(call, || CollectiveArgs::allgatherv(self, sent, received, blocks))
    }

    /// Does the same as [`allgatherv`](Communicator::allgatherv) with one buffer, in which the
    /// caller's block is already in place.
    ///
    /// # Errors
    /// As [`allgatherv`](Communicator::allgatherv).
    #[track_caller]
    pub fn allgatherv_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        blocks: &[Block],
    ) -> Result<()> {
        let received = output(buffer);
        let call =
            TypedCall::moving::<T>(CollectiveKind::Allgatherv, None, received).receives(blocks);
        self.run_moving::<T>(call, || CollectiveArgs::allgatherv(self, None, received, blocks))
    }
}
