//! Calls that are made again.
//!
//! A program makes the same calls time and again, and between two of them nothing changes but the
//! addresses. To find out what such a call comes to (which blocks, which plan, which kernel) takes
//! longer than its messages do. So the run of a call is kept, bound, with all that the caller has
//! passed; a call that passes the same gets that run, with the new addresses put in.
//!
//! Only calls are kept of which the [`CallSignature`] says everything: on data without gaps of
//! predefined datatypes, with predefined operators. Whatever else decides on the plan is a part of
//! the signature, or does not change. It is the rank's own affair, as the cache of plans is: the
//! run is that of the plan that would have been found.

use std::fmt::Debug;

use super::{Advance, Engine, Execution, InlineRun, PlanProgram};
use crate::engine::OpKey;

/// How many calls are kept: a power of two.
const SLOTS: usize = 16;
/// Its product with words that differ in few bits differs in the highest ones.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// No address needs to be a greater power of two.
const ALIGNMENT: usize = 16;

/// All that a caller passes but addresses and lists, in few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSignature {
    pub(crate) context: u64,
    /// The collective, how its plan is selected, its operator, and the datatypes of both sides.
    pub(crate) what: u64,
    pub(crate) root: u64,
    /// Items (or blocks) that are sent, and that are received.
    pub(crate) sent: usize,
    pub(crate) received: usize,
}

