//! Point-to-point sends and receives.
//!
//! This module converts ranks and tags into those of Motet, and refuses only values that Motet
//! cannot represent. The layer below checks their ranges.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::raw::{self, Incoming, Outgoing, Past, SendMode, SendRecv, SendRecvReplace};
use motet::{ErrorClass, PROC_NULL, Source, Tag, TagFilter};

use super::arguments::{Items, Which};
use crate::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_REQUEST_NULL};
use crate::error::{AbiError, AbiResult, negative};
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Request};
use crate::objects::{FoundComm, MPI_Status, Request};
use crate::out_params::put;

/// Data of the caller: address, count, datatype.
type Given = (*const c_void, i64, MPI_Datatype);

#[inline(always)] // an answer that is handed on through memory costs as much as to find it
fn items(which: Which, (address, count, datatype): Given) -> AbiResult<Items> {
    Items::new(which, address, count, datatype)
}

/// The peer of a message: a rank, or `MPI_PROC_NULL`.
///
/// # Errors
/// If the rank is any other negative number.
#[inline]
pub(super) fn rank(which: &str, rank: c_int) -> AbiResult<usize> {
    match usize::try_from(rank) {
        Ok(rank) => Ok(rank),
        Err(_) if rank == MPI_PROC_NULL => Ok(PROC_NULL),
        Err(_) => {
            let text = format!("the {which} is {rank}, which is not a rank");
            Err(AbiError::new(ErrorClass::Rank, text))
        }
    }
}

/// To whom a message goes.
///
/// # Errors
/// No rank.
#[inline]
pub(super) fn destination(to: c_int) -> AbiResult<usize> {
    rank("destination", to)
}

/// From whom a message comes.
///
/// # Errors
/// No rank.
#[inline]
pub(super) fn source(from: c_int) -> AbiResult<Source> {
    if from == MPI_ANY_SOURCE { Ok(Source::Any) } else { rank("source", from).map(Source::Rank) }
}

/// The tag of a message.
///
/// # Errors
/// If the tag is negative.
#[inline]
pub(super) fn tag(tag: c_int) -> AbiResult<Tag> {
    let number = u32::try_from(tag);
    number.map(Tag).map_err(|_| negative(ErrorClass::Tag, "the tag", tag))
}

/// As what a message is received.
///
/// # Errors
/// A negative tag that does not mean any.
#[inline]
pub(super) fn filter(filter: c_int) -> AbiResult<TagFilter> {
    if filter == MPI_ANY_TAG { Ok(TagFilter::Any) } else { tag(filter).map(TagFilter::Tag) }
}

/// A message that the caller sends.
struct Sent {
    items: Items,
    to: usize,
    tag: Tag,
    mode: SendMode,
}

impl Sent {
    #[inline(always)] // as `items`
    fn new(given: Given, (to, as_tag): (c_int, c_int), mode: SendMode) -> AbiResult<Sent> {
        let (items, to) = (items(Which::Send, given)?, destination(to)?);
        Ok(Sent { items, to, tag: tag(as_tag)?, mode })
    }

    #[inline]
    fn outgoing(&self) -> Outgoing<'_> {
        let Sent { ref items, to, tag, mode } = *self;
        Outgoing { data: items.data(), to, tag, mode }
    }
}

/// A message that the caller receives.
struct Received {
    items: Items,
    from: Source,
    tag: TagFilter,
}

impl Received {
    #[inline(always)] // as `items`
    fn new(given: Given, (from, as_tag): (c_int, c_int)) -> AbiResult<Received> {
        let (items, from) = (items(Which::Receive, given)?, source(from)?);
        Ok(Received { items, from, tag: filter(as_tag)? })
    }

    #[inline]
    fn incoming(&self) -> Incoming<'_> {
        let Received { ref items, from, tag } = *self;
        Incoming { data: items.data(), from, tag }
    }
}

/// Begins an operation on a communicator and gives it a handle, which is null if it goes wrong.
///
/// # Safety
/// The place may be written, or is null.
#[inline]
pub(super) unsafe fn begin(
    comm: MPI_Comm,
    place: *mut MPI_Request,
    work: impl FnOnce(&FoundComm) -> AbiResult<raw::Request>,
) -> AbiResult {
    // SAFETY: promised by the caller.
    unsafe { begin_with_handle(comm, place, |comm| Ok(Request::publish(work(comm)?, comm))) }
}

