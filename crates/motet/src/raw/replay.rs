//! Calls that their caller tells apart.
//!
//! A C library gets handles and numbers. What they stand for it looks up, checks and hands down,
//! which takes as long as the message of a short call. A call that is made again says the same
//! handles and numbers: so it is enough to compare those with what was said before, and all that
//! was found out then holds.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::request::Past;
use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::StartedCall;
use crate::collective::untyped::Collective;
use crate::comm::communicator::Communicator;
use crate::engine::context::ContextKind;
use crate::engine::{CallSignature, ReplayKey};
use crate::raw;

/// Bits of [`CallKey::what`].
const WHAT_BITS: u32 = 44;

/// A call in the words of its caller, who says the same only of the same.
///
/// Two of them that are equal but for their addresses, on one communicator, are the same call of
/// the same collective: of the same datatypes and the same operator, which are predefined; the same
/// sides of it are looked at, of as many items. What they are the library is not told.
#[derive(Clone, Copy, Debug)]
pub struct CallKey {
    /// Which collective it is.
    pub kind: CollectiveKind,
    /// Operator, datatypes, and what else decides, in 44 bits.
    pub what: u64,
    /// The root, in the caller's way.
    pub root: u32,
    /// Items that are sent and received, in the caller's way.
    pub counts: [usize; 2],
    /// Where what is sent and what is received begins. Whatever of it is not looked at may be
    /// anything.
    pub addresses: [*mut u8; 2],
}

impl CallKey {
    /// Nothing if both sides begin at one place: then the addresses do not tell which is looked at.
    #[inline]
    fn known(&self, communicator: &Communicator) -> Option<ReplayKey<'static>> {
        debug_assert!(self.what >> WHAT_BITS == 0);
        let [sent, received] = self.addresses;
        if sent == received && !sent.is_null() {
            return None;
        }
        let selection = communicator.selection_again()?;
        let [items_sent, items_received] = self.counts;
        let signature = CallSignature {
            context: communicator.context(ContextKind::Collective),
            // The highest bit is none of a signature that the library makes by itself.
            what: 1 << 63 | self.what << 16 | u64::from(selection as u8) << 8 | self.kind as u64,
            root: self.root.into(),
            sent: items_sent,
            received: items_received,
        };
        Some(ReplayKey { signature, sent, received, call: None })
    }

    /// The blocking form of a call that has been made before, as [`Collective::run_keyed`]; nothing
    /// if it has not, or is not known any more.
    ///
    /// # Safety
    /// As [`Collective::run`], of the collective that these words stand for.
    #[inline]
    pub unsafe fn run(&self, communicator: &Communicator) -> Option<Result<()>> {
        communicator.blocking_again(self.kind, &self.known(communicator)?)
    }

    /// The nonblocking form of a call that has been made before, as [`Collective::start_keyed`];
    /// nothing if it has not, or is not known any more.
    ///
    /// # Safety
    /// As [`Collective::start`], of the collective that these words stand for.
    #[inline]
    pub unsafe fn start(&self, communicator: &Communicator) -> Option<raw::Request> {
        Some(match communicator.begin_again(self.kind, &self.known(communicator)?)? {
            StartedCall::Over => const { raw::Request::over(Past::Collective) },
            StartedCall::UnderWay(flight) => raw::Request::of_collective(flight),
        })
    }
}

impl Collective<'_> {
    /// The blocking form, to be known by these words from now on.
    ///
    /// # Safety
    /// As [`Collective::run`]; the words stand for this.
    ///
    /// # Errors
    /// As [`Collective::run`].
    #[track_caller]
    pub unsafe fn run_keyed(&self, communicator: &Communicator, words: &CallKey) -> Result<()> {
        match words.known(communicator) {
            // SAFETY: passed on.
            Some(known) => unsafe { self.run_first(communicator.into(), Some(&known)) },
            // SAFETY: passed on.
            None => unsafe { self.run(communicator) },
        }
    }

    /// The nonblocking form, to be known by these words from now on.
    ///
    /// # Safety
    /// As [`Collective::start`]; the words stand for this.
    ///
    /// # Errors
    /// As [`Collective::start`].
    #[track_caller]
    pub unsafe fn start_keyed(
        &self,
        communicator: &Communicator,
        words: &CallKey,
    ) -> Result<raw::Request> {
        let Some(known) = words.known(communicator) else {
            // SAFETY: passed on.
            return unsafe { self.start_request(communicator) };
        };
        // SAFETY: passed on.
        let request = unsafe { self.start_first(communicator.into(), Some(&known)) }?;
        Ok(raw::Request::of_collective(request.into_flight()))
    }
}
