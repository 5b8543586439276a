//! Writes the exported functions and the constants of the library from `tables/`, and gives it the
//! name by which programs look for it.

#[path = "generate/constants.rs"]
mod constants;
#[path = "generate/exports.rs"]
mod exports;
#[path = "generate/table.rs"]
mod table;

use std::env;
use std::fs;
use std::path::PathBuf;

/// The name that is in every program that was linked with any library of the standard interface.
const NAME: &str = "libmpi_abi.so.1";

fn main() {
    println!("cargo::rerun-if-changed=tables");
    println!("cargo::rerun-if-changed=generate");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{NAME}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let mut functions = table::functions();
    functions.extend(table::extensions());
    let constants = table::constants();
    for (file, text) in [
        ("exports.rs", exports::exports(&functions, &constants)),
        ("names.rs", exports::names(&functions)),
        ("constants.rs", constants::constants(&constants)),
    ] {
        fs::write(out.join(file), text).expect("what cargo made can be written to");
    }
}
