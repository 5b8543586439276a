//! Every collective with its arguments, to be called in any of the three forms.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use super::data::{Blocks, Data, Mixed};
use super::translate::Translation;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::error::Result;
use crate::group::Group;
use crate::info::Info;
use crate::intercommunicator::Intercommunicator;
use crate::op::Op;
use crate::persistent::Persistent;
use crate::request::Request;
use crate::topology::Topological;
use crate::world::World;

/// Who deals out or gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank of the communicator; of an intercommunicator, this rank of the far group.
    Rank(usize),
    /// The caller, on an intercommunicator. (`MPI_ROOT`)
    Here,
    /// Another rank of the caller's group, on an intercommunicator. (`MPI_PROC_NULL`)
    Near,
}

/// What a reduction works on. An item is one element for a user's operator.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// Address of the input; `None` if that is in the output. (`MPI_IN_PLACE`)
    pub input: Option<*mut u8>,
    /// Address of the output.
    pub output: *mut u8,
    /// Number of items; of those that one rank receives, where each receives a block.
    pub count: usize,
    /// What an item is.
    pub datatype: &'a Datatype,
    /// What combines two items.
    pub op: &'a Op,
}

/// A collective with its arguments. Where data can be in place it is an option, and `None` means
/// `MPI_IN_PLACE` (or, at ranks for which the standard says that it is not looked at, nothing).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the standard's arguments")]
pub enum Collective<'a> {
    /// `MPI_Barrier`
    Barrier,
    /// `MPI_Bcast`
    Bcast { data: Data<'a>, root: Root },
    /// `MPI_Gather`; the count of `receive` is that of one rank.
    Gather { send: Option<Data<'a>>, receive: Option<Data<'a>>, root: Root },
    /// `MPI_Gatherv`
    Gatherv { send: Option<Data<'a>>, receive: Option<Blocks<'a>>, root: Root },
    /// `MPI_Scatter`; the count of `send` is that of one rank.
    Scatter { send: Option<Data<'a>>, receive: Option<Data<'a>>, root: Root },
    /// `MPI_Scatterv`
    Scatterv { send: Option<Blocks<'a>>, receive: Option<Data<'a>>, root: Root },
    /// `MPI_Allgather`; the count of `receive` is that of one rank.
    Allgather { send: Option<Data<'a>>, receive: Data<'a> },
    /// `MPI_Allgatherv`
    Allgatherv { send: Option<Data<'a>>, receive: Blocks<'a> },
    /// `MPI_Alltoall`; the counts are those of one rank.
    Alltoall { send: Option<Data<'a>>, receive: Data<'a> },
    /// `MPI_Alltoallv`
    Alltoallv { send: Option<Blocks<'a>>, receive: Blocks<'a> },
    /// `MPI_Alltoallw`
    Alltoallw { send: Option<Mixed<'a>>, receive: Mixed<'a> },
    /// `MPI_Reduce`
    Reduce { reduction: Reduction<'a>, root: Root },
    /// `MPI_Allreduce`
    Allreduce { reduction: Reduction<'a> },
    /// `MPI_Reduce_scatter_block`
    ReduceScatterBlock { reduction: Reduction<'a> },
    /// `MPI_Reduce_scatter`; the count of the reduction is not looked at.
    ReduceScatter { reduction: Reduction<'a>, counts: &'a [usize] },
    /// `MPI_Scan`
    Scan { reduction: Reduction<'a> },
    /// `MPI_Exscan`
    Exscan { reduction: Reduction<'a> },
    /// `MPI_Neighbor_allgather`; the count of `receive` is that of one neighbour.
    NeighborAllgather { send: Option<Data<'a>>, receive: Data<'a> },
    /// `MPI_Neighbor_allgatherv`
    NeighborAllgatherv { send: Option<Data<'a>>, receive: Blocks<'a> },
    /// `MPI_Neighbor_alltoall`; the counts are those of one neighbour.
    NeighborAlltoall { send: Option<Data<'a>>, receive: Data<'a> },
    /// `MPI_Neighbor_alltoallv`
    NeighborAlltoallv { send: Option<Blocks<'a>>, receive: Blocks<'a> },
    /// `MPI_Neighbor_alltoallw`
    NeighborAlltoallw { send: Option<Mixed<'a>>, receive: Mixed<'a> },
    /// `Exchange` of the 2008 proposal, as all that follow: to the members of one group and from
    /// those of another, in their orders; the counts are those of one neighbour.
    Exchange { send: Option<Data<'a>>, receive: Data<'a>, to: &'a Group, from: &'a Group },
    /// `Exchangev`
    Exchangev { send: Option<Blocks<'a>>, receive: Blocks<'a>, to: &'a Group, from: &'a Group },
    /// An `Exchangev` with a datatype for each block. What is received must not overlap what is
    /// sent, nor anything else that is received; it may lie between what is sent.
    Exchangew { send: Option<Mixed<'a>>, receive: Mixed<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_bcast`; the count of `receive` is that of one neighbour.
    NeighborBcast { send: Option<Data<'a>>, receive: Data<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_bcastv`
    NeighborBcastv { send: Option<Data<'a>>, receive: Blocks<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_reduce`; the count is that of one destination, and of the result.
    NeighborReduce { reduction: Reduction<'a>, to: &'a Group, from: &'a Group },
    /// `Neighbor_reducev`; the items sent and those received have one type signature.
    NeighborReducev {
        send: Option<Blocks<'a>>,
        receive: Data<'a>,
        op: &'a Op,
        to: &'a Group,
        from: &'a Group,
    },
    /// A `Neighbor_reduce` that sends one block to all destinations.
    NeighborAllreduce { reduction: Reduction<'a>, to: &'a Group, from: &'a Group },
}

/// On what a collective is called.
#[derive(Clone, Copy, Debug)]
pub enum On<'a> {
    /// A communicator; for the collectives among neighbours, one with a topology.
    Communicator(&'a Communicator),
    /// An intercommunicator.
    Intercommunicator(&'a Intercommunicator),
}

impl<'a> From<&'a Communicator> for On<'a> {
    fn from(communicator: &'a Communicator) -> On<'a> {
        On::Communicator(communicator)
    }
}

impl<'a> From<&'a World> for On<'a> {
    fn from(world: &'a World) -> On<'a> {
        On::Communicator(world)
    }
}

impl<'a, T> From<&'a Topological<T>> for On<'a> {
    fn from(topological: &'a Topological<T>) -> On<'a> {
        On::Communicator(topological)
    }
}

impl<'a> From<&'a Intercommunicator> for On<'a> {
    fn from(inter: &'a Intercommunicator) -> On<'a> {
        On::Intercommunicator(inter)
    }
}

impl On<'_> {
    /// The communicator whose order of calls it is.
    pub(crate) fn communicator(&self) -> &Communicator {
        match self {
            On::Communicator(communicator) => communicator,
            On::Intercommunicator(inter) => inter.over_both(),
        }
    }
}

impl Collective<'_> {
    /// The blocking form.
    ///
    /// # Safety
    /// All data can be read, and what is received can be written; nobody else uses that while
    /// the call takes, nor writes what is sent.
    ///
    /// # Errors
    /// Arguments that the standard does not allow; what went wrong with the operation.
    pub unsafe fn run<'on>(&self, on: impl Into<On<'on>>) -> Result<()> {
        let on = on.into();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(Form::Blocking, on) }?;
        on.communicator().blocking(prepared)
    }

    /// The nonblocking form.
    ///
    /// # Safety
    /// As [`Collective::run`], until the request is complete: whatever becomes of it meanwhile.
    ///
    /// # Errors
    /// Arguments that the standard does not allow.
    pub unsafe fn start<'on>(&self, on: impl Into<On<'on>>) -> Result<Request<()>> {
        let on = on.into();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(Form::Nonblocking, on) }?;
        // SAFETY: there is no buffer; the memory of the data is the caller's promise.
        unsafe { on.communicator().nonblocking((), |()| Ok(prepared)) }
    }

    /// The persistent form. Of hints a reduction knows
    /// [`DETERMINISTIC`](crate::DETERMINISTIC); all ranks give the same.
    ///
    /// # Safety
    /// As [`Collective::run`], in each run from its start until it is complete; in between the
    /// memory stays where it is until the operation is freed.
    ///
    /// # Errors
    /// Arguments that the standard does not allow.
    pub unsafe fn init<'on>(&self, on: impl Into<On<'on>>, info: &Info) -> Result<Persistent<()>> {
        let on = on.into();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(Form::Persistent, on) }?;
        on.communicator().persistent_with((), info, |()| Ok(prepared))
    }

    /// # Safety
    /// As the form says.
    pub(crate) unsafe fn translate(
        &self,
        form: Form,
        on: On<'_>,
    ) -> Result<crate::collective::Prepared> {
        let (communicator, call) = (on.communicator(), self.call(form));
        // SAFETY: passed on.
        let prepared = unsafe { Translation::of(self, on) };
        let prepared = prepared.map_err(|kind| communicator.error(call, kind))?;
        Ok(prepared.named(call))
    }
}

/// The three forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Nonblocking,
    Persistent,
}

macro_rules! call_names {
    ($($variant:ident = $blocking:literal $nonblocking:literal $persistent:literal;)*) => {
        impl Collective<'_> {
            /// The name of the call in a form.
            pub(crate) fn call(&self, form: Form) -> &'static str {
                let names = match self {
                    $(Collective::$variant { .. } => [$blocking, $nonblocking, $persistent],)*
                };
                names[form as usize]
            }
        }
    };
}

