//! What holds for groups besides the data: each rule is tried on threads, and all on processes.

use motet::op::ordered;
use motet::raw::{Collective, Root, TypedBuffer};
use motet::{
    Datatype, ErrorClass, ErrorKind, Group, GroupError, Info, Result, Settings, Sum, World,
    start_all,
};

use crate::untyped;
use crate::worlds::{on_ranks, on_ranks_with};

/// A rule on one rank of a world of five.
type Rule = fn(&World) -> Result<()>;

/// All rules that need no other world.
pub(crate) fn all(world: &World) -> Result<()> {
    let rules: [Rule; 10] = [
        plain,
        examples,
        start_alls,
        cancelled,
        early,
        roots,
        outsiders,
        nobody_at_all,
        lists,
        parted,
    ];
    rules.iter().try_for_each(|rule| rule(world))
}

fn group(world: &World, ranks: &[usize]) -> Group {
    world.group().include(ranks).unwrap_or_else(|error| panic!("{error}"))
}

/// The whole communicator in its own order is the plain operation: the same result, bit by bit,
/// by the same algorithm.
fn plain(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    let members = world.members(world.group())?;
    assert_eq!((members.rank(), members.size()), (Some(me), world.size()));
    for count in [1, 50, 3000] {
        let own: Vec<f64> = (0..count).map(|at| 1.0 / (1 + at + me) as f64).collect();
        let buffers = || (own.clone(), vec![0.0; count]);
        let mut there = world.allreduce_init(buffers(), Sum, &info)?;
        let mut here = members.allreduce_init(buffers(), Sum, &info)?;
        assert_eq!(here.explain(), there.explain());
        there.run()?;
        here.run()?;
        let bits = |sum: &[f64]| sum.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(here.output()), bits(there.output()));
        let first = ordered(|left: u64, _| left);
        let last = world.size() - 1;
        let mut there = world.reduce_init((vec![me as u64], vec![9]), first, last, &info)?;
        let first = ordered(|left: u64, _| left);
        let mut here =
            members.member(last)?.reduce_init((vec![me as u64], vec![9]), first, &info)?;
        there.run()?;
        here.run()?;
        assert_eq!(here.output(), there.output());
    }
    Ok(())
}

/// spec: 109
#[test]
fn the_whole_communicator_is_the_plain_operation() {
    on_ranks(5, plain);
}

/// The three examples of the proposal, among a group of two that are not the first two.
fn examples(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    let members = world.members(&group(world, &[4, 1]))?;
    let root = members.member(1)?;
    let gather = || root.gather_init((vec![me], vec![0; if me == 1 { 2 } else { 0 }]), &info);
    let scatter = || {
        let dealt = if me == 1 { vec![41, 11] } else { vec![] };
        root.scatter_init((dealt, vec![0; usize::from(members.rank().is_some())]), &info)
    };
    let gathered = |output: &[usize]| assert!(me != 1 || output == [4, 1], "{output:?}");
    let scattered = |output: &[i32]| match me {
        1 => assert_eq!(output, [11]),
        4 => assert_eq!(output, [41]),
        _ => assert_eq!(output, [0; 0]),
    };
    // The first: one operation, waited for sooner or later.
    let running = gather()?.start()?;
    if me == 4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    gathered(running.wait()?.output());
    // The second and the third: two operations, started in one order or in both, and waited for
    // in either.
    for opposite in [false, true] {
        let (first, second) = (gather()?, scatter()?);
        let (first, second) = if opposite && me == 4 {
            let second = second.start()?;
            (first.start()?, second)
        } else {
            (first.start()?, second.start()?)
        };
        if me == 1 {
            gathered(first.wait()?.output());
            scattered(second.wait()?.output());
        } else {
            scattered(second.wait()?.output());
            gathered(first.wait()?.output());
        }
    }
    Ok(())
}

/// spec: 47, 122
#[test]
fn the_examples_of_the_proposal_are_legal() {
    on_ranks(5, examples);
}

