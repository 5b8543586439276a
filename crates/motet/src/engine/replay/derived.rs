//! Replay of calls with derived datatypes.
//!
//! The key of such a call holds the identities of its datatypes. No identity is used twice, so a
//! call with a new datatype is a new call, even if the datatype lies where a freed one lay.
//!
//! Data of a derived datatype need not begin at the address that the caller passes, and data with
//! gaps moves through streams (module `pack`). So the cache holds, beside the execution, the packed
//! copies and the distance of each address from the one that the caller passed for its side. A
//! replay moves all these addresses; the streams stay where they are.
//!
//! A call with a derived datatype is stored when it is made for the second time. So a program that
//! makes a new datatype for each call fills the cache with nothing.

#![allow(unsafe_code)] // listed in docs/unsafe.md

#[cfg(test)]
mod tests;

use motet_fabric::slab::Id;

use super::{ALIGNMENT, BufferSource, CachedCall, CachedDetails, ReplayCache, ReplayKey};
use crate::data::buffer::RawSlice;
use crate::engine::{Advance, Engine, Execution, InlineRun, OpKey, PackedBuffers};

/// The greatest length in bytes of all streams, layouts and lists of the cache together.
const HELD_BYTES_MAX: usize = 4 << 20;

/// An address of a call: so many bytes behind the address that the caller passed for a side.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// The side; nothing if the address is null or that of a stream.
    source: BufferSource,
    offset: isize,
}

impl Anchor {
    /// An address that stays the same in each call.
    const FIXED: Anchor = Anchor { source: BufferSource::Nothing, offset: 0 };

    /// The address in a call that passes these addresses for its sides; `None` if it is fixed.
    fn address(self, [sent, received]: [*mut u8; 2]) -> Option<*mut u8> {
        let base = match self.source {
            BufferSource::Sent => sent,
            BufferSource::Received => received,
            BufferSource::Nothing => return None,
        };
        Some(base.wrapping_offset(self.offset))
    }

    /// The anchor of an address that lies behind the base of one side. `None` if the base is that
    /// of no side, or of both.
    fn behind(base: *mut u8, [sent, received]: [*mut u8; 2], address: *mut u8) -> Option<Anchor> {
        let source = match (base == sent, base == received) {
            _ if base.is_null() => return None,
            (true, false) => BufferSource::Sent,
            (false, true) => BufferSource::Received,
            _ => return None,
        };
        let offset = address.addr().wrapping_sub(base.addr()).cast_signed();
        Some(Anchor { source, offset })
    }
}

/// The buffers of a cached call with derived datatypes.
pub(super) struct DerivedBuffers {
    /// The input and the output of the plan.
    buffers: [Anchor; 2],
    /// Their lengths in bytes, if both lie in memory of the caller, where they must not overlap.
    lengths: [usize; 2],
    /// The low bits that must be zero in the addresses of these buffers.
    misaligned: usize,
    /// The first items of the packed blocks.
    blocks: Box<[Anchor]>,
    /// The bytes of all streams, layouts and lists together.
    held_bytes: usize,
    has_packed: bool,
    /// The packed copies; `None` while an operation has them, or if there are none.
    packed: Option<Box<PackedBuffers>>,
}

impl DerivedBuffers {
    /// The buffers of a call with this input and output. `None` if it cannot be replayed, because
    /// the addresses that its caller passed do not determine its other addresses.
    fn of(
        known: &ReplayKey<'_>,
        (spans, element_bytes): ([RawSlice; 2], usize),
        packed: Option<&PackedBuffers>,
    ) -> Option<DerivedBuffers> {
        let sides = [known.sent, known.received];
        let starts = known.call.map_or([0; 2], |call| call.starts());
        let firsts = [0, 1].map(|side: usize| sides[side].wrapping_offset(starts[side]));
        let is_fixed = |start: *mut u8| {
            start.is_null() || packed.is_some_and(|packed| packed.has_stream_at(start))
        };
        let anchor = |span: RawSlice| {
            if is_fixed(span.start) {
                return Some(Anchor::FIXED);
            }
            let base = match firsts.map(|first| first == span.start) {
                [true, false] => sides[0],
                [false, true] => sides[1],
                _ => return None,
            };
            Anchor::behind(base, sides, span.start)
        };
        let [Some(input), Some(output)] = spans.map(anchor) else { return None };
        let blocks = packed.map_or(&[][..], PackedBuffers::blocks);
        let blocks = blocks.iter().map(|block| Anchor::behind(block.base, sides, block.address));
        let blocks = blocks.collect::<Option<Box<[Anchor]>>>()?;
        let buffers = [input, output];
        let held_bytes = packed.map_or(0, PackedBuffers::held_bytes) + size_of_val(&*blocks);
        let are_both = buffers.iter().all(|anchor| anchor.source != BufferSource::Nothing);
        let given = spans.iter().filter(|span| !is_fixed(span.start));
        let low = given.fold(ALIGNMENT, |low, span| low | span.start.addr());
        Some(DerivedBuffers {
            buffers,
            lengths: spans.map(|span| if are_both { span.len * element_bytes } else { 0 }),
            misaligned: (1 << low.trailing_zeros()) - 1,
            blocks,
            held_bytes,
            has_packed: packed.is_some(),
            packed: None,
        })
    }

