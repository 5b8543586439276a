//! The compared ways to exchange a block with each neighbour.

use anyhow::ensure;
use motet::{Block, Communicator, Info, Persistent, Result, Running, Tag, start_all};
use serde::Serialize;

use super::neighbours::Neighbours;
use super::stored::Buffers;
use super::timed::Timed;

/// The value of all received elements before each window.
const UNTOUCHED: f64 = -1.0;
/// The tag of all messages: there is one message for each ordered pair of ranks.
const TAG: Tag = Tag(7);

/// A method to exchange a block with each neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExchangeVariant {
    /// A persistent exchange: the reference for the others.
    Exchange,
    /// Persistent sends and receives: starts all and waits for all.
    Messages,
    /// A persistent `alltoallv` with empty blocks for all other ranks.
    Dense,
    /// A nonblocking exchange with an immediate wait.
    Nonblocking,
    /// A blocking `alltoallv` with empty blocks for all other ranks.
    BlockingDense,
}

impl ExchangeVariant {
    pub(super) const ALL: [ExchangeVariant; 5] = [
        ExchangeVariant::Exchange,
        ExchangeVariant::Messages,
        ExchangeVariant::Dense,
        ExchangeVariant::Nonblocking,
        ExchangeVariant::BlockingDense,
    ];

    /// The heading of its column.
    pub(super) fn name(self) -> &'static str {
        match self {
            ExchangeVariant::Exchange => "exchange",
            ExchangeVariant::Messages => "messages",
            ExchangeVariant::Dense => "alltoallv",
            ExchangeVariant::Nonblocking => "nonblocking",
            ExchangeVariant::BlockingDense => "blocking v",
        }
    }
}

/// The exchanged data of one rank.
pub(super) struct Around<'a> {
    world: &'a Communicator,
    neighbours: Vec<usize>,
    /// Elements of a block.
    count: usize,
    /// A block for each rank, empty except for the neighbours.
    blocks: Vec<Block>,
}

impl<'a> Around<'a> {
    pub(super) fn new(world: &'a Communicator, pattern: Neighbours, count: usize) -> Around<'a> {
        let neighbours = pattern.of(world.rank(), world.size());
        let mut blocks = vec![Block { start: 0, count: 0 }; world.size()];
        for (at, &rank) in neighbours.iter().enumerate() {
            blocks[rank] = Block { start: at * count, count };
        }
        Around { world, neighbours, count, blocks }
    }

    pub(super) fn world(&self) -> &'a Communicator {
        self.world
    }

    /// The number of neighbours of this rank.
    pub(super) fn many(&self) -> usize {
        self.neighbours.len()
    }

    fn buffers(&self) -> Buffers {
        let elements = self.many() * self.count;
        (vec![0.0; elements], vec![UNTOUCHED; elements])
    }

    fn single(&self) -> impl Iterator<Item = (usize, Vec<f64>)> + '_ {
        self.neighbours.iter().map(|&rank| (rank, vec![UNTOUCHED; self.count]))
    }

    /// One variant, ready to be run repeatedly.
    pub(super) fn trial(&'a self, variant: ExchangeVariant) -> Result<Trial<'a>> {
        let (world, info, near) = (self.world, &Info::new(), &self.neighbours);
        let ready = match variant {
            ExchangeVariant::Exchange => {
                Ready::Persistent(world.exchange_init(self.buffers(), near, near, info)?)
            }
            ExchangeVariant::Dense => {
                let (to, from) = (&self.blocks, &self.blocks);
                Ready::Persistent(world.alltoallv_init(self.buffers(), to, from, info)?)
            }
            ExchangeVariant::Messages => {
                let receives = self.single().map(|(rank, block)| world.recv_init(block, rank, TAG));
                let sends = self.single().map(|(rank, block)| world.send_init(block, rank, TAG));
                Ready::Messages(Pairs {
                    receives: receives.collect::<Result<_>>()?,
                    sends: sends.collect::<Result<_>>()?,
                })
            }
            ExchangeVariant::Nonblocking => Ready::Nonblocking(Some(self.buffers())),
            ExchangeVariant::BlockingDense => Ready::Blocking(self.buffers()),
        };
        Ok(Trial { around: self, ready, runs: 0 })
    }
}

