//! Tests of the node-aware exchange: compares its results with those of plain exchanges, and counts
//! its messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use motet_plan::{Action, Call, Collective, Neighbour, NodeMap, Operation, Rank, algo};

use super::Layout;
use crate::collective::{CollectiveArgs, PreparedCall, blocking::output, input};
use crate::comm::communicator::Communicator;
use crate::data::buffer::RawSlice;
use crate::types::element::code_for;
use crate::worlds::{Random, on_ranks_with};
use crate::{Result, Settings};

/// A block to send: its sender, its number and its receiver.
#[derive(Clone, Copy, Debug)]
struct Item {
    from: usize,
    to: usize,
    block: usize,
}

/// Returns the length of a block; some blocks are empty.
fn length(source: usize, block: usize) -> usize {
    (3 * source + 5 * block) % 7
}

/// Returns an element of a block.
fn element(source: usize, block: usize, at: usize) -> u32 {
    (source * 10_000 + block * 100 + at) as u32
}

/// The lists of a rank, its input, and its expected output.
struct RankCase {
    to: Arc<[Neighbour]>,
    from: Arc<[Neighbour]>,
    input: Vec<u32>,
    expected: Vec<u32>,
}

impl RankCase {
    fn of(me: usize, items: &[Item]) -> RankCase {
        let (mut starts, mut input) = (BTreeMap::new(), Vec::new());
        let mut sent = |item: &Item| {
            let count = length(me, item.block);
            let start = *starts.entry(item.block).or_insert_with(|| {
                input.extend((0..count).map(|at| element(me, item.block, at)));
                input.len() - count
            });
            Neighbour { rank: Rank::from_index(item.to), start, count }
        };
        let to = items.iter().filter(|item| item.from == me).map(&mut sent).collect();
        let mut expected = Vec::new();
        let mut received = |item: &Item| {
            let count = length(item.from, item.block);
            expected.extend((0..count).map(|at| element(item.from, item.block, at)));
            let start = expected.len() - count;
            Neighbour { rank: Rank::from_index(item.from), start, count }
        };
        let from = items.iter().filter(|item| item.to == me).map(&mut received).collect();
        RankCase { to, from, input, expected }
    }

    fn call(&self, world: &Communicator) -> Call {
        Call {
            rank: Rank::from_index(world.rank()),
            ranks: world.size() as u32,
            element_bytes: size_of::<u32>(),
            in_place: false,
            nodes: NodeMap::ONE,
            operation: Operation::Exchangev { to: self.to.clone(), from: self.from.clone() },
        }
    }
}

/// Converts the call to an exchange among the nodes that `nodes` gives for the ranks.
fn widened(world: &Communicator, nodes: &[u32], call: &Call) -> Result<Option<Call>> {
    let own = nodes[world.rank()];
    let mates: Vec<_> = (0..nodes.len()).filter(|rank| nodes[*rank] == own).collect();
    let layout = Layout { node_of: &|rank| nodes[rank], mates: &mates };
    world.widen("exchangev_init", (call, code_for::<u32>()), &layout)
}

/// Elements that a rank sends to ranks of other nodes: source node, destination node, length.
type Across = Vec<(u32, u32, usize)>;

/// Runs the exchange routed by node, and returns the messages between nodes. `None` if the exchange
/// is not routed.
fn run(world: &Communicator, nodes: &[u32], name: &str, items: &[Item]) -> Result<Option<Across>> {
    let part = RankCase::of(world.rank(), items);
    let Some(wide) = widened(world, nodes, &part.call(world))? else { return Ok(None) };
    let mut received = vec![0; part.expected.len()];
    let shape = CollectiveArgs {
        operation: wide.operation.clone(),
        in_place: false,
        input: input(&part.input).unwrap_or(RawSlice::EMPTY),
        output: output(&mut received),
    };
    let packets = || world.core().engine().endpoint().packets();
    let before = packets();
    world.blocking(PreparedCall::new::<u32>("exchangev", shape, None))?;
    let sent = packets() - before;
    assert_eq!(received, part.expected, "rank {} of {nodes:?}: {items:?}", world.rank());
    let row = algo::find(Collective::NodeExchange, name).expect("a row");
    let plan = row.plan(&wide).expect("every row accepts it");
    assert_eq!(sent, plan.messages() as u64, "each message of the plan is one, and no other is");
    let own = nodes[world.rank()];
    let across = plan.steps().iter().filter_map(|step| match step {
        Action::Send { to, from, .. } => Some((own, nodes[to.index()], from.len)),
        _ => None,
    });
    Ok(Some(across.filter(|(from, to, _)| from != to).collect()))
}

