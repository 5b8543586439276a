//! Bounce pool: a ring allocator of bounce buffers in a part of the arena of the sender. Design and
//! measurements: `../README.md`, "Bounce buffers".

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::Ordering;

use crate::channel::Arena;
use crate::layout::{LINE, PAGE};
use crate::packet::Words;
use crate::{Peer, Region, SharedSegment, host};

/// Bounce buffers that may be unread at a time.
pub(super) const BUFFERS_IN_USE_MAX: usize = 128;
/// The most bounce buffers of one other rank that a rank keeps: an exchange of several messages at
/// a time finds one for each.
const KEPT_MAX: usize = 4;
/// What a rank that keeps a bounce buffer has in the word of its readers, where ranks share cores:
/// no message lies there, so it counts for nothing of what its owner may be ahead.
pub(super) const KEPT: u32 = 1 << 31;
/// Bytes of a bounce pool where ranks share cores: then a rank is to be many messages ahead.
const OVERSUBSCRIBED_POOL_BYTES: usize = 8 << 20;
/// Bytes that one rank may leave unread there of what another has for it. More of that from each of
/// many senders lies in no cache any more when it is read.
const UNREAD_MAX_BYTES: usize = 1 << 20;
/// The same where so much of all others fits into a half of the cache of a core.
const CACHED_UNREAD_MAX_BYTES: usize = 256 << 10;
/// What is longer than the cache of a core, if that is not as large as usual.
const CACHE_BYTES: RangeInclusive<usize> = 2 << 20..=8 << 20;
/// So many bytes of a bounce pool get their pages at once, before they are used for the first time:
/// in a virtual machine each page by itself takes 2 µs and more, and 64 KiB so 60 instead of 3.
const PREFAULT_BYTES: usize = 512 << 10;
/// Bytes of a bounce pool to begin with. Even so pages take ten times as long as to write them
/// again.
const POOL_INITIAL_BYTES: usize = 128 << 10;
/// Times around a bounce pool before it becomes twice as long.
const WRAPS_BEFORE_GROWTH: u32 = 8;
/// A bounce pool takes at most such a share of the arena.
const ARENA_SHARE_MAX: usize = 8;

/// Where a bounce buffer lies: offsets in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BounceBuffer {
    /// The word that counts the readers that have not read it yet.
    pub(super) readers: usize,
    /// The word that counts the bytes written so far, if receivers read the buffer while the sender
    /// fills it; 0 if the sender fills it before it announces it.
    pub(super) filled: usize,
    /// Its bytes.
    pub(super) data: usize,
}

impl BounceBuffer {
    /// As the words of a packet say.
    pub(super) fn from_words([readers, filled, data]: Words) -> BounceBuffer {
        BounceBuffer { readers: readers as usize, filled: filled as usize, data: data as usize }
    }

    /// Whether all was in it when somebody heard of it.
    pub(super) fn is_full(self) -> bool {
        self.filled == 0
    }

    /// As a packet says it.
    pub(super) fn words(self) -> Words {
        [self.readers as u64, self.filled as u64, self.data as u64]
    }

    /// The bytes of a message that lies whole in its bounce buffer.
    pub(super) fn message(self, segment: &SharedSegment, bytes: usize) -> Region {
        let _last = segment.at(self.data + bytes.saturating_sub(1));
        Region::new(segment.at(self.data).as_ptr(), bytes)
    }

    /// This rank does not read the bounce buffer any more.
    pub(super) fn release(self, segment: &SharedSegment) {
        segment.word32(self.readers).fetch_sub(1, Ordering::Release);
    }

    /// One that begins here, for a copy of these bytes. The copy begins half a page from where they
    /// do, as seen in their pages. Behind the place in its page that it is written to a processor
    /// does not read ahead: a copy that begins 48 bytes behind its source in the page takes 1.2 to
    /// 3 times as long.
    pub(super) fn at(start: usize, source: Region) -> BounceBuffer {
        let (readers, filled, line) = (start, start + size_of::<u32>(), start + LINE);
        let wanted = source.start().addr().wrapping_add(PAGE / 2);
        let shift = wanted.wrapping_sub(line) % PAGE / LINE * LINE;
        BounceBuffer { readers, filled, data: line + shift }
    }
}

