//! Finds the largest segment that the resource limits of the process permit.
//!
//! A segment is large, but only the pages that are written cost memory. Two limits count the whole
//! length: the limit of the address space of a process (`ulimit -v`), and the limit of the length
//! of files (`ulimit -f`), since the memory that processes share is a file without a name. Where a
//! limit is low, the segment is [smaller](Layout::smaller); a process that maps it learns the form
//! from its length.

use std::os::fd::BorrowedFd;

use rustix::fs::ftruncate;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::error::Allowed;
use crate::layout::Layout;
use crate::limits::limit_of;
use crate::{Error, Result};

/// A segment takes at most the address space divided by this number; the rest is for the program.
const MEMORY_SHARE: u64 = 2;

/// The resource limits that bound a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    address_space: Option<u64>,
    files: Option<u64>,
}

impl Room {
    /// The limits for memory that threads share, which is no file.
    pub(super) fn of_process() -> Room {
        Room { address_space: limit_of(Resource::As).current, files: None }
    }

    /// The limits for memory that processes share.
    pub(super) fn of_file() -> Room {
        Room { files: limit_of(Resource::Fsize).maximum, ..Room::of_process() }
    }

    /// The largest form of a layout that the limits permit.
    pub(super) fn fit(self, layout: Layout) -> Result<Layout> {
        let mut problem = None;
        for form in layout.forms() {
            let needed = form.total() as u64;
            let refused = |allowed| Error::Segment { ranks: form.ranks(), needed, allowed };
            problem = match self {
                Room { files: Some(most), .. } if needed > most => {
                    Some(refused(Allowed::File(most)))
                }
                Room { address_space: Some(most), .. } if needed > most / MEMORY_SHARE => {
                    Some(refused(Allowed::AddressSpace(most)))
                }
                _ => return Ok(form),
            };
        }
        // There is at least one form, so this is the error for the smallest.
        problem.map_or(Ok(layout), Err)
    }
}

/// Sets the length of a file, in bytes. Raises the soft limit of this process for the call, if that
/// is lower than the length.
pub(super) fn lengthen(file: BorrowedFd<'_>, bytes: u64) -> Result<()> {
    let former = limit_of(Resource::Fsize);
    let is_raised = former.current.is_some_and(|limit| limit < bytes);
    if is_raised {
        let raised = Rlimit { current: former.maximum, maximum: former.maximum };
        setrlimit(Resource::Fsize, raised)
            .map_err(|errno| Error::system("raise the limit of the length of files", errno))?;
    }
    let sized = ftruncate(file, bytes);
    if is_raised {
        // Lowering a limit is always allowed.
        let _ = setrlimit(Resource::Fsize, former);
    }
    sized.map_err(|errno| Error::system("size the shared segment", errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_decides_how_large_a_segment_is() {
        let full = Layout::new(3).unwrap();
        let forms: Vec<u64> = full.forms().map(|form| form.total() as u64).collect();
        let fit = |address_space, files| Room { address_space, files }.fit(full);
        assert_eq!(fit(None, None).unwrap(), full);
        assert_eq!(fit(Some(MEMORY_SHARE * forms[0]), Some(forms[0])).unwrap(), full);
        for (at, &bytes) in forms.iter().enumerate().skip(1) {
            let wanted = full.forms().nth(at).unwrap();
            assert_eq!(fit(Some(MEMORY_SHARE * bytes), None).unwrap(), wanted);
            assert_eq!(fit(None, Some(bytes)).unwrap(), wanted);
        }
        let least = forms[forms.len() - 1];
        let text = fit(Some(MEMORY_SHARE * least - 2), None).unwrap_err().to_string();
        assert!(text.contains("`ulimit -v`") && text.contains("3 ranks"), "{text}");
        let text = fit(None, Some(least - 1)).unwrap_err().to_string();
        assert!(text.contains("`ulimit -f`"), "{text}");
    }
}
