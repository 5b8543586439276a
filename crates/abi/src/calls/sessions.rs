//! Sessions, their process sets, and the groups and communicators made from them. (MPI 4.1 §11.3)
//!
//! All sessions share the buffer of the process for buffered sends: a group does not know its
//! session, so neither does a communicator made from the group.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int, c_void};

use motet::{Communicator, ErrorClass, Group, Info, Tag};

use super::buffered;
use super::errors::requested;
use crate::boundary;
use crate::constants::{
    MPI_COMM_NULL, MPI_MAX_PSET_NAME_LEN, MPI_MAX_STRINGTAG_LEN, MPI_SESSION_NULL,
};
use crate::count::CountPlace;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{
    Callback, MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Request, MPI_Session,
};
use crate::objects;
use crate::objects::{Comm, Errhandler, Hints, ProcessSet, Session, Shape, Target};
use crate::out_params::{get, put};
use crate::process;
use crate::text;
use crate::thread_level;

/// What the ranks of a group make a communicator with.
struct Founding<'a> {
    world: &'a Communicator,
    /// From the text by which they know each other.
    tag: Tag,
    info: Info,
    handler: Errhandler,
}

impl Founding<'_> {
    /// Gives a handle to what they have made.
    fn publish(self, shape: Shape) -> MPI_Comm {
        shape.set_info(&self.info);
        MPI_Comm::keep_with(|handle| Comm::new(shape, handle, self.handler))
    }
}

/// Makes a communicator; what goes wrong is brought before the error handler that it would get.
unsafe fn found(
    stringtag: *const c_char,
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    place: *mut MPI_Comm,
    make: impl FnOnce(Founding) -> AbiResult<MPI_Comm>,
) -> AbiResult {
    let handler = errhandler.handler(Target::Comm)?;
    let world = objects::world();
    let world = world.as_ref().ok_or_else(boundary::not_running)?;
    // For the handler alone: there is no communicator yet that it could be told.
    let alone = world.intra()?.alone();
    alone.set_name("that is to be made");
    let founders = Comm::new(Shape::Plain(alone), MPI_COMM_NULL, handler.clone());
    let founders = MPI_Comm::unknown(founders)?;
    founders.answer(|| {
        // SAFETY: a string of the caller.
        let tag = unsafe { tag(stringtag) }?;
        let founding = Founding { world: world.intra()?, tag, info: info.hints()?, handler };
        let handle = make(founding)?;
        // SAFETY: room for a result of the caller.
        unsafe { put(place, handle) }
    })
}

/// A number for a text. Those of `MPI_Comm_create_group` are smaller.
unsafe fn tag(text: *const c_char) -> AbiResult<Tag> {
    // SAFETY: a string of the caller.
    let text = unsafe { text::read("tag", text) }?;
    if text.len() >= MPI_MAX_STRINGTAG_LEN as usize {
        let most = MPI_MAX_STRINGTAG_LEN - 1;
        return Err(argument(format!("the tag has {} bytes, but may have {most}", text.len())));
    }
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step);
    Ok(Tag((hash >> 32) as u32 | 1 << 31))
}

/// `MPI_Comm_create_from_group`
pub(crate) unsafe fn comm_create_from_group(
    group: MPI_Group,
    stringtag: *const c_char,
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let make = |founding: Founding| {
        let group = group.object()?;
        if group.is_empty() {
            return Ok(MPI_COMM_NULL);
        }
        let made = founding.world.create_group(&group, founding.tag)?;
        Ok(founding.publish(Shape::Plain(made)))
    };
    // SAFETY: what the standard asks of the caller.
    unsafe { found(stringtag, info, errhandler, newcomm, make) }
}

/// `MPI_Group_from_session_pset`
pub(crate) unsafe fn group_from_session_pset(
    session: MPI_Session,
    pset_name: *const c_char,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let session = session.object()?;
    session.answer(|| {
        // SAFETY: a string of the caller.
        let group = unsafe { process_set(pset_name) }?.group()?;
        // SAFETY: room for a result of the caller.
        unsafe { put(newgroup, MPI_Group::keep(group)) }
    })
}

