//! What each rank passes and gets, written as plain loops over the group.

use motet::Block;

use crate::case::{Case, Kind};

/// What is in memory that nobody has written.
const CANARY: u64 = 0xdead_beef_0bad_cafe;

/// One rank's part in a case.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Not there if it is in place.
    pub(crate) send: Option<Vec<u64>>,
    pub(crate) receive: Vec<u64>,
    /// What must be in the place of `receive` at the end, where it matters.
    pub(crate) expected: Vec<Option<u64>>,
    pub(crate) to: Vec<Block>,
    pub(crate) from: Vec<Block>,
    pub(crate) counts: Vec<usize>,
}

/// Two values in the order of their ranks: maps `x -> first * x + second` one after the other.
pub(crate) fn compose(left: u64, right: u64) -> u64 {
    let (first, second) = ((left >> 32) as u32, left as u32);
    let (third, fourth) = ((right >> 32) as u32, right as u32);
    let factor = first.wrapping_mul(third);
    let constant = second.wrapping_mul(third).wrapping_add(fourth);
    u64::from(factor) << 32 | u64::from(constant)
}

fn canaries(count: usize) -> Vec<u64> {
    vec![CANARY; count]
}

fn exactly(values: &[u64]) -> Vec<Option<u64>> {
    values.iter().copied().map(Some).collect()
}

/// Blocks of these lengths, from the last to the first, with gaps between them.
fn ragged(counts: &[usize]) -> Vec<Block> {
    let mut start = 1;
    let mut blocks = Vec::new();
    for &count in counts.iter().rev() {
        blocks.push(Block { start, count });
        start += count + 1;
    }
    blocks.reverse();
    blocks
}

/// Canaries with some blocks filled.
fn filled<'a>(blocks: &[Block], data: impl IntoIterator<Item = (usize, &'a [u64])>) -> Vec<u64> {
    let end = blocks.iter().map(|block| block.start + block.count).max().unwrap_or(0);
    let mut buffer = canaries(end + 1);
    for (block, values) in data {
        buffer[blocks[block].start..][..values.len()].copy_from_slice(values);
    }
    buffer
}

impl Share {
    fn new(send: Option<Vec<u64>>, receive: Vec<u64>, expected: &[u64]) -> Share {
        let (to, from, counts) = (Vec::new(), Vec::new(), Vec::new());
        Share { send, receive, expected: exactly(expected), to, from, counts }
    }

    /// Of a rank that is no member: nothing that it passes fits, and nothing may change.
    fn outside(case: &Case) -> Share {
        let one_buffer = case.in_place || case.kind == Kind::Bcast;
        let poison = canaries(3);
        let send = (!one_buffer).then(|| canaries(5));
        let wrong = vec![Block { start: 1 << 40, count: 77 }; 2];
        let share = Share::new(send, poison.clone(), &poison);
        Share { to: wrong.clone(), from: wrong, counts: vec![9; 3], ..share }
    }

    /// What a rank of the communicator passes and gets in a round.
    pub(crate) fn of(case: &Case, rank: usize, round: usize) -> Share {
        let Some(me) = case.place(rank) else { return Share::outside(case) };
        let oracle = Oracle { case, round, me, size: case.group.len() };
        match case.kind {
            Kind::Barrier => Share::new(None, Vec::new(), &[]),
            Kind::Bcast => oracle.bcast(),
            Kind::Gather => oracle.gather(),
            Kind::Gatherv => oracle.gatherv(),
            Kind::Scatter => oracle.scatter(),
            Kind::Scatterv => oracle.scatterv(),
            Kind::Allgather => oracle.allgather(),
            Kind::Allgatherv => oracle.allgatherv(),
            Kind::Alltoall => oracle.alltoall(),
            Kind::Alltoallv | Kind::Alltoallw => oracle.alltoallv(),
            Kind::Reduce => oracle.reduce(),
            Kind::Allreduce => oracle.same_length(0..oracle.size),
            Kind::Scan => oracle.same_length(0..me + 1),
            Kind::Exscan => oracle.same_length(0..me),
            Kind::ReduceScatterBlock => oracle.shared_out(&vec![case.count; oracle.size]),
            Kind::ReduceScatter => oracle.shared_out(&oracle.lengths()),
        }
    }
}

