//! How far a program is, on standard error.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// A moving line where somebody watches, a line now and then where the output is kept.
pub(crate) struct Progress {
    /// What is counted.
    what: &'static str,
    shown: Shown,
}

/// The moving line is cleared when this is dropped.
enum Shown {
    /// Say nothing.
    Nothing,
    /// Keep one line up to date.
    Moving(ProgressBar),
    /// Write a line now and then.
    Lines,
}

/// Rounds between two changes of the moving line, and between two lines.
const MOVE_EVERY: u64 = 20;
const LINE_EVERY: u64 = 500;

impl Progress {
    /// Says nothing.
    pub(crate) fn silent() -> Self {
        Self { what: "", shown: Shown::Nothing }
    }

    /// The kind that fits standard error, for rounds that are called so.
    pub(crate) fn shown(what: &'static str) -> Self {
        if !stderr().is_terminal() {
            return Self { what, shown: Shown::Lines };
        }
        let style = ProgressStyle::with_template("{spinner} {msg}");
        let style = style.expect("all keys of the template are indicatif's own");
        Self { what, shown: Shown::Moving(ProgressBar::new_spinner().with_style(style)) }
    }

    /// To be called after each round.
    pub(crate) fn show(&self, round: u64, detail: impl FnOnce() -> String) {
        let what = self.what;
        match &self.shown {
            Shown::Moving(bar) if round.is_multiple_of(MOVE_EVERY) => {
                bar.set_message(format!("{what} {round}, {}", detail()));
                bar.tick();
            }
            Shown::Lines if round.is_multiple_of(LINE_EVERY) => {
                eprintln!("{what} {round}, {}", detail());
            }
            _ => {}
        }
    }
}
