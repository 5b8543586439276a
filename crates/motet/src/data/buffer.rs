//! Buffers that an operation holds while it runs.
//!
//! All traits here make one promise: once a buffer has been turned into raw parts, its memory stays
//! where it is, valid and untouched by any other code, until the parts are turned into the buffer
//! again or leaked. A pending operation holds a buffer as raw parts (an address and lengths), never
//! as a box or a reference: moving those would claim exclusive access to memory that peers are
//! using.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod give_back;
mod items;

use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::Element;
use crate::types::element::assert_valid;
pub(crate) use give_back::GiveBack;
pub use items::{Items, ItemsParts, StreamOf};

/// An owner of buffers that is kept alive until its operation is complete.
pub(crate) type BufferGuard = Box<dyn Send>;

/// Elements at an address.
#[derive(Clone, Copy, Debug)]
pub struct RawSlice {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
}

impl RawSlice {
    pub(crate) const EMPTY: RawSlice = RawSlice { start: std::ptr::null_mut(), len: 0 };
}

/// A buffer that an operation can hold while it runs and give back afterwards.
///
/// # Safety
/// Between `into_raw` and `from_raw` all memory that belongs to it stays where it is, valid, and
/// untouched by anybody else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be held by an operation that goes on after the call",
    label = "no buffer",
    note = "pass a `Vec`, a boxed slice or `world.allocate(..)`: the operation owns it, and its \
            `wait` gives it back",
    note = "to keep it (an array, `&vec`, a slice of something larger), borrow a slice in \
            `world.scope(|scope| ..)`: `scope.isend(&all[..], ..)`, \
            `scope.irecv(&mut all[..], ..)`"
)]
pub unsafe trait StableBuffer: Sized {
    /// Its raw parts.
    type Parts: Send;

    /// Turns it into raw parts.
    fn into_raw(self) -> Self::Parts;

    /// Turns the raw parts into the buffer again.
    ///
    /// # Safety
    /// The parts come from `into_raw`, are used once, and no operation uses the memory.
    unsafe fn from_raw(parts: Self::Parts) -> Self;
}

/// A buffer that can be sent from.
///
/// # Safety
/// The memory that [`SendBuffer::span`] tells of belongs to it, and holds that many valid elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be held by an operation that goes on after the call",
    label = "no buffer to send from",
    note = "pass a `Vec`, a boxed slice or `world.allocate(..)`: the operation owns it, and its \
            `wait` gives it back",
    note = "to keep it (an array, `&vec`, a slice of something larger), borrow a slice in \
            `world.scope(|scope| ..)`: `scope.isend(&all[..], ..)`, \
            `scope.irecv(&mut all[..], ..)`"
)]
pub unsafe trait SendBuffer: StableBuffer {
    /// Type of its elements.
    type Element: Element;

    /// The memory of its elements, as an operation sees them.
    fn span(parts: &Self::Parts) -> RawSlice;

    /// The memory of its elements, as the user sees them.
    fn memory(parts: &Self::Parts) -> RawSlice {
        Self::span(parts)
    }

    /// The data that must be packed into the span, or unpacked from it; see [`Items`].
    #[doc(hidden)]
    fn items(_: &Self::Parts) -> Option<StreamOf> {
        None
    }
}

/// A buffer that can be received into.
///
/// # Safety
/// The memory may be written, and is read by nobody else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be held by an operation that goes on after the call",
    label = "no buffer to receive into",
    note = "pass a `Vec`, a boxed slice or `world.allocate(..)`: the operation owns it, and its \
            `wait` gives it back",
    note = "to keep it (an array, `&vec`, a slice of something larger), borrow a slice in \
            `world.scope(|scope| ..)`: `scope.isend(&all[..], ..)`, \
            `scope.irecv(&mut all[..], ..)`",
    note = "what is received is written, so a shared slice or an `Arc` does not do: pass a `Vec`, \
            or `&mut all[..]` in a scope"
)]
pub unsafe trait RecvBuffer: SendBuffer {}

