//! The blocking forms of the reductions whose results differ between ranks.

use super::{input, output};
use crate::Element;
use crate::base::error::Result;
use crate::collective::args::{CollectiveArgs, ScanKind};
use crate::comm::communicator::Communicator;
use crate::data::kernel::kernel;
use crate::data::op::Operator;

impl Communicator {
    /// Combines the inputs of all ranks, element by element, and gives block `i` of the result to
    /// rank `i`; all blocks have the length of the output. (`MPI_Reduce_scatter_block`)
    ///
    /// # Errors
    /// An input that is not one output of each rank; a rank that has died or left.
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

    /// As [`reduce_scatter_block`](Communicator::reduce_scatter_block) with one buffer: the input,
    /// and at its start the result. What lies behind that is undefined afterwards.
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

    /// Combines the inputs of all ranks, element by element, and gives the block of `counts[i]`
    /// elements behind those of the ranks before to rank `i`. (`MPI_Reduce_scatter`)
    ///
    /// # Errors
    /// Counts that are not one for each rank, or that do not fit the buffers; a rank that has died
    /// or left.
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

    /// As [`reduce_scatter`](Communicator::reduce_scatter) with one buffer: the input, and at its
    /// start the result. What lies behind that is undefined afterwards.
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

    /// Combines the inputs of all ranks up to this one, element by element. (`MPI_Scan`)
    ///
    /// # Errors
    /// Buffers of different lengths; a rank that has died or left.
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

    /// As [`scan`](Communicator::scan), with one buffer for input and result.
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

    /// Combines the inputs of all ranks before this one, element by element. (`MPI_Exscan`)
    /// The output of rank 0 is not touched.
    ///
    /// # Errors
    /// Buffers of different lengths; a rank that has died or left.
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

    /// As [`exscan`](Communicator::exscan), with one buffer for input and result.
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
