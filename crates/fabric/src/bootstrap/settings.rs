//! The environment variables of a rank that starts, and how long it waits.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use crate::{Error, Result};

/// The variable with the rank of the process.
pub const RANK: &str = "MOTET_RANK";
/// The variable with the number of ranks.
pub const RANKS: &str = "MOTET_RANKS";
/// The variable with the descriptor of the segment.
pub const SEGMENT: &str = "MOTET_SEGMENT";
/// The variable with the process that has started the ranks.
pub const LAUNCHER: &str = "MOTET_LAUNCHER";
/// The variable that chooses among the interfaces of other launchers: `pmi1`, `pmi2`, `pmix`, or
/// `alone` to use none of them.
pub const CHOICE: &str = "MOTET_BOOTSTRAP";
/// The variable with the seconds for which a rank waits for the other ranks to start, and for an
/// answer of the server, where the launcher of another library starts them.
pub const LAUNCH_SECONDS: &str = "MOTET_LAUNCH_SECONDS";
/// The variable with the number of consecutive ranks that share memory. All other ranks are reached
/// over the network, even on the same host.
pub const RANKS_PER_SEGMENT: &str = "MOTET_RANKS_PER_SEGMENT";

/// How long a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// For all other ranks.
    pub(super) fence: Duration,
    /// For any other answer of the server.
    pub(super) answer: Duration,
}

impl Timeouts {
    /// The values without the variable. Large jobs take minutes to start, but a server answers
    /// soon.
    pub(super) const USUAL: Timeouts =
        Timeouts { fence: Duration::from_secs(300), answer: Duration::from_secs(30) };

    pub(super) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Timeouts> {
        let Some(text) = variable(LAUNCH_SECONDS) else { return Ok(Timeouts::USUAL) };
        let text = text.to_string_lossy();
        match text.parse() {
            Ok(seconds @ 1..=86_400) => {
                let all = Duration::from_secs(seconds);
                Ok(Timeouts { fence: all, answer: all })
            }
            _ => {
                let problem = format!(
                    "{LAUNCH_SECONDS} is {text:?}, not a number of seconds from 1 to 86400"
                );
                Err(Error::Environment(problem))
            }
        }
    }
}

/// Reads [`RANKS_PER_SEGMENT`]; `None` if it changes nothing.
///
/// # Errors
/// [`Error::Environment`] if it is no number.
pub fn ranks_per_segment() -> Result<Option<usize>> {
    let Some(text) = std::env::var_os(RANKS_PER_SEGMENT) else { return Ok(None) };
    let text = text.to_string_lossy();
    let wrong = |_| {
        Error::Environment(format!(
            "{RANKS_PER_SEGMENT} is {text:?}: set it to a number of ranks, or unset it"
        ))
    };
    let share: usize = if text.is_empty() { 0 } else { text.parse().map_err(wrong)? };
    Ok(Some(share).filter(|&share| share > 0))
}

/// The value of a variable of this process.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_a_number_of_seconds() {
        let of = |text: &str| Timeouts::of(|_| Some(text.into()));
        let five = Duration::from_secs(5);
        assert_eq!(of("5").unwrap(), Timeouts { fence: five, answer: five });
        assert_eq!(Timeouts::of(|_| None).unwrap(), Timeouts::USUAL);
        for wrong in ["", "0", "-1", "x", "86401"] {
            assert!(of(wrong).unwrap_err().to_string().contains(LAUNCH_SECONDS), "{wrong}");
        }
    }
}
