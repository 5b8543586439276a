//! The prices of this machine: measured once, kept in a file, the same on all ranks.
//!
//! The command `motet info --measure --save` writes them. A program finds them by the variable
//! [`MACHINE`], or else in the file that is the [default place](file()).
//!
//! **All ranks must have the same**, as they choose algorithms by them. Ranks that are threads have
//! one [`Settings`](crate::Settings). Processes do not read the file, in which another program may
//! write at that moment: who starts them reads it, and hands the prices on in the environment, as
//! it does their ranks ([`for_ranks`]). A rank of a launcher that has handed on none takes the
//! default prices.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use motet_fabric::{bootstrap, file as files, trusted};
use motet_plan::CostParams;

use crate::base::error::{ErrorKind, Result};
use crate::rank::settings::MACHINE;

/// The value for the default prices.
const OFF: &str = "off";

/// The file in which prices are kept unless somebody says otherwise: `motet/machine` where the user
/// keeps settings. Nothing if there is no such place, or if the program has more rights than its
/// user.
pub fn file() -> Option<PathBuf> {
    let absolute = |name| trusted(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let settings = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(settings?.join("motet").join("machine"))
}

/// What a launcher sets in the environment of its ranks: the prices, in one line.
///
/// # Errors
/// A file that was named but cannot be read, or lines that are no prices.
pub fn for_ranks() -> Result<(OsString, OsString)> {
    let machine = from_environment()?;
    let value = if machine == CostParams::default() { OFF.to_owned() } else { machine.line() };
    Ok((MACHINE.into(), value.into()))
}

/// The prices that the environment names, or those of the default place.
///
/// # Errors
/// As [`for_ranks`].
pub fn from_environment() -> Result<CostParams> {
    match trusted(MACHINE).filter(|value| !value.is_empty()) {
        Some(value) => named(&value),
        None if env::var_os(bootstrap::RANK).is_some() => Ok(CostParams::default()),
        None => file().map_or(Ok(CostParams::default()), |path| read(&path, Unreadable::IsDefault)),
    }
}

/// The prices for a process that joins a world, which must be those of all its ranks: what the
/// environment names, and the file only where no launcher has been at work, be it ours or another.
pub(crate) fn of_world() -> Result<CostParams> {
    let is_named = trusted(MACHINE).is_some_and(|value| !value.is_empty());
    if !is_named && bootstrap::is_launched() {
        return Ok(CostParams::default());
    }
    from_environment()
}

/// What a value of the variable comes to: `off`, prices, or a file.
fn named(value: &OsStr) -> Result<CostParams> {
    match value.to_str() {
        Some(OFF) => Ok(CostParams::default()),
        Some(text) if text.contains('=') => text.parse().map_err(wrong),
        _ => read(Path::new(value), Unreadable::IsWrong),
    }
}

/// What it means that a file is not there or cannot be read. Nobody has asked for the one in the
/// default place, which may belong to another user, lie on a disk that is gone, or be no place.
#[derive(Clone, Copy)]
enum Unreadable {
    IsDefault,
    IsWrong,
}

fn read(path: &Path, unreadable: Unreadable) -> Result<CostParams> {
    let wrong_file = |problem: String| wrong(format!("{}: {problem}", path.display()));
    match (files::read_text(path), unreadable) {
        (Ok(text), _) => {
            text.parse().map_err(|error: motet_plan::TextError| wrong_file(error.to_string()))
        }
        (Err(_), Unreadable::IsDefault) => Ok(CostParams::default()),
        (Err(error), Unreadable::IsWrong) => Err(wrong_file(error.to_string())),
    }
}

fn wrong(problem: impl ToString) -> crate::Error {
    ErrorKind::Setting { variable: MACHINE, problem: problem.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn problem(value: &str) -> String {
        named(OsStr::new(value)).expect_err("no prices").to_string()
    }

    #[test]
    fn a_value_is_off_or_prices_or_a_file() {
        let default = CostParams::default();
        assert_eq!(named(OsStr::new("off")).expect("prices"), default);
        let machine = CostParams { latency_ns: 77.5, ..default };
        assert_eq!(named(OsStr::new("latency=77.5")).expect("prices"), machine);
        assert_eq!(named(OsStr::new(&machine.line())).expect("prices"), machine);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("machine");
        fs::write(&path, machine.to_string()).expect("written");
        assert_eq!(named(path.as_os_str()).expect("prices"), machine);
        fs::write(&path, "latency = 5\nsend = fast\n").expect("written");
        let text = named(path.as_os_str()).expect_err("no prices").to_string();
        assert!(text.contains("machine: line 2: `send = fast` has no number"), "{text}");
    }

    #[test]
    fn a_file_that_is_named_must_be_there() {
        let text = problem("/nowhere/at/all");
        assert!(text.contains(MACHINE) && text.contains("/nowhere/at/all: "), "{text}");
        let path = Path::new("/nowhere/at/all");
        assert_eq!(read(path, Unreadable::IsDefault).expect("prices"), CostParams::default());
        assert!(problem("latency=5;speed=3").contains("`speed=3` names no price"));
    }
}
