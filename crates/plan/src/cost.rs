//! The cost model: predicts the time of a plan from counts of the algorithm and prices of the
//! machine.
//!
//! **If each rank has its own core**, the time is that of the critical path ([`Cost`]): its
//! messages, each at the price of its size, and the elements that it reduces and copies. For more
//! than two ranks corrections apply ([`Company`]).
//!
//! **If ranks share cores**, the time is the work of the core that has the most ranks, of the work
//! of all ranks together ([`AggregateWork`]), because other ranks run while one waits; or that of
//! the critical path, if that is longer. If all messages pass one rank, the critical path is the
//! work of the core of that rank. A rank that waits yields its core to another rank. This costs a
//! hand-over (a context switch), or half of one if the rank has waited before in the same call; and
//! all cores reach a point where they wait for one. Messages between ranks of the same core stay in
//! its cache and are cheaper ([`DistancePattern`]), while all that a core receives in the call fits
//! there. Rooted collectives, whose data flows one way, have no such points: ranks run ahead, and
//! one hand-over serves many operations. Their time is that of the busiest core, which runs the
//! busiest rank and other ranks of average work: the busiest with messages, with bytes, and with
//! what receivers compute.
//!
//! The price of a message has two parts: a fixed one, the latency (less if the message does not
//! wait for the one before), and one for its bytes. The latter is a
//! [curve](CostParams::bytes_ns) through measured sizes, since the protocols have different rates:
//! a short message travels in one cache line, a longer one in cells, a large one directly from
//! memory to memory.

mod dedicated;
mod oversubscribed;
mod text;
mod work;

pub use dedicated::Company;
pub use text::{PriceError, TextError};
pub use work::{AggregateWork, DistancePattern, OneWayFlow, SendRecvCount};

/// The longest chain of dependent work, the same on all ranks of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages one after the other, each of which waits for the one before.
    pub rounds: usize,
    /// Messages that one rank sends or receives beyond one for each round. They do not wait for
    /// each other, but they keep that rank busy.
    pub extra_sends: usize,
    /// Bytes in those messages.
    pub bytes: usize,
    /// Those of them that their sender sends to another rank before, one after the other.
    pub repeated: usize,
    /// Bytes of results of reductions.
    pub reduced: usize,
    /// Bytes copied inside a rank, beyond what any algorithm must copy: blocks that move to another
    /// place, and results whose place other ranks have read last, since fetching it from their
    /// caches costs as much as a copy (as in `ring`).
    pub copied: usize,
}

impl Cost {
    /// The cost of this and, when it is done, of `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        self.merged(next, usize::saturating_add)
    }

    /// The cost of this and, by other ranks at the same time, of `other`: the larger of each
    /// figure, so it may be less in truth, where each of the two is dearer in something else.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        self.merged(other, usize::max)
    }

    fn merged(self, other: Self, merge: fn(usize, usize) -> usize) -> Self {
        Self {
            rounds: merge(self.rounds, other.rounds),
            extra_sends: merge(self.extra_sends, other.extra_sends),
            bytes: merge(self.bytes, other.bytes),
            repeated: merge(self.repeated, other.repeated),
            reduced: merge(self.reduced, other.reduced),
            copied: merge(self.copied, other.copied),
        }
    }

    fn messages(&self) -> usize {
        self.rounds + self.extra_sends
    }
}

/// Prices of a machine, in nanoseconds: for messages, for their bytes, and for work within a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostParams {
    /// From the start of a send to the end of its receive, for a short message.
    pub latency_ns: f64,
    /// For which a rank is busy with one more short message, sent and received.
    pub send_ns: f64,
    /// The part of that which the sender is, of 1. Bytes keep both as busy.
    pub send_share: f64,
    /// What the bytes of a message take beyond that, at each of [`SIZES`](Self::SIZES).
    pub bytes_ns: [f64; CostParams::SIZES.len()],
    /// To reduce two operands, for each byte of the result.
    pub reduce_ns_per_byte: f64,
    /// To copy a byte.
    pub copy_ns_per_byte: f64,
    /// From one rank's waiting to the next one's running on the same core.
    pub context_switch_ns: f64,
    /// What these prices become among more than two ranks, each with a core.
    pub company: Company,
    /// At which lengths messages change their protocol.
    pub lengths: ProtocolLengths,
    /// How many cores the ranks share.
    pub cores: f64,
    /// The number of ranks on the core that has the most.
    pub ranks_per_core: f64,
    /// The same for ranks that share no memory: more than one if they are on one machine all the
    /// same.
    pub apart_per_core: f64,
}

