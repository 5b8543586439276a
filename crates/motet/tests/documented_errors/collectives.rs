//! Arguments of collectives that a rank refuses by itself, in all their forms.

use motet::ErrorClass::{Buffer, Count, Group as OfGroup, Rank, Root};
use motet::{Block, Communicator, Datatype, Group, Info, Sum, TypedBlock};

use super::refused::{are_refused, refusal};

const RANKS: usize = 3;

fn blocks<const N: usize>(blocks: [(usize, usize); N]) -> [Block; N] {
    blocks.map(|(start, count)| Block { start, count })
}

/// A root that there is not.
#[test]
fn a_root_that_is_not_in_the_communicator() {
    are_refused(RANKS, |world| {
        let (info, all, block) = (&Info::new(), [0; RANKS], blocks([(0, 1), (1, 1), (2, 1)]));
        let pair = || (vec![1], vec![0; RANKS]);
        let back = || (vec![0; RANKS], vec![1]);
        Ok(vec![
            ("bcast", Root, refusal(world.bcast(&mut [1], RANKS))),
            ("ibcast", Root, refusal(world.ibcast(vec![1], RANKS))),
            ("bcast_init", Root, refusal(world.bcast_init(vec![1], usize::MAX, info))),
            ("reduce", Root, refusal(world.reduce(&[1], &mut [0], Sum, RANKS))),
            ("reduce_in_place", Root, refusal(world.reduce_in_place(&mut [0], Sum, RANKS))),
            ("ireduce", Root, refusal(world.ireduce(vec![1], Sum, RANKS))),
            ("reduce_init", Root, refusal(world.reduce_init(vec![1], Sum, RANKS, info))),
            ("gather", Root, refusal(world.gather(&[1], &mut all.clone(), RANKS))),
            ("gather_in_place", Root, refusal(world.gather_in_place(&mut all.clone(), RANKS))),
            ("igather", Root, refusal(world.igather(pair(), RANKS))),
            ("gather_init", Root, refusal(world.gather_init(pair(), RANKS, info))),
            ("gatherv", Root, refusal(world.gatherv(&[1], &mut all.clone(), &block, RANKS))),
            ("igatherv", Root, refusal(world.igatherv(pair(), &block, RANKS))),
            ("gatherv_init", Root, refusal(world.gatherv_init(pair(), &block, RANKS, info))),
            ("scatter", Root, refusal(world.scatter(&all, &mut [1], RANKS))),
            ("scatter_in_place", Root, refusal(world.scatter_in_place(&mut all.clone(), RANKS))),
            ("iscatter", Root, refusal(world.iscatter(back(), RANKS))),
            ("scatter_init", Root, refusal(world.scatter_init(back(), RANKS, info))),
            ("scatterv", Root, refusal(world.scatterv(&all, &mut [1], &block, RANKS))),
            ("iscatterv", Root, refusal(world.iscatterv(back(), &block, RANKS))),
            ("scatterv_init", Root, refusal(world.scatterv_init(back(), &block, RANKS, info))),
        ])
    });
}

/// Input and output that do not fit together.
#[test]
fn buffers_of_other_lengths_than_the_call_needs() {
    are_refused(RANKS, |world| {
        let (info, me) = (&Info::new(), world.rank());
        let pair = |input, output| (vec![1; input], vec![0; output]);
        Ok(vec![
            ("reduce", Count, refusal(world.reduce(&[1, 2], &mut [0], Sum, me))),
            ("ireduce", Count, refusal(world.ireduce(pair(2, 1), Sum, me))),
            ("reduce_init", Count, refusal(world.reduce_init(pair(2, 1), Sum, me, info))),
            ("allreduce", Count, refusal(world.allreduce(&[1, 2], &mut [0], Sum))),
            ("iallreduce", Count, refusal(world.iallreduce(pair(1, 2), Sum))),
            ("allreduce_init", Count, refusal(world.allreduce_init(pair(1, 2), Sum, info))),
            ("allgather", Count, refusal(world.allgather(&[1, 2], &mut [0; 5]))),
            ("allgather_in_place", Count, refusal(world.allgather_in_place(&mut [0; 5]))),
            ("iallgather", Count, refusal(world.iallgather(pair(2, 5)))),
            ("allgather_init", Count, refusal(world.allgather_init(pair(2, 5), info))),
            ("gather", Count, refusal(world.gather(&[1, 2], &mut [0; 5], me))),
            ("gather_in_place", Count, refusal(world.gather_in_place(&mut [0; 5], me))),
            ("igather", Count, refusal(world.igather(pair(2, 5), me))),
            ("gather_init", Count, refusal(world.gather_init(pair(2, 5), me, info))),
            ("scatter", Count, refusal(world.scatter(&[1; 5], &mut [0; 2], me))),
            ("scatter_in_place", Count, refusal(world.scatter_in_place(&mut [0; 5], me))),
            ("iscatter", Count, refusal(world.iscatter(pair(5, 2), me))),
            ("scatter_init", Count, refusal(world.scatter_init(pair(5, 2), me, info))),
            ("alltoall", Count, refusal(world.alltoall(&[1; 5], &mut [0; 5]))),
            ("alltoall", Count, refusal(world.alltoall(&[1; 3], &mut [0; 6]))),
            ("alltoall_in_place", Count, refusal(world.alltoall_in_place(&mut [0; 5]))),
            ("ialltoall", Count, refusal(world.ialltoall(pair(3, 6)))),
            ("alltoall_init", Count, refusal(world.alltoall_init(pair(3, 6), info))),
            ("scan", Count, refusal(world.scan(&[1, 2], &mut [0], Sum))),
            ("iscan", Count, refusal(world.iscan(pair(2, 1), Sum))),
            ("scan_init", Count, refusal(world.scan_init(pair(2, 1), Sum, info))),
            ("exscan", Count, refusal(world.exscan(&[1, 2], &mut [0], Sum))),
            ("iexscan", Count, refusal(world.iexscan(pair(2, 1), Sum))),
            ("exscan_init", Count, refusal(world.exscan_init(pair(2, 1), Sum, info))),
        ])
    });
}