/// Returns the result of each rank of a world, run under the watchdog.
fn on_nodes<T: Send>(
    nodes: &[u32],
    algorithm: &str,
    body: impl Fn(&Communicator) -> Result<T> + Sync,
) -> Vec<T> {
    let settings = Settings::new().algorithms(&format!("node_exchange={algorithm}"));
    let settings = settings.expect("the row is there");
    on_ranks_with(nodes.len(), &settings, |world| body(world))
}

/// Returns the necessary traffic between nodes: for each ordered pair, the number of messages (one
/// for each value of `bundle`) and the elements of all distinct blocks.
fn needed(
    nodes: &[u32],
    items: &[Item],
    bundle: fn(&Item) -> usize,
) -> BTreeMap<(u32, u32), (usize, usize)> {
    let pair = |item: &Item| (nodes[item.from], nodes[item.to]);
    let mut bundles: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    let mut blocks: BTreeMap<_, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for item in items.iter().filter(|item| nodes[item.from] != nodes[item.to]) {
        if length(item.from, item.block) > 0 {
            bundles.entry(pair(item)).or_default().insert(bundle(item));
            blocks.entry(pair(item)).or_default().insert((item.from, item.block));
        }
    }
    let elements = |pair| blocks[pair].iter().map(|(from, block)| length(*from, *block)).sum();
    bundles.iter().map(|(pair, bundles)| (*pair, (bundles.len(), elements(pair)))).collect()
}

/// Checks that all algorithms give the result of a plain exchange, with only the necessary traffic
/// between nodes.
fn verify(nodes: &[u32], items: &[Item]) {
    for (name, bundle) in [
        ("linear", None),
        ("two_step", Some((|item| item.from) as fn(&Item) -> usize)),
        ("three_step", Some(|_| 0)),
    ] {
        let seen = on_nodes(nodes, name, |world| run(world, nodes, name, items));
        let Some(seen) = seen.into_iter().collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut found: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
        for (from, to, len) in seen.into_iter().flatten() {
            let (messages, elements) = found.entry((from, to)).or_default();
            (*messages, *elements) = (*messages + 1, *elements + len);
        }
        if let Some(bundle) = bundle {
            assert_eq!(found, needed(nodes, items, bundle), "{name} on {nodes:?}: {items:?}");
        }
    }
}

fn all_to_all(ranks: usize, block: impl Fn(usize) -> usize + Copy) -> Vec<Item> {
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
    pairs.map(|(from, to)| Item { from, to, block: block(to) }).collect()
}

/// Routes exchanges on nodes of equal and of different sizes, and of non-consecutive ranks, with
/// one block for all destinations or one for each.
///
/// spec: 112, 114, 116, 126
#[test]
fn exchanges_are_routed_by_node() {
    let maps =
        [&[0, 0, 1, 1][..], &[5, 9, 5, 9, 5], &[0, 1, 1, 1, 1, 2], &[0, 0, 0, 0, 1, 1, 1, 1]];
    for nodes in maps {
        verify(nodes, &all_to_all(nodes.len(), |_| 1));
        verify(nodes, &all_to_all(nodes.len(), |to| to));
        let ring =
            (0..nodes.len()).map(|from| Item { from, to: (from + 1) % nodes.len(), block: 2 });
        verify(nodes, &ring.collect::<Vec<_>>());
    }
}

/// Routes random graphs with loops, empty blocks and repeated blocks on random maps of ranks to
/// nodes.
///
/// spec: 112, 114, 116, 126
#[test]
fn random_exchanges_are_routed_by_node() {
    for seed in 0..24 {
        let mut random = Random(seed);
        let ranks = 1 + random.below(9);
        let nodes: Vec<_> = (0..ranks).map(|_| random.below(4) as u32).collect();
        let item = |random: &mut Random| Item {
            from: random.below(ranks),
            to: random.below(ranks),
            block: random.below(4),
        };
        let items: Vec<_> = (0..random.below(40)).map(|_| item(&mut random)).collect();
        println!("seed {seed}");
        verify(&nodes, &items);
    }
}

