//! What one rank of a million takes: counted on its real data structures.
//!
//! A machine has no million ranks, but the rank does not know: its communicator, its plans and its
//! runs are those of rank 500 000 in a group of 10⁶. Only its 26 neighbours on a periodic grid have
//! places in a segment, as the ranks of one machine have.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use motet_fabric::{Peer, bootstrap};
use motet_plan::Tuning;

use crate::comm::communicator::Communicator;
use crate::comm::error_handler::ErrorHandler;
use crate::comm::op_handle::CommContext;
use crate::rank::RankContext;
use crate::rank::settings::Settings;
use crate::{Group, Info, Neighbour, Result};

/// What an operation of a rank may take beside the user's buffers.
const OPERATION_MAX_BYTES: usize = 64 << 10;
/// The grid: its edge, and its ranks.
const EDGE: usize = 100;
const RANKS: usize = EDGE * EDGE * EDGE;
/// The rank that is looked at, in the middle of a plane.
const ME: usize = RANKS / 2 + EDGE / 2 * EDGE + EDGE / 2;
const NEIGHBOURS: usize = 26;

thread_local! {
    /// Bytes that this thread has allocated and not freed, if nobody else frees them.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    // While the thread ends nobody asks any more.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: passes everything on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that stay allocated of what a function makes.
fn taken<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    let made = make();
    let taken = usize::try_from(LIVE.get() - before).expect("nothing older is freed");
    (made, taken)
}

/// The ranks around one, on a grid whose ends meet.
fn neighbours(rank: usize) -> Vec<usize> {
    let place = [rank / (EDGE * EDGE), rank / EDGE % EDGE, rank % EDGE];
    let near = |at: usize, step: usize| (at + EDGE + step - 1) % EDGE;
    let steps = (0..27).map(|code| [code / 9, code / 3 % 3, code % 3]);
    let others = steps.filter(|&step| step != [1, 1, 1]);
    let rank_at = |step: [usize; 3]| {
        let [x, y, z] = [0, 1, 2].map(|dimension| near(place[dimension], step[dimension]));
        (x * EDGE + y) * EDGE + z
    };
    others.map(rank_at).collect()
}

/// The one of a million, as rank 0 of a segment in which its neighbours follow.
struct Rank {
    core: Arc<RankContext>,
    group: Group,
    neighbours: Vec<usize>,
}

impl Rank {
    fn new() -> Rank {
        let mut seats = bootstrap::threads(1 + NEIGHBOURS).expect("there is memory");
        let core = RankContext::new(seats.swap_remove(0), &Settings::default(), Tuning::default())
            .expect("without a progress thread there is nothing to refuse");
        let neighbours = neighbours(ME);
        let mut peers: Vec<Peer> = (0..RANKS as u32).map(|rank| Peer(rank + 1000)).collect();
        peers[ME] = Peer(0);
        for (peer, &rank) in (1..).map(Peer).zip(&neighbours) {
            peers[rank] = peer;
        }
        Rank { core: Arc::new(core), group: Group::new(peers), neighbours }
    }

    fn communicator(&self) -> Communicator {
        let handler = ErrorHandler::default();
        let home = CommContext::new(self.core.clone(), self.group.clone(), ME, handler);
        Communicator::new(home, 0)
    }

    /// Bytes of the segment that its channels take.
    fn channels(&self) -> usize {
        self.core.engine().endpoint().channel_bytes()
    }

    /// Counts what an operation takes: in memory, and in the segment.
    fn count<T>(&self, call: &str, init: impl FnOnce() -> Result<T>) {
        let channels = self.channels();
        let (operation, heap) = taken(init);
        let operation = operation.unwrap_or_else(|error| panic!("{error}"));
        let segment = self.channels() - channels;
        println!("{call}: {heap} bytes of memory, {segment} bytes of the segment");
        assert!(heap + segment < OPERATION_MAX_BYTES, "{call} takes {heap} and {segment} bytes");
        drop(operation);
    }
}

#[test]
fn a_rank_has_its_neighbours() {
    let mut found = neighbours(0);
    found.sort_unstable();
    found.dedup();
    assert_eq!((found.len(), found[0], found[NEIGHBOURS - 1]), (NEIGHBOURS, 1, RANKS - 1));
    assert!(neighbours(ME).contains(&(ME + EDGE * EDGE + EDGE + 1)));
}

/// Exchanges with blocks of all lengths, with one length and with two.
#[test]
fn an_exchange_of_one_rank_of_a_million_is_small() {
    let (communicator, own) = {
        let rank = Rank::new();
        taken(|| rank.communicator())
    };
    println!("communicator: {own} bytes");
    assert!(own < 1024, "a communicator takes {own} bytes");
    drop(communicator);
    for bytes in [8, 64, 512, 4096, 8192, 65536] {
        let count = bytes / 8;
        let buffers = || (vec![0u64; NEIGHBOURS * count], vec![0u64; NEIGHBOURS * count]);
        let (rank, buffer) = (Rank::new(), buffers());
        let (communicator, around) = (rank.communicator(), &rank.neighbours);
        rank.count(&format!("exchange of {bytes} bytes each"), || {
            communicator.exchange_init(buffer, around, around, &Info::new())
        });
        let (rank, buffer) = (Rank::new(), buffers());
        let communicator = rank.communicator();
        let length = |at: usize| if at.is_multiple_of(2) { count } else { count.div_ceil(2) };
        let block = |(at, &rank)| Neighbour { rank, start: at * count, count: length(at) };
        let blocks: Vec<_> = rank.neighbours.iter().enumerate().map(block).collect();
        rank.count(&format!("exchangev of up to {bytes} bytes each"), || {
            communicator.exchangev_init(buffer, &blocks, &blocks, &Info::new())
        });
        let (rank, buffer) = (Rank::new(), buffers());
        let (communicator, around) = (rank.communicator(), &rank.neighbours);
        // Nobody else calls it: this rank must not wait for its end.
        std::mem::forget(rank.core.clone());
        rank.count(&format!("nonblocking exchange of {bytes} bytes each"), || {
            communicator.iexchange(buffer, around, around)
        });
    }
}

/// A group of ranks in a row takes nothing, a copy of any takes nothing more.
#[test]
fn groups_are_small() {
    let (world, listed) = taken(|| Group::world(RANKS));
    assert_eq!((listed, size_of::<Group>()), (0, 16));
    let (copies, listed) = taken(|| vec![world.clone(); 100]);
    assert_eq!(listed, 100 * size_of::<Group>());
    drop(copies);
    let (around, listed) = taken(|| world.include(&neighbours(ME)).expect("ranks of the world"));
    assert!(listed < 8 * NEIGHBOURS + 64, "{listed} bytes");
    let (place, listed) = taken(|| around.rank_of(ME + 1));
    assert!(place.is_some() && listed <= 4 * NEIGHBOURS, "{listed} bytes");
}
