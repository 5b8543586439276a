//! Queries of datatypes: size, extent, bounds, name, envelope and contents; and
//! `MPI_Type_match_size`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_char, c_int};

use motet::datatype::{Combiner, DatatypeError, TypeClass};
use motet::{Datatype, Error, ErrorClass};

use crate::constants::{
    MPI_DATATYPE_NULL, MPI_MAX_OBJECT_NAME, MPI_TYPECLASS_COMPLEX, MPI_TYPECLASS_INTEGER,
    MPI_TYPECLASS_REAL, MPI_UNDEFINED, MPIX_TYPECLASS_LOGICAL,
};
use crate::count::CountPlace;
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::objects::{Arguments, Type};
use crate::out_params::put;
use crate::text;

/// `MPI_Type_create_f90_complex`
pub(crate) unsafe fn type_create_f90_complex(
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> AbiResult {
    let complex = || Datatype::f90_complex(asked(p), asked(r));
    // SAFETY: as the standard says.
    unsafe { find(Combiner::F90Complex, [p, r], newtype, complex) }
}

/// `MPI_Type_create_f90_integer`
pub(crate) unsafe fn type_create_f90_integer(r: c_int, newtype: *mut MPI_Datatype) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { find(Combiner::F90Integer, [r, 0], newtype, || Datatype::f90_integer(r)) }
}

/// `MPI_Type_create_f90_real`
pub(crate) unsafe fn type_create_f90_real(
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> AbiResult {
    let real = || Datatype::f90_real(asked(p), asked(r));
    // SAFETY: as the standard says.
    unsafe { find(Combiner::F90Real, [p, r], newtype, real) }
}

/// A precision or a range, unless it is left open.
fn asked(digits: c_int) -> Option<c_int> {
    (digits != MPI_UNDEFINED).then_some(digits)
}

/// Puts the handle of a predefined datatype without a constant where the caller wants it.
///
/// # Safety
/// There is room for a handle at the place, or that is null.
unsafe fn find(
    combiner: Combiner,
    wish: [c_int; 2],
    place: *mut MPI_Datatype,
    make: impl FnOnce() -> Result<Datatype, DatatypeError>,
) -> AbiResult {
    let handle = Type::unnamed((combiner, wish), || Ok(make().map_err(Error::from)?))?;
    // SAFETY: promised by the caller.
    unsafe { put(place, handle) }
}

/// How a datatype was made.
fn made(datatype: &Type) -> (Option<Arguments<'_>>, c_int) {
    (datatype.arguments(), datatype.datatype.envelope().combiner as c_int)
}

/// How many arguments there are that are no large counts.
///
/// # Errors
/// That there are large counts, for which the caller has no room.
fn without_large(arguments: Option<&Arguments<'_>>) -> AbiResult<[i64; 3]> {
    let [integers, addresses, counts, types] = arguments.map_or([0; 4], Arguments::lengths);
    if counts > 0 {
        let text = "the datatype was made by a call with large counts: call the function whose \
                    name ends with _c";
        return Err(AbiError::new(ErrorClass::Type, text));
    }
    Ok([integers, addresses, types].map(|len| len as i64))
}

/// `MPI_Type_get_envelope`
pub(crate) unsafe fn type_get_envelope(
    datatype: MPI_Datatype,
    num_integers: *mut c_int,
    num_addresses: *mut c_int,
    num_datatypes: *mut c_int,
    combiner: *mut c_int,
) -> AbiResult {
    let datatype = datatype.object()?;
    let (arguments, made_by) = made(&datatype);
    let lengths = without_large(arguments.as_ref())?;
    for (place, len) in [num_integers, num_addresses, num_datatypes].into_iter().zip(lengths) {
        // SAFETY: as the standard says.
        unsafe { CountPlace::ints(place).set(Some(len)) }?;
    }
    // SAFETY: as the standard says.
    unsafe { put(combiner, made_by) }
}

/// `MPI_Type_get_envelope_c`
pub(crate) unsafe fn type_get_envelope_c(
    datatype: MPI_Datatype,
    num_integers: *mut MPI_Count,
    num_addresses: *mut MPI_Count,
    num_large_counts: *mut MPI_Count,
    num_datatypes: *mut MPI_Count,
    combiner: *mut c_int,
) -> AbiResult {
    let datatype = datatype.object()?;
    let (arguments, made_by) = made(&datatype);
    let lengths = arguments.map_or([0; 4], |arguments| arguments.lengths());
    let places = [num_integers, num_addresses, num_large_counts, num_datatypes];
    for (place, len) in places.into_iter().zip(lengths) {
        // SAFETY: as the standard says.
        unsafe { put(place, len as i64) }?;
    }
    // SAFETY: as the standard says.
    unsafe { put(combiner, made_by) }
}

/// The arguments that a datatype was made with.
///
/// # Errors
/// One that has a constant, and was not made.
fn arguments_of(datatype: &Type) -> AbiResult<Arguments<'_>> {
    let named = "a predefined datatype that has a name was not made of anything";
    datatype.arguments().ok_or_else(|| AbiError::new(ErrorClass::Type, named))
}

