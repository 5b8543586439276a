//! Handles: the values by which C refers to objects.
//!
//! A handle is as wide as an address. Below 4096 it is a constant of the standard; above:
//!
//! ```text
//!   63  62 ‥ 56   55 ‥ 32       31 ‥ 0
//!    0   kind    generation    place in the arena of the kind
//! ```
//!
//! The kind is never zero, so no handle of an object equals a constant, and a handle of one kind is
//! not valid for another. As an `int` (for languages without wider handles) a constant keeps its
//! value, and an object is 4096 plus its place. This loses the generation, so a stale integer may
//! refer to a newer object.

use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

use motet::ErrorClass;

use crate::arena::{Arena, Claim, GENERATIONS, ObjectRef, SlotIndex};
use crate::error::{AbiError, AbiResult};

/// Values below are constants of the standard.
const CONSTANTS: usize = 4096;
const KIND_SHIFT: u32 = 56;
const GENERATION_SHIFT: u32 = 32;

pub(crate) type MPI_Aint = isize;
pub(crate) type MPI_Count = i64;
pub(crate) type MPI_Offset = i64;
pub(crate) type MPI_Comm = Handle<MPI_ABI_Comm>;
pub(crate) type MPI_Datatype = Handle<MPI_ABI_Datatype>;
pub(crate) type MPI_Errhandler = Handle<MPI_ABI_Errhandler>;
pub(crate) type MPI_File = Handle<MPI_ABI_File>;
pub(crate) type MPI_Group = Handle<MPI_ABI_Group>;
pub(crate) type MPI_Info = Handle<MPI_ABI_Info>;
pub(crate) type MPI_Message = Handle<MPI_ABI_Message>;
pub(crate) type MPI_Op = Handle<MPI_ABI_Op>;
pub(crate) type MPI_Request = Handle<MPI_ABI_Request>;
pub(crate) type MPI_Session = Handle<MPI_ABI_Session>;
pub(crate) type MPI_Win = Handle<MPI_ABI_Win>;
pub(crate) type MPI_T_enum = usize;
pub(crate) type MPI_T_cvar_handle = usize;
pub(crate) type MPI_T_pvar_handle = usize;
pub(crate) type MPI_T_pvar_session = usize;
pub(crate) type MPI_T_event_registration = usize;
pub(crate) type MPI_T_event_instance = usize;
/// A function of the user, by its address: some addresses are constants.
pub(crate) type Callback = *const std::ffi::c_void;

/// Declares the kinds of handles by the names of the incomplete types in `mpi.h`. They have no
/// values; a module above says what the objects of a kind are.
macro_rules! kinds {
    ($($name:ident)*) => { $(pub(crate) enum $name {})* };
}

kinds!(MPI_ABI_Comm MPI_ABI_Datatype MPI_ABI_Errhandler MPI_ABI_File MPI_ABI_Group MPI_ABI_Info
    MPI_ABI_Message MPI_ABI_Op MPI_ABI_Request MPI_ABI_Session MPI_ABI_Win);

/// A kind of objects that have handles in C.
pub(crate) trait Kind: Sized + 'static {
    /// The part that all users share.
    type Object: Send + Sync + 'static;
    /// The part that one user at a time has, if the kind has one.
    type Own: Send + 'static;
    /// Distinguishes handles of this kind from others; not zero.
    const CODE: u8;
    /// The name of a handle in C.
    const NAME: &'static str;
    /// The error class of a wrong handle.
    const CLASS: ErrorClass;

    /// The arena of the objects.
    fn arena() -> &'static Arena<Self::Object, Self::Own>;

    /// The object of a constant; `None` for the null handle.
    fn constant(value: usize) -> Option<FoundOf<Self>>;

    /// Whether the object can be used; an announced one cannot.
    #[inline]
    fn is_there(_object: &Self::Object) -> bool {
        true
    }
}

/// A found object of a kind.
pub(crate) type FoundOf<K> = ObjectRef<<K as Kind>::Object, <K as Kind>::Own>;
/// A claimed object of a kind.
pub(crate) type ClaimOf<K> = Claim<<K as Kind>::Object, <K as Kind>::Own>;

/// A handle of an object of a kind, whatever its value.
#[repr(transparent)]
pub(crate) struct Handle<K>(usize, PhantomData<fn() -> K>);

impl<K> Clone for Handle<K> {
    fn clone(&self) -> Handle<K> {
        *self
    }
}

impl<K> Copy for Handle<K> {}

impl<K> PartialEq for Handle<K> {
    fn eq(&self, other: &Handle<K>) -> bool {
        self.0 == other.0
    }
}

impl<K> Eq for Handle<K> {}

impl<K> fmt::Debug for Handle<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#x}", self.0)
    }
}

impl<K> Handle<K> {
    /// A handle whose value the standard defines.
    pub(crate) const fn constant(value: usize) -> Handle<K> {
        Handle(value, PhantomData)
    }

    /// The value that C sees.
    pub(crate) const fn value(self) -> usize {
        self.0
    }

    /// Whether the value is a constant of the standard, or in the range of constants.
    pub(crate) const fn is_constant(self) -> bool {
        self.0 < CONSTANTS
    }
}

