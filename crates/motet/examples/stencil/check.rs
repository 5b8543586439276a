//! Trusts no result: each must be the wave that is left, and the same in all ways.

use anyhow::{Result, ensure};
use motet::{Bxor, Communicator, Max};

use crate::failure::alike;
use crate::grid::Grid;
use crate::solver::Solution;
use crate::wave::Wave;

/// How far a point may be from what it should be: some rounding errors in each step.
fn accepted_error(steps: u64) -> f64 {
    1e-13 + 2e-15 * steps as f64
}

/// How good a result is; the same on all ranks.
pub(crate) struct Checked {
    /// The largest difference from the wave, which begins with height 1.
    pub(crate) error: f64,
    /// Of the bits of all values and their places: the same for any number of ranks.
    pub(crate) fingerprint: u64,
}

/// Compares a result with the wave that is left after so many steps.
pub(crate) fn check(grid: &Grid, solution: &Solution, steps: u64) -> Result<Checked> {
    let wave = Wave::new(grid).after(steps);
    let [_, rows, len] = grid.points;
    let (mut error, mut fingerprint) = (0.0, 0);
    for (place, value) in grid.places().zip(&solution.values) {
        error = f64::max(error, (value - wave(place)).abs());
        let number = (place[0] * rows + place[1]) * len + place[2];
        fingerprint ^= mixed(mixed(number as u64) ^ value.to_bits());
    }
    let error = grid.ranks.allreduce_one(error, Max)?;
    let fingerprint = grid.ranks.allreduce_one(fingerprint, Bxor)?;
    Ok(Checked { error, fingerprint })
}

impl Checked {
    /// Fails if the result is not what it must be, or not what another way has found.
    pub(crate) fn accept(
        &self,
        world: &Communicator,
        steps: u64,
        first: Option<&Checked>,
    ) -> Result<()> {
        let alike_bits = first.is_none_or(|first| first.fingerprint == self.fingerprint);
        let outcome = || {
            let accepted = accepted_error(steps);
            ensure!(
                self.error <= accepted,
                "wrong by {:.1e}, more than {accepted:.1e}",
                self.error
            );
            ensure!(alike_bits, "two ways have different results");
            Ok(())
        };
        outcome().map_err(|error| alike(world, error))
    }
}

/// All bits of a number, spread over all bits of another.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = number.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_is_not_accepted() {
        let outcomes = motet::threads(1, |world| {
            let right = Checked { error: 1e-14, fingerprint: 7 };
            let wrong = Checked { error: 1e-9, ..right };
            let other = Checked { fingerprint: 8, ..right };
            let told = |checked: &Checked, first: Option<&Checked>| {
                checked.accept(&world, 10, first).map_err(|error| error.to_string())
            };
            assert_eq!(told(&right, None), Ok(()));
            assert_eq!(told(&right, Some(&right)), Ok(()));
            [told(&wrong, None), told(&other, Some(&right))].map(Result::unwrap_err)
        });
        let [wrong, other] = outcomes.unwrap().remove(0);
        assert_eq!(wrong, "wrong by 1.0e-9, more than 1.2e-13");
        assert_eq!(other, "two ways have different results");
    }

    #[test]
    fn a_value_at_another_place_is_another_fingerprint() {
        let prints: Vec<_> = (0..4_u64)
            .flat_map(|place| (0..4).map(move |value| mixed(mixed(place) ^ value)))
            .collect();
        for (at, print) in prints.iter().enumerate() {
            assert!(!prints[..at].contains(print));
        }
        assert_ne!(prints[0] ^ prints[5], prints[1] ^ prints[4]);
    }
}
