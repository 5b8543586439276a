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

/// `MPI_Comm_fromint`
pub(crate) unsafe fn comm_fromint(comm: c_int) -> MPI_Comm {
    MPI_Comm::constant(0)
}

/// `MPI_Comm_toint`
pub(crate) unsafe fn comm_toint(comm: MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Errhandler_fromint`
pub(crate) unsafe fn errhandler_fromint(errhandler: c_int) -> MPI_Errhandler {
    MPI_Errhandler::constant(0)
}

/// `MPI_Errhandler_toint`
pub(crate) unsafe fn errhandler_toint(errhandler: MPI_Errhandler) -> Answer {
    not_yet()
}

/// `MPI_File_fromint`
pub(crate) unsafe fn file_fromint(file: c_int) -> MPI_File {
    MPI_File::constant(0)
}

/// `MPI_File_toint`
pub(crate) unsafe fn file_toint(file: MPI_File) -> Answer {
    not_yet()
}

/// `MPI_Group_fromint`
pub(crate) unsafe fn group_fromint(group: c_int) -> MPI_Group {
    MPI_Group::constant(0)
}

/// `MPI_Group_toint`
pub(crate) unsafe fn group_toint(group: MPI_Group) -> Answer {
    not_yet()
}

/// `MPI_Info_fromint`
pub(crate) unsafe fn info_fromint(info: c_int) -> MPI_Info {
    MPI_Info::constant(0)
}

/// `MPI_Info_toint`
pub(crate) unsafe fn info_toint(info: MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Message_fromint`
pub(crate) unsafe fn message_fromint(message: c_int) -> MPI_Message {
    MPI_Message::constant(0)
}

/// `MPI_Message_toint`
pub(crate) unsafe fn message_toint(message: MPI_Message) -> Answer {
    not_yet()
}

/// `MPI_Op_fromint`
pub(crate) unsafe fn op_fromint(op: c_int) -> MPI_Op {
    MPI_Op::constant(0)
}

/// `MPI_Op_toint`
pub(crate) unsafe fn op_toint(op: MPI_Op) -> Answer {
    not_yet()
}

/// `MPI_Request_fromint`
pub(crate) unsafe fn request_fromint(request: c_int) -> MPI_Request {
    MPI_Request::constant(0)
}

/// `MPI_Request_toint`
pub(crate) unsafe fn request_toint(request: MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Session_fromint`
pub(crate) unsafe fn session_fromint(session: c_int) -> MPI_Session {
    MPI_Session::constant(0)
}

/// `MPI_Session_toint`
pub(crate) unsafe fn session_toint(session: MPI_Session) -> Answer {
    not_yet()
}

/// `MPI_Type_fromint`
pub(crate) unsafe fn type_fromint(datatype: c_int) -> MPI_Datatype {
    MPI_Datatype::constant(0)
}

/// `MPI_Type_toint`
pub(crate) unsafe fn type_toint(datatype: MPI_Datatype) -> Answer {
    not_yet()
}

/// `MPI_Win_fromint`
pub(crate) unsafe fn win_fromint(win: c_int) -> MPI_Win {
    MPI_Win::constant(0)
}

/// `MPI_Win_toint`
pub(crate) unsafe fn win_toint(win: MPI_Win) -> Answer {
    not_yet()
}
