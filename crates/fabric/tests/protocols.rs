//! Models of the protocols without locks, for loom, which tries every order of their steps
//! that the memory model allows. Run it with
//! `RUSTFLAGS="--cfg loom" cargo test -p motet-fabric --test protocols`.
//!
//! They mirror `Doorbell`, of `RingWriter` and `RingReader` what concerns room and wake-ups, the
//! two ends of a shared copy, the two sides of a block, `BiasedLock`, `FlushSignal`, and the helper
//! of a rank, line by line. The futex is a lock and a condition variable; what the system does for
//! a barrier is `Barrier`. A wake-up that is lost is a deadlock, or an endless wait, which loom
//! reports with the steps that lead there.
//!
//! loom treats `SeqCst` loads and stores as weaker than they are, but fences as they are; the
//! proofs (README, "Eager rings" and "Doorbells") lean on fences alone.

#![allow(unsafe_code)] // listed in docs/unsafe.md
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

const FENCED: u32 = 1;
const SLEEPING: u32 = 2;

struct Doorbell {
    word: AtomicU32,
    kernel: Mutex<()>,
    sleepers: Condvar,
}

impl Doorbell {
    fn new() -> Doorbell {
        Doorbell { word: AtomicU32::new(0), kernel: Mutex::new(()), sleepers: Condvar::new() }
    }

    /// A ring by somebody who is registered: only for rings and sleeps with the same `barrier`.
    fn ring_registered(&self, barrier: &Barrier) {
        barrier.between_steps();
        if self.word.load(Ordering::Relaxed) & (FENCED | SLEEPING) != FENCED {
            barrier.between_steps();
            self.ring();
        }
        barrier.leave();
    }

    fn park_fenced(&self, barrier: &Barrier, is_ready: impl FnOnce() -> bool) {
        let seen = self.word.fetch_or(SLEEPING, Ordering::SeqCst) | SLEEPING;
        fence(Ordering::SeqCst);
        if seen & FENCED != 0 {
            barrier.call();
        }
        if !is_ready() {
            self.futex_wait(seen);
        }
    }

    fn ring(&self) {
        fence(Ordering::SeqCst);
        let seen = self.word.load(Ordering::Relaxed);
        if seen & SLEEPING != 0 {
            let rung = seen.wrapping_add(SLEEPING);
            let change =
                self.word.compare_exchange(seen, rung, Ordering::SeqCst, Ordering::Relaxed);
            if change.is_ok() {
                self.futex_wake();
            }
        }
    }

    fn park(&self, is_ready: impl FnOnce() -> bool) {
        let seen = self.word.fetch_or(SLEEPING, Ordering::SeqCst) | SLEEPING;
        fence(Ordering::SeqCst);
        if !is_ready() {
            self.futex_wait(seen);
        }
    }

    fn futex_wait(&self, seen: u32) {
        let kernel = self.kernel.lock().unwrap();
        // An addition of nothing reads the newest value, as the kernel does.
        if self.word.fetch_add(0, Ordering::SeqCst) == seen {
            drop(self.sleepers.wait(kernel).unwrap());
        }
    }

    fn futex_wake(&self) {
        let _kernel = self.kernel.lock().unwrap();
        self.sleepers.notify_all();
    }
}

/// A barrier of the system with one ringer: whoever calls it asks the ringer, who then passes a
/// fence between two steps, whichever these are, once, and the caller waits for that. Words that
/// are relaxed order nothing else: only the fences do.
#[derive(Default)]
struct Barrier {
    asked: AtomicU32,
    passed: AtomicU32,
}

impl Barrier {
    fn call(&self) {
        fence(Ordering::SeqCst);
        self.asked.store(1, Ordering::Relaxed);
        while self.passed.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        fence(Ordering::SeqCst);
    }

    fn between_steps(&self) {
        let was_asked = self.asked.load(Ordering::Relaxed) == 1;
        if was_asked && self.passed.load(Ordering::Relaxed) == 0 {
            self.leave();
        }
    }

    /// The ringer is taken from its core.
    fn leave(&self) {
        fence(Ordering::SeqCst);
        self.passed.store(1, Ordering::Relaxed);
    }
}

/// Tries all orders with up to three preemptions: enough for every loss that is known.
fn check(case: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(case);
}

