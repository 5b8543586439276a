//! `motet info`: reports the facts of this machine that Motet depends on, and how Motet uses them.

mod fabric;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::{Display, Write};
use std::process::ExitCode;
use std::time::Duration;

use motet_fabric::copy_bandwidth::CopyBandwidth;
use motet_fabric::host::Autogroup;
use motet_fabric::layout::{Layout, MAX_RANKS};
use motet_fabric::membarrier::FenceScope;
use motet_fabric::{bootstrap, host, launcher, net, printable};

use crate::measure;
use crate::probe::{self, Finding};
use crate::quantity::{self, ON_ONE_MACHINE};

/// The environment variables of Motet, and the effect of each: those of `docs/settings.md` in its
/// order, then those that `motet run` sets.
const VARIABLES: [(&str, &str); 28] = [
    (motet::env::CHECK, "`1`: ranks compare their collective calls; a mismatch is an error"),
    (motet::env::HANG_SECONDS, "report each wait that takes longer than this many seconds"),
    (motet::env::MAX_PENDING, "the largest number of pending collectives of a rank"),
    (motet::env::INITIAL_ERRHANDLER, "the initial error handler of programs on the C library"),
    (motet::env::ERROR_CODES, "`classes`: C functions return error classes only"),
    (motet::env::ALGORITHM, "algorithms to use, as in `allreduce=ring,bcast=binomial`"),
    (motet::env::WISDOM, "measured choices of algorithms: a file, or its lines"),
    (motet::env::SAVE_WISDOM, "the file into which ranks merge the choices that they measure"),
    (motet::env::MACHINE, "prices: a file of `motet info --measure --save`, its lines, or `off`"),
    (motet::env::SINGLE_COPY, "`off`: never use cross-memory attach; `on`: even if it is slow"),
    (motet::env::CHANNELS, "`off`: persistent operations send tagged messages"),
    (motet::env::RANKS_PER_SEGMENT, "n: only groups of n consecutive ranks share memory"),
    (motet::env::RANKS_PER_NODE, "n: algorithms treat n consecutive ranks as one machine"),
    (motet::env::SHARED_HEAP, "`1`: ranks of `motet run` can read each other's large blocks"),
    (motet::env::WAIT, "how ranks wait: `auto`, `spin`, `yield` or `sleep`"),
    (motet::env::PROGRESS, "`thread`: a progress thread moves operations while the rank computes"),
    (launcher::SESSION, "`own`: `motet run` starts the ranks in a new session"),
    (bootstrap::CHOICE, "`pmi1`, `pmi2` or `pmix` of another launcher, or `alone`"),
    (bootstrap::LAUNCH_SECONDS, "how many seconds to wait for all ranks of another launcher"),
    (bootstrap::PMIX_LIBRARY, "the file of the PMIx library"),
    (net::PROVIDER, "the libfabric provider for messages between hosts"),
    (net::REMOTE_WRITES, "`off`: send messages instead of writing into remote memory"),
    (net::PEER_TIMEOUT, "seconds without an answer after which a rank is lost"),
    (net::LIBRARY, "the file of libfabric"),
    (bootstrap::RANK, "set by `motet run`: the rank of the process"),
    (bootstrap::RANKS, "set by `motet run`: the number of ranks"),
    (bootstrap::SEGMENT, "set by `motet run`: the descriptor of the shared memory"),
    (bootstrap::LAUNCHER, "set by `motet run`: the process id of the launcher"),
];

/// Show the facts of this machine that Motet depends on, and how Motet uses them
#[derive(Debug, clap::Args)]
pub(crate) struct Info {
    /// Also show the memory of a world of this many ranks
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = quantity::number::<usize>(ON_ONE_MACHINE)
    )]
    ranks: Option<usize>,

    /// Show which libfabric provider carries messages between hosts, and why it is chosen
    #[arg(long, conflicts_with_all = ["ranks", "measure"])]
    fabric: bool,

    /// Measure the prices of the cost model: messages, copies, reductions, and switches between
    /// ranks on one core. Takes a few seconds, during which nothing else should run
    #[arg(long, conflicts_with = "ranks")]
    measure: bool,

    /// Save the measured prices, which all programs use from then on: in the file that
    /// MOTET_MACHINE names, or else in motet/machine, in $XDG_CONFIG_HOME or ~/.config
    #[arg(long, requires = "measure")]
    save: bool,
}

impl Info {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.measure {
            return measure::execute(self.save);
        }
        let mut page = Page::default();
        if self.fabric {
            fabric::show(&mut page);
            return crate::output::show(&page.0);
        }
        machine(&mut page);
        waiting(&mut page);
        sessions(&mut page);
        large_messages(&mut page);
        memory(&mut page, self.ranks)?;
        limits(&mut page);
        environment(&mut page);
        crate::output::show(&page.0)
    }
}

/// Text in sections of names and values.
#[derive(Default)]
struct Page(String);

impl Page {
    fn section(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        self.write(format_args!("{gap}{title}\n"));
    }

    fn row(&mut self, name: &str, value: impl Display) {
        // A name given by the user or the system may have line feeds: it stays within its row.
        self.write(format_args!("  {name:<17} {}\n", printable(value)));
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a string takes any text");
    }
}

