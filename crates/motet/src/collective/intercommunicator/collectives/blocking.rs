//! Blocking collectives of an intercommunicator.

use motet_plan::Block;

use super::{Intercommunicator, sides};
use crate::Element;
use crate::base::error::Result;
use crate::collective::untyped::Root;
use crate::collective::{InterBuffers, InterCall, input, output};
use crate::data::buffer::RawSlice;
use crate::data::kernel::kernel;
use crate::data::op::Operator;

/// Returns the addresses of borrowed buffers; the caller's borrow outlives the call.
fn borrowed<T: Element>(send: &[T], receive: &mut [T]) -> InterBuffers {
    sides::<T>(input(send).unwrap_or(RawSlice::EMPTY), output(receive))
}

/// Collectives between the two groups. The data of one group goes to the other group.
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
/// Calls that do not exist between two groups do not compile:
///
/// ```compile_fail,E0599
/// # fn of(across: &motet::Intercommunicator) {
/// across.scan(&[1], &mut [0], motet::Sum);
/// # }
/// ```
impl Intercommunicator {
    /// Waits until all ranks of the other group have called `barrier`. (`MPI_Barrier`)
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn barrier(&self) -> Result<()> {
        self.run::<u8>("barrier", Ok(InterCall::barrier(self)), None)
    }

    /// Copies the root's buffer to all ranks of the other group. (`MPI_Bcast`)
    ///
    /// # Errors
    /// The root is not in the remote group; the buffer is too short for the root's data; or a rank
    /// has died or left.
    #[track_caller]
    pub fn bcast<T: Element>(&self, buffer: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("bcast", self.crossing_bcast(output(buffer), root), None)
    }

    /// Concatenates the inputs of the other group, in rank order, in the root's output. Only the
    /// root has an output, and only the other group has inputs; other buffers may be empty.
    /// (`MPI_Gather`)
    ///
    /// # Errors
    /// The root is not in the remote group; the root's output does not hold one input of each rank
    /// of the other group; or a rank has died or left.
    #[track_caller]
    pub fn gather<T: Element>(&self, send: &[T], receive: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("gather", self.crossing_gather(borrowed(send, receive), root), None)
    }

    /// Does the same as [`gather`](Intercommunicator::gather), for inputs of any lengths: the input
    /// of rank `i` of the other group goes to `blocks[i]` of the root's output. Only the root needs
    /// the blocks. (`MPI_Gatherv`)
    ///
    /// # Errors
    /// The root is not in the remote group; the root's blocks overlap, lie outside its output, or
    /// are not one for each rank of the other group; or a rank has died or left.
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

    /// Distributes the root's input to the other group: each rank receives one block, in rank
    /// order, of the length of its output. Only the root has an input, and only the other group has
    /// outputs; other buffers may be empty. (`MPI_Scatter`)
    ///
    /// # Errors
    /// The root is not in the remote group; the root's input does not have one block for each rank
    /// of the other group; or a rank has died or left.
    #[track_caller]
    pub fn scatter<T: Element>(&self, send: &[T], receive: &mut [T], root: Root) -> Result<()> {
        self.run::<T>("scatter", self.crossing_scatter(borrowed(send, receive), root), None)
    }

    /// Does the same as [`scatter`](Intercommunicator::scatter) for blocks of any lengths: rank `i`
    /// of the other group receives `blocks[i]` of the root's input. Only the root needs the blocks.
    /// (`MPI_Scatterv`)
    ///
    /// # Errors
    /// The root is not in the remote group; the blocks lie outside the root's input, or are not one
    /// for each rank of the other group; or a rank has died or left.
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

    /// Concatenates the inputs of the other group, in rank order, in the output of every rank. The
    /// inputs of the two groups may differ in length; if those of one group are empty, data goes
    /// one way. (`MPI_Allgather`)
    ///
    /// # Errors
    /// The output does not hold one input of each rank of the other group; or a rank has died or
    /// left.
    #[track_caller]
    pub fn allgather<T: Element>(&self, send: &[T], receive: &mut [T]) -> Result<()> {
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        self.run::<T>("allgather", InterCall::allgather(self, input, output), None)
    }

    /// Does the same as [`allgather`](Intercommunicator::allgather) for inputs of any lengths: the
    /// input of rank `i` of the other group goes to `from[i]` of the output. (`MPI_Allgatherv`)
    ///
    /// # Errors
    /// Blocks overlap, lie outside the output, or are not one for each rank of the other group; or
    /// a rank has died or left.
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
    /// The buffers do not have one block for each rank of the other group; or a rank has died or
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
    /// The lists do not have one block for each rank of the other group; blocks lie outside the
    /// buffers; received blocks overlap; or a rank has died or left.
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

    /// Combines the inputs of the other group, element by element and in rank order, and writes the
    /// result to the root's output. Only the root has an output, and only the other group has
    /// inputs; other buffers may be empty. (`MPI_Reduce`)
    ///
    /// # Errors
    /// The root is not in the remote group; the buffers differ in length; or a rank has died or
    /// left.
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
    /// other group get the result, equal to the last bit. (`MPI_Allreduce`)
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
        let InterBuffers { input, output, .. } = borrowed(send, receive);
        let crossing = InterCall::allreduce(self, input, output, operator.is_commutative());
        self.run::<T>("allreduce", crossing, Some(kernel(operator)))
    }

    /// Combines the inputs of each group as [`allreduce`](Intercommunicator::allreduce) does, and
    /// distributes the result over the other group in blocks of one length. All inputs have one
    /// length, which is divisible by the size of each group. (`MPI_Reduce_scatter_block`)
    ///
    /// # Errors
    /// The input does not have one output of each rank of the local group, or its length is not
    /// divisible by the size of the other group; or a rank has died or left.
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

    /// Does the same as [`reduce_scatter_block`](Intercommunicator::reduce_scatter_block) for
    /// blocks of any lengths: rank `i` of the local group gets `counts[i]` elements. The counts of
    /// both groups have the same sum, the length of all inputs. (`MPI_Reduce_scatter`)
    ///
    /// # Errors
    /// The counts are not one for each rank of the local group, or do not fit the buffers; or a
    /// rank has died or left.
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
