//! Calls that are made again.
//!
//! A program makes the same calls time and again, and between two of them nothing changes but the
//! addresses. To find out what such a call comes to (which blocks, which plan, which kernel) takes
//! longer than its messages do. So the run of a call is kept, bound, with all that the caller has
//! passed; a call that passes the same gets that run, with the new addresses put in.
//!
//! Only calls are kept of which the [`Signature`] says everything: on data without gaps of
//! predefined datatypes, with predefined operators. Whatever else decides on the plan is a part of
//! the signature, or does not change. It is the rank's own affair, as the cache of plans is: the
//! run is that of the plan that would have been found.

use super::{Engine, Run};
use crate::engine::Number;
use crate::raw::Collective;

/// How many calls are kept.
const SLOTS: usize = 16;
/// No address needs to be a greater power of two.
const ALIGNMENT: usize = 16;

/// All that a caller passes but addresses and lists, in few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) context: u64,
    /// The collective, how its plan is selected, its operator, and the datatypes of both sides.
    pub(crate) what: u64,
    pub(crate) root: u64,
    /// Items (or blocks) that are sent, and that are received.
    pub(crate) sent: usize,
    pub(crate) received: usize,
}

impl Signature {
    /// Where it is kept.
    #[inline]
    fn slot(&self) -> usize {
        (self.what as usize ^ (self.context as usize >> 3) ^ self.received) % SLOTS
    }
}

/// Which of the data a buffer of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Sent,
    Received,
    /// It has no such buffer.
    Nothing,
}

/// Counts and displacements of the blocks of one side, where each has its own.
pub(crate) type Lists<'a> = Option<(&'a [usize], &'a [isize])>;

/// A call that may be made again: what its buffers are, and where they lie this time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) signature: Signature,
    /// Null if nothing is sent.
    pub(crate) sent: *mut u8,
    /// Null if nothing is received.
    pub(crate) received: *mut u8,
    /// It has the lists of blocks, if there are any.
    pub(crate) call: &'a Collective<'a>,
}

/// The lists of a call, kept.
#[derive(Default)]
struct KeptLists(Box<[usize]>, Box<[isize]>);

impl KeptLists {
    fn of([sent, received]: [Lists<'_>; 2]) -> Option<KeptLists> {
        let both = || sent.into_iter().chain(received);
        let counts = both().flat_map(|(counts, _)| counts).copied().collect();
        let displacements = both().flat_map(|(_, displacements)| displacements).copied().collect();
        both().next().map(|_| KeptLists(counts, displacements))
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
pub(super) struct Kept {
    signature: Signature,
    /// Of the input and the output.
    sources: [Source; 2],
    lists: Option<KeptLists>,
    /// The low bits that no address may have.
    misaligned: usize,
    /// Whose address tells it from the runs that were kept here before.
    owner: usize,
    /// Not there while it is under way.
    run: Option<Box<Run>>,
}

/// The calls that are kept.
#[derive(Default)]
pub(super) struct Calls([Option<Kept>; SLOTS]);

impl Engine {
    /// The run of a call that is the same as one before, with these addresses, under this number.
    pub(crate) fn again(
        &mut self,
        known: &Known<'_>,
        number: impl FnOnce() -> Number,
    ) -> Option<Box<Run>> {
        let slot = self.calls.0.get_mut(known.signature.slot())?.as_mut()?;
        if slot.signature != known.signature || self.books.is_some() {
            return None;
        }
        if slot.lists.as_ref().is_some_and(|lists| !lists.are(known.call.lists())) {
            return None;
        }
        if self.operations.len() >= self.room {
            return None; // whether there is more is asked as of any other call
        }
        let Known { sent, received, .. } = *known;
        if sent == received && !sent.is_null() {
            return None; // which is wrong where one is reduced into the other
        }
        let place = |source: Source| match source {
            Source::Sent => sent,
            Source::Received => received,
            Source::Nothing => std::ptr::null_mut(),
        };
        let [input, output] = slot.sources;
        let is_wrong = |place: *mut u8, source: Source| {
            let misplaced = place.is_null() || place.addr() & slot.misaligned != 0;
            misplaced && source != Source::Nothing
        };
        let addresses = [place(input), place(output)];
        if is_wrong(addresses[0], input) || is_wrong(addresses[1], output) {
            return None;
        }
        let mut run = slot.run.take()?;
        run.bind_again(addresses, number());
        Some(run)
    }

    /// Keeps what a call has come to, once it is over: this run, whose input and output these are.
    /// Nothing else must be done for the call than to run it.
    pub(crate) fn keep(&mut self, run: &mut Run, known: &Known<'_>, buffers: [*mut u8; 2]) {
        let Known { sent, received, .. } = *known;
        let source = |buffer: *mut u8| match buffer {
            _ if buffer.is_null() => Some(Source::Nothing),
            _ if sent == received => None,
            _ if buffer == sent => Some(Source::Sent),
            _ if buffer == received => Some(Source::Received),
            _ => None,
        };
        let [Some(input), Some(output)] = buffers.map(source) else { return };
        let low = buffers.iter().fold(ALIGNMENT, |low, buffer| low | buffer.addr());
        let kept = Kept {
            signature: known.signature,
            sources: [input, output],
            lists: KeptLists::of(known.call.lists()),
            misaligned: (1 << low.trailing_zeros()) - 1,
            owner: std::ptr::from_ref::<Run>(run).addr(),
            run: None,
        };
        let slot = known.signature.slot();
        run.keep_at(slot);
        if let Some(Kept { run: Some(former), .. }) = self.calls.0[slot].replace(kept) {
            self.cache.give_back(former);
        }
    }

    /// Takes back a run that is over.
    pub(super) fn take_back(&mut self, mut run: Box<Run>) {
        if let Some(slot) = run.kept_at() {
            if let Some(kept) = self.calls.0.get_mut(slot).and_then(Option::as_mut)
                && kept.owner == std::ptr::from_ref::<Run>(&run).addr()
            {
                kept.run = Some(run);
                return;
            }
            run.keep_nowhere();
        }
        self.cache.give_back(run);
    }
}
