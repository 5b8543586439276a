//! Topologies, and the collectives among neighbours in every form, against an oracle that knows
//! only the edges.

mod worlds;

use std::fmt::Debug;

use motet::{
    Block, Cartesian, Communicator, Datatype, Edge, ErrorClass, Info, Reorder, Result, Topological,
    Topology, TopologyError, TypedBlock, dims_create,
};
use worlds::{Random, on_ranks};

const CANARY: u64 = u64::MAX;
const ROUNDS: usize = 2;

/// An edge from a slot of its sender to a slot of its receiver.
#[derive(Clone, Copy, Debug)]
struct Wire {
    from: usize,
    out: usize,
    to: usize,
    into: usize,
}

/// All edges, and how many slots each rank has; a slot without an edge is that of nobody.
#[derive(Clone, Debug, Default)]
struct Wiring {
    wires: Vec<Wire>,
    outs: Vec<usize>,
    ins: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
    Scoped,
    Persistent,
}

const CALLS: [Call; 5] =
    [Call::Allgather, Call::Allgatherv, Call::Alltoall, Call::Alltoallv, Call::Alltoallw];
const FORMS: [Form; 4] = [Form::Blocking, Form::Nonblocking, Form::Scoped, Form::Persistent];

/// What one rank passes to a call, and gets.
struct Trial<'a> {
    wiring: &'a Wiring,
    call: Call,
    count: usize,
    rank: usize,
}

impl Trial<'_> {
    /// The block that a rank sends from a slot. Those of an allgather are all the same, and those
    /// of an alltoallv overlap.
    fn sent(&self, rank: usize, slot: usize) -> Block {
        match self.call {
            Call::Allgather => Block { start: 0, count: self.count },
            Call::Allgatherv => Block { start: 0, count: self.count + rank % 3 },
            Call::Alltoall => Block { start: slot * self.count, count: self.count },
            Call::Alltoallv | Call::Alltoallw => {
                Block { start: slot, count: self.count * (rank + slot) % 7 }
            }
        }
    }

    fn send_len(&self, rank: usize) -> usize {
        let slots = self.wiring.outs[rank];
        let ends = (0..slots).map(|slot| self.sent(rank, slot)).map(|each| each.start + each.count);
        match self.call {
            Call::Allgather | Call::Allgatherv => self.sent(rank, 0).count,
            Call::Alltoall | Call::Alltoallv | Call::Alltoallw => ends.max().unwrap_or(0),
        }
    }

    fn input(&self, rank: usize, round: usize) -> Vec<u64> {
        let value = |at| ((round * 100 + rank) << 32 | at) as u64;
        (0..self.send_len(rank)).map(value).collect()
    }

    /// Where the blocks of the sources go: those of any length from the last to the first, with
    /// gaps.
    fn received(&self) -> Vec<Block> {
        let slots = self.wiring.ins[self.rank];
        if matches!(self.call, Call::Allgather | Call::Alltoall) {
            return (0..slots)
                .map(|s| Block { start: s * self.count, count: self.count })
                .collect();
        }
        let mut blocks = vec![Block { start: 0, count: 2 }; slots];
        for wire in self.wiring.wires.iter().filter(|wire| wire.to == self.rank) {
            blocks[wire.into].count = self.sent(wire.from, wire.out).count;
        }
        let mut end = 1;
        for block in blocks.iter_mut().rev() {
            block.start = end;
            end += block.count + 1;
        }
        blocks
    }

    fn before(&self) -> Vec<u64> {
        let ends = self.received().into_iter().map(|block| block.start + block.count);
        vec![CANARY; ends.max().unwrap_or(0)]
    }

    fn after(&self, round: usize) -> Vec<u64> {
        let (mut output, received) = (self.before(), self.received());
        for wire in self.wiring.wires.iter().filter(|wire| wire.to == self.rank) {
            let Block { start, count } = self.sent(wire.from, wire.out);
            let data = &self.input(wire.from, round)[start..start + count];
            let place = received[wire.into].start;
            output[place..place + count].copy_from_slice(data);
        }
        output
    }

    fn check(&self, form: Form, round: usize, output: &[u64]) {
        let Trial { wiring, call, count, rank } = self;
        let case = || format!("{call:?}, {form:?}, {count} elements, rank {rank} of {wiring:?}");
        assert_eq!(output, self.after(round), "round {round} of {}", case());
    }
}

