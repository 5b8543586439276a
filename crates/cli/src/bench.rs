//! `motet bench`: measures the time of collectives in their three forms.
//!
//! **A point** is one collective at one size. Each form (blocking; nonblocking, waited for at once;
//! persistent, started and waited for by one call) first runs until it is warm. Then its operations
//! are timed in *windows*. The windows of the forms alternate, A B C A B C ..., so a drift of the
//! machine affects all forms alike. The speed in one window gives the number of operations in the
//! next one of the same form, so that the point takes the requested time.
//!
//! **A window** begins with a barrier that is not timed. Then each rank times a number of
//! operations, one right after the other. The time per operation of a window is that of its slowest
//! rank. If some ranks leave early, as the root of a broadcast does, it is the time in which
//! operations can follow each other. Nothing at the end of a window is timed. The report has the
//! median and the 90th percentile (p90) of the windows, both by nearest rank.
//!
//! **Results are checked** while they are timed: the first element of the data differs in each
//! operation, and is compared after it; at the end of each window all data is compared. This costs
//! each form the same, a few nanoseconds. Barriers are checked by a clock once a window.

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
mod stored;
mod subjects;
mod timed;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use motet::Communicator;
use motet_fabric::setting::{Number, Seconds};
use motet_plan::Collective;

use crate::output::Mistake;
use crate::quantity::{self, ON_ONE_MACHINE};
use case::{Case, ELEMENT_BYTES, Form};
use comparison::Plan;
use hints::Study;
use neighbours::Neighbours;
use report::{Layout, Output, Report, Settings};
use subjects::Measured;

/// The largest size of data, in bytes. A rank needs up to twelve times this memory or, if there is
/// a block for each rank, six times this memory for each of them.
const MOST_BYTES: usize = 256 << 20;

/// The sizes of data that can be measured.
const SIZES: Number =
    Number::new("a size in bytes").at_least(ELEMENT_BYTES as u64).at_most(MOST_BYTES as u64);

/// The time for a point.
const TIMES: Seconds = Seconds::new(1e-6, 3600.0);

/// Measure the time of collectives in their three forms: blocking, nonblocking, persistent
///
/// The ranks are processes, started by this command or by `motet run`, or threads. A size is that
/// of the whole data of a broadcast, a reduction or a scan, and of one block of all other
/// collectives; the irregular ones have blocks of equal length, too. In exchanges each rank has two
/// neighbours on a ring. In collectives that begin with `inter_` the first half of the ranks is one
/// group and the others are the other group. All results are checked. The time of an operation is
/// that of the slowest rank. The table shows the median and the 90th percentile of windows; the
/// windows of the forms alternate.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Bench {
    /// The collectives to measure: neighbor_alltoall, and those of `motet list` [default: all]
    #[arg(value_name = "COLLECTIVES", value_parser = Measured::parse)]
    collectives: Vec<Measured>,

    /// Number of ranks [default: 2, or the ranks that `motet run` has started]
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = quantity::number::<u32>(ON_ONE_MACHINE)
    )]
    ranks: Option<u32>,

    /// Run the ranks as threads of one process
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

    /// The forms to measure
    #[arg(
        long,
        value_name = "FORMS",
        value_delimiter = ',',
        default_value = "blocking,nonblocking,persistent"
    )]
    forms: Vec<Form>,

    /// Use this algorithm for the measured collective, or several, as in
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

    /// Time to measure each point, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.3")]
    time: f64,

    /// Write all figures and the conditions of the measurement into this file as JSON; `-` writes
    /// only the JSON to standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure persistent inits instead: the first of its shape with the hint `reuse`, and the next
    /// with `previous`; each alone, and with `enforce`
    #[arg(long, conflicts_with_all = ["enforce", "json", "forms"])]
    inits: bool,

    /// Compare all algorithms, in the last of the forms: the choice of the cost model, the fastest
    /// algorithm, and the ratio of their times
    #[arg(long, conflicts_with_all = ["json", "inits", "enforce", "algorithm", "neighbours"])]
    algorithms: bool,

    /// Compare operations whose init measures the fastest algorithm (the hint `enforce`) with
    /// operations that use the default algorithm
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
            return Err(Mistake(format!("-n asks for {asked} ranks, but {size} run")).into());
        }
        self.check(size)?;
        self.measure(&world, Layout::Processes)?;
        Ok(ExitCode::SUCCESS)
    }

    fn among_threads(&self) -> anyhow::Result<ExitCode> {
        if environment::is_under_launcher() {
            let text = "--threads runs all ranks in one process: start it without `motet run`";
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

    /// Checks the whole command line before the first point, on one process.
    fn check(&self, ranks: u32) -> anyhow::Result<()> {
        let tuning = crate::plan::tuning()?;
        for (measured, bytes) in self.points(ranks) {
            let collective = measured.collective();
            let (fewest, count) = (collective.fewest_ranks(), bytes / ELEMENT_BYTES);
            if ranks < fewest {
                return Err(Mistake(format!("{collective} needs at least {fewest} ranks")).into());
            }
            environment::check_choice(collective, ranks, count, &tuning)?;
        }
        Output::new(self.json.as_deref(), &self.forms, &[]).check()
    }

    /// Measures all points, as one of the ranks.
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

    /// Compares an exchange with other ways to send the same messages, as one of the ranks.
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

    /// Each collective with each size; a barrier has one point. If no collective is named, all that
    /// this number of ranks can call.
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

/// Removes repeated forms, and keeps the order.
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
    let bytes = quantity::sized(SIZES)(text)?;
    if !bytes.is_multiple_of(ELEMENT_BYTES) {
        return Err(format!("expected a multiple of {ELEMENT_BYTES} bytes"));
    }
    Ok(bytes)
}

fn seconds(text: &str) -> Result<f64, String> {
    TIMES.parse(text).map(|time| time.as_secs_f64())
}
