//! Codes that keep the texts of recent errors, for callers that get a number only.
//!
//! Such a code belongs to a class of the standard. Its low byte is the number of the class, so a
//! process that exits with the code exits with the number of the class. All of them lie below
//! [`LAST_PREDEFINED`]: a program can tell them from the codes that it has added, and
//! `MPI_LASTUSEDCODE` is above them.
//!
//! The table is bounded: it keeps [`KEPT`] texts. A code whose text is gone has the text of its
//! class. Each class has [`NUMBERS`] codes and gives them out in turn; an error with a text that is
//! still in the table gets the code that it has there. The table belongs to the process, since a
//! code means the same in all its worlds.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::codes::{LAST_PREDEFINED, MAX_TEXT};
use super::{ErrorClass, ErrorCode};

/// Texts in the table.
const KEPT: usize = 48;
/// Codes of one class. They are more than the texts in the table: a code has lost its text before
/// the same number is given out again.
const NUMBERS: u32 = LAST as u32 + 1 - FIRST as u32;
/// A code is `number << SHIFT | class`, with these numbers.
const SHIFT: u32 = 8;
const FIRST: i32 = 4;
const LAST: i32 = LAST_PREDEFINED >> SHIFT;
/// More than the largest class.
const CLASSES: usize = 64;

const _: () = assert!(KEPT < NUMBERS as usize && ErrorClass::ALL.len() < CLASSES);

/// Marks the end of a text that was cut off.
const ELLIPSIS: &str = "…";

/// The texts of recent errors.
struct Recent {
    /// How many codes each class has given out; at most twice [`NUMBERS`], as what comes then is
    /// given out again.
    given: [u32; CLASSES],
    /// The oldest first.
    texts: VecDeque<(ErrorCode, String)>,
}

fn recent() -> MutexGuard<'static, Recent> {
    static RECENT: Mutex<Recent> = Mutex::new(Recent::new());
    RECENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A code of this class that keeps the text.
pub(super) fn keep(class: ErrorClass, text: &str) -> ErrorCode {
    let text = line(class, text);
    recent().keep(class, text)
}

/// The class of a code that [`keep`] has given out.
pub(super) fn class_of(code: ErrorCode) -> Option<ErrorClass> {
    let class = class_in(code)?;
    recent().has_given(class, code).then_some(class)
}

/// The text that a code keeps, if the table still has it.
pub(super) fn text_of(code: ErrorCode) -> Option<String> {
    class_in(code)?;
    recent().text_of(code).map(str::to_owned)
}

impl Recent {
    const fn new() -> Recent {
        Recent { given: [0; CLASSES], texts: VecDeque::new() }
    }

    fn keep(&mut self, class: ErrorClass, text: String) -> ErrorCode {
        let is_it =
            |(code, each): &&(ErrorCode, String)| class_in(*code) == Some(class) && *each == text;
        if let Some((code, _)) = self.texts.iter().find(is_it) {
            return *code;
        }
        let given = &mut self.given[class.code() as usize];
        let number = FIRST + (*given % NUMBERS) as i32;
        *given = if *given + 1 == 2 * NUMBERS { NUMBERS } else { *given + 1 };
        let code = ErrorCode(number << SHIFT | class.code());
        if self.texts.len() == KEPT {
            self.texts.pop_front();
        }
        self.texts.push_back((code, text));
        code
    }

    fn has_given(&self, class: ErrorClass, code: ErrorCode) -> bool {
        let number = (code.0 >> SHIFT) - FIRST;
        number.cast_unsigned() < self.given[class.code() as usize]
    }

    fn text_of(&self, code: ErrorCode) -> Option<&str> {
        let found = self.texts.iter().find(|(each, _)| *each == code);
        found.map(|(_, text)| text.as_str())
    }
}

/// The class in a number that [`keep`] may give out.
fn class_in(code: ErrorCode) -> Option<ErrorClass> {
    let is_one = (FIRST..=LAST).contains(&(code.0 >> SHIFT));
    is_one.then(|| ErrorClass::from_code(code.0 & ((1 << SHIFT) - 1))).flatten()
}

