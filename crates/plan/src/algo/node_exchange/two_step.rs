//! Two steps: each source sends each block once to each node, and one rank there forwards it.
//!
//! ```text
//!   node A       node B
//!   0 ══════════ 2 ───> 3      blocks of 0 for 2 and 3
//!   1 ══════════ 3 ───> 2      blocks of 1 for 2 and 3
//! ```
//!
//! The [parcels](crate::algo::aggregation) of this algorithm hold the blocks from one rank to one
//! node. For those of different sources forwarders take turns. What goes to one rank of a node only
//! is not forwarded, but sent in one message however many blocks there are.
//!
//! Between two nodes pass as many messages as there are sources, and each block once. It takes two
//! messages in a row, and no copies before the first: for data that is long, where gateways would
//! copy too much, and where blocks go to several ranks of one node.

use crate::algo::aggregation::{self, Bundle};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct TwoStep;

pub(in crate::algo) const ROW: &dyn Algorithm = &TwoStep;

impl Algorithm for TwoStep {
    fn name(&self) -> &'static str {
        "two_step"
    }

    fn collective(&self) -> Collective {
        Collective::NodeExchange
    }

    fn summary(&self) -> &'static str {
        "one message from each source to each node, where a rank forwards blocks to the others"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        aggregation::cost(call, aggregation::surroundings(call).demands.two_step, 2)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        aggregation::build(Bundle::BySource, call, builder);
    }
}
