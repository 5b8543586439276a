//! Who is near: nodes, ranks at a distance on a grid, and graphs of which only senders know the
//! edges, with ranks that are mapped to nodes. On threads and on processes.

mod worlds;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::{env, slice};

use motet::{
    Cartesian, Communicator, Cut, ErrorClass, ErrorKind, GraphCommunicator, Group, Info, Load,
    MappingReason, Objective, Reach, Reorder, Result, Settings, SplitType, World,
    hint::{BANDWIDTH, LATENCY, MAXCUT, TOTALCUT},
};
use proptest::prelude::*;
use worlds::{Watchdog, on_ranks, on_ranks_with};

type Ranks = BTreeSet<usize>;

/// The ranks of a group in a communicator.
fn ranks(group: &Group, communicator: &Communicator) -> Vec<usize> {
    let rank = |place| group.translate(place, communicator.group());
    let ranks: Option<Vec<usize>> = (0..group.size()).map(rank).collect();
    ranks.expect("the group is of ranks of the communicator")
}

fn set(group: &Group, communicator: &Communicator) -> Ranks {
    let list = ranks(group, communicator);
    let set = Ranks::from_iter(list.iter().copied());
    assert_eq!(set.len(), list.len(), "no rank is in a group twice");
    set
}

// Nodes.

/// Nodes are those of the world, also in a communicator of some of its ranks in another order.
#[test]
fn ranks_know_the_nodes_of_all() {
    let settings = Settings::new().ranks_per_node(3);
    on_ranks_with(8, &settings, |world| {
        let me = world.rank();
        assert_eq!(world.nodes(), [0, 0, 0, 1, 1, 1, 2, 2]);
        let odd = world.split(Some((me % 2) as u32), -(me as i64))?.expect("all have a colour");
        let expected: Vec<usize> = (0..8).rev().filter(|rank| rank % 2 == me % 2).collect();
        assert_eq!(odd.nodes(), expected.iter().map(|rank| rank / 3).collect::<Vec<_>>());
        assert_eq!(odd.node_of(odd.rank())?, me / 3);
        assert!(matches!(odd.node_of(4).unwrap_err().kind(), ErrorKind::Rank { rank: 4, .. }));
        let shared = world.split_type(Some(SplitType::Shared), 0)?.expect("all ask");
        assert_eq!((shared.size(), shared.rank()), (if me < 6 { 3 } else { 2 }, me % 3));
        Ok(())
    });
    on_ranks_with(3, &Settings::new(), |world| {
        assert_eq!(world.nodes(), [0; 3]);
        Ok(())
    });
}

// Grids.

/// The places at a distance, by looking at all of them.
fn oracle(
    grid: &Cartesian,
    rank: usize,
    reach: Reach,
    selected: &[bool],
    distance: usize,
) -> Ranks {
    let own = grid.coordinates(rank).expect("a place");
    let is_at = |other: usize| {
        let at = grid.coordinates(other).expect("a place");
        let differs = |d: &usize| at[*d] != own[*d];
        if (0..at.len()).filter(differs).any(|dimension| !selected[dimension]) {
            return false;
        }
        let steps = |d: usize| {
            let (ahead, size) = (at[d].abs_diff(own[d]), grid.sizes()[d]);
            if grid.periodic()[d] { ahead.min(size - ahead) } else { ahead }
        };
        match reach {
            Reach::Steps => (0..at.len()).map(steps).sum::<usize>() == distance,
            Reach::Box => (0..at.len()).map(steps).max().unwrap_or(0) == distance,
            Reach::Axis if distance == 0 => other == rank,
            Reach::Axis => (0..at.len()).filter(|&d| selected[d]).any(|d| {
                let far = [-(distance as isize), distance as isize].map(|offset| {
                    let mut moved: Vec<isize> = own.iter().map(|&place| place as isize).collect();
                    moved[d] += offset;
                    grid.rank_at(&moved).expect("a coordinate each")
                });
                far.contains(&Some(other))
            }),
        }
    };
    (0..grid.places()).filter(|&other| is_at(other)).collect()
}

