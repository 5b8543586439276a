//! Operators: the predefined ones against plain loops over numbers, and functions of the user.

#![allow(clippy::unwrap_used)] // the lint does not see that functions beside tests are tests

#[path = "operators/local.rs"]
mod local;
#[path = "operators/located.rs"]
mod located;
#[path = "operators/table.rs"]
mod table;
#[path = "operators/user.rs"]
mod user;
#[path = "operators/value.rs"]
mod value;
mod worlds;
