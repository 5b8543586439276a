//! Exchanges among nodes: verified on many graphs and many maps of ranks to nodes, and counted.

mod cases;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cases::{check, plans};
use motet_plan::nodes::{self, Lists, everybody, numbers};
use motet_plan::spec::{self, SpecError};
use motet_plan::{
    Action, Call, CallError, Collective, Demands, Neighbour, NodeKnowledge, Operation, Plan, Rank,
    algo,
};
use proptest::prelude::*;

/// The names of the rows.
const ROWS: [&str; 3] = ["linear", "two_step", "three_step"];

/// A block on its way: which rank sends which of its blocks to which rank.
#[derive(Clone, Copy, Debug)]
struct Item {
    from: u32,
    to: u32,
    block: usize,
}

/// The length of a block: some are empty.
fn length(source: u32, block: usize) -> usize {
    (source as usize + 2 * block) % 4
}

/// The lists of all ranks, with `gap` elements before each block. Blocks of a source lie in the
/// input once, however often they are sent.
fn lists(ranks: u32, gap: usize, items: &[Item]) -> Vec<Lists> {
    let list = |me: u32| -> Lists {
        let (mut places, mut end) = (BTreeMap::new(), 0);
        let mut sent = |item: &Item| {
            let count = length(me, item.block);
            let start = *places.entry(item.block).or_insert_with(|| {
                let start = end + gap;
                end = start + count;
                start
            });
            Neighbour { rank: Rank(item.to), start, count }
        };
        let to = items.iter().filter(|item| item.from == me).map(&mut sent).collect();
        let mut end = 0;
        let mut received = |item: &Item| {
            let (start, count) = (end + gap, length(item.from, item.block));
            end = start + count;
            Neighbour { rank: Rank(item.from), start, count }
        };
        let from = items.iter().filter(|item| item.to == me).map(&mut received).collect();
        (to, from)
    };
    (0..ranks).map(list).collect()
}

fn exchange(nodes: &[u32], gap: usize, items: &[Item]) -> Vec<Call> {
    everybody(nodes, &lists(nodes.len() as u32, gap, items), 8)
}

/// Plans of a row that have passed the verifier.
fn verified(name: &str, calls: &[Call], seeds: u64) -> Result<Vec<Plan>, String> {
    let row = algo::find(Collective::NodeExchange, name).ok_or("no such row")?;
    let plans = plans(row, calls);
    let text = |violation| format!("{name}: {violation} in {:?}", calls[0]);
    check(calls, &plans, seeds).map_err(text)?;
    Ok(plans)
}

/// What passes between two nodes: messages and elements, by ordered pair.
fn between_nodes(nodes: &[u32], plans: &[Plan]) -> BTreeMap<(u32, u32), (usize, usize)> {
    let mut between = BTreeMap::new();
    for plan in plans {
        for step in plan.steps() {
            let Action::Send { to, from, .. } = step else { continue };
            let pair = (nodes[plan.rank().index()], nodes[to.index()]);
            let (messages, elements): &mut (usize, usize) = between.entry(pair).or_default();
            (*messages, *elements) = (*messages + 1, *elements + from.len);
        }
    }
    between.retain(|(from, to), _| from != to);
    between
}

/// What must pass: for each ordered pair of nodes a message for what `bundle` tells apart, and each
/// distinct block once for each of them.
fn needed<K: Ord>(
    nodes: &[u32],
    items: &[Item],
    bundle: impl Fn(&Item) -> K,
) -> BTreeMap<(u32, u32), (usize, usize)> {
    let node = |rank: u32| nodes[rank as usize];
    let mut messages: BTreeMap<_, BTreeSet<K>> = BTreeMap::new();
    let mut blocks: BTreeMap<_, BTreeSet<(u32, usize)>> = BTreeMap::new();
    for item in items.iter().filter(|item| node(item.from) != node(item.to)) {
        if length(item.from, item.block) > 0 {
            let pair = (node(item.from), node(item.to));
            messages.entry(pair).or_default().insert(bundle(item));
            blocks.entry(pair).or_default().insert((item.from, item.block));
        }
    }
    let elements =
        |pair: &(u32, u32)| blocks[pair].iter().map(|(from, it)| length(*from, *it)).sum();
    messages.iter().map(|(pair, them)| (*pair, (them.len(), elements(pair)))).collect()
}

