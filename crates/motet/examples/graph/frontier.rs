//! How the vertices that a search has found reach the ranks that have them.

use std::time::{Duration, Instant};

use anyhow::Result;
use motet::{Block, Communicator, Sum};

use crate::options::GraphExchange;

/// A vertex that was found, and the vertex that it was found from.
pub(crate) type Found = [u32; 2];

/// What the exchanges of a search have cost this rank.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// The time in exchanges and sums.
    pub(crate) time: Duration,
    /// Messages to other ranks that had something in them.
    pub(crate) messages: u64,
}

/// Brings what was found to its ranks.
pub(crate) struct Frontier<'w> {
    world: &'w Communicator,
    exchange: GraphExchange,
    /// What goes to each rank.
    pub(crate) outgoing: Vec<Vec<Found>>,
    pub(crate) cost: Cost,
}

impl<'w> Frontier<'w> {
    /// Nothing is found yet.
    pub(crate) fn new(world: &'w Communicator, exchange: GraphExchange) -> Self {
        let outgoing = vec![Vec::new(); world.size()];
        Self { world, exchange, outgoing, cost: Cost::default() }
    }

    /// Sends what is outgoing, and returns what has come. Collective.
    pub(crate) fn exchange(&mut self) -> Result<Vec<Vec<Found>>> {
        let begin = Instant::now();
        let full = self.outgoing.iter().filter(|found| !found.is_empty());
        self.cost.messages += full.count() as u64;
        let came = match self.exchange {
            GraphExchange::Sparse => self.sparse(),
            GraphExchange::Dense => self.dense(),
        }?;
        self.outgoing.iter_mut().for_each(Vec::clear);
        self.cost.time += begin.elapsed();
        Ok(came)
    }

    /// Only ranks that have something for each other exchange messages.
    fn sparse(&self) -> Result<Vec<Vec<Found>>> {
        let messages = self.outgoing.iter().enumerate().filter(|(_, found)| !found.is_empty());
        let messages = messages.map(|(rank, found)| (rank, &found[..]));
        let came = self.world.sparse_exchange(messages)?;
        Ok(came.into_iter().map(|(_, found)| found).collect())
    }

    /// Everybody tells everybody how much there is, and sends it.
    fn dense(&self) -> Result<Vec<Vec<Found>>> {
        let counts: Vec<_> = self.outgoing.iter().map(Vec::len).collect();
        let mut coming = vec![0; counts.len()];
        self.world.alltoall(&counts, &mut coming)?;
        let (to, from) = (blocks(&counts), blocks(&coming));
        let mut came = vec![[0; 2]; coming.iter().sum()];
        self.world.alltoallv(&self.outgoing.concat(), &mut came, &to, &from)?;
        Ok(vec![came])
    }

    /// The sum of a number of all ranks.
    pub(crate) fn sum(&mut self, number: usize) -> Result<usize> {
        let begin = Instant::now();
        let sum = self.world.allreduce_one(number, Sum)?;
        self.cost.time += begin.elapsed();
        Ok(sum)
    }
}

/// Blocks of these lengths, one after the other.
fn blocks(counts: &[usize]) -> Vec<Block> {
    let mut start = 0;
    let block = |&count: &usize| {
        start += count;
        Block { start: start - count, count }
    };
    counts.iter().map(block).collect()
}
