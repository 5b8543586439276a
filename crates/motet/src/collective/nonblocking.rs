//! The nonblocking forms. A communicator takes buffers that are owned, a scope those that are
//! borrowed for longer than the scope; the two differ in nothing else, so they are written once.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

/// The nonblocking collectives, for buffers that live at least for `$life`.
macro_rules! nonblocking_collectives {
    ($life:lifetime) => {
        /// Nonblocking [`barrier`](crate::Communicator::barrier). (`MPI_Ibarrier`)
        ///
        /// # Errors
        /// None today.
        #[track_caller]
        pub fn ibarrier(&self) -> Result<Request<()>> {
            self.post((), |_| Ok(Prepared::new::<u8>("ibarrier", Shape::barrier(), None)))
        }

        /// Nonblocking [`bcast`](crate::Communicator::bcast). (`MPI_Ibcast`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ibcast<B>(&self, buffer: B, root: usize) -> Result<Request<B>>
        where
            B: RecvBuffer + $life,
        {
            self.post(buffer, |parts| {
                let shape = Shape::bcast(self.communicator(), <B as SendBuffer>::span(parts), root);
                self.prepare::<<B as Buffers>::Element>("ibcast", shape, None)
            })
        }

        /// Nonblocking [`reduce`](crate::Communicator::reduce). (`MPI_Ireduce`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ireduce<B, O>(&self, buffers: B, operator: O, root: usize) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (comm, commutative) = (self.communicator(), operator.is_commutative());
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::reduce(comm, input, output, root, commutative);
                self.prepare::<B::Element>("ireduce", shape, Some(kernel(operator)))
            })
        }

        /// Nonblocking [`allreduce`](crate::Communicator::allreduce). (`MPI_Iallreduce`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iallreduce<B, O>(&self, buffers: B, operator: O) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::allreduce(input, output, operator.is_commutative());
                self.prepare::<B::Element>("iallreduce", shape, Some(kernel(operator)))
            })
        }

        /// Nonblocking [`allgather`](crate::Communicator::allgather). (`MPI_Iallgather`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iallgather<B>(&self, buffers: B) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::allgather(self.communicator(), input, output);
                self.prepare::<B::Element>("iallgather", shape, None)
            })
        }

        /// Nonblocking [`allgatherv`](crate::Communicator::allgatherv). (`MPI_Iallgatherv`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iallgatherv<B>(&self, buffers: B, blocks: &[Block]) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::allgatherv(self.communicator(), input, output, blocks);
                self.prepare::<B::Element>("iallgatherv", shape, None)
            })
        }

        /// Nonblocking [`gather`](crate::Communicator::gather). (`MPI_Igather`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn igather<B>(&self, buffers: B, root: usize) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::gather(self.communicator(), input, output, root);
                self.prepare::<B::Element>("igather", shape, None)
            })
        }

        /// Nonblocking [`gatherv`](crate::Communicator::gatherv). (`MPI_Igatherv`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn igatherv<B>(&self, buffers: B, blocks: &[Block], root: usize) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::gatherv(self.communicator(), input, output, blocks, root);
                self.prepare::<B::Element>("igatherv", shape, None)
            })
        }

        /// Nonblocking [`scatter`](crate::Communicator::scatter). (`MPI_Iscatter`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iscatter<B>(&self, buffers: B, root: usize) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::scatter(self.communicator(), input, output, root);
                self.prepare::<B::Element>("iscatter", shape, None)
            })
        }

        /// Nonblocking [`scatterv`](crate::Communicator::scatterv). (`MPI_Iscatterv`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iscatterv<B>(&self, buffers: B, blocks: &[Block], root: usize) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::scatterv(self.communicator(), input, output, blocks, root);
                self.prepare::<B::Element>("iscatterv", shape, None)
            })
        }

        /// Nonblocking [`alltoall`](crate::Communicator::alltoall). (`MPI_Ialltoall`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ialltoall<B>(&self, buffers: B) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::alltoall(self.communicator(), input, output);
                self.prepare::<B::Element>("ialltoall", shape, None)
            })
        }

        /// Nonblocking [`alltoallv`](crate::Communicator::alltoallv). (`MPI_Ialltoallv`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ialltoallv<B>(&self, buffers: B, to: &[Block], from: &[Block]) -> Result<Request<B>>
        where
            B: Buffers + $life,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = Shape::alltoallv(self.communicator(), input, output, to, from);
                self.prepare::<B::Element>("ialltoallv", shape, None)
            })
        }

        /// Nonblocking [`reduce_scatter_block`](crate::Communicator::reduce_scatter_block).
        /// (`MPI_Ireduce_scatter_block`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ireduce_scatter_block<B, O>(&self, buffers: B, operator: O) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape =
                    Shape::reduce_scatter_block(self.communicator(), input, output, commutative);
                self.prepare::<B::Element>("ireduce_scatter_block", shape, Some(kernel(operator)))
            })
        }

        /// Nonblocking [`reduce_scatter`](crate::Communicator::reduce_scatter).
        /// (`MPI_Ireduce_scatter`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn ireduce_scatter<B, O>(
            &self,
            buffers: B,
            counts: &[usize],
            operator: O,
        ) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape =
                    Shape::reduce_scatter(self.communicator(), input, output, counts, commutative);
                self.prepare::<B::Element>("ireduce_scatter", shape, Some(kernel(operator)))
            })
        }

        /// Nonblocking [`scan`](crate::Communicator::scan). (`MPI_Iscan`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iscan<B, O>(&self, buffers: B, operator: O) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = Shape::scan(input, output, commutative, Including::This);
                self.prepare::<B::Element>("iscan", shape, Some(kernel(operator)))
            })
        }

        /// Nonblocking [`exscan`](crate::Communicator::exscan). (`MPI_Iexscan`)
        ///
        /// # Errors
        /// Arguments that the blocking form refuses.
        #[track_caller]
        pub fn iexscan<B, O>(&self, buffers: B, operator: O) -> Result<Request<B>>
        where
            B: Buffers + $life,
            O: Operator<B::Element>,
        {
            self.post(buffers, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = Shape::scan(input, output, commutative, Including::Before);
                self.prepare::<B::Element>("iexscan", shape, Some(kernel(operator)))
            })
        }
    };
}

pub(crate) use nonblocking_collectives;

use motet_plan::Block;

use super::shape::Including;
use super::{Prepared, Shape};
use crate::Element;
use crate::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::communicator::Communicator;
use crate::error::{ErrorKind, Result};
use crate::kernel::{Kernel, kernel};
use crate::op::Operator;
use crate::request::Request;

impl Communicator {
    #[track_caller]
    pub(crate) fn post<B: Buffers + 'static>(
        &self,
        buffers: B,
        prepare: impl FnOnce(&B::Parts) -> Result<Prepared>,
    ) -> Result<Request<B>> {
        // SAFETY: nothing is borrowed.
        unsafe { self.nonblocking(buffers, prepare) }
    }

    pub(super) fn communicator(&self) -> &Communicator {
        self
    }

    pub(crate) fn prepare<T: Element>(
        &self,
        call: &'static str,
        shape: Result<Shape, ErrorKind>,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<Prepared> {
        let shape = shape.map_err(|kind| self.error(call, kind))?;
        Ok(Prepared::new::<T>(call, shape, kernel))
    }

    nonblocking_collectives!('static);
}
