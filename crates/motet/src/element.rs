//! The types that may travel.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_fabric::TypeCode;

/// A type that may be sent, received and reduced as it is: all primitive integers and floats,
/// `bool`, and (feature `complex`) complex numbers.
///
/// The other side must use the same type; if it does not, the operation ends with
/// [`ErrorKind::TypeMismatch`](crate::ErrorKind::TypeMismatch) and nothing is written.
///
/// # Safety
/// The type has no padding, no pointers and no destructor, and no other type has its code.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const CODE: TypeCode;

    #[doc(hidden)]
    const ZERO: Self;
}

macro_rules! elements {
    ($($type:ty = $code:literal, $zero:expr;)*) => {$(
        // SAFETY: a plain number (or bool, whose two values only ever arrive from another bool)
        // with a code of its own.
        unsafe impl Element for $type {
            const CODE: TypeCode = TypeCode($code);
            const ZERO: Self = $zero;
        }
    )*};
}

elements! {
    u8 = 1, 0;
    u16 = 2, 0;
    u32 = 3, 0;
    u64 = 4, 0;
    u128 = 5, 0;
    usize = 6, 0;
    i8 = 7, 0;
    i16 = 8, 0;
    i32 = 9, 0;
    i64 = 10, 0;
    i128 = 11, 0;
    isize = 12, 0;
    f32 = 13, 0.0;
    f64 = 14, 0.0;
    bool = 15, false;
}

#[cfg(feature = "complex")]
elements! {
    num_complex::Complex<f32> = 16, num_complex::Complex::new(0.0, 0.0);
    num_complex::Complex<f64> = 17, num_complex::Complex::new(0.0, 0.0);
}
