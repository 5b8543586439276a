//! What the attacks share.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};

use motet::{Result, Settings, World};

use crate::worlds::Watchdog;

/// What became of each rank.
pub(super) type Outcomes<T> = Result<Vec<Result<T>>>;

/// Runs `body` on each rank of a world of threads, under a watchdog. Errors are outcomes.
pub(super) fn outcomes<T: Send>(
    ranks: usize,
    body: impl Fn(&World) -> Result<T> + Sync,
) -> Outcomes<T> {
    let settings = Settings::from_environment()?;
    outcomes_with(ranks, &settings, body)
}

/// As [`outcomes`], with settings.
pub(super) fn outcomes_with<T: Send>(
    ranks: usize,
    settings: &Settings,
    body: impl Fn(&World) -> Result<T> + Sync,
) -> Outcomes<T> {
    let _watchdog = Watchdog::start();
    motet::threads_with(ranks, settings, |world| body(&world))
}

/// The text of the panic that a call ends with, if it does.
pub(super) fn panic_of<T>(call: impl FnOnce() -> T) -> Option<String> {
    let ended = catch_unwind(AssertUnwindSafe(call)).err()?;
    let text = ended.downcast_ref::<String>().cloned();
    text.or_else(|| ended.downcast_ref::<&str>().map(|text| text.to_string()))
}

/// The bytes that logical values really are: 0 or 1, if they are valid.
pub(super) fn bytes_of(values: &[bool]) -> Vec<u8> {
    values.iter().map(|value| *black_box(value) as u8).collect()
}

/// A buffer between two walls; whoever writes over its ends is found.
pub(super) struct Walled<T> {
    all: Vec<T>,
    wall: T,
}

/// Elements in each wall.
const WALL: usize = 64;

impl<T: Copy + PartialEq + std::fmt::Debug> Walled<T> {
    /// So many elements of a value, between walls of another.
    pub(super) fn new(len: usize, value: T, wall: T) -> Walled<T> {
        let mut all = vec![wall; len + 2 * WALL];
        all[WALL..WALL + len].fill(value);
        Walled { all, wall }
    }

    /// The buffer.
    pub(super) fn inside(&mut self) -> &mut [T] {
        let end = self.all.len() - WALL;
        &mut self.all[WALL..end]
    }

    /// Asserts that the walls stand; gives the buffer.
    pub(super) fn intact(&self) -> &[T] {
        let end = self.all.len() - WALL;
        let walls = self.all[..WALL].iter().chain(&self.all[end..]);
        walls.for_each(|element| assert_eq!(*element, self.wall, "written outside of a buffer"));
        &self.all[WALL..end]
    }
}

/// Asserts that every rank has ended well.
pub(super) fn all_well<T>(ended: Outcomes<T>) {
    for (rank, outcome) in ended.expect("no rank panics").into_iter().enumerate() {
        if let Err(error) = outcome {
            panic!("rank {rank}: {error}");
        }
    }
}
