//! Words that names had before they had those of the field: of functions, fields, variants,
//! variables, parameters, types and constants.

use crate::finding::Finding;
use crate::source::{Source, Word};

/// No part of a name is one of these: neither in `snake_case` nor in `CamelCase`.
const RETIRED: [&str; 53] = [
    "acts",
    "belt",
    "belts",
    "berth",
    "berthed",
    "berthing",
    "berths",
    "board",
    "conduit",
    "conduits",
    "convoy",
    "convoys",
    "courier",
    "couriers",
    "course",
    "crowded",
    "exposure",
    "habits",
    "impolite",
    "inlet",
    "landing",
    "leg",
    "legs",
    "lend",
    "lent",
    "linger",
    "look",
    "looked",
    "looking",
    "looks",
    "lying",
    "mine",
    "nap",
    "news",
    "pace",
    "particulars",
    "pen",
    "pier",
    "piers",
    "roomy",
    "spacious",
    "sprint",
    "sprinter",
    "straight",
    "straights",
    "stretch",
    "unsaid",
    "untold",
    "vigil",
    "volley",
    "volleys",
    "way",
    "ways",
];

/// A retired word that the field has behind this one: a message or a flow is one-way.
const KEPT_BEHIND: (&str, &str) = ("one", "way");

/// Old names of public items, which are deprecated and have the words that they had.
const OLD_NAMES: &str = "crates/motet/src/raw/renamed.rs";

/// No name is one of these, but they may be parts of one.
const RETIRED_ALONE: [&str; 2] = ["dash", "said"];

/// The parts of a name, in small letters.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.trim_start_matches("r#").chars() {
        let last = parts.last_mut().expect("there is always one");
        let begins = letter.is_uppercase() && last.ends_with(|c: char| !c.is_uppercase());
        if letter == '_' || begins {
            parts.push(String::new());
        }
        let last = parts.last_mut().expect("there is always one");
        last.extend(letter.to_lowercase().filter(|&c| c != '_'));
    }
    parts
}

/// Names of any kind with a retired word in them.
pub(crate) fn retired(source: &Source) -> Vec<Finding> {
    let is_old = |word: &Word<'_>| {
        let parts = parts(word.text);
        let is_kept =
            |at: usize| at > 0 && (parts[at - 1].as_str(), parts[at].as_str()) == KEPT_BEHIND;
        let is_retired = |at: usize| RETIRED.contains(&parts[at].as_str()) && !is_kept(at);
        (0..parts.len()).any(is_retired) || RETIRED_ALONE.contains(&word.text)
    };
    if source.path == OLD_NAMES {
        return Vec::new();
    }
    let finding = |word: Word<'_>| {
        let what = format!("`{}` has a retired word", word.text);
        let remedy = "Call it by the word of the field for what it is";
        Finding::new(&source.path, source.line_of(word.start), what, remedy)
    };
    source.words().filter(is_old).map(finding).collect()
}
