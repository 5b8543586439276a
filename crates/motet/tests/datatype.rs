//! Datatypes against the standard's definitions, written out as plainly as they stand there.

#![allow(clippy::unwrap_used)] // the lint does not see that functions beside tests are tests

#[path = "datatype/arguments.rs"]
mod arguments;
#[path = "datatype/arrays.rs"]
mod arrays;
#[path = "datatype/bounds.rs"]
mod bounds;
#[path = "datatype/contents.rs"]
mod contents;
#[path = "datatype/external.rs"]
mod external;
#[path = "datatype/large.rs"]
mod large;
#[path = "datatype/named.rs"]
mod named;
#[path = "datatype/oracle.rs"]
mod oracle;
#[path = "datatype/random.rs"]
mod random;
#[path = "datatype/signatures.rs"]
mod signatures;
#[path = "datatype/speed.rs"]
mod speed;
#[path = "datatype/typed.rs"]
mod typed;
