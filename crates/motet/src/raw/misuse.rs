//! Error texts for the misuse of requests.

pub(super) const NULL: &str = "is null";
pub(super) const ACTIVE: &str = "is active already";
pub(super) const INACTIVE: &str = "is inactive";
pub(super) const NOT_PERSISTENT: &str = "is not persistent, so it cannot be started";
pub(super) const NOT_TO_FREE: &str =
    "is of an active collective, which cannot be freed; complete it first";
pub(super) const NEVER_FREED: &str =
    "is of a nonblocking collective, which is completed and not freed (MPI 5.0 §6.12)";
pub(super) const NOT_TO_CANCEL: &str = "is of a collective, which cannot be cancelled";
