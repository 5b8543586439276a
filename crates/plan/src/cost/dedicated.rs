//! Predicts the time of a call if each rank has its own core.
//!
//! Between two ranks it is the time of the chain of messages. Operands of a rooted collective are
//! read in place if they fit into a bounce buffer (a block).
//!
//! The prices were measured between two ranks. Among more ranks a chain of messages takes another
//! time. Measurements on 16 cores, with all algorithms of nine collectives, gave these corrections:
//!
//! * Messages that flow one way, from a root or to it, do not wait for earlier ones: while one is
//!   read, others are written. This holds for messages that complete without their receivers. If
//!   messages grow on their way through a tree, the bytes of each are complete only after all
//!   before it. Longer messages wait for the kernel, which copies those of different ranks at the
//!   same time.
//! * If all ranks send at once, they contend for the shared caches: the more, the more data each of
//!   them has in flight, and the more ranks there are.
//! * A message from one rank to several others is copied once for all of them, if it is longer than
//!   a cell and fits into a block. If it is longer than a block, its receivers wait for each other,
//!   since the kernel looks up the pages for each of them. A message that arrives in a buffer that
//!   has just been read finds it in the caches.
//! * A round of a ring takes as long as its slowest rank.

use super::{AggregateWork, Cost, CostParams, DistancePattern};

/// What the prices of messages become where each rank has a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Company {
    /// A long operand that flows one way between two ranks, of the price of its bytes.
    pub operand: f64,
    /// A message beyond one for each round, of what it is between two.
    pub send: f64,
    /// What flows one way in messages that wait for nobody, of the sum of its prices.
    pub one_way: f64,
    /// What flows one way in messages that all others copy at the same time, of that sum.
    pub at_their_ends: f64,
    /// What several copy from one at the same time that is too long for a block, of its price.
    pub contended: f64,
    /// What is sent to many, from the second of them on, of its price: by a root, and by all.
    pub repeated: [f64; 2],
    /// Operands that more than two ranks exchange, of the price of their bytes, if all of them that
    /// a rank sends at once are read where they lie.
    pub exchanged: f64,
    /// What goes round a ring, where all wait for the slowest in each round, of its price.
    pub ring: f64,
    /// What comes into a place that has just been read, of the price to copy it: taken off.
    pub in_turn: f64,
    /// Bytes that each rank can copy within its memory at the price of one. More of them take
    /// longer, as below.
    pub copied: f64,
    /// Bytes that all ranks can have on the way at once at the price of two. More of them take
    /// longer, as the root of how many times as many they are.
    pub at_once: f64,
    /// What each doubling of the ranks beyond two adds to long operands that flow one way.
    pub operands: f64,
}

impl Company {
    /// As between two, however many there are.
    pub(super) const NONE: Self = Self {
        operand: 1.0,
        send: 1.0,
        one_way: 1.0,
        at_their_ends: 1.0,
        contended: 1.0,
        exchanged: 1.0,
        ring: 1.0,
        repeated: [1.0; 2],
        in_turn: 0.0,
        copied: f64::INFINITY,
        at_once: f64::INFINITY,
        operands: 0.0,
    };
    /// As was measured.
    pub(super) const MEASURED: Self = Self {
        operand: 0.6,
        send: 1.8,
        one_way: 0.4,
        at_their_ends: 0.5,
        contended: 1.8,
        exchanged: 0.65,
        ring: 1.28,
        repeated: [0.1, 0.5],
        in_turn: 1.0,
        copied: 8.0 * 1024.0 * 1024.0,
        at_once: 128.0 * 1024.0,
        operands: 0.5,
    };
}

/// Where messages grow on their way through a tree, the longest one is so many times as long as
/// they are on average.
const GROWN: f64 = 2.0;
/// Where they become half as long in each round, the same, with as many rounds as matter.
const HALVED: f64 = 1.7;
/// Bytes of operands beyond which they are fetched from another core while they are reduced.
const LONG_OPERAND: f64 = 64.0 * 1024.0;

