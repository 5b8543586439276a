//! Overlap check of a call: received data must not overlap sent data.
//!
//! A program that passes one buffer for both has meant `MPI_IN_PLACE` or has made a mistake. If
//! both buffers lie in memory as the plan needs them, their bounds are compared: that takes two
//! comparisons, which a replayed call repeats. Non-contiguous data is copied to streams and back,
//! so an overlap has no effect; finding it takes long, and only check mode looks for it.

use super::collective::{Collective, CommRef, Reduction, Root};
use super::data::{TypedBuffer, VectorBuffer, WBuffer};
use super::overlap::{AddressRange, BufferRole, Byte, find, pieces};
use crate::base::error::ErrorKind;
use crate::collective::RankOf;
use crate::data::buffer::RawSlice;
use crate::engine::check::Strictness;
use crate::types::datatype::Datatype;

/// The numbers of blocks that a call sends and receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The caller's rank and the size of its group.
    pub(super) own: RankOf,
    /// Size of the group to which and from which data moves.
    pub(super) peers: usize,
    /// Numbers of neighbours to which and from which data moves.
    pub(super) neighbours: [usize; 2],
    pub(super) is_within: bool,
}

impl Around {
    /// Counts the blocks of a call on a communicator.
    pub(super) fn of(collective: &Collective<'_>, on: CommRef<'_>) -> Around {
        let comm = on.communicator();
        let own = |rank, size| RankOf { rank, size };
        let near = comm.near().ok().filter(|_| collective.is_among_neighbours());
        let neighbours =
            near.map_or([0, 0], |near| [near.destinations().len(), near.sources().len()]);
        match on {
            CommRef::Communicator(comm) => {
                let own = own(comm.rank(), comm.size());
                Around { own, peers: own.size, neighbours, is_within: true }
            }
            CommRef::Intercommunicator(inter) => {
                let (own, peers) = (own(inter.rank(), inter.size()), inter.remote_size());
                Around { own, peers, neighbours, is_within: false }
            }
        }
    }

    /// Counts the blocks of a call among the members of a group.
    pub(super) fn among(own: RankOf) -> Around {
        Around { own, peers: own.size, neighbours: [0, 0], is_within: true }
    }
}

/// The data of one side of a call.
#[derive(Clone, Copy, Debug)]
enum Layout<'a> {
    /// A number of blocks, one after the other.
    Contiguous(TypedBuffer<'a>, usize),
    Blocks(VectorBuffer<'a>),
    Mixed(WBuffer<'a>),
}

impl<'a> Layout<'a> {
    /// Visits the address, count and datatype of each block.
    fn each(&self, mut visit: impl FnMut(i128, u64, &Datatype)) {
        match *self {
            Layout::Contiguous(TypedBuffer { address, count, datatype }, blocks) => {
                let count = count.saturating_mul(blocks) as u64;
                visit(address.addr() as i128, count, datatype);
            }
            Layout::Blocks(VectorBuffer { address, counts, displacements, datatype }) => {
                for (&count, &displacement) in counts.iter().zip(displacements) {
                    let offset = displacement as i128 * i128::from(datatype.extent());
                    visit(address.addr() as i128 + offset, count as u64, datatype);
                }
            }
            Layout::Mixed(WBuffer { address, counts, displacements, datatypes }) => {
                let places = counts.iter().zip(displacements).zip(datatypes);
                for ((&count, &displacement), datatype) in places {
                    visit(address.addr() as i128 + displacement as i128, count as u64, datatype);
                }
            }
        }
    }

    /// Adds one range for each block, from its first byte to its last.
    fn bounds(&self, side: BufferRole, runs: &mut Vec<AddressRange>) {
        self.each(|at, count, datatype| {
            let (low, high) = datatype.layout().reach(count);
            runs.push(AddressRange { start: at + low, end: at + high, side });
        });
    }

    /// Adds all contiguous ranges of all blocks.
    fn pieces(&self, side: BufferRole, runs: &mut Vec<AddressRange>) {
        self.each(|at, count, datatype| runs.extend(pieces(at, count, datatype, side)));
    }

    fn address(&self) -> i128 {
        let address = match self {
            Layout::Contiguous(data, _) => data.address,
            Layout::Blocks(blocks) => blocks.address,
            Layout::Mixed(mixed) => mixed.address,
        };
        address.addr() as i128
    }
}

/// Returns the sides of a call that sends from one buffer and receives into another, limited to the
/// data that this rank accesses. `None` if the call does not have both sides.
fn sides<'a>(collective: &Collective<'a>, around: &Around) -> Option<[Layout<'a>; 2]> {
    use Layout::Contiguous;
    let Around { own: RankOf { rank, size }, peers, neighbours: [to, from], is_within } = *around;
    let is_root = |root: Root| is_within && root == Root::Rank(rank);
    Some(match *collective {
        Collective::Gather { send, receive, root } if is_root(root) => {
            [Contiguous(send?, 1), Contiguous(receive?, peers)]
        }
        Collective::Gatherv { send, receive, root } if is_root(root) => {
            [Contiguous(send?, 1), Layout::Blocks(receive?)]
        }
        Collective::Scatter { send, receive, root } if is_root(root) => {
            [Contiguous(send?, peers), Contiguous(receive?, 1)]
        }
        Collective::Scatterv { send, receive, root } if is_root(root) => {
            [Layout::Blocks(send?), Contiguous(receive?, 1)]
        }
        Collective::Allgather { send, receive } => {
            [Contiguous(send?, 1), Contiguous(receive, peers)]
        }
        Collective::Allgatherv { send, receive } => [Contiguous(send?, 1), Layout::Blocks(receive)],
        Collective::Alltoall { send, receive } => {
            [Contiguous(send?, peers), Contiguous(receive, peers)]
        }
        Collective::NeighborAllgather { send, receive } => {
            [Contiguous(send?, 1), Contiguous(receive, from)]
        }
        Collective::NeighborAlltoall { send, receive } => {
            [Contiguous(send?, to), Contiguous(receive, from)]
        }
        Collective::Exchange { send, receive, to, from } => {
            [Contiguous(send?, to.size()), Contiguous(receive, from.size())]
        }
        Collective::NeighborBcast { send, receive, from, .. } => {
            [Contiguous(send?, 1), Contiguous(receive, from.size())]
        }
        Collective::NeighborAllgatherv { send, receive }
        | Collective::NeighborBcastv { send, receive, .. } => {
            [Contiguous(send?, 1), Layout::Blocks(receive)]
        }
        Collective::Alltoallv { send, receive }
        | Collective::NeighborAlltoallv { send, receive }
        | Collective::Exchangev { send, receive, .. } => {
            [Layout::Blocks(send?), Layout::Blocks(receive)]
        }
        Collective::Alltoallw { send, receive }
        | Collective::NeighborAlltoallw { send, receive }
        | Collective::Exchangew { send, receive, .. } => {
            [Layout::Mixed(send?), Layout::Mixed(receive)]
        }
        Collective::NeighborReducev { send, receive, .. } => {
            [Layout::Blocks(send?), Contiguous(receive, 1)]
        }
        _ => reduced(collective, rank, size, is_root)?,
    })
}

/// Returns the sides of a reduction.
fn reduced<'a>(
    collective: &Collective<'a>,
    rank: usize,
    size: usize,
    is_root: impl Fn(Root) -> bool,
) -> Option<[Layout<'a>; 2]> {
    let Reduction { input, output, count, datatype, .. } = collective.reduction()?;
    let data = |address, count| TypedBuffer { address, count, datatype };
    let (sent, received) = match collective {
        Collective::Reduce { root, .. } if !is_root(*root) => return None,
        Collective::Exscan { .. } if rank == 0 => return None,
        Collective::ReduceScatterBlock { .. } => (count.saturating_mul(size), count),
        Collective::ReduceScatter { counts, .. } => (count, *counts.get(rank)?),
        Collective::NeighborReduce { to, .. } => (count.saturating_mul(to.size()), count),
        _ => (count, count),
    };
    Some([Layout::Contiguous(data(input?, sent), 1), Layout::Contiguous(data(output, received), 1)])
}

