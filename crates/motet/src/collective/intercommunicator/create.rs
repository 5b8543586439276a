//! Construction of intercommunicators, and of communicators from them. (MPI 4.1 §7.6.2)
//!
//! The two leaders exchange the ranks of their groups and one unused identifier each; the new
//! intercommunicator gets the identifier of the left leader. They do so on a communicator of two
//! ranks, in a separate context of the peer communicator ([`ContextKind::Bridge`]). The user's tag
//! is the number of the exchange, which separates calls of several threads. Then each leader
//! broadcasts the result to its group. If a leader fails, it broadcasts the failure instead, so
//! that its group does not wait.

use std::ops::Range;
use std::sync::Arc;

use motet_fabric::Peer;
use motet_plan::Block;
use motet_plan::order::{number_of_signed, sort_by_number};

use super::{Groups, Intercommunicator};
use crate::base::error::{ErrorKind, Result};
use crate::base::group::{Group, GroupError};
use crate::base::status::Tag;
use crate::collective::untyped::CommRef;
use crate::comm::communicator::{Communicator, Sequence};
use crate::comm::error_handler::ErrorHandler;
use crate::comm::op_handle::CommContext;
use crate::engine::context::{ContextKind, context};

const CREATE: &str = "intercomm_create";

/// Position of the ranks of a group in a merged intercommunicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeOrder {
    /// Before the ranks of the other group, if those pass [`Last`](MergeOrder::Last). (`high` is
    /// false)
    First,
    /// After the ranks of the other group, if those pass [`First`](MergeOrder::First). (`high` is
    /// true)
    Last,
}

impl Communicator {
    /// Makes an intercommunicator of the ranks of this communicator, the local group, and the ranks
    /// of another communicator, which make the same call. `local_leader` is a rank of this
    /// communicator. Only that rank's next two arguments count: `peer` is a communicator that
    /// contains both leaders, and `remote_leader` is the rank of the other leader in it. Both sides
    /// pass the same tag; threads that call at the same time use different tags. Collective over
    /// both groups. (`MPI_Intercomm_create`)
    ///
    /// ```
    /// use motet::Tag;
    ///
    /// motet::threads(4, |world| {
    ///     let (me, tag) = (world.rank(), Tag(0));
    ///     let half = world.split(Some((me / 2) as u32), 0)?.expect("all have a colour");
    ///     let across = half.intercomm_create(0, Some(&world), 2 - me / 2 * 2, tag)?;
    ///     // Each rank writes to its counterpart.
    ///     let sent = across.isend(vec![me], across.rank(), tag)?;
    ///     let mut got = [0];
    ///     let status = across.recv(&mut got, motet::ANY_SOURCE, tag)?;
    ///     assert_eq!((got, status.source), ([(me + 2) % 4], across.rank()));
    ///     sent.wait()?;
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A leader is not in its communicator; the groups have a rank in common; or a rank has died or
    /// left. All ranks of a group get the error of their leader.
    #[track_caller]
    pub fn intercomm_create(
        &self,
        local_leader: usize,
        peer: Option<&Communicator>,
        remote_leader: usize,
        tag: Tag,
    ) -> Result<Intercommunicator> {
        self.intercomm_create_on(local_leader, peer.map(CommRef::Communicator), remote_leader, tag)
    }

    /// Does the same as [`intercomm_create`](Communicator::intercomm_create), but the leaders may
    /// also meet on an intercommunicator: `remote_leader` is a rank of its remote group then.
    ///
    /// # Errors
    /// As [`intercomm_create`](Communicator::intercomm_create).
    #[track_caller]
    pub fn intercomm_create_on(
        &self,
        local_leader: usize,
        peer: Option<CommRef<'_>>,
        remote_leader: usize,
        tag: Tag,
    ) -> Result<Intercommunicator> {
        let size = self.size();
        if local_leader >= size {
            let what = "local leader";
            return Err(self.error(CREATE, ErrorKind::Rank { what, rank: local_leader, size }));
        }
        let leads = self.rank() == local_leader;
        let bridged = if leads { self.bridge(peer, remote_leader, tag) } else { Ok(Vec::new()) };
        // The leader has the identifier and the remote ranks, or nothing if it failed.
        let known = bridged.as_deref().unwrap_or_default().len();
        let known = self.tell_from(CREATE, local_leader, vec![known as u64])?[0] as usize;
        let words = bridged.map_err(|kind| self.error(CREATE, kind))?;
        if known == 0 {
            let problem =
                format!("has a leader, rank {local_leader}, that could not reach the other group");
            return Err(self.error(CREATE, ErrorKind::Communicator { problem }));
        }
        let words = if leads { words } else { vec![0; known] };
        let words = self.tell_from(CREATE, local_leader, words)?;
        let (id, remote) = words.split_first().expect("an id comes first");
        let remote = Group::new(remote.iter().map(|&rank| Peer(rank as u32)).collect());
        if let Some(rank) = remote.intersection(self.group()).world_ranks().next() {
            return Err(self.error(CREATE, GroupError::Overlap { rank }.into()));
        }
        let groups = Groups { local: self.group().clone(), remote };
        Ok(Intercommunicator::new(self.home(), groups, *id))
    }

