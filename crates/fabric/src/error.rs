//! Errors of the fabric: of transfers, of starting a world, and of the system.

use crate::{Peer, Received, TypeCode, printable};

/// An error of the fabric.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The number of ranks does not fit one machine.
    #[error("cannot start {asked} ranks on one machine (1 to {most} allowed); change `-n`")]
    Ranks {
        /// The number that was requested.
        asked: usize,
        /// The largest possible number.
        most: usize,
    },
    /// A rank has died; nothing that needs it can complete.
    #[error("{0}")]
    Failed(Failure),
    /// A system call failed.
    #[error("cannot {what}: {source}{}", remedy(source))]
    System {
        /// What the system was asked to do, from the verb on.
        what: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The environment that a launcher should have prepared is invalid.
    #[error("cannot join the job of the launcher: {}", printable(.0))]
    Environment(String),
    /// An environment variable, or an option, has a value that it cannot have.
    #[error("{name} is `{}`; {expected}", printable(value))]
    Setting {
        /// The variable or option.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// What is expected, from that word on.
        expected: String,
    },
    /// A program could not be started.
    #[error("cannot start {}: {source}{}", printable(program), program_remedy(program, source))]
    Program {
        /// The program as given.
        program: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system has no room for one more rank.
    #[error("cannot start rank {rank}: {source}{}", remedy(source))]
    Start {
        /// The rank.
        rank: Peer,
        /// The error of the system.
        source: std::io::Error,
    },
    /// More files would have to be open than the system allows.
    #[error(
        "cannot start {ranks} ranks ({needed} open files needed, {limit} allowed); \
         raise `ulimit -Hn`"
    )]
    Files {
        /// Ranks asked for.
        ranks: usize,
        /// Files that would be open.
        needed: u64,
        /// The limit of the system.
        limit: u64,
    },
    /// The memory that ranks share would be larger than the system allows.
    #[error(
        "cannot create the shared memory of {ranks} ranks (at least {} MiB needed, {allowed}); \
         raise `{}`",
        mib(*needed),
        allowed.command()
    )]
    Segment {
        /// Ranks that share it.
        ranks: usize,
        /// Bytes of it: address space, not memory in use.
        needed: u64,
        /// The limit of the system.
        allowed: Allowed,
    },
    /// The network between hosts cannot be used.
    #[error("{}", printable(.0))]
    Network(String),
    /// This process already runs a job; it can run one at a time.
    #[error("this process runs a job already, and can run one; wait until that job has ended")]
    Busy,
}

impl Error {
    /// An error of the operating system, with what was tried.
    pub(crate) fn system(what: &'static str, source: impl Into<std::io::Error>) -> Error {
        Error::System { what, source: source.into() }
    }
}

/// A limit of the system that is too low for a segment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Of the address space of a process, of which a part is left to the program.
    AddressSpace(u64),
    /// Of the length of a file, which the memory is.
    File(u64),
}

impl Allowed {
    /// The command of a shell that raises the limit.
    fn command(self) -> &'static str {
        match self {
            Allowed::AddressSpace(_) => "ulimit -v",
            Allowed::File(_) => "ulimit -f",
        }
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Allowed::AddressSpace(bytes) => {
                write!(out, "{} of address space allowed, half of it for the program", size(bytes))
            }
            Allowed::File(bytes) => {
                write!(out, "{} allowed for the file that holds it", size(bytes))
            }
        }
    }
}

/// What to do about a limit of the system. Processes and threads are the only ones that it may have
/// again later.
fn remedy(source: &std::io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EAGAIN) => {
            "; allow more processes (`ulimit -u`, or `pids.max` of the control group)"
        }
        Some(libc::EMFILE) => "; allow more open files (`ulimit -n`)",
        Some(libc::ENOMEM) => "; free memory, or start fewer ranks",
        Some(libc::EPERM | libc::ENOSYS) => {
            "; a sandbox (seccomp, a container) or an old kernel refuses the call: allow it"
        }
        _ => "",
    }
}

