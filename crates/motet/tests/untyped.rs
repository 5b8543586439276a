//! The untyped layer: what it refuses, and what becomes of its arguments.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use motet::datatype::Datatype;
use motet::op::Op;
use motet::raw::{Collective, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer};
use motet::{Communicator, ErrorClass, Info, Intercommunicator, Tag, World};
use worlds::on_ranks;

static INT: Datatype = Datatype::INT32_T;

fn data(memory: &mut [i32]) -> TypedBuffer<'static> {
    TypedBuffer { address: memory.as_mut_ptr().cast(), count: memory.len(), datatype: &INT }
}

fn blocks<'a>(
    memory: &mut [i32],
    counts: &'a [usize],
    displacements: &'a [isize],
) -> VectorBuffer<'a> {
    VectorBuffer { address: memory.as_mut_ptr().cast(), counts, displacements, datatype: &INT }
}

/// The class of the error that a call ends with, in all three forms.
fn refused(call: &Collective<'_>, world: &Communicator) -> ErrorClass {
    // SAFETY (for all calls): nothing begins, so no memory is used.
    // SAFETY: see above.
    let blocking = unsafe { call.run(world) }.expect_err("a blocking call").class();
    // SAFETY: see above.
    let nonblocking = unsafe { call.start(world) }.expect_err("a nonblocking call").class();
    // SAFETY: see above.
    let persistent = unsafe { call.init(world, &Info::new()) }.expect_err("an init").class();
    assert_eq!((blocking, persistent), (nonblocking, nonblocking));
    blocking
}

/// spec: 61, 69, 70, 73: in place where the standard does not allow it, before anything is sent.
#[test]
fn in_place_is_refused_where_it_is_not_allowed() {
    on_ranks(2, |world| {
        let (mut memory, other, sum) = ([0; 4], 1 - world.rank(), Op::SUM);
        let root = Root::Rank(other);
        let reduction = Reduction {
            input: None,
            output: memory.as_mut_ptr().cast(),
            count: 4,
            datatype: &INT,
            op: &sum,
        };
        let calls = [
            Collective::Gather { send: None, receive: None, root },
            Collective::Gatherv { send: None, receive: None, root },
            Collective::Scatter { send: None, receive: None, root },
            Collective::Scatterv { send: None, receive: None, root },
            Collective::Reduce { reduction, root },
            Collective::Gather {
                send: Some(data(&mut memory)),
                receive: None,
                root: Root::Rank(world.rank()),
            },
        ];
        for call in &calls {
            assert_eq!(refused(call, world), ErrorClass::Buffer, "{call:?}");
        }
        world.barrier()
    });
}

/// spec: 61, 77: an input that is the output, a null pointer, wrong roots, operators and types.
#[test]
fn wrong_arguments_have_their_classes() {
    on_ranks(2, |world| {
        let mut memory = [0; 4];
        let address: *mut u8 = memory.as_mut_ptr().cast();
        let (sum, least) = (Op::SUM, Op::MINLOC);
        let of = |input, op, datatype| Collective::Allreduce {
            reduction: Reduction { input, output: address, count: 4, datatype, op },
        };
        assert_eq!(refused(&of(Some(address), &sum, &INT), world), ErrorClass::Buffer);
        assert_eq!(refused(&of(None, &least, &INT), world), ErrorClass::Op);
        let null = TypedBuffer { address: std::ptr::null_mut(), count: 1, datatype: &INT };
        let call = |data, root| Collective::Bcast { data, root };
        assert_eq!(refused(&call(null, Root::Rank(0)), world), ErrorClass::Buffer);
        for root in [Root::Rank(2), Root::ThisRank, Root::ProcNull] {
            assert_eq!(refused(&call(data(&mut memory), root), world), ErrorClass::Root);
        }
        let none = Collective::Alltoallv {
            send: Some(blocks(&mut memory, &[1], &[0])),
            receive: blocks(&mut [0; 4], &[1, 1], &[0, 1]),
        };
        refused(&none, world);
        world.barrier()
    });
}

/// spec: 66, 76: among neighbours without a topology; in place there.
#[test]
fn neighbours_need_a_topology_and_a_send_buffer() {
    on_ranks(2, |world| {
        let mut memory = [0; 4];
        let receive = data(&mut memory);
        let call = Collective::NeighborAllgather { send: Some(receive), receive };
        assert_eq!(refused(&call, world), ErrorClass::Topology);
        let ring = world.graph_adjacent([1 - world.rank()], [1 - world.rank()])?;
        let call = Collective::NeighborAllgather { send: None, receive };
        assert_eq!(refused(&call, &ring), ErrorClass::Buffer);
        world.barrier()
    });
}

