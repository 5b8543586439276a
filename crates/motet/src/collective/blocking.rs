//! Blocking collectives.

mod data;
mod scans;

use std::panic::Location;

use motet_plan::Block;

use super::{CollectiveArgs, PreparedCall};
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::buffer::{RawSlice, SendBuffer, StableBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;

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
        let at = Location::caller();
        let shape = shape.map_err(|kind| self.refused(self.error(call, kind), at))?;
        self.blocking(PreparedCall::new::<T>(call, shape, kernel))
    }

    /// Waits until all ranks have called `barrier`. (`MPI_Barrier`)
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        self.run_blocking::<u8>("barrier", Ok(CollectiveArgs::barrier()), None)
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
        let shape = CollectiveArgs::bcast(self, output(buffer), root);
        self.run_blocking::<T>("bcast", shape, None)
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::reduce(self, input(send), output(receive), root, commutative);
        self.run_blocking::<T>("reduce", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::reduce(self, None, output(buffer), root, commutative);
        self.run_blocking::<T>("reduce", shape, Some(kernel(operator)))
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
        let shape =
            CollectiveArgs::allreduce(input(send), output(receive), operator.is_commutative());
        self.run_blocking::<T>("allreduce", shape, Some(kernel(operator)))
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
        let shape = CollectiveArgs::allreduce(None, output(buffer), operator.is_commutative());
        self.run_blocking::<T>("allreduce", shape, Some(kernel(operator)))
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
        let shape = CollectiveArgs::allgather(self, input(send), output(receive));
        self.run_blocking::<T>("allgather", shape, None)
    }

    /// Does the same as [`allgather`](Communicator::allgather) with one buffer, in which the
    /// caller's block is already in place.
    ///
    /// # Errors
    /// As [`allgather`](Communicator::allgather).
    #[track_caller]
    pub fn allgather_in_place<T: Element>(&self, buffer: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::allgather(self, None, output(buffer));
        self.run_blocking::<T>("allgather", shape, None)
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
        let shape = CollectiveArgs::allgatherv(self, input(send), output(receive), blocks);
        self.run_blocking::<T>("allgatherv", shape, None)
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
        let shape = CollectiveArgs::allgatherv(self, None, output(buffer), blocks);
        self.run_blocking::<T>("allgatherv", shape, None)
    }
}
