//! Multiple completions of untyped requests: `MPI_Waitall`, `MPI_Testany` and so on. (MPI 4.1
//! §3.7.5)

use std::sync::Arc;
use std::task::Poll;

use motet_fabric::slab::Id;

use super::request::Inner;
use super::{Request, Status};
use crate::base::error::{Error, ErrorKind, ExceptionId, Result};
use crate::comm::sets::refuse_operator;
use crate::engine::Engine;
use crate::rank::RankContext;

/// Message of the panic for a set with requests of several ranks.
const ONE_RANK: &str = "all requests of a set belong to one rank";

/// Largest number of requests of any kind that are polled one by one. With more, a poll of all
/// operations takes less time.
const AWAITED_SINGLY_MAX: usize = 4;

/// Requests in an order, wherever they lie: a program may keep each in a place of its own.
pub trait RequestList {
    /// The number of requests.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The request at this index.
    ///
    /// # Panics
    /// The index is not below the length.
    fn at(&mut self, index: usize) -> &mut Request;
}

impl<L> RequestList for L
where
    L: AsRef<[Request]> + AsMut<[Request]> + ?Sized,
{
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    #[inline]
    fn at(&mut self, index: usize) -> &mut Request {
        &mut self.as_mut()[index]
    }
}

/// Starts persistent operations: either all or, if one of them cannot be started, none. The order
/// has no meaning. (`MPI_Startall`, MPI 4.1 §3.9)
///
/// # Errors
/// As [`Request::start`], for the first request that cannot be started.
pub fn start_all(requests: &mut (impl RequestList + ?Sized)) -> Result<()> {
    (0..requests.len()).try_for_each(|at| requests.at(at).check_start())?;
    (0..requests.len()).try_for_each(|at| requests.at(at).start())
}

/// Waits until all operations are complete, and writes the statuses in the order of the requests.
/// (`MPI_Waitall`)
///
/// # Errors
/// Some operations failed; their statuses contain the errors. All requests are completed
/// nevertheless. Or the caller is a reduction operator: then no request is completed, and there are
/// no statuses.
pub fn wait_all(
    requests: &mut (impl RequestList + ?Sized),
    statuses: &mut Vec<Status>,
) -> Result<()> {
    statuses.clear();
    let mut complete = end_in_order(requests);
    if complete < requests.len()
        && let Some(core) = core_of(requests)
    {
        refuse_operator()?;
        let ids = awaited(requests, &core);
        core.wait_for(&ids, |engine| {
            complete = collect_from(requests, complete, &core, engine);
            (complete == requests.len()).then_some(())
        });
    }
    tell_all(requests, Request::conclude, statuses)
}

/// Waits until one operation is complete, completes its request, and returns its index and result.
/// `None` if no request is active. (`MPI_Waitany`)
///
/// # Panics
/// Called by a reduction operator.
pub fn wait_any(requests: &mut (impl RequestList + ?Sized)) -> Option<(usize, Result<Status>)> {
    let found = wait_for_one(requests)?;
    Some((found, requests.at(found).conclude()))
}

/// Waits until at least one operation is complete, and completes all that are: writes their indices
/// and statuses, and returns their number. `None` if no request is active. (`MPI_Waitsome`)
///
/// # Errors
/// Some of these operations failed; their statuses contain the errors.
pub fn wait_some(
    requests: &mut (impl RequestList + ?Sized),
    found: &mut Vec<(usize, Status)>,
) -> Result<Option<usize>> {
    found.clear();
    refuse_operator()?;
    let Some(first) = wait_for_one(requests) else { return Ok(None) };
    complete_some(requests, first, Request::conclude, found).map(Some)
}

/// Completes all requests if all operations are complete, and returns whether they are; only then
/// it writes the statuses, in the order of the requests. Makes progress if possible, and never
/// waits. (`MPI_Testall`)
///
/// # Errors
/// As [`wait_all`].
pub fn test_all(
    requests: &mut (impl RequestList + ?Sized),
    statuses: &mut Vec<Status>,
) -> Result<bool> {
    statuses.clear();
    refuse_operator()?;
    if !are_all_over(requests) {
        return Ok(false);
    }
    tell_all(requests, Request::conclude, statuses).map(|()| true)
}

/// Completes one request whose operation is complete. Makes progress if possible, and never waits.
/// Returns `Ready(None)` if no request is active. (`MPI_Testany`)
pub fn test_any(
    requests: &mut (impl RequestList + ?Sized),
) -> Poll<Option<(usize, Result<Status>)>> {
    poll_one(requests).map(|found| found.map(|found| (found, requests.at(found).conclude())))
}

/// Completes all requests whose operations are complete, and returns their number. `None` if no
/// request is active. Makes progress if possible, and never waits. (`MPI_Testsome`)
///
/// # Errors
/// As [`wait_some`].
pub fn test_some(
    requests: &mut (impl RequestList + ?Sized),
    found: &mut Vec<(usize, Status)>,
) -> Result<Option<usize>> {
    poll_some(requests, Request::conclude, found)
}

