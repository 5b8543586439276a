//! The replay cache reuses the bound execution of a recent identical call and replaces only the
//! buffer addresses.
//!
//! A program makes the same calls time and again, and between two of them only the addresses
//! change. Translating a call (to its blocks, its plan, its kernel) takes longer than its messages
//! do. So the engine keeps the bound execution of a call together with all arguments that the
//! caller has passed. A call with equal arguments gets this execution, with the new addresses put
//! in.
//!
//! The cache keeps only calls that their [`ReplayKey`] describes completely: calls with predefined
//! operators. Most keys are a [`CallSignature`], a few words. Calls with lists of blocks, and those
//! with [derived datatypes](derived), have [more](KeyDetails). Everything else that decides on the
//! plan is part of the key or never changes. The cache is local to the rank, like the plan cache:
//! the execution is that of the plan that the plan cache would have found.

mod derived;
mod key;

use self::derived::DerivedBuffers;
pub(crate) use self::derived::DerivedReplay;
use self::key::CachedDetails;
pub(crate) use self::key::{BlockList, CallSignature, FrontEnd, KeyDetails, Lists, ReplayKey};
use super::{Advance, Engine, Execution, InlineRun, ReplayProgram};
use crate::engine::OpKey;

/// The number of calls in the cache: a power of two.
const SLOTS: usize = 64;
/// The number of slots in which a call may be: its own and those that follow. With one slot, two
/// calls of a program that share it would replace each other all the time; among eight calls and 64
/// slots that happens in every third program.
const ASSOCIATIVITY: usize = 4;
/// The scratch memory of an execution that needs no room, in bytes: all slots together hold little
/// of this, and to translate the call would take as long as its messages.
const SMALL_SCRATCH_BYTES: usize = 64 << 10;
/// The greatest length in bytes of the scratch memory of all cached executions together. An
/// execution with more is given back to the plan cache: translating its call takes much less time
/// than its messages do.
const SCRATCH_BYTES_MAX: usize = 64 << 20;
/// The greatest alignment in bytes that any buffer needs.
const ALIGNMENT: usize = 16;

/// Which buffer of the caller a buffer of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferSource {
    Sent,
    Received,
    /// The plan has no such buffer.
    Nothing,
}

/// A call in the replay cache, with its execution.
pub(super) struct CachedCall {
    signature: CallSignature,
    /// The sources of the input and of the output.
    sources: [BufferSource; 2],
    /// The bytes from the address that the caller passes for each side to its first block.
    starts: [isize; 2],
    /// The bytes sent and received, if the plan has both buffers, which must not overlap.
    lengths: [usize; 2],
    details: Option<CachedDetails>,
    /// The low bits that must be zero in every address.
    misaligned: usize,
    /// The address of the execution, which tells it from executions stored here before.
    owner: usize,
    /// The plan program; `None` if the call is not short.
    program: Option<ReplayProgram>,
    /// The execution; `None` while it is running.
    run: Option<Box<Execution>>,
    /// The addresses of a call with derived datatypes, which has no sources.
    derived: Option<Box<DerivedBuffers>>,
    /// The bytes of the scratch memory of the execution.
    scratch_bytes: usize,
}

