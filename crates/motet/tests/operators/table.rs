//! Every predefined operator on every predefined datatype.

use motet::datatype::{Basic, Datatype, Kind, Named};
use motet::op::Predefined;
use motet::{ErrorClass, Op};

use crate::local::{Memory, reduce};
use crate::value::{Value, combined};
use crate::worlds::Random;

/// The groups of datatypes (MPI 4.1, 6.9.2), and the operators that they are allowed for.
fn allowed(op: Predefined, named: Named) -> bool {
    use Named::*;
    use Predefined::*;
    let c_integer = matches!(
        named,
        Int | Long
            | Named::Short
            | UnsignedShort
            | Unsigned
            | UnsignedLong
            | LongLong
            | UnsignedLongLong
            | Char
            | SignedChar
            | UnsignedChar
            | Int8
            | Int16
            | Int32
            | Int64
            | Uint8
            | Uint16
            | Uint32
            | Uint64
            | Uint128
    );
    let fortran_integer = matches!(
        named,
        Integer | SizedInteger1 | SizedInteger2 | SizedInteger4 | SizedInteger8 | SizedInteger16
    );
    let floating_point = matches!(
        named,
        Float
            | Double
            | Real
            | DoublePrecision
            | LongDouble
            | SizedReal2
            | SizedReal4
            | SizedReal8
            | SizedReal16
    );
    let logical = matches!(
        named,
        Logical
            | CBool
            | CxxBool
            | SizedLogical1
            | SizedLogical2
            | SizedLogical4
            | SizedLogical8
            | SizedLogical16
    );
    let complex = matches!(
        named,
        Complex
            | DoubleComplex
            | CFloatComplex
            | CDoubleComplex
            | CLongDoubleComplex
            | CxxFloatComplex
            | CxxDoubleComplex
            | CxxLongDoubleComplex
            | SizedComplex4
            | SizedComplex8
            | SizedComplex16
            | SizedComplex32
    );
    let byte = named == Byte;
    let multi_language = matches!(named, Aint | Offset | Count);
    let pair = matches!(
        named,
        FloatInt
            | DoubleInt
            | LongInt
            | Int2
            | ShortInt
            | LongDoubleInt
            | Real2
            | DoublePrecision2
            | Integer2
    );
    match op {
        Max | Min => c_integer || fortran_integer || floating_point || multi_language,
        Sum | Prod => c_integer || fortran_integer || floating_point || complex || multi_language,
        // Beyond the standard, as `CHAR` is: see `Op::applies_to`.
        Land | Lor | Lxor => c_integer || logical || multi_language,
        Band | Bor | Bxor => c_integer || fortran_integer || byte || multi_language,
        Minloc | Maxloc => pair,
        Replace | NoOp => true,
        other => panic!("an operator without a row: {other:?}"),
    }
}

/// Items of the type in a row, on addresses that are not aligned, and with gaps.
fn layouts(named: Named) -> Vec<(Datatype, usize)> {
    let item = Datatype::named(named);
    let vector = Datatype::vector(3, 2, 4, &item).unwrap();
    let resized = Datatype::resized(-8, item.extent() + 24, &item).unwrap();
    vec![(item.clone(), 0), (item, 1), (vector, 0), (resized, 3)]
}

const POISON: u8 = 0xa5;

/// Reduces items of which each is made of elements by `make`, and compares with `expect`.
fn try_out<T: Copy>(
    op: Predefined,
    (datatype, skew): &(Datatype, usize),
    mut make: impl FnMut() -> T,
    bytes: impl Fn(T) -> Vec<u8>,
    expect: impl Fn(T, T) -> T,
) {
    for count in [0, 1, 7, 700] {
        let size = datatype.size() as usize;
        let values = count * size / bytes(make()).len();
        let (left, right): (Vec<T>, Vec<T>) = (0..values).map(|_| (make(), make())).unzip();
        let stream = |values: &[T]| values.iter().flat_map(|&it| bytes(it)).collect::<Vec<u8>>();
        let mut input = Memory::new(datatype, count, *skew, POISON);
        let mut inout = Memory::new(datatype, count, *skew, POISON);
        input.fill(datatype, count, &stream(&left));
        inout.fill(datatype, count, &stream(&right));
        reduce(&op.into(), datatype, count, (&input, &mut inout)).unwrap();
        let expected: Vec<T> = left.iter().zip(&right).map(|(&l, &r)| expect(l, r)).collect();
        let (found, gaps_are_poison) = inout.stream(datatype, count, POISON);
        assert!(found == stream(&expected), "{op:?} on {count} of {datatype:?}");
        assert!(gaps_are_poison, "{op:?} on {count} of {datatype:?} wrote into a gap");
        assert_eq!(input.stream(datatype, count, POISON), (stream(&left), true));
    }
}

fn elements(datatype: &Datatype) -> Vec<Basic> {
    let runs = datatype.runs(2).unwrap();
    runs.iter().flat_map(|&(basic, len)| vec![basic; len as usize]).collect()
}

