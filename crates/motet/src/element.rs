//! The types that may travel.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_fabric::TypeCode;

use crate::datatype::Kind;

/// A type that may be sent, received and reduced as it is: all primitive integers and floats,
/// `bool`, (feature `complex`) complex numbers, arrays of these, and structures that
/// [`struct_datatype!`](crate::struct_datatype) has been written for.
///
/// The other side must use the same type; if it does not, the operation ends with
/// [`ErrorKind::TypeMismatch`](crate::ErrorKind::TypeMismatch) and nothing is written. A structure
/// travels as it lies in memory, but for its padding: where it goes out, zeroes lie there, so that
/// nothing leaves the process that is no data.
///
/// # Safety
/// The type has no pointers and no destructor, and stays valid when its bytes are replaced by
/// those of another value of a type with the same code.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const CODE: ElementCode;

    /// Whether it has bytes that are no data: what lies there is not for other ranks.
    #[doc(hidden)]
    const HAS_PADDING: bool = false;

    /// Zeroes the bytes of an element that are no data.
    ///
    /// # Safety
    /// The bytes of an element can be written there.
    #[doc(hidden)]
    unsafe fn clear_padding(_element: *mut u8) {}
}

/// Zeroes the bytes of these elements that are no data.
pub(crate) fn clear_padding<T: Element>(elements: &mut [T]) {
    if T::HAS_PADDING {
        for element in elements {
            // SAFETY: borrowed alone; what is written are no data, so it stays a value.
            unsafe { T::clear_padding(std::ptr::from_mut(element).cast()) };
        }
    }
}

/// Zeroes the bytes of a structure of so many bytes that lie between these fields: (offset, size)
/// each.
///
/// # Safety
/// So many bytes can be written there, and the fields lie within them.
#[doc(hidden)]
pub unsafe fn clear_between(element: *mut u8, bytes: usize, fields: &[(usize, usize)]) {
    let mut at = 0;
    while at < bytes {
        let next = fields.iter().filter(|&&(start, len)| start >= at && len > 0).min();
        let &(start, len) = next.unwrap_or(&(bytes, 0));
        // SAFETY: bytes of the structure in front of the next field, or of its end.
        unsafe { element.wrapping_add(at).write_bytes(0, start - at) };
        at = start + len;
    }
}

/// The type of an element, as far as the two sides compare it.
#[doc(hidden)]
pub type ElementCode = TypeCode;

/// The code of a basic element of so many bytes; data without a meaning agrees with everything.
pub(crate) const fn code_of(kind: Kind, size: usize) -> TypeCode {
    match kind {
        Kind::Raw => TypeCode::BYTES,
        kind => TypeCode((kind as u16 + 1) << 8 | size as u16),
    }
}

/// The code of a structure of so many bytes with these fields: (offset, code, size) each.
#[doc(hidden)]
pub const fn code_of_fields(size: usize, fields: &[(usize, ElementCode, usize)]) -> ElementCode {
    const PRIME: u64 = 0x0100_0000_01b3;
    let (mut hash, mut at) = ((0xcbf2_9ce4_8422_2325 ^ size as u64).wrapping_mul(PRIME), 0);
    while at < fields.len() {
        let (offset, code, size) = fields[at];
        hash = (hash ^ offset as u64).wrapping_mul(PRIME);
        hash = (hash ^ (size as u64) << 16 ^ code.0 as u64).wrapping_mul(PRIME);
        at += 1;
    }
    let folded = (hash ^ hash >> 32 ^ hash >> 16) as u16;
    // The upper half is that of structures; its last code has a meaning of its own.
    match TypeCode(0x8000 | folded) {
        TypeCode::SPOILED => TypeCode(0x8000),
        code => code,
    }
}

/// An element that any bytes are a value of: the numbers, and arrays of them, but not `bool`.
///
/// A buffer of such elements may be taken for plain bytes in which datatypes say what lies where,
/// as in [`alltoallw`](crate::Communicator::alltoallw):
///
/// ```compile_fail,E0277
/// # motet::threads(1, |world| {
/// let byte = [motet::Part::new(0, 1, &motet::Datatype::BYTE)];
/// world.alltoallw(&[true], &mut [false], &byte, &byte)?; // a bool of 7?
/// # Ok::<(), motet::Error>(())
/// # });
/// ```
///
/// # Safety
/// All its bytes are initialised, and any bytes in their place make a valid value.
pub unsafe trait AnyBytes: Element {}

macro_rules! elements {
    ($($type:ty = $kind:ident;)*) => {$(
        // SAFETY: a plain number (or bool, whose two values only ever arrive from another bool);
        // types that share a code are alike.
        unsafe impl Element for $type {
            const CODE: TypeCode = code_of(Kind::$kind, size_of::<$type>());
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty = $kind:ident;)*) => {
        elements! { $($type = $kind;)* }
        $(
            // SAFETY: a number without padding, of which every pattern of bits is one.
            unsafe impl AnyBytes for $type {}
        )*
    };
}

elements! {
    bool = Logical;
}

numbers! {
    u8 = Unsigned;
    u16 = Unsigned;
    u32 = Unsigned;
    u64 = Unsigned;
    u128 = Unsigned;
    usize = Unsigned;
    i8 = Signed;
    i16 = Signed;
    i32 = Signed;
    i64 = Signed;
    i128 = Signed;
    isize = Signed;
    f32 = Float;
    f64 = Float;
}

#[cfg(feature = "complex")]
numbers! {
    num_complex::Complex<f32> = Complex;
    num_complex::Complex<f64> = Complex;
}

// SAFETY: elements in a row.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const CODE: TypeCode = T::CODE;
    const HAS_PADDING: bool = T::HAS_PADDING;

    unsafe fn clear_padding(element: *mut u8) {
        for at in 0..N {
            // SAFETY: one of the elements in the row.
            unsafe { T::clear_padding(element.wrapping_add(at * size_of::<T>())) };
        }
    }
}

// SAFETY: numbers in a row.
unsafe impl<T: AnyBytes, const N: usize> AnyBytes for [T; N] {}
