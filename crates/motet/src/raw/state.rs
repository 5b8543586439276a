//! Initial states of untyped requests.

/// Kind of an operation that completed without error when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// A send.
    Send,
    /// A nonpersistent collective.
    Collective,
}

/// State in which an operation becomes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs once, and has been started.
    Once,
    /// It is persistent and inactive.
    Inactive,
    /// It is persistent and active.
    Active,
}
