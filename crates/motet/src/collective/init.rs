//! Initialization of persistent operations: local or, with the hint `enforce`, by all ranks of the
//! communicator together.
//!
//! A local init does not communicate: it uses the algorithm of the selection or, with the hint
//! `previous`, the choice that the ranks have learned before, which all of them know
//! ([`crate::comm::learned`]). If it finds a stored plan, it also postpones the opening of channels
//! to the first start, so that it costs one table lookup.
//!
//! An enforced init takes these steps on all ranks, and no rank can skip one alone:
//!
//! 1. The ranks agree that their calls match ([`super::enforce`]). A rank whose arguments were
//!    refused takes part, too, so that the others get an error instead of waiting.
//! 2. If there is a choice of algorithms, and no choice was learned before, they measure the
//!    candidates ([`super::measure`]) and agree on the times. For an exchange over several nodes
//!    they first send each other the information to route it by node ([`super::node_aware`]), which
//!    adds candidates.
//! 3. Each rank makes its execution of the chosen algorithm.

use std::panic::Location;

use motet_plan::order::sort_by_number;
use motet_plan::{Algorithm, Call, Collective, algo};

use super::enforce::{Agreed, Statement};
use super::measure::{BUFFERS_MAX_BYTES, Measured};
use super::{BindingArgs, PreparedCall};
use crate::base::error::{Error, Result};
use crate::base::hints::{Hints, Keep, Previous};
use crate::comm::communicator::Communicator;
use crate::comm::learned::{Key, Lesson};
use crate::engine::{CacheHit, Execution, LinkTime, OpKey, PackedBuffers, Rule, Selection};

/// The form of an exchange over several nodes after routing.
const ROUTED: Collective = Collective::NodeExchange;

/// A persistent operation, ready to be added to the engine.
pub(super) struct Initialized {
    pub(super) run: Box<Execution>,
    pub(super) staging: Option<Box<PackedBuffers>>,
    pub(super) linking: LinkTime,
    /// The reason for the algorithm, if the plan does not give one.
    pub(super) reason: Option<String>,
}

/// An init in progress.
pub(super) struct Init {
    pub(super) name: &'static str,
    pub(super) call: Call,
    pub(super) binding: BindingArgs,
    pub(super) rule: Rule,
    pub(super) hints: Hints,
    pub(super) key: Key,
    /// Whether all ranks that make the call have its key.
    is_key_shared: bool,
}

impl Init {
    /// Returns the algorithms that may be measured, the default first. Empty if there is no choice.
    fn candidates(&self, default: &str) -> Vec<&'static dyn Algorithm> {
        if !self.is_open() {
            return Vec::new();
        }
        let accepted =
            algo::of(self.call.collective()).filter(|row| row.accepts(&self.call).is_ok());
        // The default comes first.
        let mut all: Vec<_> = accepted.collect();
        sort_by_number(&mut all, |row| u64::from(row.name() != default));
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// Returns whether measurement may decide: not for results that must be the same on every
    /// machine.
    fn is_open(&self) -> bool {
        matches!(self.rule, Rule::By(Selection::Tuned | Selection::Overlapping) | Rule::Learned(_))
    }

    /// Returns the bytes of the buffers of a candidate.
    fn bytes(&self) -> usize {
        let elements = self.call.input_len().saturating_add(self.call.output_len());
        elements.saturating_mul(self.call.element_bytes)
    }

    fn is_idle(&self) -> bool {
        matches!(self.rule, Rule::By(Selection::Nothing))
    }
}

impl Communicator {
    /// Handles an init whose arguments are refused. With `enforce`, informs the other ranks.
    #[cold]
    pub(super) fn init_refused(&self, error: Error, hints: &Hints, at: &Location<'_>) -> Error {
        let error = self.refused(error, at);
        if hints.enforces() {
            // The caller has an error already.
            let _number = self.next_persistent();
            let _ = self.agree("init", &Statement::refused(&error.to_string()));
        }
        error
    }

