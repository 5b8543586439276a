//! Places outside of buffers: blocks, parts, items and ranks that are not there, and numbers that
//! wrap around.

use motet::buffer::Items;
use motet::{Block, Datatype, ErrorClass, Info, Neighbour, PROC_NULL, Sum, Tag, TypedBlock};

use super::support::{all_well, outcomes};

/// More items than any memory has, each of them at the same place: their size wraps around.
const WRAPPING: usize = (1 << 61) + 1;

/// A number without an extent: any number of them lies in eight bytes.
fn without_extent() -> Datatype {
    Datatype::resized(0, 0, &Datatype::INT64_T).expect("a legal type")
}

#[test]
fn items_outside_of_their_buffer_are_refused() {
    let column = Datatype::vector(3, 1, 4, &Datatype::INT64_T).expect("a legal type");
    let backwards = Datatype::vector(3, 1, -4, &Datatype::INT64_T).expect("a legal type");
    let cases = [
        (0, &column, 2),
        (4, &column, 1),
        (usize::MAX, &column, 1),
        (usize::MAX / 8, &column, 1),
        (0, &column, usize::MAX),
        (0, &backwards, 1),
        (7, &backwards, 1),
        (12, &Datatype::INT64_T, 1),
        (usize::MAX - 1, &Datatype::INT64_T, 3),
    ];
    for (origin, datatype, count) in cases {
        let items = Items::at(vec![0i64; 12], origin, datatype, count);
        assert!(items.is_err(), "{count} items from element {origin} on");
    }
}

#[test]
fn items_whose_size_wraps_around_are_refused() {
    for count in [WRAPPING, 1 << 61, usize::MAX, usize::MAX / 8 + 1] {
        let items = Items::new(vec![0i64; 1], &without_extent(), count);
        assert!(items.is_err(), "{count} items in one place");
    }
}

#[test]
fn items_that_lie_over_each_other_are_sent_as_often_as_they_are_counted() {
    let ended = outcomes(2, |world| {
        let items = Items::new(vec![41 + world.rank() as i64], &without_extent(), 5)?;
        let receive = vec![0i64; 10];
        let (_, all) = world.iallgather((items, receive))?.wait()?;
        Ok(all)
    });
    for all in ended.expect("a world") {
        assert_eq!(all.expect("they may be sent"), [41, 41, 41, 41, 41, 42, 42, 42, 42, 42]);
    }
}

