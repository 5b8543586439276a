//! The kinds of collectives, and the name of each in every form.

/// The forms of a collective call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Nonblocking,
    Persistent,
    Begin,
    End,
}

/// Passes the rows of all collectives to a macro: each with the names of its blocking, nonblocking
/// and persistent form.
macro_rules! collective_kinds {
    ($take:ident) => {
        $take! {
            Barrier = "barrier" "ibarrier" "barrier_init";
            Bcast = "bcast" "ibcast" "bcast_init";
            Gather = "gather" "igather" "gather_init";
            Gatherv = "gatherv" "igatherv" "gatherv_init";
            Scatter = "scatter" "iscatter" "scatter_init";
            Scatterv = "scatterv" "iscatterv" "scatterv_init";
            Allgather = "allgather" "iallgather" "allgather_init";
            Allgatherv = "allgatherv" "iallgatherv" "allgatherv_init";
            Alltoall = "alltoall" "ialltoall" "alltoall_init";
            Alltoallv = "alltoallv" "ialltoallv" "alltoallv_init";
            Alltoallw = "alltoallw" "ialltoallw" "alltoallw_init";
            Reduce = "reduce" "ireduce" "reduce_init";
            Allreduce = "allreduce" "iallreduce" "allreduce_init";
            ReduceScatterBlock =
                "reduce_scatter_block" "ireduce_scatter_block" "reduce_scatter_block_init";
            ReduceScatter = "reduce_scatter" "ireduce_scatter" "reduce_scatter_init";
            Scan = "scan" "iscan" "scan_init";
            Exscan = "exscan" "iexscan" "exscan_init";
            NeighborAllgather =
                "neighbor_allgather" "ineighbor_allgather" "neighbor_allgather_init";
            NeighborAllgatherv =
                "neighbor_allgatherv" "ineighbor_allgatherv" "neighbor_allgatherv_init";
            NeighborAlltoall = "neighbor_alltoall" "ineighbor_alltoall" "neighbor_alltoall_init";
            NeighborAlltoallv =
                "neighbor_alltoallv" "ineighbor_alltoallv" "neighbor_alltoallv_init";
            NeighborAlltoallw =
                "neighbor_alltoallw" "ineighbor_alltoallw" "neighbor_alltoallw_init";
            Exchange = "exchange" "iexchange" "exchange_init";
            Exchangev = "exchangev" "iexchangev" "exchangev_init";
            Exchangew = "exchangew" "iexchangew" "exchangew_init";
            NeighborBcast = "neighbor_bcast" "ineighbor_bcast" "neighbor_bcast_init";
            NeighborBcastv = "neighbor_bcastv" "ineighbor_bcastv" "neighbor_bcastv_init";
            NeighborReduce = "neighbor_reduce" "ineighbor_reduce" "neighbor_reduce_init";
            NeighborReducev = "neighbor_reducev" "ineighbor_reducev" "neighbor_reducev_init";
            NeighborAllreduce =
                "neighbor_allreduce" "ineighbor_allreduce" "neighbor_allreduce_init";
        }
    };
}
pub(crate) use collective_kinds;

macro_rules! call_names {
    ($($variant:ident = $blocking:literal $nonblocking:literal $persistent:literal;)*) => {
        /// The kind of a collective, without its arguments.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CollectiveKind {
            $(
                #[doc = concat!("`", $blocking, "`")]
                $variant,
            )*
        }

        impl CollectiveKind {
            /// All of them.
            pub const ALL: &[CollectiveKind] = &[$(CollectiveKind::$variant),*];

            /// The name of the call in a form.
            pub(crate) fn call(self, form: Form) -> &'static str {
                static NAMES: &[[&str; 5]] = &[$([
                    $blocking,
                    $nonblocking,
                    $persistent,
                    concat!($blocking, "_begin"),
                    concat!($blocking, "_end"),
                ]),*];
                NAMES[self as usize][form as usize]
            }
        }
    };
}

impl CollectiveKind {
    /// The name of the first phase.
    pub(crate) fn begin_name(self) -> &'static str {
        self.call(Form::Begin)
    }

    /// The name of the second phase.
    pub(crate) fn end_name(self) -> &'static str {
        self.call(Form::End)
    }
}

collective_kinds!(call_names);
