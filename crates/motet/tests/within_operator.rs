//! Operators, error handlers and wakers that call the library. An operator must not: each call is
//! refused by name, whatever it is, and whoever moves the operation. The others may.

mod worlds;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use motet::op::{self, Operator};
use motet::{
    ANY_SOURCE, Completer, Error, ErrorHandler, ErrorKind, Info, Message, Request, Result,
    Settings, Sum, Tag, World,
};
use worlds::Watchdog;

const TAG: Tag = Tag(3);

/// What operators find that was begun outside of them.
#[derive(Default)]
struct Begun {
    request: Option<Request<Vec<i32>>>,
    message: Option<Message>,
    completer: Option<Completer>,
}

type Call = fn(&World, &mut Begun) -> Result<()>;

/// What an operator may try, and the call that the error names, if it is one of a communicator.
const CALLS: [(&str, Option<&str>, Call); 26] = [
    ("barrier", Some("barrier"), |world, _| world.barrier()),
    ("bcast", Some("bcast"), |world, _| world.bcast(&mut [1], 0)),
    ("allreduce", Some("allreduce"), |world, _| world.allreduce_one(1, Sum).map(drop)),
    ("iallreduce", Some("iallreduce"), |world, _| world.iallreduce(vec![1], Sum).map(drop)),
    ("init", Some("allreduce_init"), |world, _| {
        world.allreduce_init(vec![1], Sum, &Info::new()).map(drop)
    }),
    ("send", Some("send"), |world, _| world.send(&[1], 0, TAG)),
    ("long send", Some("send"), |world, _| world.send(&[1; 100_000], 0, TAG)),
    ("recv", Some("recv"), |world, _| world.recv(&mut [1], ANY_SOURCE, TAG).map(drop)),
    ("isend", Some("isend"), |world, _| world.isend(vec![1], 0, TAG).map(drop)),
    ("irecv", Some("irecv"), |world, _| world.irecv(vec![1], 0, TAG).map(drop)),
    ("probe", Some("probe"), |world, _| world.probe(ANY_SOURCE, TAG).map(drop)),
    ("iprobe", Some("iprobe"), |world, _| world.iprobe(ANY_SOURCE, TAG).map(drop)),
    ("mprobe", Some("mprobe"), |world, _| world.mprobe(ANY_SOURCE, TAG).map(drop)),
    ("sendrecv", None, |world, _| world.sendrecv((&[1], 0, TAG), (&mut [1], 0, TAG)).map(drop)),
    ("send_init", Some("send_init"), |world, _| world.send_init(vec![1], 0, TAG).map(drop)),
    ("dup", Some("dup"), |world, _| world.dup().map(drop)),
    ("split", None, |world, _| world.split(Some(0), 0).map(drop)),
    ("sparse_exchange", Some("sparse_exchange"), |world, _| {
        world.sparse_exchange([(0, &[1][..])]).map(drop)
    }),
    ("scope", None, |world, _| {
        let mut buffer = [1];
        world.scope(|scope| scope.irecv(&mut buffer[..], 0, TAG).map(drop))
    }),
    ("wait", Some("irecv"), |_, begun| {
        begun.request.take().map_or(Ok(()), |request| request.wait().map(drop))
    }),
    ("test", Some("irecv"), |_, begun| {
        begun.request.as_mut().map_or(Ok(()), |request| request.test().map(drop))
    }),
    ("cancel", Some("irecv"), |_, begun| {
        begun.request.as_mut().map_or(Ok(()), |request| request.cancel())
    }),
    ("poll", Some("irecv"), |_, begun| {
        let request = begun.request.as_mut().expect("there is one");
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(request).poll(&mut context) {
            Poll::Ready(ended) => ended.map(drop),
            Poll::Pending => Ok(()),
        }
    }),
    ("wait_any", None, |_, begun| {
        begun.request.as_mut().map_or(Ok(()), |request| motet::wait_any(&mut [request]).map(drop))
    }),
    ("complete", None, |_, begun| {
        begun.completer.as_ref().map_or(Ok(()), |completer| completer.complete())
    }),
    ("mrecv", None, |_, begun| {
        begun.message.take().map_or(Ok(()), |message| message.mrecv(&mut [0]).map(drop))
    }),
];

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who moves the operation that has the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    Caller,
    Helper,
}

fn settings(mover: Mover) -> Settings {
    match mover {
        Mover::Caller => Settings::new(),
        Mover::Helper => Settings::new().progress_thread(),
    }
}

