//! Which algorithm is taken, and what is said where a text is wrong.

mod cases;

use std::sync::Arc;

use cases::calls;
use motet_plan::cost::{DistancePattern, SendRecvCount};
use motet_plan::select::{Lesson, Overrides, Reason, Wisdom, choose, fixed};
use motet_plan::{
    AggregateWork, Block, Call, Collective, Cost, CostParams, NodeMap, Operation, Rank, Tuning,
    algo,
};

fn allreduce(ranks: u32, count: usize, commutative: bool) -> Call {
    calls(ranks, false, |_| Operation::Allreduce { count, commutative }).remove(0)
}

fn chosen(call: &Call, tuning: &Tuning) -> (&'static str, Reason) {
    let choice = choose(call, tuning).expect("the call can be planned");
    (choice.algorithm.name(), choice.reason)
}

fn wisdom(text: &str) -> Tuning {
    Tuning { wisdom: text.parse().expect("the text is wisdom"), ..Tuning::default() }
}

/// On cores of their own: few ranks do short data at one blow, many in rounds that double, and
/// long data goes where the fewest bytes travel.
#[test]
fn short_data_by_latency_and_long_data_by_bytes() {
    let tuning = Tuning::default();
    assert_eq!(chosen(&allreduce(4, 1, true), &tuning).0, "linear");
    assert_eq!(chosen(&allreduce(32, 1, true), &tuning).0, "recursive_doubling");
    assert_eq!(chosen(&allreduce(8, 1 << 13, true), &tuning).0, "reduce_scatter_allgather");
    // Halves are read where they lie in blocks; what is too long for a block costs more if several
    // copy it from one.
    assert_eq!(chosen(&allreduce(8, 1 << 17, true), &tuning).0, "reduce_scatter_allgather");
    assert_eq!(chosen(&allreduce(7, 1 << 17, true), &tuning).0, "linear_reduce_scatter_allgather");
    assert_eq!(chosen(&allreduce(8, 1 << 20, true), &tuning).0, "reduce_scatter_allgather");
    assert_eq!(chosen(&allreduce(65, 1 << 26, true), &tuning).0, "ring");
    let reduce = |ranks, count| {
        let operation = |_| Operation::Reduce { count, root: Rank(1), commutative: false };
        calls(ranks, false, operation).remove(0)
    };
    assert_eq!(chosen(&reduce(4, 1), &tuning).0, "linear");
    assert_eq!(chosen(&reduce(8, 1), &tuning).0, "binomial");
    assert_eq!(chosen(&reduce(8, 1 << 20), &tuning).0, "linear_reduce_scatter_gather");
    assert_eq!(chosen(&reduce(65, 1 << 20), &tuning).0, "binomial");
    let barrier = |ranks| calls(ranks, false, |_| Operation::Barrier).remove(0);
    assert_eq!(chosen(&barrier(4), &tuning).0, "linear");
    assert_eq!(chosen(&barrier(32), &tuning).0, "dissemination");
    let bcast =
        |ranks, count| calls(ranks, false, |_| Operation::Bcast { count, root: Rank(3) }).remove(0);
    assert_eq!(chosen(&bcast(4, 1), &tuning).0, "linear");
    assert_eq!(chosen(&bcast(32, 1), &tuning).0, "binomial");
    // Copied once for all, in several parts if it is too long for one.
    assert_eq!(chosen(&bcast(8, 1 << 13), &tuning).0, "linear");
    assert_eq!(chosen(&bcast(8, 1 << 20), &tuning).0, "segmented_linear");
    assert_eq!(chosen(&bcast(65, 1 << 20), &tuning).0, "binomial");
    let allgather =
        |ranks, count| calls(ranks, false, |_| Operation::Allgather { count }).remove(0);
    assert_eq!(chosen(&allgather(4, 1), &tuning).0, "linear");
    assert_eq!(chosen(&allgather(32, 1), &tuning).0, "recursive_doubling");
    assert_eq!(chosen(&allgather(31, 1), &tuning).0, "bruck");
    // As many bytes as by the ring, which has no limit of ranks, and less waiting; but if they are
    // too long for a block, those who copy from one rank wait for each other.
    assert_eq!(chosen(&allgather(31, 1 << 16), &tuning).0, "linear");
    assert_eq!(chosen(&allgather(31, 1 << 20), &tuning).0, "ring");
    assert_eq!(chosen(&allgather(32, 1 << 20), &tuning).0, "recursive_doubling");
    assert_eq!(chosen(&allgather(65, 1 << 20), &tuning).0, "ring");
}

