//! What reductions promise beside the result: the same bits everywhere, the order of the operands,
//! and how often the operator is called.

mod worlds;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use motet::op::{commutative, ordered};
use motet::{Band, Bor, Bxor, Info, Land, Lor, Lxor, Max, Min, Prod, Result, Settings, Sum, World};
use motet_plan::{Algorithm, Call, Collective, NodeMap, Operation, Rank, Refusal, algo};
use num_complex::Complex;
use worlds::{Random, by_algorithm, on_ranks, on_ranks_with};

/// A float of any size and sign, whose sums and products depend on their order.
fn float(random: &mut Random) -> f64 {
    let fraction = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    (fraction - 0.5) * 10f64.powi(random.below(40) as i32 - 20)
}

/// Settings for each algorithm of an allreduce that takes some of these numbers of ranks, and which
/// it takes.
fn algorithms(ranks: RangeInclusive<usize>) -> Vec<(Settings, Vec<usize>)> {
    let taken = |row: &dyn Algorithm| -> Vec<usize> {
        ranks.clone().filter(|&ranks| takes(row, ranks)).collect()
    };
    let all = algo::of(Collective::Allreduce).map(|row| (row, taken(row)));
    let some = all.filter(|(_, ranks)| !ranks.is_empty());
    some.map(|(row, ranks)| (by_algorithm("allreduce", row.name()), ranks)).collect()
}

/// Whether an algorithm takes an allreduce among so many ranks. One by node does: on a single node
/// another algorithm takes its place.
fn takes(row: &dyn Algorithm, ranks: usize) -> bool {
    let call = Call {
        rank: Rank(0),
        ranks: ranks as u32,
        element_bytes: 8,
        in_place: false,
        nodes: NodeMap::new((0..ranks).map(|rank| rank / 2)),
        operation: Operation::Allreduce { count: 1, commutative: true },
    };
    matches!(row.accepts(&call), Ok(()) | Err(Refusal::NoNodes))
}

/// Whether the other ranks have the same bits as rank 0.
fn same_everywhere(found: &[Vec<u64>], settings: &Settings) {
    assert!(found.iter().all(|bits| *bits == found[0]), "{settings:?}");
}

fn bits(values: &[f64]) -> impl Iterator<Item = u64> {
    values.iter().map(|value| value.to_bits())
}

/// Sums of floats in every form, as bits.
fn float_sums(world: &World, count: usize) -> Result<Vec<u64>> {
    let mut random = Random(world.rank() as u64 + 1000 * count as u64);
    let own: Vec<f64> = (0..count).map(|_| float(&mut random)).collect();
    let mut sum = vec![0.0; count];
    world.allreduce(&own, &mut sum, Sum)?;
    let nonblocking = world.iallreduce(own.clone(), Sum)?.wait()?;
    let persistent = world.allreduce_init(own.clone(), Sum, &Info::new())?.start()?.wait()?;
    let persistent = persistent.output();
    assert!(bits(&sum).eq(bits(&nonblocking)) && bits(&sum).eq(bits(persistent)));
    let mut product = own.clone();
    world.allreduce_in_place(&mut product, Prod)?;
    let turned: Vec<_> = own.iter().map(|&x| Complex::new(x.signum(), x)).collect();
    let mut spun = vec![Complex::new(0.0, 0.0); count];
    world.allreduce(&turned, &mut spun, Prod)?;
    let parts: Vec<f64> = spun.iter().flat_map(|z| [z.re, z.im]).collect();
    Ok(bits(&sum).chain(bits(&product)).chain(bits(&parts)).collect())
}

/// spec: 79
#[test]
fn all_ranks_get_the_same_bits() {
    let all = algorithms(1..=9);
    assert_eq!(all.len(), algo::of(Collective::Allreduce).count(), "each takes some of these");
    for (settings, numbers) in all {
        for ranks in numbers {
            let found = on_ranks_with(ranks, &settings, |world| {
                let each = [1, 7, ranks + 1, 600].map(|count| float_sums(world, count));
                Ok(each.into_iter().collect::<Result<Vec<_>>>()?.concat())
            });
            same_everywhere(&found, &settings);
        }
    }
}

