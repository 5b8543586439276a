//! Neighbourhood collectives in all forms. (MPI 4.1 §8.6 to §8.9)
//!
//! Each one is a sparse exchange over the edges of a topology, with a block for each neighbour: the
//! length of a list is the number of neighbours, not the size of the communicator. Messages match
//! by edges. On a grid, a block sent in one direction is received from the opposite direction, even
//! if both directions lead to the same rank. On a graph, the k-th edge from one rank to another is
//! the k-th at both ends. The block of an absent neighbour keeps its place, and is neither sent nor
//! written. All these calls fail on a communicator without a topology.

use motet_plan::Block;

use super::CollectiveArgs;
use super::args::{blocks_make, exact};
use super::blocking::{input, output};
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{Buffers, RawSlice, RecvBuffer, SendBuffer};

type Shaped = Result<CollectiveArgs, ErrorKind>;

/// Conversion of arguments to operations.
impl Communicator {
    /// Sends one block to all destinations, and receives a block of the same length from each
    /// source.
    pub(crate) fn shape_allgather(&self, input: Option<RawSlice>, output: RawSlice) -> Shaped {
        let count = input.unwrap_or(RawSlice::EMPTY).len;
        let sources = self.near()?.sources().len();
        exact("output", output.len, count * sources, blocks_make(count, sources))?;
        self.exchange_of(input, output, |_| Block { start: 0, count }, in_line(count))
    }

    /// Sends one block to all destinations, and receives a block of any length from each source.
    pub(crate) fn shape_allgatherv(
        &self,
        input: Option<RawSlice>,
        output: RawSlice,
        from: &[Block],
    ) -> Shaped {
        let count = input.unwrap_or(RawSlice::EMPTY).len;
        self.one_for_each_source(from)?;
        self.exchange_of(input, output, |_| Block { start: 0, count }, |slot| from[slot])
    }

    /// Sends a block to each destination and receives one from each source, all of one length.
    pub(crate) fn shape_alltoall(&self, input: Option<RawSlice>, output: RawSlice) -> Shaped {
        let given = input.unwrap_or(RawSlice::EMPTY);
        let near = self.near()?;
        let (sources, destinations) = (near.sources().len(), near.destinations().len());
        let count = match (destinations, sources) {
            (0, 0) => 0,
            (0, _) => output.len / sources,
            (_, _) => given.len / destinations,
        };
        exact("input", given.len, count * destinations, blocks_make(count, destinations))?;
        exact("output", output.len, count * sources, blocks_make(count, sources))?;
        self.exchange_of(input, output, in_line(count), in_line(count))
    }

    /// Sends a block to each destination and receives one from each source, of any lengths.
    pub(crate) fn shape_alltoallv(
        &self,
        input: Option<RawSlice>,
        output: RawSlice,
        to: &[Block],
        from: &[Block],
    ) -> Shaped {
        let destinations = self.near()?.destinations().len();
        exact("list of blocks to send", to.len(), destinations, "the destinations are")?;
        self.one_for_each_source(from)?;
        self.exchange_of(input, output, |slot| to[slot], |slot| from[slot])
    }

    fn one_for_each_source(&self, from: &[Block]) -> Result<(), ErrorKind> {
        let sources = self.near()?.sources().len();
        exact("list of blocks to receive", from.len(), sources, "the sources are")
    }

    /// Makes the exchange over the edges from the block of each slot.
    fn exchange_of(
        &self,
        input: Option<RawSlice>,
        output: RawSlice,
        to: impl Fn(usize) -> Block,
        from: impl Fn(usize) -> Block,
    ) -> Shaped {
        let near = self.near()?;
        CollectiveArgs::exchangev(self, input, output, &near.sends(to), &near.receives(from))
    }
}

/// Returns the contiguous blocks of `count` elements each.
fn in_line(count: usize) -> impl Fn(usize) -> Block {
    move |slot| Block { start: slot * count, count }
}

