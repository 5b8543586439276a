//! Linear, for blocks of different lengths.
//!
//! The algorithm is that of reduce_scatter_block: it works on blocks of any lengths.

use crate::algo::Algorithm;
use crate::algo::reduce_scatter_block::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::ReduceScatter };
