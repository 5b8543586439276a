//! In which states operations become requests.

/// What an operation was that was over when it began, and ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// A send.
    Send,
    /// A collective that runs once.
    Collective,
}

/// In which state an operation becomes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs once, and has begun.
    Once,
    /// Persistent and inactive.
    Inactive,
    /// Persistent and active.
    Active,
}
