//! FFI bindings of the PMIx library, and ownership of the memory that passes between it and Motet.
//!
//! The layouts are those of versions 3 to 6, which share one name of the library and one binary
//! interface. A test compares them with the header where one is installed.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{size_of, zeroed};
use std::path::PathBuf;
use std::ptr::{null, null_mut};

use crate::kvs::VALUE_MAX_BYTES;
use crate::{Error, Result, trusted};

/// The variable that names the library, if it is not in a default directory.
pub const LIBRARY: &str = "MOTET_PMIX";

/// Bytes of names in the library's memory, with the NUL.
const NAMESPACE: usize = 256;
const KEY: usize = 512;

/// The rank that means all ranks of a namespace.
const ALL: u32 = u32::MAX - 1;
/// The scope of a value that all ranks may read.
const GLOBAL: u8 = 3;
/// The kinds of a value.
const BOOL: u16 = 1;
const UINT32: u16 = 14;
const BYTES: u16 = 27;
/// Names that the library defines.
const JOB_SIZE: &CStr = c"pmix.job.size";
const COLLECT: &CStr = c"pmix.collect";

/// The file name of the library.
const FILE: &str = "libpmix.so.2";
/// The oldest version with these layouts.
const OLDEST: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
struct Process {
    namespace: [c_char; NAMESPACE],
    rank: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    start: *mut c_char,
    length: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Datum {
    flag: bool,
    number: u32,
    bytes: Bytes,
    /// As large as the largest member.
    room: [u64; 3],
}

#[repr(C)]
struct Value {
    kind: u16,
    datum: Datum,
}

#[repr(C)]
struct Directive {
    key: [c_char; KEY],
    flags: u32,
    value: Value,
}

const _: () = assert!(size_of::<Process>() == 260);
const _: () = assert!(size_of::<Value>() == 32);
const _: () = assert!(size_of::<Directive>() == 552);

type Init = unsafe extern "C" fn(*mut Process, *const Directive, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Process, usize, *const Directive, usize) -> c_int;
type Get = unsafe extern "C" fn(
    *const Process,
    *const c_char,
    *const Directive,
    usize,
    *mut *mut Value,
) -> c_int;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *mut Process, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const Directive, usize) -> c_int;
type Text = unsafe extern "C" fn() -> *const c_char;
type TextOf = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions of the library that Motet calls. The library stays open until the process ends: it
/// has threads of its own.
struct Functions {
    init: Init,
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    abort: Abort,
    finalize: Finalize,
    error: TextOf,
}

impl Functions {
    fn open() -> Result<Functions> {
        let library = open_library()?;
        check_version(function(library, c"PMIx_Get_version")?)?;
        macro_rules! find {
            ($name:literal, $kind:ty) => {{
                let found = function(library, $name)?;
                // SAFETY: the library has a function of this name with this signature.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
            }};
        }
        Ok(Functions {
            init: find!(c"PMIx_Init", Init),
            put: find!(c"PMIx_Put", Put),
            commit: find!(c"PMIx_Commit", Commit),
            fence: find!(c"PMIx_Fence", Fence),
            get: find!(c"PMIx_Get", Get),
            abort: find!(c"PMIx_Abort", Abort),
            finalize: find!(c"PMIx_Finalize", Finalize),
            error: find!(c"PMIx_Error_string", TextOf),
        })
    }

    /// Returns success, or an error that names the attempted call.
    fn check(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it takes any number, and returns a text that lasts or nothing.
        let text = unsafe { (self.error)(code) };
        let text = if text.is_null() {
            format!("error {code}")
        } else {
            // SAFETY: a text of C that lasts.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(Error::Environment(format!("PMIx could not {what}: {text}")))
    }
}

/// Paths of the library: the one that the user names; beside the launcher of this process, with the
/// same version; the directories of the system.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = trusted(LIBRARY) {
        return vec![named.into()];
    }
    let prefix = trusted("PMIX_PREFIX").map(PathBuf::from);
    let beside = prefix.iter().flat_map(|prefix| {
        ["lib", "lib64", "lib/openmpi"].map(|folder| prefix.join(folder).join(FILE))
    });
    beside.filter(|path| path.exists()).chain([PathBuf::from(FILE)]).collect()
}

