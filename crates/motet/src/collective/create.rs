//! Communicator construction: communicators of all ranks, or of some ranks, of a communicator. (MPI
//! 4.1 §7.4.2)
//!
//! The ranks agree on an identifier: one rank takes an unused one, which no other rank can take,
//! and sends it to the others. If all ranks of the parent take part, this is a collective of the
//! parent. If only the members of a group take part, it is a broadcast among them in a separate
//! context of the parent ([`ContextKind::Creation`]), so that its messages cannot match other
//! operations of the parent's ranks. The user's tag is the number of that broadcast, which
//! separates calls of several threads.

use motet_plan::Block;
use motet_plan::order::{number_of_signed, sort_by_number};

use super::CollectiveArgs;
use crate::base::error::{Error, Result};
use crate::base::group::{Group, GroupError};
use crate::base::status::Tag;
use crate::comm::communicator::{Communicator, Sequence};
use crate::comm::op_handle::CommContext;
use crate::data::buffer::SendBuffer;
use crate::engine::context::{ContextKind, context};

/// What the ranks of each new communicator have in common; see [`Communicator::split_type`]. (MPI
/// 4.1 §7.4.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitType {
    /// The ranks can share memory: they are on one node. (`MPI_COMM_TYPE_SHARED`)
    Shared,
}

impl Communicator {
    /// Makes a communicator of the caller alone, like `MPI_COMM_SELF`; each call makes a new one.
    /// Local.
    pub fn alone(&self) -> Communicator {
        let group = Group::new(vec![self.core().me()]);
        let alone = self.of_members(group, 0, self.core().fresh_id());
        alone.set_name("alone");
        alone
    }

    /// Splits the communicator by colour: makes one communicator for each colour, with its ranks in
    /// the order of `key`; ranks with equal keys keep their order. A rank with colour `None` gets
    /// no communicator. Collective. (`MPI_Comm_split`)
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Communicator>> {
        self.parted("split", colour, key)
    }

    /// Splits the communicator by what ranks have in common; `key` orders the ranks as in
    /// [`split`](Communicator::split). A rank that passes `None` gets no communicator. Collective.
    /// (`MPI_Comm_split_type`)
    ///
    /// The ranks of one node that pass [`Shared`](SplitType::Shared) get one communicator. A node
    /// is a host, unless the settings divide the world into
    /// [nodes](crate::Settings::ranks_per_node).
    ///
    /// # Errors
    /// A rank has died or has left the world.
    #[track_caller]
    pub fn split_type(&self, kind: Option<SplitType>, key: i64) -> Result<Option<Communicator>> {
        let node = self.core().nodes().of(self.core().me());
        let colour = kind.map(|SplitType::Shared| node as u32);
        self.parted("split_type", colour, key)
    }

    /// Makes a communicator of the members of a group, and returns `None` at the other ranks. All
    /// members pass the same group. The other ranks pass a group without these members; it may be a
    /// group that gets a communicator of its own in the same call. Collective over all ranks.
    /// (`MPI_Comm_create`)
    ///
    /// # Errors
    /// The group has a member that is not in the communicator; members passed different groups; or
    /// a rank has died or left.
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

    /// Makes a communicator of the members of a group, with a call of the members only: it is
    /// collective over the group, and the other ranks do not take part. (`MPI_Comm_create_group`,
    /// MPI 4.1 §7.4.2)
    ///
    /// All members pass the same group, and call in the same order as for any collective. Threads
    /// that call at the same time pass different tags. The tag is independent of message tags.
    ///
    /// # Errors
    /// The group does not contain the caller, or has a member that is not in the communicator; or a
    /// member has died or left.
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
        let founders = Communicator::unchecked(founders, self.id()).with_collectives(creation);
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
        let own = [colour.map_or(-1, i64::from), key, self.core().fresh_id() as i64];
        let all = self.tell_all(call, own)?;
        if colour.is_none() {
            return Ok(None);
        }
        let mut members: Vec<_> = (0..all.len()).filter(|&rank| all[rank][0] == own[0]).collect();
        sort_by_number(&mut members, |&rank| number_of_signed(all[rank][1]));
        // The first member's fresh id names the new communicator: no two colours share a member.
        let [_, _, id] = all[members[0]];
        let place = members.iter().position(|&rank| rank == self.rank());
        let place = place.expect("the caller has its own colour");
        let group = Group::new(members.iter().map(|&rank| self.group().peer(rank)).collect());
        Ok(Some(self.of_members(group, place, id as u64)))
    }

    /// Makes a communicator of a group with the identifier `id`, in the same world.
    pub(crate) fn of_members(&self, group: Group, rank: usize, id: u64) -> Communicator {
        let home = CommContext::new(self.core().clone(), group, rank, self.error_handler());
        Communicator::new(home, id)
    }

    /// Broadcasts the words of one rank to the others.
    #[track_caller]
    pub(crate) fn tell_from(
        &self,
        call: &'static str,
        root: usize,
        words: Vec<u64>,
    ) -> Result<Vec<u64>> {
        let request = self.post(words, |parts| {
            let shape = CollectiveArgs::bcast(self, Vec::span(parts), root);
            self.prepare_own::<u64>(call, shape, None)
        })?;
        request.wait()
    }

    /// Gathers the words of each rank to all ranks, in rank order.
    #[track_caller]
    pub(crate) fn tell_all<T: crate::Element + Default, const N: usize>(
        &self,
        call: &'static str,
        own: [T; N],
    ) -> Result<Vec<[T; N]>> {
        let all = vec![T::default(); N * self.size()];
        let request = self.post((own.to_vec(), all), |(own, all)| {
            let shape = CollectiveArgs::allgather(self, Some(Vec::span(own)), Vec::span(all));
            self.prepare_own::<T>(call, shape, None)
        })?;
        let (_, all) = request.wait()?;
        Ok(all.as_chunks().0.to_vec())
    }

    /// Gathers lists of any lengths to all ranks: the concatenated lists, and the block of each
    /// rank.
    #[track_caller]
    pub(crate) fn tell_all_lists<T: crate::Element + Default>(
        &self,
        call: &'static str,
        own: Vec<T>,
    ) -> Result<(Vec<T>, Vec<Block>)> {
        let lengths = self.tell_all(call, [own.len() as u64])?;
        let mut start = 0;
        let block = |&[count]: &[u64; 1]| {
            let block = Block { start, count: count as usize };
            start += block.count;
            block
        };
        let blocks: Vec<Block> = lengths.iter().map(block).collect();
        let request = self.post((own, vec![T::default(); start]), |(own, all)| {
            let shape =
                CollectiveArgs::allgatherv(self, Some(Vec::span(own)), Vec::span(all), &blocks);
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
