//! Error classes, codes and strings, including those that a program adds. (MPI 4.1 §9.4, §9.5)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use motet::{ErrorCode, ErrorCodes};

use super::predefined;
use crate::constants::*;
use crate::error::{AbiError, AbiErrorSite, AbiResult, argument};
use crate::out_params::put;
use crate::text;

fn codes() -> MutexGuard<'static, ErrorCodes> {
    static CODES: LazyLock<Mutex<ErrorCodes>> = LazyLock::new(Mutex::default);
    CODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The classes that the interface for tools has for itself.
const OF_TOOLS: [(c_int, &str, &str); 18] = [
    (MPI_T_ERR_CANNOT_INIT, "CANNOT_INIT", "the interface for tools cannot be initialised"),
    (MPI_T_ERR_NOT_ACCESSIBLE, "NOT_ACCESSIBLE", "something that cannot be looked at now"),
    (MPI_T_ERR_NOT_INITIALIZED, "NOT_INITIALIZED", "the interface for tools is not initialised"),
    (MPI_T_ERR_NOT_SUPPORTED, "NOT_SUPPORTED", "something that is not supported"),
    (MPI_T_ERR_MEMORY, "MEMORY", "no memory left"),
    (MPI_T_ERR_INVALID, "INVALID", "a wrong argument or a call at the wrong time"),
    (MPI_T_ERR_INVALID_INDEX, "INVALID_INDEX", "a wrong index of a variable or category"),
    (MPI_T_ERR_INVALID_ITEM, "INVALID_ITEM", "a wrong index of an item"),
    (MPI_T_ERR_INVALID_SESSION, "INVALID_SESSION", "a wrong session of performance variables"),
    (MPI_T_ERR_INVALID_HANDLE, "INVALID_HANDLE", "a wrong handle of a variable"),
    (MPI_T_ERR_INVALID_NAME, "INVALID_NAME", "a name of no variable or category"),
    (MPI_T_ERR_OUT_OF_HANDLES, "OUT_OF_HANDLES", "no more handles"),
    (MPI_T_ERR_OUT_OF_SESSIONS, "OUT_OF_SESSIONS", "no more sessions"),
    (MPI_T_ERR_CVAR_SET_NOT_NOW, "CVAR_SET_NOT_NOW", "a variable that cannot be set now"),
    (MPI_T_ERR_CVAR_SET_NEVER, "CVAR_SET_NEVER", "a variable that cannot be set"),
    (MPI_T_ERR_PVAR_NO_WRITE, "PVAR_NO_WRITE", "a variable that cannot be written"),
    (MPI_T_ERR_PVAR_NO_STARTSTOP, "PVAR_NO_STARTSTOP", "a variable that always counts"),
    (MPI_T_ERR_PVAR_NO_ATOMIC, "PVAR_NO_ATOMIC", "a variable that is not read and reset at once"),
];

/// The class of a code.
fn class_of(code: c_int) -> Option<c_int> {
    if code == MPI_SUCCESS || OF_TOOLS.iter().any(|&(each, ..)| each == code) {
        return Some(code);
    }
    codes().class_of(ErrorCode(code)).map(|ErrorCode(class)| class)
}

/// What a code means.
pub(crate) fn text_of(code: c_int) -> Option<String> {
    if code == MPI_SUCCESS {
        return Some("MPI_SUCCESS: no error".to_owned());
    }
    let of_tools = OF_TOOLS.iter().find(|&&(each, ..)| each == code);
    let of_tools = of_tools.map(|(_, name, text)| format!("MPI_T_ERR_{name}: {text}"));
    of_tools.or_else(|| codes().text_of(ErrorCode(code)))
}

/// An error that the program passes to the error handler of a site; the call does nothing else.
#[cold]
pub(crate) fn requested(site: AbiErrorSite, code: c_int) -> AbiError {
    let text = text_of(code).filter(|text| !text.is_empty());
    AbiError::requested(site, code, text.unwrap_or_else(|| format!("error {code}")))
}

/// Changes what the program has added.
fn change<T>(change: impl FnOnce(&mut ErrorCodes) -> motet::Result<T>) -> AbiResult<T> {
    let mut codes = codes();
    let changed = change(&mut codes)?;
    predefined::last_used_code(codes.last_used().0);
    Ok(changed)
}

fn unknown<T>(code: c_int) -> AbiResult<T> {
    Err(argument(format!("{code} is not an error code")))
}

/// `MPI_Add_error_class`
pub(crate) unsafe fn add_error_class(errorclass: *mut c_int) -> AbiResult {
    let ErrorCode(class) = change(ErrorCodes::add_class)?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errorclass, class) }
}

/// `MPI_Add_error_code`
pub(crate) unsafe fn add_error_code(errorclass: c_int, errorcode: *mut c_int) -> AbiResult {
    let ErrorCode(code) = change(|codes| codes.add_code(ErrorCode(errorclass)))?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errorcode, code) }
}

/// `MPI_Add_error_string`
pub(crate) unsafe fn add_error_string(errorcode: c_int, string: *const c_char) -> AbiResult {
    // SAFETY: a string of the caller.
    let text = unsafe { text::read("text of an error", string) }?;
    change(|codes| codes.set_text(ErrorCode(errorcode), text))
}

/// `MPI_Error_class`
pub(crate) unsafe fn error_class(errorcode: c_int, errorclass: *mut c_int) -> AbiResult {
    let Some(class) = class_of(errorcode) else { return unknown(errorcode) };
    // SAFETY: room for a result of the caller.
    unsafe { put(errorclass, class) }
}

/// `MPI_Error_string`
pub(crate) unsafe fn error_string(
    errorcode: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> AbiResult {
    let Some(text) = text_of(errorcode) else { return unknown(errorcode) };
    // SAFETY: room for so much, says the standard.
    let len = unsafe { text::write(&text, string, MPI_MAX_ERROR_STRING as usize) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(resultlen, len as c_int) }
}

/// `MPI_Remove_error_class`
pub(crate) fn remove_error_class(errorclass: c_int) -> AbiResult {
    change(|codes| codes.remove_class(ErrorCode(errorclass)))
}

/// `MPI_Remove_error_code`
pub(crate) fn remove_error_code(errorcode: c_int) -> AbiResult {
    change(|codes| codes.remove_code(ErrorCode(errorcode)))
}

/// `MPI_Remove_error_string`
pub(crate) fn remove_error_string(errorcode: c_int) -> AbiResult {
    change(|codes| codes.remove_text(ErrorCode(errorcode)))
}
