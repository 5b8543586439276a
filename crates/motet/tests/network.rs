//! Ranks that share no memory, or share it two by two: collectives and messages over the network.
//! Where there is no libfabric nothing is tested, with a word about it.

mod worlds;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use motet::{Block, ErrorKind, Info, Result, Settings, Sum, Tag, World};
use motet_fabric::net::Library;
use motet_plan::{Algorithm, Call, Collective, NodeMap, Operation, Rank, algo};
use worlds::{Watchdog, on_ranks_with};

/// How many ranks share memory; nothing if there is no network.
fn shares() -> &'static [usize] {
    match Library::open() {
        Ok(_) => &[1, 2],
        Err(error) => {
            eprintln!("not tested: {error}");
            &[]
        }
    }
}

/// Runs a body in worlds of several sizes, with ranks apart and in pairs.
fn apart(sizes: &[usize], body: impl Fn(&World) -> Result<()> + Sync) {
    for &share in shares() {
        for &ranks in sizes {
            on_ranks_with(ranks, &Settings::new().ranks_per_segment(share), &body);
        }
    }
}

#[test]
fn collectives_of_all_lengths() {
    apart(&[2, 3, 5], |world| {
        let (me, ranks) = (world.rank() as u64, world.size() as u64);
        for count in [0, 1, 10, 1000, 5000, 100_000] {
            let own: Vec<u64> = (0..count).map(|at| at + me).collect();
            let mut sum = vec![0; own.len()];
            world.allreduce(&own, &mut sum, Sum)?;
            let right = |at: u64| ranks * at + ranks * (ranks - 1) / 2;
            assert!(sum.iter().zip(0..).all(|(&sum, at)| sum == right(at)));
            let root = world.size() - 1;
            let mut data = if world.rank() == root { own.clone() } else { vec![9; own.len()] };
            world.bcast(&mut data, root)?;
            assert!(data.iter().zip(0..).all(|(&data, at)| data == at + ranks - 1));
            let mut all = vec![0; own.len() * world.size()];
            world.allgather(&own, &mut all)?;
            for (rank, block) in (0..ranks).zip(all.chunks_exact(own.len().max(1))) {
                assert!(block.iter().zip(0..).all(|(&data, at)| data == at + rank));
            }
            world.barrier()?;
        }
        Ok(())
    });
}

/// Where ranks share cores, messages of these lengths wait for their receivers in shared memory,
/// but only for those who share it.
#[test]
fn messages_to_both_sides_of_the_network_where_ranks_share_cores() {
    if shares().is_empty() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (ranks, rounds) = ((cores + 2).clamp(6, 18), 4);
    on_ranks_with(ranks, &Settings::new().ranks_per_segment(3), |world| {
        let me = world.rank();
        for count in [1000, 1030, 1500, 2048, 2049, 5000] {
            let value = |from: usize, to: usize, round: usize| (from * 64 + to) * rounds + round;
            for round in 0..rounds {
                let block = |to: usize| vec![value(me, to, round); count];
                let sent: Vec<usize> = (0..ranks).flat_map(block).collect();
                let mut got = vec![0; sent.len()];
                world.alltoall(&sent, &mut got)?;
                for (from, got) in got.chunks_exact(count).enumerate() {
                    assert!(got.iter().all(|&got| got == value(from, me, round)), "{count}");
                }
                let root = round % ranks;
                let mut data = vec![value(me, root, round); count];
                world.bcast(&mut data, root)?;
                assert!(data.iter().all(|&data| data == value(root, root, round)), "{count}");
                let (right, left) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
                let (mut got, tag) = (vec![0; count], Tag(3));
                world.sendrecv((&block(right), right, tag), (&mut got, left, tag))?;
                assert!(got.iter().all(|&got| got == value(left, me, round)), "{count}");
            }
        }
        Ok(())
    });
}

#[test]
fn persistent_operations_go_without_channels() {
    apart(&[2, 4], |world| {
        let ranks = world.size() as i64;
        let mut sum = world.allreduce_init(vec![0_i64; 3], Sum, &Info::new())?;
        for round in 0..50 {
            sum.input_mut().fill(round + world.rank() as i64);
            sum = sum.start()?.wait()?;
            assert_eq!(sum.output(), [ranks * round + ranks * (ranks - 1) / 2; 3]);
        }
        Ok(())
    });
}

