//! What is told at the end.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use anyhow::{Context, Result};
use motet::{Communicator, Max, Sum};

use crate::check::Checked;
use crate::grid::Grid;
use crate::halo::Halo;
use crate::options::{Options, StencilExchange};
use crate::solver::{Cost, Solution};

const EXPLANATION: &str = "
a step's communication is the time spent in packing, start and wait, a mean over the ranks
alone       before the steps, with nothing else to do
apart       in the steps, with no work between start and wait (with --overlap every eighth step)
overlapped  in the steps, with the inner points computed between start and wait
visible     the share of a step that is communication, the wait for a rank that comes late included
hidden      1 - overlapped / apart, at least 0
";

/// The figures of all ranks in one.
pub(crate) struct Row {
    exchange: StencilExchange,
    /// Of a step, on the slowest rank.
    pub(crate) seconds: f64,
    cost: Cost,
    explanation: Option<String>,
}

impl Row {
    /// Puts together what the ranks have found; every rank must call this.
    pub(crate) fn new(world: &Communicator, solution: Solution) -> Result<Self> {
        let Solution { exchange, seconds, cost, explanation, .. } = solution;
        let mut sums = [cost.alone, cost.apart, cost.overlapped, cost.mean];
        world.allreduce_in_place(&mut sums, Sum)?;
        let [alone, apart, overlapped, mean] = sums.map(|sum| sum / world.size() as f64);
        let seconds = world.allreduce_one(seconds, Max)?;
        Ok(Self { exchange, seconds, cost: Cost { alone, apart, overlapped, mean }, explanation })
    }

    /// The share of the communication that work has hidden.
    fn hidden(&self) -> f64 {
        (1.0 - self.cost.overlapped / self.cost.apart).max(0.0)
    }
}

/// The report as text; every rank must call this.
pub(crate) fn report(
    (grid, halo): (&Grid, &Halo),
    options: &Options,
    checked: &Checked,
    rows: &[Row],
) -> Result<String> {
    let ranks = &grid.ranks;
    let mut sums = [halo.neighbours.len(), halo.len()];
    ranks.allreduce_in_place(&mut sums, Sum)?;
    let [neighbours, sent] = sums.map(|sum| sum as f64 / ranks.size() as f64);
    let ([x, y, z], [across, down, along]) = (grid.points, grid.boxes);
    let around = if grid.periodic { "periodic" } else { "cold around it" };
    let kib = sent * size_of::<f64>() as f64 / 1024.0;
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:<19}{value}");
    line("problem", format!("heat equation, {x} x {y} x {z} points, {around}"))?;
    line("ranks", format!("{}, as {across} x {down} x {along} boxes", ranks.size()))?;
    line("neighbours", format!("{neighbours:.1} per rank, {kib:.1} KiB to them in a step"))?;
    line("steps", options.steps.to_string())?;
    line("overlap", if options.overlap { "yes" } else { "no" }.to_string())?;
    line("largest error", format!("{:.2e}", checked.error))?;
    line("fingerprint", format!("{:016x}", checked.fingerprint))?;
    write_rows(&mut text, options, (x * y * z) as f64, rows)?;
    text.push_str(EXPLANATION);
    for explanation in rows.iter().filter_map(|row| row.explanation.as_ref()) {
        writeln!(text, "\n{explanation}")?;
    }
    Ok(text)
}

/// A line for each way.
fn write_rows(text: &mut String, options: &Options, points: f64, rows: &[Row]) -> Result<()> {
    let titles = ["a step", "alone", "apart", "overlapped"].map(|title| format!("{title:>13}"));
    let titles = titles.concat();
    writeln!(text, "\n{:<12}{titles}{:>9}{:>8}{:>14}", "exchange", "visible", "hidden", "updates")?;
    for row in rows {
        let Row { exchange, seconds, cost, .. } = row;
        let overlapped =
            options.overlap && *exchange != StencilExchange::Alltoallv && options.steps > 1;
        let (meanwhile, hidden) = match overlapped {
            true => (micros(cost.overlapped), format!("{:.0} %", 100.0 * row.hidden())),
            false => ("-".to_string(), "-".to_string()),
        };
        let times = [micros(*seconds), micros(cost.alone), micros(cost.apart), meanwhile];
        let times = times.map(|time| format!("{time:>13}")).concat();
        let visible = format!("{:.1} %", 100.0 * cost.mean / seconds);
        let updates = format!("{:.0} M/s", points / seconds / 1e6);
        writeln!(text, "{:<12}{times}{visible:>9}{hidden:>8}{updates:>14}", exchange.name())?;
    }
    Ok(())
}

fn micros(seconds: f64) -> String {
    format!("{:.2} µs", 1e6 * seconds)
}

/// Prints the report.
pub(crate) fn print(text: &str) -> Result<()> {
    stdout().write_all(text.as_bytes()).context("standard output")
}