fn grids() -> impl Strategy<Value = (Cartesian, Vec<bool>)> {
    let dimension = (1..6_usize, any::<bool>(), any::<bool>());
    prop::collection::vec(dimension, 0..4).prop_map(|dimensions| {
        let sizes: Vec<usize> = dimensions.iter().map(|each| each.0).collect();
        let periodic: Vec<bool> = dimensions.iter().map(|each| each.1).collect();
        let selected = dimensions.iter().map(|each| each.2).collect();
        (Cartesian::new(&sizes, &periodic).expect("no size is 0"), selected)
    })
}

const REACHES: [Reach; 3] = [Reach::Axis, Reach::Steps, Reach::Box];

/// A failure is told with its arguments; nothing is written to files.
fn configuration() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(configuration())]

    /// spec: 128
    #[test]
    fn ranks_at_a_distance_are_those_that_a_search_finds(
        (grid, selected) in grids(),
        place in any::<prop::sample::Index>(),
        distance in 0..14_usize,
    ) {
        let rank = place.index(grid.places());
        for reach in REACHES {
            let found = grid.ranks_at(rank, reach, &selected, distance).unwrap();
            prop_assert!(found.is_sorted_by(|a, b| a < b));
            let expected = oracle(&grid, rank, reach, &selected, distance);
            prop_assert_eq!(Ranks::from_iter(found), expected, "{:?}", reach);
        }
    }
}

/// A grid with rings of 2 and 3: who is at distance 0, 1, 2 and very far.
///
/// spec: 128
#[test]
fn neighbor_groups_on_a_grid() {
    on_ranks(12, |world| {
        let grid = world.cartesian(&[2, 2, 3], &[false, true, true], Reorder::Never)?;
        let grid = grid.expect("a place for each rank");
        let all = [true; 3];
        let me = grid.rank();
        for (distance, sizes) in [(0, [1, 1, 1]), (1, [4, 4, 11]), (2, [3, 5, 0])] {
            let group = grid.neighbor_group(&all, distance)?;
            assert_eq!(group.size(), sizes[0], "distance {distance}");
            for reach in REACHES {
                let group = grid.sphere_group(reach, &all, distance)?;
                let expected = oracle(grid.topology(), me, reach, &all, distance);
                assert_eq!(set(&group, &grid), expected);
            }
            assert_eq!(grid.sphere_group(Reach::Steps, &all, distance)?.size(), sizes[1]);
            assert_eq!(grid.sphere_group(Reach::Box, &all, distance)?.size(), sizes[2]);
        }
        // Both ways along the ring of two lead to the same, and so do none at all.
        assert_eq!(grid.neighbor_group(&[false, true, false], 1)?.size(), 1);
        assert_eq!(grid.neighbor_group(&[false; 3], 1)?.size(), 0);
        assert_eq!(set(&grid.neighbor_group(&[false; 3], 0)?, &grid), Ranks::from([me]));
        // Far along a border is nobody; along a ring it is somebody, however often it goes round.
        assert!(grid.neighbor_group(&[true, false, false], usize::MAX)?.is_empty());
        let far = grid.neighbor_group(&[false, false, true], 3_000_001)?;
        assert_eq!(set(&far, &grid), set(&grid.neighbor_group(&[false, false, true], 1)?, &grid));
        for flags in [&all[..2], &[true; 4]] {
            let error = grid.neighbor_group(flags, 1).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Dims, "{error}");
        }
        let plain = grid.dup()?.into_communicator();
        assert_eq!(set(&plain.cart_neighbor_group(&all, 1)?, &grid).len(), 4);
        assert_eq!(set(&plain.cart_sphere_group(Reach::Box, &all, 1)?, &grid).len(), 11);
        // On another communicator it is an error, of its own class.
        let graph = world.graph_adjacent([me], [me])?;
        for other in [&**world, &*graph] {
            let error = other.cart_neighbor_group(&all, 1).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Topology, "{error}");
            assert!(other.cart_sphere_group(Reach::Steps, &all, 1).is_err());
        }
        Ok(())
    });
}

// Graphs.

