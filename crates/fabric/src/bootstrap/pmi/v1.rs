//! PMI-1 client: requests and answers are lines of text.

use std::time::{Duration, Instant};

use super::fields::Fields;
use super::socket::PmiSocket;
use super::values;
use crate::bootstrap::Timeouts;
use crate::kvs::KeyValueSpace;
use crate::{Error, Result};

/// The protocol of the server.
const PROTOCOL: &str = "PMI-1";
/// Lines that may arrive between a request and its answer: a server that is reached by a port sends
/// some lines unasked.
const UNASKED: usize = 16;

/// A rank that a PMI-1 server knows.
#[derive(Debug)]
pub(in crate::bootstrap) struct PmiV1 {
    socket: PmiSocket,
    rank: usize,
    ranks: usize,
    /// The name of the key-value space of this job.
    space: String,
    /// Characters of the longest value.
    room: usize,
    timeouts: Timeouts,
}

impl PmiV1 {
    /// Starts the protocol, as the rank in the environment.
    ///
    /// # Errors
    /// The server does not answer like a PMI-1 server.
    pub(in crate::bootstrap) fn new(
        socket: PmiSocket,
        (rank, ranks): (usize, usize),
        timeouts: Timeouts,
    ) -> Result<PmiV1> {
        let (space, room) = (String::new(), 0);
        let mut first = PmiV1 { socket, rank, ranks, space, room, timeouts };
        first.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
        let limits = first.ask("get_maxes", "maxes")?;
        // The length includes the NUL of a C string.
        first.room = limits.number("vallen_max").unwrap_or_default().saturating_sub(1);
        let named = first.ask("get_my_kvsname", "my_kvsname")?;
        first.space = named.get("kvsname").ok_or_else(|| named.unexpected(PROTOCOL))?.to_owned();
        Ok(first)
    }

    /// Starts the protocol over a connection to a port, where the server assigns the rank.
    ///
    /// # Errors
    /// As [`PmiV1::new`].
    pub(in crate::bootstrap) fn at_port(
        mut socket: PmiSocket,
        id: &str,
        timeouts: Timeouts,
    ) -> Result<PmiV1> {
        let told = ask(&mut socket, &format!("initack pmiid={id}"), "initack", timeouts.answer)?;
        match (told.number("rank"), told.number("size")) {
            (Some(rank), Some(ranks)) if rank < ranks => {
                PmiV1::new(socket, (rank, ranks), timeouts)
            }
            _ => Err(told.unexpected(PROTOCOL)),
        }
    }

    fn ask(&mut self, request: &str, answer: &str) -> Result<Fields> {
        ask(&mut self.socket, request, answer, self.timeouts.answer)
    }
}

/// Sends a request and returns the answer, which must be a success.
fn ask(socket: &mut PmiSocket, request: &str, answer: &str, timeout: Duration) -> Result<Fields> {
    let deadline = Instant::now() + timeout;
    socket.send(format!("cmd={request}\n").as_bytes(), deadline)?;
    for _ in 0..UNASKED {
        let line = socket.line(deadline)?;
        let fields = Fields::parse(&line, ' ').unwrap_or_default();
        match fields.command() {
            "set" => {}
            command if command == answer && fields.is_success() => return Ok(fields),
            command if command == answer => {
                let (asked, complaint) = (word(request), fields.complaint());
                let text = format!("its PMI-1 server refuses `{asked}`: {complaint}");
                return Err(Error::Environment(text));
            }
            _ => return Err(fields.unexpected(PROTOCOL)),
        }
    }
    Err(Error::Environment("its PMI-1 server talks without answering".into()))
}

fn word(request: &str) -> &str {
    request.split(' ').next().unwrap_or_default()
}

impl KeyValueSpace for PmiV1 {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<()> {
        values::check(name, value)?;
        for (at, part) in values::parts(value, self.room).iter().enumerate() {
            let (space, key) = (&self.space, values::key(self.rank, name, at));
            let request = format!("put kvsname={space} key={key} value={part}");
            self.ask(&request, "put_result")?;
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<()> {
        ask(&mut self.socket, "barrier_in", "barrier_out", self.timeouts.fence).map(drop)
    }

    fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
        let value = values::join(|at| {
            let (space, key) = (&self.space, values::key(rank, name, at));
            let found = self.ask(&format!("get kvsname={space} key={key}"), "get_result")?;
            Ok(found.get("value").unwrap_or_default().to_owned())
        })?;
        value.ok_or_else(|| Error::Environment(format!("rank {rank} has put no {name} to PMI")))
    }

    fn abort(&mut self, code: u8, _text: &str) {
        let request = format!("cmd=abort exitcode={code}\n");
        // An error is ignored; the process ends in any case.
        let _ = self.socket.send(request.as_bytes(), Instant::now() + Duration::from_secs(1));
    }

    fn finalize(&mut self) -> Result<()> {
        self.ask("finalize", "finalize_ack").map(drop)
    }
}