/// If there is no traffic between nodes, or no messages can be combined, all ranks detect that
/// there is no choice.
#[test]
fn what_cannot_be_better_stays_as_it_is() {
    let pair = |from, to| Item { from, to, block: 3 };
    let cases: [&[Item]; 4] = [
        &[],
        &[pair(0, 1), pair(1, 0), pair(2, 3), pair(3, 3)],
        &[pair(0, 2)],
        &[pair(0, 2), pair(2, 1)],
    ];
    for items in cases {
        let seen = on_nodes(&[0, 0, 1, 1], "three_step", |world| {
            let part = RankCase::of(world.rank(), items);
            widened(world, &[0, 0, 1, 1], &part.call(world))
        });
        assert!(seen.iter().all(Option::is_none), "{items:?}");
    }
}

/// Nodes are those of the world, even for a communicator with another order of ranks; on one node
/// there is nothing to route.
#[test]
fn nodes_are_those_of_the_world() {
    for per_node in [0, 2, 3, 4] {
        let settings = Settings::new().ranks_per_node(per_node);
        let seen = on_ranks_with(4, &settings, |world| {
            let turned = world.split(Some(0), -(world.rank() as i64))?.expect("all have a colour");
            let part = RankCase::of(turned.rank(), &all_to_all(4, |_| 1));
            let wide =
                turned.routed_by_node("exchangev_init", &part.call(&turned), code_for::<u32>())?;
            Ok(wide.map(|wide| match wide.operation {
                Operation::NodeExchange { surroundings, .. } => {
                    let mates = surroundings.mates.iter().map(|mate| mate.rank.index());
                    (surroundings.node, mates.collect::<Vec<_>>())
                }
                operation => panic!("{operation:?}"),
            }))
        });
        let expected = match per_node {
            2 => [0, 0, 1, 1]
                .map(|node| Some((node, vec![2 - 2 * node as usize, 3 - 2 * node as usize]))),
            3 => [0, 0, 0, 1]
                .map(|node| Some((node, [vec![1, 2, 3], vec![0]][node as usize].clone()))),
            _ => [const { None }; 4],
        };
        assert_eq!(seen, expected, "{per_node} ranks on a node");
    }
}

/// If a rank gets blocks that it does not expect, or expects blocks that no rank sends, no rank
/// routes the exchange, and no rank waits forever.
#[test]
fn lists_that_do_not_fit_are_not_routed() {
    let items = all_to_all(4, |_| 1);
    for change in [-1, 0, 1] {
        let seen = on_nodes(&[0, 0, 1, 1], "three_step", |world| {
            let mut part = RankCase::of(world.rank(), &items);
            if world.rank() == 2 {
                let mut from = part.from.to_vec();
                match change {
                    -1 => drop(from.pop()),
                    0 => from[1].count += 1,
                    _ => from.push(Neighbour { count: 0, ..from[0] }),
                }
                part.from = from.into();
            }
            widened(world, &[0, 0, 1, 1], &part.call(world))
        });
        assert!(seen.iter().all(Option::is_none), "{change}");
    }
}

/// The messages that a rank needs to learn its neighbourhood do not increase with the number of
/// ranks, except for the rounds of two sparse exchanges. The agreement may gather at one rank, so
/// the test uses the median.
#[test]
fn surroundings_cost_what_the_neighbourhood_is() {
    let median = |ranks: usize| {
        let nodes: Vec<_> = (0..ranks).map(|rank| rank as u32 / 2).collect();
        let ring = (0..ranks).flat_map(|from| {
            [1, ranks - 1].map(|by| Item { from, to: (from + by) % ranks, block: 1 })
        });
        let items: Vec<_> = ring.collect();
        let mut seen = on_ranks_with(ranks, &Settings::new(), |world| {
            let call = RankCase::of(world.rank(), &items).call(world);
            let packets = || world.core().engine().endpoint().packets();
            let before = packets();
            widened(world, &nodes, &call)?;
            Ok(packets() - before)
        });
        seen.sort_unstable();
        seen[ranks / 2] - 2 * u64::from(ranks.ilog2())
    };
    // Two neighbours and a mate; what is sent synchronously is answered with another packet. And
    // one packet for the agreement.
    assert_eq!((median(8), median(32)), (7, 7));
}
