//! What types and modules are called.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::source::{Source, Word};

/// Where the names are that still stand for several types.
pub(crate) const SHARED: &str = "crates/cli/tests/tidy/shared_names.txt";

/// Names that types and modules had before they had those of the field: none comes back.
const RETIRED: [&str; 138] = [
    "Among",
    "Assembly",
    "Belt",
    "Berths",
    "Board",
    "Body",
    "Books",
    "Claimed",
    "Claims",
    "Conduit",
    "Convoy",
    "Courier",
    "Course",
    "Crossing",
    "Dash",
    "Demand",
    "Departure",
    "Division",
    "Early",
    "Exec",
    "Exposure",
    "Flight",
    "Gone",
    "Habits",
    "Heart",
    "HeldBack",
    "Holding",
    "Including",
    "Inits",
    "Inlet",
    "Keeper",
    "Kept",
    "KeptLists",
    "KeptOut",
    "Landing",
    "LargeSend",
    "Launched",
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
    "Meanwhile",
    "Pace",
    "Particulars",
    "Pen",
    "Pier",
    "Place",
    "Planned",
    "Port",
    "Ports",
    "Post",
    "Prepared",
    "Pulse",
    "Ranked",
    "Reply",
    "Role",
    "Run",
    "Script",
    "Side",
    "Span",
    "Sprinter",
    "Staged",
    "Standing",
    "Straight",
    "Straights",
    "Streams",
    "Stretch",
    "Surroundings",
    "Traffic",
    "Unread",
    "Vigil",
    "Volley",
    "Way",
    "Whom",
    "again",
    "alone",
    "apart",
    "assembly",
    "belt",
    "berth",
    "berthing",
    "blocks",
    "board",
    "caller",
    "chunks",
    "claims",
    "complaint",
    "conduit",
    "convoy",
    "copying",
    "courier",
    "course",
    "crowded",
    "departure",
    "division",
    "elsewhere",
    "fault",
    "flight",
    "held_back",
    "hinted",
    "incoming",
    "lane",
    "lying",
    "measured",
    "merging",
    "offer",
    "ofi",
    "outgoing",
    "pace",
    "parcels",
    "peek",
    "pen",
    "placement",
    "play",
    "post",
    "pulse",
    "repeat",
    "roster",
    "said",
    "shortcut",
    "spacious",
    "sprint",
    "straight",
    "streams",
    "surroundings",
    "transit",
    "vigil",
    "volley",
    "volleys",
    "waiting",
    "ways",
    "wire",
];

/// Names of constants that say neither of what nor in which unit.
const BARE: [&str; 14] = [
    "AHEAD", "APART", "CROWDED", "ENOUGH", "FEW", "FEWEST", "LONGEST", "LOOKS", "MOST", "NAP",
    "PATIENCE", "PLENTY", "SHORTEST", "TURN",
];

/// Types that a file declares outside of other items' bodies, with the line of each.
fn types(source: &Source) -> Vec<(&str, usize)> {
    let words: Vec<Word<'_>> = source.words().collect();
    let is_keyword = |word: &str| ["struct", "enum", "union", "trait", "type"].contains(&word);
    let pairs = words.windows(2).filter(|pair| is_keyword(pair[0].text));
    // `union` is a name elsewhere: a type begins with a capital letter.
    let named = pairs.filter(|pair| pair[1].text.starts_with(|c: char| c.is_ascii_uppercase()));
    let outside = named.filter(|pair| is_outside(source, pair[0].start));
    outside.map(|pair| (pair[1].text, source.line_of(pair[1].start))).collect()
}

/// Constants that a file declares outside of other items' bodies, with the line of each.
fn constants(source: &Source) -> Vec<(&str, usize)> {
    let words: Vec<Word<'_>> = source.words().collect();
    let pairs = words.windows(2).filter(|pair| ["const", "static"].contains(&pair[0].text));
    let outside = pairs.filter(|pair| is_outside(source, pair[0].start));
    outside.map(|pair| (pair[1].text, source.line_of(pair[1].start))).collect()
}

/// Whether the line of this place begins at the left: no item's body is around it.
fn is_outside(source: &Source, place: usize) -> bool {
    let line = source.code[..place].rfind('\n').map_or(0, |at| at + 1);
    !source.code[line..].starts_with([' ', '\t'])
}

/// Modules that a file declares, with the line of each.
fn modules(source: &Source) -> Vec<(&str, usize)> {
    let words: Vec<Word<'_>> = source.words().collect();
    let pairs = words.windows(2).filter(|pair| pair[0].text == "mod");
    pairs.map(|pair| (pair[1].text, source.line_of(pair[1].start))).collect()
}

/// Types, modules and constants with a retired name.
pub(crate) fn retired(source: &Source) -> Vec<Finding> {
    let old = |(name, _): &(&str, usize)| RETIRED.contains(name);
    let named = types(source).into_iter().chain(modules(source)).filter(old);
    let bare = constants(source).into_iter().filter(|(name, _)| BARE.contains(name));
    let finding = |remedy| {
        move |(name, line): (&str, usize)| {
            Finding::new(&source.path, line, format!("`{name}` is retired"), remedy)
        }
    };
    let named = named.map(finding("Call it by the word of the field for what it is"));
    named.chain(bare.map(finding("Say of what it is the limit, and end in its unit"))).collect()
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
