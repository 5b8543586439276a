//! Shared by the algorithms between two groups: the partners of a rank, and the phases.
//!
//! For a rank its own group is the near one, and the group that receives its data is the far one.
//! All ranks must choose the same algorithm, so costs are symmetric in the two groups.

use std::ops::Range;
use std::sync::Arc;

use super::Algorithm;
use super::reduce_scatter::recursive_halving;
use super::shape::doublings;
use super::shape::partition::part;
use crate::build::{Builder, Data, Phase};
use crate::call::{Call, Groups, Operation, Rank};
use crate::cost::Cost;
use crate::plan::Slice;

/// The groups of a call, which is between two.
pub(super) fn groups(call: &Call) -> Groups {
    call.groups().expect("a collective between two groups is planned")
}

/// How many ranks the first group has, and the second.
pub(super) fn sizes(call: &Call) -> [u32; 2] {
    let left = call.operation.left().expect("a collective between two groups is planned");
    [left, call.ranks - left]
}

/// The ranks of the own group.
pub(super) fn near(call: &Call) -> Vec<Rank> {
    groups(call).near.map(Rank).collect()
}

/// The ranks of the other group.
pub(super) fn far(call: &Call) -> Vec<Rank> {
    groups(call).far.map(Rank).collect()
}

/// The cost of one message of up to `bytes` from every rank to every rank of the other group.
pub(super) fn direct_cost(call: &Call, bytes: usize) -> Cost {
    let [first, second] = sizes(call);
    let messages = first.max(second) as usize;
    Cost {
        rounds: 1,
        extra_sends: messages - 1,
        bytes: bytes.saturating_mul(messages),
        ..Cost::default()
    }
}

/// The cost of one message.
pub(super) fn message(bytes: usize) -> Cost {
    Cost { rounds: 1, bytes, ..Cost::default() }
}

/// The cost of a message of up to `bytes` each way between the first ranks of the groups, once both
/// have collected what comes from their group by a tree. A group that has fewer rounds sends while
/// the other is still at it: one message more that the first rank there receives meanwhile.
pub(super) fn swap_cost(call: &Call, bytes: usize) -> Cost {
    let [first, second] = sizes(call).map(doublings);
    Cost { extra_sends: usize::from(first != second), ..message(bytes) }
}

/// The positions in the other group in the order in which a rank sends to them.
///
/// Position `i` of one group and `j` of the other meet in round `j - i` of one direction, modulo
/// the size of the larger group, and in round `i - j` of the other. So in each round messages go
/// to different ranks.
fn order(call: &Call) -> impl Iterator<Item = usize> + use<> {
    let groups = groups(call);
    let (position, far) = (groups.position(call.rank), groups.far.len());
    let rounds = far.max(groups.near.len());
    (0..rounds).map(move |round| (position + round) % rounds).filter(move |other| *other < far)
}

/// Sends to every rank of the other group what `slice` says for its position there.
pub(super) fn send_to_far(call: &Call, builder: &mut Builder<'_>, slice: impl Fn(usize) -> Slice) {
    let far = far(call);
    for position in order(call) {
        builder.send(far[position], slice(position));
    }
}

/// Receives from every rank of the other group into its place, in the order of the group: as they
/// do not wait for each other, any order will do.
pub(super) fn receive_from_far(call: &Call, builder: &mut Builder<'_>, places: &[Slice]) {
    for (rank, place) in far(call).into_iter().zip(places) {
        builder.recv(rank, *place);
    }
}

/// The cost of [`direct_cost`] where each rank reduces blocks of up to `block` bytes.
pub(super) fn reducing_cost(call: &Call, bytes: usize, block: usize) -> Cost {
    let cost = direct_cost(call, bytes);
    Cost { reduced: block.saturating_mul(cost.extra_sends), ..cost }
}

/// The ranks whose data is reduced to a root: those of the group that does not hold it.
pub(super) fn contributors(call: &Call) -> Range<u32> {
    let (root, [left, _]) = (call.operation.root().expect("there is a root"), sizes(call));
    if root.0 < left { left..call.ranks } else { 0..left }
}

/// Where a rank receives the operands of a result from the other group: in places of their own or,
/// if there is but one, where the result goes.
pub(super) fn places(call: &Call, builder: &mut Builder<'_>, result: Slice) -> Vec<Slice> {
    match groups(call).far.len() {
        1 => vec![result],
        operands => (0..operands).map(|_| builder.scratch(result.len)).collect(),
    }
}

/// A phase of the own group, in which buffers lie apart.
pub(super) fn within_near(
    call: &Call,
    builder: &mut Builder<'_>,
    row: &'static dyn Algorithm,
    operation: Operation,
    (input, output): (Slice, Slice),
) {
    let data = Data::Apart { input, output };
    builder.within(row, &Phase { members: &near(call), operation, data });
}

/// The first rank of the other group, at the first rank of the own one; none at any other.
pub(super) fn other_leader(call: &Call) -> Option<Rank> {
    let Groups { near, far, .. } = groups(call);
    (call.rank.0 == near.start).then_some(Rank(far.start))
}

/// New scratch memory at the first rank of the own group; no elements at any other.
pub(super) fn room_of_leader(call: &Call, builder: &mut Builder<'_>, len: usize) -> Slice {
    if other_leader(call).is_some() { builder.scratch(len) } else { Slice::NONE }
}

/// How many elements a group reduces and the other shares out.
pub(super) fn shared_out(call: &Call) -> usize {
    match &call.operation {
        Operation::InterReduceScatterBlock { left, counts, .. } => counts[0] * *left as usize,
        Operation::InterReduceScatter { counts, .. } => counts.iter().sum(),
        _ => unreachable!("{} shares out nothing", call.collective()),
    }
}

