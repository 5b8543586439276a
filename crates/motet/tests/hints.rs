//! Hints: what they change, what they never change, and what is learned by them.

mod worlds;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use motet::{
    Block, CacheCounters, ErrorClass, ErrorKind, Group, Info, Max, Neighbour, Operator, Persistent,
    Result, Settings, Sum, World,
    hint::{BLOCKING, ENFORCE, NONBLOCKING, PREVIOUS, REUSE},
    threads_with,
};
use worlds::{Watchdog, on_ranks, on_ranks_with};

const KEYS: [&str; 5] = [ENFORCE, NONBLOCKING, BLOCKING, REUSE, PREVIOUS];

fn info(keys: &[&str]) -> Info {
    keys.iter().fold(Info::new(), |info, key| info.with(*key, "true"))
}

/// Each set of hints.
fn all_sets() -> impl Iterator<Item = Info> {
    (0..1 << KEYS.len()).map(|set: usize| {
        let value = |at: usize| if set >> at & 1 == 1 { "true" } else { "false" };
        (0..KEYS.len()).fold(Info::new(), |info, at| info.with(KEYS[at], value(at)))
    })
}

/// Runs an operation twice, with two inputs; gives what came out.
fn twice(mut operation: Persistent<(Vec<u64>, Vec<u64>)>) -> Result<Vec<Vec<u64>>> {
    let mut outputs = Vec::new();
    for round in 1..3 {
        operation.input_mut().iter_mut().for_each(|element| *element *= round);
        operation.run()?;
        outputs.push(operation.output().to_vec());
    }
    Ok(outputs)
}

/// What several collectives come to with these hints.
fn results(world: &World, info: &Info) -> Result<Vec<Vec<Vec<u64>>>> {
    let (me, size) = (world.rank(), world.size());
    let last = size - 1;
    let data = |len: usize| (0..len as u64).map(|at| 100 * me as u64 + at).collect::<Vec<_>>();
    let pair = |input: usize, output: usize| (data(input), vec![u64::MAX; output]);
    let (next, before) = ((me + 1) % size, (me + size - 1) % size);
    let to = [Neighbour { rank: next, start: 1, count: me + 1 }];
    let from = [Neighbour { rank: before, start: 0, count: before + 1 }];
    let group = world.group().include(&[last])?;
    let members = world.members(&group)?;
    let barrier = world.barrier_init(info)?;
    barrier.start()?.wait()?;
    Ok(vec![
        twice(world.allreduce_init(pair(3, 3), Sum, info)?)?,
        twice(world.allgather_init(pair(2, 2 * size), info)?)?,
        twice(world.alltoall_init(pair(2 * size, 2 * size), info)?)?,
        twice(world.gather_init(pair(2, 2 * size), last, info)?)?,
        twice(world.scan_init(pair(3, 3), Sum, info)?)?,
        twice(world.reduce_scatter_block_init(pair(2 * size, 2), Sum, info)?)?,
        twice(world.exchange_init(pair(2, 2), &[next], &[before], info)?)?,
        twice(world.exchangev_init(pair(size + 1, size), &to, &from, info)?)?,
        twice(members.allreduce_init(pair(2, 2), Max, info)?)?,
    ])
}

/// All 32 sets of hints, on several collectives, with and without a group.
///
/// spec: 125
#[test]
fn hints_never_change_results() {
    for ranks in [1, 2, 3, 5] {
        on_ranks(ranks, |world| {
            let plain = results(world, &Info::new())?;
            for info in all_sets() {
                assert_eq!(results(world, &info)?, plain, "{info:?} of {ranks}");
            }
            Ok(())
        });
    }
}

/// spec: 125
#[test]
fn hints_never_change_results_of_many_ranks() {
    on_ranks(16, |world| {
        let plain = results(world, &Info::new())?;
        for keys in [&KEYS[..], &KEYS[..2], &KEYS[3..]] {
            assert_eq!(results(world, &info(keys))?, plain, "{keys:?}");
        }
        Ok(())
    });
}

/// The hints are read when the operation is made; what they do not know means nothing.
///
/// spec: 43
#[test]
fn info_may_be_gone_and_unknown_hints_are_ignored() {
    on_ranks(2, |world| {
        let info = info(&KEYS).with("no such hint", "at all").with(BLOCKING, "perhaps");
        let mut sum = world.allreduce_init(vec![1], Sum, &info)?;
        drop(info);
        sum.run()?;
        assert_eq!(sum.output(), [2]);
        Ok(())
    });
}