/// Blocks that are moved and not reduced: few ranks at one blow, many by trees or by doubling as
/// long as blocks are short, and where the direct form has too many ranks, in as many rounds.
#[test]
fn blocks_by_their_length_and_the_number_of_ranks() {
    let root = Rank(0);
    let name = |ranks, operation: Operation| {
        chosen(&calls(ranks, false, |_| operation.clone()).remove(0), &Tuning::default()).0
    };
    assert_eq!(name(4, Operation::Gather { count: 1, root }), "linear");
    assert_eq!(name(64, Operation::Gather { count: 1, root }), "binomial");
    assert_eq!(name(64, Operation::Gather { count: 1 << 16, root }), "linear");
    assert_eq!(name(4, Operation::Scatter { count: 1, root }), "linear");
    // One rank does not know the blocks of others, so data has no price; two ranks swap at once,
    // and need no copies first.
    let count = 1 << 16;
    let blocks: Arc<[_]> = [0, count].map(|start| Block { start, count }).into();
    let own = |_| Operation::Alltoallv { to: blocks.clone(), from: blocks.clone() };
    assert_eq!(chosen(&calls(2, false, own).remove(0), &Tuning::default()).0, "linear");
    assert_eq!(name(64, Operation::Scatter { count: 1, root }), "binomial");
    assert_eq!(name(64, Operation::Scatter { count: 1 << 16, root }), "linear");
    assert_eq!(name(4, Operation::Alltoall { count: 1 }), "linear");
    assert_eq!(name(32, Operation::Alltoall { count: 1 }), "bruck");
    assert_eq!(name(32, Operation::Alltoall { count: 1 << 16 }), "linear");
    assert_eq!(name(65, Operation::Alltoall { count: 1 }), "bruck");
    assert_eq!(name(65, Operation::Alltoall { count: 1 << 16 }), "pairwise");
}

/// What reduces and leaves a part at each rank: an order that must be kept costs at most a copy.
#[test]
fn parts_of_reductions_by_their_length_and_the_number_of_ranks() {
    let name = |ranks, operation: Operation| {
        chosen(&calls(ranks, false, |_| operation.clone()).remove(0), &Tuning::default()).0
    };
    let scattered = |count, commutative| Operation::ReduceScatterBlock { count, commutative };
    assert_eq!(name(4, scattered(1, true)), "linear");
    assert_eq!(name(64, scattered(1, true)), "recursive_halving");
    assert_eq!(name(64, scattered(1, false)), "recursive_halving");
    assert_eq!(name(67, scattered(1 << 16, true)), "ring");
    assert_eq!(name(67, scattered(1 << 16, false)), "recursive_halving");
    for commutative in [false, true] {
        let scan = |count| Operation::Scan { count, commutative };
        let exscan = |count| Operation::Exscan { count, commutative };
        assert_eq!((name(4, scan(1)), name(4, exscan(1))), ("linear", "linear"));
        let doubling = ("recursive_doubling", "recursive_doubling");
        assert_eq!((name(32, scan(1)), name(32, exscan(1))), doubling);
        assert_eq!((name(8, scan(1 << 20)), name(8, exscan(1 << 20))), doubling);
    }
}

/// 16 ranks on 2 cores: what counts is what all do together. So short data goes by the star, with
/// 30 messages and one wait for each rank, and not directly (240 messages) or by doubling (four
/// waits for each). Half a MiB is reduced and sent on in a tree, which took 0.72 of the time of a
/// reduce-scatter and an allgather. Longer data takes as few bytes as possible.
#[test]
fn ranks_that_share_cores_save_messages_and_waits() {
    let machine = CostParams::default();
    let on = |cores| Tuning { machine: machine.shared(16, cores), ..Tuning::default() };
    let (short, long) = (allreduce(16, 1, true), allreduce(16, 1 << 16, true));
    assert_eq!(chosen(&short, &on(2)).0, "via_root");
    assert_eq!(chosen(&long, &on(2)).0, "tree");
    let longer = chosen(&allreduce(16, 1 << 18, true), &on(2)).0;
    assert_eq!(longer, "linear_reduce_scatter_allgather");
    assert_ne!(chosen(&short, &on(16)).0, "via_root");
    assert_eq!(chosen(&long, &on(16)).0, "reduce_scatter_allgather");
    // The rank in the middle has one end of each message, and others have the other.
    assert_eq!(chosen(&allreduce(16, 2 << 10, true), &on(2)).0, "via_root");
    let barrier = calls(16, false, |_| Operation::Barrier).remove(0);
    assert_eq!(chosen(&barrier, &on(2)).0, "via_root");
    assert_ne!(chosen(&barrier, &on(16)).0, "via_root");
    // Data that flows one way never comes to a point where all wait for one rank: what counts is
    // how many messages all send, and a chain has the fewest.
    let scan = Operation::Scan { count: 1, commutative: true };
    let scan = calls(16, false, |_| scan.clone()).remove(0);
    assert_eq!(chosen(&scan, &on(2)).0, "chain");
    assert_eq!(chosen(&scan, &on(16)).0, "recursive_doubling");
}

/// On two cores each rank of a scan by a chain fetches one message, where the last of a linear one
/// fetches and reduces all; and blocks that are too long to stay in a cache are swapped directly
/// with each rank, since those of the same core are as far away as the others.
#[test]
fn ranks_that_share_cores_fetch_long_data_once() {
    let machine = CostParams::default();
    let name = |ranks, operation: Operation| {
        let tuning = Tuning { machine: machine.shared(ranks as usize, 2), ..Tuning::default() };
        chosen(&calls(ranks, false, |_| operation.clone()).remove(0), &tuning).0
    };
    for ranks in [3, 4, 8] {
        assert_eq!(name(ranks, Operation::Scan { count: 1 << 17, commutative: true }), "chain");
        let bcast = name(ranks, Operation::Bcast { count: 1 << 17, root: Rank(0) });
        assert_eq!(bcast, "segmented_linear");
    }
    for (ranks, count) in [(8, 1 << 15), (16, 1 << 15), (4, 1 << 17)] {
        assert_eq!(name(ranks, Operation::Allgather { count }), "linear");
    }
    assert_eq!(name(4, Operation::Allgather { count: 1 << 10 }), "recursive_doubling");
}

