//! Requests and running operations as futures, on executors that know nothing of the library: what
//! moves them is the helper thread of their rank.

mod worlds;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use motet::{ANY_SOURCE, ErrorKind, Info, Max, Request, Result, Sum, Tag, World};
use worlds::{Watchdog, on_ranks};

const TAG: Tag = Tag(2);

/// Wakes a thread that parks, and counts how often.
struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

fn unpark() -> Arc<Unpark> {
    Arc::new(Unpark(thread::current(), AtomicUsize::new(0)))
}

/// Waits for a future. Between two polls the thread is parked, and makes no progress at all.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(unpark());
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// All of them, polled together each time that one has woken.
async fn join<F: Future + Unpin>(futures: Vec<F>) -> Vec<F::Output> {
    let mut open: Vec<(usize, F)> = futures.into_iter().enumerate().collect();
    let mut ready = Vec::new();
    poll_fn(|context| {
        open.retain_mut(|(at, future)| match Pin::new(future).poll(context) {
            Poll::Ready(output) => {
                ready.push((*at, output));
                false
            }
            Poll::Pending => true,
        });
        if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    ready.sort_by_key(|&(at, _)| at);
    ready.into_iter().map(|(_, output)| output).collect()
}

/// Every kind in one async function.
async fn all_kinds(world: &World) -> Result<()> {
    let (me, other) = (world.rank(), 1 - world.rank());
    let mut sum = world.allreduce_init(vec![me], Sum, &Info::new())?;
    for round in 0..50 {
        world.ibarrier()?.await?;
        assert_eq!(world.iallreduce(vec![me], Max)?.await?, [1]);
        assert_eq!(world.ibcast(vec![me; 10_000], 1)?.await?, [1; 10_000]);
        assert_eq!(world.ireduce((vec![me], vec![9]), Sum, 0)?.await?.1, [1 + 8 * me]);
        assert_eq!(world.iallgather((vec![me], vec![9, 9]))?.await?.1, [0, 1]);
        let swap = world.iexchange((vec![me; 3], vec![9; 3]), &[other], &[other])?;
        assert_eq!(swap.await?.1, [other; 3]);
        sum.input_mut()[0] = me + round;
        sum = sum.start()?.await?;
        assert_eq!(sum.output(), [1 + 2 * round]);
        let incoming = world.irecv(vec![9; 1], ANY_SOURCE, TAG)?;
        world.isend(vec![me], other, TAG)?.await?;
        assert_eq!(incoming.await?, [other]);
    }
    Ok(())
}

/// spec: 31, 100
#[test]
fn every_kind_can_be_awaited() {
    on_ranks(2, |world| block_on(all_kinds(world)));
}

/// spec: 8, 18, 100
#[test]
fn many_futures_are_joined() {
    on_ranks(3, |world| {
        let begin = |at: usize| world.iallreduce(vec![at; 1 + at % 900], Sum);
        let sums: Vec<Request<Vec<usize>>> = (0..2000).map(begin).collect::<Result<_>>()?;
        for (at, sum) in block_on(join(sums)).into_iter().enumerate() {
            assert!(sum?.iter().all(|&found| found == 3 * at));
        }
        Ok(())
    });
}

/// Nobody of rank 0 is in the library; its helper does what rank 1 waits for.
///
/// spec: 100
#[test]
fn others_are_served_while_a_future_is_pending() {
    on_ranks(2, |world| {
        if world.rank() == 1 {
            for round in 0..100 {
                assert_eq!(world.iallreduce(vec![round; 2000], Sum)?.wait()?, [2 * round; 2000]);
            }
            return world.send(&[1u8], 0, TAG);
        }
        let sums: Vec<_> = (0..100)
            .map(|round| world.iallreduce(vec![round; 2000], Sum))
            .collect::<Result<_>>()?;
        // The only future that is polled is not one of those.
        block_on(world.irecv(vec![0u8], 1, TAG)?)?;
        sums.into_iter().try_for_each(|sum| sum.wait().map(drop))
    });
}

/// As by a `select`: whichever comes first, the other future is dropped while it is pending.
#[test]
fn a_pending_future_can_be_dropped() {
    on_ranks(2, |world| {
        for round in 0..200u32 {
            let never = world.irecv(vec![0u8; 4], 1 - world.rank(), Tag(99))?;
            let sum = world.iallreduce(vec![round; 3], Sum)?;
            let mut both = (never, sum);
            let (never, sum) = &mut both;
            let first = poll_fn(|context| {
                assert!(Pin::new(&mut *never).poll(context).is_pending());
                Pin::new(&mut *sum).poll(context)
            });
            assert_eq!(block_on(first)?, [2 * round; 3]);
            drop(both);
        }
        world.barrier()
    });
}

/// A task of [`Pool`]: the waker holds the task, and the task holds the future.
struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    pool: Arc<Pool>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let pool = self.pool.clone();
        pool.queue.lock().expect("no panic").push_back(self);
        pool.is_filled.notify_one();
    }
}

