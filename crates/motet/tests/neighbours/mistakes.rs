//! What is refused at once, and what check mode finds.

use std::time::{Duration, Instant};

use motet::{
    Block, Datatype, ErrorClass, ErrorKind, Info, Neighbour, Result, Settings, Sum, TypedBlock,
    World, threads_with,
};

use crate::worlds::{Watchdog, on_ranks};

/// Three ranks of which rank 0 and rank 2 do not agree: on each rank an error that names both of
/// them, within a second.
fn disagree(call: impl Fn(&World) -> Result<()> + Sync) {
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    let begun = Instant::now();
    let ended = threads_with(3, &Settings::new().check(), |world| {
        let ended = call(&world).and_then(|()| world.barrier());
        // Nobody is told that another has freed the communicator instead of what is wrong.
        std::mem::forget(world);
        (ended, begun.elapsed())
    });
    for (ended, taken) in ended.expect("nobody panics") {
        let error = ended.expect_err("the ranks disagree");
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{text}");
        let names_both = text.contains("rank 0 called") && text.contains("rank 2 called");
        assert!(names_both && text.contains("does not fit"), "{text}");
        assert!(taken < Duration::from_secs(1), "{taken:?}");
    }
}

fn neighbour(rank: usize, count: usize) -> Neighbour {
    Neighbour { rank, start: 0, count }
}

fn part(rank: usize, count: usize) -> (usize, TypedBlock) {
    (rank, TypedBlock::new(0, count, &Datatype::BYTE))
}

/// Rank 0 sends to rank 2, which expects nothing; and rank 0 expects something of rank 2, which
/// sends nothing.
///
/// spec: 113, A5
#[test]
fn edges_with_one_end_are_named() {
    let (none, info) = ([0u8; 0], Info::new());
    let ends = |world: &World| if world.rank() == 0 { vec![2] } else { vec![] };
    let room = |world: &World| if world.rank() == 0 { vec![7u8] } else { vec![] };
    disagree(|world| world.exchange(&room(world), &mut [], &ends(world), &[]));
    disagree(|world| world.exchange(&none, &mut room(world), &[], &ends(world)));
    disagree(|world| {
        let group = world.group().include(&ends(world))?;
        world.iexchange((room(world), vec![]), &group, &motet::Group::empty())?.wait().map(drop)
    });
    disagree(|world| {
        let mut exchange = world.exchange_init((vec![], room(world)), &[], &ends(world), &info)?;
        exchange.run()
    });
    disagree(|world| world.neighbor_bcast(&[1u8], &mut [], &ends(world), &[]));
    disagree(|world| world.neighbor_bcast(&none, &mut room(world), &[], &ends(world)));
    disagree(|world| world.neighbor_reduce(&room(world), &mut [0], Sum, &ends(world), &[]));
    disagree(|world| world.neighbor_reduce(&none, &mut [0], Sum, &[], &ends(world)));
    disagree(|world| world.neighbor_allreduce(&[1], &mut [0], Sum, &ends(world), &[]));
    disagree(|world| world.neighbor_allreduce(&[1], &mut [0], Sum, &[], &ends(world)));
}

/// The lengths at the two ends of an edge differ.
///
/// spec: 113, 116, 118
#[test]
fn blocks_of_two_lengths_are_named() {
    // From rank 0 to rank 2: two elements are sent, and one or three are expected.
    let lists = |world: &World, expected| match world.rank() {
        0 => (vec![neighbour(2, 2)], vec![]),
        2 => (vec![], vec![neighbour(0, expected)]),
        _ => (vec![], vec![]),
    };
    let ranks = |list: &[Neighbour]| list.iter().map(|it| it.rank).collect::<Vec<_>>();
    let blocks = |list: &[Neighbour]| {
        list.iter().map(|it| Block { start: 0, count: it.count }).collect::<Vec<_>>()
    };
    for expected in [1, 3] {
        disagree(|world| {
            let (to, from) = lists(world, expected);
            world.exchangev(&[1u8; 2], &mut [0; 3], &to, &from)
        });
        disagree(|world| {
            let (to, from) = lists(world, expected);
            let parts = |list: &[Neighbour]| {
                list.iter().map(|it| part(it.rank, it.count)).collect::<Vec<_>>()
            };
            world.exchangew(&[1u8; 2], &mut [0; 3], &parts(&to), &parts(&from))
        });
        disagree(|world| {
            let (to, from) = lists(world, expected);
            world.neighbor_bcastv(
                &[1u8; 2],
                &mut [0; 3],
                &ranks(&to),
                (&ranks(&from), &blocks(&from)),
            )
        });
        disagree(|world| {
            let (to, from) = lists(world, expected);
            let output = vec![0; expected];
            let buffers = (vec![1u8; 2], output);
            world.ineighbor_reducev(buffers, Sum, &to, &ranks(&from))?.wait().map(drop)
        });
    }
}

