//! Translates the data arguments of collectives (buffers, counts, datatypes) into those of the
//! untyped layer.
//!
//! Arguments that are not significant at a rank are never read.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem;

use motet::raw;
use motet::{Datatype, ErrorClass, Op};

use crate::constants::{MPI_BYTE, MPI_DATATYPE_NULL, MPI_IN_PLACE, MPI_SUM};
use crate::count::Counts;
use crate::error::{AbiError, AbiResult};
use crate::handle::{MPI_Datatype, MPI_Op};
use crate::objects::FoundType;

/// Which of two buffers, for texts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Send,
    Receive,
    Only,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Which::Send => "send buffer",
            Which::Receive => "receive buffer",
            Which::Only => "buffer",
        }
    }
}

/// Whether an address says that the data is in the other buffer.
#[inline]
pub(crate) fn is_in_place(address: *const c_void) -> bool {
    address.addr() == MPI_IN_PLACE
}

/// An address of data.
///
/// # Errors
/// `MPI_IN_PLACE`
#[inline(always)]
pub(crate) fn address(which: Which, address: *const c_void) -> AbiResult<*mut u8> {
    if is_in_place(address) {
        let text = format!("MPI_IN_PLACE is not allowed as the {} here", which.name());
        return Err(AbiError::new(ErrorClass::Buffer, text));
    }
    Ok(address.cast_mut().cast())
}

/// A number of items.
///
/// # Errors
/// A negative one.
#[inline(always)]
pub(crate) fn count(which: Which, count: i64) -> AbiResult<usize> {
    usize::try_from(count).map_err(|_| {
        let text = format!("a count of the {} is {count}", which.name());
        AbiError::new(ErrorClass::Count, text)
    })
}

/// A datatype whose data may move.
#[inline(always)]
pub(crate) fn committed(datatype: MPI_Datatype) -> AbiResult<FoundType> {
    let datatype = datatype.object()?;
    datatype.committed()?;
    Ok(datatype)
}

/// The operator of a call.
#[inline(always)]
pub(crate) fn operator(op: MPI_Op, datatype: &FoundType) -> AbiResult<Op> {
    Ok(op.object()?.op(datatype))
}

/// Items one after the other.
pub(crate) struct Items {
    address: *mut u8,
    count: usize,
    datatype: FoundType,
}

impl Items {
    /// # Errors
    /// Arguments that there cannot be.
    #[inline(always)]
    pub(crate) fn new(
        which: Which,
        at: *const c_void,
        items: i64,
        datatype: MPI_Datatype,
    ) -> AbiResult<Items> {
        let count = count(which, items)?;
        let datatype = committed(datatype)?;
        Ok(Items { address: address(which, at)?, count, datatype })
    }

    /// What a rank passes on whose data is not looked at.
    pub(crate) fn nothing() -> AbiResult<Items> {
        Ok(Items { address: std::ptr::null_mut(), count: 0, datatype: MPI_BYTE.object()? })
    }

    pub(crate) fn datatype(&self) -> &FoundType {
        &self.datatype
    }

    #[inline]
    pub(crate) fn data(&self) -> raw::TypedBuffer<'_> {
        let Items { address, count, ref datatype } = *self;
        raw::TypedBuffer { address, count, datatype: &datatype.datatype }
    }
}

/// Counts and displacements.
type Lists = (Vec<usize>, Vec<isize>);

/// Counts and displacements of the caller, as lists of ours. Their memory is used again.
struct Places(Lists);

/// So many lists a thread keeps from one call to the next.
const MOST_KEPT: usize = 2;
/// None that has room for more.
const LONGEST_KEPT: usize = 1 << 16;

thread_local! {
    static KEPT: RefCell<Vec<Lists>> = const { RefCell::new(Vec::new()) };
}

impl Drop for Places {
    fn drop(&mut self) {
        let lists = mem::take(&mut self.0);
        if !(1..=LONGEST_KEPT).contains(&lists.0.capacity()) {
            return;
        }
        // At the end of a thread nothing is kept.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() < MOST_KEPT {
                kept.push(lists);
            }
        });
    }
}

impl Places {
    /// # Safety
    /// The lists are null or have so many entries.
    ///
    /// # Errors
    /// No list; negative counts.
    unsafe fn read(which: Which, len: usize, counts: Counts, places: Counts) -> AbiResult<Places> {
        let kept = KEPT.try_with(|kept| kept.borrow_mut().pop());
        let mut read = Places(kept.ok().flatten().unwrap_or_default());
        let (all_counts, all_places) = &mut read.0;
        all_counts.clear();
        all_places.clear();
        // SAFETY: promised by the caller.
        unsafe { read_counts(which, len, counts, all_counts) }?;
        if places.is_null() && len > 0 {
            let text = format!("the list of displacements of the {} is NULL", which.name());
            return Err(AbiError::new(ErrorClass::Arg, text));
        }
        // SAFETY: promised by the caller, and there is one.
        all_places.extend((0..len).map(|place| unsafe { places.get(place) } as isize));
        Ok(read)
    }

    /// Of nobody.
    fn none() -> Places {
        Places(Lists::default())
    }
}

/// A list of counts.
///
/// # Safety
/// It is null or has so many entries.
///
/// # Errors
/// No list; negative counts.
pub(crate) unsafe fn counts(which: Which, len: usize, counts: Counts) -> AbiResult<Vec<usize>> {
    let mut list = Vec::new();
    // SAFETY: passed on.
    unsafe { read_counts(which, len, counts, &mut list) }.map(|()| list)
}

