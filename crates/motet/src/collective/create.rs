//! Communicators made of a communicator, by its ranks or by a part of them. (MPI 4.1 §7.4.2)
//!
//! Ranks agree on an id: one of them takes a fresh one, which no other rank can take, and tells the
//! others. When all ranks of the parent take part, that is a collective of the parent. When only
//! the members of a group do, it is a broadcast among them in a context of the parent that is kept
//! for this ([`ContextKind::Creation`]), so that nothing else that the parent's ranks do meanwhile
//! can be mistaken for it; the user's tag is the number of the broadcast, so that calls of several
//! threads do not meet either.

use motet_plan::Block;

use super::CollectiveArgs;
use crate::base::error::{Error, Result};
use crate::base::group::{Group, GroupError};
use crate::base::status::Tag;
use crate::comm::communicator::{Communicator, Sequence};
use crate::comm::op_handle::CommContext;
use crate::data::buffer::SendBuffer;
use crate::engine::context::{ContextKind, context};

/// What the ranks have in common that [`Communicator::split_type`] brings together.
/// (MPI 4.1 §7.4.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitType {
    /// They can share memory, being on one machine. (`MPI_COMM_TYPE_SHARED`)
    Shared,
}

impl Communicator {
    /// A communicator of the caller alone, as `MPI_COMM_SELF` is; each call makes a new one. Local.
    pub fn alone(&self) -> Communicator {
        let group = Group::new(vec![self.core().me()]);
        let alone = self.of_members(group, 0, self.core().fresh_id());
        alone.set_name("alone");
        alone
    }

    /// Parts the ranks by colour: one communicator for each colour, its ranks in the order of
    /// `key`, ties in the order they have here. With colour `None` a rank gets none. Collective.
    /// (`MPI_Comm_split`)
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Communicator>> {
        self.parted("split", colour, key)
    }

    /// Parts the ranks by what they have in common, in the order of `key` as in
    /// [`split`](Communicator::split). With `None` a rank gets none. Collective.
    /// (`MPI_Comm_split_type`)
    ///
    /// All ranks of a world are on one machine, so those that ask for
    /// [`Shared`](SplitType::Shared) come together; unless settings divide it into
    /// [nodes](crate::Settings::ranks_per_node).
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn split_type(&self, kind: Option<SplitType>, key: i64) -> Result<Option<Communicator>> {
        let node = self.core().nodes().of(self.core().me());
        let colour = kind.map(|SplitType::Shared| node as u32);
        self.parted("split_type", colour, key)
    }

    /// A communicator of the members of a group, which all of them pass; the other ranks pass any
    /// group without them, or one that is made into a communicator at the same time. Those get
    /// none, these get one of their own. Collective over all ranks. (`MPI_Comm_create`)
    ///
    /// # Errors
    /// A group with a member that is not in the communicator; members who passed different groups;
    /// that a rank has died or left.
    #[track_caller]
    pub fn create(&self, group: &Group) -> Result<Option<Communicator>> {
        const CALL: &str = "create";
        self.check_members(CALL, group)?;
        let fingerprint = group.fingerprint();
        let all = self.tell_all(CALL, [self.core().fresh_id(), fingerprint])?;
        let Some(place) = self.place_in(group) else { return Ok(None) };
        for rank in group.peers().filter_map(|peer| self.group().rank_of_peer(peer)) {
            if all[rank][1] != fingerprint {
                return Err(self.group_error(CALL, GroupError::Differs { rank }));
            }
        }
        let first = group.translate(0, self.group()).expect("members are in the communicator");
        let [id, _] = all[first];
        Ok(Some(self.of_members(group.clone(), place, id)))
    }

    /// A communicator of the members of a group, made by them alone: collective over the group,
    /// while the other ranks do what they like. (`MPI_Comm_create_group`, MPI 4.1 §7.4.2)
    ///
    /// All members pass the same group, and call in the same order as for any collective; of
    /// several threads that do so at the same time each passes a tag of its own. The tag has
    /// nothing to do with those of messages.
    ///
    /// # Errors
    /// A group without the caller, or with a member that is not in the communicator; that a member
    /// has died or left.
    #[track_caller]
    pub fn create_group(&self, group: &Group, tag: Tag) -> Result<Communicator> {
        const CALL: &str = "create_group";
        self.check_members(CALL, group)?;
        let place = self.place_in(group);
        let place = place.ok_or_else(|| self.group_error(CALL, GroupError::CallerOutside))?;
        let creation = Sequence::new(context(self.id(), ContextKind::Creation), u64::from(tag.0));
        // The other ranks of the parent take no part, so they are told nothing.
        let founders =
            CommContext::new(self.core().clone(), group.clone(), place, self.error_handler());
        let founders = Communicator::untold(founders, self.id()).with_collectives(creation);
        let id = founders.agree_on_id(CALL)?.wait()?[0];
        Ok(Communicator::new(founders.home().clone(), id))
    }

