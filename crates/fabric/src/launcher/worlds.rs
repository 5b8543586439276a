//! The worlds of a job: a rank that runs several programs one after the other has a world for each.
//!
//! Most jobs have one world. When a rank has left its world and another program of it asks for one,
//! through a pipe that it opens by `/proc`, the launcher creates the next world, unless another
//! rank has asked for it before, and the first world records its descriptor
//! ([`SharedSegment::current`]). A world that all ranks have left for a later one is freed.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::io::read;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::segment::{Abort, State};
use crate::{Error, Failure, Peer, Result, SharedSegment};

/// How many worlds a rank may be ahead of the slowest one. Beyond that it waits.
const MOST_AHEAD: usize = 16;

/// A world that is not the first one.
struct Later {
    number: usize,
    segment: SharedSegment,
    file: OwnedFd,
}

/// All worlds that some rank is in, or may still join, and the first one.
pub(super) struct Worlds {
    first: SharedSegment,
    later: VecDeque<Later>,
    /// The pipe of requests, which are numbers of ranks, and the end by which ranks write them.
    requests: OwnedFd,
    _line: OwnedFd,
    /// Ranks whose request has not been served.
    waiting: Vec<usize>,
    /// The number of the present world of each rank.
    rounds: Vec<usize>,
    /// Ranks that have ended: they join no further world.
    ended: Vec<bool>,
}

impl Worlds {
    pub(super) fn new(first: SharedSegment) -> Result<Worlds> {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (requests, line) =
            pipe_with(flags).map_err(|errno| Error::system("make a pipe for the ranks", errno))?;
        first.set_request_line(line.as_raw_fd());
        let ranks = first.ranks();
        let (rounds, ended) = (vec![0; ranks], vec![false; ranks]);
        let (later, waiting) = (VecDeque::new(), Vec::new());
        Ok(Worlds { first, later, requests, _line: line, waiting, rounds, ended })
    }

