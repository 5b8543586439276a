//! A binding supplies an execution with buffers, datatype, operator, group and number. They may
//! change from one execution to the next; the plan stays.

use motet_fabric::TypeCode;

use super::{Execution, OpKey};
use crate::base::group::Group;
use crate::data::buffer::RawSlice;
use crate::data::kernel::Kernel;

/// The buffers, datatype, operator, ranks and number of an execution.
pub(crate) struct Binding {
    pub(crate) input: RawSlice,
    pub(crate) output: RawSlice,
    pub(crate) element: TypeCode,
    pub(crate) kernel: Option<Box<dyn Kernel>>,
    pub(crate) group: Group,
    pub(crate) number: OpKey,
}

impl Execution {
    /// Sets the buffers, datatype, operator, ranks and number of the next execution.
    #[inline]
    pub(crate) fn bind(&mut self, binding: Binding) {
        self.memory.bind(binding.input, binding.output);
        if binding.element != self.element && binding.element.is_strict() {
            // Scratch memory may hold bytes that are no value of the new type.
            self.memory.clear_scratch();
        }
        self.element = binding.element;
        self.polled = false; // the operation before may have ended while it was
        self.fault = None; // of the operation before
        self.kernel = binding.kernel;
        self.group = binding.group;
        self.number = binding.number;
    }

    /// Replaces the buffer addresses and the number of an execution that was bound before.
    pub(crate) fn bind_again(&mut self, [input, output]: [*mut u8; 2], number: OpKey) {
        self.memory.bind_at(input, output);
        self.polled = false;
        self.fault = None; // of the execution before
        self.number = number;
    }

    /// Like [`Execution::bind_again`]; a buffer without a new address stays where it is.
    pub(crate) fn bind_moved(&mut self, moved: [Option<*mut u8>; 2], number: OpKey) {
        let [input, output, _] = self.memory.bases();
        let [moved_input, moved_output] = moved;
        self.bind_again([moved_input.unwrap_or(input), moved_output.unwrap_or(output)], number);
    }
}
