//! PMIx client: calls the PMIx library, which is opened at run time.
//!
//! The protocol between a process and a PMIx server is not standardized, only the functions of the
//! library are; so Motet opens the library when it needs it, and needs it neither to build nor to
//! run without PMIx. Its functions may wait without a limit. Therefore a thread of its own calls
//! them, and a rank waits for the answer until its time limit.

mod library;

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::LAUNCH_SECONDS;
use crate::kvs::KeyValueSpace;
use crate::{Error, Result};
use library::Client;
pub use library::LIBRARY;

/// How long an answer may take, except that of a fence.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an abort waits for the launcher.
const ABORT_TIMEOUT: Duration = Duration::from_secs(2);

type Work = Box<dyn FnOnce(&mut Client) + Send>;

/// A rank that a PMIx server knows.
#[derive(Debug)]
pub(super) struct Pmix {
    /// To the thread that calls the library; `None` when the thread has not returned from a call.
    caller: Option<Sender<Work>>,
    rank: usize,
    ranks: usize,
    fence: Duration,
}

impl Pmix {
    /// Opens the library, which then finds its server through the environment.
    ///
    /// # Errors
    /// There is no library, or it finds no server.
    pub(super) fn new(fence: Duration) -> Result<Pmix> {
        let (caller, works) = mpsc::channel::<Work>();
        let (told, begun) = mpsc::channel();
        let work = move || {
            let mut client = match Client::open() {
                Ok(client) => client,
                // If this cannot be sent, the rank has stopped waiting.
                Err(error) => return drop(told.send(Err(error))),
            };
            let _ = told.send(Ok((client.rank(), client.ranks())));
            works.iter().for_each(|work| work(&mut client));
        };
        thread::Builder::new()
            .name("motet pmix".into())
            .spawn(work)
            .map_err(|error| Error::system("call the library of PMIx", error))?;
        let (rank, ranks) = begun.recv_timeout(ANSWER_TIMEOUT).map_err(late)??;
        Ok(Pmix { caller: Some(caller), rank, ranks, fence })
    }

    /// Makes the thread do this work, and waits for it.
    fn call<T: Send + 'static>(
        &mut self,
        patience: Duration,
        work: impl FnOnce(&mut Client) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (told, answer) = mpsc::channel();
        let work: Work = Box::new(move |client| drop(told.send(work(client))));
        let sent = self.caller.as_ref().is_some_and(|caller| caller.send(work).is_ok());
        if !sent {
            return Err(late(RecvTimeoutError::Disconnected));
        }
        answer.recv_timeout(patience).map_err(late).unwrap_or_else(|error| {
            // Requests after a call that does not return would wait in vain, too.
            self.caller = None;
            Err(error)
        })
    }
}

fn late(problem: RecvTimeoutError) -> Error {
    Error::Environment(match problem {
        RecvTimeoutError::Timeout => {
            format!(
                "its PMIx server does not answer in time, or a rank does not come \
                 ({LAUNCH_SECONDS} says how long that may take)"
            )
        }
        RecvTimeoutError::Disconnected => {
            "its PMIx server does not answer any more; see what the launcher says".into()
        }
    })
}

impl KeyValueSpace for Pmix {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<()> {
        let (name, value) = (name.to_owned(), value.to_vec());
        self.call(ANSWER_TIMEOUT, move |client| client.put(&name, &value))
    }

    fn fence(&mut self) -> Result<()> {
        self.call(self.fence, Client::fence)
    }

    fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
        let name = name.to_owned();
        self.call(ANSWER_TIMEOUT, move |client| client.get(rank, &name))
    }

    fn abort(&mut self, code: u8, text: &str) {
        let text = text.to_owned();
        // An error is ignored; the process ends in any case.
        let _ = self.call(ABORT_TIMEOUT, move |client| client.abort(code, &text));
    }

    fn finalize(&mut self) -> Result<()> {
        let ended = self.call(ANSWER_TIMEOUT, Client::finalize);
        self.caller = None;
        ended
    }
}
