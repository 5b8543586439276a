//! Collectives between the two groups of an intercommunicator, in three forms. (MPI 4.1 §6.2.2,
//! §6.12, §6.13)
//!
//! The data of one group goes to the other group. No buffers are in place: a rank never receives
//! its own data. In rooted collectives each rank passes a [`Root`]: `Root::ThisRank` at the root,
//! `Root::Rank(root)` in the other group, and `Root::ProcNull` at the other ranks of the root's
//! group, whose buffers are ignored and which do not wait. Scans and sparse exchanges do not exist
//! here.

mod blocking;

use std::panic::Location;

use motet_plan::Block;

use super::Intercommunicator;
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::info::Info;
use crate::collective::untyped::Root;
use crate::collective::{InterBuffers, InterCall, PreparedCall, RootRole};
use crate::comm::persistent::Persistent;
use crate::comm::request::Request;
use crate::data::buffer::{Buffers, RawSlice, RecvBuffer, SendBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;

type Crossed = Result<InterCall, ErrorKind>;

/// Makes the buffers of a call from an input and an output with elements of type `T`.
fn sides<T: Element>(input: RawSlice, output: RawSlice) -> InterBuffers {
    InterBuffers { input, output, element_bytes: size_of::<T>() }
}

/// Makes the buffers of a call from buffers that an operation holds.
fn sides_of<B: Buffers>(parts: &B::Parts) -> InterBuffers {
    sides::<B::Element>(B::input(parts).unwrap_or(RawSlice::EMPTY), B::output(parts))
}

impl Intercommunicator {
    fn prepare<T: Element>(
        &self,
        call: &'static str,
        crossing: Crossed,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<PreparedCall> {
        let InterCall { shape, among } = crossing.map_err(|kind| self.union.error(call, kind))?;
        Ok(PreparedCall { among, ..PreparedCall::new::<T>(call, shape, kernel) })
    }

    #[track_caller]
    fn run<T: Element>(
        &self,
        call: &'static str,
        crossing: Crossed,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<()> {
        let at = Location::caller();
        let prepared = self.prepare::<T>(call, crossing, kernel);
        self.union.blocking(prepared.map_err(|error| self.union.refused(error, at))?)
    }

    /// Nonblocking [`barrier`](Intercommunicator::barrier). (`MPI_Ibarrier`)
    ///
    /// # Errors
    /// The errors that any call may return: see [`Error`](crate::Error).
    #[track_caller]
    pub fn ibarrier(&self) -> Result<Request<()>> {
        self.union.post((), |()| self.prepare::<u8>("ibarrier", Ok(InterCall::barrier(self)), None))
    }

    /// Persistent [`barrier`](Intercommunicator::barrier). (`MPI_Barrier_init`)
    ///
    /// # Errors
    /// The errors that any call may return: see [`Error`](crate::Error).
    #[track_caller]
    pub fn barrier_init(&self, info: &Info) -> Result<Persistent<()>> {
        let crossing = Ok(InterCall::barrier(self));
        self.union
            .persistent_with((), info, |()| self.prepare::<u8>("barrier_init", crossing, None))
    }

    /// Nonblocking [`bcast`](Intercommunicator::bcast). (`MPI_Ibcast`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn ibcast<B: RecvBuffer + 'static>(&self, buffer: B, root: Root) -> Result<Request<B>> {
        self.union.post(buffer, |parts| {
            let crossing = self.crossing_bcast(<B as SendBuffer>::span(parts), root);
            self.prepare::<<B as Buffers>::Element>("ibcast", crossing, None)
        })
    }

    /// Persistent [`bcast`](Intercommunicator::bcast). (`MPI_Bcast_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn bcast_init<B: RecvBuffer + 'static>(
        &self,
        buffer: B,
        root: Root,
        info: &Info,
    ) -> Result<Persistent<B>> {
        self.union.persistent_with(buffer, info, |parts| {
            let crossing = self.crossing_bcast(<B as SendBuffer>::span(parts), root);
            self.prepare::<<B as Buffers>::Element>("bcast_init", crossing, None)
        })
    }
}

/// Preparation of the rooted calls.
impl Intercommunicator {
    fn crossing_bcast(&self, data: RawSlice, root: Root) -> Crossed {
        InterCall::bcast(self, RootRole::of(self, root)?, data)
    }

    fn crossing_gather(&self, sides: InterBuffers, root: Root) -> Crossed {
        InterCall::gather(self, RootRole::of(self, root)?, sides)
    }

    fn crossing_gatherv(&self, sides: InterBuffers, blocks: &[Block], root: Root) -> Crossed {
        InterCall::gatherv(self, RootRole::of(self, root)?, sides, blocks)
    }

    fn crossing_scatter(&self, sides: InterBuffers, root: Root) -> Crossed {
        InterCall::scatter(self, RootRole::of(self, root)?, sides)
    }

    fn crossing_scatterv(&self, sides: InterBuffers, blocks: &[Block], root: Root) -> Crossed {
        InterCall::scatterv(self, RootRole::of(self, root)?, sides, blocks)
    }

    fn crossing_reduce(&self, sides: InterBuffers, root: Root, commutative: bool) -> Crossed {
        InterCall::reduce(self, RootRole::of(self, root)?, sides, commutative)
    }
}

/// Makes the nonblocking and the persistent form of calls that move data. A row has the names of
/// the three forms, the MPI names, the arguments between the buffers and the info, and the function
/// that prepares the call.
macro_rules! moving {
    ($(
        $blocking:ident
        $nonblocking:ident ($i_standard:literal) $init:ident ($init_standard:literal)
        ($($argument:ident: $type:ty),*) $crossing:expr;
    )*) => {
        impl Intercommunicator {$(
            #[doc = concat!(
                "Nonblocking [`", stringify!($blocking), "`](Intercommunicator::",
                stringify!($blocking), "). (`", $i_standard, "`)"
            )]
            ///
            /// # Errors
            /// The blocking form would refuse the arguments.
            #[track_caller]
            pub fn $nonblocking<S, R>(
                &self,
                buffers: (S, R),
                $($argument: $type),*
            ) -> Result<Request<(S, R)>>
            where
                S: SendBuffer<Element = R::Element> + 'static,
                R: RecvBuffer + 'static,
            {
                self.union.post(buffers, |parts| {
                    let crossing: Crossed = $crossing(self, sides_of::<(S, R)>(parts));
                    let call = stringify!($nonblocking);
                    self.prepare::<<R as SendBuffer>::Element>(call, crossing, None)
                })
            }

            #[doc = concat!(
                "Persistent [`", stringify!($blocking), "`](Intercommunicator::",
                stringify!($blocking), "). (`", $init_standard, "`)"
            )]
            ///
            /// # Errors
            /// The blocking form would refuse the arguments.
            #[track_caller]
            pub fn $init<S, R>(
                &self,
                buffers: (S, R),
                $($argument: $type,)*
                info: &Info,
            ) -> Result<Persistent<(S, R)>>
            where
                S: SendBuffer<Element = R::Element> + 'static,
                R: RecvBuffer + 'static,
            {
                self.union.persistent_with(buffers, info, |parts| {
                    let crossing: Crossed = $crossing(self, sides_of::<(S, R)>(parts));
                    let call = stringify!($init);
                    self.prepare::<<R as SendBuffer>::Element>(call, crossing, None)
                })
            }
        )*}
    };
}

