//! Replay of C calls: finds the execution of a recent identical call by handles and numbers only.
//!
//! A C library receives handles and numbers. To look them up, check them and pass the results down
//! takes as long as the message of a short call. A repeated call passes the same handles and
//! numbers: it is enough to compare them with those of the earlier call, whose checks still hold.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::request::Past;
use crate::base::collective_kind::CollectiveKind;
use crate::base::error::Result;
use crate::collective::StartedCall;
use crate::collective::untyped::Collective;
use crate::comm::communicator::Communicator;
use crate::engine::context::ContextKind;
use crate::engine::{CallSignature, FrontEnd, ReplayKey};
use crate::raw;

/// Number of bits of [`CallKey::what`].
const WHAT_BITS: u32 = 44;

/// The key of a C call, built by the C library: equal keys mean identical calls.
///
/// Two keys that differ only in addresses, on one communicator, must describe the same collective
/// with the same predefined datatypes, the same predefined operator, the same sides in use and the
/// same item counts. The library does not interpret the values.
#[derive(Clone, Copy, Debug)]
pub struct CallKey {
    /// The collective.
    pub kind: CollectiveKind,
    /// Operator, datatypes, and other distinguishing arguments, in 44 bits.
    pub what: u64,
    /// The root, encoded by the caller.
    pub root: u32,
    /// Items sent and items received, encoded by the caller.
    pub counts: [usize; 2],
    /// Start addresses of the send data and of the receive data. The address of a side that is not
    /// in use may have any value.
    pub addresses: [*mut u8; 2],
}

impl CallKey {
    /// Builds the replay key. `None` if both sides start at one address, which does not show which
    /// side is in use; or if learned choices may change the algorithm.
    #[inline]
    fn known(&self, communicator: &Communicator) -> Option<ReplayKey<'static>> {
        debug_assert!(self.what >> WHAT_BITS == 0);
        let [sent, received] = self.addresses;
        if sent == received && !sent.is_null() {
            return None;
        }
        let selection = communicator.replay_selection()?;
        let [items_sent, items_received] = self.counts;
        let signature = CallSignature {
            context: communicator.context(ContextKind::Collective),
            what: CallSignature::what(FrontEnd::Handles, self.kind, selection, self.what),
            root: self.root.into(),
            sent: items_sent,
            received: items_received,
        };
        Some(ReplayKey { signature, sent, received, call: None })
    }

    /// Replays a blocking call that [`Collective::run_keyed`] has stored. `None` if it is not in
    /// the replay cache (any more).
    ///
    /// # Safety
    /// As [`Collective::run`], of the collective that this key describes.
    #[inline]
    pub unsafe fn run(&self, communicator: &Communicator) -> Option<Result<()>> {
        communicator.replay_blocking(self.kind, &self.known(communicator)?)
    }

    /// Replays a nonblocking call that [`Collective::start_keyed`] has stored. `None` if it is not
    /// in the replay cache (any more).
    ///
    /// # Safety
    /// As [`Collective::start`], of the collective that this key describes.
    #[inline]
    pub unsafe fn start(&self, communicator: &Communicator) -> Option<raw::Request> {
        Some(match communicator.replay_one_way(self.kind, &self.known(communicator)?)? {
            StartedCall::Over => const { raw::Request::over(Past::Collective) },
            StartedCall::Pending(handle) => raw::Request::of_collective(handle),
        })
    }
}

impl Collective<'_> {
    /// Runs the blocking form, and stores it in the replay cache under the key `words`.
    ///
    /// # Safety
    /// As [`Collective::run`]; the key describes this collective.
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

    /// Starts the nonblocking form, and stores it in the replay cache under the key `words`.
    ///
    /// # Safety
    /// As [`Collective::start`]; the key describes this collective.
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