impl CostParams {
    /// The time of a call with this chain and this work.
    pub(super) fn time_dedicated(&self, cost: &Cost, work: &AggregateWork) -> f64 {
        let messages = cost.messages() as f64;
        if work.ranks <= 2 || messages == 0.0 {
            return self.chain(cost, self.latency_ns) - self.saved_between_two(cost, work);
        }
        let waiting = cost.rounds as f64 * self.latency_ns
            + cost.extra_sends as f64 * self.send_ns * self.company.send;
        let moving = if work.waits == 0 {
            self.one_way(cost, work, waiting)
        } else {
            waiting + self.at_once(cost, work)
        };
        let copied = cost.copied as f64;
        let in_crowd = copied * crowd(work, copied / self.company.copied);
        moving + self.within(cost.reduced, in_crowd as usize)
    }

    /// What two ranks save by operands that flow one way and go in blocks.
    fn saved_between_two(&self, cost: &Cost, work: &AggregateWork) -> f64 {
        let each = cost.bytes as f64 / cost.messages().max(1) as f64;
        let are_in_blocks =
            each > self.lengths.eager_max as f64 && each <= self.lengths.operand_bounce_max as f64;
        if work.waits > 0 || cost.reduced == 0 || !are_in_blocks {
            return 0.0;
        }
        (1.0 - self.company.operand) * self.data(cost.messages() as f64, cost.bytes as f64)
    }

    /// For messages that flow one way.
    fn one_way(&self, cost: &Cost, work: &AggregateWork, waiting: f64) -> f64 {
        let each = cost.bytes as f64 / cost.messages() as f64;
        let (first, again) = self.first_and_again(cost);
        let data = first + again * self.company.repeated[0];
        let grow = (work.bytes as f64) < each * work.messages as f64;
        let longest = if grow { GROWN * each } else { each };
        if longest <= self.lengths.eager_max as f64 {
            let of_data = if grow { 1.0 } else { self.company.one_way };
            return self.company.one_way * waiting + of_data * data;
        }
        let doublings = (work.ranks as f64).log2() - 1.0;
        if cost.reduced == 0 {
            let are_all_of_one = cost.messages() == work.messages && again == 0.0;
            waiting + if are_all_of_one { self.company.at_their_ends * data } else { data }
        } else if each > LONG_OPERAND {
            (waiting + data) * (1.0 + self.company.operands * doublings)
        } else {
            waiting + data
        }
    }

    /// For the bytes of messages that all ranks send at once.
    fn at_once(&self, cost: &Cost, work: &AggregateWork) -> f64 {
        let (first, again) = self.first_and_again(cost);
        let crowd = crowd(work, cost.bytes as f64 / self.company.at_once);
        let contended = 1.0 + (self.company.contended - 1.0) * self.share_beyond_block(cost);
        let in_rounds =
            if work.reach == DistancePattern::Neighbours { self.company.ring } else { 1.0 };
        let in_blocks =
            if self.exchanges_in_blocks(cost, work) { self.company.exchanged } else { 1.0 };
        let in_turn = work.in_turn as f64 / work.ranks as f64 * self.company.in_turn;
        first * crowd * contended * in_blocks * in_rounds + again * self.company.repeated[1]
            - in_turn * self.copy_ns_per_byte
    }

    /// Which share of the bytes several copy from one, and not from a block.
    fn share_beyond_block(&self, cost: &Cost) -> f64 {
        let each = cost.bytes as f64 / cost.messages() as f64;
        if each > self.lengths.operand_bounce_max as f64 {
            cost.repeated as f64 / cost.bytes as f64
        } else {
            0.0
        }
    }

    /// The price of the bytes of messages, without and with those that are copied only once.
    fn first_and_again(&self, cost: &Cost) -> (f64, f64) {
        let each = cost.bytes as f64 / cost.messages() as f64;
        let all = self.data(cost.messages() as f64, cost.bytes as f64);
        if each <= self.lengths.cell_max as f64 || each > self.lengths.operand_bounce_max as f64 {
            return (all, 0.0);
        }
        let again = all * cost.repeated as f64 / cost.bytes as f64;
        (all - again, again)
    }

