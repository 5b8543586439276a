//! Costs of the modelled events, in nanoseconds.

/// Nanoseconds.
pub(super) type Nanos = u64;
pub(super) const US: Nanos = 1_000;
pub(super) const MS: Nanos = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// A context switch.
    pub(super) switch: Nanos,
    /// A yield that finds no other thread.
    pub(super) yield_alone: Nanos,
    /// To go to sleep and to return, and the same again to wake a sleeping thread: half of it each.
    pub(super) futex: Nanos,
    /// The time from a wake-up on an idle core until the thread runs.
    pub(super) idle_wake: Nanos,
    /// To send a message, and to receive one.
    pub(super) message: Nanos,
    /// The time until a spinning rank sees its condition.
    pub(super) poll: Nanos,
    /// How many times as long work takes as on a quiet machine.
    pub(super) work: f64,
    /// The slice of a thread that has not asked for one, as `sched_getattr` returns it.
    pub(super) slice: Nanos,
}

/// The machine of the measured points. Only `work` has been fitted to them: work on both cores at
/// once is slower than a program has measured alone.
pub(super) const COSTS: Costs = Costs {
    switch: 500,
    yield_alone: 200,
    futex: 3 * US,
    idle_wake: 7 * US,
    message: 250,
    poll: 50,
    work: 1.15,
    slice: 1_400 * US,
};