/// The text as one line that begins with the name of the class and is not too long.
fn line(class: ErrorClass, text: &str) -> String {
    let mut line = format!("{}: ", class.name());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    if line.len() >= MAX_TEXT {
        line.truncate(line.floor_char_boundary(MAX_TEXT - 1 - ELLIPSIS.len()));
        line.push_str(ELLIPSIS);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(recent: &mut Recent, class: ErrorClass, text: &str) -> ErrorCode {
        recent.keep(class, line(class, text))
    }

    #[test]
    fn a_code_says_its_class_in_its_low_byte() {
        let mut recent = Recent::new();
        let code = keep(&mut recent, ErrorClass::Quota, "so much");
        assert_eq!(code.0 & 255, ErrorClass::Quota.code());
        assert!(code.0 > 1 << SHIFT && code.0 <= LAST_PREDEFINED);
        assert_eq!(class_in(code), Some(ErrorClass::Quota));
        assert_eq!(recent.text_of(code), Some("MPI_ERR_QUOTA: so much"));
    }

    #[test]
    fn the_same_error_has_the_same_code() {
        let recent = &mut Recent::new();
        let first = keep(recent, ErrorClass::Port, "one");
        assert_ne!(keep(recent, ErrorClass::Port, "other"), first);
        assert_eq!(keep(recent, ErrorClass::Port, "one"), first);
        assert_ne!(keep(recent, ErrorClass::Name, "one"), first);
    }

    #[test]
    fn a_code_that_was_not_given_out_is_none() {
        let recent = &mut Recent::new();
        let code = keep(recent, ErrorClass::Spawn, "first");
        assert!(recent.has_given(ErrorClass::Spawn, code));
        assert!(!recent.has_given(ErrorClass::Spawn, ErrorCode(code.0 + (1 << SHIFT))));
        assert!(!recent.has_given(ErrorClass::Port, ErrorCode(code.0 - 10)));
        for none in [-code.0, 0xff | FIRST << SHIFT, FIRST << SHIFT, 53 | 1 << 20, 53 | 3 << SHIFT]
        {
            assert_eq!(class_in(ErrorCode(none)), None, "{none}");
        }
    }

    #[test]
    fn old_texts_go_and_codes_stay() {
        let recent = &mut Recent::new();
        for round in 0..5 {
            let keep = |each| keep(recent, ErrorClass::Service, &format!("error {round}.{each}"));
            let codes: Vec<_> = (0..NUMBERS).map(keep).collect();
            assert_eq!(recent.texts.len(), KEPT);
            let (first, last) = (codes[0], codes[codes.len() - 1]);
            assert_eq!(recent.text_of(first), None);
            let text = format!("MPI_ERR_SERVICE: error {round}.59");
            assert_eq!(recent.text_of(last), Some(text.as_str()));
            assert!(codes.iter().all(|&code| recent.has_given(ErrorClass::Service, code)));
            assert!(codes.is_sorted_by(|one, next| one < next), "each is another one");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        for shift in 0..4 {
            let line = line(ErrorClass::NotSame, &("x".repeat(shift) + &"é€𝄞".repeat(100)));
            assert!((MAX_TEXT - 8..MAX_TEXT).contains(&line.len()), "{}", line.len());
            assert!(line.ends_with(ELLIPSIS), "{line}");
        }
        let fits = "y".repeat(MAX_TEXT - 1 - "MPI_ERR_NOT_SAME: ".len());
        assert!(line(ErrorClass::NotSame, &fits).ends_with('y'));
        assert!(line(ErrorClass::NotSame, &(fits + "y")).ends_with(ELLIPSIS));
    }

    #[test]
    fn a_text_is_one_line() {
        let line = line(ErrorClass::Locktype, "named a\nb\u{1b}[1m");
        assert_eq!(line, "MPI_ERR_LOCKTYPE: named a\\nb\\u{1b}[1m");
    }
}
