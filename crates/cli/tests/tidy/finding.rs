//! What a rule has to say: where, what, and what to do about it.

use std::fmt;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) remedy: &'static str,
}

impl Finding {
    pub(crate) fn new(
        path: &str,
        line: usize,
        what: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Finding { path: path.to_owned(), line, what: what.into(), remedy }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}. {}.", self.path, self.line, self.what, self.remedy)
    }
}

/// Fails the test with one line per finding.
#[track_caller]
pub(crate) fn none(findings: impl IntoIterator<Item = Finding>) {
    let lines: Vec<String> = findings.into_iter().map(|finding| finding.to_string()).collect();
    assert!(lines.is_empty(), "{} finding(s)\n{}\n", lines.len(), lines.join("\n"));
}
