//! The algorithms that a user asks for are for the calls of the user. The collectives that the
//! library itself uses (to make communicators, topologies, inits with `enforce`) must not fail
//! because such an algorithm does not accept them.

mod worlds;

use motet::{
    ErrorClass, Group, Info, MergeOrder, Reorder, Result, Settings, SplitType, Tag, World,
};
use motet_plan::{Collective, algo};
use worlds::on_ranks_with;

/// Every call that uses collectives of the library. Of `asked` the user makes none.
fn calls_of_library(world: &World, asked: Collective) -> Result<()> {
    let (rank, size, none) = (world.rank(), world.size(), Info::new());
    let (before, next) = ((rank + size - 1) % size, (rank + 1) % size);
    let copy = world.dup()?;
    world.dup_with_info(&none)?;
    world.idup()?.wait()?;
    let turned = world.split(Some(0), -(rank as i64))?.expect("all have a colour");
    assert_eq!(turned.rank(), size - 1 - rank);
    world.split_type(Some(SplitType::Shared), 0)?;
    world.create(world.group())?;
    world.create_group(world.group(), Tag(1))?;
    let grid = world.cartesian(&[size], &[true], Reorder::Allowed)?.expect("all are in it");
    grid.sub(&[false])?;
    grid.dup()?;
    world.graph([(rank, next)])?;
    world.graph_adjacent([before], [next])?;
    let to = Group::include(world.group(), &[next]).expect("it is a rank");
    world.sparse_graph(&to, None, Reorder::Allowed, &none)?;
    world.sparse_graph(&to, None, Reorder::Never, &none)?;
    let enforced = Info::new().with("enforce", "true");
    if asked != Collective::Bcast {
        world.bcast_init(vec![1], 0, &enforced)?.run()?;
    }
    world.merge_wisdom()?;
    world.sparse_exchange([(next, &[1, 2][..])])?;
    if size > 1 {
        let side = world.split(Some(u32::from(rank > 0)), 0)?.expect("all have a colour");
        let other = usize::from(rank == 0);
        let both = side.intercomm_create(0, Some(&copy), other, Tag(2))?;
        both.merge(if rank == 0 { MergeOrder::First } else { MergeOrder::Last })?;
        both.dup()?;
        both.split(Some(0), 0)?;
        both.create(both.group())?;
    }
    Ok(())
}

#[test]
fn algorithms_asked_for_by_name_are_for_calls_of_the_user() {
    for row in algo::table() {
        let asked = row.collective();
        let text = format!("{asked}={}", row.name());
        for nodes in [0, 2] {
            let settings = Settings::new().algorithms(&text).expect(&text).ranks_per_node(nodes);
            on_ranks_with(3, &settings, |world| calls_of_library(world, asked));
        }
    }
}

#[test]
fn a_call_of_the_user_that_cannot_be_served_says_who_asked() {
    let settings = Settings::new().algorithms("allgather=recursive_doubling").expect("it exists");
    on_ranks_with(3, &settings, |world| {
        let refused = world.allgather(&[1], &mut [0; 3]).expect_err("3 is no power of two");
        assert_eq!(refused.class(), ErrorClass::Arg);
        let text = refused.to_string();
        for part in ["allgather on rank", "MOTET_ALGORITHM", "allgather=recursive_doubling", "3"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let whole = world.split(Some(0), 0)?.expect("all have a colour");
        assert_eq!(whole.size(), 3);
        Ok(())
    });
}