/// One call in one form, some rounds of it; nonblocking ones are all under way together.
macro_rules! rounds {
    ($comm:ident, $trial:ident, $form:ident, $blocking:ident $nonblocking:ident $init:ident
        ($($argument:expr),*)) => {{
        let (me, mut pending) = ($trial.rank, Vec::new());
        match $form {
            Form::Blocking => for round in 0..ROUNDS {
                let mut output = $trial.before();
                $comm.$blocking(&$trial.input(me, round), &mut output $(, $argument)*)?;
                $trial.check($form, round, &output);
            },
            Form::Nonblocking => for round in 0..ROUNDS {
                let buffers = ($trial.input(me, round), $trial.before());
                pending.push($comm.$nonblocking(buffers $(, $argument)*)?);
            },
            Form::Scoped => {
                let inputs: [_; ROUNDS] = std::array::from_fn(|round| $trial.input(me, round));
                let mut outputs = [(); ROUNDS].map(|()| $trial.before());
                $comm.scope(|scope| {
                    for (input, output) in inputs.iter().zip(&mut outputs) {
                        // The scope waits for it.
                        drop(scope.$nonblocking((&input[..], &mut output[..]) $(, $argument)*)?);
                    }
                    Ok(())
                })?;
                for (round, output) in outputs.iter().enumerate() {
                    $trial.check($form, round, output);
                }
            }
            Form::Persistent => {
                let buffers = ($trial.input(me, 0), $trial.before());
                let mut operation = $comm.$init(buffers $(, $argument)*, &Info::new())?;
                for round in 0..ROUNDS {
                    operation.input_mut().copy_from_slice(&$trial.input(me, round));
                    operation.output_mut().fill(CANARY);
                    operation = operation.start()?.wait()?;
                    $trial.check($form, round, operation.output());
                }
            }
        }
        for (round, pending) in pending.into_iter().enumerate() {
            $trial.check($form, round, &pending.wait()?.1);
        }
    }};
}

/// Blocks as parts: displacements are bytes.
fn parts(blocks: &[Block]) -> Vec<TypedBlock> {
    let bytes = |start: usize| (start * size_of::<u64>()) as isize;
    let part =
        |block: &Block| TypedBlock::new(bytes(block.start), block.count, &Datatype::UINT64_T);
    blocks.iter().map(part).collect()
}

fn try_call<T>(comm: &Topological<T>, trial: &Trial<'_>, form: Form) -> Result<()> {
    let sent = (0..trial.wiring.outs[trial.rank]).map(|slot| trial.sent(trial.rank, slot));
    let (to, from) = (sent.collect::<Vec<_>>(), trial.received());
    match trial.call {
        Call::Allgather => rounds!(comm, trial, form,
            neighbor_allgather ineighbor_allgather neighbor_allgather_init()),
        Call::Allgatherv => rounds!(comm, trial, form,
            neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_init(&from)),
        Call::Alltoall => rounds!(comm, trial, form,
            neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init()),
        Call::Alltoallv => rounds!(comm, trial, form,
            neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_init(&to, &from)),
        Call::Alltoallw => {
            let (to, from) = (parts(&to), parts(&from));
            rounds!(comm, trial, form,
                neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init(&to, &from));
        }
    }
    Ok(())
}

/// Every collective in every form, with blocks of several lengths.
fn try_all<T>(comm: &Topological<T>, wiring: &Wiring, counts: &[usize]) -> Result<()> {
    assert_eq!(comm.neighbourhood().sources().len(), wiring.ins[comm.rank()]);
    assert_eq!(comm.neighbourhood().destinations().len(), wiring.outs[comm.rank()]);
    for (&count, call) in counts.iter().flat_map(|count| CALLS.map(|call| (count, call))) {
        for form in FORMS {
            try_call(comm, &Trial { wiring, call, count, rank: comm.rank() }, form)?;
        }
    }
    Ok(())
}