/// Nobody leaves an enforced init before the last one has entered it, also if it is for a few only.
///
/// spec: 39, 126
#[test]
fn an_enforced_init_waits_for_all() {
    for ranks in [2, 5] {
        for late in [0, ranks - 1] {
            let has_entered = AtomicBool::new(false);
            let was_here = AtomicUsize::new(0);
            on_ranks(ranks, |world| {
                let info = info(&[ENFORCE]);
                let group = world.group().include(&[0, 1])?;
                let members = world.members(&group)?;
                for round in 0..2 {
                    world.barrier()?;
                    if world.rank() == late {
                        thread::sleep(Duration::from_millis(60));
                        has_entered.store(true, Ordering::SeqCst);
                    }
                    let operation = match round {
                        0 => world.bcast_init(vec![1u8; 8], 0, &info)?,
                        _ => members.allreduce_init(vec![1u8], Sum, &info)?,
                    };
                    assert!(has_entered.load(Ordering::SeqCst), "rank {}", world.rank());
                    drop(operation);
                    world.barrier()?;
                    has_entered.store(false, Ordering::SeqCst);
                    world.barrier()?;
                    was_here.fetch_add(1, Ordering::SeqCst);
                }
                Ok(())
            });
            assert_eq!(was_here.into_inner(), 2 * ranks);
        }
    }
}

/// Without the hint a rank comes back from its init though no other has made it.
///
/// spec: 39, 126
#[test]
fn other_inits_wait_for_nobody() {
    let is_back = AtomicBool::new(false);
    on_ranks(3, |world| {
        if world.rank() != 1 {
            while !is_back.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        }
        let info = info(&[NONBLOCKING, REUSE, PREVIOUS]);
        let mut sum = world.allreduce_init(vec![1], Sum, &info)?;
        if world.rank() == 1 {
            is_back.store(true, Ordering::SeqCst);
        }
        sum.run()
    });
}

