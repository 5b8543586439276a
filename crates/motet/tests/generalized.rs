//! Operations outside the library: whoever waits for them, and who is asked what.

mod worlds;

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use motet::raw::{self, Callbacks, Request, Stage, Status};
use motet::{ANY_SOURCE, ANY_TAG, ErrorClass, ErrorKind, Result, Source, Tag, World};
use worlds::{Watchdog, on_ranks};

/// What was asked of an operation, in order.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<&'static str>>>);

impl Asked {
    fn note(&self, what: &'static str) {
        self.0.lock().expect("nobody panics with it").push(what);
    }

    fn so_far(&self) -> Vec<&'static str> {
        self.0.lock().expect("nobody panics with it").clone()
    }
}

/// An operation that notes what is asked of it, and whose status has a source.
fn noting(world: &World, asked: &Asked) -> Request {
    let (query, free, cancel) = (asked.clone(), asked.clone(), asked.clone());
    let callbacks = Callbacks {
        query: Box::new(move |status| {
            query.note("query");
            status.source = Source::Rank(5);
            Ok(())
        }),
        free: Box::new(move || {
            free.note("free");
            Ok(())
        }),
        cancel: Box::new(move |stage| {
            cancel.note(match stage {
                Stage::Pending => "cancel",
                Stage::Complete => "cancel of a complete one",
            });
            Ok(())
        }),
    };
    raw::grequest_start(world, callbacks)
}

/// A thread that sleeps in a wait, for a message that never comes or an operation outside, wakes
/// when another thread completes that.
///
/// spec: 101
#[test]
fn completing_wakes_whoever_sleeps() {
    on_ranks(1, |world| {
        for round in 0..20 {
            let asked = Asked::default();
            let mut set =
                vec![world.irecv(vec![0u8], ANY_SOURCE, ANY_TAG)?.into(), noting(world, &asked)];
            let completer = set[1].completer().expect("a generalized one");
            let (sender, moment) = mpsc::channel();
            thread::scope(|threads| -> Result<()> {
                threads.spawn(move || {
                    // Long enough for the other to lie down.
                    thread::sleep(Duration::from_millis(5 + round % 3));
                    sender.send(Instant::now()).expect("is received");
                    completer.complete().expect("the callbacks return no error");
                });
                let (at, status) = raw::wait_any(&mut set).expect("some are active");
                assert_eq!((at, status?.source), (1, Source::Rank(5)));
                Ok(())
            })?;
            let late = moment.recv().expect("was sent").elapsed();
            assert!(late < Duration::from_millis(700), "woken by chance only, after {late:?}");
            assert_eq!(asked.so_far(), ["query", "free"]);
            set[0].cancel()?;
            assert!(set[0].wait()?.cancelled);
        }
        Ok(())
    });
}

/// spec: 36, 101
#[test]
fn callbacks_are_called_when_it_is_time() -> Result<()> {
    let _watchdog = Watchdog::start();
    let world = motet::init()?;
    // Asked for its status, then waited for.
    let asked = Asked::default();
    let mut request = noting(&world, &asked);
    let completer = request.completer().expect("a generalized one");
    assert_eq!(request.get_status()?, None);
    assert_eq!(request.test()?, None);
    request.cancel()?;
    completer.complete()?;
    completer.complete()?;
    request.cancel()?;
    let status = Status { source: Source::Rank(5), ..Status::EMPTY };
    assert_eq!(request.get_status()?, Some(status));
    assert_eq!(request.get_status()?, Some(status));
    assert_eq!(request.wait()?, status);
    assert!(request.is_null());
    let all = ["cancel", "cancel of a complete one", "query", "query", "query", "free"];
    assert_eq!(asked.so_far(), all);
    // Freed before it is complete: freed when it is. Freed afterwards: at once.
    let asked = Asked::default();
    let mut request = noting(&world, &asked);
    let completer = request.completer().expect("a generalized one");
    request.free()?;
    assert!(request.is_null() && asked.so_far().is_empty());
    completer.complete()?;
    completer.complete()?;
    assert_eq!(asked.so_far(), ["free"]);
    let asked = Asked::default();
    let mut request = noting(&world, &asked);
    request.completer().expect("a generalized one").complete()?;
    request.free()?;
    assert_eq!(asked.so_far(), ["free"]);
    // One without callbacks, as an untyped request.
    let (typed, completer) = world.generalized();
    let mut request = Request::from(typed);
    assert_eq!(request.test()?, None);
    completer.complete()?;
    assert_eq!(request.wait()?, Status::EMPTY);
    // Neither completed nor freed: that is no reason to stay.
    drop(noting(&world, &asked));
    Ok(())
}

