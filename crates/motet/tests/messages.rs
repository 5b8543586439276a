//! Messages from rank to rank: the ways to send, sending and receiving at once, nobody, buffers,
//! matched probes, cancelling, and persistent messages.

mod worlds;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use motet::buffer::Items;
use motet::datatype::Datatype;
use motet::{
    ANY_SOURCE, ANY_TAG, BSEND_OVERHEAD, BufferRoom, Communicator, ErrorClass, Info, PROC_NULL,
    Result, Settings, Source, Sum, TAG_UB, Tag, start_all, wait_all,
};
use worlds::{Random, on_ranks, on_ranks_with};

/// Shorter and longer than a cell, and nothing at all.
const LENGTHS: [usize; 5] = [0, 1, 1000, 8192, 300_000];

fn class<T>(result: Result<T>) -> Option<ErrorClass> {
    result.err().map(|error| error.class())
}

/// What came first is not lost on who asks for something else first, however long it is.
#[test]
fn messages_are_received_in_another_order() {
    on_ranks(2, |world| {
        let all =
            |round: usize| LENGTHS.into_iter().enumerate().map(move |(tag, n)| (tag + round, n));
        for round in 0..20 {
            if world.rank() == 0 {
                let send = |(tag, length)| world.isend(vec![tag as u8; length], 1, Tag(tag as u32));
                let pending = all(round).map(send).collect::<Result<Vec<_>>>()?;
                for request in pending {
                    request.wait()?;
                }
                world.recv(&mut [0u8; 0], 1, Tag(99))?;
            } else {
                let mut order: Vec<_> = all(round).collect();
                order.rotate_left(round % LENGTHS.len());
                order.swap(0, round % 3);
                for (tag, length) in order {
                    let mut into = vec![0xffu8; length];
                    let status = world.recv(&mut into, 0, Tag(tag as u32))?;
                    assert_eq!(status.bytes, length, "round {round}, tag {tag}");
                    assert!(into.iter().all(|&byte| byte == tag as u8));
                }
                world.send(&[0u8; 0], 0, Tag(99))?;
            }
        }
        Ok(())
    });
}

/// A synchronous send is complete only when its message has been taken, however short it is.
#[test]
fn a_synchronous_send_waits_for_its_receive() {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        for length in LENGTHS {
            let taking = AtomicBool::new(false);
            on_ranks_with(2, &settings, |world| {
                if world.rank() == 0 {
                    world.ssend(&vec![7u8; length], 1, Tag(1))?;
                    assert!(taking.load(Ordering::SeqCst), "nobody had asked for {length} bytes");
                    let pending = world.issend(vec![8u8; length], 1, Tag(2))?;
                    assert_eq!(pending.wait()?.len(), length);
                } else {
                    thread::sleep(Duration::from_millis(20));
                    taking.store(true, Ordering::SeqCst);
                    for tag in [1, 2] {
                        let mut data = vec![0u8; length];
                        assert_eq!(world.recv(&mut data, 0, Tag(tag))?.bytes, length);
                        assert!(data.iter().all(|&byte| byte == 6 + tag as u8));
                    }
                }
                Ok(())
            });
        }
    }
}

/// All ranks of a ring send and receive at once, which none could do after the other.
#[test]
fn a_ring_sends_and_receives_at_once() {
    for ranks in [1, 2, 3, 5] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
            for length in LENGTHS {
                let (sent, mut got) = (vec![me as u64; length], vec![0u64; length]);
                let receive = (&mut got[..], before, Tag(3));
                let status = world.sendrecv((&sent[..], next, Tag(3)), receive)?;
                assert_eq!((status.source, status.count::<u64>()), (before, Some(length)));
                assert!(got.iter().all(|&value| value == before as u64));
                world.sendrecv_replace(&mut got, (next, Tag(4)), (ANY_SOURCE, ANY_TAG))?;
                let second = (before + ranks - 1) % ranks;
                assert!(got.iter().all(|&value| value == second as u64));
            }
            Ok(())
        });
    }
}

