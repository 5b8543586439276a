//! The untyped layer.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet::op::Op;
use motet::raw::{Collective, Reduction, TypedBuffer, VectorBuffer, WBuffer};
use motet::{Communicator, Datatype, ErrorClass, Group, Info, Result, Tag, World};

use crate::worlds::on_ranks;

static INT: Datatype = Datatype::INT32_T;

fn data(memory: &mut [i32], count: usize) -> TypedBuffer<'static> {
    TypedBuffer { address: memory.as_mut_ptr().cast(), count, datatype: &INT }
}

fn blocks<'a>(
    memory: &mut [i32],
    counts: &'a [usize],
    displacements: &'a [isize],
) -> VectorBuffer<'a> {
    VectorBuffer { address: memory.as_mut_ptr().cast(), counts, displacements, datatype: &INT }
}

/// Makes a call in all three forms, the persistent one twice.
fn in_all_forms(call: &Collective<'_>, world: &World, check: impl Fn()) -> Result<()> {
    // SAFETY (for all calls): the memory outlives this function, and nobody else uses it meanwhile.
    // SAFETY: see above.
    unsafe { call.run(world) }?;
    check();
    // SAFETY: see above.
    unsafe { call.start(world) }?.wait()?;
    check();
    // SAFETY: see above.
    let mut ready = unsafe { call.init(world, &Info::new()) }?;
    for _ in 0..2 {
        ready.run()?;
        check();
    }
    Ok(())
}

/// What lies at an address that a call is given, whoever writes there.
fn words(memory: &[i32]) -> impl Fn(usize) -> i32 + use<> {
    let start = memory.as_ptr();
    // SAFETY: only called for elements of the memory, while it is there and nobody writes.
    move |at| unsafe { start.wrapping_add(at).read_volatile() }
}

/// The group of the two ranks beside this one: to the next first, from the one before first.
fn beside(world: &World) -> Result<[Group; 2]> {
    let (me, ranks) = (world.rank(), world.size());
    let (next, last) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    Ok([world.group().include(&[next, last])?, world.group().include(&[last, next])?])
}

/// Every row of the layer on a ring: blocks in the order of the groups, counts of one neighbour.
///
/// spec: 112, 116, 117, 120, A9, A10
#[test]
fn every_call_of_the_untyped_layer() {
    on_ranks(4, |world| {
        let me = world.rank() as i32;
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let [to, from] = &beside(world)?;
        let mut own: Vec<i32> = (0..8).map(|at| 100 * me + at).collect();
        let mut output = vec![-1; 8];
        let found = words(&output);
        let expect = |right: [i32; 8]| {
            let found = [0, 1, 2, 3, 4, 5, 6, 7].map(&found);
            assert_eq!(found, right, "rank {me}");
        };
        let (to_next, to_last) = (100 * last, 100 * next);
        let send = Some(data(&mut own, 2));
        let receive = data(&mut output, 2);
        // The first destination of each rank is the next one, so the one before sends its block 0.
        let call = Collective::Exchange { send, receive, to, from };
        let both = [to_next, to_next + 1, to_last + 2, to_last + 3];
        let around = |[a, b, c, d]: [i32; 4]| [a, b, c, d, -1, -1, -1, -1];
        in_all_forms(&call, world, || expect(around(both)))?;
        let call = Collective::NeighborBcast { send, receive, to, from };
        let both = [to_next, to_next + 1, to_last, to_last + 1];
        in_all_forms(&call, world, || expect(around(both)))?;
        output.fill(-1);
        let (counts, displacements) = ([1, 2], [5, 1]);
        let send = Some(blocks(&mut own, &counts, &displacements));
        let receive = blocks(&mut output, &counts, &displacements);
        let call = Collective::Exchangev { send, receive, to, from };
        let right = [-1, to_last + 1, to_last + 2, -1, -1, to_next + 5, -1, -1];
        in_all_forms(&call, world, || expect(right))?;
        output.fill(-1);
        let send = Some(data(&mut own, 2));
        let receive = blocks(&mut output, &[2, 2], &[6, 0]);
        let call = Collective::NeighborBcastv { send, receive, to, from };
        let right = [to_last, to_last + 1, -1, -1, -1, -1, to_next, to_next + 1];
        in_all_forms(&call, world, || expect(right))?;
        output.fill(-1);
        let types = [INT.clone(), Datatype::contiguous(2, &INT)?];
        let send = Some(WBuffer {
            address: own.as_mut_ptr().cast(),
            counts: &[1, 1],
            displacements: &[0, 8],
            datatypes: &types,
        });
        let receive = WBuffer {
            address: output.as_mut_ptr().cast(),
            counts: &[1, 1],
            displacements: &[28, 0],
            datatypes: &types,
        };
        let call = Collective::Exchangew { send, receive, to, from };
        let right = [to_last + 2, to_last + 3, -1, -1, -1, -1, -1, to_next];
        in_all_forms(&call, world, || expect(right))?;
        Ok(())
    });
}

