//! Exchanges over several nodes: what an enforced init makes of them.

mod worlds;

use std::collections::BTreeMap;

use motet::{
    ErrorKind, Info, Neighbour, Persistent, Result, Settings, World,
    hint::{ENFORCE, PREVIOUS, REUSE},
    threads_with,
};
use worlds::{Random, Watchdog, on_ranks_with};

/// The names of the rows.
const ROWS: [&str; 3] = ["linear", "two_step", "three_step"];

fn info(keys: &[&str]) -> Info {
    keys.iter().fold(Info::new(), |info, key| info.with(*key, "true"))
}

/// So many ranks on each node, and this way to route exchanges.
fn forced(per_node: usize, row: &str) -> Settings {
    let settings = Settings::new().ranks_per_node(per_node);
    settings.algorithms(&format!("node_exchange={row}")).expect("there is such a row")
}

/// Who sends which block to whom.
type Item = (usize, usize, usize);

fn length(source: usize, block: usize) -> usize {
    (3 * source + 5 * block) % 7
}

fn element(source: usize, block: usize, at: usize, round: u64) -> u64 {
    (source * 10_000 + block * 100 + at) as u64 + 1_000_000 * round
}

/// The lists of a rank and the length of its output. The input has all seven lengths of all
/// blocks, and each block lies there once.
fn lists(me: usize, items: &[Item]) -> (Vec<Neighbour>, Vec<Neighbour>, usize) {
    let start = |block| (0..block).map(|block| length(me, block)).sum();
    let sent = items.iter().filter(|(from, ..)| *from == me);
    let to = sent.map(|&(_, rank, block)| Neighbour {
        rank,
        start: start(block),
        count: length(me, block),
    });
    let mut end = 0;
    let received = items.iter().filter(|(_, to, _)| *to == me);
    let from = received.map(|&(rank, _, block)| {
        let count = length(rank, block);
        end += count;
        Neighbour { rank, start: end - count, count }
    });
    let from: Vec<_> = from.collect();
    (to.collect(), from, end)
}

const BLOCKS: usize = 4;

/// The input of a rank, or what it receives.
fn input(me: usize, round: u64) -> Vec<u64> {
    let block = |block| (0..length(me, block)).map(move |at| element(me, block, at, round));
    (0..BLOCKS).flat_map(block).collect()
}

fn expected(me: usize, items: &[Item], round: u64) -> Vec<u64> {
    let received = items.iter().filter(|(_, to, _)| *to == me);
    let block = |&(from, _, block): &Item| {
        (0..length(from, block)).map(move |at| element(from, block, at, round))
    };
    received.flat_map(block).collect()
}

/// Makes the exchange of these items, and runs it three times.
fn exchange(
    world: &World,
    items: &[Item],
    info: &Info,
) -> Result<Persistent<(Vec<u64>, Vec<u64>)>> {
    let me = world.rank();
    let (to, from, len) = lists(me, items);
    let mut made = world.exchangev_init((input(me, 0), vec![u64::MAX; len]), &to, &from, info)?;
    assert_eq!(made.input(), input(me, 0), "an init touches no input");
    assert!(made.output().iter().all(|element| *element == u64::MAX), "and no output");
    for round in 1..4 {
        made.input_mut().copy_from_slice(&input(me, round));
        made.run()?;
        assert_eq!(made.output(), expected(me, items, round), "{items:?}");
    }
    Ok(made)
}

/// All ranks send one block to all.
fn all_to_all(ranks: usize) -> Vec<Item> {
    (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to, 1))).collect()
}

/// A way that is asked for by name is taken in an enforced init, and in no other; results are the
/// same.
///
/// spec: 114, 116, 126
#[test]
fn an_enforced_exchange_is_routed_by_node() {
    for row in ROWS {
        for (ranks, per_node) in [(4, 2), (5, 2), (7, 3), (8, 4), (6, 1)] {
            on_ranks_with(ranks, &forced(per_node, row), |world| {
                let items = all_to_all(ranks);
                // With each rank on its own node there is nothing that could share a message.
                let taken = if per_node == 1 { "linear" } else { row };
                assert_eq!(exchange(world, &items, &info(&[ENFORCE]))?.algorithm(), taken);
                assert_eq!(exchange(world, &items, &Info::new())?.algorithm(), "linear");
                Ok(())
            });
        }
    }
}