unsafe fn process_set(name: *const c_char) -> AbiResult<ProcessSet> {
    // SAFETY: a string of the caller.
    ProcessSet::named(unsafe { text::read("name of a set of processes", name) }?)
}

/// `MPI_Intercomm_create_from_groups`
pub(crate) unsafe fn intercomm_create_from_groups(
    local_group: MPI_Group,
    local_leader: c_int,
    remote_group: MPI_Group,
    remote_leader: c_int,
    stringtag: *const c_char,
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    newintercomm: *mut MPI_Comm,
) -> AbiResult {
    let make = |founding: Founding| {
        let local = local_group.object()?;
        let leader = usize::try_from(local_leader).ok().filter(|&rank| rank < local.size());
        let leader = leader.ok_or_else(|| no_leader("local", local_leader))?;
        let inside = founding.world.create_group(&local, founding.tag)?;
        // Only the leader has to know the other group. It goes on without, so that the others of
        // its own group learn that it could not reach the other one.
        let remote = remote_rank(remote_group, remote_leader, founding.world.group());
        let leads = inside.rank() == leader;
        let peer = (leads && remote.is_ok()).then_some(founding.world);
        let known = remote.as_ref().copied().unwrap_or_default();
        let made = inside.intercomm_create(leader, peer, known, founding.tag);
        if leads {
            remote?;
        }
        Ok(founding.publish(Shape::from(made?)))
    };
    // SAFETY: what the standard asks of the caller.
    unsafe { found(stringtag, info, errhandler, newintercomm, make) }
}

/// The leader of the other group, in the group of all.
fn remote_rank(remote: MPI_Group, leader: c_int, all: &Group) -> AbiResult<usize> {
    let rank = usize::try_from(leader).ok();
    let remote = remote.object()?;
    let rank = rank.and_then(|rank| remote.translate(rank, all));
    rank.ok_or_else(|| no_leader("remote", leader))
}

#[cold]
fn no_leader(which: &str, leader: c_int) -> AbiError {
    AbiError::new(ErrorClass::Rank, format!("the {which} leader {leader} is not in its group"))
}

/// `MPI_Session_attach_buffer`
pub(crate) unsafe fn session_attach_buffer(
    session: MPI_Session,
    buffer: *mut c_void,
    size: i64,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    session.object()?.answer(|| unsafe { buffered::buffer_attach(buffer, size) })
}

/// `MPI_Session_call_errhandler`
pub(crate) fn session_call_errhandler(session: MPI_Session, errorcode: c_int) -> AbiResult {
    Err(requested(session.object()?.site(), errorcode))
}

/// `MPI_Session_create_errhandler`
pub(crate) unsafe fn session_create_errhandler(
    session_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    // SAFETY: it is such a function, says the caller.
    let handle = unsafe { Errhandler::publish(session_errhandler_fn, Target::Session) }?;
    // SAFETY: room for a result of the caller.
    unsafe { put(errhandler, handle) }
}

/// `MPI_Session_detach_buffer`
pub(crate) unsafe fn session_detach_buffer(
    session: MPI_Session,
    buffer_addr: *mut c_void,
    size: CountPlace,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    session.object()?.answer(|| unsafe { buffered::buffer_detach(buffer_addr, size) })
}

/// `MPI_Session_finalize`
pub(crate) unsafe fn session_finalize(session: *mut MPI_Session) -> AbiResult {
    // SAFETY: a place of the caller.
    let handle = unsafe { get(session) }?;
    handle.retire()?;
    let left = process::leave();
    // SAFETY: as above.
    unsafe { put(session, MPI_SESSION_NULL) }?;
    left
}

/// `MPI_Session_flush_buffer`
pub(crate) fn session_flush_buffer(session: MPI_Session) -> AbiResult {
    session.object()?.answer(buffered::buffer_flush)
}

