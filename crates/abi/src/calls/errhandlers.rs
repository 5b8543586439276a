//! Error handlers of communicators and of files; the only file is `MPI_FILE_NULL`. (MPI 5.0 §9.3)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use super::errors::requested;
use crate::constants::{MPI_ERRHANDLER_NULL, MPI_FILE_NULL};
use crate::error::{AbiErrorSite, AbiResult};
use crate::handle::{Callback, MPI_Comm, MPI_Errhandler, MPI_File};
use crate::objects::{Errhandler, File, Target};
use crate::out_params::{get, put};

/// `MPI_Comm_call_errhandler`
pub(crate) fn comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> AbiResult {
    Err(requested(comm.object()?.site(), errorcode))
}

/// `MPI_Comm_create_errhandler`
pub(crate) unsafe fn comm_create_errhandler(
    comm_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    // SAFETY: it is such a function, says the caller.
    let handle = unsafe { Errhandler::publish(comm_errhandler_fn, Target::Comm) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errhandler, handle) }
}

/// `MPI_Comm_get_errhandler`
pub(crate) unsafe fn comm_get_errhandler(
    comm: MPI_Comm,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    let comm = comm.announced()?;
    // SAFETY: room for a result of the caller.
    comm.answer(|| unsafe { put(errhandler, comm.handler().refer()) })
}

/// `MPI_Comm_set_errhandler`
pub(crate) fn comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler) -> AbiResult {
    let comm = comm.announced()?;
    comm.answer(|| {
        comm.set_handler(errhandler.handler(Target::Comm)?);
        Ok(())
    })
}

/// `MPI_Errhandler_free`
pub(crate) unsafe fn errhandler_free(errhandler: *mut MPI_Errhandler) -> AbiResult {
    // SAFETY: a place of the caller.
    unsafe { get(errhandler) }?.free()?;
    // SAFETY: as above.
    unsafe { put(errhandler, MPI_ERRHANDLER_NULL) }
}

/// What is done about the error handler of files, by a call with this handle.
///
/// # Errors
/// A handle of a file, of which there are none; those of the work.
fn of_files<T>(file: MPI_File, work: impl FnOnce() -> AbiResult<T>) -> AbiResult<T> {
    let known = if file == MPI_FILE_NULL { Ok(()) } else { Err(file.wrong()) };
    known.and_then(|()| work()).map_err(|fault| fault.at(AbiErrorSite::of(File)))
}

/// `MPI_File_call_errhandler`
pub(crate) fn file_call_errhandler(fh: MPI_File, errorcode: c_int) -> AbiResult {
    of_files(fh, || Err(requested(AbiErrorSite::of(File), errorcode)))
}

/// `MPI_File_create_errhandler`
pub(crate) unsafe fn file_create_errhandler(
    file_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    // SAFETY: it is such a function, says the caller.
    let handle = unsafe { Errhandler::publish(file_errhandler_fn, Target::File) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errhandler, handle) }
}

/// `MPI_File_get_errhandler`
pub(crate) unsafe fn file_get_errhandler(
    file: MPI_File,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    // SAFETY: room for a result of the caller.
    of_files(file, || unsafe { put(errhandler, File::handler().refer()) })
}

/// `MPI_File_set_errhandler`
pub(crate) fn file_set_errhandler(file: MPI_File, errhandler: MPI_Errhandler) -> AbiResult {
    of_files(file, || {
        File::set_handler(errhandler.handler(Target::File)?);
        Ok(())
    })
}
