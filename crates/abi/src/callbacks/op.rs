//! Operators.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::mem;
use std::sync::{Arc, OnceLock};

use motet::op::Predefined;
use motet::{Datatype, ErrorClass, Op};

use super::exception::{Exception, stopped};
use crate::arena::{Arena, ObjectRef};
use crate::count::Width;
use crate::handle::{Callback, Kind, MPI_ABI_Op, MPI_Count, MPI_Datatype};
use crate::objects::{FoundType, Type};

/// The first constant of the kind, and the number of possible ones.
const BASE: usize = 0x20;
const CONSTANTS: usize = 0x20;

/// An operator.
#[derive(Clone, Debug)]
pub(crate) enum Operator {
    Predefined(Predefined),
    User(Function),
}

/// An operator of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    address: usize,
    width: Width,
    commutativity: Commutativity,
}

/// Whether operands may be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commutativity {
    Free,
    Ordered,
}

impl Kind for MPI_ABI_Op {
    type Object = Operator;
    type Own = ();
    const CODE: u8 = 7;
    const NAME: &'static str = "MPI_Op";
    const CLASS: ErrorClass = ErrorClass::Op;

    fn arena() -> &'static Arena<Operator> {
        static ARENA: Arena<Operator> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<ObjectRef<Operator>> {
        static PREDEFINED: OnceLock<Box<[Option<Operator>]>> = OnceLock::new();
        let code = |each| u16::try_from(BASE + each).ok();
        let named = |each| Some(Operator::Predefined(Predefined::from_code(code(each)?)?));
        let predefined = PREDEFINED.get_or_init(|| (0..CONSTANTS).map(named).collect());
        predefined.get(value.checked_sub(BASE)?)?.as_ref().map(ObjectRef::always)
    }
}

impl Operator {
    /// An operator of the program.
    ///
    /// # Safety
    /// It is a function of the type `MPI_User_function`, or `MPI_User_function_c` if it takes
    /// counts.
    pub(crate) unsafe fn user(
        function: Callback,
        width: Width,
        commutativity: Commutativity,
    ) -> Operator {
        Operator::User(Function { address: function as usize, width, commutativity })
    }

    pub(crate) fn is_commutative(&self) -> bool {
        match self {
            Operator::Predefined(predefined) => Op::predefined(*predefined).is_commutative(),
            Operator::User(function) => function.commutativity == Commutativity::Free,
        }
    }

    /// The operator for a call with items of a datatype: a function of the program receives a
    /// handle of the datatype.
    #[inline(always)]
    pub(crate) fn op(&self, datatype: &FoundType) -> Op {
        match self {
            Operator::Predefined(predefined) => Op::predefined(*predefined),
            Operator::User(function) => function.op(datatype.clone()),
        }
    }
}

impl Function {
    /// The operator for a call with items of a datatype.
    fn op(self, datatype: FoundType) -> Op {
        let function = self;
        let combine = move |input: *const u8, inout: *mut u8, count: usize, items: &Datatype| {
            let told = Told::of(&datatype);
            let (input, handle) = (input.cast_mut(), told.handle);
            // SAFETY: the program says that it is such a function, and the engine has the items.
            let call = || unsafe { function.call(input, inout, (count, items), handle) };
            stopped(call).map_err(Exception::keep)
        };
        if function.commutativity == Commutativity::Free {
            // SAFETY: that it stays within its items is promised by the program.
            unsafe { Op::throwing_commutative(Arc::new(combine)) }
        } else {
            // SAFETY: as above.
            unsafe { Op::throwing_ordered(Arc::new(combine)) }
        }
    }
}

/// The handle of a datatype that a function receives. The program may have freed its own handle
/// since it made the call; then the datatype has another handle while the function runs.
struct Told {
    handle: MPI_Datatype,
    is_ours: bool,
}

impl Told {
    fn of(datatype: &Type) -> Told {
        let handle = datatype.handle;
        if handle.is_constant() || handle.has_object() {
            return Told { handle, is_ours: false };
        }
        Told { handle: datatype.publish_again(), is_ours: true }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if self.is_ours {
            // The function may have freed the handle, which the standard forbids.
            let _ = self.handle.retire();
        }
    }
}

impl Function {
    /// Combines items, in pieces that an `int` can count.
    ///
    /// # Safety
    /// It is a function of the type that it says, and there are so many items at both addresses.
    unsafe fn call(
        self,
        input: *mut u8,
        inout: *mut u8,
        (count, items): (usize, &Datatype),
        mut datatype: MPI_Datatype,
    ) {
        if self.width == Width::Count {
            type Large =
                unsafe extern "C-unwind" fn(*mut u8, *mut u8, *mut MPI_Count, *mut MPI_Datatype);
            // SAFETY: promised by the caller.
            let function: Large = unsafe { mem::transmute(self.address) };
            let mut count = count as MPI_Count;
            // SAFETY: promised by the caller.
            unsafe { function(input, inout, &raw mut count, &raw mut datatype) };
            return;
        }
        type Small = unsafe extern "C-unwind" fn(*mut u8, *mut u8, *mut c_int, *mut MPI_Datatype);
        // SAFETY: promised by the caller.
        let function: Small = unsafe { mem::transmute(self.address) };
        let most = c_int::MAX as usize;
        for begin in (0..count).step_by(most) {
            let mut len = (count - begin).min(most) as c_int;
            let offset = items.extent() as isize * begin as isize;
            let (input, inout) = (input.wrapping_offset(offset), inout.wrapping_offset(offset));
            // SAFETY: promised by the caller.
            unsafe { function(input, inout, &raw mut len, &raw mut datatype) };
        }
    }
}
