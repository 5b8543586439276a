//! Three steps: one message from each node to each node that it has blocks for.
//!
//! ```text
//!   node A              node B
//!   0 ───┐          ┌──> 3
//!        1 ════════ 4              one message, each block in it once
//!   2 ───┘          └──> 5
//! ```
//!
//! The [parcels](crate::algo::aggregation) of this algorithm hold all blocks from one node to one
//! node. ThreeStep of different pairs of nodes take turns.
//!
//! Between two nodes passes one message, the fewest there can be, and each block once, the least
//! data there can be. It takes three messages in a row, and copies at each end: for many short
//! blocks, where messages between nodes are dear.

use crate::algo::aggregation::{self, Bundle};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct ThreeStep;

pub(in crate::algo) const ROW: &dyn Algorithm = &ThreeStep;

impl Algorithm for ThreeStep {
    fn name(&self) -> &'static str {
        "three_step"
    }

    fn collective(&self) -> Collective {
        Collective::NodeExchange
    }

    fn summary(&self) -> &'static str {
        "one message from each node to each node, with each block in it once"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        aggregation::cost(call, aggregation::surroundings(call).demands.three_step, 3)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        aggregation::build(Bundle::Hierarchical, call, builder);
    }
}
