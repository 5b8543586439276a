//! The untyped requests: every kind in one array, under every call of the standard.

mod worlds;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use motet::raw::{self, Callbacks, Request, Status};
use motet::{ANY_SOURCE, ANY_TAG, Error, ErrorClass, Info, PROC_NULL, Result, Source, Sum, Tag};
use motet::{TagFilter, World};
use worlds::{Random, on_ranks};

const TAG: Tag = Tag(3);

fn class<T>(result: Result<T>) -> Option<ErrorClass> {
    result.err().map(|error| error.class())
}

/// A status with the class of its error for that: which code of the class it is does not matter.
fn with_class(status: &Status) -> Status {
    Status { error: status.error.and_then(|code| code.class()).map(Into::into), ..*status }
}

fn told_of(statuses: &[Status]) -> Vec<Status> {
    statuses.iter().map(with_class).collect()
}

/// What a receive of so many bytes says.
fn received(source: usize, tag: Tag, bytes: u64) -> Status {
    let (source, tag) = (Source::Rank(source), TagFilter::Tag(tag));
    Status { source, tag, bytes, ..Status::EMPTY }
}

/// What becomes of a request that has been completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Null,
    Inactive,
}

/// A request, its status, and what becomes of it; `None` of those that nobody waits for.
type Member = (Request, Option<Status>, Then);

/// A generalized operation that a thread completes after a while. It counts what is asked of it.
fn generalized(world: &World, asked: &'static AtomicUsize) -> Request {
    let callbacks = Callbacks {
        query: Box::new(|status| {
            status.bytes = 77;
            Ok(())
        }),
        free: Box::new(|| {
            asked.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }),
        cancel: Box::new(|_| Ok(())),
    };
    let request = raw::grequest_start(world, callbacks);
    let completer = request.completer().expect("of a generalized one");
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(3));
        completer.complete().expect("its callbacks return no error");
    });
    request
}

/// One request of each kind, under way or not, in an order that the seed gives.
fn one_of_each(world: &World, seed: u64, freed: &'static AtomicUsize) -> Result<Vec<Member>> {
    let (me, other) = (world.rank(), 1 - world.rank());
    let info = Info::new();
    let stored = |tag| world.recv_init(vec![0u16; 9], ANY_SOURCE, Tag(tag));
    let (once, again) = (Then::Null, Then::Inactive);
    let both = ((vec![1u8; 5], other, Tag(4)), (vec![0u8; 5], ANY_SOURCE, Tag(4)));
    let empty = Some(Status::EMPTY);
    let mut members: Vec<Member> = vec![
        (world.irecv(vec![0u32; 7], other, TAG)?.into(), Some(received(other, TAG, 28)), once),
        (stored(5)?.start()?.into(), Some(received(other, Tag(5), 6)), again),
        (world.iallreduce(vec![me], Sum)?.into(), empty, once),
        (world.allreduce_init(vec![me], Sum, &info)?.start()?.into(), empty, again),
        (world.isendrecv(both.0, both.1)?.into(), Some(received(other, Tag(4), 5)), once),
        (generalized(world, freed), Some(Status { bytes: 77, ..Status::EMPTY }), once),
        (Request::null(), None, once),
        (world.barrier_init(&info)?.into(), None, again),
        (stored(6)?.into(), None, again),
        (
            world.irecv(vec![0u8], PROC_NULL, TAG)?.into(),
            Some(Status { source: Source::Rank(PROC_NULL), ..Status::EMPTY }),
            once,
        ),
    ];
    if me == 1 {
        thread::sleep(Duration::from_millis(2));
    }
    members.push((world.isend(vec![1u32; 7], other, TAG)?.into(), empty, once));
    let sender = world.send_init(vec![2u16; 3], other, Tag(5))?;
    members.push((sender.start()?.into(), empty, again));
    Random(seed).shuffle(&mut members);
    Ok(members)
}