call_names! {
    Barrier = "barrier" "ibarrier" "barrier_init";
    Bcast = "bcast" "ibcast" "bcast_init";
    Gather = "gather" "igather" "gather_init";
    Gatherv = "gatherv" "igatherv" "gatherv_init";
    Scatter = "scatter" "iscatter" "scatter_init";
    Scatterv = "scatterv" "iscatterv" "scatterv_init";
    Allgather = "allgather" "iallgather" "allgather_init";
    Allgatherv = "allgatherv" "iallgatherv" "allgatherv_init";
    Alltoall = "alltoall" "ialltoall" "alltoall_init";
    Alltoallv = "alltoallv" "ialltoallv" "alltoallv_init";
    Alltoallw = "alltoallw" "ialltoallw" "alltoallw_init";
    Reduce = "reduce" "ireduce" "reduce_init";
    Allreduce = "allreduce" "iallreduce" "allreduce_init";
    ReduceScatterBlock =
        "reduce_scatter_block" "ireduce_scatter_block" "reduce_scatter_block_init";
    ReduceScatter = "reduce_scatter" "ireduce_scatter" "reduce_scatter_init";
    Scan = "scan" "iscan" "scan_init";
    Exscan = "exscan" "iexscan" "exscan_init";
    NeighborAllgather = "neighbor_allgather" "ineighbor_allgather" "neighbor_allgather_init";
    NeighborAllgatherv = "neighbor_allgatherv" "ineighbor_allgatherv" "neighbor_allgatherv_init";
    NeighborAlltoall = "neighbor_alltoall" "ineighbor_alltoall" "neighbor_alltoall_init";
    NeighborAlltoallv = "neighbor_alltoallv" "ineighbor_alltoallv" "neighbor_alltoallv_init";
    NeighborAlltoallw = "neighbor_alltoallw" "ineighbor_alltoallw" "neighbor_alltoallw_init";
    Exchange = "exchange" "iexchange" "exchange_init";
    Exchangev = "exchangev" "iexchangev" "exchangev_init";
    Exchangew = "exchangew" "iexchangew" "exchangew_init";
    NeighborBcast = "neighbor_bcast" "ineighbor_bcast" "neighbor_bcast_init";
    NeighborBcastv = "neighbor_bcastv" "ineighbor_bcastv" "neighbor_bcastv_init";
    NeighborReduce = "neighbor_reduce" "ineighbor_reduce" "neighbor_reduce_init";
    NeighborReducev = "neighbor_reducev" "ineighbor_reducev" "neighbor_reducev_init";
    NeighborAllreduce = "neighbor_allreduce" "ineighbor_allreduce" "neighbor_allreduce_init";
}

impl<'a> Collective<'a> {
    /// Whether it goes over the edges of a topology.
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

    /// Whom it sends to and whom it receives from, if it names groups for that.
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

    /// Who deals out or gathers.
    pub(super) fn root(&self) -> Option<Root> {
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

    /// What it reduces.
    pub(super) fn reduction(&self) -> Option<Reduction<'a>> {
        match *self {
            Collective::Reduce { reduction, .. }
            | Collective::Allreduce { reduction }
            | Collective::ReduceScatterBlock { reduction }
            | Collective::ReduceScatter { reduction, .. }
            | Collective::Scan { reduction }
            | Collective::Exscan { reduction }
            | Collective::NeighborReduce { reduction, .. }
            | Collective::NeighborAllreduce { reduction, .. } => Some(reduction),
            _ => None,
        }
    }
}
