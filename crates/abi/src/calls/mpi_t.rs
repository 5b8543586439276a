//! The tool interface, MPI_T. (MPI 4.1 §15.3)
//!
//! The control variables are the settings of the library, and are read-only. There are no
//! performance variables, categories, enumerations, events or event sources, so any call about one
//! returns the error for a wrong index, name or handle. Errors are returned, and never call an
//! error handler.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cvars::{self, Setting};
use crate::constants::*;
use crate::error::AbiError;
use crate::handle::*;
use crate::out_params::{get, put};
use crate::text;

type Outcome = Result<(), c_int>;

/// What tools have.
struct Tools {
    /// How often the interface has been initialised and not finalised.
    users: u32,
    /// The number of the handle that was given out last.
    last: usize,
    /// The value of a variable, with a zero at its end, as it was when the handle was made.
    variables: BTreeMap<MPI_T_cvar_handle, Vec<u8>>,
    sessions: BTreeSet<MPI_T_pvar_session>,
}

/// Handles are larger than the constants of the standard.
static TOOLS: Mutex<Tools> = Mutex::new(Tools {
    users: 0,
    last: 4096,
    variables: BTreeMap::new(),
    sessions: BTreeSet::new(),
});

fn lock() -> MutexGuard<'static, Tools> {
    TOOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What tools have, if the interface is initialised.
fn tools() -> Result<MutexGuard<'static, Tools>, c_int> {
    let tools = lock();
    if tools.users == 0 { Err(MPI_T_ERR_NOT_INITIALIZED) } else { Ok(tools) }
}

