//! By node, without the rank itself.
//!
//! The algorithm is that of [scan](crate::algo): it works on both.

use crate::algo::Algorithm;
use crate::algo::by_node::ByNode;
use crate::algo::scan::by_node::Scan;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm = &ByNode(Scan { collective: Collective::Exscan });
