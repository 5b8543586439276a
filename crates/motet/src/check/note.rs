//! What the calls of a communicator do for check mode: one branch if it is off.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::account::{CallDescription, Elements, Reducing, Within, operator_name};
use super::record::Kind;
use super::{CheckConfig, PendingCall};
use crate::collective::{Participants, PreparedCall};
use crate::communicator::Communicator;
use crate::engine::context::{ContextKind, split_context};
use crate::engine::{OpKey, Selection};
use crate::error::{Error, ErrorKind, Result};
use crate::group::Group;
use crate::op_handle::CommContext;
use crate::world::World;

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
    fn end(&self) {
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(mut engine) = self.home.core.free_engine() else { return };
        // Whatever is wrong with the communicator, this is no call that could say so.
        let _ = engine.note(self, Kind::Freed, CallDescription::freed(), u64::MAX);
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
    /// What a call says about itself, if somebody is to hear it.
    #[inline]
    pub(crate) fn account(
        &self,
        prepared: &PreparedCall,
        selection: Selection,
        at: &Location<'_>,
    ) -> Option<CallDescription> {
        self.membership().map(|_| self.statement(prepared, selection, at))
    }

    /// What a call says about itself.
    #[cold]
    pub(crate) fn statement(
        &self,
        prepared: &PreparedCall,
        selection: Selection,
        at: &Location<'_>,
    ) -> CallDescription {
        let place = self.core().watch().place(at);
        account_of(prepared, selection, self.group(), &place).hinted(&prepared.hints)
    }

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
        let called = engine.note(membership, Kind::Call, account, tag);
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
            let _ = engine.note(membership, Kind::Refused, account, self.collectives_begun());
        }
        error
    }
}

/// Calls nothing more in the world, which is left soon, and waits in check mode until that is so of
/// the other ranks, or nothing moves any more. Collective, but nobody is kept for long.
///
/// # Errors
/// That calls of the ranks do not fit together, if no call of this rank has said so.
pub fn end_calls(world: &World) -> Result<()> {
    let Some(membership) = world.membership() else { return Ok(()) };
    membership.end();
    world.core().compare_last_calls();
    let untold = world.core().untold_mismatch();
    untold.map_or(Ok(()), |reason| Err(world.error("leave", ErrorKind::Mismatch(reason))))
}

fn account_of(
    prepared: &PreparedCall,
    selection: Selection,
    all: &Group,
    place: &str,
) -> CallDescription {
    let within = match prepared.among.as_deref() {
        None => None,
        Some(Participants { passed: None, .. }) => {
            return CallDescription::of_some(prepared.call, place);
        }
        Some(Participants { passed: Some(group), .. }) => Some(Within { group, all }),
    };
    if let (Some(within), true) = (within, prepared.is_idle()) {
        return CallDescription::outside(prepared.call, within, place);
    }
    let elements = Elements { code: prepared.element, bytes: prepared.element_bytes };
    let of_type = || Some(operator_name(prepared.kernel.as_deref()?.operator()));
    let operator = prepared.operator.or_else(of_type);
    let reducing = Reducing { operator, selection };
    CallDescription::of(prepared.call, &prepared.shape.operation, elements, reducing, within, place)
}
