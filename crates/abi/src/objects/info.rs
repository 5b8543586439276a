//! Hints.

use std::sync::{Arc, Mutex};

use motet::{ErrorClass, Info};

use crate::arena::Arena;
use crate::exports;
use crate::fault::Answer;
use crate::handle::{Handle, Kind, MPI_Info};

/// The kind of hints, which may be changed while others look at them.
pub(crate) struct Hints;

impl Kind for Hints {
    type Object = Arc<Mutex<Info>>;
    const CODE: u8 = 5;
    const NAME: &'static str = "MPI_Info";
    const CLASS: ErrorClass = ErrorClass::Info;

    fn arena() -> &'static Arena<Self::Object> {
        static ARENA: Arena<Arc<Mutex<Info>>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Self::Object> {
        let is_environment = Handle::constant(value) == exports::MPI_INFO_ENV;
        is_environment.then(|| Arc::new(Mutex::new(Info::environment())))
    }
}

impl Hints {
    /// Gives a handle to hints.
    pub(crate) fn publish(info: Info) -> MPI_Info {
        MPI_Info::keep(Arc::new(Mutex::new(info)))
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
