//! Who has which vertices.

use std::ops::Range;

use anyhow::{Result, ensure};

/// Consecutive blocks of vertices, one for each rank; they differ by one at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partition {
    pub(crate) vertices: usize,
    ranks: usize,
}

impl Partition {
    /// Blocks for all ranks, none of them empty.
    pub(crate) fn new(vertices: usize, ranks: usize) -> Result<Self> {
        ensure!(ranks <= vertices, "more ranks than vertices: {ranks} ranks, {vertices} vertices");
        Ok(Self { vertices, ranks })
    }

    /// The vertices of a rank.
    pub(crate) fn of(&self, rank: usize) -> Range<usize> {
        let start = |rank| (self.vertices as u128 * rank as u128 / self.ranks as u128) as usize;
        start(rank)..start(rank + 1)
    }

    /// The rank that has a vertex.
    pub(crate) fn owner(&self, vertex: u32) -> usize {
        // The last whose block does not begin after it. Both numbers have 32 bits.
        (((u64::from(vertex) + 1) * self.ranks as u64 - 1) / self.vertices as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_belongs_to_its_owner() {
        for (vertices, ranks) in [(1, 1), (7, 7), (23, 7), (24, 5), (100, 3)] {
            let partition = Partition::new(vertices, ranks).unwrap();
            let mut all = Vec::new();
            for rank in 0..ranks {
                let own = partition.of(rank);
                assert!(!own.is_empty());
                assert!(own.clone().all(|vertex| partition.owner(vertex as u32) == rank));
                all.extend(own);
            }
            assert!(all.into_iter().eq(0..vertices));
        }
        let error = Partition::new(3, 4).unwrap_err();
        assert_eq!(error.to_string(), "more ranks than vertices: 4 ranks, 3 vertices");
    }
}
