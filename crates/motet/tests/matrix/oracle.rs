//! What each rank sends, and what it must find afterwards: plain loops over all ranks.

use crate::case::{Case, Kind, mix};
use crate::layout::Value;

/// How two values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Sum,
    Xor,
    /// Composition of the functions `x -> a x + b`: it does not commute.
    Compose,
}

impl Operator {
    pub(crate) fn of(case: &Case) -> Operator {
        match (case.layout, case.seed >> 12 & 3) {
            (crate::layout::Layout::Gaps, _) | (_, 0 | 1) => Operator::Compose,
            (_, 2) => Operator::Sum,
            _ => Operator::Xor,
        }
    }

    pub(crate) fn combine(self, left: Value, right: Value) -> Value {
        let ([a, b], [c, d]) = (left, right);
        match self {
            Operator::Sum => [a.wrapping_add(c), b.wrapping_add(d)],
            Operator::Xor => [a ^ c, b ^ d],
            Operator::Compose => [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)],
        }
    }
}

/// What a rank must find in a block.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// These values.
    Values(Vec<Value>),
    /// What was there before.
    Same,
    /// Anything, in its items.
    Any,
}

/// A block that is received into.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) count: usize,
    /// What it holds at the start.
    pub(crate) initial: Option<Vec<Value>>,
    pub(crate) expected: Expected,
}

/// What a rank passes to a collective. `None` means in place, or that nothing is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallBuffers {
    pub(crate) send: Option<Vec<Vec<Value>>>,
    pub(crate) receive: Option<Vec<Slot>>,
}

/// The edges of a rank: to whom, and from whom by which of its edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    pub(crate) to: Vec<Option<usize>>,
    pub(crate) from: Vec<Option<(usize, usize)>>,
}

/// One run of a case.
#[derive(Clone, Copy)]
pub(crate) struct Oracle<'a> {
    pub(crate) case: &'a Case,
    pub(crate) round: u64,
}

fn slot(expected: Vec<Value>) -> Slot {
    Slot { count: expected.len(), initial: None, expected: Expected::Values(expected) }
}