#[test]
fn parts_outside_of_a_buffer_are_refused() {
    let ended = outcomes(1, |world| {
        let displacements = [-1, -8, 9, 1 << 40, isize::MAX, isize::MIN, isize::MAX - 8];
        for displacement in displacements {
            let [good, bad] =
                [0, displacement].map(|at| [TypedBlock::new(at, 1, &Datatype::INT64_T)]);
            let mut receive = [7i64; 2];
            assert!(world.alltoallw(&[1i64, 2], &mut receive, &good, &bad).is_err());
            assert!(world.alltoallw(&[1i64, 2], &mut receive, &bad, &good).is_err());
            let (to, from) = ([(0, bad[0].clone())], [(0, good[0].clone())]);
            assert!(world.exchangew(&[1i64, 2], &mut receive, &to, &from).is_err());
            assert!(world.exchangew(&[1i64, 2], &mut receive, &from, &to).is_err());
            assert_eq!(receive, [7, 7], "at {displacement}");
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn parts_whose_size_wraps_around_are_refused() {
    let ended = outcomes(1, |world| {
        for count in [WRAPPING, 1 << 61, usize::MAX] {
            let part = [TypedBlock::new(0, count, &without_extent())];
            let one = [TypedBlock::new(0, 1, &Datatype::INT64_T)];
            let mut receive = [7i64; 1];
            assert!(world.alltoallw(&[1i64], &mut receive, &part, &one).is_err());
            assert!(world.alltoallw(&[1i64], &mut receive, &one, &part).is_err());
            let (to, from) = ([(0, part[0].clone())], [(0, one[0].clone())]);
            assert!(world.exchangew(&[1i64], &mut receive, &to, &from).is_err());
            let buffers = (vec![1i64], vec![7i64]);
            assert!(world.alltoallw_init(buffers, &part, &part, &Info::new()).is_err());
            assert_eq!(receive, [7], "{count} items");
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn parts_that_are_received_over_each_other_stay_in_the_buffer() {
    let ended = outcomes(1, |world| {
        let many = [TypedBlock::new(0, 1000, &without_extent())];
        let row = [TypedBlock::new(0, 1000, &Datatype::INT64_T)];
        let mut receive = [7i64; 2];
        let called = world.alltoallw(&[3i64; 1000], &mut receive, &row, &many);
        assert!(called.is_err() || receive == [3, 7], "{called:?}: {receive:?}");
        assert_eq!(receive[1], 7);
        Ok(())
    });
    all_well(ended);
}

/// Blocks that begin or end outside of a buffer of four elements.
const OUTSIDE: [Block; 6] = [
    Block { start: 4, count: 1 },
    Block { start: 0, count: 5 },
    Block { start: usize::MAX, count: 1 },
    Block { start: usize::MAX, count: 2 },
    Block { start: 1, count: usize::MAX },
    Block { start: usize::MAX / 8 + 1, count: 1 },
];

#[test]
fn blocks_outside_of_a_receive_buffer_are_refused() {
    let ended = outcomes(1, |world| {
        for block in OUTSIDE {
            let (blocks, mut receive) = ([block], [7u64; 4]);
            assert!(world.allgatherv(&[1], &mut receive, &blocks).is_err());
            assert!(world.gatherv(&[1], &mut receive, &blocks, 0).is_err());
            let inside = [Block { start: 0, count: 1 }];
            assert!(world.alltoallv(&[1], &mut receive, &inside, &blocks).is_err());
            assert!(world.allgatherv_in_place(&mut receive, &blocks).is_err());
            let from = [Neighbour { rank: 0, start: block.start, count: block.count }];
            let to = [Neighbour { rank: 0, start: 0, count: 1 }];
            assert!(world.exchangev(&[1], &mut receive, &to, &from).is_err());
            assert_eq!(receive, [7; 4], "{block:?}");
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn blocks_outside_of_a_send_buffer_are_refused() {
    let ended = outcomes(1, |world| {
        for block in OUTSIDE {
            let (blocks, send, mut receive) = ([block], [1u64; 4], [7u64; 4]);
            let inside = [Block { start: 0, count: 4 }];
            assert!(world.scatterv(&send, &mut receive, &blocks, 0).is_err());
            assert!(world.alltoallv(&send, &mut receive, &blocks, &inside).is_err());
            let to = [Neighbour { rank: 0, start: block.start, count: block.count }];
            let from = [Neighbour { rank: 0, start: 0, count: 4 }];
            assert!(world.exchangev(&send, &mut receive, &to, &from).is_err());
            assert_eq!(receive, [7; 4], "{block:?}");
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn counts_whose_sum_wraps_around_are_refused() {
    let ended = outcomes(2, |world| {
        let counts = [usize::MAX, 2]; // their sum is 1
        let mut receive = [7u64; 1];
        let refused = world.reduce_scatter(&[1], &mut receive, &counts, Sum);
        assert!(refused.is_err() && receive == [7]);
        let blocks = [Block { start: 0, count: usize::MAX }, Block { start: usize::MAX, count: 2 }];
        assert!(world.allgatherv(&[1], &mut receive, &blocks).is_err());
        assert_eq!(receive, [7]);
        Ok(())
    });
    all_well(ended);
}

#[test]
fn ranks_that_are_not_there_are_refused() {
    let ended = outcomes(2, |world| {
        for rank in [2, 1024, 1 << 32, usize::MAX - 1] {
            let mut one = [0u8];
            assert!(world.send(&[1u8], rank, Tag(0)).is_err());
            assert!(world.recv(&mut one, rank, Tag(0)).is_err());
            assert!(world.bcast(&mut one, rank).is_err());
            assert!(world.gather(&[1u8], &mut [], rank).is_err());
            assert!(world.scatter(&[], &mut one, rank).is_err());
            assert!(world.reduce(&[1u8], &mut [], Sum, rank).is_err());
            assert!(world.exchange(&[1u8], &mut [], &[rank], &[]).is_err());
            assert!(world.sparse_exchange([(rank, &[1u8][..])]).is_err());
            assert!(world.node_of(rank).is_err());
            assert!(world.group().include(&[rank]).is_err());
        }
        let mut one = [0u8];
        assert!(world.bcast(&mut one, PROC_NULL).is_err());
        Ok(())
    });
    all_well(ended);
}

#[test]
fn groups_of_a_larger_world_name_nobody_here() {
    let large = outcomes(4, |world| Ok(world.group().clone())).expect("a world");
    let large = large.into_iter().next().expect("four ranks").expect("a group");
    let last = large.include(&[3]).expect("it has four ranks");
    let ended = outcomes(2, |world| {
        for group in [&large, &last] {
            assert!(world.members(group).is_err());
            assert!(world.create(group).is_err());
            assert!(world.create_group(group, Tag(3)).is_err());
            assert!(world.exchange(&[1u8], &mut [], group, &[]).is_err());
        }
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn datatypes_whose_size_wraps_around_are_not_made() {
    let huge = [
        Datatype::contiguous(i64::MAX, &Datatype::INT64_T),
        Datatype::vector(i64::MAX, 2, 4, &Datatype::INT64_T),
        Datatype::vector(2, 1, i64::MAX, &Datatype::INT64_T),
        Datatype::hvector(3, 1, i64::MAX, &Datatype::INT64_T),
        Datatype::hindexed(&[1, 1], &[i64::MAX, i64::MIN], &Datatype::INT64_T),
        Datatype::indexed(&[i64::MAX, i64::MAX], &[0, 1], &Datatype::INT64_T),
        Datatype::contiguous(-1, &Datatype::INT64_T),
        Datatype::vector(2, -1, 1, &Datatype::INT64_T),
    ];
    for (case, made) in huge.into_iter().enumerate() {
        let used = made
            .map_err(motet::Error::from)
            .and_then(|datatype| Items::new(vec![0i64; 4], &datatype, 1).map(drop));
        let error = used.expect_err("it does not fit into any memory");
        assert_ne!(error.class(), ErrorClass::Intern, "case {case}: {error}");
    }
}

#[test]
fn grids_whose_size_wraps_around_are_refused() {
    let ended = outcomes(2, |world| {
        let sizes = [usize::MAX, 1 << 32, 3];
        for size in sizes {
            let grid = world.cartesian(&[size, size], &[true, true], motet::Reorder::Never);
            assert!(grid.is_err(), "{size} x {size}");
        }
        assert!(motet::dims_create(2, &[usize::MAX, 0]).is_err());
        assert!(motet::dims_create(usize::MAX, &[2, 0]).is_err());
        Ok(())
    });
    all_well(ended);
}
