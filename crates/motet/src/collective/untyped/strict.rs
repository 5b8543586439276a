//! Checks of check mode only: calls that the standard forbids and that do no harm here.

use super::buffers::{self, Around};
use super::collective::{Collective, Reduction};
use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::data::op::Op;
use crate::engine::check::Strictness;
use crate::types::datatype::Datatype;

/// Returns whether calls on a communicator refuse all that the standard forbids, as in check mode.
pub fn is_strict(communicator: &Communicator) -> bool {
    communicator.core().watch().strictness() == Strictness::Strict
}

/// Checks that the standard, and not only this library, defines an operator for a datatype.
///
/// # Errors
/// [`ErrorKind::Op`] if it does not.
pub fn check_operator(op: &Op, datatype: &Datatype) -> Result<()> {
    Ok(op.check_standard(datatype)?)
}

/// Checks that the standard allows a call, as far as its own arguments show.
///
/// # Errors
/// The argument that the standard does not allow.
pub(super) fn check(collective: &Collective<'_>, around: &Around) -> Result<(), ErrorKind> {
    if let Some(Reduction { op, datatype, .. }) = collective.reduction() {
        op.check_standard(datatype)?;
    }
    if let Collective::NeighborReducev { op, receive, .. } = collective {
        op.check_standard(receive.datatype)?;
    }
    buffers::check(collective, around, Strictness::Strict)
}