/// A graph as all ranks of a test know it: for each rank the ranks that it names, in order, how
/// much it sends, and whether it may get another rank.
#[derive(Clone, Debug)]
struct Drawn {
    to: Vec<Vec<usize>>,
    weighed: Vec<bool>,
    movable: Vec<bool>,
    per_node: usize,
    hints: [bool; 4],
}

impl Drawn {
    fn from(&self, rank: usize) -> Vec<usize> {
        (0..self.to.len()).filter(|&other| self.to[other].contains(&rank)).collect()
    }

    fn settings(&self) -> Settings {
        Settings::new().ranks_per_node(self.per_node)
    }

    fn info(&self) -> Info {
        let keys = [LATENCY, BANDWIDTH, MAXCUT, TOTALCUT];
        let value = keys.into_iter().zip(self.hints).filter(|(_, value)| *value);
        value.fold(Info::new().with("unknown", "x"), |info, (key, _)| info.with(key, "true"))
    }

    fn create(&self, parent: &Communicator) -> Result<GraphCommunicator> {
        let me = parent.rank();
        let outgroup = parent.group().include(&self.to[me])?;
        let load = |&to: &usize| Load::from((1 + (me * to) as u64 % 5, 10 * to as u64));
        let loads: Vec<Load> = self.to[me].iter().map(load).collect();
        let loads = self.weighed[me].then_some(&loads[..]);
        let reorder = if self.movable[me] { Reorder::Allowed } else { Reorder::Never };
        parent.sparse_graph(&outgroup, loads, reorder, &self.info())
    }
}

fn graphs() -> impl Strategy<Value = Drawn> {
    (1..=16_usize, 0..=12_usize).prop_flat_map(|(ranks, most)| {
        let to = Just(Vec::from_iter(0..ranks)).prop_shuffle();
        let to = (to, 0..=most.min(ranks)).prop_map(|(mut to, count)| {
            to.truncate(count);
            to
        });
        let flags = || prop::collection::vec(any::<bool>(), ranks);
        (prop::collection::vec(to, ranks), flags(), flags(), 0..6_usize, any::<[bool; 4]>())
            .prop_map(|(to, weighed, movable, per_node, hints)| Drawn {
                to,
                weighed,
                movable,
                per_node,
                hints,
            })
    })
}

/// Sends a block to each of a group and receives one from each of another, by an exchange.
fn exchange(communicator: &Communicator, to: &Group, from: &Group) -> Result<()> {
    let me = communicator.rank();
    let (to, from) = (ranks(to, communicator), ranks(from, communicator));
    let send: Vec<u64> = to.iter().map(|&to| (1000 * me + to) as u64).collect();
    let mut receive = vec![0; from.len()];
    communicator.exchange(&send, &mut receive, &to, &from)?;
    let expected: Vec<u64> = from.iter().map(|&from| (1000 * from + me) as u64).collect();
    assert_eq!(receive, expected);
    Ok(())
}

fn check(drawn: &Drawn, world: &World) -> Result<()> {
    let (me, size) = (world.rank(), world.size());
    let graph = drawn.create(world)?;
    let rank = graph.rank();
    assert_eq!(graph.size(), size);
    if !drawn.movable[me] {
        assert_eq!(rank, me, "a rank that says no keeps its rank");
    }
    let mut processes = vec![0; size];
    graph.allgather(&[me], &mut processes)?;
    assert_eq!(Ranks::from_iter(processes.iter().copied()), Ranks::from_iter(0..size));
    // The groups are those of the rank, whoever named them.
    let (to, from) = graph.neighbor_groups();
    assert_eq!(set(&to, &graph), Ranks::from_iter(drawn.to[rank].iter().copied()));
    assert_eq!(set(&from, &graph), Ranks::from_iter(drawn.from(rank)));
    let [again_to, again_from] = <[Group; 2]>::from(graph.graph_neighbor_groups()?);
    assert_eq!((&again_to, &again_from), (&to, &from));
    exchange(&graph, &to, &from)?;
    // The collectives of the standard go along the edges.
    let mut received = vec![0; from.size()];
    graph.neighbor_allgather(&[rank], &mut received)?;
    assert_eq!(received, ranks(&from, &graph));
    let weights = graph.topology().destinations().iter().map(|edge| edge.weight.is_some());
    assert!(weights.into_iter().all(|weighed| weighed == drawn.weighed[rank]));
    // Other groups than those of the graph: a ring, and the graph backwards.
    let ring = [(rank + 1) % size, (rank + size - 1) % size];
    let ring = ring.map(|rank| graph.group().include(slice::from_ref(&rank)));
    let [next, before] = ring;
    exchange(&graph, &next?, &before?)?;
    exchange(&graph, &from, &to)?;
    told(drawn, &graph, &processes);
    let copy = graph.dup()?;
    assert_eq!(copy.neighbor_groups(), (to, from));
    assert_eq!(copy.explain(), graph.explain());
    Ok(())
}

