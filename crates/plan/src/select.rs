//! Selects the algorithm of a call: an override, else wisdom, else the cheapest by the cost model.
//!
//! All ranks of a call must choose the same algorithm. So a choice depends only on the tuning, the
//! collective, the number of ranks, the size in bytes, and the facts that an algorithm may use.
//!
//! Overrides are written `allreduce=ring` or `allreduce:ring`, several separated by `,` or `;`; the
//! last one for a collective counts. Wisdom is one line for each piece:
//!
//! ```text
//! # ranks and bytes are ranges with both ends included; either end, or all of it, may be left out
//! allreduce ranks=2..64 bytes=0..4096 -> recursive_doubling
//! allreduce bytes=4097.. -> ring
//! barrier -> dissemination
//! ```
//!
//! A `#` begins a comment. The first line that fits the call counts. A line whose algorithm refuses
//! the call is skipped, so wrong wisdom does no harm. An override whose algorithm refuses the call
//! is an error, because the user has named it; except if the algorithm is for several nodes and
//! there is only one.
//!
//! If the result must have the same bits on every machine, [`fixed`] selects the algorithm. It
//! depends only on the call: it takes the cheapest algorithm at fixed prices. The result of a
//! reduction follows from the plan alone, since the plan fixes the order of the operands,
//! whichever messages arrive first.

mod wisdom;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::algo::{self, Algorithm, Refusal};
use crate::call::{Call, CallError, Collective, NodeMap};
use crate::cost::CostParams;
use crate::plan::Plan;
pub use wisdom::{Lesson, Wisdom};

/// Everything that a choice depends on besides the call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tuning {
    /// Algorithms asked for by name.
    pub overrides: Overrides,
    /// What was learned by measurement.
    pub wisdom: Wisdom,
    /// Prices for the cost model.
    pub machine: CostParams,
}

/// Algorithms asked for by name, parsed from `allreduce=ring,bcast=binomial`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides(Vec<Row>);

/// A row of the table of algorithms.
#[derive(Clone, Copy)]
struct Row(&'static dyn Algorithm);

/// A chosen algorithm, and why.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The algorithm; it accepts the call.
    pub algorithm: &'static dyn Algorithm,
    /// Why this one.
    pub reason: Reason,
}

/// Why an algorithm was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// It was asked for by name.
    Override,
    /// A line of the wisdom says so; lines are counted from 1.
    Wisdom(usize),
    /// The cost model says so.
    Cost {
        /// The time it predicts.
        nanoseconds: f64,
        /// The second best and its time, if another algorithm accepts the call.
        runner_up: Option<(&'static str, f64)>,
    },
    /// It follows from the call alone.
    Fixed,
}

/// Why no algorithm was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectError {
    /// The call itself is wrong.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The algorithm that was asked for by name refuses the call.
    #[error(
        "{collective}={algorithm} was asked for by name (MOTET_ALGORITHM, or the settings of the \
         world), which refuses this call: {refusal}; ask for another one, or leave it out"
    )]
    Refused {
        /// What is called.
        collective: Collective,
        /// The algorithm that was asked for.
        algorithm: &'static str,
        /// Why it refuses.
        refusal: Refusal,
    },
}

/// Why a text is not an override or not wisdom. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// It is not of the form `collective=algorithm`.
    #[error("`{text}` is not of the form collective=algorithm")]
    Override {
        /// The text in question.
        text: String,
    },
    /// It is not of the form `collective [ranks=a..b] [bytes=a..b] -> algorithm`.
    #[error(
        "line {line}: `{text}` is not of the form \
         collective [ranks=first..last] [bytes=first..last] -> algorithm"
    )]
    Wisdom {
        /// Which line.
        line: usize,
        /// The line.
        text: String,
    },
    /// A range cannot be read.
    #[error("line {line}: `{text}` is not a range such as 2..64, 4097.., ..16 or 8")]
    Range {
        /// Which line.
        line: usize,
        /// What stands in place of a range.
        text: String,
    },
    /// There is no such collective.
    #[error("line {line}: no collective `{name}`; there are {}", collectives())]
    Collective {
        /// Which line.
        line: usize,
        /// The name in question.
        name: String,
    },
    /// The collective has no such algorithm.
    #[error("line {line}: {collective} has no algorithm `{name}`; it has {}", rows(*collective))]
    Algorithm {
        /// Which line.
        line: usize,
        /// The collective.
        collective: Collective,
        /// The name in question.
        name: String,
    },
}

