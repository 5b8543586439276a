//! A group is an ordered set of ranks. (MPI 4.1 §7.3)
//!
//! A group is a value: all operations on it are local and do not change it.
//!
//! A group of consecutive ranks of the world, as that of the world is, takes constant memory; any
//! other group is a list that all copies share. A member is looked up by its place directly. The
//! place of a rank is computed or found by binary search, never by a linear search of a long list:
//! a list that is not in the order of the world gets an index of its places at the first query.

use std::fmt;
use std::sync::{Arc, OnceLock};

use motet_fabric::Peer;
use motet_plan::order::sort_by_number;

/// An ordered set of ranks of the world. A rank's place in it is its rank in a communicator over
/// the group. Copies are cheap. (MPI 4.1 §7.3)
///
/// ```
/// # motet::threads(5, |world| {
/// let all = world.group();
/// let even = all.include(&[4, 2, 0])?;
/// let last = all.include(&[3, 4])?;
/// assert!(even.union(&last).world_ranks().eq([4, 2, 0, 3]));
/// assert!(even.intersection(&last).world_ranks().eq([4]));
/// assert!(even.difference(&last).world_ranks().eq([2, 0]));
/// # Ok::<(), motet::Error>(())
/// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    roster: Roster,
}

/// The members in order. Each order has one representation, so that equal groups compare equal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Roster {
    /// `count` consecutive ranks of the world from `first` on; from 0 if there are none.
    Row { first: u32, count: u32 },
    /// Any other members.
    List(Arc<List>),
}

/// Members that are not consecutive.
#[derive(Debug)]
struct List {
    peers: Box<[Peer]>,
    /// Whether they are in the order of the world, and so are their own index.
    ascends: bool,
    /// The places in the order of the members in the world, once a place has been asked for.
    index: OnceLock<Box<[u32]>>,
}

impl PartialEq for List {
    fn eq(&self, other: &List) -> bool {
        self.peers == other.peers
    }
}

impl Eq for List {}

impl List {
    /// Up to this many members are searched linearly.
    const FEW: usize = 16;

    fn new(peers: Vec<Peer>) -> List {
        let ascends = peers.is_sorted();
        List { peers: peers.into(), ascends, index: OnceLock::new() }
    }

    fn place(&self, peer: Peer) -> Option<usize> {
        if self.peers.len() <= List::FEW {
            return self.peers.iter().position(|&member| member == peer);
        }
        if self.ascends {
            return self.peers.binary_search(&peer).ok();
        }
        let member = |place: u32| self.peers[place as usize];
        let index = self.index.get_or_init(|| {
            let mut places: Vec<u32> = (0..self.peers.len() as u32).collect();
            sort_by_number(&mut places, |&place| u64::from(member(place).0));
            places.into()
        });
        let at = index.binary_search_by_key(&peer, |&place| member(place)).ok()?;
        Some(index[at] as usize)
    }
}

/// How two groups, or two communicators, compare. (MPI 4.1 §7.3.1, §7.4.1)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Groups: the same members in the same order. Communicators: the same context as well.
    /// (`MPI_IDENT`)
    Identical,
    /// Communicators whose groups are identical, with contexts of their own. Groups never are.
    /// (`MPI_CONGRUENT`)
    Congruent,
    /// The same members in another order. (`MPI_SIMILAR`)
    Similar,
    /// Not the same members. (`MPI_UNEQUAL`)
    Unequal,
}

/// The ranks `first`, `first + stride`, and so on, up to `last` at most. (MPI 4.1 §7.3.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankRange {
    /// The first rank.
    pub first: usize,
    /// The limit, itself in the range only if the strides meet it. Below `first` if the stride is
    /// negative.
    pub last: usize,
    /// The distance from one rank to the next; not zero.
    pub stride: isize,
}

