//! Every collective with its arguments; one value can be called in any of its forms.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::buffers::Around;
use super::data::{TypedBuffer, VectorBuffer, WBuffer};
use super::translate::Translation;
use crate::base::collective_kind::Form;
use crate::base::error::Result;
use crate::base::group::Group;
use crate::collective::intercommunicator::Intercommunicator;
use crate::collective::{Members, PreparedCall};
use crate::comm::communicator::Communicator;
use crate::comm::topology::Topological;
use crate::data::op::Op;
use crate::types::datatype::Datatype;

/// The root of a rooted collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank of the communicator; on an intercommunicator, this rank of the remote group.
    Rank(usize),
    /// The caller is the root, on an intercommunicator. (`MPI_ROOT`)
    ThisRank,
    /// Another rank of the caller's group is the root, on an intercommunicator. (`MPI_PROC_NULL`)
    ProcNull,
}

/// The arguments of a reduction. For a user's operator, an item is one element.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Address of the input; `None` if the input is in the output. (`MPI_IN_PLACE`)
    pub input: Option<*mut u8>,
    /// Address of the output.
    pub output: *mut u8,
    /// Number of items; if each rank receives a block, the number of items of one block.
    pub count: usize,
    /// Datatype of an item.
    pub datatype: &'a Datatype,
    /// Operator that combines two items.
    pub op: &'a Op,
}

