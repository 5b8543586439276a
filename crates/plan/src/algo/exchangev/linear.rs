//! Linear, for blocks of different lengths.
//!
//! The algorithm is that of exchange, where every block has its own length and place.

use crate::algo::Algorithm;
use crate::algo::exchange::linear::Linear;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Exchangev };