/// The buffers of one collective: one buffer that is both input and output (in place), or a pair
/// of an input and an output, or `()` for none.
///
/// # Safety
/// As [`SendBuffer`] for the input and [`RecvBuffer`] for the output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be held by an operation that goes on after the call",
    label = "no buffers of a collective",
    note = "pass a `Vec`, a boxed slice or `world.allocate(..)`: the operation owns it, and its \
            `wait` gives it back",
    note = "to keep it (an array, `&vec`, a slice of something larger), borrow a slice in \
            `world.scope(|scope| ..)`: `scope.isend(&all[..], ..)`, \
            `scope.irecv(&mut all[..], ..)`",
    note = "a collective takes one buffer, which is input and output, or a pair `(input, output)` \
            of one type of elements"
)]
pub unsafe trait Buffers: StableBuffer {
    /// Type of the elements.
    type Element: Element;

    /// The memory of the input; `None` if it is in the output.
    fn input(parts: &Self::Parts) -> Option<RawSlice>;

    /// The memory of the output.
    fn output(parts: &Self::Parts) -> RawSlice;

    /// Like [`Buffers::input`], as the user sees it.
    fn input_memory(parts: &Self::Parts) -> Option<RawSlice> {
        Self::input(parts)
    }

    /// Like [`Buffers::output`], as the user sees it.
    fn output_memory(parts: &Self::Parts) -> RawSlice {
        Self::output(parts)
    }

    /// Like [`SendBuffer::items`], for the input and for the output.
    #[doc(hidden)]
    fn items(_: &Self::Parts) -> [Option<StreamOf>; 2] {
        [None, None]
    }
}

/// The raw parts of a `Vec`.
#[derive(Debug)]
pub struct VecParts<T> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
}

// SAFETY: stands for a `Vec<T>` of elements, which may move between threads.
unsafe impl<T: Element> Send for VecParts<T> {}

// SAFETY: the heap block of a vector that nobody can reach stays as it is.
unsafe impl<T: Element> StableBuffer for Vec<T> {
    type Parts = VecParts<T>;

    fn into_raw(self) -> VecParts<T> {
        let mut whole = ManuallyDrop::new(self);
        let start = NonNull::new(whole.as_mut_ptr()).expect("a vector is somewhere");
        VecParts { start, len: whole.len(), capacity: whole.capacity() }
    }

    unsafe fn from_raw(parts: VecParts<T>) -> Vec<T> {
        // SAFETY: the elements of the vector, which nobody uses.
        unsafe { assert_valid::<T>(parts.start.as_ptr().cast(), parts.len) };
        // SAFETY: the three parts of one vector, used once by the caller's promise.
        unsafe { Vec::from_raw_parts(parts.start.as_ptr(), parts.len, parts.capacity) }
    }
}

// SAFETY: the memory of its parts.
unsafe impl<T: Element> SendBuffer for Vec<T> {
    type Element = T;

    fn span(parts: &VecParts<T>) -> RawSlice {
        RawSlice { start: parts.start.as_ptr().cast(), len: parts.len }
    }
}

// SAFETY: a vector owns its memory.
unsafe impl<T: Element> RecvBuffer for Vec<T> {}

// SAFETY: as for a vector.
unsafe impl<T: Element> StableBuffer for Box<[T]> {
    type Parts = VecParts<T>;

    fn into_raw(self) -> VecParts<T> {
        self.into_vec().into_raw()
    }

    unsafe fn from_raw(parts: VecParts<T>) -> Box<[T]> {
        // SAFETY: passed on.
        unsafe { Vec::from_raw(parts) }.into_boxed_slice()
    }
}

// SAFETY: the memory of its parts.
unsafe impl<T: Element> SendBuffer for Box<[T]> {
    type Element = T;

    fn span(parts: &VecParts<T>) -> RawSlice {
        Vec::span(parts)
    }
}

// SAFETY: a box owns its memory.
unsafe impl<T: Element> RecvBuffer for Box<[T]> {}

// SAFETY: shared memory that nobody can write while the count is held.
unsafe impl<T: Element> StableBuffer for Arc<[T]> {
    type Parts = Arc<[T]>;

