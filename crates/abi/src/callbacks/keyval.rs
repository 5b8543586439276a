//! Attribute keys, which are integers in C.
//!
//! A freed key lives as long as an attribute is set under it: a program can still read and delete
//! this attribute by the number of the key. The number is not reused.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use motet::{Attributes, ErrorClass, ErrorCode, ErrorKind, Keyval, Result, WeakKeyval};

use super::exception::{Ended, Exception, stopped};
use crate::constants::MPI_SUCCESS;
use crate::error::{AbiError, AbiResult};
use crate::handle::{
    Callback, Handle, Kind, MPI_ABI_Comm, MPI_ABI_Datatype, MPI_Comm, MPI_Datatype,
};
use crate::objects::{Comm, Type};

/// Addresses up to this one are those of predefined callbacks, which are never called.
const DUPLICATE: usize = 1;
/// The number of possible keys of one kind.
const NUMBERS: c_int = 1 << 28;

/// An object that can have attributes.
pub(crate) trait Bearer: Sized + Send + Sync + 'static {
    /// The kind of its handles.
    type Kind: Kind;

    fn attributes(&self) -> &Attributes<HandleOf<Self>>;

    /// Its handle, for callbacks.
    fn handle(&self) -> HandleOf<Self>;

    /// The keys of its kind of objects.
    fn keys() -> &'static Keys<Self>;
}

impl Bearer for Comm {
    type Kind = MPI_ABI_Comm;

    fn attributes(&self) -> &Attributes<MPI_Comm> {
        &self.attributes
    }

    fn handle(&self) -> MPI_Comm {
        self.handle
    }

    fn keys() -> &'static Keys<Comm> {
        static KEYS: Keys<Comm> = Keys::above(NUMBERS);
        &KEYS
    }
}

impl Bearer for Type {
    type Kind = MPI_ABI_Datatype;

    fn attributes(&self) -> &Attributes<MPI_Datatype> {
        &self.attributes
    }

    fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    fn keys() -> &'static Keys<Type> {
        static KEYS: Keys<Type> = Keys::above(2 * NUMBERS);
        &KEYS
    }
}

/// The handle of an object that can have attributes.
pub(crate) type HandleOf<B> = Handle<<B as Bearer>::Kind>;

/// The attributes that a copy of the object gets.
///
/// # Errors
/// That of the first copy callback that fails, with its code.
pub(crate) fn copied<B: Bearer>(object: &B) -> AbiResult<Attributes<HandleOf<B>>> {
    Ok(object.attributes().copied(&object.handle())?)
}

/// Takes all attributes away, those that were set last first: the object is about to be freed, and
/// its handle must still be good.
///
/// # Errors
/// That of the first delete callback that fails, with its code; all are called nevertheless.
pub(crate) fn deleted<B: Bearer>(object: &B) -> AbiResult {
    Ok(object.attributes().clear(&object.handle())?)
}

/// A key of attributes in C: the values are addresses, as the program passes them.
pub(crate) type Key<B> = Keyval<usize, HandleOf<B>>;

/// The keys of objects of one kind.
pub(crate) struct Keys<B: Bearer> {
    /// All keys have numbers above this one.
    base: c_int,
    table: Mutex<Table<B>>,
}

struct Table<B: Bearer> {
    given: c_int,
    keys: BTreeMap<c_int, KeyvalState<B>>,
}

enum KeyvalState<B: Bearer> {
    Known(Key<B>),
    Freed(WeakKeyval<usize, HandleOf<B>>),
}

impl<B: Bearer> Keys<B> {
    const fn above(base: c_int) -> Keys<B> {
        Keys { base, table: Mutex::new(Table { given: 0, keys: BTreeMap::new() }) }
    }

    fn table(&self) -> MutexGuard<'_, Table<B>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a key. Returns its number.
    ///
    /// # Safety
    /// The callbacks are functions of the types that the kind of objects has, or predefined.
    ///
    /// # Errors
    /// All numbers are in use.
    pub(crate) unsafe fn create(
        &self,
        copy: Callback,
        delete: Callback,
        extra: usize,
    ) -> AbiResult<c_int> {
        let mut table = self.table();
        if table.given == NUMBERS - 1 {
            return Err(AbiError::new(ErrorClass::NoMem, "no more attribute keys are left"));
        }
        table.given += 1;
        let number = self.base + table.given;
        let (copy, delete) = (copy as usize, delete as usize);
        let callbacks = Callbacks { number, copy, delete, extra, keys: B::keys() };
        table.keys.insert(number, KeyvalState::Known(callbacks.key()));
        Ok(number)
    }

