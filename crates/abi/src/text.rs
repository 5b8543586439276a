//! Reads and writes C strings.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, c_char};

use crate::error::{AbiResult, argument};

/// A string of the caller.
///
/// # Safety
/// It ends with a zero byte, or is null.
///
/// # Errors
/// No string, or one that is not UTF-8.
pub(crate) unsafe fn read<'a>(which: &str, text: *const c_char) -> AbiResult<&'a str> {
    if text.is_null() {
        return Err(argument(format!("the {which} is NULL")));
    }
    // SAFETY: promised by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| argument(format!("the {which} is not UTF-8")))
}

/// Copies a string to the caller, cut so that it has at most `room` bytes with the zero at its end.
/// Says how long it is there, without the zero.
///
/// # Safety
/// There is room for so many bytes, or it is null.
///
/// # Errors
/// No place.
pub(crate) unsafe fn write(text: &str, to: *mut c_char, room: usize) -> AbiResult<usize> {
    if to.is_null() {
        return Err(argument("the place for a string is NULL"));
    }
    let mut len = text.len().min(room.saturating_sub(1));
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    if room > 0 {
        // SAFETY: there is room for so much, says the caller.
        unsafe { text.as_ptr().cast::<c_char>().copy_to(to, len) };
        // SAFETY: as above.
        let end = unsafe { to.add(len) };
        // SAFETY: as above: there is room for one more.
        unsafe { end.write(0) };
    }
    Ok(len)
}
