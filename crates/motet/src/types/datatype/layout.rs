//! Layouts: datatypes compiled for moving bytes.
//!
//! A layout is a tree of loops. Its leaves are runs of bytes; runs that touch are one, and a
//! vector stays a loop, however many blocks it has. The *stream* of a layout is its data in the
//! order of the typemap, without gaps. Walking the tree from any byte of the stream on takes a
//! time that depends on the depth of the tree (and on the logarithm of the lengths of its lists),
//! not on how far into the stream that is: so a transfer can be cut into pieces anywhere.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::{Datatype, DatatypeError};

/// A node, displaced by so many bytes.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) at: i64,
    pub(super) node: Node,
}

/// A part of a layout. No part is empty, but for a layout that is empty as a whole.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// `count` blocks of `block` bytes, `stride` bytes apart; with a count of 1, a run.
    Strided { count: u64, stride: i64, block: u64 },
    /// Blocks of `block` bytes at any places.
    Scattered { block: u64, places: Arc<[i64]> },
    /// Runs of any lengths at any places.
    Runs { runs: Arc<[ByteRun]>, size: u64 },
    /// `count` bodies of `size` stream bytes each, `stride` bytes apart.
    Loop { count: u64, stride: i64, size: u64, body: Arc<Placed> },
    /// Parts one after the other.
    Parts { parts: Arc<[PlacedPart]>, size: u64 },
}

/// A run of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteRun {
    /// Where it begins in the stream.
    pub(super) start: u64,
    pub(super) at: i64,
    pub(super) len: u64,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub(super) struct PlacedPart {
    /// Where it begins in the stream.
    pub(super) start: u64,
    pub(super) placed: Placed,
}

impl Node {
    pub(super) const EMPTY: Node = Node::Strided { count: 0, stride: 0, block: 0 };

    /// Bytes of its stream.
    pub(super) fn size(&self) -> u64 {
        match self {
            Node::Strided { count, block, .. } => count * block,
            Node::Scattered { block, places } => block * places.len() as u64,
            Node::Loop { count, size, .. } => count * size,
            Node::Runs { size, .. } | Node::Parts { size, .. } => *size,
        }
    }
}

impl Placed {
    /// Bytes of memory that it takes beside itself.
    fn heap_bytes(&self) -> usize {
        match &self.node {
            Node::Strided { .. } => 0,
            Node::Scattered { places, .. } => size_of_val::<[i64]>(places),
            Node::Runs { runs, .. } => size_of_val::<[ByteRun]>(runs),
            Node::Loop { body, .. } => size_of::<Placed>() + body.heap_bytes(),
            Node::Parts { parts, .. } => {
                let below: usize = parts.iter().map(|part| part.placed.heap_bytes()).sum();
                size_of_val::<[PlacedPart]>(parts) + below
            }
        }
    }
}

/// The receiver of the blocks of a walk.
pub(super) trait Sink {
    /// Stream bytes for which it has room. A walk never hands it more.
    fn room(&self) -> u64;

    /// The next `count` blocks of `block` bytes, `stride` bytes apart, from `at` on.
    fn strided(&mut self, at: i64, count: u64, stride: i64, block: u64);

    /// The next blocks of `block` bytes, at these places relative to `at`.
    fn scattered(&mut self, at: i64, places: &[i64], block: u64);

    /// The next `count` rows, `stride` bytes apart, of the same runs.
    fn rows(&mut self, at: i64, count: u64, stride: i64, row: Row<'_>);
}

/// Runs that follow one another in the stream. There is at least one.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(&'a [ByteRun]);

impl<'a> Row<'a> {
    /// Bytes of its stream.
    pub(super) fn size(self) -> u64 {
        let last = self.0[self.0.len() - 1];
        last.start + last.len - self.0[0].start
    }

