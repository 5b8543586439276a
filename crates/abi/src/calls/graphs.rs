//! Graph topologies (each rank passes all edges) and distributed graph topologies (each rank passes
//! some of them). (MPI 4.1 §8.5.3, §8.5.4)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{Adjacent, Edge, ErrorClass, GraphCommunicator, IndexedGraphCommunicator};

use super::topologies::{enough, mapped, neighbour, rank, reordering, topology, wrong};
use crate::constants::{MPI_PROC_NULL, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::error::{AbiResult, argument, negative};
use crate::handle::{MPI_Comm, MPI_Info};
use crate::objects::{Comm, Shape, Weights};
use crate::out_params::{expect_place, list, put, put_all};

fn graph(comm: &Comm) -> AbiResult<&IndexedGraphCommunicator> {
    match comm.shape() {
        Shape::Graph(graph) => Ok(graph),
        _ => Err(topology("the communicator has no graph topology")),
    }
}

fn sparse(comm: &Comm) -> AbiResult<&GraphCommunicator> {
    match comm.shape() {
        Shape::Sparse(graph) => Ok(graph),
        _ => Err(topology("the communicator has no distributed graph topology")),
    }
}

/// `MPI_Graph_create`
pub(crate) unsafe fn graph_create(
    comm_old: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    reorder: c_int,
    comm_graph: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm_old.object()?;
    comm.answer(|| {
        expect_place(comm_graph)?;
        // SAFETY: the caller has a graph there.
        let (index, edges) = unsafe { nodes(nnodes, indx, edges) }?;
        let made = comm.intra()?.graph_indexed(&index, &edges, reordering(reorder))?;
        // SAFETY: the caller has a place there.
        unsafe { put(comm_graph, comm.publish_if_any(made.map(Shape::Graph))) }
    })
}

/// The nodes of a graph, by where the edges of each end, and its edges.
unsafe fn nodes(
    nodes: c_int,
    index: *const c_int,
    edges: *const c_int,
) -> AbiResult<(Vec<usize>, Vec<usize>)> {
    // SAFETY: the caller has so many there.
    let index = unsafe { list("nodes", index, nodes.into()) }?;
    if let Some(wrong) = index.windows(2).find(|pair| pair[1] < pair[0]) {
        return Err(argument(format!("the index decreases from {} to {}", wrong[0], wrong[1])));
    }
    if let Some(first) = index.first().filter(|&&first| first < 0) {
        return Err(negative(ErrorClass::Arg, "the first index", *first));
    }
    let count = index.last().copied().unwrap_or_default();
    // SAFETY: the caller has so many there.
    let edges = unsafe { list("edges", edges, count.into()) }?;
    let index = index.iter().map(|&end| end as usize).collect();
    Ok((index, edges.iter().map(|&edge| rank(edge)).collect::<AbiResult<_>>()?))
}

/// `MPI_Graph_get`
pub(crate) unsafe fn graph_get(
    comm: MPI_Comm,
    maxindex: c_int,
    maxedges: c_int,
    indx: *mut c_int,
    edges: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = graph(&comm)?.topology();
        enough("nodes", maxindex, graph.nodes())?;
        enough("edges", maxedges, graph.edges().len())?;
        // SAFETY: the caller has room for so many there.
        unsafe { put_all("nodes", indx, graph.index().iter().map(|&end| end as c_int)) }?;
        // SAFETY: as above.
        unsafe { put_all("edges", edges, graph.edges().iter().map(|&edge| edge as c_int)) }
    })
}

/// `MPI_Graph_map`
pub(crate) unsafe fn graph_map(
    comm: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    newrank: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller has a graph there.
        let (index, edges) = unsafe { nodes(nnodes, indx, edges) }?;
        let rank = comm.intra()?.graph_map(&index, &edges)?;
        // SAFETY: the caller has a place there.
        unsafe { put(newrank, mapped(rank)) }
    })
}

