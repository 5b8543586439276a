//! A kernel applies an operator to memory whose type the engine does not know.
//!
//! A kernel is one loop, made for one operator and one type of elements; the engine calls it for
//! each step that reduces. There are three of them: [`Loop`] for elements that are values of a Rust
//! type, [`pairs`] for values with an index, and [`user`] for functions of the user on items of any
//! datatype.
//!
//! Loops are compiled twice where the processor may have AVX2, and the better version is chosen at
//! run time. The compiler vectorises the loops for all three places of the result, `f64::min` with
//! its rules for NaN included. To check that, read the output of `cargo rustc --release -p motet
//! --lib -- --emit asm -C codegen-units=1`, or measure with `cargo test --release -p motet --lib --
//! --ignored --nocapture kernel::tests::speed`. On a Xeon of 2023, operands of 8 KiB, in 10⁹ bytes
//! of the result per second, with SSE2 and with AVX2, on a machine that had other work: sums of
//! `f64` 33 and 50, least of `f64` 18 and 33, least of `i64` 9 and 36, sums of `u8` 33 and 60,
//! products of `i32` 11 and 60.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod pairs;
mod predefined;
mod software;
mod stand_in;
mod temporary;
#[cfg(test)]
mod tests;
mod user;

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::slice;

use motet_fabric::biased_lock::exclude;
use motet_fabric::memory::copy_many;

use crate::data::op::{Domain, Op, Operator, Take};
use crate::types::datatype::Datatype;
use crate::{Element, ErrorKind, ExceptionId};

pub(crate) use stand_in::stand_in;
pub(crate) use temporary::Temporary;

/// The length of a cache line in bytes. Long results are written from the beginning of a line on,
/// so that no vector crosses a line. Long allocations of the heap begin 16 bytes after the
/// beginning of a page, operands and result alike, so then no vector of the operands crosses a line
/// either.
const LINE: usize = 64;
/// The least length in bytes of a result that is aligned to lines.
const SHORTEST_IN_LINES: usize = 16 << 10;

/// An operator together with its element type.
pub(crate) trait Kernel: Send + Sync {
    /// The type of the operator.
    fn operator(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// The alignment that operands need in bytes, if they may lie in memory that other ranks share:
    /// at most a cache line, where messages begin there. `None` for a function of the user, which
    /// might write there.
    fn alignment(&self) -> Option<usize> {
        None
    }

    /// Whether foreign code may run when the kernel is dropped.
    fn is_dropped_by_user(&self) -> bool {
        false
    }

    /// `into[i] = left[i] ∘ right[i]` for `count` elements.
    ///
    /// # Safety
    /// All three are arrays of `count` valid elements of the kernel's type, with the alignment of
    /// its [`Unit`], `left` and `right` readable, `into` writable; `into` is `left`, or is
    /// `right`, or overlaps neither.
    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize);

    /// Whether [`try_reduce`](Kernel::try_reduce) may fail: then nothing else is called.
    fn may_throw(&self) -> bool {
        false
    }

    /// Like [`reduce`](Kernel::reduce), for a kernel that may fail by an exception of the user's
    /// function. The contents of `into` are undefined then.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    unsafe fn try_reduce(
        &self,
        left: *const u8,
        right: *const u8,
        into: *mut u8,
        count: usize,
    ) -> Result<(), ExceptionId> {
        // SAFETY: passed on.
        unsafe { self.reduce(left, right, into, count) };
        Ok(())
    }
}

/// The element of a kernel in the stream of a datatype. An item is a whole number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Bytes of an element; never 0.
    pub(crate) bytes: usize,
    /// The alignment of an element in bytes.
    pub(crate) alignment: usize,
}