    /// Its runs, each with where it begins in the stream of the row.
    pub(super) fn each(self) -> impl Iterator<Item = (u64, &'a ByteRun)> {
        let first = self.0[0].start;
        self.0.iter().map(move |run| (run.start - first, run))
    }
}

/// A run of bytes of an item, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, relative to the address of the first item.
    pub at: i64,
    /// Its bytes.
    pub len: u64,
}

/// A datatype, compiled for moving bytes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Layout {
    root: Arc<Placed>,
    size: u64,
    extent: i64,
    /// First byte of data, and one behind the last.
    reach: (i64, i64),
    /// Bytes of an item, if any number of items is one run of bytes from its address on; else 0.
    row: usize,
}

impl Layout {
    pub(super) fn of(datatype: &Datatype) -> Layout {
        let mut layout = Layout {
            root: Arc::new(super::compile::compile(datatype)),
            size: datatype.size(),
            extent: datatype.extent(),
            reach: (datatype.true_lower_bound(), datatype.true_upper_bound()),
            row: 0,
        };
        let whole = Piece { at: 0, len: layout.size };
        if layout.contiguous(1) == Some(whole) && i64::try_from(layout.size) == Ok(layout.extent) {
            layout.row = layout.size as usize;
        }
        layout
    }

    /// Bytes of memory that the layout takes beside itself. Datatypes may share them.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Placed>() + self.root.heap_bytes()
    }

    /// Bytes of an item, if any number of items is one run of bytes from its address on.
    #[inline]
    pub(crate) fn row(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.row)
    }

    pub(super) fn root(&self) -> &Placed {
        &self.root
    }

    /// Bytes of data in an item: what it takes in the stream.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The distance from an item to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Bytes that so many items take in the stream (`MPI_Pack_size`).
    pub fn pack_size(&self, count: u64) -> Result<u64, DatatypeError> {
        let bytes = self.size.checked_mul(count).filter(|&bytes| i64::try_from(bytes).is_ok());
        bytes.ok_or(DatatypeError::Overflow("size"))
    }

    /// The memory of so many items, if it is one run of bytes in the order of the stream.
    ///
    /// The items can then be sent without packing.
    pub fn contiguous(&self, count: u64) -> Option<Piece> {
        let Placed { at, node } = self.root();
        match node {
            _ if count == 0 || self.size == 0 => Some(Piece { at: 0, len: 0 }),
            Node::Strided { count: 1, block, .. } if count == 1 => {
                Some(Piece { at: *at, len: *block })
            }
            Node::Strided { count: 1, block, .. } if i64::try_from(*block) == Ok(self.extent) => {
                let len = block.checked_mul(count)?;
                Some(Piece { at: *at, len })
            }
            _ => None,
        }
    }

    /// Whether any number of items is one run of bytes.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous(2).is_some()
    }

    /// Bytes between the first and the last byte of an item that are not data. (Overlapping data
    /// counts once for each element, so that there may seem to be none.)
    pub fn gaps(&self) -> u64 {
        self.reach.1.abs_diff(self.reach.0).saturating_sub(self.size)
    }

    /// The first byte of data of so many items, and one behind the last.
    pub fn reach(&self, count: u64) -> (i128, i128) {
        if count == 0 || self.size == 0 {
            return (0, 0);
        }
        let distance = i128::from(self.extent) * i128::from(count - 1);
        (i128::from(self.reach.0) + distance.min(0), i128::from(self.reach.1) + distance.max(0))
    }

    /// The runs of bytes that hold the stream of `count` items from byte `position` on, in order,
    /// until `limit` runs or the end; and the position behind them.
    ///
    /// For transports that take lists of addresses. The items lie within 64 bits of address space.
    pub fn pieces(&self, count: u64, position: u64, limit: usize) -> (Vec<Piece>, u64) {
        let mut list = List { pieces: Vec::new(), limit, taken: 0, full: false };
        self.walk(count, position, &mut list);
        (list.pieces, position.saturating_add(list.taken))
    }

    /// Leads the sink through the stream of `count` items from byte `position` on.
    pub(super) fn walk(&self, count: u64, position: u64, sink: &mut impl Sink) {
        if self.size == 0 || count == 0 || position / self.size >= count {
            return;
        }
        let root = self.root();
        match root.node {
            Node::Strided { count: 1, block, .. } => {
                let all = match self.contiguous(count) {
                    Some(piece) => Blocks { count: 1, stride: 0, block: piece.len },
                    None => Blocks { count, stride: self.extent, block },
                };
                all.walk(root.at, position, sink);
            }
            // The next item goes on where this one ends.
            Node::Strided { count: inner, stride, block }
                if i128::from(stride) * i128::from(inner) == i128::from(self.extent) =>
            {
                Blocks { count: count.saturating_mul(inner), stride, block }
                    .walk(root.at, position, sink);
            }
            _ => repeat(root, (count, self.extent, self.size), 0, position, sink),
        }
    }
}

