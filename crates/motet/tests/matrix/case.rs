//! The cases of the matrix, and a choice of them.

use crate::layout::Layout;

/// All collectives.
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
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
}

use Kind::*;

impl Kind {
    pub(crate) const ALL: [Kind; 22] = [
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
        NeighborAllgather,
        NeighborAllgatherv,
        NeighborAlltoall,
        NeighborAlltoallv,
        NeighborAlltoallw,
    ];

    pub(crate) fn is_among_neighbours(self) -> bool {
        self as usize >= NeighborAllgather as usize
    }

    pub(crate) fn reduces(self) -> bool {
        (Reduce as usize..=Exscan as usize).contains(&(self as usize))
    }

    fn may_be_in_place(self) -> bool {
        !self.is_among_neighbours() && !matches!(self, Barrier | Bcast)
    }

    fn is_between_groups(self) -> bool {
        !self.is_among_neighbours() && !matches!(self, Scan | Exscan)
    }

    /// The collective of the plans that carries it out.
    pub(crate) fn planned(self, between: bool) -> &'static str {
        match (self, between) {
            (Barrier, false) => "barrier",
            (Barrier, true) => "inter_barrier",
            (Bcast, _) => "bcast",
            (Gather, _) => "gather",
            (Gatherv, _) => "gatherv",
            (Scatter, _) => "scatter",
            (Scatterv, _) => "scatterv",
            (Allgather, false) => "allgather",
            (Allgather, true) => "inter_allgather",
            (Allgatherv, false) => "allgatherv",
            (Allgatherv, true) => "inter_allgatherv",
            (Alltoall, false) => "alltoall",
            (Alltoallv | Alltoallw, false) => "alltoallv",
            (Reduce, false) => "reduce",
            (Reduce, true) => "inter_reduce",
            (Allreduce, false) => "allreduce",
            (Allreduce, true) => "inter_allreduce",
            (ReduceScatterBlock, false) => "reduce_scatter_block",
            (ReduceScatterBlock, true) => "inter_reduce_scatter_block",
            (ReduceScatter, false) => "reduce_scatter",
            (ReduceScatter, true) => "inter_reduce_scatter",
            (Scan, _) => "scan",
            (Exscan, _) => "exscan",
            _ => "exchangev",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Nonblocking,
    TwoPhase,
    Persistent,
}

impl Form {
    const ALL: [Form; 4] = [Form::Blocking, Form::Nonblocking, Form::TwoPhase, Form::Persistent];
}

/// Where the ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupLayout {
    OneGroup { in_place: bool },
    TwoGroups,
}

/// One point of the matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) form: Form,
    pub(crate) place: GroupLayout,
    pub(crate) layout: Layout,
    pub(crate) ranks: usize,
    pub(crate) count: usize,
    /// Decides what the matrix leaves open: the root, the operator, the other side's layout.
    pub(crate) seed: u64,
}

pub(crate) const RANKS: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];
const COUNTS: [usize; 5] = [0, 1, 3, 1000, 65536 + 1];

impl Case {
    pub(crate) fn in_place(&self) -> bool {
        self.place == GroupLayout::OneGroup { in_place: true }
    }

    pub(crate) fn between(&self) -> bool {
        self.place == GroupLayout::TwoGroups
    }

    pub(crate) fn root(&self) -> usize {
        self.seed as usize % self.ranks
    }

    /// Of two groups, how many ranks are in the first.
    pub(crate) fn left(&self) -> usize {
        lefts(self.ranks)[self.seed as usize / 16 % lefts(self.ranks).len()]
    }

    /// The layout of what is received.
    pub(crate) fn receive_layout(&self) -> Layout {
        let crossed = !self.kind.reduces() && self.kind != Bcast && self.seed & 0x100 != 0;
        if crossed { self.layout.other() } else { self.layout }
    }
}

/// Ways to part ranks into two groups that are tried.
pub(crate) fn lefts(ranks: usize) -> Vec<usize> {
    let mut lefts = vec![1, ranks / 2, ranks - 1];
    lefts.dedup();
    lefts
}

/// Well mixed bits of a number (splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// All cases for so many ranks.
pub(crate) fn all(ranks: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        let mut places = vec![GroupLayout::OneGroup { in_place: false }];
        if kind.may_be_in_place() {
            places.push(GroupLayout::OneGroup { in_place: true });
        }
        if kind.is_between_groups() && ranks > 1 {
            places.push(GroupLayout::TwoGroups);
        }
        for place in places {
            for form in Form::ALL {
                for layout in Layout::ALL {
                    for count in COUNTS {
                        let seed = mix((ranks * 1_000_000 + cases.len()) as u64);
                        cases.push(Case { kind, form, place, layout, ranks, count, seed });
                    }
                }
            }
        }
    }
    cases
}

/// Some of them that look random and are the same each time: few of the large ones.
pub(crate) fn some(mut cases: Vec<Case>, number: usize) -> Vec<Case> {
    cases.sort_by_key(|case| mix(case.seed));
    let large = |case: &&Case| case.count > 60_000;
    let few = cases.iter().filter(large).take(number / 16);
    let rest = cases.iter().filter(|case| !large(case)).take(number - number / 16);
    few.chain(rest).copied().collect()
}
