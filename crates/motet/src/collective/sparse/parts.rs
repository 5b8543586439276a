//! `exchangew`: the sparse exchange in which each block has its own datatype. Its nonblocking form
//! is in the table of `nonblocking`.

use std::panic::Location;

use motet_plan::Rank;

use super::Neighbours;
use crate::base::error::{ErrorKind, Result};
use crate::base::info::Info;
use crate::collective::PreparedCall;
use crate::collective::blocking::{input, output};
use crate::collective::w::{Peers, TypedBlock, TypedBlocks};
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::data::buffer::{Buffers, RawSlice};
use crate::types::element::AnyBytes;

/// Destinations and sources, each list with its typed blocks.
type Ends = [(Vec<Rank>, Vec<TypedBlock>); 2];

impl Communicator {
    /// Returns the ranks and the typed blocks of the neighbours.
    fn edges<'a>(
        &self,
        to: impl Into<Neighbours<'a, TypedBlock>>,
        from: impl Into<Neighbours<'a, TypedBlock>>,
    ) -> Result<Ends, ErrorKind> {
        Ok([to.into().placed(self)?, from.into().placed(self)?])
    }

    #[track_caller]
    fn run_edges<T: AnyBytes>(
        &self,
        edges: Result<Ends, ErrorKind>,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> Result<()> {
        let at = Location::caller();
        let [(destinations, to), (sources, from)] =
            edges.map_err(|kind| self.refused(self.error("exchangew", kind), at))?;
        let whom = Peers::Named { to: &destinations, from: &sources };
        TypedBlocks { on: self.into(), whom, to: &to, from: &from }.run::<T>(
            "exchangew",
            input,
            output,
        )
    }

    /// Prepares the call on buffers that the operation holds.
    pub(crate) fn prepare_edges<'a, B>(
        &self,
        call: &'static str,
        to: impl Into<Neighbours<'a, TypedBlock>>,
        from: impl Into<Neighbours<'a, TypedBlock>>,
        parts: &B::Parts,
    ) -> Result<PreparedCall>
    where
        B: Buffers<Element: AnyBytes>,
    {
        let ends = self.edges(to, from).map_err(|kind| self.error(call, kind));
        let [(destinations, to), (sources, from)] = ends?;
        let whom = Peers::Named { to: &destinations, from: &sources };
        TypedBlocks { on: self.into(), whom, to: &to, from: &from }.prepare_for::<B>(call, parts)
    }

    /// Sends to each destination the typed block given with it, and receives from each source the
    /// typed block given with it. The two ends of a transfer must have the same elements, but each
    /// may lay them out in memory as it likes. (An Exchange of the 2008 proposal with a datatype
    /// for each block)
    ///
    /// # Errors
    /// Blocks lie outside the buffers, or are not one for each neighbour; received blocks overlap;
    /// a neighbour is not in the communicator; or a rank has died or left.
    #[track_caller]
    pub fn exchangew<'a, T: AnyBytes>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: impl Into<Neighbours<'a, TypedBlock>>,
        from: impl Into<Neighbours<'a, TypedBlock>>,
    ) -> Result<()> {
        self.run_edges::<T>(self.edges(to, from), input(send), output(receive))
    }

    /// Does the same as [`exchangew`](Communicator::exchangew) with one buffer, which contains the
    /// sent and the received blocks without overlap: for example the faces of a box and the layer
    /// around it.
    ///
    /// ```
    /// use motet::{Datatype, Part};
    ///
    /// // Three cells each, with a copy of the neighbour's cell at both ends, on a ring.
    /// motet::threads(3, |world| {
    ///     let (me, ranks) = (world.rank(), world.size());
    ///     let mut line = [0, 10 * me + 1, 10 * me + 2, 10 * me + 3, 0];
    ///     let cell = |at: isize| Part::new(8 * at, 1, &Datatype::UINT64_T);
    ///     let (left, right) = ((me + ranks - 1) % ranks, (me + 1) % ranks);
    ///     let faces = [(left, cell(1)), (right, cell(3))];
    ///     let ghosts = [(right, cell(4)), (left, cell(0))];
    ///     world.exchangew_in_place(&mut line, &faces, &ghosts)?;
    ///     assert_eq!((line[0], line[4]), (10 * left + 3, 10 * right + 1));
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`exchangew`](Communicator::exchangew); or a received block overlaps a sent one.
    #[track_caller]
    pub fn exchangew_in_place<'a, T: AnyBytes>(
        &self,
        buffer: &mut [T],
        to: impl Into<Neighbours<'a, TypedBlock>>,
        from: impl Into<Neighbours<'a, TypedBlock>>,
    ) -> Result<()> {
        self.run_edges::<T>(self.edges(to, from), None, output(buffer))
    }

    /// Persistent [`exchangew`](Communicator::exchangew), or with one buffer
    /// [`exchangew_in_place`](Communicator::exchangew_in_place).
    ///
    /// # Errors
    /// The blocking form would refuse the arguments; or buffers of [`Items`](crate::buffer::Items).
    #[track_caller]
    pub fn exchangew_init<'a, B>(
        &self,
        buffers: B,
        to: impl Into<Neighbours<'a, TypedBlock>>,
        from: impl Into<Neighbours<'a, TypedBlock>>,
        info: &Info,
    ) -> Result<Persistent<B>>
    where
        B: Buffers<Element: AnyBytes> + 'static,
    {
        self.persistent_with(buffers, info, |parts| {
            self.prepare_edges::<B>("exchangew_init", to, from, parts)
        })
    }
}