/// Runs a body that must fail on all ranks, within a second; each error names all of the words.
fn refusals(ranks: usize, words: &[&str], body: impl Fn(&World) -> Result<()> + Sync) {
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    let ended = threads_with(ranks, &Settings::new(), |world| {
        world.barrier()?;
        let begun = Instant::now();
        let ended = body(&world);
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        // The communicator can be used after that.
        world.barrier()?;
        Ok::<_, motet::Error>(ended)
    });
    for ended in ended.expect("nobody panics") {
        let error = ended.expect("the barriers succeed").expect_err("the ranks disagree");
        let text = error.to_string();
        for word in words {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
    }
}

fn made<B: motet::buffer::StableBuffer>(operation: Result<Persistent<B>>) -> Result<()> {
    operation.map(drop)
}

/// spec: 39
#[test]
fn an_enforced_init_names_two_ranks_that_differ() {
    let all = info(&[ENFORCE]);
    let call = "call differs between the ranks: rank 0 called";
    refusals(4, &[call, "root 0", "rank 2 called", "root 1"], |world| {
        made(world.bcast_init(vec![0u8; 8], usize::from(world.rank() == 2), &all))
    });
    refusals(3, &[call, "rank 1 called", "5 × u8", "3 × u8"], |world| {
        let count = if world.rank() == 1 { 5 } else { 3 };
        made(world.bcast_init(vec![0u8; count], 0, &all))
    });
    refusals(3, &["rank 0 called", "rank 1 called", "Sum", "Max"], |world| match world.rank() {
        1 => made(world.allreduce_init(vec![0u8], Max, &all)),
        _ => made(world.allreduce_init(vec![0u8], Sum, &all)),
    });
    refusals(3, &["type of the elements differs", "rank 2 called"], |world| match world.rank() {
        2 => made(world.bcast_init(vec![0f32; 2], 0, &all)),
        _ => made(world.bcast_init(vec![0i32; 2], 0, &all)),
    });
}

/// spec: 44
#[test]
fn hints_that_differ_are_named() {
    let words = ["rank 0 called allreduce_init", "rank 1 called", "hints enforce, reuse"];
    refusals(2, &words, |world| {
        let keys = if world.rank() == 1 { &[ENFORCE, REUSE][..] } else { &[ENFORCE] };
        made(world.allreduce_init(vec![0u8], Sum, &info(keys)))
    });
    let _watchdog = Watchdog::start();
    let ended = threads_with(2, &Settings::new().check(), |world| {
        let keys = if world.rank() == 1 { &[NONBLOCKING][..] } else { &[] };
        let mut sum = world.allreduce_init(vec![0u8], Sum, &info(keys))?;
        let ended = sum.run().and_then(|()| world.barrier());
        std::mem::forget(world);
        ended
    });
    for ended in ended.expect("nobody panics") {
        let text = ended.expect_err("check mode compares hints").to_string();
        assert!(text.contains("with the hints nonblocking"), "{text}");
    }
}

/// An argument that only one rank has wrong is an error on all.
///
/// spec: 39, 126
#[test]
fn what_one_rank_refuses_all_hear_of() {
    refusals(3, &["is not in a communicator of 3 ranks"], |world| {
        let root = if world.rank() == 1 { 7 } else { 0 };
        made(world.bcast_init(vec![0u8; 8], root, &info(&[ENFORCE])))
    });
    refusals(3, &["elements, but"], |world| {
        let output = vec![0u8; 3 - usize::from(world.rank() == 0)];
        made(world.allgather_init((vec![0u8], output), &info(&[ENFORCE])))
    });
}

/// spec: 113
#[test]
fn an_enforced_exchange_names_two_ranks_that_do_not_fit() {
    let all = info(&[ENFORCE]);
    // Rank 1 sends to rank 3, which does not expect it.
    refusals(5, &["what rank 1 sends to rank 3", "rank 1 called", "rank 3 called"], |world| {
        let to: &[usize] = if world.rank() == 1 { &[3] } else { &[] };
        made(world.exchange_init((vec![0u8; to.len()], vec![0u8; 0]), to, &[], &all))
    });
    // Rank 0 expects something from rank 4, which does not send it.
    refusals(5, &["what rank 4 sends to rank 0", "rank 4 called", "rank 0 called"], |world| {
        let from: &[usize] = if world.rank() == 0 { &[4] } else { &[] };
        made(world.exchange_init((vec![0u8; 0], vec![0u8; from.len()]), &[], from, &all))
    });
    // Rank 2 sends more to rank 0 than that expects.
    refusals(3, &["what rank 2 sends to rank 0", "rank 2 called", "rank 0 called"], |world| {
        let (me, size) = (world.rank(), world.size());
        let count = |from: usize, to: usize| if (from, to) == (2, 0) { 2 } else { 1 };
        let (next, before) = ((me + 1) % size, (me + size - 1) % size);
        let to = [Neighbour { rank: next, start: 0, count: count(me, next) }];
        let from = [Neighbour { rank: before, start: 0, count: 1 }];
        made(world.exchangev_init((vec![0u8; 4], vec![0u8; 4]), &to, &from, &all))
    });
    // The root of a gatherv expects less from rank 1.
    refusals(2, &["what rank 1 sends to rank 0"], |world| {
        let blocks = [0, 1].map(|start| Block { start, count: 1 });
        let own = vec![0u8; 1 + world.rank()];
        made(world.gatherv_init((own, vec![0u8; 2]), &blocks, 0, &all))
    });
}

/// Who is in a group must pass it, and all members the same.
///
/// spec: 107
#[test]
fn an_enforced_init_compares_groups() {
    let all = info(&[ENFORCE]);
    refusals(3, &["group differs", "rank 1 has passed an empty one", "that of rank 0"], |world| {
        let group = match world.rank() {
            0 => world.group().include(&[0, 1])?,
            _ => Group::empty(),
        };
        made(world.members(&group)?.allreduce_init(vec![0u8], Sum, &all))
    });
    refusals(3, &["group differs", "rank 0 called", "rank 1 called"], |world| {
        let group = match world.rank() {
            0 => world.group().include(&[0, 1])?,
            1 => world.group().include(&[1, 0])?,
            _ => Group::empty(),
        };
        made(world.members(&group)?.allreduce_init(vec![0u8], Sum, &all))
    });
}

/// An operator of the user that counts its calls.
#[derive(Clone, Copy)]
struct Counted<'a>(&'a AtomicUsize);

impl Operator<u64> for Counted<'static> {
    fn combine(&self, left: u64, right: u64) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst);
        left + right
    }
}