/// Two groups of a world, of which the second has the last rank alone.
fn groups(world: &World) -> motet::Result<Intercommunicator> {
    let last = world.size() - 1;
    let side = u32::from(world.rank() == last);
    let near = world.split(Some(side), 0)?.expect("all ranks have a side");
    near.intercomm_create(0, Some(world), if side == 0 { last } else { 0 }, Tag(1))
}

/// spec: 66, 76, 86: what there is not between two groups, in place, and roots beyond the group.
#[test]
fn between_groups_much_is_refused() {
    on_ranks(3, |world| {
        let inter = groups(world)?;
        let (mut memory, mut other, sum) = ([1; 8], [0; 8], Op::SUM);
        let reduction = Reduction {
            input: Some(memory.as_mut_ptr().cast()),
            output: other.as_mut_ptr().cast(),
            count: 1,
            datatype: &INT,
            op: &sum,
        };
        let in_place = Reduction { input: None, ..reduction };
        let receive = data(&mut other);
        let class = |call: Collective<'_>| {
            // SAFETY: nothing begins.
            unsafe { call.run(&inter) }.expect_err("refused").class()
        };
        assert_eq!(class(Collective::Scan { reduction }), ErrorClass::Comm);
        assert_eq!(class(Collective::Exscan { reduction }), ErrorClass::Comm);
        assert_eq!(class(Collective::Allreduce { reduction: in_place }), ErrorClass::Buffer);
        assert_eq!(class(Collective::Allgather { send: None, receive }), ErrorClass::Buffer);
        assert_eq!(class(Collective::Alltoall { send: None, receive }), ErrorClass::Buffer);
        let far = Root::Rank(inter.remote_size());
        assert_eq!(class(Collective::Bcast { data: receive, root: far }), ErrorClass::Root);
        world.barrier()
    });
}

/// Those who have nothing to do in one collective take part in the order: the next one is met.
///
/// spec: 86, 87
#[test]
fn idle_ranks_keep_their_place_in_the_order() {
    on_ranks(4, |world| {
        let inter = groups(world)?;
        let last = world.rank() == 3;
        for round in 0..50 {
            let sender = round as usize % 3;
            let root = match world.rank() {
                3 => Root::Rank(sender),
                me if me == sender => Root::ThisRank,
                _ => Root::ProcNull,
            };
            let mut value = [if last { -1 } else { round }];
            let call = Collective::Bcast { data: data(&mut value), root };
            // SAFETY: the buffer lives until the call has ended.
            unsafe { call.run(&inter) }?;
            assert_eq!(value, [round]);
            let (mut own, mut sum, op) = ([1], [0], Op::SUM);
            let reduction = Reduction {
                input: Some(own.as_mut_ptr().cast()),
                output: sum.as_mut_ptr().cast(),
                count: 1,
                datatype: &INT,
                op: &op,
            };
            // SAFETY: as above.
            unsafe { Collective::Allreduce { reduction }.run(&inter) }?;
            assert_eq!(sum, [if last { 3 } else { 1 }]);
        }
        Ok(())
    });
}

/// Lists, datatypes and operators may be changed and freed as soon as the call has returned; hints
/// may differ between the ranks, and are freed too.
///
/// spec: 4, 6, 43, 44
#[test]
fn arguments_may_go_once_the_call_has_returned() {
    on_ranks(3, |world| {
        let (me, ranks) = (world.rank(), world.size());
        let (mut send, mut receive) = (vec![me as i32; 2 * ranks], vec![-1; 2 * ranks]);
        let operation = {
            let datatype = Datatype::contiguous(1, &INT)?;
            let counts = vec![2; ranks];
            let displacements: Vec<isize> = (0..ranks as isize).map(|rank| 2 * rank).collect();
            let of = |memory: &mut Vec<i32>| VectorBuffer {
                address: memory.as_mut_ptr().cast(),
                counts: &counts,
                displacements: &displacements,
                datatype: &datatype,
            };
            let call =
                Collective::Alltoallv { send: Some(of(&mut send)), receive: of(&mut receive) };
            let info = Info::new().with("of rank", me.to_string());
            // SAFETY: the memory lives until the end of the test.
            unsafe { call.init(world, &info) }?
        };
        let operation = operation.start()?.wait()?;
        drop(operation);
        let expected: Vec<i32> = (0..ranks as i32).flat_map(|rank| [rank, rank]).collect();
        assert_eq!(receive, expected);
        Ok(())
    });
}

/// One buffer on both sides, with blocks that do not overlap: legal among neighbours.
///
/// spec: 77, 97
#[test]
fn a_buffer_may_be_both_sides_of_an_exchange_among_neighbours() {
    on_ranks(3, |world| {
        let (me, ranks) = (world.rank(), world.size());
        let (next, last) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        let ring = world.graph_adjacent([last], [next])?;
        let mut both = [me as i32, -1];
        let side = |displacements: &'static [isize]| WBuffer {
            address: both.as_mut_ptr().cast(),
            counts: &[1],
            displacements,
            datatypes: std::slice::from_ref(&INT),
        };
        let mut side = side;
        let call = Collective::NeighborAlltoallw { send: Some(side(&[0])), receive: side(&[4]) };
        // SAFETY: the buffer lives until the call has ended, and is used in two places.
        unsafe { call.run(&ring) }?;
        assert_eq!(both, [me as i32, last as i32]);
        Ok(())
    });
}