/// Verifies all rows, and counts what passes between nodes, and what the cost model is told.
fn verify_and_count(nodes: &[u32], gap: usize, items: &[Item], seeds: u64) -> Result<(), String> {
    let calls = exchange(nodes, gap, items);
    let by_node = needed(nodes, items, |_| ());
    let by_source = needed(nodes, items, |item| item.from);
    for name in ROWS {
        let plans = verified(name, &calls, seeds)?;
        let found = between_nodes(nodes, &plans);
        let is_right = match name {
            "three_step" => found == by_node,
            "two_step" => found == by_source,
            _ => found.keys().eq(by_node.keys()),
        };
        if !is_right {
            return Err(format!("{name}: {found:?}, {by_node:?} on {nodes:?}, {items:?}"));
        }
        let row = algo::find(Collective::NodeExchange, name).ok_or("no such row")?;
        let (predicted, counted) = (row.cost(&calls[0]), busiest(&plans));
        let messages = predicted.rounds + predicted.extra_sends;
        if [messages, predicted.bytes, predicted.copied] != counted {
            return Err(format!("{name}: {predicted:?}, but {counted:?}"));
        }
        if let Some(call) = calls.iter().find(|call| row.cost(call) != predicted) {
            return Err(format!("{name}: {call:?} predicts another cost"));
        }
    }
    Ok(())
}

/// Messages one way, bytes one way and bytes copied: of each the most that a rank has.
fn busiest(plans: &[Plan]) -> [usize; 3] {
    let count = |plan: &Plan, of: fn(&Action) -> bool| {
        let steps: Vec<_> = plan.steps().iter().filter(|step| of(step)).collect();
        (steps.len(), 8 * steps.iter().map(|step| step.elements()).sum::<usize>())
    };
    let mut most = [0; 3];
    for plan in plans {
        let sent = count(plan, |step| matches!(step, Action::Send { .. }));
        let received = count(plan, |step| matches!(step, Action::Recv { .. }));
        let copied = count(plan, |step| matches!(step, Action::Copy { .. }));
        let own = [sent.0.max(received.0), sent.1.max(received.1), copied.1];
        most = [0, 1, 2].map(|at| most[at].max(own[at]));
    }
    most
}

/// Maps of so many ranks to nodes: side by side, dealt out like cards, of sizes that differ, each
/// rank its own, all one, and with numbers that are far apart.
fn maps(ranks: u32) -> Vec<Vec<u32>> {
    let map = |node: &dyn Fn(u32) -> u32| (0..ranks).map(node).collect();
    vec![
        map(&|rank| rank / 2),
        map(&|rank| rank / 4),
        map(&|rank| rank % 3),
        map(&|rank| u32::from(rank > 0)),
        map(&|rank| rank),
        map(&|_| 0),
        map(&|rank| u32::MAX - 1000 * (rank % 2)),
    ]
}

/// Graphs: none, each to all others and itself with one block, or with a block for each, a ring, a
/// star in and out, everything twice.
fn graphs(ranks: u32) -> Vec<Vec<Item>> {
    let item = |from: u32, to: u32, block: usize| Item { from, to: to % ranks, block };
    let pairs = || (0..ranks).flat_map(move |from| (0..ranks).map(move |to| (from, to)));
    let same: Vec<_> = pairs().map(|(from, to)| item(from, to, 1)).collect();
    let own: Vec<_> = pairs().map(|(from, to)| item(from, to, to as usize)).collect();
    let ring = (0..ranks).flat_map(|me| [item(me, me + 1, 1), item(me, me + ranks - 1, 3)]);
    let star = (1..ranks).flat_map(|leaf| [item(leaf, 0, 0), item(0, leaf, 1), item(leaf, 0, 2)]);
    let twice = same.iter().chain(own.iter().rev()).chain(&same).copied().collect();
    vec![Vec::new(), same, own, ring.collect(), star.collect(), twice]
}

