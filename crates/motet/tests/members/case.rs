//! Cases: an operation, the group it is among, and what it leaves open.

use motet::{Info, hint::ENFORCE};

use crate::worlds::Random;

/// All persistent collectives that take a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatterBlock,
    ReduceScatter,
    Scan,
    Exscan,
}

use Kind::*;

impl Kind {
    pub(crate) const ALL: [Kind; 17] = [
        Barrier,
        Bcast,
        Gather,
        Gatherv,
        Scatter,
        Scatterv,
        Allgather,
        Allgatherv,
        Alltoall,
        Alltoallv,
        Alltoallw,
        Reduce,
        Allreduce,
        ReduceScatterBlock,
        ReduceScatter,
        Scan,
        Exscan,
    ];

    /// The collective of the plans that carries it out.
    pub(crate) fn planned(self) -> &'static str {
        match self {
            Barrier => "barrier",
            Bcast => "bcast",
            Gather => "gather",
            Gatherv => "gatherv",
            Scatter => "scatter",
            Scatterv => "scatterv",
            Allgather => "allgather",
            Allgatherv => "allgatherv",
            Alltoall => "alltoall",
            Alltoallv | Alltoallw => "alltoallv",
            Reduce => "reduce",
            Allreduce => "allreduce",
            ReduceScatterBlock => "reduce_scatter_block",
            ReduceScatter => "reduce_scatter",
            Scan => "scan",
            Exscan => "exscan",
        }
    }
}

/// One operation among the members of a group.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    /// Ranks of the communicator, in the order of the group.
    pub(crate) group: Vec<usize>,
    /// The root's place in the group.
    pub(crate) root: usize,
    pub(crate) count: usize,
    pub(crate) in_place: bool,
    /// Whether the order of operands counts.
    pub(crate) ordered: bool,
    /// Whether the init is collective: ranks agree that their calls fit, and measure.
    pub(crate) enforced: bool,
    /// Decides the data, the lengths of blocks, and which outsiders know the group.
    pub(crate) seed: u64,
}

impl Case {
    /// A case among some of the ranks, in some order.
    pub(crate) fn random(random: &mut Random, kind: Kind, ranks: usize) -> Case {
        let mut group: Vec<usize> = (0..ranks).collect();
        random.shuffle(&mut group);
        group.truncate(random.below(ranks + 1));
        Case::among(random, kind, group)
    }

    /// A case among these ranks.
    pub(crate) fn among(random: &mut Random, kind: Kind, group: Vec<usize>) -> Case {
        let root = random.below(group.len().max(1));
        let count = [0, 1, 2, 5, 33, 700][random.below(6)];
        let (in_place, ordered) = (random.below(3) == 0, random.below(2) == 0);
        Case { kind, group, root, count, in_place, ordered, enforced: false, seed: random.next() }
    }

    /// The hints of all ranks.
    pub(crate) fn info(&self) -> Info {
        if self.enforced { Info::new().with(ENFORCE, "true") } else { Info::new() }
    }

    /// The place of a rank in the group.
    pub(crate) fn place(&self, rank: usize) -> Option<usize> {
        self.group.iter().position(|&member| member == rank)
    }

    /// What a rank passes as the group.
    pub(crate) fn passed(&self, rank: usize) -> &[usize] {
        let knows = self.place(rank).is_some() || self.number(&[7, rank]).is_multiple_of(2);
        if knows { &self.group } else { &[] }
    }

    /// The rank of the root in the communicator; any, if there are no members.
    pub(crate) fn root_rank(&self) -> usize {
        self.group.get(self.root).copied().unwrap_or(0)
    }

    /// A number that follows from the case and these.
    pub(crate) fn number(&self, words: &[usize]) -> u64 {
        words.iter().fold(self.seed, |mixed, &word| Random(mixed ^ word as u64).next())
    }

    /// The length of a block that is not like the others; often none at all.
    pub(crate) fn varied(&self, one: usize, other: usize) -> usize {
        let number = self.number(&[3, one, other]) as usize;
        if number.is_multiple_of(4) { 0 } else { number % (self.count + 2) }
    }
}