/// 4 ranks on 2 cores of one machine, without common memory: to send takes the time, so a root
/// that sends has help, and one that receives does not; and rounds of pairs have fewer messages
/// than all to all. On machines of their own it is the way through the network.
#[test]
fn ranks_apart_on_one_machine_save_sends() {
    let shared = CostParams::default().shared(4, 2);
    let one = Tuning { machine: shared.on_one_machine(), ..Tuning::default() };
    let several = Tuning { machine: shared, ..Tuning::default() };
    let root = Rank(0);
    for (operation, on_one, on_several) in [
        (Operation::Bcast { count: 1, root }, "binomial", "linear"),
        (Operation::Reduce { count: 1, root, commutative: true }, "linear", "linear"),
        (Operation::Scan { count: 1, commutative: true }, "chain", "linear"),
        (Operation::Allgather { count: 1 }, "recursive_doubling", "linear"),
    ] {
        let mut call = calls(4, false, |_| operation.clone()).remove(0);
        call.nodes = NodeMap::new(0..4);
        assert_eq!(chosen(&call, &one).0, on_one, "{operation:?}");
        assert_eq!(chosen(&call, &several).0, on_several, "{operation:?}");
    }
}

/// Two ranks with a core each: one round for all of the data up to sizes at which a round is
/// nothing, then two for half of it each.
#[test]
fn two_ranks_swap_all_they_have_while_rounds_count() {
    let name = |count| chosen(&allreduce(2, count, true), &Tuning::default()).0;
    for bytes in [8, 512, 4 << 10, 32 << 10, 64 << 10] {
        assert_eq!(name(bytes / 8), "recursive_doubling", "{bytes} bytes");
    }
    assert_ne!(name(1 << 17), "recursive_doubling");
}

/// Between groups: few ranks and short data at one blow, many by leaders or by halving, and long
/// data in runs that all ranks work on.
#[test]
fn between_groups_by_the_length_and_the_number_of_ranks() {
    let commutative = true;
    let name = |ranks, operation: Operation| {
        chosen(&calls(ranks, false, |_| operation.clone()).remove(0), &Tuning::default()).0
    };
    assert_eq!(name(4, Operation::InterBarrier { left: 1 }), "linear");
    assert_eq!(name(64, Operation::InterBarrier { left: 32 }), "dissemination");
    let allgather = |left, count| Operation::InterAllgather { left, counts: [count; 2] };
    assert_eq!(name(4, allgather(2, 1)), "linear");
    assert_eq!(name(100, allgather(50, 1)), "leaders");
    let allreduce = |left, count| Operation::InterAllreduce { left, count, commutative };
    assert_eq!(name(4, allreduce(2, 1)), "linear");
    assert_eq!(name(32, allreduce(16, 1)), "linear");
    assert_eq!(name(100, allreduce(50, 1)), "leaders");
    assert_eq!(name(16, allreduce(8, 1 << 20)), "reduce_scatter_allgather");
    let reduce = |left, count| Operation::InterReduce { left, count, root: Rank(0), commutative };
    assert_eq!(name(4, reduce(2, 1)), "linear");
    assert_eq!(name(64, reduce(32, 1)), "leaders");
    assert_eq!(name(16, reduce(8, 1 << 20)), "reduce_scatter_gather");
    // The root's own group does not matter, however large.
    assert_eq!(name(34, reduce(32, 1)), "linear");
    let scattered =
        |left, count| Operation::InterReduceScatterBlock { left, counts: [count; 2], commutative };
    assert_eq!(name(4, scattered(2, 1)), "linear");
    assert_eq!(name(64, scattered(32, 1)), "recursive_halving");
    let lists = |ranks: usize, count| Operation::InterReduceScatter {
        left: ranks as u32 / 2,
        counts: vec![count; ranks / 2].into(),
        commutative,
    };
    assert_eq!(name(4, lists(4, 1)), "linear");
    assert_eq!(name(16, lists(16, 1 << 16)), "recursive_halving");
}

