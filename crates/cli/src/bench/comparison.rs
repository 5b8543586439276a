//! `motet bench exchange --neighbours`: compares a persistent exchange with other ways to send the
//! same messages.
//!
//! The method is that of the other measurements: alternating windows, each after a barrier. A ratio
//! is the median of the ratios within the rounds of windows, so a drift of the machine affects both
//! sides of it.

use std::fmt::Write;

use motet::Communicator;
use serde::Serialize;

use super::exchange_variants::{Around, ExchangeVariant};
use super::measure::{self, TimeWindow};
use super::neighbours::Neighbours;
use super::report::{self, Output, Report};
use crate::quantity;

/// One pattern at one size, in all variants.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    pattern: Neighbours,
    /// Neighbours of the reporting rank.
    neighbours: usize,
    /// Bytes for each neighbour.
    bytes: usize,
    variants: Vec<Measurement>,
}

/// The measurement of one variant.
#[derive(Debug, Serialize)]
struct Measurement {
    variant: ExchangeVariant,
    median_ns: f64,
    p90_ns: f64,
    /// Its time divided by that of the exchange: the median over the rounds.
    ratio: f64,
    /// The windows in the order of their measurement.
    windows: Vec<TimeWindow>,
}

/// The comparison: patterns, sizes and time.
pub(super) struct Plan<'a> {
    pub(super) patterns: &'a [Neighbours],
    pub(super) sizes: &'a [usize],
    pub(super) seconds: f64,
}

impl Plan<'_> {
    /// Measures all points. All ranks call it with the same arguments; one of them reports.
    pub(super) fn measure(
        &self,
        world: &Communicator,
        mut report: Report<Comparison>,
        output: &Output<'_>,
    ) -> anyhow::Result<()> {
        let is_reporter = world.rank() == 0;
        if is_reporter {
            output.table(&(report.heading() + &head()))?;
        }
        for &pattern in self.patterns {
            for &bytes in self.sizes {
                let around = Around::new(world, pattern, bytes / super::ELEMENT_BYTES);
                let point = point(&around, (pattern, bytes), self.seconds)?;
                if is_reporter {
                    output.table(&row(&point)?)?;
                }
                report.points.push(point);
            }
        }
        if !is_reporter {
            return Ok(());
        }
        let legend = "\nmessages: persistent sends and receives; alltoallv: persistent, with empty \
                      blocks;\nnonblocking: exchange; blocking v: alltoallv with empty blocks; \
                      x: times as long as the exchange\n";
        output.table(legend)?;
        output.write(&report)
    }
}

fn point(
    around: &Around<'_>,
    (pattern, bytes): (Neighbours, usize),
    seconds: f64,
) -> anyhow::Result<Comparison> {
    let trials = ExchangeVariant::ALL.map(|variant| Ok((variant, around.trial(variant)?)));
    let trials = trials.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let measured = measure::in_turns(around.world(), trials, seconds)?;
    let exchange: Vec<f64> = measured[0].1.iter().map(|window| window.ns).collect();
    let variants = measured.into_iter().map(|(variant, windows)| {
        let [median_ns, p90_ns] = measure::percentiles(windows.iter().map(|window| window.ns));
        let ratios = windows.iter().zip(&exchange).map(|(window, exchange)| window.ns / exchange);
        let [ratio, _] = measure::percentiles(ratios);
        Measurement { variant, median_ns, p90_ns, ratio, windows }
    });
    Ok(Comparison { pattern, neighbours: around.many(), bytes, variants: variants.collect() })
}

/// The two lines above the rows.
fn head() -> String {
    let (first, others) = (ExchangeVariant::ALL[0].name(), &ExchangeVariant::ALL[1..]);
    let mut text = format!("{:24} {first:>16}", "");
    others.iter().for_each(|variant| text += &format!(" {:>22}", variant.name()));
    text += &format!("\n{:8}{:>6}{:>10} {:>8}{:>8}", "pattern", "each", "size", "median", "p90");
    others.iter().for_each(|_| text += &format!(" {:>8}{:>8}{:>6}", "median", "p90", "x"));
    text + "\n"
}

fn row(point: &Comparison) -> anyhow::Result<String> {
    let Comparison { pattern, neighbours, bytes, variants } = point;
    let mut text = format!("{pattern:8}{neighbours:>6}{:>10}", quantity::bytes(*bytes));
    for (at, variant) in variants.iter().enumerate() {
        let (median, p90) = (variant.median_ns, variant.p90_ns);
        write!(text, " {:>8}{:>8}", report::microseconds(median), report::microseconds(p90))?;
        if at > 0 {
            write!(text, "{:>6.2}", variant.ratio)?;
        }
    }
    Ok(text + "\n")
}
