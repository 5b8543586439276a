//! Rank 0 of a world whose ranks run different programs. Its argument says what passes between
//! the two, and `second.rs` and `in_c.c` are the other side.

use motet::{Result, Tag, struct_datatype};

const TAG: Tag = Tag(7);

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Sample {
    weight: f64,
    id: u32,
    kind: u16,
}
struct_datatype!(Sample { weight: f64, id: u32, kind: u16 });

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Switch {
    number: u32,
    state: u8,
}
struct_datatype!(Switch { number: u32, state: u8 });

const SAMPLES: [Sample; 2] =
    [Sample { weight: 0.5, id: 70_000, kind: 3 }, Sample { weight: -2.0, id: 9, kind: 65_535 }];

fn main() -> Result<()> {
    let case = std::env::args().nth(1).expect("an argument says what passes");
    let world = motet::init()?;
    assert_eq!((world.rank(), world.size()), (0, 2));
    match case.as_str() {
        "other_names" => {
            world.send(&SAMPLES, 1, TAG)?;
            let mut back = SAMPLES.map(|_| Sample { weight: 0.0, id: 0, kind: 0 });
            world.recv(&mut back, 1, TAG)?;
            assert_eq!(back, [SAMPLES[1], SAMPLES[0]]);
            world.bcast(&mut back, 0)?;
        }
        "other_field" => world.send(&SAMPLES, 1, TAG)?,
        // Neither value of `state` is one of a `bool`.
        "flag_of_structure" => {
            world.send(&[Switch { number: 1, state: 2 }, Switch { number: 2, state: 3 }], 1, TAG)?
        }
        "flag_of_bytes" => world.send(&[2_u8; 16], 1, TAG)?,
        "integers_with_c" => {
            world.send(&[1, -2, i32::MAX], 1, TAG)?;
            let mut back = [0; 3];
            world.recv(&mut back, 1, TAG)?;
            assert_eq!(back, [i32::MIN, 40, -1]);
        }
        "bytes_of_c" | "truth_of_c" => {
            let mut flags = [false; 3];
            let refused = world.recv(&mut flags, 1, TAG).expect_err("they are no values of a bool");
            assert_eq!(refused.class(), motet::ErrorClass::Type, "{refused}");
            assert!(refused.to_string().contains("this rank receives bool"), "{refused}");
            assert_eq!(flags, [false; 3]);
        }
        "truth_for_c" => world.send(&[true, false, true], 1, TAG)?,
        _ => panic!("no case {case}"),
    }
    world.barrier()
}
