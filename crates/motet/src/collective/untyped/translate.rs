//! Translates the arguments of a collective to a prepared call: which rank reads and writes which
//! data, in which units, at which addresses.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod between;
mod moves;
mod neighbours;
mod reductions;

use motet_plan::Rank;

use super::buffers::{self, Around};
use super::collective::{Collective, CommRef, Root};
use super::data::WBuffer;
use super::packed_sides::{Stage, Unit};
use super::strict;
use crate::base::error::ErrorKind;
use crate::base::hints::Hints;
use crate::collective::{CollectiveArgs, InterCall, Members, Participants, PreparedCall, RankOf};
use crate::comm::communicator::Communicator;
use crate::data::buffer::RawSlice;
use crate::data::kernel::Kernel;
use crate::engine::PackDirection;
use crate::engine::check::Strictness;

type Translated = Result<Translation, ErrorKind>;

/// A translated call without its name.
pub(super) struct Translation {
    shape: CollectiveArgs,
    stage: Stage,
    kernel: Option<Box<dyn Kernel>>,
    /// The participants, if not all ranks of the communicator.
    among: Option<Box<Participants>>,
    /// The name of the operator.
    operator: Option<&'static str>,
}

impl Translation {
    /// Translates a collective on a communicator or intercommunicator. The caller must
    /// [check](Translation::check) the result.
    ///
    /// # Safety
    /// The operation holds the memory of all data that the call names.
    pub(super) unsafe fn of(collective: &Collective<'_>, on: CommRef<'_>) -> Translated {
        if on.communicator().core().watch().strictness() == Strictness::Strict {
            strict::check(collective, &Around::of(collective, on))?;
        }
        // SAFETY: passed on.
        unsafe { Translation::of_any(collective, on) }
    }

    /// Translates a collective with any arguments.
    ///
    /// # Safety
    /// As [`Translation::of`].
    unsafe fn of_any(collective: &Collective<'_>, on: CommRef<'_>) -> Translated {
        let comm = on.communicator();
        let place = RankOf { rank: comm.rank(), size: comm.size() };
        // SAFETY (for all calls below): passed on.
        match (*collective, on) {
            (collective, CommRef::Intercommunicator(_)) if collective.groups().is_some() => {
                let problem = "is an intercommunicator, but the groups are of one communicator";
                Err(ErrorKind::Communicator { problem: problem.into() })
            }
            // SAFETY: see above.
            (moved, CommRef::Intercommunicator(inter)) if moved.reduction().is_none() => unsafe {
                between::translate(&moved, inter)
            },
            // SAFETY: see above.
            (collective, CommRef::Intercommunicator(inter)) => unsafe {
                reductions::between(&collective, inter)
            },
            // SAFETY: see above.
            (collective, _) if collective.groups().is_some() => unsafe {
                sparse(&collective, comm)
            },
            // SAFETY: see above.
            (collective, _) if collective.is_among_neighbours() => unsafe {
                neighbours::translate(&collective, comm)
            },
            // SAFETY: see above.
            (collective, _) if collective.reduction().is_some() => unsafe {
                reductions::translate(&collective, place)
            },
            // SAFETY: see above.
            (collective, _) => unsafe { moves::translate(&collective, place) },
        }
    }

    /// Translates a collective among the members of a group.
    ///
    /// # Safety
    /// As [`Translation::of`], if the caller is a member.
    pub(super) unsafe fn among(collective: &Collective<'_>, members: &Members<'_>) -> Translated {
        if collective.is_among_neighbours() || collective.groups().is_some() {
            let what = "a group of a collective among neighbours".into();
            return Err(ErrorKind::Unsupported { what, instead: "; neighbours are its group" });
        }
        let mut collective = *collective;
        if let Some(root) = collective.root() {
            let all = members.communicator();
            let root = root_in(RankOf { rank: all.rank(), size: all.size() }, root)?;
            collective = collective.with_root(Root::Rank(members.root(root)?));
        }
        let among = Some(members.among());
        let Some(place) = members.place() else {
            let stage = Stage::new(Unit::BYTE);
            let idle = Translation::moving(Ok(CollectiveArgs::nothing()), stage)?;
            return Ok(Translation { among, ..idle });
        };
        let around = Around::among(place);
        if members.communicator().core().watch().strictness() == Strictness::Strict {
            strict::check(&collective, &around)?;
        }
        let translation = match collective.reduction() {
            // SAFETY: passed on.
            Some(_) => unsafe { reductions::translate(&collective, place) },
            // SAFETY: passed on.
            None => unsafe { moves::translate(&collective, place) },
        };
        let translation = translation?;
        translation.check(&collective, || around)?;
        Ok(Translation { among, ..translation })
    }

