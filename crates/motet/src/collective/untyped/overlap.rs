//! Overlap check for blocks that have their own datatypes.
//!
//! One array may hold both sent and received data, for example the faces of a box and the layers
//! around it. The bounds of such blocks overlap, but not their bytes. So bounds are compared first,
//! and contiguous byte ranges only where the bounds overlap.

use super::data::WBuffer;
use crate::base::error::ErrorKind;
use crate::types::datatype::{Datatype, Piece};

/// The side of a call to which bytes belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferRole {
    Sent,
    Received,
}

/// A contiguous range of bytes, by its addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressRange {
    pub(super) start: i128,
    pub(super) end: i128,
    pub(super) side: BufferRole,
}

/// Checks that no byte is received twice, or both received and sent.
pub(super) fn check(send: &WBuffer<'_>, receive: &WBuffer<'_>) -> Result<(), ErrorKind> {
    let sides = [(send, BufferRole::Sent), (receive, BufferRole::Received)];
    let all = |runs: fn(&WBuffer<'_>, BufferRole) -> Vec<AddressRange>| {
        sides.iter().flat_map(|(mixed, side)| runs(mixed, *side)).collect()
    };
    let Some(overlap) = overlap(all(bounds)).and_then(|_| overlap(all(all_pieces))) else {
        return Ok(());
    };
    let byte = overlap - receive.address.addr() as i128;
    let problem = format!("has a part that overlaps another one at byte {byte}");
    Err(ErrorKind::Buffer { which: "receive buffer", problem })
}

/// Returns the blocks with the addresses of their first items.
fn blocks<'a>(mixed: &WBuffer<'a>) -> impl Iterator<Item = (i128, u64, &'a Datatype)> {
    let WBuffer { address, counts, displacements, datatypes } = *mixed;
    let place = move |((&count, &displacement), datatype)| {
        (address.addr() as i128 + displacement as i128, count as u64, datatype)
    };
    counts.iter().zip(displacements).zip(datatypes).map(place)
}

/// Returns one range for each block, from its first byte to its last.
fn bounds(mixed: &WBuffer<'_>, side: BufferRole) -> Vec<AddressRange> {
    let bounds = |(at, count, datatype): (i128, u64, &Datatype)| {
        let (low, high) = datatype.commit().reach(count);
        AddressRange { start: at + low, end: at + high, side }
    };
    blocks(mixed).map(bounds).collect()
}

/// Returns all contiguous ranges of all blocks.
fn all_pieces(mixed: &WBuffer<'_>, side: BufferRole) -> Vec<AddressRange> {
    let of_block = |(at, count, datatype)| pieces(at, count, datatype, side);
    blocks(mixed).flat_map(of_block).collect()
}

/// Adds all contiguous ranges of a number of items.
pub(super) fn pieces(
    at: i128,
    count: u64,
    datatype: &Datatype,
    side: BufferRole,
) -> impl Iterator<Item = AddressRange> + use<> {
    let layout = datatype.layout();
    let pieces = match layout.contiguous(count) {
        Some(piece) => vec![piece],
        None => layout.pieces(count, 0, usize::MAX).0,
    };
    pieces.into_iter().map(move |Piece { at: offset, len }| {
        let start = at + i128::from(offset);
        AddressRange { start, end: start + i128::from(len), side }
    })
}

/// The address of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Byte(pub(super) i128);

/// Sorts the ranges by their first bytes, and removes empty ones.
fn put_in_order(runs: &mut Vec<AddressRange>) {
    runs.retain(|run| run.start < run.end);
    runs.sort_unstable_by_key(|run| run.start);
}

/// Returns the first byte that is in a received range and in another range of side `other`.
pub(super) fn find(runs: &mut Vec<AddressRange>, other: BufferRole) -> Option<Byte> {
    put_in_order(runs);
    let (mut sent, mut received) = (i128::MIN, i128::MIN);
    for run in &*runs {
        let taken = match (run.side, other) {
            (BufferRole::Received, BufferRole::Received) | (BufferRole::Sent, BufferRole::Sent) => {
                received
            }
            (BufferRole::Received, BufferRole::Sent) => sent,
            (BufferRole::Sent, BufferRole::Received) => i128::MIN,
        };
        if run.start < taken {
            return Some(Byte(run.start));
        }
        let end = if run.side == BufferRole::Sent { &mut sent } else { &mut received };
        *end = run.end.max(*end);
    }
    None
}

/// Returns the first byte that is received and that lies in another range, too.
fn overlap(mut runs: Vec<AddressRange>) -> Option<i128> {
    put_in_order(&mut runs);
    let (mut sent, mut received) = (i128::MIN, i128::MIN);
    for run in runs {
        let taken = match run.side {
            BufferRole::Sent => received,
            BufferRole::Received => received.max(sent),
        };
        if run.start < taken {
            return Some(run.start);
        }
        let end = if run.side == BufferRole::Sent { &mut sent } else { &mut received };
        *end = run.end.max(*end);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: i128, end: i128, side: BufferRole) -> AddressRange {
        AddressRange { start, end, side }
    }

    #[test]
    fn only_what_is_received_must_lie_apart() {
        use BufferRole::{Received, Sent};
        assert_eq!(overlap(vec![run(0, 9, Sent), run(3, 5, Sent), run(9, 12, Received)]), None);
        assert_eq!(overlap(vec![run(4, 9, Received), run(0, 4, Sent), run(9, 9, Received)]), None);
        assert_eq!(overlap(vec![run(4, 9, Received), run(2, 5, Received)]), Some(4));
        let behind = vec![run(0, 9, Sent), run(3, 5, Sent), run(8, 12, Received)];
        assert_eq!(overlap(behind), Some(8));
        assert_eq!(overlap(vec![run(0, 9, Received), run(8, 12, Sent)]), Some(8));
    }

    #[test]
    fn it_is_said_which_side_a_byte_is_shared_with() {
        use BufferRole::{Received, Sent};
        let mut twice = vec![run(4, 9, Received), run(8, 12, Received), run(20, 30, Sent)];
        assert_eq!(find(&mut twice, Received), Some(Byte(8)));
        assert_eq!(find(&mut twice, Sent), None);
        for (sent, received, byte) in
            [((0, 9), (8, 12), 8), ((8, 12), (0, 9), 8), ((3, 4), (0, 9), 3)]
        {
            let mut both = vec![run(received.0, received.1, Received), run(sent.0, sent.1, Sent)];
            assert_eq!(find(&mut both, Sent), Some(Byte(byte)));
            assert_eq!(find(&mut both, Received), None);
        }
    }

    #[test]
    fn parts_may_lie_between_each_other() -> Result<(), ErrorKind> {
        let every_other = Datatype::vector(4, 1, 2, &Datatype::BYTE)?;
        let datatypes = [every_other];
        let at = |displacements| WBuffer {
            address: std::ptr::without_provenance_mut(64),
            counts: &[1],
            displacements,
            datatypes: &datatypes,
        };
        check(&at(&[0]), &at(&[1]))?;
        let found = check(&at(&[0]), &at(&[2])).expect_err("bytes 2, 4 and 6 are in both");
        let text = "the receive buffer has a part that overlaps another one at byte 2";
        assert_eq!(found.to_string(), text);
        Ok(())
    }
}