/// Who is to read a bounce buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Readers {
    One(Peer),
    Several(u32),
}

/// A bounce buffer that was unread when it was last looked at.
#[derive(Debug)]
struct BufferInUse {
    place: Range<usize>,
    /// Whom it is for, if it is for one.
    reader: Option<Peer>,
}

impl BufferInUse {
    /// Whether all readers have read it.
    fn is_read(&self, segment: &SharedSegment) -> bool {
        segment.word32(self.place.start).load(Ordering::Acquire) == 0
    }

    /// Whether a rank keeps it for its next message, where ranks share cores.
    fn is_kept(&self, segment: &SharedSegment) -> bool {
        segment.word32(self.place.start).load(Ordering::Relaxed) == KEPT
    }
}

/// The bounce pool of a rank.
#[derive(Debug, Default)]
pub(super) struct BouncePool {
    /// As they lie: first those behind `next`, then, from the start of the bounce pool, those
    /// before it.
    unread: VecDeque<BufferInUse>,
    /// The part of the arena that is its own, once it has been used.
    place: Option<Range<usize>>,
    /// Where the next bounce buffer may begin.
    next: usize,
    /// The first one that would begin here or further begins at the start, if there is room.
    wrap_limit: usize,
    /// How far that may be from the start, in the end.
    wrap_limit_max: usize,
    /// Times around since it came nearer to that.
    wraps: u32,
    /// Whether it has done so since somebody [asked](BouncePool::has_grown).
    has_grown: bool,
    /// Up to here it has its pages.
    prepared: usize,
    /// Bytes that may lie unread for one rank, where ranks share cores.
    unread_max_bytes: usize,
}

impl BouncePool {
    /// Bytes of the bounce pool of a rank of this segment, once it is used.
    pub(super) fn longest(segment: &SharedSegment) -> usize {
        let wanted =
            if segment.is_oversubscribed() { OVERSUBSCRIBED_POOL_BYTES } else { beyond_cache() };
        wanted.min(segment.layout().arena_bytes() / ARENA_SHARE_MAX)
    }

    /// The most buffers that a rank of this segment keeps of each other one. Both ranks of a pair
    /// may keep buffers of one pool. Where ranks share cores it is one: more of them make no
    /// exchange faster.
    pub(super) fn kept_of_each_max(segment: &SharedSegment) -> usize {
        if segment.is_oversubscribed() {
            return 1;
        }
        let others = (segment.segment_ranks() - 1).max(1);
        (BUFFERS_IN_USE_MAX / 4 / others).clamp(1, KEPT_MAX)
    }

    /// Bytes of a round: from its start to where it begins anew, if there is room.
    pub(super) fn round_bytes(&self) -> usize {
        self.place.as_ref().map_or(0, |place| self.wrap_limit - place.start)
    }

