//! The symmetric neighbourhoods of a comparison: a rank receives from the ranks that it sends to.

use std::fmt;

use motet::dims_create;
use motet_fabric::setting::Number;
use serde::{Serialize, Serializer};

/// The neighbours of each rank. No rank is its own neighbour, and none is listed twice, so few
/// ranks may have fewer neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbours {
    /// This many of the nearest ranks on a ring, half of them on each side.
    Ring(usize),
    /// The four neighbours in a periodic grid.
    Grid,
    /// All other ranks.
    All,
}

impl Neighbours {
    /// Reads a name, or an even number of neighbours on a ring.
    pub(super) fn parse(text: &str) -> Result<Neighbours, String> {
        match text {
            "ring" => Ok(Neighbours::Ring(2)),
            "grid" => Ok(Neighbours::Grid),
            "all" => Ok(Neighbours::All),
            _ => match Number::new("a number of ranks").at_least(2).parse::<usize>(text) {
                Ok(many) if many.is_multiple_of(2) => Ok(Neighbours::Ring(many)),
                _ => Err("expected `ring`, `grid`, `all`, or an even number of ranks".to_owned()),
            },
        }
    }

    /// The neighbours of a rank. The relation is symmetric.
    pub(super) fn of(self, rank: usize, ranks: usize) -> Vec<usize> {
        let at = |distance: usize| (rank + distance) % ranks;
        let mut near = Vec::new();
        match self {
            Neighbours::All => near.extend((1..ranks).map(at)),
            Neighbours::Ring(many) => {
                let sides = (1..=(many / 2).min(ranks)).map(|side| side % ranks);
                near.extend(sides.flat_map(|side| [at(side), at(ranks - side)]));
            }
            Neighbours::Grid => {
                let sides = dims_create(ranks, &[0, 0]).unwrap_or_else(|_| vec![ranks, 1]);
                let (rows, columns) = (sides[0], sides[1]);
                let (row, column) = (rank / columns, rank % columns);
                for step in [1, rows - 1] {
                    near.push((row + step) % rows * columns + column);
                }
                for step in [1, columns - 1] {
                    near.push(row * columns + (column + step) % columns);
                }
            }
        }
        let mut seen = vec![rank];
        near.retain(|other| {
            let is_new = !seen.contains(other);
            seen.push(*other);
            is_new
        });
        near
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Neighbours::Ring(2) => out.pad("ring"),
            Neighbours::Ring(many) => out.pad(&many.to_string()),
            Neighbours::Grid => out.pad("grid"),
            Neighbours::All => out.pad("all"),
        }
    }
}

impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_the_pattern() {
        assert_eq!(Neighbours::Ring(2).of(0, 2), [1]);
        assert_eq!(Neighbours::Ring(2).of(0, 5), [1, 4]);
        assert_eq!(Neighbours::Ring(4).of(3, 16), [4, 2, 5, 1]);
        assert_eq!(Neighbours::Grid.of(5, 16), [9, 1, 6, 4]);
        assert_eq!(Neighbours::Grid.of(0, 2), [1]);
        assert_eq!(Neighbours::All.of(2, 4), [3, 0, 1]);
        assert_eq!(Neighbours::All.of(0, 1), Vec::<usize>::new());
    }

    #[test]
    fn neighbours_are_mutual() {
        for ranks in 1..20 {
            for pattern in [1, 2, 3, 9].map(|half| Neighbours::Ring(2 * half)) {
                assert_mutual(pattern, ranks);
            }
            assert_mutual(Neighbours::Grid, ranks);
            assert_mutual(Neighbours::All, ranks);
        }
    }

    #[track_caller]
    fn assert_mutual(pattern: Neighbours, ranks: usize) {
        for rank in 0..ranks {
            let near = pattern.of(rank, ranks);
            assert!(!near.contains(&rank) && near.len() < ranks, "{pattern} of {ranks}");
            assert!(near.iter().all(|&other| pattern.of(other, ranks).contains(&rank)));
        }
    }
}
