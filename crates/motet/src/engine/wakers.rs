//! Postpones foreign code until the engine is unlocked: wakers of complete operations, and drops of
//! operators.

use std::mem;
use std::task::Waker;

use motet_fabric::slab::Id;

use super::{Engine, Execution, Operation, State};
use crate::data::kernel::Kernel;

/// Work to do after the engine has been unlocked.
pub(crate) enum Postponed {
    Wake(Waker),
    /// An operator may own anything, also handles of this library.
    Drop(Box<dyn Kernel>),
}

impl Postponed {
    /// Does this work.
    pub(crate) fn happen(self) {
        match self {
            Postponed::Wake(waker) => waker.wake(),
            Postponed::Drop(kernel) => drop(kernel),
        }
    }
}

impl Engine {
    /// Registers a waker for the end of an operation, if it is active. Returns the waker it
    /// replaces, to be dropped after the engine has been unlocked.
    pub(crate) fn wake_on_completion(&mut self, id: Id, waker: &Waker) -> Option<Waker> {
        let operation = self.operations.get_mut(id)?;
        if operation.state != State::Active {
            return None;
        }
        let former = operation.rare().waker.replace(waker.clone());
        self.wakers += usize::from(former.is_none());
        former
    }

    /// Whether any operation has a waker.
    pub(crate) fn has_wakers(&self) -> bool {
        self.wakers > 0
    }

    /// Whether there is work to do after unlocking the engine.
    #[inline]
    pub(crate) fn has_postponed(&self) -> bool {
        !self.postponed.is_empty()
    }

    /// Takes the work to do after unlocking the engine.
    pub(crate) fn take_postponed(&mut self) -> Vec<Postponed> {
        mem::take(&mut self.postponed)
    }

    /// Postpones dropping the operator of an execution that has ended, if it owns anything.
    #[inline]
    pub(super) fn postpone_operator(&mut self, run: &mut Execution) {
        if let Some(kernel) = run.take_operator() {
            self.postponed.push(Postponed::Drop(kernel));
        }
    }

    /// Wakes all wakers, because the world has failed and their tasks must find out.
    pub(crate) fn wake_all(&mut self) {
        let ids: Vec<Id> = self.operations.iter().map(|(id, _)| id).collect();
        for id in ids {
            if let Some(waker) = self.operations.get_mut(id).and_then(Operation::take_waker) {
                self.wakers -= 1;
                self.postponed.push(Postponed::Wake(waker));
            }
        }
    }
}
