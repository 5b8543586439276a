//! Access to the C++ runtime library of an exception. A process may have no such library or two,
//! so the functions are looked up in the library that the exception comes from.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, c_uint, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;

use super::Header;

/// The beginning of the class of an exception: the compiler, and the language. The last byte marks
/// an exception that was rethrown from a copy.
const CLASSES: [u64; 2] = [u64::from_be_bytes(*b"GNUCC++\0"), u64::from_be_bytes(*b"CLNGC++\0")];

/// The data of C++ for each thread. (Itanium C++ ABI, level II, 2.2.2)
#[repr(C)]
struct Globals {
    caught: *mut c_void,
    uncaught: c_uint,
}

/// Whether it is an exception of C++.
pub(super) fn is_one(exception: NonNull<Header>) -> bool {
    // SAFETY: every exception has this at its beginning, and nobody writes it.
    let class = unsafe { (*exception.as_ptr()).class };
    CLASSES.contains(&(class & !0xff))
}

/// Adds `by` to the number of uncaught exceptions of this thread. Returns whether the library of
/// the exception has the function for it.
pub(super) fn count(exception: NonNull<Header>, by: i32) -> bool {
    let Some(address) = symbol(exception, c"__cxa_get_globals") else { return false };
    // SAFETY: the function of that name has this type.
    let globals: unsafe extern "C" fn() -> *mut Globals = unsafe { mem::transmute(address) };
    // SAFETY: as above.
    let globals = unsafe { globals() };
    // SAFETY: what it keeps for this thread, which nobody else looks at.
    let uncaught = unsafe { &mut (*globals).uncaught };
    *uncaught = uncaught.wrapping_add_signed(by);
    true
}

/// Does what C++ does with an uncaught exception: calls `std::terminate`, which can find it.
pub(super) fn terminate(exception: NonNull<Header>) {
    let functions = [c"__cxa_begin_catch", c"_ZSt9terminatev"].map(|name| symbol(exception, name));
    let [Some(begin_catch), Some(terminate)] = functions else { return };
    // SAFETY (for all): the functions of these names have these types, and may be called so with
    // an exception that is on its way.
    // SAFETY: see above.
    let begin_catch: unsafe extern "C" fn(*mut Header) -> *mut c_void =
        unsafe { mem::transmute(begin_catch) };
    // SAFETY: see above.
    unsafe { begin_catch(exception.as_ptr()) };
    // SAFETY: see above.
    let terminate: unsafe extern "C" fn() = unsafe { mem::transmute(terminate) };
    // SAFETY: see above.
    unsafe { terminate() };
}

/// A function of the library that made an exception of C++: the function that deletes the exception
/// is there.
fn symbol(exception: NonNull<Header>, name: &CStr) -> Option<*mut c_void> {
    if !is_one(exception) {
        return None;
    }
    // SAFETY: as in `is_one`.
    let cleanup = unsafe { (*exception.as_ptr()).cleanup }?;
    let mut known = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; what is known is written to the place that is given.
    let found = unsafe { libc::dladdr(cleanup as *const c_void, known.as_mut_ptr()) };
    // SAFETY: written, as it has been said.
    let object = (found != 0).then(|| unsafe { known.assume_init() })?.dli_fname;
    // SAFETY: the name by which the dynamic linker knows an object that is loaded; no other one is
    // loaded now.
    let object = unsafe { libc::dlopen(object, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if object.is_null() {
        return None;
    }
    // SAFETY: an object that has just been opened, and a name.
    let address = unsafe { libc::dlsym(object, name.as_ptr()) };
    // SAFETY: as above. It stays loaded, since the exception is its own.
    unsafe { libc::dlclose(object) };
    (!address.is_null()).then_some(address)
}