    /// Whether long operands are exchanged with one rank after the other, and lie in blocks until
    /// they are read.
    fn exchanges_in_blocks(&self, cost: &Cost, work: &AggregateWork) -> bool {
        let is_in_pairs = matches!(
            work.reach,
            DistancePattern::Shrinking | DistancePattern::Growing | DistancePattern::Doubling
        );
        let each = cost.bytes as f64 / cost.messages() as f64;
        let longest = if work.reach == DistancePattern::Doubling { each } else { HALVED * each };
        is_in_pairs
            && cost.reduced > 0
            && each > self.lengths.eager_max as f64
            && longest <= self.lengths.operand_bounce_max as f64
    }
}

/// How much longer bytes take that all ranks move at once, if they are so many times as many as do
/// not matter.
fn crowd(work: &AggregateWork, times: f64) -> f64 {
    times.sqrt().clamp(1.0, (work.ranks as f64).log2())
}

#[cfg(test)]
mod tests {
    use super::super::SendRecvCount;
    use super::*;

    const RANKS: u32 = 16;

    /// Messages of this length from a root to all others, the same ones or not.
    fn from_root(bytes: usize, are_same: bool) -> f64 {
        let others = RANKS as usize - 1;
        let repeated = if are_same { bytes * (others - 1) } else { 0 };
        let cost = Cost {
            rounds: 1,
            extra_sends: others - 1,
            bytes: bytes * others,
            repeated,
            ..Cost::default()
        };
        let work = AggregateWork::of_one(RANKS, SendRecvCount::new(others, 0), &cost);
        CostParams::default().time(&cost, &work)
    }

    #[test]
    fn what_a_root_sends_to_all_is_copied_once_if_it_goes_in_a_block() {
        for bytes in [4 << 10, 8 << 10, 1 << 20] {
            assert_eq!(from_root(bytes, true), from_root(bytes, false), "{bytes}");
        }
        for bytes in [16 << 10, 64 << 10, 512 << 10] {
            assert!(from_root(bytes, true) < from_root(bytes, false) / 2.0, "{bytes}");
        }
    }

    #[test]
    fn long_messages_of_a_root_are_copied_by_all_at_once() {
        let (chain, all) = (CostParams::default(), |bytes| from_root(bytes, false));
        let each = |bytes: usize| {
            chain.data(RANKS as f64 - 1.0, (RANKS as usize - 1) as f64 * bytes as f64)
        };
        for bytes in [64 << 10, 1 << 20] {
            assert!(all(bytes) < 0.6 * each(bytes), "{bytes}");
        }
    }

    /// In a tree the bytes of a message are there when those of all before it are.
    #[test]
    fn what_grows_in_flight_is_awaited() {
        let machine = CostParams::default();
        let time = |bytes_of_all: usize| {
            let cost = Cost { rounds: 4, bytes: 15 << 10, ..Cost::default() };
            let work = AggregateWork {
                messages: 15,
                bytes: bytes_of_all,
                ranks: 16,
                ..AggregateWork::default()
            };
            machine.time(&cost, &work)
        };
        let (growing, alike) = (time(32 << 10), time(15 * (15 << 10) / 4));
        assert!(growing > 1.8 * alike, "{growing} {alike}");
    }

    #[test]
    fn who_copy_from_one_what_is_too_long_for_a_block_wait_for_each_other() {
        let machine = CostParams::default();
        let time = |bytes: usize, repeated: usize| {
            let cost =
                Cost { rounds: 1, extra_sends: 6, bytes: 7 * bytes, repeated, ..Cost::default() };
            machine.time(&cost, &AggregateWork::alike(8, &cost))
        };
        assert!(time(1 << 20, 6 << 20) > 1.6 * time(1 << 20, 0));
        assert!(time(512 << 10, 6 * (512 << 10)) < time(512 << 10, 0), "in a block they do not");
    }