/// Copies arguments to a list of the caller.
///
/// # Safety
/// The list has room for `room` of them, or is null.
unsafe fn give<T>(
    which: &str,
    values: impl Iterator<Item = T>,
    len: usize,
    list: *mut T,
    room: i64,
) -> AbiResult {
    if usize::try_from(room).is_ok_and(|room| room < len) || room < 0 {
        return Err(argument(format!("there are {len} {which}, and room for {room}")));
    }
    for (place, value) in values.enumerate() {
        let place = list.wrapping_add(place);
        // SAFETY: promised by the caller.
        unsafe { put(if list.is_null() { list } else { place }, value) }?;
    }
    Ok(())
}

/// `MPI_Type_get_contents`
pub(crate) unsafe fn type_get_contents(
    datatype: MPI_Datatype,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_datatypes: *mut MPI_Datatype,
) -> AbiResult {
    let datatype = datatype.object()?;
    without_large(datatype.arguments().as_ref())?;
    // SAFETY: as the standard says.
    unsafe {
        type_get_contents_c(
            datatype.handle,
            max_integers.into(),
            max_addresses.into(),
            0,
            max_datatypes.into(),
            array_of_integers,
            array_of_addresses,
            std::ptr::null_mut(),
            array_of_datatypes,
        )
    }
}

/// `MPI_Type_get_contents_c`
pub(crate) unsafe fn type_get_contents_c(
    datatype: MPI_Datatype,
    max_integers: MPI_Count,
    max_addresses: MPI_Count,
    max_large_counts: MPI_Count,
    max_datatypes: MPI_Count,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_large_counts: *mut MPI_Count,
    array_of_datatypes: *mut MPI_Datatype,
) -> AbiResult {
    let datatype = datatype.object()?;
    let arguments = arguments_of(&datatype)?;
    let [integers, addresses, counts, types] = arguments.lengths();
    // They came as these types, and fit.
    let ints = arguments.integers().map(|value| value as c_int);
    let aints = arguments.addresses.iter().map(|&value| value as MPI_Aint);
    // SAFETY: as the standard says.
    unsafe { give("integers", ints, integers, array_of_integers, max_integers) }?;
    // SAFETY: as the standard says.
    unsafe { give("addresses", aints, addresses, array_of_addresses, max_addresses) }?;
    let large = arguments.counts();
    // SAFETY: as the standard says.
    unsafe { give("large counts", large, counts, array_of_large_counts, max_large_counts) }?;
    let handles = arguments.handles();
    // SAFETY: as the standard says.
    unsafe { give("datatypes", handles, types, array_of_datatypes, max_datatypes) }
}

/// `MPI_Type_get_extent`
pub(crate) unsafe fn type_get_extent(
    datatype: MPI_Datatype,
    lb: CountPlace,
    extent: CountPlace,
) -> AbiResult {
    let object = datatype.object()?;
    let datatype = &object.datatype;
    // SAFETY: as the standard says.
    unsafe { lb.set(Some(datatype.lower_bound())) }?;
    // SAFETY: as the standard says.
    unsafe { extent.set(Some(datatype.extent())) }
}

/// `MPI_Type_get_extent_x`
pub(crate) unsafe fn type_get_extent_x(
    datatype: MPI_Datatype,
    lb: *mut MPI_Count,
    extent: *mut MPI_Count,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { type_get_extent(datatype, CountPlace::large(lb), CountPlace::large(extent)) }
}

