//! All sparse collectives on one graph, in one form, against what follows from its edges.

use motet::op::{commutative, ordered};
use motet::{Block, Datatype, Group, Neighbour, Result, TypedBlock};

use super::elements::Sample;
use super::forms::{Data, Trial, in_one, in_pair};

/// Who sends to whom. Blocks of one pair of ranks are in the order of the edges at both ends; else
/// each rank has an order of its own for its destinations, and another for its sources.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<(usize, usize)>,
    /// Decides on the orders.
    pub(crate) seed: usize,
}

/// A graph, as one rank sees it.
struct Seen {
    me: usize,
    /// The edges from here, in the order of destinations.
    out: Vec<usize>,
    /// The edges to here, in the order of sources.
    incoming: Vec<usize>,
    to: Vec<usize>,
    from: Vec<usize>,
    /// The same as groups, if no edge is there twice.
    groups: Option<[Group; 2]>,
}

impl Graph {
    fn seen(&self, trial: &Trial<'_>) -> Result<Seen> {
        let me = trial.world.rank();
        let shuffled = |other: usize, salt: usize| (other * 7 + me * 3 + self.seed + salt) % 11;
        let mut out: Vec<_> = (0..self.edges.len()).filter(|&at| self.edges[at].0 == me).collect();
        out.sort_by_key(|&at| shuffled(self.edges[at].1, 0));
        let mut incoming: Vec<_> =
            (0..self.edges.len()).filter(|&at| self.edges[at].1 == me).collect();
        incoming.sort_by_key(|&at| shuffled(self.edges[at].0, 5));
        let to: Vec<_> = out.iter().map(|&at| self.edges[at].1).collect();
        let from: Vec<_> = incoming.iter().map(|&at| self.edges[at].0).collect();
        // All ranks must make the same calls.
        let is_set = (1..self.edges.len()).all(|at| !self.edges[..at].contains(&self.edges[at]));
        let groups = match is_set {
            true => Some([trial.world.group().include(&to)?, trial.world.group().include(&from)?]),
            false => None,
        };
        Ok(Seen { me, out, incoming, to, from, groups })
    }
}

/// What goes over an edge, or what a rank gives to all.
fn part<T: Sample>(number: usize, round: usize, count: usize) -> Vec<T> {
    (0..count).map(|at| T::sample(number, round, at)).collect()
}

/// What a rank gives where it has one block for all.
fn own<T: Sample>(rank: usize, round: usize, count: usize) -> Vec<T> {
    part(1000 + rank, round, count)
}

/// The reduction of blocks in their order; what was there before if there is none.
fn folded<T: Sample>(blocks: Vec<Vec<T>>, before: Vec<T>, combine: fn(T, T) -> T) -> Vec<T> {
    let both = |left: Vec<T>, right: Vec<T>| {
        left.into_iter().zip(right).map(|(left, right)| combine(left, right)).collect()
    };
    blocks.into_iter().reduce(both).unwrap_or(before)
}

/// Blocks with gaps before them, the last one first in memory, and how long a buffer must be.
fn places(counts: &[usize]) -> (Vec<Block>, usize) {
    let mut end = 0;
    let mut blocks = Vec::new();
    for (at, &count) in counts.iter().enumerate().rev() {
        blocks.push(Block { start: end + 1 + at % 2, count });
        end += 1 + at % 2 + count;
    }
    blocks.reverse();
    (blocks, end + 1)
}

fn filled<T: Sample>(len: usize, blocks: &[Block], part: impl Fn(usize) -> Vec<T>) -> Vec<T> {
    let mut buffer = vec![T::CANARY; len];
    for (at, block) in blocks.iter().enumerate() {
        buffer[block.start..][..block.count].copy_from_slice(&part(at));
    }
    buffer
}

/// Lengths that differ from edge to edge, some of them none.
fn length(edge: usize, count: usize) -> usize {
    (edge * 7 + 3) % (count + 3)
}

fn neighbours(ranks: &[usize], blocks: &[Block]) -> Vec<Neighbour> {
    let neighbour =
        |(&rank, &Block { start, count }): (&usize, &Block)| Neighbour { rank, start, count };
    ranks.iter().zip(blocks).map(neighbour).collect()
}

fn exchange<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { out, incoming, to, from, .. }) = (trial.count, seen);
    let parts = |edges: &[usize], round| {
        edges.iter().flat_map(|&edge| part::<T>(edge, round, count)).collect::<Vec<T>>()
    };
    let before = |_| vec![T::CANARY; count * from.len()];
    let data = Data::new(|round| parts(out, round), before, |round| parts(incoming, round));
    in_pair!(trial, &data, exchange, iexchange, exchange_begin, exchange_init(to, from));
    if let Some([to, from]) = &seen.groups {
        in_pair!(trial, &data, exchange, iexchange, exchange_begin, exchange_init(to, from));
    }
    Ok(())
}

