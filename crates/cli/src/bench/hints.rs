//! Measures the effect of hints: the time of inits, and the algorithms that `enforce` chooses.
//!
//! **Inits.** In each round the operation has another length, so its shape is new to all ranks. The
//! round measures an init with `reuse` and then, while that operation is kept, one with `previous`.
//! Each init begins after a barrier, and is timed alone, and together with its first run: an init
//! that finds its plan leaves the opening of channels to that run. Then the round does the same
//! with `enforce`, at another length. The table shows the mean over the ranks of their medians over
//! the rounds.
//!
//! **Choices.** The windows of an operation without hints and of one with `enforce` alternate, like
//! those of the forms in other measurements. If both have the same algorithm, the ratio of their
//! times shows the noise.

use std::time::Instant;

use motet::{
    Communicator, Info, Sum,
    hint::{ENFORCE, PREVIOUS, REUSE},
};

use super::case::{Case, ELEMENT_BYTES, Form};
use super::measure::{TimeWindow, in_turns, nearest, percentiles};
use super::subjects::Measured;
use crate::quantity;

/// Rounds of inits at each point.
const ROUNDS_PER_POINT: usize = 15;

/// A measurement in place of the forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Study {
    Inits,
    Choices,
}

/// Measures all points, and prints a table.
pub(super) fn study(
    world: &Communicator,
    points: Vec<(Measured, usize)>,
    study: Study,
    seconds: f64,
) -> anyhow::Result<()> {
    match study {
        Study::Inits => inits(world, points),
        Study::Choices => choices(world, points, seconds),
    }
}

fn say(world: &Communicator, line: impl FnOnce() -> String) -> anyhow::Result<()> {
    if world.rank() == 0 {
        crate::output::show(&(line() + "\n"))?;
    }
    Ok(())
}

/// The two inits of a shape, each alone and with a first run, in nanoseconds.
type Pair = [f64; 4];

fn inits(world: &Communicator, points: Vec<(Measured, usize)>) -> anyhow::Result<()> {
    say(world, || {
        let local = "init      second  times   with run    second";
        let enforced = "enforced    second  times";
        format!("{:<26}{:>8}  {local}   {enforced}", "collective", "size")
    })?;
    // A barrier has only one shape.
    for (measured, bytes) in points.into_iter().filter(|(measured, _)| !measured.is_barrier()) {
        let mut samples: [Vec<f64>; 8] = Default::default();
        for round in 0..ROUNDS_PER_POINT {
            let count = bytes / ELEMENT_BYTES + 2 * round;
            let local = pair(world, (measured, count), &[])?;
            let enforced = pair(world, (measured, count + 1), &[ENFORCE])?;
            let all = local.into_iter().chain(enforced);
            samples.iter_mut().zip(all).for_each(|(list, time)| list.push(time));
        }
        let mut means = samples.map(|mut list| {
            list.sort_by(f64::total_cmp);
            nearest(&list, 50) / world.size() as f64
        });
        world.allreduce_in_place(&mut means, Sum)?;
        say(world, || {
            let [first, second, first_run, second_run, enforced, again, ..] = means;
            let time = |ns: f64| format!("{:>8.1} µs", ns / 1e3);
            let times = |one: f64, other: f64| format!("{:>5.1}", one / other);
            format!(
                "{:<26}{:>8}{}{} {} {}{} {}{} {}",
                measured.name(),
                quantity::bytes(bytes),
                time(first),
                time(second),
                times(first, second),
                time(first_run),
                time(second_run),
                time(enforced),
                time(again),
                times(enforced, again),
            )
        })?;
    }
    Ok(())
}

/// The first init of a shape, and a second one.
fn pair(
    world: &Communicator,
    (measured, count): (Measured, usize),
    hints: &[&str],
) -> anyhow::Result<Pair> {
    let case = Case::new(world, measured, count)?;
    let all =
        |more| hints.iter().fold(Info::new().with(more, "true"), |i, key| i.with(*key, "true"));
    let mut times = [0.0; 4];
    let mut kept = Vec::new();
    for (at, hint) in [REUSE, PREVIOUS].into_iter().enumerate() {
        let (buffers, info) = (case.buffers(), all(hint));
        world.barrier()?;
        let begun = Instant::now();
        let mut operation = case.persistent(buffers, &info)?;
        times[at] = begun.elapsed().as_nanos() as f64;
        operation.run()?;
        times[at + 2] = begun.elapsed().as_nanos() as f64;
        kept.push(operation);
    }
    Ok(times)
}

/// The ratios of the times of operations with and without `enforce`.
#[derive(Default)]
struct Ratios(Vec<f64>);

impl Ratios {
    fn told(mut self, what: &str) -> String {
        if self.0.is_empty() {
            return format!("{what}: none");
        }
        self.0.sort_by(f64::total_cmp);
        let at = |percent| nearest(&self.0, percent);
        format!(
            "{what}: {} points, ratios {:.2} (median), {:.2} (p90), {:.2} (worst)",
            self.0.len(),
            at(50),
            at(90),
            at(100)
        )
    }
}

fn choices(
    world: &Communicator,
    points: Vec<(Measured, usize)>,
    seconds: f64,
) -> anyhow::Result<()> {
    say(world, || {
        let columns = "     time  enforced                    time  ratio";
        format!("{:<26}{:>8}  {:<24}{columns}", "collective", "size", "default")
    })?;
    let (mut same, mut other) = (Ratios::default(), Ratios::default());
    for (measured, bytes) in points {
        let case = Case::new(world, measured, bytes / ELEMENT_BYTES)?;
        let plain = Info::new();
        let mut subjects = Vec::new();
        for info in [plain.clone(), plain.with(ENFORCE, "true")] {
            let subject = case.subject(Form::Persistent, &info)?;
            subjects.push((subject.algorithm(), subject));
        }
        let measured_ones = in_turns(world, subjects, seconds)?.into_iter();
        let medians: Vec<_> = measured_ones
            .map(|(name, windows)| {
                (name, percentiles(windows.iter().map(TimeWindow::nanoseconds))[0])
            })
            .collect();
        let [(default, plain), (chosen, enforced)] = medians[..] else {
            unreachable!("there are two")
        };
        let list = if default == chosen { &mut same } else { &mut other };
        list.0.push(enforced / plain);
        say(world, || {
            let time = |ns: f64| format!("{:>8.2} µs", ns / 1e3);
            format!(
                "{:<26}{:>8}  {default:<22}{}  {chosen:<22}{}  {:>5.2}",
                measured.name(),
                quantity::bytes(bytes),
                time(plain),
                time(enforced),
                enforced / plain
            )
        })?;
    }
    say(world, || same.told("the same algorithm"))?;
    say(world, || other.told("another algorithm"))
}
