//! Finalization: a rank finishes its messages and leaves its world.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use motet_fabric::log_line;

use super::RankContext;
use crate::base::error::ErrorKind;

/// When nothing has moved for this time although all ranks are leaving, nothing will.
const STILLNESS: Duration = Duration::from_millis(900);

impl RankContext {
    /// Whether the rank has left its world.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Leaves the world in good order, once.
    pub(crate) fn leave(&self) {
        if self.has_left.swap(true, Ordering::AcqRel) {
            return;
        }
        self.wisdom_log().save();
        self.finish_and_leave();
        self.take_leave_of_launcher();
    }

    /// Completes the operations for which other ranks may wait, then leaves.
    ///
    /// Ranks that are all leaving can still wait for each other for ever (one has dropped the
    /// request of a collective that another never started, say): then [`STILLNESS`] ends the wait.
    fn finish_and_leave(&self) {
        self.compare_last_calls();
        while let Some(reason) = self.unreported_mismatch() {
            log_line(format_args!("motet: rank {}: {}", self.me(), ErrorKind::Mismatch(reason)));
        }
        {
            let mut engine = self.engine();
            engine.end_receives();
            engine.begin_leaving();
        }
        let (mut moves, mut since) = (0, Instant::now());
        // A failed world is left at once.
        let _ = self.wait_until(|engine| {
            if engine.moves() != moves || !engine.all_leaving() {
                (moves, since) = (engine.moves(), Instant::now());
            }
            (engine.is_quiet() || since.elapsed() >= STILLNESS).then_some(())
        });
        self.engine().close();
        self.engine().leave();
        let _ = self.wait_until(|engine| engine.is_gone().then_some(()));
    }

    /// In check mode, waits until all ranks have announced that they make no more calls, so that
    /// each rank has the records of all calls. It does not wait long for a rank that computes
    /// meanwhile: the rank that calls last has the records of the others before it leaves.
    pub(crate) fn compare_last_calls(&self) {
        if !self.watch.check {
            return;
        }
        let (mut moves, mut since) = (0, Instant::now());
        // In a failed world the mismatch matters less than the failure.
        let _ = self.wait_until(|engine| {
            if engine.moves() != moves {
                (moves, since) = (engine.moves(), Instant::now());
            }
            (engine.has_heard_all() || since.elapsed() >= STILLNESS).then_some(())
        });
    }

    /// The reason of a mismatch that no call has returned. Returns it once.
    pub(crate) fn unreported_mismatch(&self) -> Option<&'static str> {
        self.engine().unreported_mismatch()
    }

    /// Tells the launcher of another library that this rank has left in good order. Otherwise the
    /// launcher would take the end of the process for a death.
    fn take_leave_of_launcher(&self) {
        let left = self.launched.as_ref().map_or(Ok(()), |launched| launched.leave());
        if let Err(error) = left {
            log_line(format_args!("motet: rank {}: {error}", self.me()));
        }
    }
}
