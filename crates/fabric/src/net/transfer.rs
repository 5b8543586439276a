//! Transfers of an endpoint: their context ids and completion events.

/// The id of a transfer under way. Its address stays the same until the transfer has ended: the
/// provider may use the first words.
#[repr(C)]
pub(super) struct Context {
    providers: [usize; 8],
    pub(super) name: u64,
}

impl Context {
    pub(super) fn new(name: u64) -> Context {
        Context { providers: [0; 8], name }
    }
}

/// The address of a remote endpoint in the address vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target(pub(super) u64);

/// Result of starting a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Yes,
    /// The provider has no room for it now, or cannot reach the other host; try again later.
    NotNow,
    /// It failed for good, with this error code.
    Never(i32),
}

/// The id of a write by a remote endpoint. No transfer of this endpoint has it.
pub(super) const WRITTEN: u64 = 8 << 56;

/// The completion of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// The id in its context.
    pub(super) name: u64,
    pub(super) bytes: usize,
    /// The tag, or the immediate data of a remote write.
    pub(super) tag: u64,
    /// The code of the error, or 0.
    pub(super) error: i32,
}
