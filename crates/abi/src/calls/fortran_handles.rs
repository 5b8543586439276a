//! Converts handles to and from integers, for languages without wider handles. (MPI 5.0 §19.3)
//!
//! A constant keeps its value, and an invalid handle has no integer. The integer of a freed object
//! may refer to a newer object.

use std::ffi::c_int;

use crate::handle::*;

macro_rules! integers {
    ($($handle:ident: $to:ident, $from:ident;)*) => {$(
        #[doc = concat!("`", stringify!($handle), "` to `int`")]
        pub(crate) fn $to(handle: $handle) -> c_int {
            handle.to_int()
        }

        #[doc = concat!("`int` to `", stringify!($handle), "`")]
        pub(crate) fn $from(value: c_int) -> $handle {
            $handle::from_int(value)
        }
    )*};
}

integers! {
    MPI_Comm: comm_toint, comm_fromint;
    MPI_Errhandler: errhandler_toint, errhandler_fromint;
    MPI_File: file_toint, file_fromint;
    MPI_Group: group_toint, group_fromint;
    MPI_Info: info_toint, info_fromint;
    MPI_Message: message_toint, message_fromint;
    MPI_Op: op_toint, op_fromint;
    MPI_Request: request_toint, request_fromint;
    MPI_Session: session_toint, session_fromint;
    MPI_Datatype: type_toint, type_fromint;
    MPI_Win: win_toint, win_fromint;
}
