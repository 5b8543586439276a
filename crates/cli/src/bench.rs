//! `motet bench`: how long collectives take, in their three forms.
//!
//! **A point** is one collective at one size. Each form of it (blocking; nonblocking, waited for at
//! once; persistent, started and waited for by one call) is first run until it is warm. Then its
//! operations are timed in *windows*. Those of the forms take turns, A B C A B C ..., so that
//! whatever drifts on the machine hits all forms alike. The speed in one window gives the number of
//! operations in the next of the same form, so that all together take the time that was asked for.
//!
//! **A window** begins with a barrier that is not timed. Then each rank times a number of
//! operations, one right after the other. The time per operation of a window is that of its slowest
//! rank: where some ranks leave early, as the root of a broadcast does, it is the time in which
//! operations can follow each other. Nothing at the end of a window is timed. Reported are the
//! median of the windows and the time that nine of ten windows keep (p90), both by nearest rank.
//!
//! **Results are checked** while they are timed: the first element of the data is another one in
//! each operation, and is looked at after it; at the end of each window all data is compared. This
//! costs each form the same, a few nanoseconds. Barriers are checked by a clock once a window.

mod block_layout;
mod calls;
mod case;
mod choices;
mod comparison;
mod environment;
mod exchange_variants;
mod hints;
mod measure;
mod neighbours;
mod report;
mod subjects;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use motet::Communicator;
use motet_fabric::layout::MAX_RANKS;
use motet_plan::Collective;

use crate::args::Mistake;
use crate::quantity;
use case::{Case, ELEMENT_BYTES, Form};
use comparison::Plan;
use hints::Study;
use neighbours::Neighbours;
use report::{Layout, Output, Report, Settings};
use subjects::Measured;

/// The largest size of data. A rank needs memory for up to twelve times as much and, where there is
/// a block for each rank, for six times as much for each of them.
const MOST_BYTES: usize = 256 << 20;

/// The longest time for a point, in seconds.
const MOST_SECONDS: f64 = 3600.0;

/// Measure how long collectives take, in their three forms
///
/// Ranks are processes, started here or by `motet run`, or threads. A size is that of the data of a
/// broadcast, a reduction or a scan, and of one block of all others; also the irregular forms have
/// blocks of one length. Exchanges are with the two neighbours on a ring, and the two groups of
/// those that begin with `inter_` are the first half of the ranks and the others. All results are
/// checked. The time of an operation is that of the slowest rank; shown are the median and the 90th
/// percentile of windows in which the forms take turns.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Bench {
    /// What to measure: neighbor_alltoall, and all that `motet list` lists; everything unless some
    /// are named
    #[arg(value_name = "COLLECTIVES", value_parser = Measured::parse)]
    collectives: Vec<Measured>,

    /// How many ranks; 2, or those that there are, unless given
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=MAX_RANKS as i64)
    )]
    ranks: Option<u32>,

    /// Ranks are threads of one process
    #[arg(long)]
    threads: bool,

    /// Sizes in bytes, multiples of 8; `4K` is 4096
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        value_parser = size,
        default_value = "8,64,512,4K,32K,256K,1M"
    )]
    sizes: Vec<usize>,

    /// Which forms
    #[arg(
        long,
        value_name = "FORMS",
        value_delimiter = ',',
        default_value = "blocking,nonblocking,persistent"
    )]
    forms: Vec<Form>,

    /// Use this algorithm for the one collective that is measured, or these, as in
    /// `allreduce=ring,bcast=binomial`
    #[arg(long, value_name = "ALGORITHM")]
    algorithm: Option<String>,

    /// Compare a persistent exchange with persistent messages and with a dense alltoallv among
    /// these neighbours: `ring`, `grid`, `all`, or an even number of ranks on a ring; only with
    /// `exchange`
    #[arg(
        long,
        value_name = "PATTERNS",
        value_delimiter = ',',
        value_parser = Neighbours::parse,
        conflicts_with_all = ["forms", "algorithm"]
    )]
    neighbours: Vec<Neighbours>,

    /// How long to measure each point, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.3")]
    time: f64,

    /// Write all figures and what they depend on into this file as JSON; with `-` to the standard
    /// output, and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure inits instead: the first of its shape, with the hint `reuse`, and the next one, with
    /// `previous`; each by itself, and with `enforce`
    #[arg(long, conflicts_with_all = ["enforce", "json", "forms"])]
    inits: bool,

    /// Compare all algorithms, in the last one of the forms: what the cost
    /// model chose, what was fastest, and how many times as long the choice takes
    #[arg(long, conflicts_with_all = ["json", "inits", "enforce", "algorithm", "neighbours"])]
    algorithms: bool,

    /// Compare operations whose init has the hint `enforce`, so that it measures what is fastest,
    /// with those that have the default algorithm
    #[arg(long, conflicts_with_all = ["json", "forms"])]
    enforce: bool,
}

impl Bench {
    pub(crate) fn execute(mut self) -> anyhow::Result<ExitCode> {
        without_repetition(&mut self.forms);
        if !self.neighbours.is_empty()
            && self.collectives != [Measured::Planned(Collective::Exchange)]
        {
            return Err(Mistake("--neighbours is for `motet bench exchange`".into()).into());
        }
        if let Some(algorithm) = &self.algorithm {
            environment::set_algorithms(algorithm, &self.collectives)?;
        }
        if self.threads {
            return self.among_threads();
        }
        if !environment::is_under_launcher() {
            self.check(self.ranks.unwrap_or(2))?;
        }
        let world = motet::launch(self.ranks.unwrap_or(2) as usize)?;
        let size = world.size() as u32;
        if let Some(asked) = self.ranks.filter(|&asked| asked != size) {
            return Err(Mistake(format!("{asked} ranks were asked for, but {size} run")).into());
        }
        self.check(size)?;
        self.measure(&world, Layout::Processes)?;
        Ok(ExitCode::SUCCESS)
    }

