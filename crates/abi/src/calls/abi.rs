//! The `MPI_Abi_*` functions: version and details of the binary interface, and its Fortran
//! parameters. (MPI 5.0 §20)
//!
//! The library does not depend on a Fortran compiler, but the Fortran datatypes have sizes, and
//! logical operators produce certain values. A program that sets these parameters must pass the
//! values of the library.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::{ErrorClass, Info};

use crate::constants::*;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{MPI_Aint, MPI_Count, MPI_Datatype, MPI_Info, MPI_Offset};
use crate::objects::Hints;
use crate::out_params::{list, put};

/// Sizes that are asked for by name.
const SIZES: [(&str, MPI_Datatype); 4] = [
    ("mpi_logical_size", MPI_LOGICAL),
    ("mpi_integer_size", MPI_INTEGER),
    ("mpi_real_size", MPI_REAL),
    ("mpi_double_precision_size", MPI_DOUBLE_PRECISION),
];

/// Datatypes that a compiler may lack.
const OPTIONAL: [(&str, MPI_Datatype); 19] = [
    ("mpi_logical1_supported", MPI_LOGICAL1),
    ("mpi_logical2_supported", MPI_LOGICAL2),
    ("mpi_logical4_supported", MPI_LOGICAL4),
    ("mpi_logical8_supported", MPI_LOGICAL8),
    ("mpi_logical16_supported", MPI_LOGICAL16),
    ("mpi_integer1_supported", MPI_INTEGER1),
    ("mpi_integer2_supported", MPI_INTEGER2),
    ("mpi_integer4_supported", MPI_INTEGER4),
    ("mpi_integer8_supported", MPI_INTEGER8),
    ("mpi_integer16_supported", MPI_INTEGER16),
    ("mpi_real2_supported", MPI_REAL2),
    ("mpi_real4_supported", MPI_REAL4),
    ("mpi_real8_supported", MPI_REAL8),
    ("mpi_real16_supported", MPI_REAL16),
    ("mpi_complex4_supported", MPI_COMPLEX4),
    ("mpi_complex8_supported", MPI_COMPLEX8),
    ("mpi_complex16_supported", MPI_COMPLEX16),
    ("mpi_complex32_supported", MPI_COMPLEX32),
    ("mpi_double_complex_supported", MPI_DOUBLE_COMPLEX),
];

/// What the datatypes of Fortran are.
fn fortran() -> Info {
    let size = |datatype: MPI_Datatype| datatype.object().map_or(0, |it| it.datatype.size());
    let mut info = Info::new();
    for (key, datatype) in SIZES {
        info = info.with(key, size(datatype).to_string());
    }
    for (key, datatype) in OPTIONAL {
        info = info.with(key, (size(datatype) > 0).to_string());
    }
    info
}

/// The widest logical of Fortran.
const WIDEST: usize = 16;

/// A logical of Fortran with so many bytes.
fn logical(value: bool, size: c_int) -> AbiResult<([u8; WIDEST], usize)> {
    let bytes = usize::try_from(size).ok().filter(|size| size.is_power_of_two());
    let bytes = bytes.filter(|&bytes| bytes <= WIDEST);
    let bytes = bytes.ok_or_else(|| argument(format!("no logical has {size} bytes")))?;
    let mut logical = [0; WIDEST];
    let low = if cfg!(target_endian = "little") { 0 } else { bytes - 1 };
    logical[low] = u8::from(value);
    Ok((logical, bytes))
}

#[cold]
fn not_ours(what: &str) -> AbiError {
    AbiError::new(ErrorClass::Abi, what)
}

/// `MPI_Abi_get_fortran_booleans`
pub(crate) unsafe fn abi_get_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
    is_set: *mut c_int,
) -> AbiResult {
    for (value, place) in [(true, logical_true), (false, logical_false)] {
        let (value, bytes) = logical(value, logical_size)?;
        for (at, byte) in value.into_iter().take(bytes).enumerate() {
            // SAFETY: so much room says the caller there is, or none.
            unsafe { put(place.cast::<u8>().wrapping_add(at), byte) }?;
        }
    }
    // SAFETY: room for a result of the caller.
    unsafe { put(is_set, 1) }
}

/// `MPI_Abi_get_fortran_info`
pub(crate) unsafe fn abi_get_fortran_info(info: *mut MPI_Info) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(info, Hints::publish(fortran())) }
}

/// `MPI_Abi_get_info`
pub(crate) unsafe fn abi_get_info(info: *mut MPI_Info) -> AbiResult {
    let facts = Info::new()
        .with("mpi_aint_size", size_of::<MPI_Aint>().to_string())
        .with("mpi_count_size", size_of::<MPI_Count>().to_string())
        .with("mpi_offset_size", size_of::<MPI_Offset>().to_string());
    // SAFETY: room for a result of the caller.
    unsafe { put(info, Hints::publish(facts)) }
}

/// `MPI_Abi_get_version`
pub(crate) unsafe fn abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(abi_major, MPI_ABI_VERSION) }?;
    // SAFETY: as above.
    unsafe { put(abi_minor, MPI_ABI_SUBVERSION) }
}

/// `MPI_Abi_set_fortran_booleans`
pub(crate) unsafe fn abi_set_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
) -> AbiResult {
    for (value, place) in [(true, logical_true), (false, logical_false)] {
        let (ours, bytes) = logical(value, logical_size)?;
        // SAFETY: so many bytes of the caller.
        let theirs = unsafe { list("logical", place.cast::<u8>(), bytes as i64) }?;
        if theirs != &ours[..bytes] {
            return Err(not_ours("logical operators of this library make 1 and 0, nothing else"));
        }
    }
    Ok(())
}

/// `MPI_Abi_set_fortran_info`
pub(crate) fn abi_set_fortran_info(info: MPI_Info) -> AbiResult {
    info.object()?;
    let (theirs, ours) = (info.hints()?, fortran());
    for key in ours.keys() {
        let (ours, theirs) = (ours.get(key), theirs.get(key));
        // A compiler may lack what is there.
        let fits = theirs.is_none() || theirs == ours || theirs == Some("false");
        if !fits {
            let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
            return Err(not_ours(&format!("{key} is {ours} in this library, not {theirs}")));
        }
    }
    Ok(())
}
