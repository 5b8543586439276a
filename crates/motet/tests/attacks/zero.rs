//! Elements without a size, and buffers without elements.

use motet::op::commutative;
use motet::{Block, Info, Settings, Tag};

use super::support::{all_well, outcomes, outcomes_with};

/// A structure of no bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Nothing {
    nothing: [u64; 0],
}
motet::struct_datatype!(Nothing { nothing: [u64; 0] });

const NOTHING: Nothing = Nothing { nothing: [] };

#[test]
fn collectives_of_nothing_end() {
    let ended = outcomes(3, |world| {
        let keep = || commutative(|left: Nothing, _: Nothing| left);
        let mut three = [NOTHING; 3];
        world.bcast(&mut three, 1)?;
        world.allgather(&[NOTHING], &mut three)?;
        world.alltoall(&[NOTHING; 3], &mut three)?;
        world.allreduce(&[NOTHING; 3], &mut three, keep())?;
        world.scan(&[NOTHING; 3], &mut three, keep())?;
        world.reduce_scatter_block(&[NOTHING; 3], &mut three[..1], keep())?;
        let blocks = [Block { start: 0, count: 1 }, Block { start: 1, count: 1 }];
        let blocks = [blocks[0], blocks[1], Block { start: 2, count: 1 }];
        world.allgatherv(&[NOTHING], &mut three, &blocks)?;
        let mut run = world.allreduce_init(vec![NOTHING; 3], keep(), &Info::new())?;
        run.run()?;
        run.run()
    });
    all_well(ended);
}

#[test]
fn as_many_of_nothing_as_there_are_numbers() {
    let ended = outcomes(2, |world| {
        let many = vec![NOTHING; usize::MAX];
        let other = 1 - world.rank();
        world.send(&many, other, Tag(1))?;
        let mut room = many.clone();
        world.recv(&mut room, other, Tag(1))?;
        let refused = world.ibcast(room, 0);
        assert!(refused.is_err_and(|error| error.to_string().contains("fit in memory")));
        let memory = world.allocate(usize::MAX, NOTHING);
        assert_eq!(memory.len(), usize::MAX);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_sparse_exchange_of_nothing_ends() {
    let ended = outcomes(3, |world| {
        let next = (world.rank() + 1) % 3;
        let received = world.sparse_exchange([(next, &[NOTHING; 4][..]), (next, &[][..])])?;
        assert_eq!(received.len(), 2);
        assert!(received.iter().all(|(from, _)| *from == (world.rank() + 2) % 3));
        let received = world.sparse_exchange([(next, &[[0u8; 0]; 4][..])])?;
        assert_eq!(received.len(), 1);
        Ok(())
    });
    all_well(ended);
}

#[test]
fn items_of_nothing_are_nowhere() {
    use motet::Datatype;
    use motet::buffer::Items;

    let ended = outcomes(2, |world| {
        let empty = Datatype::contiguous(0, &Datatype::INT64_T)?;
        for origin in [0, 1, usize::MAX] {
            for count in [0, 1, usize::MAX] {
                let Ok(items) = Items::at(Vec::<i64>::new(), origin, &empty, count) else {
                    continue;
                };
                assert!(world.ibcast(items, 0)?.wait()?.into_buffer().is_empty());
            }
        }
        let items = Items::new(vec![NOTHING; 3], &empty, 3)?;
        world.ibcast(items, 0)?.wait()?;
        Ok(())
    });
    all_well(ended);
}

#[test]
fn empty_buffers_are_no_addresses() {
    let checked = Settings::new().check();
    for settings in [Settings::new(), checked] {
        let ended = outcomes_with(2, &settings, |world| {
            let other = [1 - world.rank()];
            world.allreduce::<u64>(&[], &mut [], motet::Sum)?;
            world.alltoall::<u64>(&[], &mut [])?;
            world.bcast::<bool>(&mut [], 0)?;
            world.exchange::<u64>(&[], &mut [], &other, &other)?;
            world.exchange::<u64>(&[], &mut [], &[], &[])?;
            world.sparse_exchange::<u64>([])?;
            assert!(world.allocate(0, 1u64).is_empty());
            world.barrier()
        });
        all_well(ended);
    }
}

#[test]
fn messages_of_nothing_have_a_count() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        world.send(&[NOTHING; 5], other, Tag(1))?;
        let mut receive = [NOTHING; 5];
        let status = world.recv(&mut receive, other, Tag(1))?;
        assert_eq!(status.bytes, 0);
        status.count::<Nothing>(); // any answer but a panic
        status.count::<[u8; 0]>();
        assert_eq!(status.count::<u8>(), Some(0));
        Ok(())
    });
    all_well(ended);
}
