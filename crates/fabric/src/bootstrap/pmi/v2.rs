//! PMI-2 client: requests and answers are messages with a length prefix.

use std::time::{Duration, Instant};

use super::fields::Fields;
use super::socket::PmiSocket;
use super::values;
use crate::bootstrap::Timeouts;
use crate::kvs::KeyValueSpace;
use crate::{Error, Result};

/// The protocol of the server.
const PROTOCOL: &str = "PMI-2";
/// How long an abort waits to be killed.
const ABORT_TIMEOUT: Duration = Duration::from_secs(2);
/// Digits of the length, padded with blanks on the left.
const LENGTH: usize = 6;
/// Characters of the longest value, by the protocol.
const VALUE_PART_MAX_BYTES: usize = 1023;

/// A rank that a PMI-2 server knows.
#[derive(Debug)]
pub(in crate::bootstrap) struct PmiV2 {
    socket: PmiSocket,
    rank: usize,
    ranks: usize,
    /// The name of the job, for queries of keys.
    job: String,
    timeouts: Timeouts,
}

impl PmiV2 {
    /// Starts the protocol, as the rank of the job in the environment.
    ///
    /// # Errors
    /// The server does not answer like a PMI-2 server.
    pub(in crate::bootstrap) fn new(
        mut socket: PmiSocket,
        rank: usize,
        job: Option<&str>,
        timeouts: Timeouts,
    ) -> Result<PmiV2> {
        choose_version(&mut socket, timeouts.answer)?;
        // Some servers end the job when a field has no value.
        let job = job.filter(|job| !job.is_empty()).map(|job| format!("pmijobid={job};"));
        let request = format!("fullinit;{}pmirank={rank};threaded=FALSE;", job.unwrap_or_default());
        let told = ask(&mut socket, &request, timeouts.answer)?;
        let (rank, ranks) = match (told.number("rank").unwrap_or(rank), told.number("size")) {
            (rank, Some(ranks)) if rank < ranks => (rank, ranks),
            _ => return Err(told.unexpected(PROTOCOL)),
        };
        let named = ask(&mut socket, "job-getid;", timeouts.answer)?;
        let job = named.get("jobid").ok_or_else(|| named.unexpected(PROTOCOL))?.to_owned();
        Ok(PmiV2 { socket, rank, ranks, job, timeouts })
    }
}

/// The first line, in the form of PMI-1, by which both sides agree on PMI-2.
fn choose_version(socket: &mut PmiSocket, timeout: Duration) -> Result<()> {
    let deadline = Instant::now() + timeout;
    socket.send(b"cmd=init pmi_version=2 pmi_subversion=0\n", deadline)?;
    let answer = Fields::parse(&socket.line(deadline)?, ' ').unwrap_or_default();
    if answer.command() != "response_to_init" {
        return Err(answer.unexpected(PROTOCOL));
    }
    if !answer.is_success() || answer.number("pmi_version") != Some(2) {
        let version = answer.get("pmi_version").unwrap_or("unknown");
        let text = format!("its PMI server does not speak PMI-2, only version {version}");
        return Err(Error::Environment(text));
    }
    Ok(())
}

/// Sends a request and returns the answer, which must be a success.
fn ask(socket: &mut PmiSocket, request: &str, timeout: Duration) -> Result<Fields> {
    let deadline = Instant::now() + timeout;
    socket.send(message(request).as_bytes(), deadline)?;
    let length = socket.bytes(LENGTH, deadline)?;
    let length = str::from_utf8(&length).ok().and_then(|text| text.trim().parse().ok());
    let Some(length) = length else {
        return Err(Error::Environment("its PMI-2 server sends no length".into()));
    };
    let answer = Fields::parse(&socket.bytes(length, deadline)?, ';').unwrap_or_default();
    let asked = request.split(';').next().unwrap_or_default();
    if answer.command().strip_suffix("-response") != Some(asked) {
        return Err(answer.unexpected(PROTOCOL));
    }
    if !answer.is_success() {
        let complaint = answer.complaint();
        let text = format!("its PMI-2 server refuses `{asked}`: {complaint}");
        return Err(Error::Environment(text));
    }
    Ok(answer)
}

fn message(request: &str) -> String {
    let text = format!("cmd={request}");
    format!("{:>LENGTH$}{text}", text.len())
}

impl KeyValueSpace for PmiV2 {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<()> {
        values::check(name, value)?;
        for (at, part) in values::parts(value, VALUE_PART_MAX_BYTES).iter().enumerate() {
            let request = format!("kvs-put;key={};value={part};", values::key(self.rank, name, at));
            ask(&mut self.socket, &request, self.timeouts.answer)?;
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<()> {
        ask(&mut self.socket, "kvs-fence;", self.timeouts.fence).map(drop)
    }

    fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
        let value = values::join(|at| {
            let (job, key) = (&self.job, values::key(rank, name, at));
            let request = format!("kvs-get;jobid={job};srcid={rank};key={key};");
            let found = ask(&mut self.socket, &request, self.timeouts.answer)?;
            Ok(found.get("value").unwrap_or_default().to_owned())
        })?;
        value.ok_or_else(|| Error::Environment(format!("rank {rank} has put no {name} to PMI")))
    }

    fn abort(&mut self, _code: u8, text: &str) {
        // A separator of fields would end the text.
        let text: String = text.chars().filter(|letter| !";=\n".contains(*letter)).collect();
        let request = message(&format!("abort;isworld=TRUE;msg={text};"));
        let deadline = Instant::now() + ABORT_TIMEOUT;
        // Errors are ignored; the process ends in any case. But Slurm, which kills all processes of
        // the job now, loses count if one of them ends by itself at that moment.
        let _ = self.socket.send(request.as_bytes(), deadline);
        let _ = self.socket.bytes(LENGTH, deadline);
    }

    fn finalize(&mut self) -> Result<()> {
        ask(&mut self.socket, "finalize;", self.timeouts.answer).map(drop)
    }
}
