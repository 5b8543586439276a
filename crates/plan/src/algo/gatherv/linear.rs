//! Linear, for blocks of different lengths.
//!
//! The algorithm is that of gather, where no rank needs to know the block of another one.

use crate::algo::Algorithm;
use crate::algo::gather::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Gatherv };