/// Does the same as [`test_all`] without completing the requests. (`MPI_Request_get_status_all`)
///
/// # Errors
/// As [`wait_all`].
pub fn get_status_all(
    requests: &mut (impl RequestList + ?Sized),
    statuses: &mut Vec<Status>,
) -> Result<bool> {
    statuses.clear();
    refuse_operator()?;
    if !are_all_over(requests) {
        return Ok(false);
    }
    tell_all(requests, tell, statuses).map(|()| true)
}

/// Does the same as [`test_any`] without completing the request. (`MPI_Request_get_status_any`)
pub fn get_status_any(
    requests: &mut (impl RequestList + ?Sized),
) -> Poll<Option<(usize, Result<Status>)>> {
    poll_one(requests).map(|found| found.map(|found| (found, tell(requests.at(found)))))
}

/// Does the same as [`test_some`] without completing the requests. (`MPI_Request_get_status_some`)
///
/// # Errors
/// As [`wait_some`].
pub fn get_status_some(
    requests: &mut (impl RequestList + ?Sized),
    found: &mut Vec<(usize, Status)>,
) -> Result<Option<usize>> {
    poll_some(requests, tell, found)
}

/// Returns the result of a complete operation without completing the request.
fn tell(request: &mut Request) -> Result<Status> {
    request.active().map_or(Ok(Status::EMPTY), |inner| inner.tell())
}

/// Completes requests one by one until one is not complete within about the time that a short
/// message takes. Returns its index, or how many there are. Programs often wait for receives in the
/// order in which they have posted them, and the messages arrive in it.
fn end_in_order(requests: &mut (impl RequestList + ?Sized)) -> usize {
    let (all, mut first) = (requests.len(), None);
    let mut ends_soon = |inner: &mut Inner| {
        let core = Arc::as_ptr(inner.core());
        assert!(*first.get_or_insert(core) == core, "{ONE_RANK}");
        inner.ends_soon(all <= AWAITED_SINGLY_MAX)
    };
    let mut waits = |at: usize| !requests.at(at).active().is_none_or(&mut ends_soon);
    (0..all).find(|&at| waits(at)).unwrap_or(all)
}

/// Returns the rank of the active requests, if there are any.
fn core_of(requests: &mut (impl RequestList + ?Sized)) -> Option<Arc<RankContext>> {
    (0..requests.len()).find_map(|at| requests.at(at).active().map(|inner| inner.core().clone()))
}

/// Returns the active operations, if a report of a hang is to name them.
fn awaited(requests: &mut (impl RequestList + ?Sized), core: &RankContext) -> Vec<Id> {
    if !core.reports_waits() {
        return Vec::new();
    }
    let all = 0..requests.len();
    all.filter_map(|at| requests.at(at).active().map(|inner| inner.id())).collect()
}

/// Takes the outcome of an operation if it is complete.
#[inline(always)] // there may be a million
fn collect(inner: &mut Inner, core: &Arc<RankContext>, engine: &mut Engine) -> bool {
    assert!(Arc::ptr_eq(inner.core(), core), "{ONE_RANK}");
    inner.collect(engine)
}

/// Returns the first request from this index on that has an operation in flight, or how many there
/// are.
fn collect_from(
    requests: &mut (impl RequestList + ?Sized),
    first: usize,
    core: &Arc<RankContext>,
    engine: &mut Engine,
) -> usize {
    let all = requests.len();
    let mut waits =
        |at: usize| requests.at(at).active().is_some_and(|inner| !collect(inner, core, engine));
    (first..all).find(|&at| waits(at)).unwrap_or(all)
}

/// Returns the first active request whose operation is complete.
fn first_over(
    requests: &mut (impl RequestList + ?Sized),
    core: &Arc<RankContext>,
    engine: &mut Engine,
) -> Option<usize> {
    let mut all = 0..requests.len();
    all.find(|&at| requests.at(at).active().is_some_and(|inner| collect(inner, core, engine)))
}

/// Returns the first request whose operation was complete when it started.
fn first_past(requests: &mut (impl RequestList + ?Sized)) -> Option<usize> {
    (0..requests.len()).find(|&at| requests.at(at).is_over())
}

/// Waits until an operation is complete, and returns the first such index. `None` if no request is
/// active.
fn wait_for_one(requests: &mut (impl RequestList + ?Sized)) -> Option<usize> {
    if let Some(first) = first_past(requests) {
        return Some(first);
    }
    let core = core_of(requests)?;
    let (ids, mut seen) = (awaited(requests, &core), None);
    Some(core.wait_for(&ids, |engine| {
        // Nothing has changed for any of them while nothing has ended.
        let ended = Some(engine.ended());
        if seen == ended {
            return None;
        }
        seen = ended;
        first_over(requests, &core, engine)
    }))
}