/// The kernel of a built-in or user-made operator for the stream of a datatype: its data in the
/// order of the typemap, without gaps.
///
/// A predefined operator works on the basic elements, or on pairs without their padding; one of
/// the user works on items.
pub(crate) fn kernel_for(
    op: &Op,
    datatype: &Datatype,
) -> Result<(Box<dyn Kernel>, Unit), ErrorKind> {
    // The common case.
    if let (Some(predefined), Some((named, basic))) = (op.as_predefined(), datatype.single())
        && predefined.is_defined_for(named, basic)
    {
        let unit = Unit { bytes: basic.size.into(), alignment: basic.alignment.into() };
        return Ok((predefined::kernel(predefined, basic), unit));
    }
    let domain = op.domain(datatype)?;
    let size = usize::try_from(datatype.size()).expect("an item in memory is not larger than it");
    if size == 0 {
        return Ok((Box::new(Nothing), Unit { bytes: 1, alignment: 1 }));
    }
    Ok(match domain {
        Domain::Items(user) => user::kernel(user, datatype, size),
        Domain::Bytes(take) => (Box::new(take), Unit { bytes: 1, alignment: 1 }),
        Domain::Pairs(which, value, index) => pairs::kernel(which, value, index),
        Domain::Elements(predefined, basic) => {
            let unit = Unit { bytes: basic.size.into(), alignment: basic.alignment.into() };
            (predefined::kernel(predefined, basic), unit)
        }
    })
}

/// The kernel of an operator for values of a Rust type. Takes no memory for operators that have
/// none, so that boxing it allocates nothing. Called `O`.
struct Loop<T, F, O> {
    combine: F,
    element: PhantomData<fn(O) -> T>,
}

/// The kernel of a typed operator.
pub(crate) fn kernel<T: Element, O: Operator<T>>(operator: O) -> Box<dyn Kernel> {
    let combine = move |left: T, right: T| operator.combine(left, right);
    let kernel = Loop { combine, element: PhantomData::<fn(O) -> T> };
    match (O::BUILT_IN.is_some(), T::HAS_PADDING) {
        (true, false) => Box::new(kernel),
        (false, false) => Box::new(Foreign(kernel)),
        (_, true) => {
            Box::new(Clearing { kernel: Foreign(kernel), element: PhantomData::<fn() -> T> })
        }
    }
}

/// A kernel for elements with padding, which it zeroes: its results may be sent.
struct Clearing<T, K> {
    kernel: K,
    element: PhantomData<fn() -> T>,
}

impl<T: Element, K: Kernel> Kernel for Clearing<T, K> {
    fn operator(&self) -> &'static str {
        self.kernel.operator()
    }

    fn alignment(&self) -> Option<usize> {
        self.kernel.alignment()
    }

    fn is_dropped_by_user(&self) -> bool {
        self.kernel.is_dropped_by_user()
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        // SAFETY: passed on.
        unsafe { self.kernel.reduce(left, right, into, count) };
        for at in 0..count {
            // SAFETY: one of the results, which may be written.
            unsafe { T::clear_padding(into.wrapping_add(at * size_of::<T>())) };
        }
    }
}

/// The kernel of an operator of the user, which must not call the library because it runs under the
/// lock of the engine. Needs no memory of its own.
struct Foreign<K>(K);

impl<K: Kernel> Kernel for Foreign<K> {
    fn operator(&self) -> &'static str {
        self.0.operator()
    }

    fn alignment(&self) -> Option<usize> {
        self.0.alignment()
    }

    fn is_dropped_by_user(&self) -> bool {
        needs_drop::<K>()
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        let _kept_out = exclude();
        // SAFETY: passed on.
        unsafe { self.0.reduce(left, right, into, count) }
    }
}

/// The kernel of a function of two values. All memory that an execution may hold for a `T` is a
/// valid value of it.
fn looped<T: Copy + 'static, F>(combine: F) -> Box<dyn Kernel>
where
    F: Fn(T, T) -> T + Send + Sync + 'static,
{
    Box::new(Loop { combine, element: PhantomData::<fn(F) -> T> })
}

impl<T: Copy, F: Fn(T, T) -> T + Send + Sync, O> Kernel for Loop<T, F, O> {
    fn operator(&self) -> &'static str {
        std::any::type_name::<O>()
    }

    fn alignment(&self) -> Option<usize> {
        (align_of::<T>() <= LINE).then_some(align_of::<T>())
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        let first = before_line::<T>(into, count);
        if first > 0 {
            let at = first * size_of::<T>();
            // SAFETY: passed on; `first` is below `count`.
            return unsafe { reduce_to_line(self, (first, at), left, right, into, count) };
        }
        // SAFETY: passed on.
        unsafe { self.reduce_best(left, right, into, count) }
    }
}

