//! Sorts a list of any type by a number, with little code.
//!
//! The library sorts many short lists of many types while it plans. Each instance of the sort of
//! the standard library takes several kilobytes of instructions. All lists share the one instance
//! of this module, which sorts numbers.

use std::collections::{BTreeMap, BTreeSet};

/// Sorts by a number of each item. Stable: items with the same number stay in their order. Takes
/// time O(n log n), and O(n) if they are in order.
///
/// # Panics
/// If `number` does.
pub fn sort_by_number<T>(items: &mut Vec<T>, number: impl Fn(&T) -> u64) {
    let mut order: Vec<(u64, usize)> = items.iter().map(number).zip(0..).collect();
    if sort(&mut order) {
        let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
        items.extend(order.iter().filter_map(|&(_, at)| unsorted[at].take()));
    }
}

/// A number that grows as a signed one does, to sort by.
pub fn number_of_signed(signed: i64) -> u64 {
    signed.wrapping_sub(i64::MIN) as u64
}

/// The set of these items, put into it one after the other: `collect` would sort them first.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// The map of these items, as [`set_of`] makes a set. Of several with one key the last one counts.
pub fn map_of<K: Ord, V>(items: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(items);
    map
}

/// Says whether they were in another order.
#[inline(never)]
fn sort(order: &mut [(u64, usize)]) -> bool {
    let is_needed = !order.is_sorted();
    if is_needed {
        order.sort_unstable();
    }
    is_needed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{number_of_signed, sort_by_number};

    proptest! {
        /// Few numbers, so that many items have the same one.
        #[test]
        fn sorts_as_the_standard_library_does(numbers in prop::collection::vec(0u64..8, 0..40)) {
            let all: Vec<(u64, String)> =
                numbers.iter().enumerate().map(|(at, &number)| (number, at.to_string())).collect();
            let (mut ours, mut expected) = (all.clone(), all);
            sort_by_number(&mut ours, |item| item.0);
            expected.sort_by_key(|item| item.0);
            prop_assert_eq!(ours, expected);
        }

        #[test]
        fn numbers_grow_as_signed_ones_do(one: i64, other: i64) {
            let numbers = [one, other, i64::MIN, i64::MAX].map(number_of_signed);
            prop_assert_eq!(numbers[0].cmp(&numbers[1]), one.cmp(&other));
            prop_assert_eq!(&numbers[2..], &[0, u64::MAX]);
        }
    }
}
