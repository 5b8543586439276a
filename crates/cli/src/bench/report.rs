//! Reports the results: a table that grows line by line, and JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use motet_fabric::{file, host};
use serde::Serialize;

use super::case::Form;
use super::environment;
use super::measure::Point;
use super::subjects::Measured;
use crate::quantity::{self, counted};

/// The ranks: processes or threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Layout {
    Processes,
    Threads,
}

/// All results, and the settings on which they depend.
#[derive(Debug, Serialize)]
pub(super) struct Report<P = Point> {
    motet: &'static str,
    machine: Machine,
    settings: Settings,
    pub(super) points: Vec<P>,
}

#[derive(Debug, Serialize)]
struct Machine {
    processor: Option<String>,
    kernel: Option<String>,
    usable_cores: usize,
    online_cores: Option<usize>,
    memory_bytes: Option<u64>,
}

/// The settings of the measurement.
#[derive(Debug, Serialize)]
pub(super) struct Settings {
    pub(super) ranks: usize,
    pub(super) layout: Layout,
    pub(super) seconds_per_point: f64,
    pub(super) windows: usize,
    /// The meaning of a time.
    pub(super) time: &'static str,
    /// Environment variables that influence Motet.
    pub(super) variables: BTreeMap<&'static str, String>,
}

impl<P> Report<P> {
    pub(super) fn new(settings: Settings) -> Report<P> {
        let cores = host::cores();
        let machine = Machine {
            processor: host::processor(),
            kernel: host::kernel(),
            usable_cores: cores.usable,
            online_cores: cores.online,
            memory_bytes: host::memory(),
        };
        Report { motet: env!("CARGO_PKG_VERSION"), machine, settings, points: Vec::new() }
    }
}

impl<P> Report<P> {
    /// The heading of the table.
    pub(super) fn heading(&self) -> String {
        let Settings { ranks, layout, windows, .. } = &self.settings;
        let layout = match (layout, *ranks) {
            (_, 1) => "",
            (Layout::Processes, _) => " as processes",
            (Layout::Threads, _) => " as threads",
        };
        let cores = counted(self.machine.usable_cores, "core");
        format!(
            "{}{layout} on {cores}; µs per operation, slowest rank, {windows} windows\n\n",
            counted(*ranks, "rank")
        )
    }
}

/// The destinations of the table, the JSON and the progress messages.
pub(super) struct Output<'a> {
    json: Option<&'a Path>,
    forms: &'a [Form],
    points: usize,
    /// Width of the column of names.
    name_width: usize,
    tells_progress: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(
        json: Option<&'a Path>,
        forms: &'a [Form],
        points: &[(Measured, usize)],
    ) -> Output<'a> {
        let names = points.iter().map(|(measured, _)| measured.name().len());
        let name_width = names.max().unwrap_or(0).max("collective".len());
        let points = points.len();
        let mut output = Output { json, forms, points, name_width, tells_progress: false };
        // A table that grows on a terminal shows the progress by itself.
        let is_seen = output.has_table() && environment::is_terminal(environment::Stream::Output);
        output.tells_progress = !is_seen && environment::is_terminal(environment::Stream::Error);
        output
    }

    /// Checks whether the JSON file can be written at the end.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Some(path) = self.json.filter(|_| self.has_table()) else { return Ok(()) };
        file::try_replace(path).with_context(|| format!("writing {}", path.display()))
    }

    fn has_table(&self) -> bool {
        self.json != Some(Path::new("-"))
    }

    /// Writes the head of the table.
    pub(super) fn begin(&self, report: &Report) -> anyhow::Result<()> {
        let mut text = report.heading();
        text.push_str(&" ".repeat(self.name_width + 8));
        for form in self.forms {
            write!(text, " {:>16}", form.name())?;
        }
        text.push('\n');
        write!(text, "{:<width$}{:>8}", "collective", "size", width = self.name_width)?;
        for _ in self.forms {
            write!(text, " {:>8}{:>8}", "median", "p90")?;
        }
        for (name, _, _) in self.ratios() {
            write!(text, " {name:>5}")?;
        }
        text.push_str("  algorithm\n");
        self.table(&text)
    }

    pub(super) fn progress(&self, index: usize, measured: Measured, bytes: usize) {
        if self.tells_progress {
            let (number, points) = (index + 1, self.points);
            crate::output::complain(&format!(
                "point {number} of {points}: {measured} {}",
                size(bytes)
            ));
        }
    }

    pub(super) fn row(&self, point: &Point) -> anyhow::Result<()> {
        let (name, width) = (point.collective, self.name_width);
        let mut text = format!("{name:<width$}{:>8}", size(point.bytes));
        for figures in &point.forms {
            let (median, p90) = (figures.median_ns, figures.p90_ns);
            write!(text, " {:>8}{:>8}", microseconds(median), microseconds(p90))?;
        }
        for (_, form, other) in self.ratios() {
            let ratio = point.ratio(form, other);
            write!(text, " {:>5.2}", ratio.unwrap_or(f64::NAN))?;
        }
        writeln!(text, "  {}", point.algorithm)?;
        self.table(&text)
    }

    /// Writes the legend and the JSON.
    pub(super) fn end(&self, report: &Report) -> anyhow::Result<()> {
        let legend: Vec<_> = self
            .ratios()
            .map(|(name, form, other)| format!("{name}: {} / {}", form.name(), other.name()))
            .collect();
        if !legend.is_empty() {
            self.table(&format!("\n{}\n", legend.join(", ")))?;
        }
        self.write(report)
    }

    /// Writes the JSON.
    pub(super) fn write(&self, report: &Report<impl Serialize>) -> anyhow::Result<()> {
        let Some(path) = self.json else { return Ok(()) };
        let text = serde_json::to_string_pretty(report).context("writing JSON")? + "\n";
        if self.has_table() {
            let written = file::replace(path, &text);
            return written.with_context(|| format!("writing {}", path.display()));
        }
        crate::output::show(&text).map(drop)
    }

    /// The ratios of forms that were measured: a name, the dividend and the divisor.
    fn ratios(&self) -> impl Iterator<Item = (&'static str, Form, Form)> + '_ {
        let all = [
            ("n/b", Form::Nonblocking, Form::Blocking),
            ("p/b", Form::Persistent, Form::Blocking),
            ("p/n", Form::Persistent, Form::Nonblocking),
        ];
        let is_measured = |form| self.forms.contains(&form);
        all.into_iter().filter(move |&(_, form, other)| is_measured(form) && is_measured(other))
    }

    /// Writes text for the user, if the table is shown.
    pub(super) fn table(&self, text: &str) -> anyhow::Result<()> {
        if self.has_table() { crate::output::show(text).map(drop) } else { Ok(()) }
    }
}

/// Formats a size; a barrier has none.
fn size(bytes: usize) -> String {
    if bytes == 0 { "-".to_owned() } else { quantity::bytes(bytes) }
}

/// Formats a time in microseconds with at least three significant digits.
pub(super) fn microseconds(nanoseconds: f64) -> String {
    let microseconds = nanoseconds / 1e3;
    let decimals = match microseconds {
        ..10.0 => 3,
        10.0..100.0 => 2,
        100.0..1000.0 => 1,
        _ => 0,
    };
    format!("{microseconds:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::microseconds;

    #[test]
    fn times_have_the_digits_that_count() {
        let cases = [(84.0, "0.084"), (1234.0, "1.234"), (12_340.0, "12.34"), (2e6, "2000")];
        for (nanoseconds, text) in cases {
            assert_eq!(microseconds(nanoseconds), text);
        }
    }
}