    /// Bytes of the arena that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.place.as_ref().map_or(0, Range::len)
    }

    /// Bounce buffers that are still to be read.
    #[cfg(test)]
    pub(super) fn unread(&self, segment: &SharedSegment) -> usize {
        self.unread.iter().filter(|buffer| !buffer.is_read(segment)).count()
    }

    /// Takes the pool from the arena, of which so many bytes may be unread by each reader, however
    /// large the caches of this machine are.
    #[cfg(test)]
    pub(super) fn cut_for(&mut self, arena: &mut Arena, segment: &SharedSegment, unread: usize) {
        self.cut(arena, segment).expect("the arena has room");
        self.unread_max_bytes = unread;
    }

    /// Whether this rank is still to read a bounce buffer that is for it alone.
    pub(super) fn is_read_by(&self, segment: &SharedSegment, reader: Peer) -> bool {
        self.unread.iter().any(|buffer| buffer.reader == Some(reader) && !buffer.is_read(segment))
    }

    /// Whether so many bytes more may lie unread for this rank. One message always may.
    fn may_go_ahead(&mut self, segment: &SharedSegment, (reader, bytes): (Peer, usize)) -> bool {
        if !segment.is_oversubscribed() {
            return true;
        }
        let limit = self.unread_max_bytes;
        let fits = |unread: &VecDeque<BufferInUse>, counts: &dyn Fn(&BufferInUse) -> bool| {
            let own = unread.iter().filter(|buffer| buffer.reader == Some(reader));
            let counted = own.filter(|buffer| counts(buffer));
            let ahead = counted.map(|buffer| buffer.place.len()).sum::<usize>();
            ahead == 0 || ahead + bytes <= limit
        };
        if fits(&self.unread, &|_| true) {
            return true;
        }
        self.unread.retain(|buffer| !buffer.is_read(segment));
        fits(&self.unread, &|buffer| !buffer.is_kept(segment))
    }

    /// Allocates a free bounce buffer for a copy of these bytes, if there is room.
    pub(super) fn allocate(
        &mut self,
        arena: &mut Arena,
        segment: &SharedSegment,
        (source, readers): (Region, Readers),
    ) -> Option<BounceBuffer> {
        let (reader, count) = match readers {
            Readers::One(reader) => (Some(reader), 1),
            Readers::Several(count) => (None, count),
        };
        let place = match &self.place {
            Some(place) => place.clone(),
            None => self.cut(arena, segment)?,
        };
        if reader.is_some_and(|reader| !self.may_go_ahead(segment, (reader, source.bytes()))) {
            return None;
        }
        let buffer = self.find(segment, &place, (source, reader))?;
        if source.bytes() > self.wrap_limit - place.start {
            // Its pages are needed in any case.
            let wrap_limit = place.start + source.bytes().min(self.wrap_limit_max);
            self.has_grown |= wrap_limit > self.wrap_limit;
            (self.wrap_limit, self.wraps) = (wrap_limit, 0);
        }
        segment.word32(buffer.readers).store(count, Ordering::Relaxed);
        Some(buffer)
    }

    /// Takes the bounce pool from the arena.
    fn cut(&mut self, arena: &mut Arena, segment: &SharedSegment) -> Option<Range<usize>> {
        let bytes = BouncePool::longest(segment);
        let share = beyond_cache() * segment.cores() / segment.local_ranks().max(segment.cores());
        let start = arena.cut_for_good(bytes)?;
        let place = start..start + bytes;
        self.unread.reserve_exact(BUFFERS_IN_USE_MAX); // no allocation when a message is sent later
        (self.next, self.prepared, self.place) = (start, start, Some(place.clone()));
        self.wrap_limit_max = share.min(bytes);
        self.wrap_limit = start + POOL_INITIAL_BYTES.min(self.wrap_limit_max);
        self.has_grown = true;
        let cache = host::second_level_cache().unwrap_or_default();
        self.unread_max_bytes = unread_max_bytes(segment.segment_ranks() - 1, cache);
        Some(place)
    }

    /// The next place that is large enough, behind the bounce buffer that was allocated last or, at
    /// the end of the bounce pool, from its start on. What is unread is stepped over.
    fn find(
        &mut self,
        segment: &SharedSegment,
        place: &Range<usize>,
        (source, reader): (Region, Option<Peer>),
    ) -> Option<BounceBuffer> {
        if self.next >= self.wrap_limit {
            self.wrap(segment, place.start, source);
        }
        let mut is_second_time = false;
        loop {
            while self.unread.front().is_some_and(|buffer| buffer.is_read(segment)) {
                self.unread.pop_front();
            }
            let behind = self.unread.front().map(|buffer| buffer.place.clone());
            let behind = behind.filter(|buffer| buffer.start >= self.next);
            let buffer = BounceBuffer::at(self.next, source);
            let end = (buffer.data + source.bytes()).next_multiple_of(LINE);
            if end <= behind.as_ref().map_or(place.end, |buffer| buffer.start) {
                if self.unread.len() == BUFFERS_IN_USE_MAX {
                    self.unread.retain(|buffer| !buffer.is_read(segment));
                }
                if self.unread.len() == BUFFERS_IN_USE_MAX {
                    return None;
                }
                self.unread.push_back(BufferInUse { place: self.next..end, reader });
                self.next = end;
                if end > self.prepared {
                    self.prepare(segment, place.end);
                }
                return Some(buffer);
            }
            match behind {
                Some(buffer) => {
                    self.next = buffer.end;
                    self.unread.rotate_left(1);
                }
                None if is_second_time => return None,
                None => (self.next, is_second_time) = (place.start, true),
            }
        }
    }

    /// Goes back to the first place before `next` that has room for a copy of these bytes, if it is
    /// near the start. What is used again soon is in a cache that all cores have, if in no other;
    /// the whole bounce pools of many ranks are not.
    ///
    /// The first places may stay unread for long: each other rank may keep some for its answers,
    /// and this rank as many of those that came back.
    fn wrap(&mut self, segment: &SharedSegment, start: usize, source: Region) {
        let mut at = self.unread.partition_point(|buffer| buffer.place.start >= self.next);
        let mut place = start;
        let last = at + 2 * BouncePool::kept_of_each_max(segment) * segment.segment_ranks();
        while at <= last {
            let end = BounceBuffer::at(place, source).data + source.bytes();
            match self.unread.get(at) {
                Some(buffer) if buffer.is_read(segment) => drop(self.unread.remove(at)),
                Some(buffer) if end > buffer.place.start => {
                    (place, at) = (buffer.place.end, at + 1)
                }
                _ => {
                    self.next = place;
                    self.unread.rotate_left(at);
                    return self.grow(start);
                }
            }
        }
    }

    /// Once more around. What a longer bounce pool gives, below the length of a cache, is less than
    /// what its pages take, unless it is used often.
    fn grow(&mut self, start: usize) {
        self.wraps = self.wraps.saturating_add(1);
        let turn = start + (2 * (self.wrap_limit - start)).min(self.wrap_limit_max);
        if self.wraps >= WRAPS_BEFORE_GROWTH && self.wrap_limit < turn {
            (self.wrap_limit, self.wraps, self.has_grown) = (turn, 0, true);
        }
    }

    /// Whether it has become longer since this was asked last.
    pub(super) fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }

    /// Sees to the pages of the bounce buffer that was allocated last, and of some that follow.
    #[cold]
    fn prepare(&mut self, segment: &SharedSegment, end: usize) {
        let upto = self.next.max(self.wrap_limit.min(self.prepared + PREFAULT_BYTES)).min(end);
        segment.prepare(self.prepared..upto);
        self.prepared = upto;
    }
}

