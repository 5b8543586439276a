//! Chooses the number that a call returns for an error: a code with a text of its own, or the
//! class.

use std::ffi::c_int;
use std::sync::LazyLock;

use motet::env::returns_classes;
use motet::{ErrorClass, ErrorCode};

use crate::error::AbiResult;

/// The variable that says which codes errors have.
pub(crate) const ERROR_CODES: &str = motet::env::ERROR_CODES;

/// The number that the program gets for a code.
pub(crate) fn returned(ErrorCode(code): ErrorCode) -> c_int {
    static CLASSES: LazyLock<bool> = LazyLock::new(|| returns_classes().unwrap_or(false));
    if *CLASSES { class(code) } else { code }
}

/// The class of the standard that a code belongs to; a code of the program is what it is.
pub(crate) fn class(code: c_int) -> c_int {
    ErrorCode(code).class().map_or(code, ErrorClass::code)
}

/// # Errors
/// The variable has a value that there is not.
pub(crate) fn check_setting() -> AbiResult {
    Ok(returns_classes().map(drop)?)
}
