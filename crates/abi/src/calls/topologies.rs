//! TODO_MODULE

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names
#![allow(unused_variables, unused_imports)]

use std::ffi::{c_char, c_int, c_void};

use motet::ErrorClass;

use crate::count::{CountPlace, Counts};
use crate::fault::{Answer, Fault};
use crate::handle::*;
use crate::objects::MPI_Status;

use super::Form;

fn not_yet<T>() -> Answer<T> {
    Err(Fault::new(ErrorClass::UnsupportedOperation, "not yet"))
}

/// `MPI_Cart_coords`
pub(crate) unsafe fn cart_coords(
    comm: MPI_Comm,
    rank: c_int,
    maxdims: c_int,
    coords: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Cart_create`
pub(crate) unsafe fn cart_create(
    comm_old: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    reorder: c_int,
    comm_cart: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Cart_get`
pub(crate) unsafe fn cart_get(
    comm: MPI_Comm,
    maxdims: c_int,
    dims: *mut c_int,
    periods: *mut c_int,
    coords: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Cart_map`
pub(crate) unsafe fn cart_map(
    comm: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    newrank: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Cart_rank`
pub(crate) unsafe fn cart_rank(comm: MPI_Comm, coords: *const c_int, rank: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Cart_shift`
pub(crate) unsafe fn cart_shift(
    comm: MPI_Comm,
    direction: c_int,
    disp: c_int,
    rank_source: *mut c_int,
    rank_dest: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Cart_sub`
pub(crate) unsafe fn cart_sub(
    comm: MPI_Comm,
    remain_dims: *const c_int,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Cartdim_get`
pub(crate) unsafe fn cartdim_get(comm: MPI_Comm, ndims: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Dims_create`
pub(crate) unsafe fn dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Dist_graph_create`
pub(crate) unsafe fn dist_graph_create(
    comm_old: MPI_Comm,
    n: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    weights: *const c_int,
    info: MPI_Info,
    reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Dist_graph_create_adjacent`
pub(crate) unsafe fn dist_graph_create_adjacent(
    comm_old: MPI_Comm,
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    destinations: *const c_int,
    destweights: *const c_int,
    info: MPI_Info,
    reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Dist_graph_neighbors`
pub(crate) unsafe fn dist_graph_neighbors(
    comm: MPI_Comm,
    maxindegree: c_int,
    sources: *mut c_int,
    sourceweights: *mut c_int,
    maxoutdegree: c_int,
    destinations: *mut c_int,
    destweights: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Dist_graph_neighbors_count`
pub(crate) unsafe fn dist_graph_neighbors_count(
    comm: MPI_Comm,
    indegree: *mut c_int,
    outdegree: *mut c_int,
    weighted: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Graph_create`
pub(crate) unsafe fn graph_create(
    comm_old: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    reorder: c_int,
    comm_graph: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Graph_get`
pub(crate) unsafe fn graph_get(
    comm: MPI_Comm,
    maxindex: c_int,
    maxedges: c_int,
    indx: *mut c_int,
    edges: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Graph_map`
pub(crate) unsafe fn graph_map(
    comm: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    newrank: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Graph_neighbors`
pub(crate) unsafe fn graph_neighbors(
    comm: MPI_Comm,
    rank: c_int,
    maxneighbors: c_int,
    neighbors: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Graph_neighbors_count`
pub(crate) unsafe fn graph_neighbors_count(
    comm: MPI_Comm,
    rank: c_int,
    nneighbors: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Graphdims_get`
pub(crate) unsafe fn graphdims_get(
    comm: MPI_Comm,
    nnodes: *mut c_int,
    nedges: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Topo_test`
pub(crate) unsafe fn topo_test(comm: MPI_Comm, status: *mut c_int) -> Answer {
    not_yet()
}
