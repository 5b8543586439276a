//! The environment of a measurement: variables that influence it, a launcher, a terminal.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{env, fs};

use motet_fabric::{bootstrap, setting};
use motet_plan::select::{self, Overrides};
use motet_plan::{Call, Collective, Tuning};

use super::subjects::Measured;
use crate::output::Mistake;
use crate::plan::example::{Example, Sizes};

/// The variables that influence the measurement.
const VARIABLES: [&str; 5] = [
    motet::env::ALGORITHM,
    motet::env::WISDOM,
    motet::env::MACHINE,
    motet::env::SINGLE_COPY,
    motet::env::CHANNELS,
];

/// Selects these algorithms, through the variable for it.
///
/// A process cannot safely change its own environment, so it executes itself again with another
/// environment.
pub(super) fn set_algorithms(text: &str, measured: &[Measured]) -> anyhow::Result<()> {
    let wanted = match (text.contains(['=', ':']), measured) {
        (true, _) => text.to_owned(),
        (false, [measured]) => format!("{}={text}", measured.collective()),
        (false, _) => {
            let text = "name the one collective it is for, or say it as in `allreduce=ring`";
            return Err(Mistake(format!("--algorithm: {text}")).into());
        }
    };
    if let Err(error) = wanted.parse::<Overrides>() {
        let error = error.to_string();
        let error = error.strip_prefix("line 1: ").unwrap_or(&error);
        return Err(Mistake(format!("--algorithm: {error}")).into());
    }
    // The last entry for a collective counts.
    let value = match setting::text(motet::env::ALGORITHM)? {
        Some(value) if value.ends_with(&wanted) => return Ok(()),
        Some(value) => format!("{value},{wanted}"),
        None => wanted,
    };
    let mut words = env::args_os();
    let mut again = Command::new(env::current_exe()?);
    again.arg0(words.next().unwrap_or_default()).args(words).env(motet::env::ALGORITHM, value);
    Err(again.exec().into())
}

/// Checks whether an algorithm can be selected.
pub(super) fn check_choice(
    collective: Collective,
    ranks: u32,
    count: usize,
    tuning: &Tuning,
) -> Result<(), Mistake> {
    let choice = select::choose(&call(collective, ranks, count * super::ELEMENT_BYTES)?, tuning);
    choice.map(drop).map_err(|error| Mistake(error.to_string()))
}

/// The call of a rank.
pub(super) fn call(collective: Collective, ranks: u32, bytes: usize) -> Result<Call, Mistake> {
    let sizes = Sizes::of(bytes / super::ELEMENT_BYTES, super::ELEMENT_BYTES);
    Example { collective, ranks, sizes, root: 0, in_place: false, left: None }.call(0)
}

/// The variables of `VARIABLES` that are set.
pub(super) fn variables() -> BTreeMap<&'static str, String> {
    let value = |name| Some((name, env::var_os(name)?.to_string_lossy().into_owned()));
    VARIABLES.into_iter().filter_map(value).collect()
}

/// Whether this process is one of several ranks.
pub(super) fn is_under_launcher() -> bool {
    bootstrap::is_launched()
}

/// An output stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Output,
    Error,
}

/// Whether the stream leads to a terminal. The output of a rank passes through its launcher, so the
/// stream of the launcher counts.
pub(super) fn is_terminal(stream: Stream) -> bool {
    let Ok(launcher) = env::var(bootstrap::LAUNCHER) else {
        return match stream {
            Stream::Output => io::stdout().is_terminal(),
            Stream::Error => io::stderr().is_terminal(),
        };
    };
    let descriptor = match stream {
        Stream::Output => 1,
        Stream::Error => 2,
    };
    let file = fs::read_link(format!("/proc/{launcher}/fd/{descriptor}"));
    let file = file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    file.starts_with("/dev/pts/") || file.starts_with("/dev/tty")
}