#[test]
fn counts_and_inputs_of_reduce_scatter_that_do_not_fit() {
    are_refused(RANKS, |world| {
        let info = &Info::new();
        let pair = |input, output| (vec![1; input], vec![0; output]);
        let block = |input: usize| {
            let (send, mut receive) = (vec![1; input], [0; 2]);
            refusal(world.reduce_scatter_block(&send, &mut receive, Sum))
        };
        let counts = |counts: &[usize], input: usize, output: usize| {
            let (send, mut receive) = (vec![1; input], vec![0; output]);
            refusal(world.reduce_scatter(&send, &mut receive, counts, Sum))
        };
        Ok(vec![
            ("reduce_scatter_block", Count, block(5)),
            ("reduce_scatter_block", Count, block(7)),
            (
                "reduce_scatter_block_in_place",
                Count,
                refusal(world.reduce_scatter_block_in_place(&mut [1; 5], Sum)),
            ),
            ("ireduce_scatter_block", Count, refusal(world.ireduce_scatter_block(pair(5, 2), Sum))),
            (
                "reduce_scatter_block_init",
                Count,
                refusal(world.reduce_scatter_block_init(pair(5, 2), Sum, info)),
            ),
            ("reduce_scatter", Count, counts(&[1, 1], 2, 1)),
            ("reduce_scatter", Count, counts(&[1, 1, 1, 1], 4, 1)),
            ("reduce_scatter", Count, counts(&[1, 1, 1], 2, 1)),
            ("reduce_scatter", Count, counts(&[1, 1, 1], 3, 2)),
            (
                "reduce_scatter_in_place",
                Count,
                refusal(world.reduce_scatter_in_place(&mut [1; 2], &[1, 1, 1], Sum)),
            ),
            ("ireduce_scatter", Count, refusal(world.ireduce_scatter(pair(3, 1), &[1, 1], Sum))),
            (
                "reduce_scatter_init",
                Count,
                refusal(world.reduce_scatter_init(pair(3, 1), &[1, 1], Sum, info)),
            ),
        ])
    });
}

