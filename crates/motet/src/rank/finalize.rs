//! How a rank leaves its world.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use motet_fabric::log_line;

use super::RankContext;
use crate::base::error::ErrorKind;

/// When nothing has moved for so long although nobody does anything else, nothing will.
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
        self.lessons().save();
        self.finish_and_leave();
        self.take_leave_of_launcher();
    }

    /// Finishes what others may wait for, then leaves.
    ///
    /// Ranks that have all come this far can only wait for each other in vain (one has dropped the
    /// request of a collective that another never began, say): then stillness ends it.
    fn finish_and_leave(&self) {
        self.compare_last_calls();
        while let Some(reason) = self.untold_mismatch() {
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

    /// In check mode, waits until all ranks have said that they call nothing more, so that each has
    /// heard of all calls. It does not wait long for who computes meanwhile: whoever calls last
    /// has heard of the others before it leaves.
    pub(crate) fn compare_last_calls(&self) {
        if !self.watch.check {
            return;
        }
        let (mut moves, mut since) = (0, Instant::now());
        // In a failed world there is more to tell than this.
        let _ = self.wait_until(|engine| {
            if engine.moves() != moves {
                (moves, since) = (engine.moves(), Instant::now());
            }
            (engine.has_heard_all() || since.elapsed() >= STILLNESS).then_some(())
        });
    }

    /// Why calls of this rank and of others do not fit together, if no call has said so. Says it
    /// once.
    pub(crate) fn untold_mismatch(&self) -> Option<&'static str> {
        self.engine().untold_mismatch()
    }

    /// Tells the launcher, if it is another library's, that this rank has left in good order.
    /// Otherwise it would take the end of the process for a death.
    fn take_leave_of_launcher(&self) {
        let left = self.launched.as_ref().map_or(Ok(()), |launched| launched.leave());
        if let Err(error) = left {
            log_line(format_args!("motet: rank {}: {error}", self.me()));
        }
    }
}
