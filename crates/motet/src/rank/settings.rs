//! Settings of a world, and the environment variables that set them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use motet_fabric::setting::{self, Number, SWITCH, Seconds, Words};
use motet_fabric::{Options, bootstrap, trusted};
use motet_plan::Tuning;
use motet_plan::select::Wisdom;

use crate::base::error::{Error, ErrorKind, Result};
use crate::engine::check::{Caller, CheckConfig};
use crate::rank::machine;
use crate::rank::wisdom::Source;
use crate::rank::{Nodes, ProgressConfig, Waiting};

/// The variable that names algorithms to use, as in `allreduce=ring,bcast=binomial`.
pub const ALGORITHM: &str = "MOTET_ALGORITHM";
/// The variable that names a file of wisdom (lines that say which algorithm is best for which
/// calls), or contains the lines themselves. Unreadable lines are skipped, with a warning.
pub const WISDOM: &str = "MOTET_WISDOM";
/// The variable that names a file into which each rank, when it leaves, merges its measured
/// choices; see [`Communicator::save_wisdom`](crate::Communicator::save_wisdom).
pub const SAVE_WISDOM: &str = "MOTET_SAVE_WISDOM";
/// The variable that names a file with the cost parameters of this machine, as `motet info
/// --measure --save` writes it, or contains the parameters themselves; `off` for the default ones.
/// Unless it is set, the library reads `motet/machine` in `$XDG_CONFIG_HOME` or `~/.config`.
pub const MACHINE: &str = "MOTET_MACHINE";
/// The variable that forbids (`off`) single copies of large messages between processes, or uses
/// them (`on`) even where two copies through shared memory are faster.
pub const SINGLE_COPY: &str = "MOTET_SINGLE_COPY";
/// The variable that says (`1`) that large blocks of the program lie in a heap that the other ranks
/// of the host map. It is for `motet run`, which loads the allocator; a rank only reports that it
/// has no such heap.
pub const SHARED_HEAP: &str = "MOTET_SHARED_HEAP";
/// The variable that forbids (`off`) channels for persistent operations.
pub const CHANNELS: &str = "MOTET_CHANNELS";

/// The variable that says how ranks wait: `auto`, `spin`, `yield` or `sleep`; see [`Waiting`].
pub const WAIT: &str = "MOTET_WAIT";
/// The variable that says who makes progress while a rank computes: `calls`, no thread, or
/// `thread`; see [`Settings::progress_thread`].
pub const PROGRESS: &str = "MOTET_PROGRESS";
/// The variable that switches check mode on (`1`): see [`Settings::check`]. A process that finds a
/// mismatch then ends with exit code 1 where it would have ended with 0.
pub const CHECK: &str = "MOTET_CHECK";
/// The variable that says after how many seconds a wait is reported: see
/// [`Settings::report_hangs`].
pub const HANG_SECONDS: &str = "MOTET_HANG_SECONDS";
/// The variable that says how many operations a rank may have: see [`Settings::max_pending`].
pub const MAX_PENDING: &str = "MOTET_MAX_PENDING";
/// The variable that says how many ranks are on a node: see [`Settings::ranks_per_node`].
pub const RANKS_PER_NODE: &str = "MOTET_RANKS_PER_NODE";
/// The variable that says how many ranks share memory: see [`Settings::ranks_per_segment`].
pub const RANKS_PER_SEGMENT: &str = bootstrap::RANKS_PER_SEGMENT;

/// The values of [`CHECK`].
const BIT: Words<bool> = Words(&[("0", false), ("1", true)]);
/// The values of [`WAIT`].
const WAITS: Words<Waiting> = Words(&[
    ("auto", Waiting::Auto),
    ("spin", Waiting::Spin),
    ("yield", Waiting::Yield),
    ("sleep", Waiting::Sleep),
]);
/// The values of [`PROGRESS`], and whether there is a progress thread.
const PROGRESS_WAYS: Words<bool> = Words(&[("calls", false), ("thread", true)]);
/// The values of [`HANG_SECONDS`]: up to some years.
const HANG_TIMES: Seconds = Seconds::new(0.0, 1e8);

/// The settings of a world. They must be the same on all its ranks.
///
/// Results do not depend on them (except the answers about [nodes](Settings::ranks_per_node)); they
/// are for measurements and tests, and to apply what those have shown.
///
/// ```
/// use motet::{Info, Settings, Sum};
///
/// let settings = Settings::new().algorithms("allreduce=ring")?;
/// motet::threads_with(2, &settings, |world| {
///     let sum = world.allreduce_init(vec![1], Sum, &Info::new())?;
///     assert_eq!(sum.algorithm(), "ring");
///     Ok::<(), motet::Error>(())
/// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
/// # Ok::<(), motet::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(crate) options: Options,
    pub(crate) tuning: Tuning,
    pub(crate) watch: CheckConfig,
    /// The source of the wisdom, if that is the environment.
    pub(crate) source: Source,
    /// The file to which wisdom is saved.
    pub(crate) save: Option<PathBuf>,
    pub(crate) nodes: Nodes,
    pub(crate) progress_config: ProgressConfig,
    /// How many ranks that are threads share memory, if not all.
    pub(crate) ranks_per_segment: Option<NonZeroUsize>,
}