/// Why a group is invalid, or cannot be made of these ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// A rank that the group does not have.
    #[error("rank {rank} is not in the group of {size} ranks; pass ranks below {size}")]
    Rank {
        /// The rank.
        rank: usize,
        /// Ranks in the group.
        size: usize,
    },
    /// A rank that is named twice.
    #[error("rank {rank} appears twice; pass each rank of a group once")]
    Twice {
        /// The rank.
        rank: usize,
    },
    /// A range whose stride is zero or leads away from its end.
    #[error("the range {0} does not reach its end; pass a stride that leads there")]
    Range(RankRange),
    /// A member of the group is not in the communicator from which another is made.
    #[error(
        "rank {rank} of the world is in the group, but not in the communicator; \
         pass a group of members of the communicator"
    )]
    Outsider {
        /// Its rank in the world.
        rank: usize,
    },
    /// The caller creates a communicator of a group of which it is no member.
    #[error("the calling rank is not in the group; only members of the group make this call")]
    CallerOutside,
    /// The two groups of an intercommunicator have a member in common.
    #[error("rank {rank} of the world is in both groups; pass groups without a common member")]
    Overlap {
        /// Its rank in the world.
        rank: usize,
    },
    /// Two members of a group have not passed the same group.
    #[error("rank {rank} is in the group, but passed another group; pass one group on all members")]
    Differs {
        /// The other's rank in the communicator.
        rank: usize,
    },
}

impl RankRange {
    /// The ranks, all of which must be in a group of `size`.
    fn ranks(self, size: usize) -> Result<impl Iterator<Item = usize>, GroupError> {
        let RankRange { first, last, stride } = self;
        let (distance, step) = (last.abs_diff(first), stride.unsigned_abs());
        let towards = distance == 0 || (stride > 0) == (first < last);
        if stride == 0 || !towards {
            return Err(GroupError::Range(self));
        }
        let at = move |distance| if stride > 0 { first + distance } else { first - distance };
        let farthest = distance - distance % step;
        let largest = first.max(at(farthest));
        if largest >= size {
            return Err(GroupError::Rank { rank: largest, size });
        }
        Ok((0..=farthest).step_by(step).map(at))
    }
}

impl fmt::Display for RankRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "from {} to {} by {}", self.first, self.last, self.stride)
    }
}

impl Group {
    /// The group of these members, all different, in this order.
    pub(crate) fn new(members: Vec<Peer>) -> Group {
        let first = members.first().map_or(0, |peer| peer.0);
        let in_a_row = members.iter().map(|peer| peer.0).eq((first..).take(members.len()));
        let roster = match in_a_row {
            true => Roster::Row { first, count: members.len() as u32 },
            false => Roster::List(Arc::new(List::new(members))),
        };
        Group { roster }
    }

    /// All ranks of a world.
    pub(crate) fn world(ranks: usize) -> Group {
        Group { roster: Roster::Row { first: 0, count: ranks as u32 } }
    }

    /// The group without members. (`MPI_GROUP_EMPTY`)
    pub fn empty() -> Group {
        Group::world(0)
    }

