//! The exported functions, which `build.rs` generates from the tables.

#![allow(unsafe_code)] // listed in docs/unsafe.md
#![allow(clippy::undocumented_unsafe_blocks)] // all pass on what the caller promises by calling
#![allow(clippy::multiple_unsafe_ops_per_block)] // as above

use std::ffi::{c_char, c_int, c_void};

use crate::boundary::{anytime, boundary, missing, running, tool};
use crate::calls;
use crate::calls::Form;
use crate::constants::*;
use crate::count::{CountPlace, Counts, Width};
use crate::handle::*;
use crate::objects::MPI_Status;
use crate::out_params::making;

/// One function under both its names, each with the whole body: a tool may put its own `MPI_X`
/// before ours, and then `PMPI_X` must not come back to it.
macro_rules! export {
    ($name:ident ($($parameter:ident: $kind:ty),*) -> $result:ty $body:block) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($parameter: $kind),*) -> $result $body

        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C-unwind" fn twin($($parameter: $kind),*) -> $result $body
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
