//! One case on one rank: the call is made, and every byte is looked at.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;
use std::sync::Arc;

use motet::op::Op;
use motet::raw::{self, Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer};
use motet::{Communicator, ErrorKind, GraphCommunicator, Info, Intercommunicator, Tag, World};

use crate::case::{Case, Form, Kind, lefts};
use crate::layout::{Block, Layout, Memory, Value};
use crate::oracle::{CallBuffers, Edges, Expected, Operator, Oracle, edges};

/// How often a persistent operation runs.
const ROUNDS: u64 = 3;

/// The communicators that cases are tried on.
pub(crate) struct Places<'a> {
    world: &'a World,
    between: HashMap<usize, Intercommunicator>,
    /// A line with ends, and a graph.
    near: [(GraphCommunicator, Edges); 2],
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    /// The algorithm that is forced does not take this call.
    Refused,
}

impl<'a> Places<'a> {
    pub(crate) fn new(world: &'a World) -> motet::Result<Places<'a>> {
        let (me, ranks) = (world.rank(), world.size());
        let mut between = HashMap::new();
        for left in if ranks > 1 { lefts(ranks) } else { vec![] } {
            let side = u32::from(me >= left);
            let near = world.split(Some(side), 0)?.expect("all ranks have a side");
            let leader = if side == 0 { left } else { 0 };
            between.insert(left, near.intercomm_create(0, Some(world), leader, Tag(1))?);
        }
        let near = |line: bool| {
            let edges = edges(ranks, line).swap_remove(me);
            let from: Vec<_> = edges.from.iter().map(|from| from.map(|(rank, _)| rank)).collect();
            let graph = world.graph_adjacent(from, edges.to.clone())?;
            Ok::<_, motet::Error>((graph, edges))
        };
        Ok(Places { world, between, near: [near(true)?, near(false)?] })
    }

    fn on(&self, case: &Case) -> CommRef<'_> {
        if case.between() {
            return CommRef::from(&self.between[&case.left()]);
        }
        if case.kind.is_among_neighbours() {
            return CommRef::from(&self.neighbours(case).0);
        }
        let world: &Communicator = self.world;
        CommRef::from(world)
    }

    fn neighbours(&self, case: &Case) -> &(GraphCommunicator, Edges) {
        &self.near[case.seed as usize / 32 % 2]
    }

    fn part(&self, case: &Case, round: u64) -> CallBuffers {
        let (oracle, me) = (Oracle { case, round }, self.world.rank());
        if case.between() {
            return oracle.part_between(me);
        }
        if case.kind.is_among_neighbours() {
            return oracle.part_among(&self.neighbours(case).1, me);
        }
        oracle.part(me)
    }

    /// Tries a case.
    pub(crate) fn play(&self, case: &Case) -> Result<Ended, String> {
        let first = self.part(case, 0);
        let mut buffers = Buffers::new(case, &first);
        let operator = operator(case);
        let arguments = buffers.arguments(case, self, &operator);
        let call = arguments.call(case, self.world.rank(), &operator);
        let (on, info) = (self.on(case), Info::new());
        let fail = |error: motet::Error| error.to_string();
        let refused = |error: motet::Error| match error.kind() {
            ErrorKind::Select(_) => Ok(Ended::Refused),
            _ => Err(error.to_string()),
        };
        buffers.fill(&first);
        // SAFETY (for all calls): the buffers hold all that is named, live until the end of this
        // function, and are not looked at before the operation is complete.
        match case.form {
            // SAFETY: see above.
            Form::Blocking => match unsafe { call.run(on) } {
                Ok(()) => buffers.check(&first).map(|()| Ended::Passed),
                Err(error) => refused(error),
            },
            // SAFETY: see above.
            Form::Nonblocking => match unsafe { call.start(on) } {
                Ok(request) => {
                    request.wait().map_err(fail)?;
                    buffers.check(&first).map(|()| Ended::Passed)
                }
                Err(error) => refused(error),
            },
            // SAFETY: see above.
            Form::TwoPhase => match unsafe { call.begin(on) } {
                Ok(()) => {
                    raw::end(on, call.kind()).map_err(fail)?;
                    buffers.check(&first).map(|()| Ended::Passed)
                }
                Err(error) => refused(error),
            },
            // SAFETY: see above.
            Form::Persistent => match unsafe { call.init(on, &info) } {
                Ok(mut operation) => {
                    for round in 0..ROUNDS {
                        let part = self.part(case, round);
                        buffers.fill(&part);
                        operation = operation.start().map_err(fail)?.wait().map_err(fail)?;
                        let checked = buffers.check(&part);
                        checked.map_err(|problem| format!("round {round}: {problem}"))?;
                    }
                    Ok(Ended::Passed)
                }
                Err(error) => refused(error),
            },
        }
    }
}