/// Random graphs, with loops, empty blocks and the same block often, on nodes of several sizes.
///
/// spec: 114, 116, 126
#[test]
fn random_exchanges_are_routed_by_node() {
    for seed in 0..12 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let (ranks, per_node) = (2 + random.below(9), 1 + random.below(4));
        let item =
            |random: &mut Random| (random.below(ranks), random.below(ranks), random.below(BLOCKS));
        let items: Vec<_> = (0..random.below(60)).map(|_| item(&mut random)).collect();
        for row in ROWS {
            on_ranks_with(ranks, &forced(per_node, row), |world| {
                exchange(world, &items, &info(&[ENFORCE])).map(drop)
            });
        }
    }
}

/// Where nobody has asked for one, all ways are measured, and all ranks take the same. On one node
/// there is nothing to measure.
///
/// spec: 126
#[test]
fn routings_are_measured() {
    for (per_node, is_measured) in [(2, true), (0, false), (8, false)] {
        let told = on_ranks_with(6, &Settings::new().ranks_per_node(per_node), |world| {
            let made = exchange(world, &all_to_all(6), &info(&[ENFORCE]))?;
            let told = made.explain();
            assert_eq!(told.contains("measured: "), is_measured, "{told}");
            for row in ROWS {
                assert!(!is_measured || told.contains(row), "{row}: {told}");
            }
            assert_eq!(world.cache_counters().choices_learned, u64::from(is_measured));
            Ok(made.algorithm())
        });
        assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");
        assert!(is_measured || told[0] == "linear");
    }
}

/// What was measured once is used again where that is wanted, and not measured again.
///
/// spec: 127
#[test]
fn a_routing_is_learned() {
    let told = on_ranks_with(6, &Settings::new().ranks_per_node(3), |world| {
        let keys = info(&[ENFORCE, REUSE, PREVIOUS]);
        let first = exchange(world, &all_to_all(6), &keys)?;
        let counters = world.cache_counters();
        assert_eq!((counters.previous_misses, counters.choices_learned), (1, 1));
        let second = exchange(world, &all_to_all(6), &keys)?;
        let counters = world.cache_counters();
        assert_eq!((counters.previous_hits, counters.choices_learned), (1, 1));
        assert_eq!(first.algorithm(), second.algorithm());
        Ok(first.algorithm())
    });
    assert!(told.iter().all(|row| ROWS.contains(row)));
}

/// What was learned of one exchange is not taken for another.
///
/// spec: 127
#[test]
fn lessons_of_several_exchanges_are_kept_apart() {
    on_ranks_with(4, &Settings::new().ranks_per_node(2), |world| {
        let keys = info(&[ENFORCE, REUSE, PREVIOUS]);
        let patterns = [all_to_all(4), vec![(0, 2, 1), (1, 2, 3)], vec![(0, 2, 1), (0, 3, 1)]];
        let mut learned = BTreeMap::new();
        for turn in 0..3 {
            for (at, items) in patterns.iter().enumerate() {
                let row = exchange(world, items, &keys)?.algorithm();
                assert_eq!(*learned.entry(at).or_insert(row), row, "turn {turn}");
            }
        }
        let counters = world.cache_counters();
        assert_eq!((counters.previous_misses, counters.previous_hits), (3, 6));
        Ok(())
    });
}