/// spec: 63: a message that is too long is an error of the receiver, and the buffer is as it was.
#[test]
fn sendrecv_tells_of_a_message_that_is_too_long() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let (sent, mut got) = ([1u8; 10], [9u8; 4]);
        let ended = world.sendrecv((&sent[..], other, Tag(0)), (&mut got[..], other, Tag(0)));
        assert_eq!(class(ended), Some(ErrorClass::Truncate));
        assert_eq!(got, [9; 4]);
        world.barrier()
    });
}

/// A call that is refused because of its receive has sent nothing.
#[test]
fn a_sendrecv_whose_receive_is_refused_sends_nothing() {
    on_ranks(2, |world| {
        let (sent, mut got) = ([7u8; 3], [9u8; 3]);
        if world.rank() == 0 {
            for (source, tag) in [(2, Tag(1)), (1, Tag(u32::MAX))] {
                let typed = world.sendrecv((&sent[..], 1, Tag(1)), (&mut got[..], source, tag));
                assert!(typed.is_err());
            }
            world.send(&[1u8; 3], 1, Tag(1))
        } else {
            world.recv(&mut got, 0, Tag(1))?;
            assert_eq!(got, [1; 3]);
            assert_eq!(world.iprobe(ANY_SOURCE, ANY_TAG)?, None);
            Ok(())
        }
    });
}

/// Every call takes nobody for a partner, and returns at once.
#[test]
fn nobody_sends_and_receives_nothing() {
    on_ranks(2, |world| {
        let (data, mut kept) = ([1u8; 3], [9u8; 3]);
        world.attach_buffer(BufferRoom::Bytes(0))?;
        world.send(&data, PROC_NULL, Tag(1))?;
        world.ssend(&data, PROC_NULL, Tag(1))?;
        world.bsend(&data, PROC_NULL, Tag(1))?;
        world.rsend(&data, PROC_NULL, Tag(1))?;
        let nothing = world.recv(&mut kept, PROC_NULL, Tag(1))?;
        assert_eq!((nothing.source, nothing.tag, nothing.bytes), (PROC_NULL, Tag::ANY, 0));
        assert!(!nothing.cancelled);
        assert_eq!(world.probe(PROC_NULL, ANY_TAG)?, nothing);
        assert_eq!(world.iprobe(PROC_NULL, ANY_TAG)?, Some(nothing));
        assert_eq!(world.recv(&mut kept, None, ANY_TAG)?, nothing);
        let message = world.mprobe(PROC_NULL, ANY_TAG)?;
        assert_eq!(message.status(), nothing);
        assert_eq!(message.mrecv(&mut kept)?, nothing);
        let message = world.improbe(PROC_NULL, Tag(3))?.expect("there at once");
        assert_eq!(message.imrecv(vec![9u8; 3])?.wait_with_status()?, (vec![9; 3], nothing));
        for mut request in [
            world.isend(vec![1u8], PROC_NULL, Tag(1))?,
            world.issend(vec![1u8], PROC_NULL, Tag(1))?,
            world.ibsend(vec![1u8], PROC_NULL, Tag(1))?,
            world.irsend(vec![1u8], PROC_NULL, Tag(1))?,
            world.irecv(vec![1u8], PROC_NULL, Tag(1))?,
            world.isendrecv_replace(vec![1u8], (PROC_NULL, Tag(1)), (PROC_NULL, Tag(1)))?,
        ] {
            assert!(request.test()?);
            assert_eq!(request.wait()?, [1]);
        }
        for operation in [
            world.send_init(vec![1u8], PROC_NULL, Tag(1))?,
            world.recv_init(vec![1u8], PROC_NULL, Tag(1))?,
            world.bsend_init(vec![1u8], PROC_NULL, Tag(1))?,
        ] {
            let (operation, status) = operation.start()?.wait_with_status()?;
            assert_eq!((operation.output(), status), (&[1][..], nothing));
        }
        // Half of it with nobody, as at the border of a grid.
        let (me, other) = (world.rank(), 1 - world.rank());
        let partner = |is_there: bool| if is_there { other } else { PROC_NULL };
        let send = (&[me as u8 + 1][..], partner(me == 0), Tag(5));
        let status = world.sendrecv(send, (&mut kept[..1], partner(me == 1), Tag(5)))?;
        assert_eq!(status.source, if me == 1 { 0 } else { PROC_NULL });
        assert_eq!(kept, if me == 1 { [1, 9, 9] } else { [9; 3] });
        assert_eq!(world.detach_buffer()?, BufferRoom::Bytes(0));
        Ok(())
    });
}

