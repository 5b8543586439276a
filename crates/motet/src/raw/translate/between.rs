//! The collectives between two groups: each moves the data of one group to the other.
//!
//! They run over the union of the groups. Where one rank deals out or gathers, only that rank and
//! the far group take part, in that order, in the plan of one group whose root is in place: its
//! own block, which there is not, would lie just before its buffer, and no plan touches it. The
//! other ranks of the root's group have nothing to do.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_plan::call::Blocks as Known;
use motet_plan::{Block, Operation, Rank};

use super::{NOTHING, Translated, Translation, not_here, reductions};
use crate::buffer::Span;
use crate::collective::{Among, Neighbour, Shape};
use crate::engine::Way;
use crate::error::ErrorKind;
use crate::intercommunicator::Intercommunicator;
use crate::raw::collective::{Collective, Root};
use crate::raw::data::{Blocks, Data};
use crate::raw::side::{Side, Stage, Unit};

/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(
    collective: &Collective<'_>,
    inter: &Intercommunicator,
) -> Translated {
    if let Some(root) = collective.root() {
        return match Role::of(inter, root)? {
            Role::Idle => Ok(idle(inter)),
            // SAFETY: passed on.
            role => unsafe { rooted(collective, inter, role) },
        };
    }
    // SAFETY (for all calls below): passed on.
    match *collective {
        Collective::Barrier => {
            let shape =
                over_union(Operation::InterBarrier { left: inter.left() }, NOTHING, NOTHING);
            Translation::moving(Ok(shape), Stage::new(Unit::BYTE))
        }
        Collective::Allgather { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, 1, Way::In) }?;
            let far = inter.remote_size();
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, far, Way::Out) }?;
            let counts = inter.in_order(input.len, output.len / far);
            let operation = Operation::InterAllgather { left: inter.left(), counts };
            Translation::moving(Ok(over_union(operation, input, output)), stage)
        }
        Collective::Allgatherv { send, receive } => {
            let send = not_here("send buffer", send)?;
            one_each("receive counts", receive.counts.len(), inter.remote_size())?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, 1, Way::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.blocks("receive buffer", receive, Way::Out) }?;
            let (left, own) = (inter.left(), input.len);
            let operation =
                Operation::InterAllgatherv { left, own, blocks: output.blocks.as_slice().into() };
            Translation::moving(Ok(over_union(operation, input, output.span)), stage)
        }
        // SAFETY: see above.
        _ => unsafe { alltoall(collective, inter) },
    }
}

/// A block to each rank of the far group, and one from each.
///
/// # Safety
/// As [`Translation::of`].
unsafe fn alltoall(collective: &Collective<'_>, inter: &Intercommunicator) -> Translated {
    let far = inter.remote_size();
    // SAFETY (for all calls below): passed on.
    let (stage, input, output) = match *collective {
        Collective::Alltoall { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, far, Way::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, far, Way::Out) }?;
            (stage, in_line(input, far), in_line(output, far))
        }
        Collective::Alltoallv { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.blocks("send buffer", send, Way::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.blocks("receive buffer", receive, Way::Out) }?;
            (stage, input, output)
        }
        Collective::Alltoallw { send, receive } => {
            let send = not_here("send buffer", send)?;
            let types = send.datatypes.iter().chain(receive.datatypes);
            let mut stage = Stage::new(Unit::of(types));
            // SAFETY: see above.
            let input = unsafe { stage.mixed("send buffer", send, Way::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.mixed("receive buffer", receive, Way::Out) }?;
            (stage, input, output)
        }
        _ => {
            let problem = "is an intercommunicator, where this collective does not exist".into();
            return Err(ErrorKind::Communicator { problem });
        }
    };
    one_each("send counts", input.blocks.len(), far)?;
    one_each("receive counts", output.blocks.len(), far)?;
    let shape = Shape::exchangev(
        inter.over_both(),
        Some(input.span),
        output.span,
        &to_far(inter, &input),
        &to_far(inter, &output),
    );
    Translation::moving(shape, stage)
}

/// The blocks of a side as those of the far ranks in the union.
fn to_far(inter: &Intercommunicator, side: &Side) -> Vec<Neighbour> {
    let first = inter.first_far();
    let blocks = side.blocks.iter().enumerate();
    let neighbour = |(at, block): (usize, &Block)| Neighbour {
        rank: first + at,
        start: block.start,
        count: block.count,
    };
    blocks.map(neighbour).collect()
}

/// What a rank does in a collective with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Root,
    /// In the far group of the root, which has this rank in its own.
    Far(usize),
    /// In the group of the root.
    Idle,
}

impl Role {
    fn of(inter: &Intercommunicator, root: Root) -> Result<Role, ErrorKind> {
        match root {
            Root::Here => Ok(Role::Root),
            Root::Near => Ok(Role::Idle),
            Root::Rank(root) if root < inter.remote_size() => Ok(Role::Far(root)),
            Root::Rank(root) => Err(ErrorKind::Root { root, size: inter.remote_size() }),
        }
    }
}

