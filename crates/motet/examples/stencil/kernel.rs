//! One step of the method: each point comes nearer to the mean of its six neighbours.
//!
//! A row is the points next to each other in z. What its points need is the row itself and the four
//! rows around it, each of which is in the box or among the ghosts, and one ghost at either end. So
//! one loop computes all points, wherever they lie, and with the same operations in the same order:
//! the result has the same bits however the grid is cut.

use crate::halo::{Face, Halo};

/// How far a point comes in a step. Above 1/6 the method is unstable.
pub(crate) const STEP: f64 = 0.125;

/// A field and its ghosts.
#[derive(Clone, Copy)]
struct Old<'a> {
    halo: &'a Halo,
    values: &'a [f64],
    ghosts: &'a [f64],
}

impl<'a> Old<'a> {
    fn row(&self, i: usize, j: usize) -> &'a [f64] {
        let [_, rows, len] = self.halo.sizes;
        &self.values[(i * rows + j) * len..][..len]
    }

    fn ghosts(&self, face: usize) -> &'a [f64] {
        &self.ghosts[self.halo.ghosts_of(Face::ALL[face])]
    }

    /// The rows before and after a row in x, then in y.
    fn around(&self, i: usize, j: usize) -> [&'a [f64]; 4] {
        let [layers, rows, len] = self.halo.sizes;
        let ghost_row = |face, at: usize| &self.ghosts(face)[at * len..][..len];
        [
            if i == 0 { ghost_row(0, j) } else { self.row(i - 1, j) },
            if i + 1 == layers { ghost_row(1, j) } else { self.row(i + 1, j) },
            if j == 0 { ghost_row(2, i) } else { self.row(i, j - 1) },
            if j + 1 == rows { ghost_row(3, i) } else { self.row(i, j + 1) },
        ]
    }

    /// The ghosts at both ends of a row.
    fn ends(&self, i: usize, j: usize) -> [f64; 2] {
        let at = i * self.halo.sizes[1] + j;
        [self.ghosts(4)[at], self.ghosts(5)[at]]
    }
}

/// The row of the new field.
fn new_row<'n>(halo: &Halo, new: &'n mut [f64], i: usize, j: usize) -> &'n mut [f64] {
    let [_, rows, len] = halo.sizes;
    &mut new[(i * rows + j) * len..][..len]
}

/// Computes all points.
pub(crate) fn whole(halo: &Halo, values: &[f64], ghosts: &[f64], new: &mut [f64]) {
    let old = Old { halo, values, ghosts };
    let [layers, rows, _] = halo.sizes;
    for i in 0..layers {
        for j in 0..rows {
            let (row, around) = (old.row(i, j), old.around(i, j));
            let new = new_row(halo, new, i, j);
            middle(new, row, around);
            both_ends(new, row, around, old.ends(i, j));
        }
    }
}

/// Computes the points that need no ghost.
pub(crate) fn inner(halo: &Halo, values: &[f64], new: &mut [f64]) {
    let old = Old { halo, values, ghosts: &[] };
    let [layers, rows, _] = halo.sizes;
    for i in 1..layers.max(1) - 1 {
        for j in 1..rows.max(1) - 1 {
            middle(new_row(halo, new, i, j), old.row(i, j), old.around(i, j));
        }
    }
}

/// Computes the points that [`inner`] leaves out.
pub(crate) fn shell(halo: &Halo, values: &[f64], ghosts: &[f64], new: &mut [f64]) {
    let old = Old { halo, values, ghosts };
    let [layers, rows, _] = halo.sizes;
    for i in 0..layers {
        let outer_layer = i == 0 || i + 1 == layers;
        for j in 0..rows {
            let (row, around) = (old.row(i, j), old.around(i, j));
            let new = new_row(halo, new, i, j);
            if outer_layer || j == 0 || j + 1 == rows {
                middle(new, row, around);
            }
            both_ends(new, row, around, old.ends(i, j));
        }
    }
}

/// The new value of a point.
#[inline(always)]
fn point(own: f64, x: [f64; 2], y: [f64; 2], z: [f64; 2]) -> f64 {
    let around = (x[0] + x[1]) + (y[0] + y[1]) + (z[0] + z[1]);
    own + STEP * (around - 6.0 * own)
}

/// Computes all points of a row but the first and the last.
fn middle(new: &mut [f64], row: &[f64], around: [&[f64]; 4]) {
    let Some(len) = row.len().checked_sub(2) else { return };
    // Slices of one length, which the compiler sees: so it checks no index and takes several
    // points at a time.
    let (new, own) = (&mut new[1..][..len], &row[1..][..len]);
    let (before, after) = (&row[..len], &row[2..][..len]);
    let [low_x, high_x, low_y, high_y] = around.map(|row| &row[1..][..len]);
    for k in 0..len {
        let (x, y) = ([low_x[k], high_x[k]], [low_y[k], high_y[k]]);
        new[k] = point(own[k], x, y, [before[k], after[k]]);
    }
}

/// Computes the first and the last point of a row.
fn both_ends(new: &mut [f64], row: &[f64], around: [&[f64]; 4], ghosts: [f64; 2]) {
    let last = row.len() - 1;
    for k in [0, last] {
        let before = if k == 0 { ghosts[0] } else { row[k - 1] };
        let after = if k == last { ghosts[1] } else { row[k + 1] };
        let [low_x, high_x, low_y, high_y] = around.map(|row| row[k]);
        new[k] = point(row[k], [low_x, high_x], [low_y, high_y], [before, after]);
    }
}