impl Settings {
    /// The defaults.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// The settings of the environment: [`ALGORITHM`], [`WISDOM`], [`SAVE_WISDOM`], [`MACHINE`],
    /// [`SINGLE_COPY`], [`CHANNELS`], [`CHECK`], [`HANG_SECONDS`], [`MAX_PENDING`],
    /// [`RANKS_PER_NODE`], [`RANKS_PER_SEGMENT`], [`WAIT`], [`PROGRESS`]. A program that has more
    /// rights than its user (set-user-id) reads no file that they name.
    ///
    /// # Errors
    /// A variable with an invalid value.
    pub fn from_environment() -> Result<Settings> {
        let mut settings = Settings::new();
        if let Some(text) = setting::text(ALGORITHM).map_err(ErrorKind::from)? {
            settings = settings.algorithms(&text)?;
        }
        settings.tuning.machine = machine::of_world()?;
        let save = trusted(SAVE_WISDOM).filter(|path| !path.is_empty());
        if let Some(value) = trusted(WISDOM).filter(|value| !value.is_empty()) {
            settings.source = Source::of(&value, save.as_deref());
            settings.tuning.wisdom = Wisdom::read(&settings.source.text).0;
        }
        if let Some(path) = save {
            settings = settings.save_wisdom(path);
        }
        if read(CHECK, |text| BIT.parse(text))? == Some(true) {
            settings = settings.check();
            settings.watch.fails_run = true;
        }
        if let Some(after) = read(HANG_SECONDS, |text| HANG_TIMES.parse(text))? {
            settings = settings.report_hangs(after);
        }
        let allowed = Number::new("a number of operations");
        if let Some(most) = read(MAX_PENDING, |text| allowed.parse(text))? {
            settings = settings.max_pending(most);
        }
        let allowed = Number::new("a number of ranks");
        if let Some(ranks) = read(RANKS_PER_NODE, |text| allowed.parse(text))? {
            settings = settings.ranks_per_node(ranks);
        }
        if let Some(share) = bootstrap::ranks_per_segment().map_err(ErrorKind::from)? {
            settings = settings.ranks_per_segment(share);
        }
        let waiting = read(WAIT, |text| WAITS.parse(text))?;
        settings.progress_config.waiting = waiting.unwrap_or(Waiting::Auto);
        if read(PROGRESS, |text| PROGRESS_WAYS.parse(text))? == Some(true) {
            settings = settings.progress_thread();
        }
        settings.options.single_copy = read(SINGLE_COPY, |text| SWITCH.parse(text))?;
        if read(CHANNELS, |text| SWITCH.parse(text))? == Some(false) {
            settings = settings.without_channels();
        }
        Ok(settings)
    }

    /// Uses these algorithms, as in `allreduce=ring,bcast=binomial`.
    ///
    /// # Errors
    /// A text of another form, or an unknown name.
    pub fn algorithms(mut self, text: &str) -> Result<Settings> {
        self.tuning.overrides = text.parse().map_err(|error| unreadable(ALGORITHM, error))?;
        Ok(self)
    }

    /// Uses this wisdom: lines that say which algorithm is best for which calls.
    ///
    /// # Errors
    /// A line of another form.
    pub fn wisdom(mut self, text: &str) -> Result<Settings> {
        self.tuning.wisdom = text.parse().map_err(|error| unreadable(WISDOM, error))?;
        self.source = Source::default();
        Ok(self)
    }

    /// Chooses algorithms by these cost parameters of the machine, lines as `motet info --measure`
    /// writes them.
    ///
    /// # Errors
    /// A line of another form.
    pub fn machine(mut self, text: &str) -> Result<Settings> {
        self.tuning.machine = text.parse().map_err(|error| unreadable(MACHINE, error))?;
        Ok(self)
    }

    /// Merges the measured choices of each rank into this file when the rank leaves the world.
    #[must_use]
    pub fn save_wisdom(mut self, path: impl Into<PathBuf>) -> Settings {
        self.save = Some(path.into());
        self
    }

    /// Copies no large message directly from the memory of its sender.
    #[must_use]
    pub fn without_single_copy(mut self) -> Settings {
        self.options.single_copy = Some(false);
        self
    }

    /// Opens no channels for persistent operations.
    #[must_use]
    pub fn without_channels(mut self) -> Settings {
        self.options.channels = false;
        self
    }

