//! Measures several algorithms for one call and chooses the fastest one.
//!
//! Each candidate is planned, bound to its own memory (never to the user's buffers, which may not
//! be filled yet and must not change), linked to its peers like any persistent operation, and run a
//! few times. Ranks that take no part in the operation join the barriers and agreements.
//!
//! **Windows.** After a first run of each candidate, which opens its channels, one run is timed,
//! and the ranks agree on the time of the slowest rank. A candidate that takes many times as long
//! as the best one is dropped. The others are timed in turns in windows, each with a barrier before
//! it and as many runs as fit: so changes of the machine's load affect all alike, and all windows
//! together take a bounded time.
//!
//! **Agreement.** The time of a window is that of the slowest rank; one allreduce of all windows at
//! the end determines it. So all ranks decide on the same figures, and decide the same.
//!
//! **The default stays** unless another candidate has a median that is better by more than 5 %, was
//! faster in three of four rounds, and has slow rounds that are faster than the median of the
//! default: on a machine with other load, a better median alone may be chance.
//!
//! **Operators** of the user are not called on invented data: the measured reductions combine bytes
//! by a kernel of the library, which costs as much as a sum. If the operator of the user costs much
//! more, algorithms that reduce more often are more expensive than measured here.

use std::time::Instant;

use motet_plan::Algorithm;

use super::BindingArgs;
use super::init::Init;
use crate::base::error::Result;
use crate::base::hints::Keep;
use crate::comm::communicator::Communicator;
use crate::comm::explain::duration;
use crate::comm::persistent::Persistent;
use crate::data::buffer::RawSlice;
use crate::data::kernel::stand_in;
use crate::engine::{Binding, Closing, LinkTime, PackedBuffers, Rule};

/// Maximum memory for the buffers of one candidate. Calls that need more are not measured: the
/// bytes that they move determine their time, and the cost model predicts that well.
pub(super) const BUFFERS_MAX_BYTES: usize = 64 << 20;
/// Time that all windows together should take, in nanoseconds.
const BUDGET_NS: u64 = 30_000_000;
/// Number of windows of each candidate.
const WINDOWS: usize = 15;
/// Maximum number of runs in a window.
const RUNS_PER_WINDOW_MAX: u64 = 64;
/// A candidate that takes more than this multiple of the best time is dropped.
const HOPELESS: u64 = 4;
/// Percentage by which another candidate must be better than the default.
const MARGIN: u64 = 5;
/// The time of a candidate that was not measured.
const NEVER: u64 = u64::MAX >> 1;

/// Result of the measurement.
pub(super) struct Measured {
    pub(super) algorithm: &'static dyn Algorithm,
    /// The reason for the choice, as text.
    pub(super) reason: String,
    /// The reason in the form for a line of wisdom.
    pub(super) note: String,
}

/// The candidates of one call on this rank. All ranks have the same number; those that take no part
/// have none that can run.
struct Trials<'a> {
    communicator: &'a Communicator,
    call: &'static str,
    /// Whether this rank takes no part.
    is_idle: bool,
    runs: Vec<Option<Persistent<()>>>,
}

impl Communicator {
    /// Measures candidates, of which the first is the default. All ranks pass their number; ranks
    /// that take no part pass no candidates, and get no choice.
    pub(super) fn measure(
        &self,
        init: &Init,
        candidates: &[&'static dyn Algorithm],
        count: usize,
    ) -> Result<Option<Measured>> {
        let is_idle = candidates.is_empty();
        let mut trials = Trials { communicator: self, call: init.name, is_idle, runs: Vec::new() };
        for at in 0..count {
            let number = self.next_persistent();
            let row = candidates.get(at);
            let run = row.and_then(|row| self.trial(init, *row, number));
            trials.runs.push(run);
        }
        let mut times = trials.begin()?;
        let windows = trials.windows(&mut times)?;
        Ok((!is_idle).then(|| decide(candidates, &times, &windows)))
    }

    /// Makes an execution of a candidate on its own memory.
    fn trial(
        &self,
        init: &Init,
        row: &'static dyn Algorithm,
        number: crate::engine::OpKey,
    ) -> Option<Persistent<()>> {
        let BindingArgs { element, group, kernel, .. } = &init.binding;
        let mut engine = self.core().engine();
        // Should memory or room be short here, the candidate is left out on all ranks.
        let (rule, closing) = (Rule::Learned(row), Closing::Alone);
        let (mut run, _) = engine.run_for(&init.call, rule, Keep::AsLong, closing).ok()?;
        let (call, mut staging) = (&init.call, PackedBuffers::new());
        let mut span = |len: usize| match len {
            0 => RawSlice::EMPTY,
            len => RawSlice { start: staging.room(len, call.element_bytes), len },
        };
        let (input, output) = (span(call.input_len()), span(call.output_len()));
        let kernel = kernel.as_ref().map(|_| stand_in(call.element_bytes));
        let (element, group) = (*element, group.clone());
        run.bind(Binding { input, output, element, kernel, group, number });
        let id = engine.add_persistent(run, Some(Box::new(staging)), LinkTime::Now);
        drop(engine);
        Some(Persistent::new(self.origin(init.name), id, ()))
    }
}

impl Trials<'_> {
    /// Agrees on the candidates that all ranks have, and on a first time of each.
    fn begin(&mut self) -> Result<Vec<u64>> {
        let mut there: Vec<u64> = self.runs.iter().map(|run| run.is_some().into()).collect();
        if self.is_idle {
            there.fill(1);
        }
        self.communicator.least(self.call, &mut there)?;
        let mut times = vec![NEVER; there.len()];
        for (at, _) in there.iter().enumerate().filter(|(_, there)| **there == 1) {
            self.window(at, 1)?;
            times[at] = self.window(at, 1)?;
        }
        self.agree(&mut times)?;
        Ok(times)
    }

