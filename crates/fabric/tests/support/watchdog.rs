//! An end for tests that would never end.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The longest that a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Ends the whole process, with the name of the test, unless dropped in time.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    pub(crate) fn start() -> Watchdog {
        let test = thread::current().name().unwrap_or("a test").to_string();
        let (alive, dropped) = channel();
        thread::spawn(move || {
            if dropped.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                // Not through the captured output: nobody would see it.
                let text = format!("watchdog: {test} has not ended within {LIMIT:?}\n");
                let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
                std::process::abort();
            }
        });
        Watchdog { _alive: alive }
    }
}
