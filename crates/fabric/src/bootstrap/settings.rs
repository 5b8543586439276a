//! The environment variables of a rank that starts, and how long it waits.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use crate::Result;
use crate::setting::{self, Number, Words};

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
/// The values of that variable.
pub(super) const CHOICES: Words<Choice> = Words(&[
    ("alone", Choice::Alone),
    ("pmi1", Choice::Interface("pmi1")),
    ("pmi2", Choice::Interface("pmi2")),
    ("pmix", Choice::Interface("pmix")),
]);
/// The variable with the seconds for which a rank waits for the other ranks to start, and for an
/// answer of the server, where the launcher of another library starts them.
pub const LAUNCH_SECONDS: &str = "MOTET_LAUNCH_SECONDS";
/// The variable with the number of consecutive ranks that share memory. All other ranks are reached
/// over the network, even on the same host.
pub const RANKS_PER_SEGMENT: &str = "MOTET_RANKS_PER_SEGMENT";

/// Which interface of another launcher a rank uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// None.
    Alone,
    /// Only the one of this name.
    Interface(&'static str),
}

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
        let allowed = Number::new("a number of seconds").at_least(1).at_most(86_400);
        let seconds =
            setting::read(LAUNCH_SECONDS, variable(LAUNCH_SECONDS), |text| allowed.parse(text))?;
        Ok(seconds.map_or(Timeouts::USUAL, |seconds| {
            let all = Duration::from_secs(seconds);
            Timeouts { fence: all, answer: all }
        }))
    }
}

/// Reads [`RANKS_PER_SEGMENT`]; `None` if it changes nothing.
///
/// # Errors
/// [`Error::Setting`](crate::Error::Setting) if it is no number.
pub fn ranks_per_segment() -> Result<Option<usize>> {
    let allowed = Number::new("a number of ranks");
    let share = setting::variable(RANKS_PER_SEGMENT, |text| allowed.parse(text))?;
    Ok(share.filter(|&share| share > 0))
}

/// Checks the variables of a rank that starts.
///
/// # Errors
/// [`Error::Setting`](crate::Error::Setting) for the first with a value that it cannot have.
pub fn check_variables() -> Result<()> {
    ranks_per_segment()?;
    Timeouts::of(variable)?;
    setting::variable(CHOICE, |text| CHOICES.parse(text)).map(drop)
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
        assert_eq!(of("").unwrap(), Timeouts::USUAL);
        for wrong in ["0", "-1", "x", "86401"] {
            assert!(of(wrong).unwrap_err().to_string().contains(LAUNCH_SECONDS), "{wrong}");
        }
    }
}
