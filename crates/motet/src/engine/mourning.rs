//! What becomes of operations after a death.
//!
//! Once a rank has been told of a death, no collective among ranks of which one is dead ends well:
//! neither one that begins later, nor one that is under way, nor one that is complete and whose
//! outcome nobody has taken. So it never ends with what the dead rank has sent for another one.
//! Messages that are under way end as well, whoever their other side is; one that has come may
//! still be received. Collectives among ranks that live go on; if one of these ranks dies or
//! leaves in turn, they end with an error then.
//!
//! **A call that is repeated asks for no death.** A rank is told of a death by [`Engine::failure`],
//! and by nothing else. That takes the [room](super::admission) away, so that each operation that
//! begins asks for room first, and no call is repeated from then on; and it removes the persistent
//! collectives that must not start any more.
//!
//! **On several hosts** only the first death in the world is sure to be known everywhere. There,
//! collectives among ranks that live end, too, unless all that they need is there.

use std::collections::HashSet;

use motet_fabric::slab::Id;
use motet_fabric::{Failure, TransferError};

use super::{Engine, Outcome, State, Work};
use crate::base::error::ErrorKind;
use crate::base::group::Group;

/// The first of these deaths that is that of a rank of a group.
pub(super) fn first_in(group: &Group, deaths: &[Failure]) -> Option<Failure> {
    deaths.iter().copied().find(|death| group.rank_of_peer(death.rank).is_some())
}

impl Engine {
    /// The first death in the world. Whoever asks tells the program, so what that must not take
    /// part in any more ends before this returns.
    #[inline]
    pub(crate) fn failure(&mut self) -> Option<Failure> {
        let first = self.endpoint.failure()?;
        self.mourn(first);
        Some(first)
    }

    /// Whether a collective among these ranks may begin, as far as this rank has been told.
    ///
    /// # Errors
    /// The death of one of them.
    #[inline]
    pub(crate) fn check_alive(&self, group: &Group) -> Result<(), ErrorKind> {
        if self.has_mourned { self.check_deaths(group) } else { Ok(()) }
    }

    #[cold]
    fn check_deaths(&self, group: &Group) -> Result<(), ErrorKind> {
        let deaths: Vec<Failure> = self.endpoint.deaths().collect();
        first_in(group, &deaths).map_or(Ok(()), |death| Err(ErrorKind::PeerFailed(death)))
    }

    /// Ends what a death ends. Those that wait find their operations complete.
    #[cold]
    fn mourn(&mut self, first: Failure) {
        self.has_mourned = true;
        self.room = 0;
        let deaths: Vec<Failure> = self.endpoint.deaths().collect();
        let knows_all = self.endpoint.knows_all_deaths();
        let why = |work: &Work, state: State| match work {
            Work::Run(run) => {
                let among = run.death_among(&deaths);
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
        self.left.retain(|id| !tokens.contains(&id.0));
        hit.into_iter().for_each(|(id, death)| self.end_by(id, death));
    }

    /// Ends an operation whose transfers have been cancelled.
    fn end_by(&mut self, id: Id, death: Failure) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let outcome = Outcome::Err(TransferError::Failed(death));
        match operation.state {
            State::Active => {
                if let Work::Run(run) = &mut operation.work {
                    run.cut_off(&mut self.endpoint);
                }
                self.finish(id, outcome);
            }
            State::Inactive => self.remove(id),
            State::Succeeded | State::Complete(_) => operation.state = State::Complete(outcome),
        }
    }
}