/// Sleeps until it is ready.
fn wait(doorbell: &Doorbell, is_ready: impl Fn() -> bool) {
    while !is_ready() {
        doorbell.park(&is_ready);
    }
}

#[test]
fn a_ring_reaches_both_sleepers_of_a_rank() {
    check(|| {
        let shared = Arc::new((Doorbell::new(), AtomicU32::new(0)));
        let sleepers = [0, 1].map(|_| {
            let shared = shared.clone();
            thread::spawn(move || wait(&shared.0, || shared.1.load(Ordering::Acquire) == 1))
        });
        shared.1.store(1, Ordering::Release);
        shared.0.ring();
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
}

#[test]
fn a_ring_without_a_fence_reaches_a_sleeper_who_calls_a_barrier() {
    check(|| {
        let shared = Arc::new((Doorbell::new(), AtomicU32::new(0), Barrier::default()));
        shared.0.word.store(FENCED, Ordering::Relaxed);
        let other = shared.clone();
        let ringer = thread::spawn(move || {
            let (doorbell, word, barrier) = &*other;
            barrier.between_steps();
            word.store(1, Ordering::Release);
            doorbell.ring_registered(barrier);
        });
        let (doorbell, word, barrier) = &*shared;
        let is_ready = || word.load(Ordering::Acquire) == 1;
        while !is_ready() {
            doorbell.park_fenced(barrier, is_ready);
        }
        ringer.join().unwrap();
    });
}

#[test]
fn of_two_rings_one_without_a_fence_none_is_lost() {
    check(|| {
        let is_ready = [AtomicU32::new(0), AtomicU32::new(0)];
        let shared = Arc::new((Doorbell::new(), is_ready, Barrier::default()));
        shared.0.word.store(FENCED, Ordering::Relaxed);
        let ringers = [true, false].map(|is_registered| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (doorbell, words, barrier) = &*shared;
                words[usize::from(is_registered)].store(1, Ordering::Release);
                if is_registered { doorbell.ring_registered(barrier) } else { doorbell.ring() }
            })
        });
        let (doorbell, words, barrier) = &*shared;
        let is_all = || words.iter().all(|is_ready| is_ready.load(Ordering::Acquire) == 1);
        while !is_all() {
            doorbell.park_fenced(barrier, is_all);
        }
        ringers.into_iter().for_each(|ringer| ringer.join().unwrap());
    });
}

#[test]
fn of_two_rings_none_is_lost() {
    check(|| {
        let shared = Arc::new((Doorbell::new(), [AtomicU32::new(0), AtomicU32::new(0)]));
        let ringers = [0, 1].map(|index| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1[index].store(1, Ordering::Release);
                shared.0.ring();
            })
        });
        let is_all = || shared.1.iter().all(|is_ready| is_ready.load(Ordering::Acquire) == 1);
        wait(&shared.0, is_all);
        ringers.into_iter().for_each(|ringer| ringer.join().unwrap());
    });
}

/// What a lane says about room. The payload is left out but for that in annexes, where the message
/// of a position is the position and 1, written and read without order: whoever reads too early or
/// writes too early is found out.
#[derive(Default)]
struct Lane {
    consumed: AtomicU64,
    starving: AtomicU32,
    stamps: [AtomicU64; CELLS as usize],
    annexes: [AtomicU64; ANNEXES as usize],
}

const CELLS: u64 = 4;
const ANNEXES: u64 = 1;

impl Lane {
    /// Sends a message that may be so many positions ahead of the receiver: all cells, or as many
    /// as there are annexes.
    fn push(&self, next: u64, ahead: u64, free_below: &mut u64) -> bool {
        let end = next + 1 + CELLS - ahead;
        if end > *free_below {
            *free_below = self.consumed.load(Ordering::Acquire) + CELLS;
            if end > *free_below {
                self.starving.store(1, Ordering::SeqCst);
                fence(Ordering::SeqCst);
                *free_below = self.consumed.load(Ordering::Acquire) + CELLS;
                if end > *free_below {
                    return false;
                }
            }
        }
        if ahead == ANNEXES {
            self.annexes[(next % ANNEXES) as usize].store(next + 1, Ordering::Relaxed);
        }
        self.stamps[(next % CELLS) as usize].store(next + 1, Ordering::Release);
        true
    }