    fn into_raw(self) -> Arc<[T]> {
        self
    }

    unsafe fn from_raw(parts: Arc<[T]>) -> Arc<[T]> {
        parts
    }
}

// SAFETY: the memory of its parts.
unsafe impl<T: Element> SendBuffer for Arc<[T]> {
    type Element = T;

    fn span(parts: &Arc<[T]>) -> RawSlice {
        RawSlice { start: parts.as_ptr().cast_mut().cast(), len: parts.len() }
    }
}

// SAFETY: a shared borrow: nobody writes while it lives. Whoever takes borrows makes sure that
// the operation ends before the borrow does.
unsafe impl<'a, T: Element> StableBuffer for &'a [T] {
    type Parts = &'a [T];

    fn into_raw(self) -> &'a [T] {
        self
    }

    unsafe fn from_raw(parts: &'a [T]) -> &'a [T] {
        parts
    }
}

// SAFETY: the memory of its parts.
unsafe impl<'a, T: Element> SendBuffer for &'a [T] {
    type Element = T;

    fn span(parts: &&'a [T]) -> RawSlice {
        RawSlice { start: parts.as_ptr().cast_mut().cast(), len: parts.len() }
    }
}

/// The raw parts of a mutable borrow, whose moves claim no access.
#[derive(Debug)]
pub struct BorrowParts<'a, T> {
    start: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: stands for a `&mut [T]` of elements, which may move between threads.
unsafe impl<T: Element> Send for BorrowParts<'_, T> {}

// SAFETY: the parts hold the only borrow. Whoever takes borrows makes sure that the operation
// ends before the borrow does.
unsafe impl<'a, T: Element> StableBuffer for &'a mut [T] {
    type Parts = BorrowParts<'a, T>;

    fn into_raw(self) -> BorrowParts<'a, T> {
        BorrowParts { start: self.as_mut_ptr(), len: self.len(), borrow: PhantomData }
    }

    unsafe fn from_raw(parts: BorrowParts<'a, T>) -> &'a mut [T] {
        // SAFETY: the elements of the borrow, which nobody uses.
        unsafe { assert_valid::<T>(parts.start.cast(), parts.len) };
        // SAFETY: the parts of one mutable borrow, used once by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(parts.start, parts.len) }
    }
}

// SAFETY: the memory of its parts.
unsafe impl<'a, T: Element> SendBuffer for &'a mut [T] {
    type Element = T;

    fn span(parts: &BorrowParts<'a, T>) -> RawSlice {
        RawSlice { start: parts.start.cast(), len: parts.len }
    }
}

// SAFETY: the only borrow of that memory.
unsafe impl<T: Element> RecvBuffer for &mut [T] {}

// SAFETY: passed on.
unsafe impl<S: StableBuffer, R: StableBuffer> StableBuffer for (S, R) {
    type Parts = (S::Parts, R::Parts);

    fn into_raw(self) -> Self::Parts {
        (self.0.into_raw(), self.1.into_raw())
    }

    unsafe fn from_raw((first, second): Self::Parts) -> Self {
        // SAFETY: passed on.
        let first = unsafe { S::from_raw(first) };
        // SAFETY: passed on.
        let second = unsafe { R::from_raw(second) };
        (first, second)
    }
}

// SAFETY: no memory at all.
unsafe impl StableBuffer for () {
    type Parts = ();

    fn into_raw(self) {}

    unsafe fn from_raw((): ()) {}
}

/// Buffers whose input may be changed between two starts: a shared input may not.
///
/// # Safety
/// As [`RecvBuffer`] for the input.
#[diagnostic::on_unimplemented(
    message = "the input of `{Self}` is shared, so it cannot be changed between two runs",
    label = "a shared input",
    note = "make the operation with an input of its own: a `Vec` instead of an `Arc`"
)]
pub unsafe trait OwnInput: Buffers {}

// SAFETY: the output is the input, and may be written.
unsafe impl<B: RecvBuffer> OwnInput for B {}

