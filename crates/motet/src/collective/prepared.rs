//! Calls that are ready to be run, and the buffers that they are given.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::TypeCode;

use super::args::CollectiveArgs;
use crate::base::group::Group;
use crate::base::hints::Hints;
use crate::data::buffer::StreamOf;
use crate::data::kernel::Kernel;
use crate::engine::{PackDirection, PackedBuffers};
#[cfg(debug_assertions)]
use crate::types::element::assert_valid;
use crate::types::element::{Element, code_for};

/// A collective call, ready to be run.
pub(crate) struct PreparedCall {
    pub(crate) call: &'static str,
    pub(crate) shape: CollectiveArgs,
    pub(crate) kernel: Option<Box<dyn Kernel>>,
    /// The name of the operator, if that of its type says too little.
    pub(crate) operator: Option<&'static str>,
    pub(crate) element: TypeCode,
    pub(crate) element_bytes: usize,
    pub(crate) staging: Option<Box<PackedBuffers>>,
    /// Who takes part, if not all ranks: seldom, so calls, which are moved often, have no room.
    pub(crate) among: Option<Box<Participants>>,
    /// What its hints say of it, if it is a persistent one.
    pub(crate) hints: Hints,
    /// Whether it is a part of another call, which the library makes itself.
    pub(crate) of_library: bool,
    /// Tells whether so many elements are values of their type.
    #[cfg(debug_assertions)]
    pub(crate) assert_valid: Option<unsafe fn(*const u8, usize)>,
}

/// The ranks that a plan is for, and which of them is the caller.
#[derive(Debug)]
pub(crate) struct Participants {
    /// Of the caller. Means nothing if the group is empty.
    pub(crate) rank: usize,
    /// Empty if there is nothing to do for the caller.
    pub(crate) group: Group,
    /// The group that the caller has passed, if the call takes one.
    pub(crate) passed: Option<Group>,
}

impl Participants {
    /// For a rank that has nothing to do in a call.
    pub(crate) fn nobody(passed: Option<Group>) -> Participants {
        Participants { rank: 0, group: Group::empty(), passed }
    }
}

impl PreparedCall {
    /// A call that moves elements of this type.
    pub(crate) fn new<T: Element>(
        call: &'static str,
        shape: CollectiveArgs,
        kernel: Option<Box<dyn Kernel>>,
    ) -> PreparedCall {
        let element_bytes = if shape.is_barrier() { 0 } else { size_of::<T>() };
        let (mut shape, mut staging) = (shape, None);
        if T::HAS_PADDING {
            let mut padded = PackedBuffers::new();
            // SAFETY (both): the operation that is prepared holds the buffers, of such elements;
            // it writes to its output.
            if shape.input.len > 0 {
                // SAFETY: see above.
                shape.input = unsafe { padded.cover::<T>(shape.input) };
            }
            if shape.output.len > 0 {
                // SAFETY: see above.
                unsafe { padded.cover_in_place::<T>(shape.output) };
            }
            staging = padded.boxed();
        }
        PreparedCall {
            call,
            shape,
            kernel,
            operator: None,
            element: code_for::<T>(),
            element_bytes,
            staging,
            among: None,
            hints: Hints::default(),
            of_library: false,
            #[cfg(debug_assertions)]
            assert_valid: Some(assert_valid::<T>),
        }
    }

    /// The same as a part of another call, made by the library itself: what the user asks for by
    /// name, by wisdom or by hints of the communicator does not choose its algorithm.
    pub(crate) fn of_library(self) -> PreparedCall {
        PreparedCall { of_library: true, ..self }
    }

    /// Whether there is nothing to do for this rank: its buffers are held, but not looked at.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.among.as_ref().is_some_and(|among| among.group.is_empty())
    }

    /// What has to be done for buffers of items, unless somebody has taken care of that.
    ///
    /// # Safety
    /// The operation that is prepared holds the buffers.
    #[inline] // or the call would be moved once more
    pub(super) unsafe fn stage(&mut self, items: [Option<StreamOf>; 2]) {
        let is_needed = items.iter().any(Option::is_some);
        if is_needed && self.staging.is_none() && !self.is_idle() {
            // SAFETY: passed on.
            self.staging = unsafe { staging_of(items) };
        }
    }
}

/// What has to be moved to the streams of items and back: an input, and an output that the
/// operation may leave as it is in part.
///
/// # Safety
/// The operation that the staging is given to holds the buffers.
unsafe fn staging_of(streams: [Option<StreamOf>; 2]) -> Option<Box<PackedBuffers>> {
    let [input, output] = streams;
    if input.is_none() && output.is_none() {
        return None;
    }
    let mut staging = PackedBuffers::new();
    let blocks = [(input, PackDirection::In), (output, PackDirection::Both)];
    for (items, way) in blocks.into_iter().filter_map(|(items, way)| Some((items?, way))) {
        // SAFETY: passed on.
        unsafe { staging.add(items.staged(way)) };
    }
    staging.boxed()
}