/// Whether the requests became what they were to become.
fn check_ends(requests: &mut [Request], ends: &[(Option<Status>, Then)]) {
    for (request, (_, then)) in requests.iter_mut().zip(ends) {
        assert!(!request.is_active(), "{request:?}");
        assert_eq!(request.is_null(), *then == Then::Null, "{request:?}");
        assert_eq!(request.is_persistent(), *then == Then::Inactive, "{request:?}");
    }
    // Nothing is left: each call says so, at once.
    let (mut statuses, mut found) = (vec![], vec![]);
    assert!(raw::wait_any(requests).is_none());
    assert!(matches!(raw::test_any(requests), Poll::Ready(None)));
    assert!(matches!(raw::get_status_any(requests), Poll::Ready(None)));
    assert_eq!(raw::wait_some(requests, &mut found).expect("no error"), None);
    assert_eq!(raw::test_some(requests, &mut found).expect("no error"), None);
    assert_eq!(raw::get_status_some(requests, &mut found).expect("no error"), None);
    for request in requests.iter_mut() {
        assert_eq!(request.wait().expect("no error"), Status::EMPTY);
        assert_eq!(request.test().expect("no error"), Some(Status::EMPTY));
        assert_eq!(request.get_status().expect("no error"), Some(Status::EMPTY));
    }
    raw::wait_all(requests, &mut statuses).expect("no error");
    assert_eq!(statuses, vec![Status::EMPTY; requests.len()]);
    assert!(raw::test_all(requests, &mut statuses).expect("no error"));
    assert!(raw::get_status_all(requests, &mut statuses).expect("no error"));
    assert_eq!(statuses, vec![Status::EMPTY; requests.len()]);
}

/// Completes one of each kind by a way of completing that names what it completes.
fn complete_one_of_each(
    freed: &'static AtomicUsize,
    complete: impl Fn(&mut [Request]) -> Result<Vec<(usize, Status)>> + Sync,
) {
    for seed in 0..6 {
        freed.store(0, Ordering::SeqCst);
        on_ranks(2, |world| {
            let members = one_of_each(world, seed, freed)?;
            let (mut requests, mut ends) = (vec![], vec![]);
            for (request, status, then) in members {
                requests.push(request);
                ends.push((status, then));
            }
            let mut told = vec![None; ends.len()];
            while ends.iter().zip(&told).any(|((status, _), told)| status != told) {
                for (at, status) in complete(&mut requests)? {
                    assert_eq!(told[at].replace(status), None, "seed {seed}: {at} named again");
                    assert_eq!(ends[at].0, Some(status), "seed {seed}: the status of {at}");
                }
            }
            check_ends(&mut requests, &ends);
            world.barrier()
        });
        assert_eq!(freed.load(Ordering::SeqCst), 2, "each generalized one is freed once");
    }
}

/// Those of a whole array that were under way.
fn named(statuses: Vec<Status>, was_active: &[bool]) -> Vec<(usize, Status)> {
    let all = statuses.into_iter().enumerate();
    all.filter(|&(at, status)| {
        assert!(was_active[at] || status == Status::EMPTY, "nothing was done with {at}");
        was_active[at]
    })
    .collect()
}

fn which_are_active(requests: &[Request]) -> Vec<bool> {
    requests.iter().map(Request::is_active).collect()
}

/// spec: 27, 29, 31, 32, 33, 34, 35, 40, 99
#[test]
fn wait_all_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let (active, mut statuses) = (which_are_active(requests), vec![]);
        raw::wait_all(requests, &mut statuses)?;
        Ok(named(statuses, &active))
    });
}

/// spec: 31, 32, 33, 34, 35, 99
#[test]
fn wait_any_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let (at, status) = raw::wait_any(requests).expect("some are active");
        Ok(vec![(at, status?)])
    });
}

/// spec: 31, 32, 33, 34, 35, 99
#[test]
fn wait_some_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let mut found = vec![];
        let count = raw::wait_some(requests, &mut found)?;
        assert!(count.is_some_and(|count| count > 0 && count == found.len()));
        Ok(found)
    });
}

/// spec: 31, 32, 33, 35, 99
#[test]
fn test_all_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let (active, mut statuses) = (which_are_active(requests), vec![]);
        if !raw::test_all(requests, &mut statuses)? {
            assert_eq!(which_are_active(requests), active, "all or nothing");
            thread::yield_now();
            return Ok(vec![]);
        }
        Ok(named(statuses, &active))
    });
}

/// spec: 31, 32, 33, 34, 35, 99
#[test]
fn test_any_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| match raw::test_any(requests) {
        Poll::Pending => {
            thread::yield_now();
            Ok(vec![])
        }
        Poll::Ready(found) => {
            let (at, status) = found.expect("some are active");
            Ok(vec![(at, status?)])
        }
    });
}