/// A small executor with several threads.
#[derive(Default)]
struct Pool {
    queue: Mutex<VecDeque<Arc<Task>>>,
    is_filled: Condvar,
}

impl Pool {
    fn spawn(self: &Arc<Self>, future: impl Future<Output = ()> + Send + 'static) {
        let future = Mutex::new(Some(Box::pin(future) as _));
        Arc::new(Task { future, pool: self.clone() }).wake();
    }

    /// Runs tasks until `tasks` of them, over all threads, are finished.
    fn work(&self, tasks: usize, finished: &AtomicUsize) {
        while finished.load(Ordering::SeqCst) < tasks {
            let queue = self.queue.lock().expect("no panic");
            let waited =
                self.is_filled
                    .wait_timeout_while(queue, Duration::from_millis(5), |queue| queue.is_empty());
            let Some(task) = waited.expect("no panic").0.pop_front() else { continue };
            let waker = Waker::from(task.clone());
            let mut future = task.future.lock().expect("no panic");
            if let Some(running) = &mut *future
                && running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
            {
                *future = None;
                finished.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// spec: 17
#[test]
fn futures_move_between_the_threads_of_an_executor() {
    const TASKS: usize = 8;
    on_ranks(2, |world| {
        let (pool, finished) = (Arc::new(Pool::default()), AtomicUsize::new(0));
        for task in 0..TASKS {
            let comm = world.dup()?;
            pool.spawn(async move {
                for round in 0..100 {
                    let sum = comm.iallreduce(vec![task + round; 4], Sum).unwrap();
                    assert_eq!(sum.await.unwrap(), [2 * (task + round); 4]);
                }
            });
        }
        thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(|| pool.work(TASKS, &finished))));
        });
        Ok(())
    });
}

/// Only the waker of the last poll counts.
#[test]
fn a_waker_can_be_replaced() {
    on_ranks(2, |world| {
        if world.rank() == 1 {
            thread::sleep(Duration::from_millis(20));
            return world.send(&[1u8], 0, TAG);
        }
        let mut incoming = world.irecv(vec![0u8], 1, TAG)?;
        let (first, second) = (unpark(), unpark());
        for waker in [&first, &first, &second] {
            let waker = Waker::from(waker.clone());
            assert!(Pin::new(&mut incoming).poll(&mut Context::from_waker(&waker)).is_pending());
        }
        while second.1.load(Ordering::Relaxed) == 0 {
            thread::park_timeout(Duration::from_millis(10));
        }
        assert_eq!(first.1.load(Ordering::Relaxed), 0);
        incoming.wait().map(drop)
    });
}

/// A waker whose task has nobody left but the waker, as with a channel that has been closed.
struct Last {
    ended: mpsc::Sender<()>,
    request: Mutex<Option<Request<Vec<u8>>>>,
}

impl Wake for Last {
    fn wake(self: Arc<Self>) {
        // The last handle of the task: its request is dropped where this is called.
        drop(self);
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        // As the future of a task goes when its last handle goes.
        self.request.get_mut().expect("no panic").take();
        let _ = self.ended.send(());
    }
}

/// Wakers may drop requests, so they must not be woken under a lock.
#[test]
fn a_waker_may_drop_other_requests() {
    on_ranks(2, |world| {
        if world.rank() == 1 {
            thread::sleep(Duration::from_millis(20));
            world.send(&[1u8], 0, TAG)?;
            return world.barrier();
        }
        let (ended, end) = mpsc::channel();
        let other = world.irecv(vec![0u8], 1, Tag(7))?;
        let task = Arc::new(Last { ended, request: Mutex::new(Some(other)) });
        let mut incoming = world.irecv(vec![0u8], 1, TAG)?;
        let waker = Waker::from(task);
        assert!(Pin::new(&mut incoming).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        end.recv().expect("the waker was dropped");
        incoming.wait()?;
        world.barrier()
    });
}

#[test]
fn a_world_ends_while_its_helper_is_at_work() {
    for _ in 0..100 {
        on_ranks(2, |world| {
            let never = world.irecv(vec![0u8], 1 - world.rank(), TAG)?;
            let mut never = pin!(never);
            let waker = Waker::from(unpark());
            assert!(never.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            Ok(())
        });
    }
}

/// spec: 9
#[test]
fn a_future_ends_with_an_error_when_its_peer_dies() {
    let _watchdog = Watchdog::start();
    let ended = motet::threads(2, |world| {
        if world.rank() == 1 {
            thread::sleep(Duration::from_millis(20));
            panic!("on purpose");
        }
        let begun = (0..10).map(|_| world.ibarrier()).collect::<Result<Vec<_>>>().unwrap();
        for outcome in block_on(join(begun)) {
            assert!(matches!(outcome.unwrap_err().kind(), ErrorKind::PeerFailed(_)));
        }
    });
    assert_eq!(
        ended.unwrap_err().to_string(),
        "rank 1 panicked; no operation that waits for it can complete"
    );
}
