//! The outcome of a job: which rank failed and how, and the exit code.

use std::fmt;
use std::io;

use crate::segment::State;
use crate::{Failure, How, Peer, signal_name};

/// The exit code of a program that a signal ended is this number plus the signal, by the convention
/// of shells.
const SIGNAL_CODE: u8 = 128;
/// The exit code of a Rust program after a panic.
const PANIC_CODE: u8 = 101;
/// The signal by which the kernel ends a process when memory is exhausted.
const SIGKILL: u8 = 9;
/// The signal of a process that writes to a closed pipe.
const SIGPIPE: u8 = 13;

/// Advice for a program that ends with exit code 0 while it is a rank.
const HOW_TO_LEAVE: &str = "; call MPI_Finalize before the process ends (in Rust, drop the World \
                            or call World::leave)";

/// The outcome of a job whose ranks were started.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code for the launcher: 0 if all ranks ended well, else the code of the first rank
    /// that did not, by the conventions of shells.
    pub code: u8,
    /// The cause, if the job ended early.
    pub cause: Option<Cause>,
}

/// The cause of an early end of a job. Its text is that of the line on standard error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// A rank died.
    Death(Death),
    /// A rank has ended the job with this exit code, and has printed that.
    Abort {
        /// The rank.
        rank: Peer,
        /// The code.
        code: u8,
    },
    /// This signal, which was sent to the launcher, has ended the ranks.
    Signal(u8),
    /// This signal has killed the launcher of a job in a session of its own.
    Launcher {
        /// The process of the launcher.
        process: u32,
        /// The signal.
        signal: u8,
    },
    /// Standard output accepts nothing any more. It is no error that its reader has ended: `|
    /// head`.
    Output(io::Error),
}

/// The first death of a job.
#[derive(Debug)]
#[non_exhaustive]
pub struct Death {
    /// The rank, and how it died.
    pub failure: Failure,
    /// The process of the rank.
    pub process: u32,
    /// The state of the rank when it died.
    pub state: State,
    /// Whether the rank had left its world in good order, and all others had ended by themselves:
    /// then they have printed all messages.
    pub orderly: bool,
    /// How many other ranks had not ended by then.
    pub others: usize,
    /// Ranks of the job.
    pub ranks: usize,
    /// The memory limit of its control group in bytes, if the kernel has killed a process because
    /// the group was full.
    pub full: Option<u64>,
}

impl Outcome {
    pub(super) fn well() -> Outcome {
        Outcome { code: 0, cause: None }
    }

    pub(super) fn of(cause: Cause) -> Outcome {
        Outcome { code: cause.code(), cause: Some(cause) }
    }
}

impl Cause {
    fn code(&self) -> u8 {
        match self {
            Cause::Death(death) => match death.failure.how {
                // The rank deserted the others, whatever its exit code.
                How::Exit(0) | How::Vanished | How::Silent(_) | How::Cut | How::Starved(_) => 1,
                How::Exit(code) | How::ExitAfterLeaving(code) => code,
                How::Signal(signal) => SIGNAL_CODE.saturating_add(signal),
                How::Panic => PANIC_CODE,
            },
            &Cause::Abort { code, .. } => code.max(1),
            Cause::Signal(signal) | Cause::Launcher { signal, .. } => {
                SIGNAL_CODE.saturating_add(*signal)
            }
            Cause::Output(_) if self.is_quiet() => SIGNAL_CODE + SIGPIPE,
            Cause::Output(_) => 1,
        }
    }

