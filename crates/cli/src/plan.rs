//! `motet plan`: the schedule of a collective, verified and drawn.

pub(crate) mod example;
pub(crate) mod target;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use motet_fabric::file::{read_text, replace};
use motet_plan::select::{self, Choice, Wisdom};
use motet_plan::verify::{Mode, Options};
use motet_plan::{Call, Tuning, draw, verify};

use crate::args::Mistake;
use crate::quantity::counted;
use example::{Example, Sizes};
use target::Target;

/// The most ranks that are drawn: more lines nobody can follow.
const MOST_RANKS: i64 = 64;

/// The most elements, in the buffers of all ranks together, that the verifier is given: it keeps an
/// expression for each, and takes about two seconds for so many.
const MOST_ELEMENTS: usize = 1 << 19;

/// How many random orders of execution are tried, each with and without buffering.
const ORDERS: u64 = 4;

/// Draw the schedule of a collective, once it is verified
///
/// The schedule is that of the algorithm that is named or, without one, of that which a program
/// would use. Variables that steer the choice in a program (see `motet info`) do it here too.
#[derive(Debug, clap::Args)]
pub(crate) struct Plan {
    /// The collective, and its algorithm if another is wanted than would be chosen; `motet list`
    /// knows them
    #[arg(value_name = "COLLECTIVE[/ALGORITHM]")]
    target: Target,

    /// How many ranks
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS)
    )]
    ranks: u32,

    #[command(flatten)]
    sizes: Sizes,

    /// The ranks share so many cores, by which times are predicted; each has one unless given
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..))]
    cores: Option<u32>,

    /// The rank where the data comes from or goes to
    #[arg(long, value_name = "R", default_value_t = 0)]
    root: u32,

    /// Of a collective between two groups, how many ranks are in the first one; half of them unless
    /// given
    #[arg(long, value_name = "L")]
    left: Option<u32>,

    /// Input and output are one buffer
    #[arg(long)]
    in_place: bool,

    /// Show the steps of this rank only
    #[arg(long, value_name = "R")]
    rank: Option<u32>,

    /// Draw into this file as SVG, too; with `-` to the standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Plan {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if let Some(rank) = self.rank.filter(|&rank| rank >= self.ranks) {
            let text = format!("rank {rank} is not below the number of ranks, {}", self.ranks);
            return Err(Mistake(text).into());
        }
        let example = Example {
            collective: self.target.collective,
            ranks: self.ranks,
            sizes: self.sizes.clone(),
            root: self.root,
            in_place: self.in_place,
            left: self.left,
        };
        if self.left.is_some() && self.target.collective.fewest_ranks() < 2 {
            let text = format!("--left: {} is not between two groups", self.target.collective);
            return Err(Mistake(text).into());
        }
        let calls = example.calls()?;
        let choice = self.choose(&calls[0])?;
        let plans = plans(&choice, &calls);
        let verified = verified(&calls, &plans)?;
        let drawing = self.svg.as_ref().map(|_| draw::svg(&calls, &plans)).transpose()?;
        match (&self.svg, drawing) {
            (Some(path), Some(drawing)) if path == Path::new("-") => return crate::show(&drawing),
            (Some(path), Some(drawing)) => {
                let written = replace(path, &drawing);
                written.with_context(|| format!("writing {}", path.display()))?;
            }
            _ => {}
        }
        let mut page = self.facts(&choice, &example, &verified);
        page.push_str(&between_nodes(&example, &calls, &plans));
        page.push('\n');
        page.push_str(&self.steps(&draw::text(&calls, &plans)?));
        crate::show(&page)
    }

    /// The algorithm, and why it is this one.
    fn choose(&self, call: &Call) -> anyhow::Result<Choice> {
        let mut tuning = tuning_sharing(self.ranks, self.cores)?;
        if let Some(overrides) = self.target.overrides() {
            tuning.overrides = overrides;
        }
        let choice = select::choose(call, &tuning).map_err(|error| Mistake(error.to_string()))?;
        // A program on one node gets another algorithm then; who asks for a drawing wants this one.
        match self.target.algorithm.map(|wanted| (wanted.name(), wanted.accepts(call))) {
            Some((name, Err(refusal))) => {
                let text = format!("{name} refuses this call: {refusal}; give --per-node");
                Err(Mistake(text).into())
            }
            _ => Ok(choice),
        }
    }

    /// What is to be said before the drawing.
    fn facts(&self, choice: &Choice, example: &Example, verified: &str) -> String {
        let Choice { algorithm, reason } = choice;
        let mut lines = vec![
            format!("chosen:    {} ({reason})", algorithm.name()),
            format!("idea:      {}", algorithm.summary()),
        ];
        lines.extend(example.pattern().map(|pattern| format!("pattern:   {pattern}")));
        lines.push(format!("verified:  {verified}"));
        lines.extend(self.svg.iter().map(|path| format!("drawing:   {}", path.display())));
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// The drawing, without the steps of ranks that are not wanted.
    fn steps(&self, drawing: &str) -> String {
        let Some(wanted) = self.rank else { return drawing.to_owned() };
        let is_of_another = |part: &&str| {
            let mut words = part.lines().next().unwrap_or_default().split([' ', ',']);
            words.next() == Some("rank") && words.next() != Some(&wanted.to_string())
        };
        let parts: Vec<_> = drawing.split("\n\n").filter(|part| !is_of_another(part)).collect();
        parts.join("\n\n").trim_end().to_owned() + "\n"
    }
}

