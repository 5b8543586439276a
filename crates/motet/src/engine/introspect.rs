//! Reads facts about operations and about the plan cache, for `explain` and reports.

use std::sync::Arc;

use motet_fabric::endpoint::InPlaceCounters;
use motet_fabric::slab::Id;

use super::{CachedPlan, Engine, Execution, Operation, PlanCache, TransportSummary, Work};

impl Engine {
    /// The plan cache.
    pub(crate) fn cache(&mut self) -> &mut PlanCache {
        &mut self.cache
    }

    /// What reductions of this rank have read in place.
    pub(crate) fn in_place_counters(&self) -> InPlaceCounters {
        self.endpoint.in_place_counters()
    }

    /// Takes back an execution that was never bound.
    pub(crate) fn give_back(&mut self, run: Box<Execution>) {
        self.cache.give_back(run);
    }

    /// Records why an operation has its algorithm, where that says more than its plan.
    pub(crate) fn tell_reason(&mut self, id: Id, reason: String) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.rare().reason = Some(reason.into());
        }
    }

    /// The plan of a collective.
    pub(crate) fn planned(&mut self, id: Id) -> Option<Arc<CachedPlan>> {
        match self.operations.get_mut(id) {
            Some(Operation { work: Work::Run(run), .. }) => Some(run.planned().clone()),
            _ => None,
        }
    }

    /// The routes of a collective's messages, and why it has its algorithm, if its plan does not
    /// know.
    pub(crate) fn transport(&mut self, id: Id) -> Option<(TransportSummary, Option<Arc<str>>)> {
        match self.operations.get_mut(id) {
            Some(Operation { work: Work::Run(run), rare, .. }) => {
                Some((run.transport(), rare.as_ref().and_then(|rare| rare.reason.clone())))
            }
            _ => None,
        }
    }
}
