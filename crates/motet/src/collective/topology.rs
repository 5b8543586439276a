//! Construction of communicators with topologies, which is collective. (MPI 4.1 §8.5)

mod cartesian;
mod graph;
mod indexed;
mod mapping;
mod sparse;

use crate::base::error::Result;
use crate::base::info::Info;
use crate::comm::communicator_request::CommunicatorRequest;
use crate::comm::topology::Topological;

impl<T: Clone + Send + 'static> Topological<T> {
    /// Makes a communicator of the same ranks with the same topology and a new context; see
    /// [`Communicator::dup`](crate::Communicator::dup). Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// As [`Communicator::dup`](crate::Communicator::dup).
    #[track_caller]
    pub fn dup(&self) -> Result<Topological<T>> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// Does the same as [`dup`](Topological::dup), and sets hints on the copy.
    /// (`MPI_Comm_dup_with_info`)
    ///
    /// # Errors
    /// As [`Communicator::dup`](crate::Communicator::dup).
    #[track_caller]
    pub fn dup_with_info(&self, info: &Info) -> Result<Topological<T>> {
        self.duplicate("dup_with_info", info)?.wait()
    }

    /// Nonblocking [`dup`](Topological::dup). (`MPI_Comm_idup`)
    ///
    /// # Errors
    /// As [`Communicator::idup`](crate::Communicator::idup).
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest<Topological<T>>> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Topological::dup_with_info). (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// As [`Communicator::idup`](crate::Communicator::idup).
    #[track_caller]
    pub fn idup_with_info(&self, info: &Info) -> Result<CommunicatorRequest<Topological<T>>> {
        self.duplicate("idup_with_info", info)
    }

    #[track_caller]
    fn duplicate(
        &self,
        call: &'static str,
        info: &Info,
    ) -> Result<CommunicatorRequest<Topological<T>>> {
        let topology = self.topology.clone();
        let request = self.communicator.duplicate(call, info)?;
        Ok(request.map(|communicator| Topological { communicator, topology }))
    }
}