/// More than what a core's own cache holds, so that what was read from a bounce pool that is so
/// long is in no core's cache any more one time around later. Ranks that share a core share this
/// length.
fn beyond_cache() -> usize {
    let cache = host::second_level_cache().unwrap_or_default();
    (2 * cache).clamp(*CACHE_BYTES.start(), *CACHE_BYTES.end())
}

/// How many bytes each of so many senders may be ahead of a reader that shares its core.
fn unread_max_bytes(senders: usize, cache: usize) -> usize {
    if senders * CACHED_UNREAD_MAX_BYTES <= cache / 2 {
        CACHED_UNREAD_MAX_BYTES
    } else {
        UNREAD_MAX_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    const BYTES: usize = 50_000;

    /// A bounce pool in a segment in which each rank has a core, or all share one.
    struct World {
        pool: BouncePool,
        arena: Arena,
        segment: SharedSegment,
        /// What is sent: all bytes of it are the same.
        data: Vec<u8>,
    }

    impl World {
        fn of(cores: usize) -> World {
            let (segment, _file) =
                SharedSegment::shared_by(Layout::new(2).unwrap(), cores).unwrap();
            let layout = segment.layout();
            let arena = Arena::new(layout.arena(0), layout.arena_bytes());
            World { pool: BouncePool::default(), arena, segment, data: vec![1; 4 * BYTES] }
        }

        fn allocate(&mut self, bytes: usize) -> Option<BounceBuffer> {
            self.allocate_for(Readers::Several(1), bytes)
        }

        fn allocate_for(&mut self, readers: Readers, bytes: usize) -> Option<BounceBuffer> {
            let source = Region::of(&self.data[..bytes]);
            self.pool.allocate(&mut self.arena, &self.segment, (source, readers))
        }

        /// Where bounce buffers begin of which each is read at once, one time around.
        fn wrap(&mut self) -> Vec<usize> {
            let mut starts = vec![];
            loop {
                let buffer = self.allocate(BYTES).unwrap();
                self.read(buffer);
                if starts.last().is_some_and(|last| buffer.readers < *last) {
                    self.pool.next = buffer.readers; // it is the first one of the next time
                    return starts;
                }
                starts.push(buffer.readers);
                assert!(starts.len() <= BUFFERS_IN_USE_MAX * 1000, "the pool never begins again");
            }
        }

        /// The last time around, when the bounce pool has become as long as it gets.
        fn wrap_all(&mut self) -> Vec<usize> {
            let rounds =
                2 + WRAPS_BEFORE_GROWTH * (self.longest_turn() / POOL_INITIAL_BYTES).ilog2();
            (0..rounds).map(|_| self.wrap()).last().unwrap()
        }

        fn longest_turn(&mut self) -> usize {
            if self.pool.place.is_none() {
                let buffer = self.allocate(BYTES).unwrap();
                self.read(buffer);
            }
            self.pool.wrap_limit_max
        }

        fn read(&self, buffer: BounceBuffer) {
            assert_eq!(self.segment.word32(buffer.readers).swap(0, Ordering::Release), 1);
        }
    }

    fn lie_apart(one: (BounceBuffer, usize), other: (BounceBuffer, usize)) -> bool {
        let all = |(buffer, bytes): (BounceBuffer, usize)| buffer.readers..buffer.data + bytes;
        let (one, other) = (all(one), all(other));
        one.end <= other.start || other.end <= one.start
    }

    #[test]
    fn what_was_just_read_is_not_used_again_where_each_rank_has_a_core() {
        let mut world = World::of(2);
        let starts = world.wrap_all();
        let place = world.pool.place.clone().unwrap();
        assert!(starts.len() * (BYTES + LINE + PAGE) > place.len() - BYTES - PAGE, "{starts:?}");
        assert_eq!(world.wrap()[0], place.start);
        assert_eq!(world.pool.prepared, place.end, "all pages were asked for");
        assert!(place.len() >= *CACHE_BYTES.start() && world.pool.unread.len() <= 1);
    }

    #[test]
    fn a_pool_becomes_longer_when_it_has_been_used_often() {
        let mut world = World::of(2);
        for length in [
            POOL_INITIAL_BYTES,
            2 * POOL_INITIAL_BYTES,
            4 * POOL_INITIAL_BYTES,
            8 * POOL_INITIAL_BYTES,
        ] {
            for round in 0..WRAPS_BEFORE_GROWTH {
                let starts = world.wrap();
                let end = starts.last().unwrap() - starts[0];
                let is_first = length == POOL_INITIAL_BYTES && round == 0;
                assert_eq!(world.pool.has_grown(), is_first || round + 1 == WRAPS_BEFORE_GROWTH);
                assert!((length - BYTES - PAGE..length).contains(&end), "{round}: {starts:?}");
                let begun = world.pool.place.as_ref().unwrap().start;
                let asked = world.pool.prepared - begun;
                let most = length + BYTES + PAGE;
                assert!(asked <= most.max(2 * length.min(PREFAULT_BYTES)), "{asked} of {length}");
            }
        }
    }

    #[test]
    fn ranks_that_share_cores_share_what_is_longer_than_their_caches() {
        let mut world = World::of(1);
        let (starts, share) = (world.wrap_all(), beyond_cache() / 2);
        let round = starts.last().unwrap() - starts[0];
        assert_eq!(world.wrap()[0], starts[0]);
        assert!((share - BYTES - PAGE..share).contains(&round), "{starts:?}");
        assert!(
            world.pool.prepared <= world.pool.wrap_limit + PREFAULT_BYTES,
            "no more than is near"
        );
    }

    #[test]
    fn who_is_far_ahead_where_ranks_share_cores_uses_the_whole_pool() {
        let mut world = World::of(1);
        let late: Vec<_> =
            (0..BUFFERS_IN_USE_MAX).map(|_| world.allocate(BYTES).unwrap()).collect();
        let furthest = late.last().unwrap().data + BYTES;
        assert!(furthest > world.pool.wrap_limit + BYTES, "{furthest} {}", world.pool.wrap_limit);
        late.into_iter().for_each(|buffer| world.read(buffer));
        assert_eq!(
            world.allocate(BYTES).map(|buffer| buffer.readers),
            world.pool.place.map(|p| p.start)
        );
    }

    #[test]
    fn nobody_is_more_than_so_much_ahead_of_one_reader_where_ranks_share_cores() {
        let mut world = World::of(1);
        let first = Readers::One(Peer(1));
        let mut late = Vec::new();
        while let Some(buffer) = world.allocate_for(first, BYTES) {
            late.push(buffer);
        }
        let unread_max_bytes = world.pool.unread_max_bytes;
        assert!(
            (unread_max_bytes - 2 * BYTES..unread_max_bytes).contains(&(late.len() * BYTES)),
            "{}",
            late.len()
        );
        assert!(world.pool.is_read_by(&world.segment, Peer(1)));
        for other in [Readers::One(Peer(0)), Readers::Several(2)] {
            assert!(world.allocate_for(other, BYTES).is_some(), "others have room");
        }
        world.read(late[late.len() / 2]);
        assert!(
            world.allocate_for(first, BYTES).is_some()
                && world.allocate_for(first, BYTES).is_none()
        );
        let mut world = World::of(2);
        let whole = (0..BUFFERS_IN_USE_MAX).map_while(|_| world.allocate_for(first, BYTES)).count();
        assert!(
            whole * BYTES > unread_max_bytes,
            "with a core for each the pool is what there is: {whole}"
        );
    }

    #[test]
    fn one_message_may_lie_unread_however_long_it_is() {
        let mut world = World::of(1);
        let reader = Readers::One(Peer(1));
        let short = world.allocate_for(reader, 1).unwrap();
        let long = world.pool.unread_max_bytes + 1;
        world.data = vec![1; long];
        assert!(world.allocate_for(reader, long).is_none(), "another one is unread");
        world.read(short);
        assert!(world.allocate_for(reader, long).is_some());
        assert!(world.allocate_for(reader, 1).is_none(), "the long one is unread");
        assert!(world.allocate_for(Readers::One(Peer(0)), 1).is_some(), "others have room");
    }

    #[test]
    fn a_long_message_lets_the_pool_grow_at_once() {
        let mut world = World::of(2);
        world.data = vec![1; 2 * POOL_INITIAL_BYTES];
        for (bytes, grown) in [(BYTES, 0), (2 * POOL_INITIAL_BYTES, POOL_INITIAL_BYTES)] {
            let buffer = world.allocate(bytes).unwrap();
            world.read(buffer);
            let start = world.pool.place.as_ref().unwrap().start;
            assert_eq!(world.pool.wrap_limit - start, POOL_INITIAL_BYTES + grown, "{bytes}");
        }
        assert!(world.pool.has_grown() && !world.pool.has_grown(), "what was judged is void");
    }

    #[test]
    fn few_senders_stay_within_the_cache_of_their_reader() {
        let mib = 1 << 20;
        assert_eq!(
            (
                unread_max_bytes(3, 2 * mib),
                unread_max_bytes(4, 2 * mib),
                unread_max_bytes(5, 2 * mib)
            ),
            (CACHED_UNREAD_MAX_BYTES, CACHED_UNREAD_MAX_BYTES, UNREAD_MAX_BYTES)
        );
        assert_eq!(
            (unread_max_bytes(3, mib), unread_max_bytes(1, 0)),
            (UNREAD_MAX_BYTES, UNREAD_MAX_BYTES)
        );
    }

    #[test]
    fn who_is_a_few_messages_ahead_where_ranks_share_cores_stays_at_the_beginning() {
        const FEW: usize = 5;
        let mut world = World::of(1);
        let mut late = VecDeque::new();
        for _ in 0..300 {
            late.push_back(world.allocate(BYTES).unwrap());
            if late.len() > FEW {
                world.read(late.pop_front().unwrap());
            }
            let furthest = world.pool.wrap_limit + (FEW + 2) * (BYTES + LINE + PAGE);
            assert!(world.pool.next <= furthest, "{} {furthest}", world.pool.next);
        }
        assert!(world.pool.place.unwrap().end > world.pool.prepared, "the rest is never used");
    }

    /// They may be kept for an answer.
    #[test]
    fn some_that_stay_unread_at_the_beginning_keep_nobody_from_it() {
        let mut world = World::of(1);
        let late: Vec<_> = (0..2).map(|_| world.allocate(BYTES).unwrap()).collect();
        let behind = late[1].data + BYTES;
        for _ in 0..1000 {
            let buffer = world.allocate(BYTES).unwrap();
            let turn = world.pool.wrap_limit;
            assert!((behind..turn + BYTES + PAGE).contains(&buffer.data), "{} {turn}", buffer.data);
            world.read(buffer);
        }
    }

    #[test]
    fn what_stays_unread_is_stepped_over() {
        let mut world = World::of(2);
        let late: Vec<_> = (0..3).map(|_| world.allocate(BYTES).unwrap()).collect();
        for _ in 0..500 {
            let buffer = world.allocate(BYTES).unwrap();
            assert!(late.iter().all(|&late| lie_apart((late, BYTES), (buffer, BYTES))));
            world.read(buffer);
        }
        assert_eq!(world.pool.unread(&world.segment), late.len());
    }

    #[test]
    fn so_many_may_be_unread_and_those_in_the_middle_make_room() {
        let mut world = World::of(1);
        let allocated: Vec<_> =
            (0..BUFFERS_IN_USE_MAX).map(|_| world.allocate(100).unwrap()).collect();
        assert_eq!(world.allocate(100), None);
        world.read(allocated[BUFFERS_IN_USE_MAX / 2]);
        assert!(world.allocate(100).is_some() && world.allocate(100).is_none());
    }

    #[test]
    fn a_copy_begins_elsewhere_in_its_page_than_its_source() {
        let mut world = World::of(2);
        for shift in (0..PAGE).step_by(40) {
            let source = Region::of(&world.data[shift..]);
            let buffer = BounceBuffer::at(world.segment.layout().arena(0), source);
            let to = world.segment.at(buffer.data).as_ptr().addr();
            let apart = to.wrapping_sub(source.start().addr()) % PAGE;
            assert!((PAGE / 2 - LINE..=PAGE / 2).contains(&apart), "{apart}");
        }
        let all = world.segment.layout().arena_bytes();
        assert!(world.arena.cut_for_good(all - 100).is_some());
        assert_eq!((world.allocate(BYTES), world.pool.bytes()), (None, 0), "the arena is used up");
    }

    /// Messages of any length, read in any order: no bounce buffer lies across one that is unread.
    #[test]
    fn buffers_that_are_unread_are_apart() {
        for seed in 0..20_u64 {
            let mut random = seed;
            let mut next = move |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) as usize % below
            };
            let mut world = World::of(1 + (seed % 2) as usize);
            let (mut unread, mut refused) = (Vec::<(BounceBuffer, usize)>::new(), 0);
            for _ in 0..3000 {
                let bytes = 1 + next(world.data.len());
                match world.allocate(bytes) {
                    Some(buffer) => {
                        let apart = |&other: &_| lie_apart((buffer, bytes), other);
                        assert!(unread.iter().all(apart), "seed {seed}");
                        let place = world.pool.place.clone().unwrap();
                        assert!(place.start <= buffer.readers && buffer.data + bytes <= place.end);
                        unread.push((buffer, bytes));
                    }
                    None => refused += 1,
                }
                while !unread.is_empty() && next(unread.len() + 20) > 20 {
                    let (buffer, _) = unread.swap_remove(next(unread.len()));
                    world.read(buffer);
                }
            }
            assert_eq!(world.pool.unread(&world.segment), unread.len(), "seed {seed}");
            assert!(refused < 1500, "seed {seed}: {refused} found no room");
        }
    }
}
