//! Translation of collectives that move data.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{
    NOTHING, PARTIAL_OUTPUT, Translated, Translation, not_here, output_direction, root_in,
};
use crate::base::error::ErrorKind;
use crate::collective::untyped::collective::{Collective, Root};
use crate::collective::untyped::data::{TypedBuffer, VectorBuffer, WBuffer};
use crate::collective::untyped::packed_sides::{Stage, Unit};
use crate::collective::{CollectiveArgs, RankOf};
use crate::engine::PackDirection;

/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(collective: &Collective<'_>, place: RankOf) -> Translated {
    // SAFETY (for all calls below): passed on.
    match *collective {
        Collective::Barrier => {
            Translation::moving(Ok(CollectiveArgs::barrier()), Stage::new(Unit::BYTE))
        }
        // SAFETY: see above.
        Collective::Bcast { data, root } => unsafe { bcast(place, data, root) },
        // SAFETY: see above.
        Collective::Gather { send, receive, root } => unsafe { gather(place, send, receive, root) },
        Collective::Gatherv { send, receive, root } => {
            // SAFETY: see above.
            unsafe { gatherv(place, send, receive, root) }
        }
        Collective::Scatter { send, receive, root } => {
            // SAFETY: see above.
            unsafe { scatter(place, send, receive, root) }
        }
        Collective::Scatterv { send, receive, root } => {
            // SAFETY: see above.
            unsafe { scatterv(place, send, receive, root) }
        }
        // SAFETY: see above.
        Collective::Allgather { send, receive } => unsafe { allgather(place, send, receive) },
        // SAFETY: see above.
        Collective::Allgatherv { send, receive } => unsafe { allgatherv(place, send, receive) },
        // SAFETY: see above.
        Collective::Alltoall { send, receive } => unsafe { alltoall(place, send, receive) },
        // SAFETY: see above.
        Collective::Alltoallv { send, receive } => unsafe { alltoallv(place, send, receive) },
        // SAFETY: see above.
        Collective::Alltoallw { send, receive } => unsafe { alltoallw(place, send, receive) },
        _ => Err(ErrorKind::Internal("a collective was translated as another kind".into())),
    }
}

/// # Safety
/// As [`Translation::of`], here and below.
unsafe fn bcast(place: RankOf, data: TypedBuffer<'_>, root: Root) -> Translated {
    let root = root_in(place, root)?;
    let mut stage = Stage::new(Unit::of([data.datatype]));
    let direction = if root == place.rank { PackDirection::In } else { PackDirection::Out };
    // SAFETY: passed on.
    let output = unsafe { stage.data("buffer", data, 1, direction) }?;
    Translation::moving(CollectiveArgs::bcast(&place, output, root), stage)
}

unsafe fn gather(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: Option<TypedBuffer<'_>>,
    root: Root,
) -> Translated {
    let root = root_in(place, root)?;
    let at_root = root == place.rank;
    let send = if at_root { send } else { Some(not_here("send buffer", send)?) };
    let receive = if at_root { Some(not_here("receive buffer", receive)?) } else { None };
    let used = send.iter().chain(&receive);
    let mut stage = Stage::new(Unit::of(used.map(|data| data.datatype)));
    let input = match send {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("send buffer", data, 1, PackDirection::In) }?),
        None => None,
    };
    let direction = output_direction(send.is_none());
    let output = match receive {
        // SAFETY: passed on.
        Some(data) => unsafe { stage.data("receive buffer", data, place.size, direction) }?,
        None => NOTHING,
    };
    Translation::moving(CollectiveArgs::gather(&place, input, output, root), stage)
}

unsafe fn gatherv(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: Option<VectorBuffer<'_>>,
    root: Root,
) -> Translated {
    let root = root_in(place, root)?;
    let at_root = root == place.rank;
    let send = if at_root { send } else { Some(not_here("send buffer", send)?) };
    let receive = if at_root { Some(not_here("receive buffer", receive)?) } else { None };
    let types = send.iter().map(|data| data.datatype);
    let mut stage = Stage::new(Unit::of(types.chain(receive.iter().map(|to| to.datatype))));
    let input = match send {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("send buffer", data, 1, PackDirection::In) }?),
        None => None,
    };
    let Some(receive) = receive else {
        return Translation::moving(
            CollectiveArgs::gatherv(&place, input, NOTHING, &[], root),
            stage,
        );
    };
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, PARTIAL_OUTPUT) }?;
    let shape = CollectiveArgs::gatherv(&place, input, output.span, &output.blocks, root);
    Translation::moving(shape, stage)
}

unsafe fn scatter(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: Option<TypedBuffer<'_>>,
    root: Root,
) -> Translated {
    let root = root_in(place, root)?;
    let at_root = root == place.rank;
    let send = if at_root { Some(not_here("send buffer", send)?) } else { None };
    let receive = if at_root { receive } else { Some(not_here("receive buffer", receive)?) };
    let used = send.iter().chain(&receive);
    let mut stage = Stage::new(Unit::of(used.map(|data| data.datatype)));
    let input = match send {
        Some(data) => {
            // SAFETY: passed on.
            Some(unsafe { stage.data("send buffer", data, place.size, PackDirection::In) }?)
        }
        None => None,
    };
    let Some(receive) = receive else {
        // In place at the root: the one buffer is its input.
        let shape = CollectiveArgs::scatter(&place, None, input.unwrap_or(NOTHING), root);
        return Translation::moving(shape, stage);
    };
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, 1, PackDirection::Out) }?;
    Translation::moving(CollectiveArgs::scatter(&place, input, output, root), stage)
}

