//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Parser, ValueEnum, value_parser};

use crate::start::Ranks;

/// Searches a graph in breadth, and ranks its vertices.
///
/// Every edge can be walked in both directions. Edges that stand there twice count once, and those
/// from a vertex to itself do not count.
#[derive(Debug, Parser)]
#[command(name = "graph", group(ArgGroup::new("graph").required(true).args(["file", "rmat"])))]
pub(crate) struct Options {
    /// A line `u v` for each edge; or a Matrix Market coordinate file, of which each entry is one
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Make a graph of 2^SCALE vertices instead, some of which have very many edges
    #[arg(long, value_name = "SCALE", value_parser = value_parser!(u32).range(1..=30))]
    pub(crate) rmat: Option<u32>,

    /// Edges that are made for each vertex
    #[arg(long, value_name = "N", default_value_t = 16)]
    #[arg(value_parser = value_parser!(u64).range(1..=1024))]
    pub(crate) degree: u64,

    #[command(flatten)]
    pub(crate) ranks: Ranks,

    /// How the vertices that a search has found reach their ranks
    #[arg(long, value_enum, default_value_t = Selected::All)]
    pub(crate) exchange: Selected,

    /// Search from this vertex
    #[arg(long, value_name = "VERTEX", conflicts_with = "searches")]
    pub(crate) root: Option<u64>,

    /// Search so often, from other vertices each time
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) searches: u64,

    /// Give up ranking after this many iterations
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_iterations: u64,

    /// Write a line for each vertex: its number, its level in the first search or -, its rank
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Show no progress, only the report
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Which ways of exchange are to be taken.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Selected {
    /// A sparse dynamic exchange
    Sparse,
    /// An alltoall of the counts, and an alltoallv
    Dense,
    /// Both
    All,
}

/// One way of exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GraphExchange {
    Sparse,
    Dense,
}

impl Selected {
    /// The ways to take, in this order.
    pub(crate) fn exchanges(self) -> Vec<GraphExchange> {
        match self {
            Self::Sparse => vec![GraphExchange::Sparse],
            Self::Dense => vec![GraphExchange::Dense],
            Self::All => vec![GraphExchange::Sparse, GraphExchange::Dense],
        }
    }
}

impl GraphExchange {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sparse => "sparse",
            Self::Dense => "dense",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn there_is_exactly_one_graph() {
        let parse = |line: &str| {
            Options::try_parse_from(["graph"].into_iter().chain(line.split_whitespace()))
        };
        assert!(parse("--rmat 5").is_ok());
        assert!(parse("some.txt --root 3").is_ok());
        for wrong in ["", "some.txt --rmat 5", "--rmat 0", "--rmat 31", "some.txt --root x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
