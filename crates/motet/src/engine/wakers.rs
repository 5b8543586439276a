//! Those who are woken when an operation is complete.

use std::mem;
use std::task::Waker;

use motet_fabric::slab::Id;

use super::{Engine, Operation, State};

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

    /// Whether there is somebody to be woken once the engine is unlocked.
    #[inline]
    pub(crate) fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// Those to be woken once the engine is unlocked.
    pub(crate) fn take_woken(&mut self) -> Vec<Waker> {
        mem::take(&mut self.woken)
    }

    /// Wakes all who wait for a completion: the world has failed, and they must find out.
    pub(crate) fn wake_all(&mut self) {
        let ids: Vec<Id> = self.operations.iter().map(|(id, _)| id).collect();
        for id in ids {
            if let Some(waker) = self.operations.get_mut(id).and_then(Operation::take_waker) {
                self.wakers -= 1;
                self.woken.push(waker);
            }
        }
    }
}
