//! The two-phase collectives of 1997: what begins and ends, in which order, and what is refused.
//!
//! The results of every collective in two phases, by every algorithm, are tried by `collectives`
//! (typed) and `matrix` (untyped, on threads and processes); here it is about nesting. Nothing but
//! one test counts on a begin that does not wait, and nothing on an end that does more than that.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod phases {
    pub(crate) mod program;
}
mod worlds;

use std::future::Future;
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use motet::op::Op;
use motet::raw::{self, Collective, CollectiveKind, Reduction, Root, TypedBuffer};
use motet::{
    Communicator, Datatype, ErrorClass, ErrorKind, Info, Max, Phase, Result, Settings, Sum, World,
};
use phases::program;
use proptest::prelude::*;
use worlds::{Watchdog, on_ranks, on_ranks_with};

static INT: Datatype = Datatype::INT32_T;

/// A broadcast of one buffer.
fn bcast(buffer: &mut [i32], root: usize) -> Collective<'static> {
    let (address, count) = (buffer.as_mut_ptr().cast(), buffer.len());
    let data = TypedBuffer { address, count, datatype: &INT };
    Collective::Bcast { data, root: Root::Rank(root) }
}

/// A sum in place.
fn allreduce<'a>(buffer: &mut [i32], op: &'a Op) -> Collective<'a> {
    let (output, count) = (buffer.as_mut_ptr().cast(), buffer.len());
    let datatype = &INT;
    Collective::Allreduce { reduction: Reduction { input: None, output, count, datatype, op } }
}

/// Begins a collective whose memory the test keeps until it has ended.
#[track_caller]
fn begin<'a>(call: &Collective<'_>, on: impl Into<raw::CommRef<'a>>) -> Result<()> {
    // SAFETY: each test keeps the memory, and looks at it only when the phase has ended.
    unsafe { call.begin(on) }
}

/// Both phases are calls of all ranks: an end gives what the last rank to begin has put in.
///
/// spec: 133, 139
#[test]
fn an_end_waits_for_what_the_others_begin() {
    on_ranks(3, |world| {
        let mut phases = world.phases()?;
        if world.rank() == 2 {
            thread::sleep(Duration::from_millis(50));
        }
        let sum = phases.allreduce_begin(vec![1 << world.rank()], Sum)?;
        assert_eq!(sum.end()?, [7]);
        let (mut own, op) = ([1 << world.rank()], Op::SUM);
        if world.rank() == 1 {
            thread::sleep(Duration::from_millis(50));
        }
        drop(phases);
        begin(&allreduce(&mut own, &op), world)?;
        raw::end(world, CollectiveKind::Allreduce)?;
        assert_eq!(own, [7]);
        Ok(())
    });
}

/// A begin may block, and here it does not: all begins of rank 0 are over before another rank
/// makes its first one.
///
/// spec: 134
#[test]
fn a_begin_does_not_wait_for_others() {
    let first = Barrier::new(3);
    on_ranks(3, |world| {
        if world.rank() > 0 {
            first.wait();
        }
        let (count, me) = (100_000, world.rank());
        let mut phases = world.phases()?;
        let mut outer = phases.allreduce_begin(vec![me; count], Sum)?;
        let mut second = outer.barrier_begin()?;
        let mut third = second.bcast_begin(vec![me; count], 2)?;
        let mut fourth = third.allgather_begin((vec![me; 2], vec![9; 6]))?;
        let inner = fourth.reduce_begin((vec![me; count], vec![0; count]), Max, 1)?;
        if me == 0 {
            first.wait();
        }
        let (_, most) = inner.end()?;
        assert_eq!(most, vec![if me == 1 { 2 } else { 0 }; count]);
        assert_eq!(fourth.end()?.1, [0, 0, 1, 1, 2, 2]);
        assert_eq!(third.end()?, vec![2; count]);
        second.end()?;
        assert_eq!(outer.end()?, vec![3; count]);
        Ok(())
    });
}

