//! Persistent collectives among some ranks of a communicator: the group argument of the 2008
//! proposal. They need no new communicator, and use up no identifier.
//!
//! All ranks of the communicator make the init, so that they count persistent operations alike.
//! Only the members of the group have a plan: that of a communicator over the group. The other
//! ranks do nothing: the operation holds their buffers without reading or writing them, and their
//! runs complete at once. They do not forward messages, since in shared memory no path through a
//! third rank is shorter.
//!
//! The methods are defined once, in `persistent`, for communicators and for groups.

use std::fmt;

use motet_fabric::Peer;
use motet_plan::Block;

use super::args::ScanKind;
use super::persistent::{persistent_collectives, persistent_with_root};
use super::w::Peers;
use super::{CollectiveArgs, Participants, PreparedCall, RankOf, TypedBlocks};
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::group::{Group, GroupError};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{Buffers, RecvBuffer, SendBuffer};
use crate::data::kernel::{Kernel, kernel};
use crate::data::op::Operator;

/// A group of ranks of one communicator, for persistent collectives among its members only. (2008
/// proposal §2.1)
///
/// All ranks of the communicator make the same inits, in the same order as all other inits of the
/// communicator, and start them equally often. The members pass the same group. The other ranks
/// pass that group, or [`Group::empty`] if they have not made it, or another group that has no rank
/// in common with it: in this way one init serves all rows of a grid, or all its columns, and each
/// row may pass different arguments. Check mode reports a [mismatch](crate::ErrorKind::Mismatch) if
/// a rank is in the group of another rank and passes a different group. With the hint
/// [`ENFORCE`](crate::hint::ENFORCE), which requires one group, this is a mismatch for all ranks of
/// the communicator.
///
/// Members are numbered by their positions in the group: this is the order of blocks and of the
/// operands of reductions, and lists have one entry for each member. The operation holds the
/// arguments of the other ranks until it returns them, but neither reads nor checks them, and the
/// runs of these ranks complete at once.
///
/// An init that returns an error has not been made. If only members get the error, they must make
/// an init in its place, which the other ranks have already made.
///
/// The rooted collectives are methods of their root, a [`Member`].
///
/// ```
/// use motet::{Group, Info, Sum};
///
/// motet::threads(4, |world| {
///     // Rank 3 comes before rank 1 here; ranks 0 and 2 need not know who takes part.
///     let group = match world.rank() {
///         0 | 2 => Group::empty(),
///         _ => world.group().include(&[3, 1])?,
///     };
///     let members = world.members(&group)?;
///     let buffers = (vec![world.rank()], vec![9; 2]);
///     let mut all = members.allgather_init(buffers, &Info::new())?;
///     all.run()?;
///     match members.rank() {
///         Some(_) => assert_eq!(all.output(), [3, 1]),
///         None => assert_eq!(all.output(), [9, 9]),
///     }
///
///     // The root is a rank of the communicator; a member can be no wrong one.
///     let mut sum = members.member(1)?.reduce_init((vec![1], vec![0]), Sum, &Info::new())?;
///     sum.run()?;
///     assert_eq!(sum.output(), [if world.rank() == 1 { 2 } else { 0 }]);
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
///
/// One init sums all rows of a grid of two rows and three columns:
///
/// ```
/// use motet::{Info, Sum};
///
/// motet::threads(6, |world| {
///     let first = world.rank() / 3 * 3;
///     let row = world.group().include(&[first, first + 1, first + 2])?;
///     let members = world.members(&row)?;
///     let mut sum = members.allreduce_init((vec![world.rank()], vec![0]), Sum, &Info::new())?;
///     sum.run()?;
///     assert_eq!(sum.output(), [3 * first + 3]);
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone)]
pub struct Members<'a> {
    communicator: &'a Communicator,
    group: Group,
    rank: Option<usize>,
}

/// A member of a group of ranks: the root of the collectives that are its methods. Made by
/// [`Members::member`].
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    members: &'a Members<'a>,
    /// Position in the group.
    place: usize,
}

impl Communicator {
    /// Selects the members of a group for collectives among them only. Local; ranks that have not
    /// made the group pass an empty one.
    ///
    /// # Errors
    /// The group has a member that is not in the communicator ([`GroupError::Outsider`], of class
    /// `MPI_ERR_GROUP`).
    pub fn members(&self, group: &Group) -> Result<Members<'_>> {
        self.members_for("members", group)
    }

    pub(crate) fn members_for(&self, call: &'static str, group: &Group) -> Result<Members<'_>> {
        let outside = |peer: &Peer| self.group().rank_of_peer(*peer).is_none();
        if let Some(outsider) = group.peers().find(outside) {
            let error = GroupError::Outsider { rank: outsider.index() };
            return Err(self.error(call, error.into()));
        }
        let rank = self.place_in(group);
        Ok(Members { communicator: self, group: group.clone(), rank })
    }
}

