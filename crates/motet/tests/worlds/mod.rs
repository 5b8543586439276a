//! Worlds of threads for tests, each under a watchdog.

#![allow(dead_code)] // each test program needs a part of it

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use motet::{Result, Settings, World};

/// More than any test takes on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Ends the whole program with a word of explanation unless it is dropped in time: a test that
/// hangs must not take the answers of the others with it.
pub(crate) struct Watchdog(Arc<(Mutex<Watch>, Condvar)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Begins,
    Lasts,
    Over,
}

impl Watchdog {
    /// Watches the test that calls it.
    pub(crate) fn start() -> Watchdog {
        Watchdog::with(TIME_LIMIT)
    }

    /// As [`Watchdog::start`], for a test that takes longer or must be faster. All that it
    /// allocates it has allocated when this returns: tests count what others do.
    pub(crate) fn with(patience: Duration) -> Watchdog {
        let name = thread::current().name().unwrap_or("a test").to_owned();
        let watch = Arc::new((Mutex::new(Watch::Begins), Condvar::new()));
        let watched = watch.clone();
        thread::spawn(move || {
            let (stage, changed) = &*watched;
            let mut stage = stage.lock().expect("nobody panics with it");
            *stage = Watch::Lasts;
            changed.notify_all();
            let lasts = |stage: &mut Watch| *stage == Watch::Lasts;
            let ended = changed.wait_timeout_while(stage, patience, lasts);
            if ended.expect("nobody panics with it").1.timed_out() {
                eprintln!("watchdog: {name} hangs: it is not over after {patience:?}");
                std::process::abort();
            }
        });
        let begins = |stage: &mut Watch| *stage == Watch::Begins;
        let stage = watch.0.lock().expect("nobody panics with it");
        drop(watch.1.wait_while(stage, begins).expect("nobody panics with it"));
        Watchdog(watch)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let (stage, changed) = &*self.0;
        *stage.lock().unwrap_or_else(PoisonError::into_inner) = Watch::Over;
        changed.notify_all();
    }
}

/// Runs `body` on each rank of a world of threads; an error of any rank fails the test.
///
/// The environment may ask for check mode and for hang reports, as for any program.
pub(crate) fn on_ranks<T: Send>(ranks: usize, body: impl Fn(&World) -> Result<T> + Sync) -> Vec<T> {
    let settings = Settings::from_environment().unwrap_or_else(|error| panic!("{error}"));
    on_ranks_with(ranks, &settings, body)
}

/// As [`on_ranks`], with settings.
pub(crate) fn on_ranks_with<T: Send>(
    ranks: usize,
    settings: &Settings,
    body: impl Fn(&World) -> Result<T> + Sync,
) -> Vec<T> {
    let _watchdog = Watchdog::start();
    let ended = motet::threads_with(ranks, settings, |world| body(&world));
    let ended = ended.unwrap_or_else(|error| panic!("a world of {ranks}: {error}"));
    let of_rank = |(rank, result): (usize, Result<T>)| {
        result.unwrap_or_else(|error| panic!("rank {rank} of {ranks}: {error}"))
    };
    ended.into_iter().enumerate().map(of_rank).collect()
}

/// Settings by which each collective is carried out by this algorithm, on nodes of two ranks, which
/// some algorithms need.
pub(crate) fn by_algorithm(collective: &str, name: &str) -> Settings {
    let settings = Settings::new().algorithms(&format!("{collective}={name}"));
    settings.unwrap_or_else(|error| panic!("{error}")).ranks_per_node(2)
}

/// Numbers that look random and are the same in every run with the same seed (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Puts a list into some order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
