//! Direct, for blocks of different lengths.
//!
//! The algorithm is that of gather, where no rank needs to know the block of another one.

use crate::algo::Algorithm;
use crate::algo::gather::direct::Direct;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &Direct { collective: Collective::Gatherv };
