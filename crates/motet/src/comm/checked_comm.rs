//! What the calls of a communicator do for check mode: one branch if it is off.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::error::{Error, ErrorKind};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::CommContext;
use crate::engine::OpKey;
use crate::engine::check::{CallDescription, CheckConfig, Kind, PendingCall};
use crate::engine::context::{ContextKind, split_context};

/// A communicator whose calls are told to its other ranks. Dropped with it.
pub(crate) struct CheckedComm {
    pub(crate) id: u64,
    home: Arc<CommContext>,
    /// Whether the others have been told that this rank calls nothing more.
    has_ended: AtomicBool,
}

impl CheckedComm {
    /// Opens the ledger of a communicator, if records are kept and there is anybody to tell.
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

    /// The communicator has this name now.
    pub(crate) fn name(&self, name: &str) {
        self.home.core.engine().name_ledger(self.id, name.to_owned());
    }

    /// Tells the others that this rank calls nothing more.
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
    /// Tells the other ranks of a call that can be made, under this message number.
    ///
    /// # Errors
    /// That the calls on this communicator do not fit together.
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

    /// Tells the other ranks of a call that is refused, if they are to hear it: they would wait
    /// for it in vain. Returns the error.
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
