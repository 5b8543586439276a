//! The Poisson problem on a cube, cut into cells: the matrix everybody knows.

use std::ops::Range;

use crate::csr::Csr;

/// Some rows of the seven-point Laplacian on a grid of `side`^3 points, zero around it.
///
/// Any rank can make its own rows: nothing has to be read or sent.
pub(crate) fn rows(side: usize, rows: Range<usize>) -> Csr {
    let mut csr = Csr::new();
    rows.for_each(|row| csr.push_row(row_of(side, row)));
    csr
}

/// One row: 6 on the diagonal and -1 for each of the neighbours inside the cube.
fn row_of(side: usize, row: usize) -> impl Iterator<Item = (u32, f64)> {
    let (x, y, z) = (row % side, row / side % side, row / (side * side));
    let last = side - 1;
    let (line, plane) = (side, side * side);
    // By ascending columns; a point that lies outside the cube has no column.
    [
        (z > 0).then(|| (row - plane, -1.0)),
        (y > 0).then(|| (row - line, -1.0)),
        (x > 0).then(|| (row - 1, -1.0)),
        Some((row, 6.0)),
        (x < last).then(|| (row + 1, -1.0)),
        (y < last).then(|| (row + line, -1.0)),
        (z < last).then(|| (row + plane, -1.0)),
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
        assert_eq!(rows(1, 0..1).row(0).collect::<Vec<_>>(), [(0, 6.0)]);
    }

    #[test]
    fn the_middle_of_the_cube_has_six() {
        let row = rows(3, 13..14).row(0).collect::<Vec<_>>();
        let columns = row.iter().map(|&(column, _)| column).collect::<Vec<_>>();
        assert_eq!(columns, [4, 10, 12, 13, 14, 16, 22]);
        assert_eq!(row.iter().map(|&(_, value)| value).sum::<f64>(), 0.0);
    }

    #[test]
    fn the_matrix_is_symmetric() {
        let matrix = rows(4, 0..64);
        for row in 0..64 {
            for (column, value) in matrix.row(row) {
                assert!(matrix.row(column as usize).any(|entry| entry == (row as u32, value)));
            }
        }
    }

    #[test]
    fn parts_are_the_rows_of_the_whole() {
        assert_eq!(rows(3, 0..27).part(5..11), rows(3, 5..11));
    }
}