/// Two operations with groups are started together, listed in another order by each second rank.
fn start_alls(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    let left = world.members(&group(world, &[2, 0, 1]))?;
    let right = world.members(&group(world, &[1, 3, 4]))?;
    for _ in 0..10 {
        let sum = |members: &motet::Members<'_>| {
            members.allreduce_init((vec![1 << me], vec![0]), Sum, &info)
        };
        let (one, two) = (sum(&left)?, sum(&right)?);
        let (one, two) = if me % 2 == 0 {
            let (one, two) = start_all((one, two))?;
            (one.wait()?, two.wait()?)
        } else {
            let mut list = start_all(vec![two, one])?;
            let one = list.pop().expect("two").wait()?;
            (one, list.pop().expect("two").wait()?)
        };
        assert_eq!(one.output(), [if left.rank().is_some() { 0b00111 } else { 0 }]);
        assert_eq!(two.output(), [if right.rank().is_some() { 0b11010 } else { 0 }]);
    }
    Ok(())
}

/// spec: 48, 111, 123
#[test]
fn operations_with_groups_are_started_together() {
    on_ranks(5, start_alls);
}

fn cancelled(world: &World) -> Result<()> {
    let members = world.members(&group(world, &[3, 0]))?;
    let mut running = members.barrier_init(&Info::new())?.start()?;
    // What is complete may have been noticed: then there is nothing to refuse.
    if let Err(error) = running.cancel() {
        assert_eq!(error.class(), ErrorClass::Request);
    } else {
        assert!(running.test()?);
    }
    running.wait()?;
    let late = world.rank() == 0;
    if late {
        world.send(&[1u8], 3, motet::Tag(5))?;
    }
    let running = members.barrier_init(&Info::new())?;
    if world.rank() == 3 {
        // The other one has not started: this cannot be complete.
        let mut running = running.start()?;
        let error = running.cancel().expect_err("a collective");
        assert_eq!(error.class(), ErrorClass::Request);
        world.recv(&mut [0u8], 0, motet::Tag(5))?;
        world.send(&[1u8], 0, motet::Tag(6))?;
        running.wait()?;
    } else if late {
        world.recv(&mut [0u8], 3, motet::Tag(6))?;
        running.start()?.wait()?;
    } else {
        running.start()?.wait()?;
    }
    Ok(())
}

/// spec: 124
#[test]
fn an_operation_with_a_group_cannot_be_cancelled() {
    on_ranks(5, cancelled);
}

/// An outsider's wait returns though no member has come; a member's barrier waits for members only.
fn early(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    // Rank 0 is the last to start; it waits for word from all outsiders that theirs are over.
    let members = world.members(&group(world, &[1, 0]))?;
    let mut barrier = members.barrier_init(&info)?;
    let buffers = (vec![me as u8], vec![7u8; 2]);
    let all = members.allgather_init(buffers, &info)?;
    if me > 1 {
        assert_eq!((barrier.algorithm(), all.algorithm()), ("none", "none"));
        assert!(barrier.explain().contains("there is nothing to do for this rank"));
        barrier.run()?;
        let all = all.start()?.wait()?;
        assert_eq!((all.input(), all.output()), (&[me as u8][..], &[7, 7][..]));
        world.send(&[me], 0, motet::Tag(1))?;
        return Ok(());
    }
    assert_ne!(barrier.algorithm(), "none");
    if me == 0 {
        for outsider in 2..world.size() {
            world.recv(&mut [0usize], outsider, motet::Tag(1))?;
        }
    }
    barrier.run()?;
    assert_eq!(all.start()?.wait()?.output(), [1, 0]);
    Ok(())
}

/// spec: 103, 106, 121
#[test]
fn outsiders_wait_for_nobody() {
    on_ranks(5, early);
}

/// A root that is no member is refused on all ranks that pass the group, in both layers.
fn roots(world: &World) -> Result<()> {
    let some = group(world, &[4, 2]);
    let members = world.members(&some)?;
    assert_eq!(members.member(2)?.place(), 1);
    let class = |rank| members.member(rank).expect_err("no member").class();
    assert_eq!((class(0), class(world.size())), (ErrorClass::Root, ErrorClass::Root));
    let mut memory = [0u8; 4];
    let data = TypedBuffer { address: memory.as_mut_ptr(), count: 4, datatype: &Datatype::UINT8_T };
    for root in [Root::Rank(0), Root::Rank(world.size()), Root::ThisRank, Root::ProcNull] {
        let error = untyped::refused(&Collective::Bcast { data, root }, world, &some);
        assert_eq!(error.class(), ErrorClass::Root);
    }
    // Who does not know the group cannot say who is in it; but there are only so many ranks.
    let nobody = world.members(&Group::empty())?;
    nobody.member(0)?;
    assert_eq!(nobody.member(world.size()).expect_err("no rank").class(), ErrorClass::Root);
    // Nothing of this has been begun.
    world.members(&some)?.barrier_init(&Info::new())?.run()
}

