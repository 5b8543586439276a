//! Arguments of sparse collectives and of collectives over a topology, and topologies that there
//! cannot be.

use std::slice::from_ref;

use motet::ErrorClass::{Arg, Buffer, Count, Dims, Group as OfGroup, Rank, Topology};
use motet::{
    Block, Cartesian, Datatype, IndexedGraph, Info, Load, Neighbour, Reach, Reorder, Sum,
    TypedBlock, dims_create,
};

use super::refused::{are_refused, refusal};

const RANKS: usize = 3;
const NO_BLOCK: [Neighbour; 0] = [];
const NO_PART: [(usize, TypedBlock); 0] = [];

fn neighbour(rank: usize, start: usize, count: usize) -> Neighbour {
    Neighbour { rank, start, count }
}

#[test]
fn sparse_collectives_with_a_neighbour_that_there_is_not() {
    are_refused(RANKS, |world| {
        let (info, out, none) = (&Info::new(), [RANKS], [0usize; 0]);
        let pair = || (vec![1], vec![0; 0]);
        let (block, no_block) = ([neighbour(RANKS, 0, 1)], NO_BLOCK);
        Ok(vec![
            ("exchange", Rank, refusal(world.exchange(&[1], &mut [], &out, &none))),
            ("iexchange", Rank, refusal(world.iexchange(pair(), &out, &none))),
            ("exchange_init", Rank, refusal(world.exchange_init(pair(), &out, &none, info))),
            ("exchangev", Rank, refusal(world.exchangev(&[1], &mut [], &block, &no_block))),
            ("neighbor_bcast", Rank, refusal(world.neighbor_bcast(&[1], &mut [], &out, &none))),
            (
                "neighbor_bcastv",
                Rank,
                refusal(world.neighbor_bcastv(&[1], &mut [], &out, &no_block)),
            ),
            (
                "neighbor_reduce",
                Rank,
                refusal(world.neighbor_reduce(&[1], &mut [0], Sum, &out, &none)),
            ),
            (
                "neighbor_reducev",
                Rank,
                refusal(world.neighbor_reducev(&[1], &mut [0], Sum, &block, &none)),
            ),
            (
                "neighbor_allreduce",
                Rank,
                refusal(world.neighbor_allreduce(&[1], &mut [0], Sum, &out, &none)),
            ),
        ])
    });
}

#[test]
fn sparse_collectives_with_blocks_that_do_not_fit() {
    are_refused(RANKS, |world| {
        let (two, none, all) = ([0, 1], [0usize; 0], [0, 1, 2]);
        let outside = [neighbour(0, 5, 1)];
        let across = [neighbour(0, 0, 2), neighbour(1, 1, 2)];
        let no_block = NO_BLOCK;
        let mut room = [0; 3];
        Ok(vec![
            ("exchange", Count, refusal(world.exchange(&[1, 2, 3], &mut [], &two, &none))),
            ("exchangev out", Count, refusal(world.exchangev(&[1], &mut [], &outside, &no_block))),
            (
                "exchangev in",
                Count,
                refusal(world.exchangev(&[0; 0], &mut [1], &no_block, &outside)),
            ),
            (
                "exchangev across",
                Buffer,
                refusal(world.exchangev(&[0; 0], &mut room, &no_block, &across)),
            ),
            ("neighbor_bcast", Count, refusal(world.neighbor_bcast(&[1], &mut [0; 5], &all, &all))),
            (
                "neighbor_bcastv",
                Buffer,
                refusal(world.neighbor_bcastv(&[0; 0], &mut room, &none, &across)),
            ),
            (
                "neighbor_reduce",
                Count,
                refusal(world.neighbor_reduce(&[1; 3], &mut [0; 2], Sum, &two, &none)),
            ),
            (
                "neighbor_reducev",
                Count,
                refusal(world.neighbor_reducev(&[1], &mut [0], Sum, &outside, &none)),
            ),
            (
                "neighbor_allreduce",
                Count,
                refusal(world.neighbor_allreduce(&[1], &mut [0; 2], Sum, &two, &two)),
            ),
        ])
    });
}