    /// Exchanges the identifier and the ranks of the groups between the leaders, and broadcasts
    /// them.
    fn bridge(
        &self,
        peer: Option<CommRef<'_>>,
        leader: usize,
        tag: Tag,
    ) -> Result<Vec<u64>, ErrorKind> {
        let peer = peer.map(|peer| match peer {
            CommRef::Communicator(peer) => peer,
            CommRef::Intercommunicator(between) => between.far(),
        });
        let peer = peer.filter(|peer| Arc::ptr_eq(peer.core(), self.core()));
        let Some(peer) = peer else {
            let problem = "in which the leaders meet must be passed at the local leader";
            return Err(ErrorKind::Communicator { problem: problem.into() });
        };
        if leader >= peer.size() {
            let (what, rank, size) = ("remote leader", leader, peer.size());
            return Err(ErrorKind::Rank { what, rank, size });
        }
        let (me, other) = (self.core().me(), peer.group().peer(leader));
        if me == other {
            return Err(GroupError::Overlap { rank: me.index() }.into());
        }
        let group = Group::new(vec![me.min(other), me.max(other)]);
        let place = usize::from(me > other);
        // Errors go to the handler of the communicator on which this was called.
        let home = CommContext::new(self.core().clone(), group, place, ErrorHandler::Return);
        let bridge = context(peer.id(), ContextKind::Bridge);
        let meeting = Communicator::unchecked(home, peer.id());
        let meeting = meeting.with_collectives(Sequence::new(bridge, 2 * u64::from(tag.0)));
        exchanged(&meeting, self).map_err(crate::Error::into_kind)
    }
}

/// Exchanges the identifier and the ranks between the two leaders; returns those of the other one.
fn exchanged(meeting: &Communicator, local: &Communicator) -> Result<Vec<u64>> {
    let own = [local.size() as u64, local.core().fresh_id(), local.group().peer(0).0.into()];
    let all = meeting.tell_all(CREATE, own)?;
    let (here, there) = (meeting.rank(), 1 - meeting.rank());
    let count = |place: usize| all[place][0] as usize;
    let blocks = [Block { start: 0, count: count(0) }, Block { start: count(0), count: count(1) }];
    let mut ranks = vec![0; count(0) + count(1)];
    let members: Vec<u64> = local.group().world_ranks().map(|rank| rank as u64).collect();
    meeting.allgatherv(&members, &mut ranks, &blocks)?;
    let left = if all[here][2] <= all[there][2] { here } else { there };
    let Block { start, count } = blocks[there];
    let remote = ranks[start..start + count].iter().copied();
    Ok(std::iter::once(all[left][1]).chain(remote).collect())
}

impl Intercommunicator {
    /// Makes a communicator of the ranks of both groups. All ranks of a group pass the same order;
    /// if both groups pass the same, the group whose first rank comes first in the world is first.
    /// Collective over both groups. (`MPI_Intercomm_merge`)
    ///
    /// # Errors
    /// The ranks of one group pass different orders; or a rank has died or left.
    #[track_caller]
    pub fn merge(&self, order: MergeOrder) -> Result<Communicator> {
        const CALL: &str = "merge";
        let own = [u64::from(order == MergeOrder::Last), self.union.core().fresh_id()];
        let all = self.union.tell_all(CALL, own)?;
        let (left, right) = all.split_at(self.left_size());
        for side in [left, right] {
            if let Some(other) = side.iter().position(|words| words[0] != side[0][0]) {
                let problem = format!("ranks 0 and {other} of one group do not agree");
                let which = "order of the groups";
                return Err(self.union.error(CALL, ErrorKind::Differs { which, problem }));
            }
        }
        let union = self.union.group();
        let group = if left[0][0] > right[0][0] {
            let (left, right) = (union.peers().take(left.len()), union.peers().skip(left.len()));
            Group::new(right.chain(left).collect())
        } else {
            union.clone()
        };
        let core = self.union.core().clone();
        let place = group.rank_of_peer(core.me()).expect("the caller is in the union");
        let home = CommContext::new(core, group, place, self.error_handler());
        Ok(Communicator::new(home, all[0][1]))
    }

