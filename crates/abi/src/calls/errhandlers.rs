//! Error handlers of communicators. (MPI 4.1 §9.3)

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::c_int;

use crate::caller::{get, put};
use crate::exports::MPI_ERRHANDLER_NULL;
use crate::fault::{Answer, Site};
use crate::handle::{Callback, MPI_Comm, MPI_Errhandler};
use crate::objects::{Errhandler, Target};

/// `MPI_Comm_call_errhandler`
pub(crate) fn comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> Answer {
    let site = Site::Comm(comm.object()?);
    site.call_handler("MPI_Comm_call_errhandler", errorcode);
    Ok(())
}

/// `MPI_Comm_create_errhandler`
pub(crate) unsafe fn comm_create_errhandler(
    comm_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    // SAFETY: it is such a function, says the caller.
    let handle = unsafe { Errhandler::publish(comm_errhandler_fn, Target::Comm) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errhandler, handle) }
}

/// `MPI_Comm_get_errhandler`
pub(crate) unsafe fn comm_get_errhandler(
    comm: MPI_Comm,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    let comm = comm.announced()?;
    // SAFETY: room for a result of the caller.
    comm.answer(|| unsafe { put(errhandler, comm.handler().refer()) })
}

/// `MPI_Comm_set_errhandler`
pub(crate) fn comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler) -> Answer {
    let comm = comm.announced()?;
    comm.answer(|| {
        comm.set_handler(errhandler.handler(Target::Comm)?);
        Ok(())
    })
}

/// `MPI_Errhandler_free`
pub(crate) unsafe fn errhandler_free(errhandler: *mut MPI_Errhandler) -> Answer {
    // SAFETY: a place of the caller.
    unsafe { get(errhandler) }?.free()?;
    // SAFETY: as above.
    unsafe { put(errhandler, MPI_ERRHANDLER_NULL) }
}
