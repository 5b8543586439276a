//! Element types that are easily taken for one another.

use std::fmt::Debug;
use std::hint::black_box;
use std::mem::{offset_of, size_of};

use motet::{Element, Located, struct_datatype};

use crate::worlds::Random;

/// An element that a test makes up and looks through.
pub(crate) trait Shape: Element + Debug + PartialEq {
    /// Some value.
    fn some(random: &mut Random) -> Self;

    /// Whether no part of it has a pattern of bits that its type does not have.
    fn is_valid(&self) -> bool;

    /// What it consists of. Two types that tell the same may be received as one another.
    fn told() -> String;

    /// The same, of what an array consists of.
    fn told_of_one() -> (String, usize) {
        (Self::told(), 1)
    }
}

macro_rules! numbers {
    ($($type:ident)*) => {$(
        impl Shape for $type {
            fn some(random: &mut Random) -> $type {
                (random.next() >> 20) as $type
            }

            fn is_valid(&self) -> bool {
                true
            }

            fn told() -> String {
                stringify!($type).into()
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 }

impl Shape for bool {
    fn some(random: &mut Random) -> bool {
        random.below(2) == 1
    }

    fn is_valid(&self) -> bool {
        black_box(*self) as u8 <= 1
    }

    fn told() -> String {
        "bool".into()
    }
}

impl<T: Shape, const N: usize> Shape for [T; N] {
    fn some(random: &mut Random) -> [T; N] {
        std::array::from_fn(|_| T::some(random))
    }

    fn is_valid(&self) -> bool {
        self.iter().all(T::is_valid)
    }

    /// As buffers, arrays are their elements.
    fn told() -> String {
        T::told()
    }

    fn told_of_one() -> (String, usize) {
        let (told, count) = T::told_of_one();
        (told, N * count)
    }
}

impl<V: Shape, I: Shape> Shape for Located<V, I> {
    fn some(random: &mut Random) -> Located<V, I> {
        Located::new(V::some(random), I::some(random))
    }

    fn is_valid(&self) -> bool {
        self.value().is_valid() && self.index().is_valid()
    }

    fn told() -> String {
        let [value, index] = [field::<V>(0), field::<I>(size_of::<V>())];
        format!("{{{value}{index}{}}}", size_of::<Self>())
    }
}

fn field<T: Shape>(offset: usize) -> String {
    let (told, count) = T::told_of_one();
    format!("{offset}: {count} {told}, ")
}

macro_rules! structures {
    ($($(#[$attribute:meta])* $name:ident { $($field:ident: $type:ty),+ })*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq)]
        $(#[$attribute])*
        pub(crate) struct $name { $(pub(crate) $field: $type),+ }
        struct_datatype!($name { $($field: $type),+ });

        impl Shape for $name {
            fn some(random: &mut Random) -> $name {
                $name { $($field: Shape::some(random)),+ }
            }

            fn is_valid(&self) -> bool {
                $(self.$field.is_valid())&&+
            }

            fn told() -> String {
                let mut fields = vec![$((
                    offset_of!($name, $field),
                    field::<$type>(offset_of!($name, $field)),
                )),+];
                fields.sort_by_key(|(offset, _)| *offset);
                let fields = fields.into_iter().map(|(_, told)| told);
                format!("{{{}{}}}", fields.collect::<String>(), size_of::<$name>())
            }
        }
    )*};
}

structures! {
    #[repr(C)] Raw { a: u8, b: u8, c: i8, d: u32 }
    #[repr(C)] Checked { a: u8, b: u8, c: bool, d: f32 }
    #[repr(C)] Flag { set: bool, count: u32 }
    #[repr(C)] FlagOfAnotherName { is_set: bool, number: u32 }
    #[repr(C)] FlagLast { count: u32, set: bool }
    #[repr(C)] Byte { set: u8, count: u32 }
    #[repr(C)] Alone { set: bool }
    #[repr(C)] Flags { all: [bool; 8] }
    #[repr(C)] Bytes { all: [u8; 8] }
    #[repr(C)] Nested { flag: Flag, more: [Flag; 2] }
    #[repr(C)] NestedBytes { flag: Byte, more: [Byte; 2] }
    #[repr(C)] NestedFlat { a: Flag, b: Flag, c: Flag }
    #[repr(C)] Padded { small: u8, large: u128, flag: bool }
    #[repr(C, align(32))] Aligned { flag: bool, value: u64 }
    #[repr(C, align(32))] AlignedByte { flag: u8, value: u64 }
    Reordered { a: bool, b: u64, c: u16, d: bool }
    ReorderedBytes { a: u8, b: u64, c: u16, d: u8 }
    #[repr(C)] Eight {
        a: Flag, b: Flag, c: Flag, d: Flag, e: Flag, f: Flag, g: Flag, h: Flag
    }
    #[repr(C)] EightOther {
        a: Flag, b: Flag, c: Flag, d: Flag, e: Flag, f: Flag, g: Flag, h: Byte
    }
    #[repr(C)] Many {
        a: Eight, b: Eight, c: Eight, d: Eight, e: Eight, f: Eight, g: Eight, h: Eight
    }
    #[repr(C)] ManyOther {
        a: Eight, b: Eight, c: Eight, d: Eight, e: Eight, f: Eight, g: Eight, h: EightOther
    }
    #[repr(C)] Most {
        a: Many, b: Many, c: Many, d: Many, e: Many, f: Many, g: Many, h: Many
    }
    #[repr(C)] MostOther {
        a: Many, b: Many, c: Many, d: Many, e: Many, f: Many, g: Many, h: ManyOther
    }
    #[repr(C)] Pair { place: Located<f64, i32>, flag: bool }
    #[repr(C)] PairOfBytes { place: Located<f64, i32>, flag: u8 }
}

/// Something that is done with one of the types.
pub(crate) trait With {
    type Output;

    fn with<T: Shape>(self) -> Self::Output;
}

macro_rules! numbered {
    ($($type:ty)*) => {
        /// So many types there are.
        pub(crate) const SHAPES: usize = [$(stringify!($type)),*].len();

        /// Does something with the type of this number.
        pub(crate) fn with_shape<W: With>(number: usize, what: W) -> W::Output {
            let all: [fn(W) -> W::Output; SHAPES] = [$(W::with::<$type>),*];
            all[number](what)
        }
    };
}

numbered! {
    bool u8 i8 f64 u128 [bool; 3] [u32; 2] Raw Checked Flag FlagOfAnotherName FlagLast Byte Alone
    Flags Bytes Nested NestedBytes NestedFlat Padded Most MostOther Aligned AlignedByte Reordered
    ReorderedBytes Pair PairOfBytes [Flag; 2] Located<bool, i32> Located<u8, i32>
    Located<Flag, [bool; 4]>
}

/// Bytes of one element of the type of this number, or of what it is an array of.
pub(crate) fn bytes(number: usize) -> usize {
    struct Bytes;

    impl With for Bytes {
        type Output = usize;

        fn with<T: Shape>(self) -> usize {
            size_of::<T>() / T::told_of_one().1
        }
    }

    with_shape(number, Bytes)
}

/// What the type of this number consists of.
pub(crate) fn told(number: usize) -> String {
    struct Told;

    impl With for Told {
        type Output = String;

        fn with<T: Shape>(self) -> String {
            T::told()
        }
    }

    with_shape(number, Told)
}