// SAFETY: passed on.
unsafe impl<S, R> OwnInput for (S, R)
where
    R: RecvBuffer,
    S: RecvBuffer + SendBuffer<Element = R::Element>,
{
}

// SAFETY: passed on.
unsafe impl<B: RecvBuffer> Buffers for B {
    type Element = B::Element;

    fn input(_: &Self::Parts) -> Option<RawSlice> {
        None
    }

    fn output(parts: &Self::Parts) -> RawSlice {
        B::span(parts)
    }

    fn output_memory(parts: &Self::Parts) -> RawSlice {
        B::memory(parts)
    }

    fn items(parts: &Self::Parts) -> [Option<StreamOf>; 2] {
        [None, <B as SendBuffer>::items(parts)]
    }
}

// SAFETY: passed on.
unsafe impl<S, R> Buffers for (S, R)
where
    R: RecvBuffer,
    S: SendBuffer<Element = R::Element>,
{
    type Element = R::Element;

    fn input(parts: &Self::Parts) -> Option<RawSlice> {
        Some(S::span(&parts.0))
    }

    fn output(parts: &Self::Parts) -> RawSlice {
        R::span(&parts.1)
    }

    fn input_memory(parts: &Self::Parts) -> Option<RawSlice> {
        Some(S::memory(&parts.0))
    }

    fn output_memory(parts: &Self::Parts) -> RawSlice {
        R::memory(&parts.1)
    }

    fn items(parts: &Self::Parts) -> [Option<StreamOf>; 2] {
        [S::items(&parts.0), R::items(&parts.1)]
    }
}

// SAFETY: no memory at all.
unsafe impl Buffers for () {
    type Element = u8;

    fn input((): &()) -> Option<RawSlice> {
        None
    }

    fn output((): &()) -> RawSlice {
        RawSlice::EMPTY
    }
}

/// The elements of a span, borrowed for as long as the parts are.
///
/// # Safety
/// The span is of these parts, and no operation uses it.
pub(crate) unsafe fn elements<T: Element, P>(_parts: &P, span: RawSlice) -> &[T] {
    if span.len == 0 {
        return &[];
    }
    // SAFETY: the span of a live buffer of such elements.
    unsafe { assert_valid::<T>(span.start, span.len) };
    // SAFETY: the span of a live buffer of such elements.
    unsafe { std::slice::from_raw_parts(span.start.cast(), span.len) }
}

/// The elements of a span, to be changed.
///
/// # Safety
/// As [`elements`], and the span is of a buffer that is owned or borrowed mutably.
pub(crate) unsafe fn elements_mut<T: Element, P>(_parts: &mut P, span: RawSlice) -> &mut [T] {
    if span.len == 0 {
        return &mut [];
    }
    // SAFETY: the span of a live buffer of such elements.
    unsafe { assert_valid::<T>(span.start, span.len) };
    // SAFETY: the span of a live buffer of such elements, borrowed alone.
    unsafe { std::slice::from_raw_parts_mut(span.start.cast(), span.len) }
}

/// Buffers that are kept until their operation is complete, then dropped.
pub(crate) struct HeldBuffers<B: StableBuffer>(Option<B::Parts>);

impl<B: StableBuffer> HeldBuffers<B> {
    /// The keeper of these buffers, without their lifetime.
    ///
    /// # Safety
    /// It is dropped when no operation uses the memory any more, and before any borrow in it ends.
    pub(crate) unsafe fn keeper(parts: B::Parts) -> BufferGuard {
        let kept: Box<dyn Send + '_> = Box::new(HeldBuffers::<B>(Some(parts)));
        // SAFETY: only the lifetime changes; the keeper is gone before it matters, by the
        // caller's promise.
        unsafe { mem::transmute::<Box<dyn Send + '_>, BufferGuard>(kept) }
    }
}

impl<B: StableBuffer> Drop for HeldBuffers<B> {
    fn drop(&mut self) {
        if let Some(parts) = self.0.take() {
            // SAFETY: no operation uses the memory, by the promise of `keeper`.
            drop(unsafe { B::from_raw(parts) });
        }
    }
}
