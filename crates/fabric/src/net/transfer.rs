//! Transfers of an endpoint: their context ids and completion events.

/// What a transfer is called while it is under way. It stays where it is until the transfer is
/// over: the provider may use the first words.
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

/// A port that is reached by this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target(pub(super) u64);

/// What became of a transfer that was to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Yes,
    /// There is no room for it now.
    NotNow,
    /// It never will: the code of the error.
    Never(i32),
}

/// What a write of another port is called: none of ours, which has a name of its own.
pub(super) const WRITTEN: u64 = 8 << 56;

/// A transfer is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// The name in its context.
    pub(super) name: u64,
    pub(super) bytes: usize,
    /// The tag or, of a write of another port, its word.
    pub(super) tag: u64,
    /// The code of the error, or 0.
    pub(super) error: i32,
}
