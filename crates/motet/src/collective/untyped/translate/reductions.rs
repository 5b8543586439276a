//! Translation of reductions.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_plan::{Block, Neighbour};

use super::{NOTHING, Translated, Translation, not_here, output_direction, root_in};
use crate::base::error::ErrorKind;
use crate::base::group::Group;
use crate::collective::intercommunicator::Intercommunicator;
use crate::collective::untyped::collective::{Collective, Reduction};
use crate::collective::untyped::data::{TypedBuffer, VectorBuffer};
use crate::collective::untyped::packed_sides::{SideBuffers, Stage, Unit};
use crate::collective::{
    CollectiveArgs, InterBuffers, InterCall, RankOf, RootRole, ScanKind, members,
};
use crate::comm::communicator::Communicator;
use crate::data::buffer::RawSlice;
use crate::data::kernel::{Kernel, kernel_for};
use crate::data::op::Op;
use crate::engine::PackDirection;

/// A reduction during its translation.
struct Reducing<'a> {
    reduction: Reduction<'a>,
    stage: Stage,
    kernel: Box<dyn Kernel>,
    commutative: bool,
}

/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn translate(collective: &Collective<'_>, place: RankOf) -> Translated {
    let none = || ErrorKind::Internal("a collective was translated as another kind".into());
    let reduction = collective.reduction().ok_or_else(none)?;
    let in_place = reduction.input.is_none();
    let mut reduction = reduction;
    if matches!(collective, Collective::Exscan { .. }) && place.rank == 0 && !in_place {
        // The first rank gets nothing, so it may pass anything for its output.
        reduction.output = std::ptr::null_mut();
    }
    let mut reducing = Reducing::new(reduction)?;
    let (commutative, ranks) = (reducing.commutative, place.size);
    let shape = match *collective {
        Collective::Reduce { root, .. } => {
            let root = root_in(place, root)?;
            let at_root = root == place.rank;
            if !at_root {
                not_here("send buffer", reduction.input)?;
            }
            // SAFETY (for all calls below): passed on.
            // SAFETY: see above.
            let input = unsafe { reducing.input(reduction.count, 1) }?;
            let output = if at_root {
                // SAFETY: see above.
                unsafe { reducing.output(reduction.count, 1, output_direction(in_place)) }?
            } else {
                NOTHING
            };
            CollectiveArgs::reduce(&place, input, output, root, commutative)
        }
        Collective::ReduceScatterBlock { .. } => {
            // SAFETY: see above.
            let input = unsafe { reducing.input(reduction.count, ranks) }?;
            let copies = if in_place { ranks } else { 1 };
            // SAFETY: see above.
            let output =
                unsafe { reducing.output(reduction.count, copies, output_direction(in_place)) }?;
            CollectiveArgs::reduce_scatter_block(&place, input, output, commutative)
        }
        Collective::ReduceScatter { counts, .. } => {
            // SAFETY: see above.
            let (input, output, counts) = unsafe { reducing.shared_out(counts, place.rank) }?;
            CollectiveArgs::reduce_scatter(&place, input, output, &counts, commutative)
        }
        _ => {
            // SAFETY: see above.
            let input = unsafe { reducing.input(reduction.count, 1) }?;
            let is_exscan = matches!(collective, Collective::Exscan { .. });
            let direction = output_direction(in_place || is_exscan);
            let output = match input {
                Some(input) if is_exscan && place.rank == 0 => {
                    RawSlice { start: reduction.output, len: input.len }
                }
                // SAFETY: see above.
                _ => unsafe { reducing.output(reduction.count, 1, direction) }?,
            };
            match collective {
                Collective::Scan { .. } => {
                    CollectiveArgs::scan(input, output, commutative, ScanKind::This)
                }
                Collective::Exscan { .. } => {
                    CollectiveArgs::scan(input, output, commutative, ScanKind::Before)
                }
                _ => CollectiveArgs::allreduce(input, output, commutative),
            }
        }
    };
    Ok(reducing.finish(shape?))
}

