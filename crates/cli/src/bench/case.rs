//! One collective at one size: its data, its three forms, and what must come out.
//!
//! Elements are floats that hold small whole numbers, so sums are exact in any order.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use motet::{Communicator, Info, Max, Persistent, Result, Sum};
use motet_plan::Collective;
use serde::Serialize;

/// Size of an element.
pub(super) const ELEMENT_BYTES: usize = size_of::<f64>();

/// Where data comes from or goes to.
const ROOT: usize = 0;

/// Stands in outputs before each window.
const UNTOUCHED: f64 = -1.0;

/// A form of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Blocking => "blocking",
            Form::Nonblocking => "nonblocking",
            Form::Persistent => "persistent",
        }
    }
}

/// One collective at one size, on one rank.
pub(super) struct Case<'a> {
    pub(super) world: &'a Communicator,
    pub(super) collective: Collective,
    /// Elements of the data, or of one block.
    count: usize,
    /// The ranks before and after this one: block 0 goes to the one before.
    to: [usize; 2],
    /// The ranks after and before: block 0 comes from the one after.
    from: [usize; 2],
}

/// An input and an output.
type Buffers = (Vec<f64>, Vec<f64>);

/// One form of a case, ready to be run again and again.
pub(super) struct Subject<'a> {
    case: &'a Case<'a>,
    ready: Ready,
    /// Operations so far; the first element of the data tells it.
    runs: u64,
}

/// Buffers, and what is made of them once.
enum Ready {
    Blocking(Buffers),
    /// Gone only while the operation has them.
    Nonblocking(Option<Buffers>),
    Barrier(Persistent<()>),
    Bcast(Persistent<Vec<f64>>),
    Pair(Persistent<Buffers>),
}

impl<'a> Case<'a> {
    pub(super) fn new(world: &'a Communicator, collective: Collective, count: usize) -> Case<'a> {
        let (rank, size) = (world.rank(), world.size());
        let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
        Case { world, collective, count, to: [before, after], from: [after, before] }
    }

    pub(super) fn bytes(&self) -> usize {
        self.count * ELEMENT_BYTES
    }

    /// The name of the algorithm that runs.
    pub(super) fn algorithm(&self) -> Result<&'static str> {
        Ok(match self.init()? {
            Ready::Barrier(barrier) => barrier.algorithm(),
            Ready::Bcast(bcast) => bcast.algorithm(),
            Ready::Pair(pair) => pair.algorithm(),
            Ready::Blocking(_) | Ready::Nonblocking(_) => unreachable!("an init is persistent"),
        })
    }

    pub(super) fn subject(&'a self, form: Form) -> Result<Subject<'a>> {
        let ready = match form {
            Form::Blocking => Ready::Blocking(self.buffers()),
            Form::Nonblocking => Ready::Nonblocking(Some(self.buffers())),
            Form::Persistent => self.init()?,
        };
        Ok(Subject { case: self, ready, runs: 0 })
    }

    /// A broadcast has an output only; so has a reduction at all ranks but the root.
    fn buffers(&self) -> Buffers {
        let (count, ranks) = (self.count, self.world.size());
        let (input, output) = match self.collective {
            Collective::Bcast => (0, count),
            Collective::Reduce if !self.is_root() => (count, 0),
            Collective::Reduce | Collective::Allreduce => (count, count),
            Collective::Allgather => (count, count * ranks),
            Collective::Exchange => (2 * count, 2 * count),
            _ => (0, 0),
        };
        (vec![0.0; input], vec![UNTOUCHED; output])
    }

    fn init(&self) -> Result<Ready> {
        let (world, info, buffers) = (self.world, &Info::new(), self.buffers());
        Ok(match self.collective {
            Collective::Bcast => Ready::Bcast(world.bcast_init(buffers.1, ROOT, info)?),
            Collective::Reduce => Ready::Pair(world.reduce_init(buffers, Sum, ROOT, info)?),
            Collective::Allreduce => Ready::Pair(world.allreduce_init(buffers, Sum, info)?),
            Collective::Allgather => Ready::Pair(world.allgather_init(buffers, info)?),
            Collective::Exchange => {
                Ready::Pair(world.exchange_init(buffers, &self.to, &self.from, info)?)
            }
            _ => Ready::Barrier(world.barrier_init(info)?),
        })
    }

    fn blocking(&self, (input, output): &mut Buffers) -> Result<()> {
        let world = self.world;
        match self.collective {
            Collective::Bcast => world.bcast(output, ROOT),
            Collective::Reduce => world.reduce(input, output, Sum, ROOT),
            Collective::Allreduce => world.allreduce(input, output, Sum),
            Collective::Allgather => world.allgather(input, output),
            Collective::Exchange => world.exchange(input, output, &self.to, &self.from),
            _ => world.barrier(),
        }
    }

    fn nonblocking(&self, buffers: Buffers) -> Result<Buffers> {
        let world = self.world;
        match self.collective {
            Collective::Bcast => {
                let (input, output) = buffers;
                Ok((input, world.ibcast(output, ROOT)?.wait()?))
            }
            Collective::Reduce => world.ireduce(buffers, Sum, ROOT)?.wait(),
            Collective::Allreduce => world.iallreduce(buffers, Sum)?.wait(),
            Collective::Allgather => world.iallgather(buffers)?.wait(),
            Collective::Exchange => world.iexchange(buffers, &self.to, &self.from)?.wait(),
            _ => world.ibarrier()?.wait().map(|()| buffers),
        }
    }

    fn is_root(&self) -> bool {
        self.world.rank() == ROOT
    }

    /// Which contribution an element of the output comes from: rank and place there. Nothing if it
    /// is the sum of those of all ranks at the same place.
    fn source(&self, place: usize) -> Option<(usize, usize)> {
        match self.collective {
            Collective::Bcast => Some((ROOT, place)),
            Collective::Allgather => Some((place / self.count, place % self.count)),
            Collective::Exchange => Some((self.from[place / self.count], place)),
            _ => None,
        }
    }

    /// What an element of the output must be after this many runs.
    fn expected(&self, place: usize, runs: u64) -> f64 {
        match self.source(place) {
            Some((rank, place)) => contribution(rank, place, runs),
            None => {
                // 1 + 2 + ... + n times the step between ranks, and n times the rest.
                let ranks = self.world.size() as f64;
                let steps = ranks * (ranks - 1.0) / 2.0;
                ranks * contribution(0, place, runs) + steps * step(place)
            }
        }
    }

    /// An element of the output that tells whether this run brought it: another rank's first one.
    fn telling(&self) -> usize {
        match self.collective {
            Collective::Allgather => self.from[0] * self.count,
            _ => 0,
        }
    }
}

/// What a rank puts in: in the first place it tells the run, in all places the rank and the place.
fn contribution(rank: usize, place: usize, runs: u64) -> f64 {
    let first = if place == 0 { runs as f64 } else { 0.0 };
    first + 1.0 + (place % 251) as f64 + rank as f64 * step(place)
}

/// How much the contributions of two neighbouring ranks differ.
fn step(place: usize) -> f64 {
    (1 + place % 13) as f64
}

impl Subject<'_> {
    /// Fills the input, and spoils the output.
    pub(super) fn fill(&mut self) {
        let rank = self.case.world.rank();
        self.output().fill(UNTOUCHED);
        for (place, element) in self.data().iter_mut().enumerate() {
            *element = contribution(rank, place, 0);
        }
    }

