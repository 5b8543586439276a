//! Groups. (MPI 4.1 §7.3)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{ErrorClass, Group, GroupError, RankRange};

use super::communicators::comparison;
use crate::constants::{MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::error::{AbiError, AbiResult, negative};
use crate::handle::MPI_Group;
use crate::objects;
use crate::out_params::{get, list, put, put_all};

/// What a group of two others is.
type Combine = fn(&Group, &Group) -> Group;

unsafe fn combine(
    group1: MPI_Group,
    group2: MPI_Group,
    combine: Combine,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let made = combine(&*group1.object()?, &*group2.object()?);
    // SAFETY: the caller has a place there.
    unsafe { put(newgroup, MPI_Group::publish(made)) }
}

/// Puts a group where the caller wants it that is made of named members.
unsafe fn publish(made: Result<Group, GroupError>, newgroup: *mut MPI_Group) -> AbiResult {
    let group = made.map_err(|error| motet::Error::from(motet::ErrorKind::from(error)))?;
    // SAFETY: the caller has a place there.
    unsafe { put(newgroup, MPI_Group::publish(group)) }
}

/// A rank that the caller names.
fn rank(rank: impl Into<i64>) -> AbiResult<usize> {
    let rank = rank.into();
    usize::try_from(rank).map_err(|_| negative(ErrorClass::Rank, "a rank", rank))
}

/// The ranks that the caller lists.
unsafe fn ranks(ranks: *const c_int, n: c_int) -> AbiResult<Vec<usize>> {
    // SAFETY: the caller has so many there.
    let ranks = unsafe { list("ranks", ranks, n.into()) }?;
    ranks.iter().map(|&each| rank(each)).collect()
}

/// The limit of a range; of one that leads below zero, the last rank that it meets, since the limit
/// itself need not be a rank.
fn reached(first: i64, last: i64, stride: i64) -> i64 {
    if last >= 0 || stride >= 0 { last } else { first - (first - last) / stride * stride }
}

/// The ranges that the caller lists.
unsafe fn ranges(ranges: *const [c_int; 3], n: c_int) -> AbiResult<Vec<RankRange>> {
    // SAFETY: the caller has so many there.
    let ranges = unsafe { list("ranges", ranges, n.into()) }?;
    let range = |&[first, last, stride]: &[c_int; 3]| {
        let (first, stride) = (rank(first)?, stride as isize);
        let last = reached(first as i64, last.into(), stride as i64);
        Ok(RankRange { first, last: rank(last)?, stride })
    };
    ranges.iter().map(range).collect()
}

/// `MPI_Group_compare`
pub(crate) unsafe fn group_compare(
    group1: MPI_Group,
    group2: MPI_Group,
    result: *mut c_int,
) -> AbiResult {
    let alike = group1.object()?.compare(&*group2.object()?);
    // SAFETY: the caller has a place there.
    unsafe { put(result, comparison(alike)) }
}

/// `MPI_Group_difference`
pub(crate) unsafe fn group_difference(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the caller has a place there.
    unsafe { combine(group1, group2, Group::difference, newgroup) }
}

/// `MPI_Group_excl`
pub(crate) unsafe fn group_excl(
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let group = group.object()?;
    // SAFETY: the caller has so many there.
    let ranks = unsafe { self::ranks(ranks, n) }?;
    // SAFETY: the caller has a place there.
    unsafe { publish(group.exclude(&ranks), newgroup) }
}

/// `MPI_Group_free`. The group without members is predefined, but as calls return it, a program
/// may free it as it does the others.
pub(crate) unsafe fn group_free(group: *mut MPI_Group) -> AbiResult {
    // SAFETY: a place of the caller.
    let handle = unsafe { get(group) }?;
    if handle != MPI_GROUP_EMPTY {
        handle.retire()?;
    }
    // SAFETY: as above.
    unsafe { put(group, MPI_GROUP_NULL) }
}

/// `MPI_Group_incl`
pub(crate) unsafe fn group_incl(
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let group = group.object()?;
    // SAFETY: the caller has so many there.
    let ranks = unsafe { self::ranks(ranks, n) }?;
    // SAFETY: the caller has a place there.
    unsafe { publish(group.include(&ranks), newgroup) }
}

/// `MPI_Group_intersection`
pub(crate) unsafe fn group_intersection(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the caller has a place there.
    unsafe { combine(group1, group2, Group::intersection, newgroup) }
}

/// `MPI_Group_range_excl`
pub(crate) unsafe fn group_range_excl(
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let group = group.object()?;
    // SAFETY: the caller has so many there.
    let ranges = unsafe { self::ranges(ranges, n) }?;
    // SAFETY: the caller has a place there.
    unsafe { publish(group.range_exclude(&ranges), newgroup) }
}

/// `MPI_Group_range_incl`
pub(crate) unsafe fn group_range_incl(
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> AbiResult {
    let group = group.object()?;
    // SAFETY: the caller has so many there.
    let ranges = unsafe { self::ranges(ranges, n) }?;
    // SAFETY: the caller has a place there.
    unsafe { publish(group.range_include(&ranges), newgroup) }
}

/// `MPI_Group_rank`
pub(crate) unsafe fn group_rank(group: MPI_Group, rank: *mut c_int) -> AbiResult {
    let group = group.object()?;
    let own = objects::own().and_then(|own| own.inside()?.place_in(&group));
    // SAFETY: the caller has a place there.
    unsafe { put(rank, own.map_or(MPI_UNDEFINED, |own| own as c_int)) }
}

/// `MPI_Group_size`
pub(crate) unsafe fn group_size(group: MPI_Group, size: *mut c_int) -> AbiResult {
    let members = group.object()?.size();
    // SAFETY: the caller has a place there.
    unsafe { put(size, members as c_int) }
}

/// `MPI_Group_translate_ranks`
pub(crate) unsafe fn group_translate_ranks(
    group1: MPI_Group,
    n: c_int,
    ranks1: *const c_int,
    group2: MPI_Group,
    ranks2: *mut c_int,
) -> AbiResult {
    let (from, to) = (group1.object()?, group2.object()?);
    // SAFETY: the caller has so many there.
    let ranks = unsafe { list("ranks", ranks1, n.into()) }?;
    let translate = |&named: &c_int| {
        if named == MPI_PROC_NULL {
            return Ok(MPI_PROC_NULL);
        }
        let (rank, size) = (rank(named)?, from.size());
        if rank >= size {
            let text =
                format!("rank {rank} is not in the group of {size} ranks; pass ranks below {size}");
            return Err(AbiError::new(ErrorClass::Rank, text));
        }
        Ok(from.translate(rank, &to).map_or(MPI_UNDEFINED, |rank| rank as c_int))
    };
    let translated: Vec<c_int> = ranks.iter().map(translate).collect::<AbiResult<_>>()?;
    // SAFETY: the caller has room for as many there.
    unsafe { put_all("ranks", ranks2, translated) }
}

/// `MPI_Group_union`
pub(crate) unsafe fn group_union(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> AbiResult {
    // SAFETY: the caller has a place there.
    unsafe { combine(group1, group2, Group::union, newgroup) }
}