/// `MPI_Session_get_errhandler`
pub(crate) unsafe fn session_get_errhandler(
    session: MPI_Session,
    errhandler: *mut MPI_Errhandler,
) -> AbiResult {
    let session = session.object()?;
    // SAFETY: room for a result of the caller.
    session.answer(|| unsafe { put(errhandler, session.handler().refer()) })
}

/// `MPI_Session_get_info`
pub(crate) unsafe fn session_get_info(session: MPI_Session, info_used: *mut MPI_Info) -> AbiResult {
    let session = session.object()?;
    session.answer(|| {
        // SAFETY: room for a result of the caller.
        unsafe { put(info_used, Hints::publish(Hints::of_session())) }
    })
}

/// `MPI_Session_get_nth_pset`
pub(crate) unsafe fn session_get_nth_pset(
    session: MPI_Session,
    _info: MPI_Info,
    n: c_int,
    pset_len: *mut c_int,
    pset_name: *mut c_char,
) -> AbiResult {
    let session = session.object()?;
    session.answer(|| {
        let set = usize::try_from(n).ok().and_then(|n| ProcessSet::ALL.get(n));
        let name = set.ok_or_else(|| argument(format!("there is no set of processes {n}")))?.name();
        // SAFETY: a place of the caller.
        let room = unsafe { get(pset_len) }?.clamp(0, MPI_MAX_PSET_NAME_LEN);
        if room > 0 {
            // SAFETY: there is so much room.
            unsafe { text::write(name, pset_name, room as usize) }?;
        }
        // SAFETY: a place of the caller.
        unsafe { put(pset_len, name.len() as c_int + 1) }
    })
}

/// `MPI_Session_get_num_psets`
pub(crate) unsafe fn session_get_num_psets(
    session: MPI_Session,
    _info: MPI_Info,
    npset_names: *mut c_int,
) -> AbiResult {
    let session = session.object()?;
    // SAFETY: room for a result of the caller.
    session.answer(|| unsafe { put(npset_names, ProcessSet::ALL.len() as c_int) })
}

/// `MPI_Session_get_pset_info`
pub(crate) unsafe fn session_get_pset_info(
    session: MPI_Session,
    pset_name: *const c_char,
    info: *mut MPI_Info,
) -> AbiResult {
    let session = session.object()?;
    session.answer(|| {
        // SAFETY: a string of the caller.
        let size = unsafe { process_set(pset_name) }?.group()?.size();
        let facts = Info::new().with("mpi_size", size.to_string());
        // SAFETY: room for a result of the caller.
        unsafe { put(info, Hints::publish(facts)) }
    })
}

/// `MPI_Session_iflush_buffer`
pub(crate) unsafe fn session_iflush_buffer(
    session: MPI_Session,
    request: *mut MPI_Request,
) -> AbiResult {
    // SAFETY: what the standard asks of the caller.
    session.object()?.answer(|| unsafe { buffered::buffer_iflush(request) })
}

/// `MPI_Session_init`
pub(crate) unsafe fn session_init(
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    session: *mut MPI_Session,
) -> AbiResult {
    let handler = errhandler.handler(Target::Session)?;
    // For the handler alone, until there is a session.
    let beginning = MPI_Session::unknown(Session::new(MPI_SESSION_NULL, handler.clone()))?;
    beginning.answer(|| {
        thread_level::end();
        Hints::expect_thread_level(&info.hints()?)?;
        process::join()?;
        let handle = MPI_Session::keep_with(|handle| Session::new(handle, handler));
        // SAFETY: room for a result of the caller.
        unsafe { put(session, handle) }.inspect_err(|_| {
            let _ = handle.retire();
            let _ = process::leave();
        })
    })
}

/// `MPI_Session_set_errhandler`
pub(crate) fn session_set_errhandler(
    session: MPI_Session,
    errhandler: MPI_Errhandler,
) -> AbiResult {
    let session = session.object()?;
    session.answer(|| {
        session.set_handler(errhandler.handler(Target::Session)?);
        Ok(())
    })
}
