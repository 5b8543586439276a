//! Folding any number of ranks onto a hypercube, with their data.
//!
//! Shared by the allreductions that pair ranks by the bits of their corner: see
//! [`shape::hypercube`](super::shape::hypercube) for who folds onto whom. Guest and host are
//! consecutive ranks, so `guest ∘ host` keeps the operands in rank order.

use super::operand_placement;
use super::shape::hypercube::{Fold, FoldRole};
use crate::build::Builder;
use crate::call::{Call, Rank};
use crate::cost::Cost;
use crate::plan::Slice;

/// A rank that stands at a corner, and where the data it stands for can be read.
pub(super) struct Corner {
    pub(super) number: u32,
    pub(super) data: Slice,
    guest: Option<Rank>,
}

/// Guests send their contribution and receive the result, and there is no more for them to do:
/// none. Hosts reduce what they receive with their own contribution into the output.
pub(super) fn fold(builder: &mut Builder<'_>, fold: Fold) -> Option<Corner> {
    let (contribution, output) = (builder.contribution(), builder.output());
    match fold.part(builder.rank()) {
        FoldRole::Alone { corner } => {
            Some(Corner { number: corner, data: contribution, guest: None })
        }
        FoldRole::Host { corner, guest } => {
            let incoming = operand_placement::place(builder, contribution, output);
            builder.recv(guest, incoming);
            builder.reduce(incoming, contribution, output);
            Some(Corner { number: corner, data: output, guest: Some(guest) })
        }
        FoldRole::Guest { host } => {
            builder.send(host, contribution);
            builder.recv(host, output);
            None
        }
    }
}

/// What it takes that a guest sends its contribution and receives the result.
pub(super) fn folding_cost(call: &Call) -> Cost {
    let whole = call.bytes();
    Cost { rounds: 2, bytes: whole.saturating_mul(2), reduced: whole, ..Cost::default() }
}

/// Hosts send the result, which is in the output, to their guests.
pub(super) fn unfold(builder: &mut Builder<'_>, corner: &Corner) {
    if let Some(guest) = corner.guest {
        builder.send(guest, builder.output());
    }
}