/// Groups with members that are not in the communicator, lists that are not one block for each
/// neighbour, buffers that are too short, and parts that overlap: in all three forms, with a class.
///
/// spec: 61, 105, 110
#[test]
fn wrong_neighbours_are_refused() {
    on_ranks(4, |world| {
        let (me, info) = (world.rank(), Info::new());
        let half = world.split(Some(me as u32 % 2), 0)?.expect("all have a colour");
        let (all, near) = (&world.group().clone(), &half.group().clone());
        let outsider = |result: Result<()>| {
            let error = result.expect_err("two members are not in the communicator");
            assert_eq!(error.class(), ErrorClass::Group, "{error}");
        };
        outsider(half.exchange(&[1; 4], &mut [0; 2], all, near));
        outsider(half.exchange(&[1; 2], &mut [0; 4], near, all));
        outsider(half.iexchange((vec![1; 2], vec![0; 4]), near, all).map(drop));
        outsider(half.exchange_init((vec![1; 2], vec![0; 4]), near, all, &info).map(drop));
        outsider(half.neighbor_bcast(&[1], &mut [0; 4], near, all));
        outsider(half.neighbor_reduce(&[1; 4], &mut [0], Sum, all, near));
        outsider(half.neighbor_allreduce(&[1], &mut [0], Sum, near, all));
        let parts = vec![TypedBlock::new(0, 0, &Datatype::BYTE); 4];
        outsider(half.exchangew(&[0u8], &mut [0u8], (all, &parts), &[]));
        let class = |result: Result<()>| result.expect_err("a wrong argument").class();
        assert_eq!(class(world.exchange(&[1], &mut [0], &[4], &[me])), ErrorClass::Rank);
        let block = [Block { start: 0, count: 1 }];
        assert_eq!(class(world.exchangev(&[1], &mut [0], (near, &block), &[])), ErrorClass::Count);
        assert_eq!(class(world.exchange(&[1; 3], &mut [0; 2], near, near)), ErrorClass::Count);
        assert_eq!(
            class(world.neighbor_reduce(&[1], &mut [0], Sum, near, near)),
            ErrorClass::Count
        );
        assert_eq!(class(world.neighbor_bcast(&[1], &mut [0], near, near)), ErrorClass::Count);
        // The caller is its own destination, but not its own source.
        let own = world.neighbor_reduce(&[1], &mut [0], Sum, &[me], &[]).expect_err("own block");
        assert!(own.to_string().contains("does not receive from itself"), "{own}");
        world.barrier()
    });
}

/// In one buffer nothing may be received where something else is sent from or received.
///
/// spec: 61
#[test]
fn parts_that_overlap_are_refused() {
    on_ranks(2, |world| {
        let (other, info) = (1 - world.rank(), Info::new());
        let words = |first: i64| {
            let layout = Datatype::vector(3, 1, 4, &Datatype::INT32_T).expect("a layout");
            (other, TypedBlock::new(4 * first as isize, 1, &layout))
        };
        let (apart, across) = ([words(1)], [words(4)]);
        let sent = [words(0)];
        let refused = |result: Result<()>| {
            let error = result.expect_err("parts overlap");
            assert_eq!(error.class(), ErrorClass::Buffer, "{error}");
            assert!(error.to_string().contains("at byte 16"), "{error}");
        };
        world.exchangew_in_place(&mut [1; 13], &sent, &apart)?;
        refused(world.exchangew_in_place(&mut [1; 13], &sent, &across));
        refused(world.iexchangew(vec![1; 13], &sent, &across).map(drop));
        refused(world.exchangew_init(vec![1; 13], &sent, &across, &info).map(drop));
        // The same places in two buffers are no mistake, unless something is received twice.
        world.exchangew(&[1; 13], &mut [0; 13], &sent, &across)?;
        let twice = [words(0), words(4)];
        refused(world.exchangew(&[1; 13], &mut [0; 13], &twice, &twice));
        let outside = [words(5)];
        world.exchangew(&[1; 13], &mut [0; 13], &sent, &outside).expect_err("it ends at 14");
        world.exchangew_in_place(&mut [1; 13], &outside, &sent).expect_err("it ends at 14");
        world.barrier()
    });
}
