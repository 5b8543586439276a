//! How fast layouts are packed, relative to a copy of as many bytes.

use std::hint::black_box;
use std::time::Instant;

use motet::datatype::Datatype;

/// Bytes that are packed: with their gaps they fit into the nearest cache, the next one, and none.
const PAYLOADS: [usize; 3] = [4 << 10, 64 << 10, 8 << 20];

fn seconds(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..15 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn measure(name: &str, datatype: &Datatype, payload: usize) {
    let (layout, rounds) = (datatype.commit(), (64 << 20) / payload);
    let count = payload as u64 / layout.size();
    let len = usize::try_from(layout.reach(count).1).unwrap();
    let (mut memory, mut stream) = (vec![1; len], vec![2; payload]);
    let flat = vec![3; payload];
    let copy = seconds(|| {
        for _ in 0..rounds {
            black_box(&mut stream[..]).copy_from_slice(black_box(&flat));
        }
    });
    let pack = seconds(|| {
        for _ in 0..rounds {
            layout.gather(black_box(&memory), 0, count, 0, black_box(&mut stream)).unwrap();
        }
    });
    let unpack = seconds(|| {
        for _ in 0..rounds {
            layout.scatter(black_box(&mut memory), 0, count, 0, black_box(&stream)).unwrap();
        }
    });
    let rate = |time: f64| (payload * rounds) as f64 / time / 1e9;
    println!(
        "{name:24} {payload:8} B: memcpy {:5.1} GB/s, pack {:5.1} ({:3.0} %), \
         unpack {:5.1} ({:3.0} %)",
        rate(copy),
        rate(pack),
        100.0 * copy / pack,
        rate(unpack),
        100.0 * copy / unpack,
    );
}

/// `cargo test --release -p motet --test datatype -- --ignored --nocapture speed`
#[test]
#[ignore = "measures; run it alone and in release mode"]
fn relative_to_memcpy() {
    let doubles = |payload: usize| (payload / 8) as i64;
    for payload in PAYLOADS {
        let strided = Datatype::vector(doubles(payload), 1, 2, &Datatype::DOUBLE).unwrap();
        measure("doubles, stride 2", &strided, payload);
        let blocks = Datatype::vector(doubles(payload) / 8, 8, 16, &Datatype::DOUBLE).unwrap();
        measure("blocks of 64 B, stride 2", &blocks, payload);
        let items = Datatype::resized(0, 16, &Datatype::DOUBLE).unwrap();
        measure("resized doubles", &items, payload);
        let long = Datatype::vector(doubles(payload) / 128, 128, 256, &Datatype::DOUBLE).unwrap();
        measure("blocks of 1 KiB", &long, payload);
        let ints = Datatype::vector(2 * doubles(payload), 1, 2, &Datatype::INT).unwrap();
        measure("ints, stride 2", &ints, payload);
        let places: Vec<i64> = (0..doubles(payload)).map(|i| i * 2 + i % 2).collect();
        let indexed = Datatype::indexed_block(1, &places, &Datatype::DOUBLE).unwrap();
        measure("indexed doubles", &indexed, payload);
        let types = [Datatype::INT, Datatype::DOUBLE, Datatype::SHORT, Datatype::SHORT];
        let fields = Datatype::structured(&[1, 1, 1, 1], &[0, 8, 16, 20], &types).unwrap();
        measure("structure of 3 runs", &fields, payload / 16 * 16);
    }
}
