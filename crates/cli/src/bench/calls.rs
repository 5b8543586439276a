//! The measured calls, in their three forms.

use motet::{CartesianCommunicator, Info, Intercommunicator, Result, Sum};
use motet_plan::Collective;

use super::block_layout::{ROOT, RankNeighbours};
use super::case::Case;
use super::stored::{Buffers, Stored};
use super::subjects::Measured::{NeighborAlltoall, Planned};

/// The three forms of all calls. A row has the measured collective, the object of the call, the
/// names of its forms, and their arguments besides an input and an output.
macro_rules! calls {
    ($case:ident; $(
        $measured:pat => $on:expr,
        $blocking:ident $nonblocking:ident $init:ident ($($argument:expr),*);
    )*) => {
        impl Case<'_> {
            pub(super) fn blocking(&self, (input, output): &mut Buffers) -> Result<()> {
                let $case = self;
                match $case.measured {
                    Planned(Collective::Barrier) => $case.place.world.barrier(),
                    Planned(Collective::InterBarrier) => across($case).barrier(),
                    Planned(Collective::Bcast) => $case.place.world.bcast(output, ROOT),
                    $($measured => $on.$blocking(input, output $(, $argument)*),)*
                }
            }

            pub(super) fn nonblocking(&self, buffers: Buffers) -> Result<Buffers> {
                let $case = self;
                match $case.measured {
                    Planned(Collective::Barrier) => $case.place.world.ibarrier()?.wait()?,
                    Planned(Collective::InterBarrier) => across($case).ibarrier()?.wait()?,
                    Planned(Collective::Bcast) => {
                        let (input, output) = buffers;
                        return Ok((input, $case.place.world.ibcast(output, ROOT)?.wait()?));
                    }
                    $($measured => {
                        return $on.$nonblocking(buffers $(, $argument)*)?.wait();
                    })*
                }
                Ok(buffers)
            }

            pub(super) fn persistent(&self, buffers: Buffers, info: &Info) -> Result<Stored> {
                let $case = self;
                Ok(match $case.measured {
                    Planned(Collective::Barrier) => {
                        Stored::None($case.place.world.barrier_init(info)?)
                    }
                    Planned(Collective::InterBarrier) => {
                        Stored::None(across($case).barrier_init(info)?)
                    }
                    Planned(Collective::Bcast) => {
                        Stored::One($case.place.world.bcast_init(buffers.1, ROOT, info)?)
                    }
                    $($measured => {
                        Stored::Pair($on.$init(buffers $(, $argument)*, info)?)
                    })*
                })
            }
        }
    };
}

calls! { case;
    Planned(Collective::Gather) => case.place.world, gather igather gather_init(ROOT);
    Planned(Collective::Gatherv) => case.place.world,
        gatherv igatherv gatherv_init(&case.blocks, ROOT);
    Planned(Collective::Scatter) => case.place.world, scatter iscatter scatter_init(ROOT);
    Planned(Collective::Scatterv) => case.place.world,
        scatterv iscatterv scatterv_init(&case.blocks, ROOT);
    Planned(Collective::Reduce) => case.place.world, reduce ireduce reduce_init(Sum, ROOT);
    Planned(Collective::Allreduce) => case.place.world,
        allreduce iallreduce allreduce_init(Sum);
    Planned(Collective::ReduceScatterBlock) => case.place.world,
        reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init(Sum);
    Planned(Collective::ReduceScatter) => case.place.world,
        reduce_scatter ireduce_scatter reduce_scatter_init(&case.counts, Sum);
    Planned(Collective::Scan) => case.place.world, scan iscan scan_init(Sum);
    Planned(Collective::Exscan) => case.place.world, exscan iexscan exscan_init(Sum);
    Planned(Collective::Allgather) => case.place.world, allgather iallgather allgather_init();
    Planned(Collective::Allgatherv) => case.place.world,
        allgatherv iallgatherv allgatherv_init(&case.blocks);
    Planned(Collective::Alltoall) => case.place.world, alltoall ialltoall alltoall_init();
    Planned(Collective::Alltoallv) => case.place.world,
        alltoallv ialltoallv alltoallv_init(&case.blocks, &case.blocks);
    Planned(Collective::Exchange) => case.place.world,
        exchange iexchange exchange_init(&case.place.to, &case.place.from);
    Planned(Collective::Exchangev | Collective::NodeExchange) => case.place.world,
        exchangev iexchangev exchangev_init(
            &RankNeighbours::neighbours(case.place.to, case.count),
            &RankNeighbours::neighbours(case.place.from, case.count)
        );
    Planned(Collective::NeighborReduce) => case.place.world,
        neighbor_reduce ineighbor_reduce neighbor_reduce_init(
            Sum, &case.place.to, &case.place.from
        );
    NeighborAlltoall => ring(case),
        neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init();
    Planned(Collective::InterAllgather) => across(case), allgather iallgather allgather_init();
    Planned(Collective::InterAllgatherv) => across(case),
        allgatherv iallgatherv allgatherv_init(&case.blocks);
    Planned(Collective::InterReduce) => across(case),
        reduce ireduce reduce_init(Sum, case.place.root_across());
    Planned(Collective::InterAllreduce) => across(case),
        allreduce iallreduce allreduce_init(Sum);
    Planned(Collective::InterReduceScatterBlock) => across(case),
        reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init(Sum);
    Planned(Collective::InterReduceScatter) => across(case),
        reduce_scatter ireduce_scatter reduce_scatter_init(&case.counts, Sum);
}

fn across<'a>(case: &'a Case<'_>) -> &'a Intercommunicator {
    case.place.across.as_ref().expect("there are two groups where they are measured")
}

fn ring<'a>(case: &'a Case<'_>) -> &'a CartesianCommunicator {
    case.place.ring.as_ref().expect("there is a ring where it is measured")
}
