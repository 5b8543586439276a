//! The command line.

use clap::{Parser, ValueEnum, value_parser};

use crate::start::Ranks;

/// The most points of a problem: 32 GiB for each of the two fields.
const MOST_POINTS: usize = 1 << 32;

/// Solves the heat equation on a grid by the seven-point Jacobi method.
///
/// It begins with a wave whose decay is known, so the report can name the error of the result.
#[derive(Debug, Parser)]
#[command(name = "stencil")]
pub(crate) struct Options {
    /// Points in each direction, or in all three
    #[arg(long, value_name = "N|NX,NY,NZ", default_value = "96", value_parser = parse_points)]
    pub(crate) size: [usize; 3],

    /// Ranks in each direction [default: as even as can be]
    #[arg(long, value_name = "PX,PY,PZ", value_parser = parse_triple)]
    pub(crate) boxes: Option<[usize; 3]>,

    /// Join opposite sides of the grid; otherwise it is cold around it
    #[arg(long)]
    pub(crate) periodic: bool,

    /// Steps of time
    #[arg(long, value_name = "N", default_value_t = 200)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) steps: u64,

    #[command(flatten)]
    pub(crate) ranks: Ranks,

    /// How neighbours tell each other their faces
    #[arg(long, value_enum, default_value_t = Selected::All)]
    pub(crate) exchange: Selected,

    /// Compute the points that need no ghost while the faces travel
    #[arg(long)]
    pub(crate) overlap: bool,

    /// Run everything so often, and report the fastest run of each way
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,

    /// Show no progress, only the report
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Which ways of exchange are to be taken.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Selected {
    /// A persistent exchange with the neighbours, of datatypes
    Persistent,
    /// A blocking alltoallv of packed faces
    Alltoallv,
    /// A message for each neighbour, of packed faces
    Messages,
    /// All of them, one after the other
    All,
}

/// One way of exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StencilExchange {
    Persistent,
    Alltoallv,
    Messages,
}

impl Selected {
    /// The ways to take, in this order.
    pub(crate) fn exchanges(self) -> Vec<StencilExchange> {
        match self {
            Self::Persistent => vec![StencilExchange::Persistent],
            Self::Alltoallv => vec![StencilExchange::Alltoallv],
            Self::Messages => vec![StencilExchange::Messages],
            Self::All => vec![
                StencilExchange::Persistent,
                StencilExchange::Alltoallv,
                StencilExchange::Messages,
            ],
        }
    }
}

impl StencilExchange {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Persistent => "persistent",
            Self::Alltoallv => "alltoallv",
            Self::Messages => "messages",
        }
    }
}

/// Three numbers above zero, or one for all.
fn parse_points(text: &str) -> Result<[usize; 3], String> {
    let points = match text.parse() {
        Ok(side) if side > 0 => [side; 3],
        _ => parse_triple(text).map_err(|problem| format!("neither one number nor {problem}"))?,
    };
    let product = points.iter().try_fold(1_usize, |product, &each| product.checked_mul(each));
    match product {
        Some(all) if all <= MOST_POINTS => Ok(points),
        _ => Err(format!("more than {MOST_POINTS} points")),
    }
}

fn parse_triple(text: &str) -> Result<[usize; 3], String> {
    let numbers: Vec<usize> = text.split(',').map_while(|each| each.trim().parse().ok()).collect();
    let whole = numbers.len() == text.split(',').count() && !numbers.contains(&0);
    let triple = numbers.try_into().ok().filter(|_| whole);
    triple.ok_or_else(|| "three numbers above zero with commas between".to_string())
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
    fn a_size_is_one_number_or_three() {
        assert_eq!(parse_points("7"), Ok([7; 3]));
        assert_eq!(parse_points("7,8, 9"), Ok([7, 8, 9]));
        for wrong in ["", "0", "-3", "7,8", "7,8,9,10", "7,0,9", "7,x,9", "7,8,9x"] {
            assert!(parse_points(wrong).is_err(), "{wrong}");
        }
        let problem = parse_points("4000").unwrap_err();
        assert!(problem.starts_with("more than"), "{problem}");
        assert!(parse_points("99999999999").is_err());
    }
}
