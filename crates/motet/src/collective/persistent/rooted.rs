//! Persistent collectives with a root.

/// Makes the persistent collectives with a root, which is the argument `$root`, or `self`.
macro_rules! persistent_with_root {
    ($among:literal $(, $root:ident)?) => {
        /// Persistent [`bcast`](crate::Communicator::bcast). (`MPI_Bcast_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn bcast_init<B>(
            &self,
            buffer: B,
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: RecvBuffer + 'static,
        {
            self.communicator().persistent_with(buffer, info, |parts| {
                let root = self.root_of($($root)?);
                self.prepare_among::<<B as Buffers>::Element>("bcast_init", None, |among| {
                    CollectiveArgs::bcast(among, <B as SendBuffer>::span(parts), root)
                })
            })
        }

        /// Persistent [`reduce`](crate::Communicator::reduce). (`MPI_Reduce_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn reduce_init<B, O>(
            &self,
            buffers: B,
            operator: O,
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
            O: Operator<B::Element>,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let root = self.root_of($($root)?);
                let commutative = operator.is_commutative();
                self.prepare_among::<B::Element>("reduce_init", Some(kernel(operator)), |among| {
                    CollectiveArgs::reduce(among, input, output, root, commutative)
                })
            })
        }

        /// Persistent [`gather`](crate::Communicator::gather). (`MPI_Gather_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn gather_init<B>(
            &self,
            buffers: B,
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let root = self.root_of($($root)?);
                self.prepare_among::<B::Element>("gather_init", None, |among| {
                    CollectiveArgs::gather(among, input, output, root)
                })
            })
        }

        /// Persistent [`gatherv`](crate::Communicator::gatherv). (`MPI_Gatherv_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn gatherv_init<B>(
            &self,
            buffers: B,
            blocks: &[Block],
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let root = self.root_of($($root)?);
                self.prepare_among::<B::Element>("gatherv_init", None, |among| {
                    CollectiveArgs::gatherv(among, input, output, blocks, root)
                })
            })
        }

        /// Persistent [`scatter`](crate::Communicator::scatter). (`MPI_Scatter_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn scatter_init<B>(
            &self,
            buffers: B,
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let root = self.root_of($($root)?);
                self.prepare_among::<B::Element>("scatter_init", None, |among| {
                    CollectiveArgs::scatter(among, input, output, root)
                })
            })
        }

        /// Persistent [`scatterv`](crate::Communicator::scatterv). (`MPI_Scatterv_init`)
        ///
        #[doc = $among]
        ///
        /// # Errors
        /// The blocking form would refuse the arguments.
        #[track_caller]
        pub fn scatterv_init<B>(
            &self,
            buffers: B,
            blocks: &[Block],
            $($root: usize,)?
            info: &Info,
        ) -> Result<Persistent<B>>
        where
            B: Buffers + 'static,
        {
            self.communicator().persistent_with(buffers, info, |parts| {
                let (input, output) = (B::input(parts), B::output(parts));
                let root = self.root_of($($root)?);
                self.prepare_among::<B::Element>("scatterv_init", None, |among| {
                    CollectiveArgs::scatterv(among, input, output, blocks, root)
                })
            })
        }
    };
}

pub(in super::super) use persistent_with_root;