/// Collects runs of bytes in order.
struct List {
    pieces: Vec<Piece>,
    limit: usize,
    taken: u64,
    full: bool,
}

impl List {
    /// Adds a run, unless the limit is reached.
    fn push(&mut self, at: i64, len: u64) {
        if self.full {
            return;
        }
        let more = self.pieces.len() < self.limit;
        match self.pieces.last_mut() {
            Some(last) if i128::from(last.at) + i128::from(last.len) == i128::from(at) => {
                last.len += len;
            }
            _ if more => self.pieces.push(Piece { at, len }),
            _ => {
                self.full = true;
                return;
            }
        }
        self.taken += len;
    }
}

impl Sink for List {
    fn room(&self) -> u64 {
        if self.full { 0 } else { u64::MAX }
    }

    fn strided(&mut self, at: i64, count: u64, stride: i64, block: u64) {
        for i in 0..count as i64 {
            if self.full {
                return;
            }
            self.push(at + i * stride, block);
        }
    }

    fn scattered(&mut self, at: i64, places: &[i64], block: u64) {
        for place in places {
            if self.full {
                return;
            }
            self.push(at + place, block);
        }
    }

    fn rows(&mut self, at: i64, count: u64, stride: i64, row: Row<'_>) {
        for i in 0..count as i64 {
            if self.full {
                return;
            }
            row.each().for_each(|(_, run)| self.push(at + i * stride + run.at, run.len));
        }
    }
}

/// `size` bytes of stream that are repeated, from byte `skip` on.
fn repeat(
    body: &Placed,
    (count, stride, size): (u64, i64, u64),
    base: i64,
    skip: u64,
    sink: &mut impl Sink,
) {
    let (mut next, mut skip_within) = (skip / size, skip % size);
    let mut short = [ByteRun::default(); SHORT];
    let row = short_row(&body.node, &mut short);
    while next < count && sink.room() > 0 {
        let at = base + next as i64 * stride;
        let full = (count - next).min(sink.room() / size);
        match row {
            Some(row) if skip_within == 0 && full > 0 => {
                sink.rows(at + body.at, full, stride, row);
                next += full;
            }
            _ => {
                walk(body, at, skip_within, sink);
                next += 1;
            }
        }
        skip_within = 0;
    }
}

/// Up to this many runs are a row of a loop, and are copied run by run for many rows at once: a
/// long loop with one kernel instead of many short ones.
const SHORT: usize = 16;

/// The runs of a part, if they are few.
fn short_row<'a>(node: &'a Node, room: &'a mut [ByteRun; SHORT]) -> Option<Row<'a>> {
    let len = match node {
        Node::Runs { runs, .. } if runs.len() <= SHORT => return Some(Row(runs)),
        Node::Scattered { places, .. } => places.len(),
        Node::Strided { count, .. } => usize::try_from(*count).ok()?,
        _ => return None,
    };
    let runs = room.get_mut(..len)?;
    for (run, i) in runs.iter_mut().zip(0u64..) {
        *run = match node {
            Node::Scattered { block, places } => {
                ByteRun { start: i * block, at: places[i as usize], len: *block }
            }
            Node::Strided { stride, block, .. } => {
                ByteRun { start: i * block, at: i as i64 * stride, len: *block }
            }
            _ => return None,
        };
    }
    Some(Row(runs))
}

