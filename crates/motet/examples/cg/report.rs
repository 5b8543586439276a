//! What is told at the end.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};

use anyhow::{Context, Result};
use motet::{Communicator, Sum};

use crate::check::Checked;
use crate::collective::Cost;
use crate::options::Form;
use crate::problem::Problem;
use crate::solver::Solution;

/// The sum that has no computation to hide behind.
const ALONE: &str = "p·Ap";

const EXPLANATION: &str = "
times are those that one run spends in start and wait, means over the ranks
alone       before the iterations, with nothing else to do
apart       in the iterations, with the work done first (every eighth iteration does that)
overlapped  in the iterations, with the work done between start and wait
hidden      1 - overlapped / apart, at least 0; both include the wait for a rank that comes late
";

/// The figures of all ranks in one.
struct Means {
    entries: f64,
    neighbours: f64,
    costs: [Cost; 3],
}

impl Means {
    fn new(world: &Communicator, problem: &Problem, solution: &Solution) -> Result<Self> {
        let mut sums = vec![problem.matrix.values().len() as f64, solution.neighbours as f64];
        sums.extend(
            solution.costs.iter().flat_map(|cost| [cost.alone, cost.apart, cost.overlapped]),
        );
        world.allreduce_in_place(&mut sums, Sum)?;
        let ranks = world.size() as f64;
        let cost = |first| Cost {
            alone: sums[first] / ranks,
            apart: sums[first + 1] / ranks,
            overlapped: sums[first + 2] / ranks,
        };
        Ok(Self {
            entries: sums[0],
            neighbours: sums[1] / ranks,
            costs: [cost(2), cost(5), cost(8)],
        })
    }
}

/// The report as text; every rank must call this.
pub(crate) fn report(
    world: &Communicator,
    problem: &Problem,
    form: Form,
    solution: &Solution,
    checked: &Checked,
) -> Result<String> {
    let means = Means::new(world, problem, solution)?;
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:<19}{value}");
    line("problem", problem.name.clone())?;
    line("ranks", world.size().to_string())?;
    line("rows", problem.partition.rows().to_string())?;
    line("entries", means.entries.to_string())?;
    line("neighbours", format!("{:.1} per rank", means.neighbours))?;
    line("form", format!("{form:?}").to_lowercase())?;
    line("iterations", solution.iterations.to_string())?;
    line("relative residual", format!("{:.2e}", checked.residual))?;
    line("largest error", format!("{:.2e}", checked.error))?;
    let per_iteration = solution.seconds / solution.iterations.max(1) as f64;
    line("time", format!("{:.4} s, {} per iteration", solution.seconds, micros(per_iteration)))?;
    write_costs(&mut text, form, &means.costs)?;
    Ok(text)
}

/// The communication of an iteration, as a table.
fn write_costs(text: &mut String, form: Form, costs: &[Cost; 3]) -> Result<()> {
    let titles = ["alone", "apart", "overlapped"].map(|title| format!("{title:>13}")).concat();
    writeln!(text, "\n{:<19}{titles}{:>8}", "communication", "hidden")?;
    for (name, cost) in ["halo", ALONE, "r·z, r·r"].into_iter().zip(costs) {
        let hidden = match form {
            Form::Nonblocking | Form::Persistent if name != ALONE => {
                format!("{:.0} %", 100.0 * cost.hidden())
            }
            _ => "-".to_string(),
        };
        let times = [cost.alone, cost.apart, cost.overlapped];
        let times = times.map(|time| format!("{:>13}", micros(time))).concat();
        writeln!(text, "{name:<19}{times}{hidden:>8}")?;
    }
    text.push_str(EXPLANATION);
    Ok(())
}

fn micros(seconds: f64) -> String {
    format!("{:.2} µs", 1e6 * seconds)
}

/// Prints the report.
pub(crate) fn print(text: &str) -> Result<()> {
    stdout().write_all(text.as_bytes()).context("standard output")
}