fn exchangev<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { out, incoming, to, from, .. }) = (trial.count, seen);
    let lengths = |edges: &[usize]| edges.iter().map(|&at| length(at, count)).collect::<Vec<_>>();
    let (sends, given) = &places(&lengths(out));
    let (receives, taken) = &places(&lengths(incoming));
    let of =
        |edges: &[usize], round, at: usize| part::<T>(edges[at], round, length(edges[at], count));
    let input = |round| filled(*given, sends, |at| of(out, round, at));
    let after = |round| filled(*taken, receives, |at| of(incoming, round, at));
    let data = Data::new(input, |_| vec![T::CANARY; *taken], after);
    let (destinations, sources) = (&neighbours(to, sends), &neighbours(from, receives));
    in_pair!(
        trial,
        &data,
        exchangev,
        iexchangev,
        exchangev_begin,
        exchangev_init(destinations, sources)
    );
    if let Some([to, from]) = &seen.groups {
        let (to, from) = ((to, sends), (from, receives));
        in_pair!(trial, &data, exchangev, iexchangev, exchangev_begin, exchangev_init(to, from));
    }
    Ok(())
}

fn bcast<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { me, to, from, .. }) = (trial.count, seen);
    let given = if to.is_empty() { 0 } else { count };
    let input = |round| own::<T>(*me, round, given);
    let after = |round| from.iter().flat_map(|&rank| own(rank, round, count)).collect();
    let data = Data::new(input, |_| vec![T::CANARY; count * from.len()], after);
    in_pair!(
        trial,
        &data,
        neighbor_bcast,
        ineighbor_bcast,
        neighbor_bcast_begin,
        neighbor_bcast_init(to, from)
    );
    let of_rank = |rank| length(rank, count);
    let (blocks, len) = &places(&from.iter().map(|&rank| of_rank(rank)).collect::<Vec<_>>());
    let input = |round| own::<T>(*me, round, of_rank(*me));
    let after = |round| filled(*len, blocks, |at| own(from[at], round, of_rank(from[at])));
    let data = Data::new(input, |_| vec![T::CANARY; *len], after);
    let sources = &neighbours(from, blocks);
    in_pair!(
        trial,
        &data,
        neighbor_bcastv,
        ineighbor_bcastv,
        neighbor_bcastv_begin,
        neighbor_bcastv_init(to, sources)
    );
    if let Some([to, from]) = &seen.groups {
        let from = (from, blocks);
        in_pair!(
            trial,
            &data,
            neighbor_bcastv,
            ineighbor_bcastv,
            neighbor_bcastv_begin,
            neighbor_bcastv_init(to, from)
        );
    }
    Ok(())
}

fn reduce<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { out, incoming, to, from, .. }) = (trial.count, seen);
    let input =
        |round| out.iter().flat_map(|&edge| part::<T>(edge, round, count)).collect::<Vec<T>>();
    let before = |_| vec![T::CANARY; count];
    let after = |round, combine| {
        let blocks = incoming.iter().map(|&edge| part::<T>(edge, round, count)).collect();
        folded(blocks, before(round), combine)
    };
    let data = Data::new(input, before, |round| after(round, T::compose));
    in_pair!(
        trial,
        &data,
        neighbor_reduce,
        ineighbor_reduce,
        neighbor_reduce_begin,
        neighbor_reduce_init(ordered(T::compose), to, from)
    );
    let data = Data::new(input, before, |round| after(round, T::add));
    in_pair!(
        trial,
        &data,
        neighbor_reduce,
        ineighbor_reduce,
        neighbor_reduce_begin,
        neighbor_reduce_init(commutative(T::add), to, from)
    );
    Ok(())
}

fn reducev<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { me, out, incoming, to, from, .. }) = (trial.count, seen);
    let of_rank = |rank| length(rank, count);
    let (blocks, len) = &places(&to.iter().map(|&rank| of_rank(rank)).collect::<Vec<_>>());
    let input = |round| filled::<T>(*len, blocks, |at| part(out[at], round, of_rank(to[at])));
    let before = |_| vec![T::CANARY; of_rank(*me)];
    let after = |round| {
        let blocks = incoming.iter().map(|&edge| part::<T>(edge, round, of_rank(*me))).collect();
        folded(blocks, before(round), T::compose)
    };
    let data = Data::new(input, before, after);
    let destinations = &neighbours(to, blocks);
    in_pair!(
        trial,
        &data,
        neighbor_reducev,
        ineighbor_reducev,
        neighbor_reducev_begin,
        neighbor_reducev_init(ordered(T::compose), destinations, from)
    );
    if let Some([to, from]) = &seen.groups {
        let to = (to, blocks);
        in_pair!(
            trial,
            &data,
            neighbor_reducev,
            ineighbor_reducev,
            neighbor_reducev_begin,
            neighbor_reducev_init(ordered(T::compose), to, from)
        );
    }
    Ok(())
}

