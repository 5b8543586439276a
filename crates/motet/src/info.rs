//! Hints for persistent operations.

use std::collections::BTreeMap;

/// Hints, as keys with values. Unknown keys are ignored; hints never change results.
/// (MPI 4.1 §10)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(BTreeMap<String, String>);

impl Info {
    /// No hints.
    pub fn new() -> Info {
        Info::default()
    }

    /// The same hints and one more; a key that is there already takes the new value.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Info {
        self.0.insert(key.into(), value.into());
        self
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}