    /// The key with this number, to set attributes under it.
    pub(crate) fn known(&self, number: c_int) -> AbiResult<Key<B>> {
        match self.table().keys.get(&number) {
            Some(KeyvalState::Known(key)) => Ok(key.clone()),
            Some(KeyvalState::Freed(_)) => Err(wrong(number, "has been freed")),
            None => Err(wrong(number, "is none")),
        }
    }

    /// The key with this number, which may have been freed but is used.
    pub(crate) fn used(&self, number: c_int) -> AbiResult<Key<B>> {
        let key = match self.table().keys.get(&number) {
            Some(KeyvalState::Known(key)) => Some(key.clone()),
            Some(KeyvalState::Freed(key)) => key.upgrade(),
            None => None,
        };
        key.ok_or_else(|| wrong(number, "does not exist or has been freed"))
    }

    /// Frees a key: it is dropped when no attribute uses it. As long as one does, the key may be
    /// freed once more: a delete callback can free the key for which it was called, and so can the
    /// program.
    ///
    /// # Errors
    /// No key has the number, or the key is gone.
    pub(crate) fn free(&self, number: c_int) -> AbiResult {
        let key = self.used(number)?;
        let place = KeyvalState::Freed(key.downgrade());
        let freed = self.table().keys.insert(number, place);
        // After the lock is released: dropping the last copy removes its number from the table.
        drop((freed, key));
        Ok(())
    }
}

/// The error for a number that is not a valid key.
#[cold]
pub(crate) fn wrong(number: c_int, problem: &str) -> AbiError {
    let text = match number {
        0 => "the key is MPI_KEYVAL_INVALID".to_owned(),
        _ => format!("the key {number} {problem}"),
    };
    AbiError::new(ErrorClass::Keyval, text)
}

/// The functions of the program for a key.
struct Callbacks<B: Bearer> {
    number: c_int,
    copy: usize,
    delete: usize,
    extra: usize,
    keys: &'static Keys<B>,
}

impl<B: Bearer> Drop for Callbacks<B> {
    fn drop(&mut self) {
        self.keys.table().keys.remove(&self.number);
    }
}

type Copy<B> = unsafe extern "C-unwind" fn(
    HandleOf<B>,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;
type Delete<B> = unsafe extern "C-unwind" fn(HandleOf<B>, c_int, *mut c_void, *mut c_void) -> c_int;

impl<B: Bearer> Callbacks<B> {
    fn key(self) -> Key<B> {
        let callbacks = Arc::new(self);
        let at_end = callbacks.clone();
        let copy = move |bearer: &HandleOf<B>, value: &usize| callbacks.copied(*bearer, *value);
        let delete = move |bearer: &HandleOf<B>, value: &usize| at_end.deleted(*bearer, *value);
        Keyval::new(copy, delete)
    }

    /// The value that a copy of the object gets.
    fn copied(&self, bearer: HandleOf<B>, value: usize) -> Result<Option<Arc<usize>>> {
        if self.copy <= DUPLICATE {
            return Ok((self.copy == DUPLICATE).then(|| Arc::new(value)));
        }
        let (mut copied, mut is_copied) = (0_usize, 0);
        // SAFETY: the program has said so when it made the key.
        let function: Copy<B> = unsafe { mem::transmute(self.copy) };
        let (extra, value) = (self.extra as *mut c_void, value as *mut c_void);
        let place = (&raw mut copied).cast();
        let flag = &raw mut is_copied;
        // SAFETY: as above; both places are there for the time of the call.
        let call = || unsafe { function(bearer, self.number, extra, value, place, flag) };
        outcome(stopped(call), "copies")?;
        Ok((is_copied != 0).then(|| Arc::new(copied)))
    }

    /// Calls the delete callback for a value.
    fn deleted(&self, bearer: HandleOf<B>, value: usize) -> Result<()> {
        if self.delete <= DUPLICATE {
            return Ok(());
        }
        // SAFETY: the program has said so when it made the key.
        let function: Delete<B> = unsafe { mem::transmute(self.delete) };
        let (extra, value) = (self.extra as *mut c_void, value as *mut c_void);
        // SAFETY: as above.
        let call = || unsafe { function(bearer, self.number, value, extra) };
        outcome(stopped(call), "deletes")
    }
}

/// Returns the return value of a callback unchanged.
fn outcome(ended: Ended<c_int>, does: &str) -> Result<()> {
    let throws = |exception: Exception| {
        exception.into_error("a callback of an attribute", ErrorClass::Other)
    };
    let code = ended.map_err(throws)?;
    if code == MPI_SUCCESS {
        return Ok(());
    }
    let text = format!("returned by the callback that {does} an attribute");
    Err(ErrorKind::User { code: ErrorCode(code), text }.into())
}