#[test]
fn nodes_are_those_that_share_memory() {
    for &share in shares() {
        let settings = Settings::new().ranks_per_segment(share);
        let nodes = on_ranks_with(5, &settings, |world| Ok(world.nodes()));
        let right: Vec<_> = (0..5).map(|rank| rank / share).collect();
        assert!(nodes.iter().all(|nodes| *nodes == right), "{nodes:?}");
    }
}

/// Collectives that have an algorithm by node. (Which they should be is a test of plans.)
fn by_node() -> impl Iterator<Item = Collective> {
    algo::table().iter().filter(|row| row.name() == "hierarchical").map(|row| row.collective())
}

/// What the ranks call, to a root in the middle of a host.
fn call(collective: Collective, world: &World) -> Call {
    let (count, root, commutative) = (COUNT, Rank(ROOT as u32), true);
    let operation = match collective {
        Collective::Barrier => Operation::Barrier,
        Collective::Bcast => Operation::Bcast { count, root },
        Collective::Gather => Operation::Gather { count, root },
        Collective::Scatter => Operation::Scatter { count, root },
        Collective::Reduce => Operation::Reduce { count, root, commutative },
        Collective::Allreduce => Operation::Allreduce { count, commutative },
        Collective::Allgather => Operation::Allgather { count },
        Collective::Allgatherv => Operation::Allgatherv { blocks: blocks(world.size()).into() },
        Collective::Alltoall => Operation::Alltoall { count },
        Collective::ReduceScatterBlock => Operation::ReduceScatterBlock { count, commutative },
        Collective::ReduceScatter => {
            let counts = vec![count; world.size()].into();
            Operation::ReduceScatter { counts, commutative }
        }
        Collective::Scan => Operation::Scan { count, commutative },
        Collective::Exscan => Operation::Exscan { count, commutative },
        _ => unreachable!("{collective} has no algorithm by node"),
    };
    Call {
        rank: Rank(world.rank() as u32),
        ranks: world.size() as u32,
        element_bytes: if collective == Collective::Barrier { 0 } else { size_of::<u64>() },
        in_place: false,
        nodes: NodeMap::new(world.nodes()),
        operation,
    }
}

/// Elements of a block, and the root.
const COUNT: usize = 2;
const ROOT: usize = 3;

/// A block for each rank, side by side.
fn blocks(ranks: usize) -> Vec<Block> {
    (0..ranks).map(|rank| Block { start: rank * COUNT, count: COUNT }).collect()
}

/// Makes the call and checks what comes.
fn carry_out(collective: Collective, world: &World) -> Result<()> {
    let (ranks, own) = (world.size(), vec![world.rank() as u64 + 1; COUNT]);
    let all: Vec<u64> = (0..ranks * COUNT).map(|at| (at / COUNT) as u64 + 1).collect();
    let sum_to = |rank: usize| vec![(1..=rank as u64).sum::<u64>(); COUNT];
    let sum = sum_to(ranks);
    let is_root = world.rank() == ROOT;
    let (mut one, mut each) = (vec![0; COUNT], vec![0; ranks * COUNT]);
    match collective {
        Collective::Barrier => world.barrier()?,
        Collective::Bcast => {
            one.copy_from_slice(&own);
            world.bcast(&mut one, ROOT)?;
            assert_eq!(one, [ROOT as u64 + 1; COUNT]);
        }
        Collective::Gather => {
            world.gather(&own, if is_root { &mut each } else { &mut [] }, ROOT)?;
            assert!(!is_root || each == all);
        }
        Collective::Scatter => {
            world.scatter(if is_root { &all } else { &[][..] }, &mut one, ROOT)?;
            assert_eq!(one, own);
        }
        Collective::Reduce => {
            world.reduce(&own, if is_root { &mut one } else { &mut [] }, Sum, ROOT)?;
            assert!(!is_root || one == sum);
        }
        Collective::Allreduce => {
            world.allreduce(&own, &mut one, Sum)?;
            assert_eq!(one, sum);
        }
        Collective::Allgather => {
            world.allgather(&own, &mut each)?;
            assert_eq!(each, all);
        }
        Collective::Allgatherv => {
            world.allgatherv(&own, &mut each, &blocks(ranks))?;
            assert_eq!(each, all);
        }
        Collective::Alltoall => {
            world.alltoall(&all, &mut each)?;
            assert_eq!(each, own.repeat(ranks));
        }
        Collective::ReduceScatterBlock => {
            world.reduce_scatter_block(&all, &mut one, Sum)?;
            assert_eq!(one, own.iter().map(|own| own * ranks as u64).collect::<Vec<_>>());
        }
        Collective::ReduceScatter => {
            world.reduce_scatter(&all, &mut one, &vec![COUNT; ranks], Sum)?;
            assert_eq!(one, own.iter().map(|own| own * ranks as u64).collect::<Vec<_>>());
        }
        Collective::Scan => {
            world.scan(&own, &mut one, Sum)?;
            assert_eq!(one, sum_to(world.rank() + 1));
        }
        _ => {
            world.exscan(&own, &mut one, Sum)?;
            assert_eq!(one, sum_to(world.rank()));
        }
    }
    Ok(())
}