    #[test]
    fn operands_that_all_exchange_take_less_if_they_lie_in_blocks() {
        let machine = CostParams::default();
        let time = |reach: DistancePattern, bytes: usize, reduced: usize| {
            let cost = Cost { rounds: 3, bytes: 3 * bytes, reduced, ..Cost::default() };
            machine.time(&cost, &AggregateWork::alike(8, &cost).reaching(reach))
        };
        for (reach, kib, is_less) in [
            (DistancePattern::Doubling, 16, false),
            (DistancePattern::Doubling, 17, true),
            (DistancePattern::Doubling, 512, true),
            (DistancePattern::Doubling, 513, false),
            (DistancePattern::Shrinking, 300, true),
            (DistancePattern::Shrinking, 302, false),
            (DistancePattern::Alike, 64, false),
        ] {
            let [in_blocks, others] = [1, 0].map(|reduced| time(reach, kib << 10, reduced));
            assert_eq!(in_blocks < others, is_less, "{reach:?}, {kib} KiB");
        }
    }

    #[test]
    fn what_goes_round_a_ring_takes_longer() {
        let machine = CostParams::default();
        let cost = Cost { rounds: 7, bytes: 7 << 16, ..Cost::default() };
        let work = AggregateWork::alike(8, &cost);
        let ring = work.reaching(DistancePattern::Neighbours);
        assert!(machine.time(&cost, &ring) > 1.2 * machine.time(&cost, &work));
    }

    #[test]
    fn what_comes_into_a_place_that_was_just_read_takes_less() {
        let machine = CostParams::default();
        let cost = Cost { rounds: 7, bytes: 7 << 18, reduced: 7 << 18, ..Cost::default() };
        let work = AggregateWork::alike(8, &cost);
        let in_turn = AggregateWork { in_turn: work.bytes, ..work };
        assert!(machine.time(&cost, &in_turn) < machine.time(&cost, &work));
    }

    #[test]
    fn operands_that_flow_one_way_between_two_cost_less_if_they_go_in_blocks() {
        let machine = CostParams::default();
        let saved = |bytes: usize, waits: usize| {
            let cost = Cost { rounds: 1, bytes, reduced: bytes, ..Cost::default() };
            let work = AggregateWork {
                waits,
                ..AggregateWork::of_one(2, SendRecvCount::new(0, 1), &cost)
            };
            machine.chain(&cost, machine.latency_ns) - machine.time(&cost, &work)
        };
        for (kib, is_cheaper) in [(16, false), (17, true), (512, true), (513, false)] {
            assert_eq!(saved(kib << 10, 0) > 0.0, is_cheaper, "{kib} KiB");
            assert_eq!(saved(kib << 10, 1), 0.0, "an exchange");
        }
    }

    #[test]
    fn the_more_all_ranks_send_at_once_the_longer_each_byte_takes() {
        let machine = CostParams::default();
        let time = |ranks: u32, bytes: usize| {
            let cost = Cost { rounds: 1, bytes, ..Cost::default() };
            machine.time(&cost, &AggregateWork::alike(ranks, &cost)) - machine.latency_ns
        };
        let of_two = |bytes| time(2, bytes);
        assert_eq!(time(16, 64 << 10), of_two(64 << 10));
        assert_eq!(time(16, 512 << 10), 2.0 * of_two(512 << 10));
        assert_eq!(time(16, 64 << 20), 4.0 * of_two(64 << 20), "no more than that");
        assert_eq!(time(4, 64 << 20), 2.0 * of_two(64 << 20));
    }

    /// Results that must be the same everywhere are chosen by prices that do not know of company.
    #[test]
    fn fixed_prices_are_those_of_two() {
        let messages = Cost { rounds: 3, extra_sends: 4, bytes: 64 << 20, ..Cost::default() };
        let (reduced, repeated) = (messages.bytes / 2, messages.bytes / 3);
        let cost = Cost { reduced, repeated, copied: 100 << 20, ..messages };
        let chain = CostParams::FIXED.chain(&cost, CostParams::FIXED.latency_ns);
        let work = AggregateWork::alike(RANKS, &cost);
        for waits in [work.waits, 0] {
            for reach in
                [DistancePattern::Neighbours, DistancePattern::Doubling, DistancePattern::Shrinking]
            {
                let work = AggregateWork { waits, in_turn: work.bytes, reach, ..work };
                let time = CostParams::FIXED.time(&cost, &work);
                assert!((time / chain - 1.0).abs() < 1e-12, "{time} {chain}, {reach:?}");
            }
        }
    }
}
