//! Communicators: queries, duplicates, subsets, and freeing. (MPI 4.1 §7.4)
//!
//! A new communicator inherits the error handler of its parent. A duplicate gets the attributes
//! whose copy callbacks ask for it. The callbacks run in the call that starts the duplication, with
//! the handle of the original.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int};
use std::sync::PoisonError;

use motet::{Attributes, CommunicatorRequest, Comparison, ErrorClass, Group, Info, Tag};

use crate::boundary;
use crate::callbacks::{copied, deleted};
use crate::constants::*;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{MPI_Comm, MPI_Group, MPI_Info, MPI_Request};
use crate::objects;
use crate::objects::{Comm, FoundComm, Hints, Request, Shape};
use crate::out_params::{expect_place, get, put};
use crate::text;

/// The hints that say by what `MPI_Comm_split_type` is guided.
const RESOURCE: &str = "mpi_hw_resource_type";
const PROCESS_SET: &str = "mpi_pset_name";
/// The one resource of which something is known.
const SHARED_MEMORY: &str = "mpi_shared_memory";

/// How alike two groups or communicators are, as the standard counts it.
pub(crate) fn comparison(comparison: Comparison) -> c_int {
    match comparison {
        Comparison::Identical => MPI_IDENT,
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}

/// A tag of a call that makes a communicator.
pub(crate) fn creation_tag(tag: c_int) -> AbiResult<Tag> {
    let tag = u32::try_from(tag);
    tag.map(Tag).map_err(|_| AbiError::new(ErrorClass::Tag, "the tag is negative"))
}

/// `MPI_Comm_compare`
pub(crate) unsafe fn comm_compare(
    comm1: MPI_Comm,
    comm2: MPI_Comm,
    result: *mut c_int,
) -> AbiResult {
    let comm = comm1.object()?;
    comm.answer(|| {
        let other = comm2.object()?;
        let alike = match (comm.shape(), other.shape()) {
            (Shape::Between(comm), Shape::Between(other)) => comm.compare(other),
            _ => match (comm.inside(), other.inside()) {
                (Some(comm), Some(other)) => comm.compare(other),
                _ => Comparison::Unequal,
            },
        };
        // SAFETY: the caller has a place there.
        unsafe { put(result, comparison(alike)) }
    })
}

/// `MPI_Comm_create`
pub(crate) unsafe fn comm_create(
    comm: MPI_Comm,
    group: MPI_Group,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(newcomm)?;
        let group = group.object()?;
        let made = match comm.shape() {
            Shape::Between(between) => between.create(&group)?.map(Shape::from),
            _ => comm.intra()?.create(&group)?.map(Shape::Plain),
        };
        // SAFETY: the caller has a place there.
        unsafe { put(newcomm, comm.publish_if_any(made)) }
    })
}

/// `MPI_Comm_create_group`: local, and no communicator, for who is not in the group.
pub(crate) unsafe fn comm_create_group(
    comm: MPI_Comm,
    group: MPI_Group,
    tag: c_int,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(newcomm)?;
        let (group, tag) = (group.object()?, creation_tag(tag)?);
        let parent = comm.intra()?;
        let is_in = parent.place_in(&group).is_some();
        let made = if is_in { Some(parent.create_group(&group, tag)?) } else { None };
        // SAFETY: the caller has a place there.
        unsafe { put(newcomm, comm.publish_if_any(made.map(Shape::Plain))) }
    })
}

/// Frees a communicator, once its attributes have been deleted, for which its handle must be good.
fn free(handle: MPI_Comm, before: impl FnOnce(&Comm) -> AbiResult) -> AbiResult {
    let comm = handle.object()?;
    comm.answer(|| {
        if handle.is_constant() {
            let text = format!("{} is predefined, and cannot be freed", comm.name());
            return Err(AbiError::new(ErrorClass::Comm, text));
        }
        before(&comm)?;
        deleted(&*comm)?;
        handle.retire()
    })
}

/// `MPI_Comm_disconnect`: once all ranks have come, so that none is in a call on it any more.
pub(crate) unsafe fn comm_disconnect(comm: *mut MPI_Comm) -> AbiResult {
    // SAFETY: a place of the caller.
    let handle = unsafe { get(comm) }?;
    free(handle, |comm| match comm.shape() {
        Shape::Between(between) => Ok(between.barrier()?),
        _ => Ok(comm.intra()?.barrier()?),
    })?;
    // SAFETY: as above.
    unsafe { put(comm, MPI_COMM_NULL) }
}