/// Translates a sparse reduction: each rank gets the reduction of the data that the members of one
/// group send to it.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn among_groups(
    collective: &Collective<'_>,
    comm: &Communicator,
    [to, from]: [&Group; 2],
) -> Translated {
    let none = || ErrorKind::Internal("a collective was translated as another kind".into());
    let (to, from) = (members(to, comm)?, members(from, comm)?);
    let copies = match collective {
        Collective::NeighborAllreduce { .. } => to.len().min(1),
        _ => to.len(),
    };
    // Without sources the output stays unchanged, so its old contents are packed, too.
    let direction = if from.is_empty() { PackDirection::Both } else { PackDirection::Out };
    let (reducing, input, output) = match *collective {
        Collective::NeighborReducev { send, receive, op, .. } => {
            let send = not_here("send buffer", send)?;
            if send.counts.len() != to.len() {
                let counts = send.counts.len();
                let problem = format!("are {counts}, but there are {} neighbours", to.len());
                return Err(ErrorKind::Argument { which: "send counts", problem });
            }
            let mut reducing = Reducing::of_blocks(send, receive, op)?;
            // SAFETY (for all calls below): passed on.
            // SAFETY: see above.
            let input = unsafe { reducing.stage.blocks("send buffer", send, PackDirection::In) }?;
            // SAFETY: see above.
            let output = unsafe { reducing.output(receive.count, 1, direction) }?;
            (reducing, input, output)
        }
        _ => {
            let reduction = collective.reduction().ok_or_else(none)?;
            not_here("send buffer", reduction.input)?;
            let mut reducing = Reducing::new(reduction)?;
            // SAFETY: see above.
            let span = unsafe { reducing.input(reduction.count, copies) }?.unwrap_or(NOTHING);
            // SAFETY: see above.
            let output = unsafe { reducing.output(reduction.count, 1, direction) }?;
            let count = output.len;
            let start = |index| if copies < to.len() { 0 } else { index * count };
            let block = |index| Block { start: start(index), count };
            let blocks = (0..to.len()).map(block).collect();
            (reducing, SideBuffers { span, blocks }, output)
        }
    };
    let neighbour = |(&rank, &Block { start, count })| Neighbour { rank, start, count };
    let to = to.iter().zip(&input.blocks).map(neighbour).collect();
    let commutative = reducing.commutative;
    let shape = CollectiveArgs::reduction_of(Some(input.span), output, to, from, commutative);
    Ok(reducing.finish(shape?))
}

/// Translates a reduction between two groups: each group gets the reduction of the data of the
/// other.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn between(collective: &Collective<'_>, inter: &Intercommunicator) -> Translated {
    if collective.root().is_some() {
        // SAFETY: passed on.
        return unsafe { super::between::translate(collective, inter) };
    }
    let none = || ErrorKind::Internal("a collective was translated as another kind".into());
    let reduction = collective.reduction().ok_or_else(none)?;
    not_here("send buffer", reduction.input)?;
    let mut reducing = Reducing::new(reduction)?;
    let (near, commutative) = (inter.size(), reducing.commutative);
    // SAFETY (for all calls below): passed on.
    let crossing = match *collective {
        Collective::Allreduce { .. } => {
            // SAFETY: see above.
            let input = unsafe { reducing.input(reduction.count, 1) }?.unwrap_or(NOTHING);
            // SAFETY: see above.
            let output = unsafe { reducing.output(reduction.count, 1, PackDirection::Out) }?;
            InterCall::allreduce(inter, input, output, commutative)
        }
        Collective::ReduceScatterBlock { .. } => {
            // SAFETY: see above.
            let input = unsafe { reducing.input(reduction.count, near) }?.unwrap_or(NOTHING);
            // SAFETY: see above.
            let output = unsafe { reducing.output(reduction.count, 1, PackDirection::Out) }?;
            InterCall::reduce_scatter_block(inter, input, output, commutative)
        }
        Collective::ReduceScatter { counts, .. } => {
            // SAFETY: see above.
            let (input, output, counts) = unsafe { reducing.shared_out(counts, inter.rank()) }?;
            let input = input.unwrap_or(NOTHING);
            InterCall::reduce_scatter(inter, input, output, &counts, commutative)
        }
        _ => {
            let problem = "is an intercommunicator, where this collective does not exist".into();
            return Err(ErrorKind::Communicator { problem });
        }
    };
    let InterCall { shape, among } = crossing?;
    Ok(Translation { among, ..reducing.finish(shape) })
}