/// spec: 135
#[test]
fn ten_thousand_untyped_phases_are_open_at_once() {
    const MANY: usize = 10_000;
    on_ranks(2, |world| {
        let op = Op::SUM;
        let mut all: Vec<[i32; 1]> = (0..MANY).map(|at| [(at + world.rank()) as i32]).collect();
        for (at, own) in all.iter_mut().enumerate() {
            let call = if at % 2 == 0 { allreduce(own, &op) } else { bcast(own, 1) };
            begin(&call, world)?;
        }
        for at in (0..MANY).rev() {
            let [bcast, sum] = [CollectiveKind::Bcast, CollectiveKind::Allreduce];
            raw::end(world, if at % 2 == 0 { sum } else { bcast })?;
            let wanted = if at % 2 == 0 { 2 * at + 1 } else { at + 1 };
            assert_eq!(all[at], [wanted as i32]);
        }
        Ok(())
    });
}

/// Sums inside a phase, each inside the one before.
fn deeper(outer: &mut Phase<'_, 'static, Vec<usize>>, depth: usize, me: usize) -> Result<usize> {
    if depth == 0 {
        return Ok(0);
    }
    let mut sum = outer.allreduce_begin(vec![depth + me], Sum)?;
    let deepest = deeper(&mut sum, depth - 1, me)?;
    assert_eq!(sum.end()?, [2 * depth + 1]);
    Ok(deepest + 1)
}

/// spec: 135, 141
#[test]
fn typed_phases_are_as_deep_as_a_recursion() {
    on_ranks(2, |world| {
        let mut phases = world.phases()?;
        let mut outer = phases.bcast_begin(vec![world.rank()], 1)?;
        assert_eq!(deeper(&mut outer, 200, world.rank())?, 200);
        assert_eq!(outer.end()?, [1]);
        // The root and each phase take another one when the one before has ended.
        phases.barrier_begin()?.end()?;
        let mut outer = phases.barrier_begin()?;
        (0..3).try_for_each(|_| outer.barrier_begin()?.end())?;
        outer.end()
    });
}

/// What an end refuses: the error names both operations, and nothing has changed.
///
/// spec: 136
#[test]
fn an_end_that_is_not_of_the_innermost_phase_names_both() {
    on_ranks(2, |world| {
        let (mut one, mut two, op) = ([world.rank() as i32], [world.rank() as i32], Op::SUM);
        let line = line!() + 2;
        begin(&allreduce(&mut one, &op), world)?;
        begin(&bcast(&mut two, 1), world)?;
        for _ in 0..2 {
            let wrong = raw::end(world, CollectiveKind::Allreduce).expect_err("wrong nesting");
            assert_eq!(wrong.class(), ErrorClass::Other);
            assert!(matches!(wrong.kind(), ErrorKind::Nesting { .. }));
            let text = wrong.to_string();
            let open = format!("bcast_begin, at {}:{line}", file!());
            for word in ["allreduce_end", "the innermost phase that is open is that of", &open] {
                assert!(text.contains(word), "{word:?} is not in: {text}");
            }
        }
        raw::end(world, CollectiveKind::Bcast)?;
        raw::end(world, CollectiveKind::Allreduce)?;
        assert_eq!((one, two), ([1], [1]));
        let none = raw::end(world, CollectiveKind::Bcast).expect_err("none is open").to_string();
        assert!(none.contains("bcast_end") && none.contains("no phase is open"), "{none}");
        // One where there has never been a phase says the same.
        let fresh = world.dup()?;
        let none = raw::end(&fresh, CollectiveKind::Scan).expect_err("none is open").to_string();
        assert!(none.contains("scan_end") && none.contains("no phase is open"), "{none}");
        Ok(())
    });
}