    /// Moves an execution, and the packed copies, to the addresses of this call. `None` if the
    /// execution cannot use them, or if an operation has the packed copies.
    fn bind(
        &mut self,
        run: &mut Execution,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<()> {
        let sides = [known.sent, known.received];
        if sides[0] == sides[1] || self.packed.is_some() != self.has_packed {
            return None;
        }
        let uses_null = |anchor: &Anchor| match anchor.source {
            BufferSource::Sent => sides[0].is_null(),
            BufferSource::Received => sides[1].is_null(),
            BufferSource::Nothing => false,
        };
        if self.buffers.iter().chain(&self.blocks).any(uses_null) {
            return None;
        }
        let buffers = self.buffers.map(|anchor| anchor.address(sides));
        if buffers.iter().flatten().any(|place| place.addr() & self.misaligned != 0) {
            return None;
        }
        if let [Some(input), Some(output)] = buffers
            && (output.addr().wrapping_sub(input.addr()) < self.lengths[0]
                || input.addr().wrapping_sub(output.addr()) < self.lengths[1])
        {
            return None; // One overlaps the other, which is looked at more closely.
        }
        run.bind_moved(buffers, number());
        if let Some(packed) = &mut self.packed {
            let blocks = self.blocks.iter().filter_map(|anchor| anchor.address(sides));
            // SAFETY: the caller of this call holds the same memory behind its addresses as the
            // caller of the first call did: datatypes, counts and displacements are equal.
            unsafe { packed.relocate(blocks) };
        }
        Some(())
    }
}

/// The progress of a replayed call with derived datatypes.
pub(crate) enum DerivedReplay {
    /// It has succeeded.
    Over,
    /// It is short: the inline run, how far it has come, and the number of polls left.
    Short(InlineRun, Advance, u32),
    /// It is not short, and has started.
    Begun(Result<InlineRun, Id>),
}

impl ReplayCache {
    /// Finds the cached call with this key, and binds its execution to these addresses and this
    /// number. `None` if there is none or its execution is running.
    fn bind_derived(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<(&mut CachedCall, Option<Box<PackedBuffers>>)> {
        debug_assert!(known.is_derived());
        let home = known.signature.slot();
        let found = if self.is_at(home, known) { home } else { self.find_behind(home, known)? };
        let slot = self.slots.get_mut(found)?.as_mut()?;
        let (derived, run) = (slot.derived.as_deref_mut()?, slot.run.as_deref_mut()?);
        derived.bind(run, known, number)?;
        let packed = derived.packed.take();
        #[cfg(test)]
        {
            self.found += 1;
        }
        Some((slot, packed))
    }

    /// Whether one of the last calls that were not replayed had the signature of this one. From now
    /// on this call is one of them.
    fn is_seen_again(&mut self, known: &ReplayKey<'_>) -> bool {
        let signature = Some(known.signature);
        if self.seen.contains(&signature) {
            return true;
        }
        self.seen[self.next_seen] = signature;
        self.next_seen = (self.next_seen + 1) % self.seen.len();
        false
    }

    /// The bytes that this call holds in the cache.
    fn held_bytes_of(&self, known: &ReplayKey<'_>) -> usize {
        let home = known.signature.slot();
        let slot = if self.is_at(home, known) { Some(home) } else { self.find_behind(home, known) };
        let call = slot.and_then(|slot| self.slots[slot].as_ref());
        call.and_then(|call| call.derived.as_ref()).map_or(0, |derived| derived.held_bytes)
    }

    /// The bytes of all streams, layouts and lists of the cache together, also of those that
    /// operations have.
    fn held_bytes(&self) -> usize {
        let cached = self.slots.iter().flatten();
        cached.filter_map(|call| call.derived.as_ref()).map(|derived| derived.held_bytes).sum()
    }
}

impl Engine {
    /// The bytes of all streams, layouts and lists in the replay cache.
    #[cfg(test)]
    pub(crate) fn cached_held_bytes(&self) -> usize {
        self.calls.held_bytes()
    }

