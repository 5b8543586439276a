//! Windows of operations, timed by all ranks. See [the method](super).

use std::time::Instant;

use anyhow::{Context, ensure};
use motet::{Communicator, Info, Max};
use serde::Serialize;

use super::case::{Case, Form};
use super::timed::Timed;

/// Windows of each form of a point.
pub(super) const WINDOWS: usize = 20;

/// The share of the time of a point for which each form runs before its first window.
const WARM_UP: f64 = 0.02;

/// The most operations in a window.
const MOST_OPERATIONS: u64 = 1 << 24;

/// One collective at one size.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    pub(super) collective: &'static str,
    pub(super) algorithm: &'static str,
    pub(super) bytes: usize,
    pub(super) forms: Vec<Figures>,
}

/// The measurements of one form.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) form: Form,
    pub(super) median_ns: f64,
    pub(super) p90_ns: f64,
    /// The windows in the order of their measurement.
    windows: Vec<TimeWindow>,
}

/// A series of operations, one directly after the other.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct TimeWindow {
    operations: u64,
    /// Time per operation in nanoseconds, on the slowest rank.
    pub(super) ns: f64,
}

impl Point {
    pub(super) fn of(&self, form: Form) -> Option<&Figures> {
        self.forms.iter().find(|figures| figures.form == form)
    }

    /// The time of one form divided by that of another, by the medians.
    pub(super) fn ratio(&self, form: Form, other: Form) -> Option<f64> {
        Some(self.of(form)?.median_ns / self.of(other)?.median_ns)
    }
}

/// Measures a point. All ranks must call it with the same arguments.
pub(super) fn point(case: &Case<'_>, forms: &[Form], seconds: f64) -> anyhow::Result<Point> {
    let algorithm = case.algorithm()?;
    let subjects = forms.iter().map(|&form| Ok((form, case.subject(form, &Info::new())?)));
    let subjects = subjects.collect::<anyhow::Result<Vec<_>>>()?;
    let forms = in_turns(case.world(), subjects, seconds)?;
    let forms = forms.into_iter().map(|(form, windows)| Figures::new(form, windows));
    let (collective, bytes) = (case.measured.name(), case.bytes());
    Ok(Point { collective, algorithm, bytes, forms: forms.collect() })
}

/// The windows of several subjects, which alternate for `seconds` seconds in all.
pub(super) fn in_turns<K: std::fmt::Debug, S: Timed>(
    world: &Communicator,
    subjects: Vec<(K, S)>,
    seconds: f64,
) -> anyhow::Result<Vec<(K, Vec<TimeWindow>)>> {
    let share_ns = seconds * 1e9 / (subjects.len() * WINDOWS) as f64;
    let mut warm = Vec::new();
    for (kind, mut subject) in subjects {
        let ns = warm_up(world, &mut subject, seconds * WARM_UP * 1e9)?;
        warm.push((kind, subject, ns, Vec::new()));
    }
    for _ in 0..WINDOWS {
        for (kind, subject, ns, windows) in &mut warm {
            let operations = ((share_ns / *ns) as u64).clamp(1, MOST_OPERATIONS);
            let window = window(world, subject, operations);
            let window = window.with_context(|| format!("{kind:?}"))?;
            *ns = window.ns;
            windows.push(window);
        }
    }
    Ok(warm.into_iter().map(|(kind, _, _, windows)| (kind, windows)).collect())
}

impl Figures {
    fn new(form: Form, windows: Vec<TimeWindow>) -> Figures {
        let [median_ns, p90_ns] = percentiles(windows.iter().map(|window| window.ns));
        Figures { form, median_ns, p90_ns, windows }
    }
}

/// The median, and the value that nine of ten values do not exceed.
pub(super) fn percentiles(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sorted: Vec<_> = values.collect();
    sorted.sort_by(f64::total_cmp);
    [50, 90].map(|percent| nearest(&sorted, percent))
}

impl TimeWindow {
    /// Time per operation in nanoseconds.
    pub(super) fn nanoseconds(&self) -> f64 {
        self.ns
    }
}

/// The smallest value that `percent` of all values do not exceed; the values are sorted.
pub(super) fn nearest(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100) - 1]
}

/// Runs longer and longer windows until one takes `least_ns`. Returns its time per operation.
fn warm_up(world: &Communicator, subject: &mut impl Timed, least_ns: f64) -> anyhow::Result<f64> {
    let mut operations = 1;
    loop {
        let TimeWindow { ns, .. } = window(world, subject, operations)?;
        if ns * operations as f64 >= least_ns || operations >= MOST_OPERATIONS {
            return Ok(ns);
        }
        operations *= 2;
    }
}

/// Times this many operations. All ranks return the same.
fn window(
    world: &Communicator,
    subject: &mut impl Timed,
    operations: u64,
) -> anyhow::Result<TimeWindow> {
    subject.fill();
    world.barrier()?;
    let mut right = true;
    let begin = Instant::now();
    for _ in 0..operations {
        right &= subject.run()?;
    }
    let time = begin.elapsed();
    // A rank that has ended computes next, which would cost a rank of the same core that is still
    // at it the core.
    world.barrier()?;
    ensure!(right, "wrong result: rank {} has data of another operation", world.rank());
    subject.check()?;
    let slowest = world.allreduce_one(time.as_nanos() as f64, Max)?;
    Ok(TimeWindow { operations, ns: (slowest / operations as f64).max(f64::MIN_POSITIVE) })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::super::timed::Timed;
    use super::{nearest, window};

    /// The operation of a rank, which takes long on rank 0.
    struct Uneven<'a> {
        rank: usize,
        ended: &'a AtomicUsize,
        ended_at_check: usize,
    }

    impl Timed for Uneven<'_> {
        fn fill(&mut self) {}

        fn run(&mut self) -> motet::Result<bool> {
            if self.rank == 0 {
                thread::sleep(Duration::from_millis(20));
            }
            self.ended.fetch_add(1, Ordering::Relaxed);
            Ok(true)
        }

        fn check(&mut self) -> anyhow::Result<()> {
            self.ended_at_check = self.ended.load(Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn no_rank_computes_beside_the_operations_of_others() {
        let ended = AtomicUsize::new(0);
        let at_check = motet::threads(3, |world| {
            let mut subject = Uneven { rank: world.rank(), ended: &ended, ended_at_check: 0 };
            window(&world, &mut subject, 1).unwrap();
            subject.ended_at_check
        });
        assert_eq!(at_check.unwrap(), [3; 3]);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!((nearest(&values, 50), nearest(&values, 90)), (10.0, 18.0));
        assert_eq!((nearest(&[7.0], 50), nearest(&[7.0], 90)), (7.0, 7.0));
    }
}
