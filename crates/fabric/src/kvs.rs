//! The key-value space of a launcher (PMI-1, PMI-2, PMIx): put, fence, get, abort, finalize.

use std::fmt;

use crate::Result;

/// Bytes of the longest value that a [`KeyValueSpace`] takes.
pub const VALUE_MAX_BYTES: usize = 64 << 10;
/// Characters of the longest name that a [`KeyValueSpace`] takes.
pub const NAME_MAX_BYTES: usize = 24;

/// The key-value space of a job: the means by which ranks exchange data before they can send
/// messages.
///
/// Each rank puts values under names, all ranks wait for each other at a fence, and then each rank
/// gets the values of others. Motet needs nothing else from a launcher. PMI-1, PMI-2 and PMIx each
/// implement it.
///
/// ```text
///     kvs.put("address", &own)?;             // each rank, once for each name
///     kvs.fence()?;                          // all ranks
///     let theirs = kvs.get(7, "address")?;   // any of them, any number of times
/// ```
///
/// **Rules.** A rank puts each name once: some launchers keep the first value, some the last. A
/// name has at most [`NAME_MAX_BYTES`] letters, digits and dashes, a value at most
/// [`VALUE_MAX_BYTES`] bytes. After a fence, all ranks can read what was put before it; what was
/// put after the last fence may or may not be readable. Fences are counted, so all ranks call the
/// same number of them.
///
/// **No call waits for ever.** It ends with an error when the launcher has ended or does not answer
/// in time. A fence waits for the slowest rank, so it has more time than other calls
/// ([`LAUNCH_SECONDS`](crate::bootstrap::LAUNCH_SECONDS)).
pub trait KeyValueSpace: Send {
    /// The rank of this process.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn ranks(&self) -> usize;

    /// Puts a value for all ranks under a name.
    ///
    /// # Errors
    /// The launcher has ended, is late, or refuses.
    fn put(&mut self, name: &str, value: &[u8]) -> Result<()>;

    /// Waits until all ranks have called this.
    ///
    /// # Errors
    /// As [`KeyValueSpace::put`]; also when a rank does not reach the fence.
    fn fence(&mut self) -> Result<()>;

    /// Gets the value that a rank put under this name before the last fence.
    ///
    /// # Errors
    /// As [`KeyValueSpace::put`]; also when there is no value.
    fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>>;

    /// Asks the launcher to end the job, with this exit code. Does not wait for an answer, so the
    /// caller must exit by itself, too.
    fn abort(&mut self, code: u8, text: &str);

    /// Reports to the launcher that this rank ends in good order. The last call.
    ///
    /// # Errors
    /// As [`KeyValueSpace::put`].
    fn finalize(&mut self) -> Result<()>;
}

impl fmt::Debug for dyn KeyValueSpace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeyValueSpace(rank {} of {})", self.rank(), self.ranks())
    }
}

/// Puts a value, and returns what every rank has put under this name. All ranks call it.
///
/// # Errors
/// Those of the key-value space.
pub fn all_gather(kvs: &mut dyn KeyValueSpace, name: &str, value: &[u8]) -> Result<Vec<Vec<u8>>> {
    kvs.put(name, value)?;
    kvs.fence()?;
    (0..kvs.ranks()).map(|rank| kvs.get(rank, name)).collect()
}
