//! Cartesian topologies, and functions for all topologies. (MPI 4.1 §8)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{Cartesian, CartesianCommunicator, ErrorClass, Reorder, TopologyError};

use crate::constants::*;
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::MPI_Comm;
use crate::objects::{Comm, Shape};
use crate::out_params::{expect_place, list, put, put_all};

fn dims(text: impl Into<String>) -> AbiError {
    AbiError::new(ErrorClass::Dims, text)
}

pub(super) fn topology(text: &str) -> AbiError {
    AbiError::new(ErrorClass::Topology, text)
}

/// What the library below says of a topology without a communicator.
pub(super) fn wrong(error: TopologyError) -> AbiError {
    motet::Error::from(motet::ErrorKind::from(error)).into()
}

/// A rank, of which what is called says whether there is one.
pub(super) fn rank(rank: c_int) -> AbiResult<usize> {
    usize::try_from(rank).map_err(|_| negative(ErrorClass::Rank, "the rank", rank))
}

/// A rank, or none.
pub(super) fn neighbour(rank: Option<usize>) -> c_int {
    rank.map_or(MPI_PROC_NULL, |rank| rank as c_int)
}

/// The rank that there would be in a topology, or none.
pub(super) fn mapped(rank: Option<usize>) -> c_int {
    rank.map_or(MPI_UNDEFINED, |rank| rank as c_int)
}

pub(super) fn reordering(reorder: c_int) -> Reorder {
    if reorder == 0 { Reorder::Never } else { Reorder::Allowed }
}

/// How many dimensions the caller says that there are.
fn dimensions(count: c_int) -> AbiResult<usize> {
    let text = || format!("the number of dimensions is {count}, but must not be negative");
    usize::try_from(count).map_err(|_| dims(text()))
}

fn grid(comm: &Comm) -> AbiResult<&CartesianCommunicator> {
    match comm.shape() {
        Shape::Cartesian(grid) => Ok(grid),
        _ => Err(topology("the communicator has no Cartesian topology")),
    }
}

/// # Errors
/// That the caller has room for fewer than there are.
pub(super) fn enough(which: &str, room: c_int, needed: usize) -> AbiResult {
    if usize::try_from(room).is_ok_and(|room| room >= needed) {
        return Ok(());
    }
    Err(argument(format!("there is room for {room} {which}, but there are {needed}")))
}

/// The sizes of a grid, and which of its dimensions are rings.
unsafe fn sizes(
    ndims: c_int,
    sizes: *const c_int,
    periods: *const c_int,
) -> AbiResult<(Vec<usize>, Vec<bool>)> {
    let count = dimensions(ndims)? as i64;
    // SAFETY: the caller has so many there.
    let sizes = unsafe { list("sizes of the dimensions", sizes, count) }?;
    // SAFETY: as above.
    let periods = unsafe { list("periods of the dimensions", periods, count) }?;
    let size = |&size: &c_int| {
        usize::try_from(size).map_err(|_| dims(format!("a dimension has the size {size}")))
    };
    let sizes = sizes.iter().map(size).collect::<AbiResult<_>>()?;
    Ok((sizes, periods.iter().map(|&period| period != 0).collect()))
}

/// `MPI_Cart_coords`
pub(crate) unsafe fn cart_coords(
    comm: MPI_Comm,
    rank: c_int,
    maxdims: c_int,
    coords: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let grid = grid(&comm)?.topology();
        let place = grid.coordinates(self::rank(rank)?).map_err(wrong)?;
        enough("coordinates", maxdims, place.len())?;
        // SAFETY: the caller has room for so many there.
        unsafe { put_all("coordinates", coords, place.iter().map(|&at| at as c_int)) }
    })
}

/// `MPI_Cart_create`
pub(crate) unsafe fn cart_create(
    comm_old: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    reorder: c_int,
    comm_cart: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm_old.object()?;
    comm.answer(|| {
        expect_place(comm_cart)?;
        // SAFETY: the caller has so many there.
        let (sizes, periodic) = unsafe { sizes(ndims, dims, periods) }?;
        let made = comm.intra()?.cartesian(&sizes, &periodic, reordering(reorder))?;
        // SAFETY: the caller has a place there.
        unsafe { put(comm_cart, comm.publish_if_any(made.map(Shape::Cartesian))) }
    })
}

/// `MPI_Cart_get`
pub(crate) unsafe fn cart_get(
    comm: MPI_Comm,
    maxdims: c_int,
    dims: *mut c_int,
    periods: *mut c_int,
    coords: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let place = grid(&comm)?;
        let grid: &Cartesian = place.topology();
        enough("dimensions", maxdims, grid.dimensions())?;
        // SAFETY: the caller has room for so many there.
        unsafe { put_all("sizes", dims, grid.sizes().iter().map(|&size| size as c_int)) }?;
        let periodic = grid.periodic().iter().map(|&periodic| c_int::from(periodic));
        // SAFETY: as above.
        unsafe { put_all("periods", periods, periodic) }?;
        let place = place.coordinates().into_iter().map(|at| at as c_int);
        // SAFETY: as above.
        unsafe { put_all("coordinates", coords, place) }
    })
}

