//! The second of two phases.

use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::untyped::CommRef;

/// Ends the innermost open phase of a communicator or an intercommunicator, which is one of this
/// collective: waits until it is complete. (`X_end` of the two-phase collectives of 1997)
///
/// # Errors
/// [`ErrorKind::Nesting`](crate::ErrorKind::Nesting) if no phase is open, if the innermost one is
/// of another collective (both are named), or if a [`Phases`](crate::Phases) is alive: the phases
/// stay as they are then. What went wrong with the collective; it is ended then.
pub fn end<'on>(on: impl Into<CommRef<'on>>, which: CollectiveKind) -> Result<()> {
    let on = on.into();
    let communicator = on.communicator();
    let popped = communicator.nesting().pop(which);
    popped.map_err(|kind| communicator.error(which.end_name(), kind))?.wait()
}
