//! Linear, for blocks of different lengths.
//!
//! The algorithm is that of scatter, where no rank needs to know the block of another one.

use crate::algo::Algorithm;
use crate::algo::scatter::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Scatterv };