/// Sums that call the function; what came of it is noted.
fn summing(
    world: &Arc<World>,
    begun: &Arc<Mutex<Begun>>,
    call: Call,
) -> (impl Operator<i32>, Arc<Mutex<Vec<Result<()>>>>) {
    let (world, begun, seen) =
        (Arc::downgrade(world), begun.clone(), Arc::<Mutex<Vec<_>>>::default());
    let noted = seen.clone();
    let combine = move |left: i32, right: i32| {
        if let Some(world) = world.upgrade() {
            let came = call(&world, &mut lock(&begun));
            lock(&seen).push(came);
        }
        left + right
    };
    (op::commutative(combine), noted)
}

/// Something that is under way while the operator runs: a receive, a message, a completer.
fn begin(world: &World) -> Result<Begun> {
    let next = (world.rank() + 1) % world.size();
    world.send(&[7], next, Tag(4))?;
    let message = Some(world.mprobe(ANY_SOURCE, Tag(4))?);
    let (request, completer) = world.generalized();
    drop(request);
    let request = Some(world.irecv(vec![0], next, TAG)?);
    Ok(Begun { request, message, completer: Some(completer) })
}

/// Panics unless each of the calls was refused by name.
fn refused(came: &[Result<()>], name: &str, call: Option<&str>) {
    for came in came {
        let error = came.as_ref().expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::WithinOperator), "{name}: {error}");
        assert!(error.to_string().contains("operator of a reduction"), "{name}: {error}");
        assert!(call.is_none() || error.call() == call, "{name}: {error}");
    }
}

/// One world for each call: an operator in the three forms of a reduction.
fn tries(mover: Mover) {
    let _watchdog = Watchdog::with(Duration::from_secs(100));
    for (name, names, call) in CALLS {
        let ended = motet::threads_with(2, &settings(mover), |world| -> Result<usize> {
            let world = Arc::new(world);
            let begun = Arc::new(Mutex::new(begin(&world)?));
            let operator = || summing(&world, &begun, call);
            let (operator_of_one, seen) = operator();
            assert_eq!(world.allreduce_one(1, operator_of_one)?, 2, "{name}");
            let mut came = std::mem::take(&mut *lock(&seen));
            let (operator_later, seen) = operator();
            let request = world.iallreduce(vec![1; 3], operator_later)?;
            if mover == Mover::Helper {
                thread::sleep(Duration::from_millis(20)); // so that it finds something to do
            }
            assert_eq!(request.wait()?, [2; 3], "{name}");
            came.append(&mut lock(&seen));
            let (operator_again, seen) = operator();
            let mut again = world.allreduce_init(vec![1], operator_again, &Info::new())?;
            again.run()?;
            came.append(&mut lock(&seen));
            // What takes what was begun finds nothing the second time.
            let first = if matches!(name, "wait" | "mrecv") { 1 } else { came.len() };
            refused(&came[..first.min(came.len())], name, names);
            // Nothing has happened to the library.
            world.barrier()?;
            world.send(&[5], (world.rank() + 1) % 2, TAG)?;
            assert_eq!(world.allreduce_one(1, Sum)?, 2, "{name}");
            if let Some(request) = lock(&begun).request.take() {
                assert_eq!(request.wait()?, [5], "{name}");
            }
            Ok(came.len())
        });
        let ended = ended.unwrap_or_else(|error| panic!("{name}: {error}"));
        let calls = ended.into_iter().map(|calls| calls.unwrap_or_else(|error| panic!("{error}")));
        assert!(calls.sum::<usize>() > 0, "{name}: no operator ran");
    }
}

#[test]
fn an_operator_that_calls_the_library_gets_an_error() {
    tries(Mover::Caller);
}

#[test]
fn an_operator_that_calls_the_library_gets_an_error_with_a_progress_thread() {
    tries(Mover::Helper);
}

/// What an operator drops is dropped without the library: nothing hangs, and nothing is freed that
/// is still used.
#[test]
fn an_operator_may_drop_what_was_begun() {
    let _watchdog = Watchdog::start();
    for mover in [Mover::Caller, Mover::Helper] {
        let ended = motet::threads_with(2, &settings(mover), |world| -> Result<()> {
            let world = Arc::new(world);
            let begun = Arc::new(Mutex::new(begin(&world)?));
            let copy = Mutex::new(Some(world.dup()?));
            let held = Mutex::new(Some(world.allreduce_init(vec![1], Sum, &Info::new())?));
            let inner = begun.clone();
            let operator = op::commutative(move |left: i32, right: i32| {
                *lock(&inner) = Begun::default();
                drop((lock(&copy).take(), lock(&held).take()));
                left + right
            });
            assert_eq!(world.allreduce_one(1, operator)?, 2);
            world.barrier()?;
            world.send(&[5], (world.rank() + 1) % 2, TAG)?;
            world.barrier()
        });
        ended.unwrap().into_iter().for_each(|ended| ended.unwrap());
    }
}

