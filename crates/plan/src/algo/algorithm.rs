//! What an algorithm is, and why one refuses a call.

use thiserror::Error;

use crate::build::Builder;
use crate::call::{Call, Collective, NodeMap, Operation, Rank};
use crate::cost::{AggregateWork, Cost, CostParams};
use crate::plan::Plan;

/// A way to carry out one collective.
///
/// [`accepts`](Self::accepts), [`cost`](Self::cost), [`parts`](Self::parts) and
/// [`work`](Self::work) decide which algorithm is taken, and [`longest`](Self::longest) how its
/// steps run; all ranks must decide the same. They may look only at what is equal on all ranks:
/// never at the rank, at `in_place`, or at where a block lies.
pub trait Algorithm: Sync {
    /// The name within the collective.
    fn name(&self) -> &'static str;

    /// The collective it carries out.
    fn collective(&self) -> Collective;

    /// The idea in one line.
    fn summary(&self) -> &'static str;

    /// Whether it can carry out this call.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn accepts(&self, call: &Call) -> Result<(), Refusal>;

    /// The longest chain of work over all ranks, for a call that it accepts.
    fn cost(&self, call: &Call) -> Cost;

    /// Of that, what is within nodes and what is between them, for a call on several nodes. Unless
    /// it says otherwise, any message may be one between nodes.
    fn parts(&self, call: &Call) -> (Cost, Cost) {
        (Cost::default(), self.cost(call))
    }

    /// What all ranks do together, for a call that it accepts: as much as each would if all had the
    /// longest chain, unless it says otherwise.
    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call))
    }

    /// An upper bound, in bytes, on the longest message that any rank sends, if the call describes
    /// all data that is sent. By default all data of the call.
    fn longest(&self, call: &Call) -> usize {
        call.bytes()
    }

    /// Records the steps of the rank of `call`, which the algorithm accepts.
    fn build(&self, call: &Call, builder: &mut Builder<'_>);
}

/// Why an algorithm refuses a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The call is of another collective.
    #[error("it carries out {expected}, not {found}")]
    Collective {
        /// What the algorithm carries out.
        expected: Collective,
        /// What was called.
        found: Collective,
    },
    /// The algorithm reorders the operands, and the operator does not commute.
    #[error("it needs an operator that commutes")]
    NeedsCommutative,
    /// The algorithm pairs ranks by the bits of their numbers.
    #[error("it needs a number of ranks that is a power of two, not {ranks}")]
    NeedsPowerOfTwo {
        /// Ranks in the communicator.
        ranks: u32,
    },
    /// The messages or the memory of the algorithm grow with the number of ranks.
    #[error("it is for at most {most} ranks, not {ranks}")]
    TooManyRanks {
        /// Ranks in the communicator.
        ranks: u32,
        /// The most ranks that it accepts.
        most: u32,
    },
    /// The algorithm distinguishes messages within nodes from messages between nodes.
    #[error("it needs several nodes, and several ranks on one of them")]
    NoNodes,
    /// The algorithm treats the blocks, or the operands, of a node as one.
    #[error("it needs nodes of consecutive ranks")]
    Scattered,
}

/// Refuses operators that do not commute, for algorithms that do not reduce in rank order.
pub(super) fn accepts_commutative(call: &Call) -> Result<(), Refusal> {
    match call.operation.commutative() {
        Some(false) => Err(Refusal::NeedsCommutative),
        _ => Ok(()),
    }
}

impl dyn Algorithm {
    /// The plan of the rank of `call`, for a call that has passed [`Call::check`].
    ///
    /// # Errors
    /// The [`Refusal`] if the algorithm does not accept the call.
    pub fn plan(&self, call: &Call) -> Result<Plan, Refusal> {
        let (expected, found) = (self.collective(), call.collective());
        if expected != found {
            return Err(Refusal::Collective { expected, found });
        }
        self.accepts(call)?;
        let mut builder = Builder::new(call);
        self.build(call, &mut builder);
        Ok(builder.finish(self.name()))
    }

    /// The time in nanoseconds that the model predicts for a call that the algorithm accepts.
    pub fn time(&self, call: &Call, machine: &CostParams) -> f64 {
        if call.nodes.is_one() {
            return machine.time(&self.cost(call), &self.work(call));
        }
        let far = machine.between_nodes();
        if call.nodes.is_apart() && far.is_oversubscribed() {
            // Sending takes the time, not the network.
            return far.time(&self.cost(call), &self.work(call).apart());
        }
        let (within, between) = self.parts(call);
        machine.time_on_nodes(&within, &between)
    }

    /// What a [phase](crate::Phase) of `ranks` ranks costs within `call`.
    pub(super) fn cost_within(&self, call: &Call, ranks: u32, operation: Operation) -> Cost {
        let (rank, element_bytes, nodes) = (Rank(0), call.element_bytes, NodeMap::ONE);
        self.cost(&Call { rank, ranks, element_bytes, in_place: false, nodes, operation })
    }
}

impl std::fmt::Debug for dyn Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.collective(), self.name())
    }
}
