//! Models of the protocols of handles, for loom, which tries every order of their steps that the
//! memory model allows. Run it with
//! `RUSTFLAGS="--cfg loom" cargo test -p motet-abi --test protocols`.
//!
//! They mirror `Slot` and the list of free slots of `Arena` line by line, where several threads may
//! be in the library; the README.md of `src` has the proofs. An object that is used when it is
//! gone, or gone twice, is an access that loom's cells refuse.

#![cfg(loom)]
#![allow(unsafe_code)] // listed in docs/unsafe.md

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

const USER: u64 = 1;
const USERS: u64 = (1 << 32) - 1;
const LIVE: u64 = 1 << 32;
const CLAIMED: u64 = 1 << 33;
const GENERATION_SHIFT: u32 = 40;

fn update(word: &AtomicU64, change: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
    word.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok()
}

struct Slot {
    word: AtomicU64,
    next: AtomicU64,
    /// How often its object has been made and dropped; read while it is used.
    shared: UnsafeCell<[u32; 2]>,
    own: UnsafeCell<u32>,
}

/// Two slots, and the list of those that are free.
struct Arena {
    slots: [Slot; 2],
    free: AtomicU64,
}

impl Arena {
    /// With an object of generation 0 in slot 0; slot 1 is free.
    fn with_object() -> Arena {
        Arena::new([(LIVE, 1), (0, 0)], 2)
    }

    /// Both slots are free: 0, then 1.
    fn without_objects() -> Arena {
        let arena = Arena::new([(0, 0), (0, 0)], 1);
        arena.slots[0].next.store(2, Ordering::Relaxed);
        arena
    }

    fn new(slots: [(u64, u32); 2], free: u64) -> Arena {
        let slot = |(word, made)| Slot {
            word: AtomicU64::new(word),
            next: AtomicU64::new(0),
            shared: UnsafeCell::new([made, 0]),
            own: UnsafeCell::new(0),
        };
        Arena { slots: slots.map(slot), free: AtomicU64::new(free) }
    }

    fn counted(former: u64, first: u64) -> u64 {
        ((former >> 32) + 1) << 32 | first
    }

    fn unused(&self) -> Option<usize> {
        let next = |free: u64| {
            let first = (free as u32).checked_sub(1)?;
            let next = self.slots[first as usize].next.load(Ordering::Relaxed);
            Some(Arena::counted(free, next))
        };
        update(&self.free, next).map(|free| free as u32 as usize - 1)
    }

    fn give_back(&self, index: usize) {
        update(&self.free, |free| {
            self.slots[index].next.store(u64::from(free as u32), Ordering::Relaxed);
            Some(Arena::counted(free, index as u64 + 1))
        });
    }

    /// Fills a slot that was given to this thread; the generation of its object.
    fn fill(&self, index: usize) -> u64 {
        let slot = &self.slots[index];
        // SAFETY (for all such accesses): loom refuses those that others make at the same time.
        // SAFETY: see above.
        slot.shared.with_mut(|object| unsafe { (*object)[0] += 1 });
        // SAFETY: see above.
        slot.own.with_mut(|own| unsafe { *own = 0 });
        let generation = slot.word.load(Ordering::Acquire) >> GENERATION_SHIFT;
        slot.word.store(generation << GENERATION_SHIFT | LIVE, Ordering::Release);
        generation
    }

    fn change(
        &self,
        index: usize,
        generation: u64,
        to: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let there = generation << GENERATION_SHIFT | LIVE;
        let is_there = |word: u64| word & !(USERS | CLAIMED) == there;
        let change = |word| if is_there(word) { to(word) } else { None };
        update(&self.slots[index].word, change)
    }

    fn find(&self, index: usize, generation: u64) -> bool {
        self.change(index, generation, |word| Some(word + USER)).is_some()
    }

    fn claim(&self, index: usize, generation: u64) -> bool {
        let claim = |word| (word & CLAIMED == 0).then_some(word | CLAIMED);
        self.change(index, generation, claim).is_some()
    }

    fn retire(&self, index: usize, generation: u64) -> bool {
        let former = self.change(index, generation, |word| Some(word & !LIVE));
        if let Some(former) = former {
            self.go_if_last(index, former & !LIVE);
        }
        former.is_some()
    }

    fn take(&self, index: usize, generation: u64) -> bool {
        let alone = |word| (word & (USERS | CLAIMED) == 0).then_some(word & !LIVE);
        let is_taken = self.change(index, generation, alone).is_some();
        if is_taken {
            self.empty(index);
        }
        is_taken
    }