/// As [`begin`]; `work` returns the handle, since an operation that is complete needs no request.
///
/// # Safety
/// As [`begin`].
#[inline]
unsafe fn begin_with_handle(
    comm: MPI_Comm,
    place: *mut MPI_Request,
    work: impl FnOnce(&FoundComm) -> AbiResult<MPI_Request>,
) -> AbiResult {
    // SAFETY: promised by the caller.
    let cleared = unsafe { put(place, MPI_REQUEST_NULL) };
    let comm = comm.object()?;
    comm.answer(|| {
        cleared?;
        let handle = work(&comm)?;
        // SAFETY: promised by the caller.
        unsafe { put(place, handle) }
    })
}

/// To whom a message goes, and with which tag, as the caller says it.
type Envelope = (c_int, c_int);

/// Sends a message (blocking).
///
/// # Safety
/// The data can be read during the call.
#[inline(always)] // into the standard send and into one function for the other modes
unsafe fn run_send(given: Given, to: Envelope, mode: SendMode, comm: MPI_Comm) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let sent = Sent::new(given, to, mode)?;
        // SAFETY: promised by the caller.
        Ok(unsafe { sent.outgoing().run(comm.on()) }?)
    })
}

/// Starts a send.
///
/// # Safety
/// The data can be read until the request is complete; the place may be written, or is null.
#[inline(always)] // as above
unsafe fn start_send(
    given: Given,
    to: Envelope,
    mode: SendMode,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let sent = Sent::new(given, to, mode)?;
        // SAFETY: promised by the caller.
        if unsafe { sent.outgoing().send_at_once(comm.on()) } {
            return Ok(MPI_Request::of_past(Past::Send));
        }
        // SAFETY: promised by the caller.
        Ok(Request::publish(unsafe { sent.outgoing().start(comm.on()) }?, comm))
    };
    // SAFETY: promised by the caller.
    unsafe { begin_with_handle(comm, request, work) }
}

/// As [`run_send`], for the modes that few programs use: one function for all of them.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn run_send_as(given: Given, to: Envelope, mode: SendMode, comm: MPI_Comm) -> AbiResult {
    // SAFETY: passed on.
    unsafe { run_send(given, to, mode, comm) }
}

/// As [`start_send`], for the modes that few programs use: one function for all of them.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn start_send_as(
    given: Given,
    to: Envelope,
    mode: SendMode,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    // SAFETY: passed on.
    unsafe { start_send(given, to, mode, comm, request) }
}

/// Makes a persistent send.
///
/// # Safety
/// The data can be read in each run; the place may be written, or is null.
#[inline(never)] // one function for all modes
unsafe fn init_send(
    given: Given,
    to: Envelope,
    mode: SendMode,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let sent = Sent::new(given, to, mode)?;
        // SAFETY: promised by the caller.
        Ok(unsafe { sent.outgoing().init(comm.on()) }?)
    };
    // SAFETY: promised by the caller.
    unsafe { begin(comm, request, work) }
}

/// The sends of each mode, in their three forms.
macro_rules! sends {
    ($(
        $mode:ident by $run_as:ident, $start_as:ident: $run:ident, $start:ident, $init:ident;
    )*) => {$(
        #[doc = concat!("Blocking, in the mode ", stringify!($mode), ".")]
        pub(crate) unsafe fn $run(
            buf: *const c_void,
            count: i64,
            datatype: MPI_Datatype,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
        ) -> AbiResult {
            let (given, to) = ((buf, count, datatype), (dest, tag));
            // SAFETY: the caller's memory.
            unsafe { $run_as(given, to, SendMode::$mode, comm) }
        }

        #[doc = concat!("Nonblocking, in the mode ", stringify!($mode), ".")]
        pub(crate) unsafe fn $start(
            buf: *const c_void,
            count: i64,
            datatype: MPI_Datatype,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
            request: *mut MPI_Request,
        ) -> AbiResult {
            let (given, to) = ((buf, count, datatype), (dest, tag));
            // SAFETY: the caller's memory and place.
            unsafe { $start_as(given, to, SendMode::$mode, comm, request) }
        }

        #[doc = concat!("Persistent, in the mode ", stringify!($mode), ".")]
        pub(crate) unsafe fn $init(
            buf: *const c_void,
            count: i64,
            datatype: MPI_Datatype,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
            request: *mut MPI_Request,
        ) -> AbiResult {
            let (given, to) = ((buf, count, datatype), (dest, tag));
            // SAFETY: the caller's memory and place.
            unsafe { init_send(given, to, SendMode::$mode, comm, request) }
        }
    )*};
}

