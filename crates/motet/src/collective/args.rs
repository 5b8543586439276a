//! Converts the arguments of a collective to the operation of a plan, and checks their lengths.

use std::fmt::{self, Display};
use std::sync::Arc;

use motet_plan::call::Blocks;
use motet_plan::{Block, Operation, Rank};

use crate::base::error::ErrorKind;
use crate::comm::communicator::Communicator;
use crate::comm::topology::Neighbour;
use crate::data::buffer::RawSlice;

type ArgsResult = Result<CollectiveArgs, ErrorKind>;

/// The operation that the arguments describe, and the spans of its data.
#[derive(Debug)]
pub(crate) struct CollectiveArgs {
    pub(crate) operation: Operation,
    pub(crate) in_place: bool,
    pub(crate) input: RawSlice,
    pub(crate) output: RawSlice,
}

impl CollectiveArgs {
    pub(super) fn new(
        operation: Operation,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> CollectiveArgs {
        let in_place = input.is_none();
        CollectiveArgs { operation, in_place, input: input.unwrap_or(RawSlice::EMPTY), output }
    }

    /// A call of a rank that only receives.
    fn to_output(operation: Operation, output: RawSlice) -> CollectiveArgs {
        CollectiveArgs { operation, in_place: false, input: RawSlice::EMPTY, output }
    }

    /// A call of a root that sends. In place, the buffer is its input, and there is no output.
    fn from_root(
        operation: Operation,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> CollectiveArgs {
        match input {
            Some(input) => CollectiveArgs { operation, in_place: false, input, output },
            None => {
                CollectiveArgs { operation, in_place: true, input: output, output: RawSlice::EMPTY }
            }
        }
    }

    pub(crate) fn is_barrier(&self) -> bool {
        matches!(self.operation, Operation::Barrier | Operation::InterBarrier { .. })
    }

    /// The call of a rank that does nothing.
    pub(crate) fn nothing() -> CollectiveArgs {
        let operation = Operation::Exchange { count: 0, to: [].into(), from: [].into() };
        CollectiveArgs {
            operation,
            in_place: false,
            input: RawSlice::EMPTY,
            output: RawSlice::EMPTY,
        }
    }

    /// A barrier: no rank leaves before all have entered.
    pub(crate) fn barrier() -> CollectiveArgs {
        CollectiveArgs {
            operation: Operation::Barrier,
            in_place: false,
            input: RawSlice::EMPTY,
            output: RawSlice::EMPTY,
        }
    }

    /// A broadcast. One buffer: input at the root, output at the other ranks.
    pub(crate) fn bcast(among: &impl RankSet, output: RawSlice, root: usize) -> ArgsResult {
        let root = among.root(root)?;
        let operation = Operation::Bcast { count: output.len, root };
        Ok(CollectiveArgs { operation, in_place: false, input: RawSlice::EMPTY, output })
    }

    /// A reduction to a root. Only the root has an output; with a single buffer, that of the other
    /// ranks is their input.
    pub(crate) fn reduce(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        root: usize,
        commutative: bool,
    ) -> ArgsResult {
        let root = among.root(root)?;
        let operation = |count| Operation::Reduce { count, root, commutative };
        if root.index() != among.rank() {
            let input = input.unwrap_or(output);
            return Ok(CollectiveArgs::new(operation(input.len), Some(input), RawSlice::EMPTY));
        }
        let count = input.map_or(output.len, |input| input.len);
        exact("output", output.len, count, "the input at the root has")?;
        Ok(CollectiveArgs::new(operation(count), input, output))
    }

    /// An allreduce. Input and output have one length.
    pub(crate) fn allreduce(
        input: Option<RawSlice>,
        output: RawSlice,
        commutative: bool,
    ) -> ArgsResult {
        let count = input.map_or(output.len, |input| input.len);
        exact("output", output.len, count, "the input has")?;
        Ok(CollectiveArgs::new(Operation::Allreduce { count, commutative }, input, output))
    }

    /// An allgather. The output holds one input of each rank.
    pub(crate) fn allgather(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> ArgsResult {
        let ranks = among.size();
        let count = input.map_or(output.len / ranks, |input| input.len);
        exact("output", output.len, count.saturating_mul(ranks), blocks_make(count, ranks))?;
        Ok(CollectiveArgs::new(Operation::Allgather { count }, input, output))
    }

    /// An allgatherv. The output has a block for each rank's input.
    pub(crate) fn allgatherv(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        blocks: &[Block],
    ) -> ArgsResult {
        if let (Some(input), Some(own)) = (input, blocks.get(among.rank())) {
            exact("input", input.len, own.count, "the block of this rank has")?;
        }
        holds("output", output.len, blocks.iter().copied())?;
        let operation = Operation::Allgatherv { blocks: blocks.into() };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// A gather. The root's output holds the inputs of all ranks in rank order.
    pub(crate) fn gather(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        root: usize,
    ) -> ArgsResult {
        let (root, ranks) = (among.root(root)?, among.size());
        if root.index() != among.rank() {
            let input = input.unwrap_or(output);
            let operation = Operation::Gather { count: input.len, root };
            return Ok(CollectiveArgs::new(operation, Some(input), RawSlice::EMPTY));
        }
        let count = input.map_or(output.len / ranks, |input| input.len);
        exact("output", output.len, count.saturating_mul(ranks), blocks_make(count, ranks))?;
        Ok(CollectiveArgs::new(Operation::Gather { count, root }, input, output))
    }

    /// A gatherv. The root's output has a block for each rank's input; only the root knows the
    /// blocks.
    pub(crate) fn gatherv(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        blocks: &[Block],
        root: usize,
    ) -> ArgsResult {
        let root = among.root(root)?;
        if root.index() != among.rank() {
            let input = input.unwrap_or(output);
            let operation = Operation::Gatherv { blocks: Blocks::Own(input.len), root };
            return Ok(CollectiveArgs::new(operation, Some(input), RawSlice::EMPTY));
        }
        if let (Some(input), Some(own)) = (input, blocks.get(among.rank())) {
            exact("input", input.len, own.count, "the block of the root has")?;
        }
        holds("output", output.len, blocks.iter().copied())?;
        let operation = Operation::Gatherv { blocks: Blocks::All(blocks.into()), root };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// A scatter. The root's input has one block for each rank. With a single buffer, the root's
    /// buffer is its input, in which its own block stays.
    pub(crate) fn scatter(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        root: usize,
    ) -> ArgsResult {
        let (root, ranks) = (among.root(root)?, among.size());
        if root.index() != among.rank() {
            return Ok(CollectiveArgs::to_output(
                Operation::Scatter { count: output.len, root },
                output,
            ));
        }
        let given = input.unwrap_or(output);
        let count = if input.is_some() { output.len } else { given.len / ranks };
        exact("input", given.len, count.saturating_mul(ranks), blocks_make(count, ranks))?;
        Ok(CollectiveArgs::from_root(Operation::Scatter { count, root }, input, output))
    }

    /// A scatterv. The root's input has blocks of any lengths, which only the root knows.
    pub(crate) fn scatterv(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        blocks: &[Block],
        root: usize,
    ) -> ArgsResult {
        let root = among.root(root)?;
        if root.index() != among.rank() {
            let operation = Operation::Scatterv { blocks: Blocks::Own(output.len), root };
            return Ok(CollectiveArgs::to_output(operation, output));
        }
        let given = input.unwrap_or(output);
        if let (true, Some(own)) = (input.is_some(), blocks.get(among.rank())) {
            exact("output", output.len, own.count, "the block of the root has")?;
        }
        holds("input", given.len, blocks.iter().copied())?;
        let operation = Operation::Scatterv { blocks: Blocks::All(blocks.into()), root };
        Ok(CollectiveArgs::from_root(operation, input, output))
    }

    /// An alltoall: a block to each rank and a block from each rank.
    pub(crate) fn alltoall(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> ArgsResult {
        let ranks = among.size();
        let count = output.len / ranks;
        exact("output", output.len, count.saturating_mul(ranks), blocks_make(count, ranks))?;
        if let Some(input) = input {
            exact("input", input.len, output.len, "the output has")?;
        }
        Ok(CollectiveArgs::new(Operation::Alltoall { count }, input, output))
    }

    /// An alltoallv: a block to each rank and a block from each rank, of any lengths. In place,
    /// both are the blocks of `from`.
    pub(crate) fn alltoallv(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        to: &[Block],
        from: &[Block],
    ) -> ArgsResult {
        for (which, list) in [("list of blocks to send", to), ("list of blocks to receive", from)] {
            exact(which, list.len(), among.size(), "the ranks that take part are")?;
        }
        holds("input", input.unwrap_or(output).len, to.iter().copied())?;
        holds("output", output.len, from.iter().copied())?;
        let from: Arc<[Block]> = from.into();
        let to = if input.is_some() { to.into() } else { from.clone() };
        Ok(CollectiveArgs::new(Operation::Alltoallv { to, from }, input, output))
    }

    /// A reduce-scatter with blocks of one length.
    pub(crate) fn reduce_scatter_block(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        commutative: bool,
    ) -> ArgsResult {
        let ranks = among.size();
        let given = input.unwrap_or(output);
        let count = if input.is_some() { output.len } else { given.len / ranks };
        exact("input", given.len, count.saturating_mul(ranks), blocks_make(count, ranks))?;
        let operation = Operation::ReduceScatterBlock { count, commutative };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// A reduce-scatter with blocks of any lengths.
    pub(crate) fn reduce_scatter(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        counts: &[usize],
        commutative: bool,
    ) -> ArgsResult {
        exact("list of counts", counts.len(), among.size(), "the ranks that take part are")?;
        let given = input.unwrap_or(output);
        exact("input", given.len, total(counts), "all blocks together have")?;
        if input.is_some() {
            exact("output", output.len, counts[among.rank()], "the block of this rank has")?;
        }
        let operation = Operation::ReduceScatter { counts: counts.into(), commutative };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// A scan: the reduction of the inputs of the ranks up to this one, with or without its own.
    pub(crate) fn scan(
        input: Option<RawSlice>,
        output: RawSlice,
        commutative: bool,
        including: ScanKind,
    ) -> ArgsResult {
        let count = input.map_or(output.len, |input| input.len);
        exact("output", output.len, count, "the input has")?;
        let operation = match including {
            ScanKind::This => Operation::Scan { count, commutative },
            ScanKind::Before => Operation::Exscan { count, commutative },
        };
        Ok(CollectiveArgs::new(operation, input, output))
    }

    /// An exchange: blocks of any lengths to the destinations and from the sources.
    pub(crate) fn exchangev(
        among: &impl RankSet,
        input: Option<RawSlice>,
        output: RawSlice,
        to: &[Neighbour],
        from: &[Neighbour],
    ) -> ArgsResult {
        let given = input.unwrap_or(RawSlice::EMPTY);
        let block = |each: &Neighbour| Block { start: each.start, count: each.count };
        holds("input", given.len, to.iter().map(block))?;
        holds("output", output.len, from.iter().map(block))?;
        let operation =
            Operation::Exchangev { to: among.neighbours(to)?, from: among.neighbours(from)? };
        Ok(CollectiveArgs::new(operation, input, output))
    }
}

/// The ranks whose inputs a scan combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanKind {
    /// The lower ranks and this one: an inclusive scan.
    This,
    /// The lower ranks: an exclusive scan.
    Before,
}

/// Describes the total of one block of a length for each rank; formatted only for an error.
pub(super) fn blocks_make(count: usize, ranks: usize) -> impl Display {
    fmt::from_fn(move |out| write!(out, "one block of {count} for each of {ranks} ranks makes"))
}

/// The ranks of a plan, which include the caller.
pub(crate) trait RankSet {
    /// Returns the rank of the caller.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    fn rank_in(&self, what: &'static str, rank: usize) -> Result<Rank, ErrorKind> {
        let size = self.size();
        if rank >= size {
            return Err(ErrorKind::Rank { what, rank, size });
        }
        Ok(Rank::from_index(rank))
    }

    fn root(&self, root: usize) -> Result<Rank, ErrorKind> {
        let size = self.size();
        if root >= size {
            return Err(ErrorKind::Root { root, size });
        }
        Ok(Rank::from_index(root))
    }

    fn ranks<'a>(&self, ranks: impl Iterator<Item = &'a usize>) -> Result<Vec<Rank>, ErrorKind> {
        ranks.map(|&rank| self.rank_in("neighbour", rank)).collect()
    }

    fn neighbours(&self, list: &[Neighbour]) -> Result<Arc<[motet_plan::Neighbour]>, ErrorKind> {
        let translate = |each: &Neighbour| {
            let rank = self.rank_in("neighbour", each.rank)?;
            Ok(motet_plan::Neighbour { rank, start: each.start, count: each.count })
        };
        list.iter().map(translate).collect()
    }
}

/// The rank of the caller and the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankOf {
    pub(crate) rank: usize,
    pub(crate) size: usize,
}

impl RankSet for RankOf {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl RankSet for Communicator {
    fn rank(&self) -> usize {
        self.rank()
    }

    fn size(&self) -> usize {
        self.size()
    }
}

/// Checks that a buffer has exactly this length.
pub(super) fn exact(
    which: &'static str,
    len: usize,
    needed: usize,
    what: impl Display,
) -> Result<(), ErrorKind> {
    if len == needed {
        return Ok(());
    }
    Err(ErrorKind::Length { which, len, needed: format!("{what} {needed}") })
}

/// Returns the number of elements of all blocks. Saturates on overflow: no buffer has that length.
pub(super) fn total(counts: &[usize]) -> usize {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

/// Checks that a buffer holds all these blocks.
pub(super) fn holds(
    which: &'static str,
    len: usize,
    blocks: impl Iterator<Item = Block>,
) -> Result<(), ErrorKind> {
    for Block { start, count } in blocks.filter(|block| block.count > 0) {
        if start > len || count > len - start {
            let needed = format!("a block of {count} is to start at element {start}");
            return Err(ErrorKind::Length { which, len, needed });
        }
    }
    Ok(())
}
