//! By node, without the rank itself.
//!
//! The algorithm is that of [scan](crate::algo): it works on both.

use crate::algo::Algorithm;
use crate::algo::hierarchical::Hierarchical;
use crate::algo::scan::hierarchical::Scan;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Hierarchical(Scan { collective: Collective::Exscan });