    /// Whether the launcher prints nothing about it.
    pub fn is_quiet(&self) -> bool {
        match self {
            Cause::Death(death) => {
                let exited = matches!(death.failure.how, How::Exit(_) | How::ExitAfterLeaving(_));
                death.orderly && exited
            }
            Cause::Abort { .. } => true,
            Cause::Output(source) => source.kind() == io::ErrorKind::BrokenPipe,
            Cause::Signal(_) | Cause::Launcher { .. } => false,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Death(death) => death.fmt(out),
            Cause::Abort { rank, code } => {
                write!(out, "rank {rank} ended the job with code {code}")
            }
            Cause::Output(source) => write!(out, "cannot write to standard output: {source}"),
            Cause::Launcher { process, signal } => {
                let how = How::Signal(*signal);
                write!(out, "the launcher (process {process}) {how}; its ranks were ended")
            }
            Cause::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(out, "ended by signal {signal} ({name})"),
                None => write!(out, "ended by signal {signal}"),
            },
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { rank, how } = self.failure;
        write!(out, "rank {rank} (process {}) ", self.process)?;
        match how {
            How::Exit(code) if self.state != State::Present => {
                write!(out, "exited with code {code}")?;
            }
            _ => how.fmt(out)?,
        }
        if self.state == State::Left && !matches!(how, How::ExitAfterLeaving(_)) {
            out.write_str(" after leaving the world")?;
        }
        if let (How::Signal(SIGKILL), Some(bytes)) = (how, self.full) {
            let mib = bytes >> 20;
            write!(out, ", as the memory of its control group is used up (limit {mib} MiB)")?;
        }
        match self.others {
            0 => {}
            1 if self.ranks == 2 => out.write_str("; the other rank was ended")?,
            others if others + 1 == self.ranks => {
                write!(out, "; the other {others} ranks were ended")?;
            }
            1 => out.write_str("; the one other rank that still ran was ended")?,
            others => write!(out, "; the {others} other ranks that still ran were ended")?,
        }
        match how {
            // The program seems to have ended as intended.
            How::Exit(0) if self.state == State::Present => out.write_str(HOW_TO_LEAVE),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn death(how: How, state: State, others: usize, ranks: usize) -> Outcome {
        let failure = Failure { rank: Peer(2), how };
        let (process, orderly, full) = (4711, false, None);
        Outcome::of(Cause::Death(Death { failure, process, state, orderly, others, ranks, full }))
    }

    fn text(outcome: &Outcome) -> String {
        outcome.cause.as_ref().map(Cause::to_string).unwrap_or_default()
    }

    #[test]
    fn deaths_are_told_in_one_line() {
        let killed = death(How::Signal(9), State::Present, 3, 4);
        assert_eq!(killed.code, 137);
        assert_eq!(
            text(&killed),
            "rank 2 (process 4711) was killed by signal 9 (SIGKILL); \
             the other 3 ranks were ended"
        );
        let deserted = death(How::Exit(0), State::Present, 0, 3);
        assert_eq!(deserted.code, 1);
        assert_eq!(
            text(&deserted),
            "rank 2 (process 4711) exited with code 0 before leaving the world; call MPI_Finalize \
             before the process ends (in Rust, drop the World or call World::leave)"
        );
        let late = death(How::ExitAfterLeaving(4), State::Left, 2, 3);
        assert_eq!(late.code, 4);
        assert_eq!(
            text(&late),
            "rank 2 (process 4711) exited with code 4 after leaving the world; \
             the other 2 ranks were ended"
        );
        let script = death(How::Exit(3), State::Absent, 1, 4);
        assert_eq!(script.code, 3);
        assert_eq!(
            text(&script),
            "rank 2 (process 4711) exited with code 3; \
             the one other rank that still ran was ended"
        );
    }

    #[test]
    fn a_rank_that_has_left_can_exit_quietly_but_not_crash() {
        for (how, quiet) in [(How::ExitAfterLeaving(3), true), (How::Signal(11), false)] {
            let failure = Failure { rank: Peer(0), how };
            let (process, state, orderly) = (4711, State::Left, true);
            let death = Death { failure, process, state, orderly, others: 0, ranks: 2, full: None };
            assert_eq!(Cause::Death(death).is_quiet(), quiet, "{how:?}");
        }
        assert_eq!(
            text(&death(How::Signal(11), State::Left, 0, 3)),
            "rank 2 (process 4711) was killed by signal 11 (SIGSEGV) after leaving the world"
        );
    }

    #[test]
    fn the_rank_that_ends_the_job_has_said_so() {
        let abort = Outcome::of(Cause::Abort { rank: Peer(2), code: 7 });
        assert_eq!((abort.code, &*text(&abort)), (7, "rank 2 ended the job with code 7"));
        assert!(abort.cause.is_some_and(|cause| cause.is_quiet()));
    }

    #[test]
    fn a_reader_who_has_gone_is_no_mishap() {
        let gone = Cause::Output(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.is_quiet(), gone.code()), (true, 141));
        let full = Cause::Output(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!((full.is_quiet(), full.code()), (false, 1));
    }
}
