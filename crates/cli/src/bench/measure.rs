//! Windows of operations, timed by all ranks. See [the method](super).

use std::time::Instant;

use anyhow::{Context, ensure};
use motet::{Communicator, Info, Max};
use serde::Serialize;

use super::case::{Case, Form, Subject};

/// Windows of each form of a point.
pub(super) const WINDOWS: usize = 20;

/// The part of the time of a point for which each form is run before its first window.
const WARM_UP: f64 = 0.02;

/// The most operations of a window.
const MOST_OPERATIONS: u64 = 1 << 24;

/// One collective at one size.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    pub(super) collective: &'static str,
    pub(super) algorithm: &'static str,
    pub(super) bytes: usize,
    pub(super) forms: Vec<Figures>,
}

/// What was measured of one form.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) form: Form,
    pub(super) median_ns: f64,
    pub(super) p90_ns: f64,
    /// In the order in which they were measured.
    windows: Vec<Window>,
}

/// Operations one right after the other.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Window {
    operations: u64,
    /// Time per operation, on the slowest rank.
    ns: f64,
}

impl Point {
    pub(super) fn of(&self, form: Form) -> Option<&Figures> {
        self.forms.iter().find(|figures| figures.form == form)
    }

    /// How many times as long one form takes as another, by the medians.
    pub(super) fn ratio(&self, form: Form, other: Form) -> Option<f64> {
        Some(self.of(form)?.median_ns / self.of(other)?.median_ns)
    }
}

/// Measures a point. All ranks must call it alike.
pub(super) fn point(case: &Case<'_>, forms: &[Form], seconds: f64) -> anyhow::Result<Point> {
    let algorithm = case.algorithm()?;
    let mut subjects = Vec::new();
    for &form in forms {
        let mut subject = case.subject(form, &Info::new())?;
        let ns = warm_up(case.world(), &mut subject, seconds * WARM_UP * 1e9)?;
        subjects.push((form, subject, ns, Vec::new()));
    }
    for _ in 0..WINDOWS {
        for (form, subject, ns, windows) in &mut subjects {
            let operations = share_of(seconds, forms.len(), *ns);
            let window = window(case.world(), subject, operations);
            let window = window.with_context(|| form.name())?;
            *ns = window.ns;
            windows.push(window);
        }
    }
    let forms = subjects.into_iter().map(|(form, _, _, windows)| Figures::new(form, windows));
    let (collective, bytes) = (case.measured.name(), case.bytes());
    Ok(Point { collective, algorithm, bytes, forms: forms.collect() })
}

impl Figures {
    fn new(form: Form, windows: Vec<Window>) -> Figures {
        let mut sorted: Vec<_> = windows.iter().map(|window| window.ns).collect();
        sorted.sort_by(f64::total_cmp);
        let (median_ns, p90_ns) = (nearest(&sorted, 50), nearest(&sorted, 90));
        Figures { form, median_ns, p90_ns, windows }
    }
}

/// The operations of a window of one of so many subjects that take so long each.
pub(super) fn share_of(seconds: f64, subjects: usize, ns: f64) -> u64 {
    let share_ns = seconds * 1e9 / (subjects * WINDOWS) as f64;
    ((share_ns / ns) as u64).clamp(1, MOST_OPERATIONS)
}

impl Window {
    /// Time per operation.
    pub(super) fn nanoseconds(&self) -> f64 {
        self.ns
    }
}

/// The smallest value that `percent` of all values do not exceed; they are sorted.
pub(super) fn nearest(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100) - 1]
}

/// Runs longer and longer windows until one takes `least_ns`. Returns its time per operation.
pub(super) fn warm_up(
    world: &Communicator,
    subject: &mut Subject<'_>,
    least_ns: f64,
) -> anyhow::Result<f64> {
    let mut operations = 1;
    loop {
        let Window { ns, .. } = window(world, subject, operations)?;
        if ns * operations as f64 >= least_ns || operations >= MOST_OPERATIONS {
            return Ok(ns);
        }
        operations *= 2;
    }
}

/// Times this many operations. All ranks return the same.
pub(super) fn window(
    world: &Communicator,
    subject: &mut Subject<'_>,
    operations: u64,
) -> anyhow::Result<Window> {
    subject.fill();
    world.barrier()?;
    let mut right = true;
    let begin = Instant::now();
    for _ in 0..operations {
        right &= subject.run()?;
    }
    let time = begin.elapsed();
    ensure!(right, "wrong result: rank {} has data of another operation", world.rank());
    subject.check()?;
    let slowest = world.allreduce_one(time.as_nanos() as f64, Max)?;
    Ok(Window { operations, ns: (slowest / operations as f64).max(f64::MIN_POSITIVE) })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!((nearest(&values, 50), nearest(&values, 90)), (10.0, 18.0));
        assert_eq!((nearest(&[7.0], 50), nearest(&[7.0], 90)), (7.0, 7.0));
    }
}
