//! The permitted length of a received message: at most, or exactly, the length of its receive.

/// The permitted length of a received message. A message longer than the receive is always refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// It may be shorter than the receive. The rest of the memory stays unchanged.
    Part,
    /// It has exactly the length of the receive; a shorter message is refused.
    Whole,
}
