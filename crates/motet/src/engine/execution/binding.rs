//! What a run works on, which may change from one execution to the next.

use motet_fabric::TypeCode;

use super::{Execution, OpKey};
use crate::base::group::Group;
use crate::data::buffer::RawSlice;
use crate::data::kernel::Kernel;

/// What a run works on, with whom, and under which number.
pub(crate) struct Binding {
    pub(crate) input: RawSlice,
    pub(crate) output: RawSlice,
    pub(crate) element: TypeCode,
    pub(crate) kernel: Option<Box<dyn Kernel>>,
    pub(crate) group: Group,
    pub(crate) number: OpKey,
}

impl Execution {
    /// Says on what, with whom and under which number the run works from now on.
    #[inline]
    pub(crate) fn bind(&mut self, binding: Binding) {
        self.memory.bind(binding.input, binding.output);
        if binding.element != self.element && binding.element.is_strict() {
            // Of another type, something may lie there that is no value of this one.
            self.memory.clear_scratch();
        }
        self.element = binding.element;
        self.polled = false; // the operation before may have ended while it was
        self.fault = None; // of the operation before
        self.kernel = binding.kernel;
        self.group = binding.group;
        self.number = binding.number;
    }

    /// Puts other addresses and another number into a run that was bound before.
    pub(crate) fn bind_again(&mut self, [input, output]: [*mut u8; 2], number: OpKey) {
        self.memory.bind_at(input, output);
        self.polled = false;
        self.fault = None; // of the execution before
        self.number = number;
    }
}