/// A collective with its arguments. Buffers that can be in place are options, and `None` means
/// `MPI_IN_PLACE` (or no buffer, at ranks where the standard ignores it).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the standard's arguments")]
pub enum Collective<'a> {
    /// `MPI_Barrier`
    Barrier,
    /// `MPI_Bcast`
    Bcast { data: TypedBuffer<'a>, root: Root },
    /// `MPI_Gather`; the count of `receive` is that of one rank.
    Gather { send: Option<TypedBuffer<'a>>, receive: Option<TypedBuffer<'a>>, root: Root },
    /// `MPI_Gatherv`
    Gatherv { send: Option<TypedBuffer<'a>>, receive: Option<VectorBuffer<'a>>, root: Root },
    /// `MPI_Scatter`; the count of `send` is that of one rank.
    Scatter { send: Option<TypedBuffer<'a>>, receive: Option<TypedBuffer<'a>>, root: Root },
    /// `MPI_Scatterv`
    Scatterv { send: Option<VectorBuffer<'a>>, receive: Option<TypedBuffer<'a>>, root: Root },
    /// `MPI_Allgather`; the count of `receive` is that of one rank.
    Allgather { send: Option<TypedBuffer<'a>>, receive: TypedBuffer<'a> },
    /// `MPI_Allgatherv`
    Allgatherv { send: Option<TypedBuffer<'a>>, receive: VectorBuffer<'a> },
    /// `MPI_Alltoall`; the counts are those of one rank.
    Alltoall { send: Option<TypedBuffer<'a>>, receive: TypedBuffer<'a> },
    /// `MPI_Alltoallv`
    Alltoallv { send: Option<VectorBuffer<'a>>, receive: VectorBuffer<'a> },
    /// `MPI_Alltoallw`
    Alltoallw { send: Option<WBuffer<'a>>, receive: WBuffer<'a> },
    /// `MPI_Reduce`
    Reduce { reduction: Reduction<'a>, root: Root },
    /// `MPI_Allreduce`
    Allreduce { reduction: Reduction<'a> },
    /// `MPI_Reduce_scatter_block`
    ReduceScatterBlock { reduction: Reduction<'a> },
    /// `MPI_Reduce_scatter`; the count of the reduction is ignored.
    ReduceScatter { reduction: Reduction<'a>, counts: &'a [usize] },
    /// `MPI_Scan`
    Scan { reduction: Reduction<'a> },
    /// `MPI_Exscan`
    Exscan { reduction: Reduction<'a> },
    /// `MPI_Neighbor_allgather`; the count of `receive` is that of one neighbour.
    NeighborAllgather { send: Option<TypedBuffer<'a>>, receive: TypedBuffer<'a> },
    /// `MPI_Neighbor_allgatherv`
    NeighborAllgatherv { send: Option<TypedBuffer<'a>>, receive: VectorBuffer<'a> },
    /// `MPI_Neighbor_alltoall`; the counts are those of one neighbour.
    NeighborAlltoall { send: Option<TypedBuffer<'a>>, receive: TypedBuffer<'a> },
    /// `MPI_Neighbor_alltoallv`
    NeighborAlltoallv { send: Option<VectorBuffer<'a>>, receive: VectorBuffer<'a> },
    /// `MPI_Neighbor_alltoallw`
    NeighborAlltoallw { send: Option<WBuffer<'a>>, receive: WBuffer<'a> },
    /// `Exchange` of the 2008 proposal, like all variants below: to the members of one group and
    /// from the members of another, in group order; the counts are those of one neighbour.
    Exchange {
        send: Option<TypedBuffer<'a>>,
        receive: TypedBuffer<'a>,
        to: &'a Group,
        from: &'a Group,
    },
    /// `Exchangev`
    Exchangev {
        send: Option<VectorBuffer<'a>>,
        receive: VectorBuffer<'a>,
        to: &'a Group,
        from: &'a Group,
    },
    /// An `Exchangev` with a datatype for each block. Received blocks must not overlap sent blocks
    /// or each other; they may lie between sent blocks.
    Exchangew { send: Option<WBuffer<'a>>, receive: WBuffer<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_bcast`; the count of `receive` is that of one neighbour.
    NeighborBcast {
        send: Option<TypedBuffer<'a>>,
        receive: TypedBuffer<'a>,
        to: &'a Group,
        from: &'a Group,
    },
    /// `Neighbor_bcastv`
    NeighborBcastv {
        send: Option<TypedBuffer<'a>>,
        receive: VectorBuffer<'a>,
        to: &'a Group,
        from: &'a Group,
    },
    /// `Neighbor_reduce`; the count is that of one destination, and of the result.
    NeighborReduce { reduction: Reduction<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_reducev`; sent and received items have one type signature.
    NeighborReducev {
        send: Option<VectorBuffer<'a>>,
        receive: TypedBuffer<'a>,
        op: &'a Op,
        to: &'a Group,
        from: &'a Group,
    },
    /// A `Neighbor_reduce` that sends one block to all destinations.
    NeighborAllreduce { reduction: Reduction<'a>, to: &'a Group, from: &'a Group },
}

/// The communicator or intercommunicator on which a collective is called.
#[derive(Clone, Copy, Debug)]
pub enum CommRef<'a> {
    /// A communicator; for a neighbourhood collective, one with a topology.
    Communicator(&'a Communicator),
    /// An intercommunicator.
    Intercommunicator(&'a Intercommunicator),
}

impl<'a> From<&'a Communicator> for CommRef<'a> {
    fn from(communicator: &'a Communicator) -> CommRef<'a> {
        CommRef::Communicator(communicator)
    }
}

impl<'a, T> From<&'a Topological<T>> for CommRef<'a> {
    fn from(topological: &'a Topological<T>) -> CommRef<'a> {
        CommRef::Communicator(topological)
    }
}

impl<'a> From<&'a Intercommunicator> for CommRef<'a> {
    fn from(inter: &'a Intercommunicator) -> CommRef<'a> {
        CommRef::Intercommunicator(inter)
    }
}

impl CommRef<'_> {
    /// Returns the communicator that orders the calls.
    pub(crate) fn communicator(&self) -> &Communicator {
        match self {
            CommRef::Communicator(communicator) => communicator,
            CommRef::Intercommunicator(inter) => inter.over_both(),
        }
    }
}

impl Collective<'_> {
    /// # Safety
    /// As [`Collective::init_among`].
    pub(crate) unsafe fn translate_among(&self, members: &Members<'_>) -> Result<PreparedCall> {
        let call = self.call(Form::Persistent);
        // SAFETY: passed on.
        let prepared = unsafe { Translation::among(self, members) };
        let prepared = prepared.map_err(|kind| members.communicator().error(call, kind))?;
        Ok(prepared.named(call))
    }

    /// Translates the call, under the name of one of its forms.
    ///
    /// # Safety
    /// As for the form that is called.
    pub(crate) unsafe fn translate(
        &self,
        call: &'static str,
        on: CommRef<'_>,
    ) -> Result<PreparedCall> {
        let communicator = on.communicator();
        // SAFETY: passed on.
        let translated = unsafe { Translation::of(self, on) };
        let around = || Around::of(self, on);
        let checked = translated.as_ref().map_or(Ok(()), |found| found.check(self, around));
        checked.map_err(|kind| communicator.error(call, kind))?;
        match translated {
            Ok(translation) => Ok(translation.named(call)),
            Err(kind) => Err(communicator.error(call, kind)),
        }
    }
}

impl<'a> Collective<'a> {
    /// Returns whether it is a neighbourhood collective.
    pub(super) fn is_among_neighbours(&self) -> bool {
        matches!(
            self,
            Collective::NeighborAllgather { .. }
                | Collective::NeighborAllgatherv { .. }
                | Collective::NeighborAlltoall { .. }
                | Collective::NeighborAlltoallv { .. }
                | Collective::NeighborAlltoallw { .. }
        )
    }

    /// Returns the groups of destinations and of sources of a sparse collective.
    pub(super) fn groups(&self) -> Option<[&'a Group; 2]> {
        match *self {
            Collective::Exchange { to, from, .. }
            | Collective::Exchangev { to, from, .. }
            | Collective::Exchangew { to, from, .. }
            | Collective::NeighborBcast { to, from, .. }
            | Collective::NeighborBcastv { to, from, .. }
            | Collective::NeighborReduce { to, from, .. }
            | Collective::NeighborReducev { to, from, .. }
            | Collective::NeighborAllreduce { to, from, .. } => Some([to, from]),
            _ => None,
        }
    }

    /// Returns the root, if it is a rooted collective.
    pub(crate) fn root(&self) -> Option<Root> {
        match *self {
            Collective::Bcast { root, .. }
            | Collective::Gather { root, .. }
            | Collective::Gatherv { root, .. }
            | Collective::Scatter { root, .. }
            | Collective::Scatterv { root, .. }
            | Collective::Reduce { root, .. } => Some(root),
            _ => None,
        }
    }

    /// Returns the collective with another root, if it is a rooted one.
    pub(super) fn with_root(mut self, new: Root) -> Collective<'a> {
        if let Collective::Bcast { root, .. }
        | Collective::Gather { root, .. }
        | Collective::Gatherv { root, .. }
        | Collective::Scatter { root, .. }
        | Collective::Scatterv { root, .. }
        | Collective::Reduce { root, .. } = &mut self
        {
            *root = new;
        }
        self
    }

    /// Returns the reduction, if it has one.
    pub(super) fn reduction(&self) -> Option<Reduction<'a>> {
        match *self {
            Collective::Reduce { reduction, .. }
            | Collective::Allreduce { reduction }
            | Collective::ReduceScatterBlock { reduction }
            | Collective::Scan { reduction }
            | Collective::Exscan { reduction }
            | Collective::NeighborReduce { reduction, .. }
            | Collective::NeighborAllreduce { reduction, .. } => Some(reduction),
            // Its own count is not looked at.
            Collective::ReduceScatter { reduction, counts } => {
                Some(Reduction { count: counts.iter().sum(), ..reduction })
            }
            _ => None,
        }
    }
}
