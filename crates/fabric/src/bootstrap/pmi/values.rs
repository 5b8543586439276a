//! Encodes binary values for PMI as hexadecimal digits, split into parts that fit its value limit.
//!
//! The first part begins with the number of all parts and a dot. So a reader knows how many parts
//! to ask for, and asks for no more than a value may have.

use crate::kvs::{NAME_MAX_BYTES, VALUE_MAX_BYTES};
use crate::{Error, Result};

/// Characters of a part that every server takes, whatever limit it reports.
const PART_MIN_BYTES: usize = 64;
/// Characters of the longest part: what the protocols guarantee at least.
const PART_MAX_BYTES: usize = 1000;
/// Characters for the number of parts and the dot.
const HEAD: usize = 8;

/// Most parts of a value.
const PARTS_MAX: usize = VALUE_MAX_BYTES / ((PART_MIN_BYTES - HEAD) / 2) + 1;

/// The key of a part of a value of a rank.
pub(super) fn key(rank: usize, name: &str, part: usize) -> String {
    format!("motet-{rank}-{part}-{name}")
}

/// Checks a name and a value before a put.
pub(super) fn check(name: &str, value: &[u8]) -> Result<()> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if name.len() > NAME_MAX_BYTES || !name.chars().all(is_name) || value.len() > VALUE_MAX_BYTES {
        let bytes = value.len();
        return Err(Error::Environment(format!("{name:?} with {bytes} bytes is nothing for PMI")));
    }
    Ok(())
}

/// The parts of a value, where a server takes `room` characters for each.
pub(super) fn parts(value: &[u8], room: usize) -> Vec<String> {
    let bytes = (room.clamp(PART_MIN_BYTES, PART_MAX_BYTES) - HEAD) / 2;
    let mut parts: Vec<String> = value.chunks(bytes).map(digits).collect();
    if parts.is_empty() {
        parts.push(String::new());
    }
    parts[0] = format!("{}.{}", parts.len(), parts[0]);
    parts
}

/// Joins a value from the parts that `part` finds; `None` if they form no value.
pub(super) fn join(mut part: impl FnMut(usize) -> Result<String>) -> Result<Option<Vec<u8>>> {
    let first = part(0)?;
    let Some((count, first)) = first.split_once('.') else { return Ok(None) };
    let Some(mut value) = bytes(first) else { return Ok(None) };
    let count = count.parse().ok().filter(|count| (1..=PARTS_MAX).contains(count));
    let Some(count) = count else { return Ok(None) };
    for at in 1..count {
        let Some(more) = bytes(&part(at)?) else { return Ok(None) };
        value.extend(more);
    }
    Ok((value.len() <= VALUE_MAX_BYTES).then_some(value))
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| Some((*letter as char).to_digit(16)? as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(value: &[u8], room: usize) {
        let parts = parts(value, room);
        assert!(parts.iter().all(|part| part.len() <= room), "{room}");
        let found = join(|at| Ok(parts[at].clone())).unwrap();
        assert_eq!(found.as_deref(), Some(value));
    }

    #[test]
    fn values_of_any_length_come_back() {
        for length in [0, 1, 27, 28, 29, 495, 496, 497, 5000, VALUE_MAX_BYTES] {
            let value: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
            for room in [64, 256, 1000, 1024, 100_000] {
                there_and_back(&value, room);
            }
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for wrong in ["", "1", "0.", "1.a", "1.ax", "x.aa", "99999999.aa", "-1.aa", "2.aa"] {
            let found = join(|at| Ok(if at == 0 { wrong.into() } else { "zz".into() }));
            assert_eq!(found.unwrap(), None, "{wrong}");
        }
    }

    #[test]
    fn names_and_lengths_are_checked() {
        assert!(check("address-2", &[0; VALUE_MAX_BYTES]).is_ok());
        assert!(check("address-2", &[0; VALUE_MAX_BYTES + 1]).is_err());
        assert!(check("two words", b"").is_err());
        assert!(check(&"x".repeat(NAME_MAX_BYTES + 1), b"").is_err());
        assert!(key(999_999, &"x".repeat(NAME_MAX_BYTES), PARTS_MAX).len() <= 64);
    }
}
