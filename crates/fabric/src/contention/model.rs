//! A model of ranks that wait beside other programs: cores, groups of threads, slices, ranks and
//! disturbers, in steps from event to event. The same seed gives the same run.
//!
//! It stands here so that rules of waiting can be tried before they are written: a scene with
//! another rule takes a second, and the same on a machine takes quiet, luck and an afternoon.
//! [`Evidence`](super::Evidence) is the real one; what `Segment` does with it and how long ranks
//! look, yield and stay awake is written down again in `knowledge.rs` and `policy.rs`.
//!
//! # What is modelled
//!
//! The scheduler of Linux 6.18 on 2 cores (`scheduler.rs`): virtual run time, deadlines, slices
//! (1.4 ms by `sched_getattr`), ticks of 4 ms, protection of what runs, `sched_yield` inside a
//! group, groups that weigh as much as one thread and share that among cores by their load,
//! wake-ups that prefer an idle core and then the one with less load, idle cores that take what
//! waits, and a balance of loads every 32 ms. A step of the ranks (`ranks.rs`) is an exchange in a
//! ring and twice work and an allreduce of a few bytes. Ranks that all yield to each other on one
//! core are one event, not thousands.
//!
//! # How good it is
//!
//! `grid.rs` has 31 measured points. Those at odd places were chosen, before the model was written,
//! to set the costs; the model was first compared with the others when nothing was changed any
//! more. One number was fitted: work takes 1.15 times as long as its program says. The slice was
//! read from the system, and two rules of the kernel were added when odd points showed that they
//! lacked (a wake-up goes to the core with less load; a balance spares what has just run). The
//! median relative error is 6.2 % at odd points and 5.0 % at the others. Later a test of groups
//! found that a yield left its group too seldom; mending that changed two points, each by less than
//! 0.2 %. These points are wrong by more than 30 %:
//!
//! * Yields with slices of 0.1 ms and work of 6 us: 46 instead of 30 us per step for 2 ranks, 712
//!   instead of 240 for 4, 987 instead of 425 for 8. In the model the balance sometimes leaves one
//!   rank alone with the loop for tens of milliseconds. Such a rank has used up its advantage after
//!   40 yields, 8 us, and then waits for a tick. It stays there since ranks go to their own cores
//!   only where there is no evidence of foreign load; without that condition 4 ranks take 318.
//!   Which version of the library was measured is not known.
//! * Yields beside a loop, 4 ranks, 6 us: 5030 instead of 2650 to 2900. Single runs were measured
//!   at 4000. The model may hold the bad placement for longer than the kernel does.
//! * Yields with a loop in a session of its own, 4 ranks, 6 us: 76 instead of 49 to 66. The model
//!   keeps all ranks on the other core; they may have the core of the loop now and then.
//! * `auto` beside a loop, 2 ranks, 6 us: 32 instead of 20 to 28. It is as if both ranks shared the
//!   core without the loop, which takes 31.
//!
//! The row of the loop in a session of its own does not say how its ranks waited. It is taken as
//! yields: with `auto` or sleep they take 1.4 to 1.7 times as long in the model.
//!
//! # What it says of `auto`
//!
//! With 2, 4 and 8 ranks, work of 6 us, 100 us, 1 ms and 10 ms, and no loop, one in the same
//! session, or one in a session of its own, `auto` takes at most 1.3 times as long as the best of
//! spin, yield and sleep with or without short slices, but for [`WORSE`]: work of 6 us and a loop
//! in a session of its own, 1.4 to 1.7 times. Yields are best there. They leave the group only when
//! that has had its share, so they lose little, and ranks find a core for themselves. But the turns
//! of the loop are taken as evidence, and ranks sleep. `table` tries more scenes, with 3, 4, 8 and
//! 16 ranks: how many times as long as the best do the policies take?
//!
//! | loops | session | work | `Auto` | `Patient` | `Proposed` |
//! |---|---|---|---|---|---|
//! | one | same | 6 us | 1.02 1.01 0.89 0.86 | 1.01 1.01 0.71 0.70 | 0.64 0.65 0.61 0.60 |
//! | one | same | 0.1 ms | 1.02 1.02 1.03 1.57 | 1.02 1.02 1.04 1.59 | 1.02 1.02 1.02 1.60 |
//! | one | own | 6 us | 1.47 1.55 1.68 1.75 | 0.98 1.00 1.01 0.99 | 0.94 0.97 0.99 0.97 |
//! | two | same | 6 us | 1.19 1.01 1.04 0.99 | 1.16 1.01 1.04 0.88 | 1.50 1.01 1.06 1.05 |
//! | two | same | 0.1 ms | 1.00 1.02 1.04 1.32 | 1.00 1.02 1.04 1.35 | 1.01 1.03 1.04 1.38 |
//! | two | own | 6 us | 0.75 2.10 2.19 1.66 | 0.93 2.06 2.26 1.75 | 0.99 1.00 1.00 1.00 |
//! | two | own | 0.1 ms | 1.22 1.39 1.30 1.66 | 0.94 1.39 1.30 1.16 | 1.75 1.37 1.34 1.09 |
//! | half | same | 6 us | 1.35 1.38 1.54 1.74 | 1.40 1.36 1.55 1.74 | 0.90 1.29 1.37 1.38 |
//! | half | same | 0.1 ms | 0.99 1.14 1.31 1.34 | 1.00 1.15 1.34 1.35 | 0.96 1.13 1.33 1.32 |
//!
//! Half a loop computes every other 5 ms. The rows that are not here are at most 1.28 for all.
//! Beside two loops 2 ranks with work of 1 ms take 1.5 times as long with `auto` as with the best.
//!
//! What the model suggests:
//!
//! 1. `Patient`: with foreign load on another core, stay awake for 2 ms instead of 0.1 ms. Ranks
//!    that have found a core for themselves wait for longer than 0.1 ms as a rule, and each that
//!    sleeps makes that longer for the others, so that they sleep as long as evidence holds.
//! 2. `Proposed`: also, a long turn of others makes ranks on its core sleep only if they had that
//!    core for less than half a slice (0.7 ms) since the turn before: then a yield has given it
//!    away. Otherwise a share or a slice has ended. For going to the own core and for waits on
//!    other cores the turn counts as before. Without the first this changes little beside one
//!    loop. It is worse than `Auto` for 3 ranks beside two loops.
//!
//! No machine has been asked yet whether this is so.

mod costs;
mod grid;
mod knowledge;
mod policy;
mod ranks;
mod scheduler;

use costs::{COSTS, MS, Nanos, US};
use grid::{LOOP, NOTHING, PULSE, SHORT_SLICE, TWO_LOOPS, points, time_per_step};
use policy::Policy;
use ranks::{Disturber, Scene, Session, World};
use scheduler::{Action, Scheduler, State};

/// Scenes in which `auto` takes more than [`FACTOR`] times as long as the best of the others: all
/// with a loop in a session of its own. Ranks and work.
const WORSE: [(usize, Nanos); 3] = [(2, 6 * US), (4, 6 * US), (8, 6 * US)];
const FACTOR: f64 = 1.3;
/// What the model has reached, rounded up: the median relative errors at odd and even points.
const ERRORS: [f64; 2] = [0.07, 0.06];

const NEVER: Nanos = Nanos::MAX / 2;

/// A scheduler with threads that compute for ever, in such groups and on such cores.
fn computing(cores: usize, threads: &[(usize, usize)]) -> Scheduler {
    let groups = threads.iter().map(|&(group, _)| group + 1).max().unwrap_or(1);
    let mut scheduler = Scheduler::new(cores, groups, COSTS);
    for &(group, core) in threads {
        scheduler.spawn(group, core, COSTS.slice, Action::Compute(NEVER));
    }
    scheduler
}

/// Ticks until then.
fn tick_until(scheduler: &mut Scheduler, end: Nanos) {
    while scheduler.next().0 <= end {
        scheduler.now = scheduler.next().0;
        scheduler.tick();
    }
    scheduler.now = end;
}

fn shares(scheduler: &Scheduler) -> Vec<f64> {
    let all: Nanos = scheduler.tasks.iter().map(|task| task.ran).sum();
    scheduler.tasks.iter().map(|task| task.ran as f64 / all as f64).collect()
}

fn are_near(shares: &[f64], expected: &[f64]) -> bool {
    shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.03)
}

#[test]
fn threads_of_one_group_share_a_core_alike() {
    let mut scheduler = computing(1, &[(0, 0), (0, 0), (0, 0)]);
    tick_until(&mut scheduler, 1200 * MS);
    let shares = shares(&scheduler);
    assert!(are_near(&shares, &[1.0 / 3.0; 3]), "{shares:?}");
}

#[test]
fn a_group_weighs_as_much_as_one_thread() {
    let mut scheduler = computing(1, &[(0, 0), (0, 0), (1, 0)]);
    tick_until(&mut scheduler, 1200 * MS);
    let shares = shares(&scheduler);
    assert!(are_near(&shares, &[0.25, 0.25, 0.5]), "{shares:?}");
}

#[test]
fn threads_spread_over_the_cores() {
    let mut scheduler = computing(2, &[(0, 0), (0, 0), (0, 0), (0, 0)]);
    tick_until(&mut scheduler, 400 * MS);
    let on_first = scheduler.tasks.iter().filter(|task| task.core == 0).count();
    assert_eq!((on_first, scheduler.runnable(), scheduler.cores()), (2, 4, 2));
}

#[test]
fn a_turn_ends_at_a_tick_after_its_slice() {
    let mut scheduler = computing(1, &[(0, 0), (0, 0)]);
    let running = |scheduler: &Scheduler| {
        scheduler.tasks.iter().position(|task| task.state == State::Running)
    };
    let first = running(&scheduler);
    scheduler.now = 2 * MS;
    assert_eq!(running(&scheduler), first, "its slice is over, and nobody has looked");
    tick_until(&mut scheduler, 4 * MS);
    assert_ne!(running(&scheduler), first);
}

#[test]
fn a_yield_leaves_its_group_only_if_that_has_had_its_share() {
    // Both have run alike, until the first, which runs, has run for longer. The second one is of
    // its group or of another one.
    for (group, longer, gives) in [(0, 0, true), (1, 0, false), (1, 100 * US, true)] {
        let mut scheduler = computing(1, &[(0, 0), (group, 0)]);
        tick_until(&mut scheduler, 8 * MS);
        assert_eq!(scheduler.tasks[0].state, State::Running);
        scheduler.now += longer;
        scheduler.give_way(0);
        let other_runs = scheduler.tasks[1].state == State::Running;
        assert_eq!(other_runs, gives, "group {group} {longer}");
    }
}

#[test]
fn a_woken_thread_runs_at_once_unless_it_has_had_more_than_its_share() {
    // The sleeper has just been chosen, 4 ms behind the other one or level with it.
    let runs = |sleeper: usize, chosen: Nanos, had: Nanos| {
        let mut scheduler = computing(1, &[(0, 0), (0, 0)]);
        tick_until(&mut scheduler, chosen);
        assert_eq!(scheduler.tasks[sleeper].state, State::Running);
        scheduler.now += had;
        scheduler.sleep(sleeper);
        scheduler.now += 50 * US;
        scheduler.wake(sleeper, None);
        scheduler.tasks[sleeper].state == State::Running
    };
    assert!(runs(1, 4 * MS, 10 * US));
    assert!(!runs(0, 8 * MS, 3900 * US));
}

#[test]
fn an_idle_core_takes_a_thread_that_waits() {
    let mut scheduler = computing(2, &[(0, 0), (0, 1), (0, 1)]);
    tick_until(&mut scheduler, 20 * MS + 2 * MS);
    let alone = scheduler.tasks.iter().position(|task| {
        task.state == State::Running
            && scheduler.tasks.iter().filter(|other| other.core == task.core).count() == 1
    });
    scheduler.sleep(alone.expect("three threads, two cores"));
    assert_eq!((scheduler.idle(), scheduler.runnable()), (0, 2));
    let running = scheduler.tasks.iter().filter(|task| task.state == State::Running);
    assert_eq!(running.count(), 2);
}

fn scene(ranks: usize, work: Nanos, disturbers: &'static [Disturber], session: Session) -> Scene {
    Scene { cores: 2, ranks, work, disturbers, session, policy: Policy::Auto, slice: None }
}

#[test]
fn run_time_is_conserved_and_runs_are_repeated() {
    let end = 200 * MS;
    for policy in [Policy::Auto, Policy::Spin, Policy::Yield, Policy::Sleep, Policy::Proposed] {
        for disturbers in [NOTHING, LOOP, TWO_LOOPS, PULSE] {
            for (ranks, session) in [(2, Session::Same), (3, Session::Own), (16, Session::Same)] {
                let scene = Scene { policy, ..scene(ranks, 50 * US, disturbers, session) };
                let run = || {
                    let mut world = World::new(scene, COSTS, 7);
                    world.run_until(end);
                    let on_cpu = world.scheduler.tasks.iter().map(|task| task.ran);
                    let ran = on_cpu.sum::<Nanos>() + world.scheduler.unaccounted();
                    assert_eq!(ran + world.scheduler.idle(), 2 * end, "{scene:?}");
                    assert!(world.knowledge.is_bounded(end), "{scene:?}");
                    world.steps()
                };
                let steps = run();
                assert!(steps > 1.0, "{scene:?}");
                assert_eq!(steps.to_bits(), run().to_bits(), "{scene:?}");
            }
        }
    }
}

#[test]
fn the_model_is_as_near_to_what_was_measured_as_it_says() {
    let mut errors = [vec![], vec![]];
    for (index, point) in points().iter().enumerate() {
        let time = time_per_step(point.scene);
        let error = time / point.measured - 1.0;
        let Scene { ranks, work, .. } = point.scene;
        let measured = point.measured;
        println!(
            "{:2} {:36} {ranks} x {:5} us: measured {measured:8.1} model {time:8.1} {error:+.2}",
            index + 1,
            point.name,
            work / US
        );
        errors[index % 2].push(error.abs());
    }
    let median = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    let [odd, even] = errors.map(median);
    println!("median error at odd points {odd:.3}, at even points {even:.3}");
    assert!(odd <= ERRORS[0] && even <= ERRORS[1], "{odd} {even}");
}

/// Microseconds per step with the best of the simple policies.
fn best(scene: Scene) -> f64 {
    let policies = [Policy::Spin, Policy::Yield, Policy::Sleep];
    let all = policies.iter().flat_map(|&policy| {
        [None, SHORT_SLICE].map(|slice| time_per_step(Scene { policy, slice, ..scene }))
    });
    all.fold(f64::MAX, f64::min)
}

#[test]
fn auto_is_near_the_best_where_the_model_says_so() {
    for (disturbers, session) in
        [(NOTHING, Session::Same), (LOOP, Session::Same), (LOOP, Session::Own)]
    {
        for (ranks, work) in [2, 4, 8]
            .into_iter()
            .flat_map(|ranks| [6 * US, 100 * US, MS, 10 * MS].map(|work| (ranks, work)))
        {
            let scene = scene(ranks, work, disturbers, session);
            let (best, auto) = (best(scene), time_per_step(scene));
            println!("{scene:?}: best {best:.1} auto {auto:.1} us per step");
            let is_worse = session == Session::Own && WORSE.contains(&(ranks, work));
            assert_eq!(auto > FACTOR * best, is_worse, "{scene:?}: best {best} auto {auto}");
        }
    }
}

#[test]
fn the_suggestions_are_near_the_best_beside_loops_of_both_sessions() {
    for session in [Session::Same, Session::Own] {
        for ranks in [4, 8] {
            let scene = scene(ranks, 6 * US, LOOP, session);
            let simple = [Policy::Yield, Policy::Sleep];
            let simple = simple.map(|policy| time_per_step(Scene { policy, ..scene }));
            let best = simple[0].min(simple[1]);
            for policy in [Policy::Patient, Policy::Proposed] {
                let time = time_per_step(Scene { policy, ..scene });
                println!("{scene:?}: best {best:.1} {policy:?} {time:.1} us per step");
                assert!(time <= 1.1 * best, "{scene:?} {policy:?}: {time} {best}");
            }
        }
    }
}

#[test]
#[ignore = "prints a table, which takes half a minute of a core"]
fn table() {
    for (disturbers, session) in [
        (LOOP, Session::Same),
        (LOOP, Session::Own),
        (TWO_LOOPS, Session::Same),
        (TWO_LOOPS, Session::Own),
        (PULSE, Session::Same),
    ] {
        for (ranks, work) in [3, 4, 8, 16]
            .into_iter()
            .flat_map(|ranks| [6 * US, 100 * US, MS].map(|work| (ranks, work)))
        {
            let scene = scene(ranks, work, disturbers, session);
            let best = best(scene);
            let policies = [Policy::Auto, Policy::Patient, Policy::Proposed];
            let ratios = policies.map(|policy| time_per_step(Scene { policy, ..scene }) / best);
            println!("{disturbers:?} {session:?} {ranks} ranks {} us: {ratios:.2?}", work / US);
        }
    }
}
