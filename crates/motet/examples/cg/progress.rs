//! How far the iteration is, on standard error.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// A moving line where somebody watches, a line now and then where the output is kept.
///
/// The moving line is cleared when this is dropped.
pub(crate) enum Progress {
    /// Say nothing.
    Silent,
    /// Keep one line up to date.
    Moving(ProgressBar),
    /// Write a line now and then.
    Lines,
}

/// Iterations between two changes of the moving line, and between two lines.
const MOVE_EVERY: u64 = 20;
const LINE_EVERY: u64 = 500;

impl Progress {
    /// The kind that fits standard error.
    pub(crate) fn shown() -> Self {
        if !stderr().is_terminal() {
            return Self::Lines;
        }
        let style = ProgressStyle::with_template("{spinner} iteration {pos}, {msg}");
        let style = style.expect("all keys of the template are indicatif's own");
        Self::Moving(ProgressBar::new_spinner().with_style(style))
    }

    /// To be called after each iteration.
    pub(crate) fn show(&self, iteration: u64, residual: f64) {
        match self {
            Self::Moving(bar) if iteration.is_multiple_of(MOVE_EVERY) => {
                bar.set_message(format!("relative residual {residual:.1e}"));
                bar.set_position(iteration);
            }
            Self::Lines if iteration.is_multiple_of(LINE_EVERY) => {
                eprintln!("iteration {iteration}, relative residual {residual:.1e}");
            }
            _ => {}
        }
    }
}
