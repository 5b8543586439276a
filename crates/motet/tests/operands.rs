//! Reductions that read their operands in the memory of other ranks: by all algorithms for long
//! data, with the bits of a reduction from left to right.
//!
//! The program runs each of its cases by running itself, under a time limit.

mod cases;

use std::env;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cases::{CASE, TestCase, end_of, main_of};
use motet::op::{commutative, ordered};
use motet::{Communicator, Element, Info, Max, Operator, Result, SharedAllocator, Sum, Tag};
use motet_fabric::endpoint::InPlaceCounters;

#[global_allocator]
static ALLOCATOR: SharedAllocator = SharedAllocator;

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);
/// Elements of 8 bytes: blocks in cells, in bounce buffers and in the heap, whole parts of a pass
/// and others.
const COUNTS: [usize; 5] = [5, 1536, 8192, 40_001, 131_072 + 3];
/// Calls of each kind that are pending at once, or follow each other.
const ROUNDS: usize = 3;

struct Case {
    name: &'static str,
    algorithms: &'static str,
    /// Whether each of them accepts operators that do not commute.
    keep_order: bool,
    ranks: usize,
}

const LINEAR: &str = "allreduce=linear_reduce_scatter_allgather,reduce=linear,scan=linear,\
                      reduce_scatter_block=linear";
const BY_PARTS: &str = "allreduce=linear,reduce=linear_reduce_scatter_gather,exscan=linear,\
                        reduce_scatter_block=pairwise";
const PAIRS: &str = "allreduce=reduce_scatter_allgather,reduce=binomial,scan=recursive_doubling,\
                     reduce_scatter_block=recursive_halving";
const DOUBLED: &str = "allreduce=recursive_doubling,reduce=distance_halving,scan=chain,\
                       reduce_scatter_block=ring";

const CASES: [Case; 8] = [
    Case { name: "two_ranks_linear", algorithms: LINEAR, keep_order: true, ranks: 2 },
    Case { name: "four_ranks_linear", algorithms: LINEAR, keep_order: true, ranks: 4 },
    Case { name: "eleven_ranks_linear", algorithms: LINEAR, keep_order: true, ranks: 11 },
    Case { name: "four_ranks_by_parts", algorithms: BY_PARTS, keep_order: false, ranks: 4 },
    Case { name: "five_ranks_by_parts", algorithms: BY_PARTS, keep_order: false, ranks: 5 },
    Case { name: "four_ranks_in_pairs", algorithms: PAIRS, keep_order: true, ranks: 4 },
    Case { name: "five_ranks_in_pairs", algorithms: PAIRS, keep_order: true, ranks: 5 },
    Case { name: "five_ranks_doubled", algorithms: DOUBLED, keep_order: false, ranks: 5 },
];

fn main() -> ExitCode {
    main_of(&CASES)
}

impl TestCase for Case {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> Result<()> {
        let world = motet::launch(self.ranks)?;
        // Many ranks take long where they share few cores.
        let counts = if self.ranks > 5 { &COUNTS[..3] } else { &COUNTS };
        for &count in counts {
            if self.keep_order {
                let map = |rank: usize, at: usize| (rank * 31 + at) as u64 * 0x1_0000_0007;
                trials(&world, count, map, ordered(then))?;
                trials(&world, count, |rank, at| rank as u8 ^ at as u8, ordered(after))?;
            }
            trials(&world, count, |rank, at| (at % 1000 + rank) as f32, Max)?;
            trials(&world, count, |rank, at| (at % 1000 * 8 + rank) as f64, Sum)?;
            trials(&world, count, |rank, at| (at * 3 + rank) as i128, commutative(i128::max))?;
            // Elements whose size does not divide 8 KiB, the part of a pass.
            let bytes = |rank: usize, at: usize| [at as u8, rank as u8, (at / 3) as u8];
            trials(&world, count, bytes, commutative(each(u8::max)))?;
            let numbers = |rank: usize, at: usize| [at as i32, rank as i32, 1];
            trials(&world, count, numbers, commutative(each(i32::wrapping_add)))?;
            let floats = |rank: usize, at: usize| [at as f64, rank as f64, 1.0];
            trials(&world, count, floats, commutative(each(|left: f64, right| left + right)))?;
            let words = |rank: usize, at: usize| [(at * 7 + rank) as u64; 5];
            trials(&world, count, words, commutative(each(u64::min)))?;
        }
        self.assert_read_in_place(&world)?;
        // Elsewhere the last rank needs more than the root.
        if self.algorithms == LINEAR { a_late_operand_holds_nobody(&world) } else { Ok(()) }
    }

    fn run(&self) -> std::result::Result<(), String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.env(CASE, self.name).env(motet::env::ALGORITHM, self.algorithms);
        let mut job = command.spawn().map_err(|error| error.to_string())?;
        match end_of(&mut job, Instant::now() + LIMIT).map_err(|error| error.to_string())? {
            Some(status) if status.success() => Ok(()),
            end => Err(format!("{}: {end:?} within {LIMIT:?}", self.name)),
        }
    }
}