/// spec: 31, 32, 33, 34, 35, 99
#[test]
fn test_some_completes_every_kind() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let mut found = vec![];
        let count = raw::test_some(requests, &mut found)?;
        assert_eq!(count, Some(found.len()));
        thread::yield_now();
        Ok(found)
    });
}

/// spec: 35, 99
#[test]
fn single_calls_complete_every_kind_in_any_order() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let active = which_are_active(requests);
        let mut told = vec![];
        for (at, request) in requests.iter_mut().enumerate().rev().filter(|&(at, _)| active[at]) {
            told.push((at, request.wait()?));
        }
        Ok(told)
    });
    complete_one_of_each(&FREED, |requests| {
        let active = which_are_active(requests);
        let mut told = vec![];
        for (at, request) in requests.iter_mut().enumerate().filter(|&(at, _)| active[at]) {
            told.extend(request.test()?.map(|status| (at, status)));
        }
        thread::yield_now();
        Ok(told)
    });
}

/// Asking completes nothing, says the same again, and moves operations on.
///
/// spec: 36, 99
#[test]
fn asking_for_a_status_leaves_the_request_as_it_is() {
    static FREED: AtomicUsize = AtomicUsize::new(0);
    complete_one_of_each(&FREED, |requests| {
        let active = which_are_active(requests);
        let mut told = vec![None; requests.len()];
        while told.iter().zip(&active).any(|(told, active)| *active && told.is_none()) {
            for (request, told) in requests.iter_mut().zip(&mut told) {
                let status = request.get_status()?;
                assert!(told.is_none() || *told == status, "no longer the same");
                *told = status;
            }
            thread::yield_now();
        }
        assert_eq!(which_are_active(requests), active);
        let (mut statuses, mut found) = (vec![], vec![]);
        for _ in 0..2 {
            assert!(raw::get_status_all(requests, &mut statuses)?);
            assert_eq!(statuses.iter().copied().map(Some).collect::<Vec<_>>(), told);
            let some = raw::get_status_some(requests, &mut found)?;
            assert_eq!(some, Some(active.iter().filter(|&&active| active).count()));
            assert!(found.iter().all(|&(at, status)| active[at] && told[at] == Some(status)));
            let Poll::Ready(Some((first, status))) = raw::get_status_any(requests) else {
                panic!("all are complete");
            };
            assert_eq!(
                (Some(first), Some(status?)),
                (found.first().map(|each| each.0), told[first])
            );
        }
        assert_eq!(which_are_active(requests), active);
        let active = requests.iter_mut().enumerate().filter(|(_, request)| request.is_active());
        active.map(|(at, request)| Ok((at, request.wait()?))).collect()
    });
}

/// spec: 36
#[test]
fn get_status_says_no_until_there_is_one() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let mut request: Request = world.irecv(vec![0u8; 4], other, TAG)?.into();
        assert_eq!(request.get_status()?, None);
        assert!(!raw::get_status_all(std::slice::from_mut(&mut request), &mut vec![])?);
        let array = std::slice::from_mut(&mut request);
        assert!(raw::get_status_any(array).is_pending());
        assert_eq!(raw::get_status_some(array, &mut vec![])?, Some(0));
        assert!(raw::test_any(array).is_pending());
        assert_eq!(raw::test_some(array, &mut vec![])?, Some(0));
        world.barrier()?;
        world.send(&[1u8, 2, 3], other, TAG)?;
        while request.get_status()?.is_none() {
            thread::yield_now();
        }
        assert_eq!(request.get_status()?, Some(received(other, TAG, 3)));
        assert_eq!(request.wait()?, received(other, TAG, 3));
        assert!(request.is_null());
        Ok(())
    });
}

/// spec: 57, 58
#[test]
fn active_collectives_cannot_be_freed() {
    on_ranks(2, |world| {
        let mut again: Request = world.allreduce_init(vec![1u8], Sum, &Info::new())?.into();
        for _ in 0..2 {
            // Rank 1 joins when rank 0 has tried to free what cannot be complete.
            if world.rank() == 1 {
                world.recv(&mut [0u8; 0], 0, TAG)?;
            }
            again.start()?;
            let mut once: Request = world.iallreduce(vec![1u8], Sum)?.into();
            if world.rank() == 0 {
                for request in [&mut again, &mut once] {
                    let refused = request.free().expect_err("it is under way");
                    assert_eq!(refused.class(), ErrorClass::Request);
                    assert!(refused.to_string().contains("is of an active collective"));
                    assert!(request.is_active(), "unharmed");
                }
                world.send(&[0u8; 0], 1, TAG)?;
            }
            assert_eq!(again.wait()?, Status::EMPTY);
            assert_eq!(once.wait()?, Status::EMPTY);
        }
        again.free()?;
        assert!(again.is_null());
        assert_eq!(class(again.free()), Some(ErrorClass::Request));
        Ok(())
    });
}