/// spec: 61
#[test]
fn ranks_and_tags_that_there_are_not_are_refused() {
    on_ranks(2, |world| {
        let (high, greatest) = (Tag(TAG_UB + 1), Tag(TAG_UB));
        let mut data = [1u8];
        let classes = [
            class(world.send(&data, 0, high)),
            class(world.isend(vec![1u8], 0, high)),
            class(world.recv(&mut data, 0, high)),
            class(world.recv_init(vec![1u8], ANY_SOURCE, high)),
            class(world.send_init(vec![1u8], 0, Tag::ANY)),
            class(world.mprobe(0, high)),
            class(world.isendrecv((vec![1u8], 0, greatest), (vec![1u8], 0, high))),
            class(world.send(&data, PROC_NULL, high)),
        ];
        assert_eq!(classes, [Some(ErrorClass::Tag); 8]);
        let classes = [
            class(world.bsend(&data, 2, greatest)),
            class(world.irsend(vec![1u8], 2, greatest)),
            class(world.improbe(2, greatest)),
            class(world.ssend_init(vec![1u8], 2, greatest)),
            class(world.isendrecv_replace(vec![1u8], (2, greatest), (0, greatest))),
        ];
        assert_eq!(classes, [Some(ErrorClass::Rank); 5]);
        let me = world.rank();
        world.isend(vec![7u8], me, greatest)?.wait()?;
        assert_eq!(world.recv(&mut data, me, ANY_TAG)?.tag, greatest);
        world.barrier()
    });
}

/// A rank sends to itself in every mode.
#[test]
fn messages_to_oneself() {
    on_ranks(1, |world| {
        world.attach_rank_buffer(BufferRoom::Automatic)?;
        for length in LENGTHS {
            let data = vec![3u8; length];
            let mut got = vec![0u8; length];
            world.bsend(&data, 0, Tag(1))?;
            assert_eq!(world.recv(&mut got, 0, Tag(1))?.bytes, length);
            assert_eq!(got, data);
            for pending in [
                world.isend(data.clone(), 0, Tag(2))?,
                world.issend(data.clone(), 0, Tag(2))?,
                world.ibsend(data.clone(), 0, Tag(2))?,
                world.irsend(data.clone(), 0, Tag(2))?,
            ] {
                let got = world.irecv(vec![0u8; length], ANY_SOURCE, ANY_TAG)?.wait()?;
                assert_eq!(got, data);
                pending.wait()?;
            }
            let receive = (vec![0u8; length], 0, Tag(3));
            let ((_, got), status) =
                world.isendrecv((data.clone(), 0, Tag(3)), receive)?.wait_with_status()?;
            assert_eq!((&got, status.bytes), (&data, length));
            let swapped = world.isendrecv_replace(got, (0, Tag(4)), (0, Tag(4)))?;
            assert_eq!(swapped.wait()?, data);
        }
        world.detach_rank_buffer().map(drop)
    });
}