/// Hosts have clocks of their own.
#[test]
fn time_is_global_on_one_host_only() {
    if shares().is_empty() {
        return;
    }
    for (share, is_global) in [(2, false), (4, true)] {
        let settings = Settings::new().ranks_per_segment(share);
        let seen = on_ranks_with(4, &settings, |world| Ok(world.is_time_global()));
        assert_eq!(seen, [is_global; 4], "{share} ranks on a host");
    }
}

/// What goes over the network is what the plan says, message for message, whatever the algorithm;
/// and with the algorithm that is chosen it is a message to each other host, or from each.
#[test]
fn messages_between_hosts_are_those_of_the_plan() {
    if shares().is_empty() {
        return;
    }
    let (ranks, share, hosts) = (6, 2, 3);
    let plain = Settings::new().ranks_per_segment(share);
    // Packets and messages planned, of all ranks.
    let sent = |collective: Collective, row: Option<&'static dyn Algorithm>| {
        let name = row.map(|row| format!("{collective}={}", row.name()));
        let settings = name.map_or(Ok(plain.clone()), |name| plain.clone().algorithms(&name));
        let figures = on_ranks_with(ranks, &settings.expect("a setting"), |world| {
            world.barrier()?;
            let before = world.packets_to_other_hosts();
            carry_out(collective, world)?;
            let sent = world.packets_to_other_hosts() - before;
            // Who leaves before others have counted gets an answer from them.
            world.barrier()?;
            let call = call(collective, world);
            let row = row.or(algo::find(collective, "hierarchical")).expect("a row");
            let plan = row.plan(&call).unwrap_or_else(|refusal| panic!("{row:?}: {refusal}"));
            let planned = plan.sent_to_other_nodes(&call.nodes).messages as u64;
            assert_eq!(sent, planned, "{row:?}, rank {}", world.rank());
            Ok(sent)
        });
        figures.iter().sum::<u64>()
    };
    for collective in by_node() {
        for row in algo::of(collective) {
            let takes = |world: &World| Ok(row.accepts(&call(collective, world)).is_ok());
            if on_ranks_with(ranks, &plain, takes).into_iter().all(|takes| takes) {
                sent(collective, Some(row));
            }
        }
        let chosen = sent(collective, None);
        let fewest = match collective {
            Collective::Bcast | Collective::Gather | Collective::Scatter | Collective::Reduce => {
                hosts - 1..=hosts - 1
            }
            // The one between must wait for the first, or both tell the last.
            Collective::Scan | Collective::Exscan => hosts - 1..=hosts,
            // Each has something of its own for each other.
            Collective::Alltoall => 2 * hosts..=2 * hosts,
            // Two to one and back, or all to all.
            _ => 2 * (hosts - 1)..=2 * hosts,
        };
        assert!(fewest.contains(&chosen), "{collective}: {chosen}");
    }
}

