//! The Poisson problem on a grid, cut into cells: the matrix everybody knows.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::csr::Csr;

/// The most points of a grid, so that columns have numbers of 32 bits.
const MOST_POINTS: u64 = 1 << 32;

/// How many points a grid has in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid(pub(crate) [usize; 3]);

impl Grid {
    /// All of them: the rows of the matrix.
    pub(crate) fn points(self) -> usize {
        self.0.iter().product()
    }
}

/// One number for a cube, or three with `x` between them.
impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Grid, String> {
        let sides = text.split('x').map(|side| side.parse::<u32>().ok().filter(|&side| side > 0));
        let sides: Option<Vec<u32>> = sides.collect();
        let sides = match sides.as_deref() {
            Some(&[side]) => [side; 3],
            Some(&[x, y, z]) => [x, y, z],
            _ => return Err("not N or NxNxN, with numbers from 1".to_string()),
        };
        let points = sides.iter().try_fold(1u64, |points, &side| points.checked_mul(side.into()));
        match points {
            Some(points) if points <= MOST_POINTS => Ok(Grid(sides.map(|side| side as usize))),
            _ => Err(format!("more than {MOST_POINTS} points")),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(out, "{x} x {y} x {z} points")
    }
}

/// Some rows of the seven-point Laplacian on the points of a grid, zero around it.
///
/// Any rank can make its own rows: nothing has to be read or sent.
pub(crate) fn rows(points: Grid, rows: Range<usize>) -> Csr {
    let mut csr = Csr::new();
    rows.for_each(|row| csr.push_row(row_of(points, row)));
    csr
}

/// One row: 6 on the diagonal and -1 for each of the neighbours inside the grid.
fn row_of(points: Grid, row: usize) -> impl Iterator<Item = (u32, f64)> {
    let [width, depth, height] = points.0;
    let (line, plane) = (width, width * depth);
    let (x, y, z) = (row % width, row / line % depth, row / plane);
    // By ascending columns; a point that lies outside the grid has no column.
    [
        (z > 0).then(|| (row - plane, -1.0)),
        (y > 0).then(|| (row - line, -1.0)),
        (x > 0).then(|| (row - 1, -1.0)),
        Some((row, 6.0)),
        (x + 1 < width).then(|| (row + 1, -1.0)),
        (y + 1 < depth).then(|| (row + line, -1.0)),
        (z + 1 < height).then(|| (row + plane, -1.0)),
    ]
    .into_iter()
    .flatten()
    .map(|(column, value)| (column as u32, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_point_has_no_neighbours() {
        assert_eq!(rows(Grid([1; 3]), 0..1).row(0).collect::<Vec<_>>(), [(0, 6.0)]);
    }

    #[test]
    fn the_middle_of_the_cube_has_six() {
        let row = rows(Grid([3; 3]), 13..14).row(0).collect::<Vec<_>>();
        let columns = row.iter().map(|&(column, _)| column).collect::<Vec<_>>();
        assert_eq!(columns, [4, 10, 12, 13, 14, 16, 22]);
        assert_eq!(row.iter().map(|&(_, value)| value).sum::<f64>(), 0.0);
    }

    #[test]
    fn a_long_grid_has_short_planes() {
        let row = rows(Grid([2, 3, 5]), 7..8).row(0).collect::<Vec<_>>();
        let columns = row.iter().map(|&(column, _)| column).collect::<Vec<_>>();
        assert_eq!(columns, [1, 6, 7, 9, 13]);
    }

    #[test]
    fn a_grid_is_one_number_or_three() {
        assert_eq!("7".parse(), Ok(Grid([7; 3])));
        assert_eq!("4x5x600".parse(), Ok(Grid([4, 5, 600])));
        for wrong in ["", "0", "1x2", "1x2x3x4", "2x0x2", "-1", "1601x1601x1676", "99999999999"] {
            assert!(wrong.parse::<Grid>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_matrix_is_symmetric() {
        let matrix = rows(Grid([2, 4, 8]), 0..64);
        for row in 0..64 {
            for (column, value) in matrix.row(row) {
                assert!(matrix.row(column as usize).any(|entry| entry == (row as u32, value)));
            }
        }
    }

    #[test]
    fn parts_are_the_rows_of_the_whole() {
        assert_eq!(rows(Grid([3; 3]), 0..27).part(5..11), rows(Grid([3; 3]), 5..11));
    }
}
