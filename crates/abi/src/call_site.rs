//! The call site of a call for error messages: the object file, function and address, which
//! `addr2line` turns into a source file and line.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// So many calls are looked at first: to find more of them takes as long again for each, and those
/// of the library within each other are not many.
const FRAMES_FIRST: usize = 16;
/// So many are looked at if all of the first are calls of the library.
const FRAMES_MAX: usize = 64;

/// The first return address that is not in this library: its object, its function if that has a
/// name there, and where in the object, as `solver(exchange+0x1f) 0x12af`.
pub(crate) fn call_site() -> Option<String> {
    let call = outer_call(&mut [std::ptr::null_mut(); FRAMES_FIRST])
        .or_else(|| outer_call(&mut [std::ptr::null_mut(); FRAMES_MAX]))?;
    object_of(call).map(|at| told(call, &at))
}

/// The innermost call, among as many as there are places, that is not in this library.
fn outer_call(frames: &mut [*mut c_void]) -> Option<*const c_void> {
    let here = own_addresses()?;
    let found = return_addresses(frames);
    let frames = frames.iter().take(found);
    // A return address may be the first byte behind its function.
    let mut calls = frames.map(|&frame| frame.cast_const().wrapping_byte_sub(1));
    calls.find(|call| !here.contains(&call.addr()))
}

/// Where this library is. What the linker knows of an address it looks up among all names of an
/// object, and ours are thousands: so this is asked for once.
fn own_addresses() -> Option<Range<usize>> {
    static OWN: OnceLock<Option<Range<usize>>> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut search = Search { address: (call_site as *const c_void).addr(), found: None };
        // SAFETY: what is called takes the search as what it is, and does not keep it.
        unsafe { libc::dl_iterate_phdr(Some(match_object), (&raw mut search).cast()) };
        search.found
    })
    .clone()
}

/// For the object that has an address, and the addresses of that object.
struct Search {
    address: usize,
    found: Option<Range<usize>>,
}

/// Ends the search with 1 in the object that has the address.
unsafe extern "C" fn match_object(
    object: *mut libc::dl_phdr_info,
    _: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: this is the search that `own_addresses` has given to the linker, and only we have it.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the linker tells of a loaded object, which stays during the call.
    let object = unsafe { &*object };
    // SAFETY: so many headers an object has, and they stay as long as it is loaded.
    let parts = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let loaded = parts.iter().filter(|part| part.p_type == libc::PT_LOAD).map(|part| {
        let begin = (object.dlpi_addr as usize).wrapping_add(part.p_vaddr as usize);
        begin..begin + part.p_memsz as usize
    });
    let whole = loaded.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end));
    search.found = whole.filter(|whole| whole.contains(&search.address));
    search.found.is_some().into()
}

/// The return addresses of the calls that this one is in, innermost first, and how many there are.
#[cfg(target_env = "gnu")]
fn return_addresses(frames: &mut [*mut c_void]) -> usize {
    // SAFETY: there is room for as many as are asked for.
    unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as c_int) }.max(0) as usize
}

/// Other C libraries do not tell.
#[cfg(not(target_env = "gnu"))]
fn return_addresses(_: &mut [*mut c_void]) -> usize {
    0
}

fn told(call: *const c_void, at: &libc::Dl_info) -> String {
    let object = name(at.dli_fname).unwrap_or_else(|| "the program".to_owned());
    let object = Path::new(&object).file_name().map_or(object.clone(), lossy);
    let into = |function| format!("({function}+{:#x})", call.addr() - at.dli_saddr.addr());
    let function = name(at.dli_sname).map(into).unwrap_or_default();
    format!("{object}{function} {:#x}", call.addr() - load_bias(at))
}

/// What is added to the addresses in the file of an object when it is loaded.
fn load_bias(at: &libc::Dl_info) -> usize {
    const TYPE_AT: usize = 16;
    const AT_FIXED_ADDRESSES: u16 = 2;
    // SAFETY: an object is mapped from the header of its file on, whose type is a word that is
    // aligned.
    let type_of_file = unsafe { at.dli_fbase.wrapping_byte_add(TYPE_AT).cast::<u16>().read() };
    if type_of_file == AT_FIXED_ADDRESSES { 0 } else { at.dli_fbase.addr() }
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

/// What the dynamic linker knows of an address.
fn object_of(address: *const c_void) -> Option<libc::Dl_info> {
    let mut known = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; what is told is written to the place that is given.
    let told = unsafe { libc::dladdr(address, known.as_mut_ptr()) };
    // SAFETY: written, as it has been told.
    (told != 0).then(|| unsafe { known.assume_init() })
}

/// The name that the dynamic linker tells, if it tells one.
fn name(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: a string of the object, which stays loaded while one of its functions is in a call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(lossy(OsStr::from_bytes(text.to_bytes())))
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn own_are_the_addresses_of_this_object_alone() {
        let own = own_addresses().expect("it is loaded");
        assert!(own.contains(&(call_site as *const c_void).addr()));
        assert!(!own.contains(&(libc::dladdr as *const c_void).addr()));
    }

    /// All of a test is in one object with the library, so what called it is what begins threads.
    #[test]
    fn the_call_is_that_of_the_next_object() {
        let site = call_site().expect("the C library says who called");
        assert!(site.starts_with("libc."), "{site}");
    }
}