/// spec: 108
#[test]
fn a_root_is_a_member() {
    on_ranks(5, roots);
}

/// A group with members that are not in the communicator.
fn outsiders(world: &World) -> Result<()> {
    let half = world.split(Some((world.rank() % 2) as u32), 0)?.expect("all have a colour");
    let mixed = group(world, &[0, 1]);
    let refused = half.members(&mixed).expect_err("one of them is elsewhere");
    assert_eq!(refused.class(), ErrorClass::Group);
    let outsider = 1 - world.rank() % 2;
    let ErrorKind::Group(GroupError::Outsider { rank }) = refused.kind() else {
        panic!("{refused}");
    };
    assert_eq!(*rank, outsider);
    let refused = untyped::refused(&Collective::Barrier, &half, &mixed);
    assert_eq!(refused.class(), ErrorClass::Group);
    // The group of a collective among neighbours are the neighbours.
    let data =
        TypedBuffer { address: std::ptr::null_mut(), count: 0, datatype: &Datatype::UINT8_T };
    let near = Collective::NeighborAllgather { send: Some(data), receive: data };
    let refused = untyped::refused(&near, world, &mixed);
    assert_eq!(refused.class(), ErrorClass::UnsupportedOperation);
    Ok(())
}

/// spec: 110
#[test]
fn members_are_in_the_communicator() {
    on_ranks(5, outsiders);
}

/// All pass the empty group: nobody takes part, and each run is over at once.
fn nobody_at_all(world: &World) -> Result<()> {
    let nobody = world.members(&Group::empty())?;
    assert_eq!((nobody.size(), nobody.rank()), (0, None));
    let mut barrier = nobody.barrier_init(&Info::new())?.start()?;
    assert!(barrier.test()?);
    let mut bcast = nobody.member(3)?.bcast_init(vec![5; 3], &Info::new())?;
    bcast.run()?;
    assert_eq!(bcast.output(), [5; 3]);
    barrier.wait().map(drop)
}

/// spec: 107
#[test]
fn a_barrier_over_nobody_is_over_at_once() {
    on_ranks(5, nobody_at_all);
}

/// Lists have as many entries as the group has members; of outsiders nothing is asked.
fn lists(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    let members = world.members(&group(world, &[3, 1, 2]))?;
    let buffers = || (vec![1; 5], vec![0; 1]);
    let of_all = members.reduce_scatter_init(buffers(), &[1; 5], Sum, &info);
    if members.rank().is_none() {
        // Of this rank it is the call that the members make when theirs has been refused.
        of_all?.run()?;
    } else {
        assert_eq!(of_all.expect_err("five for three").class(), ErrorClass::Count);
        // A call that was refused has not been made.
        let mut right = members.reduce_scatter_init((vec![1; 3], vec![0]), &[1; 3], Sum, &info)?;
        right.run()?;
        assert_eq!(right.output(), [3], "rank {me}");
    }
    Ok(())
}

/// spec: 105
#[test]
fn lists_are_as_long_as_the_group() {
    on_ranks(5, lists);
}

/// Data with gaps is brought to a stream and back: not that of an outsider.
fn gaps(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    let spread = Datatype::vector(2, 1, 2, &Datatype::INT32_T)?;
    let members = world.members(&group(world, &[2, 0]))?;
    let data: Vec<i32> = if me == 0 { vec![1, 2, 3, 4] } else { vec![-1; 4] };
    let items = motet::buffer::Items::new(data, &spread, 1)?;
    let mut bcast = members.member(0)?.bcast_init(items, &info)?;
    bcast.run()?;
    let found = bcast.into_buffers().into_buffer();
    match me {
        0 => assert_eq!(found, [1, 2, 3, 4]),
        2 => assert_eq!(found, [1, -1, 3, -1]),
        _ => assert_eq!(found, [-1; 4]),
    }
    Ok(())
}

