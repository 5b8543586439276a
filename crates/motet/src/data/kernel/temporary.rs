//! Temporary memory of the library that functions of the user may read and write.
//!
//! An item of a structure with an alignment of its own has an extent that is a multiple of it, and
//! no datatype tells more of the alignment than that. So an item is aligned to the largest power of
//! two in its extent, up to a page: no less than in an array of the user.

/// A cache line in bytes: the least alignment of temporaries.
const LINE: usize = 64;
/// The largest alignment in bytes.
const PAGE: usize = 4096;

/// Room for a few items, the first of which is aligned.
pub(crate) struct Temporary {
    bytes: Box<[u8]>,
    origin: usize,
}

impl Temporary {
    /// Room for the bytes from `low` to `high`, relative to the address of the first item, which is
    /// a multiple of 64 and of each power of two up to a page that the extent is a multiple of.
    pub(crate) fn new(low: i128, high: i128, extent: i64) -> Temporary {
        let before = usize::try_from(-low.min(0)).expect("items lie within memory");
        let behind = usize::try_from(high.max(0)).expect("items lie within memory");
        let alignment = match extent.trailing_zeros() {
            zeros if extent != 0 => (1 << zeros.min(PAGE.ilog2())).max(LINE),
            _ => LINE,
        };
        let bytes = vec![0; before + alignment + behind].into_boxed_slice();
        let first = bytes.as_ptr().wrapping_add(before);
        let origin = before + first.align_offset(alignment);
        Temporary { bytes, origin }
    }

    /// The address of the first item.
    pub(crate) fn start(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_item_is_aligned_and_all_lie_within() {
        let extents = [(0, 64), (1, 64), (24, 64), (128, 128), (-384, 128), (1 << 20, 4096)];
        for (extent, alignment) in extents {
            for (low, high) in [(0, 0), (0, 1000), (-500, 10), (-64, -3), (40, 80)] {
                let mut temporary = Temporary::new(low, high, extent);
                let start = temporary.start().addr();
                assert!(start.is_multiple_of(alignment), "{extent}: {start:#x}");
                let origin = temporary.origin as i128;
                assert!(origin + low.min(0) >= 0);
                assert!(origin + high <= temporary.bytes.len() as i128);
            }
        }
    }
}
