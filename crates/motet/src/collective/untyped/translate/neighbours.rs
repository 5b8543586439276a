//! Translation of neighbourhood and sparse collectives: an exchange over the edges of a topology,
//! or over edges that the call names by groups.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_plan::{Block, Rank};

use super::{NOTHING, PARTIAL_OUTPUT, Translated, Translation, not_here};
use crate::base::error::ErrorKind;
use crate::base::group::Group;
use crate::collective::untyped::collective::Collective;
use crate::collective::untyped::data::{TypedBuffer, VectorBuffer, WBuffer};
use crate::collective::untyped::overlap;
use crate::collective::untyped::packed_sides::{SideBuffers, Stage, Unit};
use crate::collective::{CollectiveArgs, members};
use crate::comm::communicator::Communicator;
use crate::comm::topology::{Neighbour, Neighbourhood};
use crate::data::buffer::RawSlice;
use crate::engine::PackDirection;

/// The edges along which the caller sends and receives.
pub(super) enum Edges<'a> {
    /// The edges of a topology.
    Topology(&'a Neighbourhood),
    /// Explicitly listed destinations and sources.
    Named { to: &'a [Rank], from: &'a [Rank] },
}

impl Edges<'_> {
    fn destinations(&self) -> usize {
        match self {
            Edges::Topology(near) => near.destinations().len(),
            Edges::Named { to, .. } => to.len(),
        }
    }

    fn sources(&self) -> usize {
        match self {
            Edges::Topology(near) => near.sources().len(),
            Edges::Named { from, .. } => from.len(),
        }
    }

    fn sends(&self, blocks: &[Block]) -> Vec<Neighbour> {
        match self {
            Edges::Topology(near) => near.sends(|slot| blocks[slot]),
            Edges::Named { to, .. } => beside(to, blocks),
        }
    }

    fn receives(&self, blocks: &[Block]) -> Vec<Neighbour> {
        match self {
            Edges::Topology(near) => near.receives(|slot| blocks[slot]),
            Edges::Named { from, .. } => beside(from, blocks),
        }
    }

    /// Makes the exchange over the edges.
    fn exchange(&self, comm: &Communicator, sides: Sides) -> Translated {
        let (stage, input, output) = sides?;
        let (to, from) = (self.sends(&input.blocks), self.receives(&output.blocks));
        let shape = CollectiveArgs::exchangev(comm, Some(input.span), output.span, &to, &from);
        Translation::moving(shape, stage)
    }
}

/// Pairs ranks with their blocks.
fn beside(ranks: &[Rank], blocks: &[Block]) -> Vec<Neighbour> {
    let neighbour = |(rank, block): (&Rank, &Block)| Neighbour {
        rank: rank.index(),
        start: block.start,
        count: block.count,
    };
    ranks.iter().zip(blocks).map(neighbour).collect()
}

/// Translates a collective over the edges of the topology of a communicator.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(collective: &Collective<'_>, comm: &Communicator) -> Translated {
    let edges = Edges::Topology(comm.near()?);
    // SAFETY: passed on.
    edges.exchange(comm, unsafe { sides(collective, &edges) })
}

/// Translates a collective over the edges to one group and from another.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn among_groups(
    collective: &Collective<'_>,
    comm: &Communicator,
    [to, from]: [&Group; 2],
) -> Translated {
    let (to, from) = (members(to, comm)?, members(from, comm)?);
    let edges = Edges::Named { to: &to, from: &from };
    // SAFETY: passed on.
    edges.exchange(comm, unsafe { sides(collective, &edges) })
}

/// Translates an exchange of typed blocks to some ranks and from others.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn among_ranks(
    [send, receive]: [WBuffer<'_>; 2],
    comm: &Communicator,
    [to, from]: [&[Rank]; 2],
) -> Translated {
    let edges = Edges::Named { to, from };
    overlap::check(&send, &receive)?;
    // SAFETY: passed on.
    edges.exchange(comm, unsafe { alltoallw(&edges, send, receive) })
}

type Sides = Result<(Stage, SideBuffers, SideBuffers), ErrorKind>;

