//! Tests of repeated typed calls: each is replayed, and none is taken for another.

mod mixtures;

use std::collections::HashSet;

use motet_plan::Block;

use super::{TOO_LARGE, TypedCall};
use crate::base::collective_kind::CollectiveKind;
use crate::collective::{input, output};
use crate::comm::communicator::Communicator;
use crate::engine::{CallSignature, FrontEnd, Selection};
use crate::worlds::on_ranks_with;
use crate::{Element, Info, Land, Lor, Max, NoOp, Prod, Replace, Result, Settings, Sum, World, op};

/// Settings without hang reports and check mode, in which no call is replayed.
fn settings() -> Settings {
    Settings::new()
}

/// The number of calls among these that were replayed.
fn replayed(world: &World, calls: impl FnOnce() -> Result<()>) -> Result<usize> {
    let before = world.core().engine().replayed();
    calls()?;
    Ok(world.core().engine().replayed() - before)
}

/// One of these calls.
type AnyCall<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Checks that of two equal calls the second one is replayed.
fn is_replayed(world: &World, name: &str, call: AnyCall<'_>) -> Result<()> {
    replayed(world, &mut *call)?;
    assert_eq!(replayed(world, call)?, 1, "{name} on rank {}", world.rank());
    Ok(())
}

/// Checks every collective with as many elements as a block.
fn are_replayed(world: &World, count: usize) -> Result<()> {
    let (ranks, root) = (world.size(), count % world.size());
    let (mut one, mut two) = (vec![1.0_f64; count], vec![0.0; count]);
    let (mut all, mut others) = (vec![1.0; ranks * count], vec![0.0; ranks * count]);
    let block = |rank| Block { start: rank * count, count };
    let blocks: Vec<Block> = (0..ranks).map(block).collect();
    is_replayed(world, "barrier", &mut || world.barrier())?;
    is_replayed(world, "bcast", &mut || world.bcast(&mut two, root))?;
    is_replayed(world, "allgather", &mut || world.allgather(&one, &mut all))?;
    is_replayed(world, "allgather in place", &mut || world.allgather_in_place(&mut all))?;
    is_replayed(world, "allgatherv", &mut || world.allgatherv(&one, &mut all, &blocks))?;
    is_replayed(world, "gather", &mut || world.gather(&one, &mut all, root))?;
    is_replayed(world, "gatherv", &mut || world.gatherv(&one, &mut all, &blocks, root))?;
    is_replayed(world, "scatter", &mut || world.scatter(&all, &mut one, root))?;
    is_replayed(world, "scatterv", &mut || world.scatterv(&all, &mut one, &blocks, root))?;
    is_replayed(world, "alltoall", &mut || world.alltoall(&all, &mut others))?;
    is_replayed(world, "alltoall in place", &mut || world.alltoall_in_place(&mut all))?;
    is_replayed(world, "alltoallv", &mut || world.alltoallv(&all, &mut others, &blocks, &blocks))?;
    is_replayed(world, "alltoallv in place", &mut || world.alltoallv_in_place(&mut all, &blocks))?;
    is_replayed(world, "reduce", &mut || world.reduce(&one, &mut two, Sum, root))?;
    is_replayed(world, "allreduce", &mut || world.allreduce(&one, &mut two, Sum))?;
    is_replayed(world, "allreduce in place", &mut || world.allreduce_in_place(&mut one, Max))?;
    is_replayed(world, "reduce_scatter_block", &mut || {
        world.reduce_scatter_block(&all, &mut one, Sum)
    })?;
    is_replayed(world, "scan", &mut || world.scan(&one, &mut two, Prod))?;
    is_replayed(world, "exscan", &mut || world.exscan(&one, &mut two, Sum))
}

#[test]
fn repeated_calls_are_replayed() {
    for ranks in [1, 2, 3] {
        on_ranks_with(ranks, &settings(), |world| {
            [1, 16, 1024].iter().try_for_each(|&n| are_replayed(world, n))
        });
    }
}

/// The calls of a program take turns: none makes the cache forget another.
#[test]
fn calls_that_take_turns_are_all_replayed() {
    on_ranks_with(2, &settings(), |world| {
        let (one, mut two, mut four) = ([1.0_f64; 2], [0.0; 2], [0.0; 4]);
        let all = [1.0; 4];
        let mut round = || -> Result<usize> {
            replayed(world, || {
                world.barrier()?;
                world.bcast(&mut two, 0)?;
                world.bcast(&mut two, 1)?;
                world.reduce(&one, &mut two, Sum, 0)?;
                world.allreduce(&one, &mut two, Sum)?;
                world.allreduce(&one, &mut two, Max)?;
                world.allreduce(&one[..1], &mut two[..1], Sum)?;
                world.allgather(&one, &mut four)?;
                world.gather(&one, &mut four, 0)?;
                world.scatter(&all, &mut two, 0)?;
                world.alltoall(&all, &mut four)?;
                world.scan(&one, &mut two, Sum)
            })
        };
        assert_eq!([round()?, round()?, round()?], [0, 12, 12], "rank {}", world.rank());
        Ok(())
    });
}

