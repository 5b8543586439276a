//! Plans that were made before, and runs that are idle.

use std::collections::HashMap;
use std::sync::Arc;

use motet_plan::plan::Parts;
use motet_plan::{Call, Choice, Plan, Tuning, select};

use super::Run;
use crate::error::ErrorKind;

/// By which rule the algorithm of a call is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// For this machine, by names, wisdom and prices.
    #[default]
    Tuned,
    /// By the call alone, so that a reduction has the same bits wherever it runs.
    Fixed,
    /// There is nothing to choose: this rank takes no part in the call.
    Nothing,
    /// With few messages: a barrier in logarithmically many rounds of one message each.
    Few,
}

/// Plans kept. Beyond it the cache starts afresh: programs with that many shapes do not repeat
/// them.
const PLANS: usize = 1024;
/// The algorithms with few messages.
const FEW: &str = "barrier=dissemination";
/// Idle runs kept for each plan.
const IDLE: usize = 4;

/// A plan, and why it was chosen.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) reason: String,
}

struct Entry {
    planned: Arc<Planned>,
    #[expect(clippy::vec_box, reason = "a run keeps its box from use to use")]
    idle: Vec<Box<Run>>,
}

/// Plans and idle runs by call.
pub(crate) struct Cache {
    tuning: Tuning,
    /// By selection, since one call may have a plan by each.
    places: [HashMap<Call, usize>; 4],
    entries: Vec<Entry>,
}

impl Cache {
    pub(crate) fn new(tuning: Tuning) -> Cache {
        Cache { tuning, places: Default::default(), entries: Vec::new() }
    }

    /// A run of the plan for this call: an idle one if there is one.
    pub(crate) fn take(
        &mut self,
        call: &Call,
        selection: Selection,
    ) -> Result<Box<Run>, ErrorKind> {
        let entry = match self.places[selection as usize].get(call) {
            Some(&entry) => entry,
            None => self.plan(call, selection)?,
        };
        let Entry { planned, idle } = &mut self.entries[entry];
        let new = || Box::new(Run::new(planned.clone(), entry as u32, call));
        Ok(idle.pop().unwrap_or_else(new))
    }

    /// Takes back a run that is over.
    pub(crate) fn give_back(&mut self, run: Box<Run>) {
        // Another plan may lie there since the cache has started afresh.
        if let Some(Entry { planned, idle }) = self.entries.get_mut(run.place() as usize)
            && Arc::ptr_eq(planned, run.planned())
            && idle.len() < IDLE
        {
            idle.push(run);
        }
    }

    fn plan(&mut self, call: &Call, selection: Selection) -> Result<usize, ErrorKind> {
        let told = |(plan, choice): (Plan, Choice)| (plan, choice.reason.to_string());
        let (plan, reason) = match selection {
            Selection::Nothing => (nothing(call), "there is nothing to do for this rank".into()),
            Selection::Tuned => {
                call.check()?;
                told(select::plan(call, &self.tuning)?)
            }
            Selection::Fixed => {
                call.check()?;
                told(select::plan_fixed(call)?)
            }
            Selection::Few => {
                call.check()?;
                told(select::plan(call, &few())?)
            }
        };
        if self.entries.len() == PLANS {
            self.places.iter_mut().for_each(HashMap::clear);
            self.entries.clear();
        }
        self.entries.push(Entry { planned: Arc::new(Planned { plan, reason }), idle: Vec::new() });
        self.places[selection as usize].insert(call.clone(), self.entries.len() - 1);
        Ok(self.entries.len() - 1)
    }
}

/// A plan without steps.
fn nothing(call: &Call) -> Plan {
    Plan::assemble(Parts {
        algorithm: "none",
        rank: call.rank,
        ranks: call.ranks,
        input_len: 0,
        output_len: 0,
        scratch_len: 0,
        steps: Vec::new(),
        edges: Vec::new(),
    })
}

/// Where messages count, not time.
fn few() -> Tuning {
    let overrides = FEW.parse().expect("the table has this row");
    Tuning { overrides, ..Tuning::default() }
}
