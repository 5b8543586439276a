//! Attributes: values that a program attaches to an object of the library. (MPI 4.1 §7.7)
//!
//! A [`Keyval`] is a key with its own type of value, a copy callback and a delete callback. An
//! [`Attributes`] is the list of values of one object, in the order in which they were set.
//! Callbacks are user code that may call back into the object, so none is called while the list is
//! locked.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::base::error::Result;
use crate::comm::communicator::Communicator;

type Value = Arc<dyn Any + Send + Sync>;
type CopyValue<O> = Box<dyn Fn(&O, &Value) -> Result<Option<Value>> + Send + Sync>;
type DeleteValue<O> = Box<dyn Fn(&O, &Value) -> Result<()> + Send + Sync>;

/// A key of attributes with values of type `T`, for objects of type `O`.
///
/// Clones are the same key. After the last clone is dropped (`MPI_Comm_free_keyval`), values stay
/// set and their callbacks are still called.
///
/// ```
/// use std::sync::Arc;
/// use motet::Keyval;
///
/// motet::threads(2, |world| {
///     // Each copy of the communicator counts one more.
///     let generation = Keyval::new(|_, &age: &u32| Ok(Some(Arc::new(age + 1))), |_, _| Ok(()));
///     world.set_attribute(&generation, 1)?;
///     assert_eq!(world.dup()?.attribute(&generation).as_deref(), Some(&2));
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
pub struct Keyval<T, O = Communicator> {
    key: Arc<Key<O>>,
    value: PhantomData<fn() -> T>,
}

struct Key<O> {
    copy: CopyValue<O>,
    delete: DeleteValue<O>,
}

impl<T, O> Clone for Keyval<T, O> {
    fn clone(&self) -> Keyval<T, O> {
        Keyval { key: self.key.clone(), value: PhantomData }
    }
}

impl<T: Send + Sync + 'static, O> Keyval<T, O> {
    /// Makes a key. (`MPI_Comm_create_keyval`)
    ///
    /// `copy` returns the value that a copy of the object gets, or `None` for no value; its error
    /// makes the copy fail. `delete` is called before a value is deleted or replaced, which its
    /// error prevents, and when the object is freed, which its error does not prevent.
    pub fn new(
        copy: impl Fn(&O, &T) -> Result<Option<Arc<T>>> + Send + Sync + 'static,
        delete: impl Fn(&O, &T) -> Result<()> + Send + Sync + 'static,
    ) -> Keyval<T, O> {
        let copy = move |object: &O, value: &Value| {
            Ok(copy(object, typed(value))?.map(|copied| copied as Value))
        };
        let delete = move |object: &O, value: &Value| delete(object, typed(value));
        Keyval::of_callbacks(Box::new(copy), Box::new(delete))
    }

    /// Makes a key whose values are not copied with the object. (`MPI_COMM_NULL_COPY_FN`)
    pub fn never_copied() -> Keyval<T, O> {
        Keyval::of_callbacks(Box::new(|_, _| Ok(None)), Box::new(|_, _| Ok(())))
    }

    /// Makes a key whose values are shared with all copies of the object. (`MPI_COMM_DUP_FN`)
    pub fn shared() -> Keyval<T, O> {
        let copy = |_: &O, value: &Value| Ok(Some(value.clone()));
        Keyval::of_callbacks(Box::new(copy), Box::new(|_, _| Ok(())))
    }

    fn of_callbacks(copy: CopyValue<O>, delete: DeleteValue<O>) -> Keyval<T, O> {
        Keyval { key: Arc::new(Key { copy, delete }), value: PhantomData }
    }
}

impl<T, O> Keyval<T, O> {
    /// Returns a weak reference to the key.
    pub fn downgrade(&self) -> WeakKeyval<T, O> {
        WeakKeyval { key: Arc::downgrade(&self.key), value: PhantomData }
    }
}

/// A weak reference to a [`Keyval`]: valid as long as a clone of the key, or a value set under it,
/// exists.
pub struct WeakKeyval<T, O = Communicator> {
    key: Weak<Key<O>>,
    value: PhantomData<fn() -> T>,
}

impl<T, O> WeakKeyval<T, O> {
    /// Returns the key, if it still exists.
    pub fn upgrade(&self) -> Option<Keyval<T, O>> {
        Some(Keyval { key: self.key.upgrade()?, value: PhantomData })
    }
}

fn typed<T: 'static>(value: &Value) -> &T {
    value.downcast_ref().expect("the values of a key have its type")
}

struct Entry<O> {
    key: Arc<Key<O>>,
    value: Value,
}