/// Only where there are more ranks than cores, and then by how many, hand-overs and work count.
#[test]
fn shared_cores_make_work_and_hand_overs_count() {
    let own = CostParams::default();
    let (cost, work) = (
        Cost { rounds: 1, ..Cost::default() },
        AggregateWork { ranks: 4, waits: 4, messages: 8, ..AggregateWork::default() },
    );
    for (ranks, cores) in [(0, 0), (1, 0), (1, 1), (16, 16), (3, 16)] {
        let time = own.shared(ranks, cores).time(&cost, &work);
        assert_eq!(time, own.latency_ns, "{ranks} ranks, {cores} cores");
    }
    let time = |cores, work: &AggregateWork| own.shared(4, cores).time(&cost, work);
    let (send, hand_over) = (own.send_ns, own.context_switch_ns);
    assert_eq!(time(2, &work), 4.0 * send + 2.0 * hand_over + hand_over);
    // Two ranks more on the core, each of which makes a hand-over dearer.
    assert_eq!(time(1, &work), 8.0 * send + (4.0 + 1.0) * 1.5 * hand_over);
    // Who waits for the second time finds more often that others have run.
    let twice = AggregateWork { waits: 8, ..work };
    assert_eq!(time(2, &twice), time(2, &work) + 2.0 * 0.5 * hand_over);
    // What flows one way takes the time of the core whose ranks are the busiest and another one:
    // of 16 ends 10, and then 2 of the 6 that the three others have.
    let flow = AggregateWork { waits: 0, busiest: SendRecvCount::new(10, 0), ..work };
    assert_eq!(time(1, &flow), 8.0 * send);
    assert_eq!(time(2, &flow), 8.0 * send * 12.0 / 16.0);
    // Others, which are not in the call, want the cores as well.
    assert_eq!(own.shared(8, 2).time(&cost, &work), time(1, &work));
}

/// Ranks take the cores in turns, so those at a distance of a multiple of the cores share one, and
/// what they send each other is copied in and out, with no way from core to core.
#[test]
fn ranks_that_share_a_core_have_cheaper_bytes() {
    let free = CostParams { send_ns: 0.0, context_switch_ns: 0.0, ..CostParams::default() };
    let machine = CostParams { copy_ns_per_byte: 0.01, ..free }.shared(8, 2);
    let bytes = 7 << 16;
    let far = AggregateWork { ranks: 8, waits: 8, messages: 7, bytes, ..AggregateWork::default() };
    let time = |reach| machine.time(&Cost::default(), &far.reaching(reach));
    let all_far = time(DistancePattern::Neighbours);
    let all_near = 2.0 * bytes as f64 * 0.01 / 2.0;
    assert!(all_near < all_far);
    let near_share = |reach| (all_far - time(reach)) / (all_far - all_near);
    // Of 7 others 3; distances 2 and 4 of 1, 2 and 4; in blocks, 6 of 7 or 3 of 7.
    for (reach, expected) in [
        (DistancePattern::Neighbours, 0.0),
        (DistancePattern::Alike, 3.0 / 7.0),
        (DistancePattern::Doubling, 2.0 / 3.0),
        (DistancePattern::Halving, 6.0 / 7.0),
    ] {
        let share = near_share(reach);
        assert!((share - expected).abs() < 1e-9, "{reach:?}: {share}, not {expected}");
    }
    assert!(near_share(DistancePattern::Growing) > near_share(DistancePattern::Doubling));
    assert!(near_share(DistancePattern::Shrinking) < near_share(DistancePattern::Doubling));
    // With a core for each rank none is near.
    let alone = machine.shared(8, 8);
    assert_eq!(alone.time(&Cost::default(), &far.reaching(DistancePattern::Doubling)), 0.0);
}

/// 4 ranks in pairs on 2 cores: two rounds of pairs, one of them on the same core, beat all others
/// up to the longest blocks, where operands are read as they lie; then the data is cut. Among 8
/// and 16 one rank that does it all saves hand-overs, until the data is so long that what counts is
/// that both cores reduce.
#[test]
fn few_ranks_on_a_core_meet_in_pairs() {
    let name = |ranks, bytes: usize| {
        let tuning =
            Tuning { machine: CostParams::default().shared(ranks, 2), ..Tuning::default() };
        chosen(&allreduce(ranks as u32, bytes / 8, true), &tuning).0
    };
    for bytes in [512, 4 << 10] {
        assert_eq!(name(4, bytes), "recursive_doubling", "{bytes} bytes");
        assert_eq!(name(8, bytes), "via_root", "{bytes} bytes");
        assert_eq!(name(16, bytes), "via_root", "{bytes} bytes");
    }
    assert_eq!((name(8, 16 << 10), name(16, 16 << 10)), ("tree", "via_root"));
    assert_eq!((name(8, 64 << 10), name(16, 64 << 10)), ("tree", "tree"));
    assert_eq!(name(4, 16 << 10), "recursive_doubling");
    assert_eq!(name(4, 64 << 10), "recursive_doubling");
    assert_ne!(name(4, 128 << 10), "recursive_doubling");
}

/// Of 3 ranks on 2 cores two share one, which has two thirds of all work: pairs, which do the
/// least, are the fastest unless the data is short. Among 5 to 7 all wait while some of them fold.
#[test]
fn numbers_that_are_no_power_of_two_have_a_busiest_core_and_wait_for_those_who_fold() {
    let name = |ranks, bytes: usize| {
        let tuning =
            Tuning { machine: CostParams::default().shared(ranks, 2), ..Tuning::default() };
        chosen(&allreduce(ranks as u32, bytes / 8, true), &tuning).0
    };
    for bytes in [32 << 10, 64 << 10] {
        assert_eq!(name(3, bytes), "recursive_doubling", "{bytes} bytes");
    }
    assert_eq!(name(3, 1 << 10), "linear");
    for ranks in [5, 6, 7] {
        for bytes in [8, 1 << 10, 4 << 10] {
            assert_ne!(name(ranks, bytes), "recursive_doubling", "{ranks} ranks, {bytes} bytes");
        }
    }
}

