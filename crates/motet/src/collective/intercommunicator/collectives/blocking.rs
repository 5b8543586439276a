//! The blocking forms.

use motet_plan::Block;

use super::{Intercommunicator, sides};
use crate::Element;
use crate::base::error::Result;
use crate::collective::untyped::Root;
use crate::collective::{InterBuffers, InterCall, input, output};
use crate::data::buffer::RawSlice;
use crate::data::kernel::kernel;
use crate::data::op::Operator;

/// Where borrowed data lies; the caller's borrow outlives the call.
fn borrowed<T: Element>(send: &[T], receive: &mut [T]) -> InterBuffers {
    sides::<T>(input(send).unwrap_or(RawSlice::EMPTY), output(receive))
}

/// The collectives between the two groups. What one group puts in comes out in the other one.
///
/// ```
/// use motet::{Root, Sum, Tag};
///
/// // Three servers and two clients.
/// motet::threads(5, |world| {
///     let serves = world.rank() < 3;
///     let group = world.split(Some(u32::from(serves)), 0)?.expect("all have a colour");
///     let other_leader = if serves { 3 } else { 0 };
///     let across = group.intercomm_create(0, Some(&*world), other_leader, Tag(0))?;
///
///     // Each client learns what all servers have; servers get the sum of the clients' data.
///     let mut sum = [0];
///     across.allreduce(&[world.rank()], &mut sum, Sum)?;
///     assert_eq!(sum, if serves { [3 + 4] } else { [0 + 1 + 2] });
///
///     // The second server asks; the clients answer.
///     let mut answers = [0; 2];
///     let root = match (serves, across.rank()) {
///         (true, 1) => Root::Here,
///         (true, _) => Root::Near,
///         (false, _) => Root::Rank(1),
///     };
///     across.gather(&[world.rank()], &mut answers, root)?;
///     assert_eq!(answers, if root == Root::Here { [3, 4] } else { [0, 0] });
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
///
/// What does not exist between two groups does not compile:
///
/// ```compile_fail,E0599
/// # fn of(across: &motet::Intercommunicator) {
/// across.scan(&[1], &mut [0], motet::Sum);
/// # }
/// ```
impl Intercommunicator {
    /// Waits until all ranks of the other group have called it. (`MPI_Barrier`)
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        self.run::<u8>("barrier", Ok(InterCall::barrier(self)), None)
    }

    /// Gives the root's buffer to all ranks of the other group. (`MPI_Bcast`)
    ///
    /// # Errors
    /// A root that is not in the remote group; less room than the root sends; a rank that has died
    /// or left.
    #[track_caller]
    pub fn bcast<T: Element>(&self, buffer: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("bcast", self.crossing_bcast(output(buffer), root), None)
    }

    /// Gives the inputs of the other group, in rank order, to the root. Only the root has an
    /// output, and only the other group has inputs: the rest may be empty. (`MPI_Gather`)
    ///
    /// # Errors
    /// A root that is not in the remote group; an output of the root that does not hold one input
    /// of each rank of the other group; a rank that has died or left.
    #[track_caller]
    pub fn gather<T: Element>(&self, send: &[T], receive: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("gather", self.crossing_gather(borrowed(send, receive), root), None)
    }

    /// As [`gather`](Intercommunicator::gather), for inputs of any lengths: that of rank `i` of the
    /// other group into `blocks[i]` of the output of the root, who alone needs to know the blocks.
    /// (`MPI_Gatherv`)
    ///
    /// # Errors
    /// A root that is not in the remote group; blocks of the root that overlap, that its output
    /// does not hold, or that are not one for each rank of the other group; a rank that has died
    /// or left.
    #[track_caller]
    pub fn gatherv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: Root,
    ) -> Result<()> {
        let crossing = self.crossing_gatherv(borrowed(send, receive), blocks, root);
        self.run::<T>("gatherv", crossing, None)
    }

    /// Deals the root's input out to all ranks of the other group in blocks of the length of their
    /// outputs. Only the root has an input, and only the other group has outputs: the rest may be
    /// empty. (`MPI_Scatter`)
    ///
    /// # Errors
    /// A root that is not in the remote group; an input of the root that is not one output of each
    /// rank of the other group; a rank that has died or left.
    #[track_caller]
    pub fn scatter<T: Element>(&self, send: &[T], receive: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("scatter", self.crossing_scatter(borrowed(send, receive), root), None)
    }

    /// As [`scatter`](Intercommunicator::scatter): `blocks[i]` of the root's input goes to rank `i`
    /// of the other group. Only the root needs to know the blocks. (`MPI_Scatterv`)
    ///
    /// # Errors
    /// A root that is not in the remote group; blocks that the root's input does not hold, or that
    /// are not one for each rank of the other group; a rank that has died or left.
    #[track_caller]
    pub fn scatterv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        blocks: &[Block],
        root: Root,
    ) -> Result<()> {
        let crossing = self.crossing_scatterv(borrowed(send, receive), blocks, root);
        self.run::<T>("scatterv", crossing, None)
    }

    /// Gives the inputs of the other group, in rank order, to all ranks. Those of the two groups
    /// may have different lengths; with empty ones on one side, data goes one way.
    /// (`MPI_Allgather`)
    ///
    /// # Errors
    /// An output that does not hold one input of each rank of the other group; a rank that has
    /// died or left.
    #[track_caller]
    pub fn allgather<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        self.run::<T>("allgather", InterCall::allgather(self, input, output), None)
    }

    /// As [`allgather`](Intercommunicator::allgather), for inputs of any lengths: that of rank `i`
    /// of the other group into `from[i]` of the output. (`MPI_Allgatherv`)
    ///
    /// # Errors
    /// Blocks that overlap, that the output does not hold, or that are not one for each rank of
    /// the other group; a rank that has died or left.
    #[track_caller]
    pub fn allgatherv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        from: &[Block],
    ) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        self.run::<T>("allgatherv", InterCall::allgatherv(self, input, output, from), None)
    }

    /// Sends block `i` of the input to rank `i` of the other group, and receives block `i` of the
    /// output from it. All blocks that go one way have one length. (`MPI_Alltoall`)
    ///
    /// # Errors
    /// Buffers that are not one block for each rank of the other group; a rank that has died or
    /// left.
    #[track_caller]
    pub fn alltoall<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        self.run::<T>("alltoall", InterCall::alltoall(self, input, output), None)
    }

    /// Sends block `to[i]` of the input to rank `i` of the other group, and receives block
    /// `from[i]` of the output from it. (`MPI_Alltoallv`)
    ///
    /// # Errors
    /// Lists that are not one block for each rank of the other group; blocks that the buffers do
    /// not hold; received blocks that overlap; a rank that has died or left.
    #[track_caller]
    pub fn alltoallv<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[Block],
        from: &[Block],
    ) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        self.run::<T>("alltoallv", InterCall::alltoallv(self, input, output, to, from), None)
    }

    /// Combines the inputs of the other group, element by element and in rank order, at the root.
    /// Only the root has an output, and only the other group has inputs: the rest may be empty.
    /// (`MPI_Reduce`)
    ///
    /// # Errors
    /// A root that is not in the remote group; buffers of different lengths; a rank that has died
    /// or left.
    #[track_caller]
    pub fn reduce<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
        root: Root,
    ) -> Result<()> {
        let commutative = operator.is_commutative();
        let crossing = self.crossing_reduce(borrowed(send, receive), root, commutative);
        self.run::<T>("reduce", crossing, Some(kernel(operator)))
    }

    /// Combines the inputs of each group, element by element and in rank order; all ranks of the
    /// other group get the result, the same to the last bit. (`MPI_Allreduce`)
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
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        let crossing = InterCall::allreduce(self, input, output, operator.is_commutative());
        self.run::<T>("allreduce", crossing, Some(kernel(operator)))
    }

    /// Combines the inputs of each group as [`allreduce`](Intercommunicator::allreduce) does, and
    /// deals the result out to the other group in blocks of one length. All inputs have one length,
    /// which both groups share out in full. (`MPI_Reduce_scatter_block`)
    ///
    /// # Errors
    /// An input that is not one output of each rank of the own group, or that cannot be shared out
    /// among the other one; a rank that has died or left.
    #[track_caller]
    pub fn reduce_scatter_block<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        let commutative = operator.is_commutative();
        let crossing = InterCall::reduce_scatter_block(self, input, output, commutative);
        self.run::<T>("reduce_scatter_block", crossing, Some(kernel(operator)))
    }

    /// As [`reduce_scatter_block`](Intercommunicator::reduce_scatter_block): rank `i` of the own
    /// group gets a block of length `counts[i]`. The counts of both groups come to the same sum,
    /// the length of all inputs. (`MPI_Reduce_scatter`)
    ///
    /// # Errors
    /// Counts that are not one for each rank of the own group; buffers of other lengths than they
    /// say; a rank that has died or left.
    #[track_caller]
    pub fn reduce_scatter<T: Element>(
        &self,
        send: &[T],
        receive: &mut [T],
        counts: &[usize],
        operator: impl Operator<T>,
    ) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        let commutative = operator.is_commutative();
        let crossing = InterCall::reduce_scatter(self, input, output, counts, commutative);
        self.run::<T>("reduce_scatter", crossing, Some(kernel(operator)))
    }
}
