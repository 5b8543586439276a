//! The types whose values may be sent.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::atomic::{AtomicU64, Ordering};

use motet_fabric::{TypeCode, structures};
use motet_plan::order::sort_by_number;

use crate::types::datatype::Kind;

/// A type whose values may be sent, received and reduced without conversion: all primitive integers
/// and floats, `bool`, (feature `complex`) complex numbers, arrays of these, and structures that
/// [`struct_datatype!`](crate::struct_datatype) has been written for.
///
/// The peer must use the same type; if it does not, the operation ends with
/// [`ErrorKind::TypeMismatch`](crate::ErrorKind::TypeMismatch) and nothing is written. Structures
/// are the same if all fields have the same types and offsets, whatever the names of the structures
/// and fields, and in whichever programs. A structure is sent as its bytes in memory, except for
/// its padding, which is sent as zeroes, so that no other bytes of the process leave it.
///
/// Bytes without a type, as untyped calls and programs in other languages send them, can be
/// received as any type of which all bytes are a value. A `bool`, and a structure with a `bool` in
/// it, can be received only from the same type of a Rust program.
///
/// # Safety
/// The type has no pointers and no destructor, and stays valid when its bytes are replaced by those
/// of another value of the same [`ElementType`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element: its values cannot travel from rank to rank as they are",
    label = "not an element",
    note = "elements are numbers, `bool`, arrays of them, and structures that are made elements: \
            derive `Clone` and `Copy`, then write \
            `motet::struct_datatype!(Name {{ field: Type }})`",
    note = "instead of a tuple, pass such a structure; instead of an `Option` or an `enum`, a \
            number that says which; instead of text or a `char`, its bytes: `text.as_bytes()`",
    note = "instead of a `Vec` of `Vec`s, pass all elements in one `Vec`, with the lengths in \
            another"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const TYPE: ElementType;

    /// Whether it has padding, whose bytes must not reach other ranks.
    #[doc(hidden)]
    const HAS_PADDING: bool = false;

    /// Zeroes the bytes of an element that are no data.
    ///
    /// # Safety
    /// The bytes of an element can be written there.
    #[doc(hidden)]
    unsafe fn clear_padding(_element: *mut u8) {}
}

/// Zeroes the padding of these elements.
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

/// The type of an element, as sender and receiver compare it. That of an array is the type of its
/// elements.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum ElementType {
    /// A basic type that all programs know.
    Basic(TypeCode),
    /// A structure.
    Structure(&'static Structure),
}

/// The size and the fields of a structure.
#[doc(hidden)]
#[derive(Debug)]
pub struct Structure {
    /// Its size.
    pub bytes: usize,
    /// The fields, in any order.
    pub fields: &'static [Field],
}

/// A field of a structure.
#[doc(hidden)]
#[derive(Debug)]
pub struct Field {
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
    /// The type of its elements, of which it may have several.
    pub element: ElementType,
}

/// The code of the elements of a type.
#[inline]
pub(crate) fn code_for<T: Element>() -> TypeCode {
    match T::TYPE {
        ElementType::Basic(code) => code,
        ElementType::Structure(structure) => structure.code(),
    }
}

/// The code of a basic element of so many bytes; raw data has none.
pub(crate) const fn code_of(kind: Kind, size: usize) -> TypeCode {
    match kind {
        Kind::Raw => TypeCode::BYTES,
        kind => TypeCode((kind as u16 + 1) << 8 | size as u16),
    }
}

impl ElementType {
    /// Whether some byte patterns are no value of it.
    pub(crate) fn is_strict(self) -> bool {
        match self {
            ElementType::Basic(code) => code.is_strict(),
            ElementType::Structure(Structure { fields, .. }) => {
                fields.iter().any(|field| field.element.is_strict())
            }
        }
    }

    fn bytes(self) -> usize {
        match self {
            ElementType::Basic(code) => bytes_of(code),
            ElementType::Structure(structure) => structure.bytes,
        }
    }

    /// The signature: a text that is equal for the same types, and different for all others.
    fn signature(self) -> String {
        match self {
            ElementType::Basic(code) => name_of(code),
            ElementType::Structure(structure) => structure.signature(),
        }
    }