/// What is halved goes in blocks for the most part, and is read there, as all of the direct way is.
/// Among more ranks, or of longer blocks, what comes into one place after the other is what stays
/// in a cache.
#[test]
fn blocks_are_reduced_by_halves_or_in_turn_where_ranks_share_cores() {
    let name = |ranks: u32, bytes: usize| {
        let machine = CostParams::default().shared(ranks as usize, 2);
        let operation = Operation::ReduceScatterBlock { count: bytes / 8, commutative: true };
        let call = Call { operation, ..allreduce(ranks, 1, true) };
        chosen(&call, &Tuning { machine, ..Tuning::default() }).0
    };
    assert_eq!(name(4, 64 << 10), "recursive_halving");
    assert_eq!(name(8, 32 << 10), "recursive_halving");
    for ranks in [8, 16] {
        assert_eq!(name(ranks, 1 << 10), "recursive_halving", "{ranks} ranks");
        assert_eq!(name(ranks, 64 << 10), "pairwise", "{ranks} ranks");
    }
}

/// Where ranks share cores and the operator commutes, those of one core reduce among themselves
/// first. That is no cheaper where each rank has a core, nor by the fixed prices: there the order
/// stays that of the ranks, and the result the same as ever.
#[test]
fn ranks_of_one_core_reduce_among_themselves_first() {
    let name = |machine: CostParams, ranks: u32, operation: Operation| {
        let call = Call { operation, ..allreduce(ranks, 1, true) };
        chosen(&call, &Tuning { machine, ..Tuning::default() }).0
    };
    let reduce = |bytes: usize, commutative: bool| {
        let (count, root) = (bytes / 8, Rank(0));
        Operation::Reduce { count, root, commutative }
    };
    for ranks in [4, 8, 16] {
        let shared = CostParams::default().shared(ranks as usize, 2);
        for bytes in [1 << 10, 8 << 10, 64 << 10] {
            assert_eq!(name(shared, ranks, reduce(bytes, true)), "distance_halving");
            assert_ne!(name(shared, ranks, reduce(bytes, false)), "distance_halving");
            assert_ne!(name(CostParams::default(), ranks, reduce(bytes, true)), "distance_halving");
            assert_ne!(name(CostParams::FIXED, ranks, reduce(bytes, true)), "distance_halving");
        }
        let allreduce = |bytes: usize| allreduce(ranks, bytes / 8, true).operation;
        let far = if ranks == 4 { "recursive_doubling" } else { "tree" };
        assert_eq!(name(shared, ranks, allreduce(64 << 10)), far, "{ranks} ranks");
        assert_ne!(name(shared, ranks, allreduce(1 << 10)), "tree", "{ranks} ranks");
        for bytes in [8, 1 << 10, 64 << 10, 1 << 20] {
            assert_ne!(name(CostParams::default(), ranks, allreduce(bytes)), "tree");
            assert_ne!(name(CostParams::FIXED, ranks, allreduce(bytes)), "tree");
        }
    }
}

/// What flows through a tree is sent on by ranks that wait for it first, and fetched from the cache
/// of another core. Ranks that send to the root do not wait; blocks are spared.
#[test]
fn what_is_sent_on_is_dearer_where_ranks_share_cores() {
    let name = |ranks: u32, operation: Operation| {
        let machine = CostParams::default().shared(ranks as usize, 2);
        let call = Call { operation, ..allreduce(ranks, 1, true) };
        chosen(&call, &Tuning { machine, ..Tuning::default() }).0
    };
    let (root, commutative) = (Rank(0), false);
    let reduce = |bytes: usize| Operation::Reduce { count: bytes / 8, root, commutative };
    for ranks in [4, 8, 16] {
        assert_eq!(name(ranks, reduce(8)), "linear", "{ranks} ranks");
        assert_eq!(name(ranks, reduce(8 << 10)), "linear", "{ranks} ranks");
        assert_eq!(name(ranks, reduce(16 << 10)), "binomial", "{ranks} ranks");
    }
    let bcast = |bytes: usize| Operation::Bcast { count: bytes / 8, root };
    assert_eq!(name(4, bcast(256 << 10)), "linear");
    // What flows nowhere takes no time to be sent on.
    let machine = CostParams::default().shared(8, 2);
    let nothing = AggregateWork { ranks: 1, ..AggregateWork::default() };
    assert_eq!(machine.time(&Cost::default(), &nothing), 0.0);
}

/// Operands that flow one way are read where they lie, up to the longest block; of pieces, which
/// are exchanged, they are copied. With 2 ranks each has a core.
#[test]
fn long_operands_are_cut_in_pieces_if_they_go_in_no_block() {
    for ranks in [2, 4] {
        let machine = CostParams::default().shared(ranks as usize, 2);
        for (bytes, expected) in
            [(512 << 10, "binomial"), (1 << 20, "linear_reduce_scatter_gather")]
        {
            let (count, root, commutative) = (bytes / 8, Rank(0), false);
            let operation = Operation::Reduce { count, root, commutative };
            let call = Call { operation, ..allreduce(ranks, 1, true) };
            let chosen = chosen(&call, &Tuning { machine, ..Tuning::default() }).0;
            assert_eq!(chosen, expected, "{ranks} ranks, {bytes} bytes");
        }
    }
}