    /// Checks that all ranks of each communicator call the same collectives in the same order, with
    /// matching arguments. A mismatch is an error on all of them, [`ErrorKind::Mismatch`], which
    /// names two calls with their ranks and source lines, instead of a hang or a wrong result. Each
    /// collective call then costs a small message to each other rank. A mistake in the arguments on
    /// one rank is an error on the others, too: a refused call counts as made, and no later call
    /// can replace it.
    ///
    /// ```
    /// let settings = motet::Settings::new().check();
    /// let errors = motet::threads_with(2, &settings, |world| match world.rank() {
    ///     0 => world.barrier().unwrap_err().to_string(),
    ///     _ => world.bcast(&mut [1], 1).and(world.barrier()).unwrap_err().to_string(),
    /// })?;
    /// assert!(errors.iter().all(|text| text.contains("rank 0 called barrier")));
    /// assert!(errors.iter().all(|text| text.contains("rank 1 called bcast(1 × i32, root 1)")));
    /// # Ok::<(), motet::Error>(())
    /// ```
    #[must_use]
    pub fn check(mut self) -> Settings {
        self.watch.check = true;
        self
    }

    /// Sets the function that returns the source line of the current call.
    pub(crate) fn called_from(mut self, caller: Caller) -> Settings {
        self.watch.caller = Some(caller);
        self
    }

    /// Reports each wait that takes longer than this, on standard error, and again each time that
    /// as much has passed: which rank waits in which call, and which rank has not made it. It ends
    /// no wait. For this, ranks send records of collective calls to each other, as in check mode.
    #[must_use]
    pub fn report_hangs(mut self, after: Duration) -> Settings {
        self.watch.hang = (!after.is_zero()).then_some(after);
        self
    }

    /// Limits the collective operations that a rank may have at once, pending or persistent. One
    /// more is an error, of the class `MPI_ERR_NO_MEM`, and does not take part in anything: a
    /// program that starts operations without end finds that out before its memory is full.
    ///
    /// Without this, memory is the limit. The library then asks the system now and then whether
    /// there is enough for as many operations again as there are, with the same class of error if
    /// not; but that is an estimate, and a system that promises more memory than it has does not
    /// tell.
    #[must_use]
    pub fn max_pending(mut self, most: usize) -> Settings {
        self.watch.most = Some(most);
        self
    }

    /// Places ranks `n * k` to `n * k + n - 1` of the world on one node, for each `k`, as if it
    /// were spread over several machines; with 0, all are on one node, as they really are. Every
    /// call that asks which ranks are close together gets this answer: the order of ranks in a
    /// [`sparse_graph`](crate::Communicator::sparse_graph), say, and
    /// [`node_of`](crate::Communicator::node_of) and
    /// [`split_type`](crate::Communicator::split_type), whose results do depend on it. Messages
    /// travel as before.
    #[must_use]
    pub fn ranks_per_node(mut self, n: usize) -> Settings {
        self.nodes = NonZeroUsize::new(n).map_or(Nodes::One, Nodes::Of);
        self
    }

    /// Lets only `n` consecutive ranks share memory, and connects all others by the network, as if
    /// they were on other hosts; with 0, all ranks of a host share its memory, as they do without
    /// this. For tests, and to see what a network costs.
    #[must_use]
    pub fn ranks_per_segment(mut self, n: usize) -> Settings {
        self.ranks_per_segment = NonZeroUsize::new(n);
        self
    }

    /// Sets how this rank waits for others. Unlike all other settings it may differ among the
    /// ranks.
    #[must_use]
    pub fn waiting(mut self, waiting: Waiting) -> Settings {
        self.progress_config.waiting = waiting;
        self
    }

    /// Gives each rank a progress thread, which advances its operations while the rank computes and
    /// does not call the library; it is parked while none is pending or the rank waits itself.
    /// Messages and collectives then go on during a computation, if there is a core for that
    /// thread. It runs operators, too.
    ///
    /// If there are two cores for each rank, the thread also performs the first steps of
    /// operations, unless they are short, so that a start takes no time; and it polls for messages
    /// and for starts for a while before it parks. Otherwise each start of a nonblocking or
    /// persistent operation wakes it, which takes some microseconds. In any case calls may find it
    /// at work on the same operations, for as long as it takes to copy a large message. Blocking
    /// operations cost what they did.
    #[must_use]
    pub fn progress_thread(mut self) -> Settings {
        self.progress_config.has_progress_thread = true;
        self
    }

    /// The number of the first operation of each communicator and of the first message between two
    /// ranks, so that a test can see numbers pass a power of two.
    #[doc(hidden)]
    #[must_use]
    pub fn count_from(mut self, first: u64) -> Settings {
        self.watch.first = first;
        self.options.first_position = first;
        self
    }
}

/// The value of a variable, if it is set.
fn read<T>(
    variable: &'static str,
    parse: impl FnOnce(&str) -> std::result::Result<T, String>,
) -> Result<Option<T>> {
    Ok(setting::variable(variable, parse).map_err(ErrorKind::from)?)
}

fn unreadable(variable: &'static str, problem: impl ToString) -> Error {
    ErrorKind::Setting { variable, problem: problem.to_string() }.into()
}
