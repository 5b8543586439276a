//! The table of what is asked for and which tests prove it: `docs/conformance.md`, made from the
//! marks in the tests and from the list in `tests/data/checklist.tsv`.

use crate::code;
use crate::finding::Finding;
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The list: a number, a title, and where no test covers the item, the reason.
pub(crate) const CHECKLIST: &str = "crates/cli/tests/data/checklist.tsv";

/// The table that is made.
pub(crate) const TABLE: &str = "docs/conformance.md";

/// Set for making it again.
pub(crate) const REGENERATE: &str = "MOTET_REGENERATE";

const MAX_TITLE: usize = 90;

const HEAD: &str = "# Conformance

What is asked of the library, item by item, and the tests that prove it. This page is made by a test
from the marks in the tests (`spec: 25` in the comment above one) and from the list in
`crates/cli/tests/data/checklist.tsv`. After a change of either, make it again:

<!-- not followed: builds the tests; `.ci/run` runs them, and this one compares the page -->
```sh
MOTET_REGENERATE=1 cargo test -p motet-cli --test tidy conformance
```

A mark says that the test covers the item or a part of it.

";

/// An item of the list.
pub(crate) struct Item<'a> {
    number: u32,
    title: &'a str,
    reason: &'a str,
}

/// The tests that name an item: names by file.
pub(crate) type Marks = BTreeMap<u32, BTreeMap<String, BTreeSet<String>>>;

/// Reads the list. Items are numbered without a gap.
pub(crate) fn checklist(text: &str) -> (Vec<Item<'_>>, Vec<Finding>) {
    let (mut items, mut findings) = (Vec::new(), Vec::new());
    let mut finding = |line: u32, what: String, remedy| {
        findings.push(Finding::new(CHECKLIST, line as usize, what, remedy));
    };
    for (line, number) in text.lines().zip(1..) {
        let mut columns = line.split('\t');
        let (first, title, reason) = (columns.next(), columns.next(), columns.next());
        if first.and_then(|first| first.parse().ok()) != Some(number) {
            let remedy = "Write one line for each item: number, tab, title, tab, reason";
            finding(number, format!("no item {number} in this line"), remedy);
            continue;
        }
        let title = title.unwrap_or("");
        if title.is_empty() || title.chars().count() > MAX_TITLE {
            let what = format!("item {number} has no title of 1 to {MAX_TITLE} characters");
            finding(number, what, "Say it shorter");
        }
        items.push(Item { number, title, reason: reason.unwrap_or("") });
    }
    let (len, last) = (text.lines().count() as u32, code::LAST_CHECKLIST_ITEM);
    if len != last {
        finding(len, format!("{len} items in the list"), "There are to be 145");
    }
    (items, findings)
}

/// Adds the marks of a file: each at the start of a line of a comment, above a function. Those of a
/// program in C are of all of it.
pub(crate) fn add_marks(source: &Source, marks: &mut Marks) {
    for (at, _) in source.comments.match_indices(code::MARK) {
        let line = source.comments[..at].rsplit('\n').next().unwrap_or("");
        if line.trim().trim_start_matches(['/', '!', '*']).trim() != "" {
            continue;
        }
        let is_of_all = line.contains("//!") || source.path.ends_with(".c");
        let name = if is_of_all { Some("(all)") } else { function_behind(source, at) };
        let Some(name) = name else { continue };
        for (number, _) in code::items_of_mark(source, at).filter(|(item, _)| !item.contains('A')) {
            let Ok(number) = number.parse() else { continue };
            let files: &mut BTreeMap<_, BTreeSet<_>> = marks.entry(number).or_default();
            files.entry(source.path.clone()).or_default().insert(name.to_owned());
        }
    }
}

/// The name of the function that follows.
fn function_behind(source: &Source, at: usize) -> Option<&str> {
    let mut words = source.words().skip_while(|word| word.start < at);
    words.find(|word| word.text == "fn")?;
    words.next().map(|name| name.text)
}

/// Each item has a test or a reason, and not both.
pub(crate) fn unproved(items: &[Item<'_>], marks: &Marks) -> Vec<Finding> {
    let finding = |item: &Item<'_>| {
        let (number, line) = (item.number, item.number as usize);
        match (marks.get(&number), item.reason) {
            (None, "") => {
                let what = format!("no test has the mark `spec: {number}`");
                let remedy = "Mark the test that covers it, or give the reason in this row";
                Some(Finding::new(CHECKLIST, line, what, remedy))
            }
            (Some(files), reason) if !reason.is_empty() => {
                let file = files.keys().next().map_or("", String::as_str);
                let what = format!("item {number} has a reason, but also a test in {file}");
                let remedy = "Remove the reason (and the tab before it) from this row";
                Some(Finding::new(CHECKLIST, line, what, remedy))
            }
            _ => None,
        }
    };
    items.iter().filter_map(finding).collect()
}

/// The page.
pub(crate) fn table(items: &[Item<'_>], marks: &Marks) -> String {
    let proved = items.iter().filter(|item| marks.contains_key(&item.number)).count();
    let mut page = format!("{HEAD}{proved} of {} items have tests.\n\n", items.len());
    page.push_str("| | what is asked | tests |\n|---|---|---|\n");
    for Item { number, title, reason } in items {
        let tests = match marks.get(number) {
            None => format!("missing: {reason}"),
            Some(files) => {
                let file = |(path, names): (&String, &BTreeSet<String>)| {
                    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                    format!("{}: {}", path.trim_start_matches("crates/"), names.join(", "))
                };
                files.iter().map(file).collect::<Vec<_>>().join("<br>")
            }
        };
        page.push_str(&format!("| {number} | {title} | {tests} |\n"));
    }
    page
}

/// The page is what would be made now.
pub(crate) fn stale(page: &str, made: &str) -> Option<Finding> {
    let differ = page.lines().zip(made.lines()).take_while(|(old, new)| old == new).count();
    let remedy = "Run `MOTET_REGENERATE=1 cargo test -p motet-cli --test tidy conformance` and \
                  commit the page";
    let what = "the page is not what the marks of the tests make of it";
    (page != made).then(|| Finding::new(TABLE, differ + 1, what, remedy))
}