/// A copy that a sender makes once for several receivers saves the more the more of these share a
/// core: one of them fetches it from another cache.
#[test]
fn one_copy_for_several_saves_more_where_more_ranks_share_a_core() {
    let name = |ranks: u32, bytes: usize| {
        let machine = CostParams::default().shared(ranks as usize, 2);
        let operation = Operation::Allgather { count: bytes / 8 };
        let call = Call { operation, ..allreduce(ranks, 1, true) };
        chosen(&call, &Tuning { machine, ..Tuning::default() }).0
    };
    for bytes in [16 << 10, 32 << 10, 64 << 10] {
        assert_eq!(name(4, bytes), "recursive_doubling", "{bytes} bytes");
    }
    assert_eq!(name(8, 64 << 10), "linear");
}

/// Bytes are priced by the size of the messages that they come in.
#[test]
fn bytes_cost_what_was_measured_for_their_size() {
    let mut machine = CostParams { latency_ns: 0.0, send_ns: 0.0, ..CostParams::default() };
    machine.bytes_ns =
        [10.0, 100.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 6400.0, 25600.0, 102_400.0];
    let time = |rounds, bytes| {
        machine.time(&Cost { rounds, bytes, ..Cost::default() }, &AggregateWork::default())
    };
    assert_eq!((time(1, 0), time(1, 32), time(1, 64), time(1, 512)), (0.0, 5.0, 10.0, 100.0));
    assert_eq!((time(1, 2048), time(2, 128), time(1, 8 << 20)), (100.0, 20.0, 204_800.0));
    assert_eq!(time(0, 64), 10.0, "in nobody knows how many messages");
}

#[test]
fn the_model_names_the_runner_up() {
    let machine = CostParams { latency_ns: 1000.0, send_ns: 100.0, ..CostParams::default() };
    let tuning = Tuning { machine, ..Tuning::default() };
    let (_, reason) = chosen(&allreduce(4, 0, false), &tuning);
    let runner_up = Some(("recursive_doubling", 2000.0));
    assert_eq!(reason, Reason::Cost { nanoseconds: 1360.0, runner_up });
    assert_eq!(reason.to_string(), "1360 ns by the model; recursive_doubling takes 2000 ns");
}

/// What a machine costs is written as it is read, in lines or in one.
#[test]
fn prices_are_written_as_they_are_read() {
    let mut machine =
        CostParams { latency_ns: 123.5, context_switch_ns: 0.0, ..CostParams::default() };
    machine.bytes_ns[3] = 1e6;
    assert_eq!(machine.to_string().parse(), Ok(machine));
    assert_eq!(machine.line().parse(), Ok(machine));
    assert_eq!("".parse(), Ok(CostParams::default()));
    let text = "# here\n\n  send = 7.5  # ns\nmessage   4096=3;;latency = 4\n";
    let read: CostParams = text.parse().expect("the text has prices");
    assert_eq!((read.send_ns, read.bytes_ns[2], read.latency_ns), (7.5, 3.0, 4.0));
    assert_eq!(read.copy_ns_per_byte, CostParams::default().copy_ns_per_byte);
}

#[test]
fn a_price_that_is_wrong_is_named_with_its_line() {
    let problem = |text: &str| text.parse::<CostParams>().unwrap_err().to_string();
    assert_eq!(
        problem("send = 1\nlatency"),
        "line 2: `latency` is not of the form name = nanoseconds"
    );
    assert!(
        problem("speed = 1").starts_with("line 1: `speed = 1` names no price; there are latency,")
    );
    assert!(problem("message 100 = 1").contains("names no price"));
    for wrong in ["send = -1", "send = fast", "send = NaN", "send = inf", "send = 1e13", "send ="] {
        let text = problem(&format!("\n{wrong}"));
        assert!(text.starts_with("line 2: `send") && text.contains("has no number"), "{text}");
    }
    assert_eq!(problem("send=1;\nsend=2"), "line 2: `send=2` names a price for the second time");
}

#[test]
fn an_override_comes_first_and_the_last_one_counts() {
    let mut tuning = wisdom("allreduce -> reduce_scatter_allgather");
    tuning.overrides =
        "bcast=binomial; allreduce=recursive_doubling,allreduce = ring".parse().unwrap();
    assert_eq!(chosen(&allreduce(4, 1, true), &tuning), ("ring", Reason::Override));
}

#[test]
fn an_override_may_be_written_with_a_colon() {
    let parsed = |text: &str| text.parse::<Overrides>().expect("the text is an override");
    assert_eq!(parsed("allreduce:ring"), parsed("allreduce=ring"));
    assert_eq!(parsed("bcast: binomial; allreduce=ring"), parsed("bcast=binomial,allreduce:ring"));
    let error = "allreduce:rung".parse::<Overrides>().unwrap_err().to_string();
    assert!(error.contains("allreduce has no algorithm `rung`"), "{error}");
}