/// Reduces the first elements, which are so many bytes, and then the others, whose results begin
/// a line.
///
/// # Safety
/// As [`Kernel::reduce`]; there are more than the first elements.
unsafe fn reduce_to_line(
    kernel: &dyn Kernel,
    (first, at): (usize, usize),
    left: *const u8,
    right: *const u8,
    into: *mut u8,
    count: usize,
) {
    // SAFETY: a part of what the caller promises.
    unsafe { kernel.reduce(left, right, into, first) };
    let (left, right, into) =
        (left.wrapping_add(at), right.wrapping_add(at), into.wrapping_add(at));
    // SAFETY: the other part, which begins within the arrays.
    unsafe { kernel.reduce(left, right, into, count - first) }
}

/// The elements of the result before the first one that begins a cache line, if the result is long;
/// else 0.
fn before_line<T>(into: *mut u8, count: usize) -> usize {
    if count * size_of::<T>() < SHORTEST_IN_LINES {
        return 0;
    }
    let first = into.cast::<T>().align_offset(LINE);
    if first < count { first } else { 0 }
}

impl<T: Copy, F: Fn(T, T) -> T, O> Loop<T, F, O> {
    /// The loop for this processor.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    #[inline]
    unsafe fn reduce_best(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: passed on, and the processor has been asked.
            return unsafe { self.reduce_widely(left, right, into, count) };
        }
        // SAFETY: passed on.
        unsafe { self.reduce_narrowly(left, right, into, count) }
    }

    /// The same loops for any processor. There are many kernels, and each has them once.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    #[inline(never)]
    unsafe fn reduce_narrowly(
        &self,
        left: *const u8,
        right: *const u8,
        into: *mut u8,
        count: usize,
    ) {
        // SAFETY: passed on.
        unsafe { self.reduce_plainly(left, right, into, count) }
    }

    /// The same loops for processors with vectors of 32 bytes. Nothing is rounded in another way.
    ///
    /// # Safety
    /// As [`Kernel::reduce`], on such a processor.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn reduce_widely(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        // SAFETY: passed on.
        unsafe { self.reduce_plainly(left, right, into, count) }
    }

    /// One loop for each place of the result.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    #[inline(always)] // into functions for different processors
    unsafe fn reduce_plainly(
        &self,
        left: *const u8,
        right: *const u8,
        into: *mut u8,
        count: usize,
    ) {
        if const { size_of::<T>() == 0 } {
            return; // and the addresses may be of nothing
        }
        let (left, right, into) = (left.cast::<T>(), right.cast::<T>(), into.cast::<T>());
        debug_assert!(
            left.is_aligned() && right.is_aligned() && into.is_aligned(),
            "operands of {} are aligned: {left:?}, {right:?}, {into:?}",
            std::any::type_name::<T>(),
        );
        // SAFETY (for all slices below): arrays of `count` elements by the caller's promise, and
        // where `into` is one of the operands no second slice of it is made.
        // SAFETY: see above.
        let target = unsafe { slice::from_raw_parts_mut(into, count) };
        if std::ptr::eq(left, into) {
            // SAFETY: see above.
            let right = unsafe { slice::from_raw_parts(right, count) };
            for (into, right) in target.iter_mut().zip(right) {
                *into = (self.combine)(*into, *right);
            }
        } else if std::ptr::eq(right, into) {
            // SAFETY: see above.
            let left = unsafe { slice::from_raw_parts(left, count) };
            for (into, left) in target.iter_mut().zip(left) {
                *into = (self.combine)(*left, *into);
            }
        } else {
            // SAFETY: see above.
            let left = unsafe { slice::from_raw_parts(left, count) };
            // SAFETY: see above.
            let right = unsafe { slice::from_raw_parts(right, count) };
            for ((into, left), right) in target.iter_mut().zip(left).zip(right) {
                *into = (self.combine)(*left, *right);
            }
        }
    }
}

/// The kernel for items without data.
struct Nothing;

impl Kernel for Nothing {
    unsafe fn reduce(&self, _: *const u8, _: *const u8, _: *mut u8, _: usize) {}
}

impl Kernel for Take {
    fn alignment(&self) -> Option<usize> {
        Some(1)
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        let from = match self {
            Take::Left => left,
            Take::Right => right,
        };
        if !std::ptr::eq(from, into) {
            // SAFETY: elements of one byte; `into` is another operand or overlaps none.
            unsafe { copy_many(from, into, count) };
        }
    }
}
