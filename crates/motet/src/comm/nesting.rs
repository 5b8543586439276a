//! State of two-phase collectives on a communicator: the open untyped phases, and whether a typed
//! root is alive.

use std::panic::Location;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::base::collective_kind::CollectiveKind;
use crate::base::error::ErrorKind;
use crate::comm::request::Request;

/// State of the nesting on a communicator, allocated by the first phase.
#[derive(Default)]
pub(crate) struct Nesting(OnceLock<Box<Mutex<Stack>>>);

#[derive(Default)]
struct Stack {
    /// Whether a [`Phases`](crate::Phases) is alive.
    rooted: bool,
    /// Open phases of the untyped layer, the innermost last.
    open: Vec<Open>,
}

/// An open phase of the untyped layer.
struct Open {
    kind: CollectiveKind,
    at: &'static Location<'static>,
    request: Request<()>,
}

const ROOTED: &str = "a `Phases` of the communicator is alive, which must be dropped first";

impl Nesting {
    fn stack(&self) -> MutexGuard<'_, Stack> {
        let stack = self.0.get_or_init(Box::default);
        stack.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a typed root is alive. Fails if one is alive already.
    pub(crate) fn take_root(&self) -> Result<(), ErrorKind> {
        let mut stack = self.stack();
        stack.check_root("phases")?;
        stack.rooted = true;
        Ok(())
    }

    /// Records that the typed root has been dropped.
    pub(crate) fn give_root_back(&self) {
        self.stack().rooted = false;
    }

    /// Checks whether a phase of the untyped layer may begin.
    pub(crate) fn check_begin(&self, kind: CollectiveKind) -> Result<(), ErrorKind> {
        self.stack().check_root(kind.begin_name())
    }

    /// Pushes a phase that has begun inside all open phases.
    pub(crate) fn push(
        &self,
        kind: CollectiveKind,
        at: &'static Location<'static>,
        request: Request<()>,
    ) {
        self.stack().open.push(Open { kind, at, request });
    }

    /// Pops the innermost phase, if it is of this collective.
    pub(crate) fn pop(&self, kind: CollectiveKind) -> Result<Request<()>, ErrorKind> {
        let called = kind.end_name();
        let Some(stack) = self.0.get() else { return Err(none_is_open(called)) };
        let mut stack = stack.lock().unwrap_or_else(PoisonError::into_inner);
        stack.check_root(called)?;
        let innermost = stack.open.pop_if(|open| open.kind == kind);
        innermost.map(|open| open.request).ok_or_else(|| match stack.open.last() {
            None => none_is_open(called),
            Some(Open { kind, at, .. }) => {
                let (begin, file, line) = (kind.begin_name(), at.file(), at.line());
                let innermost = "the innermost phase that is open is that of";
                let problem = format!("{innermost} {begin}, at {file}:{line}");
                ErrorKind::Nesting { called, problem }
            }
        })
    }
}

impl Stack {
    fn check_root(&self, called: &'static str) -> Result<(), ErrorKind> {
        if self.rooted {
            return Err(ErrorKind::Nesting { called, problem: ROOTED.into() });
        }
        Ok(())
    }
}

fn none_is_open(called: &'static str) -> ErrorKind {
    ErrorKind::Nesting { called, problem: "no phase is open on the communicator".into() }
}
