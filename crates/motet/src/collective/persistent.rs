//! The persistent forms. An init is local: it waits for nobody. All ranks make their inits on one
//! communicator in the same order; starts may come in any order.
//!
//! A hint that is known means something for a reduction: [`DETERMINISTIC`](crate::DETERMINISTIC).
//! All ranks give the same.

use motet_plan::Block;

use super::shape::Including;
use super::{Prepared, Shape};
use crate::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::info::Info;
use crate::kernel::kernel;
use crate::op::Operator;
use crate::persistent::Persistent;

impl Communicator {
    /// Persistent [`barrier`](Communicator::barrier). (`MPI_Barrier_init`)
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn barrier_init(&self, info: &Info) -> Result<Persistent<()>> {
        self.persistent_with((), info, |()| {
            Ok(Prepared::new::<u8>("barrier_init", Shape::barrier(), None))
        })
    }

    /// Persistent [`bcast`](Communicator::bcast). (`MPI_Bcast_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn bcast_init<B>(&self, buffer: B, root: usize, info: &Info) -> Result<Persistent<B>>
    where
        B: RecvBuffer + 'static,
    {
        self.persistent_with(buffer, info, |parts| {
            let shape = Shape::bcast(self, <B as SendBuffer>::span(parts), root);
            self.prepare::<<B as Buffers>::Element>("bcast_init", shape, None)
        })
    }

    /// Persistent [`reduce`](Communicator::reduce). (`MPI_Reduce_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn reduce_init<B, O>(
        &self,
        buffers: B,
        operator: O,
        root: usize,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::reduce(self, input, output, root, operator.is_commutative());
            self.prepare::<B::Element>("reduce_init", shape, Some(kernel(operator)))
        })
    }

    /// Persistent [`allreduce`](Communicator::allreduce). (`MPI_Allreduce_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn allreduce_init<B, O>(
        &self,
        buffers: B,
        operator: O,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::allreduce(input, output, operator.is_commutative());
            self.prepare::<B::Element>("allreduce_init", shape, Some(kernel(operator)))
        })
    }

    /// Persistent [`allgather`](Communicator::allgather). (`MPI_Allgather_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn allgather_init<B>(&self, buffers: B, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let shape = Shape::allgather(self, B::input(parts), B::output(parts));
            self.prepare::<B::Element>("allgather_init", shape, None)
        })
    }

    /// Persistent [`allgatherv`](Communicator::allgatherv). (`MPI_Allgatherv_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn allgatherv_init<B>(
        &self,
        buffers: B,
        blocks: &[Block],
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let shape = Shape::allgatherv(self, B::input(parts), B::output(parts), blocks);
            self.prepare::<B::Element>("allgatherv_init", shape, None)
        })
    }

    /// Persistent [`gather`](Communicator::gather). (`MPI_Gather_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn gather_init<B>(&self, buffers: B, root: usize, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::gather(self, input, output, root);
            self.prepare::<B::Element>("gather_init", shape, None)
        })
    }

    /// Persistent [`gatherv`](Communicator::gatherv). (`MPI_Gatherv_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn gatherv_init<B>(
        &self,
        buffers: B,
        blocks: &[Block],
        root: usize,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::gatherv(self, input, output, blocks, root);
            self.prepare::<B::Element>("gatherv_init", shape, None)
        })
    }

    /// Persistent [`scatter`](Communicator::scatter). (`MPI_Scatter_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn scatter_init<B>(&self, buffers: B, root: usize, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::scatter(self, input, output, root);
            self.prepare::<B::Element>("scatter_init", shape, None)
        })
    }

    /// Persistent [`scatterv`](Communicator::scatterv). (`MPI_Scatterv_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn scatterv_init<B>(
        &self,
        buffers: B,
        blocks: &[Block],
        root: usize,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::scatterv(self, input, output, blocks, root);
            self.prepare::<B::Element>("scatterv_init", shape, None)
        })
    }

    /// Persistent [`alltoall`](Communicator::alltoall). (`MPI_Alltoall_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn alltoall_init<B>(&self, buffers: B, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::alltoall(self, input, output);
            self.prepare::<B::Element>("alltoall_init", shape, None)
        })
    }

    /// Persistent [`alltoallv`](Communicator::alltoallv). (`MPI_Alltoallv_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn alltoallv_init<B>(
        &self,
        buffers: B,
        to: &[Block],
        from: &[Block],
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let shape = Shape::alltoallv(self, input, output, to, from);
            self.prepare::<B::Element>("alltoallv_init", shape, None)
        })
    }

    /// Persistent [`reduce_scatter_block`](Communicator::reduce_scatter_block).
    /// (`MPI_Reduce_scatter_block_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn reduce_scatter_block_init<B, O>(
        &self,
        buffers: B,
        operator: O,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let commutative = operator.is_commutative();
            let shape = Shape::reduce_scatter_block(self, input, output, commutative);
            self.prepare::<B::Element>("reduce_scatter_block_init", shape, Some(kernel(operator)))
        })
    }

    /// Persistent [`reduce_scatter`](Communicator::reduce_scatter). (`MPI_Reduce_scatter_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn reduce_scatter_init<B, O>(
        &self,
        buffers: B,
        counts: &[usize],
        operator: O,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let commutative = operator.is_commutative();
            let shape = Shape::reduce_scatter(self, input, output, counts, commutative);
            self.prepare::<B::Element>("reduce_scatter_init", shape, Some(kernel(operator)))
        })
    }

    /// Persistent [`scan`](Communicator::scan). (`MPI_Scan_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn scan_init<B, O>(&self, buffers: B, operator: O, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let commutative = operator.is_commutative();
            let shape = Shape::scan(input, output, commutative, Including::This);
            self.prepare::<B::Element>("scan_init", shape, Some(kernel(operator)))
        })
    }

    /// Persistent [`exscan`](Communicator::exscan). (`MPI_Exscan_init`)
    ///
    /// # Errors
    /// Arguments that the blocking form refuses.
    #[track_caller]
    pub fn exscan_init<B, O>(&self, buffers: B, operator: O, info: &Info) -> Result<Persistent<B>>
    where
        B: Buffers + 'static,
        O: Operator<B::Element>,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (B::input(parts), B::output(parts));
            let commutative = operator.is_commutative();
            let shape = Shape::scan(input, output, commutative, Including::Before);
            self.prepare::<B::Element>("exscan_init", shape, Some(kernel(operator)))
        })
    }
}
