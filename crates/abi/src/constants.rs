//! The constants of the interface, which `build.rs` generates from `tables/constants.tsv`.

#![allow(dead_code)] // there are constants that nobody here needs

use std::ffi::c_int;

use crate::handle::*;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
