//! Elements of one type never arrive as elements of another, whatever the types and the calls.

mod element_types {
    pub(crate) mod forms;
    pub(crate) mod shapes;
}
mod worlds;

use std::env;
use std::process::{Command, Stdio};

use element_types::forms::{
    FORMS, TrialCommunicators, play, play_raw, send_all_to_oneself, trials,
};
use element_types::shapes::{Checked, Raw, Shape};
use motet::{Datatype, Error, ErrorClass, Info, Result, Settings, Tag, TypedBlock, World};
use motet_fabric::net::Library;
use worlds::{Watchdog, on_ranks_with};

/// Tells the program that it is to be a rank.
const IS_RANK: &str = "MOTET_TEST_IS_RANK";
const TAG: Tag = Tag(1);
/// How many cases of each random test are played; more if this variable says so.
const CASES: &str = "MOTET_TEST_TYPE_CASES";

fn refused<T>(result: Result<T>) -> Option<Error> {
    let error = result.err()?;
    assert_eq!(error.class(), ErrorClass::Type, "{error}");
    Some(error)
}

/// The numbers that were once computed from these two structures were equal.
#[test]
fn structures_are_compared_by_their_fields() {
    on_ranks_with(2, &Settings::new(), |world| {
        if world.rank() == 0 {
            return world.send(&[Raw { a: 1, b: 2, c: 7, d: 4 }], 1, TAG);
        }
        let mut got = [Checked { a: 0, b: 0, c: false, d: 0.0 }];
        let error = refused(world.recv(&mut got, 0, TAG).map(drop));
        assert!(got[0].is_valid(), "a bool of {}", got[0].c as u8);
        let error = error.expect("they are not of one type").to_string();
        for message in [
            "rank 0",
            "{0: u8, 1: u8, 2: i8, 4: u32; 8 bytes}",
            "{0: u8, 1: u8, 2: bool, 4: f32; 8 bytes}",
        ] {
            assert!(error.contains(message), "{error}");
        }
        Ok(())
    });
}

/// Bytes that a datatype calls something else do not become values of a type that has not all
/// patterns of bits.
#[test]
fn raw_bytes_do_not_become_truth_values() {
    let all = [Datatype::BYTE, Datatype::PACKED, Datatype::C_BOOL, Datatype::LOGICAL1];
    on_ranks_with(2, &Settings::new(), |world| {
        for datatype in &all {
            raw_blocks(world, datatype)?;
            raw_edges(world, datatype)?;
            raw_edges_again(world, datatype)?;
        }
        Ok(())
    });
}

fn raw_blocks(world: &World, datatype: &Datatype) -> Result<()> {
    let parts = [0, 1].map(|at| TypedBlock::new(at, 1, datatype));
    if world.rank() == 0 {
        let mut got = [9_u8; 2];
        // To this side all is bytes. Its call may tell of the other's error.
        let _ = world.alltoallw(&[5, 7], &mut got, &parts, &parts);
        return Ok(());
    }
    let mut got = [false; 2];
    let error = refused(world.alltoall(&[true, true], &mut got));
    assert!(got.is_valid() && error.is_some(), "{datatype:?}: {got:?}");
    Ok(())
}

fn raw_edges(world: &World, datatype: &Datatype) -> Result<()> {
    let none: [(usize, TypedBlock); 0] = [];
    if world.rank() == 0 {
        let to = [(1, TypedBlock::new(0, 2, datatype))];
        return world.exchangew(&[5_u8, 7], &mut [], &to, &none);
    }
    let mut got = [false; 2];
    let error = refused(world.exchange(&[], &mut got, &[0_usize; 0], &[0]));
    assert!(got.is_valid() && error.is_some(), "{datatype:?}: {got:?}");
    Ok(())
}

fn raw_edges_again(world: &World, datatype: &Datatype) -> Result<()> {
    let (none, info): ([(usize, TypedBlock); 0], _) = ([], Info::new());
    if world.rank() == 0 {
        let to = [(1, TypedBlock::new(0, 2, datatype))];
        let mut all = world.exchangew_init((vec![5_u8, 7], vec![]), &to, &none, &info)?;
        return (0..3).try_for_each(|_| all.run());
    }
    let mut all = world.exchange_init((vec![], vec![false; 2]), &[0_usize; 0], &[0], &info)?;
    for round in 0..3 {
        let error = refused(all.run());
        let got = all.output();
        assert!(
            got.iter().all(Shape::is_valid) && error.is_some(),
            "{datatype:?} in round {round}: {got:?}"
        );
    }
    Ok(())
}

/// Plays so many cases in worlds that last for some of them.
fn play_all(cases: usize, settings: &Settings, body: impl Fn(&World, usize) -> Result<()> + Sync) {
    const IN_ONE_WORLD: usize = 250;
    for first in 0..cases.div_ceil(IN_ONE_WORLD) {
        on_ranks_with(2, settings, |world| body(world, first * IN_ONE_WORLD));
    }
}

fn cases(usual: usize) -> usize {
    env::var(CASES).ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn play_every_form(usual: usize, settings: &Settings) {
    play_all(cases(usual), settings, |world, first| {
        TrialCommunicators::with(world, |place| {
            trials(first, FORMS).take(250).try_for_each(|trial| play(place, &trial))
        })
    });
}

/// Random types on both sides, in every form.
#[test]
fn types_are_compared_in_every_form() {
    on_ranks_with(2, &Settings::new(), send_all_to_oneself);
    play_every_form(3000, &Settings::new());
}

/// The same where calls are compared before they begin: a mismatch is told by later calls too, so
/// each case has a world of its own.
#[test]
fn types_are_compared_in_check_mode() {
    for first in 0..100 {
        on_ranks_with(2, &Settings::new().check(), |world| {
            TrialCommunicators::with(world, |place| {
                trials(first, FORMS).take(1).try_for_each(|trial| play(place, &trial))
            })
        });
    }
}

/// The same where nothing goes by channels, and long messages go in pieces.
#[test]
fn types_are_compared_in_messages_alone() {
    play_every_form(500, &Settings::new().without_channels().without_single_copy());
}

/// The same over the network, if there is one, where no memory is shared.
#[test]
fn types_are_compared_over_the_network() {
    if let Err(error) = Library::open() {
        eprintln!("not tested: {error}");
        return;
    }
    play_every_form(500, &Settings::new().ranks_per_segment(1));
}

/// Two processes that number their structures in different orders. The program runs itself, which
/// becomes both.
#[test]
fn types_are_compared_between_processes() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let _watchdog = Watchdog::start();
    if env::var_os(IS_RANK).is_some() {
        return Ok(as_a_process()?);
    }
    let mut program = Command::new(env::current_exe()?);
    let name = "types_are_compared_between_processes";
    program.args(["--exact", name, "--nocapture"]).env(IS_RANK, "1");
    let ended = program.stdin(Stdio::null()).output()?;
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    Ok(())
}

fn as_a_process() -> Result<()> {
    let world = &motet::launch(2)?;
    if world.rank() == 1 {
        send_all_to_oneself(world)?;
    }
    TrialCommunicators::with(world, |place| {
        trials(77, FORMS).take(1500).try_for_each(|trial| play(place, &trial))
    })?;
    trials(78, 1).take(500).try_for_each(|trial| play_raw(world, &trial))
}

/// Bytes on one side, a random type on the other.
#[test]
fn bytes_are_received_as_what_any_bytes_are() {
    play_all(cases(1000), &Settings::new(), |world, first| {
        trials(first, 1).take(250).try_for_each(|trial| play_raw(world, &trial))
    });
}
