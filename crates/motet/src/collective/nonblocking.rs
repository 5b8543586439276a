//! Nonblocking and two-phase collectives: the forms that complete after the call returns.
//!
//! A communicator takes buffers that the request owns; a scope takes buffers that are borrowed for
//! longer than the scope. A request may complete in any order; phases end in the reverse order of
//! their begins. The forms differ in nothing else, so one table lists the collectives, each in one
//! row.

#![allow(unsafe_code)] // listed in docs/unsafe.md

/// Makes the method of one form from a row of the table.
///
/// A row contains: the name of the collective, of its nonblocking form, of its `begin` phase, and
/// (if any) the MPI name; the lifetime of arguments that are borrowed for the call only (if any),
/// the type parameters, the arguments (buffers first), the type of the buffers, the bounds of the
/// types, and a function that prepares the call from the communicator, the name of the call and the
/// parts of the buffers. The type that gets the methods has a method `pend`, which starts a call.
macro_rules! collective {
    (request $(#[$doc:meta])* $name:ident $nonblocking:ident $begin:ident $($mpi:literal)?
        <$($borrow:lifetime,)? $($generic:ident),*>(
            $($buffers:ident: $given:ty $(, $argument:ident: $type:ty)*)?
        )
        -> $held:ty where [$($bounds:tt)*] $prepare:expr
    ) => {
        #[doc = concat!(
            "Nonblocking [`", stringify!($name), "`](crate::Communicator::", stringify!($name),
            ").",
            $(" (`", $mpi, "`)")?
        )]
        $(#[$doc])*
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn $nonblocking<$($borrow,)? $($generic),*>(
            &self,
            $($buffers: $given, $($argument: $type),*)?
        ) -> crate::Result<crate::Request<$held>>
        where
            $($bounds)*
        {
            self.pend(stringify!($nonblocking), ($($buffers)?), $prepare)
        }
    };
    (phase $(#[$doc:meta])* $name:ident $nonblocking:ident $begin:ident $($mpi:literal)?
        <$($borrow:lifetime,)? $($generic:ident),*>(
            $($buffers:ident: $given:ty $(, $argument:ident: $type:ty)*)?
        )
        -> $held:ty where [$($bounds:tt)*] $prepare:expr
    ) => {
        #[doc = concat!(
            "Begins [`", stringify!($name), "`](crate::Communicator::", stringify!($name),
            ") inside what is open.",
        )]
        $(#[$doc])*
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn $begin<$($borrow,)? $($generic),*>(
            &mut self,
            $($buffers: $given, $($argument: $type),*)?
        ) -> crate::Result<Phase<'_, 'buffers, $held>>
        where
            $($bounds)*
        {
            self.pend(stringify!($begin), ($($buffers)?), $prepare)
        }
    };
}