sends! {
    Standard by run_send, start_send: send, isend, send_init;
    Synchronous by run_send_as, start_send_as: ssend, issend, ssend_init;
    Buffered by run_send_as, start_send_as: bsend, ibsend, bsend_init;
    Ready by run_send_as, start_send_as: rsend, irsend, rsend_init;
}

/// `MPI_Recv`
pub(crate) unsafe fn recv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let received = Received::new((buf, count, datatype), (source, tag))?;
        // SAFETY: the caller's memory.
        let told = unsafe { received.incoming().run(comm.on()) };
        // SAFETY: the caller's place.
        Ok(unsafe { MPI_Status::tell_outcome(status, told) }?)
    })
}

/// `MPI_Irecv`
pub(crate) unsafe fn irecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let received = Received::new((buf, count, datatype), (source, tag))?;
        // SAFETY: the caller's memory.
        if let Some(posted) = unsafe { received.incoming().post(comm.on()) } {
            return Ok(Request::publish_posted(posted?, comm));
        }
        // SAFETY: the caller's memory.
        Ok(Request::publish(unsafe { received.incoming().start(comm.on()) }?, comm))
    };
    // SAFETY: the caller's place.
    unsafe { begin_with_handle(comm, request, work) }
}

/// `MPI_Recv_init`
pub(crate) unsafe fn recv_init(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let received = Received::new((buf, count, datatype), (source, tag))?;
        // SAFETY: the caller's memory.
        Ok(unsafe { received.incoming().init(comm.on()) }?)
    };
    // SAFETY: the caller's place.
    unsafe { begin(comm, request, work) }
}

/// `MPI_Sendrecv`
pub(crate) unsafe fn sendrecv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let sent = (sendbuf, sendcount, sendtype);
        let sent = Sent::new(sent, (dest, sendtag), SendMode::Standard)?;
        let received = Received::new((recvbuf, recvcount, recvtype), (source, recvtag))?;
        let swap = SendRecv { outgoing: sent.outgoing(), incoming: received.incoming() };
        // SAFETY: the caller's memory.
        let told = unsafe { swap.run(comm.on()) };
        // SAFETY: the caller's place.
        Ok(unsafe { MPI_Status::tell_outcome(status, told) }?)
    })
}

/// `MPI_Isendrecv`
pub(crate) unsafe fn isendrecv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let sent = (sendbuf, sendcount, sendtype);
        let sent = Sent::new(sent, (dest, sendtag), SendMode::Standard)?;
        let received = Received::new((recvbuf, recvcount, recvtype), (source, recvtag))?;
        let swap = SendRecv { outgoing: sent.outgoing(), incoming: received.incoming() };
        // SAFETY: the caller's memory.
        Ok(unsafe { swap.start(comm.on()) }?)
    };
    // SAFETY: the caller's place.
    unsafe { begin(comm, request, work) }
}

/// To whom and from whom what is in one buffer goes and comes.
type Envelopes = ((usize, Tag), (Source, TagFilter));

fn envelopes(to: (c_int, c_int), from: (c_int, c_int)) -> AbiResult<Envelopes> {
    Ok(((destination(to.0)?, tag(to.1)?), (source(from.0)?, filter(from.1)?)))
}

/// `MPI_Sendrecv_replace`
pub(crate) unsafe fn sendrecv_replace(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let items = items(Which::Only, (buf, count, datatype))?;
        let (to, from) = envelopes((dest, sendtag), (source, recvtag))?;
        let replace = SendRecvReplace { data: items.data(), to, from };
        // SAFETY: the caller's memory.
        let told = unsafe { replace.run(comm.on()) };
        // SAFETY: the caller's place.
        Ok(unsafe { MPI_Status::tell_outcome(status, told) }?)
    })
}

/// `MPI_Isendrecv_replace`
pub(crate) unsafe fn isendrecv_replace(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let work = |comm: &FoundComm| {
        let items = items(Which::Only, (buf, count, datatype))?;
        let (to, from) = envelopes((dest, sendtag), (source, recvtag))?;
        let replace = SendRecvReplace { data: items.data(), to, from };
        // SAFETY: the caller's memory.
        Ok(unsafe { replace.start(comm.on()) }?)
    };
    // SAFETY: the caller's place.
    unsafe { begin(comm, request, work) }
}
