//! The w-variants: collectives in which each block has its own datatype, in three forms.
//!
//! A buffer is a span of bytes, and a [`TypedBlock`] gives the place and datatype of a block in it.
//! Therefore the element type of the buffer must accept any bytes. This module checks that every
//! block lies in the buffer, and passes the call to the untyped layer.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::panic::Location;

use motet_plan::Rank;

use super::blocking::{input, output};
use super::untyped::{Collective, CommRef, WBuffer, exchangew};
use super::{Members, PreparedCall};
use crate::base::error::{ErrorKind, Result};
use crate::base::info::Info;
use crate::collective::intercommunicator::Intercommunicator;
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::comm::request::Request;
use crate::data::buffer::{Buffers, RawSlice, RecvBuffer, SendBuffer};
use crate::types::datatype::{Datatype, DatatypeError};
use crate::types::element::AnyBytes;

/// A block of an [`alltoallw`](Communicator::alltoallw) or an
/// [`exchangew`](Communicator::exchangew): its displacement, item count and datatype. (MPI 4.1
/// §6.8)
#[derive(Clone, Debug)]
pub struct TypedBlock {
    /// Start of the first item, in bytes from the start of the buffer.
    pub displacement: isize,
    /// Number of items.
    pub count: usize,
    /// Datatype of an item.
    pub datatype: Datatype,
}

impl TypedBlock {
    /// Makes a block of `count` items of a datatype that starts `displacement` bytes into the
    /// buffer.
    pub fn new(displacement: isize, count: usize, datatype: &Datatype) -> TypedBlock {
        TypedBlock { displacement, count, datatype: datatype.clone() }
    }

    /// Checks that all data bytes of the block lie in a buffer of `len` bytes.
    fn lies_in(&self, len: usize) -> Result<(), ErrorKind> {
        let layout = self.datatype.commit();
        let (low, high) = layout.reach(self.count as u64);
        let (low, high) = (low + self.displacement as i128, high + self.displacement as i128);
        if low == high || (low >= 0 && high <= len as i128) {
            // Items without an extent take no room in the buffer, but what is sent of them does.
            layout.pack_size(self.count as u64)?;
            return Ok(());
        }
        Err(DatatypeError::Outside { low, high, len }.into())
    }
}

/// Typed blocks in the form that the untyped layer takes: one list for each field.
struct Columns {
    counts: Vec<usize>,
    displacements: Vec<isize>,
    datatypes: Vec<Datatype>,
}

impl Columns {
    fn of(parts: &[TypedBlock]) -> Columns {
        Columns {
            counts: parts.iter().map(|part| part.count).collect(),
            displacements: parts.iter().map(|part| part.displacement).collect(),
            datatypes: parts.iter().map(|part| part.datatype.clone()).collect(),
        }
    }

    fn at(&self, address: *mut u8) -> WBuffer<'_> {
        let Columns { counts, displacements, datatypes } = self;
        WBuffer { address, counts, displacements, datatypes }
    }
}

/// The ranks to which the blocks of a call belong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peers<'a> {
    /// All ranks; on an intercommunicator, all ranks of the remote group.
    Ranks,
    /// The neighbours in a topology.
    Neighbours,
    /// The members of a group.
    Members(&'a Members<'a>),
    /// Explicitly listed destinations and sources. Received blocks have their own places, even with
    /// a single buffer.
    Named { to: &'a [Rank], from: &'a [Rank] },
}

/// Arguments of an alltoallw other than its buffers.
#[derive(Clone, Copy)]
pub(crate) struct TypedBlocks<'a> {
    pub(crate) on: CommRef<'a>,
    pub(crate) whom: Peers<'a>,
    pub(crate) to: &'a [TypedBlock],
    pub(crate) from: &'a [TypedBlock],
}

