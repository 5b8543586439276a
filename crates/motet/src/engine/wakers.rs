//! What runs foreign code, and so is postponed until the engine is unlocked: those who are woken
//! when an operation is complete, and the operators of what is over.

use std::mem;
use std::task::Waker;

use motet_fabric::slab::Id;

use super::{Engine, Execution, Operation, State};
use crate::data::kernel::Kernel;

/// What is done once the engine is unlocked.
pub(crate) enum Postponed {
    Wake(Waker),
    /// An operator may hold anything, also handles of this library.
    Drop(Box<dyn Kernel>),
}

impl Postponed {
    /// Does it.
    pub(crate) fn happen(self) {
        match self {
            Postponed::Wake(waker) => waker.wake(),
            Postponed::Drop(kernel) => drop(kernel),
        }
    }
}

impl Engine {
    /// Wakes this waker when the operation is complete, if it is not yet. Returns the waker it
    /// replaces, to be dropped once the engine is unlocked.
    pub(crate) fn wake_on_completion(&mut self, id: Id, waker: &Waker) -> Option<Waker> {
        let operation = self.operations.get_mut(id)?;
        if operation.state != State::Active {
            return None;
        }
        let former = operation.rare().waker.replace(waker.clone());
        self.wakers += usize::from(former.is_none());
        former
    }

    /// Whether somebody is to be woken by a completion.
    pub(crate) fn has_wakers(&self) -> bool {
        self.wakers > 0
    }

    /// Whether there is something to be done once the engine is unlocked.
    #[inline]
    pub(crate) fn has_postponed(&self) -> bool {
        !self.postponed.is_empty()
    }

    /// What is to be done once the engine is unlocked.
    pub(crate) fn take_postponed(&mut self) -> Vec<Postponed> {
        mem::take(&mut self.postponed)
    }

    /// Lets go of the operator of a run that is over, if it holds anything.
    #[inline]
    pub(super) fn postpone_operator(&mut self, run: &mut Execution) {
        if let Some(kernel) = run.take_operator() {
            self.postponed.push(Postponed::Drop(kernel));
        }
    }

    /// Wakes all who wait for a completion: the world has failed, and they must find out.
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