/// The place of a rank in a grid, by counting up to it.
fn place(sizes: &[usize], rank: usize) -> Vec<usize> {
    let mut place = vec![0; sizes.len()];
    for _ in 0..rank {
        for dimension in (0..sizes.len()).rev() {
            place[dimension] += 1;
            if place[dimension] < sizes[dimension] {
                break;
            }
            place[dimension] = 0;
        }
    }
    place
}

/// The edges of a grid: each rank's block towards a side comes in at the other side of whoever is
/// there.
fn grid_wiring(sizes: &[usize], periodic: &[bool]) -> Wiring {
    let ranks: usize = sizes.iter().product();
    let places: Vec<_> = (0..ranks).map(|rank| place(sizes, rank)).collect();
    let slots = vec![2 * sizes.len(); ranks];
    let mut wiring = Wiring { wires: Vec::new(), outs: slots.clone(), ins: slots };
    for (from, own) in places.iter().enumerate() {
        for dimension in 0..sizes.len() {
            let (size, ring) = (sizes[dimension], periodic[dimension]);
            let (low, high) = (own[dimension] == 0, own[dimension] + 1 == size);
            let down = if low { size - 1 } else { own[dimension] - 1 };
            let up = if high { 0 } else { own[dimension] + 1 };
            for (side, next, over) in [(0, down, low), (1, up, high)] {
                if over && !ring {
                    continue;
                }
                let mut other = own.clone();
                other[dimension] = next;
                let to =
                    places.iter().position(|place| *place == other).expect("every place is there");
                let (out, into) = (2 * dimension + side, 2 * dimension + 1 - side);
                wiring.wires.push(Wire { from, out, to, into });
            }
        }
    }
    wiring
}

/// Every grid of up to three dimensions with at most 8 places, with rings and borders.
fn grids() -> impl Iterator<Item = (Vec<usize>, Vec<bool>)> {
    let sizes = (1..=8).flat_map(|a| (1..=8).flat_map(move |b| (1..=8).map(move |c| [a, b, c])));
    let sizes = sizes.filter(|each| each.iter().product::<usize>() <= 8).flat_map(|[a, b, c]| {
        let flat = if c == 1 { vec![vec![a, b]] } else { vec![] };
        let line = if c == 1 && b == 1 { vec![vec![a]] } else { vec![] };
        [vec![vec![a, b, c]], flat, line].concat()
    });
    sizes.flat_map(|sizes| {
        let flags = |bits: usize| (0..sizes.len()).map(|at| bits >> at & 1 == 1).collect();
        let all = (0..1 << sizes.len()).map(|bits| (sizes.clone(), flags(bits)));
        all.collect::<Vec<_>>()
    })
}

/// spec: 92, 93
#[test]
fn grids_exchange_by_side() {
    for (sizes, periodic) in grids() {
        let wiring = grid_wiring(&sizes, &periodic);
        on_ranks(wiring.ins.len(), |world| {
            let grid = world.cartesian(&sizes, &periodic, Reorder::Allowed)?;
            let grid = grid.expect("the grid has a place for each rank");
            assert_eq!(grid.coordinates(), place(&sizes, grid.rank()));
            try_all(&grid, &wiring, &[0, 2])
        });
    }
}

/// Blocks that travel as addresses, several of them from the same memory.
///
/// spec: 93
#[test]
fn large_blocks() {
    for (ranks, sizes) in [(1, vec![1, 1]), (4, vec![2, 2]), (6, vec![1, 2, 3])] {
        let periodic = vec![true; sizes.len()];
        let wiring = grid_wiring(&sizes, &periodic);
        on_ranks(ranks, |world| {
            let grid = world.cartesian(&sizes, &periodic, Reorder::Never)?;
            try_all(&grid.expect("a place"), &wiring, &[40_000])
        });
    }
}

