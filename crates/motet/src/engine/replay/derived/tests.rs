//! Tests of repeated calls with derived datatypes: each is replayed, and none is taken for another.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashSet;

use super::HELD_BYTES_MAX;
use crate::engine::replay::SCRATCH_BYTES_MAX;
use crate::raw::{Collective, CommRef, Reduction, Root, TypedBuffer, VectorBuffer};
use crate::types::datatype::{Datatype, DatatypeError};
use crate::worlds::on_ranks_with;
use crate::{Info, Op, Result, Settings, Sum, World};

/// The length of each buffer, in integers.
const ROOM: usize = 128;
/// The integers from one item of [`spread`] to the next.
const EXTENT: i64 = 6;

/// Three integers, each with a gap behind it.
fn spread() -> Datatype {
    made(Datatype::vector(3, 1, 2, &Datatype::INT).and_then(|vector| resized(EXTENT, &vector)))
}

/// Three integers, two integers behind the address of the item.
fn moved() -> Datatype {
    made(Datatype::indexed(&[3], &[2], &Datatype::INT).and_then(|block| resized(3, &block)))
}

fn resized(extent: i64, datatype: &Datatype) -> Result<Datatype, DatatypeError> {
    Datatype::resized(0, 4 * extent, datatype)
}

fn made(datatype: Result<Datatype, DatatypeError>) -> Datatype {
    datatype.expect("its arguments are valid")
}

/// Integers that differ from rank to rank and from round to round.
fn integers(world: &World, round: usize) -> Vec<i32> {
    (0..ROOM).map(|at| (1000 * world.rank() + 100 * round + at) as i32).collect()
}

/// The number of calls among these that were replayed.
fn replayed(world: &World, calls: impl FnOnce() -> Result<()>) -> Result<usize> {
    let before = world.core().engine().replayed();
    calls()?;
    Ok(world.core().engine().replayed() - before)
}

/// A collective on integers at these addresses: sent, and received.
type Called<'a> = &'a dyn Fn([*mut u8; 2]) -> Collective<'a>;

fn addresses(send: &mut [i32], receive: &mut [i32]) -> [*mut u8; 2] {
    [send.as_mut_ptr().cast(), receive.as_mut_ptr().cast()]
}

/// Makes a call in five rounds, each on other memory, blocking and nonblocking in turn. Each gives
/// what the persistent form gives, which is never replayed, and all but the first two are replayed.
fn is_replayed(world: &World, name: &str, call: Called<'_>) -> Result<()> {
    let mut memory = Vec::new();
    for round in 0..5 {
        let (mut send, mut receive) = (integers(world, round), integers(world, round + 5));
        let mut expected = receive.clone();
        // SAFETY: the buffers live longer than the operation, and are as long as any call needs.
        let persistent =
            unsafe { call(addresses(&mut send, &mut expected)).init(&**world, &Info::new()) }?;
        persistent.start()?.wait()?;
        let called = call(addresses(&mut send, &mut receive));
        let count = replayed(world, || match round % 2 {
            // SAFETY: as above.
            0 => unsafe { called.run(&**world) },
            // SAFETY: as above.
            _ => unsafe { called.start(&**world) }?.wait(),
        })?;
        assert_eq!(receive, expected, "{name}, round {round}, rank {}", world.rank());
        assert_eq!(count, usize::from(round > 1), "{name}, round {round}, rank {}", world.rank());
        memory.push((send, receive)); // so no other round gets its address
    }
    Ok(())
}