/// The data of one rank for another: the first element identifies the run, all elements identify
/// the ranks and the place. Small whole numbers.
fn value(from: usize, to: usize, place: usize, runs: u64) -> f64 {
    let first = if place == 0 { runs as f64 } else { 0.0 };
    first + 1.0 + (place % 251) as f64 + (from * (1 + place % 13) + to * 17) as f64
}

/// One variant, with the buffers and operations that it runs.
pub(super) struct Trial<'a> {
    around: &'a Around<'a>,
    ready: Ready,
    /// Runs so far.
    runs: u64,
}

enum Ready {
    Persistent(Persistent<Buffers>),
    Messages(Pairs),
    /// `None` only while the operation owns them.
    Nonblocking(Option<Buffers>),
    Blocking(Buffers),
}

/// A receive and a send for each neighbour.
#[derive(Default)]
struct Pairs {
    receives: Vec<Persistent<Vec<f64>>>,
    sends: Vec<Persistent<Vec<f64>>>,
}

impl Pairs {
    /// Starts all and waits for all.
    fn run(&mut self) -> Result<()> {
        let Pairs { receives, sends } = std::mem::take(self);
        let (receives, sends) = start_all((receives, sends))?;
        *self = Pairs {
            receives: receives.into_iter().map(Running::wait).collect::<Result<_>>()?,
            sends: sends.into_iter().map(Running::wait).collect::<Result<_>>()?,
        };
        Ok(())
    }
}

impl Trial<'_> {
    /// The block for a neighbour.
    fn outgoing(&mut self, at: usize) -> &mut [f64] {
        let count = self.around.count;
        let block = at * count..(at + 1) * count;
        match &mut self.ready {
            Ready::Persistent(operation) => &mut operation.input_mut()[block],
            Ready::Messages(pairs) => pairs.sends[at].output_mut(),
            Ready::Nonblocking(Some(buffers)) | Ready::Blocking(buffers) => &mut buffers.0[block],
            Ready::Nonblocking(None) => unreachable!("given back after each run"),
        }
    }

    /// The block from a neighbour.
    fn incoming(&mut self, at: usize) -> &mut [f64] {
        let count = self.around.count;
        let block = at * count..(at + 1) * count;
        match &mut self.ready {
            Ready::Persistent(operation) => &mut operation.output_mut()[block],
            Ready::Messages(pairs) => pairs.receives[at].output_mut(),
            Ready::Nonblocking(Some(buffers)) | Ready::Blocking(buffers) => &mut buffers.1[block],
            Ready::Nonblocking(None) => unreachable!("given back after each run"),
        }
    }
}

impl Timed for Trial<'_> {
    fn fill(&mut self) {
        let me = self.around.world.rank();
        for at in 0..self.around.many() {
            let to = self.around.neighbours[at];
            self.incoming(at).fill(UNTOUCHED);
            for (place, element) in self.outgoing(at).iter_mut().enumerate() {
                *element = value(me, to, place, 0);
            }
        }
    }

    #[inline]
    fn run(&mut self) -> Result<bool> {
        self.runs += 1;
        let (around, runs) = (self.around, self.runs);
        let me = around.world.rank();
        for (at, &to) in around.neighbours.iter().enumerate() {
            self.outgoing(at)[0] = value(me, to, 0, runs);
        }
        match &mut self.ready {
            Ready::Persistent(operation) => operation.run()?,
            Ready::Messages(pairs) => pairs.run()?,
            Ready::Nonblocking(buffers) => {
                let own = buffers.take().expect("given back after each run");
                let near = &around.neighbours;
                *buffers = Some(around.world.iexchange(own, near, near)?.wait()?);
            }
            Ready::Blocking((input, output)) => {
                around.world.alltoallv(input, output, &around.blocks, &around.blocks)?;
            }
        }
        let last = around.many().checked_sub(1);
        Ok(last.is_none_or(|at| self.incoming(at)[0] == value(around.neighbours[at], me, 0, runs)))
    }

    fn check(&mut self) -> anyhow::Result<()> {
        let (around, runs) = (self.around, self.runs);
        let me = around.world.rank();
        for (at, &from) in around.neighbours.iter().enumerate() {
            for (place, &found) in self.incoming(at).iter().enumerate() {
                let expected = value(from, me, place, runs);
                ensure!(
                    found == expected,
                    "wrong result: element {place} from rank {from} must be {expected} at rank \
                     {me}, but is {found}"
                );
            }
        }
        Ok(())
    }
}
