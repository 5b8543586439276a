//! Where in a program a call was made, for people: what debug information knows by file and line is
//! known here by object and address, which `addr2line` turns into these.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

#[cfg(target_env = "gnu")]
use std::ffi::c_int;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Calls of the library within each other.
const MOST: usize = 64;

/// The first return address that is not in this library: its object, its function if that has a
/// name there, and where in the object, as `solver(exchange+0x1f) 0x12af`.
pub(crate) fn call_site() -> Option<String> {
    let mut frames = [std::ptr::null_mut::<c_void>(); MOST];
    let found = return_addresses(&mut frames);
    let here = object_of(call_site as *const c_void)?.dli_fbase;
    let frames = frames.iter().take(found);
    // A return address may be the first byte behind its function.
    let mut calls = frames.map(|&frame| frame.cast_const().wrapping_byte_sub(1));
    calls
        .find_map(|call| Some((call, object_of(call).filter(|at| at.dli_fbase != here)?)))
        .map(told)
}

/// The return addresses of the calls that this one is in, innermost first, and how many there are.
#[cfg(target_env = "gnu")]
fn return_addresses(frames: &mut [*mut c_void; MOST]) -> usize {
    // SAFETY: there is room for as many as are asked for.
    unsafe { libc::backtrace(frames.as_mut_ptr(), MOST as c_int) }.max(0) as usize
}

/// Other C libraries do not tell.
#[cfg(not(target_env = "gnu"))]
fn return_addresses(_: &mut [*mut c_void; MOST]) -> usize {
    0
}

fn told((call, at): (*const c_void, libc::Dl_info)) -> String {
    let object = name(at.dli_fname).unwrap_or_else(|| "the program".to_owned());
    let object = Path::new(&object).file_name().map_or(object.clone(), lossy);
    let into = |function| format!("({function}+{:#x})", call.addr() - at.dli_saddr.addr());
    let function = name(at.dli_sname).map(into).unwrap_or_default();
    format!("{object}{function} {:#x}", call.addr() - load_bias(&at))
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
