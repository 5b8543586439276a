//! A program on rsmpi: its collectives, its immediate ones, and topologies, with what must come
//! out.
//!
//! Nothing in it is about Motet: it is what a program looks like that was written for any MPI. Each
//! rank says at its end that all was right, and `.ci/rsmpi` counts them.

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::point_to_point;
use mpi::request;
use mpi::topology::{CartesianLayout, Color, SimpleCommunicator};
use mpi::traits::*;

const ROUNDS: usize = 10;

fn main() {
    let universe = mpi::initialize().expect("the first call");
    let world = universe.world();
    for round in 0..ROUNDS {
        world.barrier();
        moves(&world, round);
        reductions(&world);
        lists(&world);
        immediate_moves(&world, round);
        immediate_reductions(&world);
        immediate_lists(&world);
    }
    many_pending(&world);
    messages(&world);
    parts(&world);
    grid(&world);
    println!("rank {} of {}: all is right", world.rank(), world.size());
}

/// Which rank is the root this time.
fn root(world: &SimpleCommunicator, round: usize) -> i32 {
    round as i32 % world.size()
}

/// Ranks as numbers, in their order.
fn ranks(world: &SimpleCommunicator) -> Vec<i32> {
    (0..world.size()).collect()
}

fn moves(world: &SimpleCommunicator, round: usize) {
    let (rank, size, root_rank) = (world.rank(), world.size() as usize, root(world, round));
    let root = world.process_at_rank(root_rank);
    let mut text = if rank == root_rank { [round as u64, 2, 3] } else { [0; 3] };
    root.broadcast_into(&mut text);
    assert_eq!(text, [round as u64, 2, 3], "broadcast");

    let mut all = vec![-1; size];
    if rank == root_rank {
        root.gather_into_root(&rank, &mut all);
        assert_eq!(all, ranks(world), "gather");
    } else {
        root.gather_into(&rank);
    }

    let mut own = -1;
    if rank == root_rank {
        let squares: Vec<i32> = ranks(world).iter().map(|rank| rank * rank).collect();
        root.scatter_into_root(&squares, &mut own);
    } else {
        root.scatter_into(&mut own);
    }
    assert_eq!(own, rank * rank, "scatter");

    let mut all = vec![-1; size];
    world.all_gather_into(&rank, &mut all);
    assert_eq!(all, ranks(world), "all gather");

    let to_each: Vec<i32> = ranks(world).iter().map(|to| 100 * rank + to).collect();
    let mut from_each = vec![-1; size];
    world.all_to_all_into(&to_each, &mut from_each);
    let expected: Vec<i32> = ranks(world).iter().map(|from| 100 * from + rank).collect();
    assert_eq!(from_each, expected, "all to all");
}

fn reductions(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let mut sum = 0.0;
    world.all_reduce_into(&(f64::from(rank) + 0.5), &mut sum, SystemOperation::sum());
    assert_eq!(sum, f64::from(size * size) / 2.0, "all reduce");

    let root = world.process_at_rank(size - 1);
    if rank == size - 1 {
        let mut most = -1;
        root.reduce_into_root(&rank, &mut most, SystemOperation::max());
        assert_eq!(most, rank, "reduce");
    } else {
        root.reduce_into(&rank, SystemOperation::max());
    }

    let mut part = -1;
    world.reduce_scatter_block_into(&ranks(world), &mut part, SystemOperation::sum());
    assert_eq!(part, rank * size, "reduce scatter block");

    let mut before = -1;
    world.scan_into(&1, &mut before, SystemOperation::sum());
    assert_eq!(before, rank + 1, "scan");
    let mut before = -1;
    world.exclusive_scan_into(&1, &mut before, SystemOperation::sum());
    assert!(rank == 0 || before == rank, "exclusive scan: {before}");
}

/// Rank `r` has `r + 1` numbers: counts and displacements of all.
fn uneven(world: &SimpleCommunicator) -> (Vec<Count>, Vec<Count>) {
    let counts: Vec<Count> = (1..=world.size()).collect();
    let displacements = (0..world.size()).map(|rank| rank * (rank + 1) / 2).collect();
    (counts, displacements)
}

