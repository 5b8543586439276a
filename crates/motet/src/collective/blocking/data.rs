//! Blocking collectives that move data without combining it: gather, scatter and all-to-all.

use motet_plan::Block;

use super::{input, output};
use crate::Element;
use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::args::CollectiveArgs;
use crate::collective::typed_call::TypedCall;
use crate::comm::communicator::Communicator;

impl Communicator {
    /// Concatenates the inputs of all ranks, in rank order, in the root's output. At the other
    /// ranks the output is not touched and may be empty. (`MPI_Gather`)
    ///
    /// # Errors
    /// The root is not in the communicator; the root's output length is not the number of ranks
    /// times the input length; or a rank has died or left.
    #[track_caller]
    pub fn gather<T: Element>(&self, send: &[T], receive: &mut [T], root: usize) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Gather, sent, received).with_root(root);
        self.run_moving::<T>(call, || CollectiveArgs::gather(self, sent, received, root))
    }

    /// Does the same as [`gather`](Communicator::gather) with one buffer: the input at each rank
    /// except the root, whose block is already in place in its output.
    ///
    /// # Errors
    /// As [`gather`](Communicator::gather).
    #[track_caller]
    pub fn gather_in_place<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Gather, None, received).with_root(root);
        self.run_moving::<T>(call, || CollectiveArgs::gather(self, None, received, root))
    }

    /// Gathers inputs of any lengths to the root: the input of rank `i` goes to `blocks[i]` of the
    /// root's output. The other ranks' blocks are ignored. (`MPI_Gatherv`)
    ///
    /// # Errors
    /// The root is not in the communicator; the root's blocks overlap, lie outside its output, or
    /// are not one for each rank; or a rank has died or left.
    #[track_caller]
    pub fn gatherv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Gatherv, sent, received).with_root(root);
        let call = if root == self.rank() { call.receives(blocks) } else { call };
        self.run_moving::<T>(call, || CollectiveArgs::gatherv(self, sent, received, blocks, root))
    }

    /// Does the same as [`gatherv`](Communicator::gatherv) with one buffer: the input at each rank
    /// except the root, whose block is already in place in its output.
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
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Gatherv, None, received).with_root(root);
        let call = if root == self.rank() { call.receives(blocks) } else { call };
        self.run_moving::<T>(call, || CollectiveArgs::gatherv(self, None, received, blocks, root))
    }

    /// Distributes the root's input: each rank receives one block, in rank order, of the length of
    /// its output. At the other ranks the input is not read and may be empty. (`MPI_Scatter`)
    ///
    /// # Errors
    /// The root is not in the communicator; the root's input length is not the number of ranks
    /// times the output length; or a rank has died or left.
    #[track_caller]
    pub fn scatter<T: Element>(&self, send: &[T], receive: &mut [T], root: usize) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Scatter, sent, received).with_root(root);
        self.run_moving::<T>(call, || CollectiveArgs::scatter(self, sent, received, root))
    }

    /// Does the same as [`scatter`](Communicator::scatter) with one buffer: the input at the root,
    /// where its own block stays in place, and the output at the other ranks.
    ///
    /// # Errors
    /// As [`scatter`](Communicator::scatter).
    #[track_caller]
    pub fn scatter_in_place<T: Element>(&self, buffer: &mut [T], root: usize) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Scatter, None, received).with_root(root);
        self.run_moving::<T>(call, || CollectiveArgs::scatter(self, None, received, root))
    }

    /// Distributes the root's input: rank `i` receives `blocks[i]` of it. The other ranks' blocks
    /// are ignored. (`MPI_Scatterv`)
    ///
    /// # Errors
    /// The root is not in the communicator; the root's blocks lie outside its input, or are not one
    /// for each rank; or a rank has died or left.
    #[track_caller]
    pub fn scatterv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: usize,
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Scatterv, sent, received).with_root(root);
        let call = if root == self.rank() { call.sends(blocks) } else { call };
        self.run_moving::<T>(call, || CollectiveArgs::scatterv(self, sent, received, blocks, root))
    }

    /// Does the same as [`scatterv`](Communicator::scatterv) with one buffer: the input at the
    /// root, where its own block stays in place, and the output at the other ranks.
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
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Scatterv, None, received).with_root(root);
        let call = if root == self.rank() { call.sends(blocks) } else { call };
        self.run_moving::<T>(call, || CollectiveArgs::scatterv(self, None, received, blocks, root))
    }

    /// Sends block `i` of the input to rank `i`, and receives block `i` of the output from it; all
    /// blocks have one length. (`MPI_Alltoall`)
    ///
    /// # Errors
    /// The buffers do not hold one block for each rank; or a rank has died or left.
    #[track_caller]
    pub fn alltoall<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Alltoall, sent, received);
        self.run_moving::<T>(call, || CollectiveArgs::alltoall(self, sent, received))
    }

    /// Does the same as [`alltoall`](Communicator::alltoall) with one buffer; received data replace
    /// sent data.
    ///
    /// # Errors
    /// As [`alltoall`](Communicator::alltoall).
    #[track_caller]
    pub fn alltoall_in_place<T: Element>(&self, buffer: &mut [T]) -> Result<()> {
        let received = output(buffer);
        let call = TypedCall::moving::<T>(CollectiveKind::Alltoall, None, received);
        self.run_moving::<T>(call, || CollectiveArgs::alltoall(self, None, received))
    }

    /// Sends block `to[i]` of the input to rank `i`, and receives block `from[i]` of the output
    /// from it. (`MPI_Alltoallv`)
    ///
    /// # Errors
    /// The lists do not have one block for each rank; blocks lie outside the buffers; received
    /// blocks overlap; or a rank has died or left.
    #[track_caller]
    pub fn alltoallv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[Block],
        from: &[Block],
    ) -> Result<()> {
        let (sent, received) = (input(send), output(receive));
        let call = TypedCall::moving::<T>(CollectiveKind::Alltoallv, sent, received)
            .sends(to)
            .receives(from);
        self.run_moving::<T>(call, || CollectiveArgs::alltoallv(self, sent, received, to, from))
    }

    /// Does the same as [`alltoallv`](Communicator::alltoallv) with one buffer; received data
    /// replace sent data, so two ranks must have blocks of one length for each other.
    ///
    /// # Errors
    /// As [`alltoallv`](Communicator::alltoallv).
    #[track_caller]
    pub fn alltoallv_in_place<T: Element>(&self, buffer: &mut [T], blocks: &[Block]) -> Result<()> {
        let received = output(buffer);
        let call =
            TypedCall::moving::<T>(CollectiveKind::Alltoallv, None, received).receives(blocks);
        self.run_moving::<T>(call, || {
            CollectiveArgs::alltoallv(self, None, received, blocks, blocks)
        })
    }
}
