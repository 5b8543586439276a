//! The collectives among neighbours: an exchange over the edges of a topology.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_plan::Block;

use super::{NOTHING, Translated, Translation, not_here};
use crate::buffer::Span;
use crate::collective::Shape;
use crate::communicator::Communicator;
use crate::engine::Way;
use crate::error::ErrorKind;
use crate::raw::collective::Collective;
use crate::raw::data::{Blocks, Data, Mixed};
use crate::raw::side::{Side, Stage, Unit};
use crate::topology::Neighbourhood;

/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(collective: &Collective<'_>, comm: &Communicator) -> Translated {
    let near = comm.near()?;
    // SAFETY (for all calls below): passed on.
    let (stage, input, output) = match *collective {
        Collective::NeighborAllgather { send, receive } => {
            // SAFETY: see above.
            unsafe { allgather(near, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAllgatherv { send, receive } => {
            // SAFETY: see above.
            unsafe { allgatherv(near, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoall { send, receive } => {
            // SAFETY: see above.
            unsafe { alltoall(near, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoallv { send, receive } => {
            // SAFETY: see above.
            unsafe { alltoallv(near, not_here("send buffer", send)?, receive) }
        }
        Collective::NeighborAlltoallw { send, receive } => {
            // SAFETY: see above.
            unsafe { alltoallw(near, not_here("send buffer", send)?, receive) }
        }
        _ => Err(ErrorKind::Internal("a collective was translated as another kind".into())),
    }?;
    let (to, from) =
        (near.sends(|slot| input.blocks[slot]), near.receives(|slot| output.blocks[slot]));
    let shape = Shape::exchangev(comm, Some(input.span), output.span, &to, &from);
    Translation::moving(shape, stage)
}

type Sides = Result<(Stage, Side, Side), ErrorKind>;

/// What goes out: the block of a neighbour that is not there stays as it is.
fn way_out(near: &Neighbourhood) -> Way {
    if near.sources().contains(&None) { Way::Both } else { Way::Out }
}

/// # Safety
/// As [`Translation::of`], here and below.
unsafe fn allgather(near: &Neighbourhood, send: Data<'_>, receive: Data<'_>) -> Sides {
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, 1, Way::In) }?;
    let sources = near.sources().len();
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, sources, way_out(near)) }?;
    Ok((stage, to_all(input, near), in_line(output, sources)))
}

unsafe fn allgatherv(near: &Neighbourhood, send: Data<'_>, receive: Blocks<'_>) -> Sides {
    one_each("receive counts", receive.counts, near.sources())?;
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, 1, Way::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, way_out(near)) }?;
    Ok((stage, to_all(input, near), output))
}

unsafe fn alltoall(near: &Neighbourhood, send: Data<'_>, receive: Data<'_>) -> Sides {
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    let (destinations, sources) = (near.destinations().len(), near.sources().len());
    // SAFETY: passed on.
    let input = unsafe { stage.data("send buffer", send, destinations, Way::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, sources, way_out(near)) }?;
    Ok((stage, in_line(input, destinations), in_line(output, sources)))
}

unsafe fn alltoallv(near: &Neighbourhood, send: Blocks<'_>, receive: Blocks<'_>) -> Sides {
    one_each("send counts", send.counts, near.destinations())?;
    one_each("receive counts", receive.counts, near.sources())?;
    let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
    // SAFETY: passed on.
    let input = unsafe { stage.blocks("send buffer", send, Way::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, way_out(near)) }?;
    Ok((stage, input, output))
}

unsafe fn alltoallw(near: &Neighbourhood, send: Mixed<'_>, receive: Mixed<'_>) -> Sides {
    one_each("send counts", send.counts, near.destinations())?;
    one_each("receive counts", receive.counts, near.sources())?;
    let mut stage = Stage::new(Unit::of(send.datatypes.iter().chain(receive.datatypes)));
    // SAFETY: passed on.
    let input = unsafe { stage.mixed("send buffer", send, Way::In) }?;
    // SAFETY: passed on.
    let output = unsafe { stage.mixed("receive buffer", receive, way_out(near)) }?;
    Ok((stage, input, output))
}

/// The whole to every destination.
fn to_all(span: Span, near: &Neighbourhood) -> Side {
    let block = Block { start: 0, count: span.len };
    Side { span, blocks: vec![block; near.destinations().len()] }
}

/// Blocks of one length, side by side.
fn in_line(span: Span, neighbours: usize) -> Side {
    let count = span.len.checked_div(neighbours).unwrap_or(0);
    let block = |slot: usize| Block { start: slot * count, count };
    let span = if neighbours == 0 { NOTHING } else { span };
    Side { span, blocks: (0..neighbours).map(block).collect() }
}

fn one_each<T>(which: &'static str, counts: &[usize], neighbours: &[T]) -> Result<(), ErrorKind> {
    if counts.len() == neighbours.len() {
        return Ok(());
    }
    let problem = format!("are {}, but there are {} neighbours", counts.len(), neighbours.len());
    Err(ErrorKind::Argument { which, problem })
}