fn allreduce<T: Sample>(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { me, to, from, .. }) = (trial.count, seen);
    let input = |round| own::<T>(*me, round, count);
    let before = |_| vec![T::CANARY; count];
    let after = |round| {
        let blocks = from.iter().map(|&rank| own::<T>(rank, round, count)).collect();
        folded(blocks, before(round), T::compose)
    };
    let data = Data::new(input, before, after);
    in_pair!(
        trial,
        &data,
        neighbor_allreduce,
        ineighbor_allreduce,
        neighbor_allreduce_begin,
        neighbor_allreduce_init(ordered(T::compose), to, from)
    );
    Ok(())
}

/// Blocks of every other element, or of every third, or in a row: a rank sends in its own way, and
/// receives in another, into places between those that it sends from if there is one buffer.
fn exchangew(trial: &Trial<'_>, seen: &Seen) -> Result<()> {
    let (count, Seen { me, out, incoming, to, from, .. }) = (trial.count, seen);
    let strides = [1 + me % 3, 1 + (me + 1) % 3];
    // One after the other in memory: what is sent first, if it shares the buffer.
    let spread = |edges: &[usize], stride: usize, begin: usize| {
        let mut start = begin;
        let place = |edge: &usize| {
            let (at, count) = (start, length(*edge, count));
            // By an even number: what begins at an odd place stays at odd ones, with a stride of 2.
            start += (count * stride + 1).next_multiple_of(2);
            (at, count)
        };
        let list: Vec<(usize, usize)> = edges.iter().map(place).collect();
        (list, start)
    };
    let part_of = |(at, count): &(usize, usize), stride: usize| -> Result<TypedBlock> {
        let layout = Datatype::vector(*count as i64, 1, stride as i64, &Datatype::INT32_T)?;
        Ok(TypedBlock::new(4 * *at as isize, 1, &layout))
    };
    let parts = |ranks: &[usize],
                 list: &[(usize, usize)],
                 stride|
     -> Result<Vec<(usize, TypedBlock)>> {
        ranks.iter().zip(list).map(|(&rank, place)| Ok((rank, part_of(place, stride)?))).collect()
    };
    let put = |buffer: &mut [i32], edges: &[usize], list: &[(usize, usize)], stride, round| {
        for (&edge, &(at, count)) in edges.iter().zip(list) {
            let elements = part::<i32>(edge, round, count).into_iter().enumerate();
            elements.for_each(|(number, element)| buffer[at + number * stride] = element);
        }
    };
    let (sent, given) = &spread(out, strides[0], 1);
    let (received, taken) = &spread(incoming, strides[1], 0);
    let (destinations, sources) =
        (&parts(to, sent, strides[0])?, &parts(from, received, strides[1])?);
    let with = |len: usize, edges: &[usize], list, stride, round| {
        let mut buffer = vec![i32::CANARY; len];
        put(&mut buffer, edges, list, stride, round);
        buffer
    };
    let input = |round| with(*given, out, sent, strides[0], round);
    let after = |round| with(*taken, incoming, received, strides[1], round);
    let data = Data::new(input, |_| vec![i32::CANARY; *taken], after);
    in_pair!(
        trial,
        &data,
        exchangew,
        iexchangew,
        exchangew_begin,
        exchangew_init(destinations, sources)
    );
    // With strides of 2, what is received lies between the elements that are sent.
    let (sent, given) = &spread(out, 2, 0);
    let (received, taken) = &spread(incoming, 2, 1);
    let (destinations, sources) = (&parts(to, sent, 2)?, &parts(from, received, 2)?);
    let before = |round| with(*given.max(taken), out, sent, 2, round);
    let after = |round| {
        let mut buffer = before(round);
        put(&mut buffer, incoming, received, 2, round);
        buffer
    };
    let data = Data::new(|_| Vec::new(), before, after);
    in_one!(
        trial,
        &data,
        exchangew_in_place,
        iexchangew,
        exchangew_begin,
        exchangew_init(destinations, sources)
    );
    Ok(())
}

/// Those that only move data.
pub(crate) fn moving<T: Sample>(trial: &Trial<'_>, graph: &Graph) -> Result<()> {
    let seen = graph.seen(trial)?;
    exchange::<T>(trial, &seen)?;
    exchangev::<T>(trial, &seen)?;
    bcast::<T>(trial, &seen)?;
    exchangew(trial, &seen)
}

/// Those that reduce.
pub(crate) fn reducing<T: Sample>(trial: &Trial<'_>, graph: &Graph) -> Result<()> {
    let seen = graph.seen(trial)?;
    reduce::<T>(trial, &seen)?;
    reducev::<T>(trial, &seen)?;
    allreduce::<T>(trial, &seen)
}