/// A buffered send is complete before anybody receives, as long as there is room.
#[test]
fn buffered_sends_wait_for_nobody() {
    on_ranks(2, |world| {
        let each = 100_000;
        if world.rank() == 0 {
            assert_eq!(class(world.bsend(&[1u8], 1, Tag(0))), Some(ErrorClass::Buffer));
            assert_eq!(class(world.detach_buffer()), Some(ErrorClass::Buffer));
            world.attach_buffer(BufferRoom::Bytes(3 * (each + BSEND_OVERHEAD)))?;
            assert_eq!(class(world.attach_buffer(BufferRoom::Automatic)), Some(ErrorClass::Buffer));
            world.bsend(&vec![0u8; each], 1, Tag(1))?;
            world.ibsend(vec![1u8; each], 1, Tag(1))?.wait()?;
            let stored = world.bsend_init(vec![2u8; each], 1, Tag(1))?.start()?.wait()?;
            // Full.
            assert_eq!(class(world.bsend(&vec![3u8; each], 1, Tag(1))), Some(ErrorClass::Buffer));
            let request = world.ibsend(vec![3u8; each], 1, Tag(1))?;
            assert_eq!(class(request.wait()), Some(ErrorClass::Buffer));
            assert_eq!(class(stored.start()?.wait()), Some(ErrorClass::Buffer));
            world.barrier()?;
            world.flush_buffer()?;
            world.bsend(&vec![3u8; each], 1, Tag(1))?;
            let room = world.detach_buffer()?;
            assert_eq!(room, BufferRoom::Bytes(3 * (each + BSEND_OVERHEAD)));
            assert_eq!(class(world.bsend(&[1u8], 1, Tag(0))), Some(ErrorClass::Buffer));
        } else {
            world.barrier()?;
            for value in 0..4 {
                let mut data = vec![9u8; each];
                world.recv(&mut data, 0, Tag(1))?;
                assert!(data.iter().all(|&byte| byte == value));
            }
        }
        Ok(())
    });
}

/// A communicator uses a buffer of its own before that of the rank; one that is detached has been
/// emptied.
#[test]
fn buffers_of_communicators_and_ranks() {
    on_ranks(2, |world| {
        let other = world.dup()?;
        if world.rank() == 0 {
            world.attach_rank_buffer(BufferRoom::Automatic)?;
            other.attach_buffer(BufferRoom::Bytes(BSEND_OVERHEAD))?;
            assert_eq!(class(other.bsend(&[1u8], 1, Tag(1))), Some(ErrorClass::Buffer));
            other.bsend::<u8>(&[], 1, Tag(1))?;
            for _ in 0..200 {
                world.bsend(&[5u64; 2000], 1, Tag(1))?;
            }
            other.detach_buffer()?;
            other.bsend(&[6u8], 1, Tag(2))?;
            world.barrier()?;
            world.flush_rank_buffer()?;
            assert_eq!(world.detach_rank_buffer()?, BufferRoom::Automatic);
        } else {
            world.barrier()?;
            assert_eq!(other.recv::<u8>(&mut [], 0, Tag(1))?.bytes, 0);
            for _ in 0..200 {
                let mut data = [0u64; 2000];
                world.recv(&mut data, 0, Tag(1))?;
                assert_eq!(data, [5; 2000]);
            }
            other.recv(&mut [0u8], 0, Tag(2))?;
        }
        Ok(())
    });
}

/// A message that has been taken is nobody else's, and may be received late, or never.
#[test]
fn a_message_that_was_taken_is_seen_by_nobody_else() {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        for length in LENGTHS {
            on_ranks_with(2, &settings, |world| {
                if world.rank() == 0 {
                    for value in 1..=4u8 {
                        world.send(&vec![value; length], 1, Tag(1))?;
                    }
                    return world.barrier();
                }
                let first = world.mprobe(ANY_SOURCE, ANY_TAG)?;
                let status = first.status();
                assert_eq!((status.source, status.tag, status.bytes), (0, Tag(1), length));
                let mut data = vec![0u8; length];
                if length <= 8192 {
                    // The second is there, or comes, behind the first.
                    world.recv(&mut data, 0, Tag(1))?;
                    assert!(data.iter().all(|&byte| byte == 2));
                    assert_eq!(first.mrecv(&mut data)?, status);
                    assert!(data.iter().all(|&byte| byte == 1));
                } else {
                    assert!(world.improbe(0, Tag(1))?.is_none(), "the sender waits for the first");
                    assert_eq!(first.imrecv(data)?.wait()?, vec![1; length]);
                    drop(world.mprobe(0, Tag(1))?);
                    data = vec![0u8; length];
                }
                let third = world.mprobe(0, Tag(1))?.imrecv(data)?.wait_with_status()?;
                assert_eq!(third, (vec![3; length], status));
                drop(world.mprobe(0, Tag(1))?);
                assert_eq!(world.iprobe(ANY_SOURCE, ANY_TAG)?, None);
                world.barrier()
            });
        }
    }
}