/// What a callback says goes wrong is what the call says.
#[test]
fn errors_of_callbacks_are_errors_of_the_call() -> Result<()> {
    let _watchdog = Watchdog::start();
    let world = motet::init()?;
    for faulty in 0..3 {
        let fault = move |here| {
            if here == faulty {
                Err(ErrorKind::Request { problem: "is odd".into() }.into())
            } else {
                Ok(())
            }
        };
        let callbacks = Callbacks {
            query: Box::new(move |_| fault(0)),
            free: Box::new(move || fault(1)),
            cancel: Box::new(move |_| fault(2)),
        };
        let mut request = raw::grequest_start(&world, callbacks);
        request.completer().expect("a generalized one").complete()?;
        assert_eq!(request.cancel().is_err(), faulty == 2);
        let told = request.wait().map_err(|error| error.class());
        assert_eq!(told, if faulty < 2 { Err(ErrorClass::Request) } else { Ok(Status::EMPTY) });
        assert!(request.is_null());
    }
    Ok(())
}

/// A callback may use the library, and what it waits for may be waited for itself.
#[test]
fn callbacks_may_use_the_library() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let inner =
            Arc::new(Mutex::new(Request::from(world.irecv(vec![0u8; 2], other, Tag(1))?)));
        let (of_query, of_cancel) = (inner.clone(), inner.clone());
        let callbacks = Callbacks {
            query: Box::new(move |status| {
                *status = of_query.lock().expect("nobody panics with it").wait()?;
                Ok(())
            }),
            free: Box::new(|| Ok(())),
            cancel: Box::new(move |_| of_cancel.lock().expect("nobody panics with it").cancel()),
        };
        let mut request = raw::grequest_start(world, callbacks);
        let completer = request.completer().expect("a generalized one");
        if world.rank() == 0 {
            request.cancel()?;
            completer.complete()?;
            assert!(request.wait()?.cancelled);
            world.send(&[1u8; 2], 1, Tag(1))?;
        } else {
            completer.complete()?;
            assert_eq!(request.wait()?.bytes, 2);
        }
        world.barrier()
    });
}

/// Many threads complete many operations while one waits for all of them.
///
/// spec: 101
#[test]
fn many_threads_complete_while_one_waits() {
    on_ranks(1, |world| {
        let (mut set, mut completers) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let request = noting(world, &Asked::default());
            completers.push(request.completer().expect("a generalized one"));
            set.push(request);
        }
        thread::scope(|threads| {
            for some in completers.chunks(100) {
                threads.spawn(move || {
                    for completer in some.iter().rev() {
                        completer.complete().expect("the callbacks return no error");
                        thread::yield_now();
                    }
                });
            }
            let (mut found, mut seen) = (vec![], 0);
            while let Some(count) = raw::wait_some(&mut set, &mut found)? {
                seen += count;
            }
            assert_eq!(seen, 400);
            Ok(())
        })
    });
}

struct Flag(AtomicBool, thread::Thread);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
        self.1.unpark();
    }
}

/// spec: 101
#[test]
fn completing_wakes_a_future() -> Result<()> {
    let _watchdog = Watchdog::start();
    let world = motet::init()?;
    let (mut pending, completer) = world.generalized();
    assert!(!pending.test()?);
    let flag = Arc::new(Flag(AtomicBool::new(false), thread::current()));
    let waker = Waker::from(flag.clone());
    let mut context = Context::from_waker(&waker);
    assert!(std::pin::Pin::new(&mut pending).poll(&mut context).is_pending());
    let completed = AtomicUsize::new(0);
    thread::scope(|threads| {
        threads.spawn(|| {
            thread::sleep(Duration::from_millis(5));
            completed.store(1, Ordering::SeqCst);
            completer.complete().expect("there is no callback");
        });
        while !flag.0.load(Ordering::SeqCst) {
            thread::park();
        }
        assert_eq!(completed.load(Ordering::SeqCst), 1);
        let ready = std::pin::Pin::new(&mut pending).poll(&mut context);
        assert!(matches!(ready, Poll::Ready(Ok(()))));
    });
    Ok(())
}
