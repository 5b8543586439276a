//! Memory of the library that functions of the user may see.

/// A line of a cache: the alignment of all temporaries.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

const LINE: usize = size_of::<Line>();

/// Room for a few items, the first of which has an address that is a multiple of 64.
pub(crate) struct Temporary {
    lines: Box<[Line]>,
    origin: usize,
}

impl Temporary {
    /// Room for the bytes from `low` to `high`, relative to the address of the first item.
    pub(crate) fn new(low: i128, high: i128) -> Temporary {
        let before = usize::try_from(-low.min(0)).expect("items lie within memory");
        let behind = usize::try_from(high.max(0)).expect("items lie within memory");
        let origin = before.next_multiple_of(LINE);
        let lines = (origin + behind).div_ceil(LINE);
        Temporary { lines: vec![Line { _bytes: [0; LINE] }; lines].into_boxed_slice(), origin }
    }

    /// The address of the first item.
    pub(crate) fn start(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_add(self.origin)
    }
}
