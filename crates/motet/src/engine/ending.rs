//! The end of a rank: what becomes of its operations.

use motet_fabric::slab::Id;
use motet_fabric::{Failure, How};

use super::{Engine, State, Work};

impl Engine {
    /// Ends the receives that are still under way: whoever asked for them is gone.
    pub(crate) fn abandon_receives(&mut self) {
        let receives = self.operations.iter().filter(|(_, operation)| {
            matches!(operation.work, Work::Receive) && operation.state == State::Active
        });
        let receives: Vec<Id> = receives.map(|(id, _)| id).collect();
        receives.into_iter().for_each(|id| self.abandon(id));
    }

    /// The rank dies: everybody is told, and on return nobody uses memory of its operations.
    #[cold]
    pub(crate) fn die(&mut self) {
        let failure = Failure { rank: self.endpoint.me(), how: How::Panic };
        self.endpoint.segment().fail(failure);
        self.endpoint.cancel(|_| true);
    }

    /// Ends all transfers that are still under way, for good.
    pub(crate) fn abandon_all(&mut self) {
        self.endpoint.cancel(|_| true);
        self.active = 0;
    }
}
