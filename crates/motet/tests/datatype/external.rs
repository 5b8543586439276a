//! The representation `external32` (MPI 4.1, 14.5.2).

use motet::ErrorClass;
use motet::datatype::{Datatype, DatatypeError, Named};

fn packed(datatype: &Datatype, memory: &[u8], count: u64) -> Result<Vec<u8>, DatatypeError> {
    let mut out = vec![0; datatype.pack_external_size(count)? as usize];
    let done = datatype.gather_external(memory, 0, count, &mut out)?;
    assert_eq!(done, out.len());
    Ok(out)
}

/// Packs, compares, and unpacks again.
fn there_and_back(datatype: &Datatype, memory: &[u8], external: &[u8]) {
    let count = (memory.len() as i64 / datatype.extent()) as u64;
    assert_eq!(packed(datatype, memory, count).unwrap(), external);
    let mut back = vec![0; memory.len()];
    let done = datatype.scatter_external(&mut back, 0, count, external).unwrap();
    assert_eq!((done, &back[..]), (external.len(), memory));
}

#[test]
fn numbers_are_big_endian() {
    there_and_back(&Datatype::INT, &0x0102_0304i32.to_ne_bytes(), &[1, 2, 3, 4]);
    there_and_back(&Datatype::SHORT, &(-2i16).to_ne_bytes(), &[0xff, 0xfe]);
    there_and_back(&Datatype::DOUBLE, &1f64.to_ne_bytes(), &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
    there_and_back(&Datatype::CHAR, b"motet", b"motet");
    let complex = [1f32.to_ne_bytes(), (-2f32).to_ne_bytes()].concat();
    let external = [0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0];
    there_and_back(&Datatype::C_FLOAT_COMPLEX, &complex, &external);
}

/// `long` has 4 bytes and `wchar_t` has 2; what does not fit is an error.
#[test]
fn some_numbers_are_shorter() {
    there_and_back(&Datatype::LONG, &(-3i64).to_ne_bytes(), &[0xff, 0xff, 0xff, 0xfd]);
    let unsigned = u64::from(u32::MAX).to_ne_bytes();
    there_and_back(&Datatype::UNSIGNED_LONG, &unsigned, &[0xff; 4]);
    there_and_back(&Datatype::WCHAR, &0x20acu32.to_ne_bytes(), &[0x20, 0xac]);
    there_and_back(&Datatype::INT64_T, &(-3i64).to_ne_bytes(), &(-3i64).to_be_bytes());
    for (datatype, value) in [
        (Datatype::LONG, i64::from(i32::MAX) + 1),
        (Datatype::LONG, i64::from(i32::MIN) - 1),
        (Datatype::UNSIGNED_LONG, -1),
    ] {
        let error = packed(&datatype, &value.to_ne_bytes(), 1).unwrap_err();
        assert!(matches!(error, DatatypeError::Conversion(_)), "{datatype:?} {value}");
        assert_eq!(error.class(), ErrorClass::Other);
    }
    assert!(packed(&Datatype::WCHAR, &0x1_f3b5u32.to_ne_bytes(), 1).is_err());
}

/// Gaps are not sent, and not written.
#[test]
fn gaps_are_left_out() {
    let mut memory = [7u8; 32];
    for (i, at) in [(1i32, 8), (2, 24)] {
        memory[at - 8..at].copy_from_slice(&f64::from(i).to_ne_bytes());
        memory[at..at + 4].copy_from_slice(&i.to_ne_bytes());
    }
    let external = packed(&Datatype::DOUBLE_INT, &memory, 2).unwrap();
    let expected = [&1f64.to_be_bytes()[..], &[0, 0, 0, 1], &2f64.to_be_bytes(), &[0, 0, 0, 2]];
    assert_eq!(external, expected.concat());
    let mut back = [7u8; 32];
    Datatype::DOUBLE_INT.scatter_external(&mut back, 0, 2, &external).unwrap();
    assert_eq!(back, memory);
}

#[test]
fn structures_go_element_by_element() {
    let types = [Datatype::SHORT, Datatype::vector(2, 1, 2, &Datatype::INT).unwrap()];
    let datatype = Datatype::structured(&[2, 1], &[0, 4], &types).unwrap();
    let mut memory = [0xaau8; 16];
    memory[..2].copy_from_slice(&0x0102i16.to_ne_bytes());
    memory[2..4].copy_from_slice(&0x0304i16.to_ne_bytes());
    memory[4..8].copy_from_slice(&0x0506_0708i32.to_ne_bytes());
    memory[12..].copy_from_slice(&0x090a_0b0ci32.to_ne_bytes());
    let external = packed(&datatype, &memory, 1).unwrap();
    assert_eq!(external, (1..=12).collect::<Vec<u8>>());
    let mut back = [0xaa; 16];
    datatype.scatter_external(&mut back, 0, 1, &external).unwrap();
    assert_eq!(back, memory);
}

#[test]
fn long_double_becomes_ieee() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let one = 0x3fff_8000_0000_0000_0000u128.to_ne_bytes();
    there_and_back(&Datatype::LONG_DOUBLE, &one, &(0x3fffu128 << 112).to_be_bytes());
}

#[test]
fn sizes_are_those_of_the_standard() {
    use Named::{
        Aint, Byte, CBool, Character, Integer, Logical, Long, LongDouble, LongLong, Wchar,
    };
    let size = |named: Named| Datatype::named(named).pack_external_size(1).unwrap();
    assert_eq!([Byte, Character, CBool].map(size), [1; 3]);
    assert_eq!([Wchar, Integer, Logical, Long].map(size), [2, 4, 4, 4]);
    assert_eq!([LongLong, Aint, LongDouble, Named::CLongDoubleComplex].map(size), [8, 8, 16, 32]);
    assert_eq!(size(Named::LongDoubleInt), 20);
}

#[test]
fn short_buffers_are_refused() {
    let error = Datatype::INT.gather_external(&[0; 8], 0, 2, &mut [0; 7]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Truncate);
    let error = Datatype::INT.scatter_external(&mut [0; 8], 0, 2, &[0; 7]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Truncate);
    let error = Datatype::INT.gather_external(&[0; 7], 0, 2, &mut [0; 8]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Buffer);
}