/// Every row on every small graph and map: right results, one message for each pair of nodes with
/// gateways and for each source and node with forwarders, each block once in them, and a predicted
/// cost that is what the busiest rank has to do.
///
/// spec: 112, 114, 116
#[test]
fn small_graphs_on_all_maps() {
    for ranks in 1..=9 {
        for nodes in maps(ranks) {
            for (gap, items) in graphs(ranks).into_iter().enumerate() {
                verify_and_count(&nodes, gap % 2, &items, 3).unwrap();
            }
        }
    }
}

/// Ranks that are on a few nodes in any way, and blocks that go anywhere, some of them often.
fn picture() -> impl Strategy<Value = (Vec<u32>, Vec<Item>)> {
    prop::collection::vec(0..6u32, 1..=32).prop_flat_map(|nodes| {
        let ranks = nodes.len() as u32;
        let item = (0..ranks, 0..ranks, 0..4usize);
        let item = item.prop_map(|(from, to, block)| Item { from, to, block });
        (Just(nodes), prop::collection::vec(item, 0..160))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// spec: 112, 114, 116
    #[test]
    fn random_graphs_on_random_maps((nodes, items) in picture(), gap in 0..3usize) {
        verify_and_count(&nodes, gap, &items, 2).map_err(TestCaseError::fail)?;
    }
}

/// With two nodes of four ranks that all send one block to all: one message each way, in which each
/// of four blocks is once, where without nodes 16 blocks pass each way.
#[test]
fn a_broadcast_to_all_passes_once() {
    let nodes = [0, 0, 0, 0, 1, 1, 1, 1];
    let pairs = (0..8).flat_map(|from| (0..8).map(move |to| Item { from, to, block: 4 }));
    let calls = exchange(&nodes, 0, &pairs.collect::<Vec<_>>());
    let elements: [usize; 2] =
        [(0..4).map(|rank| length(rank, 4)).sum(), (4..8).map(|rank| length(rank, 4)).sum()];
    // One rank of each node has an empty block.
    for (name, messages, times) in [("linear", 12, 4), ("two_step", 3, 1), ("three_step", 1, 1)] {
        let found = between_nodes(&nodes, &verified(name, &calls, 4).unwrap());
        let expected = [((0, 1), elements[0]), ((1, 0), elements[1])]
            .map(|(pair, elements)| (pair, (messages, times * elements)));
        assert_eq!(found, BTreeMap::from(expected), "{name}");
    }
}

/// Each of eight nodes of eight ranks has blocks for each other one: no rank sends or receives more
/// than two of the seven messages of its node.
#[test]
fn gateways_take_turns() {
    let nodes: Vec<_> = (0..64).map(|rank| rank / 8).collect();
    let items = (0..64).flat_map(|from| {
        (0..64).map(move |to| Item { from, to, block: 2 * to as usize + 1 - from as usize % 2 })
    });
    let calls = exchange(&nodes, 0, &items.collect::<Vec<_>>());
    let row = algo::find(Collective::NodeExchange, "three_step").unwrap();
    let (mut sent, mut received) = (vec![0; 64], vec![0; 64]);
    for plan in plans(row, &calls) {
        for step in plan.steps() {
            let Action::Send { to, .. } = step else { continue };
            if nodes[to.index()] != nodes[plan.rank().index()] {
                sent[plan.rank().index()] += 1;
                received[to.index()] += 1;
            }
        }
    }
    assert_eq!((sent.iter().sum::<i32>(), received.iter().sum::<i32>()), (56, 56));
    assert!(sent.iter().chain(&received).all(|messages| *messages <= 2), "{sent:?} {received:?}");
}

/// Two mates hand each other at most one message, whatever the number of nodes behind.
#[test]
fn what_is_handed_over_is_one_message() {
    let nodes: Vec<_> = (0..24).map(|rank| rank / 3).collect();
    let items = (21..24).flat_map(|from| (0..21).map(move |to| Item { from, to, block: 0 }));
    let calls = exchange(&nodes, 0, &items.collect::<Vec<_>>());
    for plan in &verified("three_step", &calls, 2).unwrap()[21..] {
        let mut handed = BTreeMap::new();
        for step in plan.steps() {
            if let Action::Send { to: Rank(to @ 21..24), .. } = step {
                *handed.entry(*to).or_insert(0) += 1;
            }
        }
        assert_eq!(handed.into_values().collect::<Vec<_>>(), [1, 1], "{}", plan.rank());
    }
}

/// A block that is alone in its parcel is copied nowhere.
#[test]
fn what_lies_in_one_piece_is_not_copied() {
    let nodes = [0, 1, 1];
    let calls = exchange(&nodes, 1, &[1, 2].map(|to| Item { from: 0, to, block: 1 }));
    for name in ROWS {
        let plans = verified(name, &calls, 4).unwrap();
        assert_eq!(busiest(&plans)[2], 0, "{name}");
        assert!(plans.iter().all(|plan| plan.scratch_len() == 0), "{name}");
    }
}

/// The size of what a rank knows is that of the neighbourhood of its node: it does not grow with
/// the number of ranks.
#[test]
fn knowledge_is_of_the_neighbourhood() {
    let known = |ranks: u32| {
        let nodes: Vec<_> = (0..ranks).map(|rank| rank / 4).collect();
        let ring = (0..ranks).flat_map(|from| {
            [1, ranks - 1].map(|by| Item { from, to: (from + by) % ranks, block: by as usize % 2 })
        });
        let calls = exchange(&nodes, 0, &ring.collect::<Vec<_>>());
        let surroundings = surroundings(&calls[5]);
        let edges = surroundings.mates.iter().map(|mate| mate.to.len() + mate.from.len());
        (surroundings.mates.len(), edges.sum::<usize>())
    };
    assert_eq!(known(16), (4, 16));
    assert_eq!(known(400), (4, 16));
}

#[test]
fn blocks_are_numbered_by_their_places() {
    let to = [(3, 0, 2), (1, 2, 2), (0, 0, 2), (0, 0, 1), (2, 2, 2)];
    let to = to.map(|(rank, start, count)| Neighbour { rank: Rank(rank), start, count });
    assert_eq!(numbers(&to), [0, 1, 0, 2, 1]);
}

fn surroundings(call: &Call) -> &NodeKnowledge {
    match &call.operation {
        Operation::NodeExchange { surroundings, .. } => surroundings,
        operation => panic!("{operation:?}"),
    }
}

/// The call with other knowledge.
fn knowing(call: &Call, change: impl FnOnce(&mut NodeKnowledge)) -> Call {
    let mut call = call.clone();
    let Operation::NodeExchange { surroundings, .. } = &mut call.operation else { unreachable!() };
    change(Arc::make_mut(surroundings));
    call
}

/// A ring of six ranks on three nodes, each with a block of some length for each neighbour.
fn ring() -> Vec<Call> {
    let ring = (0..6).flat_map(|from| {
        let first = usize::from(from / 2 % 2 == 0);
        [(1, first), (5, first + 2)].map(|(by, block)| Item { from, to: (from + by) % 6, block })
    });
    exchange(&[0, 0, 1, 1, 2, 2], 0, &ring.collect::<Vec<_>>())
}

/// Changes one entry of the list of what a mate sends.
fn edit(surroundings: &mut NodeKnowledge, mate: usize, change: impl FnOnce(&mut motet_plan::Edge)) {
    let mates = Arc::make_mut(&mut surroundings.mates);
    change(&mut Arc::make_mut(&mut mates[mate].to)[0]);
}

/// What does not fit together is found by the rank that knows it.
#[test]
fn knowledge_is_checked() {
    let calls = ring();
    assert_eq!(calls[2].check(), Ok(()));
    let wrong = |change: &dyn Fn(&mut NodeKnowledge)| match knowing(&calls[2], change).check() {
        Err(CallError::Surroundings { rank: Rank(2), what }) => what,
        other => panic!("{other:?}"),
    };
    let order = "ranks are out of order or out of range";
    assert_eq!(wrong(&|it| Arc::make_mut(&mut it.mates).reverse()), order);
    assert_eq!(wrong(&|it| edit(it, 1, |edge| edge.rank = Rank(6))), order);
    assert_eq!(wrong(&|it| it.mates = it.mates[1..].into()), "it is not on its own node");
    assert_eq!(
        wrong(&|it| edit(it, 0, |edge| edge.count += 1)),
        "its own lists are not those of the call"
    );
    assert_eq!(
        wrong(&|it| edit(it, 0, |edge| edge.block = 1)),
        "its blocks are not numbered by their places"
    );
    assert_eq!(wrong(&|it| edit(it, 1, |edge| edge.node = 1)), "a rank is on two nodes");
    assert_eq!(wrong(&|it| it.node = 2), "a rank is on two nodes");
    let twice = |it: &mut NodeKnowledge| {
        edit(it, 1, |edge| (edge.block, edge.count) = (1, edge.count + 1));
    };
    assert_eq!(wrong(&twice), "a block has two lengths");
    let silent = |it: &mut NodeKnowledge| Arc::make_mut(&mut it.mates)[1].from = [].into();
    assert_eq!(wrong(&silent), "two ranks of the node do not exchange the same blocks");
}

/// What two ranks know differently is found by the specification.
#[test]
fn knowledge_is_shared() {
    let calls = ring();
    assert!(spec::expected(&calls).is_ok());
    let differ = |ranks: &[usize], change: &dyn Fn(&mut NodeKnowledge)| {
        let mut calls = calls.clone();
        ranks.iter().for_each(|rank| calls[*rank] = knowing(&calls[*rank], change));
        match spec::expected(&calls) {
            Err(SpecError::Knowledge { first, rank, what }) => (first.0, rank.0, what),
            other => panic!("{other:?}"),
        }
    };
    let demand = |it: &mut NodeKnowledge| it.demands.linear.messages += 1;
    assert_eq!(differ(&[3], &demand), (2, 3, "things of their node"));
    assert_eq!(differ(&[2, 3], &demand), (0, 2, "demands"));
    let moved = |it: &mut NodeKnowledge| {
        let mates = Arc::make_mut(&mut it.mates);
        let edges = Arc::make_mut(&mut mates[1].to).iter_mut();
        let edges = edges.chain(Arc::make_mut(&mut mates[1].from));
        edges.filter(|edge| edge.rank == Rank(4)).for_each(|edge| edge.node = 7);
    };
    assert_eq!(differ(&[2, 3], &moved), (3, 4, "nodes"));
    let renamed = |it: &mut NodeKnowledge| edit(it, 1, |edge| edge.block = 9);
    assert_eq!(differ(&[2, 3], &renamed), (3, 4, "numbers of blocks"));
}

/// The demands of a rank do not depend on those that were agreed before.
#[test]
fn demands_are_agreed_by_a_maximum() {
    let calls = ring();
    let agreed = surroundings(&calls[0]).demands;
    let own = calls
        .iter()
        .map(|call| nodes::demands(&knowing(call, |it| it.demands = Demands::default())));
    assert_eq!(own.fold(Demands::default(), Demands::max), agreed);
    assert_eq!((agreed.linear.messages, agreed.linear.copied), (2, 0));
}
