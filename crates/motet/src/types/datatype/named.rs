//! The predefined datatypes (MPI 4.1, 3.2.2 and A.1; external sizes: 14.5.2).

use std::ffi::{c_int, c_long, c_longlong, c_short};

use super::Datatype;
use super::form::Form;

/// The kind of a basic element, apart from its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Bytes without a meaning: `MPI_BYTE` and `MPI_PACKED`.
    Raw,
    /// A printable character.
    Character,
    /// A wide character.
    Wide,
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// A truth value.
    Logical,
    /// An IEEE floating point number.
    Float,
    /// The platform's `long double`.
    LongDouble,
    /// Two IEEE floating point numbers.
    Complex,
    /// Two of the platform's `long double`.
    LongComplex,
}

/// A basic element of a typemap (MPI 4.1, 5.1).
///
/// Elements of one kind and size match each other, whatever their names: `int`, `int32_t` and
/// `INTEGER` have one representation on this platform, and programs rely on it. The standard
/// compares names; this finds every error except those that cannot do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Basic {
    /// Its kind.
    pub kind: Kind,
    /// Bytes in memory.
    pub size: u8,
    /// Its alignment in bytes.
    pub alignment: u8,
    /// Bytes in the representation `external32`.
    pub external: u8,
}

impl Basic {
    const fn new(kind: Kind, size: usize, external: usize) -> Basic {
        assert!(size <= 32 && external <= 32, "no element is longer");
        let alignment = if size > 16 { 16 } else { size };
        Basic { kind, size: size as u8, alignment: alignment as u8, external: external as u8 }
    }

    const fn complex(kind: Kind, size: usize) -> Basic {
        let alignment = (size / 2) as u8;
        Basic { alignment, ..Basic::new(kind, size, size) }
    }

    /// Whether data of the one may be received as the other.
    pub fn matches(self, other: Basic) -> bool {
        (self.kind, self.size) == (other.kind, other.size)
    }
}

/// A basic element at its displacement within a predefined datatype.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) basic: Basic,
    pub(super) at: i64,
}

const fn alone(basic: Basic) -> [Placed; 1] {
    [Placed { basic, at: 0 }]
}

/// Two elements, laid out as in a C structure (MPI 4.1, 6.9.4).
const fn pair(first: Basic, second: Basic) -> [Placed; 2] {
    let at = (first.size as u64).next_multiple_of(second.alignment as u64) as i64;
    [Placed { basic: first, at: 0 }, Placed { basic: second, at }]
}

const BYTE: Basic = Basic::new(Kind::Raw, 1, 1);
const CHAR: Basic = Basic::new(Kind::Character, 1, 1);
/// `wchar_t` takes 4 bytes here, and 2 in `external32`.
const WCHAR: Basic = Basic::new(Kind::Wide, 4, 2);
const LONG_DOUBLE: Basic = Basic::new(Kind::LongDouble, 16, 16);

const fn signed(size: usize) -> Basic {
    Basic::new(Kind::Signed, size, size)
}

const fn unsigned(size: usize) -> Basic {
    Basic::new(Kind::Unsigned, size, size)
}

const fn float(size: usize) -> Basic {
    Basic::new(Kind::Float, size, size)
}

const fn logical(size: usize) -> Basic {
    Basic::new(Kind::Logical, size, size)
}

const SHORT: Basic = signed(size_of::<c_short>());
const INT: Basic = signed(size_of::<c_int>());
/// `long` takes 4 bytes in `external32`, whatever it takes in memory.
const LONG: Basic = Basic::new(Kind::Signed, size_of::<c_long>(), 4);
const ADDRESS: Basic = Basic::new(Kind::Signed, size_of::<isize>(), 8);
const REAL: Basic = float(4);
const DOUBLE: Basic = float(8);

