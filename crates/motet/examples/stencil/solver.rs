//! The steps of time.

use std::time::{Duration, Instant};

use anyhow::Result;
use motet::Communicator;

use crate::field::Field;
use crate::grid::Grid;
use crate::halo::Halo;
use crate::kernel;
use crate::options::{Options, StencilExchange};
use crate::progress::Progress;
use crate::wave::Wave;

/// How often faces travel to find out what that costs when nothing else is done.
const CALIBRATION_RUNS: u32 = 50;
const WARM_UP_RUNS: u32 = 10;
/// One step of so many computes first and communicates then, to see what overlap gains.
const SEPARATE_PERIOD: u64 = 8;

/// The result of one way, and what it cost this rank.
pub(crate) struct Solution {
    pub(crate) exchange: StencilExchange,
    /// The values of the points of this rank.
    pub(crate) values: Vec<f64>,
    /// Of a step.
    pub(crate) seconds: f64,
    pub(crate) cost: Cost,
    /// What the library tells about the exchange.
    pub(crate) explanation: Option<String>,
}

/// Seconds in a step that an exchange keeps its caller: packing, start and wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Before the steps, with nothing else to do.
    pub(crate) alone: f64,
    /// In the steps, with no work done meanwhile.
    pub(crate) apart: f64,
    /// In the steps, with work done meanwhile; nothing if there are no such steps.
    pub(crate) overlapped: f64,
    /// In a step of either kind.
    pub(crate) mean: f64,
}

/// The mean of some times.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: Duration,
    times: u32,
}

impl Mean {
    fn add(&mut self, time: Duration) {
        self.sum += time;
        self.times += 1;
    }

    fn with(self, other: Mean) -> Mean {
        Mean { sum: self.sum + other.sum, times: self.times + other.times }
    }

    fn seconds(self) -> f64 {
        self.sum.as_secs_f64() / f64::from(self.times.max(1))
    }
}

/// Goes through all steps in one way.
pub(crate) fn solve(
    grid: &Grid,
    halo: &Halo,
    options: &Options,
    exchange: StencilExchange,
) -> Result<Solution> {
    let world: &Communicator = &grid.ranks;
    let shown = world.rank() == 0 && !options.quiet;
    let progress = if shown { Progress::shown("step") } else { Progress::silent() };
    let [old, new] = [(); 2].map(|()| Field::new(&grid.ranks, halo, exchange));
    let (mut old, mut new) = (old?, new?);
    let wave = Wave::new(grid).after(0);
    old.values_mut().iter_mut().zip(grid.places()).for_each(|(value, at)| *value = wave(at));
    let alone;
    (old, alone) = calibrate(old)?;
    (new, _) = calibrate(new)?;
    world.barrier()?;
    let [mut apart, mut overlapped] = [Mean::default(); 2];
    let begin = Instant::now();
    for step in 1..=options.steps {
        let time;
        let target = new.values_mut();
        let meanwhile = options.overlap && !step.is_multiple_of(SEPARATE_PERIOD);
        match options.overlap {
            true if meanwhile => {
                (old, time) = old.exchange(|values| kernel::inner(halo, values, target))?;
            }
            true => {
                kernel::inner(halo, old.values(), target);
                (old, time) = old.exchange(|_| ())?;
            }
            false => (old, time) = old.exchange(|_| ())?,
        }
        match options.overlap {
            true => kernel::shell(halo, old.values(), old.ghosts(), target),
            false => kernel::whole(halo, old.values(), old.ghosts(), target),
        }
        if meanwhile {
            overlapped.add(time)
        } else {
            apart.add(time)
        }
        std::mem::swap(&mut old, &mut new);
        progress.show(step, || format!("{} of {}", exchange.name(), options.steps));
    }
    let seconds = begin.elapsed().as_secs_f64() / options.steps as f64;
    let mean = apart.with(overlapped).seconds();
    let (apart, overlapped) = (apart.seconds(), overlapped.seconds());
    let cost = Cost { alone, apart, overlapped, mean };
    let (explanation, values) = (old.explain(), old.values().to_vec());
    Ok(Solution { exchange, values, seconds, cost, explanation })
}

/// Finds out what an exchange costs alone.
fn calibrate(mut field: Field<'_>) -> Result<(Field<'_>, f64)> {
    let mut alone = Mean::default();
    for run in 0..WARM_UP_RUNS + CALIBRATION_RUNS {
        let time;
        (field, time) = field.exchange(|_| ())?;
        if run >= WARM_UP_RUNS {
            alone.add(time);
        }
    }
    Ok((field, alone.seconds()))
}
