//! The collectives between two groups in every form, against an oracle that knows who sits where.

mod worlds;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use motet::op::{commutative, ordered};
use motet::{
    Block, ErrorClass, ErrorHandler, Info, Intercommunicator, Result, Root, Settings, Sum, Tag,
    World,
};
use worlds::{on_ranks, on_ranks_with};

const CANARY: u64 = u64::MAX;
const ROUNDS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

const FORMS: [Form; 3] = [Form::Blocking, Form::Nonblocking, Form::Persistent];

/// How the ranks of a world are parted: by halves, odd and even, one against the others on either
/// side, and in reverse order.
type Parting = fn(usize, usize) -> (u32, i64);

const PARTINGS: [Parting; 5] = [
    |rank, ranks| (u32::from(rank >= ranks.div_ceil(2)), 0),
    |rank, _| ((rank % 2) as u32, 0),
    |rank, _| (u32::from(rank == 0), 0),
    |rank, ranks| (u32::from(rank + 1 == ranks), 0),
    |rank, _| ((rank % 2) as u32, -(rank as i64)),
];

/// An intercommunicator of the two parts.
fn across(world: &World, parting: Parting) -> Result<Intercommunicator> {
    let (colour, key) = parting(world.rank(), world.size());
    let group = world.split(Some(colour), key)?.expect("all have a colour");
    let far = (0..world.size()).filter(|&rank| parting(rank, world.size()).0 != colour);
    let leader = far.min_by_key(|&rank| (parting(rank, world.size()).1, rank));
    group.intercomm_create(0, Some(world), leader.expect("nobody is alone"), Tag(0))
}

/// What a rank puts in at a place.
fn value(world_rank: usize, place: usize, round: usize) -> u64 {
    (((round * 64 + world_rank) << 32) | (place * 2 + 1)) as u64
}

/// Associative, but with another result in another order: maps x -> ax + b, one after the other.
fn compose(first: u64, second: u64) -> u64 {
    let ((a, b), (c, d)) =
        ((first >> 32, first & 0xffff_ffff), (second >> 32, second & 0xffff_ffff));
    let low = |number: u64| number & 0xffff_ffff;
    low(a.wrapping_mul(c)) << 32 | low(c.wrapping_mul(b).wrapping_add(d))
}

fn add(left: u64, right: u64) -> u64 {
    left.wrapping_add(right)
}

type Operation = fn(u64, u64) -> u64;

/// One rank's view of a case.
struct Seat<'a> {
    across: &'a Intercommunicator,
    /// The ranks of the world in the own and the other group.
    near: Vec<usize>,
    far: Vec<usize>,
    /// This rank of the world.
    me: usize,
    /// Whether rank 0 of the world is in the own group: data of one side is longer.
    first: bool,
    count: usize,
}

