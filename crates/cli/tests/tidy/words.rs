//! Words that functions, fields, variants and variables had before they had those of the field.

use crate::finding::Finding;
use crate::source::{Source, Word};

/// No part of a name is one of these: neither in `snake_case` nor in `CamelCase`.
const RETIRED: [&str; 43] = [
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
    "lying",
    "nap",
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
    "vigil",
    "volley",
    "volleys",
];

/// No name is one of these, but they may be parts of one.
const RETIRED_ALONE: [&str; 2] = ["dash", "said"];

/// The parts of a name, in small letters.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.trim_start_matches("r#").chars() {
        let last = parts.last_mut().expect("there is always one");
        let begins = letter.is_uppercase() && last.ends_with(|c: char| c.is_lowercase());
        if letter == '_' || begins {
            parts.push(String::new());
        }
        let last = parts.last_mut().expect("there is always one");
        last.extend(letter.to_lowercase().filter(|&c| c != '_'));
    }
    parts
}

/// The body of the structure, enumeration or union whose keyword this is, if it has one in braces.
fn body(source: &Source, keyword: &Word<'_>) -> Option<std::ops::Range<usize>> {
    let rest = &source.code[keyword.end()..];
    let open = rest.find(['{', ';'])?;
    let open = keyword.end() + open;
    source.code[open..].starts_with('{').then(|| open..source.close_of(open))
}

/// Functions, and variables that `let` names.
fn functions_and_variables<'a>(words: &[Word<'a>]) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    for triple in words.windows(3) {
        match (triple[0].text, triple[1].text) {
            ("let", "mut") => found.push(triple[2]),
            ("fn" | "let", _) => found.push(triple[1]),
            _ => {}
        }
    }
    found
}

/// Fields and variants of the types that a file declares.
fn fields_and_variants<'a>(source: &'a Source, words: &[Word<'a>]) -> Vec<Word<'a>> {
    let is_type = |pair: &&[Word<'_>]| {
        let is_keyword = ["struct", "enum", "union"].contains(&pair[0].text);
        is_keyword && pair[1].text.starts_with(char::is_uppercase)
    };
    let types = words.windows(2).filter(is_type);
    let bodies: Vec<_> = types.filter_map(|pair| body(source, &pair[0])).collect();
    let is_named = |word: &&Word<'_>| {
        let before = source.code[..word.start].trim_end().chars().last();
        let behind = source.code[word.end()..].trim_start();
        let is_field = behind.starts_with(':') && !behind.starts_with("::");
        let is_variant = word.text.starts_with(char::is_uppercase);
        is_field || (is_variant && matches!(before, Some('{' | ',' | ']')))
    };
    let within = |word: &&Word<'_>| bodies.iter().any(|body| body.contains(&word.start));
    words.iter().filter(within).filter(is_named).copied().collect()
}

/// Functions, fields, variants and variables with a retired word in their names.
pub(crate) fn retired(source: &Source) -> Vec<Finding> {
    let words: Vec<Word<'_>> = source.words().collect();
    let mut named = functions_and_variables(&words);
    named.extend(fields_and_variants(source, &words));
    named.sort_by_key(|word| word.start);
    let is_old = |word: &&Word<'_>| {
        let has_part = parts(word.text).iter().any(|part| RETIRED.contains(&part.as_str()));
        has_part || RETIRED_ALONE.contains(&word.text)
    };
    let finding = |word: &Word<'_>| {
        let what = format!("`{}` has a retired word", word.text);
        let remedy = "Call it by the word of the field for what it is";
        Finding::new(&source.path, source.line_of(word.start), what, remedy)
    };
    named.iter().filter(is_old).map(finding).collect()
}