impl CallSignature {
    /// Where it is kept.
    #[inline]
    fn slot(&self) -> usize {
        let counts = (self.received as u64).rotate_left(32) ^ (self.sent as u64).rotate_left(48);
        let words = self.what ^ self.context.rotate_left(16) ^ counts ^ self.root << 8;
        (words.wrapping_mul(SPREAD) >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

/// Which of the data a buffer of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferSource {
    Sent,
    Received,
    /// It has no such buffer.
    Nothing,
}

/// Counts and displacements of the blocks of one side, where each has its own.
pub(crate) type Lists<'a> = Option<(&'a [usize], &'a [isize])>;

/// A call that has lists of blocks.
pub(crate) trait HasLists: Debug {
    /// Counts and displacements of what is sent and of what is received, where each block has its
    /// own.
    fn lists(&self) -> [Lists<'_>; 2];
}

/// A call that may be made again: what its buffers are, and where they lie this time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplayKey<'a> {
    pub(crate) signature: CallSignature,
    /// Null if nothing is sent.
    pub(crate) sent: *mut u8,
    /// Null if nothing is received.
    pub(crate) received: *mut u8,
    /// It has the lists of blocks, if there are any. Not there if there are none.
    pub(crate) call: Option<&'a dyn HasLists>,
}

impl ReplayKey<'_> {
    /// Counts and displacements of the blocks of both sides.
    fn lists(&self) -> [Lists<'_>; 2] {
        self.call.map_or([None, None], HasLists::lists)
    }
}

/// The lists of a call, kept.
#[derive(Default)]
struct VectorLists(Box<[usize]>, Box<[isize]>);

impl VectorLists {
    fn of([sent, received]: [Lists<'_>; 2]) -> Option<VectorLists> {
        let both = || sent.into_iter().chain(received);
        let counts = both().flat_map(|(counts, _)| counts).copied().collect();
        let displacements = both().flat_map(|(_, displacements)| displacements).copied().collect();
        both().next().map(|_| VectorLists(counts, displacements))
    }

    /// Whether they are those of a call whose signature is the same, so that each list has its
    /// length.
    fn are(&self, lists: [Lists<'_>; 2]) -> bool {
        let (mut counts, mut displacements) = (&*self.0, &*self.1);
        lists.into_iter().flatten().all(|(wanted, places)| {
            let Some(rest) = counts.strip_prefix(wanted) else { return false };
            let Some(others) = displacements.strip_prefix(places) else { return false };
            (counts, displacements) = (rest, others);
            true
        })
    }
}

/// What a call has come to.
pub(super) struct CachedCall {
    signature: CallSignature,
    /// Of the input and the output.
    sources: [BufferSource; 2],
    /// Bytes of what is sent and of what is received, if the plan has both: they lie apart.
    lengths: [usize; 2],
    lists: Option<VectorLists>,
    /// The low bits that no address may have.
    misaligned: usize,
    /// Whose address tells it from the runs that were kept here before.
    owner: usize,
    /// Not there if it is not short.
    course: Option<PlanProgram>,
    /// Not there while it is under way.
    run: Option<Box<Execution>>,
}

impl CachedCall {
    /// Where input and output lie this time; nothing if they may not lie there.
    #[inline]
    fn addresses(&self, known: &ReplayKey<'_>) -> Option<[*mut u8; 2]> {
        let ReplayKey { sent, received, .. } = *known;
        let [bytes_sent, bytes_received] = self.lengths;
        if received.addr().wrapping_sub(sent.addr()) < bytes_sent
            || sent.addr().wrapping_sub(received.addr()) < bytes_received
        {
            return None; // One overlaps the other, which is looked at more closely.
        }
        let place = |source: BufferSource| match source {
            BufferSource::Sent => sent,
            BufferSource::Received => received,
            BufferSource::Nothing => std::ptr::null_mut(),
        };
        let is_wrong = |place: *mut u8, source: BufferSource| {
            let misplaced = place.is_null() || place.addr() & self.misaligned != 0;
            misplaced && source != BufferSource::Nothing
        };
        let [input, output] = self.sources;
        let addresses = [place(input), place(output)];
        let are_wrong = is_wrong(addresses[0], input) || is_wrong(addresses[1], output);
        (!are_wrong).then_some(addresses)
    }
}

/// The calls that are kept.
#[derive(Default)]
pub(super) struct ReplayCache([Option<CachedCall>; SLOTS]);

/// How far a call has come that is the same as one before.
pub(crate) enum Replay {
    /// It is over, and has ended well.
    Over,
    /// It is short, and has come so far with so many looks left.
    Short(InlineRun, Advance, u32),
    /// It is not short, and has not begun.
    Long(Box<Execution>),
}

impl ReplayCache {
    /// Where the run of a call is kept that is the same as one before. It gets these addresses,
    /// and this number. It may be under way, and is not there then.
    #[inline]
    fn bind(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<&mut CachedCall> {
        let slot = self.0.get_mut(known.signature.slot())?.as_mut()?;
        if slot.signature != known.signature {
            return None;
        }
        if slot.lists.as_ref().is_some_and(|lists| !lists.are(known.lists())) {
            return None;
        }
        let addresses = slot.addresses(known)?;
        slot.run.as_mut()?.bind_again(addresses, number());
        Some(slot)
    }
}

impl Engine {
    /// Whether a call may get the run of one before. Whether there is room for more operations is
    /// asked as of any other call.
    #[inline]
    fn may_repeat(&self) -> bool {
        self.books.is_none() && self.operations.len() < self.room
    }

    /// The run of a call that is the same as one before, with these addresses, under this number.
    pub(crate) fn take_cached(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<Box<Execution>> {
        if !self.may_repeat() {
            return None;
        }
        self.calls.bind(known, number)?.run.take()
    }

    /// Runs a short collective that is the same as one before, where it is kept: while all that it
    /// needs is there, or comes within so many looks.
    #[inline]
    pub(crate) fn replay(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
        looks: u32,
    ) -> Option<Replay> {
        self.dash_along(known, number, looks, |_| true)
    }

    /// The same with one look, for whoever does not wait, and only if this rank either sends or
    /// receives: who does both waits for an answer in any case.
    #[inline]
    pub(crate) fn replay_one_way(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<Replay> {
        self.dash_along(known, number, 1, |course| course.is_one_way)
    }

    #[inline(always)] // it is two functions
    fn dash_along(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
        looks: u32,
        suits: impl FnOnce(&PlanProgram) -> bool,
    ) -> Option<Replay> {
        if !self.may_repeat() {
            return None;
        }
        let CachedCall { course, run: kept, .. } = self.calls.bind(known, number)?;
        let course = course.as_ref().filter(|course| suits(course));
        let (Some(course), Some(run)) = (course, &mut *kept) else {
            return kept.take().map(Replay::Long);
        };
        let (mut place, mut pace, mut left) = (0, Advance::Behind, looks);
        while left > 0 {
            left -= 1;
            pace = run.follow(course, &mut place, &mut self.endpoint);
            match pace {
                Advance::Waiting(from) if self.active == 0 => self.endpoint.fetch_from(from),
                _ => break,
            }
        }
        if pace == Advance::Complete {
            self.ended += 1;
            self.progress_others(0);
            return Some(Replay::Over);
        }
        run.begin_at(place);
        kept.take().map(|run| Replay::Short(InlineRun::of(run), pace, left))
    }

    /// Keeps what a call has come to, once it is over: this run, whose input and output these are,
    /// with so many bytes. Nothing else must be done for the call than to run it.
    pub(crate) fn store(
        &mut self,
        run: &mut Execution,
        known: &ReplayKey<'_>,
        (buffers, bytes): ([*mut u8; 2], [usize; 2]),
    ) {
        let ReplayKey { sent, received, .. } = *known;
        let source = |buffer: *mut u8| match buffer {
            _ if buffer.is_null() => Some(BufferSource::Nothing),
            _ if sent == received => None,
            _ if buffer == sent => Some(BufferSource::Sent),
            _ if buffer == received => Some(BufferSource::Received),
            _ => None,
        };
        let [Some(input), Some(output)] = buffers.map(source) else { return };
        let low = buffers.iter().fold(ALIGNMENT, |low, buffer| low | buffer.addr());
        let kept = CachedCall {
            signature: known.signature,
            sources: [input, output],
            lengths: match [input, output] {
                [BufferSource::Sent, BufferSource::Received] => bytes,
                [BufferSource::Received, BufferSource::Sent] => [bytes[1], bytes[0]],
                _ => [0, 0],
            },
            lists: VectorLists::of(known.lists()),
            misaligned: (1 << low.trailing_zeros()) - 1,
            owner: std::ptr::from_ref::<Execution>(run).addr(),
            course: PlanProgram::of(run),
            run: None,
        };
        let slot = known.signature.slot();
        run.keep_at(slot);
        if let Some(CachedCall { run: Some(former), .. }) = self.calls.0[slot].replace(kept) {
            self.cache.give_back(former);
        }
    }

    /// Takes back a run that is over.
    #[inline(always)] // all operations that run once end here
    pub(super) fn release(&mut self, mut run: Box<Execution>) {
        if let Some(slot) = run.kept_at() {
            if let Some(kept) = self.calls.0.get_mut(slot).and_then(Option::as_mut)
                && kept.owner == std::ptr::from_ref::<Execution>(&run).addr()
            {
                kept.run = Some(run);
                return;
            }
            run.keep_nowhere();
        }
        self.postpone_operator(&mut run);
        self.cache.give_back(run);
    }
}
