//! Measures the bandwidth of cross-memory attach and of a copy by one core.
//!
//! A large message is copied once by the kernel, or twice by cores: into shared memory, and out of
//! it. Which takes longer depends on the machine. The kernel looks up each page of the other
//! process, and not every one copies as fast as a library does; where it takes four times as long
//! as a core takes for the same bytes, two copies by cores are done earlier, although the second
//! must fetch from the other core what the first has written. That is measured once for a segment,
//! by whoever makes it, so all its ranks know the same.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::cma;

/// Each copy is made so many times, in turns, and the fastest counts: the others were disturbed.
const MEASUREMENTS: usize = 8;
/// How much longer than a core the kernel takes where two copies by cores are faster. Xeons were
/// seen with 2.7 to 3.1, an EPYC with 8.8: it lies between those, so that a machine does not have
/// one world this way and the next one that way.
const KERNEL_SLOWER_FACTOR: u32 = 4;

/// How long a host takes to copy [`CopyBandwidth::BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyBandwidth {
    /// The kernel, between processes; nothing if it refuses.
    pub kernel: Option<Duration>,
    /// A core, within a process.
    pub core: Duration,
}

impl CopyBandwidth {
    /// Bytes that are copied.
    pub const BYTES: usize = 64 << 10;

    /// Bytes of the longest message that goes in one bounce buffer where cores are faster: of
    /// longer ones not all would stay in a cache until it is read, so they go in pieces.
    pub const LONGEST: usize = 512 << 10;

    /// Measures both, in about 0.1 ms.
    pub fn measure() -> CopyBandwidth {
        // At addresses that do not alias (`crate::memory`), as most copies are made then.
        let mut memory = vec![1; 2 * CopyBandwidth::BYTES];
        let (from, into) = memory.split_at_mut(CopyBandwidth::BYTES);
        let mut bandwidth = CopyBandwidth { kernel: Some(Duration::MAX), core: Duration::MAX };
        for _ in 0..MEASUREMENTS {
            let begun = Instant::now();
            black_box(&mut into[..]).copy_from_slice(black_box(&*from));
            bandwidth.core = bandwidth.core.min(begun.elapsed());
            let begun = Instant::now();
            let copied = cma::copy_within(from, black_box(&mut *into));
            let kernel = copied.is_ok().then(|| begun.elapsed());
            bandwidth.kernel =
                bandwidth.kernel.zip(kernel).map(|(fastest, this)| fastest.min(this));
        }
        bandwidth
    }

    /// Whether two copies by cores are faster than one by the kernel.
    pub fn prefers_memcpy(self) -> bool {
        self.kernel.is_none_or(|kernel| kernel > self.core * KERNEL_SLOWER_FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_slow_or_refuses_is_not_asked() {
        let [fast, slow] = [3, 6].map(|times| Some(Duration::from_nanos(1500) * times));
        for (kernel, favours) in [(fast, false), (slow, true), (None, true)] {
            assert_eq!(
                CopyBandwidth { kernel, core: Duration::from_nanos(1500) }.prefers_memcpy(),
                favours
            );
        }
    }

    #[test]
    fn measured_copies_take_time() {
        let CopyBandwidth { kernel, core } = CopyBandwidth::measure();
        // No core copies 1 TB/s, and none that is left alone once in eight times takes 10 ms.
        let bounds = Duration::from_nanos(60)..Duration::from_millis(10);
        assert!(bounds.contains(&core), "{core:?}");
        assert!(kernel.is_none_or(|kernel| bounds.contains(&kernel)), "{kernel:?}");
    }
}