/// spec: 83
#[test]
fn the_same_call_gives_the_same_bits_again() {
    let all = algorithms(5..=5);
    assert!(all.len() > 3, "most take five ranks");
    for (settings, _) in all {
        let once = || on_ranks_with(5, &settings, |world| float_sums(world, 50));
        let plain = settings.clone().without_channels().without_single_copy();
        let other = on_ranks_with(5, &plain, |world| float_sums(world, 50));
        assert_eq!(once(), once());
        assert_eq!(once(), other);
    }
}

/// Joins two lists of digits to base 16 with their lengths in the top byte: order shows.
fn append(left: u128, right: u128) -> u128 {
    let (length, digits) = (|list: u128| list >> 120, |list: u128| list & (u128::MAX >> 8));
    let joined = digits(left) << (4 * length(right)) | digits(right);
    (length(left) + length(right)) << 120 | joined
}

/// spec: 80
#[test]
fn operators_that_do_not_commute_see_the_operands_in_rank_order() {
    for ranks in 1..=9u128 {
        let all = (0..ranks).map(|rank| 1 << 120 | rank).reduce(append).unwrap();
        on_ranks(ranks as usize, |world| {
            let own = 1 << 120 | world.rank() as u128;
            for count in [1, 2, 50] {
                let sum = world.iallreduce(vec![own; count], ordered(append))?.wait()?;
                assert_eq!(sum, vec![all; count]);
                for root in 0..world.size() {
                    let mut result = vec![0; count];
                    world.reduce(&vec![own; count], &mut result, ordered(append), root)?;
                    let expected = if world.rank() == root { all } else { 0 };
                    assert_eq!(result, vec![expected; count], "root {root}");
                }
            }
            // The order is that of the communicator.
            let back = world.split(Some(0), -(world.rank() as i64))?.expect("a member");
            let expected = (0..ranks).rev().map(|rank| 1 << 120 | rank).reduce(append).unwrap();
            assert_eq!(back.allreduce_one(own, ordered(append))?, expected);
            Ok(())
        });
    }
}

/// spec: 84
#[test]
fn nothing_is_combined_where_there_is_nothing() {
    for ranks in [1, 2, 5, 8] {
        let calls = Arc::new(AtomicUsize::new(0));
        on_ranks(ranks, |world| {
            let counted = || {
                let calls = calls.clone();
                commutative(move |left: u8, right: u8| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    left | right
                })
            };
            world.allreduce(&[], &mut [], counted())?;
            world.reduce(&[], &mut [], counted(), ranks - 1)?;
            world.iallreduce(Vec::new(), counted())?.wait()?;
            world.allreduce_init(Vec::new(), counted(), &Info::new())?.run()
        });
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

/// spec: 82
#[test]
fn an_operator_may_know_more_than_its_operands() {
    let weights: Arc<[u64]> = (0..100).collect();
    on_ranks(4, |world| {
        let weights = weights.clone();
        let lightest = commutative(
            move |left: usize, right: usize| {
                if weights[left] <= weights[right] { left } else { right }
            },
        );
        assert_eq!(world.allreduce_one(50 + world.rank(), lightest)?, 50);
        Ok(())
    });
}

/// spec: 81
#[test]
fn the_built_in_operators() {
    on_ranks(3, |world| {
        let own = [3u8, 0, 200][world.rank()];
        assert_eq!(world.allreduce_one(own, Sum)?, 203);
        assert_eq!(world.allreduce_one(own.max(100), Sum)?, 144, "integers wrap around");
        assert_eq!(world.allreduce_one(own, Prod)?, 0);
        assert_eq!((world.allreduce_one(own, Min)?, world.allreduce_one(own, Max)?), (0, 200));
        assert_eq!((world.allreduce_one(own, Land)?, world.allreduce_one(own, Lor)?), (0, 1));
        assert_eq!(world.allreduce_one(own, Lxor)?, 0);
        assert_eq!((world.allreduce_one(own, Bor)?, world.allreduce_one(own, Band)?), (203, 0));
        assert_eq!(world.allreduce_one(own, Bxor)?, 203);
        let truth = [true, true, false][world.rank()];
        assert!(!world.allreduce_one(truth, Land)? && world.allreduce_one(truth, Lor)?);
        assert!(!world.allreduce_one(truth, Lxor)?);
        let float = [1.5, f64::NAN, -2.0][world.rank()];
        assert_eq!(world.allreduce_one(float, Max)?, 1.5, "what is no number loses");
        assert_eq!(world.allreduce_one(float, Min)?, -2.0);
        assert!(world.allreduce_one(float, Sum)?.is_nan());
        Ok(())
    });
}