    /// Makes the execution of a persistent operation.
    pub(super) fn initialize(
        &self,
        prepared: PreparedCall,
        at: &Location<'_>,
    ) -> Result<Initialized> {
        let (name, hints) = (prepared.call, prepared.hints);
        self.home().refuse_operator(name)?; // before anything is counted
        let selection = self.selection_of(&prepared);
        let account = match hints.enforces() {
            true => Some(self.statement(&prepared, selection, at)),
            false => self.account(&prepared, selection, at),
        };
        // Between two groups a rank may be idle in calls that others see as the same.
        let (group, is_crossing) = match &prepared.among {
            Some(among) => {
                let passed = among.passed.as_ref().map(|group| group.fingerprint());
                (passed.unwrap_or(0), passed.is_none())
            }
            None => (0, false),
        };
        let (call, binding) = self.call_of(prepared);
        let rule = self.rule_for(&call, selection);
        let key = Key::of(&call, hints.overlap, group);
        let is_key_shared = key.is_shared() && !is_crossing;
        let init = Init { name, call, binding, rule, hints, key, is_key_shared };
        match account {
            Some(account) if hints.enforces() => {
                self.initialize_together(init, Statement::new(account), at)
            }
            account => {
                let error = |kind| self.error(name, kind);
                let (made, number) = self.initialize_alone(init, at)?;
                if let Some(account) = account {
                    self.note(account, number).map_err(error)?;
                }
                Ok(made)
            }
        }
    }

    fn initialize_alone(&self, init: Init, at: &Location<'_>) -> Result<(Initialized, OpKey)> {
        let uses_previous =
            init.hints.previous == Previous::Used && init.is_key_shared && init.is_open();
        let Init { name, call, binding, hints, key, .. } = init;
        let closing = binding.closing(&call);
        let lesson = if uses_previous { self.learned().get(&key) } else { None };
        let rule = lesson.as_ref().map_or(init.rule, |lesson| Rule::Learned(lesson.algorithm));
        let run = self.run_of(&mut self.core().engine(), (&call, closing), rule, hints.keep);
        let (mut run, found) = run.map_err(|kind| self.refused(self.error(name, kind), at))?;
        let found = if lesson.is_some() { CacheHit::Retained } else { found };
        let linking = self.linking_after(&hints, found);
        let number = self.next_persistent();
        let staging = binding.bind(&mut run, number);
        let reason = lesson.map(|lesson| lesson.reason);
        Ok((Initialized { run, staging, linking, reason }, number))
    }

    /// Counts whether an init with `previous` has found a stored plan; if so, postpones even the
    /// opening of channels.
    fn linking_after(&self, hints: &Hints, found: CacheHit) -> LinkTime {
        if hints.previous == Previous::Ignored {
            return LinkTime::Now;
        }
        let mut engine = self.core().engine();
        let counters = engine.cache().counters();
        if found == CacheHit::Retained {
            counters.previous_hits += 1;
            return LinkTime::AtStart;
        }
        counters.previous_misses += 1;
        LinkTime::Now
    }

    fn initialize_together(
        &self,
        mut init: Init,
        mut statement: Statement,
        at: &Location<'_>,
    ) -> Result<Initialized> {
        let (name, hints) = (init.name, init.hints);
        let number = self.next_persistent();
        let closing = init.binding.closing(&init.call);
        let default = (&init.call, closing);
        let default = self.run_of(&mut self.core().engine(), default, init.rule, hints.keep);
        let (mut default, found) = match default {
            Ok(found) => found,
            Err(kind) => {
                let error = self.refused(self.error(name, kind), at);
                let _ = self.agree(name, &Statement::refused(&error.to_string()));
                return Err(error);
            }
        };
        if self.membership().is_some() {
            let noted = self.note(statement.account.clone(), number);
            noted.map_err(|kind| self.error(name, kind))?;
        }
        let collective = init.call.collective();
        let is_named = self.core().engine().cache().tuning().overrides.names(collective);
        let mut candidates = match is_named {
            true => Vec::new(),
            false => init.candidates(default.planned().plan.algorithm()),
        };
        let uses_previous = hints.previous == Previous::Used && init.is_open() && !is_named;
        let lesson = if uses_previous { self.learned().get(&init.key) } else { None };
        statement.is_idle = init.is_idle();
        statement.candidates = candidates.len();
        statement.bytes = init.bytes();
        statement.lesson = lesson.as_ref().map(|lesson| lesson.number);
        let mut agreed = self.agree(name, &statement)?;
        let lesson = lesson.filter(|_| agreed.knows_lesson);
        // Where there is something to learn, a plan alone is not what is looked for.
        let found = match &lesson {
            Some(_) => CacheHit::Retained,
            None if agreed.candidates > 0 => CacheHit::Nowhere,
            None => found,
        };
        let linking = self.linking_after(&hints, found);
        let default_name = default.planned().plan.algorithm();
        let is_default =
            lesson.as_ref().is_some_and(|lesson| lesson.algorithm.name() == default_name);
        if !is_named && !is_default && self.route_by_node(&mut init)? {
            let is_named = self.core().engine().cache().tuning().overrides.names(ROUTED);
            candidates = if is_named { Vec::new() } else { init.candidates(default_name) };
            agreed.candidates = candidates.len();
            if is_named {
                let rule = Rule::By(Selection::Tuned);
                let routed = (&init.call, closing);
                let run = self.run_of(&mut self.core().engine(), routed, rule, hints.keep);
                (default, _) = run.map_err(|kind| self.error(name, kind))?;
            }
        }
        // A choice learned for an exchange that was not routed does not apply.
        let collective = init.call.collective();
        let lesson =
            lesson.filter(|lesson| is_default || lesson.algorithm.collective() == collective);
        let chosen = match lesson {
            Some(lesson) => Some((lesson.algorithm, lesson.reason)),
            None => self.choose_together(&init, &candidates, &agreed, number)?,
        };
        self.run_chosen_together(init, default, chosen, (number, linking))
    }

