//! Linear, as if there were no nodes.
//!
//! The algorithm is that of exchange: one message for each block, also for a block that goes to
//! several ranks of one node. Here the ranks have agreed what it costs.

use crate::algo::Algorithm;
use crate::algo::exchange::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::NodeExchange };