/// What to do about a program that cannot be started.
fn program_remedy(program: &str, source: &std::io::Error) -> String {
    let path = std::path::Path::new(program);
    let is_path = program.contains('/');
    match source.raw_os_error() {
        Some(libc::ENOENT) if is_path && path.exists() => {
            "; the file exists, but its interpreter does not (`file` shows the name)".into()
        }
        Some(libc::ENOENT) if is_path => "; give the path of an existing program".into(),
        Some(libc::ENOENT) => {
            let program = printable(program);
            format!("; no folder of PATH has it: for a program in this folder, give ./{program}")
        }
        Some(libc::EACCES) if path.is_dir() => "; this is a folder: give a program in it".into(),
        Some(libc::EACCES) => "; allow to execute it (`chmod +x`)".into(),
        _ => String::new(),
    }
}

/// A number of bytes as a limit is set.
fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mib => format!("{mib} MiB"),
    }
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// The first death in a world: which rank, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} {how}")]
pub struct Failure {
    /// The rank that died.
    pub rank: Peer,
    /// How it died.
    pub how: How,
}

/// How a rank died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Killed by this signal.
    Signal(u8),
    /// Exited with this code before it had left the world.
    Exit(u8),
    /// Exited with this code, which is not 0, after it had left the world.
    ExitAfterLeaving(u8),
    /// Panicked (a rank that is a thread).
    Panic,
    /// Its process has ended, and only the launcher of another library knows how.
    Vanished,
    /// It has not answered heartbeats for this number of seconds.
    Silent(u8),
    /// The connection to it has broken.
    Cut,
    /// The system refuses it a resource for the network, with this error.
    Starved(u8),
}

impl std::fmt::Display for How {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            How::Signal(number) => match signal_name(*number) {
                Some(name) => write!(out, "was killed by signal {number} ({name})"),
                None => write!(out, "was killed by signal {number}"),
            },
            How::Exit(code) => write!(out, "exited with code {code} before leaving the world"),
            How::ExitAfterLeaving(code) => {
                write!(out, "exited with code {code} after leaving the world")
            }
            How::Panic => out.write_str("panicked"),
            How::Vanished => out.write_str("ended before leaving the world"),
            How::Silent(seconds) => write!(
                out,
                "has not answered for {seconds} s: its process has died, its host is down or the \
                 network to it is cut"
            ),
            How::Cut => out.write_str("is lost: the connection to it has broken"),
            How::Starved(errno) => {
                let error = std::io::Error::from_raw_os_error((*errno).into());
                write!(out, "cannot use the network any more: {error}")
            }
        }
    }
}