/// spec: 57, 58
#[test]
fn collectives_that_are_known_to_be_complete_can_be_freed() {
    on_ranks(2, |world| {
        let mut again: Request = world.allreduce_init(vec![1u8], Sum, &Info::new())?.into();
        again.start()?;
        let mut once: Request = world.iallreduce(vec![1u8], Sum)?.into();
        for request in [&mut again, &mut once] {
            while request.get_status()?.is_none() {
                thread::yield_now();
            }
            request.free()?;
            assert!(request.is_null());
        }
        world.barrier()
    });
}

/// spec: 59
#[test]
fn collectives_cannot_be_cancelled() {
    on_ranks(2, |world| {
        let mut once: Request = world.iallreduce(vec![1u8; 4], Sum)?.into();
        let mut again: Request = world.barrier_init(&Info::new())?.into();
        assert_eq!(class(again.cancel()), Some(ErrorClass::Request));
        again.start()?;
        assert_eq!(class(again.cancel()), Some(ErrorClass::Request));
        assert_eq!(class(once.cancel()), Some(ErrorClass::Request));
        assert_eq!(again.wait()?, Status::EMPTY);
        assert_eq!(once.wait()?, Status::EMPTY);
        assert_eq!(class(Request::null().cancel()), Some(ErrorClass::Request));
        let mut typed = world.iallreduce(vec![1u8], Sum)?;
        assert_eq!(class(typed.cancel()), Some(ErrorClass::Request));
        assert_eq!(typed.wait()?, [2]);
        let mut running = world.allreduce_init(vec![1u8], Sum, &Info::new())?.start()?;
        assert_eq!(class(running.cancel()), Some(ErrorClass::Request));
        assert_eq!(running.wait()?.output(), [2]);
        Ok(())
    });
}

/// spec: 46, 60
#[test]
fn only_inactive_persistent_requests_can_be_started() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let mut receive: Request = world.recv_init(vec![0u8], other, TAG)?.into();
        let mut sum: Request = world.allreduce_init(vec![1u8], Sum, &Info::new())?.into();
        for request in [&mut receive, &mut sum] {
            request.start()?;
            assert_eq!(class(request.start()), Some(ErrorClass::Request));
            assert!(request.is_active(), "unharmed");
        }
        let mut once: Request = world.isend(vec![1u8], other, TAG)?.into();
        assert_eq!(class(once.start()), Some(ErrorClass::Request));
        assert_eq!(class(Request::null().start()), Some(ErrorClass::Request));
        let mut all = [receive, sum, once];
        assert_eq!(class(raw::start_all(&mut all)), Some(ErrorClass::Request));
        raw::wait_all(&mut all, &mut vec![])?;
        // One that cannot be started keeps the others from being started.
        assert_eq!(class(raw::start_all(&mut all)), Some(ErrorClass::Request));
        assert_eq!(which_are_active(&all), [false; 3]);
        let [mut receive, ..] = all;
        receive.free()?;
        assert_eq!(class(receive.start()), Some(ErrorClass::Request), "freed");
        Ok(())
    });
}

#[test]
fn a_request_tells_what_its_operation_does() {
    on_ranks(2, |world| {
        let sum = world.allreduce_init((vec![1], vec![0]), Sum, &Info::new())?;
        let told = Request::from(sum).explain();
        assert!(told.starts_with("allreduce_init: "), "{told}");
        assert_eq!(Request::null().explain(), "no operation");
        Ok(())
    });
}

/// spec: 24, 58
#[test]
fn a_message_whose_request_is_freed_arrives() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            for length in [1, 300_000] {
                let mut send: Request = world.isend(vec![5u8; length], 1, TAG)?.into();
                send.free()?;
                assert!(send.is_null());
                let mut again: Request = world.send_init(vec![6u8; length], 1, TAG)?.into();
                again.start()?;
                again.free()?;
            }
        } else {
            thread::sleep(Duration::from_millis(10));
            for length in [1, 300_000] {
                for value in [5, 6] {
                    let mut data = vec![0u8; length];
                    assert_eq!(world.recv(&mut data, 0, TAG)?.bytes, length);
                    assert!(data.iter().all(|&byte| byte == value));
                }
            }
        }
        Ok(())
    });
}

