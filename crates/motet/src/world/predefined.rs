//! What every world knows of itself: the predefined attributes. (MPI 4.1 §9.1.2)

use super::World;
use crate::base::status::{ANY_SOURCE, Source, Tag};

impl World {
    /// The largest tag that a message may have. (`MPI_TAG_UB`)
    pub fn tag_upper_bound(&self) -> Tag {
        Tag(i32::MAX as u32)
    }

    /// The number of ranks that there can be: those that there are, since none can be added.
    /// (`MPI_UNIVERSE_SIZE`)
    pub fn universe_size(&self) -> usize {
        self.size()
    }

    /// Whether the clocks of all ranks tell the same time: they do, since all are on one machine.
    /// (`MPI_WTIME_IS_GLOBAL`)
    pub fn is_time_global(&self) -> bool {
        true
    }

    /// Which of several programs started together this is: they are not told apart.
    /// (`MPI_APPNUM`)
    pub fn application_number(&self) -> Option<usize> {
        None
    }

    /// The rank of a host process: there is none. (`MPI_HOST`)
    pub fn host(&self) -> Option<usize> {
        None
    }

    /// The ranks that can read and write files: any. (`MPI_IO`)
    pub fn io(&self) -> Source {
        ANY_SOURCE
    }
}