impl Case {
    /// The ranks together have read operands where they lay. Where a rank has all operands at once,
    /// it has done several reductions in one pass; where it gets one after the other, it may have.
    fn assert_read_in_place(&self, world: &Communicator) -> Result<()> {
        let InPlaceCounters { operands, passes } = world.in_place_counters();
        let (mut all, ranks) = ([0; 2], self.ranks);
        world.allreduce(&[operands, passes], &mut all, Sum)?;
        assert!(all[0] > 0, "{}: no operand was read in place", self.name);
        let has_all = ranks > 2 && [LINEAR, BY_PARTS].contains(&self.algorithms);
        assert!(all[1] > 0 || !has_all, "{}: no pass was formed", self.name);
        assert!(all[1] == 0 || ranks > 2, "{}: two ranks have one operand each", self.name);
        Ok(())
    }
}

/// The last rank reduces, then lets the one before it reduce: the root takes the operand of the
/// last rank although it may not be reduced yet.
fn a_late_operand_holds_nobody(world: &Communicator) -> Result<()> {
    const TAG: Tag = Tag(1);
    let (rank, size) = (world.rank(), world.size());
    let (own, mut result) = (vec![rank as u64; COUNTS[4]], vec![0; COUNTS[4]]);
    if size > 2 && rank == size - 2 {
        world.recv(&mut [0_u8], size - 1, TAG)?;
    }
    world.reduce(&own, &mut result, Sum, 0)?;
    if size > 2 && rank == size - 1 {
        world.send(&[0_u8], size - 2, TAG)?;
    }
    assert!(rank > 0 || result.iter().all(|&sum| sum == (size * (size - 1) / 2) as u64));
    Ok(())
}

/// Combines arrays of numbers, number by number.
fn each<T: Copy, const N: usize>(
    combine: impl Fn(T, T) -> T + Clone,
) -> impl Fn([T; N], [T; N]) -> [T; N] + Clone {
    move |left, right| std::array::from_fn(|at| combine(left[at], right[at]))
}

/// Two maps `x -> a x + b` modulo 2³², the left one first: their order counts.
fn then(left: u64, right: u64) -> u64 {
    let parts = |map: u64| ((map >> 32) as u32 | 1, map as u32);
    let ((a, b), (c, d)) = (parts(left), parts(right));
    let (slope, rest) = (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d));
    u64::from(slope) << 32 | u64::from(rest)
}

/// Two maps `x -> a x + b` modulo 16.
fn after(left: u8, right: u8) -> u8 {
    let parts = |map: u8| (map >> 4 | 1, map & 15);
    let ((a, b), (c, d)) = (parts(left), parts(right));
    c.wrapping_mul(a) << 4 | c.wrapping_mul(b).wrapping_add(d) & 15
}

/// All reductions of these values, out of place and in place, in all forms.
fn trials<T, O>(
    world: &Communicator,
    count: usize,
    value: impl Fn(usize, usize) -> T,
    operator: O,
) -> Result<()>
where
    T: Element + PartialEq + Default,
    O: Operator<T> + Clone,
{
    let (me, size) = (world.rank(), world.size());
    let of = |rank: usize, round: usize, len: usize| -> Vec<T> {
        (0..len).map(|at| value(rank, at + round)).collect()
    };
    let reduced = |ranks: std::ops::Range<usize>, round: usize, len: usize| -> Vec<T> {
        let both = |left: Vec<T>, right: Vec<T>| {
            left.into_iter().zip(right).map(|(left, right)| operator.combine(left, right)).collect()
        };
        ranks.map(|rank| of(rank, round, len)).reduce(both).expect("there are ranks")
    };
    let mut result = vec![T::default(); count + 1];
    for round in 0..ROUNDS {
        let (own, all) = (of(me, round, count), reduced(0..size, round, count));
        // Behind the first element nothing begins at the border of a line.
        world.allreduce(&of(me, round, count + 1)[1..], &mut result[1..], operator.clone())?;
        assert!(result[1..] == reduced(0..size, round, count + 1)[1..], "allreduce of {count}");
        result[..count].copy_from_slice(&own);
        world.allreduce_in_place(&mut result[..count], operator.clone())?;
        assert!(result[..count] == all, "allreduce of {count} in place");
        world.reduce(&own, &mut result[..count], operator.clone(), round % size)?;
        assert!(me != round % size || result[..count] == all, "reduce of {count}");
        world.scan(&own, &mut result[..count], operator.clone())?;
        assert!(result[..count] == reduced(0..me + 1, round, count), "scan of {count}");
        let block = count / size;
        world.reduce_scatter_block(&own[..block * size], &mut result[..block], operator.clone())?;
        assert!(result[..block] == all[block * me..][..block], "blocks of {block}");
    }
    let begin = |round| world.iallreduce(of(me, round, count), operator.clone());
    let begun = (0..ROUNDS).map(begin).collect::<Result<Vec<_>>>()?;
    for (round, request) in begun.into_iter().enumerate() {
        assert!(request.wait()? == reduced(0..size, round, count), "iallreduce of {count}");
    }
    let buffers = (vec![T::default(); count], vec![T::default(); count]);
    let mut sum = world.allreduce_init(buffers, operator.clone(), &Info::new())?;
    for round in 0..ROUNDS {
        sum.input_mut().copy_from_slice(&of(me, round, count));
        sum = sum.start()?.wait()?;
        assert!(sum.output()[..] == reduced(0..size, round, count)[..], "persistent, {count}");
    }
    Ok(())
}
