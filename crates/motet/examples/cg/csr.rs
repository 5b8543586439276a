//! Sparse rows, compressed.

use std::ops::Range;

/// Consecutive sparse rows: the entries of row `i` are numbers `starts[i]..starts[i + 1]`.
///
/// Columns have four bytes, not eight: a sparse multiplication runs at the speed of memory, and
/// this is a quarter less of it. So a matrix has less than 2^32 columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Csr {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// No rows yet.
    pub(crate) fn new() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// The rows with these numbers of entries, whose columns and values follow each other.
    pub(crate) fn from_parts(lengths: &[u32], columns: Vec<u32>, values: Vec<f64>) -> Self {
        let ends = lengths.iter().scan(0, |end, &length| {
            *end += length as usize;
            Some(*end)
        });
        Self { starts: [0].into_iter().chain(ends).collect(), columns, values }
    }

    /// Adds a row with these entries, by ascending columns.
    pub(crate) fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        self.starts.push(self.columns.len());
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The columns of all entries, row by row.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values of all entries, row by row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of entries of each row.
    pub(crate) fn lengths(&self) -> Vec<u32> {
        self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect()
    }

    /// Where the entries of each row begin, and after the last where they end.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// A copy of some of the rows.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let mut part = Self::new();
        rows.for_each(|row| part.push_row(self.row(row)));
        part
    }

    /// The entries of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (u32, f64)> {
        let entries = self.starts[row]..self.starts[row + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// Sets `y[row]` to the product of the row with the vector `x`, for some rows.
    pub(crate) fn multiply(&self, rows: Range<usize>, x: impl Fn(usize) -> f64, y: &mut [f64]) {
        for row in rows {
            y[row] = self.row(row).map(|(column, value)| value * x(column as usize)).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows `2 0 1`, `0 0 0` and `0 3 0`.
    fn example() -> Csr {
        let mut csr = Csr::new();
        csr.push_row([(0, 2.0), (2, 1.0)]);
        csr.push_row([]);
        csr.push_row([(1, 3.0)]);
        csr
    }

    #[test]
    fn multiplies_only_the_rows_asked_for() {
        let mut y = [9.0; 3];
        example().multiply(1..3, |column| column as f64, &mut y);
        assert_eq!(y, [9.0, 0.0, 3.0]);
    }

    #[test]
    fn comes_back_from_its_parts() {
        let csr = example();
        let (columns, values) = (csr.columns().to_vec(), csr.values().to_vec());
        assert_eq!(Csr::from_parts(&csr.lengths(), columns, values), csr);
    }

    #[test]
    fn a_part_is_a_copy_of_its_rows() {
        let part = example().part(1..3);
        assert_eq!(part.rows(), 2);
        assert_eq!(part.row(1).collect::<Vec<_>>(), [(1, 3.0)]);
    }
}
