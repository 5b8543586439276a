//! The stages in which a job ends: a state machine that never goes back.
//!
//! ```text
//!  Running -> Warned -> Asked -> Killed       the ranks: woken, SIGTERM, SIGKILL
//!     `---------`---------`--------`-> Draining -> Swept -> Over
//!          (no rank is left)           what the ranks have left behind
//! ```

use std::time::{Duration, Instant};

/// After a death: how long the other ranks may print messages before the launcher asks them to end.
pub(super) const AFTER_DEATH: Duration = Duration::from_millis(250);
/// After a signal that went to all ranks, so that all are ending already: how long they may take
/// once the first has ended.
pub(super) const AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// How long a rank may take to end after SIGTERM.
const TO_END: Duration = Duration::from_millis(250);
/// How long processes that the ranks have left behind may continue to write.
const TO_DRAIN: Duration = Duration::from_millis(250);
/// How long output may still arrive when all its known writers are dead (a process in another world
/// may have received the pipe through a socket).
const TO_CLOSE: Duration = Duration::from_millis(500);

/// The action that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Ask the ranks to end.
    Ask,
    /// Kill the ranks.
    Kill,
    /// Kill all processes that the ranks have left behind.
    Sweep,
    /// Stop waiting for output.
    Abandon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Warned,
    Asked,
    Killed,
    Draining,
    Swept,
    Over,
}

/// The stage of a job.
#[derive(Debug)]
pub(super) struct Ending {
    stage: Stage,
    due: Option<Instant>,
}

impl Ending {
    pub(super) fn new() -> Ending {
        Ending { stage: Stage::Running, due: None }
    }

    /// The ranks must end, and have this much time to do so by themselves. Of several reasons the
    /// most urgent counts.
    pub(super) fn begin(&mut self, now: Instant, patience: Duration) {
        let due = now + patience;
        if self.stage < Stage::Asked && self.due.is_none_or(|earlier| due < earlier) {
            (self.stage, self.due) = (Stage::Warned, Some(due));
        }
    }

    /// The ranks must be killed without a request to end.
    pub(super) fn hurry(&mut self, now: Instant) {
        if self.stage < Stage::Killed {
            (self.stage, self.due) = (Stage::Asked, Some(now));
        }
    }

    /// No rank is left.
    pub(super) fn ranks_are_gone(&mut self, now: Instant) {
        if self.stage < Stage::Draining {
            (self.stage, self.due) = (Stage::Draining, Some(now + TO_DRAIN));
        }
    }

    /// Output is still pending, so it is too early to stop waiting.
    pub(super) fn postpone(&mut self, now: Instant) {
        (self.stage, self.due) = (Stage::Swept, Some(now + TO_CLOSE));
    }

    /// When the next step is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes the next step, if it is due.
    pub(super) fn step(&mut self, now: Instant) -> Option<Action> {
        if self.due.is_none_or(|due| now < due) {
            return None;
        }
        let (stage, wait, action) = match self.stage {
            Stage::Warned => (Stage::Asked, Some(TO_END), Action::Ask),
            Stage::Asked => (Stage::Killed, None, Action::Kill),
            Stage::Draining => (Stage::Swept, Some(TO_CLOSE), Action::Sweep),
            Stage::Swept => (Stage::Over, None, Action::Abandon),
            Stage::Running | Stage::Killed | Stage::Over => return None,
        };
        (self.stage, self.due) = (stage, wait.map(|wait| now + wait));
        Some(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that happens in a second, with the milliseconds at which it does.
    fn second(ending: &mut Ending, start: Instant) -> Vec<(u64, Action)> {
        let moments = (0..1000).map(|at| (at, start + Duration::from_millis(at)));
        moments.filter_map(|(at, now)| Some((at, ending.step(now)?))).collect()
    }

    #[test]
    fn a_job_that_runs_is_left_alone() {
        assert_eq!(second(&mut Ending::new(), Instant::now()), []);
    }

    #[test]
    fn after_a_death_all_is_over_within_a_second() {
        let (mut ending, start) = (Ending::new(), Instant::now());
        ending.begin(start, AFTER_DEATH);
        ending.begin(start + Duration::from_millis(50), AFTER_DEATH);
        assert_eq!(second(&mut ending, start), [(250, Action::Ask), (500, Action::Kill)]);
        assert_eq!(ending.due(), None);
    }

    #[test]
    fn a_death_is_more_urgent_than_a_signal() {
        let (mut ending, start) = (Ending::new(), Instant::now());
        ending.begin(start, AFTER_SIGNAL);
        ending.begin(start, AFTER_DEATH);
        assert_eq!(second(&mut ending, start), [(250, Action::Ask), (500, Action::Kill)]);
    }

    #[test]
    fn hurry_kills_at_once_and_only_once() {
        let (mut ending, start) = (Ending::new(), Instant::now());
        ending.begin(start, AFTER_SIGNAL);
        ending.hurry(start);
        assert_eq!(ending.step(start), Some(Action::Kill));
        ending.hurry(start);
        assert_eq!(second(&mut ending, start), []);
    }

    #[test]
    fn leftovers_are_ended_after_the_ranks() {
        let (mut ending, start) = (Ending::new(), Instant::now());
        ending.ranks_are_gone(start);
        ending.begin(start, AFTER_DEATH);
        ending.hurry(start);
        assert_eq!(second(&mut ending, start), [(250, Action::Sweep), (750, Action::Abandon)]);
    }
}
