//! One collective at one size: its data, its three forms, and the expected result.
//!
//! Elements are floats that hold small whole numbers, so sums are exact in any order.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use motet::{Block, Communicator, Info, Max, Result};
use motet_plan::Collective;
use serde::Serialize;

use super::block_layout::{Origin, ROOT, RankNeighbours};
use super::stored::{Buffers, Stored};
use super::subjects::Measured;
use super::timed::Timed;

/// Size of an element.
pub(super) const ELEMENT_BYTES: usize = size_of::<f64>();

/// How late one rank enters a barrier that is checked.
const LATE: Duration = Duration::from_micros(50);

/// The value of all output elements before each window.
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
    pub(super) place: RankNeighbours<'a>,
    pub(super) measured: Measured,
    /// Elements of the data, or of one block.
    pub(super) count: usize,
    /// The arguments of the irregular forms.
    pub(super) blocks: Vec<Block>,
    pub(super) counts: Vec<usize>,
    /// The lengths of the blocks in the inputs of the first and the last rank; the first elements
    /// of the blocks identify the run.
    strides: [usize; 2],
}

/// One form of a case, ready to be run repeatedly.
pub(super) struct Subject<'a> {
    case: &'a Case<'a>,
    ready: Ready,
    /// Operations so far; the first elements of the blocks identify the operation.
    runs: u64,
    /// Checks of a barrier so far.
    checks: usize,
}

/// Buffers, and the operation that owns them.
enum Ready {
    Blocking(Buffers),
    /// `None` only while the operation owns them.
    Nonblocking(Option<Buffers>),
    Persistent(Stored),
}

impl<'a> Case<'a> {
    pub(super) fn new(
        world: &'a Communicator,
        measured: Measured,
        count: usize,
    ) -> Result<Case<'a>> {
        let place = RankNeighbours::new(world, measured)?;
        let (blocks, counts) = (place.blocks(measured, count), place.counts(measured, count));
        let strides = [0, place.size() - 1].map(|rank| place.block_of(measured, count, rank));
        Ok(Case { place, measured, count, blocks, counts, strides })
    }

    pub(super) fn world(&self) -> &Communicator {
        self.place.world
    }

    pub(super) fn bytes(&self) -> usize {
        self.count * ELEMENT_BYTES
    }

    /// The name of the algorithm.
    pub(super) fn algorithm(&self) -> Result<&'static str> {
        Ok(self.persistent(self.buffers(), &Info::new())?.algorithm())
    }

    /// One form; the persistent form gets these hints.
    pub(super) fn subject(&'a self, form: Form, info: &Info) -> Result<Subject<'a>> {
        let ready = match form {
            Form::Blocking => Ready::Blocking(self.buffers()),
            Form::Nonblocking => Ready::Nonblocking(Some(self.buffers())),
            Form::Persistent => Ready::Persistent(self.persistent(self.buffers(), info)?),
        };
        Ok(Subject { case: self, ready, runs: 0, checks: 0 })
    }

    pub(super) fn buffers(&self) -> Buffers {
        let (input, output) = self.place.lengths(self.measured, self.count);
        (vec![0.0; input], vec![UNTOUCHED; output])
    }

    /// The length of the blocks in the input of a rank.
    fn stride(&self, rank: usize) -> usize {
        self.strides[usize::from(self.place.is_in_second_half(rank))]
    }

    /// Whether the only buffer is an output of this rank, and an input of the root.
    fn is_bcast(&self) -> bool {
        self.measured == Measured::Planned(Collective::Bcast)
    }

    /// The expected value of an element of the output after this many runs.
    fn expected(&self, place: usize, runs: u64) -> f64 {
        match self.place.origin(self.measured, self.count, place) {
            Origin::One(rank, place) => self.contribution(rank, place, runs),
            Origin::Sum(ranks, place) => {
                // n times the first contribution, and 0 + 1 + ... + n - 1 steps between ranks.
                let count = ranks.len() as f64;
                let steps = count * (count - 1.0) / 2.0;
                count * self.contribution(ranks.start, place, runs) + steps * step(place)
            }
            Origin::Both(two) => {
                two.iter().map(|&(rank, place)| self.contribution(rank, place, runs)).sum()
            }
            Origin::Nobody => UNTOUCHED,
        }
    }

    /// The input of a rank: the first place of a block identifies the run, all places identify the
    /// rank and the place.
    fn contribution(&self, rank: usize, place: usize, runs: u64) -> f64 {
        let first = if place.is_multiple_of(self.stride(rank)) { runs as f64 } else { 0.0 };
        first + 1.0 + (place % 251) as f64 + rank as f64 * step(place)
    }
}