/// spec: 92
#[test]
fn ranks_beyond_the_grid_get_none() {
    on_ranks(8, |world| {
        let (sizes, periodic) = ([3, 2], [false, true]);
        let grid = world.cartesian(&sizes, &periodic, Reorder::Never)?;
        assert_eq!(grid.is_some(), world.rank() < 6);
        let too_large = world.cartesian(&[3, 3], &periodic, Reorder::Never).unwrap_err();
        assert_eq!(too_large.class(), ErrorClass::Dims);
        assert!(too_large.to_string().starts_with("cartesian on rank"), "{too_large}");
        let Some(grid) = grid else { return Ok(()) };
        try_all(&grid, &grid_wiring(&sizes, &periodic), &[3])
    });
}

/// spec: 92, 98
#[test]
fn grids_part_into_grids_and_are_duplicated() {
    let (sizes, periodic) = ([2, 2, 2], [true, false, true]);
    on_ranks(8, |world| {
        let grid = world.cartesian(&sizes, &periodic, Reorder::Never)?.expect("a place");
        for bits in 0..8 {
            let remain = [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0];
            let keep = |at: &usize| remain[*at];
            let kept: Vec<_> = (0..3).filter(keep).map(|at| sizes[at]).collect();
            let rings: Vec<_> = (0..3).filter(keep).map(|at| periodic[at]).collect();
            let own: Vec<_> = (0..3).filter(keep).map(|at| grid.coordinates()[at]).collect();
            let part = grid.sub(&remain)?;
            assert_eq!((part.topology().sizes(), part.topology().periodic()), (&*kept, &*rings));
            assert_eq!(part.coordinates(), own);
            try_all(&part, &grid_wiring(&kept, &rings), &[1])?;
        }
        let copy = grid.dup()?;
        assert_eq!(copy.topology(), grid.topology());
        try_all(&copy, &grid_wiring(&sizes, &periodic), &[1])
    });
}

/// Places, shifts and what is refused, on the plain value.
///
/// spec: 92
#[test]
fn places_of_a_grid() {
    for (sizes, periodic) in grids() {
        let grid = Cartesian::new(&sizes, &periodic).unwrap();
        for rank in 0..grid.places() {
            let own: Vec<_> = place(&sizes, rank).iter().map(|&at| at as isize).collect();
            assert_eq!(grid.rank_at(&own), Ok(Some(rank)));
            for (dimension, far) in (0..sizes.len()).flat_map(|d| (-9..=9).map(move |f| (d, f))) {
                let at = |distance: isize| {
                    let mut other = own.clone();
                    other[dimension] += distance;
                    grid.rank_at(&other).unwrap()
                };
                assert_eq!(grid.shift(rank, dimension, far), Ok((at(-far), at(far))));
            }
        }
        let places = grid.places();
        assert_eq!(grid.coordinates(places), Err(TopologyError::Place { rank: places, places }));
    }
    let line = Cartesian::new(&[3], &[false]).unwrap();
    assert_eq!(line.neighbours(0), Ok(vec![None, Some(1)]));
    assert_eq!(line.shift(1, 0, isize::MIN), Ok((None, None)));
    let dimensions = 1;
    assert_eq!(line.shift(0, 1, 1), Err(TopologyError::Dimension { dimension: 1, dimensions }));
    assert_eq!(Cartesian::new(&[2, 0], &[true; 2]), Err(TopologyError::Empty { dimension: 1 }));
    assert!(matches!(Cartesian::new(&[2], &[]), Err(TopologyError::Entries { .. })));
    let huge = Cartesian::new(&[usize::MAX, 2], &[true; 2]);
    assert!(matches!(huge, Err(TopologyError::TooLarge { .. })));
    assert_eq!(Cartesian::new(&[], &[]).unwrap().neighbours(0), Ok(vec![]));
}

