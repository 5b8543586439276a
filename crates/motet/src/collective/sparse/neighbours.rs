//! Neighbours of a rank in a sparse collective: its destinations or its sources.

use std::borrow::Cow;

use motet_fabric::Peer;
use motet_plan::{Block, Rank};

use crate::base::error::ErrorKind;
use crate::base::group::{Group, GroupError};
use crate::collective::TypedBlock;
use crate::collective::args::{RankSet, exact};
use crate::comm::communicator::Communicator;
use crate::comm::topology::Neighbour;

/// The destinations or the sources of the caller, in the order of their blocks. Made from a list of
/// ranks of the communicator, or from a [`Group`].
///
/// A list may contain a rank more than once, and the caller itself: the k-th block for a rank is
/// the k-th block that it receives from the caller. If each block has its own place, a [`Block`] or
/// a [`TypedBlock`] for each neighbour gives it: in one list with the ranks, or in a separate list.
///
/// ```
/// use motet::{Block, Neighbour};
///
/// // Everybody but rank 0 has as many elements for rank 0 as its own number is.
/// motet::threads(3, |world| {
///     let me = world.rank();
///     let to = if me == 0 { vec![] } else { vec![Neighbour { rank: 0, start: 0, count: me }] };
///     let others = world.group().exclude(&[0])?;
///     let blocks = [Block { start: 0, count: 1 }, Block { start: 1, count: 2 }];
///     let mut all = [0usize; 3];
///     match me {
///         0 => world.exchangev(&[], &mut all, &to, (&others, &blocks))?,
///         _ => world.exchangev(&[me, me], &mut [], &to, &[])?,
///     }
///     assert!(me > 0 || all == [1, 2, 2]);
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Neighbours<'a, Place = ()> {
    ranks: Ranks<'a>,
    /// The place of the block of each neighbour.
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
enum Ranks<'a> {
    /// Ranks of the communicator.
    Listed(Cow<'a, [usize]>),
    /// The members of a group, which must be in the communicator.
    Group(&'a Group),
}

impl Ranks<'_> {
    /// Converts them to ranks of the communicator.
    fn of(&self, communicator: &Communicator) -> Result<Vec<Rank>, ErrorKind> {
        match self {
            Ranks::Listed(ranks) => communicator.ranks(ranks.iter()),
            Ranks::Group(group) => members(group, communicator),
        }
    }
}

/// Converts the members of a group to ranks of a communicator that contains them all.
pub(crate) fn members(group: &Group, communicator: &Communicator) -> Result<Vec<Rank>, ErrorKind> {
    let all = communicator.group();
    let rank_of = |peer: Peer| match all.rank_of_peer(peer) {
        Some(rank) => Ok(Rank::from_index(rank)),
        None => Err(GroupError::Outsider { rank: peer.index() }.into()),
    };
    group.peers().map(rank_of).collect()
}

impl Neighbours<'_> {
    /// Converts them to ranks of a communicator.
    pub(crate) fn ranks(&self, communicator: &Communicator) -> Result<Vec<Rank>, ErrorKind> {
        self.ranks.of(communicator)
    }
}

impl<Place> Neighbours<'_, Place> {
    /// Converts them to ranks of a communicator, and returns the place of each one's block.
    pub(crate) fn placed(
        self,
        communicator: &Communicator,
    ) -> Result<(Vec<Rank>, Vec<Place>), ErrorKind> {
        let ranks = self.ranks.of(communicator)?;
        exact("list of blocks", self.places.len(), ranks.len(), "the neighbours are")?;
        Ok((ranks, self.places))
    }
}

impl Neighbours<'_, Block> {
    /// Converts them to the neighbours of a plan.
    pub(crate) fn blocks(
        self,
        communicator: &Communicator,
    ) -> Result<Vec<motet_plan::Neighbour>, ErrorKind> {
        let (ranks, blocks) = self.placed(communicator)?;
        let neighbour =
            |(rank, Block { start, count })| motet_plan::Neighbour { rank, start, count };
        Ok(ranks.into_iter().zip(blocks).map(neighbour).collect())
    }
}

impl<'a> From<&'a Group> for Neighbours<'a> {
    fn from(group: &'a Group) -> Neighbours<'a> {
        Neighbours { ranks: Ranks::Group(group), places: Vec::new() }
    }
}

/// Makes the conversions from the kinds of lists that a program may pass.
macro_rules! from_lists {
    ($(
        $list:ident [$($length:tt)*]:
            [$of_ranks:ty, $of_neighbours:ty, $of_pairs:ty, $of_places:ty];
    )*) => {$(
        impl<'a $($length)*> From<&'a $of_ranks> for Neighbours<'a> {
            fn from(ranks: &'a $of_ranks) -> Neighbours<'a> {
                Neighbours { ranks: Ranks::Listed(ranks[..].into()), places: Vec::new() }
            }
        }

        impl<'a $($length)*> From<&'a $of_neighbours> for Neighbours<'a, Block> {
            fn from(list: &'a $of_neighbours) -> Neighbours<'a, Block> {
                let ranks = Cow::Owned(list.iter().map(|each| each.rank).collect());
                let block = |each: &Neighbour| Block { start: each.start, count: each.count };
                Neighbours { ranks: Ranks::Listed(ranks), places: list.iter().map(block).collect() }
            }
        }

        impl<'a $($length)*> From<&'a $of_pairs> for Neighbours<'a, TypedBlock> {
            fn from(list: &'a $of_pairs) -> Neighbours<'a, TypedBlock> {
                let ranks = Cow::Owned(list.iter().map(|(rank, _)| *rank).collect());
                let places = list.iter().map(|(_, part)| part.clone()).collect();
                Neighbours { ranks: Ranks::Listed(ranks), places }
            }
        }

        impl<'a, All: Into<Neighbours<'a>>, Place: Clone $($length)*> From<(All, &'a $of_places)>
            for Neighbours<'a, Place>
        {
            fn from((all, places): (All, &'a $of_places)) -> Neighbours<'a, Place> {
                Neighbours { ranks: all.into().ranks, places: places.to_vec() }
            }
        }
    )*};
}

from_lists! {
    slice []: [[usize], [Neighbour], [(usize, TypedBlock)], [Place]];
    array [, const N: usize]: [[usize; N], [Neighbour; N], [(usize, TypedBlock); N], [Place; N]];
    vector []: [Vec<usize>, Vec<Neighbour>, Vec<(usize, TypedBlock)>, Vec<Place>];
}