/// spec: 61, 81, 85
#[test]
fn each_operator_on_each_datatype() {
    let mut random = Random(11);
    let (mut applied, mut refused) = (0, 0);
    for &op in Predefined::ALL {
        for &named in Named::ALL {
            let basics = elements(&named.into());
            if !allowed(op, named) {
                refused += 1;
                for layout in layouts(named) {
                    refuses(&op.into(), &layout);
                }
                continue;
            }
            applied += 1;
            Op::from(op).applies_to(&named.into()).unwrap();
            for layout in layouts(named) {
                let random = &mut random;
                match basics[..] {
                    [basic] => try_out(
                        op,
                        &layout,
                        || Value::some(basic, random),
                        |value| value.bytes(basic),
                        |left, right| combined(op, left, right, basic),
                    ),
                    [value, index] => try_out(
                        op,
                        &layout,
                        || (Value::some(value, random), Value::some(index, random)),
                        |(v, i)| [v.bytes(value), i.bytes(index)].concat(),
                        |left, right| chosen(op, left, right),
                    ),
                    _ => panic!("{named:?} has {} elements", basics.len()),
                }
            }
        }
    }
    println!("{applied} pairs of operator and datatype applied, {refused} refused");
    assert_eq!(applied + refused, Predefined::ALL.len() * Named::ALL.len());
}

/// Nothing is written, and the class is that of operators.
fn refuses(op: &Op, (datatype, skew): &(Datatype, usize)) {
    let error = op.applies_to(datatype).unwrap_err();
    assert_eq!(motet::Error::from(error).class(), ErrorClass::Op, "{op:?} on {datatype:?}");
    let input = Memory::new(datatype, 2, *skew, 1);
    let mut inout = Memory::new(datatype, 2, *skew, POISON);
    let error = reduce(op, datatype, 2, (&input, &mut inout)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Op, "{op:?} on {datatype:?}");
    let (stream, rest) = inout.stream(datatype, 2, POISON);
    assert!(rest && stream.iter().all(|&byte| byte == POISON));
}

type Pair = (Value, Value);

fn chosen(op: Predefined, left: Pair, right: Pair) -> Pair {
    let less = |one: Value, other: Value| match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one < other,
        (Value::Float(one), Value::Float(other)) => one < other,
        other => panic!("{other:?}"),
    };
    let least = if less(right.1, left.1) { right } else { left };
    match op {
        Predefined::Replace => right,
        Predefined::NoOp => left,
        _ if !less(left.0, right.0) && !less(right.0, left.0) => least,
        _ if less(left.0, right.0) == (op == Predefined::Minloc) => left,
        _ => right,
    }
}

/// Pairs that have no name in the standard, and one that the user has laid out.
///
/// spec: 81, 85
#[test]
fn pairs_of_any_two_numbers() {
    let mut random = Random(12);
    let of = |named: Named| Datatype::named(named).element().unwrap();
    let values = [Named::Int8, Named::Uint64, Named::SizedInteger16, Named::SizedReal2];
    let values = values.into_iter().chain([Named::Double, Named::LongDouble, Named::SizedReal16]);
    for value in values {
        for index in [Named::Int8, Named::Uint32, Named::Aint, Named::Double] {
            let pair = Datatype::value_index(&value.into(), &index.into()).unwrap();
            let own = Datatype::structured(&[1, 1], &[32, 0], &[value.into(), index.into()]);
            for datatype in [pair.clone(), Datatype::vector(2, 1, 3, &pair).unwrap(), own.unwrap()]
            {
                for op in [Predefined::Minloc, Predefined::Maxloc] {
                    let (value, index) = (of(value), of(index));
                    let random = &mut random;
                    try_out(
                        op,
                        &(datatype.clone(), 0),
                        || (Value::some(value, random), Value::some(index, random)),
                        |(v, i)| [v.bytes(value), i.bytes(index)].concat(),
                        |left, right| chosen(op, left, right),
                    );
                }
                refuses(&Op::SUM, &(datatype, 0));
            }
        }
    }
}

/// spec: 61
#[test]
fn what_consists_of_different_elements_is_refused() {
    let types = [Datatype::INT, Datatype::DOUBLE];
    let mixed = Datatype::structured(&[1, 2], &[0, 8], &types).unwrap();
    let letters = [Datatype::CHAR, Datatype::INT];
    let odd = Datatype::structured(&[1, 1], &[0, 4], &letters).unwrap();
    for op in
        Predefined::ALL.iter().filter(|op| !matches!(op, Predefined::Replace | Predefined::NoOp))
    {
        refuses(&Op::from(*op), &(mixed.clone(), 0));
        refuses(&Op::from(*op), &(odd.clone(), 0));
    }
    let error = motet::Error::from(Op::MINLOC.applies_to(&Datatype::INT).unwrap_err());
    assert_eq!(error.to_string(), "operator MINLOC is not defined for INT");
    // Two of a kind are no pair of value and index.
    refuses(&Op::MAXLOC, &(Datatype::contiguous(2, &Datatype::INT).unwrap(), 0));
}

#[test]
fn names_handles_and_equality() {
    for &op in Predefined::ALL {
        assert_eq!(Predefined::from_code(op.code()), Some(op));
        assert_eq!(Op::from(op).as_predefined(), Some(op));
        let ordered = matches!(op, Predefined::Replace | Predefined::NoOp);
        assert_eq!(Op::from(op).is_commutative(), !ordered);
    }
    assert_eq!(Predefined::from_code(0x20), None, "MPI_OP_NULL");
    assert_eq!((Op::SUM.name(), Op::NO_OP.name()), ("SUM", "NO_OP"));
    assert!(Op::SUM == Op::from(Predefined::Sum) && Op::SUM != Op::PROD);
    let (one, other) = (crate::local::idle(), crate::local::idle());
    assert!(one == one.clone() && one != other && one != Op::SUM);
    assert!(one.is_commutative() && !crate::local::decimal(|_, _| {}).is_commutative());
    assert_eq!(Datatype::SHORT.element().unwrap().kind, Kind::Signed);
}