/// A part, from byte `skip` of its stream on. There is such a byte.
fn walk(placed: &Placed, base: i64, skip: u64, sink: &mut impl Sink) {
    let base = base + placed.at;
    match &placed.node {
        &Node::Strided { count, stride, block } => {
            Blocks { count, stride, block }.walk(base, skip, sink);
        }
        Node::Scattered { block, places } => scattered(places, *block, base, skip, sink),
        Node::Runs { runs, .. } => {
            let first = runs.partition_point(|run| run.start + run.len <= skip);
            list(&runs[first..], base, skip - runs[first].start, sink);
        }
        Node::Loop { count, stride, size, body } => {
            repeat(body, (*count, *stride, *size), base, skip, sink);
        }
        Node::Parts { parts, .. } => {
            let first = parts.partition_point(|part| part.start <= skip) - 1;
            let mut skip = skip - parts[first].start;
            for part in &parts[first..] {
                if sink.room() == 0 {
                    return;
                }
                walk(&part.placed, base, skip, sink);
                skip = 0;
            }
        }
    }
}

/// Runs, from byte `skip` of the first of them on.
fn list(mut runs: &[ByteRun], base: i64, skip: u64, sink: &mut impl Sink) {
    if skip > 0 {
        let len = (runs[0].len - skip).min(sink.room());
        if len > 0 {
            sink.strided(base + runs[0].at + skip as i64, 1, 0, len);
        }
        runs = &runs[1..];
    }
    let Some(first) = runs.first() else { return };
    let end = first.start.saturating_add(sink.room());
    let (full, rest) = runs.split_at(runs.partition_point(|run| run.start + run.len <= end));
    if !full.is_empty() {
        sink.rows(base, 1, 0, Row(full));
    }
    let room = sink.room();
    if let Some(run) = rest.first()
        && room > 0
    {
        sink.strided(base + run.at, 1, 0, room);
    }
}

/// Equal blocks at equal distances.
struct Blocks {
    count: u64,
    stride: i64,
    block: u64,
}

impl Blocks {
    fn walk(&self, base: i64, skip: u64, sink: &mut impl Sink) {
        let &Blocks { count, stride, block } = self;
        let (mut next, within) = (skip / block, skip % block);
        if within > 0 {
            let len = (block - within).min(sink.room());
            if len > 0 {
                sink.strided(base + next as i64 * stride + within as i64, 1, 0, len);
            }
            next += 1;
        }
        let full = (count - next).min(sink.room() / block);
        if full > 0 {
            sink.strided(base + next as i64 * stride, full, stride, block);
            next += full;
        }
        let rest = sink.room();
        if next < count && rest > 0 {
            sink.strided(base + next as i64 * stride, 1, 0, rest);
        }
    }
}

/// As [`Blocks::walk`], with any distances.
fn scattered(places: &[i64], block: u64, base: i64, skip: u64, sink: &mut impl Sink) {
    let (mut next, within) = ((skip / block) as usize, skip % block);
    if within > 0 {
        let len = (block - within).min(sink.room());
        if len > 0 {
            sink.strided(base + places[next] + within as i64, 1, 0, len);
        }
        next += 1;
    }
    let full = (sink.room() / block).min((places.len() - next) as u64) as usize;
    if full > 0 {
        sink.scattered(base, &places[next..next + full], block);
        next += full;
    }
    let rest = sink.room();
    if next < places.len() && rest > 0 {
        sink.strided(base + places[next], 1, 0, rest);
    }
}
