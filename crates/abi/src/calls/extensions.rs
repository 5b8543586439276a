//! Extensions that are not collectives on data: the topologies of the 2008 proposal, and facts
//! about an operation.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int};

use motet::{Communicator, ErrorClass, Group, Load, Reach, Reorder, Topology};

use crate::constants::{MPI_GROUP_NULL, MPI_REQUEST_NULL, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::error::{AbiResult, argument, negative};
use crate::handle::{MPI_Comm, MPI_Count, MPI_Group, MPI_Info, MPI_Request};
use crate::objects::{Shape, Weights};
use crate::out_params::{expect_place, list, put};
use crate::text;

/// `MPIX_Cart_neighbor_group`
pub(crate) unsafe fn cart_neighbor_group(
    selected_dims: *const c_int,
    distance: c_int,
    comm: MPI_Comm,
    group: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the list and the place are there, says the program.
    unsafe { reached(Reach::Axis, (selected_dims, distance), comm, group) }
}

/// `MPIX_Cart_sphere_group`
pub(crate) unsafe fn cart_sphere_group(
    selected_dims: *const c_int,
    distance: c_int,
    comm: MPI_Comm,
    group: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the list and the place are there, says the program.
    unsafe { reached(Reach::Steps, (selected_dims, distance), comm, group) }
}

/// `MPIX_Cart_box_group`
pub(crate) unsafe fn cart_box_group(
    selected_dims: *const c_int,
    distance: c_int,
    comm: MPI_Comm,
    group: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the list and the place are there, says the program.
    unsafe { reached(Reach::Box, (selected_dims, distance), comm, group) }
}

/// Who is at a distance.
///
/// # Safety
/// The list is null or has an entry for each dimension; the group may be put there.
unsafe fn reached(
    reach: Reach,
    (selected, distance): (*const c_int, c_int),
    comm: MPI_Comm,
    group: *mut MPI_Group,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: promised by the caller.
        unsafe { put(group, MPI_GROUP_NULL) }?;
        let communicator = comm.intra()?;
        let steps = usize::try_from(distance)
            .map_err(|_| negative(ErrorClass::Arg, "the distance", distance))?;
        // SAFETY: promised by the caller.
        let selected = unsafe { list("selected dimensions", selected, dimensions(communicator)) }?;
        let selected: Vec<bool> = selected.iter().map(|&dimension| dimension != 0).collect();
        let found = communicator.cart_sphere_group(reach, &selected, steps)?;
        // SAFETY: promised by the caller.
        unsafe { put(group, MPI_Group::publish(found)) }
    })
}

/// How many dimensions there are; none if it is no grid, which whoever needs one will say.
fn dimensions(communicator: &Communicator) -> i64 {
    match communicator.topology() {
        Some(Topology::Cartesian(grid)) => grid.dimensions() as i64,
        _ => 0,
    }
}

/// `MPIX_Graph_create`: how much goes to each neighbour may be left out, or one of both.
pub(crate) unsafe fn graph_create(
    comm: MPI_Comm,
    outgroup: MPI_Group,
    messages: *const MPI_Count,
    bytes: *const MPI_Count,
    reorder: c_int,
    info: MPI_Info,
    graphcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(graphcomm)?;
        let (communicator, group, hints) = (comm.intra()?, outgroup.object()?, info.hints()?);
        // SAFETY: the lists are as long as the group, says the program.
        let loads = unsafe { loads(&group, messages, bytes) }?;
        let weights = if loads.is_some() { Weights::Given } else { Weights::None };
        let reorder = if reorder == 0 { Reorder::Never } else { Reorder::Allowed };
        let graph = communicator.sparse_graph(&group, loads.as_deref(), reorder, &hints)?;
        let graph = Shape::Sparse(graph);
        graph.set_info(&hints);
        // SAFETY: as above.
        unsafe { put(graphcomm, comm.publish_weighted(graph, weights)) }
    })
}

/// How much goes to each member of a group, if the program says so.
///
/// # Safety
/// The lists have an entry for each member, or say that they are none.
unsafe fn loads(
    group: &Group,
    messages: *const MPI_Count,
    bytes: *const MPI_Count,
) -> AbiResult<Option<Vec<Load>>> {
    let none = [0, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY];
    let read = |which: &str, weights: *const MPI_Count| {
        if none.contains(&weights.addr()) {
            return Ok(None);
        }
        // SAFETY: promised by the caller.
        let weights = unsafe { list(which, weights, group.size() as i64) }?;
        let weight = |&weight: &MPI_Count| {
            u64::try_from(weight).map_err(|_| argument(format!("one of the {which} is {weight}")))
        };
        weights.iter().map(weight).collect::<AbiResult<Vec<u64>>>().map(Some)
    };
    let (messages, bytes) = (read("messages", messages)?, read("bytes", bytes)?);
    if messages.is_none() && bytes.is_none() {
        return Ok(None);
    }
    let or_ones = |weights: Option<Vec<u64>>| weights.unwrap_or_else(|| vec![1; group.size()]);
    let both = or_ones(messages).into_iter().zip(or_ones(bytes));
    Ok(Some(both.map(Load::from).collect()))
}

/// `MPIX_Graph_neighbor_groups`
pub(crate) unsafe fn graph_neighbor_groups(
    graphcomm: MPI_Comm,
    outgroup: *mut MPI_Group,
    ingroup: *mut MPI_Group,
) -> AbiResult {
    let comm = graphcomm.object()?;
    comm.answer(|| {
        if outgroup.is_null() || ingroup.is_null() {
            return Err(argument("the place for a group is NULL"));
        }
        let (to, from) = comm.intra()?.graph_neighbor_groups()?;
        // SAFETY: there is a place for it, says the program.
        unsafe { put(outgroup, MPI_Group::publish(to)) }?;
        // SAFETY: as above.
        unsafe { put(ingroup, MPI_Group::publish(from)) }
    })
}

/// `MPIX_Explain`: as much of the text as there is room for, with a zero at its end; the length is
/// that of the whole, so that a program can ask for it first, without any room.
pub(crate) unsafe fn explain(
    request: MPI_Request,
    text: *mut c_char,
    size: c_int,
    length: *mut c_int,
) -> AbiResult {
    let room = usize::try_from(size).map_err(|_| negative(ErrorClass::Arg, "the size", size))?;
    if request == MPI_REQUEST_NULL {
        return Err(request.wrong());
    }
    let mut borrowed = request.borrow()?;
    let told = borrowed.work(|operation| operation.explain());
    borrowed.give_back();
    if room > 0 {
        // SAFETY: there is so much room, says the program.
        unsafe { text::write(&told, text, room) }?;
    }
    // SAFETY: there is a place for it, says the program.
    unsafe { put(length, told.len() as c_int) }
}
