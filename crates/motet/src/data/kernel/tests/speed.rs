//! How fast the loops are.

use std::hint::black_box;
use std::time::Instant;

use super::*;
use crate::types::datatype::Named;

/// Bytes of an operand that lies in the nearest cache with the others, and in the next one.
const LENGTHS: [usize; 2] = [8 << 10, 256 << 10];

/// Bytes of the result per second, in 10⁹, at best.
fn rate(op: &Op, datatype: Named, len: usize, place: OutputAlias) -> f64 {
    let (kernel, unit) = kernel_for(op, &datatype.into()).unwrap();
    // Ones, and not what becomes infinite or denormal when it is combined again and again.
    let mut operands = match datatype {
        Named::Float => filled(&1f32.to_le_bytes(), len),
        Named::Double => filled(&1f64.to_le_bytes(), len),
        _ => filled(&[1], len),
    };
    let (rounds, mut best) = ((32 << 20) / len, f64::MAX);
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(&mut operands).reduce(black_box(&*kernel), unit.bytes, place, 0);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    (len * rounds) as f64 / best / 1e9
}

fn filled(pattern: &[u8], len: usize) -> Operands {
    let operand = pattern.repeat(len / pattern.len());
    Operands::new(&operand, &operand)
}

/// `cargo test --release -p motet --lib -- --ignored --nocapture kernel::tests::speed`
#[test]
#[ignore = "measures; run it alone and in release mode"]
fn of_predefined_operators() {
    let types = [Named::Double, Named::Float, Named::Int32, Named::Int64, Named::Uint8];
    let numbers = [Op::SUM, Op::PROD, Op::MIN, Op::MAX];
    let bits = [Op::BAND, Op::LAND];
    println!("{:24} {:>8}  in the left  in the right  apart   GB/s of the result", "", "bytes");
    for datatype in types {
        for op in numbers.iter().chain(&bits).filter(|op| op.applies_to(&datatype.into()).is_ok()) {
            for len in LENGTHS {
                let [left, right, apart] = PLACES.map(|place| rate(op, datatype, len, place));
                let name = format!("{} {}", op.name(), datatype.name());
                println!("{name:24} {len:8}  {left:11.1}  {right:12.1}  {apart:5.1}");
            }
        }
    }
    for (op, datatype) in [(Op::MINLOC, Named::DoubleInt), (Op::SUM, Named::LongDouble)] {
        let rate = rate(&op, datatype, 12 << 10, OutputAlias::Right);
        println!("{} {}: {rate:.2}", op.name(), datatype.name());
    }
}