macro_rules! named {
    ($($constant:ident $variant:ident = $code:literal, $elements:expr;)*) => {
        /// A predefined datatype. Its number is its handle in the standard's binary interface
        /// (MPI 5.0, A.1.1); numbers from `0x1000` on are Motet's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // their names are those of the standard
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Named { $($variant = $code),* }

        impl Named {
            /// All of them.
            pub const ALL: &[Named] = &[$(Named::$variant),*];

            fn constant(self) -> &'static str {
                match self { $(Named::$variant => stringify!($constant)),* }
            }

            pub(super) const fn elements(self) -> &'static [Placed] {
                match self { $(Named::$variant => const { &$elements }),* }
            }

            pub(super) fn form(self) -> &'static Form {
                match self {
                    $(Named::$variant => {
                        static FORM: Form = Form::Named(Named::$variant);
                        &FORM
                    })*
                }
            }
        }

        #[allow(missing_docs)] // their names are those of the standard
        impl Datatype {
            $(pub const $constant: Datatype = Datatype::named(Named::$variant);)*
        }
    };
}

named! {
    AINT Aint = 0x201, alone(ADDRESS);
    COUNT Count = 0x202, alone(signed(8));
    OFFSET Offset = 0x203, alone(signed(8));
    PACKED Packed = 0x207, alone(BYTE);
    SHORT Short = 0x208, alone(SHORT);
    INT Int = 0x209, alone(INT);
    LONG Long = 0x20a, alone(LONG);
    LONG_LONG LongLong = 0x20b, alone(signed(size_of::<c_longlong>()));
    UNSIGNED_SHORT UnsignedShort = 0x20c, alone(unsigned(size_of::<c_short>()));
    UNSIGNED Unsigned = 0x20d, alone(unsigned(size_of::<c_int>()));
    UNSIGNED_LONG UnsignedLong = 0x20e, alone(Basic { kind: Kind::Unsigned, ..LONG });
    UNSIGNED_LONG_LONG UnsignedLongLong = 0x20f, alone(unsigned(size_of::<c_longlong>()));
    FLOAT Float = 0x210, alone(REAL);
    C_FLOAT_COMPLEX CFloatComplex = 0x212, alone(Basic::complex(Kind::Complex, 8));
    CXX_FLOAT_COMPLEX CxxFloatComplex = 0x213, alone(Basic::complex(Kind::Complex, 8));
    DOUBLE Double = 0x214, alone(DOUBLE);
    C_DOUBLE_COMPLEX CDoubleComplex = 0x216, alone(Basic::complex(Kind::Complex, 16));
    CXX_DOUBLE_COMPLEX CxxDoubleComplex = 0x217, alone(Basic::complex(Kind::Complex, 16));
    LOGICAL Logical = 0x218, alone(logical(4));
    INTEGER Integer = 0x219, alone(INT);
    REAL Real = 0x21a, alone(REAL);
    COMPLEX Complex = 0x21b, alone(Basic::complex(Kind::Complex, 8));
    DOUBLE_PRECISION DoublePrecision = 0x21c, alone(DOUBLE);
    DOUBLE_COMPLEX DoubleComplex = 0x21d, alone(Basic::complex(Kind::Complex, 16));
    CHARACTER Character = 0x21e, alone(CHAR);
    LONG_DOUBLE LongDouble = 0x220, alone(LONG_DOUBLE);
    C_LONG_DOUBLE_COMPLEX CLongDoubleComplex = 0x224,
        alone(Basic::complex(Kind::LongComplex, 32));
    CXX_LONG_DOUBLE_COMPLEX CxxLongDoubleComplex = 0x225,
        alone(Basic::complex(Kind::LongComplex, 32));
    FLOAT_INT FloatInt = 0x228, pair(REAL, INT);
    DOUBLE_INT DoubleInt = 0x229, pair(DOUBLE, INT);
    LONG_INT LongInt = 0x22a, pair(LONG, INT);
    INT_2 Int2 = 0x22b, pair(INT, INT);
    SHORT_INT ShortInt = 0x22c, pair(SHORT, INT);
    LONG_DOUBLE_INT LongDoubleInt = 0x22d, pair(LONG_DOUBLE, INT);
    REAL_2 Real2 = 0x230, pair(REAL, REAL);
    DOUBLE_PRECISION_2 DoublePrecision2 = 0x231, pair(DOUBLE, DOUBLE);
    INTEGER_2 Integer2 = 0x232, pair(INT, INT);
    C_BOOL CBool = 0x238, alone(logical(1));
    CXX_BOOL CxxBool = 0x239, alone(logical(1));
    WCHAR Wchar = 0x23c, alone(WCHAR);
    INT8_T Int8 = 0x240, alone(signed(1));
    UINT8_T Uint8 = 0x241, alone(unsigned(1));
    CHAR Char = 0x243, alone(CHAR);
    SIGNED_CHAR SignedChar = 0x244, alone(signed(1));
    UNSIGNED_CHAR UnsignedChar = 0x245, alone(unsigned(1));
    BYTE Byte = 0x247, alone(BYTE);
    INT16_T Int16 = 0x248, alone(signed(2));
    UINT16_T Uint16 = 0x249, alone(unsigned(2));
    INT32_T Int32 = 0x250, alone(signed(4));
    UINT32_T Uint32 = 0x251, alone(unsigned(4));
    INT64_T Int64 = 0x258, alone(signed(8));
    UINT64_T Uint64 = 0x259, alone(unsigned(8));
    LOGICAL1 SizedLogical1 = 0x2c0, alone(logical(1));
    INTEGER1 SizedInteger1 = 0x2c1, alone(signed(1));
    LOGICAL2 SizedLogical2 = 0x2c8, alone(logical(2));
    INTEGER2 SizedInteger2 = 0x2c9, alone(signed(2));
    REAL2 SizedReal2 = 0x2ca, alone(float(2));
    LOGICAL4 SizedLogical4 = 0x2d0, alone(logical(4));
    INTEGER4 SizedInteger4 = 0x2d1, alone(signed(4));
    REAL4 SizedReal4 = 0x2d2, alone(REAL);
    COMPLEX4 SizedComplex4 = 0x2d3, alone(Basic::complex(Kind::Complex, 4));
    LOGICAL8 SizedLogical8 = 0x2d8, alone(logical(8));
    INTEGER8 SizedInteger8 = 0x2d9, alone(signed(8));
    REAL8 SizedReal8 = 0x2da, alone(DOUBLE);
    COMPLEX8 SizedComplex8 = 0x2db, alone(Basic::complex(Kind::Complex, 8));
    LOGICAL16 SizedLogical16 = 0x2e0, alone(logical(16));
    INTEGER16 SizedInteger16 = 0x2e1, alone(signed(16));
    REAL16 SizedReal16 = 0x2e2, alone(float(16));
    COMPLEX16 SizedComplex16 = 0x2e3, alone(Basic::complex(Kind::Complex, 16));
    COMPLEX32 SizedComplex32 = 0x2eb, alone(Basic::complex(Kind::Complex, 32));
    UINT128_T Uint128 = 0x1000, alone(unsigned(16));
}

impl Named {
    /// Its handle in the standard's binary interface.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// The name of the standard, without its `MPI_`.
    pub fn name(self) -> &'static str {
        match self {
            // A name in Rust does not begin with a digit.
            Named::Int2 => "2INT",
            Named::Real2 => "2REAL",
            Named::DoublePrecision2 => "2DOUBLE_PRECISION",
            Named::Integer2 => "2INTEGER",
            // Of two names for one datatype, the one that other libraries report.
            Named::LongLong => "LONG_LONG_INT",
            Named::CFloatComplex => "C_COMPLEX",
            other => other.constant(),
        }
    }

    /// Bytes of its data.
    pub(super) const fn bytes(self) -> usize {
        let (elements, mut sum, mut i) = (self.elements(), 0, 0);
        while i < elements.len() {
            sum += elements[i].basic.size as usize;
            i += 1;
        }
        sum
    }

    /// The predefined datatype with this handle.
    pub fn from_code(code: u16) -> Option<Named> {
        Named::ALL.iter().copied().find(|named| named.code() == code)
    }
}