impl TypedBlocks<'_> {
    /// Prepares the call on two spans, which the operation holds.
    fn prepare<T: AnyBytes>(
        self,
        call: &'static str,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> Result<PreparedCall> {
        let error = |kind| self.on.communicator().error(call, kind);
        let lie_in = |span: RawSlice, parts: &[TypedBlock]| {
            let bytes = span.len * size_of::<T>();
            parts.iter().try_for_each(|part| part.lies_in(bytes))
        };
        let sent_lie = lie_in(input.unwrap_or(output), self.sent(input));
        sent_lie.and_then(|()| lie_in(output, self.from)).map_err(error)?;
        let (to, from) = (Columns::of(self.to), Columns::of(self.from));
        let (send, receive) = (input.map(|span| to.at(span.start)), from.at(output.start));
        // SAFETY (for all calls): all parts lie in buffers that the operation holds, of elements
        // that may be read as bytes and written with any.
        match self.whom {
            Peers::Named { to: destinations, from: sources } => {
                let (comm, ranks) = (self.on.communicator(), [destinations, sources]);
                let parts = [send.unwrap_or(to.at(output.start)), receive];
                // SAFETY: see above.
                unsafe { exchangew(parts, comm, ranks, call) }.map_err(error)
            }
            Peers::Members(members) => {
                let collective = Collective::Alltoallw { send, receive };
                // SAFETY: see above.
                unsafe { collective.translate_among(members) }
            }
            Peers::Neighbours => {
                let collective = Collective::NeighborAlltoallw { send, receive };
                // SAFETY: see above.
                unsafe { collective.translate(call, self.on) }
            }
            Peers::Ranks => {
                let collective = Collective::Alltoallw { send, receive };
                // SAFETY: see above.
                unsafe { collective.translate(call, self.on) }
            }
        }
    }

    /// Returns the blocks to send. Empty if the data are sent from where they are received.
    fn sent(&self, input: Option<RawSlice>) -> &[TypedBlock] {
        match (self.whom, input) {
            (Peers::Named { .. }, _) | (_, Some(_)) => self.to,
            (_, None) => &[],
        }
    }

    /// Prepares the call on buffers that the operation holds.
    pub(crate) fn prepare_for<B>(self, call: &'static str, parts: &B::Parts) -> Result<PreparedCall>
    where
        B: Buffers<Element: AnyBytes>,
    {
        if let Peers::Members(members) = self.whom
            && members.rank().is_none()
        {
            return Ok(members.nothing("alltoallw_init"));
        }
        if B::items(parts).iter().any(Option::is_some) {
            let problem = "has items of a datatype, but each part names its own".into();
            let kind = ErrorKind::Buffer { which: "buffer", problem };
            return Err(self.on.communicator().error(call, kind));
        }
        self.prepare::<B::Element>(call, B::input(parts), B::output(parts))
    }

    #[track_caller]
    pub(super) fn run<T: AnyBytes>(
        self,
        call: &'static str,
        input: Option<RawSlice>,
        output: RawSlice,
    ) -> Result<()> {
        let (communicator, at) = (self.on.communicator(), Location::caller());
        let prepared = self.prepare::<T>(call, input, output);
        communicator.blocking(prepared.map_err(|error| communicator.refused(error, at))?)
    }
}