/// An operator that nothing holds any more may hold the last handles of the rank itself.
#[test]
fn what_an_operator_holds_is_dropped_outside_of_the_library() {
    let _watchdog = Watchdog::start();
    for mover in [Mover::Caller, Mover::Helper] {
        let ended = motet::threads_with(2, &settings(mover), |world| -> Result<()> {
            let copy = world.dup()?;
            let request = Mutex::new(world.irecv(vec![0], 0, TAG)?);
            let operator = op::commutative(move |left: i32, right: i32| {
                assert!(copy.size() == 2 && request.lock().is_ok());
                left + right
            });
            assert_eq!(world.iallreduce(vec![1], operator)?.wait()?, [2]);
            let first = op::commutative(|left: i32, right: i32| left + right);
            assert_eq!(world.iallreduce(vec![1], first)?.wait()?, [2]);
            world.send(&[5], 0, TAG)?;
            world.barrier()
        });
        ended.unwrap().into_iter().for_each(|ended| ended.unwrap());
    }
}

/// Calls what cannot return an error, and so panics with the words of the error.
#[test]
fn what_has_no_result_panics_with_the_same_words() {
    let _watchdog = Watchdog::start();
    for mover in [Mover::Caller, Mover::Helper] {
        let words = Arc::new(Mutex::new(String::new()));
        let ended = motet::threads_with(2, &settings(mover), |world| {
            let world = Arc::new(world);
            let (weak, words) = (Arc::downgrade(&world), words.clone());
            let operator = op::commutative(move |left: i32, right: i32| {
                let Some(world) = weak.upgrade() else { return left + right };
                let begin = std::panic::AssertUnwindSafe(|| drop(world.generalized()));
                let panic = std::panic::catch_unwind(begin).expect_err("it panics");
                *lock(&words) = *panic.downcast::<String>().expect("a text");
                left + right
            });
            assert_eq!(world.allreduce_one(1, operator).unwrap(), 2);
        });
        ended.unwrap();
        assert!(lock(&words).contains("must not call the library"), "{words:?}");
    }
}

/// An error handler may use the library, also for an error of an operation that the helper moves.
#[test]
fn an_error_handler_may_call_the_library() {
    let _watchdog = Watchdog::start();
    for mover in [Mover::Caller, Mover::Helper] {
        let ended = motet::threads_with(2, &settings(mover), |world| -> Result<usize> {
            let world = Arc::new(world);
            let (weak, calls) = (Arc::downgrade(&world), Arc::new(AtomicUsize::new(0)));
            let counted = calls.clone();
            world.set_error_handler(ErrorHandler::user(move |_, _: &Error| {
                let world = weak.upgrade().expect("it is there");
                world.barrier().expect("it may be called");
                assert_eq!(world.allreduce_one(1, Sum).expect("likewise"), 2);
                drop(world.dup().expect("likewise"));
                counted.fetch_add(1, Ordering::Relaxed);
            }));
            assert!(world.send(&[1], 7, TAG).is_err());
            let next = (world.rank() + 1) % 2;
            let short = world.irecv(vec![0u8; 1], next, TAG)?;
            world.send(&[1u8, 2], next, TAG)?;
            assert!(short.wait().is_err(), "it is truncated");
            world.set_error_handler(ErrorHandler::Return);
            Ok(calls.load(Ordering::Relaxed))
        });
        let ended: Vec<usize> = ended.unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(ended, [2, 2], "each has been asked twice");
    }
}

/// A waker that calls the library, on whatever thread it is woken.
struct Calls {
    world: Mutex<Option<Arc<World>>>,
    woken: AtomicUsize,
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        if let Some(world) = lock(&self.world).take() {
            world.iprobe(ANY_SOURCE, TAG).expect("it may be called");
            world.send(&[1u8], world.rank(), Tag(9)).expect("likewise");
            world.recv(&mut [0u8], world.rank(), Tag(9)).expect("likewise");
        }
        self.woken.fetch_add(1, Ordering::Release);
    }
}

#[test]
fn a_waker_may_call_the_library() {
    let _watchdog = Watchdog::start();
    for mover in [Mover::Caller, Mover::Helper] {
        let ended = motet::threads_with(2, &settings(mover), |world| -> Result<()> {
            let world = Arc::new(world);
            let next = (world.rank() + 1) % 2;
            let mut request = world.irecv(vec![0u8], next, TAG)?;
            let held = Mutex::new(Some(world.clone()));
            let calls = Arc::new(Calls { world: held, woken: AtomicUsize::new(0) });
            let waker = Waker::from(calls.clone());
            assert!(Pin::new(&mut request).poll(&mut Context::from_waker(&waker)).is_pending());
            world.barrier()?;
            world.send(&[1u8], next, TAG)?;
            while calls.woken.load(Ordering::Acquire) == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            request.wait().map(drop)?;
            world.barrier()
        });
        ended.unwrap().into_iter().for_each(|ended| ended.unwrap());
    }
}