/// `MPI_Type_get_true_extent`
pub(crate) unsafe fn type_get_true_extent(
    datatype: MPI_Datatype,
    true_lb: CountPlace,
    true_extent: CountPlace,
) -> AbiResult {
    let object = datatype.object()?;
    let datatype = &object.datatype;
    // SAFETY: as the standard says.
    unsafe { true_lb.set(Some(datatype.true_lower_bound())) }?;
    // SAFETY: as the standard says.
    unsafe { true_extent.set(i64::try_from(datatype.true_extent()).ok()) }
}

/// `MPI_Type_get_true_extent_x`
pub(crate) unsafe fn type_get_true_extent_x(
    datatype: MPI_Datatype,
    true_lb: *mut MPI_Count,
    true_extent: *mut MPI_Count,
) -> AbiResult {
    let (lb, extent) = (CountPlace::large(true_lb), CountPlace::large(true_extent));
    // SAFETY: as the standard says.
    unsafe { type_get_true_extent(datatype, lb, extent) }
}

/// `MPI_Type_size`
pub(crate) unsafe fn type_size(datatype: MPI_Datatype, size: CountPlace) -> AbiResult {
    let bytes = datatype.object()?.datatype.size();
    // SAFETY: as the standard says.
    unsafe { size.set(i64::try_from(bytes).ok()) }
}

/// `MPI_Type_size_x`
pub(crate) unsafe fn type_size_x(datatype: MPI_Datatype, size: *mut MPI_Count) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { type_size(datatype, CountPlace::large(size)) }
}

/// `MPI_Type_get_name`
pub(crate) unsafe fn type_get_name(
    datatype: MPI_Datatype,
    type_name: *mut c_char,
    resultlen: *mut c_int,
) -> AbiResult {
    let is_null = datatype == MPI_DATATYPE_NULL;
    let name = if is_null { "MPI_DATATYPE_NULL".to_owned() } else { datatype.object()?.name() };
    // SAFETY: as the standard says.
    let len = unsafe { text::write(&name, type_name, MPI_MAX_OBJECT_NAME as usize) }?;
    // SAFETY: as the standard says.
    unsafe { put(resultlen, len as c_int) }
}

/// `MPI_Type_set_name`
pub(crate) unsafe fn type_set_name(datatype: MPI_Datatype, type_name: *const c_char) -> AbiResult {
    let datatype = datatype.object()?;
    // SAFETY: as the standard says.
    datatype.set_name(unsafe { text::read("name", type_name) }?);
    Ok(())
}

/// `MPI_Type_get_value_index`
pub(crate) unsafe fn type_get_value_index(
    value_type: MPI_Datatype,
    index_type: MPI_Datatype,
    pair_type: *mut MPI_Datatype,
) -> AbiResult {
    let (value, index) = (value_type.object()?, index_type.object()?);
    // Others than those that have constants would be new to programs, which free what has none.
    let pair = Datatype::value_index(&value.datatype, &index.datatype).ok();
    let named = pair.and_then(|pair| pair.as_named());
    let pair = named.map_or(MPI_DATATYPE_NULL, |named| MPI_Datatype::constant(named.code().into()));
    // SAFETY: as the standard says.
    unsafe { put(pair_type, pair) }
}

/// `MPI_Type_match_size`
pub(crate) unsafe fn type_match_size(
    typeclass: c_int,
    size: c_int,
    datatype: *mut MPI_Datatype,
) -> AbiResult {
    let class = match typeclass {
        MPIX_TYPECLASS_LOGICAL => TypeClass::Logical,
        MPI_TYPECLASS_INTEGER => TypeClass::Integer,
        MPI_TYPECLASS_REAL => TypeClass::Real,
        MPI_TYPECLASS_COMPLEX => TypeClass::Complex,
        _ => return Err(argument(format!("there is no class {typeclass} of datatypes"))),
    };
    let bytes = u64::try_from(size).map_err(|_| negative(ErrorClass::Arg, "the size", size))?;
    let found = Datatype::of_size(class, bytes).map_err(Error::from)?;
    let named = found.as_named().map_or(0, |named| named.code());
    // SAFETY: as the standard says.
    unsafe { put(datatype, MPI_Datatype::constant(named.into())) }
}
