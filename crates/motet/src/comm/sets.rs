//! Multiple completions: waits for and tests sets of operations of any kinds. (MPI 4.1 §3.7.5)
//!
//! A set is a slice of `&mut dyn Pending`. It may mix nonblocking and running persistent
//! operations, be they collectives, messages or generalized requests. The functions here report
//! *that* operations are complete; the program then calls `wait` of each operation, which returns
//! its result at once. Later calls skip an operation that an earlier call reported as complete,
//! like a null request.

use std::sync::Arc;

use motet_fabric::biased_lock::is_excluded;

use crate::base::error::{ErrorKind, Result};
use crate::comm::op_handle::OpHandle;

/// An operation in flight, of any kind. The requests of this library implement it; other types can
/// delegate to a request that they contain.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that can be waited for in a set",
    label = "no request",
    note = "a set is a slice of requests and running operations of any types: \
            `wait_all(&mut [&mut one, &mut other])`"
)]
pub trait Pending {
    /// Returns the operation, for the functions that wait for sets.
    #[doc(hidden)]
    fn in_flight(&mut self) -> InFlight<'_>;

    /// Tests whether the operation is complete. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// The error of the operation, which counts as complete then.
    fn test(&mut self) -> Result<bool> {
        self.in_flight().0.test()
    }
}

/// Access to the operation of a request, for this library only. A user with a `&mut OpHandle` could
/// swap it with that of another request, which would then return its buffers while its operation
/// still uses them.
#[doc(hidden)]
pub struct InFlight<'a>(pub(crate) &'a mut OpHandle);

/// Waits until all operations are complete. (`MPI_Waitall`)
///
/// # Errors
/// The error of the first operation that failed; all operations are complete nevertheless.
pub fn wait_all(set: &mut [&mut dyn Pending]) -> Result<()> {
    let mut first = Ok(());
    for pending in set {
        let handle = pending.in_flight().0;
        handle.reported = true;
        // Most are over when one has been waited for; to move the engine for each of them would
        // take time in the number of those that are not.
        handle.collect();
        first = first.and(handle.wait().map(drop));
    }
    first
}

/// Waits until one operation is complete that no such call has reported before, and returns its
/// index. `None` if no such operation is left. (`MPI_Waitany`)
///
/// # Errors
/// The caller is a reduction operator. Errors of the operation itself are returned by its `wait`.
pub fn wait_any(set: &mut [&mut dyn Pending]) -> Result<Option<usize>> {
    refuse_operator()?;
    if !wait_for_one(set) {
        return Ok(None);
    }
    test_any(set)
}

/// Waits until at least one operation is complete that no such call has reported before, and
/// returns the indices of all of these. Empty if no such operation is left. (`MPI_Waitsome`)
///
/// # Errors
/// As [`wait_any`].
pub fn wait_some(set: &mut [&mut dyn Pending]) -> Result<Vec<usize>> {
    refuse_operator()?;
    if !wait_for_one(set) {
        return Ok(Vec::new());
    }
    test_some(set)
}

/// Tests whether all operations are complete. Makes progress if possible, and never waits.
/// (`MPI_Testall`)
///
/// # Errors
/// As [`wait_any`].
pub fn test_all(set: &mut [&mut dyn Pending]) -> Result<bool> {
    refuse_operator()?;
    move_on(set);
    let all = set.iter_mut().all(|pending| pending.in_flight().0.collect());
    if all {
        set.iter_mut().for_each(|pending| pending.in_flight().0.reported = true);
    } else {
        has_found_nothing(set);
    }
    Ok(all)
}

/// Returns the index of one complete operation that no such call has reported before. Never waits.
/// (`MPI_Testany`)
///
/// # Errors
/// As [`wait_any`].
pub fn test_any(set: &mut [&mut dyn Pending]) -> Result<Option<usize>> {
    refuse_operator()?;
    move_on(set);
    let found = set.iter_mut().position(|pending| report(pending.in_flight().0));
    if found.is_none() {
        has_found_nothing(set);
    }
    Ok(found)
}

/// Returns the indices of all complete operations that no such call has reported before. Never
/// waits. (`MPI_Testsome`)
///
/// # Errors
/// As [`wait_any`].
pub fn test_some(set: &mut [&mut dyn Pending]) -> Result<Vec<usize>> {
    refuse_operator()?;
    move_on(set);
    let named = set.iter_mut().enumerate();
    let named = named.filter_map(|(at, pending)| report(pending.in_flight().0).then_some(at));
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        has_found_nothing(set);
    }
    Ok(named)
}

/// Returns the error of a reduction operator that calls one of these functions, which make
/// progress.
pub(crate) fn refuse_operator() -> Result<()> {
    if is_excluded() { Err(ErrorKind::WithinOperator.into()) } else { Ok(()) }
}

/// Marks an operation as reported if it is complete and has not been reported yet.
fn report(handle: &mut OpHandle) -> bool {
    let is_new = !handle.reported && handle.collect();
    handle.reported |= is_new;
    is_new
}

/// Makes progress once for each rank that owns operations of the set (one rank, unless several
/// ranks share a thread).
fn move_on(set: &mut [&mut dyn Pending]) {
    let (mut last, requests) = (None, set.len());
    for pending in set {
        let core = &pending.in_flight().0.origin.core;
        if last != Some(Arc::as_ptr(core)) {
            core.engine().progress_now_and_then_thoroughly(requests);
            last = Some(Arc::as_ptr(core));
        }
    }
}

/// Records a poll of the set that found nothing complete, unless no operation is in flight.
fn has_found_nothing(set: &mut [&mut dyn Pending]) {
    let mut handles = set.iter_mut().map(|pending| pending.in_flight().0);
    if let Some(handle) = handles.find(|handle| !handle.is_over()) {
        handle.origin.core.has_polled_in_vain();
    }
}

/// Waits until an operation that has not been reported is complete. Returns `false` if there is
/// none.
fn wait_for_one(set: &mut [&mut dyn Pending]) -> bool {
    let mut handles = set.iter_mut().map(|pending| pending.in_flight().0);
    let Some(first) = handles.find(|handle| !handle.reported) else { return false };
    let core = first.origin.core.clone();
    let ids: Vec<_> = if core.reports_waits() {
        let handles = set.iter_mut().map(|pending| pending.in_flight().0);
        handles.filter(|handle| !handle.reported).map(|handle| handle.id).collect()
    } else {
        Vec::new()
    };
    let mut seen = None;
    core.wait_for(&ids, |engine| {
        // While nothing has ended there is no need to look at them again.
        if seen == Some(engine.ended()) {
            return None;
        }
        seen = Some(engine.ended());
        let is_complete = |pending: &mut &mut dyn Pending| {
            let handle = pending.in_flight().0;
            let of_one_rank = Arc::ptr_eq(&handle.origin.core, &core);
            assert!(of_one_rank, "a set that is waited for belongs to one rank");
            !handle.reported && (handle.is_over() || engine.is_complete(handle.id))
        };
        set.iter_mut().any(is_complete).then_some(())
    });
    true
}
