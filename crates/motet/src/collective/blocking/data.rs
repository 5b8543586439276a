//! The blocking forms of the collectives that move data.

use motet_plan::Block;

use super::{input, output};
use crate::Element;
use crate::base::error::Result;
use crate::collective::args::CollectiveArgs;
use crate::comm::communicator::Communicator;

impl Communicator {
    /// Gives the inputs of all ranks, in rank order, to the root. At the other ranks the output is
    /// not touched and may be empty. (`MPI_Gather`)
    ///
    /// # Errors
    /// A root that is not in the communicator; an output of the root that does not hold one input
    /// of each rank; a rank that has died or left.
    #[track_caller]
    pub fn gather<T: Element>(&self, send: &[T], receive: &mut [T], root: usize) -> Result<()> {
        let shape = CollectiveArgs::gather(self, input(send), output(receive), root);
        self.run_blocking::<T>("gather", shape, None)
    }

    /// As [`gather`](Communicator::gather) with one buffer: the input at each rank but the root,
    /// whose own block is in place already.
    ///
    /// # Errors
    /// As [`gather`](Communicator::gather).
    #[track_caller]
    pub fn gather_in_place<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let shape = CollectiveArgs::gather(self, None, output(buffer), root);
        self.run_blocking::<T>("gather", shape, None)
    }

    /// Gives the inputs of all ranks, of any lengths, to the root: that of rank `i` into
    /// `blocks[i]` of its output. The other ranks' blocks are not looked at. (`MPI_Gatherv`)
    ///
    /// # Errors
    /// A root that is not in the communicator; blocks of the root that overlap, that its output
    /// does not hold, or that are not one for each rank; a rank that has died or left.
    #[track_caller]
    pub fn gatherv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let shape = CollectiveArgs::gatherv(self, input(send), output(receive), blocks, root);
        self.run_blocking::<T>("gatherv", shape, None)
    }

    /// As [`gatherv`](Communicator::gatherv) with one buffer: the input at each rank but the root,
    /// whose own block is in place already.
    ///
    /// # Errors
    /// As [`gatherv`](Communicator::gatherv).
    #[track_caller]
    pub fn gatherv_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let shape = CollectiveArgs::gatherv(self, None, output(buffer), blocks, root);
        self.run_blocking::<T>("gatherv", shape, None)
    }

    /// Deals the root's input out to all ranks in blocks of the length of their outputs. At the
    /// other ranks the input is not read and may be empty. (`MPI_Scatter`)
    ///
    /// # Errors
    /// A root that is not in the communicator; an input of the root that is not one output of each
    /// rank; a rank that has died or left.
    #[track_caller]
    pub fn scatter<T: Element>(&self, send: &[T], receive: &mut [T], root: usize) -> Result<()> {
        let shape = CollectiveArgs::scatter(self, input(send), output(receive), root);
        self.run_blocking::<T>("scatter", shape, None)
    }

    /// As [`scatter`](Communicator::scatter) with one buffer: the root's input, where its own block
    /// stays, and the output at the other ranks.
    ///
    /// # Errors
    /// As [`scatter`](Communicator::scatter).
    #[track_caller]
    pub fn scatter_in_place<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let shape = CollectiveArgs::scatter(self, None, output(buffer), root);
        self.run_blocking::<T>("scatter", shape, None)
    }

    /// Deals `blocks[i]` of the root's input out to rank `i`. The other ranks' blocks are not
    /// looked at. (`MPI_Scatterv`)
    ///
    /// # Errors
    /// A root that is not in the communicator; blocks that the root's input does not hold, or that
    /// are not one for each rank; a rank that has died or left.
    #[track_caller]
    pub fn scatterv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let shape = CollectiveArgs::scatterv(self, input(send), output(receive), blocks, root);
        self.run_blocking::<T>("scatterv", shape, None)
    }

    /// As [`scatterv`](Communicator::scatterv) with one buffer: the root's input, where its own
    /// block stays, and the output at the other ranks.
    ///
    /// # Errors
    /// As [`scatterv`](Communicator::scatterv).
    #[track_caller]
    pub fn scatterv_in_place<T: Element>(
        &self,
        buffer: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let shape = CollectiveArgs::scatterv(self, None, output(buffer), blocks, root);
        self.run_blocking::<T>("scatterv", shape, None)
    }

    /// Sends block `i` of the input to rank `i`, and receives block `i` of the output from it; all
    /// blocks have one length. (`MPI_Alltoall`)
    ///
    /// # Errors
    /// Buffers that are not one block for each rank; a rank that has died or left.
    #[track_caller]
    pub fn alltoall<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::alltoall(self, input(send), output(receive));
        self.run_blocking::<T>("alltoall", shape, None)
    }

    /// As [`alltoall`](Communicator::alltoall); what is received replaces what was sent.
    ///
    /// # Errors
    /// As [`alltoall`](Communicator::alltoall).
    #[track_caller]
    pub fn alltoall_in_place<T: Element>(&self, buffer: &mut [T]) -> Result<()> {
        let shape = CollectiveArgs::alltoall(self, None, output(buffer));
        self.run_blocking::<T>("alltoall", shape, None)
    }

    /// Sends block `to[i]` of the input to rank `i`, and receives block `from[i]` of the output
    /// from it. (`MPI_Alltoallv`)
    ///
    /// # Errors
    /// Lists that are not one block for each rank; blocks that the buffers do not hold; received
    /// blocks that overlap; a rank that has died or left.
    #[track_caller]
    pub fn alltoallv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[Block],
        from: &[Block],
    ) -> Result<()> {
        let shape = CollectiveArgs::alltoallv(self, input(send), output(receive), to, from);
        self.run_blocking::<T>("alltoallv", shape, None)
    }

    /// As [`alltoallv`](Communicator::alltoallv); what is received replaces what was sent, so two
    /// ranks have blocks of one length for each other.
    ///
    /// # Errors
    /// As [`alltoallv`](Communicator::alltoallv).
    #[track_caller]
    pub fn alltoallv_in_place<T: Element>(&self, buffer: &mut [T], blocks: &[Block]) -> Result<()> {
        let shape = CollectiveArgs::alltoallv(self, None, output(buffer), blocks, blocks);
        self.run_blocking::<T>("alltoallv", shape, None)
    }
}
