//! Linear, for blocks of different lengths.
//!
//! The algorithm is that of [allgather](crate::algo): it works on blocks of any lengths in
//! any places.

use crate::algo::Algorithm;
use crate::algo::allgather::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Allgatherv };