    fn has_message(&self, next: u64) -> bool {
        self.stamps[(next % CELLS) as usize].load(Ordering::Acquire) == next + 1
    }

    /// Says whether the sender must be rung.
    fn advance(&self, next: u64, published: &mut u64) -> bool {
        if next - *published < ANNEXES.div_ceil(2) {
            return false;
        }
        *published = next;
        self.consumed.store(next, Ordering::Release);
        fence(Ordering::SeqCst);
        self.starving.load(Ordering::Relaxed) == 1 && self.starving.swap(0, Ordering::SeqCst) == 1
    }
}

/// One more message than may be ahead.
fn more_than_there_is_room_for(ahead: u64) {
    let messages = ahead + 1;
    check(move || {
        let shared = Arc::new((Lane::default(), Doorbell::new(), Doorbell::new()));
        let other = shared.clone();
        let sender = thread::spawn(move || {
            let (lane, own, receivers) = &*other;
            let mut free_below = CELLS;
            for next in 0..messages {
                while !lane.push(next, ahead, &mut free_below) {
                    let mut has_gone = false;
                    own.park(|| {
                        has_gone = lane.push(next, ahead, &mut free_below);
                        has_gone
                    });
                    if has_gone {
                        break;
                    }
                }
                receivers.ring();
            }
        });
        let (lane, senders, own) = &*shared;
        let mut published = 0;
        for next in 0..messages {
            wait(own, || lane.has_message(next));
            if ahead == ANNEXES {
                let annex = &lane.annexes[(next % ANNEXES) as usize];
                assert_eq!(annex.load(Ordering::Relaxed), next + 1, "torn");
            }
            if lane.advance(next + 1, &mut published) {
                senders.ring();
            }
        }
        sender.join().unwrap();
    });
}

#[test]
fn a_sender_without_room_is_rung() {
    more_than_there_is_room_for(CELLS);
}

#[test]
fn a_sender_without_an_annex_is_rung_and_overwrites_none() {
    more_than_there_is_room_for(ANNEXES);
}

/// A block with two readers, used twice. The cell stands for its bytes: loom finds whoever reads it
/// while somebody writes.
#[derive(Default)]
struct Bounced {
    readers: AtomicU32,
    bytes: UnsafeCell<u32>,
    stamps: [AtomicU32; 2],
    /// Whether the last reader keeps it for its answer.
    is_kept: bool,
    answered: AtomicU32,
}

const ANSWER: u32 = 9;
const KEPT: u32 = 1 << 31;

impl Bounced {
    /// Fills it, unless somebody is still to read it.
    fn send(&self, message: u32) {
        if self.readers.load(Ordering::Acquire) != 0 {
            return;
        }
        // SAFETY: what the model is to show.
        self.bytes.with_mut(|bytes| unsafe { *bytes = message });
        self.readers.store(2, Ordering::Relaxed);
        for stamp in &self.stamps {
            stamp.store(message, Ordering::Release);
        }
    }

    /// Reads it, if there is this message.
    fn receive(&self, me: usize, message: u32) {
        if self.stamps[me].load(Ordering::Acquire) != message {
            return;
        }
        // SAFETY: as above.
        let read = self.bytes.with(|bytes| unsafe { *bytes });
        assert_eq!(read, message);
        if self.readers.load(Ordering::Acquire) != 1 {
            self.readers.fetch_sub(1, Ordering::Release);
        } else if self.is_kept {
            self.answer();
        } else {
            self.readers.store(0, Ordering::Release);
        }
    }

    /// The last reader, who has kept it and said so, fills it in turn.
    fn answer(&self) {
        self.readers.store(KEPT, Ordering::Relaxed);
        // SAFETY: as above.
        self.bytes.with_mut(|bytes| unsafe { *bytes = ANSWER });
        self.readers.store(1, Ordering::Relaxed);
        self.answered.store(ANSWER, Ordering::Release);
    }

    /// Its owner reads the answer, if there is one, and does not keep it.
    fn receive_answer(&self) {
        if self.answered.load(Ordering::Acquire) != ANSWER {
            return;
        }
        // SAFETY: as above.
        let read = self.bytes.with(|bytes| unsafe { *bytes });
        assert_eq!(read, ANSWER);
        self.answered.store(0, Ordering::Relaxed); // It is out of the lane.
        self.readers.store(0, Ordering::Release);
    }
}

