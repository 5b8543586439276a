//! Converts the arguments of a sparse collective to the operation of a plan.

use motet_plan::{Block, Operation, Rank};

use super::Neighbours;
use crate::base::error::ErrorKind;
use crate::collective::args::{CollectiveArgs, blocks_make, exact, holds};
use crate::comm::communicator::Communicator;
use crate::data::buffer::RawSlice;

type Shaped = Result<CollectiveArgs, ErrorKind>;

impl CollectiveArgs {
    /// Blocks of one length to the destinations and from the sources.
    pub(crate) fn exchange(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_>,
        from: Neighbours<'_>,
    ) -> Shaped {
        let (to, from) = (to.ranks(comm)?, from.ranks(comm)?);
        let given = input.unwrap_or(RawSlice::EMPTY);
        let count = match (to.len(), from.len()) {
            (0, 0) => 0,
            (0, sources) => output.len / sources,
            (destinations, _) => given.len / destinations,
        };
        exact("input", given.len, count * to.len(), blocks_make(count, to.len()))?;
        exact("output", output.len, count * from.len(), blocks_make(count, from.len()))?;
        let operation = Operation::Exchange { count, to: to.into(), from: from.into() };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// Blocks of any lengths to the destinations and from the sources.
    pub(crate) fn exchange_blocks(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_, Block>,
        from: Neighbours<'_, Block>,
    ) -> Shaped {
        CollectiveArgs::exchange_of(input, output, to.blocks(comm)?, from.blocks(comm)?)
    }

    /// One block to all destinations, and a block of the same length from each source.
    pub(crate) fn neighbor_bcast(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_>,
        from: Neighbours<'_>,
    ) -> Shaped {
        let (to, from) = (to.ranks(comm)?, from.ranks(comm)?);
        let given = input.unwrap_or(RawSlice::EMPTY);
        let count = match (to.len(), from.len()) {
            (0, 0) => 0,
            (0, sources) => output.len / sources,
            (_, _) => given.len,
        };
        exact("output", output.len, count * from.len(), blocks_make(count, from.len()))?;
        let whole = to.into_iter().map(|rank| neighbour(rank, 0, count));
        let place = |(index, rank)| neighbour(rank, index * count, count);
        let from = from.into_iter().enumerate().map(place).collect();
        CollectiveArgs::exchange_of(input, output, whole.collect(), from)
    }

    /// One block to all destinations, and a block of any length from each source.
    pub(crate) fn neighbor_bcast_blocks(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_>,
        from: Neighbours<'_, Block>,
    ) -> Shaped {
        let count = input.unwrap_or(RawSlice::EMPTY).len;
        let to = to.ranks(comm)?.into_iter().map(|rank| neighbour(rank, 0, count)).collect();
        CollectiveArgs::exchange_of(input, output, to, from.blocks(comm)?)
    }

    /// A block of one length to each destination, and the reduction of one block from each source.
    pub(crate) fn neighbor_reduce(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_>,
        from: Neighbours<'_>,
        commutative: bool,
    ) -> Shaped {
        let (to, from) = (to.ranks(comm)?, from.ranks(comm)?);
        let given = input.unwrap_or(RawSlice::EMPTY);
        // Without sources the output is not touched, and may have any length.
        let count = match from.len() {
            0 => given.len / to.len().max(1),
            _ => output.len,
        };
        exact("input", given.len, count * to.len(), blocks_make(count, to.len()))?;
        let place = |(index, rank)| neighbour(rank, index * count, count);
        let to = to.into_iter().enumerate().map(place).collect();
        CollectiveArgs::reduction_of(input, output, to, from, commutative)
    }

    /// A block of any length to each destination, and the reduction of one block from each source.
    pub(crate) fn neighbor_reduce_blocks(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_, Block>,
        from: Neighbours<'_>,
        commutative: bool,
    ) -> Shaped {
        CollectiveArgs::reduction_of(
            input,
            output,
            to.blocks(comm)?,
            from.ranks(comm)?,
            commutative,
        )
    }

    /// One block to all destinations, and the reduction of one block from each source.
    pub(crate) fn neighbor_allreduce(
        comm: &Communicator,
        input: Option<RawSlice>,
        output: RawSlice,
        to: Neighbours<'_>,
        from: Neighbours<'_>,
        commutative: bool,
    ) -> Shaped {
        let (to, from) = (to.ranks(comm)?, from.ranks(comm)?);
        let count = match from.len() {
            0 => input.unwrap_or(RawSlice::EMPTY).len,
            _ => output.len,
        };
        let to = to.into_iter().map(|rank| neighbour(rank, 0, count)).collect();
        CollectiveArgs::reduction_of(input, output, to, from, commutative)
    }

    /// Makes a reduction, after checking that its blocks lie in the input.
    pub(crate) fn reduction_of(
        input: Option<RawSlice>,
        output: RawSlice,
        to: Vec<motet_plan::Neighbour>,
        from: Vec<Rank>,
        commutative: bool,
    ) -> Shaped {
        let given = input.unwrap_or(RawSlice::EMPTY);
        holds("input", given.len, to.iter().map(motet_plan::Neighbour::block))?;
        let (count, to, from) = (output.len, to.into(), from.into());
        let operation = Operation::NeighborReduce { count, to, from, commutative };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// Makes an exchange, after checking that its blocks lie in the buffers.
    fn exchange_of(
        input: Option<RawSlice>,
        output: RawSlice,
        to: Vec<motet_plan::Neighbour>,
        from: Vec<motet_plan::Neighbour>,
    ) -> Shaped {
        let given = input.unwrap_or(RawSlice::EMPTY);
        holds("input", given.len, to.iter().map(motet_plan::Neighbour::block))?;
        holds("output", output.len, from.iter().map(motet_plan::Neighbour::block))?;
        let operation = Operation::Exchangev { to: to.into(), from: from.into() };
        Ok(CollectiveArgs::new(operation, input, output))
    }
}

fn neighbour(rank: Rank, start: usize, count: usize) -> motet_plan::Neighbour {
    motet_plan::Neighbour { rank, start, count }
}
