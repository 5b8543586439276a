//! Info objects.

use std::env;
use std::sync::{Mutex, OnceLock};

use motet::{ErrorClass, Info, hint::DETERMINISTIC};

use super::INITIAL_HANDLER;
use crate::arena::{Arena, ObjectRef};
use crate::constants;
use crate::error::{AbiError, AbiResult};
use crate::handle::{Handle, Kind, MPI_ABI_Info, MPI_Info};

/// The hint with the kinds of memory in which messages may lie. (MPI 5.0 §11.4.3)
const ALLOCATION_KINDS: &str = "mpi_memory_alloc_kinds";
const KINDS: [&str; 2] = ["mpi", "system"];
/// The hint by which a program declares which of them it uses with a communicator.
const ASSERTED_KINDS: &str = "mpi_assert_memory_alloc_kinds";

/// What a program can promise for a communicator. (MPI 5.0 §7.4.4)
const ASSERTIONS: [&str; 5] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

/// The hint with the thread level of a session, and its possible values.
const THREAD_LEVEL: &str = "thread_level";
const THREAD_LEVELS: [&str; 4] =
    ["MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"];

/// Hints, which one thread may change while others read them.
pub(crate) struct Hints;

impl Kind for MPI_ABI_Info {
    type Object = Mutex<Info>;
    type Own = ();
    const CODE: u8 = 5;
    const NAME: &'static str = "MPI_Info";
    const CLASS: ErrorClass = ErrorClass::Info;

    fn arena() -> &'static Arena<Mutex<Info>> {
        static ARENA: Arena<Mutex<Info>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<ObjectRef<Mutex<Info>>> {
        let is_environment = Handle::constant(value) == constants::MPI_INFO_ENV;
        let environment = || Mutex::new(Hints::environment(&[]));
        if is_environment { MPI_Info::unknown(environment()).ok() } else { None }
    }
}

impl Hints {
    /// How the program was started; `words` are its name and arguments, if known. The same before,
    /// while and after the library is initialized.
    pub(crate) fn environment(words: &[&str]) -> Info {
        static INITIAL: OnceLock<Option<String>> = OnceLock::new();
        let mut info = Info::environment();
        let initial = INITIAL.get_or_init(|| env::var(INITIAL_HANDLER).ok());
        let mut known: Vec<(&str, String)> = Vec::new();
        known.extend(initial.clone().map(|name| ("mpi_initial_errhandler", name)));
        if let [command, arguments @ ..] = words {
            known.push(("command", (*command).to_owned()));
            known.push(("argv", arguments.join(" ")));
        }
        for (key, value) in known {
            // A value that is too long is refused, and therefore left out.
            let _ = info.set(key, value);
        }
        info
    }

    /// The hints of a communicator that the library knows: the kinds of memory, and each assertion,
    /// with its given or its default value. Hints unknown to the library are not included.
    pub(crate) fn of_communicator(given: &Info) -> Info {
        let mut info = Info::new().with(ALLOCATION_KINDS, KINDS.join(","));
        let truth = |key| given.get(key).filter(|value| matches!(*value, "true" | "false"));
        for key in ASSERTIONS {
            info = info.with(key, truth(key).unwrap_or("false"));
        }
        let kinds = given.get(ASSERTED_KINDS).filter(|kinds| are_known(kinds));
        let others = [(DETERMINISTIC, truth(DETERMINISTIC)), (ASSERTED_KINDS, kinds)];
        for (key, value) in others.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            info = info.with(key, value);
        }
        info
    }

    /// The hints of a session.
    pub(crate) fn of_session() -> Info {
        Info::new()
            .with(ALLOCATION_KINDS, KINDS.join(","))
            .with(THREAD_LEVEL, "MPI_THREAD_MULTIPLE")
    }

    /// # Errors
    /// Hints for a session with an unknown level of thread support.
    pub(crate) fn expect_thread_level(hints: &Info) -> AbiResult {
        match hints.get(THREAD_LEVEL) {
            Some(level) if !THREAD_LEVELS.contains(&level) => {
                let known = THREAD_LEVELS.join(", ");
                let text = format!("{THREAD_LEVEL} is {level:?}, not one of {known}");
                Err(AbiError::new(ErrorClass::InfoValue, text))
            }
            _ => Ok(()),
        }
    }

    /// Gives a handle to hints.
    pub(crate) fn publish(info: Info) -> MPI_Info {
        MPI_Info::keep(Mutex::new(info))
    }
}

/// Whether all kinds of memory in a list exist, without regard to the text after a colon.
fn are_known(kinds: &str) -> bool {
    let name = |kind: &str| kind.split(':').next().map(|name| KINDS.contains(&name.trim()));
    kinds.split(',').all(|kind| name(kind) == Some(true))
}

impl MPI_Info {
    /// The present hints; empty for the null handle.
    pub(crate) fn hints(self) -> AbiResult<Info> {
        if self == constants::MPI_INFO_NULL {
            return Ok(Info::new());
        }
        let info = self.object()?;
        let info = info.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(info.clone())
    }
}