#[test]
fn nobody_reads_a_block_while_it_is_written() {
    check(|| {
        let buffer = Arc::new(Bounced::default());
        buffer.send(1);
        let reader = |me| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || (1..=2).for_each(|message| buffer.receive(me, message)))
        };
        let readers = [0, 1].map(reader);
        buffer.send(2);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn nobody_reads_a_block_while_an_answer_is_written() {
    check(|| {
        let buffer = Arc::new(Bounced { is_kept: true, ..Bounced::default() });
        buffer.send(1);
        let reader = |me| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || buffer.receive(me, 1))
        };
        let readers = [0, 1].map(reader);
        buffer.receive_answer();
        buffer.send(2);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        buffer.receive_answer();
    });
}

/// A block that is read while it is filled, used twice. Each cell stands for a piece.
#[derive(Default)]
struct Stream {
    readers: AtomicU32,
    filled: AtomicU32,
    pieces: [UnsafeCell<u32>; 2],
    stamp: AtomicU32,
    /// The stamp of the answer to its owner.
    answered: AtomicU32,
}

impl Stream {
    /// Tells of it, and fills it, unless somebody is still to read it.
    fn send(&self, message: u32) {
        if self.readers.load(Ordering::Acquire) != 0 {
            return;
        }
        self.fill(&self.stamp, message);
    }

    fn fill(&self, stamp: &AtomicU32, message: u32) {
        self.readers.store(1, Ordering::Relaxed);
        self.filled.store(0, Ordering::Relaxed);
        stamp.store(message, Ordering::Release);
        for (filled, piece) in (1..).zip(&self.pieces) {
            // SAFETY: what the model is to show.
            piece.with_mut(|piece| unsafe { *piece = message });
            self.filled.store(filled, Ordering::Release);
        }
    }

    /// Reads each piece as it comes, if there is this message.
    fn receive(&self, message: u32) {
        if self.read(&self.stamp, message) {
            self.readers.fetch_sub(1, Ordering::Release);
        }
    }

    /// As [`Stream::receive`], but keeps it and answers.
    fn receive_and_answer(&self, message: u32) {
        if self.read(&self.stamp, message) && self.readers.load(Ordering::Acquire) == 1 {
            self.fill(&self.answered, ANSWER);
        }
    }

    /// Its owner reads the answer, if there is one, and does not keep it.
    fn receive_answer(&self) {
        if self.read(&self.answered, ANSWER) {
            self.answered.store(0, Ordering::Relaxed); // It is out of the lane.
            self.readers.store(0, Ordering::Release);
        }
    }

    /// Says whether there is this message.
    fn read(&self, stamp: &AtomicU32, message: u32) -> bool {
        if stamp.load(Ordering::Acquire) != message {
            return false;
        }
        for (wanted, piece) in (1..).zip(&self.pieces) {
            while self.filled.load(Ordering::Acquire) < wanted {
                thread::yield_now();
            }
            // SAFETY: as above.
            let read = piece.with(|piece| unsafe { *piece });
            assert_eq!(read, message);
        }
        true
    }
}

#[test]
fn what_is_read_while_it_is_filled_is_this_message() {
    check(|| {
        let stream = Arc::new(Stream::default());
        let receiver = {
            let stream = Arc::clone(&stream);
            thread::spawn(move || (1..=2).for_each(|message| stream.receive(message)))
        };
        (1..=2).for_each(|message| stream.send(message));
        receiver.join().unwrap();
    });
}

#[test]
fn an_answer_that_is_read_while_it_is_filled_is_the_answer() {
    check(|| {
        let stream = Arc::new(Stream::default());
        stream.send(1);
        let receiver = {
            let stream = Arc::clone(&stream);
            thread::spawn(move || stream.receive_and_answer(1))
        };
        stream.receive_answer();
        stream.send(2);
        receiver.join().unwrap();
        stream.receive_answer();
    });
}

const PARTS: u64 = 2;
const BACK: u64 = 1 << 32;

/// A shared copy: its words, and how often each part has been copied. That is read and written
/// without order, so whoever reads too early is shown an old value by loom.
#[derive(Default)]
struct Shared {
    taken: AtomicU64,
    helped: AtomicU64,
    parts: [AtomicU32; PARTS as usize],
}