    /// Runs once. The answer is whether the result is that of this run, by the look of one element.
    #[inline]
    pub(super) fn run(&mut self) -> Result<bool> {
        self.runs += 1;
        let (case, runs) = (self.case, self.runs);
        if let Some(first) = self.data().first_mut() {
            *first = contribution(case.world.rank(), 0, runs);
        }
        match &mut self.ready {
            Ready::Blocking(buffers) => case.blocking(buffers)?,
            Ready::Nonblocking(buffers) => {
                let own = buffers.take().expect("given back after each run");
                *buffers = Some(case.nonblocking(own)?);
            }
            Ready::Barrier(barrier) => barrier.run()?,
            Ready::Bcast(bcast) => bcast.run()?,
            Ready::Pair(pair) => pair.run()?,
        }
        let place = case.telling();
        let found = self.output().get(place).copied();
        Ok(found.is_none_or(|found| found == case.expected(place, runs)))
    }

    /// Compares the whole output with what it must be after the last run.
    pub(super) fn check(&mut self) -> anyhow::Result<()> {
        if self.case.collective == Collective::Barrier {
            return self.check_barrier();
        }
        let (case, runs) = (self.case, self.runs);
        for (place, &found) in self.output().iter().enumerate() {
            let expected = case.expected(place, runs);
            ensure!(
                found == expected,
                "wrong result: element {place} of rank {} must be {expected}, but is {found}",
                case.world.rank()
            );
        }
        Ok(())
    }

    /// Nobody may leave a barrier before everybody has entered it.
    fn check_barrier(&mut self) -> anyhow::Result<()> {
        let entered = now()?;
        self.run()?;
        let left = now()?;
        let last = self.case.world.allreduce_one(entered, Max)?;
        ensure!(
            left >= last,
            "wrong result: rank {} left a barrier {} ns before the last one entered",
            self.case.world.rank(),
            last - left
        );
        Ok(())
    }

    /// What this rank puts in.
    fn data(&mut self) -> &mut [f64] {
        let is_bcast = self.case.collective == Collective::Bcast;
        match &mut self.ready {
            Ready::Barrier(_) => &mut [],
            _ if is_bcast && !self.case.is_root() => &mut [],
            Ready::Bcast(bcast) => bcast.output_mut(),
            Ready::Pair(pair) => pair.input_mut(),
            Ready::Blocking(buffers) | Ready::Nonblocking(Some(buffers)) => {
                if is_bcast {
                    &mut buffers.1
                } else {
                    &mut buffers.0
                }
            }
            Ready::Nonblocking(None) => unreachable!("given back after each run"),
        }
    }

    fn output(&mut self) -> &mut [f64] {
        match &mut self.ready {
            Ready::Barrier(_) => &mut [],
            Ready::Bcast(bcast) => bcast.output_mut(),
            Ready::Pair(pair) => pair.output_mut(),
            Ready::Blocking(buffers) | Ready::Nonblocking(Some(buffers)) => &mut buffers.1,
            Ready::Nonblocking(None) => unreachable!("given back after each run"),
        }
    }
}

/// Nanoseconds of the clock that all ranks share.
fn now() -> anyhow::Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(since.context("the clock is before 1970")?.as_nanos() as u64)
}