impl<'a> Members<'a> {
    /// Returns the number of members.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Returns the position of the caller in the group, or `None` if it is not a member.
    pub fn rank(&self) -> Option<usize> {
        self.rank
    }

    /// Returns the group that was passed.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns the member with this rank in the communicator. If the group is empty, as for ranks
    /// that do not know the members, any rank of the communicator is accepted.
    ///
    /// # Errors
    /// The rank is not in the group, or not in the communicator (both of class `MPI_ERR_ROOT`).
    pub fn member(&self, rank: usize) -> Result<Member<'_>> {
        let place = self.root(rank).map_err(|kind| self.communicator.error("member", kind))?;
        Ok(Member { members: self, place })
    }

    /// Returns the position in the group of a root, given as a rank of the communicator; 0 in an
    /// empty group, where it is not used.
    pub(crate) fn root(&self, root: usize) -> Result<usize, ErrorKind> {
        let all = self.communicator.group();
        if root >= all.size() {
            return Err(ErrorKind::Root { root, size: all.size() });
        }
        let outside = ErrorKind::RootOutside { root, size: self.size() };
        match self.group.rank_of_peer(all.peer(root)) {
            None if self.group.is_empty() => Ok(0),
            place => place.ok_or(outside),
        }
    }

    pub(crate) fn communicator(&self) -> &'a Communicator {
        self.communicator
    }

    /// Returns the position of the caller among the members, or `None` if it is not a member.
    pub(crate) fn place(&self) -> Option<RankOf> {
        self.rank.map(|rank| RankOf { rank, size: self.size() })
    }

    /// Returns the ranks of the caller's plan.
    pub(crate) fn among(&self) -> Box<Participants> {
        let (group, passed) = (self.group.clone(), Some(self.group.clone()));
        Box::new(match self.rank {
            Some(rank) => Participants { rank, group, passed },
            None => Participants::nobody(passed),
        })
    }

    /// Makes the call of a rank that is not a member.
    pub(crate) fn nothing(&self, call: &'static str) -> PreparedCall {
        PreparedCall {
            among: Some(self.among()),
            ..PreparedCall::new::<u8>(call, CollectiveArgs::nothing(), None)
        }
    }

    fn prepare_among<T: Element>(
        &self,
        call: &'static str,
        kernel: Option<Box<dyn Kernel>>,
        shape: impl FnOnce(&RankOf) -> Result<CollectiveArgs, ErrorKind>,
    ) -> Result<PreparedCall> {
        let Some(place) = self.place() else { return Ok(self.nothing(call)) };
        let prepared = self.communicator.prepare::<T>(call, shape(&place), kernel)?;
        Ok(PreparedCall { among: Some(self.among()), ..prepared })
    }

    fn whom(&self) -> Peers<'_> {
        Peers::Members(self)
    }

    persistent_collectives!("Among the members of the group.");
}

impl<'a> Member<'a> {
    /// Returns the position in the group; 0 if the group is empty.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Returns the members to which it belongs.
    pub fn members(&self) -> &'a Members<'a> {
        self.members
    }

    fn communicator(&self) -> &'a Communicator {
        self.members.communicator
    }

    fn root_of(&self) -> usize {
        self.place
    }

    fn prepare_among<T: Element>(
        &self,
        call: &'static str,
        kernel: Option<Box<dyn Kernel>>,
        shape: impl FnOnce(&RankOf) -> Result<CollectiveArgs, ErrorKind>,
    ) -> Result<PreparedCall> {
        self.members.prepare_among::<T>(call, kernel, shape)
    }

    persistent_with_root!("Among the members of the group, with this one as the root.");
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks: Vec<usize> = self.group.world_ranks().collect();
        write!(out, "Members({ranks:?} of the world, in {:?})", self.communicator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sum;

    /// Each new communicator has the next number; operations with groups take none.
    ///
    /// spec: 103
    #[test]
    fn a_thousand_groups_take_no_communicator() {
        let ended = crate::threads(3, |world| {
            let before = world.dup()?.id();
            for round in 0..1000 {
                let ranks = [[0, 2], [2, 1], [1, 0]][round % 3];
                let members = world.members(&world.group().include(&ranks).unwrap())?;
                let mut sum = members.allreduce_init((vec![1], vec![0]), Sum, &Info::new())?;
                sum.run()?;
                assert_eq!(sum.output(), [if members.rank().is_some() { 2 } else { 0 }]);
            }
            assert_eq!(world.dup()?.id(), before + 1);
            Ok::<(), crate::Error>(())
        });
        ended.unwrap().into_iter().for_each(|result| result.unwrap());
    }
}
