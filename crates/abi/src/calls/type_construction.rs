//! Constructors of datatypes, `MPI_Type_dup`, `MPI_Type_commit` and `MPI_Type_free`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::datatype::{DatatypeError, Dimension, Distribution, Order};
use motet::{Datatype, Error, ErrorClass};

use crate::callbacks::{copied, deleted};
use crate::constants::{
    MPI_DATATYPE_NULL, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG,
    MPI_DISTRIBUTE_NONE, MPI_ORDER_C, MPI_ORDER_FORTRAN,
};
use crate::count::{Counts, Width};
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::MPI_Datatype;
use crate::objects::{FoundType, Type};
use crate::out_params::{get, list, put};

/// Makes a datatype of another one, and puts its handle where the caller wants it.
///
/// # Safety
/// There is room for a handle at the place, or that is null.
unsafe fn make(
    item: MPI_Datatype,
    place: *mut MPI_Datatype,
    width: Width,
    constructor: impl FnOnce(&Datatype) -> Result<Datatype, DatatypeError>,
) -> AbiResult {
    let item = item.object()?;
    let made = constructor(&item.datatype).map_err(Error::from)?;
    // SAFETY: promised by the caller.
    unsafe { put(place, Type::publish(made, width, &[item])) }
}

/// The length of the caller's lists.
fn length(count: i64) -> AbiResult<usize> {
    usize::try_from(count).map_err(|_| negative(ErrorClass::Count, "the count", count))
}

/// The length of the caller's lists, where it is a number of dimensions.
fn dimensions(count: c_int) -> AbiResult<usize> {
    let what = "the number of dimensions";
    usize::try_from(count).map_err(|_| negative(ErrorClass::Arg, what, count))
}

/// Which dimension varies fastest.
fn order_of(order: c_int) -> AbiResult<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => Err(argument(format!("the order {order} is not MPI_ORDER_C or MPI_ORDER_FORTRAN"))),
    }
}

/// How a dimension is distributed.
fn distribution_of(distribution: c_int, size: c_int) -> AbiResult<Distribution> {
    let size = (size != MPI_DISTRIBUTE_DFLT_DARG).then(|| i64::from(size));
    match distribution {
        MPI_DISTRIBUTE_NONE => Ok(Distribution::None),
        MPI_DISTRIBUTE_BLOCK => Ok(Distribution::Block(size)),
        MPI_DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic(size)),
        _ => Err(argument(format!("there is no distribution {distribution}"))),
    }
}

/// `MPI_Type_commit`
pub(crate) unsafe fn type_commit(datatype: *mut MPI_Datatype) -> AbiResult {
    // SAFETY: the caller points to a handle.
    unsafe { get(datatype) }?.object()?.commit();
    Ok(())
}

/// `MPI_Type_contiguous`
pub(crate) unsafe fn type_contiguous(
    count: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, |item| Datatype::contiguous(count, item)) }
}

/// `MPI_Type_vector`
pub(crate) unsafe fn type_vector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let vector = |item: &Datatype| Datatype::vector(count, blocklength, stride, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, vector) }
}

/// `MPI_Type_create_hvector`
pub(crate) unsafe fn type_create_hvector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let hvector = |item: &Datatype| Datatype::hvector(count, blocklength, stride, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, hvector) }
}

/// `MPI_Type_indexed`
pub(crate) unsafe fn type_indexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let count = length(count)?;
    // SAFETY: as the standard says.
    let lengths = unsafe { array_of_blocklengths.list(count) }?;
    // SAFETY: as the standard says.
    let displacements = unsafe { array_of_displacements.list(count) }?;
    let indexed = |item: &Datatype| Datatype::indexed(&lengths, &displacements, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, indexed) }
}

/// `MPI_Type_create_hindexed`
pub(crate) unsafe fn type_create_hindexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let count = length(count)?;
    // SAFETY: as the standard says.
    let lengths = unsafe { array_of_blocklengths.list(count) }?;
    // SAFETY: as the standard says.
    let displacements = unsafe { array_of_displacements.list(count) }?;
    let hindexed = |item: &Datatype| Datatype::hindexed(&lengths, &displacements, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, hindexed) }
}

/// `MPI_Type_create_indexed_block`
pub(crate) unsafe fn type_create_indexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    // SAFETY: as the standard says.
    let displacements = unsafe { array_of_displacements.list(length(count)?) }?;
    let indexed = |item: &Datatype| Datatype::indexed_block(blocklength, &displacements, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, indexed) }
}

