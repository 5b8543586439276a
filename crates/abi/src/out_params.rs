//! Access to memory that the caller points to: output parameters and lists.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::slice;

use crate::error::{AbiResult, argument};

/// Checks that the caller has passed an address for a result, before any work is done for it.
///
/// # Errors
/// If the address is null.
pub(crate) fn expect_place<T>(place: *mut T) -> AbiResult {
    if place.is_null() {
        return Err(argument("the address for a result is NULL"));
    }
    Ok(())
}

/// Writes a result to the address that the caller has passed.
///
/// # Safety
/// There is room for the value at the address, or the address is null.
///
/// # Errors
/// If the address is null.
#[inline]
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> AbiResult {
    expect_place(place)?;
    // SAFETY: promised by the caller.
    unsafe { place.write(value) };
    Ok(())
}

/// Runs `work`, which writes a new handle to `place`. If the work fails, writes the null handle
/// there, so the caller can tell which handles it must free.
///
/// # Safety
/// There is room for a handle at the address, or the address is null.
///
/// # Errors
/// Those of the work.
#[inline]
pub(crate) unsafe fn making<H, E>(
    place: *mut H,
    null: H,
    work: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    work().inspect_err(|_| {
        if !place.is_null() {
            // SAFETY: promised by the caller.
            unsafe { place.write(null) };
        }
    })
}

/// What the caller has put into a place that is for a result as well.
///
/// # Safety
/// It may be read, or is null.
///
/// # Errors
/// No place.
pub(crate) unsafe fn get<T: Copy>(place: *const T) -> AbiResult<T> {
    if place.is_null() {
        return Err(argument("the place of an argument is NULL"));
    }
    // SAFETY: promised by the caller.
    Ok(unsafe { place.read() })
}

/// A list of the caller.
///
/// # Safety
/// It has so many elements, which nobody changes meanwhile, or is null.
///
/// # Errors
/// No list, where there should be elements; a negative length.
pub(crate) unsafe fn list<'a, T>(which: &str, list: *const T, len: i64) -> AbiResult<&'a [T]> {
    let len = usize::try_from(len)
        .map_err(|_| argument(format!("the {which} would have {len} elements")))?;
    if len == 0 {
        return Ok(&[]);
    }
    if list.is_null() {
        return Err(argument(format!("the {which} is NULL")));
    }
    // SAFETY: promised by the caller.
    Ok(unsafe { slice::from_raw_parts(list, len) })
}

/// Puts results into a list of the caller, one behind the other.
///
/// # Safety
/// There is room for so many, or it is null.
///
/// # Errors
/// No list, where there are results.
pub(crate) unsafe fn put_all<T>(
    which: &str,
    list: *mut T,
    values: impl IntoIterator<Item = T>,
) -> AbiResult {
    for (place, value) in values.into_iter().enumerate() {
        if list.is_null() {
            return Err(argument(format!("the place for the {which} is NULL")));
        }
        // SAFETY: promised by the caller.
        let place = unsafe { list.add(place) };
        // SAFETY: as above.
        unsafe { place.write(value) };
    }
    Ok(())
}
