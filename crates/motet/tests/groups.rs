//! Groups: what the operations on them make, in which order, and what they refuse.

mod worlds;

use std::collections::BTreeSet;

use motet::{Comparison, Error, ErrorClass, Group, GroupError, RankRange};
use worlds::{Random, on_ranks};

const WORLDS: [usize; 6] = [1, 2, 3, 4, 5, 7];

/// Gives the group of a world of so many ranks; groups are local, so one rank's will do.
fn all_of(ranks: usize) -> Group {
    on_ranks(ranks, |world| Ok(world.group().clone())).swap_remove(0)
}

fn ranks_of(group: &Group) -> Vec<usize> {
    group.world_ranks().collect()
}

fn range(first: usize, last: usize, stride: isize) -> RankRange {
    RankRange { first, last, stride }
}

/// Some ranks of a world in some order.
fn some_ranks(random: &mut Random, ranks: usize) -> Vec<usize> {
    let mut some: Vec<usize> = (0..ranks).collect();
    random.shuffle(&mut some);
    some.truncate(random.below(ranks + 1));
    some
}

#[test]
fn operations_on_sets_keep_the_order_of_the_first() {
    for ranks in WORLDS {
        let (all, mut random) = (all_of(ranks), Random(ranks as u64));
        for round in 0..200 {
            let first = some_ranks(&mut random, ranks);
            let second = some_ranks(&mut random, ranks);
            let (one, other) = (all.include(&first).unwrap(), all.include(&second).unwrap());
            let (in_both, only_first): (Vec<_>, Vec<_>) =
                first.iter().copied().partition(|rank| second.contains(rank));
            let new = second.iter().copied().filter(|rank| !first.contains(rank));
            let either: Vec<_> = first.iter().copied().chain(new).collect();
            let case = format!("{first:?} and {second:?}, seed {ranks}, round {round}");
            assert_eq!(ranks_of(&one.union(&other)), either, "union of {case}");
            assert_eq!(ranks_of(&one.intersection(&other)), in_both, "intersection of {case}");
            assert_eq!(ranks_of(&one.difference(&other)), only_first, "difference of {case}");
            let rest: Vec<_> = (0..ranks).filter(|rank| !first.contains(rank)).collect();
            assert_eq!(ranks_of(&all.exclude(&first).unwrap()), rest, "without {first:?}");
        }
    }
}

#[test]
fn comparison_tells_members_from_order() {
    for ranks in WORLDS {
        let (all, mut random) = (all_of(ranks), Random(ranks as u64));
        for round in 0..200 {
            let first = some_ranks(&mut random, ranks);
            let mut second = first.clone();
            random.shuffle(&mut second);
            if random.below(2) == 0 {
                second = some_ranks(&mut random, ranks);
            }
            let set = |ranks: &[usize]| ranks.iter().copied().collect::<BTreeSet<_>>();
            let expected = match first == second {
                true => Comparison::Identical,
                false if set(&first) == set(&second) => Comparison::Similar,
                false => Comparison::Unequal,
            };
            let (one, other) = (all.include(&first).unwrap(), all.include(&second).unwrap());
            let case = format!("{first:?} and {second:?}, seed {ranks}, round {round}");
            assert_eq!(one.compare(&other), expected, "{case}");
            assert_eq!(other.compare(&one), expected, "{case}, the other way round");
        }
    }
}

#[test]
fn translation_finds_the_same_member() {
    let all = all_of(7);
    let (odd, high) = (all.include(&[5, 3, 1]).unwrap(), all.include(&[3, 4, 5, 6]).unwrap());
    let translated: Vec<_> = (0..4).map(|rank| odd.translate(rank, &high)).collect();
    assert_eq!(translated, [Some(2), Some(0), None, None]);
    assert_eq!((high.rank_of(6), high.rank_of(7), high.rank_of(0)), (Some(3), None, None));
}

#[test]
fn the_empty_group_is_neutral() {
    for ranks in WORLDS {
        let (all, empty) = (all_of(ranks), Group::empty());
        assert!(empty.is_empty() && !all.is_empty());
        assert_eq!((empty.size(), empty.translate(0, &all)), (0, None));
        assert_eq!((all.union(&empty), empty.union(&all)), (all.clone(), all.clone()));
        assert_eq!((all.difference(&empty), all.difference(&all)), (all.clone(), empty.clone()));
        assert_eq!(all.include(&[]).unwrap().compare(&empty), Comparison::Identical);
        assert_eq!(all.exclude(&(0..ranks).collect::<Vec<_>>()).unwrap(), empty);
        assert_eq!(all.compare(&empty), Comparison::Unequal);
    }
}

