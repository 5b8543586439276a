//! A message that meets its receive: whether it fits, and the completion of the receive.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::fill::Fill;
use super::introductions::Introductions;
use super::transfer::{Completion, PostedRecv};
use crate::error::Sender;
use crate::memory::copy_many;
use crate::{Label, Peer, Received, Token, TransferError, TypeCode};

/// A message that meets its receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) source: Peer,
    pub(super) label: Label,
    pub(super) element: TypeCode,
    pub(super) bytes: usize,
}

impl Message {
    /// Whether this receive can take it.
    #[inline]
    pub(super) fn fits(
        &self,
        receive: &PostedRecv,
        introductions: &Introductions,
    ) -> Result<(), TransferError> {
        if self.element != receive.element || self.element.is_structure() {
            self.fits_by_rule(receive, introductions)?;
        }
        if self.bytes != receive.into.bytes() {
            self.fits_place(receive)?;
        }
        Ok(())
    }

    /// Checks a message whose length differs from that of its receive.
    #[cold]
    fn fits_place(&self, receive: &PostedRecv) -> Result<(), TransferError> {
        let room = receive.into.bytes();
        if self.bytes > room {
            return Err(self.truncated(room));
        }
        match receive.fill {
            Fill::Part => Ok(()),
            Fill::Whole => Err(TransferError::Short {
                sent: self.bytes.into(),
                room: room.into(),
                from: self.sender(),
            }),
        }
    }

    fn sender(&self) -> Sender {
        Sender::new(self.source, self.label.tag)
    }

    /// It is longer than the room there is.
    #[cold]
    pub(super) fn truncated(&self, room: usize) -> TransferError {
        TransferError::truncated(self.sender(), self.bytes, room)
    }

    /// Whether its type is one that may be received, if they are not the same basic type.
    #[inline(never)]
    fn fits_by_rule(
        &self,
        receive: &PostedRecv,
        introductions: &Introductions,
    ) -> Result<(), TransferError> {
        match self.element {
            TypeCode::SPOILED => return Err(TransferError::Spoiled(self.source)),
            TypeCode::OPERATOR_FAILED => return Err(TransferError::OperatorFailed(self.source)),
            _ => {}
        }
        let (sent, expected) = (introductions.own(self.source, self.element), receive.element);
        let from = self.sender();
        if sent.fits(expected) {
            Ok(())
        } else if receive.fill == Fill::Whole && self.bytes != receive.into.bytes() {
            Err(TransferError::OtherElements { sent, expected, from })
        } else {
            Err(TransferError::TypeMismatch { sent, expected, from })
        }
    }

    /// Ends a receive with this message, if it fits.
    pub(super) fn deliver(
        &self,
        whole: &[u8],
        receive: PostedRecv,
        introductions: &Introductions,
        done: &mut Vec<Completion>,
    ) {
        let fits = self.fits(&receive, introductions);
        if fits.is_ok() {
            let into = receive.into.start();
            // SAFETY: a posted receive: writable, by the promise of its poster, and long enough, as
            // just checked.
            unsafe { copy_many(whole.as_ptr(), into, whole.len()) };
        }
        done.push(self.completion(receive.token(), fits));
    }

    pub(super) fn completion(
        &self,
        token: Token,
        outcome: Result<(), TransferError>,
    ) -> Completion {
        let Message { source, label: Label { tag, .. }, bytes, .. } = *self;
        Completion { token, outcome: outcome.map(|()| Received { source, tag, bytes }) }
    }
}
