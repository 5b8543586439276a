//! A process that the launcher of another library has started, from its first word with that
//! launcher to its last.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::Seat;
use super::board::Board;
use super::local;
use super::roster::{Card, Roster};
use super::vigil::Vigil;
use crate::{Error, Result};

/// How long who aborts waits for another thread that talks to the launcher.
const TURN: Duration = Duration::from_millis(200);

/// The one of this process: like its environment, its launcher belongs to the process.
static OWN: OnceLock<Arc<Launched>> = OnceLock::new();

/// What a rank has of the launcher of another library: its [`Board`], and where all ranks are.
#[derive(Debug)]
pub struct Launched {
    /// Nothing when the last word has been said.
    board: Mutex<Option<Box<dyn Board>>>,
    roster: Roster,
    vigil: Mutex<Option<Vigil>>,
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
        let (board, vigil) = (Mutex::new(Some(board)), Mutex::new(vigil));
        let launched = Arc::new(Launched { board, roster, vigil });
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
        drop(self.vigil.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Taken out first, so that its connection is closed whatever comes.
        let board = self.board().take();
        board.map_or(Ok(()), |mut board| board.finalize())
    }

    fn board(&self) -> MutexGuard<'_, Option<Box<dyn Board>>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn abort(&self, code: u8, text: &str) {
        let deadline = Instant::now() + TURN;
        loop {
            match self.board.try_lock() {
                Ok(mut board) => {
                    return board.iter_mut().for_each(|board| board.abort(code, text));
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::yield_now(),
                // That thread does not come to an end. This process does, and the launcher sees it.
                Err(_) => return,
            }
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