/// What a copy of a communicator is made of: the agreement on it, and the attributes that it gets.
fn copy(comm: &Comm, info: &Info) -> AbiResult<(CommunicatorRequest<Shape>, Attributes<MPI_Comm>)> {
    let attributes = copied(comm);
    // Also if a callback has failed here: the others must not wait for this rank.
    let request = match comm.shape() {
        Shape::World(world) => world.idup_with_info(info)?.map(Shape::Plain),
        Shape::Plain(plain) => plain.idup_with_info(info)?.map(Shape::Plain),
        Shape::Cartesian(grid) => grid.idup_with_info(info)?.map(Shape::Cartesian),
        Shape::Graph(graph) => graph.idup_with_info(info)?.map(Shape::Graph),
        Shape::Sparse(graph) => graph.idup_with_info(info)?.map(Shape::Sparse),
        Shape::Between(between) => between.idup_with_info(info)?.map(Shape::from),
        Shape::Coming => return Err(comm.handle.wrong()),
    };
    Ok((request, attributes?))
}

/// A blocking copy.
unsafe fn dup(comm: &FoundComm, info: &Info, newcomm: *mut MPI_Comm) -> AbiResult {
    expect_place(newcomm)?;
    let (request, attributes) = copy(comm, info)?;
    let copy = comm.publish_copy(request.wait()?, attributes);
    // SAFETY: the caller has a place there.
    unsafe { put(newcomm, copy) }
}

/// A nonblocking copy. Its handle is known at once, so that its error handler can be set; it can be
/// used from when a call tells that the request is complete.
unsafe fn idup(
    comm: &FoundComm,
    info: &Info,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    expect_place(newcomm)?;
    expect_place(request)?;
    let (agreed, attributes) = copy(comm, info)?;
    let (handle, keep) = comm.publish_later(attributes);
    let agreed = Request::publish(agreed.into_raw(keep), comm);
    // SAFETY: the caller has a place there.
    unsafe { put(newcomm, handle) }?;
    // SAFETY: as above.
    unsafe { put(request, agreed) }
}

/// `MPI_Comm_dup`
pub(crate) unsafe fn comm_dup(comm: MPI_Comm, newcomm: *mut MPI_Comm) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { dup(&comm, &Info::new(), newcomm) })
}

/// `MPI_Comm_dup_with_info`
pub(crate) unsafe fn comm_dup_with_info(
    comm: MPI_Comm,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { dup(&comm, &info.hints()?, newcomm) })
}

/// `MPI_Comm_free`
pub(crate) unsafe fn comm_free(comm: *mut MPI_Comm) -> AbiResult {
    // SAFETY: a place of the caller.
    let handle = unsafe { get(comm) }?;
    free(handle, |_| Ok(()))?;
    // SAFETY: as above.
    unsafe { put(comm, MPI_COMM_NULL) }
}

/// `MPI_Comm_get_info`
pub(crate) unsafe fn comm_get_info(comm: MPI_Comm, info_used: *mut MPI_Info) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let info = Hints::of_communicator(&comm.shape().info());
        // SAFETY: the caller has a place there.
        unsafe { put(info_used, Hints::publish(info)) }
    })
}

/// `MPI_Comm_get_name`, which the null communicator has too.
pub(crate) unsafe fn comm_get_name(
    comm: MPI_Comm,
    comm_name: *mut c_char,
    resultlen: *mut c_int,
) -> AbiResult {
    let name =
        if comm == MPI_COMM_NULL { "MPI_COMM_NULL".to_owned() } else { comm.object()?.name() };
    // SAFETY: the caller has so much room there.
    let len = unsafe { text::write(&name, comm_name, MPI_MAX_OBJECT_NAME as usize) }?;
    // SAFETY: the caller has a place there.
    unsafe { put(resultlen, len as c_int) }
}

/// `MPI_Comm_get_parent`: nobody has been spawned.
pub(crate) unsafe fn comm_get_parent(parent: *mut MPI_Comm) -> AbiResult {
    // SAFETY: the caller has a place there.
    unsafe { put(parent, MPI_COMM_NULL) }
}

/// `MPI_Comm_group`
pub(crate) unsafe fn comm_group(comm: MPI_Comm, group: *mut MPI_Group) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let members = match comm.shape() {
            Shape::Between(between) => between.group(),
            _ => comm.intra()?.group(),
        };
        // SAFETY: the caller has a place there.
        unsafe { put(group, MPI_Group::publish(members.clone())) }
    })
}

/// `MPI_Comm_idup`
pub(crate) unsafe fn comm_idup(
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has places there.
    comm.answer(|| unsafe { idup(&comm, &Info::new(), newcomm, request) })
}