fn open_library() -> Result<*mut c_void> {
    let mut problem = String::new();
    for candidate in candidates() {
        let Ok(path) = CString::new(candidate.into_os_string().into_encoded_bytes()) else {
            continue;
        };
        // SAFETY: a text of C. What the library does when it is opened is as trusted as it is.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !library.is_null() {
            return Ok(library);
        }
        // SAFETY: takes nothing, and returns a text that lasts until the next such call.
        let text = unsafe { libc::dlerror() };
        if !text.is_null() {
            // SAFETY: as it says.
            problem = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        }
    }
    Err(Error::Environment(format!(
        "by PMIx, whose library cannot be opened ({problem}): install it (Debian and Ubuntu: \
         `apt install libpmix2`), or name its file in {LIBRARY}"
    )))
}

fn function(library: *mut c_void, name: &CStr) -> Result<*mut c_void> {
    // SAFETY: an open library, and a text of C.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        let name = name.to_string_lossy();
        return Err(Error::Environment(format!("the library of PMIx has no {name}")));
    }
    Ok(found)
}

fn check_version(function: *mut c_void) -> Result<()> {
    // SAFETY: the library's function of this signature.
    let version = unsafe { std::mem::transmute::<*mut c_void, Text>(function) };
    // SAFETY: it may be called at any time, and returns a text that lasts.
    let text = unsafe { version() };
    // SAFETY: as it says.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    match major(&text) {
        Some(version) if version >= OLDEST => Ok(()),
        _ => Err(Error::Environment(format!(
            "its library of PMIx is of another version than {OLDEST} or later: {text}; \
             name the file of a later one in {LIBRARY}"
        ))),
    }
}

