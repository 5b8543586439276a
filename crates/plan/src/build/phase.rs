//! A phase: a collective of some of the ranks within a larger one.

use crate::call::{Call, Collective, NodeMap, Operation, Rank};
use crate::plan::Slice;

/// A collective of some of the ranks, as one phase of a larger one.
///
/// ```text
///   ranks of the plan     0   1   2   3   4   5
///   members               .   0   .   1   2   .       those of [1, 3, 4]
/// ```
///
/// The members call `operation` among themselves, as ranks `0..members.len()`. What is a buffer to
/// them is a slice to the algorithm that writes down the phase: any slice of the plan, but that
/// nothing may be written to the input.
#[derive(Clone, Debug)]
pub struct Phase<'a> {
    /// Who takes part, each once. A rank within the phase, such as a root, is a position here.
    pub members: &'a [Rank],
    /// What they call.
    pub operation: Operation,
    /// Where the data of the calling rank lies.
    pub data: Data,
}

/// Where the buffers of one rank of a [`Phase`] lie.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    /// In two places; [`Slice::NONE`] where the call has no such buffer.
    Apart {
        /// What is read.
        input: Slice,
        /// What is written.
        output: Slice,
    },
    /// In one place: the call is [in place](Call::in_place).
    InPlace(Slice),
}

/// What the ranks and buffers of a phase are in the whole plan.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) members: Vec<Rank>,
    pub(super) input: Slice,
    pub(super) output: Slice,
}

impl Phase<'_> {
    /// The call of one of the members.
    pub(super) fn call(&self, rank: Rank, element_bytes: usize) -> Call {
        assert!(self.operation.collective() != Collective::Barrier, "a barrier has no buffers");
        let ranks = Rank::from_index(self.members.len()).0;
        let in_place = matches!(self.data, Data::InPlace(_));
        let (nodes, operation) = (NodeMap::ONE, self.operation.clone());
        Call { rank, ranks, element_bytes, in_place, nodes, operation }
    }

    /// Input and output of `call`, which is that of this phase.
    pub(super) fn buffers(&self, call: &Call) -> (Slice, Slice) {
        let (input, output) = match self.data {
            Data::Apart { input, output } => (input, output),
            // In place a scatter has no output, and any other call no input.
            Data::InPlace(slice) if call.output_len() == 0 => (slice, Slice::NONE),
            Data::InPlace(slice) => (Slice::NONE, slice),
        };
        let lengths = (call.input_len(), call.output_len());
        assert_eq!((input.len, output.len), lengths, "buffers of {call:?}");
        assert!(!input.overlaps(output), "{input} overlaps {output}");
        (input, output)
    }
}