/// Makes the collectives as methods of form `$form`, for buffers that live at least for `$life`.
macro_rules! pending_collectives {
    ($form:ident $life:lifetime) => {
        collective! { $form
            barrier ibarrier barrier_begin "MPI_Ibarrier"
            <>() -> ()
            where []
            |_, call, ()| Ok(PreparedCall::new::<u8>(call, CollectiveArgs::barrier(), None))
        }

        collective! { $form
            bcast ibcast bcast_begin "MPI_Ibcast"
            <B>(buffer: B, root: usize) -> B
            where [B: RecvBuffer + $life]
            |on, call, parts| {
                let shape = CollectiveArgs::bcast(on, <B as SendBuffer>::span(parts), root);
                on.prepare::<<B as Buffers>::Element>(call, shape, None)
            }
        }

        collective! { $form
            reduce ireduce reduce_begin "MPI_Ireduce"
            <B, O>(buffers: B, operator: O, root: usize) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::reduce(on, input, output, root, commutative);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            allreduce iallreduce allreduce_begin "MPI_Iallreduce"
            <B, O>(buffers: B, operator: O) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::allreduce(input, output, commutative);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            allgather iallgather allgather_begin "MPI_Iallgather"
            <B>(buffers: B) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::allgather(on, input, output);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            allgatherv iallgatherv allgatherv_begin "MPI_Iallgatherv"
            <B>(buffers: B, blocks: &[Block]) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::allgatherv(on, input, output, blocks);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            gather igather gather_begin "MPI_Igather"
            <B>(buffers: B, root: usize) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::gather(on, input, output, root);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            gatherv igatherv gatherv_begin "MPI_Igatherv"
            <B>(buffers: B, blocks: &[Block], root: usize) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::gatherv(on, input, output, blocks, root);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            scatter iscatter scatter_begin "MPI_Iscatter"
            <B>(buffers: B, root: usize) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::scatter(on, input, output, root);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            scatterv iscatterv scatterv_begin "MPI_Iscatterv"
            <B>(buffers: B, blocks: &[Block], root: usize) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::scatterv(on, input, output, blocks, root);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            alltoall ialltoall alltoall_begin "MPI_Ialltoall"
            <B>(buffers: B) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::alltoall(on, input, output);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            alltoallv ialltoallv alltoallv_begin "MPI_Ialltoallv"
            <B>(buffers: B, to: &[Block], from: &[Block]) -> B
            where [B: Buffers + $life]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let shape = CollectiveArgs::alltoallv(on, input, output, to, from);
                on.prepare::<B::Element>(call, shape, None)
            }
        }

        collective! { $form
            /// With one buffer in place, `to` is ignored; buffers of
            /// [`Items`](crate::buffer::Items) are refused.
            alltoallw ialltoallw alltoallw_begin "MPI_Ialltoallw"
            <B>(buffers: B, to: &[TypedBlock], from: &[TypedBlock]) -> B
            where [B: Buffers<Element: AnyBytes> + $life]
            |on, call, parts| {
                let all = TypedBlocks { on: on.into(), whom: Peers::Ranks, to, from };
                all.prepare_for::<B>(call, parts)
            }
        }

        collective! { $form
            reduce_scatter_block ireduce_scatter_block reduce_scatter_block_begin
            "MPI_Ireduce_scatter_block"
            <B, O>(buffers: B, operator: O) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::reduce_scatter_block(on, input, output, commutative);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            reduce_scatter ireduce_scatter reduce_scatter_begin "MPI_Ireduce_scatter"
            <B, O>(buffers: B, counts: &[usize], operator: O) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::reduce_scatter(on, input, output, counts, commutative);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            scan iscan scan_begin "MPI_Iscan"
            <B, O>(buffers: B, operator: O) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::scan(input, output, commutative, ScanKind::This);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            exscan iexscan exscan_begin "MPI_Iexscan"
            <B, O>(buffers: B, operator: O) -> B
            where [B: Buffers + $life, O: Operator<B::Element>]
            |on, call, parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                let shape = CollectiveArgs::scan(input, output, commutative, ScanKind::Before);
                on.prepare::<B::Element>(call, shape, Some(kernel(operator)))
            }
        }

        collective! { $form
            neighbor_allgather ineighbor_allgather neighbor_allgather_begin
            "MPI_Ineighbor_allgather"
            <S, R>(buffers: (S, R)) -> (S, R)
            where [S: SendBuffer<Element = R::Element> + $life, R: RecvBuffer + $life]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = on.shape_allgather(input, output);
                on.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            }
        }

        collective! { $form
            neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_begin
            "MPI_Ineighbor_allgatherv"
            <S, R>(buffers: (S, R), from: &[Block]) -> (S, R)
            where [S: SendBuffer<Element = R::Element> + $life, R: RecvBuffer + $life]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = on.shape_allgatherv(input, output, from);
                on.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            }
        }

        collective! { $form
            neighbor_alltoall ineighbor_alltoall neighbor_alltoall_begin "MPI_Ineighbor_alltoall"
            <S, R>(buffers: (S, R)) -> (S, R)
            where [S: SendBuffer<Element = R::Element> + $life, R: RecvBuffer + $life]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = on.shape_alltoall(input, output);
                on.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            }
        }

        collective! { $form
            neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_begin
            "MPI_Ineighbor_alltoallv"
            <S, R>(buffers: (S, R), to: &[Block], from: &[Block]) -> (S, R)
            where [S: SendBuffer<Element = R::Element> + $life, R: RecvBuffer + $life]
            |on, call, parts| {
                let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
                let shape = on.shape_alltoallv(input, output, to, from);
                on.prepare::<<R as SendBuffer>::Element>(call, shape, None)
            }
        }

        collective! { $form
            /// Buffers of [`Items`](crate::buffer::Items) are refused.
            neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_begin
            "MPI_Ineighbor_alltoallw"
            <S, R>(buffers: (S, R), to: &[TypedBlock], from: &[TypedBlock]) -> (S, R)
            where [
                S: SendBuffer<Element = R::Element> + $life,
                R: RecvBuffer<Element: AnyBytes> + $life,
            ]
            |on, call, parts| {
                let all = TypedBlocks { on: on.into(), whom: Peers::Neighbours, to, from };
                all.prepare_for::<(S, R)>(call, parts)
            }
        }

        sparse_collectives!(pending_sparse($form $life));
    };
}

pub(crate) use {collective, pending_collectives};

use motet_plan::Block;

use super::args::ScanKind;
use super::{
    CollectiveArgs, Peers, PreparedCall, TypedBlock, TypedBlocks, pending_sparse,
    sparse_collectives,
};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::request::Request;
use crate::data::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;
use crate::types::element::{AnyBytes, Element};

impl Communicator {
    #[track_caller]
    pub(crate) fn post<B: Buffers + 'static>(
        &self,
        buffers: B,
        prepare: impl FnOnce(&B::Parts) -> Result<PreparedCall>,
    ) -> Result<Request<B>> {
        // SAFETY: nothing is borrowed.
        unsafe { self.nonblocking(buffers, prepare) }
    }

    #[track_caller]
    fn pend<B: Buffers + 'static>(
        &self,
        call: &'static str,
        buffers: B,
        prepare: impl FnOnce(&Communicator, &'static str, &B::Parts) -> Result<PreparedCall>,
    ) -> Result<Request<B>> {
        self.post(buffers, |parts| prepare(self, call, parts))
    }

    pub(crate) fn prepare<T: Element>(
        &self,
        call: &'static str,
        shape: Result<CollectiveArgs, ErrorKind>,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<PreparedCall> {
        let shape = shape.map_err(|kind| self.error(call, kind))?;
        Ok(PreparedCall::new::<T>(call, shape, kernel))
    }

    /// Does the same as [`Communicator::prepare`], for a collective that is part of another call.
    pub(crate) fn prepare_own<T: Element>(
        &self,
        call: &'static str,
        shape: Result<CollectiveArgs, ErrorKind>,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Result<PreparedCall> {
        self.prepare::<T>(call, shape, kernel).map(PreparedCall::of_library)
    }

    // The compiler shows this line where a buffer is borrowed for too short a time.
    pending_collectives!(request 'static); // borrowed buffers: `world.scope(|scope| ..)`
}