#[test]
fn balanced_sizes() {
    let table: [(usize, &[usize], &[usize]); 14] = [
        (6, &[0, 0], &[3, 2]),
        (7, &[0, 0], &[7, 1]),
        (6, &[0, 3, 0], &[2, 3, 1]),
        (1, &[0, 0, 0], &[1, 1, 1]),
        (12, &[0, 0, 0], &[3, 2, 2]),
        (16, &[0, 0, 0], &[4, 2, 2]),
        (24, &[0, 0], &[6, 4]),
        (36, &[0, 0, 0], &[4, 3, 3]),
        (60, &[0, 0, 0], &[5, 4, 3]),
        (1000, &[0, 0, 0], &[10, 10, 10]),
        (1024, &[0; 4], &[8, 8, 4, 4]),
        (16_384, &[0, 0], &[128, 128]),
        (6, &[2, 3], &[2, 3]),
        (1, &[], &[]),
    ];
    for (ranks, dims, expected) in table {
        assert_eq!(dims_create(ranks, dims).as_deref(), Ok(expected), "{ranks} as {dims:?}");
    }
    for (ranks, dims) in [(7, [2, 0]), (6, [2, 2]), (12, [2, 3]), (0, [0, 0])] {
        let refused = Err(TopologyError::Indivisible { ranks, sizes: dims.to_vec() });
        assert_eq!(dims_create(ranks, &dims), refused);
    }
}

/// All ways to write a number as so many factors in decreasing order, none above `limit`.
fn factorings(number: usize, factors: usize, limit: usize) -> Vec<Vec<usize>> {
    if factors == 0 {
        return if number == 1 { vec![vec![]] } else { vec![] };
    }
    let firsts = (1..=number.min(limit)).filter(|first| number.is_multiple_of(*first));
    let after = |first| {
        let others = factorings(number / first, factors - 1, first);
        others.into_iter().map(move |others| [vec![first], others].concat())
    };
    firsts.flat_map(after).collect()
}

/// No other sizes are closer to each other: neither by what is between the largest and the smallest
/// nor by how large the largest is; also where some of the sizes are given.
#[test]
fn sizes_are_as_close_to_each_other_as_can_be() {
    for (ranks, open) in (1..=1024).flat_map(|ranks| (1..=4).map(move |open| (ranks, open))) {
        let sizes = dims_create(ranks, &vec![0; open]).expect("there are sizes for all ranks");
        let all = factorings(ranks, open, ranks);
        assert!(all.contains(&sizes), "{ranks}: {sizes:?}");
        let spread = |sizes: &[usize]| sizes[0] - sizes[open - 1];
        let least = all.iter().map(|sizes| spread(sizes)).min();
        assert_eq!(Some(spread(&sizes)), least, "{ranks}: {sizes:?}");
        assert_eq!(all.iter().min(), Some(&sizes), "{ranks}: {sizes:?}");
        // The same for what is left open, wherever something is given.
        let others = (2..=3).filter(|_| ranks <= 128 && open < 4);
        for (given, place) in others.flat_map(|given| (0..=open).map(move |place| (given, place))) {
            let mut dims = vec![0; open];
            dims.insert(place, given);
            let mut expected = sizes.clone();
            expected.insert(place, given);
            assert_eq!(dims_create(ranks * given, &dims), Ok(expected));
        }
    }
}

/// Random edges among ranks, the last of which has none: duplicates, loops, any degrees.
fn random_edges(random: &mut Random, ranks: usize) -> Vec<(usize, usize)> {
    let joined = (ranks - 1).max(1);
    let edges = random.below(3 * ranks + 1);
    (0..edges).map(|_| (random.below(joined), random.below(joined))).collect()
}

/// A slot for each edge at both ends, where each rank has its neighbours in an order of its own,
/// but edges of one pair in the order of the list; and now and then a slot of nobody.
fn graph_wiring(random: &mut Random, ranks: usize, edges: &[(usize, usize)]) -> Wiring {
    let mut wiring = Wiring { wires: Vec::new(), outs: vec![0; ranks], ins: vec![0; ranks] };
    wiring.wires.extend(edges.iter().map(|&(from, to)| Wire { from, out: 0, to, into: 0 }));
    for rank in 0..ranks {
        let mut order: Vec<usize> = (0..ranks).collect();
        random.shuffle(&mut order);
        for &other in &order {
            for wire in wiring.wires.iter_mut().filter(|w| (w.from, w.to) == (rank, other)) {
                wire.out = wiring.outs[rank];
                wiring.outs[rank] += 1;
            }
            wiring.outs[rank] += usize::from(random.below(8) == 0);
        }
        random.shuffle(&mut order);
        for &other in &order {
            for wire in wiring.wires.iter_mut().filter(|w| (w.to, w.from) == (rank, other)) {
                wire.into = wiring.ins[rank];
                wiring.ins[rank] += 1;
            }
            wiring.ins[rank] += usize::from(random.below(8) == 0);
        }
    }
    wiring
}