struct Oracle<'a> {
    case: &'a Case,
    round: usize,
    me: usize,
    size: usize,
}

impl Oracle<'_> {
    /// What a member has for another; members are named by their places.
    fn data(&self, from: usize, to: usize, count: usize) -> Vec<u64> {
        let value = |at| {
            let value = self.case.number(&[self.round, from, to, at]);
            // Sums of these do not overflow.
            if self.case.ordered { value } else { value >> 20 }
        };
        (0..count).map(value).collect()
    }

    /// One block of each member.
    fn inputs(&self) -> Vec<Vec<u64>> {
        (0..self.size).map(|from| self.data(from, 0, self.case.count)).collect()
    }

    /// Block lengths that all members know.
    fn lengths(&self) -> Vec<usize> {
        (0..self.size).map(|member| self.case.varied(member, 0)).collect()
    }

    /// One block of each member, of those lengths.
    fn uneven(&self) -> Vec<Vec<u64>> {
        let lengths = self.lengths();
        (0..self.size).map(|from| self.data(from, 0, lengths[from])).collect()
    }

    fn is_root(&self) -> bool {
        self.me == self.case.root
    }

    fn bcast(&self) -> Share {
        let data = self.data(self.case.root, 0, self.case.count);
        let before = if self.is_root() { data.clone() } else { canaries(data.len()) };
        Share::new(None, before, &data)
    }

    fn gather(&self) -> Share {
        let (inputs, count, me) = (self.inputs(), self.case.count, self.me);
        let own = inputs[me].clone();
        match (self.is_root(), self.case.in_place) {
            (true, false) => Share::new(Some(own), canaries(count * self.size), &inputs.concat()),
            (true, true) => {
                let mut before = canaries(count * self.size);
                before[me * count..][..count].copy_from_slice(&own);
                Share::new(None, before, &inputs.concat())
            }
            (false, false) => Share::new(Some(own), canaries(2), &canaries(2)),
            (false, true) => Share::new(None, own.clone(), &own),
        }
    }

    fn gatherv(&self) -> Share {
        let (inputs, me) = (self.uneven(), self.me);
        let blocks = ragged(&self.lengths());
        let own = inputs[me].clone();
        if !self.is_root() {
            return match self.case.in_place {
                true => Share::new(None, own.clone(), &own),
                false => Share::new(Some(own), canaries(2), &canaries(2)),
            };
        }
        let all = filled(&blocks, inputs.iter().map(Vec::as_slice).enumerate());
        let share = match self.case.in_place {
            true => Share::new(None, filled(&blocks, [(me, &own[..])]), &all),
            false => Share::new(Some(own), canaries(all.len()), &all),
        };
        Share { from: blocks, ..share }
    }

    fn scatter(&self) -> Share {
        let (root, count) = (self.case.root, self.case.count);
        let own = self.data(root, self.me, count);
        let mut all = Vec::new();
        for to in 0..self.size {
            all.extend(self.data(root, to, count));
        }
        match (self.is_root(), self.case.in_place) {
            (true, false) => Share::new(Some(all), canaries(count), &own),
            (true, true) => Share::new(None, all.clone(), &all),
            (false, false) => Share::new(Some(canaries(1)), canaries(count), &own),
            (false, true) => Share::new(None, canaries(count), &own),
        }
    }

    fn scatterv(&self) -> Share {
        let (root, lengths) = (self.case.root, self.lengths());
        let own = self.data(root, self.me, lengths[self.me]);
        if !self.is_root() {
            let send = (!self.case.in_place).then(|| canaries(1));
            return Share::new(send, canaries(own.len()), &own);
        }
        let blocks = ragged(&lengths);
        let dealt: Vec<Vec<u64>> =
            (0..self.size).map(|to| self.data(root, to, lengths[to])).collect();
        let all = filled(&blocks, dealt.iter().map(Vec::as_slice).enumerate());
        let share = match self.case.in_place {
            true => Share::new(None, all.clone(), &all),
            false => Share::new(Some(all), canaries(own.len()), &own),
        };
        Share { to: blocks, ..share }
    }

    fn allgather(&self) -> Share {
        let (inputs, count, me) = (self.inputs(), self.case.count, self.me);
        let mut before = canaries(count * self.size);
        if !self.case.in_place {
            return Share::new(Some(inputs[me].clone()), before, &inputs.concat());
        }
        before[me * count..][..count].copy_from_slice(&inputs[me]);
        Share::new(None, before, &inputs.concat())
    }

    fn allgatherv(&self) -> Share {
        let (inputs, me) = (self.uneven(), self.me);
        let blocks = ragged(&self.lengths());
        let all = filled(&blocks, inputs.iter().map(Vec::as_slice).enumerate());
        let share = match self.case.in_place {
            true => Share::new(None, filled(&blocks, [(me, &inputs[me][..])]), &all),
            false => Share::new(Some(inputs[me].clone()), canaries(all.len()), &all),
        };
        Share { from: blocks, ..share }
    }

    fn alltoall(&self) -> Share {
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for other in 0..self.size {
            sent.extend(self.data(self.me, other, self.case.count));
            received.extend(self.data(other, self.me, self.case.count));
        }
        match self.case.in_place {
            true => Share::new(None, sent, &received),
            false => Share::new(Some(sent), canaries(received.len()), &received),
        }
    }

    fn alltoallv(&self) -> Share {
        // In place two members have as much for each other.
        let length = |from: usize, to: usize| match self.case.in_place {
            true => self.case.varied(from.min(to), from.max(to)),
            false => self.case.varied(from, to),
        };
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for other in 0..self.size {
            sent.push(self.data(self.me, other, length(self.me, other)));
            received.push(self.data(other, self.me, length(other, self.me)));
        }
        let lengths = |blocks: &[Vec<u64>]| blocks.iter().map(Vec::len).collect::<Vec<_>>();
        let (to, from) = (ragged(&lengths(&sent)), ragged(&lengths(&received)));
        let sent = filled(&to, sent.iter().map(Vec::as_slice).enumerate());
        let received = filled(&from, received.iter().map(Vec::as_slice).enumerate());
        let share = match self.case.in_place {
            true => Share::new(None, sent, &received),
            false => Share::new(Some(sent), canaries(received.len()), &received),
        };
        Share { to, from, ..share }
    }

    /// The reduction of what some members have, in the order of the group.
    fn reduction(&self, members: std::ops::Range<usize>, len: usize) -> Option<Vec<u64>> {
        let mut result: Option<Vec<u64>> = None;
        for member in members {
            let input = self.data(member, 0, len);
            result = Some(match result {
                None => input,
                Some(left) => self.combined(&left, &input),
            });
        }
        result
    }

    fn combined(&self, left: &[u64], right: &[u64]) -> Vec<u64> {
        let combine = |(&left, &right)| match self.case.ordered {
            true => compose(left, right),
            false => left + right,
        };
        left.iter().zip(right).map(combine).collect()
    }

    fn reduce(&self) -> Share {
        let count = self.case.count;
        let own = self.data(self.me, 0, count);
        let result = self.reduction(0..self.size, count).expect("a member");
        match (self.is_root(), self.case.in_place) {
            (true, false) => Share::new(Some(own), canaries(count), &result),
            (true, true) => Share::new(None, own, &result),
            (false, false) => Share::new(Some(own), canaries(2), &canaries(2)),
            (false, true) => Share::new(None, own.clone(), &own),
        }
    }

    /// An operation whose input and output have one length. Where nothing is reduced, the output
    /// stays as it is.
    fn same_length(&self, members: std::ops::Range<usize>) -> Share {
        let own = self.data(self.me, 0, self.case.count);
        let before = if self.case.in_place { own.clone() } else { canaries(own.len()) };
        let result = self.reduction(members, own.len()).unwrap_or_else(|| before.clone());
        Share::new((!self.case.in_place).then_some(own), before, &result)
    }

    fn shared_out(&self, counts: &[usize]) -> Share {
        let whole = counts.iter().sum();
        let input = self.data(self.me, 0, whole);
        let result = self.reduction(0..self.size, whole).expect("a member");
        let first = counts[..self.me].iter().sum();
        let own = &result[first..][..counts[self.me]];
        let share = match self.case.in_place {
            false => Share::new(Some(input), canaries(own.len()), own),
            true => {
                // What lies behind the block of this member is not said.
                let rest = vec![None; whole - own.len()];
                let expected = [exactly(own), rest].concat();
                Share { expected, ..Share::new(None, input, &[]) }
            }
        };
        Share { counts: counts.to_vec(), ..share }
    }
}
