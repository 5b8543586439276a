//! Who owns which rows.

use std::ops::Range;

use anyhow::{Result, ensure};

/// Consecutive blocks of rows, one for each rank and none empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partition {
    /// The first row of each rank, and after the last the number of rows.
    starts: Vec<usize>,
}

impl Partition {
    /// Blocks of almost the same number of rows.
    pub(crate) fn by_rows(rows: usize, ranks: usize) -> Result<Self> {
        ensure_rows_for_all(rows, ranks)?;
        let start = |rank| (rows as u128 * rank as u128 / ranks as u128) as usize;
        Ok(Self { starts: (0..=ranks).map(start).collect() })
    }

    /// Blocks of almost the same number of stored entries: those are the work of a
    /// multiplication. The entries of row `i` are numbers `entries[i]..entries[i + 1]`.
    pub(crate) fn by_entries(entries: &[usize], ranks: usize) -> Result<Self> {
        let rows = entries.len() - 1;
        ensure_rows_for_all(rows, ranks)?;
        let mut starts = vec![0];
        for rank in 1..ranks {
            let share = (entries[rows] as u128 * rank as u128 / ranks as u128) as usize;
            let start = entries.partition_point(|&before| before < share);
            // One row at least for the rank before and for all that follow.
            starts.push(start.clamp(starts[rank - 1] + 1, rows - (ranks - rank)));
        }
        starts.push(rows);
        Ok(Self { starts })
    }

    /// What [`starts`](Self::starts) has told another rank.
    pub(crate) fn from_starts(starts: Vec<usize>) -> Self {
        Self { starts }
    }

    /// The first row of each rank, and after the last the number of rows.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The number of rows of all ranks.
    pub(crate) fn rows(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The rows of a rank.
    pub(crate) fn rows_of(&self, rank: usize) -> Range<usize> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// The rank that owns a row.
    pub(crate) fn owner(&self, row: usize) -> usize {
        self.starts.partition_point(|&start| start <= row) - 1
    }
}

fn ensure_rows_for_all(rows: usize, ranks: usize) -> Result<()> {
    ensure!(rows >= ranks, "more ranks than rows: {ranks} ranks, {rows} rows");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_evenly() {
        let partition = Partition::by_rows(10, 4).unwrap();
        assert_eq!(partition.starts(), [0, 2, 5, 7, 10]);
    }

    #[test]
    fn entries_are_shared_evenly() {
        let partition = Partition::by_entries(&[0, 6, 7, 8, 9, 10, 12], 2).unwrap();
        assert_eq!(partition.starts(), [0, 1, 6]);
    }

    #[test]
    fn no_rank_is_left_without_rows() {
        let heavy_last = Partition::by_entries(&[0, 1, 2, 3, 100], 4).unwrap();
        assert_eq!(heavy_last.starts(), [0, 1, 2, 3, 4]);
        let heavy_first = Partition::by_entries(&[0, 97, 98, 99, 100], 4).unwrap();
        assert_eq!(heavy_first.starts(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn every_row_belongs_to_its_owner() {
        let partition = Partition::by_rows(23, 7).unwrap();
        for row in 0..23 {
            assert!(partition.rows_of(partition.owner(row)).contains(&row));
        }
    }

    #[test]
    fn more_ranks_than_rows_is_an_error() {
        let error = Partition::by_rows(3, 4).unwrap_err();
        assert_eq!(error.to_string(), "more ranks than rows: 4 ranks, 3 rows");
        assert!(Partition::by_entries(&[0, 1], 2).is_err());
    }
}