/// As [`tuning`], where so many ranks share the cores.
///
/// # Errors
/// As [`tuning`].
pub(crate) fn tuning_sharing(ranks: u32, cores: Option<u32>) -> anyhow::Result<Tuning> {
    let mut tuning = tuning()?;
    if let Some(cores) = cores {
        tuning.machine = tuning.machine.shared(ranks as usize, cores as usize).on_one_machine();
    }
    Ok(tuning)
}

/// What a choice depends on in a program of this environment.
///
/// # Errors
/// A variable, or a file that it names, which cannot be read.
pub(crate) fn tuning() -> anyhow::Result<Tuning> {
    let machine = motet::machine::from_environment()?;
    let mut tuning = Tuning { machine, ..Tuning::default() };
    if let Ok(text) = env::var(motet::ALGORITHM) {
        tuning.overrides = text.parse().context(motet::ALGORITHM)?;
    }
    // As a program reads it: lines or a file, and what cannot be read is passed over.
    if let Ok(value) = env::var(motet::WISDOM) {
        let is_lines = value.contains("->");
        let text = if is_lines { value } else { read_text(value.as_ref()).unwrap_or_default() };
        tuning.wisdom = Wisdom::read(&text).0;
    }
    Ok(tuning)
}

fn plans(choice: &Choice, calls: &[Call]) -> Vec<motet_plan::Plan> {
    let plan = |call| choice.algorithm.plan(call).expect("what one rank accepts, all ranks accept");
    calls.iter().map(plan).collect()
}

/// What passes between nodes, where there are several.
fn between_nodes(example: &Example, calls: &[Call], plans: &[motet_plan::Plan]) -> String {
    let Some(per_node) = example.per_node() else { return String::new() };
    let sent = calls.iter().zip(plans).map(|(call, plan)| plan.sent_to_other_nodes(&call.nodes));
    let messages = sent.map(|sent| sent.messages).sum();
    let (messages, ranks) = (counted(messages, "message"), counted(per_node as usize, "rank"));
    format!("nodes:     of {ranks}, {messages} between them\n")
}

/// Verifies the plans, and says how.
fn verified(calls: &[Call], plans: &[motet_plan::Plan]) -> anyhow::Result<String> {
    let elements = |plan: &motet_plan::Plan| {
        plan.input_len().saturating_add(plan.output_len()).saturating_add(plan.scratch_len())
    };
    let elements = plans.iter().map(elements).fold(0, usize::saturating_add);
    if elements > MOST_ELEMENTS {
        let remedy = "take fewer and larger elements (--count, --element-bytes)";
        return Err(Mistake(format!(
            "{elements} elements are too many to verify; at most {MOST_ELEMENTS}: {remedy}"
        ))
        .into());
    }
    let mut steps = 0;
    for seed in 0..ORDERS {
        for mode in [Mode::Eager, Mode::Rendezvous] {
            let report = verify(calls, plans, &Options { seed, mode });
            let report = report.map_err(|violation| anyhow!("the plan is wrong: {violation}"))?;
            steps = report.steps;
        }
    }
    Ok(format!(
        "{} of {}, in {ORDERS} random orders with and without buffering",
        counted(steps, "step"),
        counted(plans.len(), "rank"),
    ))
}
