//! Settings: which values an option or an environment variable may have, and what is said about
//! another value.
//!
//! All programs and libraries of Motet check what users write by [`Number`], [`Seconds`] and
//! [`Words`], whose errors say what is expected; an environment variable is read by [`variable`],
//! whose error also names the variable and shows its value.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use crate::{Error, Result};

/// A whole number within a range.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    what: &'static str,
    least: u64,
    most: u64,
}

impl Number {
    /// Any number of this kind, such as `a number of ranks`.
    pub const fn new(what: &'static str) -> Number {
        Number { what, least: 0, most: u64::MAX }
    }

    /// Only numbers from this one on.
    #[must_use]
    pub const fn at_least(self, least: u64) -> Number {
        Number { least, ..self }
    }

    /// Only numbers up to this one.
    #[must_use]
    pub const fn at_most(self, most: u64) -> Number {
        Number { most, ..self }
    }

    /// Parses a number.
    ///
    /// # Errors
    /// The text is no such number: says what is expected.
    pub fn parse<T: TryFrom<u64>>(self, text: &str) -> std::result::Result<T, String> {
        self.check(text.parse().ok())
    }

    /// Checks a number that is parsed already; `None` if the text was no number.
    ///
    /// # Errors
    /// As [`parse`](Number::parse).
    pub fn check<T: TryFrom<u64>>(self, number: Option<u64>) -> std::result::Result<T, String> {
        let number = number.filter(|number| (self.least..=self.most).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| format!("expected {self}"))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number { what, least, most } = self;
        match (least, most) {
            (0, &u64::MAX) => write!(out, "{what} (0 or more)"),
            (least, &u64::MAX) => write!(out, "{what} ({least} or more)"),
            (least, most) => write!(out, "{what} from {least} to {most}"),
        }
    }
}

/// A number of seconds, which may have a fraction.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    least: f64,
    most: f64,
}

impl Seconds {
    /// From `least` to `most` seconds.
    pub const fn new(least: f64, most: f64) -> Seconds {
        Seconds { least, most }
    }

    /// Parses a number of seconds.
    ///
    /// # Errors
    /// The text is no such number: says what is expected.
    pub fn parse(self, text: &str) -> std::result::Result<Duration, String> {
        let Seconds { least, most } = self;
        let seconds = text.parse().ok().filter(|seconds| (least..=most).contains(seconds));
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.ok_or_else(|| format!("expected a number of seconds from {least} to {most}"))
    }
}

/// One of a few words, each with its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Words<T: 'static>(pub &'static [(&'static str, T)]);

/// `on` or `off`.
pub const SWITCH: Words<bool> = Words(&[("on", true), ("off", false)]);

impl<T: Copy> Words<T> {
    /// The meaning of a word.
    ///
    /// # Errors
    /// There is no such word: names those that there are.
    pub fn parse(self, text: &str) -> std::result::Result<T, String> {
        let found = self.0.iter().find(|(word, _)| *word == text);
        found.map(|&(_, meaning)| meaning).ok_or_else(|| format!("expected {self}"))
    }
}

impl<T> fmt::Display for Words<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0.len().saturating_sub(1);
        for (at, (word, _)) in self.0.iter().enumerate() {
            let before = match at {
                0 => "",
                _ if at == last => " or ",
                _ => ", ",
            };
            write!(out, "{before}`{word}`")?;
        }
        Ok(())
    }
}

/// Reads an environment variable; `None` if it is not set, or empty.
///
/// # Errors
/// [`Error::Setting`] if `parse` refuses the value. The text of `parse` begins with `expected`.
pub fn variable<T>(
    name: &'static str,
    parse: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Result<Option<T>> {
    read(name, std::env::var_os(name), parse)
}

/// The same for a value that was read already.
///
/// # Errors
/// As [`variable`].
pub fn read<T>(
    name: &'static str,
    value: Option<OsString>,
    parse: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Result<Option<T>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.to_string_lossy();
    let wrong = |expected| Error::Setting { name, value: value.clone().into_owned(), expected };
    parse(&value).map(Some).map_err(wrong)
}

/// Reads an environment variable whose value is any text; `None` if it is not set, or empty.
///
/// # Errors
/// [`Error::Setting`] if the value is no text.
pub fn text(name: &'static str) -> Result<Option<String>> {
    text_of(name, std::env::var_os(name))
}

/// The text of a value that was read already.
fn text_of(name: &'static str, value: Option<OsString>) -> Result<Option<String>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    value.into_string().map(Some).map_err(|value| Error::Setting {
        name,
        value: value.to_string_lossy().into_owned(),
        expected: "expected text in UTF-8".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    const RANKS: Number = Number::new("a number of ranks").at_least(1).at_most(1024);

    fn told<T: fmt::Debug>(
        value: &str,
        parse: impl FnOnce(&str) -> std::result::Result<T, String>,
    ) -> String {
        read("MOTET_X", Some(value.into()), parse).expect_err("a wrong value").to_string()
    }

    #[test]
    fn a_wrong_value_is_told_with_its_name_and_what_is_expected() {
        let text = "MOTET_X is `2x`; expected a number of ranks from 1 to 1024";
        assert_eq!(told("2x", |text| RANKS.parse::<usize>(text)), text);
        let text = "MOTET_X is `-1`; expected a size (0 or more)";
        assert_eq!(told("-1", |text| Number::new("a size").parse::<u64>(text)), text);
        let text = "MOTET_X is `NaN`; expected a number of seconds from 0.1 to 5";
        assert_eq!(told("NaN", |text| Seconds::new(0.1, 5.0).parse(text)), text);
        let text = "MOTET_X is `On`; expected `on` or `off`";
        assert_eq!(told("On", |text| SWITCH.parse(text)), text);
        let three = Words(&[("a", 1), ("b", 2), ("c", 3)]);
        assert_eq!(told(" ", |text| three.parse(text)), "MOTET_X is ` `; expected `a`, `b` or `c`");
    }

    #[test]
    fn numbers_lie_in_their_range_and_type() {
        for (text, number) in [("1", Ok(1)), ("1024", Ok(1024)), ("0", Err(())), ("1025", Err(()))]
        {
            assert_eq!(RANKS.parse::<usize>(text).map_err(drop), number, "{text}");
        }
        let any = Number::new("a number");
        assert!(any.parse::<u8>("256").is_err() && any.parse::<u64>("256").is_ok());
        for wrong in ["", "x", "1.5", "-1", "99999999999999999999999"] {
            assert!(any.parse::<u64>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let of = |value: &[u8]| text_of("MOTET_X", Some(OsString::from_vec(value.to_vec())));
        assert_eq!(of(b"tcp").expect("it is text").as_deref(), Some("tcp"));
        assert_eq!(of(b"").expect("it is not set"), None);
        let told = of(b"tc\xffp\n").expect_err("it is no text").to_string();
        assert_eq!(told, "MOTET_X is `tc\u{fffd}p\\n`; expected text in UTF-8");
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let read = |value: &str| read("MOTET_X", Some(value.into()), |text| SWITCH.parse(text));
        assert_eq!(read("").expect("nothing is wrong"), None);
        assert_eq!(read("off").expect("a value"), Some(false));
        assert_eq!(variable("MOTET_NOT_SET", |text| SWITCH.parse(text)).expect("none"), None);
    }
}
