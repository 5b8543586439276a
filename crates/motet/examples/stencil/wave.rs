//! A wave whose decay is known: it keeps its shape, and loses the same share in each step.

use std::f64::consts::PI;

use crate::grid::Grid;
use crate::kernel::STEP;

/// Waves in each direction: not the same number, so that a mix-up of directions is an error.
const WAVES: [usize; 3] = [1, 2, 3];

/// A product of one wave in each direction.
pub(crate) struct Wave {
    /// The wave in each direction, at each point.
    factors: [Vec<f64>; 3],
    /// What is left of it after a step.
    decay: f64,
}

impl Wave {
    /// The wave on a grid.
    pub(crate) fn new(grid: &Grid) -> Self {
        let line = |d: usize| line(grid.points[d], WAVES[d], grid.periodic);
        let [(x, from_x), (y, from_y), (z, from_z)] = [line(0), line(1), line(2)];
        Self { factors: [x, y, z], decay: 1.0 + STEP * (from_x + from_y + from_z) }
    }

    /// Its value at a point, after so many steps.
    pub(crate) fn after(self, steps: u64) -> impl Fn([usize; 3]) -> f64 {
        let left = self.decay.powf(steps as f64);
        move |place| {
            let [x, y, z] = [0, 1, 2].map(|d| self.factors[d][place[d]]);
            left * (x * y * z)
        }
    }
}

/// A wave along a line, and the factor that its second difference is of it.
///
/// With ends that are joined it begins anywhere; otherwise it is zero just beyond both ends.
fn line(points: usize, waves: usize, joined: bool) -> (Vec<f64>, f64) {
    let (waves, period, phase) = match joined {
        true => (waves.min(points / 2), points, 0.3),
        false => (waves.min(points), 2 * (points + 1), -PI / 2.0),
    };
    let angle = 2.0 * PI * waves as f64 / period as f64;
    let first = usize::from(!joined);
    let wave = (0..points).map(|at| (angle * (at + first) as f64 + phase).cos());
    (wave.collect(), 2.0 * angle.cos() - 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_difference_is_a_multiple() {
        for (points, joined) in [(7, true), (7, false), (1, true), (1, false), (2, true)] {
            let (wave, factor) = line(points, 2, joined);
            let at = |place: isize| match usize::try_from(place) {
                Ok(place) if place < points => wave[place],
                _ if joined => wave[place.rem_euclid(points as isize) as usize],
                _ => 0.0,
            };
            for place in 0..points as isize {
                let second = at(place - 1) - 2.0 * at(place) + at(place + 1);
                assert!((second - factor * at(place)).abs() < 1e-14, "{points} {joined} {place}");
            }
            assert!(wave.iter().any(|value| value.abs() > 0.1), "{wave:?}");
        }
    }
}