/// spec: 63
#[test]
fn a_taken_message_may_be_too_long_or_of_another_type() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            world.send(&[1u8; 10], 1, Tag(1))?;
            world.send(&[1u8; 10], 1, Tag(1))?;
        } else {
            let mut data = [9u8; 4];
            let ended = world.mprobe(0, Tag(1))?.mrecv(&mut data);
            assert_eq!((class(ended), data), (Some(ErrorClass::Truncate), [9; 4]));
            let ended = world.mprobe(0, Tag(1))?.imrecv(vec![9u16; 40])?;
            assert_eq!(class(ended.wait()), Some(ErrorClass::Type));
        }
        world.barrier()
    });
}

/// Two threads that probe for whatever comes never take the length of one message for another.
///
/// spec: 99
#[test]
fn threads_that_probe_get_the_message_they_saw() {
    const EACH: usize = 600;
    on_ranks(3, |world| {
        if world.rank() > 0 {
            let mut random = Random(world.rank() as u64);
            for _ in 0..EACH {
                let limit = if random.below(20) == 0 { 40_000 } else { 200 };
                let length = 1 + random.below(limit);
                world.send(&vec![length as u32; length], 0, Tag(random.below(3) as u32))?;
            }
            return Ok(());
        }
        let left = AtomicUsize::new(2 * EACH);
        let take = |waits: bool| -> Result<usize> {
            let mut taken = 0;
            // Who takes a number receives a message: there are as many of both.
            let one = |left: usize| left.checked_sub(1);
            while left.try_update(Ordering::SeqCst, Ordering::SeqCst, one).is_ok() {
                let message = if waits {
                    world.mprobe(ANY_SOURCE, ANY_TAG)?
                } else {
                    loop {
                        if let Some(message) = world.improbe(ANY_SOURCE, ANY_TAG)? {
                            break message;
                        }
                        thread::yield_now();
                    }
                };
                let length = message.status().count::<u32>().expect("whole numbers");
                let mut data = vec![0u32; length];
                let status = message.mrecv(&mut data)?;
                assert_eq!(status.count::<u32>(), Some(length));
                assert!(data.iter().all(|&value| value as usize == length));
                taken += 1;
            }
            Ok(taken)
        };
        let taken = thread::scope(|threads| {
            let others = [threads.spawn(|| take(true)), threads.spawn(|| take(false))];
            let own = take(true)?;
            others.into_iter().try_fold(own, |sum, other| {
                Ok::<_, motet::Error>(sum + other.join().expect("does not panic")?)
            })
        })?;
        assert_eq!(taken, 2 * EACH);
        Ok(())
    });
}

/// A receive that has met nothing is cancelled; what comes later goes to the next.
#[test]
fn receives_are_cancelled() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let mut wild = world.irecv(vec![9u8; 4], ANY_SOURCE, ANY_TAG)?;
        let mut exact: Vec<_> =
            (0..100).map(|_| world.irecv(vec![9u8; 4], other, Tag(1))).collect::<Result<_>>()?;
        let last = world.irecv(vec![0u8; 4], other, Tag(1))?;
        let mut stored = world.recv_init(vec![9u8; 4], other, Tag(1))?.start()?;
        world.barrier()?;
        for request in exact.iter_mut().rev().chain([&mut wild]) {
            request.cancel()?;
            assert!(request.test()?, "to wait for it is local");
        }
        stored.cancel()?;
        for request in exact.into_iter().chain([wild]) {
            let (data, status) = request.wait_with_status()?;
            assert_eq!((data, status.cancelled, status.bytes), (vec![9; 4], true, 0));
        }
        let (stored, status) = stored.wait_with_status()?;
        assert!(status.cancelled && stored.output() == [9; 4]);
        world.barrier()?;
        world.send(&[5u8; 4], other, Tag(1))?;
        let (data, status) = last.wait_with_status()?;
        assert_eq!((data, status.cancelled, status.source), (vec![5; 4], false, other));
        // The persistent one can be started again, and completes.
        let mut stored = stored.start()?;
        world.send(&[6u8; 4], other, Tag(1))?;
        while !stored.test()? {
            thread::yield_now();
        }
        stored.cancel()?;
        let (stored, status) = stored.wait_with_status()?;
        assert!(!status.cancelled && stored.output() == [6; 4], "too late to cancel");
        Ok(())
    });
}