/// A typed root is a part of the nesting of its communicator.
///
/// spec: 136, 141
#[test]
fn two_roots_would_not_be_nested() {
    on_ranks(2, |world| {
        let wrong = |error: motet::Error, call: &str| {
            let text = error.to_string();
            assert!(matches!(error.kind(), ErrorKind::Nesting { .. }), "{text}");
            assert!(text.contains(call) && text.contains("`Phases`"), "{text}");
        };
        let phases = world.phases()?;
        wrong(world.phases().expect_err("a second root"), "phases");
        wrong(world.scope(|scope| scope.phases().map(drop)).expect_err("a second root"), "phases");
        wrong(begin(&bcast(&mut [1], 0), world).expect_err("not in the root"), "bcast_begin");
        wrong(raw::end(world, CollectiveKind::Bcast).expect_err("not there"), "bcast_end");
        // Another communicator has a nesting of its own.
        world.dup()?.phases()?.barrier_begin()?.end()?;
        drop(phases);
        // Inside an untyped phase there may be a root.
        let mut buffer = [world.rank() as i32];
        begin(&bcast(&mut buffer, 1), world)?;
        let mut phases = world.phases()?;
        let phase = phases.barrier_begin()?;
        wrong(raw::end(world, CollectiveKind::Bcast).expect_err("not innermost"), "bcast_end");
        phase.end()?;
        drop(phases);
        raw::end(world, CollectiveKind::Bcast)?;
        assert_eq!(buffer, [1]);
        // One that has been forgotten is never gone.
        let copy = world.dup()?;
        mem::forget(copy.phases()?);
        wrong(copy.phases().expect_err("a second root"), "phases");
        Ok(())
    });
}

/// The texts of the errors that ranks end with whose begins do not fit together.
fn mismatches(body: impl Fn(&World) -> Result<()> + Sync) -> Vec<String> {
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    let ended = motet::threads_with(2, &Settings::new().check(), |world| {
        let ended = body(&world);
        // Nobody is told that another has freed the communicator instead of what is wrong.
        mem::forget(world);
        ended
    });
    let of_rank = |ended: Result<()>| {
        let error = ended.expect_err("the ranks disagree");
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{error}");
        error.to_string()
    };
    ended.expect("nobody panics").into_iter().map(of_rank).collect()
}

/// spec: 137
#[test]
fn begins_in_different_orders_are_named() {
    let line = line!() + 6;
    let told = mismatches(|world| {
        let mut phases = world.phases()?;
        if world.rank() == 0 {
            let mut sum = phases.allreduce_begin(vec![1], Sum)?;
            sum.bcast_begin(vec![1], 0)?.end()?;
            sum.end()?;
        } else {
            let mut outer = phases.bcast_begin(vec![1], 0)?;
            outer.allreduce_begin(vec![1], Sum)?.end()?;
            outer.end()?;
        }
        world.barrier()
    });
    let zero = format!("rank 0 called allreduce_begin(1 × i32, Sum) at {}:{}", file!(), line - 2);
    let one = format!("rank 1 called bcast_begin(1 × i32, root 0) at {}:{}", file!(), line + 2);
    for text in told {
        assert!(text.contains(&zero) && text.contains(&one), "{text}");
    }
    // The same of the untyped layer: the line is that of the caller.
    for text in mismatches(|world| {
        let (mut buffer, op) = ([1], Op::SUM);
        match world.rank() {
            0 => begin(&allreduce(&mut buffer, &op), world)?,
            _ => begin(&bcast(&mut buffer, 0), world)?,
        }
        world.barrier()
    }) {
        let place = format!("at {}", file!());
        assert!(text.contains("rank 0 called allreduce_begin"), "{text}");
        assert!(text.contains("rank 1 called bcast_begin"), "{text}");
        assert_eq!(text.matches(&place).count(), 2, "{text}");
    }
}

/// spec: 13, 137
#[test]
fn a_begin_matches_no_other_form() {
    for form in ["bcast(", "ibcast(", "bcast_init("] {
        let told = mismatches(|world| {
            match (world.rank(), form) {
                (0, _) => drop(world.phases()?.bcast_begin(vec![1], 0)?),
                (_, "bcast(") => world.bcast(&mut [1], 0)?,
                (_, "ibcast(") => drop(world.ibcast(vec![1], 0)?),
                _ => world.bcast_init(vec![1], 0, &Info::new())?.run()?,
            }
            world.barrier()
        });
        for text in told {
            assert!(text.contains("rank 0 called bcast_begin("), "{text}");
            assert!(text.contains(&format!("rank 1 called {form}")), "{text}");
        }
    }
}

