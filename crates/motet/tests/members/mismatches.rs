//! Check mode: groups that differ, and members that disagree, are named.

use std::time::{Duration, Instant};

use motet::op::Max;
use motet::{Block, ErrorKind, Group, Info, Members, Result, Settings, Sum, World, threads_with};

use crate::worlds::Watchdog;

/// Runs `body` on four ranks, each of which must be told soon of two calls that do not fit.
fn mismatches(words: &[&str], body: impl Fn(&World) -> Result<()> + Sync) {
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    let begun = Instant::now();
    let ended = threads_with(4, &Settings::new().check(), |world| {
        // Who has nothing to do is told by its next call.
        let ended = body(&world).and_then(|()| world.barrier());
        std::mem::forget(world);
        ended
    });
    assert!(begun.elapsed() < Duration::from_secs(5));
    for ended in ended.expect("nobody panics") {
        let error = ended.expect_err("the ranks disagree");
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "{word:?} is not in: {error}");
        }
    }
}

fn group(world: &World, ranks: &[usize]) -> Group {
    world.group().include(ranks).unwrap_or_else(|error| panic!("{error}"))
}

/// A barrier among the ranks that each rank passes.
fn barriers(world: &World, passed: [&[usize]; 4]) -> Result<()> {
    let members = world.members(&group(world, passed[world.rank()]))?;
    members.barrier_init(&Info::new())?.run()
}

/// spec: 11, 107
#[test]
fn groups_that_differ_are_named() {
    let words =
        ["rank 0 called barrier_init(among [0, 1])", "rank 1 called barrier_init(among [1, 0])"];
    mismatches(&words, |world| barriers(world, [&[0, 1], &[1, 0], &[], &[]]));
    // An outsider passes another group.
    let words = ["called barrier_init(among [0, 1])", "rank 3 called barrier_init(among [1, 0])"];
    mismatches(&words, |world| barriers(world, [&[0, 1], &[0, 1], &[], &[1, 0]]));
    // Two groups have a rank in common, which passes one of them, or a third one.
    let words = ["called barrier_init(among [0, 1])", "called barrier_init(among [1, 2])"];
    mismatches(&words, |world| barriers(world, [&[0, 1], &[0, 1], &[1, 2], &[]]));
    let words = ["called barrier_init(among [1])", "who is in the group must pass it"];
    mismatches(&words, |world| barriers(world, [&[0, 1], &[1], &[1, 2], &[]]));
}

/// spec: 11, 107
#[test]
fn a_member_that_passes_no_group_is_named() {
    let words = [
        "called barrier_init(among [1, 2])",
        "rank 2 called barrier_init(among [])",
        "who is in the group must pass it",
    ];
    mismatches(&words, |world| barriers(world, [&[], &[1, 2], &[], &[1, 2]]));
}

/// Makes a call on all ranks, among [2, 0]; the two members pass something else.
fn alike(words: [&str; 2], call: impl Fn(&Members<'_>, bool) -> Result<()> + Sync) {
    let told = [format!("rank 0 called {}", words[0]), format!("rank 2 called {}", words[1])];
    let both = [&told[0][..], &told[1][..]];
    mismatches(&both, |world| {
        let passed = if world.rank() == 1 { Group::empty() } else { group(world, &[2, 0]) };
        call(&world.members(&passed)?, world.rank() == 0)
    });
}

/// spec: 11, 44, 108
#[test]
fn members_must_agree_on_the_rest() {
    let info = &Info::new();
    alike(
        ["bcast_init(1 × i32, root 0, among [2, 0])", "bcast_init(1 × i32, root 2"],
        |all, zero| all.member(if zero { 0 } else { 2 })?.bcast_init(vec![1], info)?.run(),
    );
    alike(["scan_init(1 × i32, Sum", "scan_init(1 × i32, Max"], |all, zero| match zero {
        true => all.scan_init(vec![1], Sum, info)?.run(),
        false => all.scan_init(vec![1], Max, info)?.run(),
    });
    alike(["allgather_init(2 × u8", "allgather_init(2 × i8"], |all, zero| match zero {
        true => all.allgather_init(vec![1u8; 4], info)?.run(),
        false => all.allgather_init(vec![1i8; 4], info)?.run(),
    });
    let words = [
        "allreduce_init(1 × i32, Sum, deterministic, among [2, 0])",
        "allreduce_init(1 × i32, Sum, a",
    ];
    alike(words, |all, zero| {
        let hint = Info::new().with(motet::hint::DETERMINISTIC, "true");
        all.allreduce_init(vec![1], Sum, if zero { &hint } else { info })?.run()
    });
    // The first of the group sends two, of which the second expects one.
    alike(["alltoallv_init(", "alltoallv_init("], |all, zero| {
        let one = Block { start: 0, count: 1 };
        let to = Block { start: 1, count: if zero { 1 } else { 2 } };
        let to = if zero { [to, one] } else { [one, to] };
        let from = [one, Block { start: 1, count: 1 }];
        all.alltoallv_init((vec![0; 3], vec![0; 2]), &to, &from, info)?.run()
    });
}

/// Of two groups at once each is compared in itself, and all ranks are told.
///
/// spec: 11, 108, 111
#[test]
fn members_of_one_of_two_groups_that_disagree_are_named() {
    let words = ["rank 2 called allreduce_init(1 × i32, Sum, among [2, 3])", "(2 × i32"];
    mismatches(&words, |world| {
        let me = world.rank();
        let members = world.members(&group(world, if me < 2 { &[0, 1] } else { &[2, 3] }))?;
        let count = [5, 5, 1, 2][me];
        members.allreduce_init(vec![1; count], Sum, &Info::new())?.run()
    });
}

/// spec: 11, 103
#[test]
fn names_must_be_equal_on_outsiders_too() {
    let words = ["called scan_init(", "among [0, 1]", "rank 3 called exscan_init(among [0, 1])"];
    mismatches(&words, |world| {
        let members = world.members(&group(world, &[0, 1]))?;
        match world.rank() {
            3 => members.exscan_init(vec![1], Sum, &Info::new())?.run(),
            _ => members.scan_init(vec![1], Sum, &Info::new())?.run(),
        }
    });
    // A plain init is another call, even where the group holds all ranks.
    let words = ["rank 0 called barrier_init()", "called barrier_init(among [0, 1, 2, 3])"];
    mismatches(&words, |world| match world.rank() {
        0 => world.barrier_init(&Info::new())?.run(),
        _ => world.members(world.group())?.barrier_init(&Info::new())?.run(),
    });
}

/// The others would wait for a member whose call was refused.
///
/// spec: 11, 105
#[test]
fn a_refused_member_is_named_to_all() {
    let refused = "rank 2 made a call that was refused: reduce_scatter_init on rank 2: the list of";
    let ended = threads_with(4, &Settings::new().check(), |world| {
        let _watchdog = Watchdog::with(Duration::from_secs(30));
        let call = || {
            let members = world.members(&group(&world, &[2, 0]))?;
            let counts: &[usize] = if world.rank() == 2 { &[1; 4] } else { &[1; 2] };
            let buffers = (vec![1; 2], vec![0; 1]);
            members.reduce_scatter_init(buffers, counts, Sum, &Info::new())?.run()?;
            world.barrier()
        };
        let ended = call();
        std::mem::forget(world);
        ended
    });
    for (rank, ended) in ended.expect("nobody panics").into_iter().enumerate() {
        let error = ended.expect_err("nobody can go on").to_string();
        let told = if rank == 2 { "the list of counts" } else { refused };
        assert!(error.contains(told), "{error}");
    }
}
