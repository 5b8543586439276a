//! What each collective must deliver, element by element: the standard's text as a function.
//!
//! [`expected`] takes the calls of all ranks and says what each element of each output holds at
//! the end. It knows nothing of plans, and shares no code with the algorithms lest it share their
//! mistakes. A barrier has no output; what it must deliver, that every rank has entered, is checked
//! by the [verifier](crate::verify()).

use std::collections::BTreeMap;

use thiserror::Error;

use crate::call::{Block, Call, CallError, Neighbour, Operation, Rank};

/// What an element of an output must be at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// An element of what a rank contributed.
    Contribution {
        /// The rank.
        rank: Rank,
        /// The position in its [contribution](Call::contribution).
        index: usize,
    },
    /// The reduction of the elements at this position of all contributions: `a0 ∘ a1 ∘ …` in rank
    /// order, in any order if the operator commutes; the same expression at every rank.
    Reduction {
        /// The position in the contributions.
        index: usize,
    },
    /// As before the call, and not written in between.
    Unchanged,
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
    let Some(first) = calls.first() else { return Ok(Vec::new()) };
    if matches!(first.operation, Operation::Exchange { .. } | Operation::Exchangev { .. }) {
        return exchanged(calls);
    }
    Ok(calls.iter().map(|call| output(call, calls)).collect())
}

/// The output of one rank, for all but the exchanges.
fn output(call: &Call, calls: &[Call]) -> Vec<Expected> {
    let mut output = vec![Expected::Unchanged; call.output_len()];
    match &call.operation {
        Operation::Barrier => {}
        Operation::Bcast { root, .. } if *root == call.rank => {}
        Operation::Bcast { count, root } => fill(&mut output, 0, *root, *count),
        Operation::Reduce { .. } | Operation::Allreduce { .. } => {
            for (index, element) in output.iter_mut().enumerate() {
                *element = Expected::Reduction { index };
            }
        }
        Operation::Allgather { count } => {
            for other in others(call, calls) {
                fill(&mut output, other.rank.index() * count, other.rank, *count);
            }
        }
        Operation::Allgatherv { blocks } => {
            for other in others(call, calls) {
                let Block { start, count } = blocks[other.rank.index()];
                if count > 0 {
                    fill(&mut output, start, other.rank, count);
                }
            }
        }
        Operation::Exchange { .. } | Operation::Exchangev { .. } => {}
    }
    output
}

/// The ranks whose blocks a rank gathers: in place its own is there already.
fn others<'a>(call: &Call, calls: &'a [Call]) -> impl Iterator<Item = &'a Call> {
    let (me, in_place) = (call.rank, call.in_place);
    calls.iter().filter(move |other| !in_place || other.rank != me)
}

fn fill(output: &mut [Expected], start: usize, rank: Rank, count: usize) {
    for (index, element) in output[start..start + count].iter_mut().enumerate() {
        *element = Expected::Contribution { rank, index };
    }
}

/// The outputs of an exchange: the k-th block from one rank to another in the order of the list of
/// the source is the k-th in the order of the list of the destination.
fn exchanged(calls: &[Call]) -> Result<Vec<Vec<Expected>>, SpecError> {
    let mut sent: BTreeMap<(Rank, Rank), Vec<Block>> = BTreeMap::new();
    let mut received = sent.clone();
    for call in calls {
        let (to, from) = neighbours(call);
        for other in to {
            sent.entry((call.rank, other.rank)).or_default().push(other.block());
        }
        for other in from {
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

/// Destinations and sources of an exchange, with the places of their blocks.
fn neighbours(call: &Call) -> (Vec<Neighbour>, Vec<Neighbour>) {
    let uniform = |count: usize, ranks: &[Rank]| {
        let place =
            |(index, rank): (usize, &Rank)| Neighbour { rank: *rank, start: index * count, count };
        ranks.iter().enumerate().map(place).collect()
    };
    match &call.operation {
        Operation::Exchange { count, to, from } => (uniform(*count, to), uniform(*count, from)),
        Operation::Exchangev { to, from } => (to.to_vec(), from.to_vec()),
        _ => (Vec::new(), Vec::new()),
    }
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
    }
    Ok(())
}

fn difference(call: &Call, first: &Call) -> Option<&'static str> {
    use Operation::{Allgather, Allgatherv, Allreduce, Bcast, Reduce};
    let differences: &[(bool, &'static str)] = match (&call.operation, &first.operation) {
        _ if call.collective() != first.collective() => &[(true, "collective")],
        (Bcast { count: c, root: r }, Bcast { count, root }) => {
            &[(c != count, "count"), (r != root, "root")]
        }
        (Reduce { count: c, root: r, commutative: o }, Reduce { count, root, commutative }) => {
            &[(c != count, "count"), (r != root, "root"), (o != commutative, "operator")]
        }
        (Allreduce { count: c, commutative: o }, Allreduce { count, commutative }) => {
            &[(c != count, "count"), (o != commutative, "operator")]
        }
        (Allgather { count: c }, Allgather { count }) => &[(c != count, "count")],
        (Allgatherv { blocks: b }, Allgatherv { blocks }) => {
            let counts = b.iter().map(|block| block.count);
            &[(!counts.eq(blocks.iter().map(|block| block.count)), "counts")]
        }
        _ => return None,
    };
    let element = (call.element_bytes != first.element_bytes, "size of an element");
    differences.iter().chain([&element]).find(|(differs, _)| *differs).map(|(_, what)| *what)
}
