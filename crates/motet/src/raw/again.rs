//! What a call comes to may be known from one before: its signature.

use super::collective::{Collective, On, Root};
use super::data::Data;
use crate::communicator::{Communicator, Traffic};
use crate::engine::{Known, Signature};

impl Collective<'_> {
    /// What tells whether it is the same as another call; nothing if that cannot be told.
    #[inline(always)]
    pub(super) fn known(&self, on: On<'_>) -> Option<Known> {
        let On::Communicator(communicator) = on else { return None };
        if let Some(reduction) = self.reduced() {
            let received = Data {
                address: reduction.output,
                count: reduction.count,
                datatype: reduction.datatype,
            };
            let sent = reduction.input.map(|address| Data { address, ..received });
            let mut known = self.known_data(communicator, [sent, Some(received)])?;
            known.signature.operator = Some(reduction.op.as_predefined()?);
            return Some(known);
        }
        self.known_data(communicator, self.moved()?)
    }

    /// What it reduces, where each rank passes the same count.
    #[inline(always)]
    fn reduced(&self) -> Option<super::Reduction<'_>> {
        match *self {
            Collective::Reduce { reduction, .. }
            | Collective::Allreduce { reduction }
            | Collective::ReduceScatterBlock { reduction }
            | Collective::Scan { reduction }
            | Collective::Exscan { reduction } => Some(reduction),
            _ => None,
        }
    }

    /// What it sends and receives, where blocks have one length.
    #[inline(always)]
    fn moved(&self) -> Option<[Option<Data<'_>>; 2]> {
        match *self {
            Collective::Barrier => Some([None, None]),
            Collective::Bcast { data, .. } => Some([None, Some(data)]),
            Collective::Gather { send, receive, .. }
            | Collective::Scatter { send, receive, .. } => Some([send, receive]),
            Collective::Allgather { send, receive } | Collective::Alltoall { send, receive } => {
                Some([send, Some(receive)])
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn known_data(&self, on: &Communicator, sides: [Option<Data<'_>>; 2]) -> Option<Known> {
        let mut data = [None; 2];
        for (data, side) in data.iter_mut().zip(&sides) {
            if let Some(side) = side {
                *data = Some((side.datatype.as_named()?, side.count));
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
        let place = |side: Option<Data<'_>>| side.map_or(std::ptr::null_mut(), |side| side.address);
        Some(Known { signature, places: sides.map(place) })
    }
}
