//! Rules about documents and plain text: the README's command blocks, the list of files with
//! `unsafe`, the tests that `STYLE.md` names, and paths that exist on one machine only.

use crate::finding::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// The document that lists the files that may contain `unsafe`, in groups.
pub(crate) const UNSAFE_LIST: &str = "docs/unsafe.md";

const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];

/// Bytes of the longest file. All that is longer is data of somebody, or what a crash has left.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// Whether a file has no place in a project that everybody downloads as a whole.
pub(crate) fn huge(path: &str, bytes: u64) -> Option<Finding> {
    let what = format!("a file of {bytes} bytes, {FILE_MAX_BYTES} are allowed");
    (bytes > FILE_MAX_BYTES).then(|| Finding::new(path, 1, what, "Leave it out"))
}

/// The lines of a section, with their numbers: from behind its heading to the next of its level.
pub(crate) fn section<'a>(markdown: &'a str, heading: &str) -> Option<Vec<(usize, &'a str)>> {
    let mut lines = markdown.lines().zip(1..).map(|(line, number)| (number, line.trim_end()));
    lines.find(|(_, line)| *line == heading)?;
    let mut in_fence = false;
    let is_inside = |line: &str| {
        in_fence ^= line.starts_with("```");
        in_fence || !(line.starts_with("# ") || line.starts_with("## "))
    };
    let mut is_inside = is_inside;
    Some(lines.take_while(|(_, line)| is_inside(line)).collect())
}

/// A section of the README holds exactly one command block, which `.ci/run` takes from there.
pub(crate) fn one_block(readme: &str, heading: &str) -> Option<Finding> {
    let Some(lines) = section(readme, heading) else {
        let what = format!("no heading `{heading}`");
        return Some(Finding::new("README.md", 1, what, "Add it with one fenced command block"));
    };
    let fences: Vec<usize> = lines
        .iter()
        .filter(|(_, line)| line.starts_with("```"))
        .map(|(number, _)| *number)
        .collect();
    let line = fences.get(2).or(lines.first().map(|(number, _)| number)).copied().unwrap_or(1);
    let count = fences.len().div_ceil(2);
    let what = format!("`{heading}` has {count} fenced blocks (one is needed)");
    let remedy = "Keep one, with commands only: it is run as it stands";
    (fences.len() != 2).then(|| Finding::new("README.md", line, what, remedy))
}

/// Reads the list of files that may contain `unsafe`: their paths, with their lines. Each group
/// has a heading, then its promise, then a line for each of its files.
pub(crate) fn unsafe_list(markdown: &str) -> (BTreeMap<String, usize>, Vec<Finding>) {
    let (mut listed, mut findings) = (BTreeMap::new(), Vec::new());
    let mut has_promise = false;
    let mut report = |line, what: String, remedy| {
        findings.push(Finding::new(UNSAFE_LIST, line, what, remedy));
    };
    for (text, line) in markdown.lines().zip(1..) {
        if text.starts_with("## ") {
            has_promise = false;
        }
        let Some(path) = text.strip_prefix("* `") else {
            has_promise |= !text.is_empty() && !text.starts_with('#');
            continue;
        };
        if !has_promise {
            let remedy = "Say below the heading why `unsafe` holds in these files";
            report(line, "a group of files without a promise".to_owned(), remedy);
            has_promise = true;
        }
        match path.strip_suffix('`').filter(|path| !path.contains('`')) {
            Some(path) if listed.contains_key(path) => {
                report(line, format!("`{path}` is listed twice"), "Keep one line");
            }
            Some(path) => {
                listed.insert(path.to_owned(), line);
            }
            None => {
                let remedy = "Write one path from the workspace root, in backticks";
                report(line, format!("a line that begins with `{path}"), remedy);
            }
        }
    }
    (listed, findings)
}

/// `STYLE.md` names tests as `` `tidy::name` ``: each of these exists, and no other does.
pub(crate) fn named_tests(style: &str, existing: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for (text, line) in style.lines().zip(1..) {
        for name in text.split('`').filter_map(|piece| piece.strip_prefix("tidy::")) {
            named.insert(name.to_owned());
            if !existing.contains(name) {
                let what = format!("no test `tidy::{name}`");
                findings.push(Finding::new("STYLE.md", line, what, "Name one that exists"));
            }
        }
    }
    for name in existing.difference(&named) {
        let what = format!("the rule of the test `tidy::{name}` is not written down");
        findings.push(Finding::new("STYLE.md", 1, what, "Add it with its reason"));
    }
    findings
}

/// No path that exists on one machine only.
pub(crate) fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(found) = MACHINE_PATHS.iter().find(|machine| line.contains(**machine)) {
            let what = format!("`{found}` is a path of one machine");
            findings.push(Finding::new(path, number, what, "Write it relative to the root"));
        }
    }
    findings
}