    /// Measures the remaining candidates in turns. Returns their times per run, round by round.
    fn windows(&mut self, times: &mut [u64]) -> Result<Vec<Vec<u64>>> {
        let best = times.iter().copied().min().unwrap_or(NEVER).max(1);
        let default = times.first().copied().unwrap_or(NEVER);
        // The default is measured on, whatever it took, if anything is.
        let is_hopeful = |at: usize, time: u64| {
            time < NEVER && (at == 0 || time <= best.saturating_mul(HOPELESS))
        };
        let hopeful: Vec<usize> =
            (0..times.len()).filter(|&at| is_hopeful(at, times[at])).collect();
        if hopeful.len() < 2 || default == NEVER {
            return Ok(Vec::new());
        }
        let share = BUDGET_NS / (WINDOWS * hopeful.len()) as u64;
        let once: u64 = hopeful.iter().map(|&at| times[at]).sum();
        let rounds = (BUDGET_NS / once.max(1)).clamp(1, WINDOWS as u64);
        let mut all = Vec::new();
        for _ in 0..rounds {
            let mut round = vec![NEVER; times.len()];
            for &at in &hopeful {
                round[at] =
                    self.window(at, (share / times[at].max(1)).clamp(1, RUNS_PER_WINDOW_MAX))?;
            }
            all.extend(round);
        }
        self.agree(&mut all)?;
        Ok(all.chunks(times.len()).map(<[u64]>::to_vec).collect())
    }

    /// Runs a candidate `runs` times after a barrier. Returns the nanoseconds of one run.
    fn window(&mut self, at: usize, runs: u64) -> Result<u64> {
        let barrier =
            super::PreparedCall::new::<u8>(self.call, super::CollectiveArgs::barrier(), None);
        self.communicator.blocking(barrier.of_library())?;
        let Some(run) = &mut self.runs[at] else { return Ok(0) };
        let begun = Instant::now();
        for _ in 0..runs {
            run.run()?;
        }
        Ok(begun.elapsed().as_nanos() as u64 / runs)
    }

    /// Replaces each time by its maximum over all ranks.
    fn agree(&self, times: &mut [u64]) -> Result<()> {
        times.iter_mut().for_each(|time| *time = !*time);
        self.communicator.least(self.call, times)?;
        times.iter_mut().for_each(|time| *time = !*time);
        Ok(())
    }
}

/// Decides by figures that are equal on all ranks.
fn decide(candidates: &[&'static dyn Algorithm], first: &[u64], windows: &[Vec<u64>]) -> Measured {
    let of = |at: usize, part: usize| {
        let mut times: Vec<u64> = windows.iter().map(|round| round[at]).collect();
        times.sort_unstable();
        times.get(times.len() * part / 4).copied().filter(|&time| time < NEVER)
    };
    let median = |at: usize| of(at, 2);
    let medians: Vec<Option<u64>> = (0..candidates.len()).map(median).collect();
    let is_better = |at: usize| {
        let (Some(own), Some(default)) = (medians[at], medians[0]) else { return false };
        let won = windows.iter().filter(|round| round[at] < round[0]).count();
        let is_apart = of(at, 3).is_some_and(|slow| slow < default);
        own * 100 < default * (100 - MARGIN) && 4 * won >= 3 * windows.len() && is_apart
    };
    let best = (1..candidates.len()).filter(|&at| is_better(at)).min_by_key(|&at| medians[at]);
    let best = best.unwrap_or(0);
    // A candidate that was dropped has only a first time, or no time at all.
    let time = |at: usize| match (medians[at], first[at]) {
        (Some(time), _) => duration(time as f64),
        (None, NEVER..) => "not run".into(),
        (None, time) => format!("{} at first", duration(time as f64)),
    };
    let others = (0..candidates.len()).filter(|&at| at != best);
    let others: Vec<String> =
        others.map(|at| format!("{} {}", candidates[at].name(), time(at))).collect();
    let (own, others) = (time(best), others.join(", "));
    let stays = if best == 0 { "; the default, as none is better by 5 %" } else { "" };
    Measured {
        algorithm: candidates[best],
        reason: format!("measured: {own}; {others}{stays}"),
        note: format!("{own}; {others}"),
    }
}

#[cfg(test)]
mod tests {
    use motet_plan::{Collective, algo};

    use super::*;

    fn chosen(windows: &[[u64; 2]]) -> Measured {
        let rows: Vec<_> = algo::of(Collective::Barrier).take(2).collect();
        let windows: Vec<Vec<u64>> = windows.iter().map(|round| round.to_vec()).collect();
        decide(&rows, &[1000, 1000], &windows)
    }

    /// A candidate replaces the default only if it is better by more than luck.
    #[test]
    fn the_default_stays_unless_another_is_clearly_better() {
        let name = |windows: &[[u64; 2]]| chosen(windows).algorithm.name();
        assert_eq!(name(&[[100, 90]; 4]), "linear");
        assert_eq!(name(&[[100, 96]; 4]), "dissemination", "not by 5 %");
        assert_eq!(name(&[[100, 90], [100, 90], [80, 90], [80, 90]]), "dissemination");
        assert_eq!(name(&[]), "dissemination");
        assert_eq!(name(&[[100, NEVER]; 4]), "dissemination");
        let reason = chosen(&[[4000, 3100]; 4]).reason;
        assert_eq!(reason, "measured: 3.10 µs; dissemination 4.00 µs");
    }
}
