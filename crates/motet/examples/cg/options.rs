//! The command line.

use std::path::PathBuf;

use clap::{ArgGroup, Parser, ValueEnum, value_parser};

use crate::poisson::Grid;
use crate::start::Ranks;

/// Solves a sparse symmetric positive definite system by preconditioned conjugate gradients.
///
/// The right side is the product of the matrix with a known vector, so the report can name the
/// error of the solution.
#[derive(Debug, Parser)]
#[command(name = "cg", group(ArgGroup::new("problem").required(true).args(["file", "poisson"])))]
pub(crate) struct Options {
    /// Matrix Market coordinate file: real or integer, general or symmetric
    #[arg(value_name = "FILE.mtx")]
    pub(crate) file: Option<PathBuf>,

    /// Take the seven-point Laplacian on N x N x N points instead of a file
    #[arg(long, value_name = "N|NxNxN")]
    pub(crate) poisson: Option<Grid>,

    #[command(flatten)]
    pub(crate) ranks: Ranks,

    /// How all communication in an iteration is done
    #[arg(long, value_enum, default_value_t = Form::Persistent)]
    pub(crate) form: Form,

    /// Stop when the residual is this small, relative to the right side
    #[arg(long, value_name = "T", default_value_t = 1e-10, value_parser = parse_tolerance)]
    pub(crate) tolerance: f64,

    /// Give up after this many iterations [default: 20 for each row, at most 100000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_iterations: Option<u64>,

    /// Write the solution to this file, one number per line
    #[arg(long, value_name = "FILE")]
    pub(crate) solution: Option<PathBuf>,

    /// Show no progress, only the report
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl Options {
    /// The most iterations allowed for a matrix with so many rows.
    pub(crate) fn max_iterations(&self, rows: usize) -> u64 {
        self.max_iterations.unwrap_or((20 * rows as u64).min(100_000))
    }
}

/// The three ways to call one collective operation.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Form {
    /// Return when it is done
    Blocking,
    /// Start it, compute, wait
    Nonblocking,
    /// Set it up once; then start it, compute and wait, again and again
    Persistent,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(tolerance) if 0.0 < tolerance && tolerance < 1.0 => Ok(tolerance),
        _ => Err("not a number between 0 and 1".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["cg"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn the_command_line_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn there_is_exactly_one_problem() {
        assert!(parse("--poisson 3").is_ok());
        assert!(parse("--poisson 3x4x5").is_ok());
        assert!(parse("some.mtx").is_ok());
        assert!(parse("").is_err());
        assert!(parse("some.mtx --poisson 3").is_err());
    }

    #[test]
    fn numbers_have_their_bounds() {
        for wrong in ["poisson 0", "tolerance 0", "tolerance nan", "ranks 0", "max-iterations 0"] {
            assert!(parse(&format!("some.mtx --{wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn iterations_are_limited_by_the_rows() {
        let options = parse("some.mtx").unwrap();
        assert_eq!(options.max_iterations(10), 200);
        assert_eq!(options.max_iterations(1 << 30), 100_000);
        assert_eq!(parse("some.mtx --max-iterations 5").unwrap().max_iterations(10), 5);
    }
}