/// spec: 103
#[test]
fn data_with_gaps_of_outsiders_is_left_alone() {
    on_ranks(5, gaps);
}

/// Under the hint a reduction among a group is the one of a communicator of that group, whatever
/// else is asked for, and though outsiders give no hint.
fn deterministic(world: &World) -> Result<()> {
    let ranks = [4, 0, 3, 1];
    let some = group(world, &ranks);
    let members = world.members(&some)?;
    let hint = Info::new().with(motet::hint::DETERMINISTIC, "true");
    let apart = world.create(&some)?;
    for count in [1, 40, 5000] {
        let value =
            |at: usize| (1.0 + at as f64) * 10f64.powi((at * 31 + world.rank()) as i32 % 23);
        let buffers = || ((0..count).map(value).collect::<Vec<f64>>(), vec![0.0; count]);
        let given = if members.rank().is_some() { hint.clone() } else { Info::new() };
        let mut here = members.allreduce_init(buffers(), Sum, &given)?;
        here.run()?;
        let Some(apart) = &apart else { continue };
        let mut there = apart.allreduce_init(buffers(), Sum, &hint)?;
        there.run()?;
        assert_eq!(here.algorithm(), there.algorithm());
        let bits = |sum: &[f64]| sum.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(here.output()), bits(there.output()));
    }
    Ok(())
}

/// spec: 44, 83, 104
#[test]
fn the_deterministic_hint_counts_among_groups() {
    for algorithms in ["", "allreduce=ring", "allreduce=recursive_doubling"] {
        let settings = match algorithms {
            "" => Settings::new(),
            name => Settings::new().algorithms(name).unwrap_or_else(|error| panic!("{error}")),
        };
        on_ranks_with(5, &settings, deterministic);
    }
}

/// Groups that have no rank in common take part in one init, each with arguments of its own: other
/// lengths, types, operators, roots, and another number of members.
fn parted(world: &World) -> Result<()> {
    let (me, info) = (world.rank(), Info::new());
    for ranks in [[&[3, 0][..], &[4, 1, 2]], [&[2][..], &[0, 4]], [&[][..], &[1, 3]]] {
        let own = ranks.into_iter().position(|ranks| ranks.contains(&me));
        let side = own.unwrap_or(0);
        let ranks = ranks[side];
        let members = world.members(&group(world, if own.is_some() { ranks } else { &[] }))?;
        let (size, sum) = (ranks.len(), ranks.iter().sum::<usize>());
        for round in 0..3 {
            let (input, nothing) = (vec![me + round; 1 + 40 * side], vec![9; 1 + 40 * side]);
            let mut all = match side {
                0 => members.allreduce_init((input, nothing), Sum, &info)?,
                _ => members.allreduce_init((input, nothing), motet::Max, &info)?,
            };
            let gathered = vec![9u8; 2 * size];
            let mut list = members.allgather_init((vec![me as u8; 2], gathered), &info)?;
            let last = ranks.last().copied().unwrap_or(0);
            let mut bcast = members.member(last)?.bcast_init(vec![me; 3 + side], &info)?;
            let operations = (all.start()?, list.start()?, bcast.start()?);
            (all, list, bcast) = (operations.0.wait()?, operations.1.wait()?, operations.2.wait()?);
            if own.is_none() {
                assert!(all.output().iter().all(|&value| value == 9));
                continue;
            }
            let expected = match side {
                0 => sum + size * round,
                _ => ranks.iter().max().expect("members") + round,
            };
            assert!(all.output().iter().all(|&value| value == expected), "{ranks:?}");
            let expected = ranks.iter().flat_map(|&rank| [rank as u8; 2]);
            assert!(list.output().iter().copied().eq(expected), "{ranks:?}");
            assert!(bcast.output().iter().all(|&value| value == last), "{ranks:?}");
        }
    }
    Ok(())
}

/// spec: 103, 107, 111
#[test]
fn groups_without_a_common_rank_share_an_init() {
    on_ranks(5, parted);
    on_ranks_with(5, &Settings::new().check(), parted);
}
