//! How the ranks of a call end it: each alone, or all together ([`Plan::closed_together`]).

use motet_plan::{Call, Operation, Plan};

use crate::data::kernel::Kernel;

/// How the ranks of a call end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Each rank ends it when it has done its part.
    #[default]
    Alone,
    /// Each rank ends it when it knows that no rank has failed.
    Together,
}

impl Closing {
    /// The number of variants.
    pub(super) const ALL: usize = 2;

    /// How the ranks end a call with this kernel: together if its operator may throw. In a
    /// neighbourhood reduction no rank knows all others, and an operator that throws spoils only
    /// its own result.
    pub(crate) fn of(operation: &Operation, kernel: Option<&dyn Kernel>) -> Closing {
        let is_sparse = matches!(operation, Operation::NeighborReduce { .. });
        match kernel {
            Some(kernel) if kernel.may_throw() && !is_sparse => Closing::Together,
            _ => Closing::Alone,
        }
    }

    /// Extends the plan of a call by the messages that this end needs.
    pub(super) fn of_plan(self, plan: Plan, call: &Call) -> Plan {
        match self {
            Closing::Alone => plan,
            Closing::Together => plan.closed_together(call),
        }
    }
}
