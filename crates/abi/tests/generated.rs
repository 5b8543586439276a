//! What is made from the tables is what lies there: the headers. With
//! `MOTET_REGENERATE=1` the tests write it again.

#[path = "../generate/header.rs"]
mod header;
#[path = "../generate/table.rs"]
mod table;

use std::path::Path;
use std::{env, fs};

/// Compares a file of the crate with what it is made from.
#[track_caller]
fn same(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os("MOTET_REGENERATE").is_some() {
        fs::write(&path, made).expect("the crate can be written to");
    }
    let lies = fs::read_to_string(&path).unwrap_or_default();
    let differs = lies.lines().zip(made.lines()).position(|(one, other)| one != other);
    assert!(
        lies == made,
        "{} (line {:?}) is not what the tables say: run `MOTET_REGENERATE=1 cargo test -p motet-abi \
         --test generated`",
        path.display(),
        differs.map(|line| line + 1),
    );
}

#[test]
fn the_header_is_that_of_the_tables() {
    let made = header::mpi(&table::functions(), &table::constants(), &table::callbacks());
    same("include/mpi.h", &made);
}

#[test]
fn the_header_of_extensions_is_that_of_its_table() {
    same("include/mpix.h", &header::mpix(&table::extensions()));
}
