//! The specification: the result of each collective, element by element, as the standard defines
//! it.
//!
//! [`expected`] takes the calls of all ranks and returns the value of each element of each output
//! at the end. It does not use plans, and shares no code with the algorithms, so it does not share
//! their mistakes. A barrier has no output: the [verifier](crate::verify()) checks that no rank
//! leaves it before every rank has entered.

mod nodes;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use crate::call::{Block, Blocks, Call, CallError, Neighbour, Operation, Rank};

/// What an element of an output must be at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// An element of what a rank contributed.
    Contribution {
        /// The rank.
        rank: Rank,
        /// The position in its [contribution](Call::contribution).
        index: usize,
    },
    /// The reduction of the elements at this position of the contributions of a run of ranks:
    /// `a0 ∘ a1 ∘ …` in rank order, in any order if the operator commutes. In an allreduce the same
    /// expression at every rank or, between two groups, at every rank of a group.
    Reduction {
        /// The first of them.
        first: Rank,
        /// How many ranks.
        ranks: u32,
        /// The position in the contributions.
        index: usize,
    },
    /// The reduction of these elements, each of the contribution of a rank: in this order, or in
    /// any if the operator commutes.
    Combination {
        /// The ranks, and positions in their contributions.
        operands: Arc<[(Rank, usize)]>,
    },
    /// As before the call, and not written in between.
    Unchanged,
    /// Whatever is left there: what lies behind the result of a reduce-scatter in place.
    Undefined,
}

/// Why calls are not those of one collective.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A call is wrong in itself.
    #[error("rank {rank}: {error}")]
    Call {
        /// Whose call.
        rank: Rank,
        /// What is wrong.
        error: CallError,
    },
    /// Call `i` must be that of rank `i`, and there must be one for each rank.
    #[error("call {index} of {calls} is that of rank {rank} of {ranks}")]
    Ranks {
        /// Position of the call.
        index: usize,
        /// How many calls there are.
        calls: usize,
        /// The rank in the call.
        rank: Rank,
        /// The number of ranks in the call.
        ranks: u32,
    },
    /// A rank differs from rank 0 in what must be equal on all ranks.
    #[error("rank {rank} and rank 0 differ in the {what}")]
    Differ {
        /// The rank.
        rank: Rank,
        /// In what it differs.
        what: &'static str,
    },
    /// A rank differs from the first one of its group in what must be equal in a group.
    #[error("rank {rank} and rank {first}, the first of its group, differ in the {what}")]
    DifferInGroup {
        /// The rank.
        rank: Rank,
        /// The first rank of its group.
        first: Rank,
        /// In what it differs.
        what: &'static str,
    },
    /// Two ranks know different things of a node, or of what passes between them.
    #[error("ranks {first} and {rank} know different {what}")]
    Knowledge {
        /// One rank.
        first: Rank,
        /// The other.
        rank: Rank,
        /// Of what.
        what: &'static str,
    },
    /// What one rank sends to another is not what that one receives from it.
    #[error("rank {from} sends blocks of {sent:?} to rank {to}, which receives {received:?}")]
    Exchange {
        /// Source.
        from: Rank,
        /// Destination.
        to: Rank,
        /// Lengths of the blocks at the source, in order.
        sent: Vec<usize>,
        /// Lengths of the blocks at the destination, in order.
        received: Vec<usize>,
    },
}

/// What each element of each rank's output must be at the end. `calls` holds one call for each
/// rank, in rank order.
///
/// # Errors
/// If the calls are not those of one collective.
pub fn expected(calls: &[Call]) -> Result<Vec<Vec<Expected>>, SpecError> {
    agree(calls)?;
    let mut outputs = moved(calls)?;
    for (call, output) in calls.iter().zip(&mut outputs) {
        reduced(call, output);
        combined(calls, call, output);
    }
    Ok(outputs)
}

