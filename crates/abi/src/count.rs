//! Counts of both widths: `int` and `MPI_Count`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::ErrorClass;

use crate::constants::MPI_UNDEFINED;
use crate::error::{AbiError, AbiResult};

/// The width of the counts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// `int`
    Int,
    /// `MPI_Count`
    Count,
}

/// A list of counts, displacements or lengths of the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counts {
    /// As `int`.
    Ints(*const c_int),
    /// As `MPI_Count` or `MPI_Aint`.
    Large(*const i64),
}

impl Counts {
    pub(crate) fn ints(list: *const c_int) -> Counts {
        Counts::Ints(list)
    }

    pub(crate) fn large(list: *const i64) -> Counts {
        Counts::Large(list)
    }

    pub(crate) fn is_null(self) -> bool {
        match self {
            Counts::Ints(list) => list.is_null(),
            Counts::Large(list) => list.is_null(),
        }
    }

    /// An element of the list.
    ///
    /// # Safety
    /// The list has more than `place` elements.
    pub(crate) unsafe fn get(self, place: usize) -> i64 {
        match self {
            Counts::Ints(list) => {
                let element = list.wrapping_add(place);
                // SAFETY: promised by the caller.
                i64::from(unsafe { element.read_unaligned() })
            }
            Counts::Large(list) => {
                let element = list.wrapping_add(place);
                // SAFETY: promised by the caller.
                unsafe { element.read_unaligned() }
            }
        }
    }

    /// The first elements of the list.
    ///
    /// # Safety
    /// The list has so many elements, or is null.
    ///
    /// # Errors
    /// No list, where there should be elements.
    pub(crate) unsafe fn list(self, len: usize) -> AbiResult<Vec<i64>> {
        if self.is_null() && len > 0 {
            return Err(AbiError::new(ErrorClass::Arg, "a list of counts is NULL"));
        }
        // SAFETY: promised by the caller.
        Ok((0..len).map(|place| unsafe { self.get(place) }).collect())
    }
}

/// Where a count of the caller is to be put, or several of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountPlace {
    /// As `int`.
    Int(*mut c_int),
    /// As `MPI_Count` or `MPI_Aint`.
    Large(*mut i64),
}

impl CountPlace {
    pub(crate) fn ints(place: *mut c_int) -> CountPlace {
        CountPlace::Int(place)
    }

    pub(crate) fn large(place: *mut i64) -> CountPlace {
        CountPlace::Large(place)
    }

    /// # Errors
    /// That it is nowhere.
    fn check(self) -> AbiResult {
        let is_null = match self {
            CountPlace::Int(place) => place.is_null(),
            CountPlace::Large(place) => place.is_null(),
        };
        if is_null {
            return Err(AbiError::new(ErrorClass::Arg, "the address for a result is NULL"));
        }
        Ok(())
    }

    /// Puts a count there; `MPI_UNDEFINED` if it is none or does not fit.
    ///
    /// # Safety
    /// The place may be written, or is null.
    ///
    /// # Errors
    /// That it is nowhere.
    pub(crate) unsafe fn set(self, count: Option<i64>) -> AbiResult {
        // SAFETY: promised by the caller.
        unsafe { self.set_nth(0, count) }
    }

    /// Puts a count into a place of several; `MPI_UNDEFINED` if it is none or does not fit.
    ///
    /// # Safety
    /// There are more than `nth` places, which may be written, or it is null.
    ///
    /// # Errors
    /// That it is nowhere.
    pub(crate) unsafe fn set_nth(self, nth: usize, count: Option<i64>) -> AbiResult {
        self.check()?;
        match self {
            CountPlace::Int(place) => {
                let count = count.and_then(|count| c_int::try_from(count).ok());
                // SAFETY: promised by the caller.
                let place = unsafe { place.add(nth) };
                // SAFETY: promised by the caller.
                unsafe { place.write_unaligned(count.unwrap_or(MPI_UNDEFINED)) };
            }
            CountPlace::Large(place) => {
                // SAFETY: promised by the caller.
                let place = unsafe { place.add(nth) };
                // SAFETY: promised by the caller.
                unsafe { place.write_unaligned(count.unwrap_or(i64::from(MPI_UNDEFINED))) };
            }
        }
        Ok(())
    }

    /// The count that is there.
    ///
    /// # Safety
    /// The place may be read, or is null.
    ///
    /// # Errors
    /// That it is nowhere.
    pub(crate) unsafe fn get(self) -> AbiResult<i64> {
        self.check()?;
        Ok(match self {
            // SAFETY: promised by the caller.
            CountPlace::Int(place) => i64::from(unsafe { place.read_unaligned() }),
            // SAFETY: promised by the caller.
            CountPlace::Large(place) => unsafe { place.read_unaligned() },
        })
    }
}