/// A send that is cancelled ends before its receiver looks. Its message arrives, from a copy, since
/// the buffer is gone then; and its status says so.
#[test]
fn cancelled_sends_end_and_arrive() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            for length in LENGTHS {
                let mut pending = [
                    world.isend(vec![4u8; length], 1, Tag(1))?,
                    world.issend(vec![5u8; length], 1, Tag(1))?,
                ];
                for request in &mut pending {
                    request.cancel()?;
                }
                for request in pending {
                    let (mut data, status) = request.wait_with_status()?;
                    assert!(!status.cancelled);
                    data.fill(0);
                }
            }
            world.barrier()?;
        } else {
            world.barrier()?;
            for length in LENGTHS {
                for value in [4, 5] {
                    let mut data = vec![0u8; length];
                    assert_eq!(world.recv(&mut data, 0, Tag(1))?.bytes, length);
                    assert!(data.iter().all(|&byte| byte == value));
                }
            }
        }
        Ok(())
    });
}

/// Persistent messages carry what is in their buffer at each start, in every mode, together with
/// collectives, in whatever order they are started.
///
/// spec: 5, 40, 47, 48, 56
#[test]
fn persistent_messages_are_sent_again_and_again() {
    for length in [1, 1000, 50_000] {
        on_ranks(2, |world| {
            let other = 1 - world.rank();
            world.attach_buffer(BufferRoom::Automatic)?;
            let inits = [
                Communicator::send_init,
                Communicator::ssend_init,
                Communicator::bsend_init,
                Communicator::rsend_init,
            ];
            let mut sends = Vec::new();
            for (tag, init) in (0..).zip(inits) {
                sends.push(init(world, vec![0u32; length], other, Tag(tag))?);
            }
            let receive = |tag| world.recv_init(vec![0u32; length], other, Tag(tag));
            let mut receives = (0..4).map(receive).collect::<Result<Vec<_>>>()?;
            let mut sum = world.allreduce_init(vec![0u32], Sum, &Info::new())?;
            for round in 0..30 {
                for (mode, send) in sends.iter_mut().enumerate() {
                    send.input_mut().fill(round * 10 + mode as u32);
                }
                sum.input_mut()[0] = round;
                let (sending, adding, mut receiving) = start_all((sends, sum, receives))?;
                let first = receiving.remove(0).wait_with_status()?;
                assert_eq!((first.1.source, first.1.count::<u32>()), (other, Some(length)));
                sends = sending.into_iter().map(|each| each.wait()).collect::<Result<_>>()?;
                let rest = receiving.into_iter().map(|each| each.wait());
                receives = std::iter::once(Ok(first.0)).chain(rest).collect::<Result<_>>()?;
                sum = adding.wait()?;
                assert_eq!(sum.output(), [2 * round]);
                for (mode, receive) in receives.iter().enumerate() {
                    let sent = round * 10 + mode as u32;
                    assert!(receive.output().iter().all(|&value| value == sent));
                }
            }
            world.detach_buffer().map(drop)
        });
    }
}

/// spec: 31
#[test]
fn typed_sets_mix_messages_of_all_kinds() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let mut receive = world.recv_init(vec![0u8; 3], other, Tag(1))?.start()?;
        let mut send = world.send_init(vec![7u8; 3], other, Tag(1))?.start()?;
        let mut both = world.isendrecv((vec![1u64], other, Tag(2)), (vec![0u64], other, Tag(2)))?;
        let (mut outside, done) = world.generalized();
        let mut sum = world.iallreduce(vec![1u8], Sum)?;
        thread::scope(|threads| {
            threads.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                done.complete().expect("there is no callback");
            });
            wait_all(&mut [&mut receive, &mut send, &mut both, &mut outside, &mut sum])
        })?;
        assert_eq!(receive.wait()?.output(), [7; 3]);
        send.wait()?;
        assert_eq!(both.wait()?.1, [1]);
        outside.wait()?;
        assert_eq!(sum.wait()?, [2]);
        Ok(())
    });
}