impl Oracle<'_> {
    /// What a rank has for a destination.
    fn data(&self, from: usize, to: usize, count: usize) -> Vec<Value> {
        let seed = self.case.seed ^ self.round << 40 ^ (from * 64 + to) as u64;
        let value = |index: usize| {
            let bits = mix(seed.wrapping_add((index as u64) << 13));
            [bits as u32, (bits >> 32) as u32]
        };
        (0..count).map(value).collect()
    }

    /// How many items go from one rank to another where that varies; some go nowhere.
    pub(crate) fn varied(&self, from: usize, to: usize) -> usize {
        match (from + 2 * to) % 4 {
            _ if self.case.count == 0 => 0,
            3 => 0,
            more => self.case.count + more,
        }
    }

    fn fold(&self, inputs: impl Iterator<Item = Vec<Value>>) -> Option<Vec<Value>> {
        let operator = Operator::of(self.case);
        inputs.reduce(|left, right| {
            let both = left.into_iter().zip(right);
            both.map(|(left, right)| operator.combine(left, right)).collect()
        })
    }

    /// The part of a rank in a communicator.
    pub(crate) fn part(&self, me: usize) -> CallBuffers {
        let (kind, ranks, count) = (self.case.kind, self.case.ranks, self.case.count);
        let (root, in_place) = (self.case.root(), self.case.in_place());
        let all = 0..ranks;
        let at_root = |part: CallBuffers| if me == root { part } else { CallBuffers::default() };
        let mut part = match kind {
            Kind::Barrier => CallBuffers::default(),
            Kind::Bcast => {
                let data = self.data(root, 0, count);
                let initial = (me == root).then(|| data.clone());
                let only = Slot { initial, ..slot(data) };
                CallBuffers { send: None, receive: Some(vec![only]) }
            }
            Kind::Gather | Kind::Gatherv => {
                let of = |rank| self.data(rank, 0, self.length(kind, rank, 0));
                let receive = Some(all.map(|rank| slot(of(rank))).collect());
                CallBuffers {
                    send: Some(vec![of(me)]),
                    ..at_root(CallBuffers { send: None, receive })
                }
            }
            Kind::Scatter | Kind::Scatterv => {
                let of = |rank| self.data(root, rank, self.length(kind, root, rank));
                let send = Some(all.map(of).collect());
                CallBuffers {
                    receive: Some(vec![slot(of(me))]),
                    ..at_root(CallBuffers { send, receive: None })
                }
            }
            Kind::Allgather | Kind::Allgatherv => {
                let of = |rank| self.data(rank, 0, self.length(kind, rank, 0));
                let receive = Some(all.map(|rank| slot(of(rank))).collect());
                CallBuffers { send: Some(vec![of(me)]), receive }
            }
            Kind::Alltoall | Kind::Alltoallv | Kind::Alltoallw => {
                let send = all.clone().map(|to| self.data(me, to, self.length(kind, me, to)));
                let receive =
                    all.map(|from| slot(self.data(from, me, self.length(kind, from, me))));
                CallBuffers { send: Some(send.collect()), receive: Some(receive.collect()) }
            }
            _ => return self.reduction(me),
        };
        if in_place {
            self.put_in_place(&mut part, me);
        }
        part
    }

    /// The length of a block.
    fn length(&self, kind: Kind, from: usize, to: usize) -> usize {
        match kind {
            Kind::Gatherv | Kind::Scatterv | Kind::Allgatherv => self.varied(from, to),
            // In place, as much comes back as goes there.
            Kind::Alltoallv | Kind::Alltoallw if self.case.in_place() => {
                self.varied(from.min(to), from.max(to))
            }
            Kind::Alltoallv | Kind::Alltoallw => self.varied(from, to),
            _ => self.case.count,
        }
    }

    /// What would be sent lies where it is received.
    fn put_in_place(&self, part: &mut CallBuffers, me: usize) {
        let root = self.case.root();
        match self.case.kind {
            Kind::Gather | Kind::Gatherv if me != root => {}
            Kind::Gather | Kind::Gatherv | Kind::Allgather | Kind::Allgatherv => {
                if let (Some(send), Some(receive)) = (part.send.take(), &mut part.receive) {
                    receive[me].initial = send.into_iter().next();
                }
            }
            Kind::Scatter | Kind::Scatterv if me == root => part.receive = None,
            Kind::Scatter | Kind::Scatterv => {}
            _ => {
                if let (Some(send), Some(receive)) = (part.send.take(), &mut part.receive) {
                    receive.iter_mut().zip(send).for_each(|(slot, data)| slot.initial = Some(data));
                }
            }
        }
    }

    fn reduction(&self, me: usize) -> CallBuffers {
        let (ranks, count, root) = (self.case.ranks, self.case.count, self.case.root());
        let counts: Vec<usize> = match self.case.kind {
            Kind::ReduceScatter => (0..ranks).map(|rank| self.varied(rank, 0)).collect(),
            Kind::ReduceScatterBlock => vec![count; ranks],
            _ => vec![count],
        };
        let input = |rank| self.data(rank, 0, counts.iter().sum());
        let first: usize = counts[..me.min(counts.len() - 1)].iter().sum();
        let (from, own) = match self.case.kind {
            Kind::ReduceScatter | Kind::ReduceScatterBlock => (first, counts[me]),
            _ => (0, count),
        };
        let over = match self.case.kind {
            Kind::Scan => 0..me + 1,
            Kind::Exscan => 0..me,
            _ => 0..ranks,
        };
        let result = self.fold(over.map(input)).map(|all| all[from..from + own].to_vec());
        let expected = result.map_or(Expected::Same, Expected::Values);
        let result = Slot { count: own, initial: None, expected };
        if self.case.kind == Kind::Reduce && me != root {
            return CallBuffers { send: Some(vec![input(me)]), receive: None };
        }
        if !self.case.in_place() {
            return CallBuffers { send: Some(vec![input(me)]), receive: Some(vec![result]) };
        }
        // The input lies in the output. Only the first part of that is defined afterwards.
        let (mut own, data) = (result, input(me));
        let rest = data[own.count..].to_vec();
        own.initial = Some(data[..own.count].to_vec());
        let rest = Slot { count: rest.len(), initial: Some(rest), expected: Expected::Any };
        CallBuffers { send: None, receive: Some(vec![own, rest]) }
    }

    /// The part of a rank between two groups: its number in its group, and whether that is the
    /// first. Ranks are numbered through both.
    pub(crate) fn part_between(&self, me: usize) -> CallBuffers {
        let (kind, ranks, root) = (self.case.kind, self.case.ranks, self.case.root());
        let left = self.case.left();
        let of_left = |rank: usize| rank < left;
        let far = if of_left(me) { left..ranks } else { 0..left };
        let near_root = of_left(me) == of_left(root);
        let varied = |from: usize, to: usize| match kind {
            Kind::Gatherv | Kind::Scatterv => self.varied(from, to),
            Kind::Allgatherv | Kind::Alltoallv | Kind::Alltoallw => self.varied(from, to),
            // Of one length for each direction.
            Kind::Allgather | Kind::Alltoall if self.case.count > 0 && !of_left(from) => {
                self.case.count + 2
            }
            _ => self.case.count,
        };
        let idle = near_root && me != root;
        match kind {
            Kind::Bcast | Kind::Gather | Kind::Gatherv | Kind::Scatter | Kind::Scatterv if idle => {
                CallBuffers::default()
            }
            Kind::Bcast => {
                let data = self.data(root, 0, self.case.count);
                let initial = (me == root).then(|| data.clone());
                CallBuffers { send: None, receive: Some(vec![Slot { initial, ..slot(data) }]) }
            }
            Kind::Gather | Kind::Gatherv if me == root => {
                let receive = far.map(|rank| slot(self.data(rank, 0, varied(rank, 0)))).collect();
                CallBuffers { send: None, receive: Some(receive) }
            }
            Kind::Gather | Kind::Gatherv => {
                CallBuffers { send: Some(vec![self.data(me, 0, varied(me, 0))]), receive: None }
            }
            Kind::Scatter | Kind::Scatterv if me == root => {
                let send = far.map(|rank| self.data(root, rank, varied(root, rank))).collect();
                CallBuffers { send: Some(send), receive: None }
            }
            Kind::Scatter | Kind::Scatterv => CallBuffers {
                send: None,
                receive: Some(vec![slot(self.data(root, me, varied(root, me)))]),
            },
            Kind::Allgather | Kind::Allgatherv => {
                let receive = far.map(|rank| slot(self.data(rank, 0, varied(rank, 0)))).collect();
                let send = Some(vec![self.data(me, 0, varied(me, 0))]);
                CallBuffers { send, receive: Some(receive) }
            }
            Kind::Alltoall | Kind::Alltoallv | Kind::Alltoallw => {
                let send = far.clone().map(|to| self.data(me, to, varied(me, to))).collect();
                let receive = far.map(|from| slot(self.data(from, me, varied(from, me)))).collect();
                CallBuffers { send: Some(send), receive: Some(receive) }
            }
            Kind::Barrier => CallBuffers::default(),
            _ => self.reduction_between(me),
        }
    }

    /// How many items each rank of a group gets of a reduction that is shared out.
    pub(crate) fn shares(&self, of_left: bool) -> Vec<usize> {
        let left = self.case.left();
        let (near, far) =
            if of_left { (left, self.case.ranks - left) } else { (self.case.ranks - left, left) };
        match self.case.kind {
            Kind::ReduceScatterBlock => vec![self.case.count * far; near],
            _ => {
                let total = self.case.count * 3;
                let mut shares = vec![total / near; near];
                shares[near - 1] += total % near;
                shares
            }
        }
    }

    fn reduction_between(&self, me: usize) -> CallBuffers {
        let (count, root, left) = (self.case.count, self.case.root(), self.case.left());
        let of_left = me < left;
        let (far, first) = if of_left { (left..self.case.ranks, 0) } else { (0..left, left) };
        let (total, from, own) = match self.case.kind {
            Kind::Reduce | Kind::Allreduce => (count, 0, count),
            _ => {
                let shares = self.shares(of_left);
                let at = me - first;
                (shares.iter().sum(), shares[..at].iter().sum(), shares[at])
            }
        };
        let result = self.fold(far.map(|rank| self.data(rank, 0, total)));
        let result = result.map(|all| all[from..from + own].to_vec()).unwrap_or_default();
        let input = Some(vec![self.data(me, 0, total)]);
        match self.case.kind {
            Kind::Reduce if me == root => {
                CallBuffers { send: None, receive: Some(vec![slot(result)]) }
            }
            Kind::Reduce if of_left == (root < left) => CallBuffers::default(),
            Kind::Reduce => CallBuffers { send: input, receive: None },
            _ => CallBuffers { send: input, receive: Some(vec![slot(result)]) },
        }
    }

    /// The part of a rank among neighbours.
    pub(crate) fn part_among(&self, edges: &Edges, me: usize) -> CallBuffers {
        let kind = self.case.kind;
        let varies = matches!(kind, Kind::NeighborAlltoallv | Kind::NeighborAlltoallw);
        let gathers = matches!(kind, Kind::NeighborAllgather | Kind::NeighborAllgatherv);
        let length = |from: usize, edge: usize| match kind {
            Kind::NeighborAllgatherv => self.varied(from, 0),
            _ if varies => self.varied(from, edge),
            _ => self.case.count,
        };
        let of = |from: usize, edge: usize| {
            let edge = if gathers { 0 } else { edge };
            self.data(from, edge, length(from, edge))
        };
        let receive = edges.from.iter().map(|source| match *source {
            Some((rank, edge)) => slot(of(rank, edge)),
            // The block of nobody is left alone.
            None => Slot { count: self.case.count, initial: None, expected: Expected::Same },
        });
        let blocks = if gathers { 1 } else { edges.to.len() };
        let send = (0..blocks).map(|edge| of(me, edge)).collect();
        CallBuffers { send: Some(send), receive: Some(receive.collect()) }
    }
}

/// The edges of all ranks, of a line (with ends) or of a graph without double edges.
pub(crate) fn edges(ranks: usize, line: bool) -> Vec<Edges> {
    if line {
        let edge = |rank: usize| {
            let (below, above) = (rank.checked_sub(1), (rank + 1 < ranks).then_some(rank + 1));
            let from = vec![below.map(|rank| (rank, 1)), above.map(|rank| (rank, 0))];
            Edges { to: vec![below, above], from }
        };
        return (0..ranks).map(edge).collect();
    }
    let to = |rank: usize| {
        let mut to = vec![(rank + 1) % ranks, (rank + 2) % ranks];
        if rank.is_multiple_of(2) {
            to.push(rank);
        }
        to.sort_unstable();
        to.dedup();
        to
    };
    let from = |me: usize| {
        let sources = (0..ranks)
            .filter_map(|rank| Some(Some((rank, to(rank).iter().position(|&to| to == me)?))));
        sources.collect()
    };
    (0..ranks)
        .map(|rank| Edges { to: to(rank).into_iter().map(Some).collect(), from: from(rank) })
        .collect()
}
