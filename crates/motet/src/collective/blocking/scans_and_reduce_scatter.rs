//! Blocking reductions whose results differ between ranks: reduce-scatter, scan and exscan.

use super::{input, output};
use crate::Element;
use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::args::{CollectiveArgs, ScanKind};
use crate::collective::typed_call::TypedCall;
use crate::comm::communicator::Communicator;
use crate::data::kernel::kernel;
use crate::data::op::Operator;

impl Communicator {
    /// Combines the inputs of all ranks, element by element, and writes block `i` of the result to
    /// the output of rank `i`; all blocks have the length of the output.
    /// (`MPI_Reduce_scatter_block`)
    ///
    /// # Errors
    /// The input length is not the number of ranks times the output length; or a rank has died or
    /// left.
    #[track_caller]
    pub fn reduce_scatter_block<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call =
            TypedCall::reducing(CollectiveKind::ReduceScatterBlock, sent, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::reduce_scatter_block(self, sent, received, commutative)
        })
    }

    /// Does the same as [`reduce_scatter_block`](Communicator::reduce_scatter_block) with one
    /// buffer: it holds the input before and, at its start, the result afterwards. The rest of the
    /// buffer is undefined afterwards.
    ///
    /// # Errors
    /// As [`reduce_scatter_block`](Communicator::reduce_scatter_block).
    #[track_caller]
    pub fn reduce_scatter_block_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let received = output(buffer);
        let call =
            TypedCall::reducing(CollectiveKind::ReduceScatterBlock, None, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::reduce_scatter_block(self, None, received, commutative)
        })
    }

    /// Combines the inputs of all ranks, element by element, and writes block `i` of the result,
    /// which has `counts[i]` elements, to the output of rank `i`. The blocks follow each other in
    /// rank order. (`MPI_Reduce_scatter`)
    ///
    /// # Errors
    /// The counts are not one for each rank, or do not fit the buffers; or a rank has died or left.
    #[track_caller]
    pub fn reduce_scatter<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        counts: &[usize],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let commutative = operator.is_commutative();
        let shape =
            CollectiveArgs::reduce_scatter(self, input(send), output(receive), counts, commutative);
        self.run_blocking::<T>("reduce_scatter", shape, Some(kernel(operator)))
    }

    /// Does the same as [`reduce_scatter`](Communicator::reduce_scatter) with one buffer: it holds
    /// the input before and, at its start, the result afterwards. The rest of the buffer is
    /// undefined afterwards.
    ///
    /// # Errors
    /// As [`reduce_scatter`](Communicator::reduce_scatter).
    #[track_caller]
    pub fn reduce_scatter_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        counts: &[usize],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::reduce_scatter(self, None, output(buffer), counts, commutative);
        self.run_blocking::<T>("reduce_scatter", shape, Some(kernel(operator)))
    }

    /// Combines the inputs of ranks 0 to the caller's rank inclusive, element by element.
    /// (`MPI_Scan`)
    ///
    /// # Errors
    /// The buffers differ in length; or a rank has died or left.
    #[track_caller]
    pub fn scan<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::reducing(CollectiveKind::Scan, sent, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::scan(sent, received, commutative, ScanKind::This)
        })
    }

    /// Does the same as [`scan`](Communicator::scan), with one buffer for input and result.
    ///
    /// # Errors
    /// As [`scan`](Communicator::scan).
    #[track_caller]
    pub fn scan_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::reducing(CollectiveKind::Scan, None, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::scan(None, received, commutative, ScanKind::This)
        })
    }

    /// Combines the inputs of the ranks below the caller's rank, element by element. The output of
    /// rank 0 is not touched. (`MPI_Exscan`)
    ///
    /// # Errors
    /// The buffers differ in length; or a rank has died or left.
    #[track_caller]
    pub fn exscan<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::reducing(CollectiveKind::Exscan, sent, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::scan(sent, received, commutative, ScanKind::Before)
        })
    }

    /// Does the same as [`exscan`](Communicator::exscan), with one buffer for input and result.
    ///
    /// # Errors
    /// As [`exscan`](Communicator::exscan).
    #[track_caller]
    pub fn exscan_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::reducing(CollectiveKind::Exscan, None, received, &operator);
        self.run_reducing(call, operator, |commutative| {
            CollectiveArgs::scan(None, received, commutative, ScanKind::Before)
        })
    }
}
