//! What a call comes to may be known from one before: its signature.

use super::collective::{Collective, On, Root};
use super::data::{Blocks, Data};
use crate::communicator::{Communicator, Traffic};
use crate::engine::{Known, Lists, Signature};

/// What one side of a call is: data with blocks of one length, or of a length for each.
#[derive(Clone, Copy)]
struct Side<'a> {
    data: Data<'a>,
    lists: Lists<'a>,
}

impl<'a> From<Data<'a>> for Side<'a> {
    #[inline(always)]
    fn from(data: Data<'a>) -> Side<'a> {
        Side { data, lists: None }
    }
}

impl<'a> From<Blocks<'a>> for Side<'a> {
    #[inline(always)]
    fn from(blocks: Blocks<'a>) -> Side<'a> {
        let Blocks { address, counts, displacements, datatype } = blocks;
        let data = Data { address, count: counts.len(), datatype };
        Side { data, lists: Some((counts, displacements)) }
    }
}

type Sides<'a> = [Option<Side<'a>>; 2];

impl<'a> Collective<'a> {
    /// What tells whether it is the same as another call; nothing if that cannot be told.
    #[inline(always)]
    pub(super) fn known(&self, on: On<'_>) -> Option<Known<'a>> {
        let On::Communicator(communicator) = on else { return None };
        if let Some(reduction) = self.reduced() {
            let received = Data {
                address: reduction.output,
                count: reduction.count,
                datatype: reduction.datatype,
            };
            let sent = reduction.input.map(|address| Data { address, ..received });
            let mut known =
                self.known_data(communicator, [sent.map(Side::from), Some(received.into())])?;
            known.signature.operator = Some(reduction.op.as_predefined()?);
            return Some(known);
        }
        self.known_data(communicator, self.moved()?)
    }

    /// What it reduces, where each rank passes the same count.
    #[inline(always)]
    fn reduced(&self) -> Option<super::Reduction<'a>> {
        match *self {
            Collective::Reduce { reduction, .. }
            | Collective::Allreduce { reduction }
            | Collective::ReduceScatterBlock { reduction }
            | Collective::Scan { reduction }
            | Collective::Exscan { reduction } => Some(reduction),
            _ => None,
        }
    }

    /// What it sends and receives, where all of that has one datatype.
    #[inline(always)]
    fn moved(&self) -> Option<Sides<'a>> {
        Some(match *self {
            Collective::Barrier => [None, None],
            Collective::Bcast { data, .. } => [None, Some(data.into())],
            Collective::Gather { send, receive, .. }
            | Collective::Scatter { send, receive, .. } => {
                [send.map(Side::from), receive.map(Side::from)]
            }
            Collective::Gatherv { send, receive, .. } => {
                [send.map(Side::from), receive.map(Side::from)]
            }
            Collective::Scatterv { send, receive, .. } => {
                [send.map(Side::from), receive.map(Side::from)]
            }
            Collective::Allgather { send, receive } | Collective::Alltoall { send, receive } => {
                [send.map(Side::from), Some(receive.into())]
            }
            Collective::Allgatherv { send, receive } => {
                [send.map(Side::from), Some(receive.into())]
            }
            Collective::Alltoallv { send, receive } => [send.map(Side::from), Some(receive.into())],
            _ => return None,
        })
    }

    #[inline(always)]
    fn known_data(&self, on: &Communicator, sides: Sides<'a>) -> Option<Known<'a>> {
        let mut data = [None; 2];
        for (data, side) in data.iter_mut().zip(&sides) {
            if let Some(side) = side {
                *data = Some((side.data.datatype.as_named()?, side.data.count));
            }
        }
        let root: Option<Root> = self.root();
        let signature = Signature {
            context: on.context(Traffic::Collective),
            kind: self.kind(),
            root,
            data,
            operator: None,
            selection: on.selection_again()?,
        };
        let place =
            |side: Option<Side<'_>>| side.map_or(std::ptr::null_mut(), |side| side.data.address);
        let lists = sides.map(|side| side.and_then(|side| side.lists));
        Some(Known { signature, places: sides.map(place), lists })
    }
}