/// Adds the counts of a list to another one.
///
/// # Safety
/// As [`counts`].
unsafe fn read_counts(
    which: Which,
    len: usize,
    counts: Counts,
    into: &mut Vec<usize>,
) -> AbiResult {
    if counts.is_null() && len > 0 {
        let text = format!("the list of counts of the {} is NULL", which.name());
        return Err(AbiError::new(ErrorClass::Arg, text));
    }
    into.reserve(len);
    for place in 0..len {
        // SAFETY: promised by the caller, and there is one.
        into.push(count(which, unsafe { counts.get(place) })?);
    }
    Ok(())
}

/// A block for each rank.
pub(crate) struct Blocks {
    address: *mut u8,
    places: Places,
    datatype: FoundType,
}

impl Blocks {
    /// # Safety
    /// The lists are null or have so many entries.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) unsafe fn new(
        which: Which,
        at: *const c_void,
        (len, counts, displacements): (usize, Counts, Counts),
        datatype: MPI_Datatype,
    ) -> AbiResult<Blocks> {
        // SAFETY: promised by the caller.
        let places = unsafe { Places::read(which, len, counts, displacements) }?;
        let datatype = committed(datatype)?;
        Ok(Blocks { address: address(which, at)?, places, datatype })
    }

    /// What a rank passes on whose data is not looked at.
    pub(crate) fn nothing() -> AbiResult<Blocks> {
        Ok(Blocks {
            address: std::ptr::null_mut(),
            places: Places::none(),
            datatype: MPI_BYTE.object()?,
        })
    }

    pub(crate) fn blocks(&self) -> raw::VectorBuffer<'_> {
        let Blocks { address, ref places, ref datatype } = *self;
        let Places((counts, displacements)) = places;
        raw::VectorBuffer { address, counts, displacements, datatype: &datatype.datatype }
    }
}

/// A block for each rank, each with a datatype of its own.
pub(crate) struct Mixed {
    address: *mut u8,
    places: Places,
    datatypes: Vec<Datatype>,
}

impl Mixed {
    /// An empty block may have the null datatype.
    ///
    /// # Safety
    /// The lists are null or have so many entries.
    ///
    /// # Errors
    /// Arguments that there cannot be.
    pub(crate) unsafe fn new(
        which: Which,
        at: *const c_void,
        (len, counts, displacements): (usize, Counts, Counts),
        datatypes: *const MPI_Datatype,
    ) -> AbiResult<Mixed> {
        // SAFETY: promised by the caller.
        let places = unsafe { Places::read(which, len, counts, displacements) }?;
        if datatypes.is_null() && len > 0 {
            let text = format!("the list of datatypes of the {} is NULL", which.name());
            return Err(AbiError::new(ErrorClass::Arg, text));
        }
        let datatype = |place: usize| {
            let datatype = datatypes.wrapping_add(place);
            // SAFETY: promised by the caller, and there is one.
            let datatype = unsafe { datatype.read_unaligned() };
            let is_empty = places.0.0[place] == 0 && datatype == MPI_DATATYPE_NULL;
            let datatype = if is_empty { MPI_BYTE } else { datatype };
            committed(datatype).map(|datatype| datatype.datatype.clone())
        };
        let datatypes = (0..len).map(datatype).collect::<AbiResult<_>>()?;
        Ok(Mixed { address: address(which, at)?, places, datatypes })
    }

    /// What a rank passes on whose data is not looked at.
    pub(crate) fn nothing() -> Mixed {
        Mixed { address: std::ptr::null_mut(), places: Places::none(), datatypes: Vec::new() }
    }

    pub(crate) fn mixed(&self) -> raw::WBuffer<'_> {
        let Mixed { address, ref places, ref datatypes } = *self;
        let Places((counts, displacements)) = places;
        raw::WBuffer { address, counts, displacements, datatypes }
    }
}

/// What a reduction works on.
pub(crate) struct Reduced {
    input: Option<*mut u8>,
    output: *mut u8,
    count: usize,
    datatype: FoundType,
    op: Op,
}

/// Where the buffers of a reduction are: none for an input that is where the output is.
pub(crate) type Buffers = (Option<*mut u8>, *mut u8);

/// The input of a reduction is here, or where its output is.
///
/// # Errors
/// `MPI_IN_PLACE` on an intercommunicator, or at a rank that is not the root.
#[inline(always)]
pub(crate) fn input(at: *const c_void, in_place: InPlace) -> AbiResult<Option<*mut u8>> {
    let is_given = in_place == InPlace::Refused || !is_in_place(at);
    if is_given { address(Which::Send, at).map(Some) } else { Ok(None) }
}

/// The output of a reduction is here.
///
/// # Errors
/// `MPI_IN_PLACE`
#[inline(always)]
pub(crate) fn output(at: *const c_void) -> AbiResult<*mut u8> {
    address(Which::Receive, at)
}

impl Reduced {
    /// # Errors
    /// Arguments that there cannot be.
    #[inline(always)]
    pub(crate) fn new(
        (input, output): Buffers,
        items: i64,
        datatype: MPI_Datatype,
        op: MPI_Op,
    ) -> AbiResult<Reduced> {
        let count = count(Which::Only, items)?;
        let datatype = committed(datatype)?;
        let op = operator(op, &datatype)?;
        Ok(Reduced { input, output, count, datatype, op })
    }

    /// What a rank passes on whose data is not looked at.
    pub(crate) fn nothing() -> AbiResult<Reduced> {
        Reduced::new((None, std::ptr::null_mut()), 0, MPI_BYTE, MPI_SUM)
    }

    #[inline]
    pub(crate) fn reduction(&self) -> raw::Reduction<'_> {
        let Reduced { input, output, count, ref datatype, ref op } = *self;
        raw::Reduction { input, output, count, datatype: &datatype.datatype, op }
    }
}

/// Whether `MPI_IN_PLACE` is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    Allowed,
    Refused,
}
