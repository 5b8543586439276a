//! The permitted length of a received message: at most, or exactly, the length of its receive.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Completion, Endpoint, PostedRecv};
use crate::matching::Ticket;
use crate::{RegionMut, Selector, Token, TypeCode};

/// How long a message may be that is received into a place. A longer one is refused in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// It may be shorter than its place. The rest of that stays as it is.
    Part,
    /// It fills its place; a shorter one is refused.
    Whole,
}

impl PostedRecv {
    /// One whose message fills its place, or need not.
    pub(super) fn filled(self, fill: Fill) -> PostedRecv {
        PostedRecv { fill, ..self }
    }
}

impl Endpoint {
    /// As [`Endpoint::recv`], of a message that fills its place or need not.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub unsafe fn recv_filled(
        &mut self,
        selector: Selector,
        element: TypeCode,
        (into, fill): (RegionMut, Fill),
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        self.post(selector, PostedRecv::new(into, element, token).filled(fill), done)
    }
}