    /// Takes the execution of an identical call with derived datatypes, bound to these addresses
    /// and this number, and its packed copies. The data is not packed yet.
    pub(crate) fn take_derived(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
    ) -> Option<(Box<Execution>, Option<Box<PackedBuffers>>)> {
        if !self.may_repeat() {
            return None;
        }
        let (CachedCall { run, .. }, packed) = self.calls.bind_derived(known, number)?;
        Some((run.take()?, packed))
    }

    /// Like [`Engine::replay`], for a call with derived datatypes.
    pub(crate) fn replay_derived(
        &mut self,
        known: &ReplayKey<'_>,
        number: impl FnOnce() -> OpKey,
        max_polls: u32,
    ) -> Option<DerivedReplay> {
        if !self.may_repeat() {
            return None;
        }
        let (slot, mut packed) = self.calls.bind_derived(known, number)?;
        let CachedCall { program, run: kept, derived, .. } = slot;
        let (Some(program), Some(run)) = (program.as_ref(), &mut *kept) else {
            let run = kept.take()?;
            return Some(DerivedReplay::Begun(self.start_inline(run, packed)));
        };
        if let Some(packed) = &mut packed {
            packed.collect();
        }
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
            if let Some(packed) = &mut packed {
                packed.unpack(usize::MAX);
            }
            if let Some(derived) = derived {
                derived.packed = packed;
            }
            self.ended += 1;
            self.progress_others(0);
            return Some(DerivedReplay::Over);
        }
        run.begin_at(place);
        let inline = InlineRun::of(kept.take()?, packed);
        Some(DerivedReplay::Short(inline, advance, left))
    }

    /// Like [`Engine::store`], for a call with derived datatypes, of whose data these are packed
    /// copies. Not stored are calls that hold more than there is room for, and calls that are made
    /// for the first time: a program may make a new datatype for each call.
    pub(crate) fn store_derived(
        &mut self,
        run: &mut Execution,
        known: &ReplayKey<'_>,
        spans: ([RawSlice; 2], usize),
        packed: Option<&PackedBuffers>,
    ) {
        if !self.may_repeat() || !self.calls.is_seen_again(known) {
            return;
        }
        let Some(derived) = DerivedBuffers::of(known, spans, packed) else { return };
        if derived.held_bytes > HELD_BYTES_MAX {
            return;
        }
        let others = self.calls.held_bytes() - self.calls.held_bytes_of(known);
        let are_too_many = others + derived.held_bytes > HELD_BYTES_MAX;
        let kept = CachedCall {
            signature: known.signature,
            starts: [0; 2],
            sources: [BufferSource::Nothing; 2],
            lengths: [0; 2],
            details: known.call.and_then(CachedDetails::of),
            misaligned: 0,
            owner: std::ptr::from_ref::<Execution>(run).addr(),
            program: run.compile_for_replay(),
            run: None,
            derived: Some(Box::new(derived)),
            scratch_bytes: run.scratch_bytes(),
        };
        if are_too_many {
            let stays = |call: &CachedCall| call.derived.is_none();
            if !self.calls.has_scratch_beside(stays, kept.scratch_bytes) {
                return run.keep_nowhere(); // The others are not removed for nothing.
            }
            self.forget_derived();
        }
        self.put(run, known, kept);
    }

    /// Removes all calls with derived datatypes from the cache: they hold too much.
    fn forget_derived(&mut self) {
        for slot in &mut self.calls.slots {
            let is_derived = |call: &mut CachedCall| call.derived.is_some();
            if let Some(CachedCall { run: Some(mut former), .. }) = slot.take_if(is_derived) {
                former.keep_nowhere();
                self.cache.give_back(former);
            }
        }
    }

    /// Returns the packed copies of an execution that has ended to the replay cache, if it holds
    /// the call of that execution.
    pub(in crate::engine) fn release_packed(
        &mut self,
        run: &Execution,
        packed: &mut Option<Box<PackedBuffers>>,
    ) {
        if let Some(slot) = run.kept_at()
            && let Some(kept) = self.calls.slots.get_mut(slot).and_then(Option::as_mut)
            && kept.owner == std::ptr::from_ref::<Execution>(run).addr()
            && let Some(derived) = &mut kept.derived
        {
            derived.packed = packed.take();
        }
    }
}
