//! Ordered sets of ranks, and how to make them of others. (MPI 4.1 §7.3)
//!
//! A group is a value: all operations on it are local and leave it as it is.

use std::fmt;
use std::sync::Arc;

use motet_fabric::Peer;

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
    members: Arc<[Peer]>,
    /// Whether member `i` is rank `i` of the world, so that nothing needs to be searched.
    identity: bool,
}

/// How two groups, or two communicators, are alike. (MPI 4.1 §7.3.1, §7.4.1)
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

/// The ranks `first`, `first + stride`, and so on, as far as `last` and not beyond it.
/// (MPI 4.1 §7.3.2)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankRange {
    /// The first rank.
    pub first: usize,
    /// The limit, itself in the range only if the strides meet it. Below `first` if the stride is
    /// negative.
    pub last: usize,
    /// From one rank to the next; not zero.
    pub stride: isize,
}

/// What is wrong with a group, or with the ranks that should make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// A rank that the group does not have.
    #[error("rank {rank} is not in a group of {size} ranks")]
    Rank {
        /// The rank.
        rank: usize,
        /// Ranks in the group.
        size: usize,
    },
    /// A rank that is named twice.
    #[error("rank {rank} is named twice, but a group holds each rank once")]
    Twice {
        /// The rank.
        rank: usize,
    },
    /// A range whose stride is zero or leads away from its end.
    #[error("the range {0} does not lead to its end")]
    Range(RankRange),
    /// A member of the group is not in the communicator of which it should make another.
    #[error("the group holds rank {rank} of the world, which is not in the communicator")]
    Outsider {
        /// Its rank in the world.
        rank: usize,
    },
    /// The caller creates a communicator of a group that it is not in.
    #[error("the caller is not in the group of which it creates a communicator")]
    CallerOutside,
    /// The two groups of an intercommunicator have a member in common.
    #[error("rank {rank} of the world is in both groups, which must not have one in common")]
    Overlap {
        /// Its rank in the world.
        rank: usize,
    },
    /// Two members of a group have not passed the same group.
    #[error("rank {rank} is in the group, but has passed another one")]
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
    pub(crate) fn new(members: Arc<[Peer]>) -> Group {
        let identity = members.iter().enumerate().all(|(place, peer)| place == peer.index());
        Group { members, identity }
    }

    /// All ranks of a world.
    pub(crate) fn world(ranks: usize) -> Group {
        Group::new((0..ranks as u32).map(Peer).collect())
    }

    /// The group without members. (`MPI_GROUP_EMPTY`)
    pub fn empty() -> Group {
        Group::new(Arc::new([]))
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

    /// Number of members. (`MPI_Group_size`)
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The members, as ranks in the world.
    pub fn world_ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|peer| peer.index())
    }

    /// The place in this group of a rank of the world, if it is a member. The caller's own place
    /// is told by [`Communicator::place_in`](crate::Communicator::place_in).
    pub fn rank_of(&self, world_rank: usize) -> Option<usize> {
        self.rank_of_peer(Peer(u32::try_from(world_rank).ok()?))
    }

    /// The rank in `other` of the member with rank `rank` here, if it is a member of both.
    /// (`MPI_Group_translate_ranks`)
    pub fn translate(&self, rank: usize, other: &Group) -> Option<usize> {
        other.rank_of_peer(*self.members.get(rank)?)
    }

    /// Whether the two have the same members, and in the same order; never
    /// [`Congruent`](Comparison::Congruent). (`MPI_Group_compare`)
    pub fn compare(&self, other: &Group) -> Comparison {
        if self == other {
            return Comparison::Identical;
        }
        // Groups of the same size are the same set if one has nothing that the other has not.
        if self.size() == other.size() && self.difference(other).is_empty() {
            return Comparison::Similar;
        }
        Comparison::Unequal
    }

    /// The members of this group in their order, then those of `other` that are not among them, in
    /// theirs. (`MPI_Group_union`)
    #[must_use]
    pub fn union(&self, other: &Group) -> Group {
        let here = Membership::of(self);
        let new = other.members.iter().filter(|&&peer| !here.has(peer));
        Group::new(self.members.iter().chain(new).copied().collect())
    }

    /// The members that are in `other` too, in the order they have here.
    /// (`MPI_Group_intersection`)
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Group {
        let there = Membership::of(other);
        Group::new(self.members.iter().copied().filter(|&peer| there.has(peer)).collect())
    }

    /// The members that are not in `other`, in the order they have here.
    /// (`MPI_Group_difference`)
    #[must_use]
    pub fn difference(&self, other: &Group) -> Group {
        let there = Membership::of(other);
        Group::new(self.members.iter().copied().filter(|&peer| !there.has(peer)).collect())
    }

    /// The group of these members, in this order. (`MPI_Group_incl`)
    ///
    /// # Errors
    /// A rank that is not in the group, or is named twice.
    pub fn include(&self, ranks: &[usize]) -> Result<Group, GroupError> {
        self.named(ranks)?;
        Ok(Group::new(ranks.iter().map(|&rank| self.members[rank]).collect()))
    }

    /// The group without these members, in the order they have here. (`MPI_Group_excl`)
    ///
    /// # Errors
    /// A rank that is not in the group, or is named twice.
    pub fn exclude(&self, ranks: &[usize]) -> Result<Group, GroupError> {
        let named = self.named(ranks)?;
        let kept = self.members.iter().zip(named).filter(|(_, named)| !named);
        Ok(Group::new(kept.map(|(&peer, _)| peer).collect()))
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

    /// For each rank whether it is named.
    fn named(&self, ranks: &[usize]) -> Result<Vec<bool>, GroupError> {
        let size = self.size();
        let mut named = vec![false; size];
        for &rank in ranks {
            let named = named.get_mut(rank).ok_or(GroupError::Rank { rank, size })?;
            if std::mem::replace(named, true) {
                return Err(GroupError::Twice { rank });
            }
        }
        Ok(named)
    }

    /// A number that differs, as good as always, if the members or their order do (FNV-1a). The
    /// same in all programs, since ranks compare it.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.world_ranks().fold(0xcbf2_9ce4_8422_2325, |hash, rank| {
            (hash ^ rank as u64).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// Who is in a group, to be asked often.
struct Membership(Vec<bool>);

impl Membership {
    fn of(group: &Group) -> Membership {
        let ranks = group.world_ranks().max().map_or(0, |last| last + 1);
        let mut members = vec![false; ranks];
        group.world_ranks().for_each(|rank| members[rank] = true);
        Membership(members)
    }

    fn has(&self, peer: Peer) -> bool {
        self.0.get(peer.index()).is_some_and(|&member| member)
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

    #[test]
    fn fingerprints_tell_orders_apart() -> Result<(), GroupError> {
        let world = Group::world(4);
        let turned = world.include(&[1, 0, 2, 3])?;
        assert_ne!(world.fingerprint(), turned.fingerprint());
        assert_eq!(world.fingerprint(), turned.include(&[1, 0, 2, 3])?.fingerprint());
        Ok(())
    }
}
