//! The blocking forms.

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

/// Where a borrowed input lies; the caller's borrow outlives the call.
pub(crate) fn input<T: Element>(slice: &[T]) -> Option<RawSlice> {
    Some(<&[T]>::span(&slice.into_raw()))
}

/// Where a borrowed output lies.
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

    /// Waits until all ranks have called it. (`MPI_Barrier`)
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        self.run_blocking::<u8>("barrier", Ok(CollectiveArgs::barrier()), None)
    }

    /// Gives the root's buffer to all ranks. (`MPI_Bcast`)
    ///
    /// # Errors
    /// A root that is not in the communicator; a rank that has died or left. All ranks pass
    /// buffers of one length. If not, check mode tells all of them ([`ErrorKind::Mismatch`]);
    /// without it those are told who notice, as who has no room for what comes
    /// ([`ErrorKind::Truncated`]).
    ///
    /// [`ErrorKind::Mismatch`]: crate::ErrorKind::Mismatch
    /// [`ErrorKind::Truncated`]: crate::ErrorKind::Truncated
    #[track_caller]
    pub fn bcast<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let shape = CollectiveArgs::bcast(self, output(buffer), root);
        self.run_blocking::<T>("bcast", shape, None)
    }

    /// Combines the inputs of all ranks, element by element, at the root. At the other ranks the
    /// output is not touched and may be empty. (`MPI_Reduce`)
    ///
    /// # Errors
    /// A root that is not in the communicator; buffers of different lengths; a rank that has died
    /// or left.
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

    /// As [`reduce`](Communicator::reduce) with one buffer: the input at each rank, and at the
    /// root the result. (`MPI_Reduce` with `MPI_IN_PLACE`)
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

    /// Combines the inputs of all ranks, element by element; all get the result, the same to the
    /// last bit. (`MPI_Allreduce`)
    ///
    /// # Errors
    /// Buffers of different lengths; a rank that has died or left.
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

    /// As [`allreduce`](Communicator::allreduce), with one buffer for input and result.
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

    /// Combines one value of each rank.
    ///
    /// # Errors
    /// As [`allreduce`](Communicator::allreduce).
    #[track_caller]
    pub fn allreduce_one<T: Element>(&self, value: T, operator: impl Operator<T>) -> Result<T> {
        let mut buffer = [value];
        self.allreduce_in_place(&mut buffer, operator)?;
        Ok(buffer[0])
    }

    /// Gives the inputs of all ranks, in rank order, to all ranks. (`MPI_Allgather`)
    ///
    /// # Errors
    /// An output that does not hold one input of each rank; a rank that has died or left.
    #[track_caller]
    pub fn allgather<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::allgather(self, input(send), output(receive));
        self.run_blocking::<T>("allgather", shape, None)
    }

    /// As [`allgather`](Communicator::allgather); the own block is in place already.
    ///
    /// # Errors
    /// As [`allgather`](Communicator::allgather).
    #[track_caller]
    pub fn allgather_in_place<T: Element>(&self, buffer: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::allgather(self, None, output(buffer));
        self.run_blocking::<T>("allgather", shape, None)
    }

    /// Gives the inputs of all ranks, of any lengths, to all ranks: that of rank `i` into
    /// `blocks[i]` of the output. (`MPI_Allgatherv`)
    ///
    /// # Errors
    /// Blocks that overlap, that the output does not hold, or that are not one for each rank; a
    /// rank that has died or left.
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

    /// As [`allgatherv`](Communicator::allgatherv); the own block is in place already.
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
