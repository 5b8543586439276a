//! What can be timed.

/// A measured operation that can be run repeatedly, and detects wrong results.
pub(super) trait Timed {
    /// Fills the inputs, and overwrites the outputs.
    fn fill(&mut self);

    /// Runs once. Returns whether the result is that of this run, judged by one element.
    fn run(&mut self) -> motet::Result<bool>;

    /// Compares all outputs with the expected values after the last run.
    fn check(&mut self) -> anyhow::Result<()>;
}