/// The memory that a rank passes.
struct Buffers {
    send: Option<Memory>,
    receive: Option<Memory>,
}

impl Buffers {
    fn new(case: &Case, part: &CallBuffers) -> Buffers {
        let send = part.send.as_ref().map(|blocks| {
            let lengths: Vec<usize> = blocks.iter().map(Vec::len).collect();
            memory(case, case.layout, &lengths)
        });
        let receive = part.receive.as_ref().map(|slots| {
            let lengths: Vec<usize> = slots.iter().map(|slot| slot.count).collect();
            memory(case, case.receive_layout(), &lengths)
        });
        Buffers { send, receive }
    }

    fn fill(&mut self, part: &CallBuffers) {
        if let (Some(memory), Some(send)) = (&mut self.send, &part.send) {
            memory.fill(&some(send));
        }
        if let (Some(memory), Some(slots)) = (&mut self.receive, &part.receive) {
            let initial: Vec<_> = slots.iter().map(|slot| slot.initial.clone()).collect();
            memory.fill(&initial);
        }
    }

    fn check(&self, part: &CallBuffers) -> Result<(), String> {
        if let (Some(memory), Some(send)) = (&self.send, &part.send)
            && let Some(problem) = memory.differs(&some(send))
        {
            return Err(format!("what was sent has changed: {problem}"));
        }
        if let (Some(memory), Some(slots)) = (&self.receive, &part.receive) {
            let wanted = slots.iter().enumerate().map(|(index, slot)| match &slot.expected {
                Expected::Values(values) => Some(values.clone()),
                Expected::Same => slot.initial.clone(),
                Expected::Any => Some(memory.values(index)),
            });
            if let Some(problem) = memory.differs(&wanted.collect::<Vec<_>>()) {
                return Err(problem);
            }
        }
        Ok(())
    }

    fn arguments(&mut self, case: &Case, places: &Places<'_>, _: &Op) -> Arguments {
        let near = case.kind.is_among_neighbours().then(|| places.neighbours(case).1.clone());
        Arguments {
            send: self.send.as_mut().map(|memory| CallSide::new(memory, case.layout)),
            receive: self
                .receive
                .as_mut()
                .map(|memory| CallSide::new(memory, case.receive_layout())),
            shares: match case.between() {
                true => {
                    let oracle = Oracle { case, round: 0 };
                    oracle.shares(places.world.rank() < case.left())
                }
                false => {
                    let oracle = Oracle { case, round: 0 };
                    (0..case.ranks).map(|rank| oracle.varied(rank, 0)).collect()
                }
            },
            far: if case.between() {
                places.between[&case.left()].remote_size()
            } else {
                case.ranks
            },
            near,
        }
    }
}

fn some(blocks: &[Vec<Value>]) -> Vec<Option<Vec<Value>>> {
    blocks.iter().cloned().map(Some).collect()
}

