//! Blocking reductions whose results differ between ranks: reduce-scatter, scan and exscan.

use super::{input, output};
use crate::Element;
use crate::base::error::Result;
use crate::collective::args::{CollectiveArgs, ScanKind};
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
        let commutative = operator.is_commutative();
        let shape =
            CollectiveArgs::reduce_scatter_block(self, input(send), output(receive), commutative);
        self.run_blocking::<T>("reduce_scatter_block", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::reduce_scatter_block(self, None, output(buffer), commutative);
        self.run_blocking::<T>("reduce_scatter_block", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::scan(input(send), output(receive), commutative, ScanKind::This);
        self.run_blocking::<T>("scan", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::scan(None, output(buffer), commutative, ScanKind::This);
        self.run_blocking::<T>("scan", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape =
            CollectiveArgs::scan(input(send), output(receive), commutative, ScanKind::Before);
        self.run_blocking::<T>("exscan", shape, Some(kernel(operator)))
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
        let commutative = operator.is_commutative();
        let shape = CollectiveArgs::scan(None, output(buffer), commutative, ScanKind::Before);
        self.run_blocking::<T>("exscan", shape, Some(kernel(operator)))
    }
}