unsafe fn scatterv(
    place: RankOf,
    send: Option<VectorBuffer<'_>>,
    receive: Option<TypedBuffer<'_>>,
    root: Root,
) -> Translated {
    let root = root_in(place, root)?;
    let at_root = root == place.rank;
    let send = if at_root { Some(not_here("send buffer", send)?) } else { None };
    let receive = if at_root { receive } else { Some(not_here("receive buffer", receive)?) };
    let types = receive.iter().map(|data| data.datatype);
    let mut stage = Stage::new(Unit::of(types.chain(send.iter().map(|from| from.datatype))));
    let input = match send {
        // SAFETY: passed on.
        Some(blocks) => Some(unsafe { stage.blocks("send buffer", blocks, PackDirection::In) }?),
        None => None,
    };
    let output = match receive {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("receive buffer", data, 1, PARTIAL_OUTPUT) }?),
        None => None,
    };
    let shape = match (input, output) {
        (Some(input), Some(output)) => {
            CollectiveArgs::scatterv(&place, Some(input.span), output, &input.blocks, root)
        }
        (Some(input), None) => {
            CollectiveArgs::scatterv(&place, None, input.span, &input.blocks, root)
        }
        (None, output) => {
            CollectiveArgs::scatterv(&place, None, output.unwrap_or(NOTHING), &[], root)
        }
    };
    Translation::moving(shape, stage)
}

unsafe fn allgather(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: TypedBuffer<'_>,
) -> Translated {
    let used = send.iter().chain([&receive]);
    let mut stage = Stage::new(Unit::of(used.map(|data| data.datatype)));
    let input = match send {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("send buffer", data, 1, PackDirection::In) }?),
        None => None,
    };
    let (ranks, direction) = (place.size, output_direction(send.is_none()));
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, ranks, direction) }?;
    Translation::moving(CollectiveArgs::allgather(&place, input, output), stage)
}

unsafe fn allgatherv(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: VectorBuffer<'_>,
) -> Translated {
    let types = send.iter().map(|data| data.datatype).chain([receive.datatype]);
    let mut stage = Stage::new(Unit::of(types));
    let input = match send {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("send buffer", data, 1, PackDirection::In) }?),
        None => None,
    };
    // SAFETY: passed on.
    let output =
        unsafe { stage.blocks("receive buffer", receive, output_direction(send.is_none())) }?;
    Translation::moving(
        CollectiveArgs::allgatherv(&place, input, output.span, &output.blocks),
        stage,
    )
}

unsafe fn alltoall(
    place: RankOf,
    send: Option<TypedBuffer<'_>>,
    receive: TypedBuffer<'_>,
) -> Translated {
    let used = send.iter().chain([&receive]);
    let mut stage = Stage::new(Unit::of(used.map(|data| data.datatype)));
    let ranks = place.size;
    let input = match send {
        // SAFETY: passed on.
        Some(data) => Some(unsafe { stage.data("send buffer", data, ranks, PackDirection::In) }?),
        None => None,
    };
    let direction = output_direction(send.is_none());
    // SAFETY: passed on.
    let output = unsafe { stage.data("receive buffer", receive, ranks, direction) }?;
    Translation::moving(CollectiveArgs::alltoall(&place, input, output), stage)
}

unsafe fn alltoallv(
    place: RankOf,
    send: Option<VectorBuffer<'_>>,
    receive: VectorBuffer<'_>,
) -> Translated {
    let used = send.iter().chain([&receive]);
    let mut stage = Stage::new(Unit::of(used.map(|blocks| blocks.datatype)));
    let input = match send {
        // SAFETY: passed on.
        Some(blocks) => Some(unsafe { stage.blocks("send buffer", blocks, PackDirection::In) }?),
        None => None,
    };
    // SAFETY: passed on.
    let output = unsafe { stage.blocks("receive buffer", receive, PARTIAL_OUTPUT) }?;
    exchange(place, stage, input, output)
}

unsafe fn alltoallw(place: RankOf, send: Option<WBuffer<'_>>, receive: WBuffer<'_>) -> Translated {
    let used = send.iter().chain([&receive]);
    let mut stage = Stage::new(Unit::of(used.flat_map(|blocks| blocks.datatypes)));
    let input = match send {
        // SAFETY: passed on.
        Some(blocks) => Some(unsafe { stage.mixed("send buffer", blocks, PackDirection::In) }?),
        None => None,
    };
    // SAFETY: passed on.
    let output = unsafe { stage.mixed("receive buffer", receive, PARTIAL_OUTPUT) }?;
    exchange(place, stage, input, output)
}

/// Makes an exchange with a block to each rank and one from each, at any places.
fn exchange(
    place: RankOf,
    stage: Stage,
    input: Option<crate::collective::untyped::packed_sides::SideBuffers>,
    output: crate::collective::untyped::packed_sides::SideBuffers,
) -> Translated {
    let shape = match &input {
        Some(input) => {
            let (span, to) = (Some(input.span), &input.blocks);
            CollectiveArgs::alltoallv(&place, span, output.span, to, &output.blocks)
        }
        None => {
            CollectiveArgs::alltoallv(&place, None, output.span, &output.blocks, &output.blocks)
        }
    };
    Translation::moving(shape, stage)
}
