//! From the arguments of a collective to the operation of a plan: lengths are checked here.

use motet_plan::{Block, Operation, Rank};

use super::Neighbour;
use crate::buffer::Span;
use crate::communicator::Communicator;
use crate::error::ErrorKind;

type Shaped = Result<Shape, ErrorKind>;

/// The operation that the arguments describe, and where its data lies.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) operation: Operation,
    pub(crate) in_place: bool,
    pub(crate) input: Span,
    pub(crate) output: Span,
}

impl Shape {
    fn new(operation: Operation, input: Option<Span>, output: Span) -> Shape {
        let in_place = input.is_none();
        Shape { operation, in_place, input: input.unwrap_or(Span::EMPTY), output }
    }

    pub(crate) fn is_barrier(&self) -> bool {
        matches!(self.operation, Operation::Barrier)
    }

    /// Nobody leaves before all have entered.
    pub(crate) fn barrier() -> Shape {
        Shape {
            operation: Operation::Barrier,
            in_place: false,
            input: Span::EMPTY,
            output: Span::EMPTY,
        }
    }

    /// One buffer: the root's data, everybody's result.
    pub(crate) fn bcast(comm: &Communicator, output: Span, root: usize) -> Shaped {
        let root = comm.root(root)?;
        let operation = Operation::Bcast { count: output.len, root };
        Ok(Shape { operation, in_place: false, input: Span::EMPTY, output })
    }

    /// Only the root has an output; with a single buffer that of the others is their input.
    pub(crate) fn reduce(
        comm: &Communicator,
        input: Option<Span>,
        output: Span,
        root: usize,
        commutative: bool,
    ) -> Shaped {
        let root = comm.root(root)?;
        let operation = |count| Operation::Reduce { count, root, commutative };
        if root.index() != comm.rank() {
            let input = input.unwrap_or(output);
            return Ok(Shape::new(operation(input.len), Some(input), Span::EMPTY));
        }
        let count = input.map_or(output.len, |input| input.len);
        exact("output", output.len, count, "the input at the root has")?;
        Ok(Shape::new(operation(count), input, output))
    }

    /// Input and output of one length.
    pub(crate) fn allreduce(input: Option<Span>, output: Span, commutative: bool) -> Shaped {
        let count = input.map_or(output.len, |input| input.len);
        exact("output", output.len, count, "the input has")?;
        Ok(Shape::new(Operation::Allreduce { count, commutative }, input, output))
    }

    /// An output that holds one input of each rank.
    pub(crate) fn allgather(comm: &Communicator, input: Option<Span>, output: Span) -> Shaped {
        let ranks = comm.size();
        let count = input.map_or(output.len / ranks, |input| input.len);
        let what = format!("one block of {count} for each of {ranks} ranks makes");
        exact("output", output.len, count * ranks, &what)?;
        Ok(Shape::new(Operation::Allgather { count }, input, output))
    }

    /// An output with a place for each rank's input.
    pub(crate) fn allgatherv(
        comm: &Communicator,
        input: Option<Span>,
        output: Span,
        blocks: &[Block],
    ) -> Shaped {
        if let (Some(input), Some(own)) = (input, blocks.get(comm.rank())) {
            exact("input", input.len, own.count, "the block of this rank has")?;
        }
        holds("output", output.len, blocks.iter().copied())?;
        let operation = Operation::Allgatherv { blocks: blocks.into() };
        Ok(Shape::new(operation, input, output))
    }

    /// Blocks of one length to some ranks and from some ranks.
    pub(crate) fn exchange(
        comm: &Communicator,
        input: Option<Span>,
        output: Span,
        to: &[usize],
        from: &[usize],
    ) -> Shaped {
        let given = input.unwrap_or(Span::EMPTY);
        let count = match (to.len(), from.len()) {
            (0, 0) => 0,
            (0, sources) => output.len / sources,
            (destinations, _) => given.len / destinations,
        };
        let what = |of: usize| format!("one block of {count} for each of {of} ranks makes");
        exact("input", given.len, count * to.len(), &what(to.len()))?;
        exact("output", output.len, count * from.len(), &what(from.len()))?;
        let (to, from) = (comm.ranks(to.iter())?, comm.ranks(from.iter())?);
        let operation = Operation::Exchange { count, to: to.into(), from: from.into() };
        Ok(Shape::new(operation, input, output))
    }

    /// Blocks of any length to some ranks and from some ranks.
    pub(crate) fn exchangev(
        comm: &Communicator,
        input: Option<Span>,
        output: Span,
        to: &[Neighbour],
        from: &[Neighbour],
    ) -> Shaped {
        let given = input.unwrap_or(Span::EMPTY);
        let block = |each: &Neighbour| Block { start: each.start, count: each.count };
        holds("input", given.len, to.iter().map(block))?;
        holds("output", output.len, from.iter().map(block))?;
        let operation =
            Operation::Exchangev { to: comm.neighbours(to)?, from: comm.neighbours(from)? };
        Ok(Shape::new(operation, input, output))
    }
}

impl Communicator {
    fn rank_in(&self, what: &'static str, rank: usize) -> Result<Rank, ErrorKind> {
        let size = self.size();
        if rank >= size {
            return Err(ErrorKind::Rank { what, rank, size });
        }
        Ok(Rank::from_index(rank))
    }

    fn root(&self, root: usize) -> Result<Rank, ErrorKind> {
        self.rank_in("root", root)
    }

    fn ranks<'a>(&self, ranks: impl Iterator<Item = &'a usize>) -> Result<Vec<Rank>, ErrorKind> {
        ranks.map(|&rank| self.rank_in("neighbour", rank)).collect()
    }

    fn neighbours(
        &self,
        list: &[Neighbour],
    ) -> Result<std::sync::Arc<[motet_plan::Neighbour]>, ErrorKind> {
        let translate = |each: &Neighbour| {
            let rank = self.rank_in("neighbour", each.rank)?;
            Ok(motet_plan::Neighbour { rank, start: each.start, count: each.count })
        };
        list.iter().map(translate).collect()
    }
}

/// A buffer must have just this length.
fn exact(which: &'static str, len: usize, needed: usize, what: &str) -> Result<(), ErrorKind> {
    if len == needed {
        return Ok(());
    }
    Err(ErrorKind::Length { which, len, needed: format!("{what} {needed}") })
}

/// A buffer must hold all these blocks.
fn holds(
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
