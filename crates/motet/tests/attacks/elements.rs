//! Elements of unusual types: values that are not all bits, large ones, aligned ones, and
//! structures that look like each other.

use motet::buffer::Items;
use motet::op::commutative;
use motet::{Datatype, Info, Result, Sum, Tag, TypedBlock, World};

use super::support::{all_well, bytes_of, outcomes};

/// A structure whose second byte may be anything.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Free {
    number: u32,
    any: u8,
    real: f64,
}
motet::struct_datatype!(Free { number: u32, any: u8, real: f64 });

/// The same with a logical value there.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Strict {
    number: u32,
    valid: bool,
    real: f64,
}
motet::struct_datatype!(Strict { number: u32, valid: bool, real: f64 });

const FREE: Free = Free { number: 1, any: 7, real: 0.5 };
const STRICT: Strict = Strict { number: 1, valid: false, real: 0.5 };

/// Each of these sends what its receiver must not take for logical values.
fn refused(attack: impl Fn(&World, &mut [bool]) -> Result<()> + Sync) {
    let ended = outcomes(2, |world| {
        let mut values = [false; 8];
        let called = attack(world, &mut values);
        assert_eq!(bytes_of(&values).iter().find(|byte| **byte > 1), None, "{called:?}");
        if world.rank() == 1 {
            assert!(called.is_err(), "the types differ");
        }
        Ok(())
    });
    for outcome in ended.expect("a world") {
        outcome.expect("the attack itself is refused, not what follows");
    }
}

#[test]
fn bytes_are_no_logical_values_in_messages() {
    refused(|world, values| match world.rank() {
        0 => world.send(&[7u8; 8], 1, Tag(1)),
        _ => world.recv(values, 0, Tag(1)).map(drop),
    });
    refused(|world, values| match world.rank() {
        0 => world.send(&[7i8; 8], 1, Tag(1)),
        _ => world.mprobe(0, Tag(1))?.mrecv(values).map(drop),
    });
    refused(|world, values| match world.rank() {
        0 => world.isend(vec![[7u8; 2]; 4], 1, Tag(1))?.wait().map(drop),
        _ => {
            let taken = world.irecv(values.to_vec(), 0, Tag(1))?.wait()?;
            values.copy_from_slice(&taken);
            Ok(())
        }
    });
}

#[test]
fn bytes_are_no_logical_values_in_collectives() {
    refused(|world, values| match world.rank() {
        0 => world.bcast(&mut [7u8; 8], 0),
        _ => world.bcast(values, 0),
    });
    refused(|world, values| match world.rank() {
        0 => world.scatter(&[7u8; 16], &mut [0u8; 8], 0),
        _ => world.scatter(&[], values, 0),
    });
    refused(|world, values| match world.rank() {
        0 => world.exchange(&[7u8; 8], &mut [], &[1], &[]),
        _ => world.exchange(&[], values, &[], &[0]),
    });
}

#[test]
fn bytes_are_no_logical_values_in_persistent_operations() {
    refused(|world, values| match world.rank() {
        0 => {
            let mut run = world.bcast_init(vec![7u8; 8], 0, &Info::new())?;
            run.run()
        }
        _ => {
            let mut run = world.bcast_init(values.to_vec(), 0, &Info::new())?;
            let called = run.run();
            values.copy_from_slice(run.output());
            called
        }
    });
    refused(|world, values| match world.rank() {
        0 => world.send_init(vec![7u8; 8], 1, Tag(1))?.run(),
        _ => {
            let mut run = world.recv_init(values.to_vec(), 0, Tag(1))?;
            let called = run.run();
            values.copy_from_slice(run.output());
            called
        }
    });
}

#[test]
fn items_of_bytes_are_no_logical_values() {
    refused(|world, values| match world.rank() {
        0 => {
            let every_other = Datatype::vector(8, 1, 2, &Datatype::C_BOOL)?;
            let items = Items::new(vec![7u8; 16], &every_other, 1)?;
            world.isend(items, 1, Tag(1))?.wait().map(drop)
        }
        _ => world.recv(values, 0, Tag(1)).map(drop),
    });
}

#[test]
fn structures_that_differ_in_one_field_are_refused() {
    let ended = outcomes(2, |world| {
        if world.rank() == 0 {
            world.send(&[FREE; 3], 1, Tag(1))?;
            return world.bcast(&mut [FREE; 3], 0);
        }
        let mut values = [STRICT; 3];
        assert!(world.recv(&mut values, 0, Tag(1)).is_err());
        assert!(world.bcast(&mut values, 0).is_err());
        assert_eq!(values, [STRICT; 3]);
        Ok(())
    });
    all_well(ended);
}

#[test]
fn a_sparse_exchange_makes_values_of_its_own_type_only() {
    let ended = outcomes(2, |world| {
        if world.rank() == 0 {
            drop(world.sparse_exchange([(1, &[FREE; 3][..])]));
            return Ok(());
        }
        let received = world.sparse_exchange::<Strict>([]);
        assert!(received.is_err(), "{received:?}");
        Ok(())
    });
    all_well(ended);
}

#[test]
fn a_sparse_exchange_makes_no_part_of_an_element() {
    let ended = outcomes(2, |world| {
        if world.rank() == 0 {
            drop(world.sparse_exchange([(1, &[7u8; 10][..])]));
            return Ok(());
        }
        let received = world.sparse_exchange::<[u8; 4]>([]);
        let whole = |message: &(usize, Vec<[u8; 4]>)| message.1 == [[7; 4]; 2];
        assert!(received.is_err() || received.is_ok_and(|all| all.iter().all(whole)));
        Ok(())
    });
    all_well(ended);
}