/// Every second element of `values`, with others between them that must not change.
fn spaced(values: [f64; 3]) -> Items<Vec<f64>> {
    let item = Datatype::vector(3, 1, 2, &Datatype::DOUBLE).expect("fits");
    let [first, second, third] = values;
    Items::new(vec![first, -1.0, second, -2.0, third, -3.0], &item, 1).expect("fits")
}

fn check_spaced(items: &[f64], values: [f64; 3]) {
    let [first, second, third] = values;
    assert_eq!(items, [first, -1.0, second, -2.0, third, -3.0]);
}

/// Items that do not lie in a row go and come in every kind of message.
///
/// spec: 3, 5, 20, 56
#[test]
fn items_travel_in_messages_of_every_kind() {
    on_ranks(2, |world| {
        let (me, other) = (world.rank() as f64, 1 - world.rank());
        let (own, theirs) = ([me, me + 10.0, me + 20.0], [1.0 - me, 11.0 - me, 21.0 - me]);
        world.attach_buffer(BufferRoom::Automatic)?;
        world.ibsend(spaced(own), other, Tag(1))?.wait()?;
        let got = world.mprobe(other, Tag(1))?.imrecv(spaced([9.0; 3]))?.wait()?;
        check_spaced(&got.into_buffer(), theirs);
        let send = (spaced(own), other, Tag(2));
        let (sent, got) = world.isendrecv(send, (spaced([9.0; 3]), other, Tag(2)))?.wait()?;
        check_spaced(&got.into_buffer(), theirs);
        check_spaced(&sent.into_buffer(), own);
        let swapped = world.isendrecv_replace(spaced(own), (other, Tag(3)), (other, Tag(3)))?;
        check_spaced(&swapped.wait()?.into_buffer(), theirs);
        let mut send = world.send_init(spaced(own), other, Tag(4))?;
        let mut buffered = world.bsend_init(spaced(own), other, Tag(5))?;
        let receive = |tag| world.recv_init(spaced([9.0; 3]), other, Tag(tag));
        let (mut first, mut second) = (receive(4)?, receive(5)?);
        for round in [0.0, 100.0, 200.0] {
            send.input_mut()[2] = own[1] + round;
            buffered.input_mut()[4] = own[2] + round;
            let running = start_all((first, send, buffered, second))?;
            send = running.1.wait()?;
            buffered = running.2.wait()?;
            (first, second) = (running.0.wait()?, running.3.wait()?);
            check_spaced(first.output(), [theirs[0], theirs[1] + round, theirs[2]]);
            check_spaced(second.output(), [theirs[0], theirs[1], theirs[2] + round]);
        }
        let mut cancelled = world.irecv(spaced(own), other, Tag(6))?;
        cancelled.cancel()?;
        check_spaced(&cancelled.wait()?.into_buffer(), own);
        let nothing = world.irecv(spaced(own), PROC_NULL, Tag(6))?;
        check_spaced(&nothing.wait()?.into_buffer(), own);
        // Of a rank that has left nothing can be received, not even what is to be cancelled.
        world.barrier()?;
        world.detach_buffer().map(drop)
    });
}

