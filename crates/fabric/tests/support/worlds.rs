//! The kinds of world that every case of the suite runs in.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;

use motet_fabric::bootstrap;
use motet_fabric::net::Library;
use motet_fabric::{Options, Peer, SharedSegment};

use super::Rank;

/// How the ranks of a world share memory, and whether they copy straight out of each other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One private mapping, as for threads.
    Threads,
    /// As before, but large messages go in pieces.
    ThreadsInPieces,
    /// A mapping for each rank, as for processes: the code is theirs, the kernel's copy included.
    Mapped,
    /// As before, but large messages go in pieces.
    MappedInPieces,
    /// As `Mapped`, where the kernel copies slowly.
    MappedByCores,
    /// Each alone on its host, for all it knows: over the network.
    Apart,
    /// The same, with no rank writing into memory of another.
    ApartByMessages,
    /// Two on each host.
    ApartInPairs,
}

impl Kind {
    /// Whether a message that is too long for a block comes in pieces.
    pub(crate) fn is_in_pieces(self) -> bool {
        self.forbids_copies() || self == Kind::MappedByCores
    }

    /// Whether nobody copies from another's memory.
    fn forbids_copies(self) -> bool {
        matches!(
            self,
            Kind::ThreadsInPieces | Kind::MappedInPieces | Kind::Apart | Kind::ApartByMessages
        )
    }

    pub(crate) fn options(self) -> Options {
        Options { single_copy: self.forbids_copies().then_some(false), ..Options::default() }
    }

    /// Whether it can be had: the network may be missing.
    pub(crate) fn is_there(self) -> bool {
        let network = if self.is_apart() { Library::open().map(drop) } else { Ok(()) };
        network.inspect_err(|error| eprintln!("not tested: {error}")).is_ok()
    }

    /// Whether some ranks talk over the network.
    pub(crate) fn is_apart(self) -> bool {
        matches!(self, Kind::Apart | Kind::ApartByMessages | Kind::ApartInPairs)
    }

    fn segments(self, ranks: usize) -> Vec<Arc<SharedSegment>> {
        match self {
            Kind::Threads | Kind::ThreadsInPieces => {
                let segment = Arc::new(SharedSegment::private(ranks).unwrap());
                (0..ranks).map(|_| Arc::clone(&segment)).collect()
            }
            Kind::Mapped | Kind::MappedInPieces | Kind::MappedByCores => {
                let (made, file) = SharedSegment::shared(ranks).unwrap();
                made.set_prefers_memcpy(self == Kind::MappedByCores);
                let attach = |_| Arc::new(SharedSegment::attach(file.as_fd(), ranks).unwrap());
                (0..ranks).map(attach).collect()
            }
            Kind::Apart | Kind::ApartByMessages | Kind::ApartInPairs => {
                unreachable!("they have several")
            }
        }
    }
}

/// All ranks of a world, for a test that moves them by hand.
pub(crate) fn ranks(kind: Kind, ranks: usize) -> Vec<Rank> {
    if kind.is_apart() {
        let per_host = if kind == Kind::ApartInPairs { 2 } else { 1 };
        let writes = Some(kind != Kind::ApartByMessages);
        let seats = bootstrap::threads_apart(ranks, per_host, writes).unwrap();
        return seats.into_iter().map(|seat| Rank::reaching(seat, kind.options())).collect();
    }
    let enter = |(rank, segment): (usize, Arc<SharedSegment>)| {
        let me = Peer(rank as u32);
        segment.enter(me, std::process::id());
        Rank::new(segment, me, kind.options())
    };
    kind.segments(ranks).into_iter().enumerate().map(enter).collect()
}

/// Runs `body` as every rank of a world, each on a thread of its own, until all have left.
pub(crate) fn run(kind: Kind, ranks: usize, body: impl Fn(&mut Rank) + Sync) {
    thread::scope(|scope| {
        for mut rank in self::ranks(kind, ranks) {
            let body = &body;
            scope.spawn(move || {
                body(&mut rank);
                rank.leave();
            });
        }
    });
}
