//! `end`: the second call of a two-phase collective.

use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::untyped::CommRef;

/// Ends the innermost open phase of a communicator or an intercommunicator, which must be of the
/// collective `which`: waits until it is complete. (`X_end` of the two-phase collectives of 1997)
///
/// # Errors
/// [`ErrorKind::Nesting`](crate::ErrorKind::Nesting) if no phase is open, if the innermost one is
/// of another collective (the error names both), or if a [`Phases`](crate::Phases) is alive; the
/// phases are unchanged then. Otherwise the error of the collective, whose phase is ended then.
pub fn end<'on>(on: impl Into<CommRef<'on>>, which: CollectiveKind) -> Result<()> {
    let on = on.into();
    let communicator = on.communicator();
    let popped = communicator.nesting().pop(which);
    popped.map_err(|kind| communicator.error(which.end_name(), kind))?.wait()
}
