//! Ends operations after the death of a rank.
//!
//! Once a rank has been told of a death, no collective over a group with a dead rank succeeds:
//! neither one that starts later, nor a pending one, nor a complete one whose outcome has not been
//! taken. So none completes with a message that the dead rank has sent for another one. Pending
//! point-to-point messages end as well, with any peer; a message that has arrived may still be
//! received. Collectives among living ranks go on; if one of these ranks dies or leaves in turn,
//! they end with an error then.
//!
//! **A replayed call checks for no death.** A rank is told of a death by [`Engine::failure`], and
//! by nothing else. That function takes the [room](super::admission) away, so that each operation
//! that starts asks for room first, and no call is replayed from then on; and it removes the
//! persistent collectives that must not start any more.
//!
//! **On several hosts** only the first death in the world is sure to be known everywhere. There,
//! collectives among living ranks end, too, unless everything that they need has arrived.

use std::collections::HashSet;

use motet_fabric::slab::Id;
use motet_fabric::{Failure, How, TransferError};

use super::{Engine, Execution, Outcome, State, Work};
use crate::base::error::ErrorKind;
use crate::base::group::Group;

/// The first of these deaths whose rank is in the group.
pub(super) fn first_in(group: &Group, deaths: &[Failure]) -> Option<Failure> {
    deaths.iter().copied().find(|death| group.rank_of_peer(death.rank).is_some())
}

impl Engine {
    /// The first death in the world. The caller tells the program, so all operations that the death
    /// ends end before this returns.
    #[inline]
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        let first = self.endpoint.failure()?;
        self.mourn(first);
        Some(first)
    }

    /// Whether a collective among these ranks may start, as far as this rank has been told.
    ///
    /// # Errors
    /// The death of one of them.
    #[inline]
    pub(crate) fn check_alive(&self, group: &Group) -> Result<(), ErrorKind> {
        if self.has_mourned { self.check_deaths(group) } else { Ok(()) }
    }

    /// Whether this rank has been told of the death of a rank that takes part in this persistent
    /// execution; of others it does not matter, since they have no channels.
    #[inline]
    pub(super) fn has_death_among(&self, run: &Execution) -> bool {
        self.has_mourned && run.is_persistent() && self.has_dead_peer(run)
    }

    #[cold]
    fn has_dead_peer(&self, run: &Execution) -> bool {
        let deaths: Vec<Failure> = self.endpoint.deaths().collect();
        run.death_among(&deaths).is_some()
    }

    #[cold]
    fn check_deaths(&self, group: &Group) -> Result<(), ErrorKind> {
        let deaths: Vec<Failure> = self.endpoint.deaths().collect();
        first_in(group, &deaths).map_or(Ok(()), |death| Err(ErrorKind::PeerFailed(death)))
    }

    /// Ends the operations that a death ends. Waiting threads find them complete.
    #[cold]
    fn mourn(&mut self, first: Failure) {
        let deaths: Vec<Failure> = self.endpoint.deaths().collect();
        self.end_by_deaths(first, &deaths);
    }

    /// Lets the rank die: announces it to all ranks, and ends all its operations, so that no
    /// operator is called again. After the return no rank uses memory of its operations.
    #[cold]
    pub(crate) fn die(&mut self) {
        let own = Failure { rank: self.endpoint.me(), how: How::Panic };
        self.endpoint.segment().fail(own);
        self.deferred_starts.clear();
        self.endpoint.cancel(|_| true);
        // This rank takes part in each of its collectives.
        self.end_by_deaths(own, &[own]);
    }

    fn end_by_deaths(&mut self, first: Failure, deaths: &[Failure]) {
        self.has_mourned = true;
        self.room = 0;
        let knows_all = self.endpoint.knows_all_deaths();
        let why = |work: &Work, state: State| match work {
            Work::Run(run) => {
                let among = run.death_among(deaths);
                among.or_else(|| (!knows_all && state == State::Active).then_some(first))
            }
            _ => (state == State::Active).then_some(first),
        };
        let is_told = |state: State| matches!(state, State::Complete(Err(_)));
        let all = self.operations.iter().filter(|(_, operation)| !is_told(operation.state));
        let hit =
            all.filter_map(|(id, operation)| Some((id, why(&operation.work, operation.state)?)));
        let hit: Vec<(Id, Failure)> = hit.collect();
        if hit.is_empty() {
            return;
        }
        let tokens: HashSet<u64> = hit.iter().map(|(id, _)| id.0).collect();
        self.endpoint.cancel(|token| tokens.contains(&token.operation));
        self.deferred_starts.retain(|id| !tokens.contains(&id.0));
        hit.into_iter().for_each(|(id, death)| self.end_by(id, death));
    }

    /// Ends an operation whose transfers have been cancelled.
    fn end_by(&mut self, id: Id, death: Failure) {
        let is_own = death.rank == self.endpoint.me();
        let Some(operation) = self.operations.get_mut(id) else { return };
        let outcome = Outcome::Err(TransferError::Failed(death));
        match operation.state {
            State::Active => {
                if let Work::Run(run) = &mut operation.work {
                    run.cut_off(&mut self.endpoint);
                }
                self.finish(id, outcome);
            }
            State::Inactive if !is_own => self.remove(id),
            // To remove it would drop its operator, while this thread unwinds.
            State::Inactive => operation.state = State::Complete(outcome),
            State::Succeeded | State::Complete(_) => operation.state = State::Complete(outcome),
        }
    }
}
