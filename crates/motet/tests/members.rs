//! Persistent collectives among the members of a group: every operation on random groups, against
//! an oracle of plain loops over the group; and the rules of the 2008 proposal.

mod members {
    pub(crate) mod case;
    mod mismatches;
    pub(crate) mod oracle;
    pub(crate) mod perform;
    pub(crate) mod rules;
    pub(crate) mod untyped;
}
mod worlds;

use std::process::{Command, Stdio};
use std::time::Duration;

use members::{case, oracle, perform, rules, untyped};
use motet::{ErrorKind, Result, Settings, World};
use proptest::prelude::*;

use case::{Case, Kind};
use perform::Operation;
use worlds::{Random, Watchdog, by_algorithm, on_ranks, on_ranks_with};

/// Runs of each operation.
const ROUNDS: usize = 2;
/// Tells this program that it is one of the processes of a world.
const AS_PROCESSES: &str = "MOTET_TEST_MEMBERS";

/// Makes the operations of all cases, then starts and completes them in orders of the rank's own.
/// Says how many the algorithm that was asked for has refused.
fn play_all(world: &World, cases: &[Case]) -> Result<usize> {
    let (me, mut refused) = (world.rank(), 0);
    let mut operations: Vec<Box<dyn Operation>> = Vec::new();
    for case in cases {
        let members = perform::members(world, case)?;
        operations.push(match perform::operation(&members, case, me) {
            // A call that is refused has not been made; the others have made theirs.
            Err(error) if matches!(error.kind(), ErrorKind::Select(_)) => {
                refused += 1;
                perform::barrier(&members)?
            }
            operation => operation?,
        });
    }
    let mut random = Random(me as u64);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    for round in 0..ROUNDS {
        random.shuffle(&mut order);
        order.iter().try_for_each(|&at| operations[at].start(round))?;
        random.shuffle(&mut order);
        order.iter().try_for_each(|&at| operations[at].finish(round))?;
    }
    Ok(refused)
}

/// Cases of all kinds.
fn cases(ranks: usize, number: usize, seed: u64) -> Vec<Case> {
    let mut random = Random(seed);
    let kind = |at: usize| Kind::ALL[(at + seed as usize % 64) % Kind::ALL.len()];
    (0..number).map(|at| Case::random(&mut random, kind(at), ranks)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// All at once: disjoint and overlapping groups, with and without rank 0, of one, of none;
    /// started and completed in another order by each rank.
    ///
    /// spec: 47, 103, 104, 105, 106, 107, 108, 111, 121, 123
    #[test]
    fn every_operation_among_random_groups(ranks in 1..=16usize, seed: u64) {
        on_ranks(ranks, |world| play_all(world, &cases(ranks, 20, seed)));
    }

    /// spec: 103, 104, 105, 108, 111
    #[test]
    fn the_untyped_layer_among_random_groups(ranks in 1..=9usize, seed: u64) {
        on_ranks(ranks, |world| {
            cases(ranks, 20, seed).iter().try_for_each(|case| untyped::play(world, case))
        });
    }

    /// What all ranks agree on, check mode takes; also where outsiders pass less.
    ///
    /// spec: 11, 103, 107
    #[test]
    fn check_mode_takes_what_fits(ranks in 2..=6usize, seed: u64) {
        let settings = Settings::new().check();
        on_ranks_with(ranks, &settings, |world| play_all(world, &cases(ranks, 12, seed)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// An enforced init is collective over the communicator, also among a group: outsiders take
    /// part in agreeing, and nothing of theirs is touched when the members measure.
    ///
    /// spec: 103, 104, 107
    #[test]
    fn enforced_inits_among_groups(ranks in 2..=5usize, seed: u64) {
        on_ranks(ranks, |world| {
            let mut cases = cases(ranks, 17, seed);
            cases.iter_mut().for_each(|case| case.enforced = true);
            play_all(world, &cases)?;
            cases.iter().step_by(4).try_for_each(|case| untyped::play(world, case))
        });
    }
}

/// Each algorithm takes the calls of its collective in turn, among groups.
///
/// spec: 103, 104, 105, 111
#[test]
fn every_algorithm_among_groups() {
    let _watchdog = Watchdog::with(Duration::from_secs(240));
    for row in motet_plan::algo::table() {
        let (collective, name) = (row.collective().name(), row.name());
        let kinds: Vec<Kind> =
            Kind::ALL.into_iter().filter(|kind| kind.planned() == collective).collect();
        if kinds.is_empty() {
            continue;
        }
        let forced = by_algorithm(collective, name);
        let mut random = Random(row.name().len() as u64);
        let mut taken = 0;
        for ranks in [3, 6, 9] {
            // In each group another power of two, or none.
            let cases: Vec<Case> = (0..2 * ranks)
                .map(|at| Case::random(&mut random, kinds[at % kinds.len()], ranks))
                .collect();
            let refused = on_ranks_with(ranks, &forced, |world| play_all(world, &cases));
            taken += ranks * cases.len() - refused.iter().sum::<usize>();
            assert!(refused.iter().all(|&refused| refused < cases.len()), "{collective}:{name}");
        }
        assert!(taken > 0, "{collective}:{name} took no call at all");
    }
}

/// The tests of this program whose ranks are processes run it again, as one of these.
///
/// spec: 42, 103, 104, 105, 111, 121
#[test]
fn among_groups_of_processes() {
    if std::env::var_os(AS_PROCESSES).is_some() {
        let _watchdog = Watchdog::start();
        let world = motet::launch(5).unwrap_or_else(|error| panic!("{error}"));
        for seed in 0..6 {
            let cases = cases(world.size(), 17, seed);
            play_all(&world, &cases).unwrap_or_else(|error| panic!("{error}"));
            let untyped = cases.iter().try_for_each(|case| untyped::play(&world, case));
            untyped.unwrap_or_else(|error| panic!("{error}"));
        }
        rules::all(&world).unwrap_or_else(|error| panic!("{error}"));
        return;
    }
    let _watchdog = Watchdog::start();
    let program = std::env::current_exe().expect("it runs");
    let ended = Command::new(program)
        .args(["--exact", "among_groups_of_processes", "--nocapture"])
        .env(AS_PROCESSES, "1")
        .stdin(Stdio::null())
        .output()
        .expect("it can be run again");
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{}\n{told}", ended.status);
}
