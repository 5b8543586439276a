//! Cutting a run of elements into parts of nearly the same length.

use std::ops::Range;

/// Part `index` of `count` elements cut into `parts`; the first parts are longer by at most one.
/// The parts are in order and without gap; where `count < parts` the last ones are empty.
pub(crate) fn part(count: usize, parts: usize, index: usize) -> Range<usize> {
    let start = |index: usize| index * (count / parts) + index.min(count % parts);
    start(index)..start(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_and_are_nearly_equal() {
        for parts in 1..12 {
            for count in 0..40 {
                let mut next = 0;
                for index in 0..parts {
                    let range = part(count, parts, index);
                    assert_eq!(range.start, next);
                    assert!(range.len() == count / parts || range.len() == count / parts + 1);
                    next = range.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