moving! {
    gather igather ("MPI_Igather") gather_init ("MPI_Gather_init") (root: Root)
        |inter: &Intercommunicator, sides| inter.crossing_gather(sides, root);
    gatherv igatherv ("MPI_Igatherv") gatherv_init ("MPI_Gatherv_init")
        (blocks: &[Block], root: Root)
        |inter: &Intercommunicator, sides| inter.crossing_gatherv(sides, blocks, root);
    scatter iscatter ("MPI_Iscatter") scatter_init ("MPI_Scatter_init") (root: Root)
        |inter: &Intercommunicator, sides| inter.crossing_scatter(sides, root);
    scatterv iscatterv ("MPI_Iscatterv") scatterv_init ("MPI_Scatterv_init")
        (blocks: &[Block], root: Root)
        |inter: &Intercommunicator, sides| inter.crossing_scatterv(sides, blocks, root);
    allgather iallgather ("MPI_Iallgather") allgather_init ("MPI_Allgather_init") ()
        |inter, sides: InterBuffers| InterCall::allgather(inter, sides.input, sides.output);
    allgatherv iallgatherv ("MPI_Iallgatherv") allgatherv_init ("MPI_Allgatherv_init")
        (from: &[Block])
        |inter, sides: InterBuffers| InterCall::allgatherv(inter, sides.input, sides.output, from);
    alltoall ialltoall ("MPI_Ialltoall") alltoall_init ("MPI_Alltoall_init") ()
        |inter, sides: InterBuffers| InterCall::alltoall(inter, sides.input, sides.output);
    alltoallv ialltoallv ("MPI_Ialltoallv") alltoallv_init ("MPI_Alltoallv_init")
        (to: &[Block], from: &[Block])
        |inter, ends: InterBuffers| InterCall::alltoallv(inter, ends.input, ends.output, to, from);
}

