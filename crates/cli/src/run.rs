//! `motet run`: starts a program as the ranks of one world.

use std::ffi::OsString;
use std::process::ExitCode;

use motet_fabric::launcher::{self, Job, Session};
use motet_fabric::{log_line, printable};

use crate::output::USAGE;
use crate::{quantity, shared_heap};

/// Start a program as N ranks of one world on this machine
///
/// The launcher passes on the output of the ranks in whole lines. Rank 0 reads the standard input.
/// If a rank dies, the launcher ends the other ranks within a second.
///
/// A rank may be a script. Programs that it runs one after the other get a world each.
///
/// The launcher passes signals on to all ranks; a second interrupt (Ctrl-C) kills them. A signal
/// that the launcher inherits as ignored (HUP from `nohup`, INT and QUIT from `&` in a script) does
/// not affect the job. Ranks start with no signal blocked.
///
/// --session=own starts the ranks in a new session. If `motet info` reports that the scheduler
/// divides the cores among sessions, a rank that waits then yields its core to another rank and
/// not to other programs of the terminal, and the whole job gets the share of one process. Beside
/// busy programs of the same terminal, this is faster for ranks that exchange messages often, and
/// slower for ranks that compute long between messages. Such ranks cannot open /dev/tty.
///
/// --shared-heap makes memory of the program readable for the other ranks: blocks of 16 KiB and
/// more that it allocates by malloc (C, C++, Fortran, arrays of Python) lie in a heap that all
/// ranks map, so that large messages are copied once, by a core. `fork` then copies these blocks.
/// A Rust program does the same with `motet::SharedAllocator`.
///
/// Exit codes: 0 if all ranks succeeded; otherwise the exit code of the first rank that failed, or
/// 128 plus the number of the signal that killed it; 127 if the program is not found; 126 if it
/// cannot be started; 2 if the command line or an environment variable of Motet is wrong.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "motet run -n N [--label] [--session=own] [--shared-heap] PROGRAM [ARGS]..."
)]
pub(crate) struct RunCommand {
    /// Number of ranks
    #[arg(
        short = 'n',
        long = "ranks",
        value_name = "N",
        value_parser = quantity::ranks,
        required_unless_present = "hosts"
    )]
    ranks: Option<usize>,

    /// Not supported: prints the command lines of launchers that start ranks on several hosts
    #[arg(
        long,
        alias = "host",
        short_alias = 'H',
        value_name = "HOST,...",
        hide_short_help = true
    )]
    hosts: Option<String>,

    /// Prefix each line of output with the rank that wrote it, as in `[3] `
    #[arg(long)]
    label: bool,

    /// The session of the ranks: `shared` with this command, or their `own`. The variable
    /// MOTET_SESSION sets it for all jobs [default: shared]
    #[arg(long, value_name = "SESSION", value_parser = |text: &str| Session::NAMES.parse(text))]
    session: Option<Session>,

    /// Large blocks of the program lie in a heap that all ranks map. MOTET_SHARED_HEAP=1 sets it
    /// for all jobs
    #[arg(long)]
    shared_heap: bool,

    /// The program, and its arguments
    #[arg(required = true, num_args = 1.., trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl RunCommand {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if let Some(hosts) = &self.hosts {
            self.other_launchers(hosts).lines().for_each(log_line);
            return Ok(ExitCode::from(USAGE));
        }
        let ranks = self.ranks.expect("the parser asks for it unless there are hosts");
        let mut words = self.command.into_iter();
        let program = words.next().expect("the parser asks for at least one");
        let mut job = Job::new(program, words.collect(), ranks);
        job.label = self.label;
        motet::env::check()?;
        let session = Session::from_environment()?;
        job.session = self.session.or(session).unwrap_or(Session::Shared);
        job.environment.push(motet::machine::for_ranks()?);
        if self.shared_heap || motet::env::shared_heap()? {
            job.environment.extend(shared_heap::environment()?);
        }
        Ok(ExitCode::from(launcher::run(&job)?.code))
    }
}

impl RunCommand {
    /// Which launchers start ranks on several hosts, as the lines to type.
    ///
    /// Starting processes elsewhere takes rights, keys and bookkeeping that each site has arranged
    /// for one launcher already; a second one of ours would be a worse one.
    fn other_launchers(&self, hosts: &str) -> String {
        let names: Vec<&str> = hosts.split(',').filter(|name| !name.is_empty()).collect();
        let ranks = self.ranks.unwrap_or(names.len().max(1));
        let each = ranks.div_ceil(names.len().max(1));
        let slots: Vec<_> = names.iter().map(|name| format!("{name}:{each}")).collect();
        let (many, slots) = (names.len(), printable(slots.join(",")));
        let hosts = printable(hosts);
        let words = self.command.iter().map(|word| printable(word.to_string_lossy()).to_string());
        let program = words.collect::<Vec<_>>().join(" ");
        format!(
            "motet: ranks are started on this machine only. On several hosts the launcher that \
             they have starts the same program:\n\
             Slurm     srun --mpi=pmi2 -N {many} -n {ranks} -w {hosts} {program}\n\
             hydra     mpiexec -n {ranks} -hosts {hosts} {program}    (the mpiexec of MPICH)\n\
             PRRTE     prterun -n {ranks} --host {slots} {program}\n\
             Open MPI  mpirun -n {ranks} --host {slots} {program}    (the mpirun of Open MPI)\n\
             Ranks on different hosts talk by libfabric, which each host must have; `motet info \
             --fabric` says what it offers here."
        )
    }
}
