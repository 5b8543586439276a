//! `MPI_Pack` and `MPI_Unpack`, in the representation of this machine or in `external32`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_void};
use std::slice;

use motet::{Datatype, Error, ErrorClass};

use super::arguments::{Which, count};
use crate::count::CountPlace;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{MPI_Comm, MPI_Datatype};
use crate::text;

/// Below this address there is nothing.
const FIRST_PAGE: i128 = 4096;

/// A number of items.
fn items(items: i64) -> AbiResult<u64> {
    Ok(count(Which::Only, items)? as u64)
}

/// Bytes that so many items take when they are packed.
fn packed(datatype: &Datatype, count: u64) -> AbiResult<u64> {
    Ok(datatype.commit().pack_size(count).map_err(Error::from)?)
}

/// Bytes that so many items take in `external32`.
fn external(datatype: &Datatype, count: u64) -> AbiResult<u64> {
    Ok(datatype.pack_external_size(count).map_err(Error::from)?)
}

/// Finds out whether there can be data: `MPI_BOTTOM` is no address of any.
fn check_data(address: *const c_void, datatype: &Datatype, count: u64) -> AbiResult {
    let layout = datatype.commit();
    let (low, high) = layout.reach(count);
    let low = low + address.addr() as i128;
    if low != high + address.addr() as i128 && (0..FIRST_PAGE).contains(&low) {
        return Err(AbiError::new(ErrorClass::Buffer, "the buffer is NULL"));
    }
    Ok(())
}

/// A part of the packed bytes of the caller.
struct PackedRange {
    /// Where it begins.
    at: usize,
    len: usize,
}

impl PackedRange {
    /// The next `needed` bytes.
    ///
    /// # Safety
    /// The position can be read, or is null.
    ///
    /// # Errors
    /// That there are not so many.
    unsafe fn next(
        bytes: *const c_void,
        size: i64,
        position: CountPlace,
        needed: u64,
    ) -> AbiResult<PackedRange> {
        // SAFETY: promised by the caller.
        let at = unsafe { position.get() }?;
        if size < 0 || !(0..=size).contains(&at) {
            return Err(argument(format!("position {at} is outside of a buffer of {size} bytes")));
        }
        let room = (size - at).unsigned_abs();
        if needed > room {
            let text = format!(
                "packed buffer too small ({needed} bytes needed, {room} left); pass a larger one"
            );
            return Err(AbiError::new(ErrorClass::Truncate, text));
        }
        if needed > 0 && (bytes.addr() as i128) < FIRST_PAGE {
            return Err(AbiError::new(
                ErrorClass::Buffer,
                "the packed buffer is NULL or a constant",
            ));
        }
        Ok(PackedRange { at: at as usize, len: needed as usize })
    }

    /// Moves the position behind it.
    ///
    /// # Safety
    /// The position can be written, or is null.
    unsafe fn pass(&self, position: CountPlace) -> AbiResult {
        // SAFETY: promised by the caller.
        unsafe { position.set(i64::try_from(self.at + self.len).ok()) }
    }
}

/// `MPI_Pack`
pub(crate) unsafe fn pack(
    inbuf: *const c_void,
    incount: i64,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountPlace,
    comm: MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let (object, count) = (datatype.object()?, items(incount)?);
        let datatype = object.committed()?;
        let needed = packed(datatype, count)?;
        // SAFETY: as the standard says.
        let part = unsafe { PackedRange::next(outbuf, outsize, position, needed) }?;
        check_data(inbuf, datatype, count)?;
        let out = outbuf.cast::<u8>().wrapping_add(part.at);
        // SAFETY: as the standard says.
        unsafe { datatype.commit().pack_raw(inbuf.cast(), count, 0, out, part.len) };
        // SAFETY: as the standard says.
        unsafe { part.pass(position) }
    })
}

/// `MPI_Unpack`
pub(crate) unsafe fn unpack(
    inbuf: *const c_void,
    insize: i64,
    position: CountPlace,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let (object, count) = (datatype.object()?, items(outcount)?);
        let datatype = object.committed()?;
        let needed = packed(datatype, count)?;
        // SAFETY: as the standard says.
        let part = unsafe { PackedRange::next(inbuf, insize, position, needed) }?;
        check_data(outbuf, datatype, count)?;
        let input = inbuf.cast::<u8>().wrapping_add(part.at);
        // SAFETY: as the standard says.
        unsafe { datatype.commit().unpack_raw(outbuf.cast(), count, 0, input, part.len) };
        // SAFETY: as the standard says.
        unsafe { part.pass(position) }
    })
}

/// `MPI_Pack_size`
pub(crate) unsafe fn pack_size(
    incount: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    size: CountPlace,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let bytes = packed(datatype.object()?.committed()?, items(incount)?)?;
        // SAFETY: as the standard says.
        unsafe { size.set(i64::try_from(bytes).ok()) }
    })
}

/// Finds out whether a representation is the one that data can be packed in.
///
/// # Safety
/// The name is a string of C, or null.
unsafe fn check_representation(name: *const c_char) -> AbiResult {
    // SAFETY: promised by the caller.
    match unsafe { text::read("data representation", name) }? {
        "external32" => Ok(()),
        other => Err(argument(format!("\"{other}\" is not external32"))),
    }
}

/// `MPI_Pack_external`
pub(crate) unsafe fn pack_external(
    datarep: *const c_char,
    inbuf: *const c_void,
    incount: i64,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountPlace,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { check_representation(datarep) }?;
    let (object, count) = (datatype.object()?, items(incount)?);
    let datatype = object.committed()?;
    let needed = external(datatype, count)?;
    // SAFETY: as the standard says.
    let part = unsafe { PackedRange::next(outbuf, outsize, position, needed) }?;
    check_data(inbuf, datatype, count)?;
    if part.len > 0 {
        let out = outbuf.cast::<u8>().wrapping_add(part.at);
        // SAFETY: as the standard says.
        let out = unsafe { slice::from_raw_parts_mut(out, part.len) };
        // SAFETY: as the standard says.
        unsafe { datatype.pack_external(inbuf.cast(), count, out) }.map_err(Error::from)?;
    }
    // SAFETY: as the standard says.
    unsafe { part.pass(position) }
}

/// `MPI_Unpack_external`
pub(crate) unsafe fn unpack_external(
    datarep: *const c_char,
    inbuf: *const c_void,
    insize: i64,
    position: CountPlace,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: MPI_Datatype,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { check_representation(datarep) }?;
    let (object, count) = (datatype.object()?, items(outcount)?);
    let datatype = object.committed()?;
    let needed = external(datatype, count)?;
    // SAFETY: as the standard says.
    let part = unsafe { PackedRange::next(inbuf, insize, position, needed) }?;
    check_data(outbuf, datatype, count)?;
    if part.len > 0 {
        let input = inbuf.cast::<u8>().wrapping_add(part.at);
        // SAFETY: as the standard says.
        let input = unsafe { slice::from_raw_parts(input, part.len) };
        // SAFETY: as the standard says.
        unsafe { datatype.unpack_external(outbuf.cast(), count, input) }.map_err(Error::from)?;
    }
    // SAFETY: as the standard says.
    unsafe { part.pass(position) }
}

/// `MPI_Pack_external_size`
pub(crate) unsafe fn pack_external_size(
    datarep: *const c_char,
    incount: i64,
    datatype: MPI_Datatype,
    size: CountPlace,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { check_representation(datarep) }?;
    let bytes = external(&datatype.object()?.datatype, items(incount)?)?;
    // SAFETY: as the standard says.
    unsafe { size.set(i64::try_from(bytes).ok()) }
}
