//! The settings of the library as MPI_T control variables.

use std::env;
use std::ffi::c_int;

use crate::constants::{
    MPI_T_VERBOSITY_TUNER_BASIC as TUNER, MPI_T_VERBOSITY_TUNER_DETAIL as DETAIL,
    MPI_T_VERBOSITY_USER_BASIC as USER,
};
use crate::error_codes;
use crate::objects;

/// A variable of the environment that the library looks at when it is initialised.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// For whom it is.
    pub(crate) verbosity: c_int,
}

impl Setting {
    /// What it says; nothing if it is not set.
    pub(crate) fn value(&self) -> String {
        env::var_os(self.name).map_or(String::new(), |value| value.to_string_lossy().into_owned())
    }
}

const fn setting(name: &'static str, verbosity: c_int, meaning: &'static str) -> Setting {
    Setting { name, meaning, verbosity }
}

/// All of them.
pub(crate) static ALL: [Setting; 12] = [
    setting(
        motet::env::ALGORITHM,
        TUNER,
        "Algorithms to use, as in allreduce=ring,bcast=binomial.",
    ),
    setting(motet::env::WISDOM, TUNER, "A file with measured choices of algorithms, or its lines."),
    setting(
        motet::env::SAVE_WISDOM,
        TUNER,
        "A file into which each rank merges its measured choices.",
    ),
    setting(
        motet::env::MACHINE,
        TUNER,
        "A file with the prices of this machine, its lines, or off.",
    ),
    setting(
        motet::env::SINGLE_COPY,
        DETAIL,
        "off: never use cross-memory attach for large messages.",
    ),
    setting(motet::env::CHANNELS, DETAIL, "off: persistent operations send tagged messages."),
    setting(motet::env::CHECK, USER, "1: the ranks compare their collective calls."),
    setting(
        motet::env::HANG_SECONDS,
        USER,
        "Report each wait that takes longer than this, in seconds.",
    ),
    setting(motet::env::MAX_PENDING, USER, "The largest number of pending operations of a rank."),
    setting(
        motet::env::RANKS_PER_NODE,
        DETAIL,
        "The number of consecutive ranks to treat as one node.",
    ),
    setting(objects::INITIAL_HANDLER, USER, "The initial error handler of a program."),
    setting(error_codes::ERROR_CODES, USER, "classes: calls return error classes, not codes."),
];