/// `MPI_Graph_neighbors`
pub(crate) unsafe fn graph_neighbors(
    comm: MPI_Comm,
    rank: c_int,
    maxneighbors: c_int,
    neighbors: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = graph(&comm)?.topology();
        let near = graph.neighbours(self::rank(rank)?).map_err(wrong)?;
        enough("neighbours", maxneighbors, near.len())?;
        // SAFETY: the caller has room for so many there.
        unsafe { put_all("neighbours", neighbors, near.iter().map(|&rank| rank as c_int)) }
    })
}

/// `MPI_Graph_neighbors_count`
pub(crate) unsafe fn graph_neighbors_count(
    comm: MPI_Comm,
    rank: c_int,
    nneighbors: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = graph(&comm)?.topology();
        let near = graph.neighbours(self::rank(rank)?).map_err(wrong)?;
        // SAFETY: the caller has a place there.
        unsafe { put(nneighbors, near.len() as c_int) }
    })
}

/// `MPI_Graphdims_get`
pub(crate) unsafe fn graphdims_get(
    comm: MPI_Comm,
    nnodes: *mut c_int,
    nedges: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = graph(&comm)?.topology();
        // SAFETY: the caller has a place there.
        unsafe { put(nnodes, graph.nodes() as c_int) }?;
        // SAFETY: as above.
        unsafe { put(nedges, graph.edges().len() as c_int) }
    })
}

/// The weights of so many edges; none if the graph has none.
unsafe fn weights(weights: *const c_int, edges: i64) -> AbiResult<Option<Vec<u32>>> {
    if weights.addr() == MPI_UNWEIGHTED {
        return Ok(None);
    }
    if weights.addr() == MPI_WEIGHTS_EMPTY && edges > 0 {
        return Err(argument(format!("MPI_WEIGHTS_EMPTY was passed for {edges} edges")));
    }
    // SAFETY: the caller has so many there.
    let weights = unsafe { list("weights", weights, edges) }?;
    let weight = |&weight: &c_int| {
        u32::try_from(weight).map_err(|_| argument(format!("an edge has the weight {weight}")))
    };
    weights.iter().map(weight).collect::<AbiResult<_>>().map(Some)
}

/// Whether a graph has weights that is made with these.
fn weighted<T>(weights: &Option<T>) -> Weights {
    if weights.is_some() { Weights::Given } else { Weights::None }
}

/// The neighbours that the caller lists, with their weights if the graph has any.
unsafe fn adjacent(
    ranks: *const c_int,
    degree: c_int,
    weights: Option<&[u32]>,
) -> AbiResult<Vec<Adjacent>> {
    // SAFETY: the caller has so many there.
    let ranks = unsafe { list("neighbours", ranks, degree.into()) }?;
    let adjacent = |(place, &named): (usize, &c_int)| {
        let rank = if named == MPI_PROC_NULL { None } else { Some(rank(named)?) };
        Ok(Adjacent { rank, weight: weights.map(|weights| weights[place]) })
    };
    ranks.iter().enumerate().map(adjacent).collect()
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
    _reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm_old.object()?;
    comm.answer(|| {
        expect_place(comm_dist_graph)?;
        let (parent, hints) = (comm.intra()?, info.hints()?);
        // SAFETY: the caller has so many there.
        let from = unsafe { weights(sourceweights, indegree.into()) }?;
        // SAFETY: as above.
        let to = unsafe { weights(destweights, outdegree.into()) }?;
        let is_weighted = weighted(&from.as_ref().and(to.as_ref()));
        // SAFETY: as above.
        let from = unsafe { adjacent(sources, indegree, from.as_deref()) }?;
        // SAFETY: as above.
        let to = unsafe { adjacent(destinations, outdegree, to.as_deref()) }?;
        let made = Shape::Sparse(parent.graph_adjacent(from, to)?);
        made.set_info(&hints);
        // SAFETY: the caller has a place there.
        unsafe { put(comm_dist_graph, comm.publish_weighted(made, is_weighted)) }
    })
}

