//! Info objects. (MPI 4.1 §10)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int};
use std::sync::PoisonError;

use motet::{ErrorClass, Info, MAX_INFO_KEY};

use crate::constants::{MPI_INFO_ENV, MPI_INFO_NULL};
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::MPI_Info;
use crate::objects::Hints;
use crate::out_params::{get, list, put};
use crate::text;

/// A key of the caller.
///
/// # Errors
/// One that is empty or too long, or is not there.
unsafe fn key<'a>(key: *const c_char) -> AbiResult<&'a str> {
    let wrong = |problem| AbiError::new(ErrorClass::InfoKey, problem);
    // SAFETY: a string of the caller.
    let key = unsafe { text::read("key", key) }.map_err(|fault| wrong(fault.text().to_owned()))?;
    if key.is_empty() || key.len() >= MAX_INFO_KEY {
        let text = format!("a key has 1 to {} bytes, this one {}", MAX_INFO_KEY - 1, key.len());
        return Err(wrong(text));
    }
    Ok(key)
}

/// What is done with hints that are there.
fn read<T>(info: MPI_Info, work: impl FnOnce(&Info) -> AbiResult<T>) -> AbiResult<T> {
    let info = info.object()?;
    let info = info.lock().unwrap_or_else(PoisonError::into_inner);
    work(&info)
}

/// What is done to hints of the program.
fn change(info: MPI_Info, work: impl FnOnce(&mut Info) -> motet::Result<()>) -> AbiResult {
    if info == MPI_INFO_ENV {
        return Err(AbiError::new(ErrorClass::Info, "MPI_INFO_ENV can only be looked at"));
    }
    let info = info.object()?;
    let mut info = info.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(work(&mut info)?)
}

/// The value of a key; says to the caller whether there is one.
unsafe fn value(info: MPI_Info, key: *const c_char, flag: *mut c_int) -> AbiResult<Option<String>> {
    let info = info.object()?;
    // SAFETY: a string of the caller.
    let key = unsafe { self::key(key) }?;
    let info = info.lock().unwrap_or_else(PoisonError::into_inner);
    let value = info.get(key).map(str::to_owned);
    // SAFETY: room for a result of the caller.
    unsafe { put(flag, c_int::from(value.is_some())) }?;
    Ok(value)
}

/// `MPI_Info_create`
pub(crate) unsafe fn info_create(info: *mut MPI_Info) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(info, Hints::publish(Info::new())) }
}

/// `MPI_Info_create_env`
pub(crate) unsafe fn info_create_env(
    argc: c_int,
    argv: *mut *mut c_char,
    info: *mut MPI_Info,
) -> AbiResult {
    let argc = if argv.is_null() { 0 } else { i64::from(argc) };
    // SAFETY: a list of the caller.
    let words = unsafe { list("argv", argv, argc) }?;
    let words = words.iter().take_while(|word| !word.is_null());
    // SAFETY: strings of the caller.
    let words = words.map(|&word| unsafe { text::read("argument", word) });
    let words = words.collect::<AbiResult<Vec<_>>>()?;
    // SAFETY: room for a result of the caller.
    unsafe { put(info, Hints::publish(Hints::environment(&words))) }
}

/// `MPI_Info_delete`
pub(crate) unsafe fn info_delete(info: MPI_Info, key: *const c_char) -> AbiResult {
    info.object()?;
    // SAFETY: a string of the caller.
    let key = unsafe { self::key(key) }?;
    change(info, |info| info.delete(key))
}

/// `MPI_Info_dup`
pub(crate) unsafe fn info_dup(info: MPI_Info, newinfo: *mut MPI_Info) -> AbiResult {
    let copy = read(info, |info| Ok(info.clone()))?;
    // SAFETY: room for a result of the caller.
    unsafe { put(newinfo, Hints::publish(copy)) }
}

/// `MPI_Info_free`
pub(crate) unsafe fn info_free(info: *mut MPI_Info) -> AbiResult {
    // SAFETY: a place of the caller.
    unsafe { get(info) }?.retire()?;
    // SAFETY: as above.
    unsafe { put(info, MPI_INFO_NULL) }
}

/// `MPI_Info_get`
pub(crate) unsafe fn info_get(
    info: MPI_Info,
    key: *const c_char,
    valuelen: c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> AbiResult {
    let Ok(len) = usize::try_from(valuelen) else {
        return Err(negative(ErrorClass::Arg, "valuelen", valuelen));
    };
    // SAFETY: what the standard asks of the caller.
    let Some(found) = (unsafe { self::value(info, key, flag) })? else { return Ok(()) };
    // SAFETY: there is room for the zero at its end as well, says the standard.
    unsafe { text::write(&found, value, len + 1) }?;
    Ok(())
}

/// `MPI_Info_get_nkeys`
pub(crate) unsafe fn info_get_nkeys(info: MPI_Info, nkeys: *mut c_int) -> AbiResult {
    let keys = read(info, |info| Ok(info.keys().count()))?;
    // SAFETY: room for a result of the caller.
    unsafe { put(nkeys, keys as c_int) }
}

/// `MPI_Info_get_nthkey`
pub(crate) unsafe fn info_get_nthkey(info: MPI_Info, n: c_int, key: *mut c_char) -> AbiResult {
    let found = read(info, |info| {
        let found = usize::try_from(n).ok().and_then(|n| info.keys().nth(n));
        let keys = info.keys().count();
        let text = || format!("there is no key number {n}: the info object has {keys} keys");
        found.map(str::to_owned).ok_or_else(|| argument(text()))
    })?;
    // SAFETY: room for the longest key, says the standard.
    unsafe { text::write(&found, key, MAX_INFO_KEY) }?;
    Ok(())
}

/// `MPI_Info_get_string`
pub(crate) unsafe fn info_get_string(
    info: MPI_Info,
    key: *const c_char,
    buflen: *mut c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> AbiResult {
    // SAFETY: a place of the caller.
    let room = unsafe { get(buflen) }?;
    let Ok(room) = usize::try_from(room) else {
        return Err(negative(ErrorClass::Arg, "buflen", room));
    };
    // SAFETY: what the standard asks of the caller.
    let Some(found) = (unsafe { self::value(info, key, flag) })? else { return Ok(()) };
    if room > 0 {
        // SAFETY: there is so much room.
        unsafe { text::write(&found, value, room) }?;
    }
    // SAFETY: a place of the caller.
    unsafe { put(buflen, found.len() as c_int + 1) }
}

/// `MPI_Info_get_valuelen`
pub(crate) unsafe fn info_get_valuelen(
    info: MPI_Info,
    key: *const c_char,
    valuelen: *mut c_int,
    flag: *mut c_int,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    let Some(found) = (unsafe { self::value(info, key, flag) })? else { return Ok(()) };
    // SAFETY: room for a result of the caller.
    unsafe { put(valuelen, found.len() as c_int) }
}

/// `MPI_Info_set`
pub(crate) unsafe fn info_set(
    info: MPI_Info,
    key: *const c_char,
    value: *const c_char,
) -> AbiResult {
    info.object()?;
    // SAFETY: a string of the caller.
    let key = unsafe { self::key(key) }?;
    // SAFETY: as above.
    let value = unsafe { text::read("value", value) }
        .map_err(|fault| AbiError::new(ErrorClass::InfoValue, fault.text()))?;
    change(info, |info| info.set(key, value))
}
