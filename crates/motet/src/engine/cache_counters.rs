//! What the caches of a rank did.

/// What the caches of a rank did, since it joined the world: counted over all its communicators.
/// A program can see by them whether its hints `reuse` and `previous` meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounters {
    /// Plans that were made, those that were only measured included.
    pub plans_made: u64,
    /// Calls whose plan was there already.
    pub plans_found: u64,
    /// Choices that were made by measurement.
    pub choices_learned: u64,
    /// Inits with the hint `previous` that found what one with `reuse` has kept.
    pub previous_hits: u64,
    /// Inits with the hint `previous` that found nothing.
    pub previous_misses: u64,
}
