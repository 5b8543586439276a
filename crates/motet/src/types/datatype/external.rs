//! Converts data to and from the representation `external32` (MPI 4.1, 5.3 and 14.5.2): big endian,
//! without gaps, with its own sizes.
//!
//! An element is one number or two, and a number is at most 16 bytes long. So each number is
//! converted through a `u128`. A value that does not fit is an error: the standard leaves open what
//! happens.

use super::form::Form;
use super::named::{Basic, Kind};
use super::{Datatype, DatatypeError};

/// The bytes of the longest element.
pub(super) const EXTERNAL_MAX_BYTES: usize = 32;

/// Whether `long double` is the 80-bit format of the x87; elsewhere it is IEEE's, which
/// `external32` has too.
const EXTENDED: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

impl Datatype {
    /// Bytes that `count` items take in `external32` (`MPI_Pack_external_size`).
    pub fn pack_external_size(&self, count: u64) -> Result<u64, DatatypeError> {
        let bytes = self.facts().external.checked_mul(count);
        let bytes = bytes.filter(|&bytes| i64::try_from(bytes).is_ok());
        bytes.ok_or(DatatypeError::Overflow("size"))
    }
}

/// A function of an element and its displacement.
pub(super) type Visit<'a> = dyn FnMut(Basic, i64) -> Result<(), DatatypeError> + 'a;

/// Visits the elements of so many items in the order of the typemap.
pub(super) fn each_element(
    item: &Datatype,
    count: u64,
    visit: &mut Visit<'_>,
) -> Result<(), DatatypeError> {
    row(item, count, 0, visit)
}

fn row(item: &Datatype, count: u64, at: i64, visit: &mut Visit<'_>) -> Result<(), DatatypeError> {
    if item.size() == 0 {
        return Ok(());
    }
    let extent = item.extent();
    (0..count as i64).try_for_each(|i| elements(item, at + i * extent, visit))
}

fn elements(datatype: &Datatype, at: i64, visit: &mut Visit<'_>) -> Result<(), DatatypeError> {
    match datatype.form() {
        Form::Named(named) => {
            named.elements().iter().try_for_each(|element| visit(element.basic, at + element.at))
        }
        Form::Vector { count, stride, block, item } => {
            (0..*count as i64).try_for_each(|i| row(item, *block, at + i * stride, visit))
        }
        Form::Blocks { blocks, item } => blocks
            .iter()
            .filter(|block| block.len > 0)
            .try_for_each(|block| row(item, block.len, at + block.at, visit)),
        Form::Fields { fields } => fields
            .iter()
            .filter(|field| field.len > 0)
            .try_for_each(|field| row(&field.item, field.len, at + field.at, visit)),
    }
}

/// The numbers of an element: two if it is complex.
fn numbers(basic: Basic) -> usize {
    if matches!(basic.kind, Kind::Complex | Kind::LongComplex) { 2 } else { 1 }
}

/// From memory to `external32`.
pub(super) fn encode(basic: Basic, native: &[u8], out: &mut [u8]) -> Result<(), DatatypeError> {
    let (from, to) = (native.len() / numbers(basic), out.len() / numbers(basic));
    for (native, out) in native.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
        let mut number = [0; 16];
        number[..from].copy_from_slice(native);
        if cfg!(target_endian = "big") {
            number[..from].reverse();
        }
        let value = u128::from_le_bytes(number);
        let value = match basic.kind {
            Kind::LongDouble | Kind::LongComplex if EXTENDED => widened(value),
            kind => resized(kind, value, from, to),
        };
        let value = value.ok_or(DatatypeError::Conversion(basic))?;
        out.copy_from_slice(&value.to_be_bytes()[16 - to..]);
    }
    Ok(())
}

/// From `external32` to memory.
pub(super) fn decode(basic: Basic, input: &[u8], native: &mut [u8]) -> Result<(), DatatypeError> {
    let (from, to) = (input.len() / numbers(basic), native.len() / numbers(basic));
    for (input, native) in input.chunks_exact(from).zip(native.chunks_exact_mut(to)) {
        let mut number = [0; 16];
        number[16 - from..].copy_from_slice(input);
        let value = u128::from_be_bytes(number);
        let value = match basic.kind {
            Kind::LongDouble | Kind::LongComplex if EXTENDED => Some(narrowed(value)),
            kind => resized(kind, value, from, to),
        };
        let value = value.ok_or(DatatypeError::Conversion(basic))?;
        native.copy_from_slice(&value.to_le_bytes()[..to]);
        if cfg!(target_endian = "big") {
            native.reverse();
        }
    }
    Ok(())
}

