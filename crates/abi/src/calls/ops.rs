//! Operators, and `MPI_Reduce_local`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::{ErrorClass, raw};

use super::arguments::{Which, address, committed, count, operator};
use crate::callbacks::{Commutativity, Operator};
use crate::constants::MPI_OP_NULL;
use crate::count::Width;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{Callback, MPI_Datatype, MPI_Op};
use crate::objects;
use crate::out_params::put;
use crate::thread_level;

/// `MPI_Op_commutative`
pub(crate) unsafe fn op_commutative(op: MPI_Op, commute: *mut c_int) -> AbiResult {
    let is_commutative = op.object()?.is_commutative();
    // SAFETY: there is a place for it, says the program.
    unsafe { put(commute, c_int::from(is_commutative)) }
}

/// `MPI_Op_create`
pub(crate) unsafe fn op_create(user_fn: Callback, commute: c_int, op: *mut MPI_Op) -> AbiResult {
    // SAFETY: it is what it says, says the program.
    unsafe { create(user_fn, Width::Int, commute, op) }
}

/// `MPI_Op_create_c`
pub(crate) unsafe fn op_create_c(user_fn: Callback, commute: c_int, op: *mut MPI_Op) -> AbiResult {
    // SAFETY: it is what it says, says the program.
    unsafe { create(user_fn, Width::Count, commute, op) }
}

/// # Safety
/// It is a function of the program that takes the number of items so.
unsafe fn create(function: Callback, width: Width, commute: c_int, op: *mut MPI_Op) -> AbiResult {
    if function.is_null() {
        return Err(argument("the function of the operator is NULL"));
    }
    if op.is_null() {
        return Err(argument("the address for the new operator is NULL"));
    }
    let commutativity = if commute == 0 { Commutativity::Ordered } else { Commutativity::Free };
    // A thread of the library may call the function, and that one may look at handles.
    thread_level::end();
    // SAFETY: promised by the caller.
    let operator = unsafe { Operator::user(function, width, commutativity) };
    // SAFETY: there is a place for it, says the program.
    unsafe { put(op, MPI_Op::keep(operator)) }
}

/// `MPI_Op_free`: calls that are under way, and persistent operations, keep the function.
pub(crate) unsafe fn op_free(op: *mut MPI_Op) -> AbiResult {
    if op.is_null() {
        return Err(argument("the address of the operator is NULL"));
    }
    // SAFETY: it is there, says the program.
    let freed = unsafe { op.read() };
    if freed.is_constant() && freed.object().is_ok() {
        return Err(AbiError::new(ErrorClass::Op, "a predefined operator cannot be freed"));
    }
    freed.retire()?;
    // SAFETY: as above.
    unsafe { put(op, MPI_OP_NULL) }
}

/// `MPI_Reduce_local`
pub(crate) unsafe fn reduce_local(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> AbiResult {
    let count = self::count(Which::Only, count)?;
    let datatype = committed(datatype)?;
    let op = operator(op, &datatype)?;
    if objects::is_strict() {
        raw::check_operator(&op, &datatype.datatype)?;
    }
    let (input, inout) = (address(Which::Send, inbuf)?, address(Which::Receive, inoutbuf)?);
    let (low, high) = datatype.datatype.commit().reach(count as u64);
    let is_null = |address: *mut u8| low != high && address.addr() as i128 + low == 0;
    if is_null(input) || is_null(inout) {
        let text = format!("a buffer is NULL, but has {count} items");
        return Err(AbiError::new(ErrorClass::Buffer, text));
    }
    if input == inout && low != high {
        let text = "input and result are the same buffer; pass two buffers";
        return Err(AbiError::new(ErrorClass::Buffer, text));
    }
    // SAFETY: all items are there, says the program; their addresses come from elsewhere, and so
    // are exposed.
    Ok(unsafe { op.reduce_local(input, inout, count, &datatype.datatype) }?)
}
