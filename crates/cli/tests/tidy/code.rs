//! Rules about Rust files, one function each. `STYLE.md` gives the reasons.

use crate::documents::UNSAFE_LIST;
use crate::finding::Finding;
use crate::source::{Attribute, Source, TestModule, Word};
use std::collections::{BTreeMap, BTreeSet};

const MAX_FUNCTION_LINES: usize = 70;
const MAX_FILE_LINES: usize = 500;
const MAX_COLUMNS: usize = 100;
pub(crate) const LAST_CHECKLIST_ITEM: u32 = 145;
const LAST_READING: u32 = 27;
/// What stands before the items that a comment names.
pub(crate) const MARK: &str = "spec: ";
const NOTE_TO_SELF: &str = concat!("FIX", "ME");

/// Whether a file holds nothing but tests: it lies under `tests/`.
fn is_test_path(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|folder| folder == "tests")
}

/// Files that `#[cfg(test)] mod name;` declares, as prefixes of their paths.
pub(crate) fn test_only_prefixes(sources: &[Source]) -> BTreeSet<String> {
    let mut prefixes = BTreeSet::new();
    for source in sources {
        let (folder, file) = source.path.rsplit_once('/').unwrap_or((".", &source.path));
        let base = match file {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            _ => source.path.trim_end_matches(".rs").to_owned(),
        };
        for module in source.test_modules() {
            if let TestModule::File(name) = module {
                prefixes.insert(format!("{base}/{name}.rs"));
                prefixes.insert(format!("{base}/{name}/"));
            }
        }
    }
    prefixes
}

/// The files whose size counts: those that are not tests.
pub(crate) fn without_tests(sources: &[Source]) -> Vec<&Source> {
    let prefixes = test_only_prefixes(sources);
    let is_test = |path: &str| prefixes.iter().any(|prefix| path.starts_with(prefix));
    sources.iter().filter(|s| !is_test_path(&s.path) && !is_test(&s.path)).collect()
}

/// Every file with the keyword `unsafe` is listed, and every listed file has it.
pub(crate) fn unsafe_files(sources: &[Source], listed: &BTreeMap<String, usize>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for source in sources {
        let Some(word) = source.words().find(|word| word.text == "unsafe") else { continue };
        seen.insert(&source.path);
        if !listed.contains_key(&source.path) {
            let remedy = "Write it in safe Rust, or move it to a file that docs/unsafe.md lists";
            let line = source.line_of(word.start);
            findings.push(Finding::new(&source.path, line, "`unsafe` in an unlisted file", remedy));
        }
    }
    for (path, &line) in listed.iter().filter(|(path, _)| !seen.contains(path)) {
        let there = sources.iter().any(|source| source.path == *path);
        let lack = if there { "has no `unsafe`" } else { "does not exist" };
        let what = format!("`{path}` is listed but {lack}");
        findings.push(Finding::new(UNSAFE_LIST, line, what, "Remove its line"));
    }
    findings
}

/// The crate whose root this is forbids `unsafe`.
pub(crate) fn forbids_unsafe(root: &Source) -> Option<Finding> {
    let forbids = |a: &Attribute| a.inner && a.content == "forbid(unsafe_code)";
    let lacks = !root.attributes().iter().any(forbids);
    let what = "a crate without `unsafe` does not say so";
    lacks.then(|| Finding::new(&root.path, 1, what, "Add `#![forbid(unsafe_code)]`"))
}

/// No function longer than 70 lines, from its `fn` to its closing brace.
pub(crate) fn long_functions(source: &Source) -> Vec<Finding> {
    let tests = source.test_spans();
    let is_counted =
        |word: &Word<'_>| word.text == "fn" && !tests.iter().any(|span| span.contains(&word.start));
    let mut findings = Vec::new();
    for keyword in source.words().filter(is_counted) {
        let Some(body) = body_of(source, keyword) else { continue };
        let first = source.line_of(keyword.start);
        let lines = source.line_of(source.close_of(body)) + 1 - first;
        if lines > MAX_FUNCTION_LINES {
            let what = format!("a function of {lines} lines, {MAX_FUNCTION_LINES} are allowed");
            let remedy = "Give its parts names of their own";
            findings.push(Finding::new(&source.path, first, what, remedy));
        }
    }
    findings
}

