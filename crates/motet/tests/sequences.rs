//! Numbers that pass a power of two while operations of all kinds are under way.

mod worlds;

use motet::{Communicator, Info, Result, Settings, Sum, Tag};
use worlds::on_ranks_with;

/// Operations before a number passes the power: fewer than each of the runs below makes of each
/// kind.
const BEFORE: u64 = 40;
const ROUNDS: u64 = 100;

/// Blocking, nonblocking and persistent collectives and messages, all under way together.
fn mix(world: &Communicator) -> Result<()> {
    let (me, ranks) = (world.rank() as u64, world.size() as u64);
    let all = |round: u64| ranks * round + (0..ranks).sum::<u64>();
    let (next, last) = ((world.rank() + 1) % world.size(), (world.rank() + 2) % world.size());
    let info = Info::new();
    let mut sum = world.allreduce_init((vec![0u64; 3], vec![0u64; 3]), Sum, &info)?;
    let mut ring = world.exchange_init((vec![0u64], vec![0u64]), &[next], &[last], &info)?;
    for round in 0..ROUNDS {
        let pending = world.iallreduce(vec![me + round; 5], Sum)?;
        sum.input_mut().fill(round + me);
        let running = sum.start()?;
        let incoming = world.irecv(vec![0u64; 2], last, Tag(3))?;
        let outgoing = world.isend(vec![round, me], next, Tag(3))?;
        world.barrier()?;
        ring.input_mut().fill(round);
        ring.run()?;
        assert_eq!(ring.output(), [round]);
        sum = running.wait()?;
        assert_eq!(sum.output(), [all(round); 3]);
        let mut fresh = world.bcast_init(vec![me + round; 700], 2, &info)?;
        fresh.run()?;
        assert_eq!(fresh.output(), [2 + round; 700]);
        assert_eq!(incoming.wait()?, [round, last as u64]);
        outgoing.wait()?;
        assert_eq!(pending.wait()?, [all(round); 5]);
        if round % 10 == 0 {
            let large = world.iallreduce(vec![me; 20_000], Sum)?;
            assert_eq!(large.wait()?, vec![all(0); 20_000]);
        }
    }
    Ok(())
}

/// The root of a broadcast is as far ahead as its channel lets it be when the positions pass.
fn ahead(world: &Communicator) -> Result<()> {
    let mut bcast = world.bcast_init(vec![0u64], 0, &Info::new())?;
    for round in 0..ROUNDS {
        if world.rank() > 0 && round % 35 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        bcast.input_mut().fill(round);
        bcast.run()?;
        assert_eq!(bcast.output(), [round]);
    }
    Ok(())
}

fn pass(power: u32) {
    let settings = Settings::new().count_from((1 << power) - BEFORE);
    for settings in [settings.clone(), settings.clone().without_channels(), settings.check()] {
        on_ranks_with(3, &settings, |world| {
            mix(world)?;
            ahead(world)?;
            mix(&world.dup()?)
        });
    }
}

/// spec: 50, 52, 53
#[test]
fn numbers_pass_2_to_the_24() {
    pass(24);
}

/// spec: 50, 52, 53
#[test]
fn numbers_pass_2_to_the_31() {
    pass(31);
}

/// spec: 50, 52, 53
#[test]
fn numbers_pass_2_to_the_32() {
    pass(32);
}

/// spec: 53
#[test]
fn a_mismatch_is_found_beyond_2_to_the_32() {
    let settings = Settings::new().count_from((1 << 32) - 2).check();
    on_ranks_with(2, &settings, |world| {
        (0..4).try_for_each(|_| world.barrier())?;
        let wrong = match world.rank() {
            0 => world.barrier(),
            _ => world.ibarrier().and_then(|pending| pending.wait()),
        };
        let text = wrong.expect_err("the forms differ").to_string();
        assert!(text.contains("as collective number 4294967299 of"), "{text}");
        Ok(())
    });
}
