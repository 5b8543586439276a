//! `motet plan`: verifies and draws the schedule of a collective.

pub(crate) mod example;
pub(crate) mod target;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use motet_fabric::file::{read_text, replace};
use motet_fabric::setting::{self, Number};
use motet_plan::select::{self, Choice, Wisdom};
use motet_plan::verify::{Mode, Options};
use motet_plan::{Call, Tuning, draw, verify};

use crate::output::Mistake;
use crate::quantity::{self, CORES, RANK, counted};
use example::{Example, Sizes};
use target::Target;

/// The largest number of ranks that is drawn: more lines are unreadable.
const RANKS: Number = Number::new("a number of ranks").at_least(1).at_most(64);

/// The ranks of the first of two groups.
const LEFT: Number = Number::new("a number of ranks");

/// The largest number of elements, in the buffers of all ranks together, that is verified: the
/// verifier keeps an expression for each, and takes about two seconds for this number.
const MOST_ELEMENTS: usize = 1 << 19;

/// Number of random execution orders that are verified, each with and without buffering.
const ORDERS: u64 = 4;

/// Verify and draw the schedule of a collective
///
/// The schedule is that of the named algorithm or, if none is named, of the algorithm that a
/// program would choose. The environment variables that influence the choice of a program (see
/// `motet info`) apply here too.
#[derive(Debug, clap::Args)]
pub(crate) struct Plan {
    /// The collective and, to override the choice, the algorithm; `motet list` shows their names
    #[arg(value_name = "COLLECTIVE[/ALGORITHM]")]
    target: Target,

    /// Number of ranks
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = quantity::number::<u32>(RANKS)
    )]
    ranks: u32,

    #[command(flatten)]
    sizes: Sizes,

    /// Predict times for ranks that share this number of cores [default: one core for each rank]
    #[arg(long, value_name = "C", value_parser = quantity::number::<u32>(CORES))]
    cores: Option<u32>,

    /// The root of a rooted collective
    #[arg(
        long,
        value_name = "R",
        default_value = "0",
        value_parser = quantity::number::<u32>(RANK)
    )]
    root: u32,

    /// Number of ranks in the first group of a collective between two groups [default: half]
    #[arg(long, value_name = "L", value_parser = quantity::number::<u32>(LEFT))]
    left: Option<u32>,

    /// Input and output are the same buffer (MPI_IN_PLACE)
    #[arg(long)]
    in_place: bool,

    /// Show only the steps of this rank
    #[arg(long, value_name = "R", value_parser = quantity::number::<u32>(RANK))]
    rank: Option<u32>,

    /// Also write the drawing as SVG into this file; `-` writes only the SVG to standard output
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
            (Some(path), Some(drawing)) if path == Path::new("-") => {
                return crate::output::show(&drawing);
            }
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
        crate::output::show(&page)
    }

    /// The algorithm that is named or chosen, and the reason.
    fn choose(&self, call: &Call) -> anyhow::Result<Choice> {
        let mut tuning = tuning_sharing(self.ranks, self.cores)?;
        if let Some(overrides) = self.target.overrides() {
            tuning.overrides = overrides;
        }
        let choice = select::choose(call, &tuning).map_err(|error| Mistake(error.to_string()))?;
        // `select` replaces a named algorithm that refuses the call. Here that is an error, since
        // the user wants to see this algorithm.
        match self.target.algorithm.map(|wanted| (wanted.name(), wanted.accepts(call))) {
            Some((name, Err(refusal))) => {
                let text = format!("{name} refuses this call: {refusal}; give --per-node");
                Err(Mistake(text).into())
            }
            _ => Ok(choice),
        }
    }

    /// The lines before the drawing.
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

    /// The drawing, restricted to the steps of `--rank` if that is given.
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

/// As [`tuning`], for ranks that share a number of cores.
///
/// # Errors
/// As [`tuning`].
pub(crate) fn tuning_sharing(ranks: u32, cores: Option<u32>) -> anyhow::Result<Tuning> {
    let mut tuning = tuning()?;
    if let Some(cores) = cores {
        let shared = motet::machine::shared(tuning.machine, ranks as usize, cores as usize);
        tuning.machine = shared.on_one_machine();
    }
    Ok(tuning)
}

/// The settings by which a program in this environment chooses algorithms.
///
/// # Errors
/// If a variable, or a file that it names, cannot be read.
pub(crate) fn tuning() -> anyhow::Result<Tuning> {
    let machine = motet::machine::from_environment()?;
    let mut tuning = Tuning { machine, ..Tuning::default() };
    if let Some(text) = setting::text(motet::env::ALGORITHM)? {
        tuning.overrides = text.parse().context(motet::env::ALGORITHM)?;
    }
    // As in a program: lines or a file; lines that cannot be read are skipped.
    if let Some(value) = env::var_os(motet::env::WISDOM) {
        let lines = value.to_str().filter(|text| text.contains("->")).map(str::to_owned);
        let text = lines.unwrap_or_else(|| read_text(value.as_ref()).unwrap_or_default());
        tuning.wisdom = Wisdom::read(&text).0;
    }
    Ok(tuning)
}

fn plans(choice: &Choice, calls: &[Call]) -> Vec<motet_plan::Plan> {
    let plan = |call| choice.algorithm.plan(call).expect("what one rank accepts, all ranks accept");
    calls.iter().map(plan).collect()
}

/// The line about messages between nodes, if there are several nodes.
fn between_nodes(example: &Example, calls: &[Call], plans: &[motet_plan::Plan]) -> String {
    let Some(per_node) = example.per_node() else { return String::new() };
    let sent = calls.iter().zip(plans).map(|(call, plan)| plan.sent_to_other_nodes(&call.nodes));
    let messages = sent.map(|sent| sent.messages).sum();
    let (messages, ranks) = (counted(messages, "message"), counted(per_node as usize, "rank"));
    format!("nodes:     of {ranks}, {messages} between them\n")
}

/// Verifies the plans, and describes how.
fn verified(calls: &[Call], plans: &[motet_plan::Plan]) -> anyhow::Result<String> {
    let elements = |plan: &motet_plan::Plan| {
        plan.input_len().saturating_add(plan.output_len()).saturating_add(plan.scratch_len())
    };
    let elements = plans.iter().map(elements).fold(0, usize::saturating_add);
    if elements > MOST_ELEMENTS {
        let remedy = "take fewer and larger elements (--count, --element-bytes)";
        return Err(Mistake(format!(
            "too many elements to verify: {elements}, the limit is {MOST_ELEMENTS}; {remedy}"
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