    /// Returns the execution of the chosen algorithm: the existing default one, if it was chosen.
    fn run_chosen_together(
        &self,
        init: Init,
        default: Box<Execution>,
        chosen: Option<(&'static dyn Algorithm, String)>,
        (number, linking): (OpKey, LinkTime),
    ) -> Result<Initialized> {
        let Some((algorithm, reason)) = chosen else {
            return Ok(bound(init.binding, default, number, linking, None));
        };
        if algorithm.name() == default.planned().plan.algorithm() {
            return Ok(bound(init.binding, default, number, linking, Some(reason)));
        }
        self.core().engine().give_back(default);
        let (rule, keep) = (Rule::Learned(algorithm), init.hints.keep);
        let call = (&init.call, init.binding.closing(&init.call));
        let run = self.run_of(&mut self.core().engine(), call, rule, keep);
        let (run, _) = run.map_err(|kind| self.error(init.name, kind))?;
        Ok(bound(init.binding, run, number, linking, Some(reason)))
    }

    /// Converts an exchange over several nodes to one among nodes, which adds candidates. Returns
    /// whether it did.
    fn route_by_node(&self, init: &mut Init) -> Result<bool> {
        let is_exchange =
            matches!(init.call.collective(), Collective::Exchange | Collective::Exchangev);
        if !is_exchange || !init.is_open() {
            return Ok(false);
        }
        let routed = self.routed_by_node(init.name, &init.call, init.binding.element)?;
        Ok(routed.map(|call| init.call = call).is_some())
    }

    /// Measures the candidates and stores the choice. `None` if there is no choice.
    fn choose_together(
        &self,
        init: &Init,
        candidates: &[&'static dyn Algorithm],
        agreed: &Agreed,
        number: OpKey,
    ) -> Result<Option<(&'static dyn Algorithm, String)>> {
        if agreed.candidates == 0 || agreed.knows_lesson {
            return Ok(None);
        }
        if agreed.bytes > BUFFERS_MAX_BYTES {
            let [first, ..] = candidates else { return Ok(None) };
            let reason = format!(
                "not measured: that would take {} bytes of memory, and at most \
                 {BUFFERS_MAX_BYTES} are",
                agreed.bytes
            );
            return Ok(Some((*first, reason)));
        }
        let Some(measured) = self.measure(init, candidates, agreed.candidates)? else {
            return Ok(None);
        };
        let Measured { algorithm, reason, note } = measured;
        self.core().engine().cache().counters().choices_learned += 1;
        if init.hints.keep == Keep::Before {
            let lesson = Lesson { algorithm, reason: reason.clone(), number: number.tag };
            self.learned().insert(init.key.clone(), lesson);
        }
        if init.is_key_shared {
            self.core().wisdom_log().note(&init.call, algorithm, note);
        }
        Ok(Some((algorithm, reason)))
    }
}

fn bound(
    binding: BindingArgs,
    mut run: Box<Execution>,
    number: OpKey,
    linking: LinkTime,
    reason: Option<String>,
) -> Initialized {
    let staging = binding.bind(&mut run, number);
    Initialized { run, staging, linking, reason }
}