/// Does the same as `moving`, for reductions; the last argument of the preparing function tells
/// whether the operator commutes.
macro_rules! reducing {
    ($(
        $blocking:ident
        $nonblocking:ident ($i_standard:literal) $init:ident ($init_standard:literal)
        ($($before:ident: $before_type:ty),*) operator ($($after:ident: $after_type:ty),*)
        $crossing:expr;
    )*) => {
        impl Intercommunicator {$(
            #[doc = concat!(
                "Nonblocking [`", stringify!($blocking), "`](Intercommunicator::",
                stringify!($blocking), "). (`", $i_standard, "`)"
            )]
            ///
            /// # Errors
            /// The blocking form would refuse the arguments.
            #[track_caller]
            pub fn $nonblocking<S, R, O>(
                &self,
                buffers: (S, R),
                $($before: $before_type,)*
                operator: O,
                $($after: $after_type),*
            ) -> Result<Request<(S, R)>>
            where
                S: SendBuffer<Element = R::Element> + 'static,
                R: RecvBuffer + 'static,
                O: Operator<<R as SendBuffer>::Element>,
            {
                self.union.post(buffers, |parts| {
                    let (sides, commutes) = (sides_of::<(S, R)>(parts), operator.is_commutative());
                    let crossing: Crossed = $crossing(self, sides, commutes);
                    let (call, kernel) = (stringify!($nonblocking), Some(kernel(operator)));
                    self.prepare::<<R as SendBuffer>::Element>(call, crossing, kernel)
                })
            }

            #[doc = concat!(
                "Persistent [`", stringify!($blocking), "`](Intercommunicator::",
                stringify!($blocking), "). (`", $init_standard, "`)"
            )]
            ///
            /// # Errors
            /// The blocking form would refuse the arguments.
            #[track_caller]
            pub fn $init<S, R, O>(
                &self,
                buffers: (S, R),
                $($before: $before_type,)*
                operator: O,
                $($after: $after_type,)*
                info: &Info,
            ) -> Result<Persistent<(S, R)>>
            where
                S: SendBuffer<Element = R::Element> + 'static,
                R: RecvBuffer + 'static,
                O: Operator<<R as SendBuffer>::Element>,
            {
                self.union.persistent_with(buffers, info, |parts| {
                    let (sides, commutes) = (sides_of::<(S, R)>(parts), operator.is_commutative());
                    let crossing: Crossed = $crossing(self, sides, commutes);
                    let (call, kernel) = (stringify!($init), Some(kernel(operator)));
                    self.prepare::<<R as SendBuffer>::Element>(call, crossing, kernel)
                })
            }
        )*}
    };
}

reducing! {
    reduce ireduce ("MPI_Ireduce") reduce_init ("MPI_Reduce_init") () operator (root: Root)
        |inter: &Intercommunicator, sides, commutes| inter.crossing_reduce(sides, root, commutes);
    allreduce iallreduce ("MPI_Iallreduce") allreduce_init ("MPI_Allreduce_init") () operator ()
        |inter, sides: InterBuffers, commutes| {
            InterCall::allreduce(inter, sides.input, sides.output, commutes)
        };
    reduce_scatter_block ireduce_scatter_block ("MPI_Ireduce_scatter_block")
        reduce_scatter_block_init ("MPI_Reduce_scatter_block_init") () operator ()
        |inter, sides: InterBuffers, commutes| {
            InterCall::reduce_scatter_block(inter, sides.input, sides.output, commutes)
        };
    reduce_scatter ireduce_scatter ("MPI_Ireduce_scatter")
        reduce_scatter_init ("MPI_Reduce_scatter_init") (counts: &[usize]) operator ()
        |inter, sides: InterBuffers, commutes| {
            InterCall::reduce_scatter(inter, sides.input, sides.output, counts, commutes)
        };
}