/// Candidates are measured and named; buffers are left alone, and operators of the user are not
/// called on data that nobody has made.
///
/// spec: 126
#[test]
fn what_is_measured_is_told_and_touches_nothing() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    on_ranks(4, |world| {
        let buffers = (vec![7u64; 100], vec![9u64; 100]);
        let sum = world.allreduce_init(buffers, Counted(&CALLS), &info(&[ENFORCE]))?;
        assert_eq!((sum.input()[0], sum.output()), (7, &[9u64; 100][..]));
        let told = sum.explain();
        assert!(told.contains("measured: "), "{told}");
        for algorithm in ["recursive_doubling", "linear"] {
            assert!(told.contains(algorithm), "{told}");
        }
        world.barrier()?;
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        // Somebody has asked for an algorithm by the bits of the result.
        let fixed = info(&[ENFORCE]).with(motet::hint::DETERMINISTIC, "true");
        let told = world.allreduce_init(vec![0.5], Sum, &fixed)?.explain();
        assert!(told.contains("the same on every machine"), "{told}");
        // A large one is not measured, and says so.
        let large = world.bcast_init(vec![0u8; 65 << 20], 0, &info(&[ENFORCE]))?;
        assert!(large.explain().contains("not measured"), "{}", large.explain());
        Ok(())
    });
}

/// Also between two groups, where some have nothing to do.
///
/// spec: 125, 126
#[test]
fn hints_between_groups() {
    on_ranks(5, |world| {
        let is_left = world.rank() < 2;
        let half = world.split(Some(u32::from(!is_left)), 0)?.expect("all have a colour");
        let leader = if is_left { 2 } else { 0 };
        let inter = half.intercomm_create(0, Some(world), leader, motet::Tag(0))?;
        let root = match world.rank() {
            1 => motet::Root::ThisRank,
            0 => motet::Root::ProcNull,
            _ => motet::Root::Rank(1),
        };
        for keys in [&[ENFORCE, REUSE][..], &[ENFORCE, PREVIOUS], &[PREVIOUS], &[NONBLOCKING]] {
            let mut sum = inter.allreduce_init((vec![1u32; 3], vec![0; 3]), Sum, &info(keys))?;
            let own = vec![world.rank() as u32; 2];
            let mut bcast = inter.bcast_init(own, root, &info(keys))?;
            for _ in 0..2 {
                sum.run()?;
                bcast.run()?;
            }
            assert_eq!(sum.output(), [if is_left { 3 } else { 2 }; 3], "{keys:?}");
            let expected = if is_left { world.rank() as u32 } else { 1 };
            assert_eq!(bcast.output(), [expected; 2], "{keys:?}");
        }
        Ok(())
    });
}

/// An algorithm that is asked for by name is not measured against others.
///
/// spec: 126
#[test]
fn names_come_before_measurement() {
    let settings = Settings::new().algorithms("allreduce=ring").expect("there is a ring");
    on_ranks_with(3, &settings, |world| {
        let sum = world.allreduce_init(vec![1], Sum, &info(&[ENFORCE]))?;
        assert!(sum.explain().contains("asked for by name"), "{}", sum.explain());
        assert_eq!(sum.algorithm(), "ring");
        Ok(())
    });
}

fn previous(counters: CacheCounters) -> (u64, u64) {
    (counters.previous_hits, counters.previous_misses)
}

/// spec: 127
#[test]
fn previous_finds_what_reuse_has_kept() {
    on_ranks(4, |world| {
        let (reuse, use_previous) = (info(&[REUSE]), info(&[PREVIOUS]));
        drop(world.alltoall_init(vec![0u32; 8], &use_previous)?);
        assert_eq!(previous(world.cache_counters()), (0, 1), "a miss is no error");
        let mut first = world.alltoall_init((vec![1u32; 8], vec![0u32; 8]), &reuse)?;
        first.run()?;
        let made = world.cache_counters().plans_made;
        // With other buffers, and on a copy of the communicator.
        let mut second = world.alltoall_init((vec![2u32; 8], vec![0u32; 8]), &use_previous)?;
        assert_eq!(world.cache_counters().plans_made, made);
        let mut third =
            world.dup()?.alltoall_init((vec![3u32; 8], vec![0u32; 8]), &use_previous)?;
        assert_eq!(previous(world.cache_counters()), (2, 1));
        for _ in 0..3 {
            let (one, other) = motet::start_all((second, third))?;
            (second, third) = (one.wait()?, other.wait()?);
            assert_eq!((second.output(), third.output()), (&[2; 8][..], &[3; 8][..]));
        }
        // Of another size there is nothing; nor is there of what nobody wanted to keep.
        drop(world.alltoall_init(vec![0u32; 12], &use_previous)?);
        drop(world.alltoall_init(vec![0u32; 12], &use_previous)?);
        assert_eq!(previous(world.cache_counters()), (2, 3));
        Ok(())
    });
}

