//! Collectives in which each rank names whom it sends to and whom it receives from: on random and
//! on chosen graphs, in every form, by every algorithm; what is refused, and what check mode finds.

mod collectives {
    pub(crate) mod elements;
    pub(crate) mod forms;
    pub(crate) mod perform;
}
mod neighbours {
    pub(crate) mod mistakes;
    pub(crate) mod untyped;
}
mod worlds;

use collectives::forms::{Form, Trial};
use collectives::perform::{Graph, moving, reducing};
use motet::op::ordered;
use motet::{Block, Datatype, Info, Settings, Sum, TypedBlock};
use motet_plan::Collective;
use motet_plan::algo;
use proptest::prelude::*;
use worlds::{on_ranks, on_ranks_with};

/// Tries everything on a graph, in some forms, by an algorithm for the reductions.
fn try_graph(
    ranks: usize,
    graph: &Graph,
    counts: &[usize],
    forms: &[Form],
    algorithm: &'static str,
) {
    let setting = format!("neighbor_reduce={algorithm}");
    let settings = Settings::new().algorithms(&setting).expect("a setting");
    let plain = settings.clone().without_channels().without_single_copy();
    let settings = if graph.seed.is_multiple_of(3) { plain } else { settings };
    on_ranks_with(ranks, &settings, |world| {
        for (&form, &count) in forms.iter().flat_map(|form| counts.iter().map(move |it| (form, it)))
        {
            let trial = Trial { world, form, count, algorithm: "linear" };
            moving::<i32>(&trial, graph)?;
            let trial = Trial { algorithm, ..trial };
            reducing::<i32>(&trial, graph)?;
            reducing::<f64>(&trial, graph)?;
        }
        Ok(())
    });
}

fn rows() -> impl Iterator<Item = &'static str> {
    algo::of(Collective::NeighborReduce).map(|row| row.name())
}

/// Graphs that are easily got wrong: none, loops, a star, both ways, one way, each edge twice, and
/// ranks that nobody has to do with.
fn chosen(ranks: usize) -> Vec<Vec<(usize, usize)>> {
    let loops: Vec<_> = (0..ranks).map(|rank| (rank, rank)).collect();
    let star: Vec<_> = (0..ranks).map(|rank| (rank, 0)).collect();
    let from_one = (0..ranks).map(|rank| (ranks - 1, rank)).collect();
    let ring: Vec<_> = (0..ranks).map(|rank| (rank, (rank + 1) % ranks)).collect();
    let all = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).collect();
    let twice = [&ring[..], &loops, &ring].concat();
    let isolated = star.iter().copied().filter(|(rank, _)| rank % 2 == 1).collect();
    vec![Vec::new(), loops, star, from_one, ring, all, twice, isolated]
}

/// Every form, every algorithm, on chosen graphs: empty lists, the rank itself, lists of different
/// lengths, ranks that are named twice; blocks of no elements, gaps that stay as they are.
///
/// spec: 3, 105, 112, 113, 114, 116, 117, 118, 119, 120, A4, A7, A8, A9, A10
#[test]
fn chosen_graphs_in_every_form() {
    for (seed, ranks) in [1, 2, 3, 5].into_iter().enumerate() {
        for (number, edges) in chosen(ranks).into_iter().enumerate() {
            let graph = Graph { edges, seed: seed + number };
            for algorithm in rows() {
                try_graph(ranks, &graph, &[0, 3], &Form::ALL, algorithm);
            }
        }
    }
}

/// Blocks that travel as addresses, and in pieces.
///
/// spec: 112, 116, 117, 120
#[test]
fn large_blocks() {
    let ring: Vec<_> =
        (0..4).flat_map(|rank| [(rank, (rank + 1) % 4), (rank, (rank + 3) % 4)]).collect();
    for (seed, algorithm) in rows().enumerate() {
        let graph = Graph { edges: ring.clone(), seed };
        try_graph(4, &graph, &[40_000], &[Form::Blocking, Form::Persistent], algorithm);
    }
}

