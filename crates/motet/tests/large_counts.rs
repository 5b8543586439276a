//! Counts and displacements beyond 32 bits. Memory that nobody touches costs nothing.

mod worlds;

use std::time::Duration;

use motet::{Block, Info, World};
use worlds::Watchdog;

/// More than 32 bits can count.
const FAR: usize = (1 << 32) + 12_345;

fn on_two(body: impl Fn(&World) -> motet::Result<()> + Sync) {
    let _watchdog = Watchdog::with(Duration::from_secs(240));
    for ended in motet::threads(2, |world| body(&world)).expect("a world of two") {
        ended.expect("no rank goes wrong");
    }
}

/// One buffer of more than 2³¹ bytes, in one piece.
///
/// spec: 45
#[test]
fn a_broadcast_of_more_than_two_gibibytes() {
    const LEN: usize = (1 << 31) + 7;
    on_two(|world| {
        let mut data = vec![0u8; LEN];
        if world.rank() == 0 {
            (data[0], data[1 << 20], data[LEN - 1]) = (1, 2, 3);
        }
        world.bcast(&mut data, 0)?;
        assert_eq!((data[0], data[1 << 20], data[LEN - 1]), (1, 2, 3));
        assert_eq!((data[1], data[LEN - 2]), (0, 0));
        Ok(())
    });
}

/// Blocks whose places need more than 32 bits, in all forms of the irregular collectives.
///
/// spec: 45, 21
#[test]
fn blocks_beyond_four_gibibytes() {
    on_two(|world| {
        let me = world.rank();
        let blocks = [Block { start: FAR, count: 3 }, Block { start: 5, count: 4 }];
        let own = vec![me as u8 + 1; blocks[me].count];
        let check = |all: &[u8], what: &str| {
            assert_eq!((&all[FAR..FAR + 3], &all[5..9]), (&[1; 3][..], &[2; 4][..]), "{what}");
            assert_eq!((all[FAR - 1], all[FAR + 3], all[4], all[9]), (0, 0, 0, 0), "{what}");
        };
        let mut all = vec![0u8; FAR + 8];
        world.allgatherv(&own, &mut all, &blocks)?;
        check(&all, "allgatherv");
        all[FAR..FAR + 3].fill(0);
        let gathered = world.igatherv((own.clone(), all), &blocks, 0)?.wait()?.1;
        if me == 0 {
            check(&gathered, "igatherv");
        }
        let back = world.scatterv_init((gathered, vec![9u8; own.len()]), &blocks, 0, &Info::new());
        let back = back?.start()?.wait()?;
        assert_eq!(back.output(), own);
        let (sent, _) = back.into_buffers();
        let there = [Block { start: 0, count: 2 }, Block { start: FAR, count: 2 }];
        let mut received = vec![0u8; FAR + 8];
        world.alltoallv(&sent, &mut received, &there, &there)?;
        assert_eq!(received[FAR - 1], 0);
        Ok(())
    });
}