fn lists(world: &SimpleCommunicator) {
    let rank = world.rank();
    let (counts, displacements) = uneven(world);
    let total = counts.iter().sum::<Count>() as usize;
    let own = vec![rank; rank as usize + 1];
    let expected: Vec<i32> =
        ranks(world).into_iter().flat_map(|from| vec![from; from as usize + 1]).collect();

    let mut all = vec![-1; total];
    let mut parts = PartitionMut::new(&mut all[..], &counts[..], &displacements[..]);
    world.all_gather_varcount_into(&own[..], &mut parts);
    assert_eq!(all, expected, "all gather of lists");

    let root = world.process_at_rank(0);
    let mut back = vec![-1; own.len()];
    if rank == 0 {
        let parts = Partition::new(&expected[..], &counts[..], &displacements[..]);
        root.scatter_varcount_into_root(&parts, &mut back[..]);
    } else {
        root.scatter_varcount_into(&mut back[..]);
    }
    assert_eq!(back, own, "scatter of lists");
}

fn immediate_moves(world: &SimpleCommunicator, round: usize) {
    let (rank, size, root_rank) = (world.rank(), world.size() as usize, root(world, round));
    let root = world.process_at_rank(root_rank);
    world.immediate_barrier().wait();

    let mut value = if rank == root_rank { round as u64 } else { u64::MAX };
    request::scope(|scope| {
        root.immediate_broadcast_into(scope, &mut value).wait();
    });
    assert_eq!(value, round as u64, "immediate broadcast");

    let mut all = vec![-1; size];
    request::scope(|scope| {
        if rank == root_rank {
            root.immediate_gather_into_root(scope, &rank, &mut all[..]).wait();
        } else {
            root.immediate_gather_into(scope, &rank).wait();
        }
    });
    assert!(rank != root_rank || all == ranks(world), "immediate gather: {all:?}");

    let list = ranks(world);
    let mut own = -1;
    request::scope(|scope| {
        if rank == root_rank {
            root.immediate_scatter_into_root(scope, &list[..], &mut own).wait();
        } else {
            root.immediate_scatter_into(scope, &mut own).wait();
        }
    });
    assert_eq!(own, rank, "immediate scatter");

    let mut all = vec![-1; size];
    request::scope(|scope| {
        world.immediate_all_gather_into(scope, &rank, &mut all[..]).wait();
    });
    assert_eq!(all, list, "immediate all gather");

    let (same, mut each) = (vec![rank; size], vec![-1; size]);
    request::scope(|scope| {
        world.immediate_all_to_all_into(scope, &same[..], &mut each[..]).wait();
    });
    assert_eq!(each, list, "immediate all to all");
}

fn immediate_reductions(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (mut least, mut sum, mut part, mut upto) = (-1, -1, -1, -1);
    let list = ranks(world);
    request::scope(|scope| {
        world.immediate_all_reduce_into(scope, &rank, &mut least, SystemOperation::min()).wait();
    });
    request::scope(|scope| {
        let op = SystemOperation::sum();
        world.immediate_reduce_scatter_block_into(scope, &list[..], &mut part, op).wait();
    });
    request::scope(|scope| {
        world.immediate_scan_into(scope, &2, &mut upto, SystemOperation::product()).wait();
    });
    let root = world.process_at_rank(0);
    request::scope(|scope| {
        if rank == 0 {
            let op = SystemOperation::sum();
            root.immediate_reduce_into_root(scope, &rank, &mut sum, op).wait();
        } else {
            root.immediate_reduce_into(scope, &rank, SystemOperation::sum()).wait();
        }
    });
    assert_eq!((least, part, upto), (0, rank * size, 1 << (rank + 1)), "immediate reductions");
    assert!(rank != 0 || sum == size * (size - 1) / 2, "immediate reduce: {sum}");
}