/// Checks every collective with these two datatypes, whose items have as many integers.
fn are_replayed(world: &World, sent: &Datatype, received: &Datatype) -> Result<()> {
    let (ranks, root) = (world.size(), Root::Rank(world.size() - 1));
    let data = |address, datatype| TypedBuffer { address, count: 2, datatype };
    let from = |address| data(address, sent);
    let into = |address| data(address, received);
    let counts: Vec<usize> = (0..ranks).map(|rank| rank % 2 + 1).collect();
    let places: Vec<isize> = (0..ranks).map(|rank| 3 * (ranks - rank) as isize).collect();
    let (counts, displacements) = (&counts[..], &places[..]);
    let blocks = |address, datatype| VectorBuffer { address, counts, displacements, datatype };
    let own = |address| TypedBuffer { count: counts[world.rank()], ..from(address) };
    let own_into = |address| TypedBuffer { count: counts[world.rank()], ..into(address) };
    is_replayed(world, "bcast", &|[_, to]| Collective::Bcast { data: into(to), root })?;
    is_replayed(world, "gather", &|[of, to]| Collective::Gather {
        send: Some(from(of)),
        receive: Some(into(to)),
        root,
    })?;
    is_replayed(world, "scatter", &|[of, to]| Collective::Scatter {
        send: Some(from(of)),
        receive: Some(into(to)),
        root,
    })?;
    is_replayed(world, "gatherv", &|[of, to]| Collective::Gatherv {
        send: Some(own(of)),
        receive: Some(blocks(to, received)),
        root,
    })?;
    is_replayed(world, "scatterv", &|[of, to]| Collective::Scatterv {
        send: Some(blocks(of, sent)),
        receive: Some(own_into(to)),
        root,
    })?;
    is_replayed(world, "allgather", &|[of, to]| Collective::Allgather {
        send: Some(from(of)),
        receive: into(to),
    })?;
    is_replayed(world, "allgather in place", &|[_, to]| Collective::Allgather {
        send: None,
        receive: into(to),
    })?;
    is_replayed(world, "allgatherv", &|[of, to]| Collective::Allgatherv {
        send: Some(own(of)),
        receive: blocks(to, received),
    })?;
    is_replayed(world, "alltoall", &|[of, to]| Collective::Alltoall {
        send: Some(from(of)),
        receive: into(to),
    })?;
    is_replayed(world, "alltoall in place", &|[_, to]| Collective::Alltoall {
        send: None,
        receive: into(to),
    })
}

#[test]
fn repeated_calls_with_derived_datatypes_are_replayed() {
    let row = || made(Datatype::contiguous(3, &Datatype::INT));
    for ranks in [1, 2, 3] {
        on_ranks_with(ranks, &Settings::new(), |world| {
            // Other datatypes each time, so that no call was made before.
            are_replayed(world, &spread(), &spread())?;
            are_replayed(world, &spread(), &row())?;
            are_replayed(world, &row(), &spread())?;
            are_replayed(world, &row(), &row())?;
            are_replayed(world, &moved(), &row())?;
            are_replayed(world, &row(), &moved())
        });
    }
}

/// Blocks of a predefined datatype, none of which begins where the caller says.
#[test]
fn repeated_calls_whose_blocks_begin_further_on_are_replayed() {
    on_ranks_with(3, &Settings::new(), |world| {
        let (counts, displacements): (&[usize], &[isize]) = (&[2, 0, 3], &[40, 0, 7]);
        let datatype = &Datatype::INT;
        let blocks = |address| VectorBuffer { address, counts, displacements, datatype };
        let own = |address| TypedBuffer { address, count: counts[world.rank()], datatype };
        let mut memory = Vec::new();
        let mut calls = 0;
        for round in 0..4 {
            let mut sent = integers(world, round);
            let mut received = vec![-1; ROOM];
            let [of, to] = addresses(&mut sent, &mut received);
            let call = Collective::Allgatherv { send: Some(own(of)), receive: blocks(to) };
            // SAFETY: the buffers live longer than the operation, and hold all blocks.
            calls += replayed(world, || unsafe { call.run(&**world) })?;
            for (rank, (&count, &start)) in counts.iter().zip(displacements).enumerate() {
                let of_rank = |at| (1000 * rank + 100 * round + at) as i32;
                let expected: Vec<i32> = (0..count).map(of_rank).collect();
                assert_eq!(received[start as usize..][..count], expected, "{rank}, {round}");
            }
            assert_eq!(received.iter().filter(|at| **at != -1).count(), 5, "nothing else");
            memory.push((sent, received)); // so no other round gets its address
        }
        assert_eq!(calls, 3, "all but the first");
        Ok(())
    });
}