/// More than a cell, a block or a size of 16 bits holds.
#[derive(Clone, Copy)]
#[repr(C)]
struct Huge {
    bytes: [u8; 70_000],
    valid: bool,
}
motet::struct_datatype!(Huge { bytes: [u8; 70_000], valid: bool });

#[test]
fn huge_elements_travel_whole() {
    let ended = outcomes(3, |world| {
        let own = Huge { bytes: [world.rank() as u8 + 1; 70_000], valid: true };
        let none = Huge { bytes: [0; 70_000], valid: false };
        let mut all = vec![none; 3];
        world.allgather(&[own], &mut all)?;
        for (rank, element) in all.iter().enumerate() {
            assert!(element.bytes.iter().all(|byte| *byte == rank as u8 + 1) && element.valid);
        }
        let mut last = vec![none];
        let later = commutative(|a: Huge, b: Huge| if a.bytes[0] > b.bytes[0] { a } else { b });
        world.allreduce(&[own], &mut last, later)?;
        assert!(last[0].bytes == [3; 70_000] && last[0].valid);
        Ok(())
    });
    all_well(ended);
}

/// Without gaps, and so not aligned.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed {
    kind: u8,
    number: u64,
}
motet::struct_datatype!(Packed { kind: u8, number: u64 });

#[test]
fn packed_elements_travel_from_any_address() {
    let ended = outcomes(2, |world| {
        for first in 0..4 {
            let own = vec![Packed { kind: 1, number: world.rank() as u64 + 5 }; 40];
            let mut theirs = vec![Packed { kind: 0, number: 0 }; 44];
            let other = 1 - world.rank();
            let out = (&own[first..40], other, Tag(1));
            world.sendrecv(out, (&mut theirs[first..40], other, Tag(1)))?;
            for element in &theirs[first..40] {
                let number = element.number;
                assert!(element.kind == 1 && number == other as u64 + 5);
            }
            let sum = commutative(|a: Packed, b: Packed| Packed {
                kind: a.kind,
                number: { a.number } + { b.number },
            });
            let mut all = vec![Packed { kind: 0, number: 0 }; 40 - first];
            world.allreduce(&own[first..40], &mut all, sum)?;
            assert!(all.iter().all(|element| { element.number } == 11));
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn numbers_of_another_kind_are_refused_in_reductions() {
    let ended = outcomes(2, |world| {
        let refused = match world.rank() {
            0 => world.allreduce(&[1.5f64; 4], &mut [0.0; 4], Sum).is_err(),
            _ => world.allreduce(&[1u64; 4], &mut [0; 4], Sum).is_err(),
        };
        assert!(refused);
        Ok(())
    });
    all_well(ended);
}

/// An element that begins at every 256th byte.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(256))]
struct Wide {
    number: u64,
}
motet::struct_datatype!(Wide { number: u64 });

#[test]
fn parts_of_any_datatype_are_no_logical_values() {
    for datatype in [Datatype::BYTE, Datatype::PACKED, Datatype::C_BOOL, Datatype::LOGICAL1] {
        refused(|world, values| match world.rank() {
            0 => {
                let none = TypedBlock::new(0, 0, &datatype);
                let parts = [none.clone(), TypedBlock::new(0, 4, &datatype)];
                world.alltoallw(&[7u8; 8], &mut [0u8; 8], &parts, &[none.clone(), none])
            }
            _ => {
                let from_first = motet::Block { start: 0, count: 4 };
                let none = motet::Block { start: 0, count: 0 };
                world.alltoallv(&[], values, &[none; 2], &[from_first, none])
            }
        });
        refused(|world, values| match world.rank() {
            0 => {
                let to = [(1, TypedBlock::new(0, 8, &datatype))];
                let from: [(usize, TypedBlock); 0] = [];
                world.exchangew(&[7u8; 8], &mut [0u8; 8], &to, &from)
            }
            _ => world.exchange(&[], values, &[], &[0]),
        });
    }
}

#[test]
fn aligned_elements_are_aligned_for_operators_and_users() {
    let ended = outcomes(3, |world| {
        let add = || {
            commutative(|a: Wide, b: Wide| {
                let aligned = |value: &Wide| (&raw const *value).addr().is_multiple_of(256);
                assert!(aligned(&a) && aligned(&b));
                Wide { number: a.number + b.number }
            })
        };
        for len in [1, 3, 100] {
            let own = vec![Wide { number: 1 }; len];
            let sum = world.iallreduce(own.clone(), add())?.wait()?;
            assert!(sum.iter().all(|value| value.number == 3));
            let mut run = world.allreduce_init(own.clone(), add(), &Info::new())?;
            run.run()?;
            assert!(run.output().iter().all(|value| value.number == 3));
            let memory = world.allocate(len, Wide { number: 1 });
            assert!(memory.as_ptr().addr().is_multiple_of(256));
            let received = world.sparse_exchange([((world.rank() + 1) % 3, &own[..])])?;
            assert!(received[0].1.as_ptr().addr().is_multiple_of(256));
            assert_eq!(received[0].1, own);
        }
        Ok(())
    });
    all_well(ended);
}
