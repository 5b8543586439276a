//! What a plan costs: counts from the algorithm, prices from the machine.

/// The longest chain of dependent work, the same on all ranks of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages one after the other.
    pub rounds: usize,
    /// Bytes in those messages.
    pub bytes: usize,
    /// Bytes of results of reductions.
    pub reduced: usize,
    /// Bytes copied inside a rank, beyond what any algorithm must copy.
    pub copied: usize,
}

impl Cost {
    /// The time this takes on `machine`, in nanoseconds.
    pub fn time(&self, machine: &Machine) -> f64 {
        self.rounds as f64 * machine.latency_ns
            + self.bytes as f64 * machine.ns_per_byte
            + self.reduced as f64 * machine.reduce_ns_per_byte
            + self.copied as f64 * machine.copy_ns_per_byte
    }
}

/// Prices of a machine: a latency and three rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Nanoseconds from the start of a send to the end of its receive, for a short message.
    pub latency_ns: f64,
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
            ns_per_byte: 0.1,
            reduce_ns_per_byte: 0.1,
            copy_ns_per_byte: 0.05,
        }
    }
}