/// The difference between the contributions of two neighbouring ranks.
fn step(place: usize) -> f64 {
    (1 + place % 13) as f64
}

impl Subject<'_> {
    /// The name of the algorithm of the persistent form.
    pub(super) fn algorithm(&self) -> &'static str {
        match &self.ready {
            Ready::Persistent(stored) => stored.algorithm(),
            _ => "none",
        }
    }
}

impl Timed for Subject<'_> {
    fn fill(&mut self) {
        let case = self.case;
        self.output().fill(UNTOUCHED);
        for (place, element) in self.data().iter_mut().enumerate() {
            *element = case.contribution(case.place.rank(), place, 0);
        }
    }

    #[inline]
    fn run(&mut self) -> Result<bool> {
        self.runs += 1;
        let (case, runs) = (self.case, self.runs);
        let (data, stride) = (self.data(), case.stride(case.place.rank()).max(1));
        for place in (0..data.len()).step_by(stride) {
            data[place] = case.contribution(case.place.rank(), place, runs);
        }
        match &mut self.ready {
            Ready::Blocking(buffers) => case.blocking(buffers)?,
            Ready::Nonblocking(buffers) => {
                let own = buffers.take().expect("given back after each run");
                *buffers = Some(case.nonblocking(own)?);
            }
            Ready::Persistent(stored) => stored.run()?,
        }
        let place = case.place.telling(case.measured, case.count);
        let found = self.output().get(place).copied();
        Ok(found.is_none_or(|found| found == case.expected(place, runs)))
    }

    fn check(&mut self) -> anyhow::Result<()> {
        if self.case.measured.is_barrier() {
            return self.check_barrier();
        }
        let (case, runs) = (self.case, self.runs);
        for (place, &found) in self.output().iter().enumerate() {
            let expected = case.expected(place, runs);
            ensure!(
                found == expected,
                "wrong result: element {place} of rank {} must be {expected}, but is {found}",
                case.place.rank()
            );
        }
        Ok(())
    }
}

impl Subject<'_> {
    /// No rank may leave a barrier before every rank, of the other group if there are two, has
    /// entered it. One of them is late, in turn: ranks that enter at once would also leave late
    /// enough by themselves.
    fn check_barrier(&mut self) -> anyhow::Result<()> {
        let world = self.case.world();
        self.checks += 1;
        if world.rank() == self.checks % world.size() {
            thread::sleep(LATE);
        }
        let entered = now()?;
        self.run()?;
        let left = now()?;
        let mut last = [entered];
        match &self.case.place.across {
            Some(across) => across.allreduce(&[entered], &mut last, Max)?,
            None => self.case.world().allreduce_in_place(&mut last, Max)?,
        }
        let [last] = last;
        ensure!(
            left >= last,
            "wrong result: rank {} left a barrier {} ns before the last one entered",
            self.case.place.rank(),
            last - left
        );
        Ok(())
    }

    /// The input of this rank.
    fn data(&mut self) -> &mut [f64] {
        let (is_bcast, is_root) = (self.case.is_bcast(), self.case.place.rank() == ROOT);
        match &mut self.ready {
            Ready::Persistent(Stored::None(_)) => &mut [],
            _ if is_bcast && !is_root => &mut [],
            Ready::Persistent(Stored::One(bcast)) => bcast.output_mut(),
            Ready::Persistent(Stored::Pair(pair)) => pair.input_mut(),
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
            Ready::Persistent(Stored::None(_)) => &mut [],
            Ready::Persistent(Stored::One(bcast)) => bcast.output_mut(),
            Ready::Persistent(Stored::Pair(pair)) => pair.output_mut(),
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