impl Communicator {
    /// Sends typed block `to[i]` of the input to rank `i`, and receives typed block `from[i]` of
    /// the output from it. The two ends of a transfer must have the same elements, but each may lay
    /// them out in memory as it likes. (`MPI_Alltoallw`)
    ///
    /// ```
    /// use motet::{Datatype, Part};
    ///
    /// // Columns become rows: each rank has rows of a matrix of 2 by 2, and wants columns.
    /// motet::threads(2, |world| {
    ///     let row = [10.0 * world.rank() as f64, 10.0 * world.rank() as f64 + 1.0];
    ///     let mut column = [0.0; 2];
    ///     let elements = [0, 1].map(|at| Part::new(8 * at, 1, &Datatype::DOUBLE));
    ///     world.alltoallw(&row, &mut column, &elements, &elements)?;
    ///     assert_eq!(column, [world.rank() as f64, 10.0 + world.rank() as f64]);
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// The lists do not have one block for each rank; blocks lie outside the buffers; or a rank has
    /// died or left.
    #[track_caller]
    pub fn alltoallw<T: AnyBytes>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[TypedBlock],
        from: &[TypedBlock],
    ) -> Result<()> {
        TypedBlocks { on: self.into(), whom: Peers::Ranks, to, from }.run::<T>(
            "alltoallw",
            input(send),
            output(receive),
        )
    }

    /// Does the same as [`alltoallw`](Communicator::alltoallw) with one buffer; received data
    /// replace sent data, so two ranks must have blocks of the same elements for each other.
    ///
    /// # Errors
    /// As [`alltoallw`](Communicator::alltoallw).
    #[track_caller]
    pub fn alltoallw_in_place<T: AnyBytes>(
        &self,
        buffer: &mut [T],
        parts: &[TypedBlock],
    ) -> Result<()> {
        TypedBlocks { on: self.into(), whom: Peers::Ranks, to: parts, from: parts }.run::<T>(
            "alltoallw",
            None,
            output(buffer),
        )
    }

    /// Sends typed block `to[j]` of the input to destination `j`, and receives typed block
    /// `from[j]` of the output from source `j`. (`MPI_Neighbor_alltoallw`, MPI 4.1 §8.6.2)
    ///
    /// # Errors
    /// The communicator has no topology; the lists do not have one block for each neighbour; blocks
    /// lie outside the buffers (blocks of absent neighbours are checked, too); or a rank has died
    /// or left.
    #[track_caller]
    pub fn neighbor_alltoallw<T: AnyBytes>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[TypedBlock],
        from: &[TypedBlock],
    ) -> Result<()> {
        TypedBlocks { on: self.into(), whom: Peers::Neighbours, to, from }.run::<T>(
            "neighbor_alltoallw",
            input(send),
            output(receive),
        )
    }

    /// Persistent [`neighbor_alltoallw`](Communicator::neighbor_alltoallw).
    /// (`MPI_Neighbor_alltoallw_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments; or buffers of [`Items`](crate::buffer::Items).
    #[track_caller]
    pub fn neighbor_alltoallw_init<S, R>(
        &self,
        buffers: (S, R),
        to: &[TypedBlock],
        from: &[TypedBlock],
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer<Element: AnyBytes> + 'static,
    {
        let all = TypedBlocks { on: self.into(), whom: Peers::Neighbours, to, from };
        self.persistent_with(buffers, info, |parts| {
            all.prepare_for::<(S, R)>("neighbor_alltoallw_init", parts)
        })
    }
}

/// The w-variants between the two groups of an intercommunicator.
impl Intercommunicator {
    /// Sends typed block `to[i]` of the input to rank `i` of the remote group, and receives typed
    /// block `from[i]` of the output from it; see [`Communicator::alltoallw`]. (`MPI_Alltoallw`)
    ///
    /// # Errors
    /// The lists do not have one block for each rank of the remote group; blocks lie outside the
    /// buffers; or a rank has died or left.
    #[track_caller]
    pub fn alltoallw<T: AnyBytes>(
        &self,
        send: &[T],
        receive: &mut [T],
        to: &[TypedBlock],
        from: &[TypedBlock],
    ) -> Result<()> {
        TypedBlocks { on: self.into(), whom: Peers::Ranks, to, from }.run::<T>(
            "alltoallw",
            input(send),
            output(receive),
        )
    }

    /// Nonblocking [`alltoallw`](Intercommunicator::alltoallw). (`MPI_Ialltoallw`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments; or buffers of [`Items`](crate::buffer::Items).
    #[track_caller]
    pub fn ialltoallw<S, R>(
        &self,
        buffers: (S, R),
        to: &[TypedBlock],
        from: &[TypedBlock],
    ) -> Result<Request<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer<Element: AnyBytes> + 'static,
    {
        let all = TypedBlocks { on: self.into(), whom: Peers::Ranks, to, from };
        let union = self.over_both();
        union.post(buffers, |parts| all.prepare_for::<(S, R)>("ialltoallw", parts))
    }

    /// Persistent [`alltoallw`](Intercommunicator::alltoallw). (`MPI_Alltoallw_init`)
    ///
    /// # Errors
    /// The blocking form would refuse the arguments; or buffers of [`Items`](crate::buffer::Items).
    #[track_caller]
    pub fn alltoallw_init<S, R>(
        &self,
        buffers: (S, R),
        to: &[TypedBlock],
        from: &[TypedBlock],
        info: &Info,
    ) -> Result<Persistent<(S, R)>>
    where
        S: SendBuffer<Element = R::Element> + 'static,
        R: RecvBuffer<Element: AnyBytes> + 'static,
    {
        let all = TypedBlocks { on: self.into(), whom: Peers::Ranks, to, from };
        let union = self.over_both();
        union.persistent_with(buffers, info, |parts| {
            all.prepare_for::<(S, R)>("alltoallw_init", parts)
        })
    }
}
