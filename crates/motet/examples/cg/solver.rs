//! Conjugate gradients with the diagonal as preconditioner.
//!
//! An iteration communicates three times: the halo, hidden behind the interior rows; the sum
//! `p·Ap`, with nothing to do meanwhile; and the two sums `r·z` and `r·r` in one, hidden
//! behind the update of the solution.

use std::time::Instant;

use anyhow::{Result, anyhow};
use motet::{Communicator, Sum};

use crate::collective::{Collective, Cost, Kind};
use crate::failure::alike;
use crate::operator::Operator;
use crate::options::{Form, Options};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::vector::{add_multiple, dot, shrink, turn};

/// What the solver found, and how.
pub(crate) struct Solution {
    /// The values of the rows of this rank.
    pub(crate) x: Vec<f64>,
    pub(crate) iterations: u64,
    /// Of all iterations.
    pub(crate) seconds: f64,
    /// Per iteration: the halo, `p·Ap`, and `r·z` with `r·r`.
    pub(crate) costs: [Cost; 3],
    /// The number of ranks that send to this one.
    pub(crate) neighbours: usize,
}

/// Iterates until the residual is small enough.
pub(crate) fn solve(
    world: &Communicator,
    problem: &Problem,
    options: &Options,
) -> Result<Solution> {
    let limit = options.max_iterations(problem.partition.rows());
    let shown = world.rank() == 0 && !options.quiet;
    let progress = if shown { Progress::shown("iteration") } else { Progress::silent() };
    let mut state = State::new(world, problem, options.form)?;
    let begin = Instant::now();
    let mut iterations = 0;
    while state.relative_residual() > options.tolerance {
        if iterations == limit {
            return Err(alike(world, no_convergence(limit, state.relative_residual())));
        }
        iterations += 1;
        state = state.iterate(iterations)?;
        progress
            .show(iterations, || format!("relative residual {:.1e}", state.relative_residual()));
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Solution {
        iterations,
        seconds,
        costs: [state.operator.halo_cost(), state.curvature.cost(), state.norms.cost()],
        neighbours: state.operator.neighbours,
        x: state.x,
    })
}

fn no_convergence(iterations: u64, residual: f64) -> anyhow::Error {
    anyhow!("no convergence: the relative residual is {residual:.1e} after {iterations} iterations")
}

/// Everything an iteration changes, in the letters of the textbooks.
struct State<'w> {
    world: &'w Communicator,
    operator: Operator<'w>,
    /// The sum `p·Ap`.
    curvature: Collective<'w>,
    /// The sums `r·z` and `r·r`.
    norms: Collective<'w>,
    /// One divided by the diagonal.
    inverse: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    /// With its ghosts.
    p: Vec<f64>,
    ap: Vec<f64>,
    rz: f64,
    rr: f64,
    /// `r·r` of the right side.
    bb: f64,
}

impl<'w> State<'w> {
    /// Sets up all communication and starts from `x = 0`.
    fn new(world: &'w Communicator, problem: &Problem, form: Form) -> Result<Self> {
        let operator = Operator::new(world, problem, form)?;
        let sums = |count| Collective::new(world, form, Kind::Sum, (count, count))?.calibrate();
        let (curvature, norms) = (sums(1)?, sums(2)?);
        let mut r = problem.right_side();
        let inverse: Vec<_> = problem.diagonal().iter().map(|entry| 1.0 / entry).collect();
        let [x, ap] = [(); 2].map(|()| vec![0.0; r.len()]);
        let mut p = vec![0.0; operator.width()];
        turn(&mut p, 0.0, &inverse, &r);
        let mut squares = shrink(&mut r, 0.0, &ap, &inverse);
        world.allreduce_in_place(&mut squares, Sum)?;
        let [rz, rr] = squares;
        Ok(Self { world, operator, curvature, norms, inverse, x, r, p, ap, rz, rr, bb: rr })
    }

    fn relative_residual(&self) -> f64 {
        (self.rr / self.bb).sqrt()
    }

    /// One step along `p`, and the next `p`.
    fn iterate(mut self, iteration: u64) -> Result<Self> {
        let own = self.x.len();
        self.operator = self.operator.apply(&mut self.p, &mut self.ap)?;
        self.curvature.input_mut()[0] = dot(&self.p[..own], &self.ap);
        self.curvature = self.curvature.run(|| ())?;
        let alpha = self.rz / self.positive_curvature(iteration)?;
        let squares = shrink(&mut self.r, alpha, &self.ap, &self.inverse);
        self.norms.input_mut().copy_from_slice(&squares);
        self.norms = self.norms.run(|| add_multiple(&mut self.x, alpha, &self.p))?;
        let rz_before = self.rz;
        (self.rz, self.rr) = (self.norms.output()[0], self.norms.output()[1]);
        turn(&mut self.p[..own], self.rz / rz_before, &self.inverse, &self.r);
        Ok(self)
    }

    /// The sum `p·Ap`, which a positive definite matrix cannot make zero or negative.
    fn positive_curvature(&self, iteration: u64) -> Result<f64> {
        match self.curvature.output()[0] {
            positive if positive > 0.0 => Ok(positive),
            other => Err(alike(
                self.world,
                anyhow!("not positive definite: p·Ap is {other:.1e} in iteration {iteration}"),
            )),
        }
    }
}
