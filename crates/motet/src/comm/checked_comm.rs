//! Check mode of a communicator: reports its calls to the other ranks. Costs one branch if off.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::error::{Error, ErrorKind};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::CommContext;
use crate::engine::OpKey;
use crate::engine::check::{CallDescription, CheckConfig, Kind, PendingCall};
use crate::engine::context::{ContextKind, split_context};

/// A communicator whose calls are reported to its other ranks. Dropped with it.
pub(crate) struct CheckedComm {
    pub(crate) id: u64,
    home: Arc<CommContext>,
    /// Whether this rank has announced that it makes no more calls.
    has_ended: AtomicBool,
}

impl CheckedComm {
    /// Opens the record of a communicator, if check mode keeps records and there are other ranks.
    pub(crate) fn begin(
        watch: CheckConfig,
        home: &Arc<CommContext>,
        id: u64,
    ) -> Option<CheckedComm> {
        if !watch.keeps_records() || home.group.size() == 1 {
            return None;
        }
        home.core.engine().meet(id, home.group.clone());
        Some(CheckedComm { id, home: home.clone(), has_ended: AtomicBool::new(false) })
    }

    /// Records the new name of the communicator.
    pub(crate) fn name(&self, name: &str) {
        self.home.core.engine().name_ledger(self.id, name.to_owned());
    }

    /// Announces to the other ranks that this rank makes no more calls.
    pub(crate) fn end(&self) {
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(mut engine) = self.home.core.free_engine() else { return };
        // Whatever is wrong with the communicator, this is no call that could say so.
        let _ = engine.note(self.id, Kind::Freed, CallDescription::freed(), u64::MAX);
    }
}

impl Drop for CheckedComm {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

impl Communicator {
    /// Reports a valid call to the other ranks, under its sequence number.
    ///
    /// # Errors
    /// The calls of the ranks on this communicator do not match.
    #[cold]
    pub(crate) fn note(&self, account: CallDescription, number: OpKey) -> Result<(), ErrorKind> {
        let Some(membership) = self.membership() else { return Ok(()) };
        let mut engine = self.core().engine();
        engine.name_ledger(membership.id, self.name());
        let text = account.text.clone();
        let (_, traffic) = split_context(number.context);
        let tag = match traffic {
            ContextKind::Collective => number.tag,
            _ => self.collectives_begun(),
        };
        let called = engine.note(membership.id, Kind::Call, account, tag);
        let count = called.map_err(|reason| {
            engine.tell(reason);
            ErrorKind::Mismatch(reason)
        })?;
        engine.begin_live(number, PendingCall { traffic, number: count, text });
        Ok(())
    }

    /// Reports a refused call to the other ranks, which would otherwise wait for it forever, and
    /// returns the error.
    #[inline]
    pub(crate) fn refused(&self, error: Error, at: &Location<'_>) -> Error {
        if let Some(membership) = self.membership() {
            let place = self.core().watch().place(at);
            let account = CallDescription::refused(&error.to_string(), &place);
            let Some(mut engine) = self.core().free_engine() else { return error };
            engine.name_ledger(membership.id, self.name());
            // The caller has an error already.
            let _ = engine.note(membership.id, Kind::Refused, account, self.collectives_begun());
        }
        error
    }
}