fn machine(page: &mut Page) {
    page.section(concat!("Motet ", env!("CARGO_PKG_VERSION"), " on this machine"));
    page.row("kernel", known(host::kernel()));
    page.row("processor", known(host::processor()));
    let cores = host::cores();
    let (allowed, online) = (known(cores.allowed), known(cores.online));
    page.row("cores", format_args!("{} usable ({allowed} allowed of {online})", cores.usable));
    let cache = host::second_level_cache().map(|bytes| size(bytes as u64));
    page.row("L2 cache", format_args!("{} for each core", known(cache)));
    page.row("memory", known(host::memory().map(size)));
    page.row("page", size(host::page_bytes() as u64));
    let huge = host::huge_pages();
    page.row(
        "huge pages",
        format_args!(
            "{} for shared memory, {} for private memory; {} of {} set aside",
            known(huge.shared),
            known(huge.private),
            known(huge.reserved),
            known(huge.bytes.map(size)),
        ),
    );
}

fn waiting(page: &mut Page) {
    page.section("Waiting");
    let cores = host::cores().usable;
    let upto = if cores == 1 { "1 rank".into() } else { format!("up to {cores} ranks") };
    page.row(&upto, "spin for a moment, then sleep: each rank has its own core");
    page.row("more", "yield at once, then sleep: ranks share cores");
    for (ranks, among) in [("processes", FenceScope::Processes), ("threads", FenceScope::Threads)] {
        let choice = if among.register() {
            "by the rank that goes to sleep (membarrier) if each has its own core, else by senders"
        } else {
            "by senders: the kernel refuses membarrier"
        };
        page.row(ranks, format_args!("memory fences: {choice}"));
    }
}

/// The effect that `motet run --session=own` would have.
fn sessions(page: &mut Page) {
    page.section("Sessions");
    let found = Autogroup::find();
    page.row("scheduler", found);
    let effect = match found {
        Autogroup::Counts => {
            "gives a job the share of one process, and cores that ranks yield to other ranks"
        }
        Autogroup::Unknown => "may change which share of the cores a job has",
        _ => "does not change the share of the cores that a job has",
    };
    page.row("--session=own", effect);
}

fn large_messages(page: &mut Page) {
    page.section("Large messages between processes");
    let finding = probe::between_siblings();
    page.row("process_vm_readv", format_args!("{finding} (tried between two child processes)"));
    let bandwidth = CopyBandwidth::measure();
    let kernel = bandwidth.kernel.map_or("refused".into(), micro);
    let (bytes, core) = (size(CopyBandwidth::BYTES as u64), micro(bandwidth.core));
    page.row("copy", format_args!("{bytes}: kernel {kernel}, core {core}"));
    let setting = std::env::var(motet::env::SINGLE_COPY).unwrap_or_default();
    let upto = size(CopyBandwidth::LONGEST as u64);
    let beyond = "in pieces or, where ranks share cores, mostly by the kernel";
    let two = format!("two copies, through shared memory: faster here; over {upto} {beyond}");
    let choice = match &finding {
        _ if setting == "off" => "two copies, through shared memory: MOTET_SINGLE_COPY is off",
        Finding::Works if bandwidth.prefers_memcpy() && setting != "on" => &two,
        Finding::Works => "one copy, from the sender's memory to the receiver's",
        Finding::Refused(_) | Finding::Unknown(_) => "two copies, through shared memory",
    };
    page.row("chosen", choice);
    let restricted = host::ptrace_scope().filter(|&scope| scope > 0);
    if let (Finding::Refused(_), Some(scope)) = (&finding, restricted) {
        page.row("hint", format_args!("Yama forbids it: kernel.yama.ptrace_scope is {scope}"));
    } else if let Finding::Refused(_) = finding {
        page.row("hint", "containers may need `--cap-add SYS_PTRACE`");
    }
}

fn memory(page: &mut Page, asked: Option<usize>) -> anyhow::Result<()> {
    page.section("Shared memory of a world");
    page.row("ranks", "address space   used by a pair, at most   by one rank's channels");
    let ranks = BTreeSet::from([2, 4, 16, 64, 256, MAX_RANKS]);
    for ranks in ranks.into_iter().chain(asked).collect::<BTreeSet<_>>() {
        let layout = Layout::new(ranks)?;
        let pair = size(2 * layout.lane_bytes() as u64);
        let (total, arena) = (size(layout.total() as u64), size(layout.arena_bytes() as u64));
        page.row(&ranks.to_string(), format_args!("{total:<16}{pair:<26}{arena}"));
    }
    page.row("in use", "pages that ranks have touched; the kernel frees them with the last rank");
    Ok(())
}

fn limits(page: &mut Page) {
    page.section("Limits");
    page.row("ranks", format_args!("{MAX_RANKS} on one machine"));
    let limits = host::limits();
    let files = limits.files.map_or("none".to_owned(), |files| files.to_string());
    let needed = launcher::files_for(MAX_RANKS);
    page.row("open files", format_args!("{files} ({MAX_RANKS} ranks need {needed})"));
    let processes = limits.processes.map_or("none".to_owned(), |count| count.to_string());
    page.row("processes", processes);
}

fn environment(page: &mut Page) {
    page.section("Environment");
    for (name, purpose) in VARIABLES {
        let value = std::env::var_os(name);
        let shown = |value: &OsString| printable(value.to_string_lossy()).to_string();
        let value = value.as_ref().map_or("not set".to_owned(), shown);
        page.write(format_args!("  {name:<24} {value:<10} {purpose}\n"));
    }
    if let Err(error) = motet::env::check() {
        page.row("error", error);
    }
}

fn known<T: Display>(fact: Option<T>) -> String {
    fact.map_or("unknown".to_owned(), |fact| fact.to_string())
}

/// A short time.
fn micro(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

/// A number of bytes in the largest unit that leaves at least one.
fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(unit, _)| bytes >= unit) {
        None => format!("{bytes} B"),
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (4096, "4 KiB"), (1536, "1.5 KiB")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(size(3 << 30), "3 GiB");
    }
}
