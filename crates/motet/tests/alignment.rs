//! Memory of the library is aligned for every element, also for one that wants more than a line of
//! the cache or a page.

mod aligned;
mod worlds;

use worlds::on_ranks;

#[test]
fn every_form_takes_elements_of_every_alignment() {
    for ranks in [1, 2, 3, 5] {
        on_ranks(ranks, |world| aligned::every_alignment(world));
    }
}

#[test]
fn memory_is_allocated_with_the_alignment_of_its_elements() {
    for ranks in [1, 2, 3] {
        on_ranks(ranks, |world| aligned::allocations(world));
    }
}

/// An element without bytes may want an alignment, too.
#[test]
fn elements_of_no_bytes_are_reduced() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, align(4096))]
    struct Nothing {
        nothing: [u64; 0],
    }
    motet::struct_datatype!(Nothing { nothing: [u64; 0] });
    const NOTHING: Nothing = Nothing { nothing: [] };
    let first = || motet::op::ordered(|left: Nothing, _| left);
    for ranks in [1, 2, 3, 5] {
        on_ranks(ranks, |world| {
            let mut result = [NOTHING; 4];
            for count in [1, 4] {
                let result: &mut [Nothing] = &mut result[..count];
                world.allreduce(&[NOTHING; 4][..count], result, first())?;
                world.allreduce_in_place(result, first())?;
                world.reduce_in_place(result, first(), 0)?;
                world.scan(&[NOTHING; 4][..count], result, first())?;
                assert_eq!(world.iallreduce(vec![NOTHING; count], first())?.wait()?.len(), count);
                let both = (vec![NOTHING; count], vec![NOTHING; count]);
                let mut again = world.allreduce_init(both, first(), &motet::Info::new())?;
                (0..3).try_for_each(|_| again.run())?;
                let next = (world.rank() + 1) % ranks;
                let came = world.sparse_exchange([(next, &result[..]), (next, &[])])?;
                let lengths: Vec<usize> = came.iter().map(|(_, data)| data.len()).collect();
                assert_eq!(lengths, [count, 0], "of a sparse exchange");
                let came = world.isparse_exchange(vec![(next, result.to_vec())])?.wait()?;
                assert_eq!((came.len(), came[0].1.len()), (1, count));
                let status = world.sendrecv(
                    (&*result, next, motet::Tag(1)),
                    (&mut [NOTHING; 4], motet::ANY_SOURCE, motet::Tag(1)),
                )?;
                assert_eq!((status.bytes, status.count::<Nothing>()), (0, Some(0)));
                assert_eq!(motet::Status { bytes: 3, ..status }.count::<Nothing>(), None);
            }
            Ok(())
        });
    }
}