    /// Splits the intercommunicator by colour: makes one for each colour that occurs in both
    /// groups, with its groups in the order of `key`; ranks with equal keys keep their order. A
    /// rank with colour `None`, or with a colour that the other group does not have, gets no
    /// intercommunicator. Collective over both groups. (`MPI_Comm_split`)
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Intercommunicator>> {
        let fresh = self.union.core().fresh_id();
        let own = [colour.map_or(-1, i64::from), key, fresh as i64];
        let all = self.union.tell_all("split", own)?;
        if colour.is_none() {
            return Ok(None);
        }
        let members = |side: Range<usize>| {
            let mut alike: Vec<_> = side.filter(|&rank| all[rank][0] == own[0]).collect();
            sort_by_number(&mut alike, |&rank| number_of_signed(all[rank][1]));
            alike
        };
        Ok(self.part(members).map(|(groups, first)| {
            Intercommunicator::new(self.home(), groups, all[first][2] as u64)
        }))
    }

    /// Makes an intercommunicator of a part of each group: all ranks of the local group pass the
    /// same part of it, and those of the other group do the same. A rank outside its part gets
    /// none, and neither does any rank if the part of the other group is empty. Collective over
    /// both groups. (`MPI_Comm_create`)
    ///
    /// # Errors
    /// The group has a member that is not in the local group; the ranks of one group passed
    /// different groups; or a rank has died or left.
    #[track_caller]
    pub fn create(&self, group: &Group) -> Result<Option<Intercommunicator>> {
        const CALL: &str = "create";
        if let Some(rank) = group.difference(&self.local).world_ranks().next() {
            return Err(self.group_error(CALL, GroupError::Outsider { rank }));
        }
        const OUTSIDE: u64 = u64::MAX;
        let core = self.union.core();
        let place = group.rank_of_peer(core.me()).map_or(OUTSIDE, |place| place as u64);
        let all = self.union.tell_all(CALL, [place, group.fingerprint(), core.fresh_id()])?;
        let (left, right) = all.split_at(self.left_size());
        for side in [left, right] {
            if let Some(rank) = side.iter().position(|words| words[1] != side[0][1]) {
                return Err(self.group_error(CALL, GroupError::Differs { rank }));
            }
        }
        if place == OUTSIDE {
            return Ok(None);
        }
        let members = |side: Range<usize>| {
            let mut members: Vec<_> = side.filter(|&rank| all[rank][0] != OUTSIDE).collect();
            sort_by_number(&mut members, |&rank| all[rank][0]);
            members
        };
        Ok(self
            .part(members)
            .map(|(groups, first)| Intercommunicator::new(self.home(), groups, all[first][2])))
    }

    /// Returns the groups of these members of each side, and the rank in the union whose unused
    /// identifier they take. `None` if a group is empty. The members of each side are ranks of the
    /// union, in order.
    fn part(&self, members: impl Fn(Range<usize>) -> Vec<usize>) -> Option<(Groups, usize)> {
        let middle = self.left_size();
        let sides = [members(0..middle), members(middle..self.union.size())];
        let first = *sides[0].first()?;
        sides[1].first()?;
        let group = |ranks: &[usize]| {
            Group::new(ranks.iter().map(|&rank| self.union.group().peer(rank)).collect())
        };
        let [left, right] = [group(&sides[0]), group(&sides[1])];
        let groups = if self.groups().is_left() {
            Groups { local: left, remote: right }
        } else {
            Groups { local: right, remote: left }
        };
        Some((groups, first))
    }

    /// Returns the size of the group that comes first in the union.
    pub(crate) fn left_size(&self) -> usize {
        if self.groups().is_left() { self.size() } else { self.remote_size() }
    }
}
