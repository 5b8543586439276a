//! Ranks whose arguments do not fit together: what check mode says of them in any case, and what a
//! rank notices without it.

use std::mem;

use motet::{Communicator, ErrorKind, MergeOrder, Result, Settings, Sum, Tag, World, threads_with};

use crate::worlds::{Watchdog, on_ranks};

/// What the ranks of a world of two come to.
fn on_two(settings: &Settings, body: fn(&World) -> Result<()>) -> Vec<Result<()>> {
    let _watchdog = Watchdog::start();
    let ended = threads_with(2, settings, |world| {
        let ended = body(&world).and_then(|()| world.leave());
        mem::forget(world);
        ended
    });
    ended.expect("nobody panics")
}

/// A buffer of rank 1 that is shorter than that of rank 0, or longer.
const DIFFERENT_LENGTHS: [fn(&World) -> Result<()>; 5] = [
    |world| world.bcast(&mut vec![1; if world.rank() == 0 { 5 } else { 3 }], 0),
    |world| world.bcast(&mut vec![1; if world.rank() == 0 { 3 } else { 5 }], 0),
    |world| world.allreduce_in_place(&mut vec![1; 3 + 2 * world.rank()], Sum),
    |world| world.ibcast(vec![1; 3 + 2 * world.rank()], 0)?.wait().map(drop),
    |world| world.bcast_init(vec![1; 3 + 2 * world.rank()], 0, &motet::Info::new())?.run(),
];

/// spec: 11
#[test]
fn check_mode_tells_each_rank_of_lengths_that_differ() {
    for (at, body) in DIFFERENT_LENGTHS.into_iter().enumerate() {
        for ended in on_two(&Settings::new().check(), body) {
            let error = ended.expect_err("the lengths differ");
            let is_right =
                matches!(error.kind(), ErrorKind::Mismatch(_) | ErrorKind::Truncated { .. });
            assert!(is_right, "call {at}: {error}");
        }
    }
}

/// What there is no room for is never written.
#[test]
fn a_broadcast_that_is_longer_than_the_buffer_is_truncated() {
    let ended = on_two(&Settings::new(), DIFFERENT_LENGTHS[0]);
    let error = ended[1].as_ref().expect_err("5 elements do not fit into 3");
    assert!(matches!(error.kind(), ErrorKind::Truncated { sent: 20, room: 12 }), "{error}");
}

/// Groups that differ between the ranks that pass them, and orders of a merge.
#[test]
fn groups_and_orders_that_differ_are_errors_of_all() {
    on_ranks(3, |world| {
        let me = world.rank();
        let own = world.group().include(&[me, (me + 1) % 3])?;
        let error = world.create(&own).expect_err("the groups differ");
        assert_eq!(error.class(), motet::ErrorClass::Group, "{error}");
        let side = world.split(Some(u32::from(me == 2)), 0)?.expect("all have a colour");
        let (local, other): (&Communicator, usize) = (&side, if me == 2 { 0 } else { 2 });
        let across = local.intercomm_create(0, Some(world), other, Tag(1))?;
        let order = if me == 0 { MergeOrder::First } else { MergeOrder::Last };
        let merged = across.merge(order);
        let error = merged.map(drop).expect_err("ranks 0 and 1 pass different orders");
        assert_eq!(error.class(), motet::ErrorClass::NotSame, "{error}");
        Ok(())
    });
}