#[test]
fn an_override_that_refuses_is_an_error() {
    let overrides = "allreduce=ring".parse().unwrap();
    let tuning = Tuning { overrides, ..Tuning::default() };
    let error = choose(&allreduce(4, 1, false), &tuning).unwrap_err();
    let text = error.to_string();
    let parts =
        ["allreduce=ring was asked for by name", "MOTET_ALGORITHM", "operator that commutes"];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    let overrides = "allreduce=linear".parse().unwrap();
    let tuning = Tuning { overrides, ..Tuning::default() };
    let error = choose(&allreduce(65, 1, true), &tuning).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("refuses this call: it is for at most 64 ranks, not 65"), "{text}");
}

#[test]
fn wisdom_applies_within_its_ranges() {
    let tuning = wisdom(
        "# learned\n\
         allreduce ranks=2..4 bytes=8..64 -> ring   # both ends included\n\
         \n\
         allreduce bytes=..8 -> reduce_scatter_allgather\n\
         allreduce ranks=9 -> ring",
    );
    let line = |line| Reason::Wisdom(line);
    assert_eq!(chosen(&allreduce(4, 8, true), &tuning), ("ring", line(2)));
    assert_eq!(chosen(&allreduce(4, 1, true), &tuning), ("ring", line(2)));
    assert_eq!(chosen(&allreduce(5, 1, true), &tuning), ("reduce_scatter_allgather", line(4)));
    assert_eq!(chosen(&allreduce(9, 2, true), &tuning), ("ring", line(5)));
    assert!(matches!(chosen(&allreduce(4, 9, true), &tuning).1, Reason::Cost { .. }));
}

/// Wisdom that is wrong for a call does no harm.
#[test]
fn wisdom_that_refuses_is_passed_over() {
    let tuning = wisdom("allreduce -> ring\nallreduce -> reduce_scatter_allgather");
    let found = chosen(&allreduce(4, 1, false), &tuning);
    assert_eq!(found, ("reduce_scatter_allgather", Reason::Wisdom(2)));
}

#[test]
fn wisdom_is_written_as_it_is_read() {
    let text =
        "allreduce ranks=2..64 bytes=0.. -> ring\nbarrier ranks=0.. bytes=3..3 -> dissemination\n";
    let wisdom: Wisdom = text.parse().unwrap();
    assert_eq!(wisdom.to_string(), text);
}

/// Of a text with mistakes the other lines are taken, with what stands behind a `#`.
#[test]
fn lines_that_cannot_be_read_are_passed_over() {
    let text = "allreduce -> ring # 3 µs\nno wisdom\nbcast bytes=9..1 -> linear\nbarrier -> linear";
    let (wisdom, wrong) = Wisdom::read(text);
    assert_eq!(
        wisdom.to_string(),
        "allreduce ranks=0.. bytes=0.. -> ring # 3 µs\nbarrier ranks=0.. bytes=0.. -> linear\n"
    );
    let wrong: Vec<_> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong[0].starts_with("line 2: `no wisdom` is not of the form"), "{wrong:?}");
    assert!(wrong[1].starts_with("line 3: `9..1` is not a range"), "{wrong:?}");
}

fn lesson(name: &str, bytes: usize) -> Lesson {
    let algorithm = algo::find(Collective::Allreduce, name).expect("there is one");
    Lesson { algorithm, ranks: 4, bytes, note: format!("{bytes} ns") }
}

/// What is learned later counts first, and what is known is not put down twice.
/// What was written while algorithms had other names is read, and written with the present names.
#[test]
fn wisdom_with_former_names_is_read() {
    let former = "allreduce ranks=4..4 bytes=8..64 -> pieces # 8 ns .. 64 ns\n\
                  reduce -> pieces\nbcast -> segments\nbarrier -> star\n\
                  allgather -> by_node\nnode_exchange -> gateways\nscan -> direct\n";
    let wisdom: Wisdom = former.parse().unwrap();
    assert_eq!(
        wisdom.to_string(),
        "allreduce ranks=4..4 bytes=8..64 -> linear_reduce_scatter_allgather # 8 ns .. 64 ns\n\
         reduce ranks=0.. bytes=0.. -> linear_reduce_scatter_gather\n\
         bcast ranks=0.. bytes=0.. -> segmented_linear\n\
         barrier ranks=0.. bytes=0.. -> via_root\n\
         allgather ranks=0.. bytes=0.. -> hierarchical\n\
         node_exchange ranks=0.. bytes=0.. -> three_step\n\
         scan ranks=0.. bytes=0.. -> linear\n"
    );
    assert!("allreduce=pieces,bcast=segments".parse::<Overrides>().is_ok());
    assert!("bcast=pieces".parse::<Overrides>().is_err());
}

#[test]
fn wisdom_grows_by_lessons() {
    let mut wisdom: Wisdom = "allreduce ranks=4 bytes=8..64 -> ring".parse().unwrap();
    wisdom.learn(lesson("ring", 16));
    assert_eq!(wisdom.to_string().lines().count(), 1, "known already: {wisdom}");
    wisdom.learn(lesson("linear", 16));
    let tuning = Tuning { wisdom: wisdom.clone(), ..Tuning::default() };
    assert_eq!(chosen(&allreduce(4, 2, true), &tuning), ("linear", Reason::Wisdom(1)));
    assert_eq!(chosen(&allreduce(4, 3, true), &tuning), ("ring", Reason::Wisdom(2)));
    wisdom.learn(lesson("ring", 16));
    assert_eq!(wisdom.to_string().lines().count(), 2, "the newer one replaces: {wisdom}");
    let mut older: Wisdom = "allreduce -> linear\nbarrier -> linear".parse().unwrap();
    older.absorb(&wisdom);
    older.absorb(&wisdom);
    assert_eq!(
        older.to_string(),
        "allreduce ranks=4..4 bytes=8..64 -> ring\n\
         allreduce ranks=0.. bytes=0.. -> linear\n\
         barrier ranks=0.. bytes=0.. -> linear\n"
    );
}