/// The first number of a text such as `OpenPMIx 4.2.2 (PMIx Standard: 4.1)`.
fn major(text: &str) -> Option<u32> {
    let start = text.find(|letter: char| letter.is_ascii_digit())?;
    text[start..].split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// A process that the library has connected to its server.
pub(super) struct Client {
    functions: Functions,
    own: Process,
    ranks: usize,
}

impl Client {
    /// Opens the library and finds the server.
    ///
    /// # Errors
    /// There is no library, or it finds no server.
    pub(super) fn open() -> Result<Client> {
        let functions = Functions::open()?;
        let mut own = Process { namespace: [0; NAMESPACE], rank: 0 };
        // SAFETY: room for a process, and no directives.
        let code = unsafe { (functions.init)(&mut own, null(), 0) };
        functions.check("find its server", code)?;
        let mut client = Client { functions, own, ranks: 0 };
        let ranks = client.fetch(ALL, JOB_SIZE, "tell the number of ranks")?;
        match ranks {
            PmixValue::Number(ranks) if client.own.rank < ranks => client.ranks = ranks as usize,
            _ => return Err(Error::Environment("PMIx tells no number of ranks".into())),
        }
        Ok(client)
    }

    pub(super) fn rank(&self) -> usize {
        self.own.rank as usize
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    pub(super) fn put(&mut self, name: &str, value: &[u8]) -> Result<()> {
        if value.len() > VALUE_MAX_BYTES {
            let bytes = value.len();
            return Err(Error::Environment(format!("{name} with {bytes} bytes is too long")));
        }
        let name = key(name)?;
        // The library only reads it, but takes a pointer to mutable data.
        let bytes = Bytes { start: value.as_ptr().cast_mut().cast(), length: value.len() };
        let mut value = Value { kind: BYTES, datum: Datum { room: [0; 3] } };
        value.datum.bytes = bytes;
        // SAFETY: a text of C and a value whose bytes are there; the library copies them.
        let code = unsafe { (self.functions.put)(GLOBAL, name.as_ptr(), &mut value) };
        self.functions.check("keep a value", code)
    }

    pub(super) fn fence(&mut self) -> Result<()> {
        // SAFETY: it takes nothing.
        let code = unsafe { (self.functions.commit)() };
        self.functions.check("pass values on", code)?;
        let all = Process { rank: ALL, ..self.own };
        // SAFETY: plain numbers, for which zero is good.
        let mut collect: Directive = unsafe { zeroed() };
        let name = COLLECT.to_bytes().iter();
        collect.key.iter_mut().zip(name).for_each(|(to, &from)| *to = from as c_char);
        collect.value.kind = BOOL;
        collect.value.datum.flag = true;
        // SAFETY: one process and one directive.
        let code = unsafe { (self.functions.fence)(&all, 1, &collect, 1) };
        self.functions.check("wait for all ranks", code)
    }

    pub(super) fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
        let key = key(name)?;
        match self.fetch(rank as u32, &key, "get a value")? {
            PmixValue::Bytes(bytes) => Ok(bytes),
            PmixValue::Number(_) | PmixValue::Other => {
                Err(Error::Environment(format!("rank {rank} has put no {name} to PMIx")))
            }
        }
    }

    pub(super) fn abort(&mut self, code: u8, text: &str) -> Result<()> {
        let text = CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: a text of C, and no processes, which means all of the job.
        let code =
            unsafe { (self.functions.abort)(c_int::from(code), text.as_ptr(), null_mut(), 0) };
        self.functions.check("abort", code)
    }

    pub(super) fn finalize(&mut self) -> Result<()> {
        // SAFETY: no directives. Nothing of the library is used after this.
        let code = unsafe { (self.functions.finalize)(null(), 0) };
        self.functions.check("take leave of its server", code)
    }

    fn fetch(&self, rank: u32, key: &CStr, what: &str) -> Result<PmixValue> {
        let of = Process { rank, ..self.own };
        let mut value: *mut Value = null_mut();
        // SAFETY: a process, a text of C, no directives, and room for a pointer.
        let code = unsafe { (self.functions.get)(&of, key.as_ptr(), null(), 0, &mut value) };
        self.functions.check(what, code)?;
        if value.is_null() {
            return Ok(PmixValue::Other);
        }
        // SAFETY: the library has allocated it for us, whole.
        Ok(unsafe { take(value) })
    }
}

/// The content of a value, as far as Motet needs it.
#[derive(Debug, PartialEq, Eq)]
enum PmixValue {
    Number(u32),
    Bytes(Vec<u8>),
    Other,
}

/// Copies the content of a value, and frees the value as the library requires.
///
/// # Safety
/// It is a value that was allocated for the caller, with what it points to, and is used by nobody
/// else.
unsafe fn take(value: *mut Value) -> PmixValue {
    // SAFETY: promised by the caller.
    let Value { kind, datum } = unsafe { value.read() };
    let found = match kind {
        // SAFETY: the kind says which it is.
        UINT32 => PmixValue::Number(unsafe { datum.number }),
        BYTES => {
            // SAFETY: the kind says which it is.
            let Bytes { start, length } = unsafe { datum.bytes };
            let mut copy = vec![0_u8; if start.is_null() { 0 } else { length }];
            // SAFETY: so many bytes are there, and there; those of the copy are new.
            unsafe { start.cast::<u8>().copy_to(copy.as_mut_ptr(), copy.len()) };
            // SAFETY: allocated by the library with `malloc`, and not used again.
            unsafe { libc::free(start.cast()) };
            PmixValue::Bytes(copy)
        }
        _ => PmixValue::Other,
    };
    // SAFETY: as above.
    unsafe { libc::free(value.cast()) };
    found
}

fn key(name: &str) -> Result<CString> {
    let key = CString::new(format!("motet-{name}")).ok().filter(|key| key.count_bytes() < KEY);
    key.ok_or_else(|| Error::Environment(format!("{name:?} is no name for PMIx")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;
    use std::process::Command;

    #[test]
    fn versions_are_read() {
        assert_eq!(major("OpenPMIx 4.2.2 (PMIx Standard: 4.1)"), Some(4));
        assert_eq!(major("OpenPMIx 5.0.11rc1"), Some(5));
        assert_eq!(major("PMIx"), None);
    }

    #[test]
    fn what_the_library_allocates_is_copied_and_freed() {
        let allocate = |value: Value| {
            // SAFETY: no more than it says.
            let room = unsafe { libc::malloc(size_of::<Value>()) }.cast::<Value>();
            // SAFETY: room for a value, aligned for anything.
            unsafe { room.write(value) };
            room
        };
        let mut number = Value { kind: UINT32, datum: Datum { room: [0; 3] } };
        number.datum.number = 7;
        // SAFETY: allocated for us.
        assert_eq!(unsafe { take(allocate(number)) }, PmixValue::Number(7));
        // SAFETY: no more than it says.
        let start = unsafe { libc::malloc(3) }.cast::<c_char>();
        // SAFETY: room for so many bytes.
        unsafe { start.cast::<u8>().copy_from(b"abc".as_ptr(), 3) };
        let mut bytes = Value { kind: BYTES, datum: Datum { room: [0; 3] } };
        bytes.datum.bytes = Bytes { start, length: 3 };
        // SAFETY: allocated for us, with what it points to.
        assert_eq!(unsafe { take(allocate(bytes)) }, PmixValue::Bytes(b"abc".to_vec()));
        let nothing = Value { kind: BYTES, datum: Datum { room: [0; 3] } };
        // SAFETY: allocated for us.
        assert_eq!(unsafe { take(allocate(nothing)) }, PmixValue::Bytes(Vec::new()));
    }

    /// Asks the header for all that is assumed here, in the order of `own`. Nothing if there is no
    /// header, or no compiler.
    fn of_header() -> Option<String> {
        let flags = Command::new("pkg-config").args(["--cflags", "pmix"]).output().ok()?;
        let flags =
            flags.status.success().then(|| String::from_utf8_lossy(&flags.stdout).into_owned());
        let folder = tempfile::tempdir().ok()?;
        let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
        std::fs::write(&source, PROGRAM).ok()?;
        let mut compiler = Command::new("cc");
        compiler.args(flags?.split_whitespace()).arg(&source).arg("-o").arg(&program);
        let compiled = compiler.output().ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(program).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    const PROGRAM: &str = r#"
        #include <pmix.h>
        #include <stddef.h>
        #include <stdio.h>
        int main(void) {
            printf("%zu %zu %zu %zu %zu\n", sizeof(pmix_proc_t), offsetof(pmix_proc_t, rank),
                sizeof(pmix_value_t), offsetof(pmix_value_t, data), sizeof(pmix_data_type_t));
            printf("%zu %zu %zu\n", sizeof(pmix_info_t), offsetof(pmix_info_t, flags),
                offsetof(pmix_info_t, value));
            printf("%zu %zu %zu\n", sizeof(pmix_byte_object_t),
                offsetof(pmix_byte_object_t, bytes), offsetof(pmix_byte_object_t, size));
            printf("%zu %zu %zu\n", sizeof(pmix_status_t), sizeof(pmix_scope_t),
                sizeof(pmix_rank_t));
            printf("%u %d %d %d %d\n", (unsigned)PMIX_RANK_WILDCARD, PMIX_GLOBAL, PMIX_BOOL,
                PMIX_UINT32, PMIX_BYTE_OBJECT);
            printf("%s %s %d\n", PMIX_JOB_SIZE, PMIX_COLLECT_DATA, PMIX_SUCCESS);
            return 0;
        }
    "#;

    #[test]
    fn layouts_are_those_of_the_header() {
        let Some(header) = of_header() else {
            return println!("skipped: neither header nor compiler of PMIx is installed");
        };
        let own = format!(
            "{} {} {} {} {}\n{} {} {}\n{} {} {}\n{} {} {}\n{} {} {} {} {}\n{} {} 0\n",
            size_of::<Process>(),
            offset_of!(Process, rank),
            size_of::<Value>(),
            offset_of!(Value, datum),
            size_of::<u16>(),
            size_of::<Directive>(),
            offset_of!(Directive, flags),
            offset_of!(Directive, value),
            size_of::<Bytes>(),
            offset_of!(Bytes, start),
            offset_of!(Bytes, length),
            size_of::<c_int>(),
            size_of::<u8>(),
            size_of::<u32>(),
            ALL,
            GLOBAL,
            BOOL,
            UINT32,
            BYTES,
            JOB_SIZE.to_str().unwrap(),
            COLLECT.to_str().unwrap(),
        );
        assert_eq!(own, header);
    }
}