impl Shared {
    fn take(&self, end: u64) -> bool {
        let before = self.taken.fetch_add(end, Ordering::AcqRel);
        before % BACK + before / BACK < PARTS
    }

    fn copy_part(&self, part: u64) {
        self.parts[part as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn help(&self) {
        let mut own = 0;
        while self.take(BACK) {
            self.copy_part(PARTS - 1 - own);
            own += 1;
            self.helped.store(own, Ordering::Release);
        }
    }

    fn copy(&self) {
        let mut own = 0;
        while self.take(1) {
            self.copy_part(own);
            own += 1;
        }
        let back = self.taken.fetch_add(PARTS, Ordering::AcqRel) / BACK;
        let theirs = back.min(PARTS - own);
        while self.helped.load(Ordering::Acquire) != theirs {
            thread::yield_now();
        }
    }
}

#[test]
fn each_part_of_a_shared_copy_is_copied_once_before_the_receive_ends() {
    check(|| {
        let shared = Arc::new(Shared::default());
        let sender = {
            let shared = shared.clone();
            thread::spawn(move || shared.help())
        };
        shared.copy();
        for part in &shared.parts {
            assert_eq!(part.load(Ordering::Relaxed), 1);
        }
        sender.join().unwrap();
    });
}

const NOBODY: u64 = 0;
const TAKEN_BACK: u64 = u64::MAX;

/// A lock that is lent, around two words that are one value: read and written without order.
struct Biased {
    owner: AtomicU64,
    held: AtomicU32,
    ordinary: Mutex<()>,
    barrier: Barrier,
    value: [AtomicU32; 2],
}

impl Biased {
    fn new() -> Biased {
        Biased {
            owner: AtomicU64::new(NOBODY),
            held: AtomicU32::new(0),
            ordinary: Mutex::new(()),
            barrier: Barrier::default(),
            value: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    fn add(&self) {
        let [first, second] = &self.value;
        let value = first.load(Ordering::Relaxed);
        assert_eq!(value, second.load(Ordering::Relaxed), "half of a change");
        first.store(value + 1, Ordering::Relaxed);
        second.store(value + 1, Ordering::Relaxed);
    }

    /// As the owner, if this still is the owner.
    fn add_as_owner(&self, me: u64) -> bool {
        self.barrier.between_steps();
        self.held.store(1, Ordering::Relaxed);
        self.barrier.between_steps();
        let is_own = self.owner.load(Ordering::Acquire) == me;
        self.barrier.between_steps();
        if is_own {
            self.add();
        }
        self.barrier.between_steps();
        self.held.store(0, Ordering::Release);
        is_own
    }

    fn add_as(&self, me: u64) {
        if self.owner.load(Ordering::Relaxed) == me && self.add_as_owner(me) {
            return;
        }
        let relaxed = Ordering::Relaxed;
        let allocated = self.owner.compare_exchange(NOBODY, me, relaxed, relaxed).is_ok();
        if allocated && self.add_as_owner(me) {
            return;
        }
        let _ordinary = self.ordinary.lock().unwrap();
        if self.owner.swap(TAKEN_BACK, Ordering::SeqCst) != TAKEN_BACK {
            self.barrier.call();
            while self.held.load(Ordering::Acquire) == 1 {
                thread::yield_now();
            }
        }
        self.add();
    }
}

/// The owner is one that does nothing but use the lock, so that it passes the barrier.
#[test]
fn a_lock_that_is_taken_back_is_held_by_one_thread() {
    check(|| {
        let lock = Arc::new(Biased::new());
        assert!(lock.owner.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok());
        let other = {
            let lock = lock.clone();
            thread::spawn(move || lock.add_as(2))
        };
        let as_owner = [lock.add_as_owner(1), lock.add_as_owner(1)];
        lock.barrier.leave();
        if as_owner == [false, false] {
            lock.add_as(1);
        }
        other.join().unwrap();
        let own = as_owner.into_iter().filter(|&was_owner| was_owner).count().max(1);
        assert_eq!(lock.value[0].load(Ordering::Relaxed) as usize, own + 1);
    });
}

/// What waits, and who sends it if its rank does not.
#[derive(Default)]
struct FlushSignal {
    newest: AtomicU64,
    is_resting: AtomicBool,
    is_ending: AtomicBool,
}

impl FlushSignal {
    fn hold(&self, number: u64, flush_thread: &thread::Thread) {
        let before = self.newest.load(Ordering::Relaxed);
        self.newest.store(number, Ordering::Relaxed);
        if before == 0 {
            self.call(flush_thread);
        }
    }

    fn let_go(&self) {
        self.newest.store(0, Ordering::Relaxed);
    }

    fn call(&self, flush_thread: &thread::Thread) {
        fence(Ordering::SeqCst);
        if self.is_resting.load(Ordering::Relaxed) {
            flush_thread.unpark();
        }
    }

    fn end(&self, flush_thread: &thread::Thread) {
        self.is_ending.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        flush_thread.unpark();
    }

    fn rest(&self) -> bool {
        loop {
            self.is_resting.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            let is_ending = self.is_ending.load(Ordering::Relaxed);
            if is_ending || self.newest.load(Ordering::Relaxed) != 0 {
                self.is_resting.store(false, Ordering::Relaxed);
                return !is_ending;
            }
            thread::park();
        }
    }
}

/// The flush thread sends the last thing that waits, whatever the rank itself sent before; and
/// ends.
#[test]
fn a_flush_thread_that_rests_is_called() {
    check(|| {
        let held_back = Arc::new(FlushSignal::default());
        let flush_thread = {
            let held_back = held_back.clone();
            thread::spawn(move || {
                let mut seen = 0;
                while seen != 3 && held_back.rest() {
                    seen = held_back.newest.load(Ordering::Relaxed).max(seen);
                    thread::yield_now();
                }
                assert_eq!(seen, 3);
                while held_back.rest() {
                    held_back.let_go();
                }
            })
        };
        held_back.hold(1, flush_thread.thread());
        held_back.let_go();
        held_back.hold(2, flush_thread.thread());
        held_back.hold(3, flush_thread.thread());
        while held_back.newest.load(Ordering::Relaxed) != 0 {
            thread::yield_now();
        }
        held_back.end(flush_thread.thread());
        flush_thread.join().unwrap();
    });
}

/// The helper of a rank and those who call it: `motet`'s `rank/progress.rs`, with one look for a
/// call instead of many.
#[derive(Default)]
struct Aid {
    work: Mutex<u32>,
    is_parked: AtomicBool,
    sleeps: AtomicBool,
    is_ending: AtomicBool,
    idle: Mutex<()>,
    called: Condvar,
}

impl Aid {
    fn give(&self) {
        let is_wanted = {
            let mut work = self.work.lock().unwrap();
            *work += 1;
            self.is_parked.load(Ordering::Relaxed)
        };
        if is_wanted {
            self.call();
        }
    }

    fn call(&self) {
        self.is_parked.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) {
            drop(self.idle.lock().unwrap());
            self.called.notify_one();
        }
    }

    fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.call();
    }

    fn await_call(&self) {
        if !self.is_parked.load(Ordering::Acquire) {
            return;
        }
        let mut idle = self.idle.lock().unwrap();
        self.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.is_parked.load(Ordering::Acquire) && !self.is_ending.load(Ordering::Acquire) {
            idle = self.called.wait(idle).unwrap();
        }
        self.sleeps.store(false, Ordering::Relaxed);
    }

    /// The work that there is, or nothing if the helper is to end.
    fn take(&self) -> Option<u32> {
        loop {
            {
                let mut work = self.work.lock().unwrap();
                let is_ending = self.is_ending.load(Ordering::Acquire);
                self.is_parked.store(!is_ending && *work == 0, Ordering::Relaxed);
                if *work > 0 {
                    return Some(std::mem::take(&mut *work));
                }
                if is_ending {
                    return None;
                }
            }
            self.await_call();
        }
    }
}

/// A helper does all that it is given, and ends.
#[test]
fn a_helper_that_is_parked_is_called() {
    check(|| {
        let aid = Arc::new(Aid::default());
        let helper = {
            let aid = aid.clone();
            thread::spawn(move || {
                let mut done = 0;
                while let Some(work) = aid.take() {
                    done += work;
                }
                assert_eq!(done, 2);
            })
        };
        aid.give();
        aid.give();
        aid.end();
        helper.join().unwrap();
    });
}