#[test]
fn repeated_reductions_with_derived_datatypes_are_replayed() {
    for datatype in [spread(), moved()] {
        on_ranks_with(3, &Settings::new(), |world| {
            let (datatype, op, root) = (&datatype, &Op::SUM, Root::Rank(1));
            let of = |[sent, output]: [*mut u8; 2]| Reduction {
                input: Some(sent),
                output,
                count: 2,
                datatype,
                op,
            };
            let in_place = |[_, output]: [*mut u8; 2]| Reduction {
                input: None,
                output,
                count: 2,
                datatype,
                op,
            };
            is_replayed(world, "reduce", &|at| Collective::Reduce { reduction: of(at), root })?;
            is_replayed(world, "allreduce", &|at| Collective::Allreduce { reduction: of(at) })?;
            is_replayed(world, "allreduce in place", &|at| Collective::Allreduce {
                reduction: in_place(at),
            })?;
            is_replayed(world, "reduce_scatter_block", &|at| Collective::ReduceScatterBlock {
                reduction: of(at),
            })?;
            is_replayed(world, "scan", &|at| Collective::Scan { reduction: of(at) })?;
            is_replayed(world, "exscan", &|at| Collective::Exscan { reduction: of(at) })
        });
    }
}

/// Three integers that lie so many integers apart.
fn every(stride: usize) -> Datatype {
    made(Datatype::vector(3, 1, stride as i64, &Datatype::INT))
}

/// Moves an item from the first rank to the others, and checks that only its integers have come.
fn bcast_every(world: &World, round: usize, (datatype, stride): (&Datatype, usize)) -> Result<()> {
    let mut buffer = integers(world, round);
    let data = TypedBuffer { address: buffer.as_mut_ptr().cast(), count: 1, datatype };
    let call = Collective::Bcast { data, root: Root::Rank(0) };
    // SAFETY: the buffer is borrowed for longer than the call.
    unsafe { call.run(&**world) }?;
    for (at, value) in buffer.into_iter().enumerate() {
        let is_moved = at % stride == 0 && at / stride < 3;
        let from = if is_moved { 0 } else { 1000 * world.rank() };
        assert_eq!(value, (from + 100 * round + at) as i32, "round {round}, at {at}");
    }
    Ok(())
}

#[test]
fn a_new_datatype_in_the_place_of_a_freed_one_is_another() {
    on_ranks_with(2, &Settings::new(), |world| {
        let mut identities = HashSet::new();
        let count = replayed(world, || {
            (0..300).try_for_each(|round| {
                let stride = 2 + round % 5;
                let datatype = every(stride);
                assert!(identities.insert(datatype.identity()), "given twice");
                bcast_every(world, round, (&datatype, stride))
            })
        })?;
        assert_eq!(count, 0);
        Ok(())
    });
}

/// A signature has room for a part of an identity.
#[test]
fn datatypes_with_equal_signatures_are_told_apart() {
    const PART: u64 = 1 << 15;
    let first = every(2);
    let is_alike = |other: &Datatype| other.identity() % PART == first.identity() % PART;
    let second = std::iter::repeat_with(|| every(3)).find(is_alike).expect("there is no end");
    on_ranks_with(2, &Settings::new(), |world| {
        let bcast = |round, datatype, stride| {
            replayed(world, || bcast_every(world, round, (datatype, stride)))
        };
        let counts = [bcast(0, &first, 2)?, bcast(1, &first, 2)?, bcast(2, &first, 2)?];
        assert_eq!(counts, [0, 0, 1]);
        assert_eq!([bcast(3, &second, 3)?, bcast(4, &second, 3)?], [0, 1]);
        assert_eq!([bcast(5, &first, 2)?, bcast(6, &second, 3)?], [1, 1]);
        Ok(())
    });
}

/// Two calls that are pending at once cannot have one execution, nor one stream.
#[test]
fn equal_calls_may_be_pending_at_once() {
    let datatype = spread();
    on_ranks_with(2, &Settings::new(), |world| {
        for round in 0..20 {
            let mut data: Vec<Vec<i32>> =
                (0..3).map(|each| integers(world, round + each)).collect();
            let mut requests = Vec::new();
            for buffer in &mut data {
                let address = buffer.as_mut_ptr().cast();
                let data = TypedBuffer { address, count: 2, datatype: &datatype };
                let call = Collective::Bcast { data, root: Root::Rank(round % 2) };
                // SAFETY: the buffers live until the requests are complete.
                requests.push(unsafe { call.start(&**world) }?);
            }
            requests.into_iter().rev().try_for_each(|request| request.wait())?;
            for (each, buffer) in data.iter().enumerate() {
                let is_moved = |at: usize| at < 12 && at.is_multiple_of(2);
                for (at, value) in buffer.iter().enumerate() {
                    let from = if is_moved(at) { round % 2 } else { world.rank() };
                    let expected = 1000 * from + 100 * (round + each) + at;
                    assert_eq!(*value, expected as i32, "round {round}, buffer {each}, at {at}");
                }
            }
        }
        Ok(())
    });
}

