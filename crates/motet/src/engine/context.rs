//! A communicator has one context for each kind of traffic: a message matches only receives of its
//! own context.

/// The kinds of traffic of a communicator, whose messages never match each other's receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextKind {
    PointToPoint,
    Collective,
    Persistent,
    /// Messages by which a subset of the ranks agrees on a new communicator.
    Creation,
    /// Records of calls, in check mode.
    Check,
    /// Messages between the leaders of two groups that make an intercommunicator.
    Bridge,
    /// Messages of sparse dynamic exchanges.
    Dynamic,
    /// Messages of partitioned communication.
    Partitioned,
}

/// The context of a kind of traffic of the communicator with this id.
pub(crate) fn context(id: u64, traffic: ContextKind) -> u64 {
    id * 8 + traffic as u64
}

/// Whether a context is of this kind of traffic.
#[inline]
pub(crate) fn is_of(context: u64, traffic: ContextKind) -> bool {
    context % 8 == traffic as u64
}

/// The communicator and the kind of traffic of a context.
pub(crate) fn split_context(context: u64) -> (u64, ContextKind) {
    let all = [
        ContextKind::PointToPoint,
        ContextKind::Collective,
        ContextKind::Persistent,
        ContextKind::Creation,
        ContextKind::Check,
        ContextKind::Bridge,
        ContextKind::Dynamic,
        ContextKind::Partitioned,
    ];
    (context / 8, all[(context % 8) as usize])
}