/// Makes progress, then looks for a complete operation. Returns `Ready(None)` if no request is
/// active.
fn poll_one(requests: &mut (impl RequestList + ?Sized)) -> Poll<Option<usize>> {
    let over = first_past(requests);
    let Some(core) = core_of(requests) else { return Poll::Ready(over) };
    let mut engine = core.engine();
    engine.progress_now_and_then_thoroughly(requests.len());
    if over.is_some() {
        return Poll::Ready(over);
    }
    let mut find = |engine: &mut Engine| first_over(requests, &core, engine);
    // A death ends those that it concerns.
    let found = find(&mut engine).or_else(|| engine.failure().and_then(|_| find(&mut engine)));
    if found.is_none() {
        drop(engine);
        core.has_polled_in_vain();
        return Poll::Pending;
    }
    Poll::Ready(found)
}

/// Makes progress, then completes (or only reports) the requests whose operations are complete.
fn poll_some(
    requests: &mut (impl RequestList + ?Sized),
    complete: fn(&mut Request) -> Result<Status>,
    found: &mut Vec<(usize, Status)>,
) -> Result<Option<usize>> {
    found.clear();
    refuse_operator()?;
    match poll_one(requests) {
        Poll::Ready(None) => Ok(None),
        Poll::Pending => Ok(Some(0)),
        Poll::Ready(Some(first)) => complete_some(requests, first, complete, found).map(Some),
    }
}

/// Makes progress, and returns whether no operation is in flight any more.
fn are_all_over(requests: &mut (impl RequestList + ?Sized)) -> bool {
    let Some(core) = core_of(requests) else { return true };
    let mut engine = core.engine();
    engine.progress_now_and_then_thoroughly(requests.len());
    let all = requests.len();
    let mut are_over = |engine: &mut Engine| collect_from(requests, 0, &core, engine) == all;
    // A death ends those that it concerns.
    let all_over = are_over(&mut engine) || engine.failure().is_some() && are_over(&mut engine);
    drop(engine);
    if !all_over {
        core.has_polled_in_vain();
    }
    all_over
}

/// Completes (or only reports) all requests whose operations are complete, as that at index `first`
/// is, and returns their number.
fn complete_some(
    requests: &mut (impl RequestList + ?Sized),
    first: usize,
    complete: fn(&mut Request) -> Result<Status>,
    found: &mut Vec<(usize, Status)>,
) -> Result<usize> {
    let core = core_of(requests);
    let mut engine = core.as_ref().map(|core| core.engine());
    let mut is_over = |inner: &mut Inner| match (&core, &mut engine) {
        (Some(core), Some(engine)) => collect(inner, core, engine),
        _ => false,
    };
    for at in 0..requests.len() {
        let request = requests.at(at);
        if at == first || request.is_over() || request.active().is_some_and(&mut is_over) {
            found.push((at, Status::EMPTY));
        }
    }
    // Callbacks of generalized operations may want the engine.
    drop(engine);
    let mut faults = Faults::default();
    for (at, status) in found.iter_mut() {
        *status = faults.status(complete(requests.at(*at)));
    }
    let completed = found.len();
    faults.or_else(|| completed)
}

/// Completes (or only reports) all requests, and writes their statuses.
fn tell_all(
    requests: &mut (impl RequestList + ?Sized),
    complete: fn(&mut Request) -> Result<Status>,
    statuses: &mut Vec<Status>,
) -> Result<()> {
    let mut faults = Faults::default();
    statuses.clear();
    let all = 0..requests.len();
    statuses.extend(all.map(|at| faults.status(complete(requests.at(at)))));
    faults.or_else(|| ())
}

/// Counts the failed operations of a set.
#[derive(Default)]
struct Faults {
    operations: usize,
    failed: usize,
    /// The first exception with which one of them ended.
    exception: Option<ExceptionId>,
}

impl Faults {
    /// Converts the result of one operation to a status.
    #[inline]
    fn status(&mut self, result: Result<Status>) -> Status {
        self.operations += 1;
        result.unwrap_or_else(|error| self.status_of_error(&error))
    }

    #[cold]
    fn status_of_error(&mut self, error: &Error) -> Status {
        self.failed += 1;
        self.exception = self.exception.or(error.kind().exception());
        let refused = error.refused().map(Status::from).unwrap_or(Status::EMPTY);
        Status { error: Some(error.code_with_text()), ..refused }
    }

    fn or_else<T>(self, value: impl FnOnce() -> T) -> Result<T> {
        let Faults { failed, operations, exception } = self;
        match failed {
            0 => Ok(value()),
            _ => Err(ErrorKind::InStatus { failed, operations, exception }.into()),
        }
    }
}
