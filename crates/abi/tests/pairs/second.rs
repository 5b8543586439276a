//! Rank 1 of a world whose rank 0 is `first.rs`: its structures have names of their own.

use std::fmt::Debug;

use motet::{Element, ErrorKind, Result, Tag, World, struct_datatype};

const TAG: Tag = Tag(7);

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Row {
    value: f64,
    key: u32,
    group: u16,
}
struct_datatype!(Row { value: f64, key: u32, group: u16 });

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Signed {
    weight: f64,
    id: i32,
    kind: u16,
}
struct_datatype!(Signed { weight: f64, id: i32, kind: u16 });

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Lamp {
    number: u32,
    is_on: bool,
}
struct_datatype!(Lamp { number: u32, is_on: bool });

const LAMPS: [Lamp; 2] = [Lamp { number: 5, is_on: true }, Lamp { number: 6, is_on: false }];

/// Receives into these, which must be refused with the names of both types and write nothing.
fn refuse<T: Element + Debug + PartialEq>(
    world: &World,
    before: [T; 2],
    types: [&str; 2],
) -> Result<()> {
    let mut got = before;
    let refused = world.recv(&mut got, 0, TAG).expect_err("they are of another type");
    match refused.kind() {
        ErrorKind::TypeMismatch { rank: 0, sent, expected } => {
            assert_eq!([sent.as_str(), expected.as_str()], types);
        }
        _ => panic!("not a mismatch of types: {refused}"),
    }
    assert_eq!(got, before);
    Ok(())
}

fn main() -> Result<()> {
    let case = std::env::args().nth(1).expect("an argument says what passes");
    let world = motet::init()?;
    assert_eq!((world.rank(), world.size()), (1, 2));
    match case.as_str() {
        "other_names" => {
            let sent = [
                Row { value: 0.5, key: 70_000, group: 3 },
                Row { value: -2.0, key: 9, group: 65_535 },
            ];
            let mut got = sent.map(|_| Row { value: 0.0, key: 0, group: 0 });
            world.recv(&mut got, 0, TAG)?;
            assert_eq!(got, sent);
            world.send(&[sent[1], sent[0]], 0, TAG)?;
            world.bcast(&mut got, 0)?;
            assert_eq!(got, [sent[1], sent[0]]);
        }
        "other_field" => {
            let before = [Signed { weight: 1.0, id: -1, kind: 1 }; 2];
            let types =
                ["{0: f64, 8: u32, 12: u16; 16 bytes}", "{0: f64, 8: i32, 12: u16; 16 bytes}"];
            refuse(&world, before, types)?;
        }
        "flag_of_structure" => {
            let types = ["{0: u32, 4: u8; 8 bytes}", "{0: u32, 4: bool; 8 bytes}"];
            refuse(&world, LAMPS, types)?;
        }
        "flag_of_bytes" => refuse(&world, LAMPS, ["u8", "{0: u32, 4: bool; 8 bytes}"])?,
        _ => panic!("no case {case}"),
    }
    world.barrier()
}