/// The sources and the destinations of a rank, by slot.
fn slots(wiring: &Wiring, rank: usize) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let (mut sources, mut destinations) =
        (vec![None; wiring.ins[rank]], vec![None; wiring.outs[rank]]);
    for wire in &wiring.wires {
        if wire.to == rank {
            sources[wire.into] = Some(wire.from);
        }
        if wire.from == rank {
            destinations[wire.out] = Some(wire.to);
        }
    }
    (sources, destinations)
}

/// spec: 94, 95, 96, 97, 98
#[test]
fn graphs_of_which_each_rank_knows_its_edges() {
    for (ranks, seed) in (1..=8).flat_map(|ranks| (0..6).map(move |seed| (ranks, seed))) {
        println!("{ranks} ranks, seed {seed}");
        let mut random = Random(seed);
        let edges = random_edges(&mut random, ranks);
        let wiring = graph_wiring(&mut random, ranks, &edges);
        on_ranks(ranks, |world| {
            let (sources, destinations) = slots(&wiring, world.rank());
            let graph = world.graph_adjacent(sources.clone(), destinations.clone())?;
            assert_eq!(graph.neighbourhood().sources(), sources);
            assert_eq!(graph.neighbourhood().destinations(), destinations);
            try_all(&graph, &wiring, &[0, 1, 5])?;
            let copy = graph.dup()?;
            assert_eq!(copy.topology(), graph.topology());
            try_all(&copy, &wiring, &[2])
        });
    }
}

/// The edges of a graph are named by ranks that need not be at their ends.
///
/// spec: 94, 95, 98
#[test]
fn graphs_of_which_any_rank_names_any_edges() {
    for (ranks, seed) in (1..=8).flat_map(|ranks| (0..6).map(move |seed| (ranks, seed))) {
        println!("{ranks} ranks, seed {seed}");
        let mut random = Random(seed);
        let edges = random_edges(&mut random, ranks);
        let (mut outs, mut ins) = (vec![0; ranks], vec![0; ranks]);
        let mut wires = Vec::new();
        for &(from, to) in &edges {
            wires.push(Wire { from, out: outs[from], to, into: ins[to] });
            outs[from] += 1;
            ins[to] += 1;
        }
        let wiring = Wiring { wires, outs, ins };
        let part = edges.len().div_ceil(ranks);
        on_ranks(ranks, |world| {
            let own = edges.chunks(part.max(1)).nth(world.rank()).unwrap_or(&[]);
            let graph = world.graph(own.iter().copied())?;
            try_all(&graph, &wiring, &[3])?;
            try_all(&graph.dup()?, &wiring, &[1])
        });
    }
}

/// spec: 94, 96
#[test]
fn weights_are_kept() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let graph = world.graph_adjacent([(other, 7)], [(other, 7), (other, 0)]);
        let graph = graph?;
        assert_eq!(graph.topology().sources(), [(other, 7).into()]);
        assert_eq!(graph.topology().destinations(), [(other, 7).into(), (other, 0).into()]);

        let edges = [(0, 1, u32::MAX).into(), (1, 0, 0).into(), (0, 1).into()];
        let named: &[Edge] = if world.rank() == 0 { &edges } else { &[] };
        let graph = world.graph(named.iter().copied())?;
        let weights = |list: &[motet::Adjacent]| list.iter().map(|e| e.weight).collect::<Vec<_>>();
        let (one, two) = (vec![Some(0)], vec![Some(u32::MAX), None]);
        let expected = if world.rank() == 0 { (one, two) } else { (two, one) };
        let (sources, destinations) = (graph.topology().sources(), graph.topology().destinations());
        assert_eq!((weights(sources), weights(destinations)), expected);
        Ok(())
    });
}

fn class<T: Debug>(result: Result<T>) -> ErrorClass {
    result.expect_err("it should be refused").class()
}

