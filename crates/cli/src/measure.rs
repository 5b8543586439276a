//! `motet info --measure`: measures the prices of the cost model with real ranks.
//!
//! Two ranks exchange messages through the plans and channels of the library, as a program does:
//! messages of each size that has a price, and several short messages at once. Then two ranks do
//! the same on one core, where each exchange includes a switch between them. A price is the median
//! time of persistent operations over [`WINDOWS`] windows.
//!
//! The ranks are processes of this program (`motet probe`). They use the default prices, and print
//! what they measured as lines of prices.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use std::{env, fmt::Write as _, fs};

use anyhow::{Context, bail, ensure};
use motet::{Communicator, Info, Max, Sum};
use motet_fabric::{file, host};
use motet_plan::CostParams;

/// Number of windows of each measurement.
const WINDOWS: usize = 15;
/// Shortest length of a window, in nanoseconds.
const WINDOW_NS: f64 = 2e6;
/// Number of short messages at once.
const MANY: usize = 8;
/// Size of the data that is copied and reduced, in bytes: it fits into a cache, as the data of
/// most operations does.
const WITHIN_BYTES: usize = 64 << 10;

/// Measures the prices, shows them, and saves them if `save`.
pub(crate) fn execute(save: bool) -> anyhow::Result<ExitCode> {
    let mut text = told_by("prices", "messages between two ranks")?;
    text.push_str(&told_by("hand-over", "two ranks on one core")?);
    let measured: CostParams = text.parse().context("what the ranks told")?;
    let mut page = format!("{:<18}{:>14}{:>14}\n", "price (ns)", "measured", "default");
    for ((name, ns), (_, default)) in
        measured.prices().into_iter().zip(CostParams::default().prices())
    {
        // A price that could not be measured keeps its default.
        writeln!(page, "{name:<18}{:>14}{:>14}", digits(ns), digits(default))?;
    }
    if save {
        let path = place().context("no folder for settings: set MOTET_MACHINE to a file")?;
        write(&path, &measured).with_context(|| format!("writing {}", path.display()))?;
        writeln!(page, "\nsaved in {}", path.display())?;
    }
    crate::output::show(&page)
}

/// Formats a price with three or more significant digits.
fn digits(ns: f64) -> String {
    if ns < 10.0 { format!("{ns:.4}") } else { format!("{ns:.0}") }
}

/// The file for prices: the one that a program reads.
fn place() -> Option<PathBuf> {
    let is_file = |text: &str| !text.is_empty() && text != "off" && !text.contains('=');
    let named = env::var_os(motet::env::MACHINE);
    let named = named.filter(|value| value.to_str().is_none_or(is_file));
    named.map(PathBuf::from).or_else(motet::machine::file)
}

/// Replaces the file in one step: a reader sees either all old lines or all new ones.
fn write(path: &Path, machine: &CostParams) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let processor = host::processor().unwrap_or_default();
    let cores = host::cores().usable;
    let heading =
        format!("# prices in nanoseconds: motet info --measure, {processor}, {cores} cores");
    file::replace(path, &format!("{heading}\n{machine}"))
}

/// Runs a part of the probe, and returns the lines that it prints.
fn told_by(part: &str, what: &str) -> anyhow::Result<String> {
    crate::output::complain(&format!("measuring {what}"));
    let mut command = Command::new(env::current_exe()?);
    let two = part == "prices";
    if two && host::cores().usable < 2 {
        crate::output::complain("only one core is usable, so messages keep their default prices");
        return Ok(String::new());
    }
    command.args(["probe", part]).stderr(Stdio::inherit()).stdin(Stdio::null());
    let output = command.env(motet::env::MACHINE, "off").output().context("starting the ranks")?;
    ensure!(output.status.success(), "the ranks that measured {what} failed");
    String::from_utf8(output.stdout).context("what the ranks told")
}

