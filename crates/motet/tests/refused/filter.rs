//! A filter that has the system refuse a call to this process and to all that it starts, as
//! sandboxes do and kernels that are older than the call.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP,
    SECCOMP_MODE_FILTER, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, c_int, c_long, sock_filter,
    sock_fprog,
};

/// Has the system answer one call with an error from now on.
pub(crate) fn refuse(call: c_long, errno: c_int) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    // The number of the call comes first in what a filter is shown.
    let mut steps = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call as u32),
        step(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | errno as u32),
        step(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW),
    ];
    let filter = sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: sets an attribute of this process; takes no pointers.
    let promised = unsafe { libc::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the filter points to steps that live until after the call, which copies them.
    let set = unsafe { libc::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &raw const filter) };
    if promised == 0 && set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
