//! The socket to a PMI server, read and written with deadlines and size limits.

use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::bootstrap::LAUNCH_SECONDS;
use crate::{Error, Result};

/// Bytes of the longest message that is read.
pub(super) const MESSAGE_MAX_BYTES: usize = 64 << 10;
/// Bytes per read.
const READ_BYTES: usize = 4096;
/// How long a host may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to the server.
#[derive(Debug)]
pub(in crate::bootstrap) struct PmiSocket {
    socket: OwnedFd,
    /// Bytes that have arrived and were not asked for yet; at most a message and the bytes that
    /// came with it.
    pending: Vec<u8>,
}

impl PmiSocket {
    pub(in crate::bootstrap) fn new(socket: OwnedFd) -> PmiSocket {
        PmiSocket { socket, pending: Vec::new() }
    }

    /// Connects to a server of the form `host:port`.
    ///
    /// # Errors
    /// No server answers there.
    pub(in crate::bootstrap) fn connect(place: &str, timeout: Duration) -> Result<PmiSocket> {
        let refused = |problem: String| {
            Error::Environment(format!(
                "its PMI server at {place} does not answer: {problem}; \
                 does the launcher still run, and can this host reach it?"
            ))
        };
        let addresses = place.to_socket_addrs().map_err(|error| refused(error.to_string()))?;
        let mut problem = "no such host".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, timeout.min(CONNECT_TIMEOUT)) {
                Ok(stream) => {
                    // Each request waits for its answer, so Nagle's algorithm would only delay it.
                    let _ = stream.set_nodelay(true);
                    return Ok(PmiSocket::new(stream.into()));
                }
                Err(error) => problem = error.to_string(),
            }
        }
        Err(refused(problem))
    }

    /// Sends all bytes.
    ///
    /// # Errors
    /// The server has ended or accepts nothing until the deadline.
    pub(super) fn send(&self, mut bytes: &[u8], deadline: Instant) -> Result<()> {
        // Without the flag a signal for the closed socket would kill a program in C.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        while !bytes.is_empty() {
            match send(&self.socket, bytes, flags) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, deadline)?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(gone(errno)),
            }
        }
        Ok(())
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// The server has ended, is late, or sends no newline.
    pub(super) fn line(&mut self, deadline: Instant) -> Result<Vec<u8>> {
        let mut searched = 0;
        loop {
            let found = self.pending[searched..].iter().position(|&byte| byte == b'\n');
            if let Some(end) = found.map(|end| searched + end) {
                let mut line: Vec<u8> = self.pending.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            searched = self.pending.len();
            self.read_more(deadline)?;
        }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// The server has ended or is late, or `count` exceeds the limit of a message.
    pub(super) fn bytes(&mut self, count: usize, deadline: Instant) -> Result<Vec<u8>> {
        if count > MESSAGE_MAX_BYTES {
            return Err(too_long());
        }
        while self.pending.len() < count {
            self.read_more(deadline)?;
        }
        Ok(self.pending.drain(..count).collect())
    }

    fn read_more(&mut self, deadline: Instant) -> Result<()> {
        if self.pending.len() > MESSAGE_MAX_BYTES {
            return Err(too_long());
        }
        let mut buffer = [0; READ_BYTES];
        loop {
            match recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    return Err(Error::Environment(
                        "its PMI server has hung up; see what the launcher says".into(),
                    ));
                }
                Ok((count, _)) => {
                    self.pending.extend_from_slice(&buffer[..count]);
                    return Ok(());
                }
                Err(Errno::AGAIN) => self.wait(PollFlags::IN, deadline)?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(gone(errno)),
            }
        }
    }

    /// Waits until the socket can be read or written.
    fn wait(&self, what: PollFlags, deadline: Instant) -> Result<()> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.socket, what)], Some(&limit)) {
                Ok(0) => {
                    return Err(Error::Environment(format!(
                        "its PMI server does not answer in time, or a rank does not come \
                         ({LAUNCH_SECONDS} says how long that may take)"
                    )));
                }
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(gone(errno)),
            }
        }
    }
}

fn gone(errno: Errno) -> Error {
    Error::Environment(format!(
        "the connection to its PMI server is lost ({errno}): the server has ended, or another \
         program of this rank has used the connection before. A launcher with PMI serves one \
         program for each rank; `motet run` serves one after the other"
    ))
}

fn too_long() -> Error {
    let text = format!("its PMI server sends a message of more than {MESSAGE_MAX_BYTES} bytes");
    Error::Environment(text)
}