    /// Checks that received data does not overlap sent data, wherever both are used in place.
    ///
    /// # Errors
    /// The call passes one buffer for both.
    pub(super) fn check(
        &self,
        collective: &Collective<'_>,
        around: impl FnOnce() -> Around,
    ) -> Result<(), ErrorKind> {
        let CollectiveArgs { input, output, .. } = self.shape;
        if buffers::overlap(input, output, self.stage.unit().bytes) {
            buffers::check(collective, &around(), Strictness::Lenient)?;
        }
        Ok(())
    }

    /// Makes the prepared call with its name.
    pub(super) fn named(self, call: &'static str) -> PreparedCall {
        let Translation { shape, stage, kernel, among, operator } = self;
        let Unit { bytes, code, .. } = stage.unit();
        let element_bytes = if shape.is_barrier() { 0 } else { bytes };
        let staging = stage.finish();
        let (element, hints) = (code, Hints::default());
        PreparedCall {
            call,
            shape,
            kernel,
            operator,
            element,
            element_bytes,
            staging,
            among,
            hints,
            of_library: false,
            #[cfg(debug_assertions)]
            assert_valid: None,
        }
    }

    /// Makes a call that moves data.
    fn moving(shape: Result<CollectiveArgs, ErrorKind>, stage: Stage) -> Translated {
        Ok(Translation { shape: shape?, stage, kernel: None, among: None, operator: None })
    }

    /// Makes a call between two groups that moves data.
    fn crossing(crossing: Result<InterCall, ErrorKind>, stage: Stage) -> Translated {
        let InterCall { shape, among } = crossing?;
        Ok(Translation { shape, stage, kernel: None, among, operator: None })
    }
}

/// Translates a sparse collective, which names its destinations and its sources.
///
/// # Safety
/// As [`Translation::of`].
unsafe fn sparse(collective: &Collective<'_>, comm: &Communicator) -> Translated {
    let none = || ErrorKind::Internal("a collective was translated as another kind".into());
    let groups = collective.groups().ok_or_else(none)?;
    match collective {
        Collective::NeighborReduce { .. }
        | Collective::NeighborReducev { .. }
        | Collective::NeighborAllreduce { .. } => {
            // SAFETY: passed on.
            unsafe { reductions::among_groups(collective, comm, groups) }
        }
        // SAFETY: passed on.
        _ => unsafe { neighbours::among_groups(collective, comm, groups) },
    }
}

/// Translates an exchange of typed blocks to some ranks and from others.
///
/// # Safety
/// As [`Translation::of`].
pub(crate) unsafe fn exchangew(
    parts: [WBuffer<'_>; 2],
    comm: &Communicator,
    ranks: [&[Rank]; 2],
    call: &'static str,
) -> Result<PreparedCall, ErrorKind> {
    // SAFETY: passed on.
    let translation = unsafe { neighbours::among_ranks(parts, comm, ranks) }?;
    Ok(translation.named(call))
}

/// Returns the rank of the root on a communicator.
fn root_in(place: RankOf, root: Root) -> Result<usize, ErrorKind> {
    match root {
        Root::Rank(root) if root < place.size => Ok(root),
        Root::Rank(root) => Err(ErrorKind::Root { root, size: place.size }),
        Root::ThisRank => Err(ErrorKind::RootRole { role: "ROOT" }),
        Root::ProcNull => Err(ErrorKind::RootRole { role: "PROC_NULL" }),
    }
}

/// Returns how to pack an output that the call overwrites: in place, the old contents are packed
/// first.
fn output_direction(in_place: bool) -> PackDirection {
    if in_place { PackDirection::Both } else { PackDirection::Out }
}

/// How to pack an output whose blocks may get messages that are shorter: the old contents are
/// packed first, since the rest of such a block does not change.
const PARTIAL_OUTPUT: PackDirection = PackDirection::Both;

/// Returns the data, or the error for `MPI_IN_PLACE` where the standard does not allow it and for
/// missing data.
fn not_here<T>(which: &'static str, data: Option<T>) -> Result<T, ErrorKind> {
    data.ok_or_else(|| ErrorKind::Buffer { which, problem: "cannot be in place here".into() })
}

/// An empty span.
const NOTHING: RawSlice = RawSlice::EMPTY;