/// `MPI_Comm_idup_with_info`
pub(crate) unsafe fn comm_idup_with_info(
    comm: MPI_Comm,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has places there.
    comm.answer(|| unsafe { idup(&comm, &info.hints()?, newcomm, request) })
}

/// `MPI_Comm_rank`
pub(crate) unsafe fn comm_rank(comm: MPI_Comm, rank: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { put(rank, comm.rank() as c_int) })
}

/// `MPI_Comm_set_info`
pub(crate) fn comm_set_info(comm: MPI_Comm, info: MPI_Info) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        comm.shape().set_info(&info.hints()?);
        Ok(())
    })
}

/// `MPI_Comm_set_name`
pub(crate) unsafe fn comm_set_name(comm: MPI_Comm, comm_name: *const c_char) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller has a string there.
        let name = unsafe { text::read("name", comm_name) }?;
        let end = name.floor_char_boundary(MPI_MAX_OBJECT_NAME as usize - 1);
        match comm.shape() {
            Shape::Between(between) => between.set_name(&name[..end]),
            _ => comm.intra()?.set_name(&name[..end]),
        }
        Ok(())
    })
}

/// `MPI_Comm_size`
pub(crate) unsafe fn comm_size(comm: MPI_Comm, size: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { put(size, comm.size() as c_int) })
}

/// `MPI_Comm_split`
pub(crate) unsafe fn comm_split(
    comm: MPI_Comm,
    color: c_int,
    key: c_int,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(newcomm)?;
        let colour = match color {
            MPI_UNDEFINED => None,
            colour => Some(u32::try_from(colour).map_err(|_| {
                argument(format!("the colour is {colour}: expected MPI_UNDEFINED, 0 or more"))
            })?),
        };
        let part = split(&comm, colour, key)?;
        // SAFETY: the caller has a place there.
        unsafe { put(newcomm, comm.publish_if_any(part)) }
    })
}

/// `MPI_Comm_split_type`
pub(crate) unsafe fn comm_split_type(
    comm: MPI_Comm,
    split_type: c_int,
    key: c_int,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(newcomm)?;
        let hints = info.hints()?;
        let colour = kind(&comm, split_type, &hints)?;
        let part = split(&comm, colour, key)?;
        part.iter().for_each(|part| part.set_info(&hints));
        if split_type == MPI_COMM_TYPE_HW_UNGUIDED && part.is_some() && info != MPI_INFO_NULL {
            let hints = info.object()?;
            let mut hints = hints.lock().unwrap_or_else(PoisonError::into_inner);
            hints.set(RESOURCE, SHARED_MEMORY)?;
        }
        // SAFETY: the caller has a place there.
        unsafe { put(newcomm, comm.publish_if_any(part)) }
    })
}

/// Parts the ranks by colour.
fn split(comm: &Comm, colour: Option<u32>, key: c_int) -> AbiResult<Option<Shape>> {
    let key = i64::from(key);
    Ok(match comm.shape() {
        Shape::Between(between) => between.split(colour, key)?.map(Shape::from),
        _ => comm.intra()?.split(colour, key)?.map(Shape::Plain),
    })
}

/// What the caller has in common with those with which it comes together; none if nobody has what
/// is asked for, or if nothing is known of that.
fn kind(comm: &Comm, split_type: c_int, hints: &Info) -> AbiResult<Option<u32>> {
    let Some(world) = objects::world() else { return Err(boundary::not_running()) };
    let nodes = world.intra()?.nodes();
    let node = nodes[world.rank()];
    let resource = |name: Option<&str>| (name == Some(SHARED_MEMORY)).then_some(node);
    let colour = match split_type {
        MPI_UNDEFINED => None,
        MPI_COMM_TYPE_SHARED => Some(node),
        // The next level of the machine, which must be a smaller one.
        MPI_COMM_TYPE_HW_UNGUIDED => {
            let is_elsewhere = |group: &Group| group.world_ranks().any(|rank| nodes[rank] != node);
            let is_smaller = match comm.shape() {
                Shape::Between(between) => {
                    is_elsewhere(between.group()) || is_elsewhere(between.remote_group())
                }
                _ => is_elsewhere(comm.intra()?.group()),
            };
            is_smaller.then_some(node)
        }
        MPI_COMM_TYPE_HW_GUIDED => resource(hints.get(RESOURCE)),
        MPI_COMM_TYPE_RESOURCE_GUIDED => match hints.get(PROCESS_SET) {
            Some("mpi://WORLD") => Some(0),
            Some("mpi://SELF") => Some(world.rank()),
            _ => resource(hints.get(RESOURCE)),
        },
        other => return Err(argument(format!("the split type {other} does not exist"))),
    };
    Ok(colour.map(|colour| colour as u32))
}
