//! Whether what a collective receives lies apart from what it sends.
//!
//! A program that passes one buffer for both has meant `MPI_IN_PLACE`, or has made a mistake. Where
//! both lie in memory as the plan needs them, their bounds are compared: that takes two
//! comparisons, and a run that is kept for later calls makes them again. Data with gaps is copied
//! to streams and back, so an overlap does no harm; it takes long to find, and only check mode
//! looks for it.

use super::collective::{Collective, CommRef, Reduction, Root};
use super::data::{TypedBuffer, VectorBuffer, WBuffer};
use super::overlap::{AddressRange, BufferRole, Byte, find, pieces};
use crate::base::error::ErrorKind;
use crate::collective::RankOf;
use crate::data::buffer::RawSlice;
use crate::engine::check::Strictness;
use crate::types::datatype::Datatype;

/// How many blocks a call has for others and from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The rank and the ranks of the own group.
    pub(super) own: RankOf,
    /// Ranks of the group that data goes to and comes from.
    pub(super) peers: usize,
    /// Neighbours that data goes to and comes from.
    pub(super) neighbours: [usize; 2],
    pub(super) is_within: bool,
}

impl Around {
    /// Of a call on a communicator.
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

    /// Of a call among the members of a group.
    pub(super) fn among(own: RankOf) -> Around {
        Around { own, peers: own.size, neighbours: [0, 0], is_within: true }
    }
}

/// The data of one side of a call.
#[derive(Clone, Copy, Debug)]
enum Lying<'a> {
    /// So many blocks, one after the other.
    InARow(TypedBuffer<'a>, usize),
    Blocks(VectorBuffer<'a>),
    Mixed(WBuffer<'a>),
}

impl<'a> Lying<'a> {
    /// Address, count and datatype of each block.
    fn each(&self, mut look: impl FnMut(i128, u64, &Datatype)) {
        match *self {
            Lying::InARow(TypedBuffer { address, count, datatype }, blocks) => {
                let count = count.saturating_mul(blocks) as u64;
                look(address.addr() as i128, count, datatype);
            }
            Lying::Blocks(VectorBuffer { address, counts, displacements, datatype }) => {
                for (&count, &displacement) in counts.iter().zip(displacements) {
                    let offset = displacement as i128 * i128::from(datatype.extent());
                    look(address.addr() as i128 + offset, count as u64, datatype);
                }
            }
            Lying::Mixed(WBuffer { address, counts, displacements, datatypes }) => {
                let places = counts.iter().zip(displacements).zip(datatypes);
                for ((&count, &displacement), datatype) in places {
                    look(address.addr() as i128 + displacement as i128, count as u64, datatype);
                }
            }
        }
    }

    /// One run for each block, from its first byte to its last.
    fn bounds(&self, side: BufferRole, runs: &mut Vec<AddressRange>) {
        self.each(|at, count, datatype| {
            let (low, high) = datatype.layout().reach(count);
            runs.push(AddressRange { start: at + low, end: at + high, side });
        });
    }

    /// All runs of all blocks.
    fn pieces(&self, side: BufferRole, runs: &mut Vec<AddressRange>) {
        self.each(|at, count, datatype| runs.extend(pieces(at, count, datatype, side)));
    }

    fn address(&self) -> i128 {
        let address = match self {
            Lying::InARow(data, _) => data.address,
            Lying::Blocks(blocks) => blocks.address,
            Lying::Mixed(mixed) => mixed.address,
        };
        address.addr() as i128
    }
}

/// What a call sends from one buffer, and receives into another: only what this rank looks at.
/// `None` if there are not both.
fn sides<'a>(collective: &Collective<'a>, around: &Around) -> Option<[Lying<'a>; 2]> {
    use Lying::InARow;
    let Around { own: RankOf { rank, size }, peers, neighbours: [to, from], is_within } = *around;
    let is_root = |root: Root| is_within && root == Root::Rank(rank);
    Some(match *collective {
        Collective::Gather { send, receive, root } if is_root(root) => {
            [InARow(send?, 1), InARow(receive?, peers)]
        }
        Collective::Gatherv { send, receive, root } if is_root(root) => {
            [InARow(send?, 1), Lying::Blocks(receive?)]
        }
        Collective::Scatter { send, receive, root } if is_root(root) => {
            [InARow(send?, peers), InARow(receive?, 1)]
        }
        Collective::Scatterv { send, receive, root } if is_root(root) => {
            [Lying::Blocks(send?), InARow(receive?, 1)]
        }
        Collective::Allgather { send, receive } => [InARow(send?, 1), InARow(receive, peers)],
        Collective::Allgatherv { send, receive } => [InARow(send?, 1), Lying::Blocks(receive)],
        Collective::Alltoall { send, receive } => [InARow(send?, peers), InARow(receive, peers)],
        Collective::NeighborAllgather { send, receive } => {
            [InARow(send?, 1), InARow(receive, from)]
        }
        Collective::NeighborAlltoall { send, receive } => {
            [InARow(send?, to), InARow(receive, from)]
        }
        Collective::Exchange { send, receive, to, from } => {
            [InARow(send?, to.size()), InARow(receive, from.size())]
        }
        Collective::NeighborBcast { send, receive, from, .. } => {
            [InARow(send?, 1), InARow(receive, from.size())]
        }
        Collective::NeighborAllgatherv { send, receive }
        | Collective::NeighborBcastv { send, receive, .. } => {
            [InARow(send?, 1), Lying::Blocks(receive)]
        }
        Collective::Alltoallv { send, receive }
        | Collective::NeighborAlltoallv { send, receive }
        | Collective::Exchangev { send, receive, .. } => {
            [Lying::Blocks(send?), Lying::Blocks(receive)]
        }
        Collective::Alltoallw { send, receive }
        | Collective::NeighborAlltoallw { send, receive }
        | Collective::Exchangew { send, receive, .. } => {
            [Lying::Mixed(send?), Lying::Mixed(receive)]
        }
        Collective::NeighborReducev { send, receive, .. } => {
            [Lying::Blocks(send?), InARow(receive, 1)]
        }
        _ => reduced(collective, rank, size, is_root)?,
    })
}

/// The same of a reduction.
fn reduced<'a>(
    collective: &Collective<'a>,
    rank: usize,
    size: usize,
    is_root: impl Fn(Root) -> bool,
) -> Option<[Lying<'a>; 2]> {
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
    Some([Lying::InARow(data(input?, sent), 1), Lying::InARow(data(output, received), 1)])
}