/// `MPI_Type_create_hindexed_block`
pub(crate) unsafe fn type_create_hindexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    // SAFETY: as the standard says.
    let displacements = unsafe { array_of_displacements.list(length(count)?) }?;
    let hindexed = |item: &Datatype| Datatype::hindexed_block(blocklength, &displacements, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, hindexed) }
}

/// `MPI_Type_create_struct`
pub(crate) unsafe fn type_create_struct(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    array_of_types: *const MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let len = length(count)?;
    // SAFETY: as the standard says.
    let lengths = unsafe { array_of_blocklengths.list(len) }?;
    // SAFETY: as the standard says.
    let displacements = unsafe { array_of_displacements.list(len) }?;
    // SAFETY: as the standard says.
    let handles = unsafe { list("list of datatypes", array_of_types, count) }?;
    let types: Vec<FoundType> =
        handles.iter().map(|each| each.object()).collect::<AbiResult<_>>()?;
    let items: Vec<Datatype> = types.iter().map(|each| each.datatype.clone()).collect();
    let made = Datatype::structured(&lengths, &displacements, &items).map_err(Error::from)?;
    // SAFETY: as the standard says.
    unsafe { put(newtype, Type::publish(made, width, &types)) }
}

/// `MPI_Type_create_subarray`
pub(crate) unsafe fn type_create_subarray(
    ndims: c_int,
    array_of_sizes: Counts,
    array_of_subsizes: Counts,
    array_of_starts: Counts,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let (len, order) = (dimensions(ndims)?, order_of(order)?);
    // SAFETY: as the standard says.
    let sizes = unsafe { array_of_sizes.list(len) }?;
    // SAFETY: as the standard says.
    let subsizes = unsafe { array_of_subsizes.list(len) }?;
    // SAFETY: as the standard says.
    let starts = unsafe { array_of_starts.list(len) }?;
    let subarray = |item: &Datatype| Datatype::subarray(&sizes, &subsizes, &starts, order, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, subarray) }
}

/// `MPI_Type_create_darray`
pub(crate) unsafe fn type_create_darray(
    size: c_int,
    rank: c_int,
    ndims: c_int,
    array_of_gsizes: Counts,
    array_of_distribs: *const c_int,
    array_of_dargs: *const c_int,
    array_of_psizes: *const c_int,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    let (len, order) = (dimensions(ndims)?, order_of(order)?);
    // SAFETY: as the standard says.
    let sizes = unsafe { array_of_gsizes.list(len) }?;
    // SAFETY: as the standard says.
    let kinds = unsafe { list("list of distributions", array_of_distribs, ndims.into()) }?;
    // SAFETY: as the standard says.
    let arguments = unsafe { list("list of their arguments", array_of_dargs, ndims.into()) }?;
    // SAFETY: as the standard says.
    let processes = unsafe { list("list of process counts", array_of_psizes, ndims.into()) }?;
    let dimension = |place: usize| {
        let distribution = distribution_of(kinds[place], arguments[place])?;
        let processes = processes[place].into();
        Ok(Dimension { size: sizes[place], distribution, processes })
    };
    let dimensions: Vec<Dimension> = (0..len).map(dimension).collect::<AbiResult<_>>()?;
    let darray =
        |item: &Datatype| Datatype::darray(size.into(), rank.into(), &dimensions, order, item);
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, darray) }
}

/// `MPI_Type_create_resized`
pub(crate) unsafe fn type_create_resized(
    oldtype: MPI_Datatype,
    lb: i64,
    extent: i64,
    newtype: *mut MPI_Datatype,
    width: Width,
) -> AbiResult {
    // SAFETY: as the standard says.
    unsafe { make(oldtype, newtype, width, |item| Datatype::resized(lb, extent, item)) }
}

/// `MPI_Type_dup`
pub(crate) unsafe fn type_dup(oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) -> AbiResult {
    let old = oldtype.object()?;
    let datatype = old.datatype.dup().map_err(Error::from)?;
    let attributes = copied(&*old)?;
    // SAFETY: as the standard says.
    unsafe { put(newtype, old.publish_copy(datatype, attributes)) }
}

/// `MPI_Type_free`
pub(crate) unsafe fn type_free(datatype: *mut MPI_Datatype) -> AbiResult {
    // SAFETY: the caller points to a handle.
    let handle = unsafe { get(datatype) }?;
    let object = handle.object()?;
    if object.is_predefined() {
        let text = "a predefined datatype cannot be freed";
        return Err(AbiError::new(ErrorClass::Type, text));
    }
    deleted(&*object)?;
    handle.retire()?;
    // SAFETY: as the standard says.
    unsafe { put(datatype, MPI_DATATYPE_NULL) }
}
