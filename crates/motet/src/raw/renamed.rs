//! Old names of public items, for one release.

use super::{
    CallKey, CommRef, Partitions, Root, SendRecv, SendRecvReplace, TypedBuffer, VectorBuffer,
    WBuffer,
};

/// The old name of [`TypedBuffer`].
#[deprecated(since = "0.1.0", note = "renamed to `TypedBuffer`")]
pub type Data<'a> = TypedBuffer<'a>;
/// The old name of [`VectorBuffer`].
#[deprecated(since = "0.1.0", note = "renamed to `VectorBuffer`")]
pub type Blocks<'a> = VectorBuffer<'a>;
/// The old name of [`WBuffer`].
#[deprecated(since = "0.1.0", note = "renamed to `WBuffer`")]
pub type Mixed<'a> = WBuffer<'a>;
/// The old name of [`CommRef`].
#[deprecated(since = "0.1.0", note = "renamed to `CommRef`")]
pub type On<'a> = CommRef<'a>;
/// The old name of [`CallKey`].
#[deprecated(since = "0.1.0", note = "renamed to `CallKey`")]
pub type Repeat = CallKey;
/// The old name of [`SendRecv`].
#[deprecated(since = "0.1.0", note = "renamed to `SendRecv`")]
pub type Swap<'a> = SendRecv<'a>;
/// The old name of [`SendRecvReplace`].
#[deprecated(since = "0.1.0", note = "renamed to `SendRecvReplace`")]
pub type Replace<'a> = SendRecvReplace<'a>;
/// The old name of [`Partitions`].
#[deprecated(since = "0.1.0", note = "renamed to `Partitions`")]
pub type Parts = Partitions;

#[allow(non_upper_case_globals)] // these were variants
impl Root {
    /// The old name of [`Root::ThisRank`].
    #[deprecated(since = "0.1.0", note = "renamed to `Root::ThisRank`")]
    pub const Here: Root = Root::ThisRank;
    /// The old name of [`Root::ProcNull`].
    #[deprecated(since = "0.1.0", note = "renamed to `Root::ProcNull`")]
    pub const Near: Root = Root::ProcNull;
}