    /// Whether all elements in so many bytes are values of the type.
    ///
    /// # Safety
    /// The bytes can be read, and those of data are initialised.
    unsafe fn holds(self, start: *const u8, bytes: usize) -> bool {
        match self {
            ElementType::Basic(code) if code.is_strict() => (0..bytes).all(|at| {
                let byte = start.wrapping_add(at);
                // SAFETY: one of the bytes.
                unsafe { byte.read() <= 1 }
            }),
            ElementType::Basic(_) => true,
            ElementType::Structure(structure) => {
                let size = structure.bytes.max(1);
                let mut fields = (0..bytes / size).flat_map(|at| {
                    structure.fields.iter().map(move |field| (at * size + field.offset, field))
                });
                fields.all(|(at, field)| {
                    // SAFETY: a field lies in its structure.
                    unsafe { field.element.holds(start.wrapping_add(at), field.bytes) }
                })
            }
        }
    }
}

impl Structure {
    /// The code. A process looks it up once; after that it costs a read in a table of addresses.
    #[inline]
    fn code(&'static self) -> TypeCode {
        let address = (&raw const *self).addr() as u64;
        let seen = &SEEN[(address >> 3) as usize % SEEN.len()];
        match seen.load(Ordering::Relaxed) {
            word if word >> 16 == address => TypeCode(word as u16),
            _ => self.resolve_code(seen, address),
        }
    }

    #[cold]
    fn resolve_code(&'static self, seen: &AtomicU64, address: u64) -> TypeCode {
        let is_strict = ElementType::Structure(self).is_strict();
        let code = structures::code_of(&self.signature(), is_strict);
        if address < 1 << 48 {
            seen.store(address << 16 | u64::from(code.0), Ordering::Relaxed);
        }
        code
    }

    /// The fields by their offsets, and the size. Fields without a size are left out.
    fn signature(&self) -> String {
        let mut fields: Vec<&Field> = self.fields.iter().filter(|field| field.bytes > 0).collect();
        sort_by_number(&mut fields, |field| field.offset as u64);
        let mut text = String::from("{");
        for (at, Field { offset, bytes, element }) in fields.into_iter().enumerate() {
            let (signature, count) = (element.signature(), bytes / element.bytes().max(1));
            let several = if count == 1 { signature } else { format!("[{signature}; {count}]") };
            text += &format!("{}{offset}: {several}", if at == 0 { "" } else { ", " });
        }
        format!("{text}; {} bytes}}", self.bytes)
    }
}

/// A table of structures: an address in the upper 48 bits, and the code. Several structures may
/// compete for one place, and are then looked up again.
static SEEN: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// The size of a basic element.
fn bytes_of(TypeCode(code): TypeCode) -> usize {
    usize::from(code & 0xff)
}

/// The name of a type, for people.
pub(crate) fn name_of(code: TypeCode) -> String {
    if code.is_structure() {
        let nameless = "a structure that is one too many for a process to tell apart";
        return structures::signature_of(code).unwrap_or(nameless).into();
    }
    let (bytes, raw) = (bytes_of(code), code.raw());
    let of_kind = |kind: Kind| code_of(kind, bytes) == raw;
    match () {
        () if code == TypeCode::BYTES => "bytes".into(),
        () if code.is_strict() => "bool".into(),
        () if of_kind(Kind::Signed) => format!("i{}", bytes * 8),
        () if of_kind(Kind::Unsigned) => format!("u{}", bytes * 8),
        () if of_kind(Kind::Float) => format!("f{}", bytes * 8),
        () if of_kind(Kind::Complex) => format!("Complex<f{}>", bytes * 4),
        () if of_kind(Kind::Logical) => format!("raw truth values of {bytes} bytes"),
        () if of_kind(Kind::Character) => "characters".into(),
        () => format!("other basic elements of {bytes} bytes"),
    }
}

/// A number for a type that is equal for the same types in all programs, and mostly different for
/// others; a `bool` has the number of raw truth values. 0 for bytes.
pub(crate) fn number_of(code: TypeCode) -> u64 {
    let signature = structures::signature_of(code).unwrap_or_default();
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    match code.is_structure() {
        true => signature.bytes().fold(0xcbf2_9ce4_8422_2325, hash) | 1 << 63,
        false => code.raw().0.into(),
    }
}

