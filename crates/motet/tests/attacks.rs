//! Attacks on memory safety with safe code alone, by kind: whatever a program does that compiles
//! ends with the right data, with an error, or with a panic that names the mistake. No byte
//! outside of a buffer changes, no value is one that its type does not have, and nothing that has
//! been given back is written later.
//!
//! What must not even compile is in `does_not_compile.md`.

mod worlds;

mod attacks {
    mod begun;
    mod bounds;
    mod callbacks;
    mod counts;
    mod elements;
    mod handles;
    mod lifetimes;
    mod sharing;
    mod strange;
    mod support;
    mod zero;
}
