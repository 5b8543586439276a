//! Partitioned communication: a message is sent as a whole when its last partition is ready, and
//! received as a whole.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::raw::{Incoming, Outgoing, Partitions, SendMode};
use motet::{ErrorClass, Source, TagFilter};

use super::arguments::{Items, Which};
use super::messages::{begin, rank, tag};
use crate::constants::MPI_REQUEST_NULL;
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use crate::objects::FoundComm;
use crate::out_params::{list, put};

/// Data of the caller in equal parts: where, how many, how long each is.
struct Given {
    address: *const c_void,
    partitions: c_int,
    count: i64,
    datatype: MPI_Datatype,
}

impl Given {
    /// All of it, and the number of parts.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    fn items(&self, which: Which) -> AbiResult<(Items, usize)> {
        let Given { address, partitions, count, datatype } = *self;
        let parts = usize::try_from(partitions).map_err(|_| no_partition(partitions))?;
        let all = count.checked_mul(i64::from(partitions)).ok_or_else(|| {
            let text = format!("{partitions} partitions of {count} items are too many");
            AbiError::new(ErrorClass::Count, text)
        })?;
        // A negative count stays one, also of no parts.
        let all = if parts == 0 { count.min(0) } else { all };
        Ok((Items::new(which, address, all, datatype)?, parts))
    }
}

#[cold]
fn no_partition(partition: c_int) -> AbiError {
    negative(ErrorClass::Arg, "the partition or number of partitions", partition)
}

/// `MPI_Psend_init`
pub(crate) unsafe fn psend_init(
    buf: *const c_void,
    partitions: c_int,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    as_tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        info.hints()?;
        let (items, parts) =
            Given { address: buf, partitions, count, datatype }.items(Which::Send)?;
        let (to, tag) = (rank("destination", dest)?, tag(as_tag)?);
        let outgoing = Outgoing { data: items.data(), to, tag, mode: SendMode::Standard };
        // SAFETY: the caller's memory.
        Ok(unsafe { outgoing.init_in_parts(comm.on(), parts) }?)
    };
    // SAFETY: the caller's place.
    unsafe { begin(comm, request, work) }
}

/// `MPI_Precv_init`: neither the source nor the tag may be any.
pub(crate) unsafe fn precv_init(
    buf: *mut c_void,
    partitions: c_int,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    as_tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        info.hints()?;
        let (items, parts) =
            Given { address: buf, partitions, count, datatype }.items(Which::Receive)?;
        let (from, tag) = (Source::Rank(rank("source", source)?), TagFilter::Tag(tag(as_tag)?));
        let incoming = Incoming { data: items.data(), from, tag };
        // SAFETY: the caller's memory.
        Ok(unsafe { incoming.init_in_parts(comm.on(), parts) }?)
    };
    // SAFETY: the caller's place.
    unsafe { begin(comm, request, work) }
}

/// Works on the parts of a request's message.
///
/// # Errors
/// A request of another kind; of the work.
fn on_parts<T>(
    request: MPI_Request,
    work: impl FnOnce(&Partitions) -> AbiResult<T>,
) -> AbiResult<T> {
    work(&request.parts()?).map_err(|fault| fault.at(request.site()))
}

/// The place of a partition.
fn place(partition: c_int) -> AbiResult<usize> {
    usize::try_from(partition).map_err(|_| no_partition(partition))
}

/// `MPI_Pready`
pub(crate) fn pready(partition: c_int, request: MPI_Request) -> AbiResult {
    on_parts(request, |parts| Ok(parts.ready(place(partition)?)?))
}

/// `MPI_Pready_range`: both ends are in it.
pub(crate) fn pready_range(
    partition_low: c_int,
    partition_high: c_int,
    request: MPI_Request,
) -> AbiResult {
    on_parts(request, |parts| {
        let (low, high) = (place(partition_low)?, place(partition_high)?);
        if low > high {
            return Err(argument(format!("the range of partitions {low} to {high} is empty")));
        }
        (low..=high).try_for_each(|part| Ok(parts.ready(part)?))
    })
}

/// `MPI_Pready_list`
pub(crate) unsafe fn pready_list(
    length: c_int,
    array_of_partitions: *const c_int,
    request: MPI_Request,
) -> AbiResult {
    on_parts(request, |parts| {
        // SAFETY: the caller's list.
        let list = unsafe { list("list of partitions", array_of_partitions, length.into()) }?;
        list.iter().try_for_each(|&part| Ok(parts.ready(place(part)?)?))
    })
}

/// `MPI_Parrived`: of the null request all has arrived (MPI 5.0 §4.2.2).
pub(crate) unsafe fn parrived(
    request: MPI_Request,
    partition: c_int,
    flag: *mut c_int,
) -> AbiResult {
    let arrived = request == MPI_REQUEST_NULL
        || on_parts(request, |parts| Ok(parts.has_arrived(place(partition)?)?))?;
    // SAFETY: the caller's place.
    unsafe { put(flag, c_int::from(arrived)) }
}
