//! Translation of collectives between two groups.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{NOTHING, Translated, Translation, not_here, reductions};
use crate::base::error::ErrorKind;
use crate::collective::intercommunicator::Intercommunicator;
use crate::collective::untyped::collective::Collective;
use crate::collective::untyped::packed_sides::{Stage, Unit};
use crate::collective::{InterBuffers, InterCall, RootRole};
use crate::engine::PackDirection;

/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(
    collective: &Collective<'_>,
    inter: &Intercommunicator,
) -> Translated {
    if let Some(root) = collective.root() {
        return match RootRole::of(inter, root)? {
            RootRole::Idle => Translation::crossing(Ok(InterCall::idle()), Stage::new(Unit::BYTE)),
            // SAFETY: passed on.
            role => unsafe { rooted(collective, inter, role) },
        };
    }
    // SAFETY (for all calls below): passed on.
    match *collective {
        Collective::Barrier => {
            Translation::crossing(Ok(InterCall::barrier(inter)), Stage::new(Unit::BYTE))
        }
        Collective::Allgather { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, 1, PackDirection::In) }?;
            let far = inter.remote_size();
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, far, PackDirection::Out) }?;
            Translation::crossing(InterCall::allgather(inter, input, output), stage)
        }
        Collective::Allgatherv { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, 1, PackDirection::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.blocks("receive buffer", receive, PackDirection::Out) }?;
            let crossing = InterCall::allgatherv(inter, input, output.span, &output.blocks);
            Translation::crossing(crossing, stage)
        }
        // SAFETY: see above.
        _ => unsafe { alltoall(collective, inter) },
    }
}

/// Translates an alltoall: a block to each rank of the remote group, and one from each.
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
            let input = unsafe { stage.data("send buffer", send, far, PackDirection::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, far, PackDirection::Out) }?;
            return Translation::crossing(InterCall::alltoall(inter, input, output), stage);
        }
        Collective::Alltoallv { send, receive } => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype, receive.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.blocks("send buffer", send, PackDirection::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.blocks("receive buffer", receive, PackDirection::Out) }?;
            (stage, input, output)
        }
        Collective::Alltoallw { send, receive } => {
            let send = not_here("send buffer", send)?;
            let types = send.datatypes.iter().chain(receive.datatypes);
            let mut stage = Stage::new(Unit::of(types));
            // SAFETY: see above.
            let input = unsafe { stage.mixed("send buffer", send, PackDirection::In) }?;
            // SAFETY: see above.
            let output = unsafe { stage.mixed("receive buffer", receive, PackDirection::Out) }?;
            (stage, input, output)
        }
        _ => {
            let problem = "is an intercommunicator, where this collective does not exist".into();
            return Err(ErrorKind::Communicator { problem });
        }
    };
    let (to, from) = (&input.blocks, &output.blocks);
    let crossing = InterCall::alltoallv(inter, input.span, output.span, to, from);
    Translation::crossing(crossing, stage)
}

/// # Safety
/// As [`Translation::of`].
unsafe fn rooted(
    collective: &Collective<'_>,
    inter: &Intercommunicator,
    role: RootRole,
) -> Translated {
    let (is_root, far) = (role == RootRole::Root, inter.remote_size());
    // SAFETY (for all calls below): passed on.
    let (crossing, stage) = match *collective {
        Collective::Bcast { data, .. } => {
            let mut stage = Stage::new(Unit::of([data.datatype]));
            let direction = if is_root { PackDirection::In } else { PackDirection::Out };
            // SAFETY: see above.
            let data = unsafe { stage.data("buffer", data, 1, direction) }?;
            (InterCall::bcast(inter, role, data), stage)
        }
        Collective::Gather { receive, .. } if is_root => {
            let receive = not_here("receive buffer", receive)?;
            let mut stage = Stage::new(Unit::of([receive.datatype]));
            // SAFETY: see above.
            let output = unsafe { stage.data("receive buffer", receive, far, PackDirection::Out) }?;
            let sides = InterBuffers { input: NOTHING, output, element_bytes: stage.unit().bytes };
            (InterCall::gather(inter, role, sides), stage)
        }
        Collective::Gatherv { receive, .. } if is_root => {
            let receive = not_here("receive buffer", receive)?;
            let mut stage = Stage::new(Unit::of([receive.datatype]));
            // SAFETY: see above.
            let output = unsafe { stage.blocks("receive buffer", receive, PackDirection::Out) }?;
            let element_bytes = stage.unit().bytes;
            let sides = InterBuffers { input: NOTHING, output: output.span, element_bytes };
            (InterCall::gatherv(inter, role, sides, &output.blocks), stage)
        }
        Collective::Scatter { send, .. } if is_root => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.data("send buffer", send, far, PackDirection::In) }?;
            let sides = InterBuffers { input, output: NOTHING, element_bytes: stage.unit().bytes };
            (InterCall::scatter(inter, role, sides), stage)
        }
        Collective::Scatterv { send, .. } if is_root => {
            let send = not_here("send buffer", send)?;
            let mut stage = Stage::new(Unit::of([send.datatype]));
            // SAFETY: see above.
            let input = unsafe { stage.blocks("send buffer", send, PackDirection::In) }?;
            let element_bytes = stage.unit().bytes;
            let sides = InterBuffers { input: input.span, output: NOTHING, element_bytes };
            (InterCall::scatterv(inter, role, sides, &input.blocks), stage)
        }
        Collective::Reduce { .. } => {
            // SAFETY: see above.
            return unsafe { reductions::to_root(collective, inter, role) };
        }
        // SAFETY: see above.
        _ => return unsafe { far_end(collective, inter, role) },
    };
    Translation::crossing(crossing, stage)
}

/// Converts the block of a rank of the group that is remote from the root: to the root or from it.
///
/// # Safety
/// As [`Translation::of`].
unsafe fn far_end(
    collective: &Collective<'_>,
    inter: &Intercommunicator,
    role: RootRole,
) -> Translated {
    let (which, data, direction) = match *collective {
        Collective::Gather { send, .. } | Collective::Gatherv { send, .. } => {
            ("send buffer", send, PackDirection::In)
        }
        Collective::Scatter { receive, .. } | Collective::Scatterv { receive, .. } => {
            ("receive buffer", receive, PackDirection::Out)
        }
        _ => return Err(ErrorKind::Internal("a collective was translated as another kind".into())),
    };
    let data = not_here(which, data)?;
    let mut stage = Stage::new(Unit::of([data.datatype]));
    // SAFETY: passed on.
    let span = unsafe { stage.data(which, data, 1, direction) }?;
    let sides = InterBuffers { input: span, output: span, element_bytes: stage.unit().bytes };
    let crossing = match *collective {
        Collective::Gather { .. } => InterCall::gather(inter, role, sides),
        Collective::Gatherv { .. } => InterCall::gatherv(inter, role, sides, &[]),
        Collective::Scatter { .. } => InterCall::scatter(inter, role, sides),
        _ => InterCall::scatterv(inter, role, sides, &[]),
    };
    Translation::crossing(crossing, stage)
}
