//! Attributes of communicators that the library sets: `MPI_TAG_UB` and others. (MPI 4.1 §9.1.2)

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use motet::Communicator;

use crate::constants::{
    MPI_ANY_SOURCE, MPI_APPNUM, MPI_ERR_LASTCODE, MPI_HOST, MPI_IO, MPI_LASTUSEDCODE,
    MPI_PROC_NULL, MPI_TAG_UB, MPI_UNIVERSE_SIZE, MPI_WTIME_IS_GLOBAL,
};
use crate::objects;

/// Where C looks at a value, also later.
type Value = AtomicI32;

static TAG_UB: Value = Value::new(motet::TAG_UB as c_int);
/// There is no rank that is the host of the others.
static HOST: Value = Value::new(MPI_PROC_NULL);
/// Each rank may read and write.
static IO: Value = Value::new(MPI_ANY_SOURCE);
/// Whether all ranks are on one host, which has one clock.
static WTIME_IS_GLOBAL: Value = Value::new(1);
/// A job is one program.
static APPNUM: Value = Value::new(0);
static UNIVERSE_SIZE: Value = Value::new(1);
static LAST_USED_CODE: Value = Value::new(MPI_ERR_LASTCODE);

/// Whether a number is that of a predefined key of communicators.
pub(crate) fn is_key(keyval: c_int) -> bool {
    value(keyval).is_some()
}

/// Where the value of a predefined key is.
pub(crate) fn address(keyval: c_int) -> Option<usize> {
    if keyval == MPI_UNIVERSE_SIZE {
        let ranks = objects::world().map_or(1, |world| world.size());
        UNIVERSE_SIZE.store(c_int::try_from(ranks).unwrap_or(c_int::MAX), Ordering::Relaxed);
    }
    if keyval == MPI_WTIME_IS_GLOBAL {
        let world = objects::world();
        let ranks = world.as_ref().and_then(|world| world.inside());
        let is_global = ranks.is_none_or(Communicator::is_time_global);
        WTIME_IS_GLOBAL.store(is_global.into(), Ordering::Relaxed);
    }
    value(keyval).map(|value| value.as_ptr() as usize)
}

/// A code of errors has been added or removed.
pub(crate) fn last_used_code(code: c_int) {
    LAST_USED_CODE.store(code, Ordering::Relaxed);
}

fn value(keyval: c_int) -> Option<&'static Value> {
    Some(match keyval {
        MPI_TAG_UB => &TAG_UB,
        MPI_HOST => &HOST,
        MPI_IO => &IO,
        MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        MPI_APPNUM => &APPNUM,
        MPI_UNIVERSE_SIZE => &UNIVERSE_SIZE,
        MPI_LASTUSEDCODE => &LAST_USED_CODE,
        _ => return None,
    })
}
