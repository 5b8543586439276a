//! The contexts of a communicator, one for each kind of traffic: a message meets only receives of
//! its own context.

/// The separate worlds of one communicator: messages of different kinds never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextKind {
    PointToPoint,
    Collective,
    Persistent,
    /// What a part of the ranks needs to agree on a communicator of their own.
    Creation,
    /// What the ranks tell each other of their calls, in check mode.
    Check,
    /// What the leaders of two groups tell each other to make an intercommunicator.
    Bridge,
    /// The messages of sparse dynamic exchanges.
    Dynamic,
    /// Messages in parts.
    Partitioned,
}

/// The context of one kind of traffic of the communicator with this id.
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
