//! What a refused call has to say.

use motet::{ErrorClass, World};

use crate::worlds::on_ranks;

/// What a call has come to: the class of its error and its text, if it was refused.
pub(super) type Refusal = Option<(ErrorClass, String)>;

/// Of a call, whatever it returns if it is not refused.
pub(super) fn refusal<T, E: Into<motet::Error>>(called: Result<T, E>) -> Refusal {
    let error = called.err().map(Into::into);
    error.map(|error: motet::Error| (error.class(), error.to_string()))
}

/// Calls with their names, and the class of the error that each must end with on each rank.
pub(super) type Calls<'a> = Vec<(&'a str, ErrorClass, Refusal)>;

/// Makes these calls on each of so many ranks: all of them are refused with their classes and say
/// which call it was, and the world works afterwards.
#[track_caller]
pub(super) fn are_refused(ranks: usize, calls: impl Fn(&World) -> motet::Result<Calls<'_>> + Sync) {
    on_ranks(ranks, |world| {
        for (call, class, refusal) in calls(world)? {
            let (found, text) = refusal.unwrap_or_else(|| panic!("{call} is not refused"));
            assert_eq!(found, class, "{call}: {text}");
            assert!(text.len() > 20, "{call} says too little: {text}");
        }
        assert_eq!(world.allreduce_one(world.rank() + 1, motet::Sum)?, ranks * (ranks + 1) / 2);
        Ok(())
    });
}