impl<'a> Seat<'a> {
    fn new(world: &World, across: &'a Intercommunicator, count: usize) -> Seat<'a> {
        let near: Vec<usize> = across.group().world_ranks().collect();
        let far: Vec<usize> = across.remote_group().world_ranks().collect();
        let first = near.contains(&0);
        Seat { across, near, far, me: world.rank(), first, count }
    }

    fn rank(&self) -> usize {
        self.across.rank()
    }

    /// How this rank names a root in the world.
    fn root(&self, root: usize) -> Root {
        match self.far.iter().position(|&rank| rank == root) {
            Some(at) => Root::Rank(at),
            None if root == self.me => Root::ThisRank,
            None => Root::ProcNull,
        }
    }

    fn data(&self, len: usize, round: usize) -> Vec<u64> {
        (0..len).map(|place| value(self.me, place, round)).collect()
    }

    /// What all ranks of the other group put in, reduced in rank order.
    fn reduced(&self, len: usize, round: usize, operation: Operation) -> Vec<u64> {
        let at = |place| self.far.iter().map(move |&rank| value(rank, place, round));
        (0..len).map(|place| at(place).reduce(operation).expect("nobody is alone")).collect()
    }
}

/// The whole of some data, behind a canary and before another for each block.
fn spread(lens: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator) -> Vec<Block> {
    let mut blocks = vec![Block { start: 0, count: 0 }; lens.len()];
    let mut start = 1;
    // The last block lies first.
    for (block, count) in blocks.iter_mut().zip(lens).rev() {
        *block = Block { start, count };
        start += count + 1;
    }
    blocks
}

/// Blocks filled in a field of canaries.
fn laid_out(blocks: &[Block], data: impl Fn(usize, usize) -> u64) -> Vec<u64> {
    let end = blocks.iter().map(|block| block.start + block.count + 1).max().unwrap_or(0);
    let mut output = vec![CANARY; end];
    for (from, block) in blocks.iter().enumerate() {
        (0..block.count).for_each(|place| output[block.start + place] = data(from, place));
    }
    output
}

/// One call in all forms, some rounds of it; nonblocking ones are all under way together. The input
/// and the expected output are functions of the round.
macro_rules! in_all_forms {
    ($seat:ident, $input:expr, $expected:expr,
        $blocking:ident $nonblocking:ident $init:ident ($($argument:expr),*)) => {{
        let (input, expected) = (&$input, &$expected);
        let canaries = vec![CANARY; expected(0).len()];
        let check = |form: Form, round: usize, output: &[u64]| {
            let (me, near, far) = ($seat.me, &$seat.near, &$seat.far);
            let name = stringify!($blocking);
            let count = $seat.count;
            assert_eq!(
                output, expected(round),
                "{name}, {form:?}, round {round}, count {count}, rank {me} of {near:?} {far:?}"
            );
        };
        for form in FORMS {
            match form {
                Form::Blocking => for round in 0..ROUNDS {
                    let mut output = canaries.clone();
                    $seat.across.$blocking(&input(round), &mut output $(, $argument)*)?;
                    check(form, round, &output);
                },
                Form::Nonblocking => {
                    let start = |round| {
                        let buffers = (input(round), canaries.clone());
                        $seat.across.$nonblocking(buffers $(, $argument)*)
                    };
                    let all = (0..ROUNDS).map(start).collect::<Result<Vec<_>>>()?;
                    // The last first: completion is in any order.
                    for (round, pending) in all.into_iter().enumerate().rev() {
                        check(form, round, &pending.wait()?.1);
                    }
                }
                Form::Persistent => {
                    let buffers = (input(0), canaries.clone());
                    let mut operation = $seat.across.$init(buffers $(, $argument)*, &Info::new())?;
                    for round in 0..ROUNDS {
                        operation.input_mut().copy_from_slice(&input(round));
                        operation.output_mut().fill(CANARY);
                        operation = operation.start()?.wait()?;
                        check(form, round, operation.output());
                    }
                }
            }
        }
    }};
}

fn bcast(seat: &Seat<'_>, root: usize) -> Result<()> {
    let (role, count) = (seat.root(root), seat.count);
    let before = |round| match role {
        Root::ThisRank => seat.data(count, round),
        // That of a rank with nothing to do may have any length, and stays as it is.
        Root::ProcNull => vec![CANARY; 2],
        Root::Rank(_) => vec![CANARY; count],
    };
    let after = |round| match role {
        Root::Rank(_) => (0..count).map(|place| value(root, place, round)).collect(),
        _ => before(round),
    };
    let mut stored = seat.across.bcast_init(before(0), role, &Info::new())?;
    for round in 0..ROUNDS {
        let mut buffer = before(round);
        seat.across.bcast(&mut buffer, role)?;
        assert_eq!(buffer, after(round));
        assert_eq!(seat.across.ibcast(before(round), role)?.wait()?, after(round));
        stored.output_mut().copy_from_slice(&before(round));
        stored.run()?;
        assert_eq!(stored.output(), after(round));
    }
    Ok(())
}

/// What a rank passes that has nothing to do: it is neither read nor written.
fn idle(round: usize) -> [Vec<u64>; 2] {
    [vec![round as u64; 3], vec![CANARY; 2]]
}

fn gathers(seat: &Seat<'_>, root: usize) -> Result<()> {
    let (role, count) = (seat.root(root), seat.count);
    let input = |round| match role {
        Root::ThisRank => Vec::new(),
        Root::ProcNull => idle(round)[0].clone(),
        Root::Rank(_) => seat.data(count, round),
    };
    let output = |round| match role {
        Root::ThisRank => {
            let block = |&rank| (0..count).map(move |place| value(rank, place, round));
            seat.far.iter().flat_map(block).collect()
        }
        Root::ProcNull => idle(round)[1].clone(),
        Root::Rank(_) => Vec::new(),
    };
    in_all_forms!(seat, input, output, gather igather gather_init(role));

    let len = |rank: usize| count + rank % 3;
    let blocks = spread(seat.far.iter().map(|&rank| len(rank)));
    let input = |round| match role {
        Root::Rank(_) => seat.data(len(seat.me), round),
        _ => input(round),
    };
    let output = |round| match role {
        Root::ThisRank => laid_out(&blocks, |from, place| value(seat.far[from], place, round)),
        _ => output(round),
    };
    let known = if role == Root::ThisRank { &blocks[..] } else { &[] };
    in_all_forms!(seat, input, output, gatherv igatherv gatherv_init(known, role));
    Ok(())
}

fn scatters(seat: &Seat<'_>, root: usize) -> Result<()> {
    let (role, count, at) = (seat.root(root), seat.count, seat.rank());
    let input = |round| match role {
        Root::ThisRank => seat.data(count * seat.far.len(), round),
        Root::ProcNull => idle(round)[0].clone(),
        Root::Rank(_) => Vec::new(),
    };
    let output = |round| match role {
        Root::ThisRank => Vec::new(),
        Root::ProcNull => idle(round)[1].clone(),
        Root::Rank(_) => (0..count).map(|place| value(root, at * count + place, round)).collect(),
    };
    in_all_forms!(seat, input, output, scatter iscatter scatter_init(role));

    let len = |rank: &usize| count + rank % 3;
    let receivers = if role == Root::ThisRank { &seat.far } else { &seat.near };
    let blocks = spread(receivers.iter().map(len));
    let whole = blocks.iter().map(|block| block.start + block.count).max().unwrap_or(0);
    let input = |round| match role {
        Root::ThisRank => seat.data(whole, round),
        _ => input(round),
    };
    let output = |round| match role {
        Root::Rank(_) => {
            let Block { start, count } = blocks[at];
            (0..count).map(|place| value(root, start + place, round)).collect()
        }
        _ => output(round),
    };
    let known = if role == Root::ThisRank { &blocks[..] } else { &[] };
    in_all_forms!(seat, input, output, scatterv iscatterv scatterv_init(known, role));
    Ok(())
}

fn reduce(seat: &Seat<'_>, root: usize) -> Result<()> {
    let (role, count) = (seat.root(root), seat.count);
    let input = |round| match role {
        Root::ThisRank => Vec::new(),
        Root::ProcNull => idle(round)[0].clone(),
        Root::Rank(_) => seat.data(count, round),
    };
    let output = |round, operation| match role {
        Root::ThisRank => seat.reduced(count, round, operation),
        Root::ProcNull => idle(round)[1].clone(),
        Root::Rank(_) => Vec::new(),
    };
    in_all_forms!(seat, input, |round| output(round, add),
        reduce ireduce reduce_init(commutative(add), role));
    in_all_forms!(seat, input, |round| output(round, compose),
        reduce ireduce reduce_init(ordered(compose), role));
    Ok(())
}

fn allgathers(seat: &Seat<'_>) -> Result<()> {
    let count = seat.count;
    // Each group has its own length; with 0 here, one of them only takes.
    let len = |first: bool| if first { count } else { 2 * count + 1 };
    for silent in [None, Some(true), Some(false)] {
        let len = |first| if silent == Some(first) { 0 } else { len(first) };
        let input = |round| seat.data(len(seat.first), round);
        let output = |round| {
            let block = |&rank| (0..len(!seat.first)).map(move |place| value(rank, place, round));
            seat.far.iter().flat_map(block).collect::<Vec<_>>()
        };
        in_all_forms!(seat, input, output, allgather iallgather allgather_init());
    }
    let len = |rank: usize| count * (rank % 3);
    let blocks = spread(seat.far.iter().map(|&rank| len(rank)));
    let input = |round| seat.data(len(seat.me), round);
    let output = |round| laid_out(&blocks, |from, place| value(seat.far[from], place, round));
    in_all_forms!(seat, input, output, allgatherv iallgatherv allgatherv_init(&blocks));
    Ok(())
}

fn alltoalls(seat: &Seat<'_>) -> Result<()> {
    let (count, at) = (seat.count, seat.rank());
    let len = |first: bool| if first { count } else { count + 2 };
    for silent in [None, Some(true), Some(false)] {
        let len = |first| if silent == Some(first) { 0 } else { len(first) };
        let (to, from) = (len(seat.first), len(!seat.first));
        let input = |round| seat.data(to * seat.far.len(), round);
        let output = |round| {
            let block = |&rank| (0..from).map(move |place| value(rank, at * from + place, round));
            seat.far.iter().flat_map(block).collect::<Vec<_>>()
        };
        in_all_forms!(seat, input, output, alltoall ialltoall alltoall_init());
    }
    let len = |from: usize, to: usize| count * ((from + 2 * to) % 4);
    // A block that is sent begins where its receiver's rank says, so they overlap.
    let to: Vec<Block> = (0..seat.far.len())
        .map(|other| Block { start: other, count: len(seat.me, seat.far[other]) })
        .collect();
    let end = to.iter().map(|block| block.start + block.count).max().unwrap_or(0);
    let from = spread(seat.far.iter().map(|&rank| len(rank, seat.me)));
    let input = |round| seat.data(end, round);
    let output = |round| laid_out(&from, |other, place| value(seat.far[other], at + place, round));
    in_all_forms!(seat, input, output, alltoallv ialltoallv alltoallv_init(&to, &from));
    Ok(())
}

fn reductions(seat: &Seat<'_>) -> Result<()> {
    let (count, at, near) = (seat.count, seat.rank(), seat.near.len());
    let input = |round| seat.data(count, round);
    in_all_forms!(seat, input, |round| seat.reduced(count, round, add),
        allreduce iallreduce allreduce_init(commutative(add)));
    in_all_forms!(seat, input, |round| seat.reduced(count, round, compose),
        allreduce iallreduce allreduce_init(ordered(compose)));

    // A length that both groups can share out.
    let whole = count * near * seat.far.len();
    let input = |round| seat.data(whole, round);
    let own = |round, operation| {
        seat.reduced(whole, round, operation)[at * whole / near..][..whole / near].to_vec()
    };
    in_all_forms!(seat, input, |round| own(round, add),
        reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init(commutative(add)));
    in_all_forms!(seat, input, |round| own(round, compose),
        reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init(ordered(compose)));

    // All to the last ranks of each group: the first have nothing, or one.
    let whole = count + 3;
    let counts: Vec<usize> = (0..near)
        .map(|rank| match rank {
            _ if rank + 1 == near => whole - (near - 1) / 2,
            _ => rank % 2,
        })
        .collect();
    let start: usize = counts[..at].iter().sum();
    let input = |round| seat.data(whole, round);
    let own =
        |round, operation| seat.reduced(whole, round, operation)[start..][..counts[at]].to_vec();
    in_all_forms!(seat, input, |round| own(round, add),
        reduce_scatter ireduce_scatter reduce_scatter_init(&counts, commutative(add)));
    in_all_forms!(seat, input, |round| own(round, compose),
        reduce_scatter ireduce_scatter reduce_scatter_init(&counts, ordered(compose)));
    Ok(())
}

fn barriers(seat: &Seat<'_>) -> Result<()> {
    let mut stored = seat.across.barrier_init(&Info::new())?;
    for _ in 0..ROUNDS {
        seat.across.barrier()?;
        seat.across.ibarrier()?.wait()?;
        stored.run()?;
    }
    Ok(())
}

/// Every collective in every form.
fn try_all(world: &World, parting: Parting, count: usize) -> Result<()> {
    let across = across(world, parting)?;
    let seat = Seat::new(world, &across, count);
    for root in [0, world.size() - 1, world.size() / 2] {
        bcast(&seat, root)?;
        gathers(&seat, root)?;
        scatters(&seat, root)?;
        reduce(&seat, root)?;
    }
    allgathers(&seat)?;
    alltoalls(&seat)?;
    reductions(&seat)?;
    barriers(&seat)
}

/// spec: 86, 87, 88, 89, 91
#[test]
fn every_collective_crosses_in_every_form() {
    for (ranks, parting) in [2, 3, 5, 8].into_iter().flat_map(|n| PARTINGS.map(|p| (n, p))) {
        on_ranks(ranks, |world| {
            try_all(world, parting, 0)?;
            try_all(world, parting, 3)
        });
    }
}

/// Blocks that travel as addresses.
///
/// spec: 88, 91
#[test]
fn large_data_crosses() {
    for (ranks, parting) in [(2, PARTINGS[0]), (5, PARTINGS[1])] {
        on_ranks(ranks, |world| try_all(world, parting, 3000));
    }
}

/// That those of the root's group have nothing to do is no mismatch.
///
/// spec: 11, 87
#[test]
fn check_mode_finds_nothing_wrong() {
    for parting in PARTINGS {
        let settings = Settings::new().check();
        on_ranks_with(5, &settings, |world| try_all(world, parting, 2));
    }
}

/// spec: 90
#[test]
fn nobody_leaves_a_barrier_before_the_other_group_has_entered() {
    // How many rounds the late one has entered.
    let entered = &AtomicUsize::new(0);
    on_ranks(5, |world| {
        let across = across(world, PARTINGS[1])?;
        let (me, word) = (world.rank(), Tag(7));
        let mut stored = across.barrier_init(&Info::new())?;
        // Ranks 0, 2 and 4 are one group, 1 and 3 the other; each rank in turn is the late one.
        let rounds = (0..5).flat_map(|late| FORMS.map(|form| (late, form)));
        for (round, (late, form)) in rounds.enumerate() {
            if me == late {
                for other in (0..5).filter(|&other| other != late) {
                    world.recv(&mut [0u8], other, word)?;
                }
                thread::sleep(Duration::from_millis(2));
                entered.store(round + 1, Ordering::SeqCst);
            } else {
                world.send(&[0u8], late, word)?;
            }
            match form {
                Form::Blocking => across.barrier()?,
                Form::Nonblocking => across.ibarrier()?.wait()?,
                Form::Persistent => stored = stored.start()?.wait()?,
            }
            let opposite = me % 2 != late % 2;
            let seen = entered.load(Ordering::SeqCst);
            assert!(!opposite || seen > round, "{form:?}: rank {me} has left before rank {late}");
            // The others of its own group need not wait for it.
            world.barrier()?;
        }
        Ok(())
    });
}

/// spec: 61, 86
#[test]
fn wrong_arguments_are_refused_at_once() {
    on_ranks(5, |world| {
        let across = across(world, PARTINGS[0])?;
        across.set_error_handler(ErrorHandler::Return);
        let (near, far) = (across.size(), across.remote_size());
        let class = |refused: Result<()>| refused.expect_err("refused").class();
        let beyond = Root::Rank(far);
        assert_eq!(class(across.bcast(&mut [0], beyond)), ErrorClass::Root);
        assert_eq!(class(across.gather(&[0], &mut [], beyond)), ErrorClass::Root);
        assert_eq!(class(across.reduce(&[0], &mut [0], Sum, beyond)), ErrorClass::Root);
        let refused = across.iscatter((vec![0], vec![0]), beyond).expect_err("no such root");
        assert_eq!((refused.class(), refused.rank()), (ErrorClass::Root, Some(across.rank())));
        let refused = across.gather_init((vec![0], vec![0]), beyond, &Info::new());
        assert_eq!(refused.map(drop).expect_err("no such root").class(), ErrorClass::Root);

        let uneven = &mut vec![0; far + 1][..];
        let of = across.gather(&[], uneven, Root::ThisRank).expect_err("not one block for each");
        assert!(of.to_string().contains("one block of 1 for each of"), "{of}");
        let blocks = vec![Block { start: 0, count: 1 }; far + 1];
        assert_eq!(class(across.gatherv(&[], uneven, &blocks, Root::ThisRank)), ErrorClass::Arg);
        let outside = vec![Block { start: far, count: 2 }; far];
        across.scatterv(uneven, &mut [], &outside, Root::ThisRank).expect_err("not in the buffer");
        across.allgatherv(&[0], uneven, &outside).expect_err("not in the buffer");
        let over = vec![Block { start: 0, count: 1 }; far];
        if far > 1 {
            across.allgatherv(&[0], uneven, &over).expect_err("received blocks overlap");
            across
                .gatherv(&[], uneven, &over, Root::ThisRank)
                .expect_err("received blocks overlap");
        }
        across.allreduce(&[0, 1], &mut [0], Sum).expect_err("lengths differ");
        across.reduce_scatter(&[0], &mut [0], &[1], Sum).map_or_else(drop, |()| {
            assert_eq!(near, 1);
        });
        across.reduce_scatter_block(&vec![0; near + 1], &mut [0], Sum).expect_err("no blocks");
        // Nothing has been sent: what follows works.
        let mut sum = [0];
        across.allreduce(&[1], &mut sum, Sum)?;
        assert_eq!(sum, [far]);
        Ok(())
    });
}

/// spec: 7, 8, 18
#[test]
fn many_operations_outlive_their_intercommunicator() {
    on_ranks(5, |world| {
        let across = across(world, PARTINGS[0])?;
        let far = across.remote_size();
        let sums: Vec<_> = (0..200)
            .map(|each| across.iallreduce((vec![each], vec![0]), Sum))
            .collect::<Result<_>>()?;
        let copy = across.dup()?;
        let other = copy.iallgather((vec![world.rank()], vec![0; far]))?;
        let far_ranks: Vec<usize> = across.remote_group().world_ranks().collect();
        drop(across);
        drop(copy);
        assert_eq!(other.wait()?.1, far_ranks);
        for (each, sum) in sums.into_iter().enumerate().rev() {
            assert_eq!(sum.wait()?.1, [each * far]);
        }
        Ok(())
    });
}
