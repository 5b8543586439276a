//! `dims_create`: sizes of a balanced grid.

use crate::base::error::TopologyError;

/// Chooses the sizes of a grid for a number of ranks: replaces each size 0 in `dims` and keeps the
/// others. The new sizes do not increase from one dimension to the next, and are as close to each
/// other as divisibility allows: the largest is as small as possible, then the second largest, and
/// so on. Local. (`MPI_Dims_create`, MPI 4.1 §8.5.2)
///
/// ```
/// assert_eq!(motet::dims_create(12, &[0, 0, 0])?, [3, 2, 2]);
/// assert_eq!(motet::dims_create(12, &[0, 3])?, [4, 3]);
/// # Ok::<(), motet::TopologyError>(())
/// ```
///
/// # Errors
/// The number of ranks is zero or no multiple of the given sizes; or no size is 0 and the given
/// sizes do not use all ranks.
pub fn dims_create(ranks: usize, dims: &[usize]) -> Result<Vec<usize>, TopologyError> {
    let indivisible = || TopologyError::Indivisible { ranks, sizes: dims.to_vec() };
    let given = dims.iter().filter(|&&size| size > 0);
    let given = given.copied().try_fold(1usize, usize::checked_mul).ok_or_else(indivisible)?;
    let open = dims.iter().filter(|&&size| size == 0).count();
    if ranks == 0 || !ranks.is_multiple_of(given) {
        return Err(indivisible());
    }
    let rest = ranks / given;
    let mut balanced = balance(rest, open, rest).ok_or_else(indivisible)?.into_iter();
    let fill = |&size: &usize| match size {
        0 => balanced.next().expect("as many as are open"),
        _ => size,
    };
    Ok(dims.iter().map(fill).collect())
}

/// Splits a number into `factors` factors in decreasing order, none above `limit`; the first is as
/// small as possible, then the second, and so on. `None` if that is impossible.
fn balance(number: usize, factors: usize, limit: usize) -> Option<Vec<usize>> {
    let Some(others) = factors.checked_sub(1) else {
        return (number == 1).then(Vec::new);
    };
    for first in divisors(number).filter(|&first| first <= limit) {
        // The largest factor is no smaller than the mean.
        let reach = u32::try_from(factors).ok().and_then(|times| first.checked_pow(times));
        if reach.is_some_and(|reach| reach < number) {
            continue;
        }
        if let Some(mut rest) = balance(number / first, others, first) {
            rest.insert(0, first);
            return Some(rest);
        }
    }
    None
}

/// Returns the divisors of a number above zero, in ascending order.
fn divisors(number: usize) -> impl Iterator<Item = usize> {
    let small = (1..).take_while(move |&each| each <= number / each);
    let small: Vec<usize> = small.filter(|&each| number.is_multiple_of(each)).collect();
    let large: Vec<usize> = small
        .iter()
        .rev()
        .map(|&each| number / each)
        .filter(|each| !small.contains(each))
        .collect();
    small.into_iter().chain(large)
}