/// # Safety
/// As [`Translation::of`].
unsafe fn rooted(collective: &Collective<'_>, inter: &Intercommunicator, role: Role) -> Translated {
    let is_root = role == Role::Root;
    // SAFETY (for all calls below): passed on.
    let (shape, stage) = match *collective {
        Collective::Bcast { data, .. } => {
            let mut stage = Stage::new(Unit::of([data.datatype]));
            let way = if is_root { Way::In } else { Way::Out };
            // SAFETY: see above.
            let output = unsafe { stage.data("buffer", data, 1, way) }?;
            let operation = Operation::Bcast { count: output.len, root: FIRST };
            (over_union(operation, NOTHING, output), stage)
        }
        Collective::Gather { receive, .. } if is_root => {
            let receive = not_here("receive buffer", receive)?;
            // SAFETY: see above.
            let (stage, span, count) = unsafe { whole(inter, receive, Way::Out) }?;
            (in_place(Operation::Gather { count, root: FIRST }, NOTHING, span), stage)
        }
        Collective::Scatter { send, .. } if is_root => {
            let send = not_here("send buffer", send)?;
            // SAFETY: see above.
            let (stage, span, count) = unsafe { whole(inter, send, Way::In) }?;
            (in_place(Operation::Scatter { count, root: FIRST }, span, NOTHING), stage)
        }
        Collective::Gatherv { receive, .. } if is_root => {
            let receive = not_here("receive buffer", receive)?;
            // SAFETY: see above.
            let (stage, span, blocks) = unsafe { parts(inter, receive, Way::Out) }?;
            (in_place(Operation::Gatherv { blocks, root: FIRST }, NOTHING, span), stage)
        }
        Collective::Scatterv { send, .. } if is_root => {
            let send = not_here("send buffer", send)?;
            // SAFETY: see above.
            let (stage, span, blocks) = unsafe { parts(inter, send, Way::In) }?;
            (in_place(Operation::Scatterv { blocks, root: FIRST }, span, NOTHING), stage)
        }
        Collective::Gather { send, .. } | Collective::Gatherv { send, .. } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, 1, Way::In) }?;
            let operation = match collective {
                Collective::Gather { .. } => Operation::Gather { count: input.len, root: FIRST },
                _ => Operation::Gatherv { blocks: Known::Own(input.len), root: FIRST },
            };
            (over_union(operation, input, NOTHING), stage)
        }
        Collective::Scatter { receive, .. } | Collective::Scatterv { receive, .. } => {
            let receive = not_here("receive buffer", receive)?;
            let mut stage = Stage::new(Unit::of([receive.datatype]));
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, 1, Way::Out) }?;
            let operation = match collective {
                Collective::Scatter { .. } => Operation::Scatter { count: output.len, root: FIRST },
                _ => Operation::Scatterv { blocks: Known::Own(output.len), root: FIRST },
            };
            (over_union(operation, NOTHING, output), stage)
        }
        // SAFETY: see above.
        _ => return unsafe { reductions::to_root(collective, inter, role) },
    };
    let mut translation = Translation::moving(Ok(shape), stage)?;
    translation.among = Some(root_and_far(inter, role));
    Ok(translation)
}

/// The root in the plans of a root and its far group.
const FIRST: Rank = Rank(0);

/// The root, and then its far group.
fn root_and_far(inter: &Intercommunicator, role: Role) -> Among {
    let me = inter.over_both().core().me();
    let (root, far, rank) = match role {
        Role::Far(root) => (inter.remote_group().peer(root), inter.group(), 1 + inter.rank()),
        Role::Root | Role::Idle => (me, inter.remote_group(), 0),
    };
    Among { rank, peers: [root].into_iter().chain(far.peers().iter().copied()).collect() }
}

/// A call in which there is nothing to do.
fn idle(inter: &Intercommunicator) -> Translation {
    let nobody = || Vec::new().into();
    let operation = Operation::Exchange { count: 0, to: nobody(), from: nobody() };
    let shape = over_union(operation, NOTHING, NOTHING);
    let me = inter.over_both().core().me();
    let among = Some(Among { rank: 0, peers: [me].into() });
    Translation { shape, stage: Stage::new(Unit::BYTE), kernel: None, among, operator: None }
}

/// A block for each rank of the far group, as the blocks that follow a first one, which there is
/// not.
///
/// # Safety
/// As [`Translation::of`].
unsafe fn whole(
    inter: &Intercommunicator,
    data: Data<'_>,
    way: Way,
) -> Result<(Stage, Span, usize), ErrorKind> {
    let mut stage = Stage::new(Unit::of([data.datatype]));
    let far = inter.remote_size();
    // SAFETY: passed on.
    let Span { start, len } = unsafe { stage.data("buffer at the root", data, far, way) }?;
    let count = len / far;
    let start = start.wrapping_sub(count * stage.unit().bytes);
    Ok((stage, Span { start, len: len + count }, count))
}

/// As [`whole`], for blocks of any lengths; the first one has none.
///
/// # Safety
/// As [`Translation::of`].
unsafe fn parts(
    inter: &Intercommunicator,
    blocks: Blocks<'_>,
    way: Way,
) -> Result<(Stage, Span, Known), ErrorKind> {
    one_each("counts", blocks.counts.len(), inter.remote_size())?;
    let mut stage = Stage::new(Unit::of([blocks.datatype]));
    // SAFETY: passed on.
    let Side { span, blocks } = unsafe { stage.blocks("buffer at the root", blocks, way) }?;
    let all = [Block { start: 0, count: 0 }].into_iter().chain(blocks).collect();
    Ok((stage, span, Known::All(all)))
}

pub(super) fn over_union(operation: Operation, input: Span, output: Span) -> Shape {
    Shape { operation, in_place: false, input, output }
}

fn in_place(operation: Operation, input: Span, output: Span) -> Shape {
    Shape { operation, in_place: true, input, output }
}

/// Blocks of one length, side by side.
fn in_line(span: Span, ranks: usize) -> Side {
    let count = span.len / ranks;
    let blocks = (0..ranks).map(|rank| Block { start: rank * count, count }).collect();
    Side { span, blocks }
}

fn one_each(which: &'static str, counts: usize, ranks: usize) -> Result<(), ErrorKind> {
    if counts == ranks {
        return Ok(());
    }
    let problem = format!("are {counts}, but the remote group has {ranks} ranks");
    Err(ErrorKind::Argument { which, problem })
}