fn graph() -> impl Strategy<Value = (usize, Graph)> {
    (1..=16usize).prop_flat_map(|ranks| {
        let edges = prop::collection::vec((0..ranks, 0..ranks), 0..3 * ranks);
        let graph = (edges, 0..100usize, any::<bool>()).prop_map(|(mut edges, seed, is_set)| {
            if is_set {
                edges.sort_unstable();
                edges.dedup();
            }
            Graph { edges, seed }
        });
        (Just(ranks), graph)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// spec: 105, 112, 114, 116, 117, 119, 120, A4, A7, A8
    #[test]
    fn random_graphs(
        (ranks, graph) in graph(), count in 0..9usize,
        form in prop::sample::select(Form::ALL.to_vec()),
        algorithm in prop::sample::select(rows().collect::<Vec<_>>()),
    ) {
        try_graph(ranks, &graph, &[count], &[form], algorithm);
    }
}

/// The group of the communicator on both sides: an exchange is an alltoall, a neighbor_bcast an
/// allgather, a neighbor_reduce a reduce_scatter_block, and a neighbor_allreduce an allreduce; also
/// on a communicator whose ranks are not those of the world.
///
/// spec: 115, A24
#[test]
fn with_all_it_is_the_collective_of_all() {
    on_ranks(5, |world| {
        let comm = world.split(Some(0), -(world.rank() as i64))?.expect("all have a colour");
        let (all, ranks, me) = (&comm.group().clone(), comm.size(), comm.rank());
        let own: Vec<usize> = (0..2 * ranks).map(|at| 100 * me + at).collect();
        let (mut sparse, mut dense) = (vec![0; 2 * ranks], vec![1; 2 * ranks]);
        comm.exchange(&own, &mut sparse, all, all)?;
        comm.alltoall(&own, &mut dense)?;
        assert_eq!(sparse, dense);
        comm.neighbor_bcast(&own[..2], &mut sparse, all, all)?;
        comm.allgather(&own[..2], &mut dense)?;
        assert_eq!(sparse, dense);
        // Ranks in the order of the group: the last one that is not zero.
        let last = || ordered(|left: usize, right| if right == 0 { left } else { right });
        comm.neighbor_reduce(&own, &mut sparse[..2], last(), all, all)?;
        comm.reduce_scatter_block(&own, &mut dense[..2], last())?;
        assert_eq!(sparse, dense);
        comm.neighbor_allreduce(&own, &mut sparse, Sum, all, all)?;
        comm.allreduce(&own, &mut dense, Sum)?;
        assert_eq!(sparse, dense);
        Ok(())
    });
}

/// Each pair of ranks has elements of its own, laid out in a way of its own at both ends.
///
/// spec: 116
#[test]
fn every_pair_has_a_signature_of_its_own() {
    on_ranks(3, |world| {
        let me = world.rank();
        let (next, last) = ((me + 1) % 3, (me + 2) % 3);
        // Over the edge that leaves rank r go r + 1 items of type r.
        let types = [Datatype::BYTE, Datatype::INT32_T, Datatype::DOUBLE];
        let item = |rank: usize| {
            let padded = Datatype::resized(0, 16, &types[rank]);
            TypedBlock::new(if rank == me { 0 } else { 8 }, rank + 1, &padded.expect("a type"))
        };
        let (send, mut receive) = ([me as u8 + 1; 64], [0u8; 64]);
        world.exchangew(&send, &mut receive, &[(next, item(me))], &[(last, item(last))])?;
        let size = [1, 4, 8][last];
        for (at, byte) in receive.into_iter().enumerate() {
            let is_data = at >= 8 && (at - 8) % 16 < size && (at - 8) / 16 <= last;
            assert_eq!(byte, if is_data { last as u8 + 1 } else { 0 }, "byte {at}");
        }
        Ok(())
    });
}

/// The halo of a box in one array: faces as subarrays go out, and the layers around come in.
///
/// spec: 3, 112, 116
#[test]
fn a_halo_is_exchanged_within_one_array() {
    on_ranks(4, |world| {
        let (me, info) = (world.rank(), Info::new());
        let (row, column) = (me / 2, me % 2);
        let beside = |rows: usize, columns: usize| (row + rows) % 2 * 2 + (column + columns) % 2;
        // 4 by 5 cells, of which those at the borders belong to others.
        let part = |sizes: [i64; 2], starts: [i64; 2]| {
            let order = motet::datatype::Order::C;
            let face = Datatype::subarray(&[4, 5], &sizes, &starts, order, &Datatype::INT32_T);
            TypedBlock::new(0, 1, &face.expect("a face"))
        };
        let (rows, columns) = ([1, 3], [2, 1]);
        let faces = [
            (beside(1, 0), part(rows, [1, 1])),
            (beside(1, 0), part(rows, [2, 1])),
            (beside(0, 1), part(columns, [1, 1])),
            (beside(0, 1), part(columns, [1, 3])),
        ];
        let ghosts = [
            (beside(1, 0), part(rows, [3, 1])),
            (beside(1, 0), part(rows, [0, 1])),
            (beside(0, 1), part(columns, [1, 4])),
            (beside(0, 1), part(columns, [1, 0])),
        ];
        let cell = |rank: usize, row: usize, column: usize, round: i32| {
            1000 * round + 100 * rank as i32 + 10 * row as i32 + column as i32
        };
        let fresh = |round| -> Vec<i32> {
            let inner = |row, column| (1..3).contains(&row) && (1..4).contains(&column);
            let at = |at: usize| (at / 5, at % 5);
            let value = |(row, column)| match inner(row, column) {
                true => cell(me, row, column, round),
                false => -1,
            };
            (0..20).map(at).map(value).collect()
        };
        let check = |found: &[i32], round| {
            let mut right = fresh(round);
            for column in 1..4 {
                right[column] = cell(beside(1, 0), 2, column, round);
                right[15 + column] = cell(beside(1, 0), 1, column, round);
            }
            for row in 1..3 {
                right[5 * row] = cell(beside(0, 1), row, 3, round);
                right[5 * row + 4] = cell(beside(0, 1), row, 1, round);
            }
            assert_eq!(found, right, "round {round}");
        };
        let mut array = fresh(0);
        world.exchangew_in_place(&mut array, &faces, &ghosts)?;
        check(&array, 0);
        check(&world.iexchangew(fresh(1), &faces, &ghosts)?.wait()?, 1);
        let mut halo = world.exchangew_init(fresh(2), &faces, &ghosts, &info)?;
        for round in 2..12 {
            halo.input_mut().copy_from_slice(&fresh(round));
            halo = halo.start()?.wait()?;
            check(halo.output(), round);
        }
        Ok(())
    });
}

/// Ten starts with other data each time, two operations with overlapping groups under way at once.
///
/// spec: 117, 121, 123
#[test]
fn restarts_see_new_data() {
    on_ranks(4, |world| {
        let (me, info) = (world.rank(), Info::new());
        let (odd, others) = (&world.group().include(&[3, 1])?, &world.group().exclude(&[me])?);
        let senders = match me % 2 {
            1 => world.group().clone(),
            _ => motet::Group::empty(),
        };
        let mut to_odd =
            world.exchange_init((vec![0; 2], vec![0; senders.size()]), odd, &senders, &info)?;
        let mut sum =
            world.neighbor_reduce_init((vec![0; 3], vec![0]), Sum, others, others, &info)?;
        for round in 0..10 {
            to_odd.input_mut().copy_from_slice(&[10 * me + round, 100 * me + round]);
            sum.input_mut().copy_from_slice(&[me * round; 3]);
            let (first, second) = (to_odd.start()?, sum.start()?);
            sum = second.wait()?;
            to_odd = first.wait()?;
            assert_eq!(sum.output(), [(6 - me) * round]);
            let factor = if me == 3 { 10 } else { 100 };
            assert!(to_odd.output().iter().enumerate().all(|(at, it)| *it == factor * at + round));
        }
        Ok(())
    });
}

/// The collectives of MPI-3 among the neighbours of a graph give what an exchange with the groups
/// of the same neighbours gives; and on the same communicator any others may be named.
///
/// spec: 132, A24
#[test]
fn neighbourhood_collectives_are_exchanges() {
    on_ranks(5, |world| {
        let me = world.rank();
        let (to, from) = (vec![(me + 1) % 5, (me + 3) % 5], vec![(me + 4) % 5, (me + 2) % 5]);
        let graph = world.graph_adjacent(from.clone(), to.clone())?;
        let groups = [world.group().include(&to)?, world.group().include(&from)?];
        let (to, from) = (&groups[0], &groups[1]);
        let own: Vec<usize> = (0..6).map(|at| 10 * me + at).collect();
        let (mut one, mut other) = (vec![0; 6], vec![1; 6]);
        graph.neighbor_alltoall(&own, &mut one)?;
        graph.exchange(&own, &mut other, to, from)?;
        assert_eq!(one, other);
        graph.neighbor_allgather(&own[..3], &mut one)?;
        graph.neighbor_bcast(&own[..3], &mut other, to, from)?;
        assert_eq!(one, other);
        let blocks =
            |first| [Block { start: 0, count: first }, Block { start: 3, count: 3 - first }];
        graph.neighbor_alltoallv(&own, &mut one, &blocks(2), &blocks(2))?;
        graph.exchangev(&own, &mut other, (to, &blocks(2)), (from, &blocks(2)))?;
        assert_eq!(one, other);
        graph.exchange(&own[..1], &mut one[..1], &[(me + 2) % 5], &[(me + 3) % 5])?;
        assert_eq!(one[0], 10 * ((me + 3) % 5));
        Ok(())
    });
}