fn sum<'a>(input: Option<&mut [i32]>, output: &mut [i32], op: &'a Op) -> Reduction<'a> {
    Reduction {
        input: input.map(|input| input.as_mut_ptr().cast()),
        output: output.as_mut_ptr().cast(),
        count: output.len(),
        datatype: &INT,
        op,
    }
}

/// A call that is the same as one before but for its addresses: each run has its own data, and
/// whatever is not the same (the count, the operator, the root, what is in place) is seen.
///
/// spec: 61
#[test]
fn a_call_that_is_made_again_has_its_own_arguments() {
    on_ranks(3, |world| {
        let (me, ops) = (world.rank() as i32, [Op::SUM, Op::MAX, Op::MIN]);
        for round in 0..40 {
            let (op, count) = (&ops[round % 3], 1 + round % 2);
            let mut input = vec![me + round as i32; count];
            let mut output = vec![0; count];
            let in_place = round % 5 == 4;
            let reduction = if in_place {
                output.copy_from_slice(&input);
                sum(None, &mut output, op)
            } else {
                sum(Some(&mut input), &mut output, op)
            };
            let call = Collective::Allreduce { reduction };
            // SAFETY: the vectors live on, and nobody else uses them.
            unsafe { call.run(world) }?;
            let first = round as i32;
            let expected = [3 * first + 3, first + 2, first][round % 3];
            assert_eq!(output, vec![expected; count], "round {round}");
            let root = round % 4 % 3;
            let mut value = [if root == world.rank() { 7 * first } else { -1 }];
            let call = Collective::Bcast { data: data(&mut value), root: Root::Rank(root) };
            // SAFETY: as above.
            unsafe { call.run(world) }?;
            assert_eq!(value, [7 * first]);
        }
        Ok(())
    });
}

/// As above, of calls that are under way at once, and are complete in another order.
///
/// spec: 61
#[test]
fn identical_calls_may_be_pending_at_once() {
    on_ranks(3, |world| {
        for round in 0..10 {
            let mut values: Vec<[i32; 1]> = (0..6).map(|at| [at + round]).collect();
            let mut sums = vec![[0]; values.len()];
            let op = Op::SUM;
            let mut requests = Vec::new();
            for (value, total) in values.iter_mut().zip(&mut sums) {
                let call = Collective::Allreduce { reduction: sum(Some(value), total, &op) };
                // SAFETY: all is waited for before the vectors are looked at.
                requests.push(unsafe { call.start(world) }?);
            }
            requests.into_iter().rev().try_for_each(|request| request.wait())?;
            let expected: Vec<[i32; 1]> = (0..6).map(|at| [3 * (at + round)]).collect();
            assert_eq!(sums, expected);
        }
        Ok(())
    });
}

/// What is wrong with an address is seen, though the call was right before: a null pointer, one
/// buffer that is both, one that is not aligned (which is right, and needs another way).
///
/// spec: 61, 77
#[test]
fn a_call_that_is_made_again_may_be_wrong_this_time() {
    on_ranks(2, |world| {
        let op = Op::SUM;
        let (mut input, mut output) = ([world.rank() as i32 + 1; 4], [0; 4]);
        let right = Collective::Allreduce { reduction: sum(Some(&mut input), &mut output, &op) };
        let Collective::Allreduce { reduction } = right else { unreachable!("as just made") };
        let both = Reduction { input: Some(reduction.output), ..reduction };
        let null = Reduction { output: std::ptr::null_mut(), ..reduction };
        let mut bytes = [0u8; 64];
        let low = bytes.as_ptr().addr() % 4;
        let odd = bytes[5 - low..].as_mut_ptr();
        for _ in 0..3 {
            // SAFETY: the arrays live on, and nobody else uses them.
            unsafe { right.run(world) }?;
            assert_eq!(output, [3; 4]);
            assert_eq!(
                refused(&Collective::Allreduce { reduction: both }, world),
                ErrorClass::Buffer
            );
            assert_eq!(
                refused(&Collective::Allreduce { reduction: null }, world),
                ErrorClass::Buffer
            );
            let unaligned = Reduction { output: odd, ..reduction };
            // SAFETY: as above; 16 bytes from there are of the array.
            unsafe { Collective::Allreduce { reduction: unaligned }.run(world) }?;
            // SAFETY: as above.
            let sums = unsafe { odd.cast::<[i32; 4]>().read_unaligned() };
            assert_eq!(sums, [3; 4]);
        }
        Ok(())
    });
}
