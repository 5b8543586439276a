//! Old names of public items, kept for one release.

use super::{
    CallKey, CommRef, Partitions, Root, SendRecv, SendRecvReplace, Stage, TypedBuffer,
    VectorBuffer, WBuffer,
};
use crate::comm::persistent::Persistent;
use crate::data::buffer::StableBuffer;

/// [`TypedBuffer`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `TypedBuffer`")]
pub type Data<'a> = TypedBuffer<'a>;
/// [`VectorBuffer`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `VectorBuffer`")]
pub type Blocks<'a> = VectorBuffer<'a>;
/// [`WBuffer`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `WBuffer`")]
pub type Mixed<'a> = WBuffer<'a>;
/// [`CommRef`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `CommRef`")]
pub type On<'a> = CommRef<'a>;
/// [`CallKey`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `CallKey`")]
pub type Repeat = CallKey;
/// [`SendRecv`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `SendRecv`")]
pub type Swap<'a> = SendRecv<'a>;
/// [`SendRecvReplace`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `SendRecvReplace`")]
pub type Replace<'a> = SendRecvReplace<'a>;
/// [`Partitions`] under its old name.
#[deprecated(since = "0.1.0", note = "renamed to `Partitions`")]
pub type Parts = Partitions;

#[allow(non_upper_case_globals)] // these were variants
impl Root {
    /// [`Root::ThisRank`] under its old name.
    #[deprecated(since = "0.1.0", note = "renamed to `Root::ThisRank`")]
    pub const Here: Root = Root::ThisRank;
    /// [`Root::ProcNull`] under its old name.
    #[deprecated(since = "0.1.0", note = "renamed to `Root::ProcNull`")]
    pub const Near: Root = Root::ProcNull;
}

#[allow(non_upper_case_globals)] // this was a variant
impl Stage {
    /// [`Stage::Pending`] under its old name.
    #[deprecated(since = "0.1.0", note = "renamed to `Stage::Pending`")]
    pub const UnderWay: Stage = Stage::Pending;
}

impl<B: StableBuffer + 'static> Persistent<B> {
    /// [`Persistent::is_active`] under its old name.
    #[deprecated(since = "0.1.0", note = "renamed to `Persistent::is_active`")]
    pub fn is_under_way(&self) -> bool {
        self.is_active()
    }
}
