//! Reductions over memory whose type the engine does not know.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::marker::PhantomData;
use std::slice;

use crate::Element;
use crate::op::Operator;

/// An operator together with its element type.
pub(crate) trait Kernel: Send + Sync {
    /// The type of the operator.
    fn operator(&self) -> &'static str;

    /// `into[i] = left[i] ∘ right[i]` for `count` elements.
    ///
    /// # Safety
    /// All three are aligned arrays of `count` valid elements of the kernel's type, `left` and
    /// `right` readable, `into` writable; `into` is `left`, or is `right`, or overlaps neither.
    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize);
}

/// The kernel of an operator for a type. Takes no memory for the built-in operators, so boxing it
/// allocates nothing.
struct Typed<T, O> {
    operator: O,
    element: PhantomData<fn() -> T>,
}

/// The kernel of this operator.
pub(crate) fn kernel<T: Element, O: Operator<T>>(operator: O) -> Box<dyn Kernel> {
    Box::new(Typed::<T, O> { operator, element: PhantomData })
}

impl<T: Element, O: Operator<T>> Kernel for Typed<T, O> {
    fn operator(&self) -> &'static str {
        std::any::type_name::<O>()
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        let (left, right, into) = (left.cast::<T>(), right.cast::<T>(), into.cast::<T>());
        // SAFETY (for all slices below): arrays of `count` elements by the caller's promise, and
        // where `into` is one of the operands no second slice of it is made.
        // SAFETY: see above.
        let target = unsafe { slice::from_raw_parts_mut(into, count) };
        if std::ptr::eq(left, into) {
            // SAFETY: see above.
            let right = unsafe { slice::from_raw_parts(right, count) };
            for (into, right) in target.iter_mut().zip(right) {
                *into = self.operator.combine(*into, *right);
            }
        } else if std::ptr::eq(right, into) {
            // SAFETY: see above.
            let left = unsafe { slice::from_raw_parts(left, count) };
            for (into, left) in target.iter_mut().zip(left) {
                *into = self.operator.combine(*left, *into);
            }
        } else {
            // SAFETY: see above.
            let left = unsafe { slice::from_raw_parts(left, count) };
            // SAFETY: see above.
            let right = unsafe { slice::from_raw_parts(right, count) };
            for ((into, left), right) in target.iter_mut().zip(left).zip(right) {
                *into = self.operator.combine(*left, *right);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Sum, ordered};

    #[test]
    fn all_three_places_of_the_result() {
        let kernel = kernel::<u64, _>(ordered(|left: u64, right: u64| left * 10 + right));
        let (mut left, mut right, mut into) = ([1u64, 2, 3], [4u64, 5, 6], [0u64; 3]);
        let (l, r) = (left.as_mut_ptr().cast::<u8>(), right.as_mut_ptr().cast::<u8>());
        let i = into.as_mut_ptr().cast::<u8>();
        // SAFETY: live arrays of three.
        unsafe { kernel.reduce(l, r, i, 3) };
        // SAFETY: as above, in place of the left.
        unsafe { kernel.reduce(l, r, l, 3) };
        // SAFETY: as above, in place of the right.
        unsafe { kernel.reduce(i, r, r, 3) };
        assert_eq!((into, left, right), ([14, 25, 36], [14, 25, 36], [144, 255, 366]));
    }

    #[test]
    fn built_in_kernels_take_no_memory() {
        assert_eq!(size_of::<Typed<f64, Sum>>(), 0);
    }
}