/// spec: 28, 37, 63
#[test]
fn an_error_among_several_is_in_its_status() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let start = || -> Result<Vec<Request>> {
            let set = vec![
                world.irecv(vec![0u8; 8], other, Tag(1))?.into(),
                world.irecv(vec![0u8; 2], other, Tag(2))?.into(),
                Request::null(),
                world.iallreduce(vec![1u8], Sum)?.into(),
            ];
            world.barrier()?;
            world.send(&[1u8; 4], other, Tag(1))?;
            world.send(&[1u8; 4], other, Tag(2))?;
            world.barrier()?;
            Ok(set)
        };
        let error = Some(ErrorClass::Truncate.into());
        let truncated = Status { error, ..received(other, Tag(2), 0) };
        let all = [received(other, Tag(1), 4), truncated, Status::EMPTY, Status::EMPTY];
        let mut statuses = vec![];
        let mut set = start()?;
        let told = raw::wait_all(&mut set, &mut statuses);
        assert_eq!((class(told), told_of(&statuses)), (Some(ErrorClass::InStatus), all.to_vec()));
        assert!(set.iter().all(Request::is_null), "completed nevertheless");
        let mut set = start()?;
        let told = loop {
            match raw::test_all(&mut set, &mut statuses) {
                Ok(false) => thread::yield_now(),
                told => break told,
            }
        };
        assert_eq!((class(told), told_of(&statuses)), (Some(ErrorClass::InStatus), all.to_vec()));
        for complete in [raw::wait_some, raw::test_some] {
            let (mut set, mut found, mut seen) = (start()?, vec![], vec![]);
            while set.iter().any(Request::is_active) {
                let told = complete(&mut set, &mut found);
                let has_failed = found.iter().any(|(_, status)| status.error.is_some());
                assert_eq!(class(told), has_failed.then_some(ErrorClass::InStatus));
                seen.extend(found.iter().map(|(at, status)| (*at, with_class(status))));
            }
            seen.sort_unstable_by_key(|(at, _)| *at);
            assert_eq!(seen, [(0, all[0]), (1, all[1]), (3, all[3])]);
        }
        // A call that completes one returns its error, and leaves the status alone.
        let mut set = start()?;
        let mut errors: Vec<(usize, Option<ErrorClass>)> = vec![];
        while let Some((at, told)) = raw::wait_any(&mut set) {
            assert!(told.as_ref().is_ok_and(|status| status.error.is_none()) || at == 1);
            errors.push((at, class(told)));
        }
        errors.sort_unstable_by_key(|(at, _)| *at);
        assert_eq!(errors, [(0, None), (1, Some(ErrorClass::Truncate)), (3, None)]);
        Ok(())
    });
}

/// spec: 47, 48
#[test]
fn persistent_operations_of_all_kinds_start_together_in_any_order() {
    on_ranks(2, |world| {
        let (me, other) = (world.rank(), 1 - world.rank());
        let alone = world.split(Some(me as u32), 0)?.expect("a colour was given");
        let info = Info::new();
        let mut requests: Vec<Request> = vec![
            world.allreduce_init(vec![1u64], Sum, &info)?.into(),
            world.barrier_init(&info)?.into(),
            alone.allreduce_init(vec![1u64], Sum, &info)?.into(),
            world.send_init(vec![1u8; 3], other, TAG)?.into(),
            world.ssend_init(vec![1u8; 3], other, Tag(8))?.into(),
            world.recv_init(vec![1u8; 3], other, TAG)?.into(),
            world.recv_init(vec![1u8; 3], ANY_SOURCE, Tag(8))?.into(),
            world.recv_init(vec![1u8; 3], PROC_NULL, ANY_TAG)?.into(),
        ];
        let mut random = Random(me as u64);
        let mut found = vec![];
        for _ in 0..200 {
            random.shuffle(&mut requests);
            raw::start_all(&mut requests)?;
            let mut open = requests.len();
            while let Some(count) = raw::wait_some(&mut requests, &mut found)? {
                open -= count;
            }
            assert_eq!(open, 0);
        }
        Ok(())
    });
}