/// What a graph tells of its mapping is true.
fn told(drawn: &Drawn, graph: &GraphCommunicator, processes: &[usize]) {
    let node = |process: usize| process.checked_div(drawn.per_node).unwrap_or(0);
    let mapping = graph.mapping().expect("it was made by a call that may reorder");
    let one_node = node(processes.len() - 1) == 0;
    let crossing = |process: &dyn Fn(usize) -> usize| {
        let edges =
            (0..processes.len()).flat_map(|from| drawn.to[from].iter().map(move |&to| (from, to)));
        edges.filter(|&(from, to)| node(process(from)) != node(process(to))).count()
    };
    let identity = |rank: usize| rank;
    match mapping.reason() {
        MappingReason::OneNode => assert!(one_node && mapping.cuts().is_none()),
        MappingReason::NotAsked => assert!(!one_node && !drawn.movable.contains(&true)),
        MappingReason::Mapped(objective) => {
            assert!(!one_node && drawn.movable.contains(&true));
            let [before, after] = mapping.cuts().expect("it was looked at");
            assert_eq!(before.edges, crossing(&identity));
            assert_eq!(after.edges, crossing(&|rank| processes[rank]));
            let key = |cut: Cut| match objective {
                Objective::Total => (cut.total, cut.maximum),
                Objective::Maximum => (cut.maximum, cut.total),
            };
            assert!(key(after) <= key(before));
            assert_eq!(objective == Objective::Maximum, drawn.hints[2] && !drawn.hints[3]);
        }
        reason => panic!("{reason:?} is new"),
    }
    let moved = (0..).zip(processes).filter(|(rank, process)| rank != *process).count();
    assert_eq!(mapping.moved(), moved);
    assert_eq!(graph.explain(), mapping.to_string());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..configuration() })]

    /// spec: 129, 130, 131, 132
    #[test]
    fn random_graphs_know_their_neighbours(drawn in graphs()) {
        on_ranks_with(drawn.to.len(), &drawn.settings(), |world| check(&drawn, world));
    }
}

/// A grid of 4 by 4 whose places have been dealt to the ranks without regard for the four nodes.
fn shuffled_grid() -> Drawn {
    let name = |place: usize| place * 5 % 16;
    let mut to = vec![Vec::new(); 16];
    for place in 0..16 {
        let grid = Cartesian::new(&[4, 4], &[false, false]).expect("no size is 0");
        let near = grid.ranks_at(place, Reach::Axis, &[true, true], 1).expect("a flag each");
        to[name(place)] = near.into_iter().map(name).collect();
    }
    let flags = || vec![true; 16];
    Drawn { to, weighed: flags(), movable: flags(), per_node: 4, hints: [false; 4] }
}

/// The order of ranks makes a difference: 16 edges of 48 cross between nodes, not all.
///
/// spec: 129
#[test]
fn reordering_lowers_the_cut() {
    let drawn = Drawn { weighed: vec![false; 16], ..shuffled_grid() };
    let told = on_ranks_with(16, &drawn.settings(), |world| {
        check(&drawn, world)?;
        Ok(drawn.create(world)?.explain())
    });
    println!("{}", told[0]);
    assert!(
        told[0].contains("now 16 edges of weight 65552 between nodes, 32776 at one"),
        "{told:?}"
    );
    // Each hint weighs its own; ranks that may not move stay, and the others do what they can.
    for (hints, movable) in [([true, false, true, false], 16), ([false, true, false, true], 9)] {
        let movable = (0..16).map(|rank| rank < movable).collect();
        let drawn = Drawn { hints, movable, ..shuffled_grid() };
        let cuts = on_ranks_with(16, &drawn.settings(), |world| {
            check(&drawn, world)?;
            let cuts = drawn.create(world)?.mapping().and_then(motet::Mapping::cuts);
            Ok(cuts.expect("it was looked at"))
        });
        let [before, after] = cuts[0];
        assert!(after.edges < before.edges, "{before:?} {after:?}");
        assert!(cuts.iter().all(|all| all == &cuts[0]));
    }
}

