//! Persistent operations that go by a [script](super::run): what the engine does around their
//! steps is what takes longest, so there is as little of it as there can be.

use std::mem;

use motet_fabric::slab::Id;

use super::{Engine, State, Work, sprint};

/// What became of an operation that was to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Played {
    /// It is over, or inactive.
    Over,
    Moved,
    Waits,
    /// A collective that goes by no script.
    Unscripted,
    /// No collective.
    Message,
}

impl Engine {
    /// Moves an operation, if it has a script.
    pub(super) fn play(&mut self, id: Id) -> Played {
        let Some(operation) = self.operations.get_mut(id) else { return Played::Over };
        let Work::Run(run) = &mut operation.work else { return Played::Message };
        if !run.has_script() {
            return Played::Unscripted;
        }
        if operation.state != State::Active {
            return Played::Over;
        }
        let before = run.steps_left();
        if !run.play(&self.endpoint) {
            let moved = run.steps_left() < before;
            if !mem::replace(&mut run.polled, true) {
                self.polled.push(id);
            }
            return if moved { Played::Moved } else { Played::Waits };
        }
        if operation.rare.is_some() {
            self.finish_run(id);
        } else {
            operation.state = State::Well;
            self.has_ended(1);
        }
        Played::Over
    }

    /// Looks so many times for what an operation waits for, if it has a script.
    pub(super) fn hurry_play(&mut self, id: Id, looks: u32) -> Played {
        let mut played = Played::Waits;
        for look in 1..=looks {
            played = self.play(id);
            match played {
                Played::Over | Played::Unscripted | Played::Message => break,
                // What it waits for may wait for another operation.
                Played::Waits if self.active > 1 && look.is_multiple_of(sprint::LOOKS) => break,
                Played::Waits | Played::Moved => {}
            }
        }
        played
    }
}