/// Ranks that have sent each other nothing leave at the same time: both sides of each pair open a
/// connection for their last packet.
#[test]
fn ranks_that_never_communicated_leave_at_the_same_time() {
    if shares().is_empty() {
        return;
    }
    let settings = Settings::new().ranks_per_segment(1);
    for _ in 0..20 {
        assert_eq!(on_ranks_with(5, &settings, |world| Ok(world.rank())), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn who_leaves_early_is_missed_by_nobody() {
    apart(&[4], |world| {
        if world.rank() == 1 {
            return Ok(()); // And drops its world.
        }
        if world.rank() != 2 {
            std::thread::sleep(Duration::from_millis(300));
        }
        let other = [3, 3, 3, 0][world.rank()];
        match world.rank() {
            2 => Ok(()),
            _ => {
                let mut got = [0];
                world.sendrecv((&[world.rank()], other, Tag(7)), (&mut got, other, Tag(7)))?;
                assert_eq!(got, [other]);
                Ok(())
            }
        }
    });
}

#[test]
fn a_message_to_one_that_has_left_is_an_error() {
    apart(&[2], |world| {
        if world.rank() == 0 {
            let mut got = [0_u8];
            let error = world.recv(&mut got, 1, Tag(5)).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::PeerLeft { rank: 1 }), "{error}");
        }
        Ok(())
    });
}

/// What others send moves time and again, which is no reason not to see that a rank has left.
#[test]
fn a_wait_for_one_that_has_left_ends_though_others_send() {
    let has_ended = AtomicBool::new(false);
    apart(&[3], |world| {
        has_ended.store(false, Ordering::Relaxed);
        world.barrier()?;
        let begun = Instant::now();
        match world.rank() {
            0 => {
                let mut got = [0_u8];
                let error = world.recv(&mut got, 2, Tag(5)).unwrap_err();
                has_ended.store(true, Ordering::Relaxed);
                assert!(matches!(error.kind(), ErrorKind::PeerLeft { rank: 2 }), "{error}");
                assert!(begun.elapsed() < Duration::from_secs(4), "it ended when nobody sent");
            }
            1 => {
                while !has_ended.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(5)
                {
                    let sent = Instant::now();
                    if world.send(&[1_u8], 0, Tag(6)).is_err() {
                        break; // the other one has seen it, and left
                    }
                    while sent.elapsed() < Duration::from_micros(100) {}
                }
            }
            _ => {}
        }
        Ok(())
    });
}

#[test]
fn a_panic_ends_all_waits_everywhere() {
    for &share in shares() {
        let _watchdog = Watchdog::start();
        let settings = Settings::new().ranks_per_segment(share);
        let begun = Instant::now();
        let ended = motet::threads_with(4, &settings, |world| {
            if world.rank() == 3 {
                world.barrier().unwrap();
                panic!("this is what the test is about");
            }
            world.barrier().unwrap();
            let error = world.barrier().unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::PeerFailed(failure)
                if failure.rank.0 == 3),
                "{error}"
            );
        });
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("rank 3 panicked"), "{error}");
        // By a word from the dying, not by its silence.
        assert!(begun.elapsed() < Duration::from_secs(9));
    }
}

/// Short messages in a row are held back to go together, and the first word to somebody needs a
/// connection, which is made by looks. Neither waits until its sender comes again.
#[test]
fn what_is_held_back_comes_though_its_sender_computes() {
    const COMPUTES: Duration = Duration::from_secs(1);
    let done = std::sync::Mutex::new(None);
    apart(&[3, 4], |world| {
        let (me, last) = (world.rank(), world.size() - 1);
        for count in [1, 1000] {
            world.barrier()?;
            if me == last {
                for value in 0..count {
                    world.send(&[value], 0, Tag(1))?;
                }
                let begun = Instant::now();
                *done.lock().unwrap() = Some(begun);
                while begun.elapsed() < COMPUTES {
                    std::hint::spin_loop();
                }
            } else if me == 0 {
                let mut got = [0];
                for value in 0..count {
                    world.recv(&mut got, last, Tag(1))?;
                    assert_eq!(got, [value]);
                }
                let late = done.lock().unwrap().map_or(Duration::ZERO, |done| done.elapsed());
                assert!(late < COMPUTES / 2, "the last of {count} came {late:?} late");
            }
            world.barrier()?;
            *done.lock().unwrap() = None;
        }
        Ok(())
    });
}

/// What waits for a rank that has died waits for ever, but nobody waits for that.
#[test]
fn what_waits_for_one_that_has_died_holds_up_nobody() {
    if shares().is_empty() {
        return;
    }
    let _watchdog = Watchdog::start();
    let begun = Instant::now();
    let ended = motet::threads_with(2, &Settings::new().ranks_per_segment(1), |world| {
        if world.rank() == 1 {
            panic!("this is what the test is about");
        }
        // More than there is room for, and the first one needs a connection.
        let sent: Vec<_> = (0..200).map(|_| world.isend(vec![1_u8; 100], 1, Tag(1))).collect();
        drop(sent);
    });
    assert!(ended.unwrap_err().to_string().contains("rank 1 panicked"));
    assert!(begun.elapsed() < Duration::from_secs(9));
}