/// Chooses an algorithm for a call.
///
/// # Errors
/// If the call is wrong, or an algorithm asked for by name refuses it.
pub fn choose(call: &Call, tuning: &Tuning) -> Result<Choice, SelectError> {
    call.check()?;
    let collective = call.collective();
    let is_of = |row: &&Row| row.0.collective() == collective;
    if let Some(&Row(algorithm)) = tuning.overrides.0.iter().rev().find(is_of) {
        match algorithm.accepts(call) {
            Ok(()) => return Ok(Choice { algorithm, reason: Reason::Override }),
            // Who asks for nodes to be told apart has no wish where there is one.
            Err(Refusal::NoNodes) => {}
            Err(refusal) => {
                let algorithm = algorithm.name();
                return Err(SelectError::Refused { collective, algorithm, refusal });
            }
        }
    }
    Ok(match tuning.wisdom.find(call) {
        Some((algorithm, line)) => Choice { algorithm, reason: Reason::Wisdom(line) },
        None => cheapest(call, &tuning.machine),
    })
}

impl Overrides {
    /// Whether an algorithm of this collective was asked for by name.
    pub fn names(&self, collective: Collective) -> bool {
        self.0.iter().any(|row| row.0.collective() == collective)
    }
}

/// Chooses an algorithm for a call, and plans the call with it.
///
/// # Errors
/// Those of [`choose`].
pub fn plan(call: &Call, tuning: &Tuning) -> Result<(Plan, Choice), SelectError> {
    choose(call, tuning).map(|choice| (planned(call, choice), choice))
}

/// Chooses an algorithm for a call, always the same for the same call: neither names nor wisdom
/// nor the prices of the machine count, nor which ranks share a node.
///
/// # Errors
/// If the call is wrong.
pub fn fixed(call: &Call) -> Result<Choice, SelectError> {
    call.check()?;
    let call = Call { nodes: NodeMap::ONE, ..call.clone() };
    let Choice { algorithm, .. } = cheapest(&call, &CostParams::FIXED);
    Ok(Choice { algorithm, reason: Reason::Fixed })
}

/// Chooses an algorithm by [`fixed`], and plans the call with it.
///
/// # Errors
/// Those of [`fixed`].
pub fn plan_fixed(call: &Call) -> Result<(Plan, Choice), SelectError> {
    fixed(call).map(|choice| (planned(call, choice), choice))
}

fn planned(call: &Call, choice: Choice) -> Plan {
    choice.algorithm.plan(call).expect("a chosen algorithm accepts the call")
}

/// The algorithm that takes the shortest time at these prices.
fn cheapest(call: &Call, machine: &CostParams) -> Choice {
    let rows = algo::by_time(call, machine);
    let (nanoseconds, algorithm) = rows[0];
    let runner_up = rows.get(1).map(|(time, row)| (row.name(), *time));
    Choice { algorithm, reason: Reason::Cost { nanoseconds, runner_up } }
}

impl Row {
    fn parse(line: usize, collective: &str, algorithm: &str) -> Result<Self, ParseError> {
        let collective = Collective::from_name(collective)
            .ok_or_else(|| ParseError::Collective { line, name: collective.to_owned() })?;
        let row = algo::find(collective, algorithm);
        let name = || algorithm.to_owned();
        row.map(Self).ok_or_else(|| ParseError::Algorithm { line, collective, name: name() })
    }
}

impl FromStr for Overrides {
    type Err = ParseError;

    /// Reads overrides separated by `,`, `;` or the end of a line; empty ones are passed over. In
    /// each of them a `:` stands for a `=`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut rows = Vec::new();
        for (index, line) in text.lines().enumerate() {
            for item in line.split([',', ';']).map(str::trim).filter(|item| !item.is_empty()) {
                let malformed = || ParseError::Override { text: item.to_owned() };
                let (collective, algorithm) = item.split_once(['=', ':']).ok_or_else(malformed)?;
                rows.push(Row::parse(index + 1, collective.trim(), algorithm.trim())?);
            }
        }
        Ok(Self(rows))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Override => f.write_str("asked for by name"),
            Self::Fixed => f.write_str("the same on every machine, as the result must be"),
            Self::Wisdom(line) => write!(f, "line {line} of the wisdom"),
            Self::Cost { nanoseconds, runner_up: None } => {
                write!(f, "the only one that accepts the call, {nanoseconds:.0} ns by the model")
            }
            Self::Cost { nanoseconds, runner_up: Some((name, time)) } => {
                write!(f, "{nanoseconds:.0} ns by the model; {name} takes {time:.0} ns")
            }
        }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        (self.0.collective(), self.0.name()) == (other.0.collective(), other.0.name())
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn collectives() -> String {
    Collective::ALL.map(Collective::name).join(", ")
}

fn rows(collective: Collective) -> String {
    algo::of(collective).map(Algorithm::name).collect::<Vec<_>>().join(", ")
}