/// Sizes side by side with the same algorithm make one line; lines that overlap stay as they are,
/// since their order means something.
#[test]
fn lessons_are_joined() {
    let mut wisdom = Wisdom::default();
    for (name, bytes) in [("ring", 4096), ("linear", 8), ("linear", 64), ("ring", 512)] {
        wisdom.learn(lesson(name, bytes));
    }
    let joined = wisdom.clone().joined();
    assert_eq!(
        joined.to_string(),
        "allreduce ranks=4..4 bytes=8..64 -> linear # 8 ns .. 64 ns\n\
         allreduce ranks=4..4 bytes=512..4096 -> ring # 512 ns .. 4096 ns\n"
    );
    let mut overlapping = joined;
    overlapping.learn(lesson("ring", 16));
    assert_eq!(overlapping.clone().joined(), overlapping);
}

/// The figures of a plan: rank 0 of 8 sends to three others in a binomial broadcast, and the root
/// waits for nobody; in a doubling each message waits for the one before.
#[test]
fn plans_are_counted() {
    let bcast = calls(8, false, |_| Operation::Bcast { count: 5, root: Rank(0) });
    let plan = |call: &Call, name| {
        let row = algo::find(call.collective(), name).expect("there is one");
        row.plan(call).expect("it accepts the call")
    };
    let root = plan(&bcast[0], "binomial");
    assert_eq!((root.sent().messages, root.sent().elements, root.received().messages), (3, 15, 0));
    assert_eq!(root.rounds(), 1);
    assert_eq!(plan(&bcast[4], "binomial").rounds(), 2);
    let sum = plan(&allreduce(8, 1, true), "recursive_doubling");
    assert_eq!((sum.sent().messages, sum.received().elements), (3, 3));
    assert!(sum.rounds() >= 2 && sum.rounds() <= 6, "{}", sum.rounds());
}

#[test]
fn what_is_wrong_in_a_text_is_named() {
    let of_wisdom = |text: &str| text.parse::<Wisdom>().unwrap_err().to_string();
    let of_override = |text: &str| text.parse::<Overrides>().unwrap_err().to_string();
    assert_eq!(of_override("allreduce"), "`allreduce` is not of the form collective=algorithm");
    let rows: Vec<_> = algo::of(Collective::Allreduce).map(|row| row.name()).collect();
    assert!(rows.len() > 5 && rows.contains(&"ring"), "{rows:?}");
    assert_eq!(
        of_override("allreduce=rung"),
        format!("line 1: allreduce has no algorithm `rung`; it has {}", rows.join(", "))
    );
    assert_eq!(
        of_wisdom("\nalreduce -> ring"),
        format!(
            "line 2: no collective `alreduce`; there are {}",
            Collective::ALL.map(Collective::name).join(", ")
        )
    );
    assert_eq!(
        of_wisdom("allreduce ranks=4..2 -> ring"),
        "line 1: `4..2` is not a range such as 2..64, 4097.., ..16 or 8"
    );
    assert_eq!(
        of_wisdom("allreduce size=4 -> ring"),
        "line 1: `allreduce size=4 -> ring` is not of the form \
         collective [ranks=first..last] [bytes=first..last] -> algorithm"
    );
}

#[test]
fn a_wrong_call_is_not_planned() {
    let call = calls(4, false, |_| Operation::Bcast { count: 1, root: Rank(4) }).remove(0);
    let error = choose(&call, &Tuning::default()).unwrap_err();
    assert_eq!(error.to_string(), "root 4 is not below the number of ranks, 4");
}

/// What is chosen for a result that is the same on every machine is not always what a machine would
/// choose, is the same on all ranks, and can be planned for every call.
///
/// spec: 83
#[test]
fn the_fixed_choice_depends_on_the_call_alone() {
    let machine = CostParams::default().shared(32, 1);
    let oversubscribed = Tuning { machine, ..Tuning::default() };
    let mut differ = 0;
    for (ranks, count) in [(1, 1), (2, 1), (7, 100), (16, 1), (32, 1), (32, 4000), (65, 1 << 18)] {
        for commutative in [false, true] {
            let all = calls(ranks, false, |_| Operation::Allreduce { count, commutative });
            let name = |call: &Call| {
                let choice = fixed(call).expect("the call can be planned");
                assert_eq!(choice.reason, Reason::Fixed);
                choice.algorithm.name()
            };
            let first = name(&all[0]);
            assert!(all.iter().all(|call| name(call) == first));
            differ += usize::from(chosen(&all[0], &oversubscribed).0 != first);
        }
    }
    assert!(differ > 0, "the prices of a machine never matter");
}