/// The opening brace of a function's body; none for a declaration or a function pointer type.
fn body_of(source: &Source, keyword: Word<'_>) -> Option<usize> {
    let (name, _) = source.next_char(keyword.end()).filter(|(_, c)| *c != '(')?;
    let code = source.code.as_bytes();
    let (mut at, mut angle) = (name, 0_i32);
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => at = source.close_of(at) - 1,
            b'{' if angle > 0 => at = source.close_of(at) - 1,
            b'{' => return Some(at),
            b';' | b'}' | b')' => return None,
            b'<' => angle += 1,
            b'>' if code[at - 1] != b'-' => angle -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// No file longer than 500 lines, inline test modules aside.
pub(crate) fn long_file(source: &Source) -> Option<Finding> {
    let in_tests: usize =
        source.test_spans().into_iter().map(|span| source.text[span].lines().count()).sum();
    let lines = source.text.lines().count() - in_tests;
    let what = format!("a file of {lines} lines, {MAX_FILE_LINES} are allowed");
    let remedy = "Split it where its subject changes";
    (lines > MAX_FILE_LINES).then(|| Finding::new(&source.path, 1, what, remedy))
}

/// No line wider than 100 columns.
pub(crate) fn wide_lines(source: &Source) -> Vec<Finding> {
    let widths = source.text.lines().map(|line| line.chars().count());
    let wide = widths.enumerate().filter(|&(_, width)| width > MAX_COLUMNS);
    let finding = |(index, width): (usize, usize)| {
        let what = format!("a line of {width} columns, {MAX_COLUMNS} are allowed");
        Finding::new(&source.path, index + 1, what, "Break it")
    };
    wide.map(finding).collect()
}

/// No macro that stands for missing work, and no note to self.
pub(crate) fn stubs(source: &Source) -> Vec<Finding> {
    let is_macro = |word: &Word<'_>| {
        let rest = &source.code[word.end()..];
        matches!(word.text, "todo" | "unimplemented" | "dbg")
            && rest.starts_with('!')
            && !rest.starts_with("!=")
    };
    let remedy = "Finish it, or return an error that says what is not supported";
    let macros = source.words().filter(is_macro).map(|word| {
        let what = format!("`{}!` in the code", word.text);
        Finding::new(&source.path, source.line_of(word.start), what, remedy)
    });
    let notes = source.comments.match_indices(NOTE_TO_SELF).map(|(at, _)| {
        let what = format!("a {NOTE_TO_SELF} in a comment");
        Finding::new(&source.path, source.line_of(at), what, "Do it, or say the limit in prose")
    });
    macros.chain(notes).collect()
}

/// The files that write to the standard error, all by way of `printable`, or ask what it is.
const SPEAKERS: [&str; 4] = [
    "crates/fabric/src/stderr.rs",
    "crates/fabric/src/launcher/output.rs",
    "crates/motet/src/engine/check/report.rs",
    "crates/cli/src/bench/environment.rs",
];

/// Nothing else writes to the standard error, but for examples, which are programs of users: what
/// a user has named could leave its line there.
pub(crate) fn stray_complaints(source: &Source) -> Vec<Finding> {
    if SPEAKERS.contains(&&*source.path) || source.path.contains("/examples/") {
        return Vec::new();
    }
    let tests = source.test_spans();
    let is_stray = |word: &Word<'_>| {
        let rest = &source.code[word.end()..];
        let writes = match word.text {
            "eprint" | "eprintln" => rest.starts_with('!'),
            "stderr" => rest.starts_with("()"),
            _ => false,
        };
        writes && !tests.iter().any(|span| span.contains(&word.start))
    };
    let finding = |word: Word<'_>| {
        let what = format!("`{}` beside `complain`", word.text);
        let remedy = "Call `complain`, which escapes what would leave its line";
        Finding::new(&source.path, source.line_of(word.start), what, remedy)
    };
    source.words().filter(is_stray).map(finding).collect()
}

/// The file that compiles instructions, and the one executor that runs them.
const INSTRUCTIONS: [&str; 2] = ["program.rs", "inorder.rs"];
/// The files that look at the steps of a plan: the one that compiles them, the dataflow executor
/// with what it fuses and what it does after an error, and those that find the routes of messages.
const STEPS: [&str; 8] = [
    "program.rs",
    "dataflow.rs",
    "fused.rs",
    "failing.rs",
    "routes.rs",
    "channel_routes.rs",
    "transport_summary.rs",
    "../execution.rs",
];
/// The file that derives from the steps of a plan how its messages travel.
const HINTS: &str = "crates/motet/src/engine/plan_cache/cached_plan.rs";

