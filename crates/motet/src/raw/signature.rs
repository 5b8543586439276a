//! Call signature: builds the replay key of a collective from its arguments.
//!
//! Every call runs this code on data that has just been written. It therefore reads field by field:
//! copying a whole struct soon after its fields were written one by one costs a processor more time
//! than everything else here.

use crate::collective::untyped::{Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer};
use crate::engine::context::ContextKind;
use crate::engine::{BlockList, CallSignature, FrontEnd, HasLists, Lists, ReplayKey};
use crate::types::datatype::Datatype;

/// One side of a call: its address, its length and its datatype.
#[derive(Clone, Copy)]
struct SignatureSide {
    address: *mut u8,
    /// Number of items; number of blocks where each block has its own length.
    count: usize,
    /// Number of the datatype; 0 if the call has no such side.
    datatype: u16,
}

impl SignatureSide {
    const NONE: SignatureSide =
        SignatureSide { address: std::ptr::null_mut(), count: 0, datatype: 0 };

    #[inline(always)]
    fn new(address: *mut u8, count: usize, datatype: &Datatype) -> Option<SignatureSide> {
        Some(SignatureSide { address, count, datatype: datatype.as_named()? as u16 })
    }

    #[inline(always)]
    fn of(data: &TypedBuffer<'_>) -> Option<SignatureSide> {
        SignatureSide::new(data.address, data.count, data.datatype)
    }

    #[inline(always)]
    fn of_any(data: &Option<TypedBuffer<'_>>) -> Option<SignatureSide> {
        data.as_ref().map_or(Some(SignatureSide::NONE), SignatureSide::of)
    }

    #[inline(always)]
    fn of_blocks(blocks: &VectorBuffer<'_>) -> Option<SignatureSide> {
        SignatureSide::new(blocks.address, blocks.counts.len(), blocks.datatype)
    }

    #[inline(always)]
    fn of_any_blocks(blocks: &Option<VectorBuffer<'_>>) -> Option<SignatureSide> {
        blocks.as_ref().map_or(Some(SignatureSide::NONE), SignatureSide::of_blocks)
    }
}

impl Root {
    /// Encodes a root as a number.
    #[inline(always)]
    fn number(root: Option<Root>) -> u64 {
        match root {
            None => 0,
            Some(Root::ThisRank) => 1,
            Some(Root::ProcNull) => 2,
            Some(Root::Rank(rank)) => 3 + rank as u64,
        }
    }
}

impl Collective<'_> {
    /// Builds the replay key of the call. `None` if the call cannot be replayed.
    #[inline(always)]
    pub(super) fn known(&self, on: CommRef<'_>) -> Option<ReplayKey<'_>> {
        let CommRef::Communicator(communicator) = on else { return None };
        let operator = match self.reduced() {
            Some(reduction) => reduction.op.as_predefined()? as u16,
            None => 0,
        };
        let (sent, received) = self.sides()?;
        let kind = self.kind();
        let selection = communicator.replay_selection()?;
        let types = u64::from(sent.datatype) << 16 | u64::from(received.datatype) << 32;
        let own = u64::from(operator) | types;
        let signature = CallSignature {
            context: communicator.context(ContextKind::Collective),
            what: CallSignature::what(FrontEnd::Untyped, kind, selection, own),
            root: Root::number(self.root()),
            sent: sent.count,
            received: received.count,
        };
        Some(ReplayKey {
            signature,
            sent: sent.address,
            received: received.address,
            call: Some(self),
        })
    }

    /// Returns the reduction of the call, if each rank passes the same count.
    #[inline(always)]
    fn reduced(&self) -> Option<&Reduction<'_>> {
        match self {
            Collective::Reduce { reduction, .. }
            | Collective::Allreduce { reduction }
            | Collective::ReduceScatterBlock { reduction }
            | Collective::Scan { reduction }
            | Collective::Exscan { reduction } => Some(reduction),
            _ => None,
        }
    }

    /// Returns the send and receive sides, if all blocks of a side have one datatype.
    #[inline(always)]
    fn sides(&self) -> Option<(SignatureSide, SignatureSide)> {
        if let Some(&Reduction { input, output, count, datatype, .. }) = self.reduced() {
            let received = SignatureSide::new(output, count, datatype)?;
            let sent =
                input.map_or(SignatureSide::NONE, |address| SignatureSide { address, ..received });
            return Some((sent, received));
        }
        Some(match self {
            Collective::Barrier => (SignatureSide::NONE, SignatureSide::NONE),
            Collective::Bcast { data, .. } => (SignatureSide::NONE, SignatureSide::of(data)?),
            Collective::Gather { send, receive, .. }
            | Collective::Scatter { send, receive, .. } => {
                (SignatureSide::of_any(send)?, SignatureSide::of_any(receive)?)
            }
            Collective::Gatherv { send, receive, .. } => {
                (SignatureSide::of_any(send)?, SignatureSide::of_any_blocks(receive)?)
            }
            Collective::Scatterv { send, receive, .. } => {
                (SignatureSide::of_any_blocks(send)?, SignatureSide::of_any(receive)?)
            }
            Collective::Allgather { send, receive } | Collective::Alltoall { send, receive } => {
                (SignatureSide::of_any(send)?, SignatureSide::of(receive)?)
            }
            Collective::Allgatherv { send, receive } => {
                (SignatureSide::of_any(send)?, SignatureSide::of_blocks(receive)?)
            }
            Collective::Alltoallv { send, receive } => {
                (SignatureSide::of_any_blocks(send)?, SignatureSide::of_blocks(receive)?)
            }
            _ => return None,
        })
    }
}

/// Returns the counts and displacements of blocks.
fn split<'a>(blocks: &VectorBuffer<'a>) -> BlockList<'a> {
    let (counts, displacements) = blocks.lists();
    BlockList::Split(counts, displacements)
}

impl HasLists for Collective<'_> {
    fn lists(&self) -> [Lists<'_>; 2] {
        match self {
            Collective::Gatherv { receive, .. } => [None, receive.as_ref().map(split)],
            Collective::Scatterv { send, .. } => [send.as_ref().map(split), None],
            Collective::Allgatherv { receive, .. } => [None, Some(split(receive))],
            Collective::Alltoallv { send, receive } => {
                [send.as_ref().map(split), Some(split(receive))]
            }
            _ => [None, None],
        }
    }
}