/// The edges that the caller lists, by the ranks at which they begin.
unsafe fn edges(
    sources: &[c_int],
    degrees: &[c_int],
    destinations: *const c_int,
    weights: *const c_int,
) -> AbiResult<(Vec<Edge>, Weights)> {
    if let Some(degree) = degrees.iter().find(|&&degree| degree < 0) {
        return Err(negative(ErrorClass::Arg, "a degree", *degree));
    }
    let count = degrees.iter().map(|&degree| i64::from(degree)).sum();
    // SAFETY: the caller has so many there.
    let destinations = unsafe { list("destinations", destinations, count) }?;
    // SAFETY: as above.
    let weights = unsafe { self::weights(weights, count) }?;
    let origins = sources.iter().zip(degrees);
    let origins = origins.flat_map(|(&from, &degree)| std::iter::repeat_n(from, degree as usize));
    let edge = |(place, (from, &to)): (usize, (c_int, &c_int))| {
        let weight = weights.as_ref().map(|weights| weights[place]);
        Ok(Edge { from: rank(from)?, to: rank(to)?, weight })
    };
    let edges = origins.zip(destinations).enumerate().map(edge).collect::<AbiResult<_>>()?;
    Ok((edges, weighted(&weights)))
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
    _reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> AbiResult {
    let comm = comm_old.object()?;
    comm.answer(|| {
        expect_place(comm_dist_graph)?;
        let (parent, hints) = (comm.intra()?, info.hints()?);
        // SAFETY: the caller has so many there.
        let sources = unsafe { list("sources", sources, n.into()) }?;
        // SAFETY: as above.
        let degrees = unsafe { list("degrees", degrees, n.into()) }?;
        // SAFETY: the caller has as many as there are edges.
        let (edges, weights) = unsafe { edges(sources, degrees, destinations, weights) }?;
        let made = Shape::Sparse(parent.graph(edges)?);
        made.set_info(&hints);
        // SAFETY: the caller has a place there.
        unsafe { put(comm_dist_graph, comm.publish_weighted(made, weights)) }
    })
}

/// `MPI_Dist_graph_neighbors`: as many of them as the caller has room for.
pub(crate) unsafe fn dist_graph_neighbors(
    comm: MPI_Comm,
    maxindegree: c_int,
    sources: *mut c_int,
    sourceweights: *mut c_int,
    maxoutdegree: c_int,
    destinations: *mut c_int,
    destweights: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = sparse(&comm)?.topology();
        // SAFETY: the caller has room for so many there.
        unsafe { tell(graph.sources(), maxindegree, sources, sourceweights) }?;
        // SAFETY: as above.
        unsafe { tell(graph.destinations(), maxoutdegree, destinations, destweights) }
    })
}

/// Tells the caller its neighbours on one side, and their weights if there are any.
unsafe fn tell(
    near: &[Adjacent],
    room: c_int,
    ranks: *mut c_int,
    weights: *mut c_int,
) -> AbiResult {
    let room = usize::try_from(room)
        .map_err(|_| negative(ErrorClass::Arg, "the room for neighbours", room))?;
    let near = &near[..near.len().min(room)];
    // SAFETY: the caller has room for so many there.
    unsafe { put_all("neighbours", ranks, near.iter().map(|edge| neighbour(edge.rank))) }?;
    if [MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY].contains(&weights.addr()) {
        return Ok(());
    }
    let known = near.iter().filter_map(|edge| edge.weight);
    // SAFETY: as above.
    unsafe { put_all("weights", weights, known.map(|weight| weight as c_int)) }
}

/// `MPI_Dist_graph_neighbors_count`
pub(crate) unsafe fn dist_graph_neighbors_count(
    comm: MPI_Comm,
    indegree: *mut c_int,
    outdegree: *mut c_int,
    weighted: *mut c_int,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let graph = sparse(&comm)?.topology();
        // SAFETY: the caller has a place there.
        unsafe { put(indegree, graph.sources().len() as c_int) }?;
        // SAFETY: as above.
        unsafe { put(outdegree, graph.destinations().len() as c_int) }?;
        // SAFETY: as above.
        unsafe { put(weighted, c_int::from(comm.weights == Weights::Given)) }
    })
}
