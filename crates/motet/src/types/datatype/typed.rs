//! Rust types that have a datatype.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Datatype, Named};

/// A type whose values can be sent: [elements](crate::Element), arrays of such types, and
/// structures that [`struct_datatype!`](crate::struct_datatype) has been written for.
///
/// # Safety
/// The data of the datatype lies within the value, its extent is the size of the type, and it
/// covers neither padding nor pointers. A value stays valid when its data is replaced by that of
/// another value of a matching datatype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no datatype",
    label = "no type with a datatype",
    note = "numbers, `bool` and arrays of them have one; a structure gets one by deriving `Clone` \
            and `Copy` and by `motet::struct_datatype!(Name {{ field: Type }})`"
)]
pub unsafe trait Typed: Copy + Send + Sync + 'static {
    /// The datatype of one value.
    fn datatype() -> Datatype;
}

macro_rules! typed {
    ($($type:ty = $named:ident;)*) => {$(
        // SAFETY: one number, without padding, of the same size and kind.
        unsafe impl Typed for $type {
            fn datatype() -> Datatype {
                const { assert!(size_of::<$type>() == Named::$named.bytes()) };
                Datatype::named(Named::$named)
            }
        }
    )*};
}

typed! {
    u8 = Uint8;
    u16 = Uint16;
    u32 = Uint32;
    u64 = Uint64;
    u128 = Uint128;
    i8 = Int8;
    i16 = Int16;
    i32 = Int32;
    i64 = Int64;
    i128 = SizedInteger16;
    isize = Aint;
    f32 = Float;
    f64 = Double;
    bool = CBool;
}

#[cfg(target_pointer_width = "64")]
typed! { usize = Uint64; }
#[cfg(target_pointer_width = "32")]
typed! { usize = Uint32; }

#[cfg(feature = "complex")]
typed! {
    num_complex::Complex<f32> = CFloatComplex;
    num_complex::Complex<f64> = CDoubleComplex;
}

// SAFETY: an array is its elements in a row, one size of the element apart.
unsafe impl<T: Typed, const N: usize> Typed for [T; N] {
    fn datatype() -> Datatype {
        let made = i64::try_from(N).map(|len| Datatype::contiguous(len, &T::datatype()));
        made.expect("no array is longer").expect("an array that exists has a size")
    }
}

impl Datatype {
    /// The datatype of a structure `T` with fields at these offsets: what
    /// [`struct_datatype!`](crate::struct_datatype) is made of.
    #[doc(hidden)]
    pub fn of_fields<T>(fields: &[(usize, Datatype)]) -> Datatype {
        let lengths = vec![1; fields.len()];
        let offsets: Vec<i64> = fields.iter().map(|(offset, _)| *offset as i64).collect();
        let types: Vec<Datatype> = fields.iter().map(|(_, datatype)| datatype.clone()).collect();
        Datatype::structured(&lengths, &offsets, &types)
            .and_then(|fields| Datatype::resized(0, size_of::<T>() as i64, &fields))
            .expect("a structure that exists has a size")
    }
}