/// Operators of the user, and structures: two such calls may look the same and be different.
#[test]
fn what_a_program_has_made_is_not_replayed() {
    let factors = on_ranks_with(2, &settings(), |world| {
        let mut found = Vec::new();
        let count = replayed(world, || {
            for factor in [1, 2, 1] {
                let times = op::commutative(move |left: i32, right: i32| factor * (left + right));
                found.push(world.allreduce_one(1, times)?);
            }
            for _ in 0..3 {
                world.bcast(&mut [crate::Located::new(1.5, 1)], 0)?;
                world.bcast(&mut [[0_u8; TOO_LARGE]], 0)?;
                world.bcast(&mut [[0_u8; 0]], 0)?;
            }
            Ok(())
        })?;
        assert_eq!(count, 0);
        Ok(found)
    });
    assert_eq!(factors, [[2, 4, 2]; 2]);
}

/// The signature of a call, which has one.
fn signature(call: TypedCall<'_>, communicator: &Communicator) -> CallSignature {
    call.key(communicator).expect("the call may be replayed").signature
}

fn moving<T: Element>(world: &Communicator, kind: CollectiveKind) -> CallSignature {
    signature(TypedCall::moving::<T>(kind, None, output::<u8>(&mut [0; 4])), world)
}

/// Calls that differ in anything but their addresses and blocks have different signatures.
#[test]
fn calls_that_differ_have_different_signatures() {
    on_ranks_with(1, &settings(), |world| {
        let (kind, data) = (CollectiveKind::Allreduce, [0_u8; 9]);
        let (mut more, mut less) = ([0_u8; 8], [0_u8; 7]);
        let one = |len: usize| input(&data[..len]);
        let (more, less) = (output(&mut more), output(&mut less));
        let sum = |sent, received| TypedCall::reducing::<u8, _>(kind, sent, received, &Sum);
        let mut all = vec![
            signature(sum(one(8), more), world),
            signature(sum(one(7), more), world),
            signature(sum(one(8), less), world),
            signature(sum(one(0), more), world),
            signature(sum(None, more), world),
            signature(sum(one(8), more).with_root(1), world),
            signature(TypedCall::reducing::<u8, _>(kind, one(8), more, &Max), world),
            signature(TypedCall::reducing::<u8, _>(kind, one(8), more, &Replace), world),
            signature(TypedCall::reducing::<u8, _>(kind, one(8), more, &NoOp), world),
            signature(TypedCall::reducing::<i8, _>(kind, one(8), more, &Sum), world),
            signature(TypedCall::reducing::<u8, _>(kind, one(8), more, &Lor), world),
            signature(TypedCall::reducing::<bool, _>(kind, one(8), more, &Lor), world),
            signature(TypedCall::reducing::<bool, _>(kind, one(8), more, &Land), world),
            signature(TypedCall::moving::<u8>(kind, one(8), more), world),
            signature(sum(one(8), more), &world.dup()?),
        ];
        let bcast = CollectiveKind::Bcast;
        all.extend([
            moving::<u8>(world, bcast),
            moving::<[u8; 2]>(world, bcast),
            moving::<[u8; 4]>(world, bcast),
            moving::<bool>(world, bcast),
            moving::<[bool; 2]>(world, bcast),
            moving::<u16>(world, bcast),
            moving::<f32>(world, bcast),
            moving::<u32>(world, bcast),
            moving::<f64>(world, bcast),
            moving::<[f32; 2]>(world, bcast),
            moving::<[u8; TOO_LARGE - 1]>(world, bcast),
        ]);
        all.extend(
            CollectiveKind::ALL
                .iter()
                .filter(|kind| **kind != bcast)
                .map(|kind| moving::<u8>(world, *kind)),
        );
        let mut info = Info::new();
        info.set(crate::hint::DETERMINISTIC, "true")?;
        world.set_info(&info);
        all.push(moving::<u8>(world, bcast));
        let words =
            |each: &CallSignature| (each.context, each.what, each.root, each.sent, each.received);
        assert_eq!(all.iter().map(words).collect::<HashSet<_>>().len(), all.len());
        let fronts = [FrontEnd::Untyped, FrontEnd::Typed, FrontEnd::Handles];
        let of_front = |front| CallSignature::what(front, bcast, Selection::Tuned, 0) >> 62;
        assert_eq!(fronts.map(of_front), [0, 1, 2]);
        assert!(all.iter().all(|each| each.what >> 62 == of_front(FrontEnd::Typed)));
        Ok(())
    });
}

/// Lists are compared side by side, whatever the number of their entries.
///
/// spec: 61
#[test]
fn blocks_of_a_repeated_call_are_its_own() {
    on_ranks_with(2, &settings(), |world| {
        let block = |start, count| Block { start, count };
        let me = world.rank();
        let halves = [block(0, 2), block(2, 2)];
        let swapped = [block(2, 2), block(0, 2)];
        let send = [0, 1, 2, 3].map(|at| 10 * me + at);
        for (round, (to, from)) in
            [(&halves, &halves), (&halves, &swapped), (&swapped, &halves), (&halves, &halves)]
                .into_iter()
                .cycle()
                .take(20)
                .enumerate()
        {
            let mut receive = [0; 4];
            world.alltoallv(&send, &mut receive, to, from)?;
            for (peer, place) in from.iter().enumerate() {
                // The peer has sent the block that it has for this rank.
                let first = 10 * peer + to[me].start;
                assert_eq!(receive[place.start..][..2], [first, first + 1], "round {round}");
            }
            // The same blocks, shared out between the two lists in another way.
            let (long, short) = ([to[0], to[1], from[0]], [from[1]]);
            let refused = world.alltoallv(&send, &mut receive, &long, &short);
            assert!(refused.is_err(), "round {round}");
        }
        Ok(())
    });
}
