//! What was learned, as lines: told, merged, saved and loaded.
//!
//! Each rank writes down what its enforced inits have learned, in any communicator, of calls whose
//! sizes all ranks know. The lines are those of [`motet_plan::select`], with the times behind a
//! `#`:
//!
//! ```text
//! allreduce ranks=16.. bytes=8..8 -> recursive_doubling # 3.10 µs; direct 4.00 µs
//! ```
//!
//! **Loading must be agreed on.** All ranks must choose alike, so all must load the same. Ranks
//! that are threads have one [`Settings`](crate::Settings). Processes might read a file at two
//! moments, with another program's saving in between; so rank 0 reads it and tells the others when
//! they join. Lines that cannot be read are passed over, with a warning of rank 0.
//!
//! **Saving** is merging: under a lock (on a file beside it, whose name ends in `.lock`) the file
//! is read, what is new comes first, and the result replaces the file in one step. So several
//! programs may save into one file, and whoever reads it sees the old lines or the new ones.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use motet_fabric::{file, log_line};
use motet_plan::select::{Lesson, Wisdom};
use motet_plan::{Algorithm, Call};

/// What one rank has learned, and where that goes in the end.
#[derive(Debug, Default)]
pub(crate) struct WisdomLog {
    /// All of it.
    pub(crate) all: Wisdom,
    /// What this rank tells for all who have learned it together.
    pub(crate) to_tell: Wisdom,
    /// The file that it is merged into when the rank leaves.
    pub(crate) file: Option<PathBuf>,
}

impl WisdomLog {
    /// Writes down a choice. Of the ranks that have made it together, the first one tells it.
    pub(crate) fn note(&mut self, call: &Call, algorithm: &'static dyn Algorithm, note: String) {
        let lesson = Lesson { algorithm, ranks: call.ranks, bytes: call.bytes(), note };
        if call.rank.index() == 0 {
            self.to_tell.learn(lesson.clone());
        }
        self.all.learn(lesson);
    }

    /// Merges what is to be told into the file, if there is one. Nobody is left to hear of errors
    /// but people.
    pub(crate) fn save(&self) {
        let Some(path) = self.file.as_ref().filter(|_| !self.to_tell.is_empty()) else { return };
        if let Err(error) = merge_into(path, &self.to_tell) {
            warn(&format!("{}: {error}", path.display()));
        }
    }
}

/// What the variable for wisdom comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Whether it was read from a file, so that processes may have read different things.
    pub(crate) is_file: bool,
    /// What is to be said to people.
    pub(crate) remark: Option<String>,
}

impl Source {
    /// Of lines, or of a file with lines. A file that is not there has none; nothing is said of
    /// that if it is the one that will be saved to.
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
        let remark = problem.map(|problem| format!("{}: {place}{problem}", crate::WISDOM));
        Source { text, is_file, remark }
    }
}

/// What is said of lines that cannot be read.
fn passed_over(text: &str) -> Option<String> {
    let (_, wrong) = Wisdom::read(text);
    let first = wrong.first()?;
    Some(match wrong.len() {
        1 => format!("passed over: {first}"),
        count => format!("{count} lines are passed over, the first: {first}"),
    })
}

/// Tells people. If nobody can hear it, there is nobody to tell.
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
