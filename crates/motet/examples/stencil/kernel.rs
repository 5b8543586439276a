//! One step of the method: each point comes nearer to the mean of its six neighbours.
//!
//! A row is the points next to each other in z. What its points need is the row itself and the four
//! rows around it, each of which is in the box or among the ghosts, and one ghost at either end. So
//! one loop computes all points, wherever they lie, and with the same operations in the same order:
//! the result has the same bits however the grid is cut.

use crate::halo::{Face, Halo};

/// How far a point comes in a step. Above 1/6 the method is unstable.
pub(crate) const STEP: f64 = 0.125;

/// A field and its ghosts, or those of nobody while they are still to come.
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

    fn ghost_row(&self, face: Face, at: usize) -> &'a [f64] {
        match self.halo.ghosts_of(face) {
            Some(ghosts) => {
                let len = self.halo.sizes[2];
                &self.ghosts[ghosts][at * len..][..len]
            }
            None => &self.halo.cold,
        }
    }

    /// The rows before and after a row in x, then in y.
    fn around(&self, i: usize, j: usize) -> [&'a [f64]; 4] {
        let [layers, rows, _] = self.halo.sizes;
        let [low_x, high_x, low_y, high_y, ..] = Face::ALL;
        [
            if i == 0 { self.ghost_row(low_x, j) } else { self.row(i - 1, j) },
            if i + 1 == layers { self.ghost_row(high_x, j) } else { self.row(i + 1, j) },
            if j == 0 { self.ghost_row(low_y, i) } else { self.row(i, j - 1) },
            if j + 1 == rows { self.ghost_row(high_y, i) } else { self.row(i, j + 1) },
        ]
    }

    /// The ghost at an end of a row.
    fn beyond(&self, face: Face, i: usize, j: usize) -> f64 {
        let at = i * self.halo.sizes[1] + j;
        self.halo.ghosts_of(face).map_or(0.0, |ghosts| self.ghosts[ghosts][at])
    }

    /// Computes the first or the last point of a row.
    #[inline]
    fn end(&self, new: &mut [f64], (i, j): (usize, usize), around: [&[f64]; 4], end: Face) {
        let (row, [.., low, high]) = (self.row(i, j), Face::ALL);
        let last = row.len() - 1;
        let k = if end == low { 0 } else { last };
        let before = if k == 0 { self.beyond(low, i, j) } else { row[k - 1] };
        let after = if k == last { self.beyond(high, i, j) } else { row[k + 1] };
        let [low_x, high_x, low_y, high_y] = around.map(|row| row[k]);
        new[k] = point(row[k], [low_x, high_x], [low_y, high_y], [before, after]);
    }

    /// Computes the points of a row that are asked for.
    fn compute(&self, new: &mut [f64], (i, j): (usize, usize), asked: Asked) {
        if asked.is_nothing() {
            return;
        }
        let [_, rows, len] = self.halo.sizes;
        let new = &mut new[(i * rows + j) * len..][..len];
        let (around, [.., low, high]) = (self.around(i, j), Face::ALL);
        if asked.middle {
            middle(new, self.row(i, j), around);
        }
        // No loop: this is run for each row, and a loop over two ends is not taken apart.
        if asked.ends[0] {
            self.end(new, (i, j), around, low);
        }
        if asked.ends[1] {
            self.end(new, (i, j), around, high);
        }
    }
}

/// Points of a row: all between its ends, and these.
#[derive(Clone, Copy)]
struct Asked {
    middle: bool,
    ends: [bool; 2],
}

impl Asked {
    fn is_nothing(self) -> bool {
        !self.middle && self.ends == [false; 2]
    }

    fn others(self) -> Asked {
        Asked { middle: !self.middle, ends: self.ends.map(|end| !end) }
    }
}

/// Which points of a box wait for ghosts.
struct Waiting<'a> {
    halo: &'a Halo,
    /// The first and the last point of every row.
    ends: [bool; 2],
}

impl<'a> Waiting<'a> {
    fn new(halo: &'a Halo) -> Self {
        let [.., low, high] = Face::ALL;
        let waits = |face| halo.ghosts_of(face).is_some();
        // A row of one point is both ends of it.
        let both = halo.sizes[2] == 1 && (waits(low) || waits(high));
        Self { halo, ends: [low, high].map(|end| both || waits(end)) }
    }

    /// Those of a row.
    fn of(&self, i: usize, j: usize) -> Asked {
        let [layers, rows, _] = self.halo.sizes;
        let at = [i == 0, i + 1 == layers, j == 0, j + 1 == rows];
        let mut borders = Face::ALL.into_iter().zip(at).filter(|(_, at)| *at);
        match borders.any(|(face, _)| self.halo.ghosts_of(face).is_some()) {
            true => ALL,
            false => Asked { middle: false, ends: self.ends },
        }
    }
}

/// Every point of a row.
const ALL: Asked = Asked { middle: true, ends: [true; 2] };

/// Calls for each row of a box.
fn for_rows(halo: &Halo, mut call: impl FnMut((usize, usize))) {
    let [layers, rows, _] = halo.sizes;
    (0..layers).for_each(|i| (0..rows).for_each(|j| call((i, j))));
}

/// Computes all points.
pub(crate) fn whole(halo: &Halo, values: &[f64], ghosts: &[f64], new: &mut [f64]) {
    let old = Old { halo, values, ghosts };
    for_rows(halo, |at| old.compute(new, at, ALL));
}

/// Computes the points that wait for no ghost.
pub(crate) fn inner(halo: &Halo, values: &[f64], new: &mut [f64]) {
    let (old, waiting) = (Old { halo, values, ghosts: &[] }, Waiting::new(halo));
    for_rows(halo, |(i, j)| old.compute(new, (i, j), waiting.of(i, j).others()));
}

/// Computes the points that [`inner`] leaves out.
pub(crate) fn shell(halo: &Halo, values: &[f64], ghosts: &[f64], new: &mut [f64]) {
    let (old, waiting) = (Old { halo, values, ghosts }, Waiting::new(halo));
    for_rows(halo, |(i, j)| old.compute(new, (i, j), waiting.of(i, j)));
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
