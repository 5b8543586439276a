//! The errors that the documentation of the calls names: each of them comes, with its class, and
//! leaves the communicator as it was. Those after a death are in `death.rs`, those of error codes
//! and of attributes in `errors.rs` and `attributes.rs`, those of an operator that calls the
//! library in `within_operator.rs`.

mod worlds;

mod documented_errors {
    mod collectives;
    mod local;
    mod messages;
    mod neighbours;
    mod ranks_that_differ;
    mod refused;
}
