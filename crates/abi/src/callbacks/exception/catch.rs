//! Calls a function and stops the exception that leaves it.
//!
//! Rust cannot catch an exception of another language: `catch_unwind` ends the process. The
//! personality routine of a frame decides where an exception stops, and Rust does not let a program
//! choose the routine of a function. So the frame consists of a few instructions of assembly, with
//! a personality routine that stops every exception there. A function in C could not do it without
//! the C++ runtime library; and it would have to be compiled.
//!
//! **Protocol** (Itanium C++ ABI, level I, 1.3 and 1.6). In its search phase the unwinder asks the
//! routine whether there is a handler in this frame: always. In its second phase it unwinds the
//! frames below, then asks again; the routine makes it continue behind the call, with the exception
//! in the register of the result. There the frame is as it was when the call was made, so the
//! function returns the exception like any other result. After a function that returns, the result
//! is null.
//!
//! A thread that ends inside a callback (`pthread_exit`, or a cancellation) unwinds, too, but must
//! not be stopped, and the library cannot be unwound: the job ends then.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use super::Header;
use crate::job;

/// A function that may throw, with any argument.
type Function = unsafe extern "C-unwind" fn(*mut c_void);

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .text.motet_catch,\"ax\",@progbits",
    ".globl motet_catch",
    ".hidden motet_catch",
    ".type motet_catch,@function",
    "motet_catch:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}", // relative to the place where it is noted
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "xor eax, eax",
    ".globl motet_caught",
    ".hidden motet_caught",
    "motet_caught:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size motet_catch, . - motet_catch",
    ".popsection",
    personality = sym personality,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    ".pushsection .text.motet_catch,\"ax\",@progbits",
    ".globl motet_catch",
    ".hidden motet_catch",
    ".type motet_catch,@function",
    "motet_catch:",
    ".cfi_startproc",
    ".cfi_personality 0x1b, {personality}", // relative to the place where it is noted
    "stp x29, x30, [sp, #-16]!",
    ".cfi_adjust_cfa_offset 16",
    ".cfi_rel_offset x29, 0",
    ".cfi_rel_offset x30, 8",
    "mov x29, sp",
    "mov x9, x0",
    "mov x0, x1",
    "blr x9",
    "mov x0, xzr",
    ".globl motet_caught",
    ".hidden motet_caught",
    "motet_caught:",
    "ldp x29, x30, [sp], #16",
    ".cfi_restore x29",
    ".cfi_restore x30",
    ".cfi_adjust_cfa_offset -16",
    "ret",
    ".cfi_endproc",
    ".size motet_catch, . - motet_catch",
    ".popsection",
    personality = sym personality,
);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the function that stops exceptions has to be written for this processor");

unsafe extern "C" {
    /// Calls the function. Returns the exception that has left it, or null.
    fn motet_catch(function: Function, argument: *mut c_void) -> *mut Header;
    /// The address where execution continues with an exception.
    fn motet_caught();
}

/// Calls a function. Returns the exception that has left it, or null.
///
/// # Safety
/// The function may be called with this argument.
pub(super) unsafe fn call(function: Function, argument: *mut c_void) -> *mut Header {
    // SAFETY: promised by the caller.
    unsafe { motet_catch(function, argument) }
}

/// The unwinder's data about a frame.
#[repr(C)]
struct Context([u8; 0]);

unsafe extern "C" {
    fn _Unwind_SetGR(context: *mut Context, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut Context, value: usize);
}

/// The request to the routine, in bits.
const SEARCH: c_int = 1;
const HANDLER_FRAME: c_int = 4;
const FORCED: c_int = 8;
/// The answers of the routine.
const HANDLER_FOUND: c_int = 6;
const GO_ON_THERE: c_int = 7;
const UNWIND_FURTHER: c_int = 8;
/// The number of the result register, on each of these processors.
const RESULT: c_int = 0;

unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut Header,
    context: *mut Context,
) -> c_int {
    if actions & FORCED != 0 {
        job::callback_ended_thread();
    }
    if actions & SEARCH != 0 {
        return HANDLER_FOUND;
    }
    if actions & HANDLER_FRAME == 0 {
        return UNWIND_FURTHER;
    }
    // SAFETY: the context is that of this frame, whose function looks at the register of its
    // result where it goes on.
    unsafe { _Unwind_SetGR(context, RESULT, exception.expose_provenance()) };
    // SAFETY: as above.
    unsafe { _Unwind_SetIP(context, (motet_caught as *const c_void).addr()) };
    GO_ON_THERE
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn count(argument: *mut c_void) {
        // SAFETY: the test gives it a number.
        unsafe { *argument.cast::<u32>() += 1 };
    }

    /// Throws what it is given.
    unsafe extern "C-unwind" fn throw(argument: *mut c_void) {
        // SAFETY: the test gives it an exception, which nobody else throws.
        unsafe { super::super::_Unwind_RaiseException(argument.cast()) };
        unreachable!("it does not come back");
    }

    #[test]
    fn exceptions_are_stopped_and_nothing_else() {
        let mut calls = 0_u32;
        let mut thrown = Header { class: 0x4d4f_5445_5420_5420, cleanup: None, private: [0; 2] };
        for round in 1..=3 {
            let place = (&raw mut calls).cast();
            // SAFETY: the function takes a number.
            assert!(unsafe { call(count, place) }.is_null());
            assert_eq!(calls, round);
            let exception = &raw mut thrown;
            // SAFETY: the function takes an exception.
            assert_eq!(unsafe { call(throw, exception.cast()) }, exception);
        }
    }
}
