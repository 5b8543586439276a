//! Replays a collective that the replay cache knows, and waits for its end.

use motet_fabric::TransferError;

use super::{EngineGuard, RankContext};
use crate::engine::{Advance, DerivedReplay, InlineRun, OpKey, Replay, ReplayKey};

impl RankContext {
    /// Replays an identical collective and waits for its end; `None` if the cache has none.
    #[inline]
    pub(crate) fn replay(
        &self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<Result<(), TransferError>> {
        let _here = self.shared.stay();
        let mut engine = self.free_engine()?;
        let replay = engine.replay(known, number, self.shared.policy.max_polls);
        drop(engine);
        match replay? {
            Replay::Over => Some(Ok(())),
            slow => Some(self.finish_replay(slow)),
        }
    }

    /// Continues a replayed collective that has come so far.
    #[inline(never)] // that the others need none of its memory is what makes them fast
    fn finish_replay(&self, replay: Replay) -> Result<(), TransferError> {
        let mut engine = self.engine();
        match replay {
            Replay::Over => Ok(()),
            Replay::Short(inline, advance, left) => {
                self.finish_short_replay(engine, (inline, advance, left))
            }
            Replay::Long(run) => {
                let begun = engine.start_inline(run, None);
                self.finish_short(engine, begun)
            }
        }
    }

    /// Like [`RankContext::replay`], for a collective with derived datatypes.
    pub(crate) fn replay_derived(
        &self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<Result<(), TransferError>> {
        let _here = self.shared.stay();
        let mut engine = self.free_engine()?;
        let replay = engine.replay_derived(known, number, self.shared.policy.max_polls)?;
        Some(match replay {
            DerivedReplay::Over => Ok(()),
            DerivedReplay::Short(inline, advance, left) => {
                self.finish_short_replay(engine, (inline, advance, left))
            }
            DerivedReplay::Begun(begun) => self.finish_short(engine, begun),
        })
    }

    /// Polls a replayed short collective as often as is left, then waits for its end.
    #[inline(always)] // it is two functions
    fn finish_short_replay<'a>(
        &'a self,
        mut engine: EngineGuard<'a>,
        (mut inline, mut advance, left): (InlineRun, Advance, u32),
    ) -> Result<(), TransferError> {
        if advance.is_pending() {
            advance = engine.poll_inline(&mut inline, left);
        }
        self.finish_inline(engine, inline, advance)
    }
}
