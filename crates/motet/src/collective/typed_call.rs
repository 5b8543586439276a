//! Replay keys of typed blocking calls.
//!
//! All that a typed call depends on is its element type, its operator, the lengths of its slices,
//! its root and its blocks, beside what any call depends on. The first two are known when the
//! program is compiled, so a repeated call only compares a few words with those of the call before.

#![allow(unsafe_code)] // listed in docs/unsafe.md

#[cfg(test)]
mod tests;

use motet_fabric::TypeCode;
use motet_plan::Block;

use crate::Element;
use crate::base::collective_kind::CollectiveKind;
use crate::comm::communicator::Communicator;
use crate::data::buffer::RawSlice;
use crate::data::op::Operator;
use crate::engine::context::ContextKind;
use crate::engine::{BlockList, CallSignature, FrontEnd, KeyDetails, Lists, ReplayKey};
use crate::types::element::ElementType;
#[cfg(debug_assertions)]
use crate::types::element::assert_valid;

/// The least size in bytes of an element that has too many bytes for a signature.
const TOO_LARGE: usize = 1 << 13;
/// The bit of a call with one buffer, above the operator (16 bits), the code of the element (16
/// bits) and its size (13 bits).
const IN_PLACE: u64 = 1 << 45;

/// A typed blocking call: which collective, and its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedCall<'a> {
    pub(super) kind: CollectiveKind,
    /// The element type and the operator; `None` if the call cannot be replayed.
    own: Option<u64>,
    /// 0 if the collective has no root.
    root: usize,
    /// The input; `None` if there is one buffer for all, or none.
    sent: Option<RawSlice>,
    received: RawSlice,
    /// The blocks of the input and of the output.
    blocks: [Option<&'a [Block]>; 2],
}

impl<'a> TypedCall<'a> {
    /// A call that moves elements.
    #[inline(always)]
    pub(super) fn moving<T: Element>(
        kind: CollectiveKind,
        sent: Option<RawSlice>,
        received: RawSlice,
    ) -> TypedCall<'a> {
        let own = const { moved::<T>() };
        TypedCall { kind, own, root: 0, sent, received, blocks: [None, None] }
    }

    /// A call that reduces elements.
    #[inline(always)]
    pub(super) fn reducing<T: Element, O: Operator<T>>(
        kind: CollectiveKind,
        sent: Option<RawSlice>,
        received: RawSlice,
        _operator: &O,
    ) -> TypedCall<'a> {
        let own = const { reduced::<T, O>() };
        TypedCall { own, ..TypedCall::moving::<T>(kind, sent, received) }
    }

    #[inline(always)]
    pub(super) fn with_root(self, root: usize) -> TypedCall<'a> {
        TypedCall { root, ..self }
    }

    #[inline(always)]
    pub(super) fn sends(self, blocks: &'a [Block]) -> TypedCall<'a> {
        TypedCall { blocks: [Some(blocks), self.blocks[1]], ..self }
    }

    #[inline(always)]
    pub(super) fn receives(self, blocks: &'a [Block]) -> TypedCall<'a> {
        TypedCall { blocks: [self.blocks[0], Some(blocks)], ..self }
    }

    /// Checks that the memory which the call may have written holds values of the elements.
    #[cfg(debug_assertions)]
    pub(super) fn assert_valid<T: Element>(&self) {
        let RawSlice { start, len } = self.received;
        // SAFETY: the output of a call that is over, which its caller has borrowed.
        unsafe { assert_valid::<T>(start, len) };
    }

    /// Builds the replay key of the call. `None` if the call cannot be replayed.
    #[inline(always)]
    pub(super) fn key(&self, communicator: &Communicator) -> Option<ReplayKey<'_>> {
        let in_place = if self.sent.is_none() { IN_PLACE } else { 0 };
        let own = self.own? | in_place;
        let selection = communicator.replay_selection()?;
        let sent = self.sent.unwrap_or(RawSlice::EMPTY);
        let signature = CallSignature {
            context: communicator.context(ContextKind::Collective),
            what: CallSignature::what(FrontEnd::Typed, self.kind, selection, own),
            root: self.root as u64,
            sent: sent.len,
            received: self.received.len,
        };
        let has_lists = self.blocks.iter().any(Option::is_some);
        let call: Option<&dyn KeyDetails> = if has_lists { Some(self) } else { None };
        Some(ReplayKey { signature, sent: sent.start, received: self.received.start, call })
    }
}

impl KeyDetails for TypedCall<'_> {
    fn lists(&self) -> [Lists<'_>; 2] {
        self.blocks.map(|blocks| blocks.map(BlockList::Paired))
    }
}

/// The code and the size of an element, which tell what a plan does with it. `None` for structures,
/// whose codes are not known when the program is compiled; for elements with padding, which are
/// packed; and for elements without bytes, which lie nowhere.
const fn moved<T: Element>() -> Option<u64> {
    match T::TYPE {
        ElementType::Basic(TypeCode(code))
            if !T::HAS_PADDING && size_of::<T>() > 0 && size_of::<T>() < TOO_LARGE =>
        {
            Some((code as u64) << 16 | (size_of::<T>() as u64) << 32)
        }
        _ => None,
    }
}

/// The same with an operator. `None` for an operator of the user, of which two calls may have two.
const fn reduced<T: Element, O: Operator<T>>() -> Option<u64> {
    match (moved::<T>(), O::BUILT_IN) {
        (Some(element), Some(operator)) => Some(element | operator as u16 as u64),
        _ => None,
    }
}