/// Converts the data that moves along the edges.
///
/// # Safety
/// As [`Translation::of`], here and below.
unsafe fn sides(collective: &Collective<'_>, edges: &Edges<'_>) -> Sides {
    // SAFETY (for all calls below): passed on.
    match *collective {
        Collective::NeighborAllgather { send, receive }
        | Collective::NeighborBcast { send, receive, .. } => {
            // SAFETY: see above.
            unsafe { allgather(edges, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAllgatherv { send, receive }
        | Collective::NeighborBcastv { send, receive, .. } => {
            // SAFETY: see above.
            unsafe { allgatherv(edges, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoall { send, receive }
        | Collective::Exchange { send, receive, .. } => {
            // SAFETY: see above.
            unsafe { alltoall(edges, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoallv { send, receive }
        | Collective::Exchangev { send, receive, .. } => {
            // SAFETY: see above.
            unsafe { alltoallv(edges, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoallw { send, receive } => {
            // SAFETY: see above.
            unsafe { alltoallw(edges, not_here("send buffer", send)?, receive) }
        }
        Collective::Exchangew { send, receive, .. } => {
            let send = not_here("send buffer", send)?;
            overlap::check(&send, &receive)?;
            // SAFETY: see above.
            unsafe { alltoallw(edges, send, receive) }
        }
        _ => Err(ErrorKind::Internal("a collective was translated as another kind".into())),
    }
}

unsafe fn allgather(edges: &Edges<'_>, send: TypedBuffer<'_>, receive: TypedBuffer<'_>) -> Sides {
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, 1, PackDirection::In) }?;
    let sources = edges.sources();
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, sources, PARTIAL_OUTPUT) }?;
    Ok((stage, to_all(input, edges), in_line(output, sources)))
}

unsafe fn allgatherv(edges: &Edges<'_>, send: TypedBuffer<'_>, receive: VectorBuffer<'_>) -> Sides {
    one_each("receive counts", receive.counts, edges.sources())?;
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, 1, PackDirection::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, PARTIAL_OUTPUT) }?;
    Ok((stage, to_all(input, edges), output))
}

unsafe fn alltoall(edges: &Edges<'_>, send: TypedBuffer<'_>, receive: TypedBuffer<'_>) -> Sides {
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    let (destinations, sources) = (edges.destinations(), edges.sources());
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, destinations, PackDirection::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, sources, PARTIAL_OUTPUT) }?;
    Ok((stage, in_line(input, destinations), in_line(output, sources)))
}

unsafe fn alltoallv(edges: &Edges<'_>, send: VectorBuffer<'_>, receive: VectorBuffer<'_>) -> Sides {
    one_each("send counts", send.counts, edges.destinations())?;
    one_each("receive counts", receive.counts, edges.sources())?;
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.blocks("send buffer", send, PackDirection::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, PARTIAL_OUTPUT) }?;
    Ok((stage, input, output))
}

unsafe fn alltoallw(edges: &Edges<'_>, send: WBuffer<'_>, receive: WBuffer<'_>) -> Sides {
    one_each("send counts", send.counts, edges.destinations())?;
    one_each("receive counts", receive.counts, edges.sources())?;
    let mut stage = Stage::new(Unit::of(send.datatypes.iter().chain(receive.datatypes)));
    // SAFETY: passed on.
    let input = unsafe { stage.mixed("send buffer", send, PackDirection::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.mixed("receive buffer", receive, PARTIAL_OUTPUT) }?;
    Ok((stage, input, output))
}

/// Makes a block of the whole span for every destination.
fn to_all(span: RawSlice, edges: &Edges<'_>) -> SideBuffers {
    let block = Block { start: 0, count: span.len };
    SideBuffers { span, blocks: vec![block; edges.destinations()] }
}

/// Makes contiguous blocks of one length.
fn in_line(span: RawSlice, neighbours: usize) -> SideBuffers {
    let count = span.len.checked_div(neighbours).unwrap_or(0);
    let block = |slot: usize| Block { start: slot * count, count };
    let span = if neighbours == 0 { NOTHING } else { span };
    SideBuffers { span, blocks: (0..neighbours).map(block).collect() }
}

fn one_each(which: &'static str, counts: &[usize], neighbours: usize) -> Result<(), ErrorKind> {
    if counts.len() == neighbours {
        return Ok(());
    }
    let problem = format!("are {}, but there are {neighbours} neighbours", counts.len());
    Err(ErrorKind::Argument { which, problem })
}