/// Checks that received data does not overlap sent data and, in check mode, other received data.
///
/// # Errors
/// The data overlaps.
pub(super) fn check(
    collective: &Collective<'_>,
    around: &Around,
    strictness: Strictness,
) -> Result<(), ErrorKind> {
    let Some([sent, received]) = sides(collective, around) else {
        return check_received(collective, strictness);
    };
    if strictness == Strictness::Strict {
        check_apart(&received)?;
    }
    let both = [(sent, BufferRole::Sent), (received, BufferRole::Received)];
    let Some(Byte(byte)) = shared(&both, BufferRole::Sent) else { return Ok(()) };
    let byte = byte - sent.address();
    let problem = if sent.address() == received.address() {
        "is the send buffer; say in place if it is to be both".into()
    } else {
        format!("overlaps the send buffer at byte {byte} of that; the two must lie apart")
    };
    Err(ErrorKind::Buffer { which: "receive buffer", problem })
}

/// Checks a call in which this rank only receives, or sends from its receive buffer.
fn check_received(collective: &Collective<'_>, strictness: Strictness) -> Result<(), ErrorKind> {
    let received = match *collective {
        _ if strictness == Strictness::Lenient => return Ok(()),
        Collective::Gatherv { receive: Some(receive), .. }
        | Collective::Allgatherv { receive, .. }
        | Collective::Alltoallv { receive, .. } => Layout::Blocks(receive),
        Collective::Alltoallw { receive, .. } => Layout::Mixed(receive),
        _ => return Ok(()),
    };
    check_apart(&received)
}

/// Returns the first received byte that also lies in another range of this side. Computes the
/// ranges only where bounds overlap.
fn shared(placed: &[(Layout<'_>, BufferRole)], other: BufferRole) -> Option<Byte> {
    let mut runs = Vec::new();
    placed.iter().for_each(|(each, side)| each.bounds(*side, &mut runs));
    find(&mut runs, other)?;
    runs.clear();
    placed.iter().for_each(|(each, side)| each.pieces(*side, &mut runs));
    find(&mut runs, other)
}

/// Checks that no byte is received twice.
fn check_apart(received: &Layout<'_>) -> Result<(), ErrorKind> {
    let Some(Byte(byte)) = shared(&[(*received, BufferRole::Received)], BufferRole::Received)
    else {
        return Ok(());
    };
    let byte = byte - received.address();
    let problem = format!(
        "has two parts that overlap at byte {byte}; the parts must lie apart (MPI 5.0 §6.5)"
    );
    Err(ErrorKind::Buffer { which: "receive buffer", problem })
}

/// Returns whether two spans of elements of `element` bytes overlap.
pub(super) fn overlap(one: RawSlice, other: RawSlice, element: usize) -> bool {
    let end = |span: RawSlice| span.start.addr().saturating_add(span.len * element);
    let ends = |span: RawSlice| (span.start.addr(), end(span));
    let ((low, end), (other_low, other_end)) = (ends(one), ends(other));
    low < other_end && other_low < end
}
