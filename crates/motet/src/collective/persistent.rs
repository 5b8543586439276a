//! Persistent collectives: the `*_init` methods.
//!
//! An init is local: it does not communicate. All ranks make their inits on one communicator in the
//! same order; they may start the operations in any order. For a reduction, the hint
//! [`DETERMINISTIC`](crate::hint::DETERMINISTIC) has an effect; all ranks must give the same value.
//!
//! One macro makes each method twice: for all ranks of a communicator, and for the members of a
//! group in it (see `members`). The root of a rooted collective is an argument of the first method,
//! and the `Member` itself for the second one.

mod rooted;

/// Makes the persistent collectives without a root, among the ranks that `$among` describes.
macro_rules! persistent_collectives {
    ($among:literal) => {
        /// Persistent [`barrier`](crate::Communicator::barrier). (`MPI_Barrier_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The errors that any call may return: see [`Error`](crate::Error).
        #[track_caller]
        pub fn barrier_init(&self, info: &Info) -> Result<Persistent<()>> {
            self.communicator().persistent_with((), info, |()| {
                self.prepare_among::<u8>("barrier_init", None, |_| Ok(CollectiveArgs::barrier()))
            })
        }

        /// Persistent [`allreduce`](crate::Communicator::allreduce). (`MPI_Allreduce_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
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
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>("allreduce_init", Some(kernel(operator)), |_| {
                    CollectiveArgs::allreduce(input, output, commutative)
                })
            })
        }

        /// Persistent [`allgather`](crate::Communicator::allgather). (`MPI_Allgather_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn allgather_init<B>(&self, buffers: B, info: &Info) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                self.prepare_among::<B::Element>("allgather_init", None, |among| {
                    CollectiveArgs::allgather(among, B::input(parts), B::output(parts))
                })
            })
        }

        /// Persistent [`allgatherv`](crate::Communicator::allgatherv). (`MPI_Allgatherv_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
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
            self.communicator().persistent_with(buffers, info, |parts| {
                self.prepare_among::<B::Element>("allgatherv_init", None, |among| {
                    CollectiveArgs::allgatherv(among, B::input(parts), B::output(parts), blocks)
                })
            })
        }

        /// Persistent [`alltoall`](crate::Communicator::alltoall). (`MPI_Alltoall_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn alltoall_init<B>(&self, buffers: B, info: &Info) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                self.prepare_among::<B::Element>("alltoall_init", None, |among| {
                    CollectiveArgs::alltoall(among, input, output)
                })
            })
        }

        /// Persistent [`alltoallv`](crate::Communicator::alltoallv). (`MPI_Alltoallv_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
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
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                self.prepare_among::<B::Element>("alltoallv_init", None, |among| {
                    CollectiveArgs::alltoallv(among, input, output, to, from)
                })
            })
        }

        /// Persistent [`alltoallw`](crate::Communicator::alltoallw); with one buffer in place, `to`
        /// is ignored. (`MPI_Alltoallw_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments; or buffers of
        /// [`Items`](crate::buffer::Items).
        #[track_caller]
        pub fn alltoallw_init<B>(
            &self,
            buffers: B,
            to: &[crate::TypedBlock],
            from: &[crate::TypedBlock],
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers<Element: crate::AnyBytes> + 'static,
        {
            let all = TypedBlocks { on: self.communicator().into(), whom: self.whom(), to, from };
            self.communicator().persistent_with(buffers, info, |parts| {
                all.prepare_for::<B>("alltoallw_init", parts)
            })
        }

        /// Persistent [`reduce_scatter_block`](crate::Communicator::reduce_scatter_block).
        /// (`MPI_Reduce_scatter_block_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
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
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>(
                    "reduce_scatter_block_init",
                    Some(kernel(operator)),
                    |among| CollectiveArgs::reduce_scatter_block(among, input, output, commutative),
                )
            })
        }

        /// Persistent [`reduce_scatter`](crate::Communicator::reduce_scatter).
        /// (`MPI_Reduce_scatter_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
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
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>(
                    "reduce_scatter_init",
                    Some(kernel(operator)),
                    |among| {
                        CollectiveArgs::reduce_scatter(among, input, output, counts, commutative)
                    },
                )
            })
        }

        /// Persistent [`scan`](crate::Communicator::scan). (`MPI_Scan_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn scan_init<B, O>(&self, buffers: B, operator: O, info: &Info) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
            O: Operator<B::Element>,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>("scan_init", Some(kernel(operator)), |_| {
                    CollectiveArgs::scan(input, output, commutative, ScanKind::This)
                })
            })
        }

        /// Persistent [`exscan`](crate::Communicator::exscan). (`MPI_Exscan_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn exscan_init<B, O>(
            &self,
            buffers: B,
            operator: O,
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
            O: Operator<B::Element>,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>("exscan_init", Some(kernel(operator)), |_| {
                    CollectiveArgs::scan(input, output, commutative, ScanKind::Before)
                })
            })
        }
    };
}

pub(super) use persistent_collectives;
pub(super) use rooted::persistent_with_root;

use motet_plan::Block;

use super::args::ScanKind;
use super::w::Peers;
use super::{CollectiveArgs, PreparedCall, TypedBlocks};
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;

/// The persistent collectives among all ranks; the root is an argument.
impl Communicator {
    fn prepare_among<T: Element>(
        &self,
        call: &'static str,
        kernel: Option<Box<dyn Kernel>>,
        shape: impl FnOnce(&Communicator) -> Result<CollectiveArgs, ErrorKind>,
    ) -> Result<PreparedCall> {
        self.prepare::<T>(call, shape(self), kernel)
    }

    fn communicator(&self) -> &Communicator {
        self
    }

    fn root_of(&self, root: usize) -> usize {
        root
    }

    fn whom(&self) -> Peers<'_> {
        Peers::Ranks
    }

    persistent_collectives!("Among all ranks.");
    persistent_with_root!("Among all ranks.", root);
}