/// Every range with ranks below a limit and small strides, against stepping through it.
#[test]
fn ranges_step_from_first_to_last() {
    for ranks in WORLDS {
        let all = all_of(ranks);
        for (first, last) in (0..ranks + 2).flat_map(|a| (0..ranks + 2).map(move |b| (a, b))) {
            for stride in -4..=4 {
                let range = range(first, last, stride);
                let expected = stepped(range, ranks);
                let included = all.range_include(&[range]).map(|group| ranks_of(&group));
                assert_eq!(included, expected, "{range}");
                let expected = expected
                    .map(|out| (0..ranks).filter(|rank| !out.contains(rank)).collect::<Vec<_>>());
                let excluded = all.range_exclude(&[range]).map(|group| ranks_of(&group));
                assert_eq!(excluded, expected, "without {range}");
            }
        }
    }
}

/// What a range holds, by its definition.
fn stepped(range: RankRange, size: usize) -> Result<Vec<usize>, GroupError> {
    let (first, last, stride) = (range.first as isize, range.last as isize, range.stride);
    if stride == 0 || (last - first) * stride < 0 {
        return Err(GroupError::Range(range));
    }
    let mut ranks = Vec::new();
    let mut at = first;
    while (last - at) * stride.signum() >= 0 {
        ranks.push(at as usize);
        at += stride;
    }
    match ranks.iter().copied().max().filter(|&largest| largest >= size) {
        Some(rank) => Err(GroupError::Rank { rank, size }),
        None => Ok(ranks),
    }
}

#[test]
fn ranges_follow_one_another_and_may_not_overlap() {
    let all = all_of(7);
    let group = all.range_include(&[range(6, 3, -2), range(0, 1, 1), range(3, 3, 9)]).unwrap();
    assert_eq!(ranks_of(&group), [6, 4, 0, 1, 3]);
    let rest = all.range_exclude(&[range(6, 3, -2), range(0, 1, 1)]).unwrap();
    assert_eq!(ranks_of(&rest), [2, 3, 5]);
    let twice = all.range_include(&[range(0, 4, 2), range(6, 0, -3)]).unwrap_err();
    assert_eq!(twice, GroupError::Twice { rank: 0 });
    let everything = vec![range(0, 6, 1); 1000];
    assert_eq!(all.range_exclude(&everything), Err(GroupError::Twice { rank: 0 }));
}

#[test]
fn extreme_ranges_are_refused_or_exact() {
    let all = all_of(3);
    let extremes = [range(0, usize::MAX, 1), range(usize::MAX, 0, -1), range(usize::MAX, 2, -1)];
    for range in extremes {
        let rank = usize::MAX;
        assert_eq!(all.range_include(&[range]), Err(GroupError::Rank { rank, size: 3 }));
    }
    let wide = all.range_include(&[range(1, usize::MAX - 1, isize::MAX)]).unwrap_err();
    assert_eq!(wide, GroupError::Rank { rank: 1 + isize::MAX as usize, size: 3 });
    assert_eq!(ranks_of(&all.range_include(&[range(2, 0, isize::MIN)]).unwrap()), [2]);
    assert_eq!(ranks_of(&all.range_include(&[range(0, 2, isize::MAX)]).unwrap()), [0]);
}

#[test]
fn wrong_ranks_are_errors_of_their_class() {
    let all = all_of(3);
    for made in [all.include(&[0, 3]), all.exclude(&[0, 3])] {
        let error = Error::from(made.unwrap_err());
        assert_eq!(error.to_string(), "rank 3 is not in the group of 3 ranks; pass ranks below 3");
        assert_eq!(error.class(), ErrorClass::Rank);
    }
    for made in [all.include(&[1, 2, 1]), all.exclude(&[1, 2, 1])] {
        let error = Error::from(made.unwrap_err());
        assert_eq!(error.to_string(), "rank 1 appears twice; pass each rank of a group once");
        assert_eq!(error.class(), ErrorClass::Rank);
    }
    let error = Error::from(all.range_include(&[range(0, 2, 0)]).unwrap_err());
    let text = "the range from 0 to 2 by 0 does not reach its end; pass a stride that leads there";
    assert_eq!(error.to_string(), text);
    assert_eq!(error.class(), ErrorClass::Arg);
}
