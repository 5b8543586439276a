//! Wisdom is the measured choices of algorithms as lines of text: noted, merged, saved and loaded.
//!
//! Each rank notes the choices that its enforced inits have measured, in any communicator, for
//! calls whose sizes all ranks know. The lines are those of [`motet_plan::select`], with the times
//! behind a `#`:
//!
//! ```text
//! allreduce ranks=16.. bytes=8..8 -> recursive_doubling # 3.10 µs; linear 4.00 µs
//! ```
//!
//! **Loading must be agreed on.** All ranks must choose the same algorithms, so all must load the
//! same lines. Ranks that are threads have one [`Settings`](crate::Settings). Processes might read
//! a file at two moments, while another program saves in between; so rank 0 reads it and sends the
//! lines to the others when they join. Unreadable lines are skipped, with a warning of rank 0.
//!
//! **Saving** is merging: under a lock (on a file beside it, whose name ends in `.lock`) the file
//! is read, new lines come first, and the result replaces the file in one step. So several programs
//! may save into one file, and a reader sees the old lines or the new ones.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use motet_fabric::{file, log_line};
use motet_plan::select::{Lesson, Wisdom};
use motet_plan::{Algorithm, Call};

/// The wisdom of one rank, and the file to which it is saved.
#[derive(Debug, Default)]
pub(crate) struct WisdomLog {
    /// All choices.
    pub(crate) all: Wisdom,
    /// The choices that this rank saves for all ranks that have measured them together.
    pub(crate) to_tell: Wisdom,
    /// The file into which the wisdom is merged when the rank leaves.
    pub(crate) file: Option<PathBuf>,
}

impl WisdomLog {
    /// Notes a choice. Of the ranks that have made it together, the first one saves it.
    pub(crate) fn note(&mut self, call: &Call, algorithm: &'static dyn Algorithm, note: String) {
        let lesson = Lesson { algorithm, ranks: call.ranks, bytes: call.bytes(), note };
        if call.rank.index() == 0 {
            self.to_tell.learn(lesson.clone());
        }
        self.all.learn(lesson);
    }

    /// Merges the choices to be saved into the file, if there is one. Errors become warnings on
    /// standard error.
    pub(crate) fn save(&self) {
        let Some(path) = self.file.as_ref().filter(|_| !self.to_tell.is_empty()) else { return };
        if let Err(error) = merge_into(path, &self.to_tell) {
            warn(&format!("{}: {error}", path.display()));
        }
    }
}

/// The value of the variable for wisdom.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Whether it was read from a file, so that processes may have read different things.
    pub(crate) is_file: bool,
    /// A warning for people.
    pub(crate) remark: Option<String>,
}

impl Source {
    /// Reads lines, or a file with lines. A missing file has none; there is no warning if it is the
    /// file to which wisdom will be saved.
    pub(crate) fn of(value: &OsStr, saved: Option<&OsStr>) -> Source {
        let lines = value.to_str().filter(|text| text.contains("->"));
        let (read, is_file) = match lines {
            Some(text) => (Ok(text.to_owned()), false),
            None => (file::read_text(Path::new(value)), true),
        };
        let (text, problem) = match read {
            Ok(text) => (text, None),
            Err(error) if saved == Some(value) && error.kind() == io::ErrorKind::NotFound => {
                (String::new(), None)
            }
            Err(error) => (String::new(), Some(format!("{error}; it is passed over"))),
        };
        let problem = problem.or_else(|| passed_over(&text));
        let place = if is_file { format!("{}: ", value.display()) } else { String::new() };
        let remark = problem.map(|problem| format!("{}: {place}{problem}", crate::env::WISDOM));
        Source { text, is_file, remark }
    }
}

/// The warning about unreadable lines.
fn passed_over(text: &str) -> Option<String> {
    let (_, wrong) = Wisdom::read(text);
    let first = wrong.first()?;
    Some(match wrong.len() {
        1 => format!("passed over: {first}"),
        count => format!("{count} lines are passed over, the first: {first}"),
    })
}

/// Writes a warning to standard error, and ignores a failure to do so.
pub(crate) fn warn(text: &str) {
    log_line(format_args!("motet: {text}"));
}

/// Merges wisdom into a file.
pub(crate) fn merge_into(path: &Path, newer: &Wisdom) -> io::Result<()> {
    let _lock = file::lock(path)?;
    let text = match file::read_text(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let (mut wisdom, _) = Wisdom::read(&text);
    wisdom.absorb(newer);
    file::replace(path, &wisdom.joined().to_string())
}