/// The runs of nearly one length into which a group of `ranks` ranks cuts `count` elements.
pub(super) fn runs(count: usize, ranks: Range<u32>) -> impl Iterator<Item = (Rank, Range<usize>)> {
    let parts = ranks.len();
    ranks.enumerate().map(move |(index, rank)| (Rank(rank), part(count, parts, index)))
}

/// The lengths of these runs.
pub(super) fn lengths(count: usize, ranks: u32) -> Arc<[usize]> {
    runs(count, 0..ranks).map(|(_, run)| run.len()).collect()
}

/// The run of the calling rank in its own group.
pub(super) fn own_run_of(call: &Call, count: usize) -> Range<usize> {
    let groups = groups(call);
    part(count, groups.near.len(), groups.position(call.rank))
}

/// The same with its place in a buffer that holds the whole data.
pub(super) fn own_run(call: &Call, whole: Slice) -> Piece {
    let run = own_run_of(call, whole.len);
    Piece { place: whole.range(run.clone()), run }
}

/// Blocks of these lengths, side by side, for the ranks of a group.
pub(super) fn blocks(ranks: Range<u32>, counts: &[usize]) -> Vec<(Rank, Range<usize>)> {
    let next = |end: &mut usize, (rank, count): (u32, &usize)| {
        let start = *end;
        *end += count;
        Some((Rank(rank), start..*end))
    };
    ranks.zip(counts).scan(0, next).collect()
}

/// The data of the own group reduced in it, of which each rank has its run; a rank that is alone in
/// its group has all from the start.
pub(super) fn reduced_run(call: &Call, builder: &mut Builder<'_>, commutative: bool) -> Piece {
    let (own, Groups { near, .. }) = (builder.contribution(), groups(call));
    if near.len() == 1 {
        return Piece { run: 0..own.len, place: own };
    }
    let counts = lengths(own.len, near.len() as u32);
    let run = own_run_of(call, own.len);
    let place = builder.scratch(run.len());
    let operation = Operation::ReduceScatter { counts, commutative };
    within_near(call, builder, recursive_halving::ROW, operation, (own, place));
    Piece { run, place }
}

/// The cost of [`reduced_run`] in groups of these sizes, for `count` elements.
pub(super) fn reduced_run_cost(
    call: &Call,
    sizes: impl IntoIterator<Item = u32>,
    count: usize,
) -> Cost {
    let commutative = call.operation.commutative().unwrap_or(true);
    let of = |ranks| {
        let operation = Operation::ReduceScatter { counts: lengths(count, ranks), commutative };
        recursive_halving::ROW.cost_within(call, ranks, operation)
    };
    sizes.into_iter().filter(|ranks| *ranks > 1).map(of).fold(Cost::default(), Cost::beside)
}

/// The cost of handing the runs of one group over to the ranks of the other that want theirs, both
/// ways.
pub(super) fn hand_over_cost(call: &Call, count: usize) -> Cost {
    let [first, second] = sizes(call);
    let bytes = count.div_ceil(first.min(second) as usize).saturating_mul(call.element_bytes);
    let messages = most_meetings(count, first as usize, second as usize);
    let extra_sends = messages.saturating_sub(1);
    Cost { rounds: messages.min(1), extra_sends, bytes, ..Cost::default() }
}

/// With how many runs of the other group a run has elements in common, at most.
fn most_meetings(count: usize, first: usize, second: usize) -> usize {
    let (mut left, mut right, mut most) = (0, 0, 0);
    let (mut of_left, mut of_right) = (0, 0);
    while left < first && right < second {
        let (own, theirs) = (part(count, first, left), part(count, second, right));
        if own.start.max(theirs.start) < own.end.min(theirs.end) {
            (of_left, of_right) = (of_left + 1, of_right + 1);
            most = most.max(of_left).max(of_right);
        }
        if own.end <= theirs.end {
            (left, of_left) = (left + 1, 0);
        } else {
            (right, of_right) = (right + 1, 0);
        }
    }
    most
}

/// A run of the whole data, and where a rank has it or wants it.
pub(super) struct Piece {
    pub(super) run: Range<usize>,
    pub(super) place: Slice,
}

impl Piece {
    /// The part that lies in `other` too.
    fn common(&self, other: &Range<usize>) -> Slice {
        let start = self.run.start.max(other.start);
        let end = self.run.end.min(other.end);
        if start < end {
            self.place.range(start - self.run.start..end - self.run.start)
        } else {
            self.place.sub(0, 0)
        }
    }

    /// Sends to each of these ranks what it wants of this piece; nothing to the rank itself.
    pub(super) fn hand_over(
        &self,
        builder: &mut Builder<'_>,
        wanting: impl Iterator<Item = (Rank, Range<usize>)>,
    ) {
        for (rank, run) in wanting.filter(|(rank, _)| *rank != builder.rank()).collect::<Vec<_>>() {
            builder.send(rank, self.common(&run));
        }
    }

    /// Receives this piece from the ranks that hold it; nothing from the rank itself.
    pub(super) fn collect(
        &self,
        builder: &mut Builder<'_>,
        holding: impl Iterator<Item = (Rank, Range<usize>)>,
    ) {
        for (rank, run) in holding.filter(|(rank, _)| *rank != builder.rank()).collect::<Vec<_>>() {
            builder.recv(rank, self.common(&run));
        }
    }

    /// Copies what this rank itself holds of this piece.
    pub(super) fn copy_own(&self, builder: &mut Builder<'_>, held: &Piece) {
        builder.copy(held.common(&self.run), self.common(&held.run));
    }
}
