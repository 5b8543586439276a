//! `motet list`: the algorithms of each collective, their predicted times, and which is chosen.

use std::fmt::Write;
use std::process::ExitCode;

use motet_fabric::setting::Number;
use motet_plan::select::{self, Choice, Reason};
use motet_plan::{Algorithm, Call, Collective, CostParams, Tuning, algo};

use crate::output::Mistake;
use crate::plan::example::{Example, Sizes};
use crate::plan::{target, tuning_sharing};
use crate::quantity::{self, CORES, counted};

/// The most ranks for which costs are predicted: more than any machine has.
const RANKS: Number = Number::new("a number of ranks").at_least(1).at_most(1 << 20);

/// The width of the page in columns.
const WIDTH: usize = 100;

/// List the algorithms and, for a number of ranks, the predicted times and the choice
///
/// The times are predictions of the cost model for ranks on one machine. The choice of a program
/// uses the same model.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Show only the algorithms of this collective
    #[arg(value_parser = target::collective)]
    collective: Option<Collective>,

    /// Predict times and choose for this number of ranks
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = quantity::number::<u32>(RANKS)
    )]
    ranks: Option<u32>,

    #[command(flatten)]
    sizes: Sizes,

    /// Predict times for ranks that share this number of cores [default: one core for each rank]
    #[arg(
        long,
        value_name = "C",
        requires = "ranks",
        value_parser = quantity::number::<u32>(CORES)
    )]
    cores: Option<u32>,
}

impl List {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let mut page = Page::new();
        let tuning = tuning_sharing(self.ranks.unwrap_or(1), self.cores)?;
        if let Some(ranks) = self.ranks {
            let operator = if self.sizes.is_ordered() { "does not commute" } else { "commutes" };
            let ranks = counted(ranks as usize, "rank");
            let cores = self.cores.map_or_else(String::new, |cores| {
                format!(" on {}", counted(cores as usize, "core"))
            });
            page.line(format_args!(
                "{ranks}{cores}, an operator that {operator}, times by the model\n"
            ));
        }
        let wanted = |collective: &Collective| self.collective.is_none_or(|it| it == *collective);
        for collective in Collective::ALL.into_iter().filter(wanted) {
            match self.ranks {
                None => summaries(&mut page, collective),
                Some(ranks) => self.predictions(&mut page, collective, ranks, &tuning)?,
            }
        }
        crate::output::show(&page.text)
    }

    /// Writes the predicted time of each algorithm, or why it refuses the call.
    fn predictions(
        &self,
        page: &mut Page,
        collective: Collective,
        ranks: u32,
        tuning: &Tuning,
    ) -> anyhow::Result<()> {
        if ranks < collective.fewest_ranks() {
            page.line(format_args!("{collective}: needs two groups, so at least 2 ranks\n"));
            return Ok(());
        }
        let sizes = self.sizes.clone();
        let example = Example { collective, ranks, sizes, root: 0, in_place: false, left: None };
        let call = example.call(0)?;
        let choice = select::choose(&call, tuning).map_err(|error| Mistake(error.to_string()))?;
        page.line(format_args!("{collective}: {}", example.size()));
        let columns = name_columns(collective);
        for algorithm in algo::of(collective) {
            let (time, text) = prediction(algorithm, &call, &tuning.machine, &choice);
            page.row(&format!("  {:<columns$} {time:>9}  ", algorithm.name()), &text);
        }
        page.line(format_args!(""));
        Ok(())
    }
}

/// The columns of the names of the algorithms of a collective; those of most are as wide.
fn name_columns(collective: Collective) -> usize {
    const USUAL: usize = 25;
    let longest = algo::of(collective).map(|row| row.name().len()).max();
    longest.map_or(USUAL, |longest| longest.max(USUAL))
}

/// Writes the summary of each algorithm of a collective.
fn summaries(page: &mut Page, collective: Collective) {
    page.line(format_args!("{collective}"));
    let columns = name_columns(collective);
    for algorithm in algo::of(collective) {
        page.row(&format!("  {:<columns$} ", algorithm.name()), algorithm.summary());
    }
    page.line(format_args!(""));
}

/// The predicted time of an algorithm and whether it is chosen; or `-` and why it refuses the call.
fn prediction(
    algorithm: &'static dyn Algorithm,
    call: &Call,
    machine: &CostParams,
    choice: &Choice,
) -> (String, String) {
    if let Err(refusal) = algorithm.accepts(call) {
        return ("-".to_owned(), refusal.to_string());
    }
    let text = match choice.reason {
        _ if algorithm.name() != choice.algorithm.name() => String::new(),
        Reason::Cost { .. } => "chosen".to_owned(),
        reason => format!("chosen: {reason}"),
    };
    (time(algorithm.time(call, machine)), text)
}

/// Formats a time in the largest unit in which it is at least ten.
fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| nanoseconds >= 10.0 * unit).unwrap_or((1.0, "ns"));
    format!("{:.0} {name}", nanoseconds / unit)
}

/// Text of limited width.
struct Page {
    text: String,
}

impl Page {
    fn new() -> Self {
        Self { text: String::new() }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a string takes any text");
    }

    /// Writes a row that begins with `head`, and wraps `text` below its own first word.
    fn row(&mut self, head: &str, text: &str) {
        let indent = head.chars().count();
        let mut line = head.to_owned();
        for word in text.split_whitespace() {
            if line.chars().count() + word.chars().count() > WIDTH {
                self.line(format_args!("{}", line.trim_end()));
                line = " ".repeat(indent);
            }
            line.push_str(word);
            line.push(' ');
        }
        self.line(format_args!("{}", line.trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let cases = [(0.0, "0 ns"), (9999.0, "9999 ns"), (10_000.0, "10 µs"), (2e10, "20 s")];
        for (nanoseconds, text) in cases {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn every_name_fits_its_column() {
        for row in algo::table() {
            assert!(row.name().len() <= name_columns(row.collective()), "{row:?}");
        }
    }

    #[test]
    fn long_texts_go_on_below() {
        let mut page = Page::new();
        page.row("name  ", &"word ".repeat(30));
        let lines: Vec<_> = page.text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].chars().count() <= WIDTH && lines[1].starts_with("      word"));
    }
}