impl CachedCall {
    /// The addresses of input and output in this call; `None` if the execution cannot use them.
    #[inline]
    fn addresses(&self, known: &ReplayKey<'_>) -> Option<[*mut u8; 2]> {
        let [sent, received] = firsts(known, self.starts);
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

/// The addresses of the first blocks of both sides, which begin so many bytes behind those that the
/// caller has passed.
#[inline]
fn firsts(known: &ReplayKey<'_>, [start_sent, start_received]: [isize; 2]) -> [*mut u8; 2] {
    // Also of MPI_BOTTOM: then the blocks say where they are.
    [known.sent.wrapping_offset(start_sent), known.received.wrapping_offset(start_received)]
}

/// Recent calls with their executions.
pub(super) struct ReplayCache {
    slots: [Option<CachedCall>; SLOTS],
    /// The number of calls that have replaced another one.
    replaced: usize,
    /// The signatures of the last calls with derived datatypes that were not replayed.
    seen: [Option<CallSignature>; SLOTS],
    /// The place of the next one.
    next_seen: usize,
    /// The number of calls that were found here.
    #[cfg(test)]
    found: usize,
}

/// The progress of a replayed call.
pub(crate) enum Replay {
    /// It has succeeded.
    Over,
    /// It is short: the inline run, how far it has come, and the number of polls left.
    Short(InlineRun, Advance, u32),
    /// It is not short and has not started.
    Long(Box<Execution>),
}

impl Default for ReplayCache {
    fn default() -> ReplayCache {
        ReplayCache {
            slots: [const { None }; SLOTS],
            replaced: 0,
            seen: [None; SLOTS],
            next_seen: 0,
            #[cfg(test)]
            found: 0,
        }
    }
}

impl ReplayCache {
    /// Whether the call of this slot passed the same arguments, except for addresses.
    #[inline]
    fn is_at(&self, slot: usize, known: &ReplayKey<'_>) -> bool {
        self.slots.get(slot).and_then(Option::as_ref).is_some_and(|it| {
            it.signature == known.signature
                && it
                    .details
                    .as_ref()
                    .is_none_or(|details| known.call.is_some_and(|call| details.are(call)))
        })
    }

    /// The bytes of the scratch memory of all executions together, also of those that are running.
    fn scratch_bytes(&self) -> usize {
        self.slots.iter().flatten().map(|call| call.scratch_bytes).sum()
    }

    /// Whether there is room for so many bytes of scratch memory beside those of these calls.
    fn has_scratch_beside(&self, stays: impl Fn(&CachedCall) -> bool, bytes: usize) -> bool {
        let others = self.slots.iter().flatten().filter(|call| stays(call));
        let others: usize = others.map(|call| call.scratch_bytes).sum();
        bytes <= SMALL_SCRATCH_BYTES || others + bytes <= SCRATCH_BYTES_MAX
    }

    /// The slot of a call that is not in its own one.
    #[inline(never)] // so the common case stays short
    fn find_behind(&self, home: usize, known: &ReplayKey<'_>) -> Option<usize> {
        (1..ASSOCIATIVITY)
            .map(|offset| (home + offset) % SLOTS)
            .find(|&slot| self.is_at(slot, known))
    }

    /// The slot for a new call: that of an equal one, an empty one, or else each of its slots in
    /// turn.
    fn slot_for(&mut self, known: &ReplayKey<'_>) -> usize {
        let home = known.signature.slot();
        if self.slots[home].is_none() || self.is_at(home, known) {
            return home;
        }
        let mut others = (1..ASSOCIATIVITY).map(|offset| (home + offset) % SLOTS);
        let empty = || others.find(|&slot| self.slots[slot].is_none());
        self.find_behind(home, known).or_else(empty).unwrap_or_else(|| {
            self.replaced = self.replaced.wrapping_add(1);
            (home + self.replaced % ASSOCIATIVITY) % SLOTS
        })
    }

    /// Finds the cached call with this key, and binds its execution to these addresses and this
    /// number. `None` if there is none or its execution is running.
    #[inline]
    fn bind(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<&mut CachedCall> {
        debug_assert!(!known.is_derived());
        let home = known.signature.slot();
        let found = if self.is_at(home, known) { home } else { self.find_behind(home, known)? };
        let slot = self.slots.get_mut(found)?.as_mut()?;
        let addresses = slot.addresses(known)?;
        slot.run.as_mut()?.bind_again(addresses, number());
        #[cfg(test)]
        {
            self.found += 1;
        }
        Some(slot)
    }
}

impl Engine {
    /// The number of calls that have been replayed.
    #[cfg(test)]
    pub(crate) fn replayed(&self) -> usize {
        self.calls.found
    }

    /// The bytes of scratch memory in the replay cache.
    #[cfg(test)]
    pub(crate) fn cached_scratch_bytes(&self) -> usize {
        self.calls.scratch_bytes()
    }

    /// Whether calls may be replayed: not in check mode, and not when the engine must first check
    /// the room for another operation, as it does for any call.
    #[inline]
    fn may_repeat(&self) -> bool {
        self.books.is_none() && self.operations.len() < self.room
    }

    /// Takes the execution of an identical call, bound to these addresses and this number.
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

    /// Runs an identical short collective inside the cache, as long as its messages are there or
    /// arrive within `max_polls` polls.
    #[inline]
    pub(crate) fn replay(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
        max_polls: u32,
    ) -> Option<Replay> {
        self.replay_with(known, number, max_polls, |_| true)
    }

    /// Like [`Engine::replay`] with one poll, for a caller that does not wait, and only if this
    /// rank either only sends or only receives: a rank that does both waits for an answer in any
    /// case.
    #[inline]
    pub(crate) fn replay_one_way(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<Replay> {
        self.replay_with(known, number, 1, |program| program.is_one_way)
    }

    #[inline(always)] // it is two functions
    fn replay_with(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
        max_polls: u32,
        suits: impl FnOnce(&ReplayProgram) -> bool,
    ) -> Option<Replay> {
        if !self.may_repeat() {
            return None;
        }
        let CachedCall { program, run: kept, .. } = self.calls.bind(known, number)?;
        let program = program.as_ref().filter(|program| suits(program));
        let (Some(program), Some(run)) = (program, &mut *kept) else {
            return kept.take().map(Replay::Long);
        };
        let (mut place, mut advance, mut left) = (0, Advance::Behind, max_polls);
        while left > 0 {
            left -= 1;
            advance = run.run_program(program, &mut place, &mut self.endpoint);
            match advance {
                Advance::Waiting(from) if self.active == 0 => self.endpoint.fetch_from(from),
                _ => break,
            }
        }
        if advance == Advance::Complete {
            self.ended += 1;
            self.progress_others(0);
            return Some(Replay::Over);
        }
        run.begin_at(place);
        kept.take().map(|run| Replay::Short(InlineRun::of(run, None), advance, left))
    }

    /// Stores the execution of a call that has ended, with its input and output buffers and their
    /// bytes. Only for calls that need nothing beside the execution.
    pub(crate) fn store(
        &mut self,
        run: &mut Execution,
        known: &ReplayKey<'_>,
        (buffers, bytes): ([*mut u8; 2], [usize; 2]),
    ) {
        let starts = known.call.map_or([0; 2], |call| call.starts());
        let [sent, received] = firsts(known, starts);
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
            starts,
            lengths: match [input, output] {
                [BufferSource::Sent, BufferSource::Received] => bytes,
                [BufferSource::Received, BufferSource::Sent] => [bytes[1], bytes[0]],
                _ => [0, 0],
            },
            details: known.call.and_then(CachedDetails::of),
            misaligned: (1 << low.trailing_zeros()) - 1,
            owner: std::ptr::from_ref::<Execution>(run).addr(),
            program: run.compile_for_replay(),
            run: None,
            derived: None,
            scratch_bytes: run.scratch_bytes(),
        };
        self.put(run, known, kept);
    }

    /// Puts a call into the cache, in place of another one if there is no slot. There must be room
    /// for its scratch memory.
    fn put(&mut self, run: &mut Execution, known: &ReplayKey<'_>, kept: CachedCall) {
        let slot = self.calls.slot_for(known);
        if kept.scratch_bytes > SMALL_SCRATCH_BYTES {
            let former = self.calls.slots[slot].as_ref().map_or(0, |call| call.scratch_bytes);
            let others = self.calls.scratch_bytes() - former;
            if others + kept.scratch_bytes > SCRATCH_BYTES_MAX {
                run.keep_nowhere();
                return;
            }
        }
        run.keep_at(slot);
        if let Some(CachedCall { run: Some(former), .. }) = self.calls.slots[slot].replace(kept) {
            self.cache.give_back(former);
        }
    }

    /// Returns an execution that has ended to the replay cache or to the plan cache.
    #[inline(always)] // all operations that run once end here
    pub(super) fn release(&mut self, mut run: Box<Execution>) {
        if let Some(slot) = run.kept_at() {
            if let Some(kept) = self.calls.slots.get_mut(slot).and_then(Option::as_mut)
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