    /// The members in order.
    pub(crate) fn peers(&self) -> impl ExactSizeIterator<Item = Peer> + '_ {
        (0..self.size()).map(|rank| self.peer(rank))
    }

    #[inline]
    pub(crate) fn peer(&self, rank: usize) -> Peer {
        match &self.roster {
            &Roster::Row { first, count } => {
                assert!(rank < count as usize, "a rank of the group");
                Peer(first + rank as u32)
            }
            Roster::List(list) => list.peers[rank],
        }
    }

    /// The member of this rank, if there is one.
    #[inline]
    pub(crate) fn peer_at(&self, rank: usize) -> Option<Peer> {
        match &self.roster {
            &Roster::Row { first, count } => {
                (rank < count as usize).then(|| Peer(first + rank as u32))
            }
            Roster::List(list) => list.peers.get(rank).copied(),
        }
    }

    pub(crate) fn rank_of_peer(&self, peer: Peer) -> Option<usize> {
        match &self.roster {
            &Roster::Row { first, count } => {
                let place = peer.0.checked_sub(first)?;
                (place < count).then_some(place as usize)
            }
            Roster::List(list) => list.place(peer),
        }
    }

    fn has(&self, peer: Peer) -> bool {
        self.rank_of_peer(peer).is_some()
    }

    /// Number of members. (`MPI_Group_size`)
    pub fn size(&self) -> usize {
        match &self.roster {
            Roster::Row { count, .. } => *count as usize,
            Roster::List(list) => list.peers.len(),
        }
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// The members, as ranks in the world.
    pub fn world_ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.peers().map(|peer| peer.index())
    }

    /// The place in this group of a rank of the world, if it is a member. For the caller's own
    /// place see [`Communicator::place_in`](crate::Communicator::place_in).
    pub fn rank_of(&self, world_rank: usize) -> Option<usize> {
        self.rank_of_peer(Peer(u32::try_from(world_rank).ok()?))
    }

    /// The rank in `other` of the member with rank `rank` here, if it is a member of both.
    /// (`MPI_Group_translate_ranks`)
    pub fn translate(&self, rank: usize, other: &Group) -> Option<usize> {
        other.rank_of_peer((rank < self.size()).then(|| self.peer(rank))?)
    }

    /// Compares the members of two groups and their order; the result is never
    /// [`Congruent`](Comparison::Congruent). (`MPI_Group_compare`)
    pub fn compare(&self, other: &Group) -> Comparison {
        if self == other {
            return Comparison::Identical;
        }
        // Groups of the same size are the same set if one has no member that the other has not.
        if self.size() == other.size() && self.difference(other).is_empty() {
            return Comparison::Similar;
        }
        Comparison::Unequal
    }

    /// The members of this group in their order, then those of `other` that are not among them, in
    /// theirs. (`MPI_Group_union`)
    #[must_use]
    pub fn union(&self, other: &Group) -> Group {
        let new = other.peers().filter(|&peer| !self.has(peer));
        Group::new(self.peers().chain(new).collect())
    }

    /// The members that are in `other` too, in the order they have here.
    /// (`MPI_Group_intersection`)
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Group {
        Group::new(self.peers().filter(|&peer| other.has(peer)).collect())
    }

    /// The members that are not in `other`, in the order they have here.
    /// (`MPI_Group_difference`)
    #[must_use]
    pub fn difference(&self, other: &Group) -> Group {
        Group::new(self.peers().filter(|&peer| !other.has(peer)).collect())
    }

    /// The group of these members, in this order. (`MPI_Group_incl`)
    ///
    /// # Errors
    /// A rank that is not in the group, or is named twice.
    pub fn include(&self, ranks: &[usize]) -> Result<Group, GroupError> {
        self.named(ranks)?;
        Ok(Group::new(ranks.iter().map(|&rank| self.peer(rank)).collect()))
    }

    /// The group without these members, in the order they have here. (`MPI_Group_excl`)
    ///
    /// # Errors
    /// A rank that is not in the group, or is named twice.
    pub fn exclude(&self, ranks: &[usize]) -> Result<Group, GroupError> {
        let named = self.named(ranks)?;
        let kept = (0..self.size()).filter(|rank| named.binary_search(rank).is_err());
        Ok(Group::new(kept.map(|rank| self.peer(rank)).collect()))
    }

    /// The group of the members in these ranges, in this order. (`MPI_Group_range_incl`)
    ///
    /// ```
    /// # motet::threads(7, |world| {
    /// let odd = motet::RankRange { first: 5, last: 0, stride: -2 };
    /// let group = world.group().range_include(&[odd])?;
    /// assert!(group.world_ranks().eq([5, 3, 1]));
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A range that does not lead to its end, or that holds a rank that is not in the group or is
    /// in an earlier range.
    pub fn range_include(&self, ranges: &[RankRange]) -> Result<Group, GroupError> {
        self.include(&self.ranks_in(ranges)?)
    }

    /// The group without the members in these ranges, in the order they have here.
    /// (`MPI_Group_range_excl`)
    ///
    /// # Errors
    /// As [`Group::range_include`].
    pub fn range_exclude(&self, ranges: &[RankRange]) -> Result<Group, GroupError> {
        self.exclude(&self.ranks_in(ranges)?)
    }

    /// The ranks of these ranges, one range after the other. A rank in two of them ends the list:
    /// the list stays within twice the group however often it is named.
    fn ranks_in(&self, ranges: &[RankRange]) -> Result<Vec<usize>, GroupError> {
        let mut ranks = Vec::new();
        for range in ranges {
            ranks.extend(range.ranks(self.size())?);
            if ranks.len() > self.size() {
                break;
            }
        }
        Ok(ranks)
    }

    /// The named ranks in ascending order. Needs memory for those, not for the whole group.
    fn named(&self, ranks: &[usize]) -> Result<Vec<usize>, GroupError> {
        let size = self.size();
        let mut named: Vec<_> = ranks.iter().copied().zip(0..).collect();
        named.sort_unstable();
        let again = named.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1);
        let beyond = ranks.iter().position(|&rank| rank >= size);
        if let Some(at) = again.chain(beyond).min() {
            let rank = ranks[at];
            return Err(match rank < size {
                true => GroupError::Twice { rank },
                false => GroupError::Rank { rank, size },
            });
        }
        Ok(named.into_iter().map(|(rank, _)| rank).collect())
    }

    /// A fingerprint of the members and their order (FNV-1a): other groups almost always differ.
    /// The same in all programs, since ranks compare it.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.world_ranks().fold(0xcbf2_9ce4_8422_2325, |hash, rank| {
            (hash ^ rank as u64).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranks() -> Result<(), GroupError> {
        let world = Group::world(6);
        let odd = world.include(&[5, 1, 3])?;
        assert!(odd.world_ranks().eq([5, 1, 3]));
        assert_eq!((odd.rank_of(3), odd.rank_of(2)), (Some(2), None));
        assert_eq!(odd.translate(0, &world), Some(5));
        assert_eq!((world.translate(0, &odd), world.translate(6, &odd)), (None, None));
        assert!(world.exclude(&[0, 2, 4])?.world_ranks().eq([1, 3, 5]));
        assert_eq!(world.rank_of(6), None);
        Ok(())
    }

    /// A row of ranks however it was made is the same value, and takes no list.
    #[test]
    fn rows_are_not_listed() -> Result<(), GroupError> {
        let world = Group::world(1_000_000);
        let row = world.include(&[7, 8, 9])?;
        assert_eq!(row.roster, Roster::Row { first: 7, count: 3 });
        assert_eq!((row.rank_of(6), row.rank_of(9), row.rank_of(10)), (None, Some(2), None));
        assert_eq!(world.include(&[])?, Group::empty());
        assert_eq!(row.difference(&row), Group::empty());
        assert_eq!(world.intersection(&row), row);
        assert!(matches!(row.include(&[0, 2])?.roster, Roster::List(_)));
        Ok(())
    }

    /// Few and many members, in the order of the world, in another, and with gaps.
    #[test]
    fn every_member_is_found_at_its_place() -> Result<(), GroupError> {
        for count in [1, 2, List::FEW, List::FEW + 1, 1000] {
            for stride in [1, 2, 7] {
                let world = Group::world(count * stride + 1);
                let up: Vec<_> = (0..count).map(|place| place * stride).collect();
                let down: Vec<_> = up.iter().rev().copied().collect();
                let mixed: Vec<_> = (0..count).map(|place| up[place * 611 % count]).collect();
                for ranks in [up, down, mixed] {
                    let group = world.include(&ranks)?;
                    for world_rank in 0..world.size() {
                        let place = ranks.iter().position(|&rank| rank == world_rank);
                        assert_eq!(group.rank_of(world_rank), place, "{ranks:?}");
                    }
                    let here = group.world_ranks();
                    assert!(here.eq(ranks.iter().copied()));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_first_wrong_rank_is_told() {
        let world = Group::world(4);
        let twice = |rank| Err(GroupError::Twice { rank });
        let beyond = |rank| Err(GroupError::Rank { rank, size: 4 });
        assert_eq!(world.include(&[3, 1, 1, 9, 3]), twice(1));
        assert_eq!(world.include(&[2, 9, 2]), beyond(9));
        assert_eq!(world.exclude(&[9, 9]), beyond(9));
    }

    #[test]
    fn fingerprints_tell_orders_apart() -> Result<(), GroupError> {
        let world = Group::world(4);
        let turned = world.include(&[1, 0, 2, 3])?;
        assert_ne!(world.fingerprint(), turned.fingerprint());
        assert_eq!(world.fingerprint(), turned.include(&[1, 0, 2, 3])?.fingerprint());
        Ok(())
    }
}
