//! Opens libfabric at run time, so that programs which stay on one host run without it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::ffi::{Fabric, FabricAttributes, Info};
use crate::{Error, Result, trusted};

/// The variable that names the file of the library, in place of a search.
pub const LIBRARY: &str = "MOTET_LIBFABRIC";
/// The file that the loader is asked for.
const FILE: &str = "libfabric.so.1";
/// The oldest supported version.
const OLDEST: u32 = 1 << 16 | 11;

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *mut Info,
) -> c_int;

/// The exported functions of libfabric; all others are in the function tables of its objects.
#[derive(Clone, Copy)]
struct Functions {
    version: unsafe extern "C" fn() -> u32,
    get_info: GetInfo,
    copy_info: unsafe extern "C" fn(*const Info) -> *mut Info,
    free_info: unsafe extern "C" fn(*mut Info),
    fabric: unsafe extern "C" fn(*mut FabricAttributes, *mut *mut Fabric, *mut c_void) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Functions {
    fn of(handle: *mut c_void, file: &str) -> Result<Functions> {
        // SAFETY: the types are those of the documented interface, here and below.
        let version = unsafe { symbol(handle, file, c"fi_version")? };
        // SAFETY: as above.
        let get_info = unsafe { symbol(handle, file, c"fi_getinfo")? };
        // SAFETY: as above.
        let copy_info = unsafe { symbol(handle, file, c"fi_dupinfo")? };
        // SAFETY: as above.
        let free_info = unsafe { symbol(handle, file, c"fi_freeinfo")? };
        // SAFETY: as above.
        let fabric = unsafe { symbol(handle, file, c"fi_fabric")? };
        // SAFETY: as above.
        let error_text = unsafe { symbol(handle, file, c"fi_strerror")? };
        Ok(Functions { version, get_info, copy_info, free_info, fabric, error_text })
    }
}

/// The library libfabric. It is never closed: threads that it has started in the process may still
/// run.
pub struct Library {
    functions: Functions,
    file: String,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "libfabric {} ({})", self.version(), self.file)
    }
}

impl Library {
    /// Opens the library that the environment names, or the one that the system has.
    ///
    /// # Errors
    /// [`Error::Network`] if there is none, or none of a known version.
    pub fn open() -> Result<Arc<Library>> {
        let file = trusted(LIBRARY).and_then(|file| file.into_string().ok());
        let file = file.filter(|file| !file.is_empty());
        Library::open_file(file.as_deref().unwrap_or(FILE))
    }

