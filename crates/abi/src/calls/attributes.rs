//! Attributes of communicators and datatypes. (MPI 4.1 §7.7)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::predefined;
use crate::callbacks::{Bearer, wrong_key};
use crate::constants::MPI_KEYVAL_INVALID;
use crate::error::AbiResult;
use crate::handle::{Callback, MPI_Comm, MPI_Datatype};
use crate::objects::{Comm, Type};
use crate::out_params::{get as read, put};

unsafe fn create<B: Bearer>(
    copy: Callback,
    delete: Callback,
    keyval: *mut c_int,
    extra: *mut c_void,
) -> AbiResult {
    // SAFETY: the callbacks are those of the kind, says the caller.
    let number = unsafe { B::keys().create(copy, delete, extra as usize) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(keyval, number) }
}

unsafe fn free<B: Bearer>(keyval: *mut c_int) -> AbiResult {
    // SAFETY: a place of the caller.
    let number = unsafe { read(keyval) }?;
    changeable(number)?;
    B::keys().free(number)?;
    // SAFETY: as above.
    unsafe { put(keyval, MPI_KEYVAL_INVALID) }
}

fn set<B: Bearer>(object: &B, keyval: c_int, value: *mut c_void) -> AbiResult {
    changeable(keyval)?;
    let key = B::keys().known(keyval)?;
    Ok(object.attributes().set(&object.handle(), &key, Arc::new(value as usize))?)
}

fn delete<B: Bearer>(object: &B, keyval: c_int) -> AbiResult {
    changeable(keyval)?;
    let key = B::keys().used(keyval)?;
    object.attributes().delete(&object.handle(), &key)?;
    Ok(())
}

unsafe fn get<B: Bearer>(
    object: &B,
    keyval: c_int,
    place: *mut c_void,
    flag: *mut c_int,
) -> AbiResult {
    let key = B::keys().used(keyval)?;
    let value = object.attributes().get(&key).map(|value| *value);
    // SAFETY: room for results of the caller.
    unsafe { found(value, place, flag) }
}

/// Puts a value, if there is one, where the caller wants it.
unsafe fn found(value: Option<usize>, place: *mut c_void, flag: *mut c_int) -> AbiResult {
    if let Some(value) = value {
        // SAFETY: room for a result of the caller.
        unsafe { put(place.cast::<usize>(), value) }?;
    }
    // SAFETY: as above.
    unsafe { put(flag, c_int::from(value.is_some())) }
}

/// # Errors
/// A key of the standard, whose attributes are those of the library.
fn changeable(keyval: c_int) -> AbiResult {
    if predefined::is_key(keyval) {
        return Err(wrong_key(keyval, "is predefined: its attributes can only be looked at"));
    }
    Ok(())
}

/// `MPI_Attr_delete`
pub(crate) fn attr_delete(comm: MPI_Comm, keyval: c_int) -> AbiResult {
    comm_delete_attr(comm, keyval)
}

/// `MPI_Attr_get`
pub(crate) unsafe fn attr_get(
    comm: MPI_Comm,
    keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> AbiResult {
    // SAFETY: the same call under its former name.
    unsafe { comm_get_attr(comm, keyval, attribute_val, flag) }
}

/// `MPI_Attr_put`
pub(crate) unsafe fn attr_put(
    comm: MPI_Comm,
    keyval: c_int,
    attribute_val: *mut c_void,
) -> AbiResult {
    // SAFETY: the same call under its former name.
    unsafe { comm_set_attr(comm, keyval, attribute_val) }
}

/// `MPI_Comm_create_keyval`
pub(crate) unsafe fn comm_create_keyval(
    comm_copy_attr_fn: Callback,
    comm_delete_attr_fn: Callback,
    comm_keyval: *mut c_int,
    extra_state: *mut c_void,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    unsafe { create::<Comm>(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state) }
}

/// `MPI_Comm_delete_attr`
pub(crate) fn comm_delete_attr(comm: MPI_Comm, comm_keyval: c_int) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| delete(&*comm, comm_keyval))
}

/// `MPI_Comm_free_keyval`
pub(crate) unsafe fn comm_free_keyval(comm_keyval: *mut c_int) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    unsafe { free::<Comm>(comm_keyval) }
}

/// `MPI_Comm_get_attr`
pub(crate) unsafe fn comm_get_attr(
    comm: MPI_Comm,
    comm_keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        if predefined::is_key(comm_keyval) {
            // SAFETY: room for results of the caller.
            return unsafe { found(predefined::address(comm_keyval), attribute_val, flag) };
        }
        // SAFETY: as above.
        unsafe { get(&*comm, comm_keyval, attribute_val, flag) }
    })
}

/// `MPI_Comm_set_attr`
pub(crate) unsafe fn comm_set_attr(
    comm: MPI_Comm,
    comm_keyval: c_int,
    attribute_val: *mut c_void,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| set(&*comm, comm_keyval, attribute_val))
}

/// `MPI_Keyval_create`
pub(crate) unsafe fn keyval_create(
    copy_fn: Callback,
    delete_fn: Callback,
    keyval: *mut c_int,
    extra_state: *mut c_void,
) -> AbiResult {
    // SAFETY: the same call under its former name.
    unsafe { comm_create_keyval(copy_fn, delete_fn, keyval, extra_state) }
}

/// `MPI_Keyval_free`
pub(crate) unsafe fn keyval_free(keyval: *mut c_int) -> AbiResult {
    // SAFETY: the same call under its former name.
    unsafe { comm_free_keyval(keyval) }
}

/// `MPI_Type_create_keyval`
pub(crate) unsafe fn type_create_keyval(
    type_copy_attr_fn: Callback,
    type_delete_attr_fn: Callback,
    type_keyval: *mut c_int,
    extra_state: *mut c_void,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    unsafe { create::<Type>(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state) }
}

/// `MPI_Type_delete_attr`
pub(crate) fn type_delete_attr(datatype: MPI_Datatype, type_keyval: c_int) -> AbiResult {
    delete(&*datatype.object()?, type_keyval)
}

/// `MPI_Type_free_keyval`
pub(crate) unsafe fn type_free_keyval(type_keyval: *mut c_int) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    unsafe { free::<Type>(type_keyval) }
}

/// `MPI_Type_get_attr`
pub(crate) unsafe fn type_get_attr(
    datatype: MPI_Datatype,
    type_keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> AbiResult {
    // SAFETY: room for results of the caller.
    unsafe { get(&*datatype.object()?, type_keyval, attribute_val, flag) }
}

/// `MPI_Type_set_attr`
pub(crate) unsafe fn type_set_attr(
    datatype: MPI_Datatype,
    type_keyval: c_int,
    attribute_val: *mut c_void,
) -> AbiResult {
    set(&*datatype.object()?, type_keyval, attribute_val)
}
