//! `start_all`: starts several persistent operations in one call. (MPI 5.0 §3.9, `MPI_Startall`)

use super::{Persistent, Running};
use crate::base::error::Result;
use crate::data::buffer::StableBuffer;

/// Persistent operations that one call can start: a single one, a `Vec` of one kind, or a tuple of
/// several kinds. The order of the starts has no meaning, and may differ between ranks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be started",
    label = "no persistent operations",
    note = "pass a `Persistent`, a `Vec` of them, or a tuple of up to four; what runs already is \
            waited for first; those that are to stay where they are have `begin`"
)]
pub trait Start {
    /// The running operations.
    type Running;

    /// Starts all operations.
    ///
    /// # Errors
    /// As [`Persistent::start`].
    fn start_all(self) -> Result<Self::Running>;
}

/// Starts several persistent operations. (MPI 5.0 §3.9, `MPI_Startall`)
///
/// # Errors
/// As [`Persistent::start`].
pub fn start_all<S: Start>(operations: S) -> Result<S::Running> {
    operations.start_all()
}

impl<B: StableBuffer + 'static> Start for Persistent<B> {
    type Running = Running<B>;

    fn start_all(self) -> Result<Running<B>> {
        self.start()
    }
}

impl<S: Start> Start for Vec<S> {
    type Running = Vec<S::Running>;

    fn start_all(self) -> Result<Self::Running> {
        self.into_iter().map(S::start_all).collect()
    }
}

macro_rules! start_tuples {
    ($(($($name:ident $place:tt),+))*) => {$(
        impl<$($name: Start),+> Start for ($($name,)+) {
            type Running = ($($name::Running,)+);

            fn start_all(self) -> Result<Self::Running> {
                Ok(($(self.$place.start_all()?,)+))
            }
        }
    )*};
}

start_tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }
