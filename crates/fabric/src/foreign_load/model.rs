//! A model of ranks that wait beside other programs: cores, groups of threads, slices, ranks and
//! disturbers, in steps from event to event. The same seed gives the same run.
//!
//! It stands here so that rules of waiting can be tried before they are written: a scene with
//! another rule takes a second, and the same on a machine takes quiet, luck and an afternoon.
//! [`Evidence`](super::Evidence) is the real one. What `SharedSegment` does with it is written down
//! again in `knowledge.rs`; how long ranks look, yield and stay awake, and which of them count as
//! fine, in `policy.rs`; when a rank yields, goes to another core or sleeps, in `ranks.rs`.
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
//! median relative error is 6.2 % at odd points and 5.0 % at the others. Two faults were found
//! later and mended. A yield left its group too seldom: that changed two points, each by less than
//! 0.2 %. A rank that went to its own core did not wait until it was there: that changed eight
//! points, by 10 % at most. Neither this nor the present rules of evidence have changed the
//! medians. These points are wrong by more than 30 %:
//!
//! * Yields with slices of 0.1 ms and work of 6 us: 46 instead of 30 us per step for 2 ranks, 712
//!   instead of 240 for 4, 910 instead of 425 for 8. In the model the balance sometimes leaves one
//!   rank alone with the loop for tens of milliseconds. Such a rank has used up its advantage after
//!   40 yields, 8 us, and then waits for a tick. It stays there since ranks go to their own cores
//!   only where there is no evidence of foreign load; without that condition 4 ranks take 314 and 8
//!   take 558, but 2 take 140. Which version of the library was measured is not known.
//! * Yields beside a loop, 4 ranks, 6 us: 4840 instead of 2650 to 2900. Single runs were measured
//!   at 4000. The model may hold the bad placement for longer than the kernel does.
//! * Yields with a loop in a session of its own, 4 ranks, 6 us: 76 instead of 49 to 66. The model
//!   keeps all ranks on the other core; they may have the core of the loop now and then.
//! * `auto` beside a loop, 2 ranks, 6 us: 32 instead of 20 to 28. It is as if both ranks shared the
//!   core without the loop, which takes 31.
//!
//! The row of the loop in a session of its own does not say how its ranks waited. It is taken as
//! yields: with sleep 4 and 8 ranks with work of 6 us take 1.5 and 1.6 times as long in the model.
//!
//! The points measure `auto` once only, with 2 ranks. With 3 and more, `auto` was compared with
//! sleep on a slower machine of 2 cores after its rules had been changed to the present ones. The
//! model was compared with that, and nothing was fitted. Times per step, divided by those with
//! sleep; the work is that of a whole step, half of it before each allreduce:
//!
//! | loops | session | work | ranks | measured | model |
//! |---|---|---|---|---|---|
//! | one | same | 6 us | 3, 4, 8 | 0.54 0.53 0.61 | 0.53 0.52 0.47 |
//! | one | same | 40 us | 4, 8 | 0.74 0.72 | 0.85 0.76 |
//! | one | same | 0.1 ms | 4, 8 | 0.90 0.93 | 0.94 0.86 |
//! | one | same | 0.25 ms | 4, 8 | 1.04 1.02 | 1.00 1.02 |
//! | one | same | 1 ms | 4, 8 | 1.05 1.00 | 1.00 1.01 |
//! | one | own | 6 us | 4, 8 | 0.54 0.61 | 0.51 0.48 |
//! | two | same | 6 us | 4, 8 | 1.12 0.65 | 1.03 1.08 |
//!
//! The median relative error is 5.7 %. The model is wrong by more than 30 % in one scene: it does
//! not show what 8 ranks beside two loops gain. With work of 6 us and one loop, 8 ranks are a fifth
//! faster in the model than measured.
//!
//! # What it says of `auto`
//!
//! With 2, 4 and 8 ranks, work of 6 us, 100 us, 1 ms and 10 ms twice per step, and no loop, one in
//! the same session, or one in a session of its own, `auto` takes at most 1.3 times as long as the
//! best of spin, yield and sleep with or without short slices, but for [`WORSE`]: 2 ranks with work
//! of 6 us and a loop in a session of its own, 1.39 times. There each rank has a core, so that
//! `auto` does not mind foreign load. Beside a loop in the same session, 4 and 8 ranks with work of
//! 6 us take 0.6 times as long as with the best of the others. `table` tries more scenes, with 3,
//! 4, 8 and 16 ranks: how many times as long as with the best of the others do they take?
//!
//! | loops | session | work | `auto` |
//! |---|---|---|---|
//! | one | same | 6 us | 0.63 0.64 0.59 0.54 |
//! | one | same | 0.1 ms | 1.01 1.02 1.03 1.49 |
//! | one | own | 6 us | 0.93 0.97 0.96 0.97 |
//! | two | same | 6 us | 0.97 1.01 0.79 0.78 |
//! | two | same | 0.1 ms | 1.05 1.15 1.51 1.53 |
//! | two | own | 6 us | 0.61 1.75 1.67 1.90 |
//! | two | own | 0.1 ms | 0.94 1.32 1.52 1.77 |
//! | half | same | 6 us | 0.97 1.17 1.36 1.48 |
//! | half | same | 0.1 ms | 0.85 1.15 1.39 1.60 |
//!
//! Half a loop computes every other 5 ms. The rows that are not here are at most 1.26. Beside two
//! loops of the same session 2 ranks with work of 1 ms take 1.5 times as long as with spin.
//!
//! Where `auto` is bad:
//!
//! * Two loops in a session of their own: yields are best there. They leave the group only when
//!   that has had its share, so they lose little. But the turns of the loops are taken as evidence.
//!   With work of 6 us 4 ranks take 128 us per step, against 73 with yields and 153 with sleep, and
//!   16 ranks 714, against 375 and 659.
//! * Work of 0.1 ms and 8 or 16 ranks beside two loops: up to 1.6 times as long as with sleep. Such
//!   ranks are to sleep, but count as fine. An allreduce is three or four waits in a row with
//!   nothing between them, so that the mean from wait to wait is 26 to 33 us. If ranks were fine
//!   below 40 us instead of 60, 8 ranks of the same session would take 2280 instead of 2730 us per
//!   step, where sleep takes 1840, and 4 ranks beside loops of their own session 980 instead of
//!   1240. No machine has been asked yet whether that is so.
//! * Half a loop: ranks that are fine share one core while the other is idle every other 5 ms. If
//!   all slept while evidence holds, 4 and 8 ranks with work of 6 us would take 61 and 152 instead
//!   of 79 and 204 us per step.

mod costs;
mod grid;
mod knowledge;
mod policy;
mod ranks;
mod scheduler;

use costs::{COSTS, MS, Nanos, US};
use grid::{Comparison, LOOP, NOTHING, PULSE, SHORT_SLICE, TWO_LOOPS};
use grid::{comparisons, points, time_per_step};
use policy::Policy;
use ranks::{Disturber, Scene, Session, World};
use scheduler::{Action, Scheduler, State};

/// Where `auto` takes more than [`FACTOR`] times as long as the best of the others: ranks and work,
/// with a loop in a session of its own.
const WORSE: [(usize, Nanos); 1] = [(2, 6 * US)];
const FACTOR: f64 = 1.3;
/// What the model has reached, rounded up: the median relative errors at odd and even points.
const ERRORS: [f64; 2] = [0.07, 0.06];

/// The same for the times with `auto` divided by those with sleep.
const RATIO_ERROR: f64 = 0.06;

const NEVER: Nanos = Nanos::MAX / 2;

/// A scheduler with threads that compute for ever, in these groups and on these cores.
fn computing(cores: usize, threads: &[(usize, usize)]) -> Scheduler {
    let groups = threads.iter().map(|&(group, _)| group + 1).max().unwrap_or(1);
    let mut scheduler = Scheduler::new(cores, groups, COSTS);
    for &(group, core) in threads {
        scheduler.spawn(group, core, COSTS.slice, Action::Compute(NEVER));
    }
    scheduler
}

/// Advances the scheduler to the time `end`.
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
        scheduler.yield_core(0);
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
    for policy in [Policy::Auto, Policy::Spin, Policy::Yield, Policy::Sleep] {
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

fn median(mut errors: Vec<f64>) -> f64 {
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
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
    let [odd, even] = errors.map(median);
    println!("median error at odd points {odd:.3}, at even points {even:.3}");
    assert!(odd <= ERRORS[0] && even <= ERRORS[1], "{odd} {even}");
}

#[test]
fn auto_gains_against_sleep_what_the_model_says() {
    let mut errors = Vec::new();
    for Comparison { scene, before, auto, sleep } in comparisons() {
        let model = time_per_step(scene) / time_per_step(Scene { policy: Policy::Sleep, ..scene });
        let [measured, before] = [auto, before].map(|time| time / sleep);
        println!("{scene:?}: measured {measured:.2} model {model:.2}, before {before:.2}");
        errors.push((model / measured - 1.0).abs());
    }
    let median = median(errors);
    println!("median error of ratios {median:.3}");
    assert!(median <= RATIO_ERROR, "{median}");
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
            let ratio = time_per_step(scene) / best;
            println!("{disturbers:?} {session:?} {ranks} ranks {} us: {ratio:.2}", work / US);
        }
    }
}
