//! Chooses the number that a call returns for an error: a code with a text of its own, or the
//! class.

use std::env;
use std::ffi::c_int;
use std::sync::LazyLock;

use motet::{ErrorClass, ErrorCode};

use crate::error::{AbiError, AbiResult};

/// The variable that says which codes errors have.
pub(crate) const ERROR_CODES: &str = "MOTET_ERROR_CODES";

/// What it can be, and whether calls return classes then.
const VALUES: [(&str, bool); 2] = [("texts", false), ("classes", true)];

/// What it is, and whether calls return classes, if the value is one of those.
fn read() -> (String, Option<bool>) {
    let Some(value) = env::var_os(ERROR_CODES) else { return (String::new(), Some(false)) };
    let value = value.to_string_lossy().into_owned();
    let found = VALUES.iter().find(|(name, _)| *name == value);
    (value, found.map(|(_, classes)| *classes))
}

/// The number that the program gets for a code.
pub(crate) fn returned(ErrorCode(code): ErrorCode) -> c_int {
    static CLASSES: LazyLock<bool> = LazyLock::new(|| read().1.unwrap_or(false));
    if *CLASSES { class(code) } else { code }
}

/// The class of the standard that a code belongs to; a code of the program is what it is.
pub(crate) fn class(code: c_int) -> c_int {
    ErrorCode(code).class().map_or(code, ErrorClass::code)
}

/// # Errors
/// The variable has a value that there is not.
pub(crate) fn check_setting() -> AbiResult {
    match read() {
        (_, Some(_)) => Ok(()),
        (value, None) => {
            let text = format!("{ERROR_CODES} is `{value}`, not `texts` or `classes`");
            Err(AbiError::new(ErrorClass::Arg, text))
        }
    }
}
