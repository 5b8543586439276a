//! `motet probe`: whether ranks may copy from each other, found out by doing it.
//!
//! Systems forbid it in many ways (security modules, filters, containers), and no file tells. So
//! two processes are started as two ranks would be, by one parent, and one reads a word of the
//! other.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, ensure};
use motet_fabric::{cma, host};

use crate::measure;

/// What is read, in the hope that nothing else looks like it.
const WORD: u64 = 0x6d6f_7465_7420_3a29;

/// Try out what processes may do to each other
#[derive(Debug, clap::Args)]
pub(crate) struct Probe {
    #[command(subcommand)]
    part: ProbeCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProbeCommand {
    /// Say where a word is, and wait for the end of the input
    Show,
    /// Measure, as one of two ranks, what messages cost, and tell it as prices
    Prices,
    /// Measure, with two ranks on one core, what it costs to hand it over
    HandOver,
    /// Be one of those ranks
    Shared,
    /// Read that word
    Read {
        /// Who has it
        process: u32,
        /// Where
        address: u64,
    },
}

/// What was found out.
pub(crate) enum Finding {
    /// It works.
    Works,
    /// It does not, and this is what the system says.
    Refused(String),
    /// It could not be tried.
    Unknown(String),
}

impl Probe {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.part {
            ProbeCommand::Show => {
                cma::allow_peers();
                let word = Box::new(WORD);
                let address = std::ptr::from_ref(&*word).expose_provenance();
                println!("{} {address}", std::process::id());
                io::stdin().read_to_end(&mut Vec::new())?;
                Ok(ExitCode::SUCCESS)
            }
            ProbeCommand::Prices => measure::prices(),
            ProbeCommand::HandOver => measure::hand_over(),
            ProbeCommand::Shared => measure::shared_core(),
            ProbeCommand::Read { process, address } => {
                let word = host::probe_cma(process, address)?;
                ensure!(word == WORD, "another word was read: {word:#x}");
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Tries it between two children of this process.
pub(crate) fn between_siblings() -> Finding {
    attempt().unwrap_or_else(|error| Finding::Unknown(format!("{error:#}")))
}

fn attempt() -> anyhow::Result<Finding> {
    let mut shower = part(&["show"])?.spawn().context("starting a process")?;
    let finding = read_from(&mut shower);
    // Its input ends, and so does it.
    drop(shower.stdin.take());
    shower.wait().context("waiting for a process")?;
    finding
}

fn read_from(shower: &mut Child) -> anyhow::Result<Finding> {
    let mut line = String::new();
    let output = shower.stdout.take().context("no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let mut words = vec!["read"];
    words.extend(line.split_whitespace());
    let reader = part(&words)?.output().context("starting a process")?;
    if reader.status.success() {
        return Ok(Finding::Works);
    }
    let text = String::from_utf8_lossy(&reader.stderr);
    let text = text.trim().trim_start_matches("motet: ").to_owned();
    Ok(Finding::Refused(text))
}

/// A part of the probe as a process of its own.
fn part(words: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("probe").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Works => out.write_str("works"),
            Finding::Refused(reason) => write!(out, "refused: {reason}"),
            Finding::Unknown(reason) => write!(out, "unknown: {reason}"),
        }
    }
}