/// The three reductions of the layer; what there is without sources stays as it is.
///
/// spec: 117, 118, 119, A6, A7, A8, A9
#[test]
fn every_reduction_of_the_untyped_layer() {
    on_ranks(4, |world| {
        let me = world.rank() as i32;
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let ([to, from], none) = (&beside(world)?, &Group::empty());
        let mut own: Vec<i32> = (0..8).map(|at| 100 * me + at).collect();
        let mut output = vec![-1; 3];
        let found = words(&output);
        let expect = |right: [i32; 3]| assert_eq!([0, 1, 2].map(&found), right, "rank {me}");
        let (sum, address) = (Op::SUM, output.as_mut_ptr().cast());
        let reduction = Reduction {
            input: Some(own.as_mut_ptr().cast()),
            output: address,
            count: 2,
            datatype: &INT,
            op: &sum,
        };
        let beside = 100 * (next + last);
        let call = Collective::NeighborReduce { reduction, to, from };
        in_all_forms(&call, world, || expect([beside + 2, beside + 4, -1]))?;
        let call = Collective::NeighborAllreduce { reduction, to, from };
        in_all_forms(&call, world, || expect([beside, beside + 2, -1]))?;
        // Pairs are sent, and single elements received: the signature is the same.
        let pairs = Datatype::contiguous(2, &INT)?;
        let send = Some(VectorBuffer {
            address: own.as_mut_ptr().cast(),
            counts: &[1, 1],
            displacements: &[3, 0],
            datatype: &pairs,
        });
        let receive = data(&mut output, 2);
        let call = Collective::NeighborReducev { send, receive, op: &sum, to, from };
        in_all_forms(&call, world, || expect([beside + 6, beside + 8, -1]))?;
        output.fill(-1);
        let call = Collective::NeighborReduce { reduction, to: none, from: none };
        in_all_forms(&call, world, || expect([-1; 3]))?;
        Ok(())
    });
}

/// In place, on an intercommunicator, with groups of others, with lists of the wrong length and
/// data of other elements: refused before anything is sent.
///
/// spec: 61, 105, 110
#[test]
fn what_the_untyped_layer_refuses() {
    fn refused(call: &Collective<'_>, world: &Communicator) -> ErrorClass {
        // SAFETY (for both calls): nothing begins, so no memory is used.
        // SAFETY: see above.
        let blocking = unsafe { call.run(world) }.expect_err("a blocking call").class();
        // SAFETY: see above.
        let init = unsafe { call.init(world, &Info::new()) }.expect_err("an init").class();
        assert_eq!(blocking, init);
        blocking
    }
    on_ranks(4, |world| {
        let me = world.rank();
        let half = world.split(Some(me as u32 % 2), 0)?.expect("all have a colour");
        let (all, near) = (&world.group().clone(), &half.group().clone());
        let (to, from) = (near, near);
        let (mut memory, sum) = ([0; 16], Op::SUM);
        let receive = data(&mut memory[8..], 1);
        let one_each = blocks(&mut memory[8..], &[1, 1], &[0, 1]);
        let (address, output): (*mut u8, *mut u8) = (receive.address, one_each.address);
        let in_place = Reduction { input: None, output, count: 1, datatype: &INT, op: &sum };
        for call in [
            Collective::Exchange { send: None, receive, to, from },
            Collective::Exchangev { send: None, receive: one_each, to, from },
            Collective::NeighborBcast { send: None, receive, to, from },
            Collective::NeighborBcastv { send: None, receive: one_each, to, from },
            Collective::NeighborReduce { reduction: in_place, to, from },
            Collective::NeighborReducev { send: None, receive, op: &sum, to, from },
            Collective::NeighborAllreduce { reduction: in_place, to, from },
        ] {
            assert_eq!(refused(&call, &half), ErrorClass::Buffer, "{call:?}");
        }
        let send = Some(data(&mut memory, 1));
        let call = Collective::Exchange { send, receive, to: all, from };
        assert_eq!(refused(&call, &half), ErrorClass::Group);
        let reduction = Reduction { input: send.map(|it| it.address), ..in_place };
        let call = Collective::NeighborReduce { reduction, to, from: all };
        assert_eq!(refused(&call, &half), ErrorClass::Group);
        let short = Some(blocks(&mut memory, &[1], &[0]));
        let call = Collective::Exchangev { send: short, receive: one_each, to, from };
        assert_eq!(refused(&call, &half), ErrorClass::Arg);
        let call = Collective::NeighborReducev { send: short, receive, op: &sum, to, from };
        assert_eq!(refused(&call, &half), ErrorClass::Arg);
        let bytes = VectorBuffer { datatype: &Datatype::UINT8_T, ..one_each };
        let bytes = VectorBuffer { address, ..bytes };
        let call = Collective::NeighborReducev { send: Some(bytes), receive, op: &sum, to, from };
        assert_eq!(refused(&call, &half), ErrorClass::Buffer);
        let remote = if me % 2 == 0 { 1 } else { 0 };
        let inter = half.intercomm_create(0, Some(world), remote, Tag(3))?;
        let call = Collective::Exchange { send, receive, to, from };
        // SAFETY: nothing begins.
        let error = unsafe { call.run(&inter) }.expect_err("there are two groups");
        assert_eq!(error.class(), ErrorClass::Comm);
        let call = Collective::NeighborReduce { reduction, to, from };
        // SAFETY: nothing begins.
        let error = unsafe { call.start(&inter) }.expect_err("there are two groups");
        assert_eq!(error.class(), ErrorClass::Comm);
        world.barrier()
    });
}