    /// Opens the library in this file.
    ///
    /// # Errors
    /// As [`Library::open`].
    pub fn open_file(file: &str) -> Result<Arc<Library>> {
        let name = CString::new(file)
            .map_err(|_| Error::Network(format!("{LIBRARY} is {file:?}, which is no file name")))?;
        // SAFETY: a name that ends; what the library does when it is opened is its own affair.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(Error::Network(format!(
                "ranks on several hosts need libfabric, which cannot be opened ({}): install it \
                 (its package is called libfabric1 or libfabric), or name its file in {LIBRARY}",
                loader_text()
            )));
        }
        let functions = Functions::of(handle, file)?;
        let library = Library { functions, file: file.to_owned() };
        if library.number() < OLDEST {
            let version = library.version();
            return Err(Error::Network(format!(
                "libfabric {version} in {file} is too old: 1.11 or later is needed"
            )));
        }
        Ok(Arc::new(library))
    }

    fn number(&self) -> u32 {
        // SAFETY: it takes nothing.
        unsafe { (self.functions.version)() }
    }

    /// The version that the library reports.
    pub fn version(&self) -> String {
        let number = self.number();
        format!("{}.{}", number >> 16, number & 0xffff)
    }

    /// The file from which the library was opened.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text of an error code.
    pub(super) fn text(&self, code: i32) -> String {
        // SAFETY: any number is allowed.
        let text = unsafe { (self.functions.error_text)(code.abs()) };
        // SAFETY: a constant text, which ends.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }

    /// An error with what failed and the text of its code.
    pub(super) fn error(&self, what: &str, code: i64) -> Error {
        let text = self.text(code as i32);
        Error::Network(format!("libfabric could not {what}: {text} (code {})", code.abs()))
    }

    /// New, empty hints.
    pub(super) fn hints(self: &Arc<Self>) -> Result<Infos> {
        // SAFETY: without an argument it makes an empty one, with all its parts.
        let first = unsafe { (self.functions.copy_info)(ptr::null()) };
        if first.is_null() {
            return Err(self.error("make hints", i64::from(libc::ENOMEM)));
        }
        Ok(Infos { library: Arc::clone(self), first })
    }

    /// The informations that match the hints; empty if none does.
    pub(super) fn matching_infos(self: &Arc<Self>, version: u32, hints: &Infos) -> Result<Infos> {
        let mut first = ptr::null_mut();
        let (null, asked) = (ptr::null(), version.min(self.number()));
        // SAFETY: the hints are whole, and made by the library.
        let code =
            unsafe { (self.functions.get_info)(asked, null, null, 0, hints.first, &mut first) };
        if code != 0 && code != -libc::ENODATA {
            return Err(self.error("say what networks there are", code.into()));
        }
        Ok(Infos { library: Arc::clone(self), first })
    }

    /// A copy of one information of a list.
    pub(super) fn copy(self: &Arc<Self>, info: &Info) -> Result<Infos> {
        // SAFETY: it is whole, and made by the library.
        let first = unsafe { (self.functions.copy_info)(info) };
        if first.is_null() {
            return Err(self.error("copy what it knows of a network", i64::from(libc::ENOMEM)));
        }
        Ok(Infos { library: Arc::clone(self), first })
    }

    /// Opens a fabric.
    pub(super) fn open_fabric(&self, attributes: *mut FabricAttributes) -> Result<*mut Fabric> {
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes belong to an information that the library has made.
        let code = unsafe { (self.functions.fabric)(attributes, &mut fabric, ptr::null_mut()) };
        if code != 0 {
            return Err(self.error("open a fabric", code.into()));
        }
        Ok(fabric)
    }
}

/// A list of informations that libfabric has allocated.
pub(super) struct Infos {
    library: Arc<Library>,
    first: *mut Info,
}

// SAFETY: plain memory with one owner; the library does not mind which thread frees it.
unsafe impl Send for Infos {}

impl Infos {
    /// The first information, for writing.
    pub(super) fn first(&self) -> *mut Info {
        self.first
    }

    /// All informations of the list.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Info> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: either null or the next of the list, which lives as long as `self`.
            let info: &Info = unsafe { next.as_ref() }?;
            next = info.next;
            Some(info)
        })
    }
}

impl Drop for Infos {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: made by the library, and not freed before.
            unsafe { (self.library.functions.free_info)(self.first) };
        }
    }
}

/// A function of the library.
///
/// # Safety
/// `F` is the type of the function with that name.
unsafe fn symbol<F: Copy>(handle: *mut c_void, file: &str, name: &CStr) -> Result<F> {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: an open library and a name that ends.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if found.is_null() {
        let name = name.to_string_lossy();
        return Err(Error::Network(format!("{file} is not libfabric: it has no {name}")));
    }
    // SAFETY: of the same size, as asserted, and a function of this type, as promised.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}

/// The error text of the loader.
fn loader_text() -> String {
    // SAFETY: it takes nothing; the text lasts until the next call of the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason given".into();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_or_another_is_told() {
        let text = Library::open_file("libno-such-fabric.so.9").unwrap_err().to_string();
        assert!(text.contains("cannot be opened") && text.contains(LIBRARY), "{text}");
        let text = Library::open_file("libc.so.6").unwrap_err().to_string();
        assert!(text.contains("is not libfabric: it has no fi_version"), "{text}");
        assert!(Library::open_file("a\0b").is_err());
    }
}