/// Lengths in bytes at which a message inside a host changes its protocol. The transport decides
/// them; the model only uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolLengths {
    /// The longest message that fits one cell of a ring.
    pub cell_max: usize,
    /// The longest message that is sent in cells, so that it waits for nobody.
    pub eager_max: usize,
    /// The longest message in a bounce buffer where ranks share cores.
    pub bounce_max: usize,
    /// The longest operand in a bounce buffer. Where each rank has a core, also the longest message
    /// that is in one for several receivers.
    pub operand_bounce_max: usize,
}

impl ProtocolLengths {
    /// Those between few ranks on a host whose kernel copies fast.
    pub const COMMON: Self = Self {
        cell_max: 8 << 10,
        eager_max: 16 << 10,
        bounce_max: 64 << 10,
        operand_bounce_max: 512 << 10,
    };
}

/// How much dearer a round is that must not keep its rank from computing.
const OVERLAP_FACTOR: f64 = 8.0;

/// How much dearer it is to send a message to another node, and how much dearer its bytes are.
const FAR_LATENCY: f64 = 16.0;
const FAR_BYTES: f64 = 4.0;
/// A network is asked once for each message that is sent, and gives what has come all at once.
const FAR_SEND_SHARE: f64 = 0.8;

impl Default for CostParams {
    /// What was measured where one core passes a line to another in about 100 ns, by the command
    /// `motet info --measure`. Only the proportions matter for a choice.
    fn default() -> Self {
        Self {
            latency_ns: 430.0,
            send_ns: 110.0,
            send_share: 0.5,
            bytes_ns: [
                10.0, 330.0, 1600.0, 2900.0, 4900.0, 7000.0, 9700.0, 23_000.0, 122_000.0, 613_000.0,
            ],
            reduce_ns_per_byte: 0.046,
            copy_ns_per_byte: 0.04,
            context_switch_ns: 590.0,
            company: Company::MEASURED,
            lengths: ProtocolLengths::COMMON,
            cores: f64::INFINITY,
            ranks_per_core: 1.0,
            apart_per_core: 1.0,
        }
    }
}