    /// Readable when a rank asks for its next world.
    pub(super) fn interest(&self) -> PollFd<'_> {
        PollFd::new(&self.requests, PollFlags::IN)
    }

    /// Gives ranks that have asked for it their next world.
    pub(super) fn serve(&mut self) {
        let mut asked = [0; 256];
        while let Ok(bytes @ 1..) = read(&self.requests, &mut asked) {
            let (numbers, _) = asked[..bytes].as_chunks();
            let ranks = numbers.iter().map(|&number| u32::from_ne_bytes(number) as usize);
            self.waiting.extend(ranks.filter(|&rank| rank < self.ended.len()));
        }
        // A rank that advances may be the one for which an earlier rank of the list waits.
        let mut before = usize::MAX;
        while self.waiting.len() < before {
            before = self.waiting.len();
            let waiting = std::mem::take(&mut self.waiting);
            self.waiting = waiting.into_iter().filter(|&rank| !self.advance(rank)).collect();
        }
        let slowest = self.slowest();
        self.later.retain(|world| world.number >= slowest);
    }

    /// Gives a rank its next world. Returns whether the request is done, or has become void.
    fn advance(&mut self, rank: usize) -> bool {
        let peer = Peer(rank as u32);
        if self.ended[rank] || self.of(peer).state(peer) != State::Left {
            return true;
        }
        let number = self.rounds[rank] + 1;
        if number > self.slowest() + MOST_AHEAD {
            return false;
        }
        if self.later.iter().all(|world| world.number != number) && self.add(number).is_err() {
            // Memory may become free later; until then the rank waits, and reports it when its time
            // is over.
            return false;
        }
        let world = self.later.iter().find(|world| world.number == number);
        let file = world.expect("it is there, or was added").file.as_raw_fd();
        self.rounds[rank] = number;
        self.first.set_current(peer, file);
        true
    }

    fn add(&mut self, number: usize) -> Result<()> {
        let (segment, file) = SharedSegment::shared(self.first.ranks())?;
        segment.set_prefers_memcpy(self.first.prefers_memcpy());
        for rank in (0..self.ended.len()).filter(|&rank| self.ended[rank]) {
            segment.leave(Peer(rank as u32));
        }
        if let Some(failure) = self.failure() {
            segment.fail(failure);
        }
        self.later.push_back(Later { number, segment, file });
        Ok(())
    }

    /// The number of the world of the slowest rank that still runs.
    fn slowest(&self) -> usize {
        let run = self.rounds.iter().zip(&self.ended).filter(|(_, ended)| !**ended);
        run.map(|(round, _)| *round).min().unwrap_or(0)
    }

    /// The world of a rank.
    fn of(&self, rank: Peer) -> &SharedSegment {
        let number = self.rounds[rank.index()];
        let later = self.later.iter().find(|world| world.number == number);
        later.map_or(&self.first, |world| &world.segment)
    }

    fn all(&self) -> impl Iterator<Item = &SharedSegment> {
        std::iter::once(&self.first).chain(self.later.iter().map(|world| &world.segment))
    }

    /// The state of a rank in the world of its last program.
    pub(super) fn state(&self, rank: Peer) -> State {
        self.of(rank).state(rank)
    }

    /// The request of a rank of any world to end the job, if there is one.
    pub(super) fn aborted(&self) -> Option<Abort> {
        self.all().find_map(SharedSegment::aborted)
    }

    /// The first recorded death in any world.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.all().find_map(SharedSegment::failure)
    }

    /// Records in all worlds that a rank has died.
    pub(super) fn fail(&self, failure: Failure) {
        self.all().for_each(|world| world.fail(failure));
    }

    /// Records that a rank has ended. It will never join the worlds that it has not reached, so
    /// ranks that wait for it there must not wait for ever.
    pub(super) fn end(&mut self, rank: Peer) {
        self.ended[rank.index()] = true;
        let absent = self.all().filter(|world| world.state(rank) == State::Absent);
        absent.for_each(|world| world.leave(rank));
        self.serve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    fn worlds(ranks: usize) -> Worlds {
        Worlds::new(SharedSegment::shared(ranks).unwrap().0).unwrap()
    }

    fn ask(worlds: &mut Worlds, rank: u32) {
        rustix::io::write(&worlds._line, &rank.to_ne_bytes()).unwrap();
        worlds.serve();
    }

    /// What a rank does in its world.
    fn pass(worlds: &Worlds, rank: u32) {
        let world = worlds.of(Peer(rank));
        world.enter(Peer(rank), 1);
        world.leave(Peer(rank));
    }

    #[test]
    fn ranks_go_from_world_to_world_and_old_ones_are_given_up() {
        let mut worlds = worlds(2);
        for round in 1..50 {
            for rank in [0, 1] {
                let before = worlds.first.current(Peer(rank));
                ask(&mut worlds, rank);
                assert_eq!(worlds.first.current(Peer(rank)), before, "it has not left its world");
                pass(&worlds, rank);
                ask(&mut worlds, rank);
                let found = worlds.first.current(Peer(rank)).expect("there is a next world");
                assert_ne!(Some(found), before);
                assert_eq!(worlds.state(Peer(rank)), State::Absent);
                assert!(worlds.later.iter().any(|world| world.file.as_raw_fd() == found));
            }
            assert_eq!(worlds.first.current(Peer(0)), worlds.first.current(Peer(1)));
            assert_eq!((worlds.later.len(), worlds.slowest()), (1, round));
            let file = worlds.later[0].file.as_fd();
            assert!(SharedSegment::attach(file, 2).is_ok());
        }
    }

    #[test]
    fn a_fast_rank_waits_for_slow_ones() {
        let mut worlds = worlds(2);
        for _ in 0..2 * MOST_AHEAD {
            pass(&worlds, 0);
            ask(&mut worlds, 0);
        }
        assert_eq!((worlds.rounds[0], worlds.later.len()), (MOST_AHEAD, MOST_AHEAD));
        pass(&worlds, 1);
        ask(&mut worlds, 1);
        assert_eq!(worlds.rounds, [MOST_AHEAD + 1, 1], "it is served now");
    }

    #[test]
    fn what_has_ended_is_waited_for_in_no_world() {
        let mut worlds = worlds(3);
        pass(&worlds, 0);
        ask(&mut worlds, 0);
        worlds.end(Peer(1));
        assert!(worlds.all().all(|world| world.state(Peer(1)) == State::Left));
        pass(&worlds, 0);
        ask(&mut worlds, 0);
        assert_eq!(worlds.of(Peer(0)).state(Peer(1)), State::Left, "nor in one that comes later");
        let failure = Failure { rank: Peer(2), how: crate::How::Exit(1) };
        worlds.fail(failure);
        pass(&worlds, 0);
        ask(&mut worlds, 0);
        assert_eq!(worlds.of(Peer(0)).failure(), Some(failure));
        // Numbers of no rank, and parts of numbers, ask for nothing.
        rustix::io::write(&worlds._line, &[255; 7]).unwrap();
        worlds.serve();
        assert!(worlds.waiting.is_empty());
    }
}
