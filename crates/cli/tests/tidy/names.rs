//! What types and modules are called.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::source::{Source, Word};

/// Where the names are that still stand for several types.
pub(crate) const SHARED: &str = "crates/cli/tests/tidy/shared_names.txt";

/// Names that types and modules had before they had those of the field: none comes back.
const RETIRED: [&str; 61] = [
    "Among",
    "Books",
    "Courier",
    "Course",
    "Crossing",
    "Dash",
    "Demand",
    "Flight",
    "Gone",
    "Habits",
    "Including",
    "Inits",
    "Keeper",
    "Kept",
    "KeptLists",
    "Learned",
    "Ledger",
    "Leg",
    "Lessons",
    "Link",
    "Linking",
    "Live",
    "Locked",
    "Loose",
    "Mate",
    "Pace",
    "Particulars",
    "Place",
    "Planned",
    "Prepared",
    "Ranked",
    "Reply",
    "Role",
    "Run",
    "Script",
    "Side",
    "Span",
    "Sprinter",
    "Staged",
    "Straight",
    "Straights",
    "Stretch",
    "Surroundings",
    "Traffic",
    "Way",
    "Whom",
    "again",
    "apart",
    "courier",
    "course",
    "flight",
    "pace",
    "play",
    "repeat",
    "said",
    "shortcut",
    "sprint",
    "straight",
    "surroundings",
    "waiting",
    "ways",
];

/// Types that a file declares outside of other items' bodies, with the line of each.
fn types(source: &Source) -> Vec<(&str, usize)> {
    let words: Vec<Word<'_>> = source.words().collect();
    let is_keyword = |word: &str| ["struct", "enum", "union", "trait", "type"].contains(&word);
    let pairs = words.windows(2).filter(|pair| is_keyword(pair[0].text));
    // `union` is a name elsewhere: a type begins with a capital letter.
    let named = pairs.filter(|pair| pair[1].text.starts_with(|c: char| c.is_ascii_uppercase()));
    let outside = named.filter(|pair| {
        let line = source.code[..pair[0].start].rfind('\n').map_or(0, |at| at + 1);
        !source.code[line..].starts_with([' ', '\t'])
    });
    outside.map(|pair| (pair[1].text, source.line_of(pair[1].start))).collect()
}

/// Modules that a file declares, with the line of each.
fn modules(source: &Source) -> Vec<(&str, usize)> {
    let words: Vec<Word<'_>> = source.words().collect();
    let pairs = words.windows(2).filter(|pair| pair[0].text == "mod");
    pairs.map(|pair| (pair[1].text, source.line_of(pair[1].start))).collect()
}

/// Types and modules with a retired name.
pub(crate) fn retired(source: &Source) -> Vec<Finding> {
    let remedy = "Call it by the word of the field for what it is";
    let named = types(source).into_iter().chain(modules(source));
    let old = named.filter(|(name, _)| RETIRED.contains(name));
    old.map(|(name, line)| Finding::new(&source.path, line, format!("`{name}` is retired"), remedy))
        .collect()
}

/// Types of one name in several files, but those that are listed; and names in the list of which
/// there is one type only.
pub(crate) fn shared(sources: &[&Source], list: &str) -> Vec<Finding> {
    let mut files: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    // Examples are programs of their own; algorithms of several collectives share the field's name.
    let apart = ["/examples/", "plan/src/algo/", "motet/src/raw/renamed.rs"];
    for source in sources.iter().filter(|source| !apart.iter().any(|of| source.path.contains(of))) {
        for (name, line) in types(source) {
            files.entry(name).or_default().push((source, line));
        }
    }
    files.retain(|_, places| {
        places.iter().map(|(source, _)| &source.path).collect::<BTreeSet<_>>().len() > 1
    });
    let listed: BTreeSet<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let mut findings = Vec::new();
    for (name, places) in files.iter().filter(|(name, _)| !listed.contains(*name)) {
        let (source, line) = places[places.len() - 1];
        let what = format!("`{name}` is also a type of `{}`", places[0].0.path);
        let remedy = "Give one of them a name that says what it is";
        findings.push(Finding::new(&source.path, line, what, remedy));
    }
    for (index, name) in list.lines().enumerate() {
        if listed.contains(name) && !files.contains_key(name) {
            let what = format!("`{name}` stands for one type only");
            findings.push(Finding::new(SHARED, index + 1, what, "Remove its line"));
        }
    }
    findings
}