/// No other file looks at an instruction of a program, whatever its type is called, or at a step of
/// a plan. So another interpreter needs a file that is listed here.
pub(crate) fn interpreters(source: &Source) -> Vec<Finding> {
    const FOLDER: &str = "crates/motet/src/engine/execution/";
    let is_one_of = |names: &[&str]| {
        names.iter().any(|name| match name.strip_prefix("../") {
            Some(name) => source.path == format!("crates/motet/src/engine/{name}"),
            None => source.path == format!("{FOLDER}{name}"),
        })
    };
    if !source.path.starts_with("crates/motet/src/") {
        return Vec::new();
    }
    let tests = source.test_spans();
    let is_stray = |word: &Word<'_>| {
        let is_allowed = match word.text {
            "Action" => is_one_of(&STEPS) || source.path == HINTS,
            text if text.ends_with("Instr") => is_one_of(&INSTRUCTIONS),
            _ => return false,
        };
        !is_allowed && !tests.iter().any(|span| span.contains(&word.start))
    };
    let finding = |word: Word<'_>| {
        let what = format!("`{}` outside the executors", word.text);
        let remedy = "Let `engine/execution` run it, or ask the plan";
        Finding::new(&source.path, source.line_of(word.start), what, remedy)
    };
    source.words().filter(is_stray).map(finding).collect()
}

/// No module whose name says nothing of its subject.
pub(crate) fn empty_names(source: &Source) -> Vec<Finding> {
    const NAMES: [&str; 6] = ["util", "utils", "common", "helper", "helpers", "misc"];
    let remedy = "Name it after its subject, or move its parts to where they are used";
    let mut findings = Vec::new();
    let parts: Vec<&str> = source.path.trim_end_matches(".rs").split('/').collect();
    if let Some(part) = parts.into_iter().find(|part| NAMES.contains(part)) {
        let what = format!("a path with `{part}` in it");
        findings.push(Finding::new(&source.path, 1, what, remedy));
    }
    let words: Vec<Word<'_>> = source.words().collect();
    for pair in words.windows(2) {
        if pair[0].text == "mod" && NAMES.contains(&pair[1].text) {
            let what = format!("a module named `{}`", pair[1].text);
            let line = source.line_of(pair[1].start);
            findings.push(Finding::new(&source.path, line, what, remedy));
        }
    }
    findings
}

/// Each checklist item that a comment names as `spec: 25`, `spec: 25, 26` or `spec: A3` exists.
pub(crate) fn checklist_items(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, _) in source.comments.match_indices(MARK) {
        for (item, _) in items_of_mark(source, at).filter(|(_, exists)| !exists) {
            let what = format!("no item {item} in the checklist");
            let remedy = "Items are 1 to 145, readings A1 to A27";
            findings.push(Finding::new(&source.path, source.line_of(at), what, remedy));
        }
    }
    findings
}

/// The items of the mark at this place of the comments, and whether each exists.
pub(crate) fn items_of_mark(source: &Source, at: usize) -> impl Iterator<Item = (&str, bool)> {
    let list = source.comments[at + MARK.len()..].lines().next().unwrap_or("");
    let items = list.split([',', ';', '-', '–']).map(str::trim);
    items.map_while(|item| {
        let end = item.find(|c: char| !c.is_ascii_digit() && c != 'A').unwrap_or(item.len());
        item_exists(item).map(|exists| (&item[..end], exists))
    })
}

/// Whether a checklist has this item; `None` where the list has ended and prose begins.
fn item_exists(item: &str) -> Option<bool> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let (number, last) = match item.strip_prefix('A') {
        Some(reading) => (digits(reading), LAST_READING),
        None => (digits(item), LAST_CHECKLIST_ITEM),
    };
    let is_number = !number.is_empty();
    is_number.then(|| number.parse().is_ok_and(|number| (1..=last).contains(&number)))
}

/// An ignored test says why.
pub(crate) fn ignored_tests(source: &Source) -> Vec<Finding> {
    let mute = source.attributes().into_iter().filter(|attribute| {
        let content = attribute.content.as_str();
        let in_condition = content.starts_with("cfg_attr(") && content.ends_with(",ignore)");
        content == "ignore" || in_condition || has_blank_reason(source, attribute)
    });
    let finding = |attribute: Attribute| {
        let line = source.line_of(attribute.span.start);
        Finding::new(&source.path, line, "an ignored test without a reason", "Give the reason")
    };
    mute.map(finding).collect()
}

/// Whether this is `ignore = ""`. The code layer has no insides of strings: the text has.
fn has_blank_reason(source: &Source, attribute: &Attribute) -> bool {
    let reason = source.text[attribute.span.clone()].split('"').nth(1);
    attribute.content == "ignore=\"\"" && reason.is_none_or(|reason| reason.trim().is_empty())
}

/// The names of the functions behind `#[test]`.
pub(crate) fn test_names(source: &Source) -> BTreeSet<String> {
    let tests: Vec<usize> = source
        .attributes()
        .into_iter()
        .filter(|attribute| attribute.content == "test")
        .map(|attribute| attribute.span.end)
        .collect();
    let name_behind = |at: usize| {
        let mut words = source.words().skip_while(|word| word.start < at);
        words.find(|word| word.text == "fn")?;
        words.next().map(|name| name.text.to_owned())
    };
    tests.into_iter().filter_map(name_behind).collect()
}