/// Gives a structure a datatype: `struct_datatype!(Particle { position: [f64; 3], id: u64 });`
///
/// All fields are listed, each with its type; whatever is not right does not compile. The structure
/// is `Copy`; with `#[repr(C)]` its datatype is that of the same structure in C, without its
/// padding. It becomes an [`Element`](crate::Element) too, so that vectors of it are buffers of
/// every operation.
///
/// ```
/// use motet::datatype::Typed;
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { kind: u8, position: [f64; 3], id: u64 }
/// motet::struct_datatype!(Particle { kind: u8, position: [f64; 3], id: u64 });
///
/// let datatype = Particle::datatype();
/// assert_eq!((datatype.size(), datatype.extent()), (33, 40));
/// ```
///
/// ```compile_fail,E0027
/// # #[derive(Clone, Copy)]
/// # struct Particle { kind: u8, id: u64 }
/// motet::struct_datatype!(Particle { id: u64 }); // a field is missing
/// ```
///
/// ```compile_fail,E0308
/// # #[derive(Clone, Copy)]
/// # struct Particle { kind: u8, id: u64 }
/// motet::struct_datatype!(Particle { kind: i8, id: u64 }); // not its type
/// ```
///
/// The fields of a tuple structure are called by their numbers, and a structure with parameters by
/// a name for it with these parameters:
///
/// ```
/// #[derive(Clone, Copy)]
/// struct Weighted(f64, u32);
/// motet::struct_datatype!(Weighted { 0: f64, 1: u32 });
///
/// #[derive(Clone, Copy)]
/// struct Pair<T> { left: T, right: T }
/// type PairOfBytes = Pair<u8>;
/// motet::struct_datatype!(PairOfBytes { left: u8, right: u8 });
/// ```
///
/// ```compile_fail,E0277
/// # #[derive(Clone, Copy)]
/// # struct Particle { name: &'static str }
/// motet::struct_datatype!(Particle { name: &'static str }); // cannot be sent
/// ```
#[macro_export]
macro_rules! struct_datatype {
    ($name:ident { $($field:tt: $type:ty),+ $(,)? }) => {
        const _: () = {
            #[allow(dead_code)] // it is there to be compiled
            fn lists_all_fields_with_their_types(value: $name) {
                let $name { $($field: _),+ } = value;
                $(let _: $type = value.$field;)+
            }

            // SAFETY: all fields are elements, so none of them is anything that may not be
            // replaced; the type tells their types and places.
            #[allow(unsafe_code)]
            unsafe impl $crate::Element for $name {
                const TYPE: $crate::ElementType = {
                    const FIELDS: &[$crate::Field] = &[$($crate::Field {
                        offset: ::std::mem::offset_of!($name, $field),
                        bytes: ::std::mem::size_of::<$type>(),
                        element: <$type as $crate::Element>::TYPE,
                    }),+];
                    static STRUCTURE: $crate::Structure = $crate::Structure {
                        bytes: ::std::mem::size_of::<$name>(),
                        fields: FIELDS,
                    };
                    $crate::ElementType::Structure(&STRUCTURE)
                };
                const HAS_PADDING: bool = {
                    let data = 0 $(+ ::std::mem::size_of::<$type>())+;
                    data < ::std::mem::size_of::<$name>()
                        $(|| <$type as $crate::Element>::HAS_PADDING)+
                };

                unsafe fn clear_padding(element: *mut u8) {
                    // SAFETY: the structure and its fields.
                    unsafe {
                        $crate::clear_between(element, ::std::mem::size_of::<$name>(), &[$((
                            ::std::mem::offset_of!($name, $field),
                            ::std::mem::size_of::<$type>(),
                        )),+]);
                    }
                    $({
                        let at = ::std::mem::offset_of!($name, $field);
                        // SAFETY: a field, which lies within the structure.
                        unsafe {
                            <$type as $crate::Element>::clear_padding(element.wrapping_add(at));
                        }
                    })+
                }
            }

            // SAFETY: the fields with their types and offsets, and the size of the whole. None of
            // them is anything that may not be replaced, because each is `Typed`.
            #[allow(unsafe_code)]
            unsafe impl $crate::datatype::Typed for $name {
                fn datatype() -> $crate::datatype::Datatype {
                    $crate::datatype::Datatype::of_fields::<$name>(&[$((
                        ::std::mem::offset_of!($name, $field),
                        <$type as $crate::datatype::Typed>::datatype(),
                    )),+])
                }
            }
        };
    };
    ($name:ident ($($type:ty),* $(,)?)) => {
        ::std::compile_error!(
            "a tuple structure is given with the numbers of its fields: \
             `struct_datatype!(Name { 0: Type, 1: Type })`"
        );
    };
    ($name:ident < $($rest:tt)*) => {
        ::std::compile_error!(
            "a structure with parameters is given by a name of its own: \
             `type Name = Structure<..>;`, then `struct_datatype!(Name { field: Type })`"
        );
    };
    ($($rest:tt)*) => {
        ::std::compile_error!(
            "write a structure with all its fields and their types: \
             `struct_datatype!(Name { field: Type, other: Type })`"
        );
    };
}