/// A call that was stored with buffers that lie apart is not replayed with others.
#[test]
fn buffers_that_overlap_are_refused_each_time() {
    let (row, spread) = (made(Datatype::contiguous(3, &Datatype::INT)), spread());
    on_ranks_with(1, &Settings::new(), |world| {
        for round in 0..4 {
            let (mut send, mut receive) = (integers(world, round), integers(world, round + 4));
            let [of, to] = addresses(&mut send, &mut receive);
            let data = |address| TypedBuffer { address, count: 2, datatype: &row };
            let allgather =
                |of, to| Collective::Allgather { send: Some(data(of)), receive: data(to) };
            let (datatype, op) = (&spread, &Op::SUM);
            let allreduce = |of, output| Collective::Allreduce {
                reduction: Reduction { input: Some(of), output, count: 2, datatype, op },
            };
            for wrong in [allgather(of, of.wrapping_add(8)), allgather(of, of), allreduce(of, of)] {
                // SAFETY: the buffers are borrowed for longer than the call.
                let refused = unsafe { wrong.run(CommRef::Communicator(world)) };
                assert!(refused.is_err(), "round {round}: {wrong:?}");
            }
            for right in [allgather(of, to), allreduce(of, to)] {
                // SAFETY: as above.
                unsafe { right.run(CommRef::Communicator(world)) }?;
            }
            assert_eq!(receive[..6], send[..6], "round {round}");
        }
        Ok(())
    });
}

/// The cache holds only so many bytes of streams, and forgets them when there are more.
#[test]
fn the_streams_of_the_cache_are_limited() {
    const BYTES: usize = HELD_BYTES_MAX / 9;
    on_ranks_with(2, &Settings::new(), |world| {
        let mut data = vec![0_u16; 2 * HELD_BYTES_MAX];
        let address = data.as_mut_ptr().cast();
        let bcast = |datatype: &Datatype, bytes: usize| -> Result<usize> {
            let data = TypedBuffer { address, count: bytes, datatype };
            let call = Collective::Bcast { data, root: Root::Rank(0) };
            // SAFETY: the buffer lives longer than the calls.
            let count = replayed(world, || unsafe { call.run(&**world) });
            assert!(world.core().engine().cached_held_bytes() <= HELD_BYTES_MAX);
            count
        };
        let byte = || made(Datatype::resized(0, 2, &Datatype::BYTE));
        let (kept, large) = (byte(), byte());
        let counts = [bcast(&kept, BYTES)?, bcast(&kept, BYTES)?, bcast(&kept, BYTES)?];
        assert_eq!(counts, [0, 0, 1]);
        for _ in 0..3 {
            assert_eq!(bcast(&large, HELD_BYTES_MAX + 64)?, 0, "too long to be kept");
        }
        for _ in 0..20 {
            assert_eq!(bcast(&byte(), BYTES)?, 0);
        }
        assert_eq!(bcast(&kept, BYTES)?, 1, "what is not kept takes no place");
        for _ in 0..20 {
            let again = byte();
            assert_eq!([bcast(&again, BYTES)?, bcast(&again, BYTES)?], [0, 0]);
        }
        assert_eq!([bcast(&kept, BYTES)?, bcast(&kept, BYTES)?], [0, 1], "forgotten, and kept");
        Ok(())
    });
}

