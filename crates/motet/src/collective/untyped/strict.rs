//! What is refused in check mode only: all that the standard forbids and that does no harm.

use super::buffers::{self, Around};
use super::collective::{Collective, Reduction};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::op::Op;
use crate::engine::check::Strictness;
use crate::types::datatype::Datatype;

/// Whether calls on a communicator refuse all that the standard forbids, as they do in check mode.
pub fn is_strict(communicator: &Communicator) -> bool {
    communicator.core().watch().strictness() == Strictness::Strict
}

/// Whether the standard defines an operator for a datatype, and not this library alone.
///
/// # Errors
/// [`ErrorKind::Op`] if it does not.
pub fn check_operator(op: &Op, datatype: &Datatype) -> Result<()> {
    Ok(op.check_standard(datatype)?)
}

/// Whether the standard allows a call, as far as its own arguments show.
///
/// # Errors
/// What it does not allow.
pub(super) fn check(collective: &Collective<'_>, around: &Around) -> Result<(), ErrorKind> {
    if let Some(Reduction { op, datatype, .. }) = collective.reduction() {
        op.check_standard(datatype)?;
    }
    if let Collective::NeighborReducev { op, receive, .. } = collective {
        op.check_standard(receive.datatype)?;
    }
    buffers::check(collective, around, Strictness::Strict)
}