/// What is refused, is refused before anything moves.
///
/// spec: 96, 97
#[test]
fn arguments_that_do_not_fit() {
    on_ranks(2, |world| {
        let comm: &Communicator = world;
        assert_eq!(class(comm.graph([(0, 2)])), ErrorClass::Rank);
        assert_eq!(class(comm.graph_adjacent([2], [0])), ErrorClass::Rank);
        let graph = comm.graph_adjacent([0, 1], [0, 1])?;
        let (mut three, block) = ([0; 3], Block { start: 0, count: 1 });
        assert_eq!(class(graph.neighbor_allgather(&[0], &mut three)), ErrorClass::Count);
        assert_eq!(class(graph.neighbor_alltoall(&[0, 1], &mut three)), ErrorClass::Count);
        let one = [block];
        assert_eq!(class(graph.neighbor_allgatherv(&[0], &mut three, &one)), ErrorClass::Count);
        let short = graph.neighbor_alltoallv(&[0], &mut three, &one, &[block; 2]);
        assert_eq!(class(short), ErrorClass::Count);
        let overlap = graph.neighbor_alltoallv(&[0], &mut three, &[block; 2], &[block; 2]);
        assert_eq!(class(overlap), ErrorClass::Buffer);
        Ok(())
    });
}

/// spec: 98
#[test]
fn copies_of_every_kind_keep_the_topology() {
    on_ranks(4, |world| {
        let (me, info) = (world.rank(), Info::new().with("a", "1"));
        let grid = world.cartesian(&[2, 2], &[true, true], Reorder::Never)?.expect("a place");
        let ring = world.graph_adjacent([(me + 3) % 4], [(me + 1) % 4])?;
        let star = world.graph_indexed(&[3, 4, 5, 6], &[1, 2, 3, 0, 0, 0], Reorder::Never)?;
        let star = star.expect("a node");
        let (sides, before, rays) = (
            [me ^ 2, me ^ 2, me ^ 1, me ^ 1],
            [(me + 3) % 4],
            if me == 0 { vec![1, 2, 3] } else { vec![0] },
        );
        let grids = [
            grid.dup()?,
            grid.idup()?.wait()?,
            grid.dup_with_info(&info)?,
            grid.idup_with_info(&info)?.wait()?,
        ];
        for copy in grids {
            assert_eq!(
                (copy.topology(), copy.coordinates()),
                (grid.topology(), grid.coordinates())
            );
            gathers(&copy, &sides)?;
        }
        gathers(&*ring.idup()?.wait()?, &before)?;
        gathers(&*star.idup()?.wait()?, &rays)?;
        // Copies of the communicator behind it, of which the type tells nothing.
        let communicators: [(Communicator, &[usize]); 3] = [
            (grid.into_communicator(), &sides),
            (ring.into_communicator(), &before),
            (star.into_communicator(), &rays),
        ];
        for (place, (communicator, near)) in communicators.into_iter().enumerate() {
            let copies = [communicator.dup()?, communicator.idup_with_info(&info)?.wait()?.dup()?];
            for copy in copies {
                assert_eq!(copy.topology(), communicator.topology());
                assert!(matches!(
                    (place, copy.topology()),
                    (0, Some(Topology::Cartesian(_)))
                        | (1, Some(Topology::Graph(_)))
                        | (2, Some(Topology::Indexed(_)))
                ));
                gathers(&copy, near)?;
            }
            assert_eq!(communicator.split(Some(0), 0)?.and_then(|c| c.topology().cloned()), None);
        }
        Ok(())
    });
}

/// That each rank gets the numbers of its neighbours, in all three forms.
#[track_caller]
fn gathers(comm: &Communicator, near: &[usize]) -> Result<()> {
    let own = [comm.rank()];
    let mut got = vec![9; near.len()];
    comm.neighbor_allgather(&own, &mut got)?;
    assert_eq!(got, near);
    let buffers = || (own.to_vec(), vec![9; near.len()]);
    assert_eq!(comm.ineighbor_allgather(buffers())?.wait()?.1, near);
    let mut persistent = comm.neighbor_allgather_init(buffers(), &Info::new())?;
    persistent.run()?;
    assert_eq!(persistent.output(), near);
    Ok(())
}

