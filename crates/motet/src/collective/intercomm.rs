//! Intercommunicator collectives as operations of plans: each one moves the data of one group to
//! the other. (MPI 4.1 §6.2.2)
//!
//! They run over the union of the groups. In a collective in which a root distributes or gathers
//! data, only the root and its far group take part, in that order, in the plan of a single group
//! whose root is in place. The own block of the root does not exist; it would lie directly before
//! its buffer, and no plan accesses it. The other ranks of the root's group do nothing. A reduction
//! to a root has its own operations, over the union.
//!
//! Both the untyped and the typed layer use this module; they differ only in how they find the
//! addresses of data.

use motet_plan::call::Blocks;
use motet_plan::{Block, Operation, Rank};

use super::args::{blocks_make, exact, holds, total};
use super::untyped::Root;
use super::{CollectiveArgs, Participants};
use crate::base::error::ErrorKind;
use crate::base::group::Group;
use crate::collective::intercommunicator::Intercommunicator;
use crate::comm::topology::Neighbour;
use crate::data::buffer::RawSlice;

type Crossed = Result<InterCall, ErrorKind>;

/// The call of one rank in a collective between two groups.
#[derive(Debug)]
pub(crate) struct InterCall {
    pub(crate) shape: CollectiveArgs,
    /// The participants, if not all ranks of the union.
    pub(crate) among: Option<Box<Participants>>,
}

/// The data of one rank: its spans and its element type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterBuffers {
    pub(crate) input: RawSlice,
    pub(crate) output: RawSlice,
    pub(crate) element_bytes: usize,
}

/// Role of a rank in a rooted collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootRole {
    Root,
    /// In the group opposite to the root; the value is the rank of the root in its own group.
    Far(usize),
    /// In the group of the root, but not the root: does nothing.
    Idle,
}

impl RootRole {
    pub(crate) fn of(inter: &Intercommunicator, root: Root) -> Result<RootRole, ErrorKind> {
        match root {
            Root::ThisRank => Ok(RootRole::Root),
            Root::ProcNull => Ok(RootRole::Idle),
            Root::Rank(root) if root < inter.remote_size() => Ok(RootRole::Far(root)),
            Root::Rank(root) => Err(ErrorKind::Root { root, size: inter.remote_size() }),
        }
    }
}

/// The rank of the root in plans of a root and its far group.
const FIRST: Rank = Rank(0);

/// Rooted collectives. Arguments that a role does not use are ignored.
impl InterCall {
    /// A broadcast. The buffer is the input of the root and the output of the far ranks.
    pub(crate) fn bcast(inter: &Intercommunicator, role: RootRole, data: RawSlice) -> Crossed {
        let operation = Operation::Bcast { count: data.len, root: FIRST };
        Ok(InterCall::with_root(inter, role, shape(operation, RawSlice::EMPTY, data)))
    }

    /// A gather. The root's output holds the inputs of the far ranks in rank order.
    pub(crate) fn gather(
        inter: &Intercommunicator,
        role: RootRole,
        sides: InterBuffers,
    ) -> Crossed {
        let operation = |count| Operation::Gather { count, root: FIRST };
        let shape = if role == RootRole::Root {
            let (output, count) = behind_a_block("output", sides.output, inter, sides)?;
            in_place(operation(count), RawSlice::EMPTY, output)
        } else {
            shape(operation(sides.input.len), sides.input, RawSlice::EMPTY)
        };
        Ok(InterCall::with_root(inter, role, shape))
    }

    /// A gatherv. The root's output has a block for the input of each far rank, of any length.
    pub(crate) fn gatherv(
        inter: &Intercommunicator,
        role: RootRole,
        InterBuffers { input, output, .. }: InterBuffers,
        blocks: &[Block],
    ) -> Crossed {
        let operation = |blocks| Operation::Gatherv { blocks, root: FIRST };
        let shape = if role == RootRole::Root {
            let blocks = after_an_empty_one("output", output, inter, blocks)?;
            in_place(operation(blocks), RawSlice::EMPTY, output)
        } else {
            shape(operation(Blocks::Own(input.len)), input, RawSlice::EMPTY)
        };
        Ok(InterCall::with_root(inter, role, shape))
    }

    /// A scatter. The root's input has one block for each far rank.
    pub(crate) fn scatter(
        inter: &Intercommunicator,
        role: RootRole,
        sides: InterBuffers,
    ) -> Crossed {
        let operation = |count| Operation::Scatter { count, root: FIRST };
        let shape = if role == RootRole::Root {
            let (input, count) = behind_a_block("input", sides.input, inter, sides)?;
            in_place(operation(count), input, RawSlice::EMPTY)
        } else {
            shape(operation(sides.output.len), RawSlice::EMPTY, sides.output)
        };
        Ok(InterCall::with_root(inter, role, shape))
    }

