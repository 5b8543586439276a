//! `MPI_Alloc_mem` and `MPI_Free_mem`. (MPI 4.1 §9.2)
//!
//! The memory is shared by all ranks of the host as long as there is room, so the kernel is not
//! needed to copy large messages; otherwise it is private memory of the process.
//!
//! A table lists the allocations, so a program cannot free other memory. Memory that is left at the
//! end of the process is freed with it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet::ErrorClass;
use motet::raw::CommonMemory;

use crate::error::{AbiError, AbiResult, argument};
use crate::objects;

/// The hint that requests a larger alignment.
pub(crate) const ALIGNMENT: &str = "mpi_minimum_memory_alignment";

/// A cache line.
const ALIGNED: usize = 64;
/// The largest alignment that any processor needs: the largest page.
const MOST_ALIGNED: usize = 1 << 30;

/// An allocation.
enum Allocation {
    /// Memory that all ranks of the host map; it is freed when this is dropped.
    Common(#[expect(dead_code, reason = "it is there to be dropped")] CommonMemory),
    Private(Layout),
}

type Allocations = BTreeMap<usize, Allocation>;

fn allocations() -> MutexGuard<'static, Allocations> {
    static ALLOCATIONS: Mutex<Allocations> = Mutex::new(BTreeMap::new());
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates memory; an allocation of zero bytes has an address of its own, too.
///
/// # Errors
/// A negative size; an invalid alignment; no memory is left.
pub(crate) fn allocate(size: isize, alignment: Option<&str>) -> AbiResult<usize> {
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
            asked.ok_or_else(|| AbiError::new(ErrorClass::InfoValue, wrong()))?.max(ALIGNED)
        }
    };
    let none = || AbiError::new(ErrorClass::NoMem, format!("there are no {bytes} bytes of memory"));
    let layout = Layout::from_size_align(bytes.max(1), aligned).map_err(|_| none())?;
    if let Some(memory) = common_memory(layout) {
        let address = memory.start().expose_provenance().get();
        allocations().insert(address, Allocation::Common(memory));
        return Ok(address);
    }
    // SAFETY: the size is not zero.
    let address = unsafe { alloc::alloc(layout) } as usize;
    if address == 0 {
        return Err(none());
    }
    allocations().insert(address, Allocation::Private(layout));
    Ok(address)
}

/// Memory that all ranks of the host map, if there is room.
fn common_memory(layout: Layout) -> Option<CommonMemory> {
    objects::world()?.intra().ok()?.common_memory(layout.size(), layout.align())
}

/// Frees an allocation.
///
/// # Errors
/// An address that is not that of an allocation.
pub(crate) fn free(address: usize) -> AbiResult {
    let Some(allocation) = allocations().remove(&address) else {
        let text = format!("{address:#x} is no memory of MPI_Alloc_mem, or has been freed already");
        return Err(AbiError::new(ErrorClass::Base, text));
    };
    if let Allocation::Private(layout) = allocation {
        // SAFETY: it was allocated so, and nobody else frees it, since it is not written down any
        // more.
        unsafe { alloc::dealloc(address as *mut u8, layout) };
    }
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
        let code = |answer: AbiResult| answer.unwrap_err().code();
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
