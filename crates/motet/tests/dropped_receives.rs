//! Receives whose requests are dropped take no message that another receive is for; over every way
//! that messages go: between threads, between threads with a network between them, and (in
//! `processes.rs`) between processes.

mod worlds;

#[path = "dropped_receives/rounds.rs"]
mod rounds;

use motet::{ErrorClass, Settings, Tag, Waiting};
use worlds::{Watchdog, on_ranks, on_ranks_with};

#[test]
fn between_threads() {
    on_ranks(2, rounds::all);
}

#[test]
fn in_pieces_and_with_a_progress_thread() {
    on_ranks_with(2, &Settings::new().without_single_copy(), rounds::all);
    on_ranks_with(2, &Settings::new().progress_thread(), rounds::all);
    on_ranks_with(2, &Settings::new().waiting(Waiting::Sleep), rounds::all);
}

/// Where the test machine has libfabric; `network.rs` says what there is without it.
#[test]
fn over_a_network() {
    let settings = Settings::new().ranks_per_segment(1);
    let there = motet::threads_with(2, &settings, |_| ());
    if there.is_ok() {
        on_ranks_with(2, &settings, rounds::all);
    }
}

/// A body that fails does not wait for what would have answered it.
#[test]
fn a_scope_that_fails_waits_for_no_message() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let mut room = [0u8; 4];
        let ended = world.scope(|scope| {
            let answer = scope.irecv(&mut room[..], other, Tag(1))?;
            scope.isend(&[1u8; 4][..], 17, Tag(1))?.wait()?;
            answer.wait().map(drop)
        });
        assert_eq!(ended.expect_err("no such rank").class(), ErrorClass::Rank);
        world.barrier()?;
        // The message is for the next receive.
        world.isend(vec![3u8; 4], other, Tag(1))?.wait()?;
        world.recv(&mut room, other, Tag(1))?;
        assert_eq!(room, [3; 4]);
        Ok(())
    });
}

/// A scope whose body has not failed waits for what was dropped.
#[test]
fn a_scope_waits_for_receives_that_were_dropped() {
    let _watchdog = Watchdog::start();
    on_ranks(2, |world| {
        let (other, mut room) = (1 - world.rank(), [0u8; 4]);
        world.scope(|scope| {
            drop(scope.irecv(&mut room[..], other, Tag(1))?);
            scope.isend(&[5u8; 4][..], other, Tag(1))?.wait().map(drop)
        })?;
        assert_eq!(room, [5; 4]);
        Ok(())
    });
}
