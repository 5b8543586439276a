//! The permitted length of a received message: at most, or exactly, the length of its receive.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Completion, Endpoint, PostedRecv};
use crate::matching::Ticket;
use crate::{RegionMut, Selector, Token, TypeCode};

/// The permitted length of a received message. A message longer than the receive is always refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// It may be shorter than the receive. The rest of the memory stays unchanged.
    Part,
    /// It has exactly the length of the receive; a shorter message is refused.
    Whole,
}

impl PostedRecv {
    /// The same receive with this permitted length.
    pub(super) fn filled(self, fill: Fill) -> PostedRecv {
        PostedRecv { fill, ..self }
    }
}

impl Endpoint {
    /// As [`Endpoint::recv`], with a permitted length.
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
