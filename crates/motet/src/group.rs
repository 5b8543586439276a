//! Ordered sets of ranks.

use std::sync::Arc;

use motet_fabric::Peer;

/// An ordered set of ranks of the world. A rank's place in it is its rank in a communicator over
/// the group. Copies are cheap. (MPI 4.1 §7.3)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    members: Arc<[Peer]>,
    /// Whether member `i` is rank `i` of the world, so that nothing needs to be searched.
    identity: bool,
}

impl Group {
    pub(crate) fn new(members: Arc<[Peer]>) -> Group {
        let identity = members.iter().enumerate().all(|(place, peer)| place == peer.index());
        Group { members, identity }
    }

    /// All ranks of a world.
    pub(crate) fn world(ranks: usize) -> Group {
        Group::new((0..ranks as u32).map(Peer).collect())
    }

    pub(crate) fn peers(&self) -> &Arc<[Peer]> {
        &self.members
    }

    pub(crate) fn peer(&self, rank: usize) -> Peer {
        self.members[rank]
    }

    pub(crate) fn rank_of_peer(&self, peer: Peer) -> Option<usize> {
        if self.identity {
            return (peer.index() < self.members.len()).then_some(peer.index());
        }
        self.members.iter().position(|&member| member == peer)
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The members, as ranks in the world.
    pub fn world_ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|peer| peer.index())
    }

    /// The place in this group of a rank of the world, if it is a member.
    pub fn rank_of(&self, world_rank: usize) -> Option<usize> {
        self.rank_of_peer(Peer(u32::try_from(world_rank).ok()?))
    }

    /// The rank in `other` of the member with rank `rank` here, if it is a member of both.
    pub fn translate(&self, rank: usize, other: &Group) -> Option<usize> {
        other.rank_of_peer(*self.members.get(rank)?)
    }

    /// The group of these members, in this order.
    ///
    /// # Panics
    /// If a rank is not in the group, or is named twice.
    pub fn include(&self, ranks: &[usize]) -> Group {
        let members: Vec<Peer> = ranks.iter().map(|&rank| self.members[rank]).collect();
        let mut sorted = members.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), members.len(), "a group holds each rank once");
        Group::new(members.into())
    }

    /// The group without these members, in the order they have here.
    pub fn exclude(&self, ranks: &[usize]) -> Group {
        let kept = self.members.iter().enumerate();
        Group::new(kept.filter(|(rank, _)| !ranks.contains(rank)).map(|(_, &peer)| peer).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranks() {
        let world = Group::world(6);
        let odd = world.include(&[5, 1, 3]);
        assert_eq!(odd.world_ranks().collect::<Vec<_>>(), [5, 1, 3]);
        assert_eq!((odd.rank_of(3), odd.rank_of(2)), (Some(2), None));
        assert_eq!(odd.translate(0, &world), Some(5));
        assert_eq!(world.translate(0, &odd), None);
        assert_eq!(world.exclude(&[0, 2, 4]).world_ranks().collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(world.rank_of(6), None);
    }
}
