//! TODO_MODULE

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names
#![allow(unused_variables, unused_imports)]

use std::ffi::{c_char, c_int, c_void};

use motet::ErrorClass;

use crate::count::{CountPlace, Counts};
use crate::fault::{Answer, Fault};
use crate::handle::*;
use crate::objects::MPI_Status;

use super::Form;

fn not_yet<T>() -> Answer<T> {
    Err(Fault::new(ErrorClass::UnsupportedOperation, "not yet"))
}

/// `MPI_T_category_changed`
pub(crate) unsafe fn t_category_changed(update_number: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_categories`
pub(crate) unsafe fn t_category_get_categories(
    cat_index: c_int,
    len: c_int,
    indices: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_cvars`
pub(crate) unsafe fn t_category_get_cvars(
    cat_index: c_int,
    len: c_int,
    indices: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_events`
pub(crate) unsafe fn t_category_get_events(
    cat_index: c_int,
    len: c_int,
    indices: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_index`
pub(crate) unsafe fn t_category_get_index(
    name: *const c_char,
    cat_index: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_info`
pub(crate) unsafe fn t_category_get_info(
    cat_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    desc: *mut c_char,
    desc_len: *mut c_int,
    num_cvars: *mut c_int,
    num_pvars: *mut c_int,
    num_categories: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_num`
pub(crate) unsafe fn t_category_get_num(num_cat: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_num_events`
pub(crate) unsafe fn t_category_get_num_events(
    cat_index: c_int,
    num_events: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_category_get_pvars`
pub(crate) unsafe fn t_category_get_pvars(
    cat_index: c_int,
    len: c_int,
    indices: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_get_index`
pub(crate) unsafe fn t_cvar_get_index(
    name: *const c_char,
    cvar_index: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
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
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_get_num`
pub(crate) unsafe fn t_cvar_get_num(num_cvar: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_handle_alloc`
pub(crate) unsafe fn t_cvar_handle_alloc(
    cvar_index: c_int,
    obj_handle: *mut c_void,
    handle: *mut MPI_T_cvar_handle,
    count: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_handle_free`
pub(crate) unsafe fn t_cvar_handle_free(handle: *mut MPI_T_cvar_handle) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_read`
pub(crate) unsafe fn t_cvar_read(handle: MPI_T_cvar_handle, buf: *mut c_void) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_cvar_write`
pub(crate) unsafe fn t_cvar_write(
    handle: MPI_T_cvar_handle,
    buf: *const c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_enum_get_info`
pub(crate) unsafe fn t_enum_get_info(
    enumtype: MPI_T_enum,
    num: *mut c_int,
    name: *mut c_char,
    name_len: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_enum_get_item`
pub(crate) unsafe fn t_enum_get_item(
    enumtype: MPI_T_enum,
    indx: c_int,
    value: *mut c_int,
    name: *mut c_char,
    name_len: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_callback_get_info`
pub(crate) unsafe fn t_event_callback_get_info(
    event_registration: MPI_T_event_registration,
    cb_safety: c_int,
    info_used: *mut MPI_Info,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_callback_set_info`
pub(crate) unsafe fn t_event_callback_set_info(
    event_registration: MPI_T_event_registration,
    cb_safety: c_int,
    info: MPI_Info,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_copy`
pub(crate) unsafe fn t_event_copy(
    event_instance: MPI_T_event_instance,
    buffer: *mut c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_get_index`
pub(crate) unsafe fn t_event_get_index(
    name: *const c_char,
    event_index: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_get_info`
pub(crate) unsafe fn t_event_get_info(
    event_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    verbosity: *mut c_int,
    array_of_datatypes: *mut MPI_Datatype,
    array_of_displacements: *mut MPI_Aint,
    num_elements: *mut c_int,
    enumtype: *mut MPI_T_enum,
    info: *mut MPI_Info,
    desc: *mut c_char,
    desc_len: *mut c_int,
    bind: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_get_num`
pub(crate) unsafe fn t_event_get_num(num_events: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_get_source`
pub(crate) unsafe fn t_event_get_source(
    event_instance: MPI_T_event_instance,
    source_index: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_get_timestamp`
pub(crate) unsafe fn t_event_get_timestamp(
    event_instance: MPI_T_event_instance,
    event_timestamp: *mut MPI_Count,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_handle_alloc`
pub(crate) unsafe fn t_event_handle_alloc(
    event_index: c_int,
    obj_handle: *mut c_void,
    info: MPI_Info,
    event_registration: *mut MPI_T_event_registration,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_handle_free`
pub(crate) unsafe fn t_event_handle_free(
    event_registration: MPI_T_event_registration,
    user_data: *mut c_void,
    free_cb_function: Callback,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_handle_get_info`
pub(crate) unsafe fn t_event_handle_get_info(
    event_registration: MPI_T_event_registration,
    info_used: *mut MPI_Info,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_handle_set_info`
pub(crate) unsafe fn t_event_handle_set_info(
    event_registration: MPI_T_event_registration,
    info: MPI_Info,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_read`
pub(crate) unsafe fn t_event_read(
    event_instance: MPI_T_event_instance,
    element_index: c_int,
    buffer: *mut c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_register_callback`
pub(crate) unsafe fn t_event_register_callback(
    event_registration: MPI_T_event_registration,
    cb_safety: c_int,
    info: MPI_Info,
    user_data: *mut c_void,
    event_cb_function: Callback,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_event_set_dropped_handler`
pub(crate) unsafe fn t_event_set_dropped_handler(
    event_registration: MPI_T_event_registration,
    dropped_cb_function: Callback,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_finalize`
pub(crate) unsafe fn t_finalize() -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_init_thread`
pub(crate) unsafe fn t_init_thread(required: c_int, provided: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_get_index`
pub(crate) unsafe fn t_pvar_get_index(
    name: *const c_char,
    var_class: c_int,
    pvar_index: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_get_info`
pub(crate) unsafe fn t_pvar_get_info(
    pvar_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    verbosity: *mut c_int,
    var_class: *mut c_int,
    datatype: *mut MPI_Datatype,
    enumtype: *mut MPI_T_enum,
    desc: *mut c_char,
    desc_len: *mut c_int,
    bind: *mut c_int,
    readonly: *mut c_int,
    continuous: *mut c_int,
    atomic: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_get_num`
pub(crate) unsafe fn t_pvar_get_num(num_pvar: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_handle_alloc`
pub(crate) unsafe fn t_pvar_handle_alloc(
    session: MPI_T_pvar_session,
    pvar_index: c_int,
    obj_handle: *mut c_void,
    handle: *mut MPI_T_pvar_handle,
    count: *mut c_int,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_handle_free`
pub(crate) unsafe fn t_pvar_handle_free(
    session: MPI_T_pvar_session,
    handle: *mut MPI_T_pvar_handle,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_read`
pub(crate) unsafe fn t_pvar_read(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
    buf: *mut c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_readreset`
pub(crate) unsafe fn t_pvar_readreset(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
    buf: *mut c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_reset`
pub(crate) unsafe fn t_pvar_reset(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_session_create`
pub(crate) unsafe fn t_pvar_session_create(session: *mut MPI_T_pvar_session) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_session_free`
pub(crate) unsafe fn t_pvar_session_free(session: *mut MPI_T_pvar_session) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_start`
pub(crate) unsafe fn t_pvar_start(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_stop`
pub(crate) unsafe fn t_pvar_stop(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_pvar_write`
pub(crate) unsafe fn t_pvar_write(
    session: MPI_T_pvar_session,
    handle: MPI_T_pvar_handle,
    buf: *const c_void,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_source_get_info`
pub(crate) unsafe fn t_source_get_info(
    source_index: c_int,
    name: *mut c_char,
    name_len: *mut c_int,
    desc: *mut c_char,
    desc_len: *mut c_int,
    ordering: *mut c_int,
    ticks_per_second: *mut MPI_Count,
    max_ticks: *mut MPI_Count,
    info: *mut MPI_Info,
) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_source_get_num`
pub(crate) unsafe fn t_source_get_num(num_sources: *mut c_int) -> Result<(), c_int> {
    Err(1)
}

/// `MPI_T_source_get_timestamp`
pub(crate) unsafe fn t_source_get_timestamp(
    source_index: c_int,
    timestamp: *mut MPI_Count,
) -> Result<(), c_int> {
    Err(1)
}
