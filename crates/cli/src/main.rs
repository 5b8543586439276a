//! The `motet` command.
fn main() {}
