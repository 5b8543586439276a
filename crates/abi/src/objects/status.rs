//! The layout of `MPI_Status`, and its conversion from outcomes of operations.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{PROC_NULL, Source, Tag, TagFilter, raw};

use crate::constants::{self, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS};
use crate::error_codes::returned;

/// `MPI_Status`. Its internal fields: the number of received bytes as two halves, and whether the
/// operation was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct MPI_Status {
    pub(crate) MPI_SOURCE: c_int,
    pub(crate) MPI_TAG: c_int,
    pub(crate) MPI_ERROR: c_int,
    pub(crate) MPI_internal: [c_int; 5],
}

impl MPI_Status {
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.MPI_internal[1] as u32) << 32 | u64::from(self.MPI_internal[0] as u32)
    }

    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.MPI_internal[0] = bytes as c_int;
        self.MPI_internal[1] = (bytes >> 32) as c_int;
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.MPI_internal[2] != 0
    }

    pub(crate) fn set_cancelled(&mut self, cancelled: bool) {
        self.MPI_internal[2] = c_int::from(cancelled);
    }

    /// Writes the result of an operation for the caller, without the error: only calls on several
    /// operations report errors there, and they write them themselves.
    ///
    /// # Safety
    /// There is a status at the address, or it is null.
    pub(crate) unsafe fn tell(place: *mut MPI_Status, status: &raw::Status) {
        if place.is_null() {
            return;
        }
        // SAFETY: promised by the caller.
        let former = unsafe { place.read() };
        let mut told = MPI_Status::from(status);
        told.MPI_ERROR = former.MPI_ERROR;
        // SAFETY: promised by the caller.
        unsafe { place.write(told) };
    }

    /// Writes the result of an operation for the caller: the message that was received, or that was
    /// refused.
    ///
    /// # Safety
    /// As [`MPI_Status::tell`].
    ///
    /// # Errors
    /// The error of the operation.
    #[inline]
    pub(crate) unsafe fn tell_outcome(
        place: *mut MPI_Status,
        outcome: motet::Result<raw::Status>,
    ) -> motet::Result<()> {
        match outcome {
            Ok(status) => {
                // SAFETY: passed on.
                unsafe { MPI_Status::tell(place, &status) };
                Ok(())
            }
            Err(error) => {
                // SAFETY: passed on.
                unsafe { MPI_Status::tell_refused(place, &error) };
                Err(error)
            }
        }
    }

    /// Writes for the caller which message an operation has refused, if that is the error.
    ///
    /// # Safety
    /// As [`MPI_Status::tell`].
    #[cold]
    pub(crate) unsafe fn tell_refused(place: *mut MPI_Status, error: &motet::Error) {
        if let Some(refused) = error.refused() {
            // SAFETY: passed on.
            unsafe { MPI_Status::tell(place, &refused.into()) };
        }
    }

    /// Writes for the caller that there was no operation, and therefore no error.
    ///
    /// # Safety
    /// As [`MPI_Status::tell`].
    pub(crate) unsafe fn tell_empty(place: *mut MPI_Status) {
        if !place.is_null() {
            // SAFETY: promised by the caller.
            unsafe { place.write(MPI_Status::from(&raw::Status::EMPTY)) };
        }
    }
}

/// A status that the program has filled in. Its source and its tag come out unchanged.
impl From<&MPI_Status> for raw::Status {
    fn from(told: &MPI_Status) -> raw::Status {
        raw::Status {
            source: match told.MPI_SOURCE {
                MPI_ANY_SOURCE => Source::Any,
                constants::MPI_PROC_NULL => Source::Rank(PROC_NULL),
                rank => Source::Rank(rank as usize),
            },
            tag: match told.MPI_TAG {
                MPI_ANY_TAG => TagFilter::Any,
                tag => TagFilter::Tag(Tag(tag as u32)),
            },
            bytes: told.bytes(),
            cancelled: told.is_cancelled(),
            ..raw::Status::EMPTY
        }
    }
}

impl From<&raw::Status> for MPI_Status {
    fn from(status: &raw::Status) -> MPI_Status {
        let mut told = MPI_Status {
            MPI_SOURCE: source(status.source),
            MPI_TAG: tag(status.tag),
            MPI_ERROR: status.error.map_or(MPI_SUCCESS, returned),
            MPI_internal: [0; 5],
        };
        told.set_bytes(status.bytes);
        told.set_cancelled(status.cancelled);
        told
    }
}

fn source(source: Source) -> c_int {
    match source {
        Source::Any => MPI_ANY_SOURCE,
        Source::Rank(PROC_NULL) => constants::MPI_PROC_NULL,
        Source::Rank(rank) => rank as c_int,
    }
}

fn tag(tag: TagFilter) -> c_int {
    match tag {
        TagFilter::Any => MPI_ANY_TAG,
        TagFilter::Tag(Tag(tag)) => tag as c_int,
    }
}