/// A call that is refused is told to the others, who would wait in vain: in every form.
///
/// spec: 11, 137
#[test]
fn an_untyped_call_that_is_refused_is_told() {
    let _watchdog = Watchdog::start();
    for form in ["bcast", "ibcast", "bcast_init", "bcast_begin"] {
        let ended = motet::threads_with(2, &Settings::new().check(), |world| {
            // The memory is used no more by what has ended with an error.
            let buffer = vec![0; 3].leak();
            let call = bcast(buffer, if world.rank() == 0 { 7 } else { 1 });
            let world_of_call: &Communicator = &world;
            // SAFETY (for all calls): the memory is never freed, and nobody looks at it.
            let called = match form {
                // SAFETY: see above.
                "bcast" => unsafe { call.run(world_of_call) },
                // SAFETY: see above.
                "ibcast" => unsafe { call.start(world_of_call) }.and_then(|pending| pending.wait()),
                // SAFETY: see above.
                "bcast_init" => unsafe { call.init(world_of_call, &Info::new()) }
                    .and_then(|mut operation| operation.run()),
                _ => begin(&call, world_of_call)
                    .and_then(|()| raw::end(world_of_call, CollectiveKind::Bcast)),
            };
            let ended = called.and_then(|()| world.barrier());
            mem::forget(world);
            ended.expect_err("no such root").to_string()
        });
        let [zero, one] = &ended.expect("nobody panics")[..] else { panic!("two ranks") };
        assert!(zero.contains(&format!("{form} on rank 0: root 7 is not in")), "{zero}");
        assert!(one.contains("rank 0") && one.contains("root 7 is not in"), "{one}");
        assert!(one.contains(file!()), "{one}");
    }
}

/// Pairs on different communicators are interleaved, in another way on each.
///
/// spec: 140
#[test]
fn communicators_have_nestings_of_their_own() {
    on_ranks(3, |world| {
        let (copy, op, me) = (world.dup()?, Op::SUM, world.rank() as i32);
        let (mut one, mut two, mut three) = ([me], [me], [me]);
        begin(&allreduce(&mut one, &op), world)?;
        begin(&bcast(&mut two, 2), &copy)?;
        begin(&bcast(&mut three, 1), world)?;
        // `copy` is ended between the two of the world, in an order that would be wrong on one.
        raw::end(&copy, CollectiveKind::Bcast)?;
        begin(&allreduce(&mut two, &op), &copy)?;
        raw::end(world, CollectiveKind::Bcast)?;
        raw::end(world, CollectiveKind::Allreduce)?;
        raw::end(&copy, CollectiveKind::Allreduce)?;
        assert_eq!((one, two, three), ([3], [6], [1]));

        let (mut first, mut second) = (world.phases()?, copy.phases()?);
        let here = first.allreduce_begin(vec![me], Sum)?;
        let there = second.allreduce_begin(vec![2 * me], Sum)?;
        assert_eq!(here.end()?, [3]);
        assert_eq!(there.end()?, [6]);
        Ok(())
    });
}

/// spec: 140
#[test]
fn other_collectives_are_called_between_begin_and_end() {
    on_ranks(3, |world: &World| {
        let me = world.rank();
        let mut sum = world.allreduce_init(vec![me], Sum, &Info::new())?;
        let mut phases = world.phases()?;
        let mut outer = phases.scan_begin((vec![me + 1], vec![0]), Sum)?;
        assert_eq!(world.allreduce_one(me, Sum)?, 3);
        let pending = world.ibcast(vec![me], 2)?;
        let inner = outer.gather_begin((vec![me], vec![0; 3]), 0)?;
        sum.run()?;
        assert_eq!(sum.output(), [3]);
        let copy = world.split(Some(0), 3 - me as i64)?.expect("a member");
        assert_eq!(pending.wait()?, [2]);
        assert_eq!(inner.end()?.1, if me == 0 { [0, 1, 2] } else { [0; 3] });
        world.barrier()?;
        assert_eq!(outer.end()?.1, [(me + 1) * (me + 2) / 2]);
        assert_eq!(copy.allreduce_one(1, Sum)?, 3);
        Ok(())
    });
}

