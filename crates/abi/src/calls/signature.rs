//! Builds the replay key of a collective from its C arguments.
//!
//! Only calls with predefined datatypes and operators have a key: the meaning of their handles
//! never changes. A communicator is compared by its identity, not by its handle. The layer below
//! recognizes calls with derived datatypes, by the objects behind the handles.

use std::ffi::{c_int, c_void};

use motet::raw::{CallKey, CollectiveKind};

use crate::constants::{MPI_DATATYPE_NULL, MPI_IN_PLACE, MPI_OP_NULL};
use crate::handle::{MPI_Datatype, MPI_Op};

/// Bits of a handle that is a constant.
const HANDLE_BITS: u32 = 12;

/// One side of a call: where its data begins, how many items it has, and of which datatype.
pub(super) struct HandleSide(pub(super) *const c_void, pub(super) i64, pub(super) MPI_Datatype);

impl HandleSide {
    /// There is no such side.
    pub(super) const NONE: HandleSide = HandleSide(std::ptr::null(), 0, MPI_DATATYPE_NULL);

    /// Whether it is nowhere, in the place of the other side, or has a place of its own.
    #[inline(always)]
    fn place(&self) -> usize {
        self.0.addr().min(MPI_IN_PLACE + 1)
    }
}

/// What nobody is the root of.
pub(super) const NO_ROOT: c_int = 0;
/// What reduces nothing.
pub(super) const NO_OP: MPI_Op = MPI_OP_NULL;

/// A call in words, if they say all of it.
#[inline(always)]
pub(super) fn signature(
    kind: CollectiveKind,
    root: c_int,
    op: MPI_Op,
    [sent, received]: [HandleSide; 2],
) -> Option<CallKey> {
    let places = sent.place() | received.place() << 2;
    let handles = [op.value(), sent.2.value(), received.2.value()];
    if handles.iter().fold(0, |bits, handle| bits | handle) >> HANDLE_BITS != 0 {
        return None;
    }
    let what = handles.iter().fold(places, |bits, handle| bits << HANDLE_BITS | handle);
    Some(CallKey {
        kind,
        what: what as u64,
        root: root as u32,
        counts: [sent.1 as usize, received.1 as usize],
        addresses: [sent.0.cast_mut().cast(), received.0.cast_mut().cast()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::{MPI_INT, MPI_MAX, MPI_SUM};

    /// Calls that differ in anything but their addresses are not the same.
    #[test]
    fn words_tell_calls_apart() {
        let (mut data, place) = ([0; 2], MPI_IN_PLACE as *const c_void);
        let [one, two] =
            [0, 1].map(|at| std::ptr::from_mut(&mut data[at]).cast::<c_void>().cast_const());
        let say = |kind, root, op, sent: (_, _, _), received: (_, _, _)| {
            let side = |(at, count, datatype)| HandleSide(at, count, datatype);
            let words = signature(kind, root, op, [side(sent), side(received)]);
            let words = words.expect("all of it is predefined");
            (words.kind, words.what, words.root, words.counts)
        };
        let int = MPI_INT;
        let byte = crate::constants::MPI_BYTE;
        let reduce = CollectiveKind::Reduce;
        let signature = say(reduce, 0, MPI_SUM, (one, 1, int), (two, 1, int));
        assert_eq!(signature, say(reduce, 0, MPI_SUM, (two, 1, int), (one, 1, int)));
        for other in [
            say(CollectiveKind::Bcast, 0, MPI_SUM, (one, 1, int), (two, 1, int)),
            say(reduce, 1, MPI_SUM, (one, 1, int), (two, 1, int)),
            say(reduce, 0, MPI_MAX, (one, 1, int), (two, 1, int)),
            say(reduce, 0, MPI_SUM, (one, 2, int), (two, 1, int)),
            say(reduce, 0, MPI_SUM, (one, 1, int), (two, 2, int)),
            say(reduce, 0, MPI_SUM, (one, 1, byte), (two, 1, int)),
            say(reduce, 0, MPI_SUM, (one, 1, int), (two, 1, byte)),
            say(reduce, 0, MPI_SUM, (place, 1, int), (two, 1, int)),
            say(reduce, 0, MPI_SUM, (one, 1, int), (place, 1, int)),
            say(reduce, 0, MPI_SUM, (std::ptr::null(), 1, int), (two, 1, int)),
            say(reduce, 0, MPI_SUM, (one, 1, int), (std::ptr::null(), 1, int)),
        ] {
            assert_ne!(signature, other);
        }
    }

    /// A handle of a program's own may stand for something else the next time.
    #[test]
    fn what_a_program_has_made_is_not_known() {
        let made = MPI_Datatype::without_object(0);
        let sides = || [HandleSide(std::ptr::null(), 1, made), HandleSide::NONE];
        assert!(signature(CollectiveKind::Bcast, 0, NO_OP, sides()).is_none());
        let op = MPI_Op::without_object(0);
        assert!(
            signature(CollectiveKind::Scan, 0, op, [HandleSide::NONE, HandleSide::NONE]).is_none()
        );
    }
}