/// Blocking forms.
impl Communicator {
    /// Sends the input to all destinations, and receives the input of each source, in the order of
    /// the sources. (`MPI_Neighbor_allgather`)
    ///
    /// # Errors
    /// The output does not hold one block for each source; or a rank has died or left.
    #[track_caller]
    pub fn neighbor_allgather<E: Element>(&self, send: &[E], receive: &mut [E]) -> Result<()> {
        let shape = self.shape_allgather(input(send), output(receive));
        self.run_blocking::<E>("neighbor_allgather", shape, None)
    }

    /// Does the same as [`neighbor_allgather`](Communicator::neighbor_allgather) for inputs of any
    /// lengths: the input of source `j` goes to `from[j]` of the output.
    /// (`MPI_Neighbor_allgatherv`)
    ///
    /// # Errors
    /// Blocks overlap, lie outside the output, or are not one for each source; or a rank has died
    /// or left.
    #[track_caller]
    pub fn neighbor_allgatherv<E: Element>(
        &self,
        send: &[E],
        receive: &mut [E],
        from: &[Block],
    ) -> Result<()> {
        let shape = self.shape_allgatherv(input(send), output(receive), from);
        self.run_blocking::<E>("neighbor_allgatherv", shape, None)
    }

    /// Sends block `j` of the input to destination `j`, and receives block `j` of the output from
    /// source `j`; all blocks have one length. (`MPI_Neighbor_alltoall`)
    ///
    /// # Errors
    /// The buffers do not hold one block for each neighbour; or a rank has died or left.
    #[track_caller]
    pub fn neighbor_alltoall<E: Element>(&self, send: &[E], receive: &mut [E]) -> Result<()> {
        let shape = self.shape_alltoall(input(send), output(receive));
        self.run_blocking::<E>("neighbor_alltoall", shape, None)
    }

    /// Does the same as [`neighbor_alltoall`](Communicator::neighbor_alltoall), with an offset and
    /// a length for each block. (`MPI_Neighbor_alltoallv`)
    ///
    /// # Errors
    /// Blocks lie outside the buffers or are not one for each neighbour; received blocks overlap;
    /// or a rank has died or left.
    #[track_caller]
    pub fn neighbor_alltoallv<E: Element>(
        &self,
        send: &[E],
        receive: &mut [E],
        to: &[Block],
        from: &[Block],
    ) -> Result<()> {
        let shape = self.shape_alltoallv(input(send), output(receive), to, from);
        self.run_blocking::<E>("neighbor_alltoallv", shape, None)
    }
}

/// Persistent forms.
impl Communicator {
    /// Persistent [`neighbor_allgather`](Communicator::neighbor_allgather).
    /// (`MPI_Neighbor_allgather_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn neighbor_allgather_init<S, R>(
        &self,
        buffers: (S, R),
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
            let shape = self.shape_allgather(input, output);
            self.prepare::<<R as SendBuffer>::Element>("neighbor_allgather_init", shape, None)
        })
    }

    /// Persistent [`neighbor_allgatherv`](Communicator::neighbor_allgatherv).
    /// (`MPI_Neighbor_allgatherv_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn neighbor_allgatherv_init<S, R>(
        &self,
        buffers: (S, R),
        from: &[Block],
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
            let shape = self.shape_allgatherv(input, output, from);
            self.prepare::<<R as SendBuffer>::Element>("neighbor_allgatherv_init", shape, None)
        })
    }

    /// Persistent [`neighbor_alltoall`](Communicator::neighbor_alltoall).
    /// (`MPI_Neighbor_alltoall_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn neighbor_alltoall_init<S, R>(
        &self,
        buffers: (S, R),
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
            let shape = self.shape_alltoall(input, output);
            self.prepare::<<R as SendBuffer>::Element>("neighbor_alltoall_init", shape, None)
        })
    }

    /// Persistent [`neighbor_alltoallv`](Communicator::neighbor_alltoallv).
    /// (`MPI_Neighbor_alltoallv_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments.
    #[track_caller]
    pub fn neighbor_alltoallv_init<S, R>(
        &self,
        buffers: (S, R),
        to: &[Block],
        from: &[Block],
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            let (input, output) = (<(S, R)>::input(parts), <(S, R)>::output(parts));
            let shape = self.shape_alltoallv(input, output, to, from);
            self.prepare::<<R as SendBuffer>::Element>("neighbor_alltoallv_init", shape, None)
        })
    }
}
