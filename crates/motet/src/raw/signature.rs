//! Call signature: builds the replay key of a collective from its arguments.
//!
//! Every call runs this code on data that has just been written. It therefore reads field by field:
//! copying a whole struct soon after its fields were written one by one costs a processor more time
//! than everything else here.

use std::iter::zip;

use crate::collective::untyped::{Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer};
use crate::engine::context::ContextKind;
use crate::engine::{BlockList, CallSignature, FrontEnd, KeyDetails, Lists, ReplayKey};
use crate::types::datatype::Datatype;

/// Number of bits of an operator in a signature.
const OPERATOR_BITS: u32 = 16;
/// Number of bits of each datatype in a signature.
const DATATYPE_BITS: u32 = 15;

/// Returns whether one of the datatypes with these identities is derived.
#[inline(always)]
fn has_derived([sent, received]: [u64; 2]) -> bool {
    sent | received >= Datatype::FIRST_DERIVED
}

/// One side of a call: its address, its length and its datatype.
#[derive(Clone, Copy)]
struct SignatureSide {
    address: *mut u8,
    /// Number of items; number of blocks where each block has its own length.
    count: usize,
    /// Identity of the datatype; 0 if the call has no such side.
    datatype: u64,
}

impl SignatureSide {
    const NONE: SignatureSide =
        SignatureSide { address: std::ptr::null_mut(), count: 0, datatype: 0 };

    #[inline(always)]
    fn new(address: *mut u8, count: usize, datatype: &Datatype) -> SignatureSide {
        SignatureSide { address, count, datatype: datatype.identity() }
    }

    #[inline(always)]
    fn of(data: &TypedBuffer<'_>) -> SignatureSide {
        SignatureSide::new(data.address, data.count, data.datatype)
    }

    #[inline(always)]
    fn of_any(data: &Option<TypedBuffer<'_>>) -> SignatureSide {
        data.as_ref().map_or(SignatureSide::NONE, SignatureSide::of)
    }

    #[inline(always)]
    fn of_blocks(blocks: &VectorBuffer<'_>) -> SignatureSide {
        SignatureSide::new(blocks.address, blocks.counts.len(), blocks.datatype)
    }

    #[inline(always)]
    fn of_any_blocks(blocks: &Option<VectorBuffer<'_>>) -> SignatureSide {
        blocks.as_ref().map_or(SignatureSide::NONE, SignatureSide::of_blocks)
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
        let datatypes = [sent.datatype, received.datatype];
        let by = if has_derived(datatypes) { FrontEnd::Derived } else { FrontEnd::Untyped };
        // All of a predefined datatype; the details of the key hold the identities of others.
        let [of_sent, of_received] = datatypes.map(|identity| identity % (1 << DATATYPE_BITS));
        let types = of_sent << OPERATOR_BITS | of_received << (OPERATOR_BITS + DATATYPE_BITS);
        let own = u64::from(operator) | types;
        let signature = CallSignature {
            context: communicator.context(ContextKind::Collective),
            what: CallSignature::what(by, kind, selection, own),
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
            let received = SignatureSide::new(output, count, datatype);
            let sent =
                input.map_or(SignatureSide::NONE, |address| SignatureSide { address, ..received });
            return Some((sent, received));
        }
        Some(match self {
            Collective::Barrier => (SignatureSide::NONE, SignatureSide::NONE),
            Collective::Bcast { data, .. } => (SignatureSide::NONE, SignatureSide::of(data)),
            Collective::Gather { send, receive, .. }
            | Collective::Scatter { send, receive, .. } => {
                (SignatureSide::of_any(send), SignatureSide::of_any(receive))
            }
            Collective::Gatherv { send, receive, .. } => {
                (SignatureSide::of_any(send), SignatureSide::of_any_blocks(receive))
            }
            Collective::Scatterv { send, receive, .. } => {
                (SignatureSide::of_any_blocks(send), SignatureSide::of_any(receive))
            }
            Collective::Allgather { send, receive } | Collective::Alltoall { send, receive } => {
                (SignatureSide::of_any(send), SignatureSide::of(receive))
            }
            Collective::Allgatherv { send, receive } => {
                (SignatureSide::of_any(send), SignatureSide::of_blocks(receive))
            }
            Collective::Alltoallv { send, receive } => {
                (SignatureSide::of_any_blocks(send), SignatureSide::of_blocks(receive))
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

impl KeyDetails for Collective<'_> {
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

    fn datatypes(&self) -> [u64; 2] {
        let identities =
            |(sent, received): (SignatureSide, SignatureSide)| [sent.datatype, received.datatype];
        self.sides().map(identities).filter(|each| has_derived(*each)).unwrap_or_default()
    }

    fn starts(&self) -> [isize; 2] {
        let of_items = |data: Option<TypedBuffer<'_>>| data.map_or(0, |data| start(data.datatype));
        let of_blocks = |data: Option<VectorBuffer<'_>>| data.map_or(0, |data| first_block(&data));
        match *self {
            Collective::Bcast { data, .. } => [0, of_items(Some(data))],
            Collective::Gather { send, receive, .. }
            | Collective::Scatter { send, receive, .. } => [of_items(send), of_items(receive)],
            Collective::Allgather { send, receive } | Collective::Alltoall { send, receive } => {
                [of_items(send), of_items(Some(receive))]
            }
            Collective::Gatherv { send, receive, .. } => [of_items(send), of_blocks(receive)],
            Collective::Scatterv { send, receive, .. } => [of_blocks(send), of_items(receive)],
            Collective::Allgatherv { send, receive } => [of_items(send), of_blocks(Some(receive))],
            Collective::Alltoallv { send, receive } => [of_blocks(send), of_blocks(Some(receive))],
            _ => [self.reduced().map_or(0, |reduction| start(reduction.datatype)); 2],
        }
    }
}

/// Returns the displacement of the first byte of contiguous items.
fn start(datatype: &Datatype) -> isize {
    datatype.layout().contiguous(1).map_or(0, |piece| piece.at as isize)
}

/// Returns the displacement of the first byte of contiguous blocks.
fn first_block(blocks: &VectorBuffer<'_>) -> isize {
    let (counts, displacements) = blocks.lists();
    let extent = blocks.datatype.extent() as isize;
    let full = zip(counts, displacements).filter(|(count, _)| **count > 0);
    let first = full.map(|(_, displacement)| displacement.wrapping_mul(extent)).min();
    first.unwrap_or(0).wrapping_add(start(blocks.datatype))
}