    /// A scatterv. The root's input has a block of any length for each far rank.
    pub(crate) fn scatterv(
        inter: &Intercommunicator,
        role: RootRole,
        InterBuffers { input, output, .. }: InterBuffers,
        blocks: &[Block],
    ) -> Crossed {
        let operation = |blocks| Operation::Scatterv { blocks, root: FIRST };
        let shape = if role == RootRole::Root {
            let blocks = after_an_empty_one("input", input, inter, blocks)?;
            in_place(operation(blocks), input, RawSlice::EMPTY)
        } else {
            shape(operation(Blocks::Own(output.len)), RawSlice::EMPTY, output)
        };
        Ok(InterCall::with_root(inter, role, shape))
    }

    /// A reduction of the inputs of the far ranks to the root.
    pub(crate) fn reduce(
        inter: &Intercommunicator,
        role: RootRole,
        InterBuffers { input, output, .. }: InterBuffers,
        commutative: bool,
    ) -> Crossed {
        let union = inter.over_both();
        let (input, output, root) = match role {
            RootRole::Root => (RawSlice::EMPTY, output, union.rank()),
            RootRole::Far(root) => (input, RawSlice::EMPTY, inter.first_far() + root),
            RootRole::Idle => return Ok(InterCall::idle()),
        };
        let (left, count) = (inter.left(), input.len.max(output.len));
        let operation =
            Operation::InterReduce { left, count, root: Rank::from_index(root), commutative };
        // All take part, but those of the root's group do not know in what.
        let (rank, group) = (union.rank(), union.group().clone());
        let all = Box::new(Participants { rank, group, passed: None });
        Ok(InterCall { shape: shape(operation, input, output), among: Some(all) })
    }

    /// The call of a rank that does nothing.
    pub(crate) fn idle() -> InterCall {
        InterCall {
            shape: CollectiveArgs::nothing(),
            among: Some(Box::new(Participants::nobody(None))),
        }
    }

    /// Makes a call among the root and then its far group.
    fn with_root(inter: &Intercommunicator, role: RootRole, shape: CollectiveArgs) -> InterCall {
        let (root, far, rank) = match role {
            RootRole::Far(root) => {
                (inter.remote_group().peer(root), inter.group(), 1 + inter.rank())
            }
            RootRole::Root => (inter.over_both().core().me(), inter.remote_group(), 0),
            RootRole::Idle => return InterCall::idle(),
        };
        let group = Group::new([root].into_iter().chain(far.peers()).collect());
        InterCall { shape, among: Some(Box::new(Participants { rank, group, passed: None })) }
    }
}

/// Collectives in which both groups send and receive.
impl InterCall {
    /// A barrier: no rank leaves before all ranks of the far group have entered.
    pub(crate) fn barrier(inter: &Intercommunicator) -> InterCall {
        over_union(Operation::InterBarrier { left: inter.left() }, RawSlice::EMPTY, RawSlice::EMPTY)
    }

    /// An allgather. The output holds one input of each far rank; the two groups may have different
    /// lengths.
    pub(crate) fn allgather(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
    ) -> Crossed {
        let count = of_each("output", output, inter)?;
        let counts = inter.in_order(input.len, count);
        let operation = Operation::InterAllgather { left: inter.left(), counts };
        Ok(over_union(operation, input, output))
    }

    /// An allgatherv. The output has a block for the input of each far rank.
    pub(crate) fn allgatherv(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
        blocks: &[Block],
    ) -> Crossed {
        one_each("blocks to receive", blocks, inter)?;
        holds("output", output.len, blocks.iter().copied())?;
        let (left, own) = (inter.left(), input.len);
        let operation = Operation::InterAllgatherv { left, own, blocks: blocks.into() };
        Ok(over_union(operation, input, output))
    }

    /// An alltoall: a block to each far rank and a block from each; the two lengths may differ.
    pub(crate) fn alltoall(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
    ) -> Crossed {
        let (to, from) = (of_each("input", input, inter)?, of_each("output", output, inter)?);
        let far = inter.remote_size();
        InterCall::alltoallv(inter, input, output, &in_line(to, far), &in_line(from, far))
    }

    /// An alltoallv: a block to each far rank and a block from each, of any lengths.
    pub(crate) fn alltoallv(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
        to: &[Block],
        from: &[Block],
    ) -> Crossed {
        one_each("blocks to send", to, inter)?;
        one_each("blocks to receive", from, inter)?;
        let first = inter.first_far();
        let neighbour = |(at, &Block { start, count }): (usize, &Block)| Neighbour {
            rank: first + at,
            start,
            count,
        };
        let far = |blocks: &[Block]| blocks.iter().enumerate().map(neighbour).collect::<Vec<_>>();
        let union = inter.over_both();
        let shape = CollectiveArgs::exchangev(union, Some(input), output, &far(to), &far(from))?;
        Ok(InterCall { shape, among: None })
    }