/// Memory for blocks: side by side, or for irregular collectives apart and in reverse order, and
/// of mixed layouts where each block has its own.
fn memory(case: &Case, layout: Layout, lengths: &[usize]) -> Memory {
    let irregular = matches!(
        case.kind,
        Kind::Gatherv
            | Kind::Scatterv
            | Kind::Allgatherv
            | Kind::Alltoallv
            | Kind::NeighborAllgatherv
            | Kind::NeighborAlltoallv
    );
    let mixed = is_mixed(case);
    let layout_of = |index: usize| if mixed && index % 2 == 1 { layout.other() } else { layout };
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 2 * layout.extent();
    let order: Vec<usize> = match irregular || mixed {
        true => (0..lengths.len()).rev().collect(),
        false => (0..lengths.len()).collect(),
    };
    for index in order {
        let (layout, count) = (layout_of(index), lengths[index]);
        blocks.push(Block { at, count, layout });
        at += count * layout.extent();
        if irregular {
            at += layout.extent();
        } else if mixed {
            at = (at + 24).next_multiple_of(8);
        }
    }
    if irregular || mixed {
        blocks.reverse();
    }
    Memory::new(blocks)
}

fn is_mixed(case: &Case) -> bool {
    matches!(case.kind, Kind::Alltoallw | Kind::NeighborAlltoallw)
}

/// One side of a call, in the words of a call.
struct CallSide {
    address: *mut u8,
    layout: motet::datatype::Datatype,
    counts: Vec<usize>,
    /// In extents.
    displacements: Vec<isize>,
    /// In bytes.
    offsets: Vec<isize>,
    datatypes: Vec<motet::datatype::Datatype>,
}

impl CallSide {
    fn new(memory: &mut Memory, layout: Layout) -> CallSide {
        let address = memory.address();
        let blocks = &memory.blocks;
        CallSide {
            address,
            layout: layout.datatype(),
            counts: blocks.iter().map(|block| block.count).collect(),
            displacements: blocks.iter().map(|b| (b.at / layout.extent()) as isize).collect(),
            offsets: blocks.iter().map(|block| block.at as isize).collect(),
            datatypes: blocks.iter().map(|block| block.layout.datatype()).collect(),
        }
    }

    /// The address of the first block.
    fn first(&self) -> *mut u8 {
        self.address.wrapping_offset(self.offsets.first().copied().unwrap_or(0))
    }

    fn data(&self) -> TypedBuffer<'_> {
        let count = self.counts.first().copied().unwrap_or(0);
        TypedBuffer { address: self.first(), count, datatype: &self.layout }
    }

    fn blocks(&self) -> VectorBuffer<'_> {
        let CallSide { address, counts, displacements, layout: datatype, .. } = self;
        VectorBuffer { address: *address, counts, displacements, datatype }
    }

    fn mixed(&self) -> WBuffer<'_> {
        let CallSide { address, counts, offsets: displacements, datatypes, .. } = self;
        WBuffer { address: *address, counts, displacements, datatypes }
    }
}

/// What a rank passes.
struct Arguments {
    send: Option<CallSide>,
    receive: Option<CallSide>,
    shares: Vec<usize>,
    far: usize,
    near: Option<Edges>,
}

impl Arguments {
    fn root(&self, case: &Case, me: usize) -> Root {
        let (root, left) = (case.root(), case.left());
        match case.between() {
            false => Root::Rank(root),
            true if me == root => Root::ThisRank,
            true if (me < left) == (root < left) => Root::ProcNull,
            true if root < left => Root::Rank(root),
            true => Root::Rank(root - left),
        }
    }

