//! Random programs: the same sequence of operations on all ranks, each in a random form on a
//! random communicator, completed in an order of each rank's own, against an oracle.

mod worlds;

use motet::op::ordered;
use motet::{Block, Communicator, Info, Request, Result, Settings, Sum, World};
use proptest::prelude::*;
use worlds::{Random, on_ranks_with};

/// What is called; all data follows from the number of the step.
#[derive(Clone, Copy, Debug)]
enum What {
    Barrier,
    Bcast { root: usize },
    Reduce { root: usize },
    Allreduce,
    Ordered,
    Allgather,
    Allgatherv,
    Shift { by: usize },
}

/// When a step completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Before the next step begins.
    AtOnce,
    /// At the end of the program, in an order of the rank's own.
    Later,
    /// As a persistent operation that runs this often, now.
    Persistent(u8),
}

#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    when: When,
    count: usize,
    /// Which of the communicators.
    place: usize,
}

/// A program, and the world to run it on.
#[derive(Clone, Debug)]
struct Program {
    ranks: usize,
    copies: usize,
    plain: bool,
    seed: u64,
    steps: Vec<Step>,
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        Just(What::Barrier),
        any::<usize>().prop_map(|root| What::Bcast { root }),
        any::<usize>().prop_map(|root| What::Reduce { root }),
        Just(What::Allreduce),
        Just(What::Ordered),
        Just(What::Allgather),
        Just(What::Allgatherv),
        any::<usize>().prop_map(|by| What::Shift { by }),
    ];
    let when = prop_oneof![
        2 => Just(When::AtOnce),
        3 => Just(When::Later),
        1 => (1..4u8).prop_map(When::Persistent),
    ];
    let count = prop_oneof![8 => 0..40usize, 2 => 400..900usize, 1 => 9_000..20_000usize];
    let step = (what, when, count, any::<usize>());
    step.prop_map(|(what, when, count, place)| Step { what, when, count, place })
}

fn program() -> impl Strategy<Value = Program> {
    let world = (1..=6usize, 0..4usize, any::<bool>(), any::<u64>());
    let steps = proptest::collection::vec(step(), 1..40);
    (world, steps).prop_map(|((ranks, copies, plain, seed), steps)| Program {
        ranks,
        copies,
        plain,
        seed,
        steps,
    })
}

/// What a rank contributes to a step at a place.
fn element(step: usize, rank: usize, at: usize) -> u64 {
    Random((step * 1000 + rank) as u64 ^ (at as u64) << 32).next()
}

fn block(step: usize, rank: usize, count: usize) -> Vec<u64> {
    (0..count).map(|at| element(step, rank, at)).collect()
}

/// Maps `x -> a x + b` with both numbers in one: composing them does not commute.
fn compose(left: u64, right: u64) -> u64 {
    let (low, high) = (|map: u64| map as u32, |map: u64| (map >> 32) as u32);
    let offset = high(left).wrapping_mul(low(right)).wrapping_add(low(left));
    u64::from(high(left).wrapping_mul(high(right))) << 32 | u64::from(offset)
}

/// Blocks with gaps, the last rank's first.
fn blocks(ranks: usize, count: usize) -> Vec<Block> {
    let of_rank =
        |rank| Block { start: 1 + (ranks - 1 - rank) * (count + 3), count: count + rank % 3 };
    (0..ranks).map(of_rank).collect()
}

/// One step on one rank of one communicator.
struct Turn<'a> {
    number: usize,
    step: Step,
    comm: &'a Communicator,
}