/// Every way to send and to receive borrows its buffers in a scope.
#[test]
fn a_scope_begins_messages_of_every_kind() {
    on_ranks(2, |world| {
        let (me, other) = (world.rank() as u8, 1 - world.rank());
        world.attach_buffer(BufferRoom::Automatic)?;
        for length in LENGTHS {
            let (own, mut got) = (vec![me; length], vec![vec![9u8; length]; 6]);
            let [first, second, third, fourth, fifth, sixth] = &mut got[..] else { unreachable!() };
            world.scope(|scope| {
                drop(scope.irecv(&mut first[..], other, Tag(1))?);
                drop(scope.irecv(&mut second[..], other, Tag(2))?);
                drop(scope.irecv(&mut third[..], other, Tag(3))?);
                drop(scope.irecv(&mut fourth[..], other, Tag(4))?);
                drop(scope.isend(&own[..], other, Tag(1))?);
                drop(scope.issend(&own[..], other, Tag(2))?);
                drop(scope.ibsend(&own[..], other, Tag(3))?);
                drop(scope.irsend(&own[..], other, Tag(4))?);
                let both = ((&own[..], other, Tag(5)), (&mut fifth[..], other, Tag(5)));
                let (_, status) = scope.isendrecv(both.0, both.1)?.wait_with_status()?;
                assert_eq!((status.source, status.bytes), (other, length));
                drop(scope.isend(&own[..], other, Tag(6))?);
                let message = world.mprobe(other, Tag(6))?;
                drop(scope.imrecv(message, &mut sixth[..])?);
                Ok(())
            })?;
            assert!(got.iter().flatten().all(|&byte| byte == 1 - me), "{length} bytes");
        }
        world.detach_buffer().map(drop)
    });
}

/// A flush is complete when all that was buffered has been sent, and not before; it is waited for
/// like any other operation, or given up.
///
/// spec: 31
#[test]
fn a_flush_waits_for_all_that_is_buffered() {
    for settings in [Settings::new(), Settings::new().without_single_copy()] {
        let taking = AtomicBool::new(false);
        on_ranks_with(2, &settings, |world| {
            let mut data = vec![0u8; 300_000];
            if world.rank() == 1 {
                thread::sleep(Duration::from_millis(20));
                taking.store(true, Ordering::SeqCst);
                for _ in 0..6 {
                    world.recv(&mut data, 0, Tag(1))?;
                }
                return world.barrier();
            }
            world.iflush_buffer()?.wait()?; // there is none
            world.attach_buffer(BufferRoom::Automatic)?;
            world.attach_rank_buffer(BufferRoom::Automatic)?;
            assert!(world.iflush_buffer()?.test()?);
            for _ in 0..3 {
                world.bsend(&data, 1, Tag(1))?;
            }
            let mut rank = world.iflush_rank_buffer()?;
            assert!(rank.test()?, "nothing is in that one");
            let (mut first, second) = (world.iflush_buffer()?, world.iflush_buffer()?);
            drop(world.iflush_buffer()?);
            assert!(!first.test()? || taking.load(Ordering::SeqCst));
            world.ibsend(data.clone(), 1, Tag(1))?.wait()?;
            world.bsend(&data, 1, Tag(1))?;
            let mut set = vec![motet::raw::Request::from(second), world.ibarrier()?.into()];
            world.send(&data, 1, Tag(1))?;
            first.wait()?;
            assert!(taking.load(Ordering::SeqCst), "nobody had asked for what was buffered");
            motet::raw::wait_all(&mut set, &mut vec![])?;
            world.detach_rank_buffer()?;
            world.detach_buffer().map(drop)
        });
    }
}

/// Looking for a message of anybody is no error where a wait would be in vain: a rank may go on
/// with messages to itself when all others have left in good order.
#[test]
fn a_probe_is_no_error_when_all_others_have_left() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            return Ok(());
        }
        world.probe(0, ANY_TAG).expect_err("it leaves at once");
        world.iprobe(0, ANY_TAG).expect_err("nothing will ever come from it");
        for source in [ANY_SOURCE, Source::from(1)] {
            assert_eq!(world.iprobe(source, ANY_TAG)?, None);
            assert!(world.improbe(source, ANY_TAG)?.is_none());
        }
        let sent = world.isend(vec![7u8], 1, Tag(3))?;
        let found = loop {
            if let Some(message) = world.improbe(ANY_SOURCE, ANY_TAG)? {
                break message;
            }
        };
        let mut data = [0u8];
        found.mrecv(&mut data)?;
        assert_eq!(data, [7]);
        sent.wait().map(drop)
    });
}
