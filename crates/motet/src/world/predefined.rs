//! Predefined attributes of a world. (MPI 4.1 §9.1.2)

use super::World;
use crate::base::status::{ANY_SOURCE, Source, Tag};

impl World {
    /// Returns the largest tag that a message may have. (`MPI_TAG_UB`)
    pub fn tag_upper_bound(&self) -> Tag {
        Tag(i32::MAX as u32)
    }

    /// Returns the maximum number of ranks: the current number, since no ranks can be added.
    /// (`MPI_UNIVERSE_SIZE`)
    pub fn universe_size(&self) -> usize {
        self.size()
    }

    /// Returns the number of this program among several programs started together: `None`, since
    /// they are not distinguished. (`MPI_APPNUM`)
    pub fn application_number(&self) -> Option<usize> {
        None
    }

    /// Returns the rank of the host process: `None`, since there is none. (`MPI_HOST`)
    pub fn host(&self) -> Option<usize> {
        None
    }

    /// Returns the ranks that can read and write files: any rank. (`MPI_IO`)
    pub fn io(&self) -> Source {
        ANY_SOURCE
    }
}
