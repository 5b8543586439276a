//! How the ranks of a call end it: see [`Plan::closed_together`].

use motet_plan::{Call, Operation, Plan};

use crate::data::kernel::Kernel;

/// How the ranks of a call end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Each when it has done its part.
    #[default]
    Alone,
    /// When each knows that nothing has failed at any of them.
    Together,
}

impl Closing {
    /// How many there are.
    pub(super) const ALL: usize = 2;

    /// How they end a call with this kernel: together if its operator may throw. Among neighbours
    /// no rank knows all others, and what throws does so for its own result alone.
    pub(crate) fn of(operation: &Operation, kernel: Option<&dyn Kernel>) -> Closing {
        let is_sparse = matches!(operation, Operation::NeighborReduce { .. });
        match kernel {
            Some(kernel) if kernel.may_throw() && !is_sparse => Closing::Together,
            _ => Closing::Alone,
        }
    }

    /// The plan of a call that they end so.
    pub(super) fn of_plan(self, plan: Plan, call: &Call) -> Plan {
        match self {
            Closing::Alone => plan,
            Closing::Together => plan.closed_together(call),
        }
    }
}