/// A value of `from` bytes in `to` bytes, if it fits.
fn resized(kind: Kind, value: u128, from: usize, to: usize) -> Option<u128> {
    if kind == Kind::Logical {
        return Some(u128::from(value != 0));
    }
    if from == to {
        return Some(value);
    }
    let unused = |bytes: usize| 128 - 8 * bytes as u32;
    if kind == Kind::Signed {
        let extended = ((value << unused(from)) as i128) >> unused(from);
        let back = (extended << unused(to)) >> unused(to);
        return (back == extended).then_some(extended as u128);
    }
    ((value << unused(to)) >> unused(to) == value).then_some(value)
}

/// Places of the fraction of the 128-bit format that the 80-bit format lacks.
const MISSING: u32 = 112 - 63;
const EXPONENTS: u128 = 0x7fff;
const LEADING: u128 = 1 << 63;

/// From the 80-bit format to the 128-bit format, which has all of its values; `None` for the
/// patterns that are no numbers since the 80387.
fn widened(value: u128) -> Option<u128> {
    let (significand, sign) = (value & u128::from(u64::MAX), (value >> 79) & 1);
    let mut exponent = (value >> 64) & EXPONENTS;
    let leading = significand & LEADING != 0;
    if exponent == 0 && leading {
        exponent = 1;
    } else if exponent != 0 && !leading {
        return None;
    }
    let fraction = (significand & (LEADING - 1)) << MISSING;
    Some(sign << 127 | exponent << 112 | fraction)
}

/// From the 128-bit format to the 80-bit format, rounded to the nearest (to even in a tie).
fn narrowed(value: u128) -> u128 {
    let (sign, exponent) = (value >> 127, (value >> 112) & EXPONENTS);
    let fraction = value & ((1 << 112) - 1);
    let leading = if exponent == 0 { 0 } else { LEADING };
    let kept = leading | fraction >> MISSING;
    let lost = fraction & ((1 << MISSING) - 1);
    let pack = |exponent: u128, significand: u128| sign << 79 | exponent << 64 | significand;
    if exponent == EXPONENTS {
        // A NaN stays one, though all of its bits may be among those that are lost.
        let quiet = if fraction == 0 { 0 } else { LEADING >> 1 };
        return pack(exponent, kept | quiet);
    }
    let half = 1 << (MISSING - 1);
    let up = lost > half || (lost == half && kept & 1 == 1);
    match kept + u128::from(up) {
        over if over > u128::from(u64::MAX) => pack(exponent + 1, LEADING),
        normal if exponent == 0 && normal == LEADING => pack(1, normal),
        significand => pack(exponent, significand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 80-bit patterns and the 128-bit patterns of the same values.
    const SAME: [(u128, u128); 6] = [
        (0, 0),
        (0x3fff_8000_0000_0000_0000, 0x3fff << 112),
        (0xc000_c000_0000_0000_0000, 0xc000_8000 << 96),
        (0x7fff_8000_0000_0000_0000, 0x7fff << 112),
        (0x0000_0000_0000_0000_0001, 1 << MISSING),
        (0x7ffe_ffff_ffff_ffff_ffff, (0x7fff << 112) - (1 << MISSING)),
    ];

    #[test]
    fn long_double_becomes_binary128_and_back() {
        for (extended, ieee) in SAME {
            assert_eq!(widened(extended), Some(ieee), "{extended:x}");
            assert_eq!(narrowed(ieee), extended, "{ieee:x}");
        }
        assert_eq!(widened(0x4000_4000_0000_0000_0000), None, "no leading digit");
    }

    #[test]
    fn binary128_is_rounded_to_the_nearest() {
        let one = 0x3fff << 112;
        let (tie, odd) = (one | 1 << (MISSING - 1), one | 3 << (MISSING - 1));
        assert_eq!(narrowed(tie), 0x3fff_8000_0000_0000_0000);
        assert_eq!(narrowed(tie | 1), 0x3fff_8000_0000_0000_0001);
        assert_eq!(narrowed(odd), 0x3fff_8000_0000_0000_0002);
        let below_two = (0x4000 << 112) - 1;
        assert_eq!(narrowed(below_two), 0x4000_8000_0000_0000_0000);
        let greatest = (0x7fff << 112) - 1;
        assert_eq!(narrowed(greatest), 0x7fff_8000_0000_0000_0000, "infinity");
        let below_normal = (1 << 112) - 1;
        assert_eq!(narrowed(below_normal), 0x0001_8000_0000_0000_0000);
        assert_eq!(narrowed(0x7fff << 112 | 1), 0x7fff_c000_0000_0000_0000, "a NaN");
    }
}