/// The ranks need not all find what one of them finds: who opens its channels when it starts meets
/// others that have opened theirs before.
///
/// spec: 127
#[test]
fn ranks_need_not_find_the_same() {
    on_ranks(4, |world| {
        let (reuse, use_previous) = (info(&[REUSE]), info(&[PREVIOUS]));
        let pair = |ranks: &[usize]| world.create(&world.group().include(ranks)?);
        // Rank 0 is rank 0 of two in both; rank 3 has never been one of two.
        if let Some(pair) = pair(&[0, 1])? {
            drop(pair.allgather_init(vec![0u8; 2], &reuse)?);
        }
        let Some(pair) = pair(&[0, 3])? else { return Ok(()) };
        let before = world.cache_counters();
        let mut never = Vec::new();
        for round in 0..3 {
            let mut own = vec![9u8; 2];
            own[pair.rank()] = round;
            let mut operation = pair.allgather_init(own, &use_previous)?;
            if world.rank() == 0 || round > 0 {
                operation.run()?;
                operation.run()?;
            } else {
                operation.start()?.wait()?.run()?;
            }
            never.push(pair.allgather_init(vec![0u8; 2], &use_previous)?);
        }
        let hits = world.cache_counters().previous_hits - before.previous_hits;
        assert_eq!(hits, if world.rank() == 0 { 6 } else { 0 });
        Ok(())
    });
}

/// What an enforced init has learned another one uses, and so does one that waits for nobody.
///
/// spec: 127
#[test]
fn what_was_measured_is_used_again() {
    on_ranks(4, |world| {
        let first = world.allreduce_init(vec![1u64; 4], Sum, &info(&[ENFORCE, REUSE]))?;
        assert_eq!(world.cache_counters().choices_learned, 1);
        let copy = world.dup()?;
        for keys in [&[PREVIOUS][..], &[ENFORCE, PREVIOUS]] {
            for communicator in [&**world, &copy] {
                let mut again = communicator.allreduce_init(vec![2u64; 4], Sum, &info(keys))?;
                assert_eq!(again.algorithm(), first.algorithm());
                let why = |told: String| told.lines().nth(1).unwrap_or_default().to_owned();
                assert_eq!(why(again.explain()), why(first.explain()));
                again.run()?;
                assert_eq!(again.output(), [8; 4]);
            }
        }
        let counters = world.cache_counters();
        assert_eq!((previous(counters), counters.choices_learned), ((4, 0), 1));
        // The bits of a result come first.
        let fixed = info(&[ENFORCE, PREVIOUS]).with(motet::hint::DETERMINISTIC, "true");
        let told = world.allreduce_init(vec![1u64; 4], Sum, &fixed)?.explain();
        assert!(told.contains("the same on every machine"), "{told}");
        // An exchange, whose ranks know little of each other.
        let (to, from) = ([(world.rank() + 1) % 4], [(world.rank() + 3) % 4]);
        let keys = [ENFORCE, REUSE, PREVIOUS];
        for _ in 0..2 {
            let buffers = (vec![1u8], vec![0u8]);
            world.exchange_init(buffers, &to, &from, &info(&keys))?.run()?;
        }
        assert_eq!(previous(world.cache_counters()), (5, 2));
        Ok(())
    });
}

/// A second init of the same shape costs a look into a table: it makes no plan, opens no channels,
/// and so sends no message.
///
/// spec: 127
#[test]
fn a_second_init_is_cheap() {
    on_ranks(16, |world| {
        let init = |keys: &[&str]| world.alltoall_init(vec![0u64; 16], &info(keys));
        let first = init(&[REUSE])?;
        assert!(first.explain().contains("channels   15 in"), "{}", first.explain());
        let made = world.cache_counters().plans_made;
        for _ in 0..9 {
            let told = init(&[PREVIOUS])?.explain();
            assert!(told.contains("30 messages to be linked by the first start"), "{told}");
        }
        let counters = world.cache_counters();
        assert_eq!((counters.plans_made, counters.previous_hits), (made, 9));
        Ok(())
    });
}