    /// An allreduce: each rank gets the reduction of the inputs of the far group.
    pub(crate) fn allreduce(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
        commutative: bool,
    ) -> Crossed {
        exact("output", output.len, input.len, "the input has")?;
        let (left, count) = (inter.left(), input.len);
        Ok(over_union(Operation::InterAllreduce { left, count, commutative }, input, output))
    }

    /// A reduce-scatter of the far group's inputs, with blocks of one length in each group.
    pub(crate) fn reduce_scatter_block(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
        commutative: bool,
    ) -> Crossed {
        let (near, far) = (inter.size(), inter.remote_size());
        exact("input", input.len, output.len.saturating_mul(near), blocks_make(output.len, near))?;
        if !input.len.is_multiple_of(far) {
            let count = output.len;
            let problem =
                format!("of {count} for each of {near} ranks cannot be shared out among {far}");
            return Err(ErrorKind::Argument { which: "count", problem });
        }
        let (left, counts) = (inter.left(), inter.in_order(output.len, input.len / far));
        let operation = Operation::InterReduceScatterBlock { left, counts, commutative };
        Ok(over_union(operation, input, output))
    }

    /// A reduce-scatter of the far group's inputs, with blocks of any lengths.
    pub(crate) fn reduce_scatter(
        inter: &Intercommunicator,
        input: RawSlice,
        output: RawSlice,
        counts: &[usize],
        commutative: bool,
    ) -> Crossed {
        exact("list of counts", counts.len(), inter.size(), "the ranks of the local group are")?;
        exact("input", input.len, total(counts), "all blocks together have")?;
        exact("output", output.len, counts[inter.rank()], "the block of this rank has")?;
        let (left, counts) = (inter.left(), counts.into());
        Ok(over_union(Operation::InterReduceScatter { left, counts, commutative }, input, output))
    }
}

fn over_union(operation: Operation, input: RawSlice, output: RawSlice) -> InterCall {
    InterCall { shape: shape(operation, input, output), among: None }
}

fn shape(operation: Operation, input: RawSlice, output: RawSlice) -> CollectiveArgs {
    CollectiveArgs { operation, in_place: false, input, output }
}

fn in_place(operation: Operation, input: RawSlice, output: RawSlice) -> CollectiveArgs {
    CollectiveArgs { operation, in_place: true, input, output }
}

/// Returns the root's buffer extended to the front by a block of its own before the blocks of the
/// far ranks, and the length of a block.
fn behind_a_block(
    which: &'static str,
    RawSlice { start, len }: RawSlice,
    inter: &Intercommunicator,
    InterBuffers { element_bytes, .. }: InterBuffers,
) -> Result<(RawSlice, usize), ErrorKind> {
    let count = of_each(which, RawSlice { start, len }, inter)?;
    let start = start.wrapping_sub(count * element_bytes);
    Ok((RawSlice { start, len: len + count }, count))
}

/// Returns the blocks of the far ranks in the root's buffer, after an empty block for the root.
fn after_an_empty_one(
    which: &'static str,
    buffer: RawSlice,
    inter: &Intercommunicator,
    blocks: &[Block],
) -> Result<Blocks, ErrorKind> {
    one_each("blocks of the root", blocks, inter)?;
    holds(which, buffer.len, blocks.iter().copied())?;
    let none = [Block { start: 0, count: 0 }];
    Ok(Blocks::All(none.iter().chain(blocks).copied().collect()))
}

/// Returns the length of a block in a buffer that holds one block for each far rank.
fn of_each(
    which: &'static str,
    buffer: RawSlice,
    inter: &Intercommunicator,
) -> Result<usize, ErrorKind> {
    let far = inter.remote_size();
    let count = buffer.len / far;
    exact(which, buffer.len, count * far, blocks_make(count, far))?;
    Ok(count)
}

/// Returns contiguous blocks of one length.
fn in_line(count: usize, ranks: usize) -> Vec<Block> {
    (0..ranks).map(|rank| Block { start: rank * count, count }).collect()
}

fn one_each(
    which: &'static str,
    blocks: &[Block],
    inter: &Intercommunicator,
) -> Result<(), ErrorKind> {
    let (len, ranks) = (blocks.len(), inter.remote_size());
    if len == ranks {
        return Ok(());
    }
    let problem = format!("are {len}, but the remote group has {ranks} ranks");
    Err(ErrorKind::Argument { which, problem })
}