/// Translates a reduction between two groups to a root, which gets the reduction of its remote
/// group.
///
/// # Safety
/// As [`Translation::of`].
pub(super) unsafe fn to_root(
    collective: &Collective<'_>,
    inter: &Intercommunicator,
    role: RootRole,
) -> Translated {
    let none = || ErrorKind::Internal("a collective was translated as another kind".into());
    let reduction = collective.reduction().ok_or_else(none)?;
    let mut reducing = Reducing::new(reduction)?;
    let (mut input, mut output) = (NOTHING, NOTHING);
    if role == RootRole::Root {
        // SAFETY: passed on.
        output = unsafe { reducing.output(reduction.count, 1, PackDirection::Out) }?;
    } else {
        not_here("send buffer", reduction.input)?;
        // SAFETY: passed on.
        input = unsafe { reducing.input(reduction.count, 1) }?.unwrap_or(NOTHING);
    }
    let sides = InterBuffers { input, output, element_bytes: reducing.stage.unit().bytes };
    let InterCall { shape, among } = InterCall::reduce(inter, role, sides, reducing.commutative)?;
    Ok(Translation { among, ..reducing.finish(shape) })
}

impl<'a> Reducing<'a> {
    fn finish(self, shape: CollectiveArgs) -> Translation {
        let Reducing { stage, kernel, reduction, .. } = self;
        let operator = Some(reduction.op.name());
        Translation { shape, stage, kernel: Some(kernel), among: None, operator }
    }

    fn new(reduction: Reduction<'a>) -> Result<Reducing<'a>, ErrorKind> {
        let Reduction { input, output, op, datatype, .. } = reduction;
        let (kernel, unit) = kernel_for(op, datatype)?;
        if input == Some(output) && !output.is_null() && reduction.count > 0 {
            let problem = "is the send buffer; say in place if it is to be both".into();
            return Err(ErrorKind::Buffer { which: "receive buffer", problem });
        }
        let code = Unit::code_of(datatype);
        let unit = Unit { bytes: unit.bytes, alignment: unit.alignment, code };
        let commutative = op.is_commutative();
        Ok(Reducing { reduction, stage: Stage::new(unit), kernel, commutative })
    }

    /// Translates blocks with their own datatypes, which have the type signature of the received
    /// data.
    fn of_blocks(
        send: VectorBuffer<'_>,
        receive: TypedBuffer<'a>,
        op: &'a Op,
    ) -> Result<Reducing<'a>, ErrorKind> {
        let TypedBuffer { address: output, count, datatype } = receive;
        let reduction = Reduction { input: None, output, count, datatype, op };
        let reducing = Reducing::new(reduction)?;
        let (_, unit) = kernel_for(op, send.datatype)?;
        let code = Unit::code_of(send.datatype);
        let unit = Unit { bytes: unit.bytes, alignment: unit.alignment, code };
        if unit != reducing.stage.unit() {
            let problem = "has a datatype of other elements than the receive buffer".into();
            return Err(ErrorKind::Buffer { which: "send buffer", problem });
        }
        Ok(reducing)
    }

    /// # Safety
    /// As [`Translation::of`], here and below.
    unsafe fn input(&mut self, count: usize, copies: usize) -> Result<Option<RawSlice>, ErrorKind> {
        let Some(address) = self.reduction.input else { return Ok(None) };
        let data = TypedBuffer { address, count, datatype: self.reduction.datatype };
        // SAFETY: passed on.
        unsafe { self.stage.data("send buffer", data, copies, PackDirection::In) }.map(Some)
    }

    unsafe fn output(
        &mut self,
        count: usize,
        copies: usize,
        direction: PackDirection,
    ) -> Result<RawSlice, ErrorKind> {
        let Reduction { output: address, datatype, .. } = self.reduction;
        let data = TypedBuffer { address, count, datatype };
        // SAFETY: passed on.
        unsafe { self.stage.data("receive buffer", data, copies, direction) }
    }

    /// Converts input and output of a call in which this rank gets block `own`; counts are in
    /// units.
    unsafe fn shared_out(
        &mut self,
        counts: &[usize],
        own: usize,
    ) -> Result<(Option<RawSlice>, RawSlice, Vec<usize>), ErrorKind> {
        let in_place = self.reduction.input.is_none();
        let (whole, own) = (counts.iter().sum(), counts.get(own).copied().unwrap_or(0));
        // SAFETY: passed on.
        let input = unsafe { self.input(whole, 1) }?;
        let room = if in_place { whole } else { own };
        // SAFETY: passed on.
        let output = unsafe { self.output(room, 1, output_direction(in_place)) }?;
        let units = self.reduction.datatype.size() as usize / self.stage.unit().bytes;
        Ok((input, output, counts.iter().map(|count| count * units).collect()))
    }
}
