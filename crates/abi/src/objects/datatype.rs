//! Datatypes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use motet::datatype::Named;
use motet::{Attributes, Datatype, ErrorClass};

use crate::arena::Arena;
use crate::fault::{Answer, Fault};
use crate::handle::{Kind, MPI_Datatype};

/// The first constant of the kind, and how many there can be.
const BASE: usize = 0x200;
const CONSTANTS: usize = 0x100;

/// A datatype, with what C knows of it.
pub(crate) struct Type {
    pub(crate) datatype: Datatype,
    /// Its handle, which callbacks are told.
    pub(crate) handle: MPI_Datatype,
    pub(crate) attributes: Attributes<MPI_Datatype>,
    /// The name that it was given.
    pub(crate) name: Mutex<Option<String>>,
    committed: AtomicBool,
}

impl Kind for Type {
    type Object = Arc<Type>;
    const CODE: u8 = 2;
    const NAME: &'static str = "MPI_Datatype";
    const CLASS: ErrorClass = ErrorClass::Type;

    fn arena() -> &'static Arena<Arc<Type>> {
        static ARENA: Arena<Arc<Type>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Arc<Type>> {
        static NAMED: OnceLock<Vec<Option<Arc<Type>>>> = OnceLock::new();
        let named =
            NAMED.get_or_init(|| (0..CONSTANTS).map(|each| Type::named(BASE + each)).collect());
        named.get(value.checked_sub(BASE)?)?.clone()
    }
}

impl Type {
    fn new(datatype: Datatype, handle: MPI_Datatype, committed: bool) -> Arc<Type> {
        let (name, committed) = (Mutex::default(), AtomicBool::new(committed));
        Arc::new(Type { datatype, handle, attributes: Attributes::default(), name, committed })
    }

    /// The datatype that a constant names.
    fn named(code: usize) -> Option<Arc<Type>> {
        let named = Named::from_code(u16::try_from(code).ok()?)?;
        Some(Type::new(Datatype::from(named), MPI_Datatype::constant(code), true))
    }

    /// Gives a handle to a datatype that has been made, and may not be used in messages yet.
    pub(crate) fn publish(datatype: Datatype) -> MPI_Datatype {
        MPI_Datatype::keep_with(|handle| Type::new(datatype, handle, false))
    }

    /// Gives a handle to a copy of this datatype, with the attributes that it gets: see
    /// [`copied`](crate::calls::attributes::copied).
    pub(crate) fn publish_copy(&self, attributes: Attributes<MPI_Datatype>) -> MPI_Datatype {
        MPI_Datatype::keep_with(|handle| {
            let committed = AtomicBool::new(self.is_committed());
            let (datatype, name) = (self.datatype.clone(), Mutex::default());
            Arc::new(Type { datatype, handle, attributes, name, committed })
        })
    }

    /// It may be used in messages from now on.
    pub(crate) fn commit(&self) {
        self.committed.store(true, Ordering::Release);
    }

    pub(crate) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Acquire)
    }

    /// The datatype, for data that moves.
    ///
    /// # Errors
    /// One that has not been committed.
    #[inline]
    pub(crate) fn committed(&self) -> Answer<&Datatype> {
        if self.is_committed() {
            return Ok(&self.datatype);
        }
        let text = "the datatype has not been committed: call MPI_Type_commit first";
        Err(Fault::new(ErrorClass::Type, text))
    }
}