impl Tools {
    fn fresh(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    fn session(&self, session: MPI_T_pvar_session) -> Outcome {
        if self.sessions.contains(&session) { Ok(()) } else { Err(MPI_T_ERR_INVALID_SESSION) }
    }
}

/// Of all that can be wrong with an argument of the interface, it has one code.
fn invalid(_: AbiError) -> c_int {
    MPI_T_ERR_INVALID
}

unsafe fn tell<T>(place: *mut T, value: T) -> Outcome {
    // SAFETY: promised by the caller.
    unsafe { put(place, value) }.map_err(invalid)
}

/// Puts a value where the caller may want it.
unsafe fn tell_if<T>(place: *mut T, value: T) -> Outcome {
    // SAFETY: promised by the caller.
    if place.is_null() { Ok(()) } else { unsafe { tell(place, value) } }
}

/// Puts a text where the caller may want it, for which there is room for `len` bytes, and says how
/// many it takes.
unsafe fn tell_text(text: &str, place: *mut c_char, len: *mut c_int) -> Outcome {
    if len.is_null() {
        return Ok(());
    }
    // SAFETY: promised by the caller.
    let room = unsafe { get(len) }.map_err(invalid)?;
    if !place.is_null() && room > 0 {
        // SAFETY: as above.
        unsafe { text::write(text, place, room as usize) }.map_err(invalid)?;
    }
    // SAFETY: as above.
    unsafe { tell(len, text.len() as c_int + 1) }
}

fn setting(index: c_int) -> Result<&'static Setting, c_int> {
    let found = usize::try_from(index).ok().and_then(|index| cvars::ALL.get(index));
    found.ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// `MPI_T_init_thread`
pub(crate) unsafe fn t_init_thread(_required: c_int, provided: *mut c_int) -> Outcome {
    // SAFETY: room for a result of the caller.
    unsafe { tell(provided, MPI_THREAD_MULTIPLE) }?;
    lock().users += 1;
    Ok(())
}

/// `MPI_T_finalize`
pub(crate) fn t_finalize() -> Outcome {
    let mut tools = tools()?;
    tools.users -= 1;
    if tools.users == 0 {
        tools.variables.clear();
        tools.sessions.clear();
    }
    Ok(())
}

/// `MPI_T_cvar_get_num`
pub(crate) unsafe fn t_cvar_get_num(num_cvar: *mut c_int) -> Outcome {
    let _tools = tools()?;
    // SAFETY: room for a result of the caller.
    unsafe { tell(num_cvar, cvars::ALL.len() as c_int) }
}

/// `MPI_T_cvar_get_index`
pub(crate) unsafe fn t_cvar_get_index(name: *const c_char, cvar_index: *mut c_int) -> Outcome {
    let _tools = tools()?;
    // SAFETY: a string of the caller.
    let name = unsafe { text::read("name", name) }.map_err(invalid)?;
    let index = cvars::ALL.iter().position(|setting| setting.name == name);
    // SAFETY: room for a result of the caller.
    unsafe { tell(cvar_index, index.ok_or(MPI_T_ERR_INVALID_NAME)? as c_int) }
}

/// `MPI_T_cvar_get_info`
pub(crate) unsafe fn t_cvar_get_info(
    cvar_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    verbosity: *mut c_int,
    datatype: *mut MPI_Datatype,
    enumtype: *mut MPI_T_enum,
    desc: *mut c_char,
    desc_len: *mut c_int,
    bind: *mut c_int,
    scope: *mut c_int,
) -> Outcome {
    let _tools = tools()?;
    let setting = setting(cvar_index)?;
    // SAFETY: room for results of the caller, as for all below.
    unsafe { tell_text(setting.name, name, name_len) }?;
    // SAFETY: as above.
    unsafe { tell_text(setting.meaning, desc, desc_len) }?;
    // SAFETY: as above.
    unsafe { tell_if(verbosity, setting.verbosity) }?;
    // SAFETY: as above.
    unsafe { tell_if(datatype, MPI_CHAR) }?;
    // SAFETY: as above.
    unsafe { tell_if(enumtype, MPI_T_ENUM_NULL) }?;
    // SAFETY: as above.
    unsafe { tell_if(bind, MPI_T_BIND_NO_OBJECT) }?;
    // SAFETY: as above.
    unsafe { tell_if(scope, MPI_T_SCOPE_READONLY) }
}

/// `MPI_T_cvar_handle_alloc`
pub(crate) unsafe fn t_cvar_handle_alloc(
    cvar_index: c_int,
    _obj_handle: *mut c_void,
    handle: *mut MPI_T_cvar_handle,
    count: *mut c_int,
) -> Outcome {
    let mut tools = tools()?;
    let mut value = setting(cvar_index)?.value().into_bytes();
    value.push(0);
    let fresh = tools.fresh();
    // SAFETY: room for a result of the caller.
    unsafe { tell(handle, fresh) }?;
    // SAFETY: as above.
    unsafe { tell(count, value.len() as c_int) }?;
    tools.variables.insert(fresh, value);
    Ok(())
}

/// `MPI_T_cvar_handle_free`
pub(crate) unsafe fn t_cvar_handle_free(handle: *mut MPI_T_cvar_handle) -> Outcome {
    let mut tools = tools()?;
    // SAFETY: a place of the caller.
    let known = unsafe { get(handle) }.map_err(invalid)?;
    tools.variables.remove(&known).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
    // SAFETY: as above.
    unsafe { tell(handle, MPI_T_CVAR_HANDLE_NULL) }
}

/// `MPI_T_cvar_read`
pub(crate) unsafe fn t_cvar_read(handle: MPI_T_cvar_handle, buf: *mut c_void) -> Outcome {
    let tools = tools()?;
    let value = tools.variables.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
    for (at, &byte) in value.iter().enumerate() {
        // SAFETY: there is room for as many as the handle counts, says the caller, or none.
        unsafe { tell(buf.cast::<u8>().wrapping_add(at), byte) }?;
    }
    Ok(())
}

/// `MPI_T_cvar_write`
pub(crate) unsafe fn t_cvar_write(handle: MPI_T_cvar_handle, _buf: *const c_void) -> Outcome {
    let tools = tools()?;
    tools.variables.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
    Err(MPI_T_ERR_CVAR_SET_NEVER)
}

/// `MPI_T_pvar_session_create`
pub(crate) unsafe fn t_pvar_session_create(session: *mut MPI_T_pvar_session) -> Outcome {
    let mut tools = tools()?;
    let fresh = tools.fresh();
    // SAFETY: room for a result of the caller.
    unsafe { tell(session, fresh) }?;
    tools.sessions.insert(fresh);
    Ok(())
}

/// `MPI_T_pvar_session_free`
pub(crate) unsafe fn t_pvar_session_free(session: *mut MPI_T_pvar_session) -> Outcome {
    let mut tools = tools()?;
    // SAFETY: a place of the caller.
    let known = unsafe { get(session) }.map_err(invalid)?;
    tools.session(known)?;
    tools.sessions.remove(&known);
    // SAFETY: as above.
    unsafe { tell(session, MPI_T_PVAR_SESSION_NULL) }
}

/// `MPI_T_pvar_handle_alloc`
pub(crate) unsafe fn t_pvar_handle_alloc(
    session: MPI_T_pvar_session,
    _pvar_index: c_int,
    _obj_handle: *mut c_void,
    _handle: *mut MPI_T_pvar_handle,
    _count: *mut c_int,
) -> Outcome {
    tools()?.session(session)?;
    Err(MPI_T_ERR_INVALID_INDEX)
}

/// `MPI_T_pvar_handle_free`
pub(crate) unsafe fn t_pvar_handle_free(
    session: MPI_T_pvar_session,
    _handle: *mut MPI_T_pvar_handle,
) -> Outcome {
    tools()?.session(session)?;
    Err(MPI_T_ERR_INVALID_HANDLE)
}

/// What is done to all handles of a session is done: there are none.
fn on_handles(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> Outcome {
    tools()?.session(session)?;
    if handle == MPI_T_PVAR_ALL_HANDLES { Ok(()) } else { Err(MPI_T_ERR_INVALID_HANDLE) }
}

/// `MPI_T_pvar_start`
pub(crate) fn t_pvar_start(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> Outcome {
    on_handles(session, handle)
}

/// `MPI_T_pvar_stop`
pub(crate) fn t_pvar_stop(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> Outcome {
    on_handles(session, handle)
}

/// `MPI_T_pvar_reset`
pub(crate) fn t_pvar_reset(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> Outcome {
    on_handles(session, handle)
}

/// Calls that count what there is none of.
macro_rules! none {
    ($($name:ident;)*) => {$(
        #[doc = concat!("`MPI_", stringify!($name), "`")]
        pub(crate) unsafe fn $name(number: *mut c_int) -> Outcome {
            let _tools = tools()?;
            // SAFETY: room for a result of the caller.
            unsafe { tell(number, 0) }
        }
    )*};
}

none! {
    t_category_changed;
    t_category_get_num;
    t_event_get_num;
    t_pvar_get_num;
    t_source_get_num;
}

/// Calls on what there is none of, with the code that says so.
macro_rules! absent {
    ($($code:ident { $($name:ident($($kind:ty),*);)* })*) => {$($(
        #[doc = concat!("`MPI_", stringify!($name), "`")]
        pub(crate) unsafe fn $name($(_: $kind),*) -> Outcome {
            let _tools = tools()?;
            Err($code)
        }
    )*)*};
}

type Text = *mut c_char;
type Int = *mut c_int;

absent! {
    MPI_T_ERR_INVALID_INDEX {
        t_category_get_categories(c_int, c_int, Int);
        t_category_get_cvars(c_int, c_int, Int);
        t_category_get_events(c_int, c_int, Int);
        t_category_get_info(c_int, Text, Int, Text, Int, Int, Int, Int);
        t_category_get_num_events(c_int, Int);
        t_category_get_pvars(c_int, c_int, Int);
        t_event_get_info(
            c_int, Text, Int, Int, *mut MPI_Datatype, *mut MPI_Aint, Int, *mut MPI_T_enum,
            *mut MPI_Info, Text, Int, Int
        );
        t_event_handle_alloc(c_int, *mut c_void, MPI_Info, *mut MPI_T_event_registration);
        t_pvar_get_info(
            c_int, Text, Int, Int, Int, *mut MPI_Datatype, *mut MPI_T_enum, Text, Int, Int, Int,
            Int, Int
        );
        t_source_get_info(c_int, Text, Int, Text, Int, Int, *mut i64, *mut i64, *mut MPI_Info);
        t_source_get_timestamp(c_int, *mut MPI_Count);
    }
    MPI_T_ERR_INVALID_NAME {
        t_category_get_index(*const c_char, Int);
        t_event_get_index(*const c_char, Int);
        t_pvar_get_index(*const c_char, c_int, Int);
    }
    MPI_T_ERR_INVALID_HANDLE {
        t_enum_get_info(MPI_T_enum, Int, Text, Int);
        t_enum_get_item(MPI_T_enum, c_int, Int, Text, Int);
        t_event_callback_get_info(MPI_T_event_registration, c_int, *mut MPI_Info);
        t_event_copy(MPI_T_event_instance, *mut c_void);
        t_event_get_source(MPI_T_event_instance, Int);
        t_event_get_timestamp(MPI_T_event_instance, *mut MPI_Count);
        t_event_handle_free(MPI_T_event_registration, *mut c_void, Callback);
        t_event_handle_get_info(MPI_T_event_registration, *mut MPI_Info);
        t_event_read(MPI_T_event_instance, c_int, *mut c_void);
        t_event_register_callback(
            MPI_T_event_registration, c_int, MPI_Info, *mut c_void, Callback
        );
        t_event_set_dropped_handler(MPI_T_event_registration, Callback);
        t_pvar_read(MPI_T_pvar_session, MPI_T_pvar_handle, *mut c_void);
        t_pvar_readreset(MPI_T_pvar_session, MPI_T_pvar_handle, *mut c_void);
        t_pvar_write(MPI_T_pvar_session, MPI_T_pvar_handle, *const c_void);
    }
}

/// `MPI_T_event_callback_set_info`
pub(crate) fn t_event_callback_set_info(
    _: MPI_T_event_registration,
    _: c_int,
    _: MPI_Info,
) -> Outcome {
    no_event()
}

/// `MPI_T_event_handle_set_info`
pub(crate) fn t_event_handle_set_info(_: MPI_T_event_registration, _: MPI_Info) -> Outcome {
    no_event()
}

fn no_event() -> Outcome {
    let _tools = tools()?;
    Err(MPI_T_ERR_INVALID_HANDLE)
}