#[test]
fn sparse_collectives_with_parts_that_do_not_fit() {
    are_refused(RANKS, |world| {
        let part = |displacement| TypedBlock::new(displacement, 1, &Datatype::INT32_T);
        let (me, none) = (world.rank(), NO_PART);
        let (outside, nobody) = ([(me, part(40))], [(RANKS, part(0))]);
        let across = [(me, part(0)), (me, part(2))];
        let mut room = [0i32; 2];
        let own = [(me, part(0))];
        Ok(vec![
            (
                "exchangew out",
                Buffer,
                refusal(world.exchangew(&[1i32], &mut room, &outside, &none)),
            ),
            ("exchangew", Rank, refusal(world.exchangew(&[1i32], &mut room, &nobody, &none))),
            ("exchangew", Buffer, refusal(world.exchangew(&[0i32; 0], &mut room, &none, &across))),
            (
                "exchangew_in_place",
                Buffer,
                refusal(world.exchangew_in_place(&mut room, &own, &own)),
            ),
        ])
    });
}

#[test]
fn collectives_over_a_topology() {
    are_refused(RANKS, |world| {
        let ring = world.cartesian(&[RANKS], &[true], Reorder::Never)?.expect("all are in it");
        let info = &Info::new();
        let few = [Block { start: 0, count: 1 }];
        let (out, two) = ([Block { start: 9, count: 1 }; 2], [Block { start: 0, count: 1 }; 2]);
        let mut room = [0; 2];
        let int = TypedBlock::new(0, 1, &Datatype::INT32_T);
        let parts = |on: &motet::Communicator| {
            refusal(on.neighbor_alltoallw(&[1i32], &mut [0i32], from_ref(&int), from_ref(&int)))
        };
        Ok(vec![
            ("neighbourhood", Topology, refusal(world.neighbourhood().map(drop))),
            ("without a topology", Topology, refusal(world.neighbor_allgather(&[1], &mut room))),
            ("neighbor_alltoallw without", Topology, parts(world)),
            ("neighbor_alltoallw", Arg, parts(&ring)),
            ("neighbor_allgather", Count, refusal(ring.neighbor_allgather(&[1], &mut [0; 3]))),
            (
                "neighbor_allgatherv",
                Count,
                refusal(ring.neighbor_allgatherv(&[1], &mut room, &few)),
            ),
            (
                "neighbor_allgatherv",
                Count,
                refusal(ring.neighbor_allgatherv(&[1], &mut room, &out)),
            ),
            (
                "neighbor_allgatherv",
                Buffer,
                refusal(ring.neighbor_allgatherv(&[1], &mut room, &two)),
            ),
            ("neighbor_alltoall", Count, refusal(ring.neighbor_alltoall(&[1; 3], &mut room))),
            (
                "neighbor_alltoallv",
                Count,
                refusal(ring.neighbor_alltoallv(&[1; 2], &mut room, &few, &two)),
            ),
            (
                "neighbor_allgather_init",
                Count,
                refusal(ring.neighbor_allgather_init((vec![1], vec![0; 3]), info)),
            ),
        ])
    });
}