/// Checks received data, in a build with debug assertions: `len` elements lie at an address that
/// elements of this type may have, and are values of it. This is the one place where bytes become
/// elements for a program.
///
/// # Panics
/// If they are not: then the library is wrong, or the caller has named the wrong type.
///
/// # Safety
/// The elements can be read.
#[inline]
pub(crate) unsafe fn assert_valid<T: Element>(start: *const u8, len: usize) {
    if !cfg!(debug_assertions) || len == 0 {
        return;
    }
    let is_place = !start.is_null() && start.cast::<T>().is_aligned();
    assert!(is_place, "no {} can lie at {start:?}", T::TYPE.signature());
    if T::TYPE.is_strict() {
        // SAFETY: passed on. What is not padding of elements is initialised.
        let holds = unsafe { T::TYPE.holds(start, len * size_of::<T>()) };
        assert!(holds, "bytes that are no {} lie in a buffer", T::TYPE.signature());
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
#[diagnostic::on_unimplemented(
    message = "not all bytes are a value of `{Self}`, so it cannot be taken for plain bytes",
    label = "not a number or an array of numbers",
    note = "pass buffers of numbers, as `u8` for `bool`, or use a call that takes elements: \
            `alltoallv` instead of `alltoallw`, `exchangev` instead of `exchangew`"
)]
pub unsafe trait AnyBytes: Element {}

macro_rules! numbers {
    ($($type:ty = $kind:ident;)*) => {$(
        // SAFETY: a plain number; types that share a code are alike.
        unsafe impl Element for $type {
            const TYPE: ElementType =
                ElementType::Basic(code_of(Kind::$kind, size_of::<$type>()));
        }

        // SAFETY: a number without padding, of which every pattern of bits is one.
        unsafe impl AnyBytes for $type {}
    )*};
}

// SAFETY: its two values only ever arrive from another bool, since its code is strict.
unsafe impl Element for bool {
    const TYPE: ElementType = ElementType::Basic(code_of(Kind::Logical, 1).strict());
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
    const TYPE: ElementType = T::TYPE;
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

#[cfg(all(test, debug_assertions))]
mod tests {
    use std::ptr;

    use super::assert_valid;

    /// # Safety
    /// As [`assert_valid`].
    unsafe fn refused<T: super::Element>(start: *const u8, len: usize) -> Option<String> {
        let check = || {
            // SAFETY: passed on.
            unsafe { assert_valid::<T>(start, len) }
        };
        let panic = std::panic::catch_unwind(check).err()?;
        Some(*panic.downcast::<String>().expect("it is a text"))
    }

    #[test]
    fn elements_lie_where_they_may() {
        let words = [1_u32, 2];
        let start = words.as_ptr().cast::<u8>();
        // SAFETY (for all): so many elements are there, or it panics before it reads any.
        // SAFETY: see above.
        assert_eq!(unsafe { refused::<u32>(start, 2) }, None);
        // SAFETY: see above.
        let message = unsafe { refused::<u32>(start.wrapping_add(1), 1) }.unwrap();
        assert!(message.starts_with("no u32 can lie at 0x"), "{message}");
        // SAFETY: see above.
        let message = unsafe { refused::<[u32; 0]>(start.wrapping_add(2), 1) };
        assert!(message.is_some(), "also without bytes");
        // SAFETY: see above.
        assert!(unsafe { refused::<[u32; 0]>(ptr::null(), 1) }.is_some());
        // SAFETY: see above.
        assert_eq!(unsafe { refused::<u32>(ptr::null(), 0) }, None, "nothing lies anywhere");
        // SAFETY: see above.
        assert_eq!(unsafe { refused::<bool>([0, 1].as_ptr().cast(), 2) }, None);
        // SAFETY: see above.
        let message = unsafe { refused::<bool>([0_u8, 7].as_ptr(), 2) }.unwrap();
        assert_eq!(message, "bytes that are no bool lie in a buffer");
    }
}
