//! The cost parameters of this machine: measured once, kept in a file, the same on all ranks.
//!
//! The command `motet info --measure --save` writes them. A program finds them by the variable
//! [`MACHINE`], or else in the file at the [default place](file()).
//!
//! **All ranks must have the same parameters**, because they choose algorithms by them. Ranks that
//! are threads have one [`Settings`](crate::Settings). Processes do not read the file, which
//! another program may be writing at that moment: the launcher reads it and passes the parameters
//! on in the environment, like the ranks ([`for_ranks`]). A rank whose launcher has passed none
//! takes the default parameters.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use motet_fabric::{SharedSegment, Thresholds, bootstrap, file as files, trusted};
use motet_plan::{CostParams, ProtocolLengths};

use crate::base::error::{ErrorKind, Result};
use crate::rank::settings::MACHINE;

/// The value for the default cost parameters.
const OFF: &str = "off";

/// The default file for cost parameters: `motet/machine` in the directory of the user's settings.
/// `None` if there is no such directory, or if the program has more rights than its user.
pub fn file() -> Option<PathBuf> {
    let absolute = |name| trusted(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let settings = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(settings?.join("motet").join("machine"))
}

/// The variable that a launcher sets in the environment of its ranks: the cost parameters, in one
/// line.
///
/// # Errors
/// A file that was named but cannot be read, or lines that are no cost parameters.
pub fn for_ranks() -> Result<(OsString, OsString)> {
    let machine = from_environment()?;
    let value = if machine == CostParams::default() { OFF.to_owned() } else { machine.line() };
    Ok((MACHINE.into(), value.into()))
}

/// The cost parameters that the environment names, or those of the default file.
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

/// The cost parameters for a process that joins a world, which must be those of all its ranks:
/// those that the environment names, or the file if no launcher has started the process, neither
/// ours nor another.
pub(crate) fn of_world() -> Result<CostParams> {
    let is_named = trusted(MACHINE).is_some_and(|value| !value.is_empty());
    if !is_named && bootstrap::is_launched() {
        return Ok(CostParams::default());
    }
    from_environment()
}

/// The cost parameters where `ranks` of one host share `cores`, with the lengths at which their
/// messages change their protocol if its kernel copies fast.
pub fn shared(machine: CostParams, ranks: usize, cores: usize) -> CostParams {
    machine.shared(ranks, cores).with_lengths(lengths(&Thresholds::of_host(ranks, cores)))
}

/// The same for the ranks of a segment, whose messages the kernel may copy at any speed.
pub(crate) fn of_segment(machine: CostParams, segment: &SharedSegment) -> CostParams {
    let lengths = lengths(&Thresholds::of_segment(segment));
    machine.shared(segment.local_ranks(), segment.cores()).with_lengths(lengths)
}

fn lengths(thresholds: &Thresholds) -> ProtocolLengths {
    ProtocolLengths {
        cell_max: thresholds.cell_max,
        eager_max: thresholds.eager_max,
        bounce_max: thresholds.bounce_one_way.longest,
        operand_bounce_max: thresholds.bounce_operands[1].longest,
    }
}

/// Parses a value of the variable: `off`, cost parameters, or a file.
fn named(value: &OsStr) -> Result<CostParams> {
    match value.to_str() {
        Some(OFF) => Ok(CostParams::default()),
        Some(text) if text.contains('=') => text.parse().map_err(wrong),
        _ => read(Path::new(value), Unreadable::IsWrong),
    }
}

/// Whether a missing or unreadable file is an error. The default file was not asked for, and may
/// belong to another user, be on a disk that is not mounted, or have no valid path.
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
    use std::fs;

    use motet_fabric::layout::Layout;

    use super::*;

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

    /// The model alone has lengths, too, for prices that never change.
    #[test]
    fn messages_of_common_lengths_travel_as_the_model_has_it() {
        let common = ProtocolLengths::COMMON;
        for (ranks, cores) in [(2, 1), (4, 2), (16, 2), (16, 15)] {
            let lengths = shared(CostParams::default(), ranks, cores).lengths;
            // A cell has a little more room than the model says.
            assert!((common.cell_max..common.cell_max + 64).contains(&lengths.cell_max));
            assert_eq!(ProtocolLengths { cell_max: common.cell_max, ..lengths }, common);
        }
        let dedicated = shared(CostParams::default(), 2, 2).lengths;
        assert_eq!(dedicated.eager_max, common.eager_max);
        assert_eq!(dedicated.operand_bounce_max, common.operand_bounce_max);
        let many = shared(CostParams::default(), 100, 2).lengths;
        assert!(many.cell_max < 2 << 10 && many.eager_max < 4 << 10, "{many:?}");
    }

    #[test]
    fn ranks_of_a_segment_have_its_lengths() {
        for cores in [1, 8] {
            let layout = Layout::new(4).expect("a layout");
            let (segment, _) = SharedSegment::shared_by(layout, cores).expect("a segment");
            // Another host may have measured another speed.
            segment.set_prefers_memcpy(true);
            let machine = of_segment(CostParams::default(), &segment);
            assert_eq!(machine, shared(CostParams::default(), 4, cores));
        }
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