impl<O> Clone for Entry<O> {
    fn clone(&self) -> Entry<O> {
        Entry { key: self.key.clone(), value: self.value.clone() }
    }
}

/// The attributes of one object, in the order in which they were set. For objects of other
/// libraries; a communicator has its own attributes.
pub struct Attributes<O>(Mutex<Vec<Entry<O>>>);

impl<O> Default for Attributes<O> {
    fn default() -> Attributes<O> {
        Attributes(Mutex::default())
    }
}

impl<O> Attributes<O> {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry<O>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find<T>(&self, keyval: &Keyval<T, O>) -> Option<Entry<O>> {
        let entries = self.entries();
        entries.iter().find(|entry| Arc::ptr_eq(&entry.key, &keyval.key)).cloned()
    }

    /// Returns the value of a key.
    pub fn get<T: Send + Sync + 'static>(&self, keyval: &Keyval<T, O>) -> Option<Arc<T>> {
        let Entry { value, .. } = self.find(keyval)?;
        Some(value.downcast().expect("the values of a key have its type"))
    }

    /// Sets the value of a key, after deleting the former value, if any.
    ///
    /// # Errors
    /// The delete callback failed; the former value stays then.
    pub fn set<T: Send + Sync + 'static>(
        &self,
        object: &O,
        keyval: &Keyval<T, O>,
        value: Arc<T>,
    ) -> Result<()> {
        self.delete(object, keyval)?;
        let entry = Entry { key: keyval.key.clone(), value: value as Value };
        self.entries().push(entry);
        Ok(())
    }

    /// Deletes a value, and returns whether there was one.
    ///
    /// # Errors
    /// The delete callback failed; the value stays then.
    pub fn delete<T>(&self, object: &O, keyval: &Keyval<T, O>) -> Result<bool> {
        let Some(entry) = self.find(keyval) else { return Ok(false) };
        (entry.key.delete)(object, &entry.value)?;
        let same = |each: &Entry<O>| Arc::ptr_eq(&each.value, &entry.value);
        let mut entries = self.entries();
        let place =
            entries.iter().position(|each| Arc::ptr_eq(&each.key, &entry.key) && same(each));
        let removed = place.map(|place| entries.remove(place));
        drop(entries);
        drop(removed);
        Ok(true)
    }

    /// Returns the attributes for a copy of the object.
    ///
    /// # Errors
    /// The error of the first copy callback that fails.
    pub fn copied(&self, object: &O) -> Result<Attributes<O>> {
        let entries = self.entries().clone();
        let mut copies = Vec::new();
        for Entry { key, value } in entries {
            if let Some(value) = (key.copy)(object, &value)? {
                copies.push(Entry { key, value });
            }
        }
        Ok(Attributes(Mutex::new(copies)))
    }

    /// Deletes all values, the last one set first, because the object is freed.
    ///
    /// # Errors
    /// The error of the first delete callback that fails; all callbacks are called, and all values
    /// are deleted.
    pub fn clear(&self, object: &O) -> Result<()> {
        let mut first = Ok(());
        loop {
            // Its own statement, since a callback may set or take away attributes.
            let last = self.entries().pop();
            let Some(entry) = last else { return first };
            first = first.and((entry.key.delete)(object, &entry.value));
        }
    }
}

impl Communicator {
    /// Attaches a value to the communicator, after deleting the former value, if any. Local.
    /// (`MPI_Comm_set_attr`, MPI 4.1 §7.7.2)
    ///
    /// # Errors
    /// The delete callback of the former value failed; that value stays then.
    pub fn set_attribute<T>(&self, keyval: &Keyval<T>, value: T) -> Result<()>
    where
        T: Send + Sync + 'static,
    {
        let set = self.attributes().set(self, keyval, Arc::new(value));
        set.map_err(|error| self.home().error_of_callback("set_attribute", error))
    }

    /// Returns the value of a key. Local. (`MPI_Comm_get_attr`)
    pub fn attribute<T: Send + Sync + 'static>(&self, keyval: &Keyval<T>) -> Option<Arc<T>> {
        self.attributes().get(keyval)
    }

    /// Deletes a value, and returns whether there was one. Local. (`MPI_Comm_delete_attr`)
    ///
    /// # Errors
    /// The delete callback failed; the value stays then.
    pub fn delete_attribute<T>(&self, keyval: &Keyval<T>) -> Result<bool> {
        let deleted = self.attributes().delete(self, keyval);
        deleted.map_err(|error| self.home().error_of_callback("delete_attribute", error))
    }
}