#[test]
fn topologies_that_there_cannot_be() {
    are_refused(RANKS, |world| {
        let ring = world.cartesian(&[RANKS], &[true], Reorder::Never)?.expect("all are in it");
        let cut = world.split(Some(u32::from(world.rank() == 2)), 0)?.expect("a colour");
        let outside = world.group().include(if world.rank() == 2 { &[0] } else { &[2] })?;
        let sparse = |group, loads| {
            // Refused here, the others get their communicator: so no rank calls it well.
            refusal(cut.sparse_graph(group, loads, Reorder::Never, &Info::new()).map(drop))
        };
        let load = [Load { messages: 1, bytes: 8 }; 2];
        let edges = |rank: usize| refusal(world.graph_adjacent([(rank, 1)], [(0, 1); 0]).map(drop));
        let selected = [true, true];
        Ok(vec![
            ("cartesian", Dims, refusal(world.cartesian(&[0], &[true], Reorder::Never).map(drop))),
            (
                "cartesian",
                Dims,
                refusal(world.cartesian(&[1, 2], &[true], Reorder::Never).map(drop)),
            ),
            ("cartesian", Dims, refusal(world.cartesian(&[4], &[true], Reorder::Never).map(drop))),
            ("cartesian_map", Dims, refusal(world.cartesian_map(&[4], &[true]))),
            ("cartesian_sub", Topology, refusal(world.cartesian_sub(&[true]).map(drop))),
            ("cartesian_sub", Dims, refusal(ring.cartesian_sub(&[true, true]).map(drop))),
            ("sub", Dims, refusal(ring.sub(&[true, true]).map(drop))),
            ("shift", Dims, refusal(ring.shift(1, 1))),
            ("graph_adjacent", Rank, edges(RANKS)),
            (
                "graph_indexed",
                Arg,
                refusal(world.graph_indexed(&[2, 1], &[0], Reorder::Never).map(drop)),
            ),
            ("graph_map", Arg, refusal(world.graph_map(&[1, 2, 3, 4], &[0, 1, 2, 3]))),
            ("graph_neighbor_groups", Topology, refusal(world.graph_neighbor_groups().map(drop))),
            ("sparse_graph", OfGroup, sparse(&outside, None)),
            ("sparse_graph", Count, sparse(cut.group(), Some(&[load[0]; 7]))),
            ("cart_neighbor_group", Topology, refusal(world.cart_neighbor_group(&[true], 1))),
            ("neighbor_group", Dims, refusal(ring.neighbor_group(&selected, 1))),
            ("sphere_group", Dims, refusal(ring.sphere_group(Reach::Axis, &selected, 1))),
        ])
    });
}

/// What needs no communicator.
#[test]
fn grids_and_graphs_that_there_cannot_be() {
    are_refused(1, |_| {
        let grid = Cartesian::new(&[2, 3], &[true, false])?;
        let graph = IndexedGraph::new(&[1, 2], &[1, 0])?;
        Ok(vec![
            ("an empty dimension", Dims, refusal(Cartesian::new(&[2, 0], &[true, true]))),
            ("a flag too few", Dims, refusal(Cartesian::new(&[2, 2], &[true]))),
            ("too many places", Dims, refusal(Cartesian::new(&[usize::MAX, 2], &[true; 2]))),
            ("coordinates", Rank, refusal(grid.coordinates(6))),
            ("rank_at", Dims, refusal(grid.rank_at(&[1]))),
            ("shift of a rank", Rank, refusal(grid.shift(6, 0, 1))),
            ("shift along a dimension", Dims, refusal(grid.shift(0, 2, 1))),
            ("neighbours", Rank, refusal(grid.neighbours(6))),
            ("sub", Dims, refusal(grid.sub(&[true]))),
            ("ranks_at of a rank", Rank, refusal(grid.ranks_at(6, Reach::Axis, &[true; 2], 1))),
            (
                "ranks_at along a dimension",
                Dims,
                refusal(grid.ranks_at(0, Reach::Axis, &[true], 1)),
            ),
            ("dims_create with a rest", Dims, refusal(dims_create(6, &[4, 0]))),
            ("dims_create of nothing", Dims, refusal(dims_create(0, &[0]))),
            ("dims_create without a choice", Dims, refusal(dims_create(6, &[2, 2]))),
            ("indices that decrease", Arg, refusal(IndexedGraph::new(&[2, 1], &[0]))),
            ("indices that end early", Arg, refusal(IndexedGraph::new(&[1, 1], &[0, 1]))),
            ("a neighbour that is no node", Rank, refusal(IndexedGraph::new(&[1, 2], &[1, 2]))),
            ("neighbours of no node", Rank, refusal(graph.neighbours(2).map(<[usize]>::to_vec))),
        ])
    });
}