fn immediate_lists(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size() as usize);
    let (counts, displacements) = uneven(world);
    // To each of the others as many numbers as it has ranks before and with it.
    let sent: Vec<i32> = (0..size).flat_map(|to| vec![rank; to + 1]).collect();
    let own = vec![rank + 1; size];
    let places: Vec<Count> = (0..size as Count).map(|from| from * (rank + 1)).collect();
    let mut received = vec![-1; size * (rank as usize + 1)];
    {
        let send = Partition::new(&sent[..], &counts[..], &displacements[..]);
        let mut receive = PartitionMut::new(&mut received[..], &own[..], &places[..]);
        request::scope(|scope| {
            world.immediate_all_to_all_varcount_into(scope, &send, &mut receive).wait();
        });
    }
    let expected: Vec<i32> =
        ranks(world).into_iter().flat_map(|from| vec![from; rank as usize + 1]).collect();
    assert_eq!(received, expected, "immediate all to all of lists");
}

/// Several operations at once, and completed in another order than they were started.
fn many_pending(world: &SimpleCommunicator) {
    let values: Vec<i64> = (0..64).map(|each| each * i64::from(world.rank())).collect();
    let mut sums = vec![0_i64; values.len()];
    request::scope(|scope| {
        let mut pending = Vec::new();
        for (value, sum) in values.iter().zip(&mut sums) {
            let op = SystemOperation::sum();
            pending.push(world.immediate_all_reduce_into(scope, value, sum, op));
        }
        while let Some(request) = pending.pop() {
            request.wait_without_status();
        }
    });
    let ranks: i64 = (0..i64::from(world.size())).sum();
    assert!(sums.iter().zip(0..).all(|(sum, each)| *sum == each * ranks), "{sums:?}");
}

/// Around a ring, as messages.
fn messages(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let (next, previous) = (world.process_at_rank(next), world.process_at_rank(previous));
    let mut text = [-1; 3];
    let status = point_to_point::send_receive_into(&[rank; 3], &previous, &mut text, &next);
    assert_eq!(text, [next.rank(); 3], "messages");
    assert_eq!(status.source_rank(), next.rank(), "status");
    assert_eq!(status.count(i32::equivalent_datatype()), 3, "status");
}

/// The world in parts, with collectives in each of them.
fn parts(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let part = world.split_by_color(Color::with_value(rank % 2)).expect("all have a colour");
    let members = (size + 1 - rank % 2) / 2;
    assert_eq!((part.size(), part.rank()), (members, rank / 2), "split");
    let mut sum = -1;
    part.all_reduce_into(&rank, &mut sum, SystemOperation::sum());
    assert_eq!(sum, (rank % 2..size).step_by(2).sum(), "all reduce in parts");
    let twin = part.duplicate();
    assert_eq!(twin.compare(&part), mpi::topology::CommunicatorRelation::Congruent);
    assert_eq!(world.group().size(), size);
}

/// A grid of two columns, whose rows end and whose columns are rings.
fn grid(world: &SimpleCommunicator) {
    let size = world.size();
    if size % 2 == 1 {
        return;
    }
    let dims = [size / 2, 2];
    let grid = world.create_cartesian_communicator(&dims, &[true, false], false);
    let grid = grid.expect("it has a place for each rank");
    let CartesianLayout { dims: is, periods, coords } = grid.get_layout();
    assert_eq!((&is[..], &periods[..]), (&dims[..], &[true, false][..]), "layout");
    assert_eq!(grid.rank_to_coordinates(grid.rank()), coords, "coordinates");
    let (left, right) = grid.shift(1, 1);
    assert_eq!((left.is_none(), right.is_none()), (coords[1] == 0, coords[1] == 1), "ends");
    let (up, down) = grid.shift(0, 1);
    assert!(up.is_some() && down.is_some(), "a ring");
    let row = grid.subgroup(&[false, true]);
    let mut columns = -1;
    row.all_reduce_into(&coords[1], &mut columns, SystemOperation::sum());
    assert_eq!((row.size(), columns), (2, 1), "rows");
}