/// The outputs of all that is moved from rank to rank as it is: the k-th block from one rank to
/// another in the order of the list of the source is the k-th in the order of the list of the
/// destination.
fn moved(calls: &[Call]) -> Result<Vec<Vec<Expected>>, SpecError> {
    let mut sent: BTreeMap<(Rank, Rank), Vec<Block>> = BTreeMap::new();
    let mut received = sent.clone();
    for call in calls {
        for other in others(call, sent_by(call)) {
            sent.entry((call.rank, other.rank)).or_default().push(other.block());
        }
        for other in others(call, received_by(call)) {
            received.entry((other.rank, call.rank)).or_default().push(other.block());
        }
    }
    let mut outputs: Vec<_> =
        calls.iter().map(|call| vec![Expected::Unchanged; call.output_len()]).collect();
    for &(from, to) in sent.keys().chain(received.keys()) {
        let blocks =
            |lists: &BTreeMap<_, Vec<Block>>| lists.get(&(from, to)).cloned().unwrap_or_default();
        let (sent, received) = (blocks(&sent), blocks(&received));
        let lengths = |blocks: &[Block]| blocks.iter().map(|block| block.count).collect::<Vec<_>>();
        if lengths(&sent) != lengths(&received) {
            let (sent, received) = (lengths(&sent), lengths(&received));
            return Err(SpecError::Exchange { from, to, sent, received });
        }
        for (source, target) in sent.iter().zip(&received) {
            for offset in 0..target.count {
                outputs[to.index()][target.start + offset] =
                    Expected::Contribution { rank: from, index: source.start + offset };
            }
        }
    }
    Ok(outputs)
}

/// The blocks that move: in place what a rank has from itself is there already.
fn others(call: &Call, blocks: Vec<Neighbour>) -> impl Iterator<Item = Neighbour> {
    let (me, in_place) = (call.rank, call.in_place);
    blocks.into_iter().filter(move |other| !in_place || other.rank != me)
}

