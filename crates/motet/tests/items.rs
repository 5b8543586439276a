//! Operations on items of datatypes, and on structures.

mod worlds;

use motet::buffer::Items;
use motet::datatype::Datatype;
use motet::{Block, Info, Sum};
use worlds::on_ranks;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Particle {
    kind: u8,
    position: [f64; 3],
    id: u32,
}
motet::struct_datatype!(Particle { kind: u8, position: [f64; 3], id: u32 });

fn particle(n: usize) -> Particle {
    let at = n as f64;
    Particle { kind: n as u8, position: [at, at + 0.25, at + 0.5], id: n as u32 * 7 }
}

/// A column of a matrix with rows of 4.
fn column() -> Datatype {
    let column = Datatype::vector(3, 1, 4, &Datatype::DOUBLE).expect("fits");
    Datatype::resized(0, 8, &column).expect("fits")
}

/// Bytes between the items stay as they were; nonblocking and persistent operations see the stream.
/// spec: 3, 5, 20, 56
#[test]
fn columns_are_moved_and_nothing_else() {
    on_ranks(3, |world| {
        let (me, ranks) = (world.rank(), world.size());
        let matrix: Vec<f64> = (0..12).map(|n| (100 * me + n) as f64).collect();
        let poison = vec![-1.0; 12 * ranks];
        let all = Datatype::resized(0, 96, &column()).expect("fits");
        let send = Items::at(matrix, 2, &column(), 1).expect("a column");
        let receive = Items::at(poison, 1, &all, ranks).expect("columns");
        let (send, receive) = world.iallgather((send, receive))?.wait()?;
        assert_eq!(send.into_buffer()[3], (100 * me + 3) as f64);
        for (at, value) in receive.into_buffer().into_iter().enumerate() {
            let (rank, row, place) = (at / 12, at % 12 / 4, at % 4);
            let sent = (100 * rank + 4 * row + 2) as f64;
            assert_eq!(value, if place == 1 { sent } else { -1.0 }, "element {at}");
        }
        Ok(())
    });
}

/// What lies in the buffer when a persistent operation starts is what travels.
/// spec: 5, 56
#[test]
fn a_persistent_reduction_of_columns_takes_what_is_there_at_the_start() {
    on_ranks(4, |world| {
        let grid = Items::at(vec![0.0; 12], 3, &column(), 1).expect("a column");
        let mut sum = world.allreduce_init(grid, Sum, &Info::new())?;
        for round in 0..4 {
            sum.output_mut().iter_mut().enumerate().for_each(|(at, x)| *x = (at + round) as f64);
            sum = sum.start()?.wait()?;
            for (at, value) in sum.output().iter().enumerate() {
                let one = (at + round) as f64;
                assert_eq!(*value, if at % 4 == 3 { 4.0 * one } else { one });
            }
        }
        Ok(())
    });
}

/// One side has a vector, the other elements in a row; a shorter message fills what it covers.
/// spec: 20
#[test]
fn messages_of_items_meet_messages_of_elements() {
    on_ranks(2, |world| {
        let tag = motet::Tag(3);
        if world.rank() == 0 {
            let columns = Items::new((0..12).map(f64::from).collect::<Vec<_>>(), &column(), 2)?;
            world.isend(columns, 1, tag)?.wait()?;
            world.send(&[7.0, 8.0, 9.0, 10.0], 1, tag)?;
        } else {
            let (six, _) = world.irecv(vec![0.0; 6], 0, tag)?.wait_with_status()?;
            assert_eq!(six, [0.0, 4.0, 8.0, 1.0, 5.0, 9.0]);
            let columns = Items::new(vec![0.0; 12], &column(), 2)?;
            let (columns, status) = world.irecv(columns, 0, tag)?.wait_with_status()?;
            assert_eq!(status.bytes, 32);
            let grid = columns.into_buffer();
            assert_eq!(grid, [7.0, 10.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0]);
        }
        Ok(())
    });
}

/// A structure is an element of every form, gaps or not.
#[test]
fn structures_travel_as_elements() {
    on_ranks(3, |world| {
        let (me, ranks) = (world.rank(), world.size());
        let own = [particle(me), particle(me + 10)];
        let mut all = vec![particle(99); 2 * ranks];
        world.allgather(&own, &mut all)?;
        let expected: Vec<Particle> =
            (0..ranks).flat_map(|n| [particle(n), particle(n + 10)]).collect();
        assert_eq!(all, expected);
        let blocks: Vec<Block> = (0..ranks).map(|n| Block { start: 2 * n, count: 2 }).collect();
        let gathered = (own.to_vec(), vec![particle(0); 2 * ranks]);
        let (_, gathered) = world.igatherv(gathered, &blocks, 1)?.wait()?;
        assert!(me != 1 || gathered == expected);
        let heaviest =
            motet::op::commutative(|a: Particle, b: Particle| if a.id > b.id { a } else { b });
        let mut top = [particle(0); 2];
        world.allreduce(&own, &mut top, heaviest)?;
        assert_eq!(top, [particle(ranks - 1), particle(ranks + 9)]);
        Ok(())
    });
}

/// spec: 61
#[test]
fn items_that_do_not_fit_are_refused() {
    let outside = Items::at(vec![0.0f64; 11], 3, &column(), 1).unwrap_err();
    assert_eq!(outside.class(), motet::ErrorClass::Buffer, "{outside}");
    let other = Items::new(vec![0f32; 24], &column(), 1).unwrap_err();
    assert!(other.to_string().contains("different elements"), "{other}");
    assert!(Items::new(vec![0u8; 96], &column(), 1).is_ok());
}
