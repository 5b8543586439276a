//! Untyped collectives: addresses, counts and datatypes, and their translation to prepared calls.

mod buffers;
mod collective;
mod data;
mod kind;
mod overlap;
mod packed_sides;
mod strict;
mod translate;

pub use collective::{Collective, CommRef, Reduction, Root};
pub use data::{TypedBuffer, VectorBuffer, WBuffer};
pub(crate) use packed_sides::{Items, Stage, Unit, bytes_in_a_row, items_of};
pub use strict::{check_operator, is_strict};
pub(crate) use translate::exchangew;
