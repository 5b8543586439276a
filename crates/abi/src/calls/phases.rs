//! The end functions of the two-phase collectives of 1997: each ends the innermost phase of the
//! communicator, which must be one of this collective. (The begin functions are a form of the
//! collectives.)

use motet::raw::{CollectiveKind, end};

use crate::error::AbiResult;
use crate::handle::MPI_Comm;

macro_rules! ends {
    ($($name:ident = $kind:ident;)*) => {
        $(
            /// The end of a phase of this collective.
            pub(crate) fn $name(comm: MPI_Comm) -> AbiResult {
                of(comm, CollectiveKind::$kind)
            }
        )*
    };
}

ends! {
    barrier_end = Barrier;
    bcast_end = Bcast;
    gather_end = Gather;
    gatherv_end = Gatherv;
    scatter_end = Scatter;
    scatterv_end = Scatterv;
    allgather_end = Allgather;
    allgatherv_end = Allgatherv;
    alltoall_end = Alltoall;
    alltoallv_end = Alltoallv;
    alltoallw_end = Alltoallw;
    reduce_end = Reduce;
    allreduce_end = Allreduce;
    reduce_scatter_block_end = ReduceScatterBlock;
    reduce_scatter_end = ReduceScatter;
    scan_end = Scan;
    exscan_end = Exscan;
    neighbor_allgather_end = NeighborAllgather;
    neighbor_allgatherv_end = NeighborAllgatherv;
    neighbor_alltoall_end = NeighborAlltoall;
    neighbor_alltoallv_end = NeighborAlltoallv;
    neighbor_alltoallw_end = NeighborAlltoallw;
}

fn of(comm: MPI_Comm, kind: CollectiveKind) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| Ok(end(comm.on(), kind)?))
}