/// The cache holds only so many bytes of layouts, and forgets them when there are more.
#[test]
fn the_layouts_of_the_cache_are_limited() {
    const BLOCKS: usize = HELD_BYTES_MAX / 80;
    on_ranks_with(2, &Settings::new(), |world| {
        let mut data = vec![0_u8; 4 * BLOCKS];
        let address = data.as_mut_ptr().cast();
        let bcast = |datatype: &Datatype| -> Result<(usize, usize)> {
            let data = TypedBuffer { address, count: 1, datatype };
            let call = Collective::Bcast { data, root: Root::Rank(0) };
            // SAFETY: the buffer lives longer than the calls.
            let count = replayed(world, || unsafe { call.run(&**world) })?;
            Ok((count, world.core().engine().cached_held_bytes()))
        };
        // Bytes at irregular places, which no vector describes.
        let scattered = |blocks: usize| -> Datatype {
            let places: Vec<i64> = (0..blocks as i64).map(|at| 3 * at + at % 2).collect();
            made(Datatype::indexed_block(1, &places, &Datatype::BYTE))
        };
        let kept = scattered(BLOCKS);
        assert_eq!([bcast(&kept)?.0, bcast(&kept)?.0, bcast(&kept)?.0], [0, 0, 1]);
        let (_, held) = bcast(&kept)?;
        assert!((8 * BLOCKS..=HELD_BYTES_MAX).contains(&held), "layouts count: {held}");
        for _ in 0..40 {
            let again = scattered(BLOCKS);
            assert_eq!([bcast(&again)?.0, bcast(&again)?.0], [0, 0]);
            let held = bcast(&again)?.1;
            assert!(held <= HELD_BYTES_MAX, "{held} bytes");
        }
        Ok(())
    });
}

/// The cache holds only so many bytes of scratch memory; other calls are planned each time.
#[test]
fn the_scratch_memory_of_the_cache_is_limited() {
    let settings = Settings::new().algorithms("allreduce=recursive_doubling");
    let settings = settings.unwrap_or_else(|error| panic!("{error}"));
    on_ranks_with(2, &settings, |world| {
        const COUNT: usize = SCRATCH_BYTES_MAX / 8 / 10;
        // In place, since a sum then needs scratch memory for what it receives.
        let mut data = vec![0_u64; COUNT];
        for fewer in 0..14 {
            for round in 1..3 {
                data.fill(round);
                world.allreduce_in_place(&mut data[fewer..], Sum)?;
                assert!(data[fewer..].iter().all(|&sum| sum == 2 * round));
            }
        }
        let held = world.core().engine().cached_scratch_bytes();
        assert!((SCRATCH_BYTES_MAX / 2..=SCRATCH_BYTES_MAX).contains(&held), "{held} bytes");
        Ok(())
    });
}

/// A call for whose scratch memory the cache has no room removes no other call from it, although
/// its streams alone would.
#[test]
fn a_call_that_is_not_stored_removes_no_other() {
    /// Few enough that another call never takes the slot of one.
    const SUMS: usize = 2;
    const WORDS: usize = SCRATCH_BYTES_MAX / size_of::<u64>() / SUMS;
    let settings = Settings::new().algorithms("allreduce=recursive_doubling");
    let settings = settings.unwrap_or_else(|error| panic!("{error}"));
    on_ranks_with(2, &settings, |world| {
        // In place, since a sum then needs scratch memory for what it receives.
        let mut words = vec![0_u64; WORDS];
        for fewer in 0..SUMS {
            world.allreduce_in_place(&mut words[fewer..], Sum)?;
        }
        let bytes = made(Datatype::resized(0, 2, &Datatype::BYTE));
        let mut data = vec![0_u16; HELD_BYTES_MAX / 4 * 3];
        let bcast = |data: &mut [u16]| -> Result<()> {
            let (address, count) = (data.as_mut_ptr().cast(), data.len());
            let data = TypedBuffer { address, count, datatype: &bytes };
            let call = Collective::Bcast { data, root: Root::Rank(0) };
            // SAFETY: the buffer is borrowed for longer than the call.
            unsafe { call.run(&**world) }
        };
        (0..2).try_for_each(|_| bcast(&mut data))?;
        let spread = made(Datatype::resized(0, 8, &Datatype::INT));
        let mut pairs = vec![[0_i32; 2]; HELD_BYTES_MAX / size_of::<i32>() / 8 * 3];
        let (count, output) = (pairs.len(), pairs.as_mut_ptr().cast());
        let (datatype, op) = (&spread, &Op::SUM);
        let sum = || {
            let reduction = Reduction { input: None, output, count, datatype, op };
            // SAFETY: as above.
            unsafe { Collective::Allreduce { reduction }.run(&**world) }
        };
        let sums = || (0..3).try_for_each(|_| sum());
        assert_eq!(replayed(world, sums)?, 0, "there is no room for its scratch memory");
        assert_eq!(replayed(world, || bcast(&mut data))?, 1, "it is still there");
        Ok(())
    });
}
