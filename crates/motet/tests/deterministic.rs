//! Reductions whose result must not depend on anything but the call: not one bit of it.

mod worlds;

use std::thread;
use std::time::Duration;

use motet::{Info, Result, Settings, Sum, World, hint::DETERMINISTIC};
use worlds::on_ranks_with;

/// Ways to run that are to make no difference.
fn variants() -> Vec<(&'static str, Settings)> {
    let forced = |text: &'static str| {
        (text, Settings::new().algorithms(text).unwrap_or_else(|error| panic!("{error}")))
    };
    let wisdom = "allreduce -> linear\nreduce -> binomial\nscan -> recursive_doubling";
    let wise = Settings::new().wisdom(wisdom).unwrap_or_else(|error| panic!("{error}"));
    vec![
        ("left to the library", Settings::new()),
        ("by wisdom", wise),
        ("without channels", Settings::new().without_channels()),
        ("in pieces", Settings::new().without_single_copy()),
        ("in check mode", Settings::new().check()),
        forced("allreduce=linear,reduce=linear,scan=linear,exscan=linear"),
        forced("allreduce=ring,reduce=binomial,reduce_scatter_block=ring"),
        forced("allreduce=recursive_doubling,reduce_scatter_block=linear"),
        forced("scan=recursive_doubling,exscan=recursive_doubling,reduce_scatter=linear"),
    ]
}

/// Numbers of very different size, so that each order of adding them gives another sum.
fn values(rank: usize, count: usize) -> Vec<f64> {
    let value = |at: usize| {
        let mixed = (at * 31 + rank * 17 + 5) % 23;
        (1.0 + (at * rank) as f64 / 7.0) * 10f64.powi(mixed as i32 - 11)
    };
    (0..count).map(value).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn hint(value: &str) -> Info {
    Info::new().with(DETERMINISTIC, value)
}

/// What persistent reductions with this hint come to, each of them twice.
fn persistent(world: &World, count: usize, info: &Info) -> Result<Vec<u64>> {
    let (me, ranks) = (world.rank(), world.size());
    let own = || values(me, count);
    let blocks = || (values(me, count * ranks), vec![0.0; count]);
    let mut found = vec![];
    let mut operations = vec![
        world.allreduce_init((own(), vec![0.0; count]), Sum, info)?,
        world.scan_init((own(), vec![0.0; count]), Sum, info)?,
        world.exscan_init((own(), vec![0.0; count]), Sum, info)?,
        world.reduce_scatter_block_init(blocks(), Sum, info)?,
        world.reduce_scatter_init(blocks(), &vec![count; ranks], Sum, info)?,
    ];
    let output = if me == 0 { vec![0.0; count] } else { vec![] };
    operations.push(world.reduce_init((own(), output), Sum, 0, info)?);
    for operation in &mut operations {
        for _ in 0..2 {
            operation.run()?;
            found.extend(bits(operation.output()));
        }
    }
    Ok(found)
}

/// The same by the other forms, on a communicator with this hint.
fn immediate(world: &World, count: usize) -> Result<Vec<u64>> {
    let (me, ranks) = (world.rank(), world.size());
    let (own, mut sum) = (values(me, count), vec![0.0; count]);
    let mut found = vec![];
    world.allreduce(&own, &mut sum, Sum)?;
    found.extend(bits(&sum));
    found.extend(bits(&world.iallreduce(own.clone(), Sum)?.wait()?));
    found.extend(bits(&world.iscan((own.clone(), sum.clone()), Sum)?.wait()?.1));
    let blocks = (values(me, count * ranks), sum);
    found.extend(bits(&world.ireduce_scatter_block(blocks, Sum)?.wait()?.1));
    Ok(found)
}

/// spec: 83
#[test]
fn persistent_reductions_with_the_hint_have_the_same_bits_however_they_run() {
    for (ranks, count) in [(3, 5), (4, 700), (7, 40), (8, 30_000)] {
        let run = |turn: usize, settings: &Settings| {
            on_ranks_with(ranks, settings, |world| {
                // Each time another rank is late.
                let late = world.rank() == turn % ranks;
                thread::sleep(Duration::from_millis(if late { 3 } else { 0 }));
                persistent(world, count, &hint("true"))
            })
        };
        let first = run(0, &Settings::new());
        for (turn, (variant, settings)) in variants().into_iter().enumerate() {
            assert_eq!(
                run(turn + 1, &settings),
                first,
                "{ranks} ranks, {count} elements, {variant}"
            );
        }
    }
}

/// spec: 83
#[test]
fn reductions_of_a_communicator_with_the_hint_have_the_same_bits_however_they_run() {
    for (ranks, count) in [(4, 700), (7, 40)] {
        let run = |settings: &Settings| {
            on_ranks_with(ranks, settings, |world| {
                world.set_info(&hint("true"));
                let found = immediate(world, count)?;
                // What its own hint says counts before that.
                let free = world.allreduce_init(vec![0.0], Sum, &hint("false"))?;
                assert!(!free.explain().contains("the same on every machine"), "{free:?}");
                let copy = world.dup_with_info(&world.info())?;
                let bound = copy.allreduce_init(vec![0.0], Sum, &Info::new())?;
                assert!(bound.explain().contains("the same on every machine"), "{bound:?}");
                world.set_info(&hint("false"));
                let free = world.allreduce_init(vec![0.0], Sum, &Info::new())?;
                assert!(!free.explain().contains("the same on every machine"), "{free:?}");
                Ok(found)
            })
        };
        let first = run(&Settings::new());
        for (variant, settings) in variants() {
            assert_eq!(run(&settings), first, "{ranks} ranks, {count} elements, {variant}");
        }
    }
}

/// Without the hint the same program gives other bits where other algorithms are asked for: so the
/// tests above would see it if the hint meant nothing.
///
/// spec: 83
#[test]
fn without_the_hint_algorithms_differ() {
    let run = |text: &str| {
        let settings = Settings::new().algorithms(text).unwrap_or_else(|error| panic!("{error}"));
        on_ranks_with(7, &settings, |world| persistent(world, 40, &hint("perhaps")))
    };
    assert_ne!(run("allreduce=linear"), run("allreduce=ring"));
}
