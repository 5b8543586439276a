//! Callbacks of a program, one for each callback type of the standard.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use crate::handle::Callback;

/// A function that fits the parameter; for some, one of the predefined ones, or none.
pub(super) fn of(parameter: &str, roll: usize) -> Callback {
    let is_predefined = roll.is_multiple_of(3);
    match parameter {
        _ if parameter.contains("_cb_") => std::ptr::null(),
        _ if parameter.contains("copy") && is_predefined => (roll / 3 % 2) as Callback,
        _ if parameter.contains("delete") && is_predefined => std::ptr::null(),
        _ if parameter.contains("copy") => copy as Callback,
        _ if parameter.contains("delete") => delete as Callback,
        _ if parameter.contains("errhandler") => hear as Callback,
        "query_fn" => query as Callback,
        "free_fn" => free as Callback,
        "cancel_fn" => cancel as Callback,
        "user_fn" if roll.is_multiple_of(20) => std::ptr::null(),
        "user_fn" => combine as Callback,
        // Of what there is not.
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn copy(
    _bearer: usize,
    _keyval: c_int,
    _extra: *mut c_void,
    value: *mut c_void,
    result: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    unsafe { *result = value };
    unsafe { *flag = 1 };
    0
}

unsafe extern "C" fn delete(_: usize, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn hear(_bearer: *mut usize, _code: *mut c_int) {}

unsafe extern "C" fn query(_extra: *mut c_void, _status: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn free(_extra: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn cancel(_extra: *mut c_void, _complete: c_int) -> c_int {
    0
}

unsafe extern "C" fn combine(_: *mut c_void, _: *mut c_void, _: *mut c_void, _: *mut c_void) {}