/// Lists of blocks: too few of them, such as the buffer does not hold, and such as overlap where
/// something is received.
#[test]
fn blocks_that_cannot_be() {
    are_refused(RANKS, |world| {
        let (info, me) = (&Info::new(), world.rank());
        let few = blocks([(0, 1), (1, 1)]);
        let outside = blocks([(0, 1), (1, 1), (9, 1)]);
        let across = blocks([(0, 2), (1, 2), (4, 2)]);
        let apart = blocks([(0, 2), (2, 2), (4, 2)]);
        let one = blocks([(0, 1), (1, 1), (2, 1)]);
        let (mut six, mut three) = ([0; 6], [0; 3]);
        let pair = |input, output| (vec![1; input], vec![0; output]);
        let lens = "a block of another length than the input";
        Ok(vec![
            ("allgatherv", Count, refusal(world.allgatherv(&[1], &mut three, &few))),
            ("allgatherv", Count, refusal(world.allgatherv(&[1], &mut three, &outside))),
            ("allgatherv", Buffer, refusal(world.allgatherv(&[1, 2], &mut six, &across))),
            (lens, Count, refusal(world.allgatherv(&[1], &mut six, &apart))),
            ("allgatherv_in_place", Buffer, refusal(world.allgatherv_in_place(&mut six, &across))),
            ("iallgatherv", Count, refusal(world.iallgatherv(pair(1, 3), &outside))),
            ("allgatherv_init", Buffer, refusal(world.allgatherv_init(pair(2, 6), &across, info))),
            ("gatherv", Count, refusal(world.gatherv(&[1], &mut three, &few, me))),
            ("gatherv", Count, refusal(world.gatherv(&[1], &mut three, &outside, me))),
            ("gatherv", Buffer, refusal(world.gatherv(&[1, 2], &mut six, &across, me))),
            ("gatherv_in_place", Buffer, refusal(world.gatherv_in_place(&mut six, &across, me))),
            ("igatherv", Count, refusal(world.igatherv(pair(1, 3), &few, me))),
            ("gatherv_init", Count, refusal(world.gatherv_init(pair(1, 3), &outside, me, info))),
            ("scatterv", Count, refusal(world.scatterv(&[1; 3], &mut [0], &few, me))),
            ("scatterv", Count, refusal(world.scatterv(&[1; 3], &mut [0], &outside, me))),
            ("scatterv_in_place", Count, refusal(world.scatterv_in_place(&mut three, &few, me))),
            ("iscatterv", Count, refusal(world.iscatterv(pair(3, 1), &few, me))),
            ("scatterv_init", Count, refusal(world.scatterv_init(pair(3, 1), &few, me, info))),
            ("alltoallv", Count, refusal(world.alltoallv(&[1; 3], &mut three, &few, &one))),
            ("alltoallv", Count, refusal(world.alltoallv(&[1; 3], &mut three, &one, &few))),
            ("alltoallv", Count, refusal(world.alltoallv(&[1; 3], &mut three, &outside, &one))),
            ("alltoallv", Buffer, refusal(world.alltoallv(&[1; 6], &mut six, &apart, &across))),
            ("alltoallv_in_place", Buffer, refusal(world.alltoallv_in_place(&mut six, &across))),
            ("ialltoallv", Count, refusal(world.ialltoallv(pair(3, 3), &one, &few))),
            ("alltoallv_init", Count, refusal(world.alltoallv_init(pair(3, 3), &few, &one, info))),
        ])
    });
}

/// Parts with datatypes: too few of them, and such as do not lie in the buffer.
#[test]
fn parts_that_cannot_be() {
    are_refused(RANKS, |world| {
        let (int, info) = (&Datatype::INT32_T, &Info::new());
        let part = |displacement| TypedBlock::new(displacement, 1, int);
        let well = [part(0), part(4), part(8)];
        let (few, outside) = ([part(0), part(4)], [part(0), part(4), part(100)]);
        let (send, mut receive) = ([1i32; 3], [0i32; 3]);
        let pair = || (vec![1i32; 3], vec![0i32; 3]);
        Ok(vec![
            ("alltoallw", Count, refusal(world.alltoallw(&send, &mut receive, &few, &well))),
            ("alltoallw", Buffer, refusal(world.alltoallw(&send, &mut receive, &well, &outside))),
            ("alltoallw_in_place", Count, refusal(world.alltoallw_in_place(&mut receive, &few))),
            ("ialltoallw", Buffer, refusal(world.ialltoallw(pair(), &well, &outside))),
            ("alltoallw_init", Count, refusal(world.alltoallw_init(pair(), &few, &well, info))),
        ])
    });
}

/// Groups of persistent collectives, and their roots.
#[test]
fn members_that_cannot_be() {
    are_refused(RANKS, |world| {
        let half = world.split(Some(u32::from(world.rank() == 2)), 0)?.expect("all have a colour");
        let outsiders = if world.rank() == 2 { &[0][..] } else { &[2] };
        let outside = world.group().include(outsiders)?;
        let first = world.group().include(&[0])?;
        let (members, all) = (world.members(&first)?, world.members(world.group())?);
        let buffers = || (vec![1], vec![0; 2]);
        Ok(vec![
            ("members", OfGroup, refusal(half.members(&outside).map(drop))),
            ("member", Root, refusal(members.member(RANKS).map(drop))),
            ("member", Root, refusal(members.member(1).map(drop))),
            ("allreduce_init", Count, refusal(all.allreduce_init(buffers(), Sum, &Info::new()))),
        ])
    });
}

/// What makes communicators of groups.
#[test]
fn groups_of_which_no_communicator_can_be_made() {
    are_refused(RANKS, |world| {
        let me = world.rank();
        let half = world.split(Some(u32::from(me == 2)), 0)?.expect("all have a colour");
        let outside = world.group().include(if me == 2 { &[0] } else { &[2] })?;
        let others = world.group().exclude(&[me])?;
        let create_group = |on: &Communicator, group: &Group| {
            refusal(on.create_group(group, motet::Tag(1)).map(drop))
        };
        Ok(vec![
            ("create", OfGroup, refusal(half.create(&outside).map(drop))),
            ("create_group of others", OfGroup, create_group(world, &others)),
            ("create_group of outsiders", OfGroup, create_group(&half, &outside)),
            ("node_of", Rank, refusal(world.node_of(RANKS))),
        ])
    });
}