impl CostParams {
    /// The sizes of messages, in bytes, at which the price of bytes is known.
    pub const SIZES: [usize; 10] =
        [64, 512, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

    /// The prices by which results are chosen that must have the same bits on every machine. They
    /// are those of no machine, and never change: nor then do the results, but where a version
    /// brings an algorithm that is cheaper by them.
    pub const FIXED: Self = Self {
        latency_ns: 250.0,
        send_ns: 60.0,
        send_share: 0.5,
        bytes_ns: {
            let mut bytes_ns = [0.0; Self::SIZES.len()];
            let mut at = 0;
            while at < bytes_ns.len() {
                bytes_ns[at] = Self::SIZES[at] as f64 * 0.1;
                at += 1;
            }
            bytes_ns
        },
        reduce_ns_per_byte: 0.1,
        copy_ns_per_byte: 0.05,
        context_switch_ns: 1500.0,
        company: Company::NONE,
        lengths: ProtocolLengths::COMMON,
        cores: f64::INFINITY,
        ranks_per_core: 1.0,
        apart_per_core: 1.0,
    };

    /// The prices for an operation that goes on while its rank computes.
    ///
    /// Between two rounds a rank must come back to the library, or the next one waits until it
    /// does. A message more within a round needs nobody. So rounds are dearer, by a factor that
    /// is not measured but chosen: large enough that among algorithms for short data the one with
    /// the fewest rounds is taken, small enough that long data is not moved many times for it.
    #[must_use]
    pub fn for_overlap(self) -> Self {
        let (latency_ns, hand_over_ns) = (self.latency_ns, self.context_switch_ns);
        Self {
            latency_ns: OVERLAP_FACTOR * latency_ns,
            context_switch_ns: OVERLAP_FACTOR * hand_over_ns,
            ..self
        }
    }

    /// The same prices, where `ranks` share `cores`; no cores count as one.
    ///
    /// All ranks of a call must pass the same numbers, as they must choose the same algorithm.
    #[must_use]
    pub fn shared(self, ranks: usize, cores: usize) -> Self {
        let cores = cores.max(1) as f64;
        // A core with one rank more than the others has that much more to do, since ranks do not
        // change cores within a call.
        let ranks_per_core = (ranks.max(1) as f64 / cores).ceil();
        Self { cores, ranks_per_core, ..self }
    }

    /// The same prices, where messages change their protocol at these lengths. They count only for
    /// ranks that share memory.
    ///
    /// All ranks of a call must pass the same lengths, as they must choose the same algorithm.
    #[must_use]
    pub fn with_lengths(self, lengths: ProtocolLengths) -> Self {
        Self { lengths, ..self }
    }

    /// The same prices, where all ranks of the world, even those that share no memory, share cores
    /// as those do that share memory: where there is one machine.
    #[must_use]
    pub fn on_one_machine(self) -> Self {
        Self { apart_per_core: self.ranks_per_core, ..self }
    }

    /// Whether ranks share cores.
    pub fn is_oversubscribed(&self) -> bool {
        self.ranks_per_core > 1.0
    }

    /// The time that something takes with this chain and this work.
    pub fn time(&self, cost: &Cost, work: &AggregateWork) -> f64 {
        if !self.is_oversubscribed() {
            return self.time_dedicated(cost, work);
        }
        self.time_oversubscribed(cost, work)
    }

    /// The same prices for messages between nodes: that a network is so much slower than shared
    /// memory is not measured but chosen. Only the proportions matter for a choice.
    #[must_use]
    pub fn between_nodes(self) -> Self {
        Self {
            latency_ns: FAR_LATENCY * self.latency_ns,
            send_ns: FAR_LATENCY * self.send_ns,
            send_share: FAR_SEND_SHARE,
            bytes_ns: self.bytes_ns.map(|nanoseconds| FAR_BYTES * nanoseconds),
            ranks_per_core: self.apart_per_core,
            lengths: ProtocolLengths::COMMON,
            ..self
        }
    }

    /// The time of a chain that is partly within nodes and partly between them. How many cores
    /// the ranks of one node have does not count: what takes time is the network.
    pub fn time_on_nodes(&self, within: &Cost, between: &Cost) -> f64 {
        let far = self.between_nodes();
        self.chain(within, self.latency_ns) + far.chain(between, far.latency_ns)
    }

    fn chain(&self, cost: &Cost, round_ns: f64) -> f64 {
        cost.rounds as f64 * round_ns
            + cost.extra_sends as f64 * self.send_ns
            + self.data(cost.messages() as f64, cost.bytes as f64)
            + self.within(cost.reduced, cost.copied)
    }

    /// For the bytes of messages, as if all had one length.
    fn data(&self, messages: f64, bytes: f64) -> f64 {
        // Without messages nobody knows in how many the bytes come.
        let messages = if messages > 0.0 { messages } else { 1.0 };
        messages * self.data_of_one(bytes / messages)
    }

    /// For the bytes of one message: on the line through the two sizes around it.
    fn data_of_one(&self, bytes: f64) -> f64 {
        let sizes = Self::SIZES.map(|size| size as f64);
        // Beyond the last size as between the last two.
        let next = sizes.iter().position(|&size| bytes <= size).unwrap_or(sizes.len() - 1);
        let (low, low_ns) = match next.checked_sub(1) {
            Some(at) => (sizes[at], self.bytes_ns[at]),
            None => (0.0, 0.0),
        };
        low_ns + (bytes - low) * (self.bytes_ns[next] - low_ns) / (sizes[next] - low)
    }

    /// For what is done within a rank.
    fn within(&self, reduced: usize, copied: usize) -> f64 {
        reduced as f64 * self.reduce_ns_per_byte + copied as f64 * self.copy_ns_per_byte
    }
}