/// spec: 41, 64
#[test]
fn inactive_requests_are_freed_with_the_world() {
    on_ranks(2, |world| {
        let mut left: Vec<Request> = (0..100)
            .map(|_| Ok(world.allreduce_init(vec![1u8], Sum, &Info::new())?.into()))
            .collect::<Result<_>>()?;
        left.push(world.recv_init(vec![0u8], ANY_SOURCE, ANY_TAG)?.into());
        if world.rank() == 0 {
            left.truncate(40);
        }
        for request in left.iter_mut().take(7) {
            request.free()?;
        }
        world.barrier()
    });
}

/// spec: 65
#[test]
fn an_active_receive_does_not_keep_a_rank_in_the_world() {
    on_ranks(2, |world| {
        let mut stored: Request = world.recv_init(vec![0u8], ANY_SOURCE, TAG)?.into();
        stored.start()?;
        let other = 1 - world.rank();
        drop(Request::from(world.isendrecv((vec![1u8], PROC_NULL, TAG), (vec![0u8], other, TAG))?));
        Ok(())
    });
}

/// Many requests are completed one after the other in reasonable time, whatever the order in which
/// they end.
///
/// spec: 8, 18
#[test]
fn many_requests_complete_one_by_one() {
    const MANY: usize = 20_000;
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let start = || -> Result<Vec<Request>> {
            (0..MANY).map(|at| Ok(world.irecv(vec![0u8], other, Tag(at as u32))?.into())).collect()
        };
        let send = || {
            let mut order: Vec<usize> = (0..MANY).collect();
            Random(world.rank() as u64).shuffle(&mut order);
            order.iter().try_for_each(|&at| world.send(&[7u8], other, Tag(at as u32)))
        };
        let mut requests = start()?;
        send()?;
        let begun = Instant::now();
        let mut times = 0;
        while let Some((at, status)) = raw::wait_any(&mut requests) {
            assert_eq!(status?, received(other, Tag(at as u32), 1));
            times += 1;
        }
        assert_eq!(times, MANY);
        let one_by_one = begun.elapsed();
        let mut requests = start()?;
        world.barrier()?;
        send()?;
        let begun = Instant::now();
        let (mut times, mut found) = (0, vec![]);
        while let Some(count) = raw::wait_some(&mut requests, &mut found)? {
            times += count;
        }
        assert_eq!(times, MANY);
        let in_groups = begun.elapsed();
        assert!(one_by_one < Duration::from_secs(20), "{one_by_one:?}");
        assert!(in_groups < Duration::from_secs(10), "{in_groups:?}");
        Ok(())
    });
}

/// spec: 9
#[test]
fn a_death_ends_all_that_wait() {
    let ended = motet::threads(2, |world| -> Result<()> {
        let mut stored: Request = world.recv_init(vec![0u8], 1, TAG)?.into();
        stored.start()?;
        let others =
            [world.irecv(vec![0u8], 1, TAG)?.into(), Request::null(), world.ibarrier()?.into()];
        let mut set: Vec<Request> = std::iter::once(stored).chain(others).collect();
        if world.rank() == 1 {
            panic!("on purpose");
        }
        let mut statuses = vec![];
        let told = raw::wait_all(&mut set, &mut statuses);
        assert_eq!(class(told), Some(ErrorClass::InStatus));
        assert_eq!(statuses[0].error, Some(ErrorClass::ProcAborted.into()));
        assert!(!set[0].is_active() && set[1].is_null() && set[3].is_null());
        assert_eq!(class(set[0].start()), Some(ErrorClass::ProcAborted));
        Ok(())
    });
    assert_eq!(ended.err().as_ref().map(Error::class), Some(ErrorClass::ProcAborted));
}

/// However few they are, and though they have ended.
#[test]
fn requests_of_several_ranks_are_no_set() {
    let place = Mutex::new(None);
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let receive: Request = world.irecv(vec![0u8], other, TAG)?.into();
        world.send(&[1u8], other, TAG)?;
        if world.rank() == 1 {
            *place.lock().unwrap() = Some(receive);
            return world.barrier();
        }
        world.barrier()?;
        let mut set = vec![receive, place.lock().unwrap().take().expect("put there before")];
        let told = panic::catch_unwind(AssertUnwindSafe(|| raw::wait_all(&mut set, &mut vec![])));
        let reason = told.expect_err("a mistake of the program");
        let text = reason.downcast_ref::<String>().map_or("", String::as_str);
        assert!(text.contains("belong to one rank"), "{text:?}");
        Ok(())
    });
}
