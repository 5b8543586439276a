//! Communicators: a group of ranks that talk among themselves.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::Core;
use crate::engine::Number;
use crate::error::Result;
use crate::flight::{Home, Origin};
use crate::group::Group;

/// The separate worlds of one communicator: messages of different kinds never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    PointToPoint,
    Collective,
    Persistent,
}

/// A group of ranks, with a context of its own: its messages never meet those of another
/// communicator. (MPI 4.1 §7)
///
/// All ranks of a communicator must call its collectives in the same order. A rank may use a
/// communicator from several threads as long as that order stays clear.
///
/// Dropping a communicator is local; operations that have been started go on.
pub struct Communicator {
    home: Arc<Home>,
    /// Unique in the world, and the same on all ranks of the communicator.
    id: u64,
    collectives: AtomicU64,
    persistents: AtomicU64,
}

impl Communicator {
    /// The communicator of all ranks.
    pub(crate) fn world(core: Arc<Core>) -> Communicator {
        let group = Group::world(core.ranks());
        let rank = core.me().index();
        Communicator::new(core, group, rank, 0)
    }

    fn new(core: Arc<Core>, group: Group, rank: usize, id: u64) -> Communicator {
        let (collectives, persistents) = (AtomicU64::new(0), AtomicU64::new(0));
        let home = Arc::new(Home { core, group, rank });
        Communicator { home, id, collectives, persistents }
    }

    /// The rank of the caller, below [`size`](Communicator::size).
    pub fn rank(&self) -> usize {
        self.home.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.home.group.size()
    }

    /// The ranks, in order.
    pub fn group(&self) -> &Group {
        &self.home.group
    }

    /// The caller's rank in a group, if it is a member. (`MPI_Group_rank`)
    pub fn place_in(&self, group: &Group) -> Option<usize> {
        group.rank_of_peer(self.core().me())
    }

    /// The context of one kind of traffic.
    pub(crate) fn context(&self, traffic: Traffic) -> u64 {
        self.id * 4 + traffic as u64
    }

    /// The number of the next collective: all ranks count alike, since all call in one order.
    pub(crate) fn next_collective(&self) -> Number {
        let tag = self.collectives.fetch_add(1, Ordering::Relaxed);
        Number { context: self.context(Traffic::Collective), tag }
    }

    /// The number of the next persistent collective, counted apart: those match by their inits.
    pub(crate) fn next_persistent(&self) -> Number {
        let tag = self.persistents.fetch_add(1, Ordering::Relaxed);
        Number { context: self.context(Traffic::Persistent), tag }
    }

    pub(crate) fn origin(&self, call: &'static str) -> Origin {
        Origin { home: self.home.clone(), call }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.home.core
    }

    /// A communicator of the same ranks with a context of its own. Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// That a rank has died or left.
    pub fn dup(&self) -> Result<Communicator> {
        let mut id = [self.core().fresh_id()];
        self.bcast(&mut id, 0).map_err(|error| error.at("dup", self.rank()))?;
        let [id] = id;
        Ok(Communicator::new(self.core().clone(), self.group().clone(), self.rank(), id))
    }

    /// Parts the ranks by colour: one communicator for each colour, its ranks in the order of
    /// `key`, ties in the order they have here. With colour `None` a rank gets none. Collective.
    /// (`MPI_Comm_split`)
    ///
    /// # Errors
    /// That a rank has died or left.
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Communicator>> {
        let mine = [colour.map_or(-1, i64::from), key, self.core().fresh_id() as i64];
        let mut all = vec![0i64; 3 * self.size()];
        self.allgather(&mine, &mut all).map_err(|error| error.at("split", self.rank()))?;
        if colour.is_none() {
            return Ok(None);
        }
        let mut members: Vec<(i64, usize)> = all
            .chunks_exact(3)
            .enumerate()
            .filter(|(_, each)| each[0] == mine[0])
            .map(|(rank, each)| (each[1], rank))
            .collect();
        members.sort_unstable();
        // The first member's fresh id names the new communicator: no two colours share a member.
        let id = all[3 * members[0].1 + 2] as u64;
        let place = members.iter().position(|&(_, rank)| rank == self.rank());
        let place = place.expect("the caller has its own colour");
        let group = Group::new(members.iter().map(|&(_, rank)| self.group().peer(rank)).collect());
        Ok(Some(Communicator::new(self.core().clone(), group, place, id)))
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
