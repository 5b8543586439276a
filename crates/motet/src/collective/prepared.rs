//! Prepared collective calls with their buffers.

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

/// A collective call that is ready to run.
pub(crate) struct PreparedCall {
    pub(crate) call: &'static str,
    pub(crate) shape: CollectiveArgs,
    pub(crate) kernel: Option<Box<dyn Kernel>>,
    /// Name of the operator, if the name of its type is not enough.
    pub(crate) operator: Option<&'static str>,
    pub(crate) element: TypeCode,
    pub(crate) element_bytes: usize,
    pub(crate) staging: Option<Box<PackedBuffers>>,
    /// The participants, if not all ranks. Boxed, since this is rare and calls are moved often.
    pub(crate) among: Option<Box<Participants>>,
    /// The hints of a persistent call.
    pub(crate) hints: Hints,
    /// Whether the library itself makes the call as part of another call.
    pub(crate) of_library: bool,
    /// Checks whether a number of elements are valid values of their type.
    #[cfg(debug_assertions)]
    pub(crate) assert_valid: Option<unsafe fn(*const u8, usize)>,
}

/// The ranks of a plan, and the caller's rank among them.
#[derive(Debug)]
pub(crate) struct Participants {
    /// Rank of the caller. Has no meaning if the group is empty.
    pub(crate) rank: usize,
    /// The ranks. Empty if the caller does nothing in the call.
    pub(crate) group: Group,
    /// The group that the caller passed, if the call takes one.
    pub(crate) passed: Option<Group>,
}

impl Participants {
    /// Makes the participants of a rank that does nothing in the call.
    pub(crate) fn nobody(passed: Option<Group>) -> Participants {
        Participants { rank: 0, group: Group::empty(), passed }
    }
}

impl PreparedCall {
    /// Makes a call that moves elements of type `T`.
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

    /// Marks the call as part of another call, made by the library itself: algorithms requested by
    /// name, by wisdom or by hints of the communicator do not apply to it.
    pub(crate) fn of_library(self) -> PreparedCall {
        PreparedCall { of_library: true, ..self }
    }

    /// Returns whether this rank does nothing: its buffers are held, but not accessed.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.among.as_ref().is_some_and(|among| among.group.is_empty())
    }

    /// Adds the packing of buffers of items, unless it has been added.
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

/// Returns the packed copies for streams of items: of an input, and of an output of which the
/// operation may leave parts unchanged.
///
/// # Safety
/// The operation that gets the packed copies holds the buffers.
unsafe fn staging_of(streams: [Option<StreamOf>; 2]) -> Option<Box<PackedBuffers>> {
    let [input, output] = streams;
    if input.is_none() && output.is_none() {
        return None;
    }
    let mut staging = PackedBuffers::new();
    let blocks = [(input, PackDirection::In), (output, PackDirection::Both)];
    for (items, direction) in
        blocks.into_iter().filter_map(|(items, direction)| Some((items?, direction)))
    {
        // SAFETY: passed on.
        unsafe { staging.add(items.staged(direction)) };
    }
    staging.boxed()
}