    fn call<'a>(&'a self, case: &Case, me: usize, op: &'a Op) -> Collective<'a> {
        debug_assert!(self.near.is_some() == case.kind.is_among_neighbours() && self.far > 0);
        let root = self.root(case, me);
        if case.kind.reduces() {
            return self.reduction(case, root, op);
        }
        let send = self.send.as_ref();
        let (data, blocks) = (send.map(CallSide::data), send.map(CallSide::blocks));
        let nothing = self.receive.as_ref();
        let (receive, places) = (nothing.map(CallSide::data), nothing.map(CallSide::blocks));
        let whole = || receive.expect("all ranks receive here");
        let parts = || places.expect("all ranks receive here");
        let mixed = || nothing.expect("all ranks receive here").mixed();
        match case.kind {
            Kind::Barrier => Collective::Barrier,
            Kind::Bcast => match receive {
                Some(data) => Collective::Bcast { data, root },
                // Of those who have nothing to do, nothing is looked at.
                None => Collective::Bcast { data: NOTHING, root },
            },
            Kind::Gather => Collective::Gather { send: data, receive, root },
            Kind::Gatherv => Collective::Gatherv { send: data, receive: places, root },
            Kind::Scatter => Collective::Scatter { send: data, receive, root },
            Kind::Scatterv => Collective::Scatterv { send: blocks, receive, root },
            Kind::Allgather => Collective::Allgather { send: data, receive: whole() },
            Kind::Allgatherv => Collective::Allgatherv { send: data, receive: parts() },
            Kind::Alltoall => Collective::Alltoall { send: data, receive: whole() },
            Kind::Alltoallv => Collective::Alltoallv { send: blocks, receive: parts() },
            Kind::Alltoallw => {
                Collective::Alltoallw { send: send.map(CallSide::mixed), receive: mixed() }
            }
            Kind::NeighborAllgather => {
                Collective::NeighborAllgather { send: data, receive: whole() }
            }
            Kind::NeighborAllgatherv => {
                Collective::NeighborAllgatherv { send: data, receive: parts() }
            }
            Kind::NeighborAlltoall => Collective::NeighborAlltoall { send: data, receive: whole() },
            Kind::NeighborAlltoallv => {
                Collective::NeighborAlltoallv { send: blocks, receive: parts() }
            }
            _ => {
                Collective::NeighborAlltoallw { send: send.map(CallSide::mixed), receive: mixed() }
            }
        }
    }

    fn reduction<'a>(&'a self, case: &Case, root: Root, op: &'a Op) -> Collective<'a> {
        let (send, receive) = (self.send.as_ref(), self.receive.as_ref());
        let layout = send.or(receive).map_or(&INT, |side| &side.layout);
        let count = match case.kind {
            Kind::ReduceScatterBlock => self.shares_of_blocks(case),
            _ => case.count,
        };
        let reduction = Reduction {
            input: send.map(CallSide::first),
            output: receive.map_or(std::ptr::null_mut(), CallSide::first),
            count,
            datatype: layout,
            op,
        };
        match case.kind {
            Kind::Reduce => Collective::Reduce { reduction, root },
            Kind::Allreduce => Collective::Allreduce { reduction },
            Kind::ReduceScatterBlock => Collective::ReduceScatterBlock { reduction },
            Kind::ReduceScatter => Collective::ReduceScatter { reduction, counts: &self.shares },
            Kind::Scan => Collective::Scan { reduction },
            _ => Collective::Exscan { reduction },
        }
    }

    fn shares_of_blocks(&self, case: &Case) -> usize {
        if case.between() { self.shares[0] } else { case.count }
    }
}

static INT: motet::datatype::Datatype = motet::datatype::Datatype::INT32_T;

const NOTHING: TypedBuffer<'static> =
    TypedBuffer { address: std::ptr::null_mut(), count: 0, datatype: &INT };

/// The operator of a case.
fn operator(case: &Case) -> Op {
    match Operator::of(case) {
        Operator::Sum => Op::SUM,
        Operator::Xor => Op::BXOR,
        Operator::Compose => {
            let layout = case.layout;
            let function = move |left: *const u8, both: *mut u8, len: usize, _: &_| {
                let bytes = len * layout.extent() - (layout.extent() - layout.reach());
                // SAFETY: so many items of this layout lie at both addresses.
                let left = unsafe { std::slice::from_raw_parts(left, bytes) };
                // SAFETY: as above, to be written.
                let both = unsafe { std::slice::from_raw_parts_mut(both, bytes) };
                for at in (0..len).map(|index| index * layout.extent()) {
                    let values = [layout.read(&left[at..]), layout.read(&both[at..])];
                    let value = Operator::Compose.combine(values[0], values[1]);
                    layout.write(&mut both[at..], value);
                }
            };
            // SAFETY: it reads and writes the items that it is given, and combines them in order.
            unsafe { Op::ordered(Arc::new(function)) }
        }
    }
}