/// What a rank sends: to whom, and where in its contribution.
fn sent_by(call: &Call) -> Vec<Neighbour> {
    let ranks = call.ranks;
    match &call.operation {
        Operation::Bcast { count, root } if *root == call.rank => {
            (0..ranks).map(Rank).filter(|to| to != root).map(|to| whole(to, *count)).collect()
        }
        Operation::Gather { count, root } => vec![whole(*root, *count)],
        Operation::Gatherv { blocks, root } => vec![whole(*root, own(blocks, call.rank))],
        Operation::Scatter { count, root } if *root == call.rank => side_by_side(ranks, *count),
        Operation::Scatterv { blocks: Blocks::All(blocks), .. } => placed(blocks),
        Operation::Allgather { count } => (0..ranks).map(|to| whole(Rank(to), *count)).collect(),
        Operation::Allgatherv { blocks } => {
            let count = blocks[call.rank.index()].count;
            (0..ranks).map(|to| whole(Rank(to), count)).collect()
        }
        Operation::Alltoall { count } => side_by_side(ranks, *count),
        Operation::Alltoallv { to, .. } => placed(to),
        Operation::Exchange { count, to, .. } => in_order(to, *count),
        Operation::Exchangev { to, .. }
        | Operation::NodeExchange { to, .. }
        | Operation::NeighborReduce { to, .. } => to.to_vec(),
        Operation::InterAllgather { counts, .. } => {
            let own = counts[usize::from(is_right(call))];
            far(call).map(|to| whole(Rank(to), own)).collect()
        }
        Operation::InterAllgatherv { own, .. } => {
            far(call).map(|to| whole(Rank(to), *own)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a rank receives: from whom, and where in its output.
fn received_by(call: &Call) -> Vec<Neighbour> {
    match &call.operation {
        Operation::Bcast { count, root } if *root != call.rank => vec![whole(*root, *count)],
        Operation::Gather { count, root } if *root == call.rank => side_by_side(call.ranks, *count),
        Operation::Gatherv { blocks: Blocks::All(blocks), .. } => placed(blocks),
        Operation::Scatter { count, root } => vec![whole(*root, *count)],
        Operation::Scatterv { blocks, root } => vec![whole(*root, own(blocks, call.rank))],
        Operation::Allgather { count } | Operation::Alltoall { count } => {
            side_by_side(call.ranks, *count)
        }
        Operation::Allgatherv { blocks } => placed(blocks),
        Operation::Alltoallv { from, .. } => placed(from),
        Operation::Exchange { count, from, .. } => in_order(from, *count),
        Operation::Exchangev { from, .. } | Operation::NodeExchange { from, .. } => from.to_vec(),
        // All come together in one place.
        Operation::NeighborReduce { count, from, .. } => {
            from.iter().map(|rank| whole(*rank, *count)).collect()
        }
        Operation::InterAllgather { counts, .. } => {
            let sources: Vec<_> = far(call).map(Rank).collect();
            in_order(&sources, counts[usize::from(!is_right(call))])
        }
        Operation::InterAllgatherv { blocks, .. } => {
            let place = |(rank, block): (u32, &Block)| Neighbour {
                rank: Rank(rank),
                start: block.start,
                count: block.count,
            };
            far(call).zip(blocks.iter()).map(place).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a rank is in the second of two groups.
fn is_right(call: &Call) -> bool {
    call.operation.left().is_some_and(|left| call.rank.0 >= left)
}

/// The ranks of the other of two groups.
fn far(call: &Call) -> Range<u32> {
    let left = call.operation.left().unwrap_or(call.ranks);
    if is_right(call) { 0..left } else { left..call.ranks }
}

/// All there is, from or to one rank.
fn whole(rank: Rank, count: usize) -> Neighbour {
    Neighbour { rank, start: 0, count }
}

/// The own block of a gatherv or a scatterv.
fn own(blocks: &Blocks, me: Rank) -> usize {
    match blocks {
        Blocks::All(blocks) => blocks[me.index()].count,
        Blocks::Own(count) => *count,
    }
}

/// Blocks of one length, side by side, in the order of a list of ranks.
fn in_order(ranks: &[Rank], count: usize) -> Vec<Neighbour> {
    let place =
        |(index, rank): (usize, &Rank)| Neighbour { rank: *rank, start: index * count, count };
    ranks.iter().enumerate().map(place).collect()
}

/// Blocks of one length, side by side, in the order of all ranks.
fn side_by_side(ranks: u32, count: usize) -> Vec<Neighbour> {
    in_order(&(0..ranks).map(Rank).collect::<Vec<_>>(), count)
}

/// A block for each rank.
fn placed(blocks: &[Block]) -> Vec<Neighbour> {
    let place = |(rank, block): (usize, &Block)| Neighbour {
        rank: Rank::from_index(rank),
        start: block.start,
        count: block.count,
    };
    blocks.iter().enumerate().map(place).collect()
}

/// The output of one rank, where the collective reduces.
fn reduced(call: &Call, output: &mut [Expected]) {
    let me = call.rank.index();
    // Where the result begins in the contributions, and how long it is.
    let (start, count) = match &call.operation {
        // At a rank that is not the root the output is empty.
        Operation::Reduce { .. }
        | Operation::Allreduce { .. }
        | Operation::InterReduce { .. }
        | Operation::InterAllreduce { .. } => (0, output.len()),
        Operation::Scan { count, .. } => (0, *count),
        // Rank 0 has nothing before it, and its output is not touched.
        Operation::Exscan { .. } if me == 0 => return,
        Operation::Exscan { count, .. } => (0, *count),
        Operation::ReduceScatterBlock { count, .. } => (me * count, *count),
        Operation::ReduceScatter { counts, .. } => (counts[..me].iter().sum(), counts[me]),
        Operation::InterReduceScatterBlock { counts, .. } => {
            let count = counts[usize::from(is_right(call))];
            (place_in_group(call) * count, count)
        }
        Operation::InterReduceScatter { counts, .. } => {
            let place = place_in_group(call);
            (counts[..place].iter().sum(), counts[place])
        }
        _ => return,
    };
    let ranks = match &call.operation {
        Operation::Scan { .. } => 0..call.rank.0 + 1,
        Operation::Exscan { .. } => 0..call.rank.0,
        operation if operation.left().is_some() => far(call),
        _ => 0..call.ranks,
    };
    output.fill(Expected::Undefined);
    for (index, element) in output[..count].iter_mut().enumerate() {
        let (first, ranks) = (Rank(ranks.start), ranks.end - ranks.start);
        *element = Expected::Reduction { first, ranks, index: start + index };
    }
}

/// The output of one rank that has had the right number of blocks of the right lengths from each of
/// its sources, and combines them.
fn combined(calls: &[Call], call: &Call, output: &mut [Expected]) {
    let Operation::NeighborReduce { from, .. } = &call.operation else { return };
    let mut taken: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut starts = Vec::new();
    for source in from.iter() {
        let number = taken.entry(*source).or_default();
        let sent = sent_by(&calls[source.index()]);
        starts
            .extend(sent.iter().filter(|to| to.rank == call.rank).nth(*number).map(|to| to.start));
        *number += 1;
    }
    // Without a source it is unchanged.
    for (offset, element) in output.iter_mut().enumerate().filter(|_| !from.is_empty()) {
        let operand = |(source, start): (&Rank, &usize)| (*source, start + offset);
        *element =
            Expected::Combination { operands: from.iter().zip(&starts).map(operand).collect() };
    }
}

/// How many ranks of its own group are before a rank.
fn place_in_group(call: &Call) -> usize {
    let left = call.operation.left().unwrap_or(0);
    (if is_right(call) { call.rank.0 - left } else { call.rank.0 }) as usize
}

/// Checks that the calls are right one by one, and equal in what must be equal.
fn agree(calls: &[Call]) -> Result<(), SpecError> {
    for (index, call) in calls.iter().enumerate() {
        let (rank, ranks) = (call.rank, call.ranks);
        if rank.index() != index || ranks as usize != calls.len() {
            return Err(SpecError::Ranks { index, calls: calls.len(), rank, ranks });
        }
        call.check().map_err(|error| SpecError::Call { rank, error })?;
        if let Some(what) = difference(call, &calls[0]) {
            return Err(SpecError::Differ { rank, what });
        }
        agree_in_group(call, calls)?;
    }
    nodes::agree(calls)
}

/// Compares what must be equal in a group only, and may differ from the other group.
fn agree_in_group(call: &Call, calls: &[Call]) -> Result<(), SpecError> {
    let first = if is_right(call) { call.operation.left().unwrap_or(0) } else { 0 };
    let (rank, first) = (call.rank, Rank(first));
    match (&call.operation, &calls[first.index()].operation) {
        (
            Operation::InterReduceScatter { counts: own, .. },
            Operation::InterReduceScatter { counts: theirs, .. },
        ) if own != theirs => Err(SpecError::DifferInGroup { rank, first, what: "counts" }),
        _ => Ok(()),
    }
}

fn difference(call: &Call, first: &Call) -> Option<&'static str> {
    if call.collective() != first.collective() {
        return Some("collective");
    }
    if call.nodes != first.nodes {
        return Some("division into nodes");
    }
    let pairs = common(call).into_iter().zip(common(first));
    let different = pairs.filter(|(own, theirs)| own != theirs);
    different.map(|((what, _), _)| what).next()
}

/// What must be equal on all ranks of a collective, by name, and as numbers.
fn common(call: &Call) -> Vec<(&'static str, Vec<usize>)> {
    let left = call.operation.left().map(|left| ("groups", vec![left as usize]));
    let mut common = match &call.operation {
        Operation::Bcast { count, .. }
        | Operation::Gather { count, .. }
        | Operation::Scatter { count, .. }
        | Operation::Reduce { count, .. }
        | Operation::Allreduce { count, .. }
        | Operation::ReduceScatterBlock { count, .. }
        | Operation::Scan { count, .. }
        | Operation::Exscan { count, .. }
        | Operation::Allgather { count }
        | Operation::Alltoall { count } => vec![("count", vec![*count])],
        Operation::InterReduce { count, .. } | Operation::InterAllreduce { count, .. } => {
            vec![("count", vec![*count])]
        }
        Operation::ReduceScatter { counts, .. } => vec![("counts", counts.to_vec())],
        Operation::InterAllgather { counts, .. }
        | Operation::InterReduceScatterBlock { counts, .. } => vec![("counts", counts.to_vec())],
        Operation::InterReduceScatter { counts, .. } => {
            vec![("sum of the counts", vec![counts.iter().sum()])]
        }
        Operation::Allgatherv { blocks } => {
            vec![("counts", blocks.iter().map(|block| block.count).collect())]
        }
        _ => Vec::new(),
    };
    // First, as lengths mean nothing where the groups differ.
    common.splice(0..0, left);
    common.extend(call.operation.root().map(|root| ("root", vec![root.index()])));
    let commutative = call.operation.commutative();
    common.extend(commutative.map(|commutative| ("operator", vec![usize::from(commutative)])));
    common.push(("size of an element", vec![call.element_bytes]));
    common
}