/// spec: 66
#[test]
fn without_a_topology_there_are_no_neighbours() {
    on_ranks(2, |world| {
        let (own, mut got, info) = ([1], [0], Info::new());
        let (send, receive) = (|| vec![1], || vec![0]);
        let block = [Block { start: 0, count: 1 }];
        let classes = [
            class(Communicator::neighbourhood(world)),
            class(world.neighbor_allgather(&own, &mut got)),
            class(world.neighbor_allgatherv(&own, &mut got, &block)),
            class(world.neighbor_alltoall(&own, &mut got)),
            class(world.neighbor_alltoallv(&own, &mut got, &block, &block)),
            class(world.ineighbor_allgather((send(), receive()))),
            class(world.ineighbor_alltoall((send(), receive()))),
            class(world.neighbor_allgatherv_init((send(), receive()), &block, &info)),
            class(world.neighbor_alltoallv_init((send(), receive()), &block, &block, &info)),
            class(world.cartesian_sub(&[true])),
        ];
        assert_eq!(classes, [ErrorClass::Topology; 10]);
        // A graph is no grid.
        let graph = world.graph_adjacent([0; 0], [0; 0])?;
        let refused = graph.cartesian_sub(&[true]).expect_err("it has no dimensions");
        assert_eq!(refused.class(), ErrorClass::Topology);
        assert!(refused.to_string().contains("a distributed graph topology"), "{refused}");
        assert_eq!(world.topology(), None);
        world.barrier()
    });
}

#[test]
fn graphs_of_which_all_ranks_know_all_edges() {
    on_ranks(5, |world| {
        // A path 0 - 1 - 2 with a second edge between 1 and 2, and a node with itself; rank 4 is
        // no node.
        let (index, edges) = ([1, 4, 6, 8], [1, 0, 2, 2, 1, 1, 3, 3]);
        let me = world.rank();
        let graph = world.graph_indexed(&index, &edges, Reorder::Allowed)?;
        assert_eq!(world.graph_map(&index, &edges)?, (me < 4).then_some(me));
        assert_eq!(graph.is_some(), me < 4);
        let Some(graph) = graph else { return Ok(()) };
        let topology = graph.topology();
        assert_eq!(
            (topology.nodes(), topology.index(), topology.edges()),
            (4, &index[..], &edges[..])
        );
        assert_eq!(
            (topology.neighbours(1)?, topology.neighbours(3)?),
            (&[0, 2, 2][..], &[3, 3][..])
        );
        gathers(&graph, topology.neighbours(me)?)?;
        // The k-th edge of a pair meets the k-th.
        let near = topology.neighbours(me)?;
        let sent: Vec<usize> = (0..near.len()).map(|slot| me * 10 + slot).collect();
        let mut got = vec![0; near.len()];
        graph.neighbor_alltoall(&sent, &mut got)?;
        let expected: [&[usize]; 4] = [&[10], &[0, 20, 21], &[11, 12], &[30, 31]];
        assert_eq!(got, expected[me]);
        Ok(())
    });
}

#[test]
fn graphs_and_grids_that_do_not_fit_are_refused() {
    on_ranks(3, |world| {
        let graph = |index: &[usize], edges: &[usize]| {
            let mapped = class(world.graph_map(index, edges));
            assert_eq!(class(world.graph_indexed(index, edges, Reorder::Never)), mapped);
            mapped
        };
        assert_eq!(graph(&[1, 0], &[0]), ErrorClass::Arg);
        assert_eq!(graph(&[1, 2], &[0]), ErrorClass::Arg);
        assert_eq!(graph(&[], &[0]), ErrorClass::Arg);
        assert_eq!(graph(&[0; 4], &[]), ErrorClass::Arg);
        assert_eq!(graph(&[1, 1], &[2]), ErrorClass::Rank);
        assert!(world.graph_indexed(&[], &[], Reorder::Never)?.is_none());
        let expected = (world.rank() < 2).then_some(world.rank());
        assert_eq!(world.cartesian_map(&[2], &[false])?, expected);
        assert_eq!(class(world.cartesian_map(&[4], &[false])), ErrorClass::Dims);
        Ok(())
    });
}