/// The collectives among neighbours are exchanges; where a rank sends one block to all its
/// neighbours, it passes to another node once.
///
/// spec: 114, 126
#[test]
fn collectives_among_neighbours_are_routed_by_node() {
    for row in ROWS {
        on_ranks_with(8, &forced(4, row), |world| {
            let (me, all) = (world.rank(), 0..8usize);
            let others: Vec<usize> = all.filter(|rank| *rank != me).collect();
            let graph = world.graph_adjacent(others.clone(), others.clone())?;
            let keys = info(&[ENFORCE]);
            let buffers = (vec![me as u32, 10], vec![0; 14]);
            let mut gather = graph.neighbor_allgather_init(buffers, &keys)?;
            gather.run()?;
            let expected: Vec<u32> = others.iter().flat_map(|rank| [*rank as u32, 10]).collect();
            assert_eq!((gather.algorithm(), gather.output()), (row, &expected[..]));
            let sent: Vec<u32> = others.iter().map(|to| (10 * me + to) as u32).collect();
            let mut all = graph.neighbor_alltoall_init((sent, vec![0u32; 7]), &keys)?;
            all.run()?;
            let expected: Vec<u32> = others.iter().map(|from| (10 * from + me) as u32).collect();
            assert_eq!((all.algorithm(), all.output()), (row, &expected[..]));
            let mut plain =
                world.exchange_init((vec![me; 7], vec![0; 7]), &others, &others, &keys)?;
            plain.run()?;
            assert_eq!((plain.algorithm(), plain.output()), (row, &others[..]));
            let buffers = (vec![me; 2], vec![0; 14]);
            let mut told = world.neighbor_bcast_init(buffers, &others, &others, &keys)?;
            told.run()?;
            let expected: Vec<usize> = others.iter().flat_map(|rank| [*rank; 2]).collect();
            assert_eq!((told.algorithm(), told.output()), (row, &expected[..]));
            Ok(())
        });
    }
}

/// With check mode on, an exchange that is routed by node is no other call than a plain one.
#[test]
fn check_mode_sees_one_call() {
    let settings = forced(2, "three_step").check();
    on_ranks_with(5, &settings, |world| {
        for keys in [&[ENFORCE][..], &[]] {
            exchange(world, &all_to_all(5), &info(keys))?;
        }
        Ok(())
    });
}

/// Lists that do not fit are found before anybody routes anything, on all ranks.
///
/// spec: 113
#[test]
fn lists_that_do_not_fit_are_named() {
    let _watchdog = Watchdog::start();
    let ended = threads_with(4, &forced(2, "three_step"), |world| {
        let to: &[usize] = if world.rank() == 1 { &[3] } else { &[] };
        let made =
            world.exchange_init((vec![0u8; to.len()], vec![0u8; 0]), to, &[], &info(&[ENFORCE]));
        made.map(drop).expect_err("rank 3 does not expect it")
    });
    for error in ended.expect("no rank dies") {
        assert!(matches!(error.kind(), ErrorKind::Differs { .. }), "{error}");
        assert!(error.to_string().contains("what rank 1 sends to rank 3"), "{error}");
    }
}

/// Two ranks may exchange elements of one type and two others those of another. Then no rank may
/// carry blocks of others, as it does not know what they are.
///
/// spec: 116
#[test]
fn pairs_of_different_types_are_not_routed() {
    fn swap<T: motet::Element + From<u8> + PartialEq>(world: &World) -> Result<&'static str> {
        let (me, keys) = (world.rank() as u8, info(&[ENFORCE]));
        let partner = [(world.rank() + 2) % 4];
        // Twice the same block, so that there is something to gain.
        let to = [partner[0]; 2].map(|rank| Neighbour { rank, start: 0, count: 8 });
        let from = [0, 8].map(|start| Neighbour { rank: partner[0], start, count: 8 });
        let buffers = (vec![T::from(me); 8], vec![T::from(99); 16]);
        let mut made = world.exchangev_init(buffers, &to, &from, &keys)?;
        made.run()?;
        assert!(made.output().iter().all(|element| *element == T::from((me + 2) % 4)));
        Ok(made.algorithm())
    }
    let settings = forced(2, "three_step");
    let same = on_ranks_with(4, &settings, swap::<u32>);
    assert_eq!(same, ["three_step"; 4]);
    let mixed = |world: &World| match world.rank() % 2 {
        0 => swap::<u32>(world),
        _ => swap::<u64>(world),
    };
    assert_eq!(on_ranks_with(4, &settings, mixed), ["linear"; 4]);
    let of_one_size = |world: &World| match world.rank() % 2 {
        0 => swap::<u32>(world),
        _ => swap::<f32>(world),
    };
    assert_eq!(on_ranks_with(4, &settings, of_one_size), ["linear"; 4]);
}
