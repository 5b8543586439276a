//! What is told at the end.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::time::Duration;

use anyhow::{Context, Result};
use motet::{Communicator, Max, Sum};

use crate::options::GraphExchange;
use crate::problem::Problem;
use crate::rank::Ranking;
use crate::search::Search;

const EXPLANATION: &str = "
a search is the mean of all from the same vertices; its communication is the time in exchanges and
sums, a mean over the ranks, the wait for a rank that comes late included
visible   the share that is communication
messages  of all ranks, for each level: those with vertices in them, and those that only find out
          who has something for whom (an alltoall's, if each pair has one); of p² pairs of ranks
edges     those of all vertices that were reached, by the time
";

/// The searches of one way, together.
pub(crate) struct Row {
    exchange: GraphExchange,
    searches: u64,
    seconds: f64,
    /// The time in communication of this rank.
    waited: Duration,
    messages: u64,
    rounds: u64,
    reached: u64,
    edges: u64,
}

impl Row {
    /// No searches yet.
    pub(crate) fn new(exchange: GraphExchange) -> Self {
        let waited = Duration::ZERO;
        Self {
            exchange,
            searches: 0,
            seconds: 0.0,
            waited,
            messages: 0,
            rounds: 0,
            reached: 0,
            edges: 0,
        }
    }

    /// One search more, which has walked so many edges.
    pub(crate) fn add(&mut self, search: &Search, edges: usize) {
        self.searches += 1;
        self.seconds += search.seconds;
        self.waited += search.cost.time;
        self.messages += search.cost.messages;
        self.rounds += search.rounds;
        self.reached += search.reached as u64;
        self.edges += edges as u64;
    }

    /// Messages of all ranks in a level that only say which ranks have something.
    fn bare(&self, ranks: u64) -> u64 {
        match self.exchange {
            // Each rank says in ⌈log2 p⌉ messages that its own have been received.
            GraphExchange::Sparse => ranks * u64::from(ranks.next_power_of_two().ilog2()),
            GraphExchange::Dense => ranks * (ranks - 1),
        }
    }
}

/// The report as text; every rank must call this.
pub(crate) fn report(
    world: &Communicator,
    problem: &Problem,
    rows: &[Row],
    ranking: (&Ranking, f64),
) -> Result<String> {
    let graph = &problem.graph;
    let mut sums = [graph.ghosts.len(), graph.pattern.from.len()];
    world.allreduce_in_place(&mut sums, Sum)?;
    let [ghosts, neighbours] = sums.map(|sum| sum as f64 / world.size() as f64);
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:<19}{value}");
    line("graph", problem.name.clone())?;
    line("ranks", world.size().to_string())?;
    line("vertices", graph.partition.vertices.to_string())?;
    line("edges", graph.edges.to_string())?;
    line("ghosts", format!("{ghosts:.1} per rank, of {neighbours:.1} neighbours"))?;
    write_rows(&mut text, world, rows)?;
    text.push_str(EXPLANATION);
    write_ranking(&mut text, world, ranking)?;
    Ok(text)
}

/// A line for each way to search.
fn write_rows(text: &mut String, world: &Communicator, rows: &[Row]) -> Result<()> {
    let ranks = world.size() as u64;
    let titles = ["a search", "visible", "levels", "reached"].map(|title| format!("{title:>12}"));
    writeln!(text, "\n{:<10}{}{:>24}{:>12}", "search", titles.concat(), "messages", "edges")?;
    for row in rows {
        let seconds = world.allreduce_one(row.seconds, Max)?;
        let mut sums = [row.waited.as_secs_f64(), row.messages as f64];
        world.allreduce_in_place(&mut sums, Sum)?;
        let [waited, messages] = sums;
        let each = 1.0 / row.searches as f64;
        let values = [
            format!("{:.1} µs", 1e6 * seconds * each),
            format!("{:.1} %", 100.0 * waited / seconds / ranks as f64),
            format!("{:.1}", row.rounds as f64 * each),
            format!("{:.1}", row.reached as f64 * each),
        ];
        let values = values.map(|value| format!("{value:>12}")).concat();
        let in_level = messages / row.rounds as f64;
        let messages = format!("{in_level:.1} + {} of {}", row.bare(ranks), ranks * ranks);
        let edges = format!("{:.1} M/s", row.edges as f64 / seconds / 1e6);
        writeln!(text, "{:<10}{values}{messages:>24}{edges:>12}", row.exchange.name())?;
    }
    Ok(())
}

/// What the ranking has found, and what it took.
fn write_ranking(
    text: &mut String,
    world: &Communicator,
    (ranking, sum): (&Ranking, f64),
) -> Result<()> {
    let seconds = world.allreduce_one(ranking.seconds, Max)?;
    let mut sums = [ranking.visible, ranking.apart, ranking.overlapped];
    world.allreduce_in_place(&mut sums, Sum)?;
    let [visible, apart, overlapped] = sums.map(|sum| sum / world.size() as f64);
    let largest = world.allreduce_one(ranking.ranks.iter().copied().fold(0.0, f64::max), Max)?;
    let hidden = 100.0 * (1.0 - overlapped / apart).max(0.0);
    let mut line = |name: &str, value: String| writeln!(text, "{name:<19}{value}");
    line("\nranking", format!(" {} iterations, {:.2} µs each", ranking.iterations, 1e6 * seconds))?;
    line("sum of ranks", format!("{sum:.15}"))?;
    line("largest", format!("{largest:.6e}"))?;
    line("visible", format!("{:.1} % of an iteration", 100.0 * visible / seconds))?;
    let (apart, meanwhile) = (1e6 * apart, 1e6 * overlapped);
    let apart = format!("{apart:.2} µs with work before it");
    line(
        "exchange",
        format!("{apart}, {meanwhile:.2} µs with work meanwhile: {hidden:.0} % hidden"),
    )?;
    writeln!(text, "\n{}", ranking.explanation)?;
    Ok(())
}

/// Prints the report.
pub(crate) fn print(text: &str) -> Result<()> {
    stdout().write_all(text.as_bytes()).context("standard output")
}
