//! What a plan costs: counts from the algorithm, prices from the machine.

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
    /// Bytes of results of reductions.
    pub reduced: usize,
    /// Bytes copied inside a rank, beyond what any algorithm must copy.
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
            reduced: merge(self.reduced, other.reduced),
            copied: merge(self.copied, other.copied),
        }
    }

    /// The time this takes on `machine`, in nanoseconds.
    pub fn time(&self, machine: &Machine) -> f64 {
        self.rounds as f64 * machine.latency_ns
            + self.extra_sends as f64 * machine.send_ns
            + self.bytes as f64 * machine.ns_per_byte
            + self.reduced as f64 * machine.reduce_ns_per_byte
            + self.copied as f64 * machine.copy_ns_per_byte
    }
}

/// Prices of a machine: two for each message, and three rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Nanoseconds from the start of a send to the end of its receive, for a short message.
    pub latency_ns: f64,
    /// Nanoseconds for which a rank is busy with one more message, sent or received.
    pub send_ns: f64,
    /// Nanoseconds for each further byte of a message.
    pub ns_per_byte: f64,
    /// Nanoseconds to reduce two operands, for each byte of the result.
    pub reduce_ns_per_byte: f64,
    /// Nanoseconds to copy a byte.
    pub copy_ns_per_byte: f64,
}

impl Default for Machine {
    /// Ranks that share memory: a cache line passes between cores in 100 to 200 ns, and a core
    /// moves about 10 bytes in a nanosecond.
    fn default() -> Self {
        Self {
            latency_ns: 250.0,
            send_ns: 60.0,
            ns_per_byte: 0.1,
            reduce_ns_per_byte: 0.1,
            copy_ns_per_byte: 0.05,
        }
    }
}

/// Nanoseconds from one rank's going to sleep to the next one's running on the same core.
const SWITCH_NS: f64 = 1500.0;

/// How much dearer a round is that must not keep its rank from computing.
const OVERLAP_FACTOR: f64 = 8.0;

impl Machine {
    /// The prices for an operation that goes on while its rank computes.
    ///
    /// Between two rounds a rank must come back to the library, or the next one waits until it
    /// does. A message more within a round needs nobody. So rounds are dearer, by a factor that
    /// is not measured but chosen: large enough that among algorithms for short data the one with
    /// the fewest rounds is taken, small enough that long data is not moved many times for it.
    #[must_use]
    pub fn for_overlap(self) -> Self {
        Self { latency_ns: OVERLAP_FACTOR * self.latency_ns, ..self }
    }

    /// The default prices, for `ranks` that share `cores`; no cores count as one.
    ///
    /// If each rank has a core, a message costs what a cache line costs. If not, a receiver must
    /// first get a core: it may be the last of the ranks that share one, and each of these costs
    /// a context switch. So the latency is that of a switch for each rank on the fullest core. What
    /// keeps a rank busy takes as often as long, since the ranks of a core are busy in turn.
    ///
    /// All ranks of a call must pass the same numbers, as they must choose the same algorithm.
    pub fn shared(ranks: usize, cores: usize) -> Self {
        let (own, ranks_per_core) = (Self::default(), ranks.div_ceil(cores.max(1)));
        if ranks_per_core <= 1 {
            return own;
        }
        let times = ranks_per_core as f64;
        Self {
            latency_ns: SWITCH_NS * times,
            send_ns: own.send_ns * times,
            ns_per_byte: own.ns_per_byte * times,
            reduce_ns_per_byte: own.reduce_ns_per_byte * times,
            copy_ns_per_byte: own.copy_ns_per_byte * times,
        }
    }
}
