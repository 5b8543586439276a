//! `motet probe`: tests whether ranks can use cross-memory attach (`process_vm_readv`).
//!
//! A system can forbid it in many ways (security modules, seccomp filters, containers), and no file
//! shows which apply. So this module starts two processes as the launcher starts ranks: siblings of
//! one parent. One of them reads a word from the memory of the other.
//!
//! The hidden subcommand also holds the processes that measure prices ([`crate::measure`]).

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, ensure};
use motet_fabric::{cma, host};

use crate::measure;

/// The word that is read: a value that memory is unlikely to hold by accident.
const WORD: u64 = 0x6d6f_7465_7420_3a29;

/// Test what processes of this user may do to each other
#[derive(Debug, clap::Args)]
pub(crate) struct Probe {
    #[command(subcommand)]
    part: ProbeCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProbeCommand {
    /// Print the address of a word, and wait for the end of the input
    Show,
    /// Measure the prices of messages between two ranks, and print them
    Prices,
    /// Start two ranks on one core that measure a switch between them
    HandOver,
    /// Run as one of these two ranks
    Shared,
    /// Read the word of another process
    Read {
        /// The process
        process: u32,
        /// The address of the word
        address: u64,
    },
}

/// The result of the test.
pub(crate) enum Finding {
    /// The read succeeded.
    Works,
    /// The read failed, with this error.
    Refused(String),
    /// The test could not run, for this reason.
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

/// Tests cross-memory attach between two child processes.
pub(crate) fn between_siblings() -> Finding {
    attempt().unwrap_or_else(|error| Finding::Unknown(format!("{error:#}")))
}

fn attempt() -> anyhow::Result<Finding> {
    let mut shower = part(&["show"])?.spawn().context("starting a process")?;
    let finding = read_from(&mut shower);
    // The process ends when its input ends.
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

/// The command that runs a part of the probe as a process.
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
