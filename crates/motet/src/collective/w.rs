//! The collectives in which each block has a datatype of its own, in three forms.
//!
//! A buffer is here just so many bytes, and a [`TypedBlock`] says where in them a block lies. So
//! its elements are of a type that any bytes are a value of, and every part is checked against the
//! buffer; then the untyped layer does the rest.

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
/// [`exchangew`](Communicator::exchangew): where it lies, and what it is made of.
/// (MPI 4.1 §6.8)
#[derive(Clone, Debug)]
pub struct TypedBlock {
    /// Where the first item begins, in bytes from the start of the buffer.
    pub displacement: isize,
    /// Number of items.
    pub count: usize,
    /// What an item is.
    pub datatype: Datatype,
}

impl TypedBlock {
    /// So many items of a datatype, from a byte of the buffer on.
    pub fn new(displacement: isize, count: usize, datatype: &Datatype) -> TypedBlock {
        TypedBlock { displacement, count, datatype: datatype.clone() }
    }

    /// All its bytes of data must lie in the buffer.
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

/// Parts as the untyped layer takes them.
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

/// Whom the parts of a call are for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peers<'a> {
    /// All ranks: those of the other group, if there are two.
    Ranks,
    /// The neighbours in a topology.
    Neighbours,
    /// The members of a group.
    Members(&'a Members<'a>),
    /// These ranks, whom the caller sends to and whom it receives from. What is received has a
    /// place of its own, also if there is one buffer only.
    Named { to: &'a [Rank], from: &'a [Rank] },
}

/// What an alltoallw passes besides its buffers.
#[derive(Clone, Copy)]
pub(crate) struct TypedBlocks<'a> {
    pub(crate) on: CommRef<'a>,
    pub(crate) whom: Peers<'a>,
    pub(crate) to: &'a [TypedBlock],
    pub(crate) from: &'a [TypedBlock],
}

impl TypedBlocks<'_> {
    /// The call on the data of two spans, which the operation holds as those of a shape.
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

    /// The parts to send, unless what is sent lies where it is received.
    fn sent(&self, input: Option<RawSlice>) -> &[TypedBlock] {
        match (self.whom, input) {
            (Peers::Named { .. }, _) | (_, Some(_)) => self.to,
            (_, None) => &[],
        }
    }

    /// The call on buffers that the operation holds.
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
    /// Sends part `to[i]` of the input to rank `i`, and receives part `from[i]` of the output from
    /// it. What two ranks have for each other consists of the same elements, in whatever way either
    /// of them has laid these out. (`MPI_Alltoallw`)
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
    /// Lists that are not one part for each rank; parts that do not lie in the buffers; a rank that
    /// has died or left.
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

    /// As [`alltoallw`](Communicator::alltoallw); what is received replaces what was sent, so two
    /// ranks have parts of the same elements for each other.
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

    /// Sends part `to[j]` of the input to destination `j`, and receives part `from[j]` of the
    /// output from source `j`. (`MPI_Neighbor_alltoallw`, MPI 4.1 §8.6.2)
    ///
    /// # Errors
    /// A communicator without a topology; lists that are not one part for each neighbour; parts
    /// that do not lie in the buffers, those of neighbours that are not there included; a rank
    /// that has died or left.
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
    /// Arguments that the blocking form refuses; buffers of [`Items`](crate::buffer::Items).
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

/// Between the two groups.
impl Intercommunicator {
    /// Sends part `to[i]` of the input to rank `i` of the other group, and receives part `from[i]`
    /// of the output from it; see [`Communicator::alltoallw`]. (`MPI_Alltoallw`)
    ///
    /// # Errors
    /// Lists that are not one part for each rank of the other group; parts that do not lie in the
    /// buffers; a rank that has died or left.
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
    /// Arguments that the blocking form refuses; buffers of [`Items`](crate::buffer::Items).
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
    /// Arguments that the blocking form refuses; buffers of [`Items`](crate::buffer::Items).
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