impl Turn<'_> {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    /// The shift of an exchange, or the root of a rooted call.
    fn other(&self, number: usize) -> usize {
        number % self.comm.size()
    }

    fn own(&self) -> Vec<u64> {
        let extra = match self.step.what {
            What::Allgatherv => self.rank() % 3,
            _ => 0,
        };
        block(self.number, self.rank(), self.step.count + extra)
    }

    /// All contributions combined in rank order.
    fn combined(&self, combine: fn(u64, u64) -> u64) -> Vec<u64> {
        let of_place = |at| {
            let all = (0..self.comm.size()).map(|rank| element(self.number, rank, at));
            all.reduce(combine).expect("there is a rank")
        };
        (0..self.step.count).map(of_place).collect()
    }

    /// The output before the call: all ones, except what a broadcast sends.
    fn before(&self) -> Vec<u64> {
        let (ranks, count) = (self.comm.size(), self.step.count);
        match self.step.what {
            What::Bcast { root } if self.other(root) == self.rank() => self.own(),
            What::Allgather => vec![1; ranks * count],
            What::Allgatherv => vec![1; 2 + ranks * (count + 3)],
            _ => vec![1; count],
        }
    }

    /// The output after the call.
    fn after(&self) -> Vec<u64> {
        let (ranks, count) = (self.comm.size(), self.step.count);
        let block = |rank, count| block(self.number, rank, count);
        match self.step.what {
            What::Barrier => self.before(),
            What::Bcast { root } => block(self.other(root), count),
            What::Reduce { root } if self.other(root) != self.rank() => self.before(),
            What::Reduce { .. } | What::Allreduce => self.combined(u64::wrapping_add),
            What::Ordered => self.combined(compose),
            What::Allgather => (0..ranks).flat_map(|rank| block(rank, count)).collect(),
            What::Allgatherv => {
                let mut output = self.before();
                for (rank, Block { start, count }) in blocks(ranks, count).into_iter().enumerate() {
                    output[start..][..count].copy_from_slice(&block(rank, count));
                }
                output
            }
            What::Shift { by } => block((self.rank() + ranks - self.other(by)) % ranks, count),
        }
    }

    fn begin(&self) -> Result<Begun> {
        let (comm, ranks) = (self.comm, self.comm.size());
        let pair = (self.own(), self.before());
        Ok(match self.step.what {
            What::Barrier => Begun::Barrier(comm.ibarrier()?),
            What::Bcast { root } => Begun::One(comm.ibcast(pair.1, self.other(root))?),
            What::Reduce { root } => Begun::Pair(comm.ireduce(pair, Sum, self.other(root))?),
            What::Allreduce => Begun::Pair(comm.iallreduce(pair, Sum)?),
            What::Ordered => Begun::Pair(comm.iallreduce(pair, ordered(compose))?),
            What::Allgather => Begun::Pair(comm.iallgather(pair)?),
            What::Allgatherv => {
                Begun::Pair(comm.iallgatherv(pair, &blocks(ranks, self.step.count))?)
            }
            What::Shift { by } => {
                let [to, from] = self.partners(by);
                Begun::Pair(comm.iexchange(pair, &[to], &[from])?)
            }
        })
    }

    fn partners(&self, by: usize) -> [usize; 2] {
        let (ranks, by) = (self.comm.size(), self.other(by));
        [(self.rank() + by) % ranks, (self.rank() + ranks - by) % ranks]
    }

    /// Runs the step as a persistent operation.
    fn repeat(&self, times: u8) -> Result<()> {
        let (comm, ranks, info) = (self.comm, self.comm.size(), Info::new());
        let pair = (self.own(), self.before());
        let mut ready = match self.step.what {
            What::Barrier => {
                let mut barrier = comm.barrier_init(&info)?;
                return (0..times).try_for_each(|_| barrier.run());
            }
            What::Bcast { root } => {
                let mut bcast = comm.bcast_init(pair.1, self.other(root), &info)?;
                (0..times).try_for_each(|_| bcast.run())?;
                assert_eq!(bcast.output(), self.after(), "{:?} {:?}", self.step, self.comm);
                return Ok(());
            }
            What::Reduce { root } => comm.reduce_init(pair, Sum, self.other(root), &info)?,
            What::Allreduce => comm.allreduce_init(pair, Sum, &info)?,
            What::Ordered => comm.allreduce_init(pair, ordered(compose), &info)?,
            What::Allgather => comm.allgather_init(pair, &info)?,
            What::Allgatherv => {
                comm.allgatherv_init(pair, &blocks(ranks, self.step.count), &info)?
            }
            What::Shift { by } => {
                let [to, from] = self.partners(by);
                comm.exchange_init(pair, &[to], &[from], &info)?
            }
        };
        for _ in 0..times {
            ready.output_mut().copy_from_slice(&self.before());
            ready = ready.start()?.wait()?;
            assert_eq!(ready.output(), self.after(), "{:?} {:?}", self.step, self.comm);
        }
        Ok(())
    }

    fn finish(&self, begun: Begun) -> Result<()> {
        let output = match begun {
            Begun::Barrier(request) => return request.wait(),
            Begun::One(request) => request.wait()?,
            Begun::Pair(request) => {
                let (input, output) = request.wait()?;
                assert_eq!(input, self.own());
                output
            }
        };
        assert_eq!(output, self.after(), "{:?} {:?}", self.step, self.comm);
        Ok(())
    }
}

/// A step under way.
enum Begun {
    Barrier(Request<()>),
    One(Request<Vec<u64>>),
    Pair(Request<(Vec<u64>, Vec<u64>)>),
}

/// The communicators of a program, beside the world: copies and parts of it.
fn communicators(world: &World, copies: usize) -> Result<Vec<Communicator>> {
    let mut all = vec![world.dup()?];
    for copy in 0..copies {
        let colour = if copy % 2 == 0 { 0 } else { (world.rank() % 2) as u32 };
        let key = if copy % 3 == 0 { -(world.rank() as i64) } else { 0 };
        all.extend(world.split(Some(colour), key)?);
    }
    Ok(all)
}

fn run(world: &World, program: &Program) -> Result<()> {
    let communicators = communicators(world, program.copies)?;
    let mut open = Vec::new();
    for (number, &step) in program.steps.iter().enumerate() {
        let comm = &communicators[step.place % communicators.len()];
        let turn = Turn { number, step, comm };
        match step.when {
            When::AtOnce => turn.finish(turn.begin()?)?,
            When::Later => open.push((turn.begin()?, turn)),
            When::Persistent(times) => turn.repeat(times)?,
        }
    }
    Random(program.seed ^ world.rank() as u64).shuffle(&mut open);
    open.into_iter().try_for_each(|(begun, turn)| turn.finish(begun))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// spec: 11, 12, 15, 18, 31, 47, 52, 80
    #[test]
    fn random_programs_give_what_the_oracle_says(program in program()) {
        let settings = Settings::new();
        let settings = match program.plain {
            true => settings.without_channels().without_single_copy(),
            false => settings,
        };
        on_ranks_with(program.ranks, &settings, |world| run(world, &program));
    }
}
