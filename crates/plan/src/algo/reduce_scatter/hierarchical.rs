//! By node, for blocks of different lengths.
//!
//! The algorithm is that of reduce_scatter_block: it works on blocks of any lengths.

use crate::algo::Algorithm;
use crate::algo::hierarchical::Hierarchical;
use crate::algo::reduce_scatter_block::hierarchical::ReduceScatterBlock;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Hierarchical(ReduceScatterBlock { collective: Collective::ReduceScatter });
