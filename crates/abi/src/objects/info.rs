//! Hints.

use std::env;
use std::sync::Mutex;

use motet::{ErrorClass, Info};

use crate::arena::Arena;
use crate::exports;
use crate::fault::Answer;
use crate::handle::{Handle, Kind, MPI_Info};
use crate::process::{self, INITIAL_HANDLER};
use crate::slot::Found;

/// The kind of hints, which may be changed while others look at them.
pub(crate) struct Hints;

impl Kind for Hints {
    type Object = Mutex<Info>;
    type Own = ();
    const CODE: u8 = 5;
    const NAME: &'static str = "MPI_Info";
    const CLASS: ErrorClass = ErrorClass::Info;

    fn arena() -> &'static Arena<Mutex<Info>> {
        static ARENA: Arena<Mutex<Info>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Found<Mutex<Info>>> {
        let is_environment = Handle::constant(value) == exports::MPI_INFO_ENV;
        let environment = || Mutex::new(Hints::environment(&[]));
        if is_environment { MPI_Info::unknown(environment()).ok() } else { None }
    }
}

impl Hints {
    /// What is known about how the program was started; its name and arguments are these words, if
    /// there are any.
    pub(crate) fn environment(words: &[&str]) -> Info {
        let mut info = Info::environment();
        let ranks = process::world().map(|world| world.size().to_string());
        let mut known: Vec<_> = ranks.map(|ranks| ("maxprocs", ranks)).into_iter().collect();
        known.extend(env::var(INITIAL_HANDLER).ok().map(|name| ("mpi_initial_errhandler", name)));
        if let [command, arguments @ ..] = words {
            known.push(("command", (*command).to_owned()));
            known.push(("argv", arguments.join(" ")));
        }
        for (key, value) in known {
            // One that is too long is refused, and so left out.
            let _ = info.set(key, value);
        }
        info
    }

    /// Gives a handle to hints.
    pub(crate) fn publish(info: Info) -> MPI_Info {
        MPI_Info::keep(Mutex::new(info))
    }
}

impl MPI_Info {
    /// What it says now; nothing if it is the null handle.
    pub(crate) fn hints(self) -> Answer<Info> {
        if self == exports::MPI_INFO_NULL {
            return Ok(Info::new());
        }
        let info = self.object()?;
        let info = info.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(info.clone())
    }
}
