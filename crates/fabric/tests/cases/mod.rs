//! What every kind of world must do, as functions over the kind.

pub(crate) mod cancelling;
pub(crate) mod channels;
pub(crate) mod coalesced;
pub(crate) mod large;
pub(crate) mod leaving;
pub(crate) mod matching;
pub(crate) mod pressure;
mod processes;
pub(crate) mod remote_bounce;
pub(crate) mod waking;
pub(crate) mod writes;
pub(crate) mod zero_copy;

use motet_fabric::layout::{LINE, Layout};
use motet_fabric::spsc::STAMP_BYTES;
use motet_fabric::{Label, Peer, Selector};

use crate::support::Rank;

/// Bytes of a message that just fits a cell of a small world.
const EAGER: usize = CELL - STAMP_BYTES - HEADER;
const CELL: usize = 8192 + LINE;
const HEADER: usize = 32;
/// A message that goes in a few cells.
const SOME_CELLS_BYTES: usize = EAGER + EAGER / 2;
/// A message that goes in no cells, and where each rank has a core in no block.
const LARGE: usize = 5 * EAGER + 17;

fn label(tag: u64) -> Label {
    Label { context: 3, tag, ordinal: 0 }
}

fn from(source: u32, tag: u64) -> Selector {
    Selector::exactly(Peer(source), label(tag))
}

fn anyone(tag: impl Into<Option<u64>>) -> Selector {
    Selector { context: 3, source: None, tag: tag.into(), ordinal: 0 }
}

/// Contents that tell messages, and the places in them, apart.
fn pattern(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        data.extend_from_slice(&random.next().to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// SplitMix64: small, good enough, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Moves ranks by hand until none of them moves any more.
fn step(ranks: &mut [Rank]) {
    let mut quiet = 0;
    while quiet < 2 {
        let moved = ranks.iter_mut().map(Rank::progress).fold(false, |any, moved| any | moved);
        quiet = if moved { 0 } else { quiet + 1 };
    }
}

/// Sizes around the limit are tried only as long as the limit is known.
#[test]
fn the_limit_is_where_the_cases_think_it_is() {
    for ranks in 1..=5 {
        assert_eq!(Layout::new(ranks).unwrap().cell_bytes(), CELL);
    }
}