    fn among_threads(&self) -> anyhow::Result<ExitCode> {
        if environment::is_under_launcher() {
            let text = "with --threads there is one process: start it without `motet run`";
            return Err(Mistake(text.into()).into());
        }
        let ranks = self.ranks.unwrap_or(2);
        self.check(ranks)?;
        let measured =
            motet::threads(ranks as usize, |world| self.measure(&world, Layout::Threads))?;
        // The first error is the cause of the others, more often than not that of a lower rank.
        measured.into_iter().collect::<anyhow::Result<()>>()?;
        Ok(ExitCode::SUCCESS)
    }

    /// What can go wrong is better said at once than by each rank, or after the last point.
    fn check(&self, ranks: u32) -> anyhow::Result<()> {
        let tuning = crate::plan::tuning()?;
        for (measured, bytes) in self.points(ranks) {
            let collective = measured.collective();
            let (fewest, count) = (collective.fewest_ranks(), bytes / ELEMENT_BYTES);
            if ranks < fewest {
                return Err(Mistake(format!("{collective} takes at least {fewest} ranks")).into());
            }
            environment::check_choice(collective, ranks, count, &tuning)?;
        }
        Output::new(self.json.as_deref(), &self.forms, &[]).check()
    }

    /// What one rank does.
    fn measure(&self, world: &Communicator, layout: Layout) -> anyhow::Result<()> {
        if !self.neighbours.is_empty() {
            return self.compare(world, layout);
        }
        let points = self.points(world.size() as u32);
        let study = match (self.inits, self.enforce) {
            (true, _) => Some(Study::Inits),
            (_, true) => Some(Study::Choices),
            _ => None,
        };
        if self.algorithms {
            let form = self.forms.last().copied().unwrap_or(Form::Persistent);
            return choices::compare(world, points, form, self.time);
        }
        if let Some(study) = study {
            return hints::study(world, points, study, self.time);
        }
        let is_reporter = world.rank() == 0;
        let output = Output::new(self.json.as_deref(), &self.forms, &points);
        let mut report = Report::new(self.settings(world, layout));
        if is_reporter {
            output.begin(&report)?;
        }
        for (index, (measured, bytes)) in points.into_iter().enumerate() {
            if is_reporter {
                output.progress(index, measured, bytes);
            }
            let point = Case::new(world, measured, bytes / ELEMENT_BYTES)
                .map_err(anyhow::Error::from)
                .and_then(|case| measure::point(&case, &self.forms, self.time));
            let place = || match bytes {
                0 => measured.to_string(),
                _ => format!("{measured} of {}", quantity::bytes(bytes)),
            };
            let point = point.with_context(place)?;
            if is_reporter {
                output.row(&point)?;
            }
            report.points.push(point);
        }
        if is_reporter { output.end(&report) } else { Ok(()) }
    }

    /// What one rank does when an exchange is compared with other ways.
    fn compare(&self, world: &Communicator, layout: Layout) -> anyhow::Result<()> {
        let plan = Plan { patterns: &self.neighbours, sizes: &self.sizes, seconds: self.time };
        let output = Output::new(self.json.as_deref(), &[], &[]);
        plan.measure(world, Report::new(self.settings(world, layout)), &output)
    }

    fn settings(&self, world: &Communicator, layout: Layout) -> Settings {
        Settings {
            ranks: world.size(),
            layout,
            seconds_per_point: self.time,
            windows: measure::WINDOWS,
            time: "of the slowest rank, per operation, for each window",
            variables: environment::variables(),
        }
    }

    /// Each collective with each size; a barrier has none. Unless some are named, they are all
    /// those that so many ranks can call.
    fn points(&self, ranks: u32) -> Vec<(Measured, usize)> {
        let mut all = self.collectives.clone();
        if all.is_empty() {
            all.extend(Measured::all().filter(|each| each.collective().fewest_ranks() <= ranks));
        }
        let with_sizes = |measured: Measured| {
            let sizes = if measured.is_barrier() { &[0][..] } else { &self.sizes };
            sizes.iter().map(move |&bytes| (measured, bytes))
        };
        all.into_iter().flat_map(with_sizes).collect()
    }
}

/// Each form once.
fn without_repetition(forms: &mut Vec<Form>) {
    let mut seen = Vec::new();
    forms.retain(|form| {
        !seen.contains(form) && {
            seen.push(*form);
            true
        }
    });
}

fn size(text: &str) -> Result<usize, String> {
    let bytes = quantity::positive(text)?;
    if !bytes.is_multiple_of(ELEMENT_BYTES) {
        return Err(format!("must be a multiple of {ELEMENT_BYTES}"));
    }
    if bytes > MOST_BYTES {
        return Err(format!("must be at most {}", quantity::bytes(MOST_BYTES)));
    }
    Ok(bytes)
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MOST_SECONDS);
    seconds.ok_or_else(|| format!("not a number of seconds above 0 and up to {MOST_SECONDS}"))
}