/// What is received lies apart from what is sent, and in check mode from all else that is received.
///
/// # Errors
/// Where it does not.
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

/// The same of a call of which this rank receives only, or has in place what it sends.
fn check_received(collective: &Collective<'_>, strictness: Strictness) -> Result<(), ErrorKind> {
    let received = match *collective {
        _ if strictness == Strictness::Lenient => return Ok(()),
        Collective::Gatherv { receive: Some(receive), .. }
        | Collective::Allgatherv { receive, .. }
        | Collective::Alltoallv { receive, .. } => Lying::Blocks(receive),
        Collective::Alltoallw { receive, .. } => Lying::Mixed(receive),
        _ => return Ok(()),
    };
    check_apart(&received)
}

/// The first byte that is received, and in another run of this side too. Runs are made only where
/// bounds lie across each other.
fn shared(lying: &[(Lying<'_>, BufferRole)], other: BufferRole) -> Option<Byte> {
    let mut runs = Vec::new();
    lying.iter().for_each(|(each, side)| each.bounds(*side, &mut runs));
    find(&mut runs, other)?;
    runs.clear();
    lying.iter().for_each(|(each, side)| each.pieces(*side, &mut runs));
    find(&mut runs, other)
}

/// No byte is received twice.
fn check_apart(received: &Lying<'_>) -> Result<(), ErrorKind> {
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

/// Whether two spans of elements of so many bytes have a byte in common.
pub(super) fn overlap(one: RawSlice, other: RawSlice, element: usize) -> bool {
    let end = |span: RawSlice| span.start.addr().saturating_add(span.len * element);
    let ends = |span: RawSlice| (span.start.addr(), end(span));
    let ((low, end), (other_low, other_end)) = (ends(one), ends(other));
    low < other_end && other_low < end
}