/// A rank that names somebody outside gets an error, the others a graph in which it has no edges.
///
/// spec: 131
#[test]
fn a_wrong_group_is_an_error_where_it_is_passed() {
    on_ranks(4, |world| {
        let me = world.rank();
        let three = world.split((me < 3).then_some(0), 0)?;
        let Some(three) = three else { return Ok(()) };
        let none: Option<&[Load]> = None;
        let outside = world.group().include(&[if me == 1 { 3 } else { 1 }])?;
        let graph = three.sparse_graph(&outside, none, Reorder::Allowed, &Info::new());
        if me == 1 {
            let error = graph.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Group, "{error}");
        } else {
            let (to, from) = graph?.neighbor_groups();
            assert_eq!((to.size(), from.size()), (1, 0));
        }
        let inside = three.group().include(&[0])?;
        let graph = three.sparse_graph(&inside, Some(&[]), Reorder::Never, &Info::new());
        assert!(matches!(graph.unwrap_err().kind(), ErrorKind::Length { len: 0, .. }));
        let error = three.graph_neighbor_groups().unwrap_err();
        assert_eq!(error.class(), ErrorClass::Topology);
        Ok(())
    });
}

/// Of a graph with several edges between two ranks, each neighbour is in the group once.
#[test]
fn groups_of_other_graphs() {
    on_ranks(3, |world| {
        let (next, before) = ((world.rank() + 1) % 3, (world.rank() + 2) % 3);
        let graph = world.graph_adjacent([before, before], [Some(next), None, Some(next)])?;
        let (to, from) = graph.neighbor_groups();
        assert_eq!((ranks(&to, &graph), ranks(&from, &graph)), (vec![next], vec![before]));
        assert_eq!(graph.mapping(), None);
        assert_eq!(graph.explain(), "identity: made by a call that does not reorder");
        let ring = world.graph_indexed(&[2, 4, 6], &[1, 2, 0, 2, 0, 1], Reorder::Never)?;
        let (to, from) = ring.expect("all are in it").graph_neighbor_groups()?;
        assert_eq!((to.size(), from.size()), (2, 2));
        Ok(())
    });
}

/// Says that the program is to be the ranks of a world of processes.
const CASE: &str = "MOTET_TEST_GROUPS";

/// The program runs itself, to become several processes; the environment spreads them over nodes.
///
/// spec: 128, 129, 130, 131, 132
#[test]
fn on_processes() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let _watchdog = Watchdog::start();
    if env::var(CASE).is_ok() {
        let world = motet::launch(6)?;
        let grid = world.cartesian(&[2, 3], &[false, true], Reorder::Never)?;
        let grid = grid.expect("a place for each rank");
        let near = grid.neighbor_group(&[true, true], 1)?;
        let expected = oracle(grid.topology(), grid.rank(), Reach::Axis, &[true, true], 1);
        assert_eq!(set(&near, &grid), expected);
        exchange(&grid, &near, &near)?;
        let to = vec![vec![3, 0], vec![4], vec![5, 2, 1], vec![0], vec![1, 2], vec![]];
        let movable = vec![true, true, false, true, true, true];
        let weighed = vec![false, true, true, false, true, false];
        let hints = [true, false, false, true];
        return Ok(check(&Drawn { to, weighed, movable, per_node: 2, hints }, &world)?);
    }
    let mut program = Command::new(env::current_exe()?);
    program.args(["--exact", "on_processes", "--nocapture"]).env(CASE, "1");
    program.env(motet::env::RANKS_PER_NODE, "2");
    let ended = program.stdin(Stdio::null()).output()?;
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    Ok(())
}