    /// What a `ObjectRef` is for: looks at the object, which must be there.
    fn read(&self, index: usize) {
        // SAFETY: see above.
        let [made, dropped] = self.slots[index].shared.with(|object| unsafe { *object });
        assert_eq!(made, dropped + 1);
    }

    fn drop_found(&self, index: usize) {
        let former = update(&self.slots[index].word, |word| Some(word - USER)).unwrap();
        self.go_if_last(index, former - USER);
    }

    fn give_up(&self, index: usize, what: u64) {
        let former = update(&self.slots[index].word, |word| Some(word & !what)).unwrap();
        self.go_if_last(index, former & !what);
    }

    fn go_if_last(&self, index: usize, word: u64) {
        if word & (USERS | LIVE | CLAIMED) == 0 {
            self.empty(index);
        }
    }

    fn empty(&self, index: usize) {
        let slot = &self.slots[index];
        slot.shared.with_mut(|object| {
            // SAFETY: see above.
            let [made, dropped] = unsafe { *object };
            assert_eq!(made, dropped + 1, "one empties it");
            // SAFETY: see above.
            unsafe { (*object)[1] += 1 };
        });
        slot.own.with_mut(|_| ());
        let next = (slot.word.load(Ordering::Acquire) >> GENERATION_SHIFT) + 1;
        slot.word.store(next << GENERATION_SHIFT, Ordering::Release);
        self.give_back(index);
    }
}

/// Runs both in two threads, and then says whether the first object is gone once.
fn race(one: fn(&Arena), other: fn(&Arena)) {
    race_on(Arena::with_object, one, other);
}

fn race_on(arena: fn() -> Arena, one: fn(&Arena), other: fn(&Arena)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let arena = Arc::new(arena());
        let theirs = arena.clone();
        let thread = thread::spawn(move || other(&theirs));
        one(&arena);
        thread.join().unwrap();
        let first = &arena.slots[0];
        let word = first.word.load(Ordering::Acquire);
        assert_eq!(word & (USERS | CLAIMED), 0);
        // SAFETY: the other thread has ended.
        let [made, dropped] = first.shared.with(|object| unsafe { *object });
        assert_eq!(made - dropped, u32::from(word & LIVE != 0));
    });
}

fn use_it(arena: &Arena) {
    if arena.find(0, 0) {
        arena.read(0);
        arena.drop_found(0);
    }
}

fn claim_it(arena: &Arena) {
    if arena.claim(0, 0) {
        arena.read(0);
        // SAFETY: as for all of them.
        arena.slots[0].own.with_mut(|own| unsafe { *own += 1 });
        arena.give_up(0, CLAIMED);
    }
}

/// Frees what the others look for, and keeps two objects: one of them in its place.
fn retire_and_keep(arena: &Arena) {
    arena.retire(0, 0);
    keep(arena);
    keep(arena);
}

/// Keeps an object and frees it, if there is a slot.
fn keep(arena: &Arena) {
    let Some(index) = arena.unused() else { return };
    let generation = arena.fill(index);
    arena.read(index);
    assert!(arena.retire(index, generation));
}

#[test]
fn what_is_found_stays() {
    race(retire_and_keep, use_it);
}

#[test]
fn what_is_claimed_stays() {
    race(retire_and_keep, claim_it);
    race(claim_it, claim_it);
}

#[test]
fn it_is_retired_once() {
    race(retire_and_keep, |arena| {
        arena.retire(0, 0);
    });
    race(
        |arena| {
            if arena.claim(0, 0) {
                arena.give_up(0, CLAIMED | LIVE);
            }
        },
        |arena| {
            arena.retire(0, 0);
        },
    );
    race(retire_and_keep, |arena| {
        arena.take(0, 0);
    });
    race(use_it, |arena| {
        arena.take(0, 0);
    });
}

/// Takes both slots, gives one of them back, and uses the other one.
fn swap(arena: &Arena) {
    let (one, other) = (arena.unused(), arena.unused());
    if let Some(one) = one {
        arena.give_back(one);
    }
    if let Some(other) = other {
        let generation = arena.fill(other);
        arena.read(other);
        assert!(arena.retire(other, generation));
    }
}

/// Threads that take slots off the list and give them back never have the same one.
#[test]
fn a_free_slot_is_given_to_one() {
    race(retire_and_keep, |arena| {
        keep(arena);
        keep(arena);
    });
    race_on(Arena::without_objects, swap, swap);
}
