//! Linear: every block is sent at once, and each rank reduces those that come in the order of its
//! sources.
//!
//! ```text
//!   rank 1 of 4, to 0 2, from 3 1 0        0    1    2    3
//!   sends block 0 to 0, block 1 to 2            <----+---->
//!   receives a3 a0                         ---->+<---------       all at once
//!   reduces (a3 ∘ a1) ∘ a0
//! ```
//!
//! The sum grows in the output, into which the block of the first source is received at once; each
//! of the others has a place in scratch memory. So the operator need not commute. What a rank has
//! for itself is reduced where it lies in the input: the k-th block to itself meets the k-th time
//! that it is its own source.
//!
//! Cost: a latency, and what the rank with the most sources has to move and to reduce, which no
//! rank knows; scratch memory for a block of each source but the first.

use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Neighbour, Operation, Rank};
use crate::cost::Cost;
use crate::order::sort_by_number;
use crate::plan::{Buffer, Slice};

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::NeighborReduce
    }

    fn summary(&self) -> &'static str {
        "all blocks at once, reduced in the order of the sources when they are there"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        Cost { rounds: usize::from(call.ranks > 1), ..Cost::default() }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let count = builder.output().len;
        let operands = Operands::of(call, builder, |builder, _| builder.scratch(count));
        let mut by_distance: Vec<&Operand> = operands.list.iter().collect();
        sort_by_number(&mut by_distance, |operand| call.distance(operand.source, call.rank));
        by_distance.into_iter().for_each(|operand| operand.receive(builder));
        send(call, builder);
        (0..operands.list.len()).for_each(|index| operands.add(index, builder));
    }
}

/// What comes from one source.
pub(in crate::algo) struct Operand {
    source: Rank,
    place: Slice,
}

impl Operand {
    /// Receives it, unless it is the rank's own, which lies in the input.
    pub(in crate::algo) fn receive(&self, builder: &mut Builder<'_>) {
        if self.source != builder.rank() {
            builder.recv(self.source, self.place);
        }
    }
}

/// What is to be reduced, in the order of the sources.
pub(in crate::algo) struct Operands {
    pub(in crate::algo) list: Vec<Operand>,
}

impl Operands {
    /// That of the first source comes to the output, each of the others to the place that `room`
    /// finds for its number; the rank's own stay where they are.
    pub(in crate::algo) fn of(
        call: &Call,
        builder: &mut Builder<'_>,
        mut room: impl FnMut(&mut Builder<'_>, usize) -> Slice,
    ) -> Self {
        let Operation::NeighborReduce { to, from, .. } = &call.operation else {
            unreachable!("{} is no reduction among neighbours", call.collective())
        };
        let mut own = to.iter().filter(|other| other.rank == call.rank).map(block);
        let operand = |(index, source): (usize, &Rank)| {
            let place = match index {
                _ if *source == call.rank => own.next().expect("the call has been checked"),
                0 => builder.output(),
                _ => room(builder, index),
            };
            Operand { source: *source, place }
        };
        Self { list: from.iter().enumerate().map(operand).collect() }
    }

    /// Adds an operand to the sum in the output; the first one begins it.
    pub(in crate::algo) fn add(&self, index: usize, builder: &mut Builder<'_>) {
        let output = builder.output();
        let place = self.list[index].place;
        match index {
            // The second one finds the first where that lies.
            0 if self.list.len() > 1 => {}
            0 => builder.copy(place, output),
            1 => builder.reduce(self.list[0].place, place, output),
            _ => builder.reduce(output, place, output),
        }
    }
}

/// Sends all blocks for others, to the next rank first, so that not all ranks send to rank 0 at
/// once.
pub(in crate::algo) fn send(call: &Call, builder: &mut Builder<'_>) {
    let Operation::NeighborReduce { to, .. } = &call.operation else { return };
    let mut others: Vec<&Neighbour> = to.iter().filter(|other| other.rank != call.rank).collect();
    // The sort is stable, so blocks of one pair of ranks stay in order at both ends.
    sort_by_number(&mut others, |other| call.distance(call.rank, other.rank));
    for other in others {
        builder.send(other.rank, block(other));
    }
}

fn block(other: &Neighbour) -> Slice {
    other.block().slice(Buffer::Input)
}