/// A part of the probe: two ranks with a core each measure messages, reductions and copies.
pub(crate) fn prices() -> anyhow::Result<ExitCode> {
    let world = motet::launch(2)?;
    let time = |bytes, messages| exchange(&world, bytes, messages);
    let short = time(8, 1)?;
    let send = (time(8, MANY)? - short) / (MANY - 1) as f64;
    let mut text = format!("latency = {short:.1}\nsend = {:.1}\n", send.max(1.0));
    let mut least: f64 = 0.0;
    for size in CostParams::SIZES {
        // More bytes never take less time: a decrease is noise.
        least = least.max(time(size, 1)? - short);
        writeln!(text, "message {size} = {least:.1}")?;
    }
    let elements = WITHIN_BYTES / size_of::<f64>();
    let (from, mut into) = (vec![1.0; elements], vec![0.0; elements]);
    let copy = typical(&world, || {
        std::hint::black_box(&mut into).copy_from_slice(std::hint::black_box(&from));
        Ok(())
    })?;
    let reduce =
        typical(&world, || motet::reduce_local(&from, std::hint::black_box(&mut into), Sum))?;
    let each = |ns: f64| ns / WITHIN_BYTES as f64;
    writeln!(text, "reduce = {:.5}\ncopy = {:.5}", each(reduce), each(copy))?;
    tell(&world, &text)
}

/// A part of the probe: starts two ranks on one core.
pub(crate) fn hand_over() -> anyhow::Result<ExitCode> {
    host::stay_on_one_core().context("staying on one core")?;
    let mut ranks = Command::new(env::current_exe()?);
    let status = ranks.args(["probe", "shared"]).status().context("starting the ranks")?;
    if !status.success() {
        bail!("the ranks on one core failed");
    }
    Ok(ExitCode::SUCCESS)
}

/// A part of the probe: two ranks on one core measure a switch between them (a hand-over).
///
/// In the model an exchange of two ranks on one core costs one hand-over for each of them, one for
/// the round, and two messages. The price of a hand-over follows from the measured time.
pub(crate) fn shared_core() -> anyhow::Result<ExitCode> {
    let world = motet::launch(2)?;
    let (one, many) = (exchange(&world, 8, 1)?, exchange(&world, 8, MANY)?);
    let send = ((many - one) / (2 * (MANY - 1)) as f64).max(0.0);
    tell(&world, &format!("hand_over = {:.1}\n", ((one - 2.0 * send) / 3.0).max(0.0)))
}

/// Prints the text on rank 0.
fn tell(world: &Communicator, text: &str) -> anyhow::Result<ExitCode> {
    if world.rank() == 0 {
        crate::output::show(text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures the time in which two ranks exchange `messages` messages of `bytes` bytes at once.
fn exchange(world: &Communicator, bytes: usize, messages: usize) -> anyhow::Result<f64> {
    let peers = vec![1 - world.rank(); messages];
    let pair = world.graph_adjacent(peers.clone(), peers)?;
    let elements = bytes / size_of::<f64>() * messages;
    let buffers = (vec![1.0; elements], vec![0.0; elements]);
    let mut operation = pair.neighbor_alltoall_init(buffers, &Info::new())?;
    let time = typical(world, || operation.run())?;
    ensure!(operation.output_mut().iter().all(|&element| element == 1.0), "wrong data has come");
    Ok(time)
}

/// The median time of one run, in nanoseconds. All ranks run it the same number of times.
fn typical(
    world: &Communicator,
    mut run: impl FnMut() -> motet::Result<()>,
) -> anyhow::Result<f64> {
    let mut window = |runs: u64| -> anyhow::Result<f64> {
        world.barrier()?;
        let begin = Instant::now();
        for _ in 0..runs {
            run()?;
        }
        let time = begin.elapsed().as_nanos() as f64;
        Ok(world.allreduce_one(time, Max)? / runs as f64)
    };
    let mut runs = 1;
    loop {
        let time = window(runs)?;
        if time * runs as f64 >= WINDOW_NS || runs >= 1 << 20 {
            break;
        }
        runs *= 2;
    }
    let times = (0..WINDOWS).map(|_| window(runs)).collect::<anyhow::Result<Vec<_>>>();
    let mut times = times?;
    times.sort_by(f64::total_cmp);
    Ok(times[WINDOWS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep").join("machine");
        let machine = CostParams { latency_ns: 123.4, ..CostParams::default() };
        for _ in 0..2 {
            write(&path, &machine).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap().parse::<CostParams>().unwrap(), machine);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left");
    }
}
