//! Memory that the library allocates for the program. (`MPI_Alloc_mem`, MPI 4.1 §9.2)
//!
//! What has been allocated is written down, so that nothing else can be freed. Whatever is left
//! when the process ends goes with it.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet::ErrorClass;

use crate::fault::{Answer, Fault, argument};

/// The hint that asks for a larger alignment.
pub(crate) const ALIGNMENT: &str = "mpi_minimum_memory_alignment";

/// A cache line.
const ALIGNED: usize = 64;
/// More than this no processor needs: the largest page.
const MOST_ALIGNED: usize = 1 << 30;

type Allocations = BTreeMap<usize, Layout>;

fn allocations() -> MutexGuard<'static, Allocations> {
    static ALLOCATIONS: Mutex<Allocations> = Mutex::new(BTreeMap::new());
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates; also nothing has an address of its own.
///
/// # Errors
/// A negative size; an alignment that is none; that there is no memory.
pub(crate) fn allocate(size: isize, alignment: Option<&str>) -> Answer<usize> {
    let bytes = usize::try_from(size)
        .map_err(|_| argument(format!("memory of {size} bytes cannot be allocated")))?;
    let aligned = match alignment {
        None => ALIGNED,
        Some(text) => {
            let asked = text
                .trim()
                .parse()
                .ok()
                .filter(|asked: &usize| asked.is_power_of_two() && *asked <= MOST_ALIGNED);
            let wrong = || format!("the hint {ALIGNMENT} is `{text}`, which is no alignment");
            asked.ok_or_else(|| Fault::new(ErrorClass::InfoValue, wrong()))?.max(ALIGNED)
        }
    };
    let none = || Fault::new(ErrorClass::NoMem, format!("there are no {bytes} bytes of memory"));
    let layout = Layout::from_size_align(bytes.max(1), aligned).map_err(|_| none())?;
    // SAFETY: the size is not zero.
    let address = unsafe { alloc::alloc(layout) } as usize;
    if address == 0 {
        return Err(none());
    }
    allocations().insert(address, layout);
    Ok(address)
}

/// Frees what has been allocated.
///
/// # Errors
/// An address that is not one of those.
pub(crate) fn free(address: usize) -> Answer {
    let Some(layout) = allocations().remove(&address) else {
        let text = format!("{address:#x} is no memory of MPI_Alloc_mem, or has been freed already");
        return Err(Fault::new(ErrorClass::Base, text));
    };
    // SAFETY: it was allocated so, and nobody else frees it, since it is not written down any more.
    unsafe { alloc::dealloc(address as *mut u8, layout) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_allocated_is_freed_and_once() {
        let address = allocate(0, None).unwrap();
        let other = allocate(100, Some("4096")).unwrap();
        assert_eq!((address % ALIGNED, other % 4096), (0, 0));
        let code = |answer: Answer| answer.unwrap_err().code();
        assert_eq!(code(free(other + 64)), ErrorClass::Base.code());
        free(other).unwrap();
        assert_eq!(code(free(other)), ErrorClass::Base.code());
        free(address).unwrap();
    }

    #[test]
    fn what_cannot_be_allocated_is_an_error() {
        let code = |size, alignment| allocate(size, alignment).unwrap_err().code();
        assert_eq!(code(-1, None), ErrorClass::Arg.code());
        assert_eq!(code(isize::MAX, None), ErrorClass::NoMem.code());
        assert_eq!(code(8, Some("48")), ErrorClass::InfoValue.code());
        assert_eq!(code(8, Some("much")), ErrorClass::InfoValue.code());
    }
}