/// The name of a common signal (its numbers are those of Linux on all but the oldest machines).
pub fn signal_name(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// The reason why a transfer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The message was longer than the receive buffer; nothing was written.
    #[error("message truncated ({sent} bytes sent, room for {room}); pass a larger buffer")]
    Truncated {
        /// Bytes of the message.
        sent: Length,
        /// Bytes of the receive.
        room: Length,
        /// The sender and the tag of the message.
        from: Sender,
    },
    /// The message was shorter than the receive buffer, which it must fill; nothing was written.
    #[error("message too short ({sent} bytes sent, {room} expected); send as much as is received")]
    Short {
        /// Bytes of the message.
        sent: Length,
        /// Bytes that the receive expected.
        room: Length,
        /// The sender and the tag of the message.
        from: Sender,
    },
    /// As [`TransferError::TypeMismatch`], of a message whose length was wrong as well.
    #[error(
        "type mismatch (rank {} sent {sent:?}, this rank receives {expected:?}); \
         send and receive the same type",
        from.rank
    )]
    OtherElements {
        /// Type code of the message.
        sent: TypeCode,
        /// Type code of the receive.
        expected: TypeCode,
        /// The sender and the tag of the message.
        from: Sender,
    },
    /// A rank sends or expects other messages in the same operation than this rank. The fabric
    /// itself never reports this.
    #[error(
        "rank {0} sends or expects other messages in this operation than this rank; \
         make the same calls on all ranks"
    )]
    Astray(Peer),
    /// Sender and receiver disagree on the type of the elements.
    #[error(
        "type mismatch (rank {} sent {sent:?}, this rank receives {expected:?}); \
         send and receive the same type",
        from.rank
    )]
    TypeMismatch {
        /// Type code of the message.
        sent: TypeCode,
        /// Type code of the receive.
        expected: TypeCode,
        /// The sender and the tag of the message.
        from: Sender,
    },
    /// The sender withdrew its message (it gave up after a failure elsewhere).
    #[error("rank {0} withdrew its message after a failure; see its error")]
    Revoked(Peer),
    /// The peer has left the world and will never send.
    #[error("rank {0} has finalized, so its message will never arrive")]
    Left(Peer),
    /// The sender met an error in the same operation, and has nothing to send.
    #[error("rank {0} failed in this operation, so its data is missing; see its error")]
    Spoiled(Peer),
    /// The operator of the same reduction has failed, at the sender or at a rank that has told it.
    #[error("the operator failed, so there is no result (reported by rank {0})")]
    OperatorFailed(Peer),
    /// The operator has failed here, by an exception. The code that stopped the exception knows it
    /// by this number. The fabric itself never reports this.
    #[error("the operator threw an exception (number {0})")]
    Thrown(u64),
    /// A buffered send found no room for its message.
    #[error("no room to buffer a message of {needed} bytes; attach a larger buffer")]
    NoRoom {
        /// Bytes of the message.
        needed: usize,
    },
    /// The caller that posted it has ended it, for this reason. The fabric itself never reports
    /// this.
    #[error("{0}")]
    Ended(&'static str),
    /// A rank has died, and everything that was under way with it.
    #[error("{0}")]
    Failed(Failure),
}

impl TransferError {
    /// A message that is so much longer than the room there is.
    #[cold]
    pub fn truncated(from: Sender, sent: usize, room: usize) -> TransferError {
        TransferError::Truncated { sent: sent.into(), room: room.into(), from }
    }

    /// What a receive got that refused its message: sender and tag of that message, and no data.
    /// `None` if there was no message.
    pub fn refused(&self) -> Option<Received> {
        match *self {
            TransferError::Truncated { from, .. }
            | TransferError::Short { from, .. }
            | TransferError::TypeMismatch { from, .. }
            | TransferError::OtherElements { from, .. } => {
                Some(Received { source: from.rank, tag: from.tag.into(), bytes: 0 })
            }
            _ => None,
        }
    }
}

/// The sender and the tag of a message that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Its rank.
    pub rank: Peer,
    /// The tag of the message; of messages inside a collective its lower half.
    pub tag: u32,
}

impl Sender {
    /// The sender of a message with this tag.
    pub fn new(rank: Peer, tag: u64) -> Sender {
        Sender { rank, tag: tag as u32 }
    }
}

/// A number of bytes, up to 2^48 - 1 and greater ones as that, in 6 bytes: with two of them and a
/// [`Sender`] an error takes no more room than what a receive gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Length([u16; 3]);

impl From<usize> for Length {
    fn from(bytes: usize) -> Length {
        let bytes = (bytes as u64).min((1 << 48) - 1);
        Length([0, 16, 32].map(|shift| (bytes >> shift) as u16))
    }
}

impl From<Length> for usize {
    fn from(Length(parts): Length) -> usize {
        parts.iter().rev().fold(0, |bytes, &part| bytes << 16 | usize::from(part))
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        usize::from(*self).fmt(out)
    }
}

impl std::fmt::Debug for Length {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        usize::from(*self).fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_back_as_they_were() {
        for bytes in [0, 1, 0xffff, 0x1_0000, 0x1234_5678_9abc, (1 << 48) - 1] {
            assert_eq!(usize::from(Length::from(bytes)), bytes);
        }
        assert_eq!(usize::from(Length::from(usize::MAX)), (1 << 48) - 1);
        assert_eq!(size_of::<Result<Received, TransferError>>(), 24);
    }
}
