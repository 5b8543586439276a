//! A process that the launcher of another library has started, from its first word with that
//! launcher to its last.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::Seat;
use super::board::Board;
use super::local;
use super::roster::{Card, Roster};
use super::vigil::Vigil;
use crate::{Error, Result, Segment};

/// How long who aborts waits for another thread that talks to the launcher.
const TURN: Duration = Duration::from_millis(200);

/// The one of this process: like its environment, its launcher belongs to the process.
static OWN: OnceLock<Arc<Launched>> = OnceLock::new();

/// How long who aborts because of a death leaves the launcher to see that by itself. Most do, and
/// then say who has died, and how; others have to be told.
const NOTICE: Duration = Duration::from_millis(500);
/// How much longer each next rank leaves it, so that one of them tells it, and not all at once.
const APART: Duration = Duration::from_millis(100);
/// The most ranks that wait for each other in this way.
const MOST_APART: usize = 20;

/// How long what a rank has just written may take to the launcher, which some forget to read once
/// they have been asked to end the job.
const LAST_WORDS: Duration = Duration::from_millis(30);

/// What a rank has of the launcher of another library: its [`Board`], and where all ranks are.
#[derive(Debug)]
pub struct Launched {
    roster: Roster,
    /// Nothing when the last word has been said.
    ties: Mutex<Option<Ties>>,
}

/// What ends when the last word has been said.
#[derive(Debug)]
struct Ties {
    segment: Arc<Segment>,
    board: Box<dyn Board>,
    vigil: Option<Vigil>,
}

impl Launched {
    /// Makes the acquaintance of all other ranks, and takes the seat among those of this host.
    ///
    /// # Errors
    /// Those of the board and of the system; ranks on several hosts, which no transport reaches.
    pub(super) fn seat(mut board: Box<dyn Board>) -> Result<Seat> {
        let roster = Roster::gather(&mut *board, &Card::own())?;
        refuse_several_hosts(&roster)?;
        let (segment, rank) = local::enter(&mut *board, &roster)?;
        let neighbours = roster.neighbours().into_iter().map(|rank| roster.card(rank));
        let processes = neighbours.map(|card| (card.process, card.started)).collect();
        let vigil = Vigil::begin(segment.clone(), rank, processes)?;
        let ties = Ties { segment: segment.clone(), board, vigil };
        let launched = Arc::new(Launched { roster, ties: Mutex::new(Some(ties)) });
        // The process joins once, so this is the only one.
        let _ = OWN.set(launched.clone());
        Ok(Seat { segment, rank, launched: Some(launched) })
    }

    /// Where all ranks are.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The last word: this rank has left the world in good order. Does nothing the second time.
    ///
    /// # Errors
    /// Those of the board, whose launcher may take the end of this process for its death.
    pub fn leave(&self) -> Result<()> {
        let ties = self.ties.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Ties { mut board, vigil, .. }) = ties else { return Ok(()) };
        drop(vigil);
        board.finalize()
    }

    fn abort(&self, code: u8, text: &str) {
        let deadline = Instant::now() + TURN;
        let mut ties = loop {
            match self.ties.try_lock() {
                Ok(ties) => break ties,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::yield_now(),
                // That thread does not come to an end. This process does, and the launcher sees it.
                Err(_) => return,
            }
        };
        if let Some(Ties { segment, board, .. }) = &mut *ties {
            if segment.failure().is_some() {
                thread::sleep(NOTICE + APART * self.roster.rank().min(MOST_APART) as u32);
            }
            thread::sleep(LAST_WORDS);
            board.abort(code, text);
        }
    }
}

/// Asks the launcher of this process to end the whole job with this code, if it is another
/// library's and the process has not left. Returns in any case, and soon: then the process is to
/// end with that code by itself. (Our own launcher needs no word.)
pub fn abort(code: u8, text: &str) {
    if let Some(launched) = OWN.get() {
        launched.abort(code, text);
    }
}

fn refuse_several_hosts(roster: &Roster) -> Result<()> {
    if roster.hosts() < 2 {
        return Ok(());
    }
    let host = |rank: usize| roster.host(rank);
    let other = (1..roster.ranks()).find(|&rank| host(rank) != host(0)).unwrap_or_default();
    let (here, there) = (&roster.card(0).name, &roster.card(other).name);
    Err(Error::Environment(format!(
        "its {} ranks are on {} hosts or in several containers (rank 0 on {here}, rank {other} on \
         {there}), and this build of Motet has no transport between them: start all ranks on one \
         host, in one container",
        roster.ranks(),
        roster.hosts()
    )))
}