impl<K: Kind> Handle<K> {
    /// A handle of this kind that no object ever has: one of the last places that fit an `int`,
    /// counted from the end.
    pub(crate) const fn without_object(nth: u8) -> Handle<K> {
        let index = c_int::MAX as usize - CONSTANTS - nth as usize;
        Handle::at(SlotIndex { index: index as u32, generation: 0 })
    }

    const fn at(place: SlotIndex) -> Handle<K> {
        let kind = (K::CODE as usize) << KIND_SHIFT;
        let generation = (place.generation as usize) << GENERATION_SHIFT;
        Handle::constant(kind | generation | place.index as usize)
    }

    /// The place of its object, if it can be a handle of an object of this kind.
    fn place(self) -> Option<SlotIndex> {
        let is_kind = self.0 >> KIND_SHIFT == usize::from(K::CODE);
        let generation = (self.0 >> GENERATION_SHIFT) as u32 % GENERATIONS;
        is_kind.then_some(SlotIndex { index: self.0 as u32, generation })
    }

    /// Stores an object and returns its handle.
    pub(crate) fn keep(object: K::Object) -> Handle<K>
    where
        K: Kind<Own = ()>,
    {
        Handle::keep_with(|_| object)
    }

    /// Stores an object that knows its own handle.
    pub(crate) fn keep_with(object: impl FnOnce(Handle<K>) -> K::Object) -> Handle<K>
    where
        K: Kind<Own = ()>,
    {
        Handle::keep_parts(|handle| (object(handle), ()))
    }

    /// Stores an object of two parts.
    #[inline(always)] // what is kept is written where it is to lie
    pub(crate) fn keep_parts(parts: impl FnOnce(Handle<K>) -> (K::Object, K::Own)) -> Handle<K> {
        Handle::at(K::arena().insert(|place| parts(Handle::at(place))))
    }

    /// An object without a handle.
    pub(crate) fn unknown(object: K::Object) -> AbiResult<FoundOf<K>>
    where
        K: Kind<Own = ()>,
    {
        let handle = Handle::<K>::keep(object);
        let found = handle.announced()?;
        handle.retire()?;
        Ok(found)
    }

    /// The object, which may be a predefined one.
    ///
    /// # Errors
    /// No object has the handle (the error has the class of the kind).
    #[inline(always)]
    pub(crate) fn object(self) -> AbiResult<FoundOf<K>> {
        match self.known() {
            Some(found) if K::is_there(&found) => Ok(found),
            _ => Err(self.wrong()),
        }
    }

    /// The object, which may be an announced one.
    ///
    /// # Errors
    /// No object has the handle (the error has the class of the kind).
    pub(crate) fn announced(self) -> AbiResult<FoundOf<K>> {
        self.known().ok_or_else(|| self.wrong())
    }

    #[inline(always)]
    fn known(self) -> Option<FoundOf<K>> {
        match self.place() {
            Some(place) => K::arena().find(place),
            None if self.is_constant() => K::constant(self.0),
            None => None,
        }
    }

    /// The object with its exclusive part; `None` if another thread has that.
    ///
    /// # Errors
    /// No object has the handle, or a predefined one has it.
    #[inline]
    pub(crate) fn claim(self) -> AbiResult<Option<ClaimOf<K>>> {
        let claim = self.place().and_then(|place| K::arena().claim(place));
        if claim.is_none() && !self.has_object() {
            return Err(self.wrong());
        }
        Ok(claim)
    }

    /// Whether the handle has an object, which is not predefined.
    #[inline(never)] // for what is seldom asked
    pub(crate) fn has_object(self) -> bool {
        self.place().is_some_and(|place| K::arena().has(place))
    }

    /// Takes the object out; the handle is stale afterwards.
    ///
    /// # Errors
    /// No object has the handle, a predefined one has it, or another thread uses the object.
    pub(crate) fn take(self) -> AbiResult<K::Object> {
        self.place().and_then(|place| K::arena().take(place)).ok_or_else(|| self.wrong())
    }

    /// Makes the handle stale: the object is dropped when no thread uses it any more.
    ///
    /// # Errors
    /// No object has the handle, or a predefined one has it.
    pub(crate) fn retire(self) -> AbiResult {
        let is_gone = self.place().is_some_and(|place| K::arena().retire(place));
        if is_gone { Ok(()) } else { Err(self.wrong()) }
    }

    /// The handle as an `int`.
    pub(crate) fn to_int(self) -> c_int {
        let value = self.place().map_or(self.0, |place| CONSTANTS + place.index as usize);
        c_int::try_from(value).unwrap_or(-1)
    }

    /// The handle for an `int`.
    pub(crate) fn from_int(value: c_int) -> Handle<K> {
        let Ok(value) = usize::try_from(value) else { return Handle::constant(0) };
        let Some(index) = value.checked_sub(CONSTANTS) else { return Handle::constant(value) };
        let generation = K::arena().generation(index as u32);
        Handle::at(SlotIndex { index: index as u32, generation })
    }

    /// The error of a wrong handle.
    #[cold]
    pub(crate) fn wrong(self) -> AbiError {
        let what = match self.place() {
            Some(_) => "stands for nothing: it has been freed, or is to come with a request",
            None if self.is_constant() => "is no handle of an object",
            None => "is not a handle of this kind: not set, or of something else",
        };
        AbiError::new(K::CLASS, format!("the {} {self:?} {what}", K::NAME))
    }
}
