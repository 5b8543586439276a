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
    /// It goes by no script.
    Other,
}

impl Engine {
    /// Moves an operation, if it has a script.
    pub(super) fn play(&mut self, id: Id) -> Played {
        let Some(operation) = self.operations.get_mut(id) else { return Played::Over };
        let Work::Run(run) = &mut operation.work else { return Played::Other };
        if !run.has_script() {
            return Played::Other;
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
            return Played::Over;
        }
        // The same, where nobody is to be told and nothing is to be put in order.
        operation.state = State::Well;
        self.active -= 1;
        self.has_ended();
        Played::Over
    }

    /// Looks so many times for what an operation waits for, and moves others that wait for this
    /// rank. Says whether it is a collective that has ended well, and takes that then.
    pub(crate) fn ends_well(&mut self, id: Id, persistent: bool, looks: u32) -> bool {
        match self.hurry_play(id, looks) {
            Played::Other => self.hurry(id, looks),
            played => self.move_others(usize::from(played != Played::Over)),
        }
        self.take_well(id, persistent)
    }

    /// Looks so many times for what an operation waits for that has a script.
    pub(super) fn hurry_play(&mut self, id: Id, looks: u32) -> Played {
        let mut played = Played::Waits;
        for look in 1..=looks {
            played = self.play(id);
            match played {
                Played::Over | Played::Other => break,
                // What it waits for may wait for another operation.
                Played::Waits if self.active > 1 && look.is_multiple_of(sprint::LOOKS) => break,
                Played::Waits | Played::Moved => {}
            }
        }
        played
    }
}
