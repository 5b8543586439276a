//! Phases by algorithms of the table: a collective of some of the ranks within a larger one.

use super::Algorithm;
use crate::build::{Builder, Phase};

impl Builder<'_> {
    /// Lets another algorithm write down its steps for a collective of some of the ranks. There is
    /// nothing to do for a rank that is not one of them, so all ranks may call this alike.
    ///
    /// # Panics
    /// If the phase is not a call that `row` accepts, a buffer has not the length that the call
    /// says, or input and output overlap: the algorithm that asks for it is at fault. So is one
    /// that asks for a barrier, which has no buffers to be mapped: its tokens lie in the scratch
    /// memory of the whole plan, and move by a gather or a broadcast of one element.
    pub fn within(&mut self, row: &'static dyn Algorithm, phase: &Phase<'_>) {
        let Some(call) = self.call_in(phase) else { return };
        assert!(call.collective() == row.collective(), "{row:?} in a phase of {call:?}");
        assert_eq!((call.check(), row.accepts(&call)), (Ok(()), Ok(())), "{row:?}, {call:?}");
        self.record_phase(phase, &call, |inner| row.build(&call, inner));
    }
}