/// `MPI_Cart_map`
pub(crate) unsafe fn cart_map(
    comm: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    newrank: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller has so many there.
        let (sizes, periodic) = unsafe { sizes(ndims, dims, periods) }?;
        let comm = comm.intra()?;
        // Other libraries have grids without places here, in which nobody gets one.
        let has_places = !sizes.contains(&0);
        let rank = if has_places { comm.cartesian_map(&sizes, &periodic)? } else { None };
        // SAFETY: the caller has a place there.
        unsafe { put(newrank, mapped(rank)) }
    })
}

/// `MPI_Cart_rank`
pub(crate) unsafe fn cart_rank(
    comm: MPI_Comm,
    coords: *const c_int,
    rank: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let grid = grid(&comm)?.topology();
        // SAFETY: the caller has one for each dimension there.
        let place = unsafe { list("coordinates", coords, grid.dimensions() as i64) }?;
        let place: Vec<isize> = place.iter().map(|&at| at as isize).collect();
        let found = grid.rank_at(&place).map_err(wrong)?.ok_or_else(|| {
            argument(format!("no rank has the coordinates {place:?}: they are outside of the grid"))
        })?;
        // SAFETY: the caller has a place there.
        unsafe { put(rank, found as c_int) }
    })
}

/// `MPI_Cart_shift`
pub(crate) unsafe fn cart_shift(
    comm: MPI_Comm,
    direction: c_int,
    disp: c_int,
    rank_source: *mut c_int,
    rank_dest: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let grid = grid(&comm)?;
        let dimension = usize::try_from(direction)
            .map_err(|_| dims(format!("there is no dimension {direction}")))?;
        let (source, destination) = grid.shift(dimension, disp as isize)?;
        // SAFETY: the caller has a place there.
        unsafe { put(rank_source, neighbour(source)) }?;
        // SAFETY: as above.
        unsafe { put(rank_dest, neighbour(destination)) }
    })
}

/// `MPI_Cart_sub`
pub(crate) unsafe fn cart_sub(
    comm: MPI_Comm,
    remain_dims: *const c_int,
    newcomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        expect_place(newcomm)?;
        let grid = grid(&comm)?;
        let dimensions = grid.topology().dimensions() as i64;
        // SAFETY: the caller has one for each dimension there.
        let remain = unsafe { list("dimensions that remain", remain_dims, dimensions) }?;
        let remain: Vec<bool> = remain.iter().map(|&remains| remains != 0).collect();
        let part = grid.sub(&remain)?;
        // SAFETY: the caller has a place there.
        unsafe { put(newcomm, comm.publish(Shape::Cartesian(part))) }
    })
}

/// `MPI_Cartdim_get`
pub(crate) unsafe fn cartdim_get(comm: MPI_Comm, ndims: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let dimensions = grid(&comm)?.topology().dimensions();
        // SAFETY: the caller has a place there.
        unsafe { put(ndims, dimensions as c_int) }
    })
}

/// `MPI_Dims_create`
pub(crate) unsafe fn dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) -> AbiResult {
    let count = dimensions(ndims)? as i64;
    // SAFETY: the caller has so many there.
    let given = unsafe { list("dimensions", dims.cast_const(), count) }?;
    let size = |&size: &c_int| {
        usize::try_from(size).map_err(|_| self::dims(format!("a dimension has the size {size}")))
    };
    let given: Vec<usize> = given.iter().map(size).collect::<AbiResult<_>>()?;
    let nodes = usize::try_from(nnodes).map_err(|_| negative(ErrorClass::Arg, "nnodes", nnodes))?;
    if given.is_empty() {
        return Ok(());
    }
    let sizes = motet::dims_create(nodes, &given).map_err(wrong)?;
    // SAFETY: the caller has room for so many there.
    unsafe { put_all("dimensions", dims, sizes.into_iter().map(|size| size as c_int)) }
}

/// `MPI_Topo_test`
pub(crate) unsafe fn topo_test(comm: MPI_Comm, status: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    let kind = match comm.shape() {
        Shape::Cartesian(_) => MPI_CART,
        Shape::Graph(_) => MPI_GRAPH,
        Shape::Sparse(_) => MPI_DIST_GRAPH,
        Shape::World(_) | Shape::Plain(_) | Shape::Between(_) | Shape::Coming => MPI_UNDEFINED,
    };
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { put(status, kind) })
}