/// What is dropped goes on, and what is outside of it can be ended.
///
/// spec: 24, 139
#[test]
fn dropped_phases_go_on() {
    on_ranks(2, |world| {
        let me = world.rank();
        let mut phases = world.phases()?;
        let mut outer = phases.allreduce_begin(vec![me; 50_000], Sum)?;
        let inner = outer.allreduce_begin(vec![me; 50_000], Max)?;
        if me == 0 {
            drop(inner);
        } else {
            assert_eq!(inner.end()?, vec![1; 50_000]);
        }
        assert_eq!(outer.end()?, vec![1; 50_000]);
        drop(phases);
        // So does what is open when its communicator is freed.
        let copy = world.dup()?;
        // Nobody says when it is complete there, so its memory is never freed.
        let (own, op) = (vec![1 + me as i32; 50_000].leak(), Op::SUM);
        if me == 0 {
            begin(&allreduce(own, &op), &copy)?;
            copy.free()?;
            world.barrier()?;
        } else {
            world.barrier()?;
            begin(&allreduce(own, &op), &copy)?;
            raw::end(&copy, CollectiveKind::Allreduce)?;
            assert!(own.iter().all(|&sum| sum == 3));
        }
        world.barrier()
    });
}

/// Borrowed buffers are written when the scope is over, whatever became of the phases.
///
/// spec: 139, 141
#[test]
fn phases_of_a_scope_borrow() {
    on_ranks(2, |world| {
        let me = world.rank();
        let (mut sum, mut bcast, own) = ([me; 500], [me; 3], [me + 1]);
        let mut all = [0; 2];
        world.scope(|scope| {
            let mut phases = scope.phases()?;
            let mut outer = phases.allreduce_begin(&mut sum[..], Sum)?;
            let mut middle = outer.bcast_begin(&mut bcast[..], 1)?;
            let inner = middle.allgather_begin((&own[..], &mut all[..]))?;
            assert_eq!(inner.end()?.1, [1, 2]);
            mem::forget(middle);
            drop(outer);
            Ok(())
        })?;
        assert_eq!((sum, bcast, all), ([1; 500], [1; 3], [1, 2]));
        Ok(())
    });
}

/// Wakes a thread that parks.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// spec: 100, 139
#[test]
fn a_phase_is_awaited() {
    let nested = async |world: &World| {
        let mut phases = world.phases()?;
        let mut outer = phases.allreduce_begin(vec![world.rank()], Sum)?;
        let inner = outer.bcast_begin(vec![world.rank(); 9], 1)?;
        assert_eq!(inner.await?, [1; 9]);
        let sum: Vec<usize> = outer.await?;
        Ok(sum[0])
    };
    let sums = on_ranks(2, |world| {
        let waker = Arc::new(Unpark(thread::current())).into();
        let mut future = pin!(nested(world));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(sum) => return sum,
                Poll::Pending => thread::park(),
            }
        }
    });
    assert_eq!(sums, [1, 1]);
}

/// An intercommunicator has a nesting of its own, and groups that each have one.
///
/// spec: 133, 136, 140
#[test]
fn phases_between_two_groups() {
    on_ranks(3, |world: &World| {
        let me = world.rank() as i32;
        let near = world.split(Some(u32::from(me > 0)), 0)?.expect("a member");
        let leader = usize::from(me == 0);
        let far = near.intercomm_create(0, Some(world), leader, motet::Tag(0))?;
        let (mut own, mut sum, mut both, op) = ([me + 1], [0], [me + 1], Op::SUM);
        let reduction = Reduction {
            input: Some(own.as_mut_ptr().cast()),
            output: sum.as_mut_ptr().cast(),
            count: 1,
            datatype: &INT,
            op: &op,
        };
        begin(&Collective::Allreduce { reduction }, &far)?;
        let on_near: &Communicator = &near;
        begin(&allreduce(&mut both, &op), on_near)?;
        begin(&Collective::Barrier, &far)?;
        raw::end(on_near, CollectiveKind::Allreduce)?;
        let wrong = raw::end(&far, CollectiveKind::Allreduce).expect_err("wrong nesting");
        assert!(wrong.to_string().contains("barrier_begin"), "{wrong}");
        raw::end(&far, CollectiveKind::Barrier)?;
        raw::end(&far, CollectiveKind::Allreduce)?;
        assert_eq!((sum, both), if me == 0 { ([5], [1]) } else { ([1], [5]) });
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Random nests of all collectives on three communicators, with other collectives in between;
    /// also where each begin blocks until its collective is complete, as it may.
    ///
    /// spec: 133, 134, 135, 136, 137, 139, 140
    #[test]
    fn random_nests(program in program::program()) {
        let settings = program.settings();
        on_ranks_with(program.ranks, &settings, |world| program::run(&program, world));
    }
}