/// An operation says what it does.
#[test]
fn operations_explain_themselves() {
    on_ranks(4, |world| {
        let sum = world.allreduce_init(vec![1u64; 2], Sum, &Info::new())?;
        let told = sum.explain();
        for word in ["allreduce_init: ", "on rank", "of 4", "by the model", "bytes", "channels"] {
            assert!(told.contains(word), "{word} is not in: {told}");
        }
        let running = sum.start()?;
        assert!(running.explain().starts_with("allreduce_init: "));
        let sum = running.wait()?;
        assert!(!sum.explain().contains("(0 linked"), "{}", sum.explain());
        let request = world.iallgather((vec![1u8], vec![0u8; 4]))?;
        let told = request.explain();
        assert!(told.contains("iallgather: ") && told.contains("tagged"), "{told}");
        request.wait()?;
        let prefers = world.allreduce_init(vec![1u64], Sum, &info(&[NONBLOCKING]))?;
        assert_eq!(prefers.algorithm(), "linear");
        // No rank knows what the others move, but each what it moves itself.
        let (to, from) = ([(world.rank() + 1) % 4], [(world.rank() + 3) % 4]);
        let predicted = |len: usize| -> Result<String> {
            let buffers = (vec![0u8; len], vec![0u8; len]);
            let told = world.exchange_init(buffers, &to, &from, &Info::new())?.explain();
            Ok(told.lines().last().unwrap_or_default().to_owned())
        };
        assert_ne!(predicted(1)?, predicted(1 << 20)?);
        Ok(())
    });
}

/// spec: 127
#[test]
fn wisdom_is_told_saved_and_loaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wisdom");
    fs::write(&path, "no wisdom\nbarrier ranks=3 -> linear\n").expect("a file");
    on_ranks(3, |world| {
        let keys = info(&[ENFORCE]);
        let names = [1usize, 2, 64].map(|count| {
            let sum = world.allreduce_init(vec![1u64; count], Sum, &keys);
            sum.map(|sum| sum.algorithm())
        });
        drop(world.bcast_init(vec![1u64], 1, &keys)?);
        assert!(world.wisdom().contains("allreduce ranks=3..3 bytes=8.."), "{}", world.wisdom());
        assert!(world.wisdom().contains(" µs"), "{}", world.wisdom());
        world.save_wisdom(&path)?;
        world.save_wisdom(&path)?;
        world.merge_wisdom()?;
        for (name, count) in names.into_iter().zip([1usize, 2, 64]) {
            let name = name?;
            let sum = world.allreduce_init(vec![1u64; count], Sum, &Info::new())?;
            assert_eq!(sum.algorithm(), name, "{}", world.wisdom());
            assert_eq!(world.allreduce_one(1, Sum)?, 3);
        }
        Ok(())
    });
    let saved = fs::read_to_string(&path).expect("it is there");
    assert!(saved.contains("barrier ranks=3..3 bytes=0.. -> linear"), "{saved}");
    assert!(saved.contains("bcast ranks=3..3 bytes=8..8 -> "), "{saved}");
    assert!(!saved.contains("no wisdom"), "{saved}");
    assert_eq!(saved.matches("bcast").count(), 1, "{saved}");
    let settings = Settings::new().wisdom(&saved).expect("what is saved can be read");
    on_ranks_with(3, &settings, |world| {
        let bcast = world.bcast_init(vec![1u64], 0, &Info::new())?;
        assert!(bcast.explain().contains("of the wisdom"), "{}", bcast.explain());
        Ok(())
    });
}

/// A file that cannot be written is an error on all ranks.
#[test]
fn wisdom_that_cannot_be_saved_is_an_error_everywhere() {
    on_ranks(3, |world| {
        let error = world.save_wisdom(Path::new("/no/such/folder/wisdom")).expect_err("no folder");
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(matches!(error.kind(), ErrorKind::Argument { .. }));
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
        // A device stays one.
        let error = world.save_wisdom(Path::new("/dev/null")).expect_err("no file");
        assert!(error.to_string().contains("/dev/null: it is a device, and only"), "{error}");
        world.barrier()
    });
}

/// What a rank has learned is merged into the file when it leaves.
#[test]
fn wisdom_is_saved_at_the_end() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wisdom");
    for count in [1usize, 1000] {
        on_ranks_with(2, &Settings::new().save_wisdom(&path), |world| {
            world.allgather_init(vec![0u8; 2 * count], &info(&[ENFORCE])).map(drop)
        });
    }
    let saved = fs::read_to_string(&path).expect("it is there");
    assert!(saved.contains("allgather ranks=2..2 bytes=2.."), "{saved}");
}
