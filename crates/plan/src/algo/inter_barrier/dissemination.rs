//! Dissemination, between two groups.
//!
//! The algorithm is that of [barrier](crate::algo) over the ranks of both groups: a rank hears of
//! its own group too, which it need not, but the rounds are as few as they can be. Knowledge at
//! most doubles with each message, and a rank cannot do without that of its own group, as it has to
//! pass it on.

use crate::algo::Algorithm;
use crate::algo::barrier::dissemination::Dissemination;
use crate::call::Collective;

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Dissemination { collective: Collective::InterBarrier };