    #[track_caller]
    fn parted(
        &self,
        call: &'static str,
        colour: Option<u32>,
        key: i64,
    ) -> Result<Option<Communicator>> {
        let mine = [colour.map_or(-1, i64::from), key, self.core().fresh_id() as i64];
        let all = self.tell_all(call, mine)?;
        if colour.is_none() {
            return Ok(None);
        }
        let alike = all.iter().enumerate().filter(|(_, [colour, ..])| *colour == mine[0]);
        let mut members: Vec<(i64, usize)> =
            alike.map(|(rank, &[_, key, _])| (key, rank)).collect();
        members.sort_unstable();
        // The first member's fresh id names the new communicator: no two colours share a member.
        let [_, _, id] = all[members[0].1];
        let place = members.iter().position(|&(_, rank)| rank == self.rank());
        let place = place.expect("the caller has its own colour");
        let group = Group::new(members.iter().map(|&(_, rank)| self.group().peer(rank)).collect());
        Ok(Some(self.of_members(group, place, id as u64)))
    }

    /// A communicator of the same rank of the world.
    pub(crate) fn of_members(&self, group: Group, rank: usize, id: u64) -> Communicator {
        let home = CommContext::new(self.core().clone(), group, rank, self.error_handler());
        Communicator::new(home, id)
    }

    /// What one rank tells the others.
    #[track_caller]
    pub(crate) fn tell_from(
        &self,
        call: &'static str,
        root: usize,
        told: Vec<u64>,
    ) -> Result<Vec<u64>> {
        let told = self.post(told, |parts| {
            let shape = CollectiveArgs::bcast(self, Vec::span(parts), root);
            self.prepare_own::<u64>(call, shape, None)
        })?;
        told.wait()
    }

    /// What each rank tells the others, in rank order.
    #[track_caller]
    pub(crate) fn tell_all<T: crate::Element + Default, const N: usize>(
        &self,
        call: &'static str,
        mine: [T; N],
    ) -> Result<Vec<[T; N]>> {
        let all = vec![T::default(); N * self.size()];
        let request = self.post((mine.to_vec(), all), |(mine, all)| {
            let shape = CollectiveArgs::allgather(self, Some(Vec::span(mine)), Vec::span(all));
            self.prepare_own::<T>(call, shape, None)
        })?;
        let (_, all) = request.wait()?;
        Ok(all.as_chunks().0.to_vec())
    }

    /// The lists of all ranks, one behind the other, and where that of each rank lies.
    #[track_caller]
    pub(crate) fn tell_all_lists<T: crate::Element + Default>(
        &self,
        call: &'static str,
        mine: Vec<T>,
    ) -> Result<(Vec<T>, Vec<Block>)> {
        let lengths = self.tell_all(call, [mine.len() as u64])?;
        let mut start = 0;
        let block = |&[count]: &[u64; 1]| {
            let block = Block { start, count: count as usize };
            start += block.count;
            block
        };
        let blocks: Vec<Block> = lengths.iter().map(block).collect();
        let request = self.post((mine, vec![T::default(); start]), |(mine, all)| {
            let shape =
                CollectiveArgs::allgatherv(self, Some(Vec::span(mine)), Vec::span(all), &blocks);
            self.prepare_own::<T>(call, shape, None)
        })?;
        let (_, all) = request.wait()?;
        Ok((all, blocks))
    }

    fn check_members(&self, call: &'static str, group: &Group) -> Result<()> {
        match group.difference(self.group()).world_ranks().next() {
            Some(rank) => Err(self.group_error(call, GroupError::Outsider { rank })),
            None => Ok(()),
        }
    }

    fn group_error(&self, call: &'static str, error: GroupError) -> Error {
        self.error(call, error.into())
    }
}
